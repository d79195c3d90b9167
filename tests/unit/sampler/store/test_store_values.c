/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_store_values.c - the store's column of values: only in slices with values, kept by merges,
 * given up for memory.
 */
#include "sampler/store/store.h"

#include "sampler/fields/values.h"
#include "sampler/store/stacks.h"
#include "sampler/store/tasks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define S STORE_SLICE_NS
#define MIB ((size_t)1 << 20)
#define DEPTH 12u

struct world {
	struct images *images;
	struct tasks *tasks;
	struct stacks *stacks;
	struct values *values;
	struct store *store;
};

static struct world *world_new(size_t budget)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_int_equal(images_new(&world->images), 0);
	assert_int_equal(tasks_new(&world->tasks, world->images, NULL), 0);
	assert_int_equal(stacks_new(&world->stacks), 0);
	assert_int_equal(values_new(&world->values), 0);
	assert_int_equal(store_new(&world->store, world->stacks, world->tasks, budget), 0);
	store_set_values(world->store, world->values);
	return world;
}

static void world_free(struct world *world)
{
	store_free(world->store);
	/* The slices have released all of their references. */
	assert_int_equal(values_tuples(world->values), 0);
	stacks_sweep(world->stacks);
	assert_int_equal(stacks_node_count(world->stacks), 0);
	values_free(world->values);
	stacks_free(world->stacks);
	tasks_free(world->tasks);
	images_free(world->images);
	free(world);
}

static uint32_t stack(struct world *world, uint64_t leaf)
{
	uint32_t node = STACK_ROOT, frame;

	for (unsigned int i = 0; i < DEPTH; i++) {
		assert_int_equal(stacks_frame(world->stacks, 1, i + 1 < DEPTH ? i : leaf + DEPTH,
					 FRAME_USER, &frame),
			0);
		assert_int_equal(stacks_child(world->stacks, node, frame, &node), 0);
	}
	return node;
}

/* Adds a sample; number 0: without values. */
static void add(struct world *world, uint64_t time, uint64_t leaf, uint64_t number, uint64_t weight)
{
	const struct value value = {.number = number};
	uint32_t id = VALUES_NONE, label;

	assert_int_equal(tasks_label(world->tasks, 7, 7, 1, &label), 0);
	if (number)
		assert_int_equal(values_intern(world->values, &value, 1, &id), 0);
	assert_int_equal(
		store_add_values(world->store, time, stack(world, leaf), label, 0, 1, weight, id),
		0);
	values_unref(world->values, id, 1);
}

static uint64_t number_of(const struct world *world, const struct slice *slice, uint32_t i)
{
	struct value value;

	if (!slice->values || !values_get(world->values, slice->values[i], 0, &value))
		return 0;
	return value.number;
}

static void test_column(void **state)
{
	struct world *world = world_new(64 * MIB);
	uint64_t counts[4] = {0};
	struct snapshot snapshot;

	(void)state;
	for (unsigned int i = 0; i < 6; i++)
		add(world, S, 1, 0, 1);
	for (unsigned int i = 0; i < 600; i++)
		add(world, 3 * S, i % 3 == 0 ? 5 : 1, i % 4, 10);
	add(world, 4 * S, 1, 0, 1);
	store_seal(world->store, 9 * S, true);
	assert_int_equal(store_snapshot(world->store, 0, UINT64_MAX, &snapshot), 0);
	assert_int_equal(snapshot.n, 3);
	assert_null(snapshot.slices[0]->values);
	assert_null(snapshot.slices[2]->values);
	assert_int_equal(snapshot.slices[0]->cells, 1);
	/* Cells differ in stack or values. */
	assert_int_equal(snapshot.slices[1]->cells, 8);
	for (uint32_t i = 0; i < 8; i++) {
		uint64_t number = number_of(world, snapshot.slices[1], i);

		assert_true(number < 4);
		counts[number] += snapshot.slices[1]->count[i];
		assert_int_equal(snapshot.slices[1]->weight[i], 10 * snapshot.slices[1]->count[i]);
	}
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(counts[i], 150);
	assert_int_equal(values_tuples(world->values), 3);
	snapshot_release(world->store, &snapshot);
	world_free(world);
}

