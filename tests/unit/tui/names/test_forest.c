/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_forest.c - the forest of stacks that all questions share: stable numbers, removed stacks.
 *
 * A change of names makes a new forest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/samples_fixture.h"
#include "tui/names/forest.h"

static uint32_t number_of(struct forest *forest, uint32_t node)
{
	uint32_t number;

	assert_int_equal(forest_number(forest, node, &number), 0);
	return number;
}

static void expect_like(
	struct fixture *fixture, const struct forest *forest, uint32_t node, uint32_t number)
{
	uint32_t frame = stacks_node(fixture->stacks, node)->frame, parent;

	assert_int_equal(forest->frame[number], frame);
	assert_int_equal(forest->symref[number], names_symref(fixture->names, frame));
	for (parent = forest->parent[number];
		parent && forest->symref[parent] != forest->symref[number];)
		parent = forest->parent[parent];
	assert_int_equal(forest->above[number], parent);
}

static void test_shared(void **state)
{
	struct fixture *fixture = *state;
	struct forest *forest = forest_of(fixture->names, fixture->stacks), *again;
	uint32_t node = STACK_ROOT, number;

	assert_non_null(forest);
	assert_int_equal(number_of(forest, STACK_ROOT), FOREST_NOWHERE);
	for (uint64_t i = 0; i < 12; i++)
		node = fixture_call(fixture, node, fixture->program, i % 3 * 16 + i % 2);
	number = number_of(forest, node);
	assert_int_equal(number, FOREST_NOWHERE + 12);
	expect_like(fixture, forest, node, number);
	assert_int_not_equal(forest->above[number], 0);
	again = forest_of(fixture->names, fixture->stacks);
	assert_ptr_equal(again, forest);
	assert_int_equal(number_of(again, node), number);
	assert_int_equal(again->n, number + 1);
	forest_put(again);
	forest_put(forest);
}

/* A node's id is used again, for another stack. */
static void test_gone(void **state)
{
	struct fixture *fixture = *state;
	struct forest *forest = forest_of(fixture->names, fixture->stacks);
	uint32_t frame, node, next, number;

	assert_non_null(forest);
	assert_int_equal(
		stacks_frame(fixture->stacks, fixture->program, 16, FRAME_USER, &frame), 0);
	assert_int_equal(stacks_child(fixture->stacks, STACK_ROOT, frame, &node), 0);
	stacks_ref(fixture->stacks, node);
	number = number_of(forest, node);
	stacks_unref(fixture->stacks, node);
	assert_int_equal(
		stacks_frame(fixture->stacks, fixture->library, 32, FRAME_USER, &frame), 0);
	assert_int_equal(stacks_child(fixture->stacks, STACK_ROOT, frame, &next), 0);
	stacks_ref(fixture->stacks, next);
	assert_int_equal(next, node);
	assert_int_not_equal(number_of(forest, next), number);
	expect_like(fixture, forest, next, number_of(forest, next));
	stacks_unref(fixture->stacks, next);
	forest_put(forest);
}

static void test_new_names(void **state)
{
	struct fixture *fixture = *state;
	struct forest *forest = forest_of(fixture->names, fixture->stacks), *next;
	uint32_t node = fixture_call(fixture, STACK_ROOT, fixture->stripped, 4), before;

	fixture->symbols.images[fixture->stripped].state = SYMBOLS_PENDING;
	before = forest->symref[number_of(forest, node)];
	fixture->symbols.images[fixture->stripped].state = SYMBOLS_READY;
	fixture->symbols.images[fixture->stripped].symbols =
		fixture->symbols.images[fixture->program].symbols;
	fixture->symbols.images[fixture->stripped].n_symbols =
		fixture->symbols.images[fixture->program].n_symbols;
	fixture->symbols.changed = SYMBOLS_CHANGED_TABLES;
	names_update(fixture->names);
	next = forest_of(fixture->names, fixture->stacks);
	assert_ptr_not_equal(next, forest);
	assert_int_not_equal(next->symref[number_of(next, node)], before);
	/* The old forest does not change for its holders. */
	assert_int_equal(forest->symref[number_of(forest, node)], before);
	forest_put(next);
	forest_put(forest);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_shared), TEST(test_gone), TEST(test_new_names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
