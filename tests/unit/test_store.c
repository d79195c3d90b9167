/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_store.c - slices, snapshots, the memory budget; and a reader in another thread, for ThreadSanitizer.
 */
#include "sampler/store.h"

#include "sampler/stacks.h"
#include "sampler/tasks.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S STORE_SLICE_NS
#define MIB ((size_t)1 << 20)

struct world {
	struct images *images;
	struct tasks *tasks;
	struct stacks *stacks;
	struct store *store;
	uint64_t random;
};

static struct world *world_new(size_t budget)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_int_equal(images_new(&world->images), 0);
	assert_int_equal(tasks_new(&world->tasks, world->images, NULL), 0);
	assert_int_equal(stacks_new(&world->stacks), 0);
	assert_int_equal(store_new(&world->store, world->stacks, world->tasks, budget), 0);
	world->random = 88172645463325252ull;
	return world;
}

static void world_free(struct world *world)
{
	store_free(world->store);
	/* No slice has lost or kept a reference. */
	stacks_sweep(world->stacks);
	assert_int_equal(stacks_node_count(world->stacks), 0);
	tasks_expire(world->tasks, UINT64_MAX);
	stacks_free(world->stacks);
	tasks_free(world->tasks);
	images_free(world->images);
	free(world);
}

static unsigned int below(struct world *world, unsigned int limit)
{
	world->random ^= world->random << 13;
	world->random ^= world->random >> 7;
	world->random ^= world->random << 17;
	return (unsigned int)(world->random >> 11) % limit;
}

static uint32_t stack_of(struct world *world, const uint64_t *offsets, unsigned int n)
{
	uint32_t node = STACK_ROOT, frame;

	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(stacks_frame(world->stacks, 1, offsets[i], FRAME_USER, &frame), 0);
		assert_int_equal(stacks_child(world->stacks, node, frame, &node), 0);
	}
	return node;
}

static uint32_t stack(struct world *world, uint64_t offset)
{
	return stack_of(world, &offset, 1);
}

static uint32_t task(struct world *world, int32_t pid)
{
	uint32_t label;

	assert_int_equal(tasks_label(world->tasks, pid, pid, 1, &label), 0);
	return label;
}

static void add(struct world *world, uint64_t time, uint64_t offset, int32_t pid, uint16_t cpu,
	uint8_t event, uint64_t weight)
{
	assert_int_equal(store_add(world->store, time, stack(world, offset), task(world, pid), cpu,
				 event, weight),
		0);
}

/* Sums over the slices whose middle lies in a range; checks each slice on the way. */
struct sums {
	uint64_t weight[4], count[4];
	size_t slices;
};

static void sum(struct world *world, uint64_t from, uint64_t to, struct sums *sums)
{
	struct snapshot snapshot;
	uint64_t last_end = 0;

	assert_int_equal(store_snapshot(world->store, from, to, &snapshot), 0);
	for (size_t i = 0; i < snapshot.n; i++) {
		const struct slice *slice = snapshot.slices[i];
		uint64_t middle = slice->start_ns + (slice->end_ns - slice->start_ns) / 2;
		uint64_t weight[4] = {0}, count[4] = {0};

		assert_true(slice->start_ns < slice->end_ns);
		assert_true(slice->start_ns >= last_end);
		assert_true(slice->start_ns < to && slice->end_ns > from);
		last_end = slice->end_ns;
		for (uint32_t cell = 0; cell < slice->cells; cell++) {
			weight[slice->event[cell]] += slice->weight[cell];
			count[slice->event[cell]] += slice->count[cell];
		}
		for (uint32_t total = 0; total < slice->n_totals; total++) {
			const struct slice_total *have = &slice->totals[total];

			assert_int_equal(have->weight, weight[have->event]);
			assert_int_equal(have->count, count[have->event]);
			if (middle >= from && middle < to) {
				sums->weight[have->event] += have->weight;
				sums->count[have->event] += have->count;
			}
		}
		sums->slices += middle >= from && middle < to;
	}
	snapshot_release(world->store, &snapshot);
}

/* Over every slice of a random partition of time. */
static struct sums sum_all(struct world *world, uint64_t end)
{
	struct sums sums = {0};
	uint64_t from = 0, to;

	for (; from < end; from = to) {
		to = from + 1 + below(world, 40) * (S / 3);
		if (below(world, 3) == 0)
			to = end;
		sum(world, from, to, &sums);
	}
	return sums;
}

