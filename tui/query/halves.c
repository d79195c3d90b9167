/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * halves.c - see halves.h.
 */
#include "tui/query/halves.h"

#include "tui/query/pace.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define CELLS_MIN (1u << 19) /* with fewer cells, one thread is done before the other has started */
#define MARKS 8192u /* number of sampled cells, from which the ranges of stacks are computed */

struct other {
	int (*pass)(void *);
	void *ctx;
	int ret;
	uint64_t cpu_ns;
};

static _Thread_local uint64_t other_ns;

static int compare_stacks(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

/* Samples the stack of one cell in each stretch of `stretch` cells.  The place in a stretch varies,
 * since all slices may have one size.  marks has room for all. */
static size_t mark_slices(const struct halves *halves, uint64_t from_ns, uint64_t to_ns,
	uint64_t stretch, uint32_t *marks)
{
	const struct snapshot *snapshot = halves->snapshot;
	uint64_t next = 0, begin = 0;
	size_t n = 0;

	for (size_t i = 0; i < snapshot->n; i++) {
		const struct slice *slice = snapshot->slices[i];

		if (!slice_is_in(slice, from_ns, to_ns))
			continue;
		while (next < begin + slice->cells) {
			marks[n++] = slice->stack[next - begin];
			next = n * stretch + n * 0x9e3779b1u % stretch;
		}
		begin += slice->cells;
	}
	return n;
}

/* Divides the stacks into ranges with about the same number of cells. */
static int divide(struct halves *halves, uint64_t from_ns, uint64_t to_ns, uint64_t cells)
{
	uint64_t stretch = cells / MARKS + 1;
	uint32_t *marks = malloc((cells / stretch + 1) * sizeof(*marks));
	size_t n;

	if (!marks)
		return -ENOMEM;
	n = mark_slices(halves, from_ns, to_ns, stretch, marks);
	qsort(marks, n, sizeof(*marks), compare_stacks);
	for (uint32_t range = 0; range + 1 < HALVES_RANGES; range++)
		halves->ends[range] = marks[n * (range + 1) / HALVES_RANGES];
	halves->ends[HALVES_RANGES - 1] = UINT32_MAX;
	halves->low = 1;
	halves->high = HALVES_RANGES - 1;
	free(marks);
	return 0;
}

static uint32_t stacks_below(const struct snapshot *snapshot)
{
	uint32_t limit = 1;

	for (size_t i = 0; i < snapshot->n; i++) {
		const struct slice *slice = snapshot->slices[i];

		if (slice->cells && slice->stack[slice->cells - 1] >= limit)
			limit = slice->stack[slice->cells - 1] + 1;
	}
	return limit;
}

bool halves_init(struct halves *halves, const struct snapshot *snapshot, uint64_t from_ns,
	uint64_t to_ns, uint64_t least)
{
	pthread_mutexattr_t attr;
	uint64_t cells = 0;

	for (size_t i = 0; i < snapshot->n; i++)
		if (slice_is_in(snapshot->slices[i], from_ns, to_ns))
			cells += snapshot->slices[i]->cells;
	if (!cells ||
		(least ? cells < least : cells < CELLS_MIN || sysconf(_SC_NPROCESSORS_ONLN) < 2))
		return false;
	*halves = (struct halves){.snapshot = snapshot, .n_stacks = stacks_below(snapshot)};
	if (divide(halves, from_ns, to_ns, cells))
		return false;
	/* The lock is held for less time than a sleep takes. */
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(&halves->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	return true;
}

void halves_fini(struct halves *halves)
{
	pthread_mutex_destroy(&halves->lock);
}

int half_init(struct half *half, struct halves *halves, bool upper)
{
	const struct snapshot *snapshot = halves->snapshot;

	*half = (struct half){.halves = halves, .upper = upper};
	half->edges = calloc(snapshot->n + 1, sizeof(*half->edges));
	if (!half->edges)
		return -ENOMEM;
	for (size_t i = 0; upper && i < snapshot->n; i++)
		half->edges[i] = snapshot->slices[i]->cells;
	return 0;
}

void half_fini(struct half *half)
{
	free(half->edges);
	*half = (struct half){.halves = NULL};
}

/* Takes a range of stacks.  Each thread's first range is fixed. */
static bool take_range(struct half *half, uint32_t *range)
{
	struct halves *halves = half->halves;
	bool any;

	*range = half->upper ? HALVES_RANGES - 1 : 0;
	if (!half->begun)
		return true;
	pthread_mutex_lock(&halves->lock);
	any = halves->low < halves->high;
	if (any)
		*range = half->upper ? --halves->high : halves->low++;
	pthread_mutex_unlock(&halves->lock);
	return any;
}

bool half_next(struct half *half)
{
	bool any = !half->begun;
	uint32_t range = 0;

	if (half->halves)
		any = take_range(half, &range);
	half->begun = true;
	if (!any || !half->halves)
		return any;
	half->begin = range ? half->halves->ends[range - 1] : 0;
	half->end = half->halves->ends[range];
	return true;
}

/* Returns the first cell in [low, high] with a stack not less than `stack`. */
static uint32_t first_of(const struct slice *slice, uint32_t stack, uint32_t low, uint32_t high)
{
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (slice->stack[middle] < stack)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Searches from a cell in growing steps, since most ranges have about the same share of a slice. */
static uint32_t end_from(const struct slice *slice, uint32_t from, uint32_t stack)
{
	uint32_t step = slice->cells / HALVES_RANGES + 1, low = from;

	while (slice->cells - low > step && slice->stack[low + step] < stack) {
		low += step;
		step *= 2;
	}
	return first_of(slice, stack, low, slice->cells - low > step ? low + step : slice->cells);
}

static uint32_t begin_below(const struct slice *slice, uint32_t below, uint32_t stack)
{
	uint32_t step = slice->cells / HALVES_RANGES + 1, high = below;

	while (high > step && slice->stack[high - step] >= stack) {
		high -= step;
		step *= 2;
	}
	return first_of(slice, stack, high > step ? high - step : 0, high);
}

void half_cells(
	struct half *half, const struct slice *slice, size_t at, uint32_t *first, uint32_t *last)
{
	*first = 0;
	*last = slice->cells;
	if (!half->halves)
		return;
	if (half->upper) {
		*last = half->edges[at];
		*first = half->edges[at] =
			half->begin ? begin_below(slice, half->edges[at], half->begin) : 0;
		return;
	}
	*first = half->edges[at];
	if (half->end != UINT32_MAX)
		*last = end_from(slice, half->edges[at], half->end);
	half->edges[at] = *last;
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
