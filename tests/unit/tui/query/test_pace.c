/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_pace.c - how often call trees, lanes, grouped rows and breakdowns are rebuilt.
 *
 * The test controls the CPU clock. It also checks the choice of the CPU time that counts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/model_fixture.h"
#include "tui/model/breakdown.h"
#include "tui/model/calls.h"
#include "tui/model/commands.h"
#include "tui/model/groups.h"
#include "tui/model/lanes.h"
#include "tui/model/queries.h"
#include "tui/query/pace.h"

#include <pthread.h>
#include <time.h>

#define COST_NS 1000000u /* CPU time between two reads of the clock */
#define NOW_NS 5000000000u
#define BURN_NS 50000000u

static _Thread_local uint64_t fake_cpu_ns; /* 0: the real clock */

int __real_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_clock_gettime(clockid_t id, struct timespec *out);

int __wrap_clock_gettime(clockid_t id, struct timespec *out)
{
	if (id != CLOCK_THREAD_CPUTIME_ID || !fake_cpu_ns)
		return __real_clock_gettime(id, out);
	fake_cpu_ns += COST_NS;
	*out = (struct timespec){
		(time_t)(fake_cpu_ns / 1000000000), (long)(fake_cpu_ns % 1000000000)};
	return 0;
}

/* --- data that is rebuilt when time advances --- */

struct world {
	struct model_fixture fixture;
	struct model *model;
	uint64_t from_ns, length_ns; /* start and length of the first window */
	struct model_calls calls;
	struct model_lanes lanes;
	struct model_groups groups;
	struct model_breakdown_sums breakdown;
	struct calltree tree;
};

/* Each of these returns the total weight of its data. */

static uint64_t calls_weight(struct world *world)
{
	const struct calltree_query query = {.kind = CALLTREE_ROOTS, .event = world->model->event};

	assert_int_equal(
		model_calls_tree(&world->calls, &world->fixture.session, world->model,
			world->fixture.live->crumbs.filter, 1, NULL, 0, &query, &world->tree),
		0);
	return world->tree.nodes[0].sums.total;
}

static uint64_t lanes_weight(struct world *world)
{
	const struct lanes *lanes;
	uint64_t weight = 0;

	assert_int_equal(
		model_lanes_get(&world->lanes, &world->fixture.session, world->model,
			world->fixture.live->crumbs.filter, 1, NULL, GROUP_THREAD, 20, &lanes),
		0);
	for (uint32_t i = 0; i < lanes->n; i++)
		weight += lanes->lane[i].weight;
	return weight;
}

static uint64_t groups_weight(struct world *world)
{
	const struct group_by by = {.group = GROUP_THREAD};
	const struct hot_query query = {.event = world->model->event};
	const struct hot_row *rows;
	struct hot_sums sums;
	size_t n;

	assert_int_equal(model_groups_rows(&world->groups, &world->fixture.session, world->model,
				 &world->fixture.live->crumbs, NULL, &by, &query, &rows, &n, &sums),
		0);
	return sums.weight;
}

static uint64_t breakdown_weight(struct world *world)
{
	const struct model_breakdown question = {.all = true, .group = GROUP_THREAD};
	struct query_row *rows;
	uint64_t weight = 0;
	size_t n;

	assert_int_equal(
		model_breakdown_rows(&world->breakdown, &world->fixture.session, world->model,
			world->fixture.live->crumbs.filter, &question, &rows, &n),
		0);
	for (size_t i = 0; i < n; i++)
		weight += rows[i].total;
	free(rows);
	return weight;
}

static uint64_t (*const kept[])(struct world *world) = {
	calls_weight, lanes_weight, groups_weight, breakdown_weight};

#define KEPT (sizeof(kept) / sizeof(*kept))

/* Returns the weight of the model's window, of one command (all if NULL). */
static uint64_t weight_of(const struct world *world, const char *comm)
{
	const struct session *session = &world->fixture.session;
	const uint64_t from_ns = world->model->from_ns, to_ns = world->model->to_ns;
	struct snapshot snapshot;
	uint64_t weight = 0;

	assert_int_equal(store_snapshot(session_store(session), from_ns, to_ns, &snapshot), 0);
	for (size_t s = 0; s < snapshot.n; s++) {
		const struct slice *slice = snapshot.slices[s];

		for (uint32_t i = 0; slice_is_in(slice, from_ns, to_ns) && i < slice->cells; i++) {
			const struct task_label *label =
				tasks_label_get(session_tasks(session), slice->task[i]);

			if (slice->event[i] == world->model->event &&
				(!comm || !strcmp(label->comm, comm)))
				weight += slice->weight[i];
		}
	}
	snapshot_release(session_store(session), &snapshot);
	return weight;
}

