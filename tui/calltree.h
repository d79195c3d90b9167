/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calltree.h - trees of calls: who called each symbol, what each symbol calls, or all from the outermost frames on.
 *
 * A calls is what all trees over a range and filter are made from, whatever their kind and event: one pass over the
 * samples.  In every tree a node is a path of symbols from its root, so a recursive symbol comes again below
 * itself; a root, standing for a symbol, counts each stack once: callers start at the innermost place of the
 * symbol on the stack, callees at the outermost.  Nothing is printed here.  UI thread.
 */
#ifndef TUI_CALLTREE_H
#define TUI_CALLTREE_H

#include "tui/basis.h"
#include "tui/scan.h"

#include <stdbool.h>
#include <stdint.h>

struct calls;
struct calltree;

/* scan.by is filled in, scan.column must be GROUP_KEYS.  With scan.inlines what is not known yet is asked for
 * (names_inlined()), so that the same tree is another when names_changes() has grown.  The snapshot may be released afterwards; names and
 * stacks are borrowed.  0 and *out for calls_free(); or -ENOMEM. */
int calls_new(struct calls **out, const struct scan_question *scan);
/* The same, and nodes of trees then know what they weighed in the basis, which may be freed afterwards; NULL: in none. */
int calls_new_against(
	struct calls **out, const struct scan_question *scan, const struct basis *basis);
void calls_free(struct calls *calls);

uint64_t calls_serial(const struct calls *calls); /* no other has the same; never 0 */

/* What passed, by event. */
const struct scan_sums *calls_sums(const struct calls *calls, uint8_t event);

enum calltree_kind { CALLTREE_CALLERS, CALLTREE_CALLEES, CALLTREE_ROOTS };

struct calltree_query {
	enum calltree_kind kind;
	uint8_t event;
	uint64_t
		least; /* nodes with less weight are left out: their sums go to the parent's below; 0: none are */
	bool by_self; /* roots of callers and callees are chosen and sorted by self, not by total */
	uint32_t max_roots; /* of callers and callees; 0: all */
	bool one; /* callers and callees of one symbol alone */
	uint32_t symref;
	/* Whether the children of a node of the tree made so far are wanted; NULL: all are. */
	bool (*opens)(const struct calltree *tree, uint32_t node, void *ctx);
	void *ctx;
};

struct calltree_sums {
	uint64_t self, total, samples; /* samples: those of self */
};

/* Node 0 stands for all: its children are the roots, its sums what passed.  0 also ends lists, as no child is node 0. */
struct calltree_node {
	struct calltree_sums sums;
	struct calltree_sums below; /* of the children left out */
	uint32_t n_below; /* how many */
	bool shut; /* has some that were not wanted */
	/* The same of the basis.  A node that only the basis has is there all the same, behind the others; it is left out where
	 * neither weighs enough, each measured by its own whole. */
	struct calltree_sums base, base_below;
	uint32_t symref;
	uint32_t parent, child,
		sibling; /* children by falling total (roots: as chosen), then by name */
};

struct calltree {
	struct calltree_node *nodes; /* parents before children */
	uint32_t n, room;
	uint64_t serial; /* of the calls that it was made from */
};

/* Roots of callers and callees have the sums of their symbol, self wherever it is the leaf.  Self of others: in
 * callers, the weight of stacks that have the root's symbol as the leaf, by this path; in the others, that of stacks
 * which end here.  In callers a node's total less those of its children and its below is what had no further caller;
 * in the others it is self.  0 and *out for calltree_fini(); or -ENOMEM. */
int calltree_build(struct calltree *out, struct calls *calls, const struct calltree_query *query);
void calltree_fini(struct calltree *tree);

#endif
