/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * store.c - see store.h.  The open slice and what keeps the budget belong to the sampling thread; the list
 * of sealed slices and their references are guarded by the lock.  Only the sampling thread changes the list, so it
 * reads it without the lock.
 */
#include "sampler/store.h"

#include "sampler/idtable.h"
#include "sampler/slices.h"
#include "sampler/stacks.h"
#include "sampler/tasks.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_CELLS_MIN 256u
#define OPEN_CELLS_MAX (1u << 20) /* a slice with more is sealed before its time */

#define STEPS_A_CALL 64u /* merges and reductions in one store_maintain() */
#define COST_MAX 0.25 /* a slice longer than this part of its age costs more than detail does */
#define RECENT_NS 30000000000ull /* what is on the screen is merged last */
#define SLICES_KEPT 32u /* that are merged rather than let all detail go */
#define PLAN_MAX 64u

/* The index of the open slice: an entry of another epoch is empty, so that clearing costs nothing. */
struct slot {
	uint32_t epoch;
	uint32_t cell;
};

struct listed {
	struct sealed *sealed;
	uint64_t start_ns, end_ns;
	uint64_t samples;
};

struct store {
	struct slices slices;
	size_t budget_bytes;

	/* the open slice */
	uint64_t open_start_ns, open_end_ns; /* end 0: none is open */
	uint64_t newest_ns;
	struct cell *cells;
	uint32_t n_cells, cells_size;
	struct slot *slots;
	uint32_t slot_mask;
	uint32_t epoch;
	uint64_t sealed_until_ns;

	/* merging */
	uint32_t plan[PLAN_MAX]; /* left halves of pairs, rising, taken from the end */
	uint32_t n_plan;
	size_t tables_retry;
	double cheapest; /* cost of the cheapest pair when the plan was made */

	/* counted by the sampling thread, read by all */
	uint64_t samples, dropped, merges;
	size_t memory_bytes;

	pthread_mutex_t lock; /* guards what follows and the slices' refs */
	struct listed *list; /* by time */
	size_t n_list, list_size;
	struct sealed *returned; /* given up by their last holders */

	size_t listed_bytes; /* sampling thread */
	size_t slice_bytes; /* the same with those not in the list but held; sampling thread */
};

/* Only one thread writes these counters. */
static void count(uint64_t *counter, uint64_t add)
{
	__atomic_store_n(counter, *counter + add, __ATOMIC_RELAXED);
}

static struct slot *slots_new(uint32_t size)
{
	return calloc(size, sizeof(struct slot));
}

int store_new(struct store **out, struct stacks *stacks, struct tasks *tasks, size_t budget_bytes)
{
	struct store *store = calloc(1, sizeof(*store));

	*out = NULL;
	if (!store)
		return -ENOMEM;
	pthread_mutex_init(&store->lock, NULL);
	slices_init(&store->slices, stacks, tasks);
	store->budget_bytes = budget_bytes;
	store->epoch = 1;
	store->cells_size = OPEN_CELLS_MIN;
	store->cells = malloc(OPEN_CELLS_MIN * sizeof(*store->cells));
	store->slot_mask = OPEN_CELLS_MIN * 2 - 1;
	store->slots = slots_new(OPEN_CELLS_MIN * 2);
	if (!store->cells || !store->slots) {
		store_free(store);
		return -ENOMEM;
	}
	*out = store;
	return 0;
}

static void bury(struct store *store, struct sealed *sealed)
{
	store->slice_bytes -= sealed->bytes;
	slices_destroy(&store->slices, sealed);
}

static void bury_returned(struct store *store)
{
	struct sealed *sealed, *next;

	pthread_mutex_lock(&store->lock);
	sealed = store->returned;
	store->returned = NULL;
	pthread_mutex_unlock(&store->lock);
	for (; sealed; sealed = next) {
		next = sealed->next;
		bury(store, sealed);
	}
}

