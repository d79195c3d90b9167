/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * forest.h - the prefix tree of stacks as plain arrays, with the symbol of each node, from which
 * tables and call trees are summed.
 *
 * Stacks get new numbers as they are met, callers before their callees.  One pass from the end then
 * sums the subtree of each node.  Node 0 is the root; node 1 represents samples without a stack.
 *
 * One forest is shared by all callers of forest_of(), so a stack is walked only once.  It only
 * grows; a holder may see nodes newer than its own query.  When names have changed, or too many of
 * the stacks are gone, the next forest_of() makes a new forest.  UI thread.
 */
#ifndef TUI_NAMES_FOREST_H
#define TUI_NAMES_FOREST_H

#include "sampler/store/stacks.h"
#include "tui/names/names.h"

#include <stdbool.h>
#include <stdint.h>

#define FOREST_ROOT 0u
#define FOREST_NOWHERE 1u
#define FOREST_NO_PART UINT32_MAX
#define FOREST_ASKED (1u << 31)

struct forest {
	uint32_t n;
	uint32_t *parent; /* less than the node's own number */
	uint32_t *frame; /* FRAME_NONE for nodes 0 and 1 */
	uint32_t *symref; /* 0 for nodes 0 and 1 */
	uint32_t *above; /* nearest ancestor with the same symbol; 0 if none */
	uint32_t *child, *sibling; /* newest child; sibling added before this node; 0 if none */
	uint32_t *same; /* previous node with the same symbol; 0 if none */
	uint32_t *newest; /* by symref, up to n_newest: head of the list linked by same */
	uint32_t n_newest;

	/* private */
	const struct stacks *stacks;
	struct names *names;
	bool inlines;
	uint64_t epoch;
	uint32_t refs, room, stale;
	uint64_t *met; /* by node: a bitmask of the hashed symbols up to the root */
	/* by node of the stacks: number in the forest, maybe with FOREST_ASKED; 0: not met yet */
	uint32_t *numbers;
	uint16_t *generations; /* generation of the stack node that numbers[] refers to */
	uint32_t numbers_room, generations_room;
	/* stacks passed to forest_number(); may contain freed stacks and duplicates */
	uint32_t *asked;
	uint32_t n_asked, asked_room;
};

/* Returns the shared forest for the current names, to be released with forest_put(); NULL if memory
 * runs out. */
struct forest *forest_of(struct names *names, const struct stacks *stacks);
/* Returns a private forest, to be released with forest_put().  inlines: each inlined function is a
 * node between its containing function and the functions called there; missing inline data is
 * requested.  Returns NULL if memory runs out. */
struct forest *forest_new(struct names *names, const struct stacks *stacks, bool inlines);
void forest_put(struct forest *forest); /* NULL is a no-op */

/* Finds or adds a stack and writes its number.  The stack must come from a snapshot that is held.
 * STACK_ROOT has the number FOREST_NOWHERE.  Returns 0 or -ENOMEM. */
int forest_number(struct forest *forest, uint32_t node, uint32_t *number);
/* Prefetches the data that forest_number() will read for the node. */
void forest_fetch(const struct forest *forest, uint32_t node);

/* Appends other nodes to a private forest.  parents[i] is the parent of node i, less than i.  Node
 * 0 is the root of the forest and is not added.  Returns 0 or -ENOMEM. */
int forest_append(
	struct forest *forest, const uint32_t *parents, const uint32_t *symrefs, uint32_t n);

/* Returns node and number of stack i (below forest->n_asked) of those passed to forest_number().
 * The stack need not be held.  Returns false if the node has been reused for another stack.  If
 * true, the forest's data of the number are valid, but nothing else may be read. */
bool forest_asked(const struct forest *forest, uint32_t i, uint32_t *node, uint32_t *number);

/* Finds for each of the first n nodes the nearest ancestor with the same part; 0 if none.  parts:
 * by node, a part (such as a symbol's name) or FOREST_NO_PART; the root's part does not count.
 * of_symbols: no part has nodes of several symbols, which is cheaper.  *above is for free().
 * Returns 0 or -ENOMEM. */
int forest_above(const struct forest *forest, uint32_t n, const uint32_t *parts, bool of_symbols,
	uint32_t **above);

#endif
