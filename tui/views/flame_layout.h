/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flame_layout.h - a call tree as boxes: a row for each depth, a box for each frame, as wide as its
 * weight.
 *
 * Frames are also known by their path of symbols, which outlives the tree.  Pure functions over
 * plain data; UI thread.
 */
#ifndef TUI_VIEWS_FLAME_LAYOUT_H
#define TUI_VIEWS_FLAME_LAYOUT_H

#include "tui/tables/calltree.h"

#include <stdbool.h>
#include <stdint.h>

#define FLAME_NONE UINT32_MAX

struct flame_box {
	uint32_t node;
	uint32_t parent; /* box of the caller; FLAME_NONE in the first row */
	uint32_t first, n; /* boxes of callees, all in the next row */
	int x, width;
	int filled; /* columns from x on for callees, with or without a box; the rest is self */
};

struct flame_layout {
	struct flame_box *boxes; /* row by row, each from left to right */
	uint32_t *rows; /* n_rows + 1 entries: first box of each row */
	uint32_t n, n_rows;

	/* private */
	uint32_t room, rows_room;
	struct flame_child *children;
	uint32_t children_room;
};

struct flame_order {
	/* Orders two siblings from left to right, like strcmp().  Siblings never have equal
	 * symrefs. */
	int (*compare)(void *ctx, uint32_t symref, uint32_t other);
	void *ctx;
};

/* Lays out the part of a CALLTREE_ROOTS tree below node `zoom` over width columns.  The node and
 * those above it get the full width.  Boxes begin and end at the columns of their weights, so they
 * stay inside their caller's box and never overlap.  A callee below one column has no box; its
 * space stays empty, to the right of its siblings.  Returns 0, or -ENOMEM with no boxes. */
int flame_layout_make(struct flame_layout *layout, const struct calltree *tree, uint32_t zoom,
	int width, const struct flame_order *order);
void flame_layout_fini(struct flame_layout *layout); /* all zeros is one without boxes */

/* Returns the row of a box. */
uint32_t flame_layout_row(const struct flame_layout *layout, uint32_t box);

/* Returns the box of a node, or of the nearest node above that has one; FLAME_NONE if there are no
 * boxes. */
uint32_t flame_layout_find(
	const struct flame_layout *layout, const struct calltree *tree, uint32_t node);

/* Returns the box in a row that covers column x; FLAME_NONE if none. */
uint32_t flame_layout_at(const struct flame_layout *layout, uint32_t row, int x);

/* Symbols from the outermost frame inwards; n = 0 is the root, and all zeros is that path. */
struct flame_path {
	uint32_t *symrefs;
	uint32_t n, room;
};

void flame_path_fini(struct flame_path *path);

/* Sets the path of a node.  Returns 0, or -ENOMEM with the path unchanged. */
int flame_path_set(struct flame_path *path, const struct calltree *tree, uint32_t node);

/* Returns the node of the first n symbols of a path, or else the last existing node on the way.
 * *found: number of symbols that exist. */
uint32_t flame_path_find(
	const struct flame_path *path, uint32_t n, const struct calltree *tree, uint32_t *found);

#endif
