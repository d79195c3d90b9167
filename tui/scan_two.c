/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_two.c - see scan_private.h: a pass over many cells by two threads.
 *
 * Cells of a slice are in the order of their stacks, so one thread has those below a stack and the other the rest: what is found of
 * a stack is found once.  What is asked of filter and names is asked under a lock, while the thread that owns them waits in here.
 */
#include "tui/scan_private.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define CELLS_MIN (1u << 19) /* of fewer the one thread is done before the other has begun */

struct half {
	struct scan_work work;
	struct scan scan;
	int ret;
};

static void *half_main(void *ctx)
{
	struct half *half = ctx;

	half->ret = scan_slices(&half->work);
	return NULL;
}

/* How many cells there are, and a stack with about half of them below it. */
static uint64_t find_middle(const struct scan_question *question, uint32_t *middle)
{
	const struct slice *largest = NULL;
	uint64_t cells = 0;

	for (size_t i = 0; i < question->snapshot->n; i++) {
		const struct slice *slice = question->snapshot->slices[i];

		if (!slice_is_in(slice, question->from_ns, question->to_ns))
			continue;
		cells += slice->cells;
		if (!largest || slice->cells > largest->cells)
			largest = slice;
	}
	*middle = largest && largest->cells ? largest->stack[largest->cells / 2] : 0;
	return cells;
}

static int take_side(
	struct scan_work *to, const struct scan *from, const struct scan_side *side, uint32_t *id)
{
	struct scan_side own = *side;

	if (side->task != SCAN_NONE && scan_add_task(to, &from->tasks[side->task], &own.task))
		return -ENOMEM;
	return scan_side_id(to, &own, id);
}

/* What the other thread has found. */
static int take(struct scan_work *to, const struct scan *from)
{
	uint32_t *sides = malloc((from->n_sides ? from->n_sides : 1) * sizeof(*sides));
	int ret = sides ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < from->n_sides && !ret; i++)
		ret = take_side(to, from, &from->sides[i], &sides[i]);
	for (uint32_t i = 0; i < from->n_entries && !ret; i++) {
		const struct scan_entry *entry = &from->entries[i];
		uint32_t id, side = sides[entry->side];

		if (!entry->samples)
			continue;
		/* Stacks are others than those that are there. */
		ret = to->question->by & SCAN_STACK ? scan_new_entry(to, entry->node, side, &id)
						    : scan_entry_id(to, entry->node, side, &id);
		if (ret)
			break;
		to->scan->entries[id].weight += entry->weight;
		to->scan->entries[id].samples += entry->samples;
	}
	for (uint32_t i = 0; i < STORE_EVENTS_MAX; i++) {
		to->scan->sums[i].all_weight += from->sums[i].all_weight;
		to->scan->sums[i].all_samples += from->sums[i].all_samples;
		to->scan->sums[i].unresolved += from->sums[i].unresolved;
	}
	free(sides);
	return ret;
}

static int start(pthread_t *thread, struct half *half)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(thread, NULL, half_main, half);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

static int run_both(struct scan_work *work, uint32_t middle)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct half other = {.ret = 0};
	pthread_t thread;
	int ret;

	scan_work_init(&other.work, work->question, &other.scan);
	other.work.begin = middle;
	other.work.sieve.lock = work->sieve.lock = &lock;
	work->end = middle;
	if (start(&thread, &other)) {
		work->end = STACK_END;
		ret = scan_slices(work);
	} else {
		ret = scan_slices(work);
		pthread_join(thread, NULL);
		if (!ret)
			ret = other.ret;
		if (!ret)
			ret = take(work, &other.scan);
	}
	work->sieve.lock = NULL;
	scan_work_fini(&other.work);
	scan_fini(&other.scan);
	pthread_mutex_destroy(&lock);
	return ret;
}

int scan_in_two(struct scan_work *work)
{
	const struct scan_question *question = work->question;
	uint64_t least = question->two_cells ? question->two_cells : CELLS_MIN;
	uint32_t middle;

	/* What is found of fields is kept by the filter itself. */
	if (find_middle(question, &middle) < least || !middle || work->sieve.by_fields ||
		(!question->two_cells && sysconf(_SC_NPROCESSORS_ONLN) < 2))
		return scan_slices(work);
	return run_both(work, middle);
}
