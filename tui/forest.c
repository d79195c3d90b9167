/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * forest.c - see forest.h.
 */
#include "tui/forest.h"

#include "tui/grow.h"

struct places {
	uint32_t *numbers; /* in the forest, by node of the stacks; 0: not there yet */
	uint32_t room;
};

static int forest_grow(struct forest *forest)
{
	uint32_t room = forest->room ? forest->room * 2 : 1024;
	uint32_t **arrays[] = {&forest->parent, &forest->frame};

	if (forest->n < forest->room)
		return 0;
	if (room < forest->room)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		uint32_t *grown = reallocarray(*arrays[i], room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		*arrays[i] = grown;
	}
	forest->room = room;
	return 0;
}

static int append(struct forest *forest, uint32_t parent, uint32_t frame)
{
	if (forest_grow(forest))
		return -ENOMEM;
	forest->parent[forest->n] = parent;
	forest->frame[forest->n] = frame;
	forest->n++;
	return 0;
}

/* The number of a stack, which is added with all its callers where it is new. */
static int add_stack(struct forest *forest, struct places *places, const struct stacks *stacks,
	uint32_t node, uint32_t *number)
{
	uint32_t path[STACK_DEPTH_MAX + 1], n = 0, parent = FOREST_ROOT;

	if (node == STACK_ROOT) {
		*number = FOREST_NOWHERE;
		return 0;
	}
	for (; node != STACK_ROOT && n <= STACK_DEPTH_MAX;
		node = stacks_node(stacks, node)->parent) {
		if (node < places->room && places->numbers[node]) {
			parent = places->numbers[node];
			break;
		}
		path[n++] = node;
	}
	while (n) {
		node = path[--n];
		if (grow_zeroed((void **)&places->numbers, node, &places->room,
			    sizeof(*places->numbers)) ||
			append(forest, parent, stacks_node(stacks, node)->frame))
			return -ENOMEM;
		parent = places->numbers[node] = forest->n - 1;
	}
	*number = parent;
	return 0;
}

int forest_link(struct forest *forest)
{
	forest->child = calloc(forest->n, sizeof(*forest->child));
	forest->sibling = calloc(forest->n, sizeof(*forest->sibling));
	if (!forest->child || !forest->sibling)
		return -ENOMEM;
	for (uint32_t i = forest->n - 1; i > FOREST_ROOT; i--) {
		forest->sibling[i] = forest->child[forest->parent[i]];
		forest->child[forest->parent[i]] = i;
	}
	return 0;
}

int forest_build(struct forest *out, const struct scan *scan, const struct stacks *stacks)
{
	struct places places = {0};
	int ret;

	memset(out, 0, sizeof(*out));
	out->at = malloc((scan->n_entries ? scan->n_entries : 1) * sizeof(*out->at));
	out->n_at = scan->n_entries;
	ret = out->at ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < 2 && !ret; i++)
		ret = append(out, FOREST_ROOT, FRAME_NONE);
	for (uint32_t i = 0; i < scan->n_entries && !ret; i++)
		ret = add_stack(out, &places, stacks, scan->entries[i].node, &out->at[i]);
	free(places.numbers);
	if (ret)
		forest_fini(out);
	return ret;
}

int forest_append(struct forest *forest, const uint32_t *parents, uint32_t n)
{
	uint32_t first = forest->n;
	int ret = 0;

	for (uint32_t i = 1; i < n && !ret; i++)
		ret = append(forest, parents[i] ? first + parents[i] - 1 : FOREST_ROOT, FRAME_NONE);
	return ret;
}

void forest_fini(struct forest *forest)
{
	free(forest->parent);
	free(forest->frame);
	free(forest->child);
	free(forest->sibling);
	free(forest->at);
	memset(forest, 0, sizeof(*forest));
}

/* One of 64 bits for a part. */
static uint64_t bit_of(uint32_t part)
{
	return 1ull << (part * 0x9e3779b1u >> 26);
}

int forest_above(const struct forest *forest, const uint32_t *parts, uint32_t **out)
{
	uint32_t *above = calloc(forest->n, sizeof(*above));
	uint64_t *met = malloc(forest->n * sizeof(*met)); /* the bits of all up to the root */

	*out = NULL;
	if (!above || !met) {
		free(above);
		free(met);
		return -ENOMEM;
	}
	met[FOREST_ROOT] = 0;
	for (uint32_t i = FOREST_ROOT + 1; i < forest->n; i++) {
		uint32_t at = forest->parent[i];
		uint64_t bit;

		met[i] = met[at];
		if (parts[i] == FOREST_NO_PART)
			continue;
		bit = bit_of(parts[i]);
		met[i] |= bit;
		/* Most parts do not recur, which the bits tell without a walk; and a walk ends where they do. */
		while (met[at] & bit && parts[at] != parts[i])
			at = forest->parent[at];
		if (met[at] & bit)
			above[i] = at;
	}
	free(met);
	*out = above;
	return 0;
}

uint32_t *forest_symrefs(const struct forest *forest, struct names *names)
{
	uint32_t *symrefs = malloc(forest->n * sizeof(*symrefs));

	for (uint32_t i = 0; symrefs && i < forest->n; i++)
		symrefs[i] =
			forest->frame[i] == FRAME_NONE ? 0 : names_symref(names, forest->frame[i]);
	return symrefs;
}

/* What a forest becomes when inlined functions are put in. */
struct inlining {
	struct forest wide;
	uint32_t *symrefs;
	uint32_t symrefs_room;
	uint32_t *where; /* of the old nodes: the innermost new one */
};

static int append_symref(
	struct inlining *inlining, uint32_t parent, uint32_t frame, uint32_t symref)
{
	if (grow_zeroed((void **)&inlining->symrefs, inlining->wide.n, &inlining->symrefs_room,
		    sizeof(*inlining->symrefs)) ||
		append(&inlining->wide, parent, frame))
		return -ENOMEM;
	inlining->symrefs[inlining->wide.n - 1] = symref;
	return 0;
}

/* The old node i, whose callers are there, and what is inlined at it. */
static int widen(
	struct inlining *inlining, const struct forest *forest, uint32_t i, struct names *names)
{
	const uint32_t frame = forest->frame[i];
	uint32_t inlined[NAMES_INLINED_MAX];
	size_t n = 0;
	int ret;

	ret = append_symref(inlining, i ? inlining->where[forest->parent[i]] : FOREST_ROOT, frame,
		frame == FRAME_NONE ? 0 : names_symref(names, frame));
	if (frame != FRAME_NONE)
		n = names_inlined(names, frame, inlined, NAMES_INLINED_MAX);
	while (n && !ret) {
		ret = append_symref(inlining, inlining->wide.n - 1, frame, inlined[n - 1]);
		n--;
	}
	inlining->where[i] = inlining->wide.n - 1;
	return ret;
}

uint32_t *forest_inline(struct forest *forest, struct names *names)
{
	struct inlining inlining = {.where = calloc(forest->n, sizeof(*inlining.where))};
	int ret = inlining.where ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < forest->n && !ret; i++)
		ret = widen(&inlining, forest, i, names);
	if (ret) {
		free(inlining.symrefs);
		inlining.symrefs = NULL;
		forest_fini(&inlining.wide);
	} else {
		for (uint32_t i = 0; i < forest->n_at; i++)
			forest->at[i] = inlining.where[forest->at[i]];
		inlining.wide.at = forest->at;
		inlining.wide.n_at = forest->n_at;
		forest->at = NULL;
		forest_fini(forest);
		*forest = inlining.wide;
	}
	free(inlining.where);
	return inlining.symrefs;
}
