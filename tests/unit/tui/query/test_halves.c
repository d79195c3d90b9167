/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_halves.c - stacks divided between two threads, of any speed: each cell is given once.
 *
 * All cells of one stack go to one thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/query/halves.h"

#define SLICES 20u
#define CELLS_MAX 3000u

struct world {
	struct slice slices[SLICES];
	const struct slice *list[SLICES];
	struct snapshot snapshot;
	uint32_t stack[SLICES][CELLS_MAX];
	uint8_t given[SLICES][CELLS_MAX]; /* 1: given to the lower half, 2: to the upper half */
	uint64_t cells;
	uint32_t seed;
};

static uint32_t chance(struct world *world, uint32_t below)
{
	world->seed = world->seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)(world->seed >> 8) * below) >> 24);
}

static int compare(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

/* Makes slices of very different lengths, some empty, with few, many or equal stacks. */
static void fill(struct world *world, uint32_t stacks)
{
	world->cells = 0;
	for (uint32_t i = 0; i < SLICES; i++) {
		uint32_t n = chance(world, 4) ? chance(world, CELLS_MAX) : chance(world, 4);

		for (uint32_t k = 0; k < n; k++)
			world->stack[i][k] =
				stacks == 1 ? 7 : chance(world, 1 + chance(world, stacks));
		qsort(world->stack[i], n, sizeof(world->stack[i][0]), compare);
		world->slices[i] = (struct slice){
			.start_ns = i, .end_ns = i + 1, .cells = n, .stack = world->stack[i]};
		world->list[i] = &world->slices[i];
		world->cells += n;
	}
	world->snapshot = (struct snapshot){world->list, SLICES};
	memset(world->given, 0, sizeof(world->given));
}

static void take(struct world *world, struct half *half, uint8_t who)
{
	for (uint32_t i = 0; i < SLICES; i++) {
		uint32_t first, last;

		half_cells(half, world->list[i], i, &first, &last);
		assert_true(first <= last && last <= world->list[i]->cells);
		for (uint32_t k = first; k < last; k++) {
			assert_int_equal(world->given[i][k], 0);
			assert_true(world->stack[i][k] >= half->begin);
			assert_true(world->stack[i][k] < half->end || half->end == UINT32_MAX);
			world->given[i][k] = who;
		}
	}
}

/* Takes ranges in random order. lower: number of cases in ten for the lower half. */
static void check(struct world *world, uint32_t lower)
{
	uint32_t low_above = 0, high_below = UINT32_MAX;
	struct half low, high;
	struct halves halves;
	bool low_over = false, high_over = false;

	assert_true(halves_init(&halves, &world->snapshot, 0, UINT64_MAX, 1));
	assert_int_equal(half_init(&low, &halves, false), 0);
	assert_int_equal(half_init(&high, &halves, true), 0);
	while (!low_over || !high_over) {
		if (!low_over && (high_over || chance(world, 10) < lower)) {
			low_over = !half_next(&low);
			if (!low_over)
				take(world, &low, 1);
		} else if (!high_over) {
			high_over = !half_next(&high);
			if (!high_over)
				take(world, &high, 2);
		}
	}
	for (uint32_t i = 0; i < SLICES; i++) {
		for (uint32_t k = 0; k < world->list[i]->cells; k++) {
			uint32_t stack = world->stack[i][k];

			assert_true(stack < halves.n_stacks);
			assert_int_not_equal(world->given[i][k], 0);
			if (world->given[i][k] == 1)
				low_above = stack + 1 > low_above ? stack + 1 : low_above;
			else
				high_below = stack < high_below ? stack : high_below;
		}
	}
	assert_true(low_above <= high_below);
	half_fini(&low);
	half_fini(&high);
	halves_fini(&halves);
}

static void test_each_cell_once(void **state)
{
	static const uint32_t stacks[] = {1, 2, 9, 200, 100000};
	struct world *world = malloc(sizeof(*world));

	(void)state;
	assert_non_null(world);
	world->seed = 3;
	for (uint32_t round = 0; round < 100; round++) {
		fill(world, stacks[round % 5]);
		check(world, round % 11);
	}
	free(world);
}

/* With many stacks, no range is much larger than the others. */
static void test_ranges_are_even(void **state)
{
	struct world *world = malloc(sizeof(*world));
	struct halves halves;

	(void)state;
	assert_non_null(world);
	world->seed = 5;
	fill(world, 100000);
	assert_true(halves_init(&halves, &world->snapshot, 0, UINT64_MAX, 1));
	for (uint32_t range = 0; range < HALVES_RANGES; range++) {
		uint32_t begin = range ? halves.ends[range - 1] : 0;
		uint64_t cells = 0;

		for (uint32_t i = 0; i < SLICES; i++)
			for (uint32_t k = 0; k < world->list[i]->cells; k++)
				cells += world->stack[i][k] >= begin &&
					world->stack[i][k] < halves.ends[range];
		assert_in_range(cells, world->cells / HALVES_RANGES / 2,
			world->cells / HALVES_RANGES * 3 / 2);
	}
	halves_fini(&halves);
	free(world);
}

/* Equal slices with equal stacks. Each has as many cells as lie between two marks. */
static void test_ranges_of_equal_slices(void **state)
{
	enum { EQUAL = 7936, CELLS = 32 };
	const struct slice **list = malloc(EQUAL * sizeof(*list));
	const struct snapshot snapshot = {list, EQUAL};
	uint32_t stacks[CELLS];
	const struct slice slice = {.end_ns = 2, .cells = CELLS, .stack = stacks};
	struct halves halves;

	(void)state;
	assert_non_null(list);
	for (uint32_t i = 0; i < CELLS; i++)
		stacks[i] = 1 + i;
	for (uint32_t i = 0; i < EQUAL; i++)
		list[i] = &slice;
	assert_true(halves_init(&halves, &snapshot, 0, UINT64_MAX, 1));
	for (uint32_t range = 0; range + 1 < HALVES_RANGES; range++)
		assert_in_range(halves.ends[range] - (range ? halves.ends[range - 1] : 1),
			CELLS / HALVES_RANGES - 1, CELLS / HALVES_RANGES + 1);
	halves_fini(&halves);
	free(list);
}

/* A single thread gets all cells at once. */
static void test_alone(void **state)
{
	struct world *world = malloc(sizeof(*world));
	struct half half = {.halves = NULL};
	struct halves halves;

	(void)state;
	assert_non_null(world);
	world->seed = 8;
	fill(world, 200);
	assert_false(halves_init(&halves, &world->snapshot, 0, UINT64_MAX, world->cells + 1));
	assert_true(half_next(&half));
	half.end = UINT32_MAX;
	take(world, &half, 1);
	for (uint32_t i = 0; i < SLICES; i++)
		for (uint32_t k = 0; k < world->list[i]->cells; k++)
			assert_int_equal(world->given[i][k], 1);
	assert_false(half_next(&half));
	half_fini(&half);
	free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_cell_once),
		cmocka_unit_test(test_ranges_are_even),
		cmocka_unit_test(test_ranges_of_equal_slices),
		cmocka_unit_test(test_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
