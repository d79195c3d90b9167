/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_store_budget.c - a store stays within its memory: slices are merged, and their sums stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/store_world.h"

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
	/* Every sample is there; old slices are coarser than new ones. */
	assert_int_equal(status.first_ns, 0);
	assert_int_equal(status.last_ns, end);
	have = sum_all(world, end);
	assert_sums(&have, &want);

	assert_int_equal(store_snapshot(world->store, 0, UINT64_MAX, &snapshot), 0);
	assert_true(snapshot.n > 50);
	for (size_t i = 0; i < snapshot.n; i++) {
		uint64_t span = snapshot.slices[i]->end_ns - snapshot.slices[i]->start_ns;
		uint64_t age = end - snapshot.slices[i]->end_ns;

		/* The length of a slice is bounded by a fraction of its age.  Recent slices are not
		 * merged. */
		assert_true(span <= (age < 300 * S ? S : age / 2));
		longest = span > longest ? span : longest;
		recent += span == S;
	}
	assert_true(longest > 4 * S);
	assert_true(recent >= 250);
	snapshot_release(world->store, &snapshot);
	world_free(world);
}

/* Samples with nothing in common: different stacks, tasks or CPUs. */
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
			/* Slices get a part of the budget: the tables, which never shrink, do not
			 * use all of it. */
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

/* More slices than the budget has room for, with one sample each. */
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

/* Held slices survive merging, and free their memory when they are released. */
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

/* Many slices are merged at once, so that a cell is not copied for each slice that follows. */
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

/* Merged slices stay small, since one merge of large slices would be a pause. */
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
		assert_true(snapshot.slices[i]->cells <= 8192);
	snapshot_release(world->store, &snapshot);
	world_free(world);
}

/* Slices with very many stacks have little in common before they are long.  They are merged as long
 * as many slices with all stacks fit.  No stack is given up. */
static void test_many_stacks_keep_detail(void **state)
{
	enum { STACKS = 40000, A_SLICE = 2000, SLICES = 4000 };
	struct world *world = world_new(64 * MIB);
	uint32_t label = task(world, 7);
	struct store_status status;
	struct snapshot snapshot;
	uint64_t samples = 0;

	(void)state;
	for (uint64_t slice = 0; slice < SLICES; slice++) {
		for (uint64_t i = 0; i < A_SLICE; i++) {
			uint64_t offsets[2] = {below(world, STACKS), 1};

			offsets[1] += offsets[0];
			assert_int_equal(store_add(world->store, slice * S,
						 stack_of(world, offsets, 2), label, 0, 0, 1),
				0);
		}
		store_seal(world->store, (slice + 1) * S, true);
		store_maintain(world->store);
	}
	store_status(world->store, &status);
	assert_true(status.merges > 0);
	assert_true(status.slices > 100);
	assert_true(status.memory_bytes <= 64 * MIB);
	assert_int_equal(store_snapshot(world->store, 0, UINT64_MAX, &snapshot), 0);
	for (size_t i = 0; i < snapshot.n; i++) {
		assert_false(snapshot.slices[i]->reduced);
		samples += snapshot.slices[i]->totals[0].count;
	}
	assert_int_equal(samples, (uint64_t)A_SLICE * SLICES);
	snapshot_release(world->store, &snapshot);
	world_free(world);
}

/* If stacks differ in their leaves, or other slices have them too, cutting them saves nothing.  Old
 * slices get longer instead, and only the oldest lose their stacks and tasks. */