/* Moves the window by a number of slices from the first one. */
static void move(struct world *world, unsigned int slices)
{
	world->model->from_ns = world->from_ns + slices * STORE_SLICE_NS;
	world->model->to_ns = world->model->from_ns + world->length_ns;
}

static void world_open(struct world *world)
{
	memset(world, 0, sizeof(*world));
	model_fixture_open(&world->fixture, 5, 24);
	world->model = world->fixture.model;
	world->from_ns = world->model->from_ns;
	world->length_ns = (world->model->to_ns - world->model->from_ns) / 2;
	world->model->now_ns = NOW_NS;
	move(world, 0);
	fake_cpu_ns = COST_NS;
}

static void world_close(struct world *world)
{
	fake_cpu_ns = 0;
	model_calls_fini(&world->calls);
	model_lanes_fini(&world->lanes);
	model_groups_fini(&world->groups);
	model_breakdown_fini(&world->breakdown);
	calltree_fini(&world->tree);
	model_fixture_close(&world->fixture);
}

/* A rebuild waits as long as this thread's CPU time requires. Wall time does not count. */
static void test_time_alone_waits(void **state)
{
	struct world world;

	(void)state;
	world_open(&world);
	for (size_t i = 0; i < KEPT; i++) {
		uint64_t before;

		move(&world, 0);
		world.model->now_ns = NOW_NS;
		before = weight_of(&world, NULL);
		assert_int_equal(kept[i](&world), before);
		move(&world, 3);
		assert_int_not_equal(weight_of(&world, NULL), before);
		world.model->now_ns = NOW_NS + PACE_SHARE * COST_NS - 1;
		assert_int_equal(kept[i](&world), before);
		world.model->now_ns++;
		assert_int_equal(kept[i](&world), weight_of(&world, NULL));
	}
	world_close(&world);
}

static void test_other_window_is_shown_at_once(void **state)
{
	struct world world;

	(void)state;
	world_open(&world);
	for (size_t i = 0; i < KEPT; i++) {
		for (unsigned int step = 0; step < 6; step++) {
			/* The live window, two selected ones, and all three again. */
			world.model->window.selected = step % 3;
			move(&world, 3 * step);
			assert_int_equal(kept[i](&world), weight_of(&world, NULL));
		}
	}
	world_close(&world);
}

/* A window of another length, or after a reset. */
static void test_other_length_is_shown_at_once(void **state)
{
	struct world world;

	(void)state;
	world_open(&world);
	for (size_t i = 0; i < KEPT; i++) {
		for (unsigned int step = 0; step < 6; step++) {
			if (step % 2)
				world.model->zero_ns += STORE_SLICE_NS;
			else
				world.model->window.length_ns += STORE_SLICE_NS;
			move(&world, 3 * step);
			assert_int_equal(kept[i](&world), weight_of(&world, NULL));
		}
	}
	world_close(&world);
}

static void test_other_filter_is_shown_at_once(void **state)
{
	struct world world;
	char message[200];
	size_t at;

	(void)state;
	world_open(&world);
	for (size_t i = 0; i < KEPT; i++) {
		struct model *model = world.model;
		uint64_t all = weight_of(&world, NULL), server = weight_of(&world, "server");

		assert_true(server && server < all);
		assert_int_equal(kept[i](&world), all);
		assert_int_equal(model->commands->crumb_add(
					 model, "comm:server", &at, message, sizeof(message)),
			0);
		assert_int_equal(kept[i](&world), server);
		model->commands->crumb_drop(model, 0);
		assert_int_equal(kept[i](&world), all);
	}
	world_close(&world);
}

/* --- the CPU time that counts --- */

static int burn(void *ctx)
{
	uint64_t begin_ns = pace_thread_ns();

	(void)ctx;
	while (pace_thread_ns() - begin_ns < BURN_NS)
		;
	return 0;
}

static void *burn_apart(void *ctx)
{
	burn(ctx);
	return NULL;
}

static void test_others_do_not_count(void **state)
{
	uint64_t begin_ns = pace_cpu_ns();
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, burn_apart, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(pace_cpu_ns() - begin_ns < BURN_NS / 2);
}

static void test_this_thread_and_its_helper_count(void **state)
{
	uint64_t begin_ns = pace_cpu_ns(), used_ns;

	(void)state;
	assert_int_equal(halves_run(burn, NULL, NULL), 0);
	used_ns = pace_cpu_ns() - begin_ns;
	assert_true(used_ns >= 2 * BURN_NS && used_ns < 3 * BURN_NS);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_alone_waits),
		cmocka_unit_test(test_other_window_is_shown_at_once),
		cmocka_unit_test(test_other_length_is_shown_at_once),
		cmocka_unit_test(test_other_filter_is_shown_at_once),
		cmocka_unit_test(test_others_do_not_count),
		cmocka_unit_test(test_this_thread_and_its_helper_count),
	};

	symbols_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
