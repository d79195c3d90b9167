/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * halves.c - see halves.h.
 */
#include "tui/halves.h"

#include "tui/pace.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#define CELLS_MIN (1u << 19) /* of fewer the one thread is done before the other has begun */

struct other {
	int (*pass)(void *);
	void *ctx;
	int ret;
	uint64_t cpu_ns;
};

static _Thread_local uint64_t other_ns;

bool halves_stack(const struct snapshot *snapshot, uint64_t from_ns, uint64_t to_ns, uint64_t least,
	uint32_t *middle)
{
	const struct slice *largest = NULL;
	uint64_t cells = 0;

	for (size_t i = 0; i < snapshot->n; i++) {
		const struct slice *slice = snapshot->slices[i];

		if (!slice_is_in(slice, from_ns, to_ns))
			continue;
		cells += slice->cells;
		if (!largest || slice->cells > largest->cells)
			largest = slice;
	}
	*middle = largest && largest->cells ? largest->stack[largest->cells / 2] : 0;
	if (!least && (cells < CELLS_MIN || sysconf(_SC_NPROCESSORS_ONLN) < 2))
		return false;
	return *middle && cells >= least;
}

/* The first cell whose stack is not below. */
static uint32_t first_of(const struct slice *slice, uint32_t stack)
{
	uint32_t low = 0, high = slice->cells;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (slice->stack[middle] < stack)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void halves_cells(
	const struct slice *slice, const struct half *half, uint32_t *first, uint32_t *last)
{
	*first = half->begin ? first_of(slice, half->begin) : 0;
	*last = half->end == HALVES_END ? slice->cells : first_of(slice, half->end);
}

static void *other_main(void *ctx)
{
	struct other *other = ctx;

	uint64_t begin_ns = pace_thread_ns();

	other->ret = other->pass(other->ctx);
	other->cpu_ns = pace_thread_ns() - begin_ns;
	return NULL;
}

int halves_run(int (*pass)(void *), void *a, void *b)
{
	struct other other = {.pass = pass, .ctx = b};
	sigset_t all, before;
	pthread_t thread;
	int ret, err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, other_main, &other);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	ret = pass(a);
	if (err) {
		(void)other_main(&other);
	} else {
		pthread_join(thread, NULL);
		other_ns += other.cpu_ns;
	}
	return ret ? ret : other.ret;
}

uint64_t halves_other_ns(void)
{
	return other_ns;
}
