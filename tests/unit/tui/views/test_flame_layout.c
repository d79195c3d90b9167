/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_flame_layout.c - trees as boxes, against a naive model on random trees.
 *
 * Also paths, which outlive a tree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/views/flame_layout.h"

#include <stdlib.h>
#include <string.h>

#define NODES_MAX 400u
#define WIDTH_MAX 300

struct tree {
	struct calltree tree;
	struct calltree_node nodes[NODES_MAX];
};

static uint32_t seed = 1;

static uint32_t random_below(uint32_t limit)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % limit;
}

static int by_number(void *ctx, uint32_t symref, uint32_t other)
{
	(void)ctx;
	return (symref > other) - (symref < other);
}

static const struct flame_order order = {by_number, NULL};

static void tree_begin(struct tree *tree)
{
	*tree = (struct tree){.tree = {.n = 1}};
	tree->tree.nodes = tree->nodes;
}

static uint32_t find_child(const struct tree *tree, uint32_t parent, uint32_t symref)
{
	uint32_t at = tree->nodes[parent].child;

	while (at && tree->nodes[at].symref != symref)
		at = tree->nodes[at].sibling;
	return at;
}

/* Adds a node with weight, which counts in all its ancestors. A new child comes first, so children
 * are unsorted. */
static uint32_t add(struct tree *tree, uint32_t parent, uint32_t symref, uint64_t self)
{
	uint32_t node = find_child(tree, parent, symref);

	if (!node) {
		node = tree->tree.n++;
		tree->nodes[node] = (struct calltree_node){
			.symref = symref, .parent = parent, .sibling = tree->nodes[parent].child};
		tree->nodes[parent].child = node;
	}
	tree->nodes[node].sums.self += self;
	for (uint32_t at = node; at; at = tree->nodes[at].parent)
		tree->nodes[at].sums.total += self;
	tree->nodes[0].sums.total += self;
	return node;
}

static void random_tree(struct tree *tree)
{
	uint32_t n = 1 + random_below(NODES_MAX - 1);
	/* Weights up to very large ones. */
	uint64_t unit = random_below(2) ? 1 : (uint64_t)1 << 44;

	/* Sometimes no weight at all. */
	if (!random_below(20))
		unit = 0;

	tree_begin(tree);
	while (tree->tree.n < n) {
		/* Parents are near the last node, so that trees are deep. */
		uint32_t from = tree->tree.n > 12 ? tree->tree.n - 12 : 0;

		add(tree, from + random_below(tree->tree.n - from), 1 + random_below(60),
			random_below(1000) * unit);
	}
}

/* --- the naive model: every column of every row by itself --- */

static bool has_column(const struct tree *tree, uint32_t node, uint32_t zoom, int width)
{
	return (long double)tree->nodes[node].sums.total * width >=
		(long double)tree->nodes[zoom].sums.total;
}

/* Returns the left edge of a node: the weight of all boxes to its left in its parent, and of its
 * parent's likewise. */
static uint64_t start_of(const struct tree *tree, uint32_t node, uint32_t zoom, int width)
{
	const struct calltree_node *nodes = tree->nodes;
	uint64_t start;

	for (uint32_t at = zoom; at; at = nodes[at].parent) {
		if (node == at)
			return 0;
	}
	if (!node)
		return 0;
	start = start_of(tree, nodes[node].parent, zoom, width);
	for (uint32_t at = nodes[nodes[node].parent].child; at; at = nodes[at].sibling) {
		if (nodes[at].symref < nodes[node].symref && has_column(tree, at, zoom, width))
			start += nodes[at].sums.total;
	}
	return start;
}

static bool is_above(const struct tree *tree, uint32_t node, uint32_t other)
{
	while (other != node && other)
		other = tree->nodes[other].parent;
	return other == node;
}

static uint32_t depth_of(const struct tree *tree, uint32_t node)
{
	uint32_t depth = 0;

	for (; node; node = tree->nodes[node].parent)
		depth++;
	return depth;
}

static void check_box(const struct tree *tree, const struct flame_layout *layout, uint32_t node,
	uint32_t zoom, int width)
{
	const struct calltree_node *nodes = tree->nodes;
	long double whole = (long double)nodes[zoom].sums.total;
	bool trunk = is_above(tree, node, zoom);
	bool expected =
		trunk || (is_above(tree, zoom, node) && has_column(tree, node, zoom, width));
	uint32_t at = flame_layout_find(layout, &tree->tree, node);
	const struct flame_box *box = &layout->boxes[at];
	long double share = (long double)nodes[node].sums.total * width / whole;
	long double start = (long double)start_of(tree, node, zoom, width) * width / whole;

	assert_int_not_equal(at, FLAME_NONE);
	/* A node without a box gets the box of an ancestor. */
	assert_true(is_above(tree, box->node, node));
	assert_int_equal(box->node == node, expected);
	if (!expected)
		return;
	assert_int_equal(flame_layout_row(layout, at), depth_of(tree, node));
	assert_true(box->width >= 1);
	if (!trunk || node == zoom)
		assert_int_equal(box->x + box->filled,
			(int)((long double)(start_of(tree, node, zoom, width) +
				      nodes[node].sums.total - nodes[node].sums.self) *
				width / whole));
	if (trunk) {
		assert_int_equal(box->x, 0);
		assert_int_equal(box->width, width);
	} else {
		assert_int_equal(box->x, (int)start);
		assert_true(box->width < share + 1 && box->width > share - 1);
	}
	for (int x = box->x; x < box->x + box->width; x++)
		assert_int_equal(flame_layout_at(layout, flame_layout_row(layout, at), x), at);
}

