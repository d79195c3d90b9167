/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_moments.c - times of samples: stored in few bytes, exact in exports if known.
 *
 * Samples without a time are spread over their slice and counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/export_world.h"

#include <string.h>

static void assert_same(const struct times_sample *a, const struct times_sample *b)
{
	assert_int_equal(a->time_ns, b->time_ns);
	assert_int_equal(a->weight, b->weight);
	assert_int_equal(a->stack, b->stack);
	assert_int_equal(a->task, b->task);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->event, b->event);
}

static struct times_sample random_sample(uint64_t *seed)
{
	uint64_t words[4];

	for (int i = 0; i < 4; i++) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		words[i] = *seed >> (*seed >> 58);
	}
	return (struct times_sample){.time_ns = words[0],
		.weight = words[1],
		.stack = (uint32_t)words[2],
		.task = (uint32_t)(words[2] >> 32),
		.cpu = (uint16_t)words[3],
		.event = (uint8_t)(words[3] >> 16)};
}

/* Each sample is read back as it was stored, over many blocks. */
static void test_kept(void **state)
{
	enum { N = 50000 };
	struct times_cursor cursor = {0};
	struct times_sample found, wanted;
	struct times *times;
	uint64_t seed = 1;

	(void)state;
	assert_int_equal(times_new(&times, 64 << 20), 0);
	for (int i = 0; i < N; i++) {
		wanted = random_sample(&seed);
		times_add(times, &wanted);
	}
	assert_false(times_next(&cursor, &found)); /* no times */
	cursor.times = times;
	seed = 1;
	for (int i = 0; i < N; i++) {
		wanted = random_sample(&seed);
		assert_true(times_next(&cursor, &found));
		assert_same(&found, &wanted);
	}
	assert_false(times_next(&cursor, &found));
	assert_false(times_next(&cursor, &found));
	times_free(times);
	times_free(NULL);
}

static void test_limit(void **state)
{
	struct times_cursor cursor = {0};
	struct times_sample sample = {.time_ns = 5, .weight = 1, .stack = 3, .task = 2};
	struct times *times;
	uint64_t n = 0;

	(void)state;
	assert_int_equal(times_new(&times, 200000), 0);
	for (int i = 0; i < 1000000; i++) {
		sample.time_ns += 1000000;
		times_add(times, &sample);
	}
	cursor.times = times;
	while (times_next(&cursor, &sample))
		n++;
	/* Three blocks of about nine bytes a sample, from the first block on. */
	assert_in_range(n, 15000, 30000);
	assert_int_equal(sample.time_ns, 5 + n * 1000000);
	times_free(times);
}

/* --- exports --- */

static void add_timed(struct world *world, struct times *times, uint64_t time_ns, uint32_t node,
	uint32_t task, uint8_t event, uint64_t weight)
{
	world->now_ns = time_ns;
	world_add(world, node, task, event, weight);
	times_add(times,
		&(const struct times_sample){.time_ns = time_ns,
			.weight = weight,
			.stack = node,
			.task = task,
			.event = event});
}

static void assert_heads(char *text, const char *const *heads, size_t n)
{
	const char *at = text;

	for (size_t i = 0; i < n; i++) {
		at = strstr(at, heads[i]);
		if (!at)
			fail_msg("no '%s' there in: %s", heads[i], text);
		at++;
	}
	free(text);
}

/* Samples with equal stack and thread stay separate, ordered by time. */
static void test_script(void **state)
{
	static const char *const heads[] = {"10.001234:          1 cpu-clock",
		"10.002000:          2 ", "10.050001:          3 cpu-clock",
		"10.099999:          4 ", "10.100000:          5 "};
	struct world world;
	struct times *times;
	uint64_t untimed = 77;
	uint32_t work, leaf;

	(void)state;
	assert_int_equal(times_new(&times, 1 << 20), 0);
	world_make(&world);
	work = STACK(&world, MAIN, WORK);
	leaf = STACK(&world, MAIN, LEAF);
	add_timed(&world, times, START_NS + 1234567, leaf, world.worker, 0, 1);
	add_timed(&world, times, START_NS + 2000000, work, world.other, 0, 2);
	add_timed(&world, times, START_NS + 50001000, leaf, world.worker, 0, 3);
	add_timed(&world, times, START_NS + 99999999, work, world.worker, 0, 4);
	add_timed(&world, times, START_NS + 100000000, leaf, world.worker, 0, 5);
	world.profile.times = times;
	world.profile.untimed = &untimed;
	assert_heads(world_write(&world, export_script_slices, NULL), heads,
		sizeof(heads) / sizeof(*heads));
	assert_int_equal(untimed, 0);
	world_free(&world);
	times_free(times);
}

/* If a sample in a slice lacks a time, all samples of its event in this slice do. Other slices and
 * events keep theirs. */
static void test_incomplete(void **state)
{
	struct profile_moments list;
	struct world world;
	struct times *times;
	uint64_t untimed = 0, seen = 0;
	uint32_t leaf;

	(void)state;
	assert_int_equal(times_new(&times, 1 << 20), 0);
	world_make(&world);
	world.profile.n_events = 2;
	leaf = STACK(&world, MAIN, LEAF);
	add_timed(&world, times, START_NS + 1000, leaf, world.worker, 0, 1);
	add_timed(&world, times, START_NS + 2000, leaf, world.worker, 1, 1);
	world_add(&world, leaf, world.worker, 0, 1);
	add_timed(&world, times, START_NS + 150000000, leaf, world.worker, 0, 1);
	/* A late sample counts in the open slice and keeps its time. */
	world_add(&world, leaf, world.worker, 0, 1);
	times_add(times,
		&(const struct times_sample){.time_ns = START_NS + 3000,
			.weight = 1,
			.stack = leaf,
			.task = world.worker});
	world.profile.times = times;
	world.profile.untimed = &untimed;
	free(world_write(&world, export_gecko, NULL));
	assert_int_equal(untimed, 2);
	assert_int_equal(profile_moments(&world.profile, &list), 0);
	assert_int_equal(list.untimed, 2);
	for (uint32_t i = 0; i < list.n; i++)
		seen += list.at[i].time_ns ? list.at[i].time_ns - START_NS : 0;
	assert_int_equal(seen, 2000 + 150000000 + 3000);
	profile_moments_fini(&list);
	world_free(&world);
	times_free(times);
}

/* Exports a part of the time, as the screen does. */
static void test_window(void **state)
{
	struct profile_moments list;
	struct world world;
	struct times *times;
	struct snapshot part;
	uint32_t leaf;

	(void)state;
	assert_int_equal(times_new(&times, 1 << 20), 0);
	world_make(&world);
	leaf = STACK(&world, MAIN, LEAF);
	for (uint64_t i = 0; i < 30; i++)
		add_timed(&world, times, START_NS + 10000000 * i, leaf, world.worker, 0, 1);
	world.profile.times = times;
	free(world_write(&world, export_gecko, NULL));
	assert_int_equal(world.snapshot.n, 3);
	part = (struct snapshot){world.snapshot.slices + 1, 1};
	world.profile.snapshot = &part;
	assert_int_equal(profile_moments(&world.profile, &list), 0);
	assert_int_equal(list.n, 10);
	assert_int_equal(list.untimed, 0);
	assert_int_equal(list.at[0].time_ns, START_NS + 100000000);
	assert_int_equal(list.at[9].time_ns, START_NS + 190000000);
	profile_moments_fini(&list);
	world_free(&world);
	times_free(times);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_script),
		cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_window),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
