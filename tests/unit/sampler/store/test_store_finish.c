/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_store_finish.c - the end of a store without memory for its slices: samples are stored or
 * dropped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/store/slices.h"
#include "tests/unit/store_world.h"

#include <errno.h>

static bool refused;

int __real_slices_seal(struct slices *slices, struct cells *cells, uint64_t start_ns,
	uint64_t end_ns, struct sealed **out);
int __wrap_slices_seal(struct slices *slices, struct cells *cells, uint64_t start_ns,
	uint64_t end_ns, struct sealed **out);

int __wrap_slices_seal(struct slices *slices, struct cells *cells, uint64_t start_ns,
	uint64_t end_ns, struct sealed **out)
{
	return refused ? -ENOMEM : __real_slices_seal(slices, cells, start_ns, end_ns, out);
}

static uint64_t stored(struct world *world)
{
	struct snapshot snapshot;
	uint64_t n = 0;

	assert_int_equal(store_snapshot(world->store, 0, UINT64_MAX, &snapshot), 0);
	for (size_t i = 0; i < snapshot.n; i++)
		for (uint32_t c = 0; c < snapshot.slices[i]->cells; c++)
			n += snapshot.slices[i]->count[c];
	snapshot_release(world->store, &snapshot);
	return n;
}

static void test_refused(void **state)
{
	struct world *world = world_new(64 * MIB);
	struct store_status status;

	(void)state;
	add(world, 10, 1, 7, 0, 0, 5);
	add(world, 10, 1, 7, 0, 0, 5);
	add(world, 20, 2, 7, 0, 0, 5);
	refused = true;
	assert_false(store_finish(world->store, 30));
	store_status(world->store, &status);
	assert_int_equal(status.dropped, 3);
	refused = false;
	/* Samples that come later are stored. */
	add(world, 40, 3, 7, 0, 0, 5);
	assert_true(store_finish(world->store, 50));
	assert_int_equal(stored(world), 1);
	store_status(world->store, &status);
	assert_int_equal(status.dropped, 3);
	assert_false(store_finish(world->store, 60));
	world_free(world);
}

/* Adds a sample whose stack and task were looked up before, as in a batch. */
static void add_found(struct world *world, uint64_t ms, uint32_t node, uint32_t label)
{
	assert_int_equal(store_add(world->store, ms * 1000000, node, label, 0, 0, 5), 0);
}

/* A slice that cannot be sealed gets longer for a second, and then it is dropped.  It is never
 * dropped while samples are added: it may hold the only references to their stacks. */
static void test_never_sealed(void **state)
{
	struct world *world = world_new(64 * MIB);
	const uint32_t node = stack(world, 1), label = task(world, 7);
	struct store_status status;

	(void)state;
	refused = true;
	for (uint64_t ms = 0; ms < 1500; ms += 50)
		add_found(world, ms, node, label);
	assert_false(store_seal(world->store, 900000000, false));
	store_status(world->store, &status);
	assert_int_equal(status.samples, 30);
	assert_int_equal(status.dropped, 0);
	assert_false(store_seal(world->store, 1500000000, false));
	store_status(world->store, &status);
	assert_int_equal(status.samples, 0);
	assert_int_equal(status.dropped, 30);
	refused = false;
	add(world, 1600000000, 1, 7, 0, 0, 5);
	assert_true(store_finish(world->store, 1650000000));
	assert_int_equal(stored(world), 1);
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_never_sealed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
