/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calls_rows.h - trees of calls as rows that open and close, and stay where the eye left them while numbers change.
 *
 * A row is known by its path of symbols, so what is open stays open and the order is kept from one tree to the next:
 * siblings change places only when one outweighs the other clearly, or never where the order is held.  UI thread.
 */
#ifndef TUI_VIEWS_CALLS_ROWS_H
#define TUI_VIEWS_CALLS_ROWS_H

#include "tui/calltree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum calls_shape {
	CALLS_BUTTERFLY, /* one symbol, its callers above it, what it calls below */
	CALLS_TREE, /* from the outermost frames on */
	CALLS_CALLERS, /* symbols by self, and who called them */
	CALLS_SHAPES
};

struct calls_row {
	uint64_t path;
	struct calltree_sums sums, base;
	uint32_t symref;
	uint32_t node; /* of its tree */
	uint32_t
		more; /* children that weigh too little to be rows: this row stands for so many; then node is their parent's */
	uint16_t depth; /* of its path; the centre's is 0 */
	uint16_t indent; /* what only calls (or is called by) one thing is not moved to the right */
	bool can_open, open;
	bool above; /* a caller, in a butterfly */
	bool centre;
	bool chained; /* stands below its only caller (above it what it only calls) without being moved */
};

struct calls_rows {
	struct calls_row *rows;
	size_t n;
	bool hold; /* the order stays as it is */

	/* private */
	uint32_t room;
	struct calls_order *before; /* paths of the last rows, sorted, with their places */
	size_t n_before;
	struct calls_choice *choices; /* what the user opened and closed: open addressing */
	size_t n_choices, n_slots;
	uint32_t *siblings;
	uint32_t siblings_room;
};

/* All zeros is one without rows. */
void calls_rows_fini(struct calls_rows *rows);

/* Begin anew: nothing is known of an order. */
void calls_rows_forget(struct calls_rows *rows);

/* Make the rows; nodes that are shut have closed ones.  whole: what shares refer to.  callers is NULL but for a butterfly, where both trees have one root.
 * 0 or -ENOMEM, with no rows. */
int calls_rows_make(struct calls_rows *rows, enum calls_shape shape, const struct calltree *callers,
	const struct calltree *tree, uint64_t whole);

/* Which children calls_rows_make() is going to look at, for calltree_query.opens; ctx is a struct calls_opening. */
struct calls_opening {
	const struct calls_rows *rows;
	enum calls_shape shape;
	bool above; /* the tree is `callers` of a butterfly */
};
bool calls_rows_opens(const struct calltree *tree, uint32_t node, void *ctx);

/* Open or close a row; takes effect with the next calls_rows_make().  0 or -ENOMEM. */
int calls_rows_open(struct calls_rows *rows, uint64_t path, bool open);

/* The path of a tree's node, as the row of it would have. */
uint64_t calls_rows_path(
	enum calls_shape shape, bool above, const struct calltree *tree, uint32_t node);

/* The row of a path, or -1. */
long calls_rows_find(const struct calls_rows *rows, uint64_t path);

#endif
