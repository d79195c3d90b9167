/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_hot_many.c - the hot table with many symbols: repeated trends, and the order of rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/samples_fixture.h"
#include "tui/tables/hot.h"

#define SYMBOLS 300u
#define SLICES 280u
#define EVENTS 2u
#define ROUNDS 200u
#define WINDOWS 100u

struct world {
	struct store *store;
	struct hot *hot, *base;
	uint32_t stacks[SYMBOLS], symrefs[SYMBOLS];
	uint64_t self[SLICES][EVENTS][SYMBOLS];
};

/* Fills slices with symbols of a program that has only addresses. nested: they call each other. In
 * some slices, most symbols are consecutive. */
static void fill(struct fixture *fixture, struct world *world, bool nested)
{
	uint32_t seed = 5;

	for (uint32_t i = 0; i < SYMBOLS; i++) {
		world->stacks[i] =
			fixture_call(fixture, nested && i ? world->stacks[i / 3] : STACK_ROOT,
				fixture->stripped, 16 * (uint64_t)i);
		world->symrefs[i] = names_symref(
			fixture->names, stacks_node(fixture->stacks, world->stacks[i])->frame);
	}
	for (uint32_t s = 0; s < SLICES; s++) {
		const uint64_t time_ns = (1 + s) * STORE_SLICE_NS;

		for (uint32_t i = 0; i < SYMBOLS; i++)
			for (uint8_t event = 0; event < EVENTS; event++) {
				const bool left_out = s % 7 == 3 && i && i < SYMBOLS * 2 / 3;
				const uint64_t weight = left_out ? 0 : fixture_random(&seed, 3);

				world->self[s][event][i] = weight;
				if (weight)
					assert_int_equal(
						store_add(world->store, time_ns, world->stacks[i],
							0, 0, event, weight),
						0);
			}
		store_seal(world->store, time_ns + STORE_SLICE_NS, true);
	}
}

static void world_open(struct fixture *fixture, struct world *world, bool nested)
{
	memset(world, 0, sizeof(*world));
	assert_int_equal(
		store_new(&world->store, fixture->stacks, fixture->tasks, (size_t)64 << 20), 0);
	assert_int_equal(hot_new(&world->hot, world->store, fixture->stacks, fixture->names), 0);
	fill(fixture, world, nested);
}

static void world_close(struct world *world)
{
	hot_free(world->hot);
	store_free(world->store);
}

/* Checks trends of `slices` slices from first on, a tenth in each part. */
static void check_trends(struct world *world, uint32_t first, uint32_t slices, uint32_t *seed)
{
	const uint64_t from_ns = (1 + first) * STORE_SLICE_NS;

	assert_int_equal(hot_update(world->hot, from_ns, from_ns + slices * STORE_SLICE_NS), 0);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		/* Three of four questions are about the same few symbols. */
		const uint32_t i = fixture_random(seed, round % 4 ? 40 : SYMBOLS);
		const uint8_t event = (uint8_t)fixture_random(seed, EVENTS);
		uint64_t trend[HOT_TREND];

		hot_trend(world->hot, world->symrefs[i], event, trend);
		for (uint32_t part = 0; part < HOT_TREND; part++) {
			const uint32_t n = slices / HOT_TREND;
			uint64_t weight = 0;

			for (uint32_t s = first + part * n; s < first + (part + 1) * n; s++)
				weight += world->self[s][event][i];
			assert_int_equal(trend[part], weight);
		}
	}
}

/* Windows that advance, random windows, and windows of more and more slices. */
static void test_trends(void **state)
{
	static struct world world;
	uint32_t seed = 9;

	world_open(*state, &world, false);
	hot_set_bulk(world.hot, UINT64_MAX);
	for (uint32_t first = 0; first < WINDOWS; first++)
		check_trends(&world, first, HOT_TREND, &seed);
	for (uint32_t window = 0; window < WINDOWS; window++)
		check_trends(&world, fixture_random(&seed, SLICES - HOT_TREND), HOT_TREND, &seed);
	for (uint32_t slices = HOT_TREND; slices <= SLICES; slices += HOT_TREND)
		check_trends(&world, 0, slices, &seed);
	world_close(&world);
}

static uint64_t number_of(const struct hot_row *row, enum hot_sort sort)
{
	return sort == HOT_SORT_TOTAL	   ? row->total
		: sort == HOT_SORT_SAMPLES ? row->samples
					   : row->self;
}

