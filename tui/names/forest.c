/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * forest.c - see forest.h.
 */
#include "tui/names/forest.h"

#include "sampler/base/hugepages.h"
#include "tui/base/grow.h"

#define AHEAD 16u /* distance, in entries, between a prefetch and its use */

/* Returns one of 64 bits, a hash of a part. */
static uint64_t bit_of(uint32_t part)
{
	return 1ull << (part * 0x9e3779b1u >> 26);
}

static int grow(struct forest *forest)
{
	uint32_t room = forest->room ? forest->room * 2 : 1024;
	uint32_t **arrays[] = {&forest->parent, &forest->frame, &forest->symref, &forest->above,
		&forest->child, &forest->sibling, &forest->same};

	if (forest->n < forest->room)
		return 0;
	if (room < forest->room)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		if (grow_exact(arrays[i], room, sizeof(**arrays[i])))
			return -ENOMEM;
	if (grow_exact(&forest->met, room, sizeof(*forest->met)))
		return -ENOMEM;
	forest->room = room;
	return 0;
}

/* Finds the nearest node from `at` to the root with a symbol; 0 if none.  The bits in met[] save
 * the walk for most symbols, which do not recur, and end it early for others. */
static uint32_t nearest_above(const struct forest *forest, uint32_t at, uint32_t symref)
{
	uint64_t bit = bit_of(symref);

	while (forest->met[at] & bit && forest->symref[at] != symref)
		at = forest->parent[at];
	return forest->met[at] & bit ? at : 0;
}

static int append(struct forest *forest, uint32_t parent, uint32_t frame, uint32_t symref)
{
	uint32_t i = forest->n;

	if (grow(forest) ||
		grow_zeroed((void **)&forest->newest, symref, &forest->n_newest,
			sizeof(*forest->newest)))
		return -ENOMEM;
	forest->parent[i] = parent;
	forest->frame[i] = frame;
	forest->symref[i] = symref;
	forest->child[i] = forest->sibling[i] = forest->above[i] = forest->same[i] = 0;
	forest->met[i] = 0;
	forest->n++;
	if (i == FOREST_ROOT)
		return 0;
	forest->above[i] = nearest_above(forest, parent, symref);
	forest->met[i] = forest->met[parent] | bit_of(symref);
	forest->same[i] = forest->newest[symref];
	forest->newest[symref] = i;
	forest->sibling[i] = forest->child[parent];
	forest->child[parent] = i;
	return 0;
}

/* Adds a frame below `parent` and the functions inlined at it.  *number: the innermost node. */
static int add_frame(struct forest *forest, uint32_t parent, uint32_t frame, uint32_t *number)
{
	uint32_t inlined[NAMES_INLINED_MAX];
	size_t n = 0;
	int ret = append(forest, parent, frame, names_symref(forest->names, frame));

	if (forest->inlines)
		n = names_inlined(forest->names, frame, inlined, NAMES_INLINED_MAX);
	while (n && !ret) {
		ret = append(forest, forest->n - 1, frame, inlined[n - 1]);
		n--;
	}
	*number = forest->n - 1;
	return ret;
}

static uint32_t known_number(const struct forest *forest, uint32_t node)
{
	if (node >= forest->numbers_room ||
		forest->generations[node] != stacks_node(forest->stacks, node)->generation)
		return 0;
	return forest->numbers[node] & ~FOREST_ASKED;
}

static int set_number(struct forest *forest, uint32_t node, uint32_t number)
{
	/* numbers_room is the limit for both arrays, so generations grows first. */
	if (grow_zeroed((void **)&forest->generations, node, &forest->generations_room,
		    sizeof(*forest->generations)) ||
		grow_zeroed((void **)&forest->numbers, node, &forest->numbers_room,
			sizeof(*forest->numbers)))
		return -ENOMEM;
	forest->stale += forest->numbers[node] != 0;
	forest->numbers[node] = number;
	forest->generations[node] = stacks_node(forest->stacks, node)->generation;
	return 0;
}

int forest_number(struct forest *forest, uint32_t node, uint32_t *number)
{
	uint32_t path[STACK_DEPTH_MAX + 1], n = 0, parent = FOREST_ROOT, asked = node;

	if (node == STACK_ROOT) {
		*number = FOREST_NOWHERE;
		return 0;
	}
	for (; node != STACK_ROOT && n <= STACK_DEPTH_MAX;
		node = stacks_node(forest->stacks, node)->parent) {
		uint32_t known = known_number(forest, node);

		if (known) {
			parent = known;
			break;
		}
		path[n++] = node;
	}
	while (n) {
		node = path[--n];
		if (add_frame(forest, parent, stacks_node(forest->stacks, node)->frame, &parent) ||
			set_number(forest, node, parent))
			return -ENOMEM;
	}
	*number = parent;
	if (forest->numbers[asked] & FOREST_ASKED)
		return 0;
	if (grow_room((void **)&forest->asked, forest->n_asked, &forest->asked_room,
		    sizeof(*forest->asked)))
		return -ENOMEM;
	forest->asked[forest->n_asked++] = asked;
	forest->numbers[asked] |= FOREST_ASKED;
	return 0;
}