static void test_no_cuts_in_vain(void **state)
{
	enum { STACKS = 2000, DEPTH = 12, A_SLICE = 200, SLICES = 3000 };
	struct world *world = world_new(9 * MIB / 2);
	uint32_t label = task(world, 7);
	struct store_status status;
	struct snapshot snapshot;
	uint64_t lost_ns = 0;
	size_t whole = 0;

	(void)state;
	for (uint64_t slice = 0; slice < SLICES; slice++) {
		for (uint64_t i = 0; i < A_SLICE; i++) {
			uint64_t offsets[DEPTH], which = below(world, STACKS);

			for (uint64_t k = 0; k < DEPTH; k++)
				offsets[k] = which * DEPTH + k;
			assert_int_equal(store_add(world->store, slice * S,
						 stack_of(world, offsets, DEPTH), label, 0, 0, 1),
				0);
		}
		store_seal(world->store, (slice + 1) * S, true);
		store_maintain(world->store);
	}
	store_status(world->store, &status);
	assert_true(status.memory_bytes <= 9 * MIB / 2 + MIB / 2);
	assert_int_equal(store_snapshot(world->store, 0, UINT64_MAX, &snapshot), 0);
	for (size_t i = 0; i < snapshot.n; i++) {
		const struct slice *slice = snapshot.slices[i];

		for (uint32_t cell = 0; cell < slice->cells; cell++)
			assert_int_equal(stacks_node(world->stacks, slice->stack[cell])->depth,
				slice->reduced ? 1 : DEPTH);
		/* Stack and task were given up, so one cell is left. */
		if (slice->reduced)
			assert_int_equal(slice->cells, 1);
		whole += !slice->reduced;
		if (slice->reduced)
			lost_ns = slice->end_ns;
	}
	assert_true(whole > snapshot.n / 4 * 3);
	assert_true(lost_ns < SLICES * S / 2);
	snapshot_release(world->store, &snapshot);
	world_free(world);
}

/* If many stacks end alike, cutting them saves much, also if newer slices have them too.  Nothing
 * else is lost. */
static void test_cuts_that_save(void **state)
{
	enum { STACKS = 4000, A_SLICE = 500, SLICES = 2000, MIDDLE = 3, LEAFS = 10 };
	struct world *world = world_new(4 * MIB);
	uint32_t label = task(world, 7);
	struct snapshot snapshot;
	size_t cut = 0;

	(void)state;
	for (uint64_t slice = 0; slice < SLICES; slice++) {
		for (uint64_t i = 0; i < A_SLICE; i++) {
			uint64_t which = below(world, STACKS), end = 1000000 + which % LEAFS * 8;
			uint64_t offsets[] = {
				which, which / MIDDLE, end, end + 1, end + 2, end + 3};

			assert_int_equal(
				store_add(world->store, slice * S, stack_of(world, offsets, 6),
					label, (uint16_t)below(world, 4), 0, 1),
				0);
		}
		store_seal(world->store, (slice + 1) * S, true);
		store_maintain(world->store);
	}
	assert_int_equal(store_snapshot(world->store, 0, UINT64_MAX, &snapshot), 0);
	for (size_t i = 0; i < snapshot.n; i++) {
		const struct slice *slice = snapshot.slices[i];

		for (uint32_t cell = 0; cell < slice->cells; cell++)
			assert_int_equal(stacks_node(world->stacks, slice->stack[cell])->depth,
				slice->reduced ? 4 : 6);
		cut += slice->reduced;
	}
	assert_true(cut > 20);
	snapshot_release(world->store, &snapshot);
	world_free(world);
}

/* A merge takes over the references of its slices, or takes new ones if the slices are held.  No
 * reference is left over. */
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
			/* one slice of a few that will be merged */
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

/* Random samples in any order of time, sealed at any time. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coarser_with_age),
		cmocka_unit_test(test_all_stacks_differ),
		cmocka_unit_test(test_all_tasks_differ),
		cmocka_unit_test(test_all_differs),
		cmocka_unit_test(test_thin_slices),
		cmocka_unit_test(test_held_while_merged),
		cmocka_unit_test(test_few_merges),
		cmocka_unit_test(test_merged_slices_are_bounded),
		cmocka_unit_test(test_many_stacks_keep_detail),
		cmocka_unit_test(test_no_cuts_in_vain),
		cmocka_unit_test(test_cuts_that_save),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_random_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