static void assert_sums(const struct sums *have, const struct sums *want)
{
	for (unsigned int event = 0; event < 4; event++) {
		assert_int_equal(have->weight[event], want->weight[event]);
		assert_int_equal(have->count[event], want->count[event]);
	}
}

static void note(struct sums *sums, uint8_t event, uint64_t weight)
{
	sums->weight[event] += weight;
	sums->count[event]++;
}

/* --- slices and snapshots --- */

static void test_cells(void **state)
{
	struct world *world = world_new(64 * MIB);
	struct snapshot snapshot;
	const struct slice *slice;

	(void)state;
	add(world, 10, 1, 7, 0, 0, 5);
	add(world, 20, 1, 7, 0, 0, 6);
	add(world, 20, 1, 7, 1, 0, 1);
	add(world, 20, 1, 8, 0, 0, 1);
	add(world, 20, 2, 7, 0, 0, 1);
	add(world, 20, 1, 7, 0, 3, 9);
	assert_false(store_seal(world->store, S - 1, false));
	assert_int_equal(store_snapshot(world->store, 0, UINT64_MAX, &snapshot), 0);
	assert_int_equal(snapshot.n, 0); /* the open slice is nobody's */
	snapshot_release(world->store, &snapshot);
	assert_true(store_seal(world->store, S, false));
	assert_false(store_seal(world->store, 9 * S, true)); /* nothing is open */

	assert_int_equal(store_snapshot(world->store, 0, 1, &snapshot), 0);
	assert_int_equal(snapshot.n, 1);
	slice = snapshot.slices[0];
	assert_int_equal(slice->cells, 5);
	assert_int_equal(slice->start_ns, 0);
	assert_int_equal(slice->end_ns, S);
	assert_int_equal(slice->n_totals, 2);
	for (uint32_t i = 0; i < slice->cells; i++) {
		const struct stack_node *node = stacks_node(world->stacks, slice->stack[i]);

		if (stacks_frame_get(world->stacks, node->frame)->offset == 1 && !slice->cpu[i] &&
			!slice->event[i] &&
			tasks_label_get(world->tasks, slice->task[i])->pid == 7) {
			assert_int_equal(slice->weight[i], 11);
			assert_int_equal(slice->count[i], 2);
		} else {
			assert_int_equal(slice->count[i], 1);
		}
	}
	snapshot_release(world->store, &snapshot);
	assert_int_equal(snapshot.n, 0);
	world_free(world);
}

static void test_time_opens_and_seals(void **state)
{
	struct world *world = world_new(64 * MIB);
	struct store_status status;
	struct sums sums = {0};

	(void)state;
	store_status(world->store, &status);
	assert_int_equal(status.last_ns, 0);
	add(world, 5 * S + 10, 1, 7, 0, 0, 1);
	add(world, 5 * S + 9, 1, 7, 0, 0, 1);
	add(world, 6 * S, 1, 7, 0, 0, 1); /* seals the first */
	add(world, 5 * S + 11, 1, 7, 0, 0, 1); /* too late: counted in the open one */
	add(world, 90 * S, 1, 7, 0, 0, 1); /* a pause is no slice */
	store_status(world->store, &status);
	assert_int_equal(status.slices, 2);
	assert_int_equal(status.samples, 5);
	assert_int_equal(status.first_ns, 5 * S);
	assert_int_equal(status.last_ns, 7 * S);
	sum(world, 5 * S, 6 * S, &sums);
	assert_int_equal(sums.count[0], 2);
	sum(world, 6 * S, 7 * S, &sums);
	assert_int_equal(sums.count[0], 4);
	sum(world, 7 * S, 90 * S, &sums);
	assert_int_equal(sums.count[0], 4);

	/* Sealed by force in the middle, the rest of the time is a slice of its own. */
	assert_true(store_seal(world->store, 90 * S + S / 2, true));
	add(world, 90 * S + S / 4, 1, 7, 0, 0, 1);
	add(world, 90 * S + S - 1, 1, 7, 0, 0, 1);
	add(world, 91 * S, 1, 7, 0, 0, 1);
	store_status(world->store, &status);
	assert_int_equal(status.slices, 4);
	assert_int_equal(status.last_ns, 91 * S);
	sums = (struct sums){0};
	sum(world, 0, UINT64_MAX, &sums);
	assert_int_equal(sums.count[0], 7);
	assert_int_equal(sums.slices, 4);
	sums = (struct sums){0};
	sum(world, 90 * S + S / 2, 91 * S, &sums);
	assert_int_equal(sums.count[0], 2);
	world_free(world);
	store_free(NULL);
}