void forest_fetch(const struct forest *forest, uint32_t node)
{
	__builtin_prefetch(stacks_node(forest->stacks, node));
	if (node >= forest->numbers_room)
		return;
	__builtin_prefetch(&forest->generations[node]);
	__builtin_prefetch(&forest->numbers[node]);
}

bool forest_asked(const struct forest *forest, uint32_t i, uint32_t *node, uint32_t *number)
{
	if (i + AHEAD < forest->n_asked)
		forest_fetch(forest, forest->asked[i + AHEAD]);
	*node = forest->asked[i];
	*number = forest->numbers[*node] & ~FOREST_ASKED;
	return forest->generations[*node] == stacks_node_generation(forest->stacks, *node);
}

int forest_append(
	struct forest *forest, const uint32_t *parents, const uint32_t *symrefs, uint32_t n)
{
	uint32_t first = forest->n;
	int ret = 0;

	for (uint32_t i = 1; i < n && !ret; i++)
		ret = append(forest, parents[i] ? first + parents[i] - 1 : FOREST_ROOT, FRAME_NONE,
			symrefs[i]);
	return ret;
}

struct forest *forest_new(struct names *names, const struct stacks *stacks, bool inlines)
{
	struct forest *forest = calloc(1, sizeof(*forest));

	if (!forest)
		return NULL;
	forest->stacks = stacks;
	forest->names = names;
	forest->inlines = inlines;
	forest->epoch = names_epoch(names);
	forest->refs = 1;
	if (append(forest, FOREST_ROOT, FRAME_NONE, 0) ||
		append(forest, FOREST_ROOT, FRAME_NONE, 0)) {
		forest_put(forest);
		return NULL;
	}
	return forest;
}

struct forest *forest_of(struct names *names, const struct stacks *stacks)
{
	struct forest **shared = names_forest(names);

	if (*shared &&
		((*shared)->epoch != names_epoch(names) || (*shared)->stacks != stacks ||
			(*shared)->stale > (*shared)->n / 2)) {
		forest_put(*shared);
		*shared = NULL;
	}
	if (!*shared)
		*shared = forest_new(names, stacks, false);
	if (*shared)
		(*shared)->refs++;
	return *shared;
}

void forest_put(struct forest *forest)
{
	if (!forest || --forest->refs)
		return;
	free(forest->parent);
	free(forest->frame);
	free(forest->symref);
	free(forest->above);
	free(forest->child);
	free(forest->sibling);
	free(forest->same);
	free(forest->newest);
	free(forest->met);
	free(forest->numbers);
	free(forest->generations);
	free(forest->asked);
	free(forest);
}

static uint32_t *above_of_symbols(const struct forest *forest, uint32_t n, const uint32_t *parts)
{
	uint32_t *above = hugepages_alloc(sizeof(uint64_t), n * sizeof(*above));

	for (uint32_t i = FOREST_ROOT; above && i < n; i++) {
		uint32_t at = parts[i] == FOREST_NO_PART ? 0 : forest->above[i];

		while (at && parts[at] != parts[i])
			at = forest->above[at];
		above[i] = at;
	}
	return above;
}

int forest_above(const struct forest *forest, uint32_t n, const uint32_t *parts, bool of_symbols,
	uint32_t **out)
{
	uint32_t *above;
	uint64_t *met; /* by node: bits of the parts on the path to the root */

	if (of_symbols) {
		*out = above_of_symbols(forest, n, parts);
		return *out ? 0 : -ENOMEM;
	}
	*out = NULL;
	above = hugepages_zeroed(sizeof(uint64_t), n * sizeof(*above));
	met = hugepages_alloc(sizeof(*met), n * sizeof(*met));
	if (!above || !met) {
		free(above);
		free(met);
		return -ENOMEM;
	}
	met[FOREST_ROOT] = 0;
	for (uint32_t i = FOREST_ROOT + 1; i < n; i++) {
		uint32_t at = forest->parent[i];
		uint64_t bit;

		met[i] = met[at];
		if (parts[i] == FOREST_NO_PART)
			continue;
		bit = bit_of(parts[i]);
		met[i] |= bit;
		while (met[at] & bit && parts[at] != parts[i])
			at = forest->parent[at];
		if (met[at] & bit)
			above[i] = at;
	}
	free(met);
	*out = above;
	return 0;
}
