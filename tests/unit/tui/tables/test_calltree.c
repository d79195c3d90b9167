/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_calltree.c - call trees equal those of a naive model.
 *
 * The model keeps each path as a text of symrefs. Nodes that are left out still count in the sums.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/samples_fixture.h"
#include "tui/tables/calltree.h"

#define PATHS 20000
#define TEXT 512
#define DEPTH 64

struct path {
	char text[TEXT];
	struct calltree_sums sums;
	bool met;
};

struct model {
	struct path paths[PATHS];
	size_t n;
};

static struct path *path_of(struct model *model, const char *text)
{
	for (size_t i = 0; i < model->n; i++)
		if (!strcmp(model->paths[i].text, text))
			return &model->paths[i];
	assert_true(model->n < PATHS);
	strcpy(model->paths[model->n].text, text);
	return &model->paths[model->n++];
}

/* Writes the symrefs of a stack to out, leaf first. Returns their number. */
static size_t symrefs_of(struct fixture *fixture, uint32_t node, uint32_t out[DEPTH])
{
	size_t n = 0;

	if (node == STACK_ROOT)
		out[n++] = 0;
	for (; node != STACK_ROOT; node = stacks_node(fixture->stacks, node)->parent) {
		assert_true(n < DEPTH);
		out[n++] = names_symref(fixture->names, stacks_node(fixture->stacks, node)->frame);
	}
	return n;
}

/* Adds the cell to each prefix of a path of n symrefs. `step` (1 or -1) leads from one to the
 * next. */
static void model_path(struct model *model, const uint32_t *first, size_t n, int step,
	const struct slice *slice, uint32_t cell, bool self_all, bool self_last)
{
	char text[TEXT] = "";
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		struct path *path;

		len += (size_t)snprintf(text + len, TEXT - len, "/%u", *first);
		path = path_of(model, text);
		path->sums.total += slice->weight[cell];
		if (self_all || (self_last && i + 1 == n)) {
			path->sums.self += slice->weight[cell];
			path->sums.samples += slice->count[cell];
		}
		if (i + 1 < n)
			first += step;
	}
}

static void model_cell(struct model *model, struct fixture *fixture, enum calltree_kind kind,
	const struct slice *slice, uint32_t cell)
{
	uint32_t symrefs[DEPTH];
	size_t n = symrefs_of(fixture, slice->stack[cell], symrefs);

	if (kind == CALLTREE_ROOTS) {
		model_path(model, symrefs + n - 1, n, -1, slice, cell, false, true);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		bool innermost = true, outermost = true;

		for (size_t j = 0; j < n; j++) {
			innermost &= j >= i || symrefs[j] != symrefs[i];
			outermost &= j <= i || symrefs[j] != symrefs[i];
		}
		if (kind == CALLTREE_CALLERS && innermost)
			model_path(model, symrefs + i, n - i, 1, slice, cell, i == 0, false);
		if (kind == CALLTREE_CALLEES && outermost)
			model_path(model, symrefs + i, i + 1, -1, slice, cell, false, true);
		/* A root has all of its symbol's self, also that of deeper calls of the symbol. */
		if (kind == CALLTREE_CALLEES && outermost && i > 0 && symrefs[0] == symrefs[i]) {
			char text[TEXT];
			struct path *path;

			snprintf(text, sizeof(text), "/%u", symrefs[i]);
			path = path_of(model, text);
			path->sums.self += slice->weight[cell];
			path->sums.samples += slice->count[cell];
		}
	}
}

static void model_slices(struct model *model, struct fixture *fixture, enum calltree_kind kind,
	uint8_t event, size_t first, size_t end)
{
	memset(model, 0, sizeof(*model));
	for (size_t i = first; i < end; i++)
		for (uint32_t j = 0; j < fixture->slices[i].cells; j++)
			if (fixture->slices[i].event[j] == event)
				model_cell(model, fixture, kind, &fixture->slices[i], j);
}

static void model_all(
	struct model *model, struct fixture *fixture, enum calltree_kind kind, uint8_t event)
{
	model_slices(model, fixture, kind, event, 0, FIXTURE_SLICES);
}

