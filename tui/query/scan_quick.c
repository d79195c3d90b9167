/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_quick.c - see scan_private.h: the loops over millions of cells.
 */
#include "tui/query/scan_private.h"

#include "tui/base/grow.h"

#define EVENTS_MAX 4u /* with more events, one general pass over a slice is faster */
#define TASKS (SCAN_PROCESS | SCAN_THREAD | SCAN_COMMAND)

/* A range of cells in a slice. */
struct cells_range {
	uint32_t begin, end;
};

bool scan_is_quick(const struct scan_question *question)
{
	return !(question->by & (SCAN_FIELDS | SCAN_CGROUP)) && question->column == GROUP_KEYS &&
		!(question->by & SCAN_CPU && question->by & TASKS);
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

/* Returns the index of a cell's side among those of its event. */
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

/* The part of the sieve that is needed. */
enum sieving { SIEVE_NOTHING, SIEVE_STACKS, SIEVE_CELLS };

static enum sieving sieving_of(const struct scan_work *work)
{
	if (!work->question->filter && !work->idle_bit)
		return SIEVE_NOTHING;
	return work->asks_cells ? SIEVE_CELLS : SIEVE_STACKS;
}

/* Adds cells for any quick question.  sampled: the only event number to count, or -1 for all. */
static int add_cells(
	struct scan_work *work, const struct slice *slice, struct cells_range range, int sampled)
{
	const struct scan_question *question = work->question;
	bool sieved = sieving_of(work);

	for (uint32_t i = range.begin; i < range.end; i++) {
		uint8_t event = scan_event(question, slice, i);
		struct scan_entry *entry;
		uint32_t side, node, id;

		if ((question->event >= 0 && event != question->event) ||
			(sampled >= 0 && slice->event[i] != sampled))
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
			scan_entry_node(work, slice->stack[i], &node) ||
			entry_of(work, node, side, &id))
			return -ENOMEM;
		entry = &work->scan->entries[id];
		entry->weight += slice->weight[i];
		entry->samples += slice->count[i];
		/* For stacks, scan_quick_sums() derives it from the entries. */
		if (!(question->by & SCAN_STACK) &&
			sieve_node(&work->sieve, slice->stack[i]) & SIEVE_UNRESOLVED)
			work->scan->sums[event].unresolved += slice->weight[i];
	}
	return 0;
}

/* --- one event, without branches that depend on the cell: cells that do not pass add 0 --- */

#define AHEAD 8u /* number of cells by which sums are prefetched */
#define OTHER_EVENT 128u /* flag next to the sieve's bits */

/* A range of cells in a slice; only those of one event count. */
struct of_event {
	const struct slice *slice;
	struct cells_range range;
	uint8_t sampled, event; /* event number in the cells, and the one that represents it */
	bool mixed; /* the slice also has cells of other events */
	enum sieving sieving;
};

struct block {
	const uint32_t *stack, *task, *count;
	const uint16_t *cpu;
	const uint64_t *weight;
	uint32_t n;
	uint8_t verdicts[SIEVE_BLOCK]; /* for SIEVE_CELLS: verdicts, without those on stacks */
};

static inline __attribute__((always_inline)) void begin_block(
	struct scan_work *work, const struct of_event *of, uint32_t first, struct block *block)
{
	const struct slice *slice = of->slice;

	block->n = of->range.end - first < SIEVE_BLOCK ? of->range.end - first : SIEVE_BLOCK;
	block->stack = slice->stack + first;
	block->task = slice->task + first;
	block->count = slice->count + first;
	block->cpu = slice->cpu + first;
	block->weight = slice->weight + first;
	if (of->sieving != SIEVE_CELLS)
		return;
	sieve_rests(&work->sieve, slice, first, block->n, block->verdicts);
	for (uint32_t i = 0; of->mixed && i < block->n; i++)
		block->verdicts[i] |= slice->event[first + i] == of->sampled ? 0 : OTHER_EVENT;
}

static void learn_ahead(struct scan_work *work, const struct block *block, uint32_t i)
{
	struct sieve *sieve = &work->sieve;

	if (sieve->lock && sieve->by_stack && !sieve->stacks_known[block->stack[i]])
		sieve_learn_stacks(sieve, block->stack + i, block->n - i);
}

/* All bits are set if a cell counts before the filter (there), or if it passes; else none. */
struct masks {
	uint64_t there, passes;
};

/* fails, idle: the sieve's verdict on the cell's stack. */
static inline __attribute__((always_inline)) struct masks masks_of(const struct scan_work *work,
	const struct block *block, uint32_t i, enum sieving sieving, bool fails, bool idle)
{
	unsigned int rest = sieving == SIEVE_CELLS ? block->verdicts[i] : 0;
	uint64_t there = (uint64_t)(idle || rest & (work->idle_bit | OTHER_EVENT)) - 1;

	return (struct masks){there, there & ((uint64_t)(fails || rest & SIEVE_FAILS) - 1)};
}

/* Facts on a stack: its enum scan_place, and flags above it. */
enum { ABOUT_PLACE = 3, ABOUT_KNOWN = 4, ABOUT_FAILS = 8, ABOUT_IDLE = 16, ABOUT_UNRESOLVED = 32 };