void store_free(struct store *store)
{
	if (!store)
		return;
	bury_returned(store);
	for (size_t i = 0; i < store->n_list; i++)
		bury(store, store->list[i].sealed);
	for (uint32_t i = 0; i < store->n_cells; i++) {
		stacks_unref(store->slices.stacks, store->cells[i].stack);
		tasks_label_unref(store->slices.tasks, store->cells[i].task);
	}
	slices_fini(&store->slices);
	pthread_mutex_destroy(&store->lock);
	free(store->cells);
	free(store->slots);
	free(store->list);
	free(store);
}

/* --- memory --- */

static size_t memory_now(const struct store *store, size_t slice_bytes)
{
	return sizeof(*store) + slice_bytes + store->cells_size * sizeof(*store->cells) +
		((size_t)store->slot_mask + 1) * sizeof(*store->slots) +
		store->list_size * sizeof(*store->list) + slices_memory(&store->slices) +
		stacks_memory(store->slices.stacks) + tasks_memory(store->slices.tasks);
}

static void publish_memory(struct store *store)
{
	__atomic_store_n(
		&store->memory_bytes, memory_now(store, store->slice_bytes), __ATOMIC_RELAXED);
}

/* --- the open slice --- */

static uint32_t cell_hash(uint32_t stack, uint32_t task, uint16_t cpu, uint8_t event)
{
	return idtable_mix((uint64_t)stack << 32 | task, (uint32_t)cpu << 8 | event);
}

static void clear_open(struct store *store)
{
	store->n_cells = 0;
	store->open_end_ns = 0;
	if (++store->epoch == 0) {
		memset(store->slots, 0, ((size_t)store->slot_mask + 1) * sizeof(*store->slots));
		store->epoch = 1;
	}
}

static int grow_open(struct store *store)
{
	uint32_t size = store->cells_size * 2, mask = size * 2 - 1;
	struct slot *slots = slots_new(size * 2);
	struct cell *cells = realloc(store->cells, size * sizeof(*cells));

	if (cells) {
		store->cells = cells;
		if (slots)
			store->cells_size = size;
	}
	if (!cells || !slots) {
		free(slots);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < store->n_cells; i++) {
		uint32_t at =
			cell_hash(cells[i].stack, cells[i].task, cells[i].cpu, cells[i].event);

		while (slots[at & mask].epoch == store->epoch)
			at++;
		slots[at & mask] = (struct slot){.epoch = store->epoch, .cell = i};
	}
	free(store->slots);
	store->slots = slots;
	store->slot_mask = mask;
	return 0;
}

static int room_in_list(struct store *store)
{
	size_t size = store->list_size ? store->list_size * 2 : 256;
	struct listed *list;

	if (store->n_list < store->list_size)
		return 0;
	pthread_mutex_lock(&store->lock);
	list = realloc(store->list, size * sizeof(*list));
	if (list) {
		store->list = list;
		store->list_size = size;
	}
	pthread_mutex_unlock(&store->lock);
	return list ? 0 : -ENOMEM;
}

static int seal_open(struct store *store, uint64_t end_ns)
{
	struct sealed *sealed;
	int err = room_in_list(store);

	if (!err)
		err = slices_seal(&store->slices, store->cells, store->n_cells,
			store->open_start_ns, end_ns, &sealed);
	if (err)
		return err;
	store->listed_bytes += sealed->bytes;
	store->slice_bytes += sealed->bytes;
	store->sealed_until_ns = end_ns;
	clear_open(store);
	pthread_mutex_lock(&store->lock);
	store->list[store->n_list++] = (struct listed){.sealed = sealed,
		.start_ns = sealed->slice.start_ns,
		.end_ns = end_ns,
		.samples = sealed->samples};
	pthread_mutex_unlock(&store->lock);
	publish_memory(store);
	return 0;
}