static void text_of(const struct calltree *tree, uint32_t node, char out[TEXT])
{
	uint32_t path[DEPTH], n = 0;
	size_t len = 0;

	for (; node; node = tree->nodes[node].parent)
		path[n++] = node;
	while (n)
		len += (size_t)snprintf(
			out + len, TEXT - len, "/%u", tree->nodes[path[--n]].symref);
}

/* Checks that all nodes equal the model's, that children are sorted and that links are right. */
static void compare(struct model *model, const struct calltree *tree, uint64_t least, bool by_self)
{
	char text[TEXT];

	for (uint32_t i = 1; i < tree->n; i++) {
		const struct calltree_node *node = &tree->nodes[i];
		struct path *path;

		text_of(tree, i, text);
		path = path_of(model, text);
		if (path->met || path->sums.self != node->sums.self ||
			path->sums.total != node->sums.total ||
			path->sums.samples != node->sums.samples)
			fail_msg("%s: %llu %llu %llu, not %llu %llu %llu", text,
				(unsigned long long)node->sums.self,
				(unsigned long long)node->sums.total,
				(unsigned long long)node->sums.samples,
				(unsigned long long)path->sums.self,
				(unsigned long long)path->sums.total,
				(unsigned long long)path->sums.samples);
		path->met = true;
		assert_true(node->parent < i);
		assert_true(!node->sibling || node->sibling > i);
		if (by_self && !node->parent)
			assert_true(node->sums.self >= least);
		else
			assert_true(node->sums.total >= least);
		if (node->sibling && !(by_self && !node->parent))
			assert_true(node->sums.total >= tree->nodes[node->sibling].sums.total);
		if (node->child)
			assert_int_equal(tree->nodes[node->child].parent, i);
	}
	for (size_t i = 0; i < model->n && !least; i++)
		if (!model->paths[i].met &&
			(model->paths[i].sums.total || model->paths[i].sums.samples))
			fail_msg("missing: %s", model->paths[i].text);
}

/* Sums all children, those left out too: the result does not depend on the limit. */
static void add_children(
	const struct calltree *tree, uint32_t node, struct calltree_sums *sums, uint32_t *n)
{
	*sums = tree->nodes[node].below;
	*n = tree->nodes[node].n_below;
	for (uint32_t at = tree->nodes[node].child; at; at = tree->nodes[at].sibling) {
		sums->self += tree->nodes[at].sums.self;
		sums->total += tree->nodes[at].sums.total;
		sums->samples += tree->nodes[at].sums.samples;
		++*n;
	}
}

static uint32_t find(const struct calltree *tree, const char *wanted)
{
	char text[TEXT];

	for (uint32_t i = 1; i < tree->n; i++) {
		text_of(tree, i, text);
		if (!strcmp(text, wanted))
			return i;
	}
	fail_msg("%s is not there", wanted);
	return 0;
}

static void test_random_trees(void **state)
{
	static struct model model;
	const enum calltree_kind kinds[] = {CALLTREE_CALLERS, CALLTREE_CALLEES, CALLTREE_ROOTS};
	struct fixture *fixture = *state;
	const struct scan_question question = fixture_scan(fixture);
	struct calls *calls;

	fixture_randomize(fixture, 7, 200);
	assert_int_equal(calls_new(&calls, &question), 0);
	for (size_t i = 0; i < 9; i++) {
		struct calltree_query query = {.kind = kinds[i % 3], .event = (uint8_t)(i / 3 * 5)};
		uint64_t whole = calls_sums(calls, query.event)->weight;
		struct calltree all, pruned;
		char text[TEXT];

		model_all(&model, fixture, query.kind, query.event);
		assert_int_equal(calltree_build(&all, calls, &query), 0);
		compare(&model, &all, 0, false);
		assert_int_equal(all.nodes[0].sums.total, whole);
		for (size_t j = 0; j < model.n; j++)
			model.paths[j].met = false;
		query.least = whole / 50;
		query.by_self = i % 2;
		assert_int_equal(calltree_build(&pruned, calls, &query), 0);
		assert_true(pruned.n < all.n && pruned.n > 1);
		compare(&model, &pruned, query.least,
			query.by_self && query.kind != CALLTREE_ROOTS);
		for (uint32_t j = 0; j < pruned.n; j++) {
			struct calltree_sums left, right;
			uint32_t n_left, n_right, twin = 0;

			text_of(&pruned, j, text);
			if (j)
				twin = find(&all, text);
			add_children(&pruned, j, &left, &n_left);
			add_children(&all, twin, &right, &n_right);
			assert_memory_equal(&left, &right, sizeof(left));
			assert_int_equal(n_left, n_right);
		}
		calltree_fini(&all);
		calltree_fini(&pruned);
	}
	calls_free(calls);
}

