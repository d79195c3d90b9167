/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calltree.h - trees of calls: callers of each symbol, its callees, or everything from the
 * outermost frames.
 *
 * A struct calls holds one pass over the samples of a range and filter; trees of every kind and
 * event are built from it.  A tree node is a path of symbols from its root, so a recursive symbol
 * repeats below itself.  The root of a symbol counts each stack once.  Callers start at the
 * symbol's innermost place on the stack, callees at the outermost.  UI thread.
 */
#ifndef TUI_TABLES_CALLTREE_H
#define TUI_TABLES_CALLTREE_H

#include "tui/query/scan.h"
#include "tui/tables/basis.h"

#include <stdbool.h>
#include <stdint.h>

struct calls;
struct calltree;

/* Makes one pass over the samples.  It sets scan.by itself; scan.column must be GROUP_KEYS.  With
 * scan.inlines it requests unknown inlined functions (names_inlined()), so a tree may change when
 * names_changes() grows.
 *
 * The snapshot may be released afterwards; names and stacks are borrowed.  Returns 0 (release *out
 * with calls_free()) or -ENOMEM. */
int calls_new(struct calls **out, const struct scan_question *scan);
/* Like calls_new(), but tree nodes also carry their weight in the basis, which may be freed
 * afterwards; NULL if there is none. */
int calls_new_against(
	struct calls **out, const struct scan_question *scan, const struct basis *basis);
void calls_free(struct calls *calls);

uint64_t calls_serial(const struct calls *calls); /* unique and never 0 */

/* Returns the sums of an event over the samples that passed. */
const struct scan_sums *calls_sums(const struct calls *calls, uint8_t event);

enum calltree_kind { CALLTREE_CALLERS, CALLTREE_CALLEES, CALLTREE_ROOTS };

struct calltree_query {
	enum calltree_kind kind;
	uint8_t event;
	/* least weight of a node; lighter ones are added to their parent's below; 0: no limit */
	uint64_t least;
	bool by_self; /* callers and callees: choose and sort the roots by self, not by total */
	uint32_t max_roots; /* most roots of callers and callees; 0: all */
	bool one; /* callers and callees: only the root `symref` */
	uint32_t symref;
	/* Returns true if the children of a node of the tree built so far are wanted; NULL: all
	 * are. */
	bool (*opens)(const struct calltree *tree, uint32_t node, void *ctx);
	void *ctx;
};

struct calltree_sums {
	uint64_t self, total, samples; /* samples: those counted in self */
};

/* Node 0 represents the whole: its children are the roots, its sums the samples that passed.  No
 * child is node 0, so 0 also ends lists. */
struct calltree_node {
	struct calltree_sums sums;
	struct calltree_sums below; /* sums of the children left out */
	uint32_t n_below; /* number of children left out */
	bool shut; /* has children that opens() did not want */
	/* The sums of the basis.  A node of the basis alone is present as well, after the others.
	 * A node is left out if it weighs too little in both, each relative to its own whole. */
	struct calltree_sums base, base_below;
	uint32_t symref;
	/* children by falling total (roots: in the chosen order), then by name */
	uint32_t parent, child, sibling;
};

struct calltree {
	struct calltree_node *nodes; /* parents before children */
	uint32_t n, room;
	uint64_t serial; /* serial of the struct calls it was built from */
};

/* Builds a tree.  Returns 0 (release *out with calltree_fini()) or -ENOMEM.
 *
 * Roots of callers and callees have their symbol's sums; self counts wherever the symbol is the
 * leaf.  Below these roots, self in callers is the weight of stacks with the root's symbol as the
 * leaf that came by this path.  In other trees self is the weight of stacks that end at the node.
 *
 * A node's total minus its children's totals and its below is the weight without a further caller
 * in callers, and self in other trees. */
int calltree_build(struct calltree *out, struct calls *calls, const struct calltree_query *query);
void calltree_fini(struct calltree *tree);

#endif
