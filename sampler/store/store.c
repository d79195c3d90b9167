/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store.c - the open slice, sealing, snapshots; see store.h.  budget.c keeps the budget. */
#include "sampler/base/grow.h"
#include "sampler/store/private.h"

#include "sampler/fields/values.h"
#include "sampler/store/stacks.h"
#include "sampler/store/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* If every slice has all stacks of a large program, a slice of this many cells must still find a
 * partner.  Merging the largest takes about 40 ms. */
#define MERGE_CELLS_MIN 2048u
#define MERGE_CELLS_MAX (1u << 19)

#define UNSEALED_MAX_NS (10 * STORE_SLICE_NS)

static uint32_t merge_cells(size_t budget_bytes)
{
	size_t cells = budget_bytes / 256;

	if (cells > MERGE_CELLS_MAX)
		return MERGE_CELLS_MAX;
	return cells < MERGE_CELLS_MIN ? MERGE_CELLS_MIN : (uint32_t)cells;
}

int store_new(struct store **out, struct stacks *stacks, struct tasks *tasks, size_t budget_bytes)
{
	struct store *store = calloc(1, sizeof(*store));

	*out = NULL;
	if (!store)
		return -ENOMEM;
	pthread_mutex_init(&store->lock, NULL);
	store->budget_bytes = budget_bytes;
	store->merge_cells = merge_cells(budget_bytes);
	if (slices_init(&store->slices, stacks, tasks, store->merge_cells / 4) ||
		cells_init(&store->open)) {
		store_free(store);
		return -ENOMEM;
	}
	*out = store;
	return 0;
}

void store_set_values(struct store *store, struct values *values)
{
	store->slices.values = values;
}

void store_bury(struct store *store, struct sealed *sealed)
{
	store->slice_bytes -= sealed->bytes;
	slices_destroy(&store->slices, sealed);
}

void store_bury_returned(struct store *store)
{
	struct sealed *sealed, *next;

	pthread_mutex_lock(&store->lock);
	sealed = store->returned;
	store->returned = NULL;
	pthread_mutex_unlock(&store->lock);
	for (; sealed; sealed = next) {
		next = sealed->next;
		store_bury(store, sealed);
	}
}

static void free_rest(struct store *store)
{
	slices_fini(&store->slices);
	pthread_mutex_destroy(&store->lock);
	cells_fini(&store->open);
	free(store->list);
	free(store);
}

void store_abandon(struct store *store)
{
	struct sealed *next;

	if (!store)
		return;
	for (; store->returned; store->returned = next) {
		next = store->returned->next;
		free(store->returned);
	}
	for (size_t i = 0; i < store->n_list; i++)
		free(store->list[i].sealed);
	free_rest(store);
}

static void release_open(struct store *store)
{
	for (uint32_t i = 0; i < store->open.n; i++) {
		stacks_unref(store->slices.stacks, store->open.at[i].stack);
		tasks_label_unref(store->slices.tasks, store->open.at[i].task);
		values_unref(store->slices.values, cells_values(&store->open, i), 1);
	}
	cells_clear(&store->open);
	store->open_end_ns = 0;
}

void store_free(struct store *store)
{
	if (!store)
		return;
	store_bury_returned(store);
	for (size_t i = 0; i < store->n_list; i++)
		store_bury(store, store->list[i].sealed);
	release_open(store);
	free_rest(store);
}

/* --- memory --- */

size_t store_memory(const struct store *store, size_t slice_bytes)
{
	return sizeof(*store) + slice_bytes + cells_memory(&store->open) +
		store->list_size * sizeof(*store->list) + slices_memory(&store->slices) +
		stacks_memory(store->slices.stacks) + tasks_memory(store->slices.tasks) +
		(store->slices.values ? values_memory(store->slices.values) : 0);
}

void store_publish_memory(struct store *store)
{
	__atomic_store_n(
		&store->memory_bytes, store_memory(store, store->slice_bytes), __ATOMIC_RELAXED);
}

/* --- the open slice --- */

static int room_in_list(struct store *store)
{
	int ret;

	if (store->n_list < store->list_size)
		return 0;
	pthread_mutex_lock(&store->lock);
	ret = grow_items(&store->list, &store->list_size, store->n_list + 1, sizeof(*store->list));
	pthread_mutex_unlock(&store->lock);
	return ret;
}

/* Drops the open slice, which could not be sealed.  Its samples count as dropped. */
static void drop_open(struct store *store)
{
	uint64_t samples = 0;

	for (uint32_t i = 0; i < store->open.n; i++)
		samples += store->open.at[i].count;
	store_count(&store->samples, 0 - samples);
	store_count(&store->dropped, samples);
	release_open(store);
}

