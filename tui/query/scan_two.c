/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_two.c - see scan_private.h: runs a quick question in two threads (halves.h), each with half
 * of the stacks.
 */
#include "tui/query/scan_private.h"

#include <errno.h>
#include <stdlib.h>

static int take_side(
	struct scan_work *to, const struct scan *from, const struct scan_side *side, uint32_t *id)
{
	struct scan_side own = *side;

	if (side->task != SCAN_NONE && scan_add_task(to, &from->tasks[side->task], &own.task))
		return -ENOMEM;
	return scan_side_id(to, &own, id);
}

/* Adds the results of the other thread. */
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
		/* The threads scan different stacks, so the entry must be new. */
		ret = to->question->by & SCAN_STACK ? scan_new_entry(to, entry->node, side, &id)
						    : scan_entry_id(to, entry->node, side, &id);
		if (ret)
			break;
		to->scan->entries[id].weight += entry->weight;
		to->scan->entries[id].samples += entry->samples;
		if (!from->parts)
			continue;
		ret = scan_parts_room(to, id);
		for (uint32_t k = 0; k < SCAN_PARTS && !ret; k++)
			to->scan->parts[id][k] += from->parts[i][k];
	}
	for (uint32_t i = 0; i < STORE_EVENTS_MAX; i++) {
		to->scan->sums[i].all_weight += from->sums[i].all_weight;
		to->scan->sums[i].all_samples += from->sums[i].all_samples;
		to->scan->sums[i].unresolved += from->sums[i].unresolved;
	}
	free(sides);
	return ret;
}

static int run_half(void *ctx)
{
	return scan_slices(ctx);
}

static int run_both(struct scan_work *work, struct halves *halves)
{
	struct scan_work other;
	struct scan scan;
	int ret;

	scan_work_init(&other, work->question, &scan);
	ret = scan_prepare_places(work, &other, halves->n_stacks);
	if (!ret)
		ret = sieve_share(&work->sieve, &work->half, &other.sieve, &other.half, halves);
	if (!ret)
		ret = halves_run(run_half, work, &other);
	work->sieve.lock = NULL;
	if (!ret)
		ret = take(work, &scan);
	scan_work_fini(&other);
	scan_fini(&scan);
	return ret;
}

int scan_in_two(struct scan_work *work)
{
	const struct scan_question *question = work->question;
	struct halves halves;
	int ret;

	/* The filter keeps results on fields without a lock, so two threads cannot use it. */
	if (work->sieve.by_fields ||
		!halves_init(&halves, question->snapshot, question->from_ns, question->to_ns,
			question->two_cells))
		return scan_slices(work);
	ret = run_both(work, &halves);
	halves_fini(&halves);
	return ret;
}