/* Where samples always come ahead of the sweep, adding them seals every slice, and whoever sweeps is told. */
static void test_sealed_by_adding(void **state)
{
	struct world *world = world_new(64 * MIB);

	(void)state;
	for (unsigned int i = 0; i < 50; i++) {
		add(world, i * S + 10, 1, 7, 0, 0, 1);
		assert_int_equal(store_seal(world->store, i * S + 20, false), i > 0);
		assert_false(store_seal(world->store, i * S + 30, false));
	}
	/* Of a slice that has no room for one more cell, too. */
	for (unsigned int i = 0; i < 1u << 17; i++)
		add(world, 50 * S, i, 7, 0, 0, 1);
	assert_true(store_seal(world->store, 50 * S, false));
	assert_false(store_seal(world->store, 50 * S, false));
	world_free(world);
}

static void test_time_without_progress(void **state)
{
	struct world *world = world_new(64 * MIB);
	struct sums sums = {0};

	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		add(world, 0, i, 7, 0, 0, 1);
		if (i % 10 == 0)
			assert_true(store_seal(world->store, 0, true));
	}
	store_seal(world->store, 0, true);
	sum(world, 0, UINT64_MAX, &sums);
	assert_int_equal(sums.count[0], 100);
	world_free(world);
}

static void test_snapshot_outlives(void **state)
{
	struct world *world = world_new(64 * MIB);
	struct snapshot snapshot;
	const struct slice *slice;

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		add(world, i * S, i, 7, 0, 0, 1);
	assert_int_equal(store_snapshot(world->store, 2 * S + 1, 4 * S, &snapshot), 0);
	assert_int_equal(snapshot.n, 2);
	slice = snapshot.slices[1];
	slice_ref(world->store, slice);
	snapshot_release(world->store, &snapshot);
	assert_int_equal(slice->start_ns, 3 * S);
	slice_unref(world->store, slice);
	assert_int_equal(store_snapshot(world->store, 4 * S, 4 * S, &snapshot), 0);
	assert_int_equal(snapshot.n, 0);
	snapshot_release(world->store, &snapshot);
	store_maintain(world->store);
	assert_int_equal(stacks_node_count(world->stacks), 10);
	world_free(world);
}

/* --- the budget --- */

/* One of 2,000 stacks of 8 to 24 frames that share their outer parts, a few of them hot. */
static uint32_t realistic_stack(struct world *world)
{
	unsigned int which = below(world, 2000);
	uint64_t offsets[24];
	unsigned int n;

	if (below(world, 4))
		which = which * which / 2000 * which / 2000 / 4;
	n = 8 + which % 17;
	for (unsigned int i = 0; i < n; i++)
		offsets[i] = 0x1000ull * i + (i < n / 2 ? which % 3 : which);
	return stack_of(world, offsets, n);
}

static void test_coarser_with_age(void **state)
{
	const size_t budget = 3 * MIB;
	struct world *world = world_new(budget);
	struct sums want = {0}, have;
	struct store_status status;
	struct snapshot snapshot;
	uint64_t end = 6000 * S; /* ten minutes */
	uint64_t longest = 0, recent = 0;

	(void)state;
	for (uint64_t time = 0; time < end; time += S / 40) {
		uint8_t event = (uint8_t)below(world, 2);
		uint64_t weight = 1 + below(world, 1000);

		assert_int_equal(store_add(world->store, time, realistic_stack(world),
					 task(world, 1 + (int32_t)below(world, 3)),
					 (uint16_t)below(world, 2), event, weight),
			0);
		note(&want, event, weight);
		if (time % S == 0) {
			store_maintain(world->store);
			store_status(world->store, &status);
			assert_true(status.memory_bytes < budget + budget / 6);
		}
	}
	store_seal(world->store, end, true);
	store_maintain(world->store);
	store_status(world->store, &status);
	assert_true(status.merges > 0);
	assert_int_equal(status.samples, 240000);
	assert_true(status.memory_bytes <= budget);
	/* All of it is there, every sample of it, the old coarser than the new. */
	assert_int_equal(status.first_ns, 0);
	assert_int_equal(status.last_ns, end);
	have = sum_all(world, end);
	assert_sums(&have, &want);

	assert_int_equal(store_snapshot(world->store, 0, UINT64_MAX, &snapshot), 0);
	assert_true(snapshot.n > 50);
	for (size_t i = 0; i < snapshot.n; i++) {
		uint64_t span = snapshot.slices[i]->end_ns - snapshot.slices[i]->start_ns;
		uint64_t age = end - snapshot.slices[i]->end_ns;

		/* Resolution is a fraction of the age, everywhere, and recent history is untouched. */
		assert_true(span <= (age < 300 * S ? S : age / 2));
		longest = span > longest ? span : longest;
		recent += span == S;
	}
	assert_true(longest > 4 * S);
	assert_true(recent >= 250);
	snapshot_release(world->store, &snapshot);
	world_free(world);
}

