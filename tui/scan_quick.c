/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_quick.c - see scan_private.h: the loops over millions of cells.
 */
#include "tui/scan_private.h"

#include "tui/grow.h"

#define AHEAD 8u /* cells whose sums are fetched before they are needed */
#define TASKS (SCAN_PROCESS | SCAN_THREAD | SCAN_COMMAND)

/* Cells of a slice. */
struct cells_range {
	uint32_t begin, end;
};

bool scan_is_quick(const struct scan_question *question)
{
	return !(question->by & (SCAN_FIELDS | SCAN_CGROUP)) && question->column == GROUP_KEYS &&
		!(question->by & SCAN_CPU && question->by & TASKS);
}

/* Where a cell's sums are is known long before they are needed, and they are spread over more memory than the caches next to
 * the processor hold. */
static inline __attribute__((always_inline)) void fetch_ahead(const struct scan_work *work,
	const struct scan_dense *dense, const struct slice *slice, uint32_t i)
{
	uint32_t entry, stack;

	if (i + 2 * AHEAD >= slice->cells || slice->stack[i + 2 * AHEAD] >= dense->room)
		return;
	__builtin_prefetch(&dense->entries[slice->stack[i + 2 * AHEAD]]);
	stack = slice->stack[i + AHEAD];
	if (stack >= dense->room)
		return;
	entry = dense->entries[stack] & SCAN_DENSE_ID;
	if (entry)
		__builtin_prefetch(&work->scan->entries[entry - 1]);
	else
		__builtin_prefetch(stacks_node(work->question->stacks, stack));
}

static int learn_side(
	struct scan_work *work, uint8_t event, uint32_t at, uint32_t label, uint16_t cpu)
{
	struct scan_quick *sides = &work->sides[event];
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

/* What the sides of an event differ in. */
static inline __attribute__((always_inline)) uint32_t place_of(
	const struct scan_work *work, const struct slice *slice, uint32_t i)
{
	if (work->question->by & TASKS)
		return slice->task[i];
	return work->question->by & SCAN_CPU ? slice->cpu[i] : 0;
}

static inline __attribute__((always_inline)) int side_of(struct scan_work *work,
	const struct slice *slice, uint32_t i, uint8_t event, uint32_t *side)
{
	const struct scan_quick *sides = &work->sides[event];
	uint32_t at = place_of(work, slice, i);

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
	if (side < SCAN_DENSE_SIDES && stack < work->dense[side].room &&
		work->dense[side].entries[stack]) {
		*id = (work->dense[side].entries[stack] & SCAN_DENSE_ID) - 1;
		return 0;
	}
	return scan_entry_id(work, stack, side, id);
}

/* By stack and by what else is asked for, with a constant for what does not change between cells. */
static inline __attribute__((always_inline)) int add_cells(
	struct scan_work *work, const struct slice *slice, struct cells_range range, bool sieved)
{
	const struct scan_question *question = work->question;

