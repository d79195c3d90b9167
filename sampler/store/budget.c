/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * budget.c - keeps the store within its budget: merges old slices, drops fields and detail.
 *
 * See store.h for the order of these steps.  Sampling thread.
 */
#include "sampler/store/private.h"

#include "sampler/fields/values.h"
#include "sampler/store/stacks.h"
#include "sampler/store/tasks.h"

#include <math.h>
#include <string.h>

#define WORK_A_CALL (1u << 17) /* approximate limit of cells touched in one store_maintain() */
#define FAN 8u /* slices per merge: each cell is touched log8(age) times */
#define FAN_WIDE SLICES_MERGED_MAX /* used if merging saves little until slices are long */
#define REDUCE_WORK 4u /* cost of a cell, compared with a merge */
#define COST_MAX 0.25 /* longest merge, as a part of its age, before detail is dropped */
#define COST_STACKS 0.5 /* limit before all stacks and tasks are dropped */
#define RECENT_NS 30000000000ull /* time on the screen, merged last */
#define SLICES_KEPT 32u /* above that, merge before all detail is dropped */
#define SLICES_MAX 65536u /* limit even for small slices, because the list is searched */

/* Replaces n slices from index `at` by a new one. */
void store_replace(struct store *store, size_t at, unsigned int n, struct sealed *sealed)
{
	struct sealed *old[SLICES_MERGED_MAX];
	bool unheld[SLICES_MERGED_MAX];

	for (unsigned int i = 0; i < n; i++)
		old[i] = store->list[at + i].sealed;
	pthread_mutex_lock(&store->lock);
	for (unsigned int i = 0; i < n; i++)
		unheld[i] = --old[i]->slice.refs == 0;
	store->list[at] = store_listed(sealed);
	store->n_list -= n - 1;
	memmove(&store->list[at + 1], &store->list[at + n],
		(store->n_list - at - 1) * sizeof(*store->list));
	pthread_mutex_unlock(&store->lock);

	store->n_with_values += sealed->slice.values != NULL;
	store->listed_bytes += sealed->bytes;
	store->slice_bytes += sealed->bytes;
	for (unsigned int i = 0; i < n; i++) {
		store->n_with_values -= old[i]->slice.values != NULL;
		store->listed_bytes -= old[i]->bytes;
		store->slice_bytes -= unheld[i] ? old[i]->bytes : 0;
	}
	if (n > 1)
		slices_settle(&store->slices, sealed, old, unheld, n);
	else if (unheld[0])
		slices_destroy(&store->slices, old[0]);
}

/* Returns how long a group would be for its age as one slice.  The lowest is merged first. */
static double group_cost(const struct store *store, size_t i, unsigned int fan)
{
	const struct listed *first = &store->list[i], *last = first + fan - 1;
	uint64_t age_ns = store->list[store->n_list - 1].end_ns - last->end_ns;
	double span = (double)(last->end_ns - first->start_ns);

	return span /
		(double)(age_ns > RECENT_NS ? age_ns - RECENT_NS + STORE_SLICE_NS : STORE_SLICE_NS);
}

/* Whether the counts of the merged slice fit, and merging it takes a short time. */
static bool group_fits(const struct store *store, size_t i, unsigned int fan, uint32_t cells_max)
{
	uint64_t samples = 0, cells = 0;

	for (unsigned int j = 0; j < fan; j++) {
		samples += store->list[i + j].samples;
		cells += store->list[i + j].cells;
	}
	return samples <= UINT32_MAX && cells <= cells_max;
}

/* Lists the groups that are about as cheap as the cheapest, so that one search of the list serves
 * many merges. */
