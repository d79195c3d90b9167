/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_store.c - slices and snapshots of a store, and a reader in another thread, for
 * ThreadSanitizer.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/store_world.h"

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
	assert_int_equal(snapshot.n, 0); /* snapshots do not contain the open slice */
	snapshot_release(world->store, &snapshot);
	assert_true(store_seal(world->store, S, false));
	assert_false(store_seal(world->store, 9 * S, true)); /* no slice is open */

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
	add(world, 6 * S, 1, 7, 0, 0, 1); /* seals the first slice */
	add(world, 5 * S + 11, 1, 7, 0, 0, 1); /* too late: counted in the open slice */
	add(world, 90 * S, 1, 7, 0, 0, 1); /* a pause makes no slice */
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

	/* After a forced seal in the middle, the rest of the time is a slice of its own. */
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

/* If samples always come before the sweep, adding them seals every slice.  The next store_seal()
 * reports it. */
static void test_sealed_by_adding(void **state)
{
	struct world *world = world_new(64 * MIB);

	(void)state;
	for (unsigned int i = 0; i < 50; i++) {
		add(world, i * S + 10, 1, 7, 0, 0, 1);
		assert_int_equal(store_seal(world->store, i * S + 20, false), i > 0);
		assert_false(store_seal(world->store, i * S + 30, false));
	}
	/* Also if a slice is sealed because it has no room for another cell. */
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

/* --- two threads --- */

struct reading {
	struct world *world;
	sem_t begun; /* posted after a slice was read */
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
		/* One snapshot is held while the next one is taken. */
		snapshot_release(world->store, &kept);
		kept = snapshot;
		if (snapshot.n)
			sem_post(&reading->begun);
		reading->snapshots++;
		if (stacks_frame_limit(world->stacks) == 0 || !images_count(world->images))
			reading->wrong = true;
	}
	snapshot_release(world->store, &kept);
	sem_post(&reading->begun);
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
	assert_int_equal(sem_init(&reading.begun, 0, 0), 0);
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
		/* The reader runs while the store is written, however late its thread starts. */
		if (i == 1000)
			assert_int_equal(sem_wait(&reading.begun), 0);
	}
	__atomic_store_n(&reading.stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	sem_destroy(&reading.begun);
	store_seal(world->store, time, true);
	store_maintain(world->store);
	store_status(world->store, &status);
	assert_true(status.merges > 0);
	assert_false(reading.wrong);
	assert_true(reading.snapshots > 0 && reading.cells > 0);
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
		cmocka_unit_test(test_reader_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
