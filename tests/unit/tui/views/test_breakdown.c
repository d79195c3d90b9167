/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_breakdown.c - breakdown rows that follow the window equal those of a full query.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/model_fixture.h"
#include "tui/model/breakdown.h"
#include "tui/model/commands.h"
#include "tui/model/queries.h"

#define STEPS 400u
#define LATER_NS 1000000000000u /* after this time no row is held back */
#define LENGTH 20u /* slices */
#define SHORT 9u /* slices of a short window */

static const enum query_group groups[] = {GROUP_PROCESS, GROUP_THREAD, GROUP_CPU};

struct world {
	struct model_fixture fixture;
	struct model *model;
	struct model_breakdown_sums sums;
	uint32_t symrefs[3]; /* symbols of the hottest rows */
	uint32_t all[FIXTURE_NODES];
	size_t n_all;
};

static void world_open(struct world *world, uint32_t fixture_seed)
{
	const struct hot_query query = {.sort = HOT_SORT_TOTAL};
	const struct hot_row *rows;
	struct hot_sums sums;
	size_t n;

	memset(world, 0, sizeof(*world));
	model_fixture_open(&world->fixture, fixture_seed, 24);
	world->model = world->fixture.model;
	world->model->now_ns = LATER_NS;
	assert_int_equal(world->model->queries->rows(world->model, &query, &rows, &n, &sums), 0);
	assert_true(n > 8);
	for (size_t i = 0; i < 3; i++)
		world->symrefs[i] = rows[4 * i].symref;
	for (; world->n_all < n && world->n_all < FIXTURE_NODES; world->n_all++)
		world->all[world->n_all] = rows[world->n_all].symref;
}

static void world_close(struct world *world)
{
	model_breakdown_fini(&world->sums);
	model_fixture_close(&world->fixture);
}

static void show(struct world *world, uint32_t first, uint32_t slices)
{
	world->model->from_ns = FIXTURE_START_NS + first * STORE_SLICE_NS;
	world->model->to_ns = world->model->from_ns + slices * STORE_SLICE_NS;
	world->model->now_ns += LATER_NS;
}

/* Compares followed rows with those of a full query. Returns the number of slices read. */
static uint64_t compare(struct world *world, const struct model_breakdown *question)
{
	struct session *session = &world->fixture.session;
	struct filter *filter = world->fixture.live->crumbs.filter;
	uint64_t asked = world->sums.asked;
	struct query_row *rows, *anew;
	size_t n, n_anew;

	assert_int_equal(model_breakdown_rows(
				 &world->sums, session, world->model, filter, question, &rows, &n),
		0);
	assert_int_equal(model_breakdown_ask(session, world->model, filter, question,
				 world->model->from_ns, world->model->to_ns, &anew, &n_anew),
		0);
	assert_int_equal(n, n_anew);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(rows[i].pid, anew[i].pid);
		assert_int_equal(rows[i].tid, anew[i].tid);
		assert_int_equal(rows[i].cpu, anew[i].cpu);
		assert_string_equal(rows[i].name, anew[i].name);
		assert_int_equal(rows[i].self, anew[i].self);
		assert_int_equal(rows[i].total, anew[i].total);
		assert_int_equal(rows[i].samples, anew[i].samples);
	}
	free(rows);
	free(anew);
	return world->sums.asked - asked;
}

/* When one slice comes and one leaves, only those two are read. */
static void test_time_goes_on(void **state)
{
	static struct world world;

	(void)state;
	world_open(&world, 4);
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		const struct model_breakdown question = {
			.symref = world.symrefs[i], .group = groups[i]};

		show(&world, 0, LENGTH);
		assert_int_equal(compare(&world, &question), LENGTH);
		for (uint32_t first = 1; first + LENGTH <= FIXTURE_SLICES; first++) {
			show(&world, first, LENGTH);
			assert_int_equal(compare(&world, &question), 2);
			/* An unchanged window reads no slice. */
			world.model->now_ns += LATER_NS;
			assert_int_equal(compare(&world, &question), 0);
		}
	}
	world_close(&world);
}