/* Nothing in common: every stack is another one, or every task, or every CPU. */
static void hopeless(unsigned int stacks, unsigned int tasks_, unsigned int cpus)
{
	const size_t budget = 2 * MIB;
	struct world *world = world_new(budget);
	struct sums want = {0}, have;
	struct store_status status;
	uint64_t end = 1500 * S;
	int32_t pid = 1;

	for (uint64_t time = 0; time < end; time += S / 50) {
		uint64_t offsets[12];
		uint8_t event = (uint8_t)below(world, 4);

		for (unsigned int i = 0; i < 12; i++)
			offsets[i] = below(world, stacks);
		if (tasks_ > 1 && below(world, 4) == 0) {
			const struct record gone = {.type = PERF_RECORD_EXIT,
				.task = {.pid = (uint32_t)pid,
					.tid = (uint32_t)pid,
					.time_ns = time}};

			assert_int_equal(tasks_apply(world->tasks, &gone), 0);
			tasks_expire(world->tasks, time);
			pid = 1 + pid % (int32_t)tasks_;
		}
		assert_int_equal(store_add(world->store, time, stack_of(world, offsets, 12),
					 task(world, pid), (uint16_t)below(world, cpus), event, 3),
			0);
		note(&want, event, 3);
		if (time % S == 0) {
			store_maintain(world->store);
			store_status(world->store, &status);
			assert_true(status.memory_bytes < budget + budget / 4);
			/* Slices have their part: the tables, which never shrink, do not take all. */
			assert_true(stacks_memory_used(world->stacks) +
					tasks_memory_labels(world->tasks) <
				budget / 8 * 7);
		}
	}
	store_seal(world->store, end, true);
	store_maintain(world->store);
	store_status(world->store, &status);
	assert_true(status.memory_bytes < budget + budget / 4);
	assert_int_equal(status.first_ns, 0);
	assert_int_equal(status.last_ns, end);
	assert_true(status.slices > 10);
	have = sum_all(world, end);
	assert_sums(&have, &want);
	world_free(world);
}

static void test_all_stacks_differ(void **state)
{
	(void)state;
	hopeless(UINT32_MAX, 1, 1);
}

static void test_all_tasks_differ(void **state)
{
	(void)state;
	hopeless(3, 100000, 4);
}

static void test_all_differs(void **state)
{
	(void)state;
	hopeless(UINT32_MAX, 100000, 512);
}

/* More slices than a budget has room for, one sample in each. */
static void test_thin_slices(void **state)
{
	struct world *world = world_new(MIB);
	struct store_status status;
	struct sums sums = {0};

	(void)state;
	for (uint64_t i = 0; i < 50000; i++) {
		add(world, i * S, i % 5, 7, 0, 0, 1);
		store_maintain(world->store);
	}
	store_seal(world->store, 0, true);
	store_status(world->store, &status);
	assert_true(status.memory_bytes <= MIB + MIB / 8);
	assert_true(status.slices > 200);
	sum(world, 0, UINT64_MAX, &sums);
	assert_int_equal(sums.count[0], 50000);
	world_free(world);
}