/* Seal before the time is over; what comes until then opens a slice that begins here. */
static int seal_early(struct store *store, uint64_t now_ns)
{
	uint64_t end_ns = now_ns > store->newest_ns ? now_ns : store->newest_ns + 1;

	if (end_ns <= store->open_start_ns)
		end_ns = store->open_start_ns + 1;
	return seal_open(store, end_ns < store->open_end_ns ? end_ns : store->open_end_ns);
}

/* A sample that the open slice has no place for, or the first one. */
static void roll(struct store *store, uint64_t time_ns)
{
	uint64_t start_ns = time_ns - time_ns % STORE_SLICE_NS;

	if (store->n_cells && seal_open(store, store->open_end_ns)) {
		/* No memory to seal: go on in a longer slice. */
		store->open_end_ns = start_ns + STORE_SLICE_NS;
		return;
	}
	if (start_ns < store->sealed_until_ns)
		start_ns = store->sealed_until_ns;
	store->open_start_ns = start_ns;
	store->open_end_ns = start_ns - start_ns % STORE_SLICE_NS + STORE_SLICE_NS;
	store->newest_ns = start_ns;
}

static int add_cell(struct store *store, uint32_t at, const struct cell *cell)
{
	if (store->n_cells == store->cells_size) {
		int err = store->cells_size < OPEN_CELLS_MAX ? grow_open(store) : -ENOMEM;

		if (err)
			return err;
		at = cell_hash(cell->stack, cell->task, cell->cpu, cell->event);
		while (store->slots[at & store->slot_mask].epoch == store->epoch)
			at++;
	}
	store->slots[at & store->slot_mask] =
		(struct slot){.epoch = store->epoch, .cell = store->n_cells};
	store->cells[store->n_cells++] = *cell;
	stacks_ref(store->slices.stacks, cell->stack);
	tasks_label_ref(store->slices.tasks, cell->task);
	return 0;
}

int store_add(struct store *store, uint64_t time_ns, uint32_t stack, uint32_t task, uint16_t cpu,
	uint8_t event, uint64_t weight)
{
	const struct cell new = {.stack = stack,
		.task = task,
		.cpu = cpu,
		.event = event,
		.count = 1,
		.weight = weight};
	uint32_t at = cell_hash(stack, task, cpu, event);
	int err;

	if (__builtin_expect(time_ns >= store->open_end_ns, 0))
		roll(store, time_ns);
	if (time_ns > store->newest_ns)
		store->newest_ns = time_ns;

	for (;; at++) {
		const struct slot *slot = &store->slots[at & store->slot_mask];
		struct cell *cell = &store->cells[slot->cell];

		if (slot->epoch != store->epoch)
			break;
		if (cell->stack == stack && cell->task == task && cell->cpu == cpu &&
			cell->event == event) {
			if (__builtin_expect(cell->count == UINT32_MAX, 0))
				goto full;
			cell->count++;
			cell->weight += weight;
			count(&store->samples, 1);
			return 0;
		}
	}
	if (store->n_cells == OPEN_CELLS_MAX)
		goto full;
	err = add_cell(store, at, &new);
	if (err)
		count(&store->dropped, 1);
	else
		count(&store->samples, 1);
	return err;

full:
	err = seal_early(store, time_ns);
	if (err) {
		count(&store->dropped, 1);
		return err;
	}
	return store_add(store, time_ns, stack, task, cpu, event, weight);
}

bool store_seal(struct store *store, uint64_t now_ns, bool force)
{
	if (!store->n_cells)
		return false;
	if (now_ns >= store->open_end_ns)
		return !seal_open(store, store->open_end_ns);
	return force && !seal_early(store, now_ns);
}

