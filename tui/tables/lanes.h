/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lanes.h - weight by thread, process, command or CPU, and by columns of time, in one pass.
 *
 * A slice counts with all of its weight if it is in the range (slice_is_in()).  The weight is
 * spread evenly over the part of its time in the range.  So the columns of a lane add up to its
 * weight exactly, and adjacent ranges add up to the whole.  UI thread, with the snapshot held.
 */
#ifndef TUI_TABLES_LANES_H
#define TUI_TABLES_LANES_H

#include "tui/query/query.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANES_COLUMNS_MAX 64
#define LANES_NO_SYMBOL UINT32_MAX

struct lane {
	int32_t pid, tid; /* tid is 0 for a process; both are 0 for a command or CPU */
	uint32_t cpu;
	char name[TASK_COMM_MAX]; /* cleaned, newest name; "" for a CPU */
	uint64_t since_ns; /* start of the name's use, ns */
	uint64_t weight, samples;
	uint64_t base; /* weight in the baseline (lanes_compare()) */
	bool base_unknown; /* its counterpart in the baseline is ambiguous: see counterparts.h */
	uint32_t symref; /* symbol with the most weight */
	uint64_t columns[LANES_COLUMNS_MAX]; /* weight, oldest first */
};

struct lanes {
	struct lane *lane; /* in the order of first use */
	uint32_t n;
	size_t columns;
	uint64_t from_ns, to_ns;
	uint64_t base_ns, base_whole; /* length (ns) and total weight of the baseline; 0: none */
};

/* Sums query->event over [from_ns, to_ns), which must be bounded, by query->group: GROUP_PROCESS,
 * GROUP_THREAD, GROUP_COMMAND or GROUP_CPU.  Returns 0 and *out for lanes_fini(); or -ENOMEM with
 * *out empty. */
int lanes_run(const struct query *query, size_t columns, struct lanes *out);

/* Cache of the sums of slices, for callers that repeat a query as time passes: each slice is read
 * once.  Zero-initialized: empty.  Private to lanes.c. */
struct lanes_digest;
struct lanes_memory {
	struct lanes_digest *digests; /* in the order of time */
	size_t n;
	/* the query that the digests were made for */
	uint64_t epoch, changes, filter;
	uint8_t event;
	bool by_cpu, hide_idle, idle_by_name;
};

/* Variant of lanes_run() with a cache.  Entries for other queries or times are dropped. */
int lanes_follow(
	const struct query *query, size_t columns, struct lanes_memory *memory, struct lanes *out);
void lanes_forget(struct lanes_memory *memory);

/* Sets in each lane its weight in the baseline, which must have the same group.  is_elsewhere: the
 * baseline is another profile, with processes and threads matched by counterparts.h.  Returns 0 or
 * -ENOMEM. */
int lanes_compare(
	struct lanes *lanes, const struct lanes *base, enum query_group group, bool is_elsewhere);
void lanes_fini(struct lanes *lanes);

#endif