/* Held slices survive merging, and give their memory back when they are released. */
static void test_held_while_merged(void **state)
{
	struct world *world = world_new(MIB);
	struct snapshot snapshot;
	struct store_status before, after;
	uint64_t weight = 0;

	(void)state;
	for (uint64_t i = 0; i < 20 * 100; i++)
		add(world, i * S / 20, i % 20, 7, 0, 0, 1);
	assert_int_equal(store_snapshot(world->store, 0, UINT64_MAX, &snapshot), 0);
	for (uint64_t i = 20 * 100; i < 20 * 4000; i++) {
		add(world, i * S / 20, i % 50, 7, 0, 0, 1);
		if (i % 20 == 0)
			store_maintain(world->store);
	}
	for (size_t i = 0; i < snapshot.n; i++) {
		assert_int_equal(snapshot.slices[i]->cells, 20);
		assert_int_equal(snapshot.slices[i]->end_ns - snapshot.slices[i]->start_ns, S);
		weight += snapshot.slices[i]->totals[0].weight;
	}
	assert_int_equal(weight, snapshot.n * 20);
	store_maintain(world->store);
	store_status(world->store, &before);
	snapshot_release(world->store, &snapshot);
	store_maintain(world->store);
	store_status(world->store, &after);
	assert_true(before.merges > 0);
	assert_true(after.memory_bytes < before.memory_bytes);
	world_free(world);
}

/* Slices are merged many at a time: a cell is not touched again for each that follows. */
static void test_few_merges(void **state)
{
	struct world *world = world_new(MIB);
	struct store_status status;
	size_t removed;

	(void)state;
	for (uint64_t i = 0; i < 20 * 10000; i++) {
		add(world, i * S / 20, i % 20, 7, 0, 0, 1);
		if (i % 20 == 0)
			store_maintain(world->store);
	}
	store_status(world->store, &status);
	removed = 10000 - status.slices;
	assert_true(removed > 5000);
	assert_true(status.merges >= removed / 15);
	assert_true(status.merges <= removed / 6);
	world_free(world);
}

/* One merge of slices of large size would be a pause. */
static void test_merged_slices_are_bounded(void **state)
{
	struct world *world = world_new(2 * MIB);
	struct store_status status;
	struct snapshot snapshot;

	(void)state;
	for (uint64_t i = 0; i < 100 * 2000; i++) {
		add(world, i * S / 100, i % 100, 7, (uint16_t)(i / 100 % 500), 0, 1);
		if (i % 100 == 0)
			store_maintain(world->store);
	}
	store_status(world->store, &status);
	assert_true(status.merges > 0);
	assert_true(status.slices > 20);
	assert_int_equal(store_snapshot(world->store, 0, UINT64_MAX, &snapshot), 0);
	for (size_t i = 0; i < snapshot.n; i++)
		assert_true(snapshot.slices[i]->cells <= 2048);
	snapshot_release(world->store, &snapshot);
	world_free(world);
}

/* References of merged slices are handed on where nobody holds these, else taken anew: none too many. */
static void test_references(void **state)
{
	struct world *world = world_new(MIB);
	struct snapshot held = {0};
	uint32_t labels[3];

	(void)state;
	for (uint64_t i = 0; i < 20 * 5000; i++) {
		add(world, i * S / 20, i % 20 + i / 4000, 7 + (int32_t)(i % 3), 0, 0, 1);
		if (i % 20 == 0)
			store_maintain(world->store);
		if (i % 3000 == 0) {
			/* One slice of a few that will be merged. */
			uint64_t from = below(world, (unsigned int)(i / 20) + 1) * S;

			snapshot_release(world->store, &held);
			assert_int_equal(store_snapshot(world->store, from, from + S, &held), 0);
		}
	}
	snapshot_release(world->store, &held);
	for (int32_t i = 0; i < 3; i++)
		labels[i] = task(world, 7 + i);
	store_free(world->store);
	world->store = NULL;
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(tasks_label_get(world->tasks, labels[i])->refs, 1);
	world_free(world);
}

/* Anything, in any order of time, sealed at any time. */
static void test_random_sums(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < 20; round++) {
		struct world *world = world_new(round % 2 ? MIB : 64 * MIB);
		struct sums want = {0}, have;
		uint64_t time = 0;

		world->random += round * 7919ull;
		for (unsigned int i = 0; i < 20000; i++) {
			uint8_t event = (uint8_t)below(world, 4);
			uint64_t weight = below(world, 1u << 30);

			time += below(world, 8) ? below(world, S / 10) : below(world, 10 * S);
			add(world, time - (time > S ? below(world, S) : 0), below(world, 500),
				1 + (int32_t)below(world, 4), (uint16_t)below(world, 3), event,
				weight);
			note(&want, event, weight);
			if (below(world, 50) == 0)
				store_seal(world->store, time, below(world, 3) == 0);
			if (below(world, 20) == 0)
				store_maintain(world->store);
		}
		store_seal(world->store, time, true);
		store_maintain(world->store);
		have = sum_all(world, time + 2 * S);
		assert_sums(&have, &want);
		world_free(world);
	}
}

