/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calls_rows.c - see calls_rows.h.
 */
#include "tui/views/calls_rows.h"

#include "tui/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_SHARE 0.05 /* share of the whole from which nodes of a call tree are open at first */
#define CHAIN_SHARE 0.8 /* share of its parent from which a child is open, too */
#define ONLY_SHARE 0.995 /* share of its parent from which a child counts as the only one */
#define OVERTAKE 1.15 /* factor by which a row must outweigh the row before it to move up */

struct calls_order {
	uint64_t path;
	size_t place;
};

struct calls_choice {
	uint64_t path; /* 0: free */
	bool open;
};

struct making {
	struct calls_rows *rows;
	const struct calltree *tree;
	enum calls_shape shape;
	bool above;
	double whole;
};

void calls_rows_fini(struct calls_rows *rows)
{
	free(rows->rows);
	free(rows->before);
	free(rows->choices);
	free(rows->siblings);
	memset(rows, 0, sizeof(*rows));
}

void calls_rows_forget(struct calls_rows *rows)
{
	rows->n_before = 0;
	rows->n = 0;
}

static uint64_t mix(uint64_t path, uint32_t symref)
{
	uint64_t hash = (path ^ symref) * 0x9e3779b97f4a7c15ull;

	hash ^= hash >> 29;
	hash *= 0xbf58476d1ce4e5b9ull;
	hash ^= hash >> 32;
	return hash ? hash : 1;
}

static uint64_t seed_of(enum calls_shape shape, bool above)
{
	return mix((uint64_t)shape + 1, above ? 1 : 0);
}

uint64_t calls_rows_path(
	enum calls_shape shape, bool above, const struct calltree *tree, uint32_t node)
{
	if (!node)
		return seed_of(shape, above);
	return mix(calls_rows_path(shape, above, tree, tree->nodes[node].parent),
		tree->nodes[node].symref);
}

long calls_rows_find(const struct calls_rows *rows, uint64_t path)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (rows->rows[i].path == path && !rows->rows[i].more)
			return (long)i;
	}
	return -1;
}

/* --- open rows --- */

static struct calls_choice *choice_of(const struct calls_rows *rows, uint64_t path)
{
	size_t slot = (size_t)path & (rows->n_slots - 1);

	while (rows->choices[slot].path && rows->choices[slot].path != path)
		slot = (slot + 1) & (rows->n_slots - 1);
	return &rows->choices[slot];
}

static int choices_grow(struct calls_rows *rows)
{
	struct calls_rows grown = {.n_slots = rows->n_slots ? 2 * rows->n_slots : 64};

	grown.choices = calloc(grown.n_slots, sizeof(*grown.choices));
	if (!grown.choices)
		return -ENOMEM;
	for (size_t i = 0; i < rows->n_slots; i++) {
		if (rows->choices[i].path)
			*choice_of(&grown, rows->choices[i].path) = rows->choices[i];
	}
	free(rows->choices);
	rows->choices = grown.choices;
	rows->n_slots = grown.n_slots;
	return 0;
}

int calls_rows_open(struct calls_rows *rows, uint64_t path, bool open)
{
	struct calls_choice *choice;

	if (2 * rows->n_choices >= rows->n_slots && choices_grow(rows))
		return -ENOMEM;
	choice = choice_of(rows, path);
	rows->n_choices += !choice->path;
	choice->path = path;
	choice->open = open;
	return 0;
}

static bool is_open(const struct making *making, const struct calls_row *row)
{
	const struct calltree_node *node = &making->tree->nodes[row->node];
	const struct calltree_node *parent = &making->tree->nodes[node->parent];
	double total = (double)node->sums.total;

	if (making->rows->n_slots) {
		const struct calls_choice *choice = choice_of(making->rows, row->path);

		if (choice->path)
			return choice->open;
	}
	/* Nodes that only the baseline has stay closed, to save space. */
	if (!node->sums.total)
		return row->centre;
	if (making->shape == CALLS_TREE)
		return total >= OPEN_SHARE * making->whole;
	if (!row->depth)
		return row->centre;
	return (row->depth > 1 || making->shape == CALLS_CALLERS) &&
		total >= CHAIN_SHARE * (double)parent->sums.total;
}

bool calls_rows_opens(const struct calltree *tree, uint32_t node, void *ctx)
{
	const struct calls_opening *opening = ctx;
	const struct making making = {.rows = (struct calls_rows *)opening->rows,
		.tree = tree,
		.shape = opening->shape,
		.whole = (double)tree->nodes[0].sums.total};
	struct calls_row row = {
		.node = node, .path = calls_rows_path(opening->shape, opening->above, tree, node)};

	for (uint32_t at = tree->nodes[node].parent; at; at = tree->nodes[at].parent)
		row.depth++;
	row.centre = opening->shape == CALLS_BUTTERFLY && !row.depth;
	return is_open(&making, &row);
}

/* --- order --- */

static int by_path(const void *a, const void *b)
{
	const struct calls_order *x = a, *y = b;

	return x->path < y->path ? -1 : x->path > y->path;
}

static int remember_order(struct calls_rows *rows)
{
	struct calls_order *order;

	if (grow_exact(&rows->before, rows->n ? rows->n : 1, sizeof(*order)))
		return -ENOMEM;
	order = rows->before;
	rows->n_before = rows->n;
	for (size_t i = 0; i < rows->n; i++) {
		/* Rows above the center are in reverse order. */
		order[i].place = rows->rows[i].above ? rows->n - i : i;
		order[i].path = rows->rows[i].more ? 0 : rows->rows[i].path;
	}
	qsort(order, rows->n, sizeof(*order), by_path);
	return 0;
}

