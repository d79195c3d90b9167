/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_stacks.c - the prefix tree of stacks, its references, and the cache of callchains.
 */
#include "sampler/store/stacks.h"

#include "sampler/base/idtable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static uint16_t dropped; /* frames dropped from the chain that was found last */

static int setup(void **state)
{
	struct stacks *stacks;

	assert_int_equal(stacks_new(&stacks), 0);
	*state = stacks;
	return 0;
}

static int teardown(void **state)
{
	stacks_free(*state);
	return 0;
}

static uint32_t frame(struct stacks *stacks, uint64_t offset)
{
	uint32_t id;

	assert_int_equal(stacks_frame(stacks, 3, offset, FRAME_USER, &id), 0);
	return id;
}

/* The stack of n frames, from..from + n - 1, outermost first. */
static uint32_t stack(struct stacks *stacks, uint64_t from, unsigned int n)
{
	uint32_t node = STACK_ROOT;

	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(stacks_child(stacks, node, frame(stacks, from + i), &node), 0);
	return node;
}

static void test_frames(void **state)
{
	struct stacks *stacks = *state;
	uint32_t a = frame(stacks, 16), other;

	assert_int_not_equal(a, FRAME_NONE);
	assert_int_equal(frame(stacks, 16), a);
	assert_int_equal(stacks_frame_get(stacks, a)->offset, 16);
	assert_int_equal(stacks_frame_get(stacks, a)->image, 3);
	assert_true(a < stacks_frame_limit(stacks));
	assert_int_equal(stacks_frame(stacks, 4, 16, FRAME_USER, &other), 0);
	assert_int_not_equal(other, a);
	assert_int_equal(stacks_frame(stacks, 3, 16, FRAME_KERNEL, &other), 0);
	assert_int_not_equal(other, a);
	assert_int_equal(stacks_frame_get(stacks, other)->mode, FRAME_KERNEL);
	assert_int_not_equal(frame(stacks, 17), a);
	stacks_free(NULL);
}

static void test_tree(void **state)
{
	struct stacks *stacks = *state;
	uint32_t leaf = stack(stacks, 10, 5), other;
	const struct stack_node *node = stacks_node(stacks, leaf);

	assert_int_equal(stack(stacks, 10, 5), leaf);
	assert_int_equal(stacks_node_count(stacks), 5);
	for (unsigned int depth = 5; depth; depth--) {
		assert_int_equal(node->depth, depth);
		assert_int_equal(stacks_frame_get(stacks, node->frame)->offset, 9 + depth);
		node = stacks_node(stacks, node->parent);
	}
	assert_int_equal(node->depth, 0);
	/* Common callers are shared nodes. */
	assert_int_equal(stacks_child(stacks, stack(stacks, 10, 4), frame(stacks, 99), &other), 0);
	assert_int_not_equal(other, leaf);
	assert_int_equal(stacks_node_count(stacks), 6);
	assert_int_equal(stacks_node(stacks, other)->parent, stacks_node(stacks, leaf)->parent);
}

#define LEAVES 5000u

static uint32_t leaf(struct stacks *stacks, uint32_t i)
{
	uint32_t node = stack(stacks, 100 * (uint64_t)i, 9), with_leaf;

	assert_int_equal(stacks_leaf(stacks, node, frame(stacks, 7), &with_leaf), 0);
	return with_leaf;
}

/* The ids of leaves are close together, also after some were freed and others were added. */
static void check_close(const uint32_t *leaves)
{
	bool pages[65536 / 256] = {false};
	unsigned int n = 0;

	for (uint32_t i = 0; i < LEAVES; i++) {
		assert_in_range(leaves[i], 1, 65535);
		n += !pages[leaves[i] / 256];
		pages[leaves[i] / 256] = true;
	}
	assert_in_range(n, LEAVES / 256, LEAVES / 256 + 2);
}

static void test_leaves(void **state)
{
	static uint32_t leaves[LEAVES];
	struct stacks *stacks = *state;
	uint32_t node;

	for (uint32_t i = 0; i < LEAVES; i++) {
		leaves[i] = leaf(stacks, i);
		stacks_ref(stacks, leaves[i]);
	}
	check_close(leaves);
	for (uint32_t i = 0; i < LEAVES; i += 2)
		stacks_unref(stacks, leaves[i]);
	for (uint32_t i = 0; i < LEAVES; i += 2) {
		leaves[i] = leaf(stacks, LEAVES + i);
		stacks_ref(stacks, leaves[i]);
	}
	check_close(leaves);
	/* Every lookup gives the same node, which may become a caller. */
	node = stacks_node(stacks, leaves[1])->parent;
	assert_int_equal(stacks_child(stacks, node, frame(stacks, 7), &node), 0);
	assert_int_equal(node, leaves[1]);
	assert_int_equal(stacks_child(stacks, leaves[1], frame(stacks, 8), &node), 0);
	assert_int_equal(stacks_node(stacks, node)->depth, 11);
	stacks_sweep(stacks);
	for (uint32_t i = 0; i < LEAVES; i++)
		stacks_unref(stacks, leaves[i]);
	stacks_sweep(stacks);
	assert_int_equal(stacks_node_count(stacks), 0);
}