	for (uint32_t i = range.begin; i < range.end; i++) {
		uint8_t event = scan_event(question, slice, i);
		struct scan_entry *entry;
		uint32_t side, id;

		fetch_ahead(work, &work->dense[0], slice, i);
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
	}
	return 0;
}

/* How much of the sieve is needed. */
enum sieving { SIEVE_NOTHING, SIEVE_STACKS, SIEVE_CELLS };

static enum sieving sieving_of(const struct scan_work *work)
{
	if (!work->question->filter && !work->idle_bit)
		return SIEVE_NOTHING;
	return work->asks_cells ? SIEVE_CELLS : SIEVE_STACKS;
}

/* All bits are set where a cell counts at all, and where it passes as well; else none. */
struct masks {
	uint64_t there, passes;
};

/* What is known of its stack is given. */
static inline __attribute__((always_inline)) struct masks masks_of(struct scan_work *work,
	const struct slice *slice, uint32_t i, enum sieving sieving, bool fails, bool idle)
{
	unsigned int rest = sieving == SIEVE_CELLS ? sieve_rest(&work->sieve, slice, i) : 0;
	uint64_t there = (uint64_t)(idle || rest & work->idle_bit) - 1;

	return (struct masks){there, there & ((uint64_t)(fails || rest & SIEVE_FAILS) - 1)};
}

/* Of a stack: its place, and above it what else is to know. */
enum { ABOUT_PLACE = 3, ABOUT_KNOWN = 4, ABOUT_FAILS = 8, ABOUT_IDLE = 16, ABOUT_UNRESOLVED = 32 };

static int learn_about(struct scan_work *work, uint32_t stack)
{
	uint8_t verdict = sieve_node(&work->sieve, stack), about = ABOUT_KNOWN;
	uint32_t place;
	int leaf = work->question->leave_unresolved ? SCAN_LEAF_RESOLVED : scan_leaf(work, stack);

	if (leaf < 0 || scan_entry_node(work, stack, &place) ||
		grow_zeroed(
			(void **)&work->abouts, stack, &work->abouts_room, sizeof(*work->abouts)))
		return -ENOMEM;
	if (verdict & SIEVE_FAILS)
		about |= ABOUT_FAILS;
	if (verdict & work->idle_bit)
		about |= ABOUT_IDLE;
	if (!(leaf & SCAN_LEAF_RESOLVED))
		about |= ABOUT_UNRESOLVED;
	work->abouts[stack] = (uint8_t)(about | place);
	return 0;
}

static inline __attribute__((always_inline)) void fetch_about(
	const struct scan_work *work, const struct slice *slice, uint32_t i)
{
	uint32_t stack;

	if (i + 2 * AHEAD >= slice->cells || slice->stack[i + 2 * AHEAD] >= work->abouts_room)
		return;
	__builtin_prefetch(&work->abouts[slice->stack[i + 2 * AHEAD]]);
	stack = slice->stack[i + AHEAD];
	if (stack < work->abouts_room && !work->abouts[stack])
		__builtin_prefetch(stacks_node(work->question->stacks, stack));
}

static int learn_entry(
	struct scan_work *work, const struct slice *slice, uint32_t i, uint8_t event, uint32_t at)
{
	struct scan_quick *quick = &work->quick[event];
	uint32_t side, id;

	if (side_of(work, slice, i, event, &side) ||
		scan_entry_id(work, at % SCAN_PLACES, side, &id) ||
		grow_zeroed((void **)&quick->at, at, &quick->room, sizeof(*quick->at)))
		return -ENOMEM;
	quick->at[at] = id + 1;
	return 0;
}

/* By anything but the stack, whatever the event, without a branch that depends on the cell: what does not pass is added as
 * nothing. */
static inline __attribute__((always_inline)) int add_others(struct scan_work *work,
	const struct slice *slice, struct cells_range range, enum sieving sieving)
{
	const struct scan_question *question = work->question;

	/* Stacks are in ascending order. */
	if (grow_zeroed((void **)&work->abouts, slice->stack[range.end - 1], &work->abouts_room,
		    sizeof(*work->abouts)))
		return -ENOMEM;
	for (uint32_t i = range.begin; i < range.end; i++) {
		uint8_t event = scan_event(question, slice, i), about;
		const struct scan_quick *quick = &work->quick[event];
		struct scan_sums *sums = &work->scan->sums[event];
		uint64_t weight = slice->weight[i], samples = slice->count[i];
		uint64_t passes = UINT64_MAX;
		uint32_t stack = slice->stack[i], at;
		struct scan_entry *entry;

		fetch_about(work, slice, i);
		if (question->event >= 0 && event != question->event)
			continue;
		if (__builtin_expect(stack >= work->abouts_room || !work->abouts[stack], 0)) {
			if (learn_about(work, stack))
				return -ENOMEM;
		}
		about = work->abouts[stack];
		if (sieving) {
			struct masks masks = masks_of(
				work, slice, i, sieving, about & ABOUT_FAILS, about & ABOUT_IDLE);

			passes = masks.passes;
			sums->all_weight += weight & masks.there;
			sums->all_samples += samples & masks.there;
			weight &= passes;
			samples &= passes;
		}
		at = place_of(work, slice, i) * SCAN_PLACES + (about & ABOUT_PLACE);
		if (__builtin_expect(at >= quick->room || !quick->at[at], 0)) {
			/* The newest name of a task is that of what has passed. */
			if (!passes)
				continue;
			if (learn_entry(work, slice, i, event, at))
				return -ENOMEM;
		}
		entry = &work->scan->entries[quick->at[at] - 1];
		entry->weight += weight;
		entry->samples += samples;
		sums->unresolved += weight & ((uint64_t) !(about & ABOUT_UNRESOLVED) - 1);
	}
	return 0;
}

/* By stack alone, of a slice of one event, in the same way. */
static inline __attribute__((always_inline)) int add_stacks(struct scan_work *work,
	const struct slice *slice, struct cells_range range, uint32_t side, enum sieving sieving)
{
	const struct scan_dense *dense = &work->dense[side];
	struct scan_sums *sums = &work->scan->sums[work->scan->sides[side].event];
	uint64_t all_weight = 0, all_samples = 0;

	for (uint32_t i = range.begin; i < range.end; i++) {
		uint32_t stack = slice->stack[i], at, id;
		uint64_t passes = UINT64_MAX;
		struct scan_entry *entry;

		fetch_ahead(work, dense, slice, i);
		if (__builtin_expect(stack >= dense->room || !dense->entries[stack], 0)) {
			if (scan_entry_id(work, stack, side, &id))
				return -ENOMEM;
		}
		at = dense->entries[stack];
		if (sieving) {
			struct masks masks = masks_of(work, slice, i, sieving,
				at & SCAN_DENSE_FAILS, at & SCAN_DENSE_IDLE);

			passes = masks.passes;
			all_weight += slice->weight[i] & masks.there;
			all_samples += slice->count[i] & masks.there;
		}
		entry = &work->scan->entries[(at & SCAN_DENSE_ID) - 1];
		entry->weight += slice->weight[i] & passes;
		entry->samples += slice->count[i] & passes;
	}
	sums->all_weight += all_weight;
	sums->all_samples += all_samples;
	return 0;
}

/* Room for all stacks at once: they are in ascending order. */
static int add_one_event(
	struct scan_work *work, const struct slice *slice, struct cells_range range)
{
	uint32_t side, id, last = slice->stack[range.end - 1];
	uint8_t event = scan_event(work->question, slice, range.begin);