/* --- two threads --- */

struct reading {
	struct world *world;
	int stop; /* atomic */
	uint64_t cells, snapshots;
	bool wrong;
};

static void read_slice(struct reading *reading, const struct slice *slice)
{
	const struct world *world = reading->world;
	uint64_t weight = 0, total = 0;

	for (uint32_t i = 0; i < slice->cells; i++) {
		const struct task_label *label = tasks_label_get(world->tasks, slice->task[i]);
		uint32_t node = slice->stack[i], depth = stacks_node(world->stacks, node)->depth;

		for (; node != STACK_ROOT;
			node = stacks_node(world->stacks, node)->parent, depth--) {
			const struct frame *frame = stacks_frame_get(
				world->stacks, stacks_node(world->stacks, node)->frame);

			if (frame->image > 1 || !images_get(world->images, frame->image) ||
				frame->generation == UINT16_MAX)
				reading->wrong = true;
		}
		if (depth || (label->pid != -1 && strcmp(label->comm, label->process_comm)))
			reading->wrong = true;
		weight += slice->weight[i];
	}
	for (uint32_t i = 0; i < slice->n_totals; i++)
		total += slice->totals[i].weight;
	if (weight != total)
		reading->wrong = true;
	reading->cells += slice->cells;
}

static void *reader_main(void *arg)
{
	struct reading *reading = arg;
	struct world *world = reading->world;
	struct snapshot kept = {0}, snapshot;
	struct store_status status;

	while (!__atomic_load_n(&reading->stop, __ATOMIC_ACQUIRE)) {
		store_status(world->store, &status);
		if (store_snapshot(world->store, status.first_ns, status.last_ns, &snapshot))
			break;
		for (size_t i = 0; i < snapshot.n; i++)
			read_slice(reading, snapshot.slices[i]);
		if (snapshot.n) {
			slice_ref(world->store, snapshot.slices[0]);
			slice_unref(world->store, snapshot.slices[0]);
		}
		/* One snapshot is held while the next is taken. */
		snapshot_release(world->store, &kept);
		kept = snapshot;
		reading->snapshots++;
		if (stacks_frame_limit(world->stacks) == 0 || !images_count(world->images))
			reading->wrong = true;
	}
	snapshot_release(world->store, &kept);
	return NULL;
}

static void test_reader_thread(void **state)
{
	struct world *world = world_new(MIB);
	struct reading reading = {.world = world};
	struct sums want = {0}, have = {0};
	struct store_status status;
	pthread_t thread;
	uint64_t time = 0;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, reader_main, &reading), 0);
	for (unsigned int i = 0; i < 60000; i++) {
		time += S / 40;
		assert_int_equal(store_add(world->store, time, realistic_stack(world),
					 task(world, 1 + (int32_t)(i / 100 % 50)), 0, 0, i),
			0);
		note(&want, 0, i);
		if (i % 40 == 0) {
			store_maintain(world->store);
			tasks_expire(world->tasks, time);
		}
	}
	__atomic_store_n(&reading.stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	store_seal(world->store, time, true);
	store_maintain(world->store);
	store_status(world->store, &status);
	assert_true(status.merges > 0);
	assert_false(reading.wrong);
	assert_true(reading.snapshots > 0);
	sum(world, 0, UINT64_MAX, &have);
	assert_sums(&have, &want);
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_time_opens_and_seals),
		cmocka_unit_test(test_sealed_by_adding),
		cmocka_unit_test(test_time_without_progress),
		cmocka_unit_test(test_snapshot_outlives),
		cmocka_unit_test(test_coarser_with_age),
		cmocka_unit_test(test_all_stacks_differ),
		cmocka_unit_test(test_all_tasks_differ),
		cmocka_unit_test(test_all_differs),
		cmocka_unit_test(test_thin_slices),
		cmocka_unit_test(test_held_while_merged),
		cmocka_unit_test(test_few_merges),
		cmocka_unit_test(test_merged_slices_are_bounded),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_random_sums),
		cmocka_unit_test(test_reader_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
