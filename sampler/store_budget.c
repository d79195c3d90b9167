/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * store_budget.c - what keeps the store within its budget: merging old slices, leaving out detail.
 *
 * See store.h for the order in which things are given up.  Sampling thread.
 */
#include "sampler/store_private.h"

#include "sampler/stacks.h"
#include "sampler/tasks.h"

#include <math.h>
#include <string.h>

#define STEPS_A_CALL 64u /* merges and reductions in one store_maintain() */
#define COST_MAX 0.25 /* a slice longer than this part of its age costs more than detail does */
#define RECENT_NS 30000000000ull /* what is on the screen is merged last */
#define SLICES_KEPT 32u /* that are merged rather than let all detail go */

/* Put a new slice in place of `replaced` ones from index at. */
static void replace(struct store *store, size_t at, size_t replaced, struct sealed *sealed)
{
	struct sealed *old[2];
	bool free_now[2];

	for (size_t i = 0; i < replaced; i++)
		old[i] = store->list[at + i].sealed;
	pthread_mutex_lock(&store->lock);
	for (size_t i = 0; i < replaced; i++)
		free_now[i] = --old[i]->slice.refs == 0;
	store->list[at] = (struct listed){.sealed = sealed,
		.start_ns = sealed->slice.start_ns,
		.end_ns = sealed->slice.end_ns,
		.samples = sealed->samples};
	store->n_list -= replaced - 1;
	memmove(&store->list[at + 1], &store->list[at + replaced],
		(store->n_list - at - 1) * sizeof(*store->list));
	pthread_mutex_unlock(&store->lock);

	store->listed_bytes += sealed->bytes;
	store->slice_bytes += sealed->bytes;
	for (size_t i = 0; i < replaced; i++) {
		store->listed_bytes -= old[i]->bytes;
		if (free_now[i])
			store_bury(store, old[i]);
	}
}

/* How long the pair from index i would be for its age: the lowest is merged first. */
static double pair_cost(const struct store *store, size_t i)
{
	const struct listed *pair = &store->list[i];
	uint64_t age_ns = store->list[store->n_list - 1].end_ns - pair[1].end_ns;
	double span = (double)(pair[1].end_ns - pair[0].start_ns);

	if (pair[0].samples + pair[1].samples > UINT32_MAX)
		return HUGE_VAL; /* a count might not fit */
	return span /
		(double)(age_ns > RECENT_NS ? age_ns - RECENT_NS + STORE_SLICE_NS : STORE_SLICE_NS);
}

/* The pairs that are about as cheap as the cheapest, so that the list is searched once for many merges. */
static void make_plan(struct store *store)
{
	double best = HUGE_VAL;

	store->n_plan = 0;
	for (size_t i = 0; i + 1 < store->n_list; i++) {
		double cost = pair_cost(store, i);

		if (cost < best)
			best = cost;
	}
	store->cheapest = best;
	if (best == HUGE_VAL)
		return;
	for (size_t i = 0; i + 1 < store->n_list && store->n_plan < STORE_PLAN_MAX; i++) {
		if (pair_cost(store, i) > best * 1.25)
			continue;
		store->plan[store->n_plan++] = (uint32_t)i;
		i++;
	}
}

static int merge_at(struct store *store, size_t i)
{
	struct sealed *a = store->list[i].sealed, *b = store->list[i + 1].sealed, *merged;
	int err = slices_merge(&store->slices, a, b, &merged);

	if (err)
		return err;
	replace(store, i, 2, merged);
	store_count(&store->merges, 1);
	return 0;
}

/* Merge the cheapest pair, where it costs no more than cost_max. */
static bool merge_one(struct store *store, double cost_max)
{
	if (!store->n_plan || store->cheapest > cost_max)
		make_plan(store);
	while (store->n_plan && store->cheapest <= cost_max) {
		if (!merge_at(store, store->plan[--store->n_plan]))
			return true;
	}
	return false;
}

/* The oldest of the first `among` slices that has more detail than `detail`. */
static bool reduce_among(struct store *store, size_t among, enum detail detail)
{
	for (size_t i = 0; i < among; i++) {
		struct sealed *reduced;

		if (store->list[i].sealed->detail >= detail)
			continue;
		if (slices_reduce(&store->slices, store->list[i].sealed, detail, &reduced))
			continue;
		replace(store, i, 1, reduced);
		return true;
	}
	return false;
}

/* Give up detail of old slices: the older, the more of it. */
static bool reduce_old(struct store *store)
{
	for (unsigned int detail = DETAIL_FEW; detail <= DETAIL_NONE; detail++)
		if (reduce_among(store, store->n_list >> detail, (enum detail)detail))
			return true;
	return false;
}

static bool reduce_any(struct store *store)
{
	for (unsigned int detail = DETAIL_FEW; detail <= DETAIL_NONE; detail++)
		if (reduce_among(store, store->n_list, (enum detail)detail))
			return true;
	return false;
}

/* What stacks and labels take; their tables never give memory back, so they must not get too much of it. */
static size_t tables_used(const struct store *store)
{
	return stacks_memory_used(store->slices.stacks) + tasks_memory_labels(store->slices.tasks);
}

/* Above half of the budget the tables are made smaller at the cost of detail.  Where that frees next to nothing,
 * since the same stacks are still in use, it is not tried again before they have grown; not so
 * above three quarters. */
static bool tables_full(const struct store *store, size_t tables)
{
	size_t half = store->budget_bytes / 2;

	return tables > half + half / 2 || (tables > half && tables >= store->tables_retry);
}

static bool shrink_tables(struct store *store, size_t tables)
{
	size_t slices = store->listed_bytes, after;

	if (!reduce_old(store) && !reduce_any(store))
		return false;
	after = tables_used(store);
	slices = slices > store->listed_bytes ? slices - store->listed_bytes : 0;
	if (after > tables || tables - after < slices / 4 + sizeof(struct slice))
		store->tables_retry = after + store->budget_bytes / 64;
	return true;
}

/* One thing that saves memory; false where nothing is left to do. */
static bool save_memory(struct store *store, bool over_budget, size_t tables)
{
	if (tables_full(store, tables) && shrink_tables(store, tables))
		return true;
	if (!over_budget)
		return false;
	if (merge_one(store, COST_MAX) || reduce_old(store))
		return true;
	if (store->n_list > SLICES_KEPT && merge_one(store, HUGE_VAL))
		return true;
	return reduce_any(store) || merge_one(store, HUGE_VAL);
}

unsigned int store_maintain(struct store *store)
{
	size_t budget = store->budget_bytes;
	uint64_t merges = store->merges;

	store_bury_returned(store);
	stacks_sweep(store->slices.stacks);
	for (unsigned int step = 0;; step++) {
		/* Slices that only others still hold go away by themselves. */
		size_t memory = store_memory(store, store->listed_bytes);
		size_t tables = tables_used(store);

		if (memory <= budget && !tables_full(store, tables))
			break;
		if (step >= STEPS_A_CALL && memory - memory / 8 <= budget &&
			tables - tables / 8 <= budget / 4 * 3)
			break;
		if (!save_memory(store, memory > budget, tables))
			break;
	}
	store_publish_memory(store);
	return (unsigned int)(store->merges - merges);
}
