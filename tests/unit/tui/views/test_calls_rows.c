/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_calls_rows.c - call trees as rows: open nodes, order, and the parts of the butterfly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/views/calls_rows.h"

#include <stdlib.h>

#define WHOLE 1000u

struct tree {
	struct calltree tree;
	struct calltree_node nodes[32];
};

static void tree_begin(struct tree *tree)
{
	*tree = (struct tree){.tree = {.n = 1}};
	tree->tree.nodes = tree->nodes;
	tree->nodes[0].sums.total = WHOLE;
}

/* Appends a child of parent. Returns its node. */
static uint32_t add(struct tree *tree, uint32_t parent, uint32_t symref, uint64_t total)
{
	uint32_t node = tree->tree.n++, *link = &tree->nodes[parent].child;

	while (*link)
		link = &tree->nodes[*link].sibling;
	*link = node;
	tree->nodes[node].parent = parent;
	tree->nodes[node].symref = symref;
	tree->nodes[node].sums.total = total;
	tree->nodes[node].sums.self = total;
	return node;
}

static void expect(const struct calls_rows *rows, const uint32_t *symrefs, size_t n)
{
	assert_int_equal(rows->n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(
			rows->rows[i].more ? UINT32_MAX : rows->rows[i].symref, symrefs[i]);
}
#define EXPECT(rows, ...)                                                     \
	do {                                                                  \
		const uint32_t expected[] = {__VA_ARGS__};                    \
		expect(rows, expected, sizeof(expected) / sizeof(*expected)); \
	} while (0)

/* Heavy nodes are open at first. The user's choices stay when weights change. */
static void test_opens_and_closes(void **state)
{
	struct calls_rows rows = {0};
	struct tree tree;
	uint32_t main_node;

	(void)state;
	tree_begin(&tree);
	main_node = add(&tree, 0, 1, 900);
	add(&tree, main_node, 2, 600);
	add(&tree, add(&tree, main_node, 3, 40), 4, 40);
	add(&tree, 0, 5, 100);
	tree.nodes[main_node].n_below = 7;
	tree.nodes[main_node].below.total = 9;
	assert_int_equal(calls_rows_make(&rows, CALLS_TREE, NULL, &tree.tree, WHOLE), 0);
	EXPECT(&rows, 1, 2, 3, UINT32_MAX, 5);
	assert_int_equal(rows.rows[3].more, 7);
	assert_true(rows.rows[2].can_open && !rows.rows[2].open);
	assert_int_equal(rows.rows[2].depth, 1);
	assert_int_equal(calls_rows_open(&rows, rows.rows[2].path, true), 0);
	assert_int_equal(calls_rows_make(&rows, CALLS_TREE, NULL, &tree.tree, WHOLE), 0);
	EXPECT(&rows, 1, 2, 3, 4, UINT32_MAX, 5);
	assert_int_equal(calls_rows_find(&rows, rows.rows[3].path), 3);
	assert_int_equal(calls_rows_open(&rows, rows.rows[0].path, false), 0);
	assert_int_equal(calls_rows_make(&rows, CALLS_TREE, NULL, &tree.tree, WHOLE), 0);
	EXPECT(&rows, 1, 5);
	/* No choice is forgotten, however many there are. */
	for (uint64_t path = 1; path < 500; path++)
		assert_int_equal(calls_rows_open(&rows, path * 77, true), 0);
	assert_int_equal(calls_rows_make(&rows, CALLS_TREE, NULL, &tree.tree, WHOLE), 0);
	EXPECT(&rows, 1, 5);
	calls_rows_fini(&rows);
}

/* Nodes that calls_rows_opens() does not ask for are not read: rows are equal without their
 * children. */
static void test_shut(void **state)
{
	struct calls_rows rows = {0};
	struct calls_opening opening = {.rows = &rows, .shape = CALLS_TREE};
	struct tree tree;
	uint32_t main_node, light;

	(void)state;
	tree_begin(&tree);
	main_node = add(&tree, 0, 1, 900);
	add(&tree, main_node, 2, 600);
	light = add(&tree, main_node, 3, 40);
	add(&tree, light, 4, 40);
	assert_true(calls_rows_opens(&tree.tree, main_node, &opening));
	assert_false(calls_rows_opens(&tree.tree, light, &opening));
	tree.nodes[light].child = 0;
	tree.nodes[light].shut = true;
	assert_int_equal(calls_rows_make(&rows, CALLS_TREE, NULL, &tree.tree, WHOLE), 0);
	EXPECT(&rows, 1, 2, 3);
	assert_true(rows.rows[2].can_open && !rows.rows[2].open);
	assert_false(rows.rows[1].can_open);
	/* The node is asked for from now on. Its row stays closed until the children are there. */
	assert_int_equal(calls_rows_open(&rows, rows.rows[2].path, true), 0);
	assert_true(calls_rows_opens(&tree.tree, light, &opening));
	assert_int_equal(calls_rows_make(&rows, CALLS_TREE, NULL, &tree.tree, WHOLE), 0);
	EXPECT(&rows, 1, 2, 3);
	assert_true(rows.rows[2].can_open && !rows.rows[2].open);
	calls_rows_fini(&rows);

	/* In a butterfly the centre is open, and above it each caller that makes most of the
	 * calls. */
	tree_begin(&tree);
	main_node = add(&tree, 0, 9, 500);
	light = add(&tree, add(&tree, main_node, 1, 400), 2, 390);
	opening = (struct calls_opening){.rows = &rows, .shape = CALLS_BUTTERFLY, .above = true};
	assert_true(calls_rows_opens(&tree.tree, main_node, &opening));
	assert_false(calls_rows_opens(&tree.tree, tree.nodes[light].parent, &opening));
	assert_true(calls_rows_opens(&tree.tree, light, &opening));
}

/* A row moves up only if it is clearly heavier than the one before it, and never while the order is
 * held. */
static void test_order_is_calm(void **state)
{
	struct calls_rows rows = {0};
	struct tree tree;

	(void)state;
	tree_begin(&tree);
	add(&tree, 0, 1, 40);
	add(&tree, 0, 2, 38);
	add(&tree, 0, 3, 20);
	assert_int_equal(calls_rows_make(&rows, CALLS_TREE, NULL, &tree.tree, WHOLE), 0);
	EXPECT(&rows, 1, 2, 3);
	tree_begin(&tree);
	add(&tree, 0, 2, 42);
	add(&tree, 0, 1, 40);
	add(&tree, 0, 4, 30);
	add(&tree, 0, 3, 20);
	assert_int_equal(calls_rows_make(&rows, CALLS_TREE, NULL, &tree.tree, WHOLE), 0);
	EXPECT(&rows, 1, 2, 4, 3);
	tree.nodes[1].sums.total = 60;
	rows.hold = true;
	assert_int_equal(calls_rows_make(&rows, CALLS_TREE, NULL, &tree.tree, WHOLE), 0);
	EXPECT(&rows, 1, 2, 4, 3);
	rows.hold = false;
	assert_int_equal(calls_rows_make(&rows, CALLS_TREE, NULL, &tree.tree, WHOLE), 0);
	EXPECT(&rows, 2, 1, 4, 3);
	calls_rows_forget(&rows);
	tree.nodes[1].sums.total = 39;
	assert_int_equal(calls_rows_make(&rows, CALLS_TREE, NULL, &tree.tree, WHOLE), 0);
	EXPECT(&rows, 1, 2, 4, 3);
	calls_rows_fini(&rows);
}

/* Direct callers are next to the symbol, the heaviest nearest. Callees are below it. */
static void test_butterfly(void **state)
{
	struct calls_rows rows = {0};
	struct tree callers, called;
	uint32_t centre, caller;

	(void)state;
	tree_begin(&callers);
	centre = add(&callers, 0, 9, 500);
	caller = add(&callers, centre, 1, 400);
	add(&callers, caller, 2, 390);
	add(&callers, centre, 3, 100);
	tree_begin(&called);
	centre = add(&called, 0, 9, 500);
	add(&called, centre, 5, 300);
	add(&called, centre, 6, 100);
	assert_int_equal(
		calls_rows_make(&rows, CALLS_BUTTERFLY, &callers.tree, &called.tree, WHOLE), 0);
	EXPECT(&rows, 3, 1, 9, 5, 6);
	assert_true(rows.rows[2].centre && !rows.rows[2].above);
	assert_true(rows.rows[1].above && rows.rows[1].can_open);
	assert_int_equal(calls_rows_open(&rows, rows.rows[1].path, true), 0);
	assert_int_equal(
		calls_rows_make(&rows, CALLS_BUTTERFLY, &callers.tree, &called.tree, WHOLE), 0);
	EXPECT(&rows, 3, 2, 1, 9, 5, 6);
	/* The order of the callers is held, too, though it is upside down. */
	callers.nodes[4].sums.total = 440;
	assert_int_equal(
		calls_rows_make(&rows, CALLS_BUTTERFLY, &callers.tree, &called.tree, WHOLE), 0);
	EXPECT(&rows, 3, 2, 1, 9, 5, 6);
	callers.nodes[4].sums.total = 480;
	assert_int_equal(
		calls_rows_make(&rows, CALLS_BUTTERFLY, &callers.tree, &called.tree, WHOLE), 0);
	EXPECT(&rows, 2, 1, 3, 9, 5, 6);
	calls_rows_fini(&rows);
}

/* A chain of single calls is not indented without end. Callers stay open along the heavy one. */
static void test_chains(void **state)
{
	struct calls_rows rows = {0};
	struct tree tree;
	uint32_t at;

	(void)state;
	tree_begin(&tree);
	at = add(&tree, 0, 1, 500);
	for (uint32_t i = 2; i < 12; i++)
		at = add(&tree, at, i, 500);
	assert_int_equal(calls_rows_make(&rows, CALLS_CALLERS, NULL, &tree.tree, WHOLE), 0);
	EXPECT(&rows, 1);
	assert_int_equal(calls_rows_open(&rows, rows.rows[0].path, true), 0);
	assert_int_equal(calls_rows_make(&rows, CALLS_CALLERS, NULL, &tree.tree, WHOLE), 0);
	assert_int_equal(rows.n, 11);
	assert_int_equal(rows.rows[1].indent, 1);
	assert_int_equal(rows.rows[10].indent, 1);
	assert_int_equal(rows.rows[10].depth, 10);
	calls_rows_fini(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opens_and_closes),
		cmocka_unit_test(test_shut),
		cmocka_unit_test(test_order_is_calm),
		cmocka_unit_test(test_butterfly),
		cmocka_unit_test(test_chains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