static int learn_about(struct scan_work *work, uint32_t stack)
{
	unsigned int verdict = sieve_node(&work->sieve, stack), about = ABOUT_KNOWN;
	uint32_t place;

	if (scan_entry_node(work, stack, &place) ||
		grow_zeroed(
			(void **)&work->abouts, stack, &work->abouts_room, sizeof(*work->abouts)))
		return -ENOMEM;
	if (verdict & SIEVE_FAILS)
		about |= ABOUT_FAILS;
	if (verdict & work->idle_bit)
		about |= ABOUT_IDLE;
	if (verdict & SIEVE_UNRESOLVED)
		about |= ABOUT_UNRESOLVED;
	work->abouts[stack] = (uint8_t)(about | place);
	return 0;
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
	quick->learnt = at;
	return 0;
}

/* Adds the sums before the filter.  Without a sieve, scan_quick_sums() derives them from the
 * entries. */
static void add_sums(struct scan_work *work, uint8_t event, const struct scan_sums *sums)
{
	if (sieving_of(work)) {
		work->scan->sums[event].all_weight += sums->all_weight;
		work->scan->sums[event].all_samples += sums->all_samples;
	}
	work->scan->sums[event].unresolved += sums->unresolved;
}

static inline __attribute__((always_inline)) void fetch_about(
	const struct scan_work *work, const struct block *block, uint32_t i)
{
	uint32_t stack;

	if (i + 2 * AHEAD >= block->n)
		return;
	__builtin_prefetch(&work->abouts[block->stack[i + 2 * AHEAD]]);
	stack = block->stack[i + AHEAD];
	if (!work->abouts[stack])
		__builtin_prefetch(stacks_node(work->question->stacks, stack));
}

/* Adds cells by task, CPU or place, but not by stack. */
static inline __attribute__((always_inline)) int add_others(
	struct scan_work *work, const struct of_event *of, enum sieving sieving)
{
	const bool by_task = work->question->by & TASKS, by_cpu = work->question->by & SCAN_CPU;
	const struct scan_quick *quick = &work->quick[of->event];
	struct scan_sums sums = {0};
	struct block block;

	if (grow_zeroed((void **)&work->abouts, of->slice->stack[of->range.end - 1],
		    &work->abouts_room, sizeof(*work->abouts)))
		return -ENOMEM;
	for (uint32_t first = of->range.begin; first < of->range.end; first += SIEVE_BLOCK) {
		const uint32_t *ids = quick->at;
		struct scan_entry *entries = work->scan->entries;

		begin_block(work, of, first, &block);
		for (uint32_t i = 0; i < block.n; i++) {
			uint64_t weight = block.weight[i], samples = block.count[i];
			uint64_t passes = UINT64_MAX;
			uint32_t stack = block.stack[i], at;
			uint8_t about;

			fetch_about(work, &block, i);
			if (__builtin_expect(!work->abouts[stack], 0)) {
				learn_ahead(work, &block, i);
				if (learn_about(work, stack))
					return -ENOMEM;
			}
			about = work->abouts[stack];
			if (sieving) {
				struct masks masks = masks_of(work, &block, i, sieving,
					about & ABOUT_FAILS, about & ABOUT_IDLE);

				passes = masks.passes;
				sums.all_weight += weight & masks.there;
				sums.all_samples += samples & masks.there;
				weight &= passes;
				samples &= passes;
			}
			at = by_task ? block.task[i] : by_cpu ? block.cpu[i] : 0;
			at = at * SCAN_PLACES + (about & ABOUT_PLACE);
			/* Passing is unpredictable, so a cell that fails adds 0 to a known entry.
			 * This avoids a branch. */
			at = (at & (uint32_t)passes) | (quick->learnt & ~(uint32_t)passes);
			if (__builtin_expect(at >= quick->room || !ids[at], 0)) {
				/* Only cells that pass may set the newest name of a task. */
				if (!passes)
					continue;
				if (learn_entry(work, of->slice, first + i, of->event, at))
					return -ENOMEM;
				ids = quick->at;
				entries = work->scan->entries;
			}
			entries[ids[at] - 1].weight += weight;
			entries[ids[at] - 1].samples += samples;
			sums.unresolved += weight & ((uint64_t) !(about & ABOUT_UNRESOLVED) - 1);
		}
	}
	add_sums(work, of->event, &sums);
	return 0;
}

/* Prefetches the sums of later stacks, which are spread over more memory than the inner caches
 * hold. */
static inline __attribute__((always_inline)) void fetch_ahead(const struct block *block, uint32_t i,
	const uint32_t *ids, const struct scan_entry *entries)
{
	uint32_t id;

	if (i + 2 * AHEAD >= block->n)
		return;
	__builtin_prefetch(&ids[block->stack[i + 2 * AHEAD]]);
	id = ids[block->stack[i + AHEAD]] & SCAN_DENSE_ID;
	if (id)
		__builtin_prefetch(&entries[id - 1]);
}

