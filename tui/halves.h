/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * halves.h - a pass over many cells by two threads.
 *
 * Cells of a slice are in the order of their stacks, so one thread has those below a stack and the other the rest: what is found of
 * a stack is found once.  What is asked of filter and names is asked under a lock (sieve.h), while the thread that owns
 * them, the UI thread, waits in here for the other one.
 */
#ifndef TUI_HALVES_H
#define TUI_HALVES_H

#include "sampler/store.h"

#include <stdbool.h>
#include <stdint.h>

#define HALVES_END UINT32_MAX /* above all stacks */

/* From the stack `begin` on, below `end`. */
struct half {
	uint32_t begin, end;
};

/* Whether two threads are worth it for the slices in this time, and a stack with about half of the cells below it.  least: of how many
 * cells on; 0: as many as are worth it, where there are several CPUs. */
bool halves_stack(const struct snapshot *snapshot, uint64_t from_ns, uint64_t to_ns, uint64_t least,
	uint32_t *middle);

/* A slice's cells of a half: [*first, *last). */
void halves_cells(
	const struct slice *slice, const struct half *half, uint32_t *first, uint32_t *last);

/* pass(a) and pass(b), one of them in another thread if one can be had.  0, or what the first of them to fail returns. */
int halves_run(int (*pass)(void *), void *a, void *b);
/* CPU time that other threads have needed so far for what this one ran. */
uint64_t halves_other_ns(void);

#endif