/* Opens nodes at random, but each path always in the same way. */
static bool opens_some(const struct calltree *tree, uint32_t node, void *ctx)
{
	uint32_t hash = 7;

	(void)ctx;
	for (; node; node = tree->nodes[node].parent)
		hash = hash * 31 + tree->nodes[node].symref;
	return hash % 5 < 3;
}

/* Checks that the tree with closed nodes is part of the whole one and marks those with children. */
static void compare_opened(const struct calltree *all, uint32_t from, const struct calltree *some,
	uint32_t node, uint32_t met[2])
{
	const struct calltree_node *left = &all->nodes[from], *right = &some->nodes[node];
	uint32_t a, b;

	assert_memory_equal(&left->sums, &right->sums, sizeof(left->sums));
	assert_int_equal(left->symref, right->symref);
	if (node && !opens_some(some, node, NULL)) {
		assert_int_equal(right->shut, left->child || left->n_below);
		assert_false(right->child || right->n_below);
		met[right->shut]++;
		return;
	}
	assert_false(right->shut);
	assert_int_equal(left->n_below, right->n_below);
	for (a = left->child, b = right->child; a && b;
		a = all->nodes[a].sibling, b = some->nodes[b].sibling)
		compare_opened(all, a, some, b, met);
	assert_int_equal(a, b); /* both lists end */
}

static void test_opened(void **state)
{
	const enum calltree_kind kinds[] = {CALLTREE_CALLERS, CALLTREE_CALLEES, CALLTREE_ROOTS};
	struct fixture *fixture = *state;
	const struct scan_question question = fixture_scan(fixture);
	uint32_t met[2] = {0, 0};
	struct calls *calls;

	fixture_randomize(fixture, 11, 200);
	assert_int_equal(calls_new(&calls, &question), 0);
	for (size_t i = 0; i < 9; i++) {
		struct calltree_query query = {.kind = kinds[i % 3],
			.least = i / 3 == 1 ? calls_sums(calls, 0)->weight / 60 : 0,
			.one = i / 3 == 2 && kinds[i % 3] != CALLTREE_ROOTS};
		struct calltree all, some;

		assert_int_equal(calltree_build(&all, calls, &query), 0);
		query.opens = opens_some;
		assert_int_equal(calltree_build(&some, calls, &query), 0);
		assert_int_equal(some.serial, calls_serial(calls));
		compare_opened(&all, 0, &some, 0, met);
		calltree_fini(&all);
		calltree_fini(&some);
	}
	assert_true(met[false] && met[true]);
	calls_free(calls);
}