static void make_plan(struct store *store, unsigned int fan, uint32_t cells_max)
{
	double best = HUGE_VAL;

	store->n_plan = 0;
	store->plan_fan = fan;
	store->work += store->n_list / 8;
	for (size_t i = 0; i + fan <= store->n_list; i++) {
		double cost = group_cost(store, i, fan);

		if (cost < best && group_fits(store, i, fan, cells_max))
			best = cost;
	}
	store->cheapest = best;
	if (best == HUGE_VAL)
		return;
	for (size_t i = 0; i + fan <= store->n_list && store->n_plan < STORE_PLAN_MAX; i++) {
		if (group_cost(store, i, fan) > best * 1.25 ||
			!group_fits(store, i, fan, cells_max))
			continue;
		store->plan[store->n_plan++] = (uint32_t)i;
		i += fan - 1;
	}
}

/* Notes how much a merge saved.  Slices with little in common save memory only if many are joined;
 * their merges skip the steps between. */
static void note_kept(struct store *store, uint64_t before, uint64_t after)
{
	store->kept += ((double)after / (double)(before ? before : 1) - store->kept) / 16;
	store->wide = store->kept > (store->wide ? 0.5 : 0.75);
}

static int merge_at(struct store *store, size_t i, unsigned int fan)
{
	struct sealed *from[SLICES_MERGED_MAX], *merged;
	uint64_t cells = 0;
	int err;

	for (unsigned int j = 0; j < fan; j++) {
		from[j] = store->list[i + j].sealed;
		cells += store->list[i + j].cells;
	}
	store->work += cells;
	err = slices_merge(&store->slices, from, fan, &merged);
	if (err)
		return err;
	note_kept(store, cells, merged->slice.cells);
	store_replace(store, i, fan, merged);
	store_count(&store->merges, 1);
	return 0;
}

/* Merges the cheapest group, if it costs no more than cost_max. */
static bool merge_one(struct store *store, unsigned int fan, double cost_max, uint32_t cells_max)
{
	if (!store->n_plan || store->plan_fan != fan || store->cheapest > cost_max)
		make_plan(store, fan, cells_max);
	while (store->n_plan && store->cheapest <= cost_max) {
		if (!merge_at(store, store->plan[--store->n_plan], fan))
			return true;
	}
	return false;
}

/* Whether less detail makes a slice smaller; checked once for each slice and detail.  If most
 * samples differ in their leaf too, it does not, and requires additional stacks. */
static bool saves(struct store *store, size_t i, enum detail detail)
{
	struct listed *listed = &store->list[i];

	store->work += listed->cells;
	if (slices_worth_reducing(&store->slices, listed->sealed, detail))
		return true;
	listed->in_vain = (uint8_t)detail;
	return false;
}

/* Reduces the oldest of the first `among` slices that has more detail than `detail`, or finds that
 * it would not get smaller.  any: reduces it anyway, to free tables that stacks of other slices
 * fill. */
static bool reduce_among(struct store *store, size_t among, enum detail detail, bool any)
{
	for (size_t i = 0; i < among; i++) {
		struct sealed *reduced;

		if (store->list[i].detail >= detail || (!any && store->list[i].in_vain >= detail))
			continue;
		store->work += i / 8; /* cost of the search */
		if (!any && !saves(store, i, detail))
			return true;
		store->work += (uint64_t)REDUCE_WORK * store->list[i].cells;
		if (slices_reduce(&store->slices, store->list[i].sealed, detail, &reduced))
			continue;
		store_replace(store, i, 1, reduced);
		return true;
	}
	return false;
}

/* Drops the fields of the oldest slice that has some. */
static bool reduce_fields(struct store *store)
{
	for (size_t i = 0; store->n_with_values && i < store->n_list; i++) {
		struct sealed *reduced;

		if (!store->list[i].with_values)
			continue;
		store->work += (uint64_t)REDUCE_WORK * store->list[i].cells;
		if (slices_reduce(&store->slices, store->list[i].sealed, DETAIL_PLAIN, &reduced))
			continue;
		store_replace(store, i, 1, reduced);
		store_count(&store->fields_dropped, 1);
		return true;
	}
	return false;
}

/* Reduces the detail of old slices down to `least`: the older, the less detail. */
static bool reduce_old(struct store *store, enum detail least, bool any)
{
	for (unsigned int detail = DETAIL_FEW; detail <= least; detail++)
		if (reduce_among(store, store->n_list >> (detail - DETAIL_PLAIN),
			    (enum detail)detail, any))
			return true;
	return false;
}

