/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_calls.c - see fake_calls.h.
 */
#include "tests/screens/fake_calls.h"

#include "tests/screens/fake_model.h"
#include "tui/tables/calltree.h"

#include <errno.h>
#include <stdlib.h>

#define NODES_MAX 512
#define FRAMES_MAX 12

uint64_t fake_calls_least;

/* Frames are symrefs of the fake model, from the outermost one in.  One stack is recursive, one
 * is only in the baseline.  Event 2 has the weights of the baseline. */
static const struct {
	unsigned int per_mille, baseline;
	uint32_t frames[FRAMES_MAX];
} stacks[] = {
	{378, 250, {16, 14, 13, 2, 1}},
	{98, 98, {16, 14, 13, 2, 3}},
	{121, 181, {16, 14, 13, 2}},
	{71, 72, {16, 14, 13, 4}},
	{64, 0, {16, 14, 13, 13, 13, 5}},
	{55, 75, {16, 14, 13, 8, 6}},
	{31, 31, {16, 14, 8}},
	{42, 120, {16, 14, 7}},
	{38, 36, {16, 14, 7, 15, 8}},
	{27, 27, {9}},
	{22, 22, {10}},
	{18, 18, {16, 14, 11}},
	{15, 15, {12}},
	{9, 9, {16, 14, 13}},
	{4, 4, {16, 14}},
	{0, 42, {16, 14, 13, 2, 15}},
};

struct weight {
	uint64_t now, before;
};

static void add(struct calltree_node *node, const struct weight *weight, bool total, bool self)
{
	node->sums.total += total ? weight->now : 0;
	node->base.total += total ? weight->before : 0;
	node->sums.self += self ? weight->now : 0;
	node->base.self += self ? weight->before : 0;
}

static uint32_t child_of(struct calltree *tree, uint32_t parent, uint32_t symref)
{
	uint32_t *link = &tree->nodes[parent].child;

	while (*link && tree->nodes[*link].symref != symref)
		link = &tree->nodes[*link].sibling;
	if (!*link && tree->n < NODES_MAX) {
		*link = tree->n++;
		tree->nodes[*link].symref = symref;
		tree->nodes[*link].parent = parent;
	}
	return *link;
}

/* Adds a path from the root: the frames first, first + 1 and so on.  The last one gets the self
 * weight. */
static void add_calls(struct calltree *tree, const uint32_t *frames, int first, int n,
	const struct weight *weight)
{
	uint32_t at = 0;

	for (int i = first; i >= 0 && i < n; i++) {
		at = child_of(tree, at, frames[i]);
		add(&tree->nodes[at], weight, true, false);
	}
	add(&tree->nodes[at], weight, false, true);
	tree->nodes[at].sums.samples += weight->now / 1000000;
}

/* Adds a path from the root: the frames first, first - 1 and so on.  They get a self weight if
 * the first one is the leaf. */
static void add_callers(struct calltree *tree, const uint32_t *frames, int first, int n,
	const struct weight *weight)
{
	uint32_t at = 0;

	for (int i = first; i >= 0; i--) {
		at = child_of(tree, at, frames[i]);
		add(&tree->nodes[at], weight, true, first == n - 1);
	}
}

static int innermost(const uint32_t *frames, int n, uint32_t symref)
{
	while (n-- > 0 && frames[n] != symref)
		;
	return n;
}

static int outermost(const uint32_t *frames, int n, uint32_t symref)
{
	for (int i = 0; i < n; i++) {
		if (frames[i] == symref)
			return i;
	}
	return -1;
}

/* Removes children of nodes that the query does not open, and all nodes below them. */
static void shut(struct calltree *tree, const struct calltree_query *query)
{
	uint32_t now[NODES_MAX] = {0}, n = 1;

	for (uint32_t i = 1; query->opens && i < tree->n; i++) {
		struct calltree_node node = tree->nodes[i];

		if (node.parent && (!now[node.parent] || tree->nodes[now[node.parent]].shut))
			continue;
		node.parent = now[node.parent];
		now[i] = n;
		tree->nodes[n] = node;
		tree->nodes[n].shut = node.child && !query->opens(tree, n, query->ctx);
		n++;
	}
	for (uint32_t i = 0; query->opens && i < n; i++) {
		struct calltree_node *node = &tree->nodes[i];

		node->child = node->shut ? 0 : now[node->child];
		node->sibling = now[node->sibling];
	}
	tree->n = query->opens ? n : tree->n;
}

/* Removes nodes that are too light, like the trees of the live model.  Their parent keeps their
 * sum. */
static void leave_out(struct calltree *tree)
{
	for (uint32_t i = 0; i < tree->n; i++) {
		struct calltree_node *node = &tree->nodes[i];

		for (uint32_t *link = &node->child; *link;) {
			struct calltree_node *child = &tree->nodes[*link];

			if (child->sums.total >= fake_calls_least) {
				link = &child->sibling;
				continue;
			}
			node->below.total += child->sums.total;
			node->below.self += child->sums.self;
			node->below.samples += child->sums.samples;
			node->n_below++;
			*link = child->sibling;
		}
	}
}

int fake_calls_tree(struct model *model, const struct calltree_query *query, struct calltree *out)
{
	/* Like in a session: the tree stays until there are new samples, or a new baseline. */
	const uint64_t serial = 2 * fake_model_weight(1000) + 1 + model->has_baseline;

	if (out->n && out->serial == serial)
		return 0;
	calltree_fini(out);
	*out = (struct calltree){.n = 1, .room = NODES_MAX, .serial = serial};
	out->nodes = calloc(NODES_MAX, sizeof(*out->nodes));
	if (!out->nodes)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		const uint32_t *frames = stacks[i].frames;
		const struct weight both =
					    {
						    fake_model_weight(query->event == 2
								    ? stacks[i].baseline
								    : stacks[i].per_mille),
						    model->has_baseline
							    ? fake_model_weight(stacks[i].baseline)
							    : 0,
					    },
				    *weight = &both;
		int n = 0;

		if (!weight->now && !weight->before)
			continue;

		while (n < FRAMES_MAX && frames[n])
			n++;
		add(&out->nodes[0], weight, true, false);
		out->nodes[0].sums.samples += weight->now / 1000000;
		if (query->kind == CALLTREE_ROOTS)
			add_calls(out, frames, 0, n, weight);
		else if (query->kind == CALLTREE_CALLEES)
			add_calls(out, frames, outermost(frames, n, query->symref), n, weight);
		else if (query->one)
			add_callers(out, frames, innermost(frames, n, query->symref), n, weight);
		else
			add_callers(out, frames, n - 1, n, weight);
	}
	leave_out(out);
	shut(out, query);
	return 0;
}