static int seal_open(struct store *store, uint64_t end_ns)
{
	struct sealed *sealed;
	int err = room_in_list(store);

	if (!err)
		err = slices_seal(
			&store->slices, &store->open, store->open_start_ns, end_ns, &sealed);
	if (err)
		return err;
	store->listed_bytes += sealed->bytes;
	store->slice_bytes += sealed->bytes;
	store->n_with_values += sealed->slice.values != NULL;
	store->sealed_until_ns = end_ns;
	cells_clear(&store->open);
	store->open_end_ns = 0;
	pthread_mutex_lock(&store->lock);
	store->list[store->n_list++] = store_listed(sealed);
	pthread_mutex_unlock(&store->lock);
	store_publish_memory(store);
	return 0;
}

/* Seals the open slice before its end.  Later samples open a slice that begins here. */
static int seal_early(struct store *store, uint64_t now_ns)
{
	uint64_t end_ns = now_ns > store->newest_ns ? now_ns : store->newest_ns + 1;

	if (end_ns <= store->open_start_ns)
		end_ns = store->open_start_ns + 1;
	return seal_open(store, end_ns < store->open_end_ns ? end_ns : store->open_end_ns);
}

/* Opens a slice for a sample after the open one's end, or for the first one. */
static void roll(struct store *store, uint64_t time_ns)
{
	uint64_t start_ns = time_ns - time_ns % STORE_SLICE_NS;

	if (store->open.n) {
		if (seal_open(store, store->open_end_ns)) {
			/* If memory runs out, continue in a longer slice. */
			store->open_end_ns = start_ns + STORE_SLICE_NS;
			return;
		}
		store->sealed_by_adding = true;
	}
	if (start_ns < store->sealed_until_ns)
		start_ns = store->sealed_until_ns;
	store->open_start_ns = start_ns;
	store->open_end_ns = start_ns - start_ns % STORE_SLICE_NS + STORE_SLICE_NS;
	store->newest_ns = start_ns;
}

static inline __attribute__((always_inline)) int add(struct store *store, uint64_t time_ns,
	uint32_t stack, uint32_t task, uint16_t cpu, uint8_t event, uint64_t weight,
	uint32_t values)
{
	struct cell *cell;
	uint32_t where;
	int err;

	if (__builtin_expect(time_ns >= store->open_end_ns, 0))
		roll(store, time_ns);
	if (time_ns > store->newest_ns)
		store->newest_ns = time_ns;

	cell = cells_find(&store->open, stack, task, cpu, event, values, &where);
	if (__builtin_expect(cell ? cell->count == UINT32_MAX : store->open.n == CELLS_MAX, 0)) {
		err = seal_early(store, time_ns);
		if (err)
			goto fail;
		store->sealed_by_adding = true;
		return store_add_values(store, time_ns, stack, task, cpu, event, weight, values);
	}
	if (cell) {
		cell->count++;
		cell->weight += weight;
	} else {
		err = cells_add(&store->open, where,
			&(struct cell){.stack = stack,
				.task = task,
				.cpu = cpu,
				.event = event,
				.count = 1,
				.weight = weight},
			values);
		if (err)
			goto fail;
		stacks_ref(store->slices.stacks, stack);
		tasks_label_ref(store->slices.tasks, task);
		values_ref(store->slices.values, values, 1);
	}
	store_count(&store->samples, 1);
	return 0;

fail:
	store_count(&store->dropped, 1);
	return err;
}

int store_add(struct store *store, uint64_t time_ns, uint32_t stack, uint32_t task, uint16_t cpu,
	uint8_t event, uint64_t weight)
{
	return add(store, time_ns, stack, task, cpu, event, weight, VALUES_NONE);
}

int store_add_values(struct store *store, uint64_t time_ns, uint32_t stack, uint32_t task,
	uint16_t cpu, uint8_t event, uint64_t weight, uint32_t values)
{
	return add(store, time_ns, stack, task, cpu, event, weight, values);
}

uint64_t store_dropped(const struct store *store)
{
	return store->dropped;
}

void store_drop(struct store *store, uint64_t samples)
{
	store_count(&store->dropped, samples);
}

bool store_seal(struct store *store, uint64_t now_ns, bool force)
{
	bool sealed = store->sealed_by_adding;

	store->sealed_by_adding = false;
	if (!store->open.n)
		return sealed;
	if (now_ns >= store->open_end_ns)
		sealed |= !seal_open(store, store->open_end_ns);
	else if (force)
		sealed |= !seal_early(store, now_ns);
	/* Samples that are never sealed are never seen. */
	if (store->open.n && now_ns > store->open_start_ns + UNSEALED_MAX_NS)
		drop_open(store);
	return sealed;
}

bool store_finish(struct store *store, uint64_t now_ns)
{
	bool sealed = store_seal(store, now_ns, true);

	drop_open(store);
	return sealed;
}

/* --- other threads --- */

/* Returns the first listed slice that ends after time_ns. */
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

/* Returns the number of slices that overlap a range, from *first on. */
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
	/* Allocate without the lock, until there is enough room. */
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
		.fields_dropped = __atomic_load_n(&store->fields_dropped, __ATOMIC_RELAXED),
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