static void test_depth_limit(void **state)
{
	struct stacks *stacks = *state;
	uint32_t node = STACK_ROOT;

	for (unsigned int i = 0; i < STACK_DEPTH_MAX; i++)
		assert_int_equal(stacks_child(stacks, node, frame(stacks, 1), &node), 0);
	assert_int_equal(stacks_node(stacks, node)->depth, STACK_DEPTH_MAX);
	assert_true(stacks_child(stacks, node, frame(stacks, 1), &node) < 0);
}

static void test_references(void **state)
{
	struct stacks *stacks = *state;
	uint32_t deep = stack(stacks, 10, 5), middle = stack(stacks, 10, 3);
	uint16_t generation = stacks_node(stacks, deep)->generation;

	stacks_ref(stacks, deep);
	stacks_ref(stacks, middle);
	stacks_sweep(stacks);
	assert_int_equal(stacks_node_count(stacks), 5);
	stacks_unref(stacks, deep);
	assert_int_equal(stacks_node_count(stacks), 3);
	assert_int_equal(stacks_frame_count(stacks), 3);
	assert_int_equal(stacks_node(stacks, middle)->depth, 3);
	/* A reused id has another generation. */
	assert_int_not_equal(stacks_node(stacks, stack(stacks, 50, 1))->generation, generation);
	stacks_unref(stacks, middle);
	stacks_sweep(stacks);
	assert_int_equal(stacks_node_count(stacks), 0);
	assert_int_equal(stacks_frame_count(stacks), 0);
}

static void test_sweep(void **state)
{
	struct stacks *stacks = *state;
	uint32_t kept = stack(stacks, 10, 2), node;

	stack(stacks, 10, 6);
	stack(stacks, 70, 3);
	stacks_ref(stacks, kept);
	stacks_sweep(stacks);
	assert_int_equal(stacks_node_count(stacks), 2);
	/* A node that is freed and added again between two sweeps is listed twice. */
	for (int i = 0; i < 3; i++) {
		node = stack(stacks, 90, 1);
		stacks_ref(stacks, node);
		stacks_unref(stacks, node);
	}
	stack(stacks, 90, 1);
	stacks_sweep(stacks);
	stacks_sweep(stacks);
	assert_int_equal(stacks_node_count(stacks), 2);
	assert_int_equal(stacks_frame_count(stacks), 2);
	stacks_unref(stacks, kept);
	assert_int_equal(stacks_node_count(stacks), 0);
}

static void test_chains(void **state)
{
	struct stacks *stacks = *state;
	uint32_t node = stack(stacks, 10, 2);

	assert_int_equal(stacks_chain_find(stacks, 42, &dropped), STACK_ROOT);
	assert_int_equal(stacks_chain_add(stacks, 42, node, 0), 0);
	assert_int_equal(stacks_chain_find(stacks, 42, &dropped), node);
	assert_int_equal(stacks_chain_find(stacks, 43, &dropped), STACK_ROOT);
	/* The node was freed, then reused for another stack: the chain is unknown again. */
	stacks_sweep(stacks);
	assert_int_equal(stacks_chain_find(stacks, 42, &dropped), STACK_ROOT);
	stack(stacks, 20, 2);
	assert_int_equal(stacks_chain_find(stacks, 42, &dropped), STACK_ROOT);
	node = stack(stacks, 10, 2);
	assert_int_equal(stacks_chain_add(stacks, 42, node, 0), 0);
	assert_int_equal(stacks_chain_find(stacks, 42, &dropped), node);
}

/* One id is reused more often than it has generations.  A pair (id, generation) never comes
 * twice. */
static void test_generations_end(void **state)
{
	struct stacks *stacks = *state;
	uint32_t first = stack(stacks, 10, 1);

	assert_int_equal(stacks_chain_add(stacks, 42, first, 0), 0);
	stacks_sweep(stacks);
	for (unsigned int i = 0; i < 70000; i++) {
		stack(stacks, 20 + i % 2, 1);
		assert_int_equal(stacks_chain_find(stacks, 42, &dropped), STACK_ROOT);
		stacks_sweep(stacks);
	}
	assert_int_equal(stacks_node_count(stacks), 0);
}