static size_t place_before(const struct calls_rows *rows, uint64_t path)
{
	const struct calls_order key = {.path = path};
	const struct calls_order *found = rows->n_before
		? bsearch(&key, rows->before, rows->n_before, sizeof(key), by_path)
		: NULL;

	return found ? found->place : SIZE_MAX;
}

/* Returns whether a must move before b, which is before a now. */
static bool overtakes(const struct making *making, uint64_t path, uint32_t a, uint32_t b)
{
	const struct calltree_node *nodes = making->tree->nodes;
	size_t place_a = place_before(making->rows, mix(path, nodes[a].symref));
	size_t place_b = place_before(making->rows, mix(path, nodes[b].symref));
	double weight_a = (double)nodes[a].sums.total, weight_b = (double)nodes[b].sums.total;

	/* Roots of the callers view are sorted by self weight. */
	if (making->shape == CALLS_CALLERS && !nodes[a].parent) {
		weight_a = (double)nodes[a].sums.self;
		weight_b = (double)nodes[b].sums.self;
	}
	if (place_a == SIZE_MAX || place_b == SIZE_MAX)
		return weight_a > weight_b;
	if (making->rows->hold)
		return place_a < place_b;
	if (place_a < place_b)
		return OVERTAKE * weight_a >= weight_b;
	return weight_a > OVERTAKE * weight_b;
}

/* Sorts the children of a node into siblings[from ..].  Returns their number, or -ENOMEM. */
static long sort_children(struct making *making, uint32_t node, uint64_t path, size_t from)
{
	struct calls_rows *rows = making->rows;
	const struct calltree_node *nodes = making->tree->nodes;
	size_t n = from;

	for (uint32_t at = nodes[node].child; at; at = nodes[at].sibling) {
		size_t to;

		if (grow_room((void **)&rows->siblings, (uint32_t)n, &rows->siblings_room,
			    sizeof(*rows->siblings)))
			return -ENOMEM;
		for (to = n; to > from && overtakes(making, path, at, rows->siblings[to - 1]); to--)
			rows->siblings[to] = rows->siblings[to - 1];
		rows->siblings[to] = at;
		n++;
	}
	return (long)(n - from);
}

/* --- rows --- */

static struct calls_row *add_row(struct calls_rows *rows)
{
	if (grow_room((void **)&rows->rows, (uint32_t)rows->n, &rows->room, sizeof(*rows->rows)))
		return NULL;
	memset(&rows->rows[rows->n], 0, sizeof(*rows->rows));
	return &rows->rows[rows->n++];
}

/* Adds rows for the children of a row's node; uses siblings[from ..]. */
static int add_children(struct making *making, const struct calls_row *parent, size_t from)
{
	const struct calltree_node *nodes = making->tree->nodes;
	struct calls_row above = *parent, *row;
	long n = sort_children(making, above.node, above.path, from);

	if (n < 0)
		return (int)n;
	for (long i = 0; i < n; i++) {
		uint32_t at = making->rows->siblings[from + (size_t)i];
		bool only = above.node && above.depth && n == 1 &&
			(double)nodes[at].sums.total >= ONLY_SHARE * (double)above.sums.total;
		struct calls_row child;
		int ret;

		row = add_row(making->rows);
		if (!row)
			return -ENOMEM;
		row->path = mix(above.path, nodes[at].symref);
		row->symref = nodes[at].symref;
		row->node = at;
		row->sums = nodes[at].sums;
		row->base = nodes[at].base;
		row->depth = (uint16_t)(above.node ? above.depth + 1 : 0);
		row->indent = (uint16_t)(above.node ? above.indent + !only : 0);
		row->chained = only;
		row->above = making->above;
		row->centre = making->shape == CALLS_BUTTERFLY && !row->depth;
		row->can_open = nodes[at].child || nodes[at].n_below || nodes[at].shut;
		row->open = row->can_open && !nodes[at].shut && is_open(making, row);
		child = *row;
		if (child.open) {
			ret = add_children(making, &child, from + (size_t)n);
			if (ret)
				return ret;
		}
	}
	if (nodes[above.node].n_below) {
		row = add_row(making->rows);
		if (!row)
			return -ENOMEM;
		row->path = mix(above.path, UINT32_MAX);
		row->node = above.node;
		row->more = nodes[above.node].n_below;
		row->sums = nodes[above.node].below;
		row->base = nodes[above.node].base_below;
		row->depth = (uint16_t)(above.node ? above.depth + 1 : 0);
		row->indent = (uint16_t)(above.node ? above.indent + 1 : 0);
		row->above = making->above;
	}
	return 0;
}

static void turn(struct calls_row *rows, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct calls_row row = rows[i];

		rows[i] = rows[n - 1 - i];
		rows[n - 1 - i] = row;
	}
}

int calls_rows_make(struct calls_rows *rows, enum calls_shape shape, const struct calltree *callers,
	const struct calltree *tree, uint64_t whole)
{
	struct making making = {.rows = rows, .tree = tree, .shape = shape, .whole = (double)whole};
	struct calls_row root = {0};
	int ret = remember_order(rows);

	rows->n = 0;
	if (!ret && shape == CALLS_BUTTERFLY && callers) {
		making.tree = callers;
		making.above = true;
		root.path = seed_of(shape, true);
		ret = add_children(&making, &root, 0);
		/* The center is the last of these rows.  Drop it: it is also the first row of the
		 * callees. */
		turn(rows->rows, rows->n);
		rows->n -= rows->n && rows->rows[rows->n - 1].centre;
		making.tree = tree;
		making.above = false;
	}
	root.path = seed_of(shape, false);
	if (!ret)
		ret = add_children(&making, &root, 0);
	if (ret)
		rows->n = 0;
	return ret;
}