/* Adds cells by stack alone. */
static inline __attribute__((always_inline)) int add_stacks(
	struct scan_work *work, const struct of_event *of, uint32_t side, enum sieving sieving)
{
	const struct scan_dense *dense = &work->dense[side];
	struct scan_sums sums = {0};
	struct block block;

	if (grow_zeroed((void **)&work->dense[side].entries, of->slice->stack[of->range.end - 1],
		    &work->dense[side].room, sizeof(*dense->entries)))
		return -ENOMEM;
	for (uint32_t first = of->range.begin; first < of->range.end; first += SIEVE_BLOCK) {
		const uint32_t *ids = dense->entries;
		struct scan_entry *entries = work->scan->entries;

		begin_block(work, of, first, &block);
		for (uint32_t i = 0; i < block.n; i++) {
			uint64_t weight = block.weight[i], samples = block.count[i];
			uint32_t stack = block.stack[i], at, id;

			fetch_ahead(&block, i, ids, entries);
			if (__builtin_expect(!ids[stack], 0)) {
				learn_ahead(work, &block, i);
				if (scan_entry_id(work, stack, side, &id))
					return -ENOMEM;
				ids = dense->entries;
				entries = work->scan->entries;
			}
			at = ids[stack];
			if (sieving) {
				struct masks masks = masks_of(work, &block, i, sieving,
					at & SCAN_DENSE_FAILS, at & SCAN_DENSE_IDLE);

				sums.all_weight += weight & masks.there;
				sums.all_samples += samples & masks.there;
				weight &= masks.passes;
				samples &= masks.passes;
			}
			at = (at & SCAN_DENSE_ID) - 1;
			entries[at].weight += weight;
			entries[at].samples += samples;
		}
	}
	add_sums(work, of->event, &sums);
	return 0;
}

static int add_event(struct scan_work *work, const struct of_event *of)
{
	uint32_t side;

	if (!(work->question->by & SCAN_STACK)) {
		switch (of->sieving) {
		case SIEVE_NOTHING:
			return add_others(work, of, SIEVE_NOTHING);
		case SIEVE_STACKS:
			return add_others(work, of, SIEVE_STACKS);
		default:
			return add_others(work, of, SIEVE_CELLS);
		}
	}
	/* By stack alone, an event has one side. */
	if (side_of(work, of->slice, of->range.begin, of->event, &side))
		return -ENOMEM;
	if (side >= SCAN_DENSE_SIDES)
		return add_cells(work, of->slice, of->range, of->sampled);
	switch (of->sieving) {
	case SIEVE_NOTHING:
		return add_stacks(work, of, side, SIEVE_NOTHING);
	case SIEVE_STACKS:
		return add_stacks(work, of, side, SIEVE_STACKS);
	default:
		return add_stacks(work, of, side, SIEVE_CELLS);
	}
}

int scan_quick_slice(struct scan_work *work, const struct slice *slice, size_t at)
{
	const struct scan_question *question = work->question;
	struct of_event of = {.slice = slice, .mixed = slice->n_totals > 1};
	int ret = 0;

	half_cells(&work->half, slice, at, &of.range.begin, &of.range.end);
	if (of.range.begin >= of.range.end)
		return 0;
	of.sieving = of.mixed ? SIEVE_CELLS : sieving_of(work);
	/* Stacks are in ascending order, so this makes room for all of the range. */
	if (work->sieve.by_stack)
		sieve_reserve(&work->sieve, slice->stack[of.range.end - 1]);
	if (!slice->n_totals || slice->n_totals > EVENTS_MAX ||
		(question->by & SCAN_STACK && question->by != SCAN_STACK))
		return add_cells(work, slice, of.range, -1);
	for (uint32_t i = 0; i < slice->n_totals && !ret; i++) {
		of.sampled = slice->totals[i].event;
		of.event = question->stands_for ? question->stands_for[of.sampled] : of.sampled;
		if (question->event < 0 || of.event == question->event)
			ret = add_event(work, &of);
	}
	return ret;
}

/* Removes entries without samples that passed. */
static void leave_out_empty(struct scan *scan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < scan->n_entries; i++) {
		if (!scan->entries[i].samples)
			continue;
		if (scan->parts && n != i)
			memcpy(scan->parts[n], scan->parts[i], sizeof(*scan->parts));
		scan->entries[n++] = scan->entries[i];
	}
	scan->n_entries = n;
}

int scan_quick_sums(struct scan_work *work)
{
	const struct scan *scan = work->scan;
	bool by_stack = work->question->by & SCAN_STACK;

	leave_out_empty(work->scan);
	for (uint32_t i = 0; i < scan->n_entries; i++) {
		const struct scan_entry *entry = &scan->entries[i];
		struct scan_sums *sums = &work->scan->sums[scan->sides[entry->side].event];

		sums->weight += entry->weight;
		sums->samples += entry->samples;
		if (!sieving_of(work)) {
			sums->all_weight += entry->weight;
			sums->all_samples += entry->samples;
		}
		if (by_stack && sieve_node(&work->sieve, entry->node) & SIEVE_UNRESOLVED)
			sums->unresolved += entry->weight;
	}
	return 0;
}