static void check_rows(const struct flame_layout *layout, int width)
{
	for (uint32_t row = 0; row < layout->n_rows; row++) {
		int end = 0;

		for (uint32_t i = layout->rows[row]; i < layout->rows[row + 1]; i++) {
			const struct flame_box *box = &layout->boxes[i], *under;
			int sum = 0;

			assert_true(box->x >= end && box->x + box->width <= width);
			end = box->x + box->width;
			for (uint32_t k = box->first; k < box->first + box->n; k++) {
				assert_int_equal(layout->boxes[k].parent, i);
				sum += layout->boxes[k].width;
			}
			assert_true(sum <= box->width);
			assert_int_equal(box->parent == FLAME_NONE, row == 0);
			if (!row)
				continue;
			under = &layout->boxes[box->parent];
			assert_in_range(box->parent, layout->rows[row - 1], layout->rows[row] - 1);
			assert_in_range(i, under->first, under->first + under->n - 1);
			assert_true(box->x >= under->x);
			assert_true(box->x + box->width <= under->x + under->width);
		}
	}
	assert_int_equal(layout->rows[layout->n_rows], layout->n);
}

static void test_random_trees(void **state)
{
	static struct tree tree;
	struct flame_layout layout = {0};
	int empty = 0;

	(void)state;
	for (int round = 0; round < 60; round++) {
		int width = 1 + (int)random_below(WIDTH_MAX);
		uint32_t zoom;

		random_tree(&tree);
		zoom = random_below(2) ? 0 : random_below(tree.tree.n);
		assert_int_equal(flame_layout_make(&layout, &tree.tree, zoom, width, &order), 0);
		if (!tree.nodes[zoom].sums.total) {
			assert_int_equal(layout.n, 0);
			empty++;
			continue;
		}
		check_rows(&layout, width);
		for (uint32_t node = 0; node < tree.tree.n; node++)
			check_box(&tree, &layout, node, zoom, width);
	}
	assert_in_range(empty, 1, 30);
	flame_layout_fini(&layout);
}

/* Nodes that the tree leaves out still have room, after the others. */
static void test_left_out(void **state)
{
	static struct tree tree;
	struct flame_layout layout = {0};

	(void)state;
	tree_begin(&tree);
	add(&tree, add(&tree, 0, 1, 2), 2, 3);
	tree.nodes[1].below.total = 4;
	tree.nodes[1].sums.total += 4;
	tree.nodes[0].sums.total += 4 + 1;
	assert_int_equal(flame_layout_make(&layout, &tree.tree, 0, 10, &order), 0);
	assert_int_equal(layout.n, 3);
	assert_int_equal(layout.boxes[0].filled, 9);
	assert_int_equal(layout.boxes[1].width, 9);
	assert_int_equal(layout.boxes[1].filled, 7);
	assert_int_equal(layout.boxes[2].width, 3);
	assert_int_equal(layout.boxes[2].filled, 0);
	flame_layout_fini(&layout);
}

static void test_nothing(void **state)
{
	static struct tree tree;
	struct flame_layout layout = {0};
	struct calltree none = {0};

	(void)state;
	assert_int_equal(flame_layout_make(&layout, &none, 0, 80, &order), 0);
	assert_int_equal(layout.n, 0);
	tree_begin(&tree);
	add(&tree, 0, 7, 0);
	assert_int_equal(flame_layout_make(&layout, &tree.tree, 0, 80, &order), 0);
	assert_int_equal(layout.n_rows, 0);
	assert_int_equal(flame_layout_find(&layout, &tree.tree, 1), FLAME_NONE);
	assert_int_equal(flame_layout_at(&layout, 0, 0), FLAME_NONE);
	add(&tree, 0, 7, 1);
	assert_int_equal(flame_layout_make(&layout, &tree.tree, 0, 0, &order), 0);
	assert_int_equal(layout.n, 0);
	flame_layout_fini(&layout);
}

/* A path finds its node in another tree, or the deepest one that exists. */
static void test_paths(void **state)
{
	static struct tree before, after;
	struct flame_path path = {0};
	uint32_t node, other, found;

	(void)state;
	tree_begin(&before);
	node = add(&before, add(&before, add(&before, 0, 1, 5), 2, 5), 1, 5);
	assert_int_equal(flame_path_set(&path, &before.tree, node), 0);
	assert_int_equal(path.n, 3);
	assert_int_equal(flame_path_find(&path, 3, &before.tree, &found), node);
	assert_int_equal(found, 3);

	tree_begin(&after);
	add(&after, add(&after, 0, 2, 1), 1, 1);
	other = add(&after, add(&after, 0, 1, 1), 2, 1);
	assert_int_equal(flame_path_find(&path, 3, &after.tree, &found), other);
	assert_int_equal(found, 2);
	node = add(&after, other, 1, 1);
	assert_int_equal(flame_path_find(&path, 3, &after.tree, &found), node);
	assert_int_equal(flame_path_find(&path, 2, &after.tree, &found), other);
	assert_int_equal(found, 2);

	assert_int_equal(flame_path_set(&path, &after.tree, 0), 0);
	assert_int_equal(path.n, 0);
	assert_int_equal(flame_path_find(&path, 0, &after.tree, &found), 0);
	flame_path_fini(&path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_trees),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
