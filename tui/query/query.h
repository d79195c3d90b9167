/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * query.h - range x filter x grouping -> rows, computed as a whole.
 *
 * Depends only on a snapshot and its tables.  For queries made once, such as the breakdown of a
 * symbol and the activity strip; hot.h is for the permanent table, table.h for reports.  UI thread.
 */
#ifndef TUI_QUERY_QUERY_H
#define TUI_QUERY_QUERY_H

#include "sampler/store/store.h"
#include "sampler/store/tasks.h"
#include "tui/names/names.h"
#include "tui/query/filter.h"
#include "tui/query/scan_fields.h"
#include "tui/query/sieve.h"

#include <stddef.h>
#include <stdint.h>

enum query_group {
	GROUP_PROCESS,
	GROUP_THREAD,
	GROUP_CPU,
	GROUP_SYMBOL,
	GROUP_IMAGE,
	GROUP_COMMAND, /* name of the thread, in any process */
	GROUP_ADDRESS,
	GROUP_EVENT,
	GROUP_CGROUP, /* cgroup of events that differ only in it (scan.h) */
	GROUP_LINE, /* source line; if none is known (yet), a function */
	GROUP_KEYS, /* number of the keys above; also used for no key */
	GROUP_FIELD /* field 0 of the fields selected by name; GROUP_FIELD + 1 is field 1, ... */
};

#define QUERY_FIELDS_MAX SCAN_FIELDS_MAX
#define QUERY_KEYS_MAX (GROUP_KEYS + QUERY_FIELDS_MAX)

struct query {
	const struct snapshot *snapshot;
	const struct stacks *stacks;
	const struct tasks *tasks;
	struct names *names;
	struct filter *filter; /* or NULL */
	/* slices with their middle in the range; to_ns 0: the whole snapshot */
	uint64_t from_ns, to_ns;
	uint8_t event;
	enum query_group group; /* GROUP_PROCESS, GROUP_THREAD, GROUP_CPU or GROUP_FIELD */
	const char *field; /* name of the field, for GROUP_FIELD */
	const struct field_schemas *schemas; /* for GROUP_FIELD; or NULL */
	bool by_symbol; /* only stacks that contain symref */
	uint32_t symref;
	bool hide_idle, idle_by_name; /* see sieve_is_idle() */
	uint64_t two_cells; /* for lanes and activity: see struct scan_question */
};

#define QUERY_NAME_MAX 192

struct query_row {
	int32_t pid, tid; /* process: tid is 0; cpu, field: both are 0 */
	uint32_t cpu;
	char name[QUERY_NAME_MAX]; /* cleaned: command name, or a field's value (may be cut) */
	uint64_t since_ns; /* start of the name's use by the process or thread */
	uint64_t self, total; /* weight; without by_symbol both are the whole weight */
	uint64_t samples;
};

/* Computes the rows, by falling total.  Returns 0 and an array of *n for free(); or -ENOMEM. */
int query_run(const struct query *query, struct query_row **rows, size_t *n);

/* Compares two rows in this order, for qsort(). */
int query_compare(const void *a, const void *b);

/* Sets up the sieve that selects the cells of the event: those that pass the filter and are not
 * hidden as idle.  Release it with sieve_fini(). */
void query_sieve(const struct query *query, struct sieve *sieve);
/* Converts a verdict to a mask without a branch: all bits set if the cell counts, else 0. */
static inline uint64_t query_mask(const struct query *query, unsigned int verdict)
{
	unsigned int idle = sieve_idle_bit(query->hide_idle, query->idle_by_name);

	return (uint64_t) !(verdict & (SIEVE_FAILS | idle)) * UINT64_MAX;
}

/* Computes the weight per second of time of an event in `columns` equal parts of [from_ns, to_ns),
 * from slices of any length.  For clock events, 1e9 is one busy CPU.  hide_idle leaves idle samples
 * out.  Returns 0 or -ENOMEM. */
int query_activity(
	const struct query *query, uint64_t from_ns, uint64_t to_ns, uint64_t *out, size_t columns);

#endif