static void test_chain_cache_is_bounded(void **state)
{
	struct stacks *stacks = *state;
	uint32_t node = stack(stacks, 10, 1);
	uint64_t hash = 88172645463325252ull;
	size_t memory;
	unsigned int found = 0;

	stacks_ref(stacks, node);
	for (unsigned int i = 0; i < 2000000; i++) {
		hash ^= hash << 13, hash ^= hash >> 7, hash ^= hash << 17;
		assert_int_equal(stacks_chain_add(stacks, hash, node, 0), 0);
		found += stacks_chain_find(stacks, hash, &dropped) == node;
	}
	assert_int_equal(found, 2000000);
	memory = stacks_memory(stacks);
	assert_true(memory < 6u << 20);

	/* The cache has grown enough to hold nearly all of a working set of 100,000 chains. */
	found = 0;
	for (int round = 0; round < 2; round++) {
		hash = 1;
		for (unsigned int i = 0; i < 100000; i++) {
			hash ^= hash << 13, hash ^= hash >> 7, hash ^= hash << 17;
			if (!round)
				stacks_chain_add(stacks, hash, node, 0);
			else
				found += stacks_chain_find(stacks, hash, &dropped) == node;
		}
	}
	assert_true(found > 97000);
}

/* Random references are compared with sums kept by hand: no node leaks, none is freed too early. */
static void test_random(void **state)
{
	struct stacks *stacks = *state;
	enum { HELD = 500 };
	uint32_t held[HELD];
	uint16_t generations[HELD];
	uint64_t from[HELD];

	for (unsigned int i = 0; i < HELD; i++)
		held[i] = STACK_ROOT;
	srand(7);
	for (unsigned int i = 0; i < 50000; i++) {
		unsigned int at = (unsigned int)rand() % HELD, n = 1 + (unsigned int)rand() % 30;

		if (held[at] != STACK_ROOT) {
			assert_int_equal(
				stacks_node(stacks, held[at])->generation, generations[at]);
			assert_int_equal(
				stacks_frame_get(stacks, stacks_node(stacks, held[at])->frame)
					->offset,
				from[at]);
			stacks_unref(stacks, held[at]);
		}
		from[at] = (uint64_t)(rand() % 8) * 100;
		held[at] = stack(stacks, from[at], n);
		from[at] += n - 1;
		generations[at] = stacks_node(stacks, held[at])->generation;
		stacks_ref(stacks, held[at]);
		if (i % 100 == 0)
			stacks_sweep(stacks);
	}
	assert_true(stacks_node_count(stacks) <= 8 * 30);
	for (unsigned int i = 0; i < HELD; i++)
		stacks_unref(stacks, held[i]);
	stacks_sweep(stacks);
	assert_int_equal(stacks_node_count(stacks), 0);
	assert_int_equal(stacks_frame_count(stacks), 0);
}

/* Keys with one hash are removed in any order.  Probing must still find the others. */
static void test_idtable_removal(void **state)
{
	struct idtable table = {0};
	uint32_t id, found;

	(void)state;
	assert_int_equal(idtable_next(&table, 1, &(uint32_t){1}), 0);
	idtable_remove(&table, 1, 1);
	for (uint32_t i = 1; i <= 1000; i++)
		assert_int_equal(idtable_put(&table, i % 3 * 0x10000000u, i), 0);
	for (uint32_t i = 1; i <= 1000; i += 2)
		idtable_remove(&table, i % 3 * 0x10000000u, i);
	assert_int_equal(table.used, 500);
	for (uint32_t i = 1; i <= 1000; i++) {
		found = 0;
		IDTABLE_FOR_EACH(&table, i % 3 * 0x10000000u, id)
		{
			if (id == i)
				found = id;
		}
		assert_int_equal(found, i % 2 ? 0 : i);
	}
	for (uint32_t i = 2; i <= 1000; i += 2)
		idtable_remove(&table, i % 3 * 0x10000000u, i);
	assert_int_equal(table.used, 0);
	assert_true(idtable_memory(&table) <= 1024);
	idtable_fini(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_frames, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tree, setup, teardown),
		cmocka_unit_test_setup_teardown(test_leaves, setup, teardown),
		cmocka_unit_test_setup_teardown(test_depth_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_references, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sweep, setup, teardown),
		cmocka_unit_test_setup_teardown(test_chains, setup, teardown),
		cmocka_unit_test_setup_teardown(test_generations_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_chain_cache_is_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random, setup, teardown),
		cmocka_unit_test(test_idtable_removal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