/* Many cells in one slice: the column grows with the other columns. */
static void test_growing(void **state)
{
	struct world *world = world_new(64 * MIB);
	struct snapshot snapshot;
	uint64_t sum = 0;

	(void)state;
	for (unsigned int i = 0; i < 5000; i++)
		add(world, S, 1, i, 1);
	for (unsigned int i = 0; i < 5000; i++)
		add(world, S, 1, i, 1);
	store_seal(world->store, 9 * S, true);
	assert_int_equal(store_snapshot(world->store, 0, UINT64_MAX, &snapshot), 0);
	assert_int_equal(snapshot.slices[0]->cells, 5000);
	for (uint32_t i = 0; i < 5000; i++) {
		assert_int_equal(snapshot.slices[0]->count[i], 2);
		sum += number_of(world, snapshot.slices[0], i);
	}
	assert_int_equal(sum, 4999 * 5000 / 2);
	snapshot_release(world->store, &snapshot);
	world_free(world);
}

/* Few values in a small budget: slices are merged, and every value keeps its sum. */
static void test_merging(void **state)
{
	struct world *world = world_new(MIB);
	uint64_t by_number[16] = {0};
	struct store_status status;
	struct snapshot held = {0}, snapshot;

	(void)state;
	for (unsigned int slice = 1; slice <= 4000; slice++) {
		for (unsigned int i = 0; i < 16; i++)
			add(world, slice * S, i % 2, i, i + 1);
		store_seal(world->store, (slice + 1) * S, true);
		store_maintain(world->store);
		if (slice % 1000 == 500) {
			snapshot_release(world->store, &held);
			assert_int_equal(store_snapshot(world->store, 0, UINT64_MAX, &held), 0);
		}
	}
	store_status(world->store, &status);
	assert_true(status.merges > 100);
	assert_int_equal(status.fields_dropped, 0);
	assert_int_equal(store_snapshot(world->store, 0, UINT64_MAX, &snapshot), 0);
	for (size_t k = 0; k < snapshot.n; k++)
		for (uint32_t i = 0; i < snapshot.slices[k]->cells; i++)
			by_number[number_of(world, snapshot.slices[k], i)] +=
				snapshot.slices[k]->weight[i];
	for (unsigned int i = 0; i < 16; i++)
		assert_int_equal(by_number[i], 4000 * (i + 1));
	snapshot_release(world->store, &held);
	snapshot_release(world->store, &snapshot);
	world_free(world);
}

/* All values differ, in a small budget: the oldest slices lose them.  Stacks stay, and no weight is
 * lost. */
static void test_giving_up(void **state)
{
	struct world *world = world_new(2 * MIB);
	uint64_t weight = 0, count = 0, added = 0;
	size_t with = 0, without = 0;
	struct store_status status;
	struct snapshot snapshot;

	(void)state;
	for (unsigned int slice = 1; slice <= 600; slice++) {
		for (unsigned int i = 0; i < 100; i++, added++)
			add(world, slice * S, i % 4, 1 + slice * 100 + i, 3);
		store_seal(world->store, (slice + 1) * S, true);
		store_maintain(world->store);
	}
	store_status(world->store, &status);
	assert_true(status.fields_dropped > 0);
	assert_true(status.memory_bytes < 3 * MIB);
	assert_int_equal(store_snapshot(world->store, 0, UINT64_MAX, &snapshot), 0);
	for (size_t k = 0; k < snapshot.n; k++) {
		const struct slice *slice = snapshot.slices[k];

		with += slice->values != NULL;
		without += !slice->values;
		/* Slices without values are older than all others. */
		if (!slice->values)
			assert_int_equal(with, 0);
		for (uint32_t i = 0; i < slice->cells; i++) {
			weight += slice->weight[i];
			count += slice->count[i];
			assert_int_equal(stacks_node(world->stacks, slice->stack[i])->depth, DEPTH);
		}
	}
	assert_true(with && without);
	assert_int_equal(count, added);
	assert_int_equal(weight, 3 * added);
	snapshot_release(world->store, &snapshot);
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_column),
		cmocka_unit_test(test_growing),
		cmocka_unit_test(test_merging),
		cmocka_unit_test(test_giving_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
