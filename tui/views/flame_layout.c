/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flame_layout.c - see flame_layout.h.
 */
#include "tui/views/flame_layout.h"

#include "tui/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct flame_child {
	uint32_t node, symref;
};

struct making {
	struct flame_layout *layout;
	const struct calltree *tree;
	const struct flame_order *order;
	uint64_t whole; /* weight of the zoomed node */
	int width;
	uint64_t *starts; /* by box: the weight to the left of it */
	uint32_t starts_room;
};

void flame_layout_fini(struct flame_layout *layout)
{
	free(layout->boxes);
	free(layout->rows);
	free(layout->children);
	memset(layout, 0, sizeof(*layout));
}

static int add_box(struct making *making, const struct flame_box *box, uint64_t start)
{
	struct flame_layout *layout = making->layout;

	if (grow_room((void **)&making->starts, layout->n, &making->starts_room,
		    sizeof(*making->starts)) ||
		grow_room(
			(void **)&layout->boxes, layout->n, &layout->room, sizeof(*layout->boxes)))
		return -ENOMEM;
	making->starts[layout->n] = start;
	layout->boxes[layout->n++] = *box;
	return 0;
}

static int end_row(struct flame_layout *layout)
{
	if (grow_room((void **)&layout->rows, layout->n_rows + 1, &layout->rows_room,
		    sizeof(*layout->rows)))
		return -ENOMEM;
	layout->rows[0] = 0;
	layout->rows[++layout->n_rows] = layout->n;
	return 0;
}

/* Returns the column of a weight, measured from the left edge. */
static int column_of(const struct making *making, uint64_t weight)
{
	return (int)((unsigned __int128)weight * (unsigned int)making->width / making->whole);
}

static int compare_children(const void *a, const void *b, void *ctx)
{
	const struct flame_child *left = a, *right = b;
	const struct flame_order *order = ctx;

	return order->compare(order->ctx, left->symref, right->symref);
}

/* Collects the children with a box, in order, and the weight of the others in *narrow. */
static int sort_children(struct making *making, uint32_t node, uint32_t *n, uint64_t *narrow)
{
	const struct calltree_node *nodes = making->tree->nodes;
	struct flame_layout *layout = making->layout;

	*n = 0;
	*narrow = nodes[node].below.total;
	for (uint32_t at = nodes[node].child; at; at = nodes[at].sibling) {
		/* Whether a child is shown depends on its weight alone, not on its position. */
		if (!column_of(making, nodes[at].sums.total)) {
			*narrow += nodes[at].sums.total;
			continue;
		}
		if (grow_room((void **)&layout->children, *n, &layout->children_room,
			    sizeof(*layout->children)))
			return -ENOMEM;
		layout->children[(*n)++] =
			(struct flame_child){.node = at, .symref = nodes[at].symref};
	}
	if (*n > 1)
		qsort_r(layout->children, *n, sizeof(*layout->children), compare_children,
			(void *)(uintptr_t)making->order);
	return 0;
}

static int add_children(struct making *making, uint32_t parent)
{
	struct flame_layout *layout = making->layout;
	uint64_t start = making->starts[parent], narrow;
	uint32_t n;
	int ret = sort_children(making, layout->boxes[parent].node, &n, &narrow);

	layout->boxes[parent].first = layout->n;
	for (uint32_t i = 0; i < n && !ret; i++) {
		uint32_t node = layout->children[i].node;
		uint64_t weight = making->tree->nodes[node].sums.total;
		int x = column_of(making, start), end = column_of(making, start + weight);

		ret = add_box(making,
			&(struct flame_box){
				.node = node, .parent = parent, .x = x, .width = end - x},
			start);
		start += weight;
	}
	layout->boxes[parent].n = layout->n - layout->boxes[parent].first;
	layout->boxes[parent].filled = column_of(making, start + narrow) - layout->boxes[parent].x;
	return ret;
}