/* f0 > f1 > f1 > f2 (weight 10) and f0 > f1 (weight 5): f1 has 15 of 15, counted once per stack. */
static void test_recursion(void **state)
{
	struct fixture *fixture = *state;
	const struct scan_question question = fixture_scan(fixture);
	uint32_t f[3];
	struct calltree_query query = {.kind = CALLTREE_CALLERS, .one = true};
	struct calltree tree;
	struct calls *calls;
	char text[TEXT];

	fixture_cell(
		fixture, 0, fixture_stack(fixture, "0 1 1 2"), fixture->labels[1], 0, 0, 10, 2);
	fixture_cell(fixture, 0, fixture_stack(fixture, "0 1"), fixture->labels[1], 0, 0, 5, 1);
	assert_int_equal(calls_new(&calls, &question), 0);
	for (uint32_t i = 0; i < 3; i++) {
		char number[4];

		snprintf(number, sizeof(number), "%u", i);
		f[i] = names_symref(fixture->names,
			stacks_node(fixture->stacks, fixture_stack(fixture, number))->frame);
	}
	query.symref = f[1];
	assert_int_equal(calltree_build(&tree, calls, &query), 0);
	assert_int_equal(tree.nodes[0].child, 1);
	assert_int_equal(tree.nodes[1].sibling, 0);
	assert_int_equal(tree.nodes[1].sums.total, 15);
	assert_int_equal(tree.nodes[1].sums.self, 5);
	assert_int_equal(tree.nodes[1].sums.samples, 1);
	snprintf(text, sizeof(text), "/%u/%u/%u", f[1], f[1], f[0]);
	assert_int_equal(tree.nodes[find(&tree, text)].sums.total, 10);
	snprintf(text, sizeof(text), "/%u/%u", f[1], f[0]);
	assert_int_equal(tree.nodes[find(&tree, text)].sums.total, 5);
	assert_int_equal(tree.n, 5);
	calltree_fini(&tree);

	query.kind = CALLTREE_CALLEES;
	assert_int_equal(calltree_build(&tree, calls, &query), 0);
	assert_int_equal(tree.nodes[1].sums.total, 15);
	snprintf(text, sizeof(text), "/%u/%u/%u", f[1], f[1], f[2]);
	assert_int_equal(tree.nodes[find(&tree, text)].sums.self, 10);
	assert_int_equal(tree.n, 4);
	calltree_fini(&tree);
	query.symref = 12345;
	assert_int_equal(calltree_build(&tree, calls, &query), 0);
	assert_int_equal(tree.n, 1);
	calltree_fini(&tree);
	calls_free(calls);
}

/* f0 > f1 > f2. The call of f2 is in inner, inlined in middle, inlined in f1. f2 is sampled in
 * _Z4workv. */
static void test_inlined(void **state)
{
	static const struct symbols_frame in_f1[] = {{.function = "inner", .inlined = true},
		{.function = "middle", .inlined = true}, {.function = "f1"}};
	static const struct symbols_frame in_f2[] = {
		{.function = "_Z4workv", .inlined = true}, {.function = "f2"}};
	static const char *const expected[] = {
		"f0", "f1", "middle (inlined)", "inner (inlined)", "f2", "_Z4workv (inlined)"};
	struct fixture *fixture = *state;
	struct scan_question question = fixture_scan(fixture);
	const struct calltree_query query = {.kind = CALLTREE_ROOTS};
	const struct fake_lines lines[] = {
		{fixture->program, 16, in_f1, 3}, {fixture->program, 32, in_f2, 2}};
	struct calltree tree;
	struct calls *calls;
	uint64_t changes;

	fixture_cell(fixture, 0, fixture_stack(fixture, "0 1 2"), fixture->labels[1], 0, 0, 10, 2);
	fixture->symbols.lines = lines;
	fixture->symbols.n_lines = 2;
	question.inlines = true;
	assert_int_equal(calls_new(&calls, &question), 0);
	assert_int_equal(calltree_build(&tree, calls, &query), 0);
	assert_int_equal(tree.n, 4);
	assert_int_equal(fixture->symbols.lines_asked, 3);
	calltree_fini(&tree);
	calls_free(calls);

	fixture->symbols.lines_known = true;
	fixture->symbols.changed = SYMBOLS_CHANGED_CODE;
	changes = names_changes(fixture->names);
	names_update(fixture->names);
	assert_true(names_changes(fixture->names) > changes);
	assert_int_equal(calls_new(&calls, &question), 0);
	assert_int_equal(calltree_build(&tree, calls, &query), 0);
	assert_int_equal(tree.n, 7);
	for (uint32_t i = 1; i < tree.n; i++) {
		const struct symref *symbol = names_get(fixture->names, tree.nodes[i].symref);

		assert_string_equal(symbol->symbol, expected[i - 1]);
		assert_int_equal(symbol->inlined, strstr(expected[i - 1], " (inlined)") != NULL);
		assert_int_equal(tree.nodes[i].parent, i - 1);
		assert_int_equal(tree.nodes[i].sums.total, 10);
		assert_int_equal(tree.nodes[i].sums.self, i == 6 ? 10 : 0);
	}
	calltree_fini(&tree);
	calls_free(calls);

	question.inlines = false;
	assert_int_equal(calls_new(&calls, &question), 0);
	assert_int_equal(calltree_build(&tree, calls, &query), 0);
	assert_int_equal(tree.n, 4);
	calltree_fini(&tree);
	calls_free(calls);
}

