/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flame_layout.h - a tree of calls as boxes: a row for each depth, a box for each frame, as wide as its weight.
 *
 * And frames known by their path of symbols, which outlives the tree that they were found in.  Pure functions over
 * plain data; UI thread.
 */
#ifndef TUI_VIEWS_FLAME_LAYOUT_H
#define TUI_VIEWS_FLAME_LAYOUT_H

#include "tui/calltree.h"

#include <stdbool.h>
#include <stdint.h>

#define FLAME_NONE UINT32_MAX

struct flame_box {
	uint32_t node;
	uint32_t parent; /* the box that it stands on; FLAME_NONE in the first row */
	uint32_t first, n; /* the boxes that stand on it, all in the next row */
	int x, width;
	int filled; /* columns from x on that what it calls takes, with a box or without; the rest is self */
};

struct flame_layout {
	struct flame_box *boxes; /* row by row, from left to right in each */
	uint32_t *rows; /* n_rows + 1: where each one begins */
	uint32_t n, n_rows;

	/* private */
	uint32_t room, rows_room;
	struct flame_child *children;
	uint32_t children_room;
};

struct flame_order {
	/* As strcmp(): which of two siblings is to the left.  The same symref is never asked for twice. */
	int (*compare)(void *ctx, uint32_t symref, uint32_t other);
	void *ctx;
};

/* Lay the part of a tree of kind CALLTREE_ROOTS below a node out over width columns; the node and those above it are
 * as wide as all.  A box begins and ends at the column that its weight begins and ends in, so boxes never leave
 * the one that they stand on, nor meet; what weighs less than a column has none, but its room stays empty, to the
 * right of those that have one.
 * 0 or -ENOMEM, with no boxes. */
int flame_layout_make(struct flame_layout *layout, const struct calltree *tree, uint32_t zoom,
	int width, const struct flame_order *order);
void flame_layout_fini(struct flame_layout *layout); /* all zeros is one without boxes */

/* The row of a box. */
uint32_t flame_layout_row(const struct flame_layout *layout, uint32_t box);

/* The box of a node, or else of the nearest one above it that has one; FLAME_NONE where there are no boxes. */
uint32_t flame_layout_find(
	const struct flame_layout *layout, const struct calltree *tree, uint32_t node);

/* The box in a row that covers the column x; FLAME_NONE where none does. */
uint32_t flame_layout_at(const struct flame_layout *layout, uint32_t row, int x);

/* Symbols from the outermost frame in; none: all.  All zeros is that one. */
struct flame_path {
	uint32_t *symrefs;
	uint32_t n, room;
};

void flame_path_fini(struct flame_path *path);

/* The path of a node.  0, or -ENOMEM with the path as it was. */
int flame_path_set(struct flame_path *path, const struct calltree *tree, uint32_t node);

/* The node of the first n symbols of a path, or the last one on the way that there is; *found: how many of them there are. */
uint32_t flame_path_find(
	const struct flame_path *path, uint32_t n, const struct calltree *tree, uint32_t *found);

#endif
