/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan.h - one pass over the cells of a snapshot: sums by stack and other keys, within a range and
 * a filter.
 *
 * table.h and calltree.h build on it: after the scan, the number of samples no longer matters.
 * Each entry of the result is a sum for one stack and one side.  A side is a combination of event,
 * task, CPU, fields and column.  UI thread, with the snapshot held; with many cells, a second
 * thread scans half of them.
 */
#ifndef TUI_QUERY_SCAN_H
#define TUI_QUERY_SCAN_H

#include "sampler/store/store.h"
#include "sampler/store/tasks.h"
#include "tui/base/intern.h"
#include "tui/names/names.h"
#include "tui/query/filter.h"
#include "tui/query/query.h"
#include "tui/query/scan_fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { /* bits of scan_question.by; sides always include the event */
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

/* Place of the requested symbol on a stack.  With scan_question.only, nodes of entries are
 * places. */
enum scan_place { SCAN_PLACE_UNKNOWN, SCAN_NOWHERE, SCAN_ABOVE, SCAN_LEAF, SCAN_PLACES };

struct forest;

struct scan_question {
	const struct snapshot *snapshot;
	uint64_t from_ns, to_ns; /* selects slices by their middle; 0, UINT64_MAX: all */
	const struct stacks *stacks;
	const struct tasks *tasks;
	struct names *names;
	struct filter *filter; /* NULL if none */
	bool hide_idle, idle_by_name; /* see sieve_is_idle() */
	int event; /* -1: all */
	/* By event number: the first of the events that differ only in their cgroup.  NULL: events
	 * are not merged. */
	const uint8_t *stands_for;
	unsigned int by;
	const char *const *fields; /* for SCAN_FIELDS: names of fields, at most SCAN_FIELDS_MAX */
	size_t n_fields;
	const struct field_schemas *schemas; /* NULL: no sample has fields */
	bool inlines; /* for trees: inlined functions are frames */
	bool only; /* distinguish stacks by the place of `symref` on them; without SCAN_STACK */
	uint32_t symref;
	bool leave_unresolved; /* do not compute sums[].unresolved */
	enum query_group column; /* GROUP_EVENT, GROUP_CPU or GROUP_THREAD; GROUP_KEYS: none */
	/* with SCAN_STACK alone: split weights over equal parts of [parts_from_ns, parts_to_ns) */
	bool in_parts;
	uint64_t parts_from_ns, parts_to_ns;
	uint64_t two_cells; /* least number of cells for two threads; 0: default; tests set it */
};

/* Parts that were not asked for are 0: the tid of a process, pid and tid of a command. */
struct scan_task {
	int32_t pid, tid;
	uint64_t since_ns;
	/* cleaned; the newest names, unless the name is the key */
	char comm[TASK_COMM_MAX];
	char process_comm[TASK_COMM_MAX];
};

/* A column of one event. */
struct scan_column {
	int32_t pid, tid; /* only with GROUP_THREAD */
	uint32_t number; /* CPU; only with GROUP_CPU */
	uint8_t event;
	char comm[TASK_COMM_MAX]; /* cleaned */
	uint64_t weight, samples; /* sums of the cells that passed */
	uint64_t all_weight, all_samples; /* before the filter */
};

struct scan_side {
	uint32_t task; /* index in tasks, or SCAN_NONE */
	uint32_t column; /* index in columns, or SCAN_NONE */
	uint32_t fields; /* a combination of fields, or SCAN_NONE */
	uint16_t cpu; /* 0 if not asked for */
	uint8_t event;
	uint8_t cgroup; /* for SCAN_CGROUP: the sampled event; else 0 */
};

struct scan_entry {
	uint32_t node; /* node of the stacks, STACK_ROOT if not asked for, or an enum scan_place */
	uint32_t side;
	uint64_t weight, samples;
};

struct scan_sums {
	uint64_t weight, samples; /* sums of the cells that passed */
	uint64_t unresolved; /* weight of samples without a symbol for their leaf */
	uint64_t all_weight, all_samples; /* before the filter */
};

struct scan {
	struct scan_entry *entries;
	/* by entry: its weight in each part; NULL if not asked for */
	uint64_t (*parts)[SCAN_PARTS];
	uint32_t n_entries;
	struct scan_side *sides;
	uint32_t n_sides;
	struct scan_task *tasks;
	uint32_t n_tasks;
	struct scan_column *columns; /* in the order of their first cell */
	uint32_t n_columns;
	struct scan_fields fields;
	struct scan_sums sums[STORE_EVENTS_MAX];
	uint64_t span_ns; /* from the start of the first slice to the end of the last */
};

/* Scans a snapshot.  Returns 0 with *out for scan_fini(), or -ENOMEM with *out empty. */
int scan_run(const struct scan_question *question, struct scan *out);
void scan_fini(struct scan *scan);

/* Returns in *at, by entry, the numbers that the forest gives to the entries' stacks, for free().
 * Returns 0 or -ENOMEM. */
int scan_entries(const struct scan *scan, struct forest *forest, uint32_t **at);

#endif
