/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calls_rows.h - call trees as rows that open and close, with a stable order while numbers change.
 *
 * Rows are identified by their path of symbols, so open rows and the order survive a rebuilt tree.
 * Siblings swap only if one clearly outweighs the other, and never if the order is held.
 * UI thread.
 */
#ifndef TUI_VIEWS_CALLS_ROWS_H
#define TUI_VIEWS_CALLS_ROWS_H

#include "tui/tables/calltree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum calls_shape {
	CALLS_BUTTERFLY, /* one symbol, with its callers above and its callees below */
	CALLS_TREE, /* from the outermost frames */
	CALLS_CALLERS, /* symbols by self weight, with their callers */
	CALLS_SHAPES
};

struct calls_row {
	uint64_t path;
	struct calltree_sums sums, base;
	uint32_t symref;
	uint32_t node; /* node in its tree */
	/* number of children too small for rows, summed up in this row; `node` is their parent
	 * then */
	uint32_t more;
	uint16_t depth; /* depth of the path; the center has 0 */
	uint16_t indent; /* like depth, but an only child is not indented */
	bool can_open, open;
	bool above; /* a caller in a butterfly */
	bool centre;
	bool chained; /* only child, drawn without indentation */
};

struct calls_rows {
	struct calls_row *rows;
	size_t n;
	bool hold; /* keep the order */

	/* private */
	uint32_t room;
	struct calls_order *before; /* paths of the previous rows, sorted, with their places */
	size_t n_before;
	struct calls_choice *choices; /* rows opened or closed by the user: open addressing */
	size_t n_choices, n_slots;
	uint32_t *siblings;
	uint32_t siblings_room;
};

/* All zeros is one without rows. */
void calls_rows_fini(struct calls_rows *rows);

/* Forgets the order, to start again. */
void calls_rows_forget(struct calls_rows *rows);

/* Makes the rows.  Nodes with children that were not built (shut) have closed rows.  whole: weight
 * of 100%.  callers: only for a butterfly, where both trees have the same root; else NULL.  Returns
 * 0, or -ENOMEM with no rows. */
int calls_rows_make(struct calls_rows *rows, enum calls_shape shape, const struct calltree *callers,
	const struct calltree *tree, uint64_t whole);

/* Context of calls_rows_opens(), for calltree_query.opens: selects children that calls_rows_make()
 * needs. */
struct calls_opening {
	const struct calls_rows *rows;
	enum calls_shape shape;
	bool above; /* the tree is `callers` of a butterfly */
};
bool calls_rows_opens(const struct calltree *tree, uint32_t node, void *ctx);

/* Opens or closes a row, from the next calls_rows_make() on.  Returns 0 or -ENOMEM. */
int calls_rows_open(struct calls_rows *rows, uint64_t path, bool open);

/* Returns the path that the row of a tree's node has. */
uint64_t calls_rows_path(
	enum calls_shape shape, bool above, const struct calltree *tree, uint32_t node);

/* Returns the row of a path, or -1. */
long calls_rows_find(const struct calls_rows *rows, uint64_t path);

#endif
