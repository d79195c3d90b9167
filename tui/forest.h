/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * forest.h - the prefix tree of stacks as plain arrays, with the symbol of each node: what tables and trees of calls are summed over.
 *
 * Nodes are numbered anew as stacks are met, callers before what they call, so that one pass from the end sums
 * what is below each.  Node 0 is the root, above all; node 1 stands for samples without any stack.  One is shared by all who
 * ask (forest_of()), so that a stack is walked once and not at each question; it only grows, and who holds it may look at
 * nodes that came after its own question.  When names have changed, or too many of its stacks are gone, those who ask
 * next get a new one.  UI thread.
 */
#ifndef TUI_FOREST_H
#define TUI_FOREST_H

#include "sampler/stacks.h"
#include "tui/names.h"

#include <stdbool.h>
#include <stdint.h>

#define FOREST_ROOT 0u
#define FOREST_NOWHERE 1u
#define FOREST_NO_PART UINT32_MAX
#define FOREST_ASKED (1u << 31)

struct scan;

struct forest {
	uint32_t n;
	uint32_t *parent; /* below the node's own number */
	uint32_t *frame; /* FRAME_NONE for the first two */
	uint32_t *symref; /* 0 for the first two */
	uint32_t *above; /* the nearest node above with the same symbol; 0: none */
	uint32_t *child, *sibling; /* the newest one, the one before it; 0: none */
	uint32_t *same; /* the node before with the same symbol; 0: none */
	uint32_t *newest; /* by symref, below n_newest: where same begins */
	uint32_t n_newest;

	/* private */
	const struct stacks *stacks;
	struct names *names;
	bool inlines;
	uint64_t epoch;
	uint32_t refs, room, stale;
	uint64_t *met; /* by node: one of 64 bits for each symbol up to the root */
	uint32_t *numbers; /* by node of the stacks; 0: not met yet; with FOREST_ASKED */
	uint16_t *generations; /* of those */
	uint32_t numbers_room, generations_room;
	uint32_t *asked; /* stacks that were asked for; some may be gone, or be there twice */
	uint32_t n_asked, asked_room;
};

/* The shared one as names are now, for forest_put(); NULL when out of memory. */
struct forest *forest_of(struct names *names, const struct stacks *stacks);
/* One of one's own, for forest_put(); with each inlined function as a node between the one that it is in and what is called
 * there, where `inlines` is set: what is not known yet is asked for.  NULL when out of memory. */
struct forest *forest_new(struct names *names, const struct stacks *stacks, bool inlines);
void forest_put(struct forest *forest); /* NULL is a no-op */

/* The number of a stack that was reached through a snapshot which is held; STACK_ROOT is FOREST_NOWHERE.  0 or -ENOMEM. */
int forest_number(struct forest *forest, uint32_t node, uint32_t *number);
/* For an answer soon: what it reads of the node comes near meanwhile. */
void forest_fetch(const struct forest *forest, uint32_t node);

/* To one of one's own, other nodes behind those that there are, numbered on: parents[i] is the parent of node i, below i; node 0 is the
 * root, which is that of the forest and not added.  0 or -ENOMEM. */
int forest_append(
	struct forest *forest, const uint32_t *parents, const uint32_t *symrefs, uint32_t n);

/* Of stack i of those that were asked for so far (below forest->n_asked): its node of the stacks and its number.  It need not be held:
 * what the forest has of the number is the stack's if it is there still, and nothing else may be looked at.  False: the node is
 * another stack's by now. */
bool forest_asked(const struct forest *forest, uint32_t i, uint32_t *node, uint32_t *number);

/* The numbers of a scan's entries, for free().  0 or -ENOMEM. */
int forest_entries(struct forest *forest, const struct scan *scan, uint32_t **at);

/* Each of the first n nodes has a part (a symbol's name, say), or FOREST_NO_PART.  *above, for free(): the nearest node above
 * that has the same part, 0 where there is none; the root's part does not count.  of_symbols: no part has nodes of several
 * symbols, which makes it cheaper.  0 or -ENOMEM. */
int forest_above(const struct forest *forest, uint32_t n, const uint32_t *parts, bool of_symbols,
	uint32_t **above);

#endif
