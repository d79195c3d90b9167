/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_quick.c - see scan_private.h: the loops over millions of cells.
 */
#include "tui/scan_private.h"

#include "tui/grow.h"

#define AHEAD 8u /* cells whose sums are fetched before they are needed */
#define TASKS (SCAN_PROCESS | SCAN_THREAD | SCAN_COMMAND)

bool scan_is_quick(const struct scan_question *question)
{
	return !(question->by & (SCAN_FIELDS | SCAN_CGROUP)) && question->column == GROUP_KEYS &&
		!(question->by & SCAN_CPU && question->by & TASKS);
}

/* The sums are spread over more memory than any cache holds, and where they lie is known long before. */
static inline void fetch_ahead(const struct scan_work *work, const struct slice *slice, uint32_t i)
{
	const struct scan_dense *dense = &work->dense[0];

	if (i + 2 * AHEAD >= slice->cells)
		return;
	if (slice->stack[i + 2 * AHEAD] < dense->room)
		__builtin_prefetch(&dense->entries[slice->stack[i + 2 * AHEAD]]);
	if (slice->stack[i + AHEAD] < dense->room && dense->entries[slice->stack[i + AHEAD]])
		__builtin_prefetch(
			&work->scan->entries[dense->entries[slice->stack[i + AHEAD]] - 1]);
}

static int learn_side(
	struct scan_work *work, uint8_t event, uint32_t at, uint32_t label, uint16_t cpu)
{
	struct scan_quick_sides *sides = &work->quick[event];
	struct scan_side side = {
		.task = SCAN_NONE, .column = SCAN_NONE, .fields = SCAN_NONE, .event = event};
	uint32_t id;

	if (work->question->by & TASKS && scan_task_of(work, label, &side.task))
		return -ENOMEM;
	if (work->question->by & SCAN_CPU)
		side.cpu = cpu;
	if (scan_side_id(work, &side, &id) ||
		grow_zeroed((void **)&sides->at, at, &sides->room, sizeof(*sides->at)))
		return -ENOMEM;
	sides->at[at] = id + 1;
	return 0;
}

static inline __attribute__((always_inline)) int side_of(struct scan_work *work,
	const struct slice *slice, uint32_t i, uint8_t event, uint32_t *side)
{
	const struct scan_quick_sides *sides = &work->quick[event];
	uint32_t at = 0;

	if (work->question->by & TASKS)
		at = slice->task[i];
	else if (work->question->by & SCAN_CPU)
		at = slice->cpu[i];
	if (at >= sides->room || !sides->at[at]) {
		if (learn_side(work, event, at, slice->task[i], slice->cpu[i]))
			return -ENOMEM;
	}
	*side = sides->at[at] - 1;
	return 0;
}

static inline __attribute__((always_inline)) int entry_of(
	struct scan_work *work, uint32_t stack, uint32_t side, uint32_t *id)
{
	uint32_t node;

	if (work->question->by & SCAN_STACK) {
		if (side < SCAN_DENSE_SIDES && stack < work->dense[side].room &&
			work->dense[side].entries[stack]) {
			*id = work->dense[side].entries[stack] - 1;
			return 0;
		}
		return scan_entry_id(work, stack, side, id);
	}
	if (scan_entry_node(work, stack, &node))
		return -ENOMEM;
	if (side * SCAN_PLACES + node < work->side_entries_room &&
		work->side_entries[side * SCAN_PLACES + node]) {
		*id = work->side_entries[side * SCAN_PLACES + node] - 1;
		return 0;
	}
	return scan_entry_id(work, node, side, id);
}

/* With constants for what does not change between cells. */
static inline __attribute__((always_inline)) int add_cells(
	struct scan_work *work, const struct slice *slice, bool sieved, bool stacks)
{
	const struct scan_question *question = work->question;

	for (uint32_t i = 0; i < slice->cells; i++) {
		uint8_t event = scan_event(question, slice, i);
		struct scan_entry *entry;
		uint32_t side, id;

		if (stacks)
			fetch_ahead(work, slice, i);
		if (question->event >= 0 && event != question->event)
			continue;
		if (sieved) {
			unsigned int verdict = sieve_cell(&work->sieve, slice, i);

			if (verdict & work->idle_bit)
				continue;
			work->scan->sums[event].all_weight += slice->weight[i];
			work->scan->sums[event].all_samples += slice->count[i];
			if (verdict & SIEVE_FAILS)
				continue;
		}
		if (side_of(work, slice, i, event, &side) ||
			entry_of(work, slice->stack[i], side, &id))
			return -ENOMEM;
		entry = &work->scan->entries[id];
		entry->weight += slice->weight[i];
		entry->samples += slice->count[i];
		if (!question->leave_unresolved && !stacks) {
			int leaf = scan_leaf(work, slice->stack[i]);

			if (leaf < 0)
				return leaf;
			if (!(leaf & SCAN_LEAF_RESOLVED))
				work->scan->sums[event].unresolved += slice->weight[i];
		}
	}
	return 0;
}

static bool is_sieved(const struct scan_work *work)
{
	return work->question->filter || work->idle_bit;
}

int scan_quick_slice(struct scan_work *work, const struct slice *slice)
{
	bool stacks = work->question->by & SCAN_STACK;

	if (is_sieved(work))
		return stacks ? add_cells(work, slice, true, true)
			      : add_cells(work, slice, true, false);
	return stacks ? add_cells(work, slice, false, true) : add_cells(work, slice, false, false);
}

int scan_quick_sums(struct scan_work *work)
{
	const struct scan *scan = work->scan;
	bool unresolved = !work->question->leave_unresolved && work->question->by & SCAN_STACK;

	for (uint32_t i = 0; i < scan->n_entries; i++) {
		const struct scan_entry *entry = &scan->entries[i];
		struct scan_sums *sums = &work->scan->sums[scan->sides[entry->side].event];
		int leaf = unresolved ? scan_leaf(work, entry->node) : SCAN_LEAF_RESOLVED;

		if (leaf < 0)
			return leaf;
		sums->weight += entry->weight;
		sums->samples += entry->samples;
		if (!is_sieved(work)) {
			sums->all_weight += entry->weight;
			sums->all_samples += entry->samples;
		}
		if (!(leaf & SCAN_LEAF_RESOLVED))
			sums->unresolved += entry->weight;
	}
	return 0;
}
