/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lanes.h - who runs when: weight by thread, process, command or CPU, and by columns of time, in one pass.
 *
 * A slice counts where the rule of the store (slice_is_in()) puts it, with all of its weight, which is spread evenly over
 * what of its time lies in the range; so the columns of a lane add up to its weight exactly, and lanes of
 * times side by side to those of the whole.  UI thread, with the snapshot held.
 */
#ifndef TUI_LANES_H
#define TUI_LANES_H

#include "tui/query.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANES_COLUMNS_MAX 64
#define LANES_NO_SYMBOL UINT32_MAX

struct lane {
	int32_t pid, tid; /* of a process tid is 0; of a command and a CPU both are */
	uint32_t cpu;
	char name[TASK_COMM_MAX]; /* cleaned, the newest one; of a CPU it is empty */
	uint64_t since_ns; /* of the name */
	uint64_t weight, samples;
	uint64_t base; /* weight in the baseline (lanes_compare()) */
	bool base_unknown; /* which of the baseline's it is: counterparts.h */
	uint32_t symref; /* where the most of it fell */
	uint64_t columns[LANES_COLUMNS_MAX]; /* weight, oldest first */
};

struct lanes {
	struct lane *lane; /* in the order in which they were met */
	uint32_t n;
	size_t columns;
	uint64_t from_ns, to_ns;
	uint64_t base_ns,
		base_whole; /* how long the baseline is, and what all weighs there; 0: there is none */
};

/* Of query->event in [from_ns, to_ns), which must be given, by query->group: GROUP_PROCESS, GROUP_THREAD, GROUP_COMMAND or
 * GROUP_CPU.  0 and *out for lanes_fini(); or -ENOMEM with *out empty. */
int lanes_run(const struct query *query, size_t columns, struct lanes *out);

/* What slices were found to have, for who asks again as the time goes on: each is looked into once.  All zeros is one that knows
 * nothing.  Private to lanes.c. */
struct lanes_digest;
struct lanes_memory {
	struct lanes_digest *digests; /* by time */
	size_t n;
	/* What they were made for. */
	uint64_t epoch, changes, filter;
	uint8_t event;
	bool by_cpu, hide_idle, idle_by_name;
};

/* The same as lanes_run(), remembering; what is not of this question and this time is forgotten. */
int lanes_follow(
	const struct query *query, size_t columns, struct lanes_memory *memory, struct lanes *out);
void lanes_forget(struct lanes_memory *memory);

/* Tell each lane what it weighs in those of another time, or of another profile (elsewhere: processes and threads as in
 * counterparts.h), by the same group.  0 or -ENOMEM. */
int lanes_compare(
	struct lanes *lanes, const struct lanes *base, enum query_group group, bool is_elsewhere);
void lanes_fini(struct lanes *lanes);

#endif