	if (work->question->event >= 0 && event != work->question->event)
		return 0;
	if (side_of(work, slice, range.begin, event, &side))
		return -ENOMEM;
	if (side >= SCAN_DENSE_SIDES)
		return add_cells(work, slice, range, sieving_of(work));
	if (last >= work->dense[side].room && scan_entry_id(work, last, side, &id))
		return -ENOMEM;
	switch (sieving_of(work)) {
	case SIEVE_NOTHING:
		return add_stacks(work, slice, range, side, SIEVE_NOTHING);
	case SIEVE_STACKS:
		return add_stacks(work, slice, range, side, SIEVE_STACKS);
	default:
		return add_stacks(work, slice, range, side, SIEVE_CELLS);
	}
}

int scan_quick_slice(struct scan_work *work, const struct slice *slice)
{
	enum sieving sieving = sieving_of(work);
	struct cells_range range;

	halves_cells(slice, &work->half, &range.begin, &range.end);
	if (range.begin >= range.end)
		return 0;
	if (slice->n_totals == 1 && work->question->by == SCAN_STACK)
		return add_one_event(work, slice, range);
	if (work->question->by & SCAN_STACK)
		return sieving ? add_cells(work, slice, range, true)
			       : add_cells(work, slice, range, false);
	switch (sieving) {
	case SIEVE_NOTHING:
		return add_others(work, slice, range, SIEVE_NOTHING);
	case SIEVE_STACKS:
		return add_others(work, slice, range, SIEVE_STACKS);
	default:
		return add_others(work, slice, range, SIEVE_CELLS);
	}
}

/* Entries of which nothing has passed. */
static void leave_out_empty(struct scan *scan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < scan->n_entries; i++)
		if (scan->entries[i].samples)
			scan->entries[n++] = scan->entries[i];
	scan->n_entries = n;
}

int scan_quick_sums(struct scan_work *work)
{
	const struct scan *scan = work->scan;
	bool unresolved = !work->question->leave_unresolved && work->question->by & SCAN_STACK;

	leave_out_empty(work->scan);
	for (uint32_t i = 0; i < scan->n_entries; i++) {
		const struct scan_entry *entry = &scan->entries[i];
		struct scan_sums *sums = &work->scan->sums[scan->sides[entry->side].event];
		int leaf = unresolved ? scan_leaf(work, entry->node) : SCAN_LEAF_RESOLVED;

		if (leaf < 0)
			return leaf;
		sums->weight += entry->weight;
		sums->samples += entry->samples;
		if (!sieving_of(work)) {
			sums->all_weight += entry->weight;
			sums->all_samples += entry->samples;
		}
		if (!(leaf & SCAN_LEAF_RESOLVED))
			sums->unresolved += entry->weight;
	}
	return 0;
}