static bool reduce_all(struct store *store, bool any)
{
	for (unsigned int detail = DETAIL_FEW; detail <= DETAIL_NONE; detail++)
		if (reduce_among(store, store->n_list, (enum detail)detail, any))
			return true;
	return false;
}

/* Returns the bytes used by stacks, labels and values.  Their tables never return memory, so they
 * must not get too much of it. */
static size_t tables_used(const struct store *store)
{
	return stacks_memory_used(store->slices.stacks) + tasks_memory_labels(store->slices.tasks) +
		(store->slices.values ? values_memory_used(store->slices.values) : 0);
}

/* Whether the tables must shrink at the cost of detail: above half of the budget.  If that frees
 * next to nothing, because other slices use the same stacks, it is not retried before the tables
 * grow.  Above three quarters it is always retried. */
static bool tables_full(const struct store *store, size_t tables)
{
	size_t half = store->budget_bytes / 2;

	return tables > half + half / 2 || (tables > half && tables >= store->tables_retry);
}

static bool shrink_tables(struct store *store, size_t tables)
{
	size_t slices = store->listed_bytes, after;

	if (!reduce_fields(store) && !reduce_old(store, DETAIL_NONE, true) &&
		!reduce_all(store, true))
		return false;
	after = tables_used(store);
	slices = slices > store->listed_bytes ? slices - store->listed_bytes : 0;
	if (after > tables || tables - after < slices / 4 + sizeof(struct slice))
		store->tables_retry = after + store->budget_bytes / 64;
	return true;
}

/* Takes one step that saves memory.  Returns false if there is none left. */
static bool save_memory(struct store *store, bool over_budget, size_t tables)
{
	uint32_t few = store->merge_cells;

	if (tables_full(store, tables) && shrink_tables(store, tables))
		return true;
	if (store->n_list > SLICES_MAX && merge_one(store, FAN, HUGE_VAL, few))
		return true;
	if (!over_budget)
		return false;
	if (store->wide && merge_one(store, FAN_WIDE, COST_MAX, few))
		return true;
	if (merge_one(store, FAN, COST_MAX, few) || merge_one(store, 2, COST_MAX, few) ||
		reduce_fields(store) || reduce_old(store, DETAIL_LEAF, false) ||
		merge_one(store, 2, COST_STACKS, few) || reduce_old(store, DETAIL_NONE, false))
		return true;
	if (store->n_list > SLICES_KEPT && merge_one(store, 2, HUGE_VAL, few))
		return true;
	return reduce_all(store, false) || merge_one(store, 2, HUGE_VAL, UINT32_MAX) ||
		reduce_all(store, true);
}

/* Returns the limit of work: more if the budget is spent, none if it is exceeded by far. */
static uint64_t work_limit(const struct store *store, size_t memory, size_t tables)
{
	size_t budget = store->budget_bytes;

	if (memory - memory / 8 > budget || tables - tables / 8 > budget / 4 * 3)
		return UINT64_MAX;
	return memory > budget ? 4 * WORK_A_CALL : WORK_A_CALL;
}

unsigned int store_maintain(struct store *store)
{
	/* Reserve memory for the next slice. */
	size_t target = store->budget_bytes - store->budget_bytes / 32;
	uint64_t merges = store->merges;

	store_bury_returned(store);
	stacks_sweep(store->slices.stacks);
	for (store->work = 0;;) {
		/* Slices held only by others do not count: their holders release them. */
		size_t memory = store_memory(store, store->listed_bytes);
		size_t tables = tables_used(store);

		if (memory <= target && store->n_list <= SLICES_MAX && !tables_full(store, tables))
			break;
		if (store->work >= work_limit(store, memory, tables) ||
			!save_memory(store, memory > target, tables))
			break;
	}
	store_publish_memory(store);
	return (unsigned int)(store->merges - merges);
}
