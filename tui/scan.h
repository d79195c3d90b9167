/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan.h - one pass over the cells of a snapshot: range x filter -> sums by stack and by what else was asked for.
 *
 * What table.h and calltree.h begin with: after it, the number of samples no longer matters.  The sums are a list of
 * entries, each of one stack and one side; a side is a combination of event, task, CPU, fields and column.
 * UI thread, with the snapshot held; of many cells, a second thread goes over half of them meanwhile.
 */
#ifndef TUI_SCAN_H
#define TUI_SCAN_H

#include "sampler/store.h"
#include "sampler/tasks.h"
#include "tui/filter.h"
#include "tui/intern.h"
#include "tui/names.h"
#include "tui/query.h"
#include "tui/scan_fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { /* scan_question.by, or'ed; the event is always one of the sides' parts */
	SCAN_STACK = 1,
	SCAN_PROCESS = 2,
	SCAN_THREAD = 4,
	SCAN_COMMAND = 8,
	SCAN_CPU = 16,
	SCAN_FIELDS = 32,
	SCAN_CGROUP = 64,
};

#define SCAN_NONE UINT32_MAX
#define SCAN_PARTS 10

/* Where on a stack the one symbol is that was asked for: the nodes of entries then. */
enum scan_place { SCAN_PLACE_UNKNOWN, SCAN_NOWHERE, SCAN_ABOVE, SCAN_LEAF, SCAN_PLACES };

struct scan_question {
	const struct snapshot *snapshot;
	uint64_t from_ns, to_ns; /* slices whose middle lies within; 0, UINT64_MAX: all */
	const struct stacks *stacks;
	const struct tasks *tasks;
	struct names *names;
	struct filter *filter; /* or NULL */
	bool hide_idle; /* samples of pid 0 are as if they were not there */
	bool idle_by_name; /* instead those in a function of the idle loop */
	int event; /* -1: all */
	/* By number, the event that stands for each: those that differ in their cgroup alone are one.  NULL: none does. */
	const uint8_t *stands_for;
	unsigned int by;
	const char *const
		*fields; /* of SCAN_FIELDS: names of what is told apart, at most SCAN_FIELDS_MAX */
	size_t n_fields;
	const struct field_schemas *schemas; /* NULL: no sample has any */
	bool inlines; /* of trees: inlined functions are frames of their own */
	bool only; /* stacks are told apart by where this symref is on them; without SCAN_STACK */
	uint32_t symref;
	bool leave_unresolved; /* sums[].unresolved is not asked for */
	enum query_group column; /* GROUP_EVENT, GROUP_CPU or GROUP_THREAD; GROUP_KEYS: none */
	bool in_parts; /* of SCAN_STACK alone: entries in equal parts of [parts_from_ns, parts_to_ns) as well */
	uint64_t parts_from_ns, parts_to_ns;
	uint64_t
		two_cells; /* so many are for two threads; 0: as many as are worth it.  For tests, which have few */
};

/* As far as it was asked for: of a process tid is 0, of a command both are. */
struct scan_task {
	int32_t pid, tid;
	uint64_t since_ns;
	/* cleaned, and the newest where it is not the key */
	char comm[TASK_COMM_MAX];
	char process_comm[TASK_COMM_MAX];
};

/* Of one event. */
struct scan_column {
	int32_t pid, tid; /* of a thread */
	uint32_t number; /* of a CPU */
	uint8_t event;
	char comm[TASK_COMM_MAX]; /* cleaned */
	uint64_t weight, samples; /* all that passed */
	uint64_t all_weight, all_samples; /* before the filter */
};

struct scan_side {
	uint32_t task; /* in tasks, or SCAN_NONE */
	uint32_t column; /* in columns, or SCAN_NONE */
	uint32_t fields; /* a combination of fields, or SCAN_NONE */
	uint16_t cpu; /* 0 where not asked for */
	uint8_t event;
	uint8_t cgroup; /* of SCAN_CGROUP: the event as it was sampled; else 0 */
};

struct scan_entry {
	uint32_t node; /* STACK_ROOT: none, or not asked for; of one symbol an enum scan_place */
	uint32_t side;
	uint64_t weight, samples;
};

struct scan_sums {
	uint64_t weight, samples; /* that passed */
	uint64_t unresolved; /* of it: weight with a leaf that has no symbol */
	uint64_t all_weight, all_samples; /* before the filter */
};

struct scan {
	struct scan_entry *entries;
	uint64_t (*parts)
		[SCAN_PARTS]; /* of their weights, which is even over each slice; NULL: not asked for */
	uint32_t n_entries;
	struct scan_side *sides;
	uint32_t n_sides;
	struct scan_task *tasks;
	uint32_t n_tasks;
	struct scan_column *columns; /* in the order in which they were met */
	uint32_t n_columns;
	struct scan_fields fields;
	struct scan_sums sums[STORE_EVENTS_MAX];
	uint64_t span_ns; /* from the first slice to the last */
};

/* 0 and *out for scan_fini(); or -ENOMEM with *out empty. */
int scan_run(const struct scan_question *question, struct scan *out);
void scan_fini(struct scan *scan);

#endif
