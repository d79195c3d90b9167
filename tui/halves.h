/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * halves.h - a pass over many cells by two threads.
 *
 * Cells of a slice are in the order of their stacks, so the stacks are divided into some ranges, and each thread has all cells of the ranges
 * that it takes: what is found of a stack is found once.  One thread takes the lowest range that is left, the other one the highest, until
 * they meet; who is held up takes fewer, but one at least.  What is asked of filter and names is asked under a lock (sieve.h), while the thread that owns
 * them, the UI thread, waits in here for the other one.
 */
#ifndef TUI_HALVES_H
#define TUI_HALVES_H

#include "sampler/store.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define HALVES_RANGES 8u

/* What both know. */
struct halves {
	const struct snapshot *snapshot;
	uint32_t n_stacks; /* all stacks of the snapshot are below */
	pthread_mutex_t lock;
	uint32_t ends[HALVES_RANGES]; /* of the ranges: a stack above them */
	uint32_t low,
		high; /* ranges that are for either and nobody took: [low, high); guarded by lock */
};

/* What one of them has; all zero: a thread that is alone. */
struct half {
	struct halves *halves;
	bool upper, begun;
	uint32_t begin, end; /* the range at hand: stacks from begin on, below end */
	uint32_t *edges; /* by slice: where the cells that were not given yet begin, or end */
};

/* Whether two threads are worth it for the slices in this time.  least: of how many cells on; 0: as many as are worth it, where
 * there are several CPUs.  Where they are, to be followed by halves_fini(). */
bool halves_init(struct halves *halves, const struct snapshot *snapshot, uint64_t from_ns,
	uint64_t to_ns, uint64_t least);
void halves_fini(struct halves *halves);
/* One of the two.  0 or -ENOMEM; half_fini() in any case. */
int half_init(struct half *half, struct halves *halves, bool upper);
void half_fini(struct half *half);

/* The next range of stacks, of which all slices are to be gone over; false: there is none. */
bool half_next(struct half *half);
/* The cells of that range of slice `at` of the snapshot, at most once for each range: [*first, *last). */
void half_cells(
	struct half *half, const struct slice *slice, size_t at, uint32_t *first, uint32_t *last);

/* pass(a) and pass(b), one of them in another thread if one can be had.  0, or what the first of them to fail returns. */
int halves_run(int (*pass)(void *), void *a, void *b);
/* CPU time that other threads have needed so far for what this one ran. */
uint64_t halves_other_ns(void);

#endif
