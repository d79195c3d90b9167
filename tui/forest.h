/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * forest.h - the part of the prefix tree of stacks that a scan's entries reach, in plain arrays.
 *
 * Nodes are numbered anew, callers before what they call, so that one pass from the end sums what is below
 * each.  Node 0 is the root, above all; node 1 stands for samples without any stack.  UI thread, with the scan's snapshot
 * held.
 */
#ifndef TUI_FOREST_H
#define TUI_FOREST_H

#include "sampler/stacks.h"
#include "tui/scan.h"

#include <stdint.h>

#define FOREST_ROOT 0u
#define FOREST_NOWHERE 1u
#define FOREST_NO_PART UINT32_MAX

struct forest {
	uint32_t n;
	uint32_t *parent; /* below the node's own number */
	uint32_t *frame; /* FRAME_NONE for the first two */
	uint32_t *child,
		*sibling; /* the first one, the next one; 0: none.  After forest_link(), else NULL */
	uint32_t *at; /* the node of each of the scan's entries */
	uint32_t n_at;
	uint32_t room;
};

/* 0 and *out for forest_fini(); or -ENOMEM with *out empty. */
int forest_build(struct forest *out, const struct scan *scan, const struct stacks *stacks);
/* 0 or -ENOMEM, forest_fini() being for both. */
int forest_link(struct forest *forest);
void forest_fini(struct forest *forest);

/* Other nodes behind those that there are, numbered on: parents[i] is the parent of node i, below i; node 0 is the root, which is that
 * of the forest and not added.  Before forest_link().  0 or -ENOMEM. */
int forest_append(struct forest *forest, const uint32_t *parents, uint32_t n);

/* The symref of each node, for free(), with each inlined function as a node of its own between the one that it is in and what is
 * called there; forest->at then is the innermost.  Before forest_link().  NULL when out of memory. */
uint32_t *forest_inline(struct forest *forest, struct names *names);

/* Each node has a part (a symbol, say), or FOREST_NO_PART.  *above, for free(): the nearest node above that has the same
 * part, 0 where there is none; the root's part does not count.  0 or -ENOMEM. */
int forest_above(const struct forest *forest, const uint32_t *parts, uint32_t **above);

/* The symref of each node, for free(); that of the root is 0.  NULL when out of memory. */
uint32_t *forest_symrefs(const struct forest *forest, struct names *names);

#endif