static void test_few_roots(void **state)
{
	struct fixture *fixture = *state;
	const struct scan_question question = fixture_scan(fixture);
	struct calltree_query query = {.kind = CALLTREE_CALLERS, .by_self = true, .max_roots = 2};
	struct calltree tree;
	struct calls *calls;
	uint32_t first, second;

	fixture_randomize(fixture, 9, 50);
	assert_int_equal(calls_new(&calls, &question), 0);
	assert_int_equal(calltree_build(&tree, calls, &query), 0);
	first = tree.nodes[0].child;
	second = tree.nodes[first].sibling;
	assert_true(second && !tree.nodes[second].sibling);
	assert_true(tree.nodes[first].sums.self >= tree.nodes[second].sums.self);
	calltree_fini(&tree);
	calls_free(calls);
}

static void test_nothing(void **state)
{
	struct fixture *fixture = *state;
	const struct scan_question question = fixture_scan(fixture);
	struct calltree tree;
	struct calls *calls;

	assert_int_equal(calls_new(&calls, &question), 0);
	for (int kind = CALLTREE_CALLERS; kind <= CALLTREE_ROOTS; kind++) {
		const struct calltree_query query = {.kind = (enum calltree_kind)kind};

		assert_int_equal(calltree_build(&tree, calls, &query), 0);
		assert_int_equal(tree.n, 1);
		calltree_fini(&tree);
	}
	calls_free(calls);
	calls_free(NULL);
}

static uint64_t whole_of(const struct calltree *tree, bool base)
{
	return base ? tree->nodes[0].base.total : tree->nodes[0].sums.total;
}

static bool is_enough(uint64_t weight, uint64_t least)
{
	return weight >= least && weight > 0;
}

/* Checks that each path of either time is a node with the sums of both models. With a limit, a node
 * must weigh enough in one of the two. */
static void compare_both(struct model models[2], const struct calltree *tree, uint64_t least)
{
	uint64_t least_base = (uint64_t)((double)least * (double)whole_of(tree, true) /
		(double)whole_of(tree, false));
	char text[TEXT];

	for (uint32_t i = 1; i < tree->n; i++) {
		struct path *own, *base;

		text_of(tree, i, text);
		own = path_of(&models[0], text);
		base = path_of(&models[1], text);
		assert_false(own->met);
		own->met = base->met = true;
		assert_memory_equal(&own->sums, &tree->nodes[i].sums, sizeof(own->sums));
		assert_memory_equal(&base->sums, &tree->nodes[i].base, sizeof(base->sums));
		if (least)
			assert_true(is_enough(own->sums.total, least) ||
				is_enough(base->sums.total, least_base));
	}
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < models[side].n; i++)
			if (!models[side].paths[i].met &&
				is_enough(models[side].paths[i].sums.total,
					side ? least_base : least))
				fail_msg("missing: %s", models[side].paths[i].text);
}

/* Checks that children, with those left out, have the base sums of the whole tree. */
static void compare_below(const struct calltree *all, const struct calltree *pruned)
{
	for (uint32_t i = 0; i < pruned->n; i++) {
		struct calltree_sums sums = pruned->nodes[i].base_below, twin_sums = {0};
		uint32_t twin = 0;
		char text[TEXT];

		text_of(pruned, i, text);
		if (i)
			twin = find(all, text);
		for (uint32_t at = pruned->nodes[i].child; at; at = pruned->nodes[at].sibling)
			sums.total += pruned->nodes[at].base.total;
		for (uint32_t at = all->nodes[twin].child; at; at = all->nodes[at].sibling)
			twin_sums.total += all->nodes[at].base.total;
		assert_int_equal(sums.total, twin_sums.total);
	}
}

