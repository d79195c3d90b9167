/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * query.h - range x filter x grouping -> rows, computed whole.
 *
 * A pure function of a snapshot and the tables behind it; for questions that are asked once (the
 * breakdown of a symbol, the activity strip), where hot.h serves the standing one.  Reports ask table.h.  UI thread.
 */
#ifndef TUI_QUERY_H
#define TUI_QUERY_H

#include "sampler/store.h"
#include "sampler/tasks.h"
#include "tui/filter.h"
#include "tui/names.h"
#include "tui/scan_fields.h"
#include "tui/sieve.h"

#include <stddef.h>
#include <stdint.h>

enum query_group {
	GROUP_PROCESS,
	GROUP_THREAD,
	GROUP_CPU,
	GROUP_SYMBOL,
	GROUP_IMAGE,
	GROUP_COMMAND, /* the thread's name, whatever its process */
	GROUP_ADDRESS,
	GROUP_EVENT,
	GROUP_CGROUP, /* of events that are one but for their cgroups (scan.h) */
	GROUP_LINE, /* of source; where none is known (yet), a function */
	GROUP_KEYS, /* so many; none of them */
	GROUP_FIELD /* field 0 of those that are asked for by name, GROUP_FIELD + 1 the next one ... */
};

#define QUERY_FIELDS_MAX SCAN_FIELDS_MAX
#define QUERY_KEYS_MAX (GROUP_KEYS + QUERY_FIELDS_MAX)

struct query {
	const struct snapshot *snapshot;
	const struct stacks *stacks;
	const struct tasks *tasks;
	struct names *names;
	struct filter *filter; /* or NULL */
	uint64_t from_ns, to_ns; /* slices whose middle lies within; to 0: all of the snapshot */
	uint8_t event;
	enum query_group group; /* GROUP_PROCESS, GROUP_THREAD, GROUP_CPU or GROUP_FIELD */
	const char *field; /* of GROUP_FIELD: its name */
	const struct field_schemas *schemas; /* of GROUP_FIELD; or NULL */
	bool by_symbol; /* only stacks with this symref on them */
	uint32_t symref;
	bool hide_idle;
	bool idle_by_name; /* idle is told by the name of the function, not by pid 0 */
	uint64_t two_cells; /* of lanes and activity: see struct scan_question */
};

#define QUERY_NAME_MAX 192

struct query_row {
	int32_t pid, tid; /* process: tid = 0; cpu, field: both 0 */
	uint32_t cpu;
	char name
		[QUERY_NAME_MAX]; /* cleaned: command name, or a field's value, of which this is the beginning */
	uint64_t since_ns; /* of a process or thread: since when it had this name */
	uint64_t self, total; /* weight; without by_symbol both are the whole weight */
	uint64_t samples;
};

/* Rows by falling total.  0 and an array of *n for free(); or -ENOMEM. */
int query_run(const struct query *query, struct query_row **rows, size_t *n);

/* That order of rows, for qsort(). */
int query_compare(const void *a, const void *b);

/* What tells which cells of the event count: what is neither filtered out nor hidden as idle.  For sieve_fini(). */
void query_sieve(const struct query *query, struct sieve *sieve);
/* Of a verdict: all bits or none, without a branch that depends on it. */
static inline uint64_t query_mask(const struct query *query, unsigned int verdict)
{
	unsigned int idle = query->hide_idle ? SIEVE_IDLE_TASK : 0;

	/* Of those that are told by name, both must be. */
	if (query->idle_by_name)
		verdict &= ~((unsigned int)SIEVE_IDLE_TASK) | (verdict >> 1 & SIEVE_IDLE_TASK);
	return (uint64_t) !(verdict & (SIEVE_FAILS | idle)) * UINT64_MAX;
}

/* Weight per second of time of one event in `columns` equal parts of [from_ns, to_ns), from slices of any
 * length.  For clock events a value of 1e9 is one busy CPU.  idle is left out where hide_idle is set. */
int query_activity(
	const struct query *query, uint64_t from_ns, uint64_t to_ns, uint64_t *out, size_t columns);

#endif