/* Adds the zoomed node and all nodes above it, each at full width. */
static int add_trunk(struct making *making, uint32_t zoom)
{
	const struct calltree_node *nodes = making->tree->nodes;
	struct flame_layout *layout = making->layout;
	uint32_t depth = 0;
	int ret = 0;

	for (uint32_t at = zoom; at; at = nodes[at].parent)
		depth++;
	for (uint32_t row = 0; row <= depth && !ret; row++) {
		struct flame_box box = {
			.node = zoom, .parent = row ? row - 1 : FLAME_NONE, .width = making->width};

		for (uint32_t up = depth; up > row; up--)
			box.node = nodes[box.node].parent;
		if (row < depth) {
			box.first = row + 1;
			box.n = 1;
			box.filled = box.width;
		}
		ret = add_box(making, &box, 0);
		if (!ret)
			ret = end_row(layout);
	}
	return ret;
}

int flame_layout_make(struct flame_layout *layout, const struct calltree *tree, uint32_t zoom,
	int width, const struct flame_order *order)
{
	struct making making = {
		.layout = layout, .tree = tree, .order = order, .width = width > 0 ? width : 0};
	int ret = 0;

	layout->n = 0;
	layout->n_rows = 0;
	if (!tree->n || width <= 0)
		return 0;
	making.whole = tree->nodes[zoom].sums.total;
	if (!making.whole)
		return 0;
	ret = add_trunk(&making, zoom);
	while (!ret) {
		uint32_t from = layout->rows[layout->n_rows - 1], to = layout->n;

		for (uint32_t box = from; box < to && !ret; box++)
			ret = add_children(&making, box);
		if (ret || layout->n == to)
			break;
		ret = end_row(layout);
	}
	free(making.starts);
	if (ret) {
		layout->n = 0;
		layout->n_rows = 0;
	}
	return ret;
}

uint32_t flame_layout_row(const struct flame_layout *layout, uint32_t box)
{
	uint32_t row = 0;

	while (row + 1 < layout->n_rows && layout->rows[row + 1] <= box)
		row++;
	return row;
}

uint32_t flame_layout_find(
	const struct flame_layout *layout, const struct calltree *tree, uint32_t node)
{
	while (layout->n) {
		for (uint32_t i = 0; i < layout->n; i++) {
			if (layout->boxes[i].node == node)
				return i;
		}
		if (!node)
			break;
		node = tree->nodes[node].parent;
	}
	return FLAME_NONE;
}

uint32_t flame_layout_at(const struct flame_layout *layout, uint32_t row, int x)
{
	if (row >= layout->n_rows)
		return FLAME_NONE;
	for (uint32_t i = layout->rows[row]; i < layout->rows[row + 1]; i++) {
		if (x >= layout->boxes[i].x && x < layout->boxes[i].x + layout->boxes[i].width)
			return i;
	}
	return FLAME_NONE;
}

/* --- paths --- */

void flame_path_fini(struct flame_path *path)
{
	free(path->symrefs);
	memset(path, 0, sizeof(*path));
}

int flame_path_set(struct flame_path *path, const struct calltree *tree, uint32_t node)
{
	uint32_t depth = 0;

	for (uint32_t at = node; at; at = tree->nodes[at].parent) {
		if (grow_room((void **)&path->symrefs, depth, &path->room, sizeof(*path->symrefs)))
			return -ENOMEM;
		depth++;
	}
	path->n = depth;
	for (uint32_t at = node; at; at = tree->nodes[at].parent)
		path->symrefs[--depth] = tree->nodes[at].symref;
	return 0;
}

uint32_t flame_path_find(
	const struct flame_path *path, uint32_t n, const struct calltree *tree, uint32_t *found)
{
	uint32_t node = 0;

	for (*found = 0; tree->n && *found < n; ++*found) {
		uint32_t at = tree->nodes[node].child;

		while (at && tree->nodes[at].symref != path->symrefs[*found])
			at = tree->nodes[at].sibling;
		if (!at)
			break;
		node = at;
	}
	return node;
}