static void test_against_another_time(void **state)
{
	static struct model models[2];
	const enum calltree_kind kinds[] = {CALLTREE_CALLERS, CALLTREE_CALLEES, CALLTREE_ROOTS};
	struct fixture *fixture = *state;
	struct scan_question question = fixture_scan(fixture);
	struct basis basis;
	struct calls *calls;

	fixture_randomize(fixture, 11, 200);
	/* Each time has one path that the other lacks. */
	fixture_cell(
		fixture, 1, fixture_stack(fixture, "1 2 3 3"), fixture->labels[1], 0, 0, 5000, 5);
	fixture_cell(
		fixture, 6, fixture_stack(fixture, "3 2 1 1"), fixture->labels[1], 0, 0, 7000, 7);
	question.from_ns = 500;
	assert_int_equal(basis_scan(&basis, &question), 0);
	question.from_ns = 0;
	question.to_ns = 500;
	assert_int_equal(calls_new_against(&calls, &question, &basis), 0);
	basis_fini(&basis);
	for (size_t i = 0; i < 9; i++) {
		struct calltree_query query = {.kind = kinds[i % 3], .event = (uint8_t)(i / 3 * 5)};
		struct calltree all, pruned;

		model_slices(&models[0], fixture, query.kind, query.event, 0, 5);
		model_slices(&models[1], fixture, query.kind, query.event, 5, FIXTURE_SLICES);
		assert_int_equal(calltree_build(&all, calls, &query), 0);
		compare_both(models, &all, 0);
		for (int side = 0; side < 2; side++)
			for (size_t j = 0; j < models[side].n; j++)
				models[side].paths[j].met = false;
		query.least = whole_of(&all, false) / 50;
		assert_int_equal(calltree_build(&pruned, calls, &query), 0);
		assert_true(pruned.n < all.n && pruned.n > 1);
		compare_both(models, &pruned, query.least);
		compare_below(&all, &pruned);
		assert_int_equal(whole_of(&pruned, true), whole_of(&all, true));
		calltree_fini(&all);
		calltree_fini(&pruned);
	}
	calls_free(calls);
}

/* With an empty basis all nodes are new. With an empty window all nodes are gone. */
static void test_against_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct scan_question question = fixture_scan(fixture);
	const struct calltree_query query = {.kind = CALLTREE_ROOTS};
	struct basis basis = {0}, full;
	struct calltree tree;
	struct calls *calls;

	fixture_cell(fixture, 0, fixture_stack(fixture, "0 1"), fixture->labels[1], 0, 0, 10, 2);
	assert_int_equal(calls_new_against(&calls, &question, &basis), 0);
	assert_int_equal(calltree_build(&tree, calls, &query), 0);
	assert_int_equal(tree.n, 3);
	assert_int_equal(tree.nodes[2].sums.self, 10);
	assert_int_equal(tree.nodes[2].base.total, 0);
	calltree_fini(&tree);
	calls_free(calls);
	assert_int_equal(basis_scan(&full, &question), 0);
	question.from_ns = 500;
	assert_int_equal(calls_new_against(&calls, &question, &full), 0);
	assert_int_equal(calltree_build(&tree, calls, &query), 0);
	assert_int_equal(tree.n, 3);
	assert_int_equal(tree.nodes[0].base.total, 10);
	assert_int_equal(tree.nodes[2].sums.total, 0);
	assert_int_equal(tree.nodes[2].base.self, 10);
	calltree_fini(&tree);
	calls_free(calls);
	basis_fini(&full);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_random_trees),
		TEST(test_opened),
		TEST(test_recursion),
		TEST(test_inlined),
		TEST(test_few_roots),
		TEST(test_nothing),
		TEST(test_against_another_time),
		TEST(test_against_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