/* Few different numbers, so that most rows have equals. */
static void test_quick_order(void **state)
{
	static const enum hot_sort sorts[] = {HOT_SORT_SELF, HOT_SORT_TOTAL, HOT_SORT_SAMPLES};
	static struct world world;
	size_t ties = 0;

	world_open(*state, &world, false);
	assert_int_equal(hot_update(world.hot, 0, UINT64_MAX), 0);
	for (size_t k = 0; k < 2 * sizeof(sorts) / sizeof(*sorts); k++) {
		const struct hot_query query = {
			.sort = sorts[k / 2], .reverse = k % 2, .quick = true};
		const struct hot_row *rows;
		struct hot_sums sums;
		size_t n;

		assert_int_equal(hot_rows(world.hot, &query, &rows, &n, &sums), 0);
		assert_int_equal(n, SYMBOLS);
		for (size_t i = 1; i < n; i++) {
			const uint64_t before = number_of(&rows[i - 1], query.sort);
			const uint64_t number = number_of(&rows[i], query.sort);

			assert_true(query.reverse ? before <= number : before >= number);
			assert_true(before != number || rows[i - 1].symref < rows[i].symref);
			ties += before == number;
		}
	}
	assert_true(ties > SYMBOLS);
	world_close(&world);
}

/* Checks that the first rows equal those of a full query. In short windows many symbols have no
 * samples, and most rows have equals. */
static void check_first_rows(struct world *world, const struct hot_query *query, size_t most)
{
	struct hot_query first = *query;
	const struct hot_row *rows;
	struct hot_row *all;
	struct hot_sums sums;
	size_t n, n_all;

	assert_int_equal(hot_rows(world->hot, query, &rows, &n_all, &sums), 0);
	assert_true(n_all > 8);
	all = malloc(n_all * sizeof(*all));
	assert_non_null(all);
	memcpy(all, rows, n_all * sizeof(*all));
	first.most = most;
	assert_int_equal(hot_rows(world->hot, &first, &rows, &n, &sums), 0);
	assert_int_equal(n, n_all);
	for (size_t i = 0; i < n && i < most; i++) {
		assert_int_equal(rows[i].symref, all[i].symref);
		assert_int_equal(rows[i].self, all[i].self);
		assert_int_equal(rows[i].total, all[i].total);
		assert_int_equal(rows[i].samples, all[i].samples);
		assert_true(rows[i].change == all[i].change);
	}
	free(all);
}

static void test_first_rows(void **state)
{
	static const struct hot_query queries[] = {
		{.sort = HOT_SORT_SELF, .quick = true},
		{.sort = HOT_SORT_TOTAL, .quick = true, .event = 1},
		{.sort = HOT_SORT_SAMPLES, .quick = true},
		{.sort = HOT_SORT_SELF, .quick = true, .reverse = true},
		{.sort = HOT_SORT_SELF},
		{.sort = HOT_SORT_TOTAL, .quick = true, .filter = "1"},
		{.sort = HOT_SORT_SELF, .quick = true, .hide_kernel = true},
		{.sort = HOT_SORT_SYMBOL, .quick = true},
	};
	static const size_t mosts[] = {
		1, 2, 3, 50, SYMBOLS / 3, SYMBOLS - 1, SYMBOLS, 2 * (size_t)SYMBOLS};
	static struct world world;
	struct hot_query compared = queries[0];

	world_open(*state, &world, true);
	assert_int_equal(hot_new(&world.base, world.store, ((struct fixture *)*state)->stacks,
				 ((struct fixture *)*state)->names),
		0);
	assert_int_equal(hot_update(world.base, 0, 9 * STORE_SLICE_NS), 0);
	compared.base = world.base;
	for (uint32_t first = 0; first < 20; first++) {
		const uint64_t from_ns = (1 + first) * STORE_SLICE_NS;

		assert_int_equal(
			hot_update(world.hot, from_ns, from_ns + (1 + first % 3) * STORE_SLICE_NS),
			0);
		for (size_t i = 0; i < sizeof(mosts) / sizeof(*mosts); i++) {
			for (size_t j = 0; j < sizeof(queries) / sizeof(*queries); j++)
				check_first_rows(&world, &queries[j], mosts[i]);
			check_first_rows(&world, &compared, mosts[i]);
		}
	}
	hot_free(world.base);
	world_close(&world);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_trends, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_quick_order, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_first_rows, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