/* Short windows, in which a symbol of many threads occurs only as a caller. */
static void test_callers(void **state)
{
	static struct world world;
	uint32_t callers = 0, followed = 0;

	(void)state;
	world_open(&world, 4);
	for (size_t i = 0; i < world.n_all; i++) {
		const struct model_breakdown question = {
			.symref = world.all[i], .group = groups[1 + i % 2]};

		for (uint32_t first = 0; first + SHORT <= FIXTURE_SLICES; first++) {
			show(&world, first, SHORT);
			followed += compare(&world, &question) == 2;
			for (uint32_t k = 0; k < world.sums.n; k++)
				callers += !world.sums.rows[k].samples;
		}
	}
	assert_true(callers > 10);
	assert_true(followed > 100);
	world_close(&world);
}

/* No sample has the symbol, in any window. */
static void test_no_rows(void **state)
{
	static struct world world;
	const struct model_breakdown question = {.symref = 0xffffff, .group = GROUP_THREAD};

	(void)state;
	world_open(&world, 4);
	for (uint32_t first = 0; first + LENGTH <= FIXTURE_SLICES; first++) {
		show(&world, first, LENGTH);
		compare(&world, &question);
		assert_int_equal(world.sums.n, 0);
	}
	world_close(&world);
}

/* Most samples carry an older name of the process; the row shows the newest one. */
static void test_names_are_the_newest(void **state)
{
	static struct world world;
	const struct model_breakdown question = {.all = true, .group = GROUP_PROCESS};

	(void)state;
	world_open(&world, FIXTURE_RENAMES);
	for (uint32_t first = 0; first + LENGTH <= FIXTURE_SLICES; first++) {
		bool renamed = false;

		show(&world, first, LENGTH);
		compare(&world, &question);
		for (uint32_t i = 0; i < world.sums.n; i++)
			renamed |= !strcmp(world.sums.rows[i].name, "renamed");
		assert_true(renamed);
	}
	world_close(&world);
}

/* Windows that grow, shrink, jump and go back, of all samples and of one symbol, with and without a
 * filter. */
static void test_any_window(void **state)
{
	static struct world world;
	uint32_t seed = 3, first = 0, slices = LENGTH;
	uint64_t looked = 0, windows = 0;
	char message[200];
	size_t at;

	(void)state;
	world_open(&world, 4);
	for (uint32_t step = 0; step < STEPS; step++) {
		const uint32_t phase = step / 40;
		const struct model_breakdown question = {.all = phase % 3 == 0,
			.symref = world.symrefs[phase % 3],
			.group = groups[phase / 3 % 3]};

		if (model_fixture_random(&seed, 12) == 0) {
			first = model_fixture_random(&seed, FIXTURE_SLICES);
			slices = 1 + model_fixture_random(&seed, FIXTURE_SLICES - first);
		} else if (first + slices < FIXTURE_SLICES) {
			const uint32_t goes = model_fixture_random(&seed, slices < 4 ? slices : 4);

			first += goes;
			slices += model_fixture_random(&seed, 4) - goes;
			slices = slices && slices <= FIXTURE_SLICES ? slices : 1;
		} else {
			first = 0;
		}
		if (first + slices > FIXTURE_SLICES)
			slices = FIXTURE_SLICES - first;
		if (step % 100 == 99)
			assert_int_equal(world.model->commands->crumb_add(world.model,
						 "comm:server", &at, message, sizeof(message)),
				0);
		if (step % 100 == 20 && world.model->n_crumbs)
			world.model->commands->crumb_drop(world.model, 0);
		show(&world, first, slices);
		looked += compare(&world, &question);
		windows += slices;
	}
	assert_true(looked < windows / 2);
	world_close(&world);
}

/* A new question drops all rows of the old one. */
static void test_other_question(void **state)
{
	static struct world world;
	struct model_breakdown question;

	(void)state;
	world_open(&world, 4);
	question = (struct model_breakdown){.symref = world.symrefs[0], .group = GROUP_THREAD};
	show(&world, 0, LENGTH);
	assert_int_equal(compare(&world, &question), LENGTH);
	question.symref = world.symrefs[1];
	assert_int_equal(compare(&world, &question), LENGTH);
	question.group = GROUP_CPU;
	assert_int_equal(compare(&world, &question), LENGTH);
	question.all = true;
	assert_int_equal(compare(&world, &question), LENGTH);
	world.model->event = world.model->event == 0 ? 1 : 0;
	assert_int_equal(compare(&world, &question), LENGTH);
	world_close(&world);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_goes_on),
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_no_rows),
		cmocka_unit_test(test_names_are_the_newest),
		cmocka_unit_test(test_any_window),
		cmocka_unit_test(test_other_question),
	};

	symbols_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