/* --- keeping the budget --- */

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
			bury(store, old[i]);
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
	for (size_t i = 0; i + 1 < store->n_list && store->n_plan < PLAN_MAX; i++) {
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
	count(&store->merges, 1);
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

	bury_returned(store);
	stacks_sweep(store->slices.stacks);
	for (unsigned int step = 0;; step++) {
		/* Slices that only others still hold go away by themselves. */
		size_t memory = memory_now(store, store->listed_bytes);
		size_t tables = tables_used(store);

		if (memory <= budget && !tables_full(store, tables))
			break;
		if (step >= STEPS_A_CALL && memory - memory / 8 <= budget &&
			tables - tables / 8 <= budget / 4 * 3)
			break;
		if (!save_memory(store, memory > budget, tables))
			break;
	}
	publish_memory(store);
	return (unsigned int)(store->merges - merges);
}

/* --- other threads --- */

/* The first listed slice that ends after time_ns. */
static size_t first_after(const struct store *store, uint64_t time_ns)
{
	size_t low = 0, high = store->n_list;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (store->list[middle].end_ns > time_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* How many slices overlap a range, from *first on. */
static size_t overlapping(
	const struct store *store, uint64_t from_ns, uint64_t to_ns, size_t *first)
{
	size_t end;

	*first = first_after(store, from_ns);
	if (to_ns <= from_ns)
		return 0;
	end = first_after(store, to_ns - 1);
	if (end < store->n_list && store->list[end].start_ns < to_ns)
		end++;
	return end > *first ? end - *first : 0;
}

int store_snapshot(struct store *store, uint64_t from_ns, uint64_t to_ns, struct snapshot *out)
{
	size_t room = 0, n, first;

	*out = (struct snapshot){0};
	pthread_mutex_lock(&store->lock);
	/* Memory is asked for without the lock, until it is enough. */
	while ((n = overlapping(store, from_ns, to_ns, &first)) > room) {
		pthread_mutex_unlock(&store->lock);
		free(out->slices);
		room = n + 16;
		out->slices = malloc(room * sizeof(*out->slices));
		if (!out->slices)
			return -ENOMEM;
		pthread_mutex_lock(&store->lock);
	}
	for (size_t i = 0; i < n; i++) {
		struct sealed *sealed = store->list[first + i].sealed;

		sealed->slice.refs++;
		out->slices[i] = &sealed->slice;
	}
	pthread_mutex_unlock(&store->lock);
	out->n = n;
	return 0;
}

static void unref_locked(struct store *store, const struct slice *slice)
{
	struct sealed *sealed = (struct sealed *)(uintptr_t)slice;

	if (--sealed->slice.refs)
		return;
	sealed->next = store->returned;
	store->returned = sealed;
}

void snapshot_release(struct store *store, struct snapshot *snapshot)
{
	pthread_mutex_lock(&store->lock);
	for (size_t i = 0; i < snapshot->n; i++)
		unref_locked(store, snapshot->slices[i]);
	pthread_mutex_unlock(&store->lock);
	free(snapshot->slices);
	*snapshot = (struct snapshot){0};
}

void slice_ref(struct store *store, const struct slice *slice)
{
	pthread_mutex_lock(&store->lock);
	((struct sealed *)(uintptr_t)slice)->slice.refs++;
	pthread_mutex_unlock(&store->lock);
}

void slice_unref(struct store *store, const struct slice *slice)
{
	pthread_mutex_lock(&store->lock);
	unref_locked(store, slice);
	pthread_mutex_unlock(&store->lock);
}

void store_status(struct store *store, struct store_status *out)
{
	*out = (struct store_status){
		.samples = __atomic_load_n(&store->samples, __ATOMIC_RELAXED),
		.dropped = __atomic_load_n(&store->dropped, __ATOMIC_RELAXED),
		.merges = __atomic_load_n(&store->merges, __ATOMIC_RELAXED),
		.memory_bytes = __atomic_load_n(&store->memory_bytes, __ATOMIC_RELAXED),
		.budget_bytes = store->budget_bytes,
	};
	pthread_mutex_lock(&store->lock);
	out->slices = store->n_list;
	if (store->n_list) {
		out->first_ns = store->list[0].start_ns;
		out->last_ns = store->list[store->n_list - 1].end_ns;
	}
	pthread_mutex_unlock(&store->lock);
}
