/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_idle.c - exports, tables and activity hide the same samples as idle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/export_world.h"
#include "tui/query/query.h"
#include "tui/query/table.h"
#include "tui/tables/hot.h"

#define KERNEL ((uint64_t)0xffffffff81000000)

static const struct symbol kernel_functions[] = {
	{KERNEL, 16, "default_idle", NULL, 0, false}, {KERNEL + 16, 16, "work", NULL, 1, false}};

/* The weight of each sample is another decimal digit of a sum. */
enum {
	IDLE = 1, /* pid 0 in the idle loop */
	OUTSIDE = 10, /* pid 0 in another function of the kernel */
	NAMELESS = 100, /* pid 0 in the kernel, where it has no symbol */
	USER = 1000, /* pid 0 in a program */
	INJECTED = 10000, /* a task with a pid in the idle loop */
	WORKING = 100000 /* a task with a pid in a program */
};

static void fill(struct world *world)
{
	uint32_t idle = labelled_task(world->tasks, 0, 0, "swapper", START_NS);
	uint32_t loop = world_push(world, STACK_ROOT, world->kernel, KERNEL);
	uint32_t program = STACK(world, MAIN, WORK);

	world->symbols.images[world->kernel] = (struct fake_image){
		.state = SYMBOLS_READY, .symbols = kernel_functions, .n_symbols = 2};
	world_add(world, loop, idle, 0, IDLE);
	world_add(
		world, world_push(world, STACK_ROOT, world->kernel, KERNEL + 16), idle, 0, OUTSIDE);
	world_add(world, world_push(world, STACK_ROOT, world->kernel, KERNEL + NOTHING), idle, 0,
		NAMELESS);
	world_add(world, program, idle, 0, USER);
	world_add(world, loop, world->worker, 0, INJECTED);
	world_add(world, program, world->worker, 0, WORKING);
	store_seal(world->store, world->now_ns + STORE_SLICE_NS, true);
	assert_int_equal(store_snapshot(world->store, 0, UINT64_MAX, &world->snapshot), 0);
}

static uint64_t exported(const struct world *world)
{
	struct profile_cell *cells;
	uint64_t sum = 0;
	size_t n;

	assert_int_equal(profile_sum(&world->profile, &cells, &n), 0);
	for (size_t i = 0; i < n; i++)
		sum += cells[i].weight;
	free(cells);
	return sum;
}

static struct query query_of(struct world *world)
{
	return (struct query){.snapshot = &world->snapshot,
		.stacks = world->stacks,
		.tasks = world->tasks,
		.names = world->names,
		.group = GROUP_PROCESS,
		.hide_idle = world->profile.hide_idle,
		.idle_by_name = world->profile.idle_by_name};
}

static uint64_t of_rows(struct world *world)
{
	const struct query query = query_of(world);
	struct query_row *rows;
	uint64_t sum = 0;
	size_t n;

	assert_int_equal(query_run(&query, &rows, &n), 0);
	for (size_t i = 0; i < n; i++)
		sum += rows[i].total;
	free(rows);
	return sum;
}

static uint64_t of_activity(struct world *world)
{
	const struct query query = query_of(world);
	const struct slice *slice = world->snapshot.slices[0];
	uint64_t length_ns = slice->end_ns - slice->start_ns, rate;

	assert_int_equal(query_activity(&query, slice->start_ns, slice->end_ns, &rate, 1), 0);
	return (rate * length_ns + 500000000) / 1000000000;
}

static uint64_t of_stacks(struct world *world)
{
	const struct scan_question question = {.snapshot = &world->snapshot,
		.to_ns = UINT64_MAX,
		.stacks = world->stacks,
		.tasks = world->tasks,
		.names = world->names,
		.hide_idle = world->profile.hide_idle,
		.idle_by_name = world->profile.idle_by_name,
		.event = -1,
		.by = SCAN_STACK,
		.column = GROUP_KEYS};
	struct scan scan;
	uint64_t sum;

	assert_int_equal(scan_run(&question, &scan), 0);
	sum = scan.sums[0].weight;
	scan_fini(&scan);
	return sum;
}

static uint64_t of_hot(struct world *world)
{
	struct hot_sums sums;
	struct hot *hot;

	assert_int_equal(hot_new(&hot, world->store, world->stacks, world->names), 0);
	if (!world->profile.idle_by_name)
		hot_set_tasks(hot, world->tasks);
	hot_hide_idle(hot, world->profile.hide_idle);
	assert_int_equal(hot_update(hot, 0, UINT64_MAX), 0);
	hot_sums(hot, 0, &sums);
	hot_free(hot);
	return sums.weight;
}

static void check(struct world *world, bool hide, bool by_name, uint64_t sum)
{
	world->profile.hide_idle = hide;
	world->profile.idle_by_name = by_name;
	assert_int_equal(of_stacks(world), sum);
	assert_int_equal(of_hot(world), sum);
	assert_int_equal(of_rows(world), sum);
	assert_int_equal(of_activity(world), sum);
	assert_int_equal(exported(world), sum);
}

static void test_same_everywhere(void **state)
{
	struct world world;

	(void)state;
	world_make(&world);
	fill(&world);
	check(&world, false, false, 111111);
	check(&world, false, true, 111111);
	check(&world, true, false, INJECTED + WORKING);
	/* A function without a name may be work outside of the pid namespace. */
	check(&world, true, true, OUTSIDE + NAMELESS + USER + WORKING);
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_everywhere)};

	return cmocka_run_group_tests_name("idle", tests, NULL, NULL);
}
