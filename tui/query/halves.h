/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * halves.h - processes many cells in two threads.
 *
 * Cells of a slice are in the order of their stacks.  The stacks are divided into ranges, and a
 * thread processes all cells of the ranges it takes, so each stack is evaluated only once.  One
 * thread takes the lowest range left, the other one the highest, until they meet.  The slower
 * thread takes fewer ranges, at least one.  The filter and the names are used under a lock
 * (sieve.h), while their owner, the UI thread, waits in here for the other thread.
 */
#ifndef TUI_QUERY_HALVES_H
#define TUI_QUERY_HALVES_H

#include "sampler/store/store.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define HALVES_RANGES 8u

/* State shared by both threads. */
struct halves {
	const struct snapshot *snapshot;
	uint32_t n_stacks; /* greater than all stacks of the snapshot */
	pthread_mutex_t lock;
	uint32_t ends[HALVES_RANGES]; /* by range: first stack after it */
	/* ranges not taken yet: [low, high); guarded by lock */
	uint32_t low, high;
};

/* State of one thread; all zero: a single thread. */
struct half {
	struct halves *halves;
	bool upper, begun;
	uint32_t begin, end; /* current range of stacks: [begin, end) */
	uint32_t *edges; /* by slice: boundary of the cells not processed yet */
};

/* Decides whether two threads are worthwhile for the slices in [from_ns, to_ns).  least: minimum
 * number of cells; 0: a default, and several CPUs are required.  If true, the caller must call
 * halves_fini().  Returns false also if memory runs out. */
bool halves_init(struct halves *halves, const struct snapshot *snapshot, uint64_t from_ns,
	uint64_t to_ns, uint64_t least);
void halves_fini(struct halves *halves);
/* Prepares one of the two threads.  Returns 0 or -ENOMEM; call half_fini() in both cases. */
int half_init(struct half *half, struct halves *halves, bool upper);
void half_fini(struct half *half);

/* Takes the next range of stacks, which the caller processes in all slices.  Returns false if none
 * is left. */
bool half_next(struct half *half);
/* Returns the cells [*first, *last) of the current range in slice `at` of the snapshot.  Call it at
 * most once per slice and range. */
void half_cells(
	struct half *half, const struct slice *slice, size_t at, uint32_t *first, uint32_t *last);

/* Runs pass(a) and pass(b), in two threads if possible.  Returns 0, or the error of pass(a), else
 * that of pass(b). */
int halves_run(int (*pass)(void *), void *a, void *b);
/* Returns the CPU time (ns) that other threads spent in halves_run() for this thread. */
uint64_t halves_other_ns(void);

#endif
