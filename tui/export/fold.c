/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fold.c - see fold.h.
 *
 * A stack is walked up only to where another one of the same command was before, so that the work grows with
 * the nodes of the prefix tree and not with its depth.
 */
#include "tui/export/fold.h"

#include "sampler/idtable.h"
#include "tui/clean.h"
#include "tui/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_NONE UINT32_MAX /* the frame is left out */
#define AHEAD 8u

/* Where a stack of a command is in the tree. */
struct place {
	uint32_t stack, command, node;
};

struct folding {
	struct fold *fold;
	const struct profile *profile;
	fold_text_fn *text;
	uint32_t nodes_room;
	struct idtable by_label; /* (parent, label) -> node */
	struct place *places;
	uint32_t n_places, places_room;
	struct idtable by_stack; /* (stack, command) -> place + 1 */
	uint32_t *labels; /* + 1, by symref: of commands other than java, which has its own */
	uint32_t labels_room;
	uint32_t *java_labels;
	uint32_t java_room;
	uint32_t *commands; /* nodes, by task label */
	uint32_t commands_room;
	uint32_t *path; /* stacks on the way up */
	uint32_t path_room;
};

static bool is_java(const char *command)
{
	return !strncmp(command, "java", 4);
}

/* The label + 1 of a symref.  0 or -ENOMEM. */
static int label_of(struct folding *folding, uint32_t symref, const char *command, uint32_t *label)
{
	bool java = is_java(command);
	uint32_t **labels = java ? &folding->java_labels : &folding->labels;
	uint32_t *room = java ? &folding->java_room : &folding->labels_room;
	char text[FOLD_TEXT_MAX];
	int ret = grow_zeroed((void **)labels, symref, room, sizeof(**labels));

	if (ret)
		return ret;
	*label = (*labels)[symref];
	if (*label)
		return 0;
	folding->text(text, folding->profile, names_get(folding->profile->names, symref), command);
	*label = LABEL_NONE;
	if (text[0]) {
		ret = intern_id(&folding->fold->texts, text, strlen(text), label);
		if (ret)
			return ret;
		++*label;
	}
	(*labels)[symref] = *label;
	return 0;
}

static int child(
	struct folding *folding, uint32_t parent, uint32_t label, uint32_t symref, uint32_t *node)
{
	struct fold *fold = folding->fold;
	uint32_t hash = idtable_mix(parent, label), id;
	int ret;

	IDTABLE_FOR_EACH(&folding->by_label, hash, id)
	if (fold->nodes[id].parent == parent && fold->nodes[id].label == label)
		break;
	*node = id;
	if (id)
		return 0;
	ret = grow_room(
		(void **)&fold->nodes, fold->n_nodes, &folding->nodes_room, sizeof(*fold->nodes));
	if (!ret)
		ret = idtable_put(&folding->by_label, hash, fold->n_nodes);
	if (ret)
		return ret;
	*node = fold->n_nodes++;
	fold->nodes[*node] = (struct fold_node){.parent = parent,
		.label = label,
		.symref = symref,
		.depth = fold->nodes[parent].depth + 1};
	if (fold->nodes[*node].depth > fold->depth)
		fold->depth = fold->nodes[*node].depth;
	return 0;
}

static uint32_t place_find(const struct folding *folding, uint32_t stack, uint32_t command)
{
	uint32_t id;

	IDTABLE_FOR_EACH(&folding->by_stack, idtable_mix(stack, command), id)
	if (folding->places[id - 1].stack == stack && folding->places[id - 1].command == command)
		return folding->places[id - 1].node;
	return 0;
}

static int place_add(struct folding *folding, uint32_t stack, uint32_t command, uint32_t node)
{
	int ret = grow_room((void **)&folding->places, folding->n_places, &folding->places_room,
		sizeof(*folding->places));

	if (!ret)
		ret = idtable_put(
			&folding->by_stack, idtable_mix(stack, command), folding->n_places + 1);
	if (!ret)
		folding->places[folding->n_places++] = (struct place){stack, command, node};
	return ret;
}

static uint32_t parent_of(const struct folding *folding, uint32_t stack)
{
	return stacks_node(folding->profile->stacks, stack)->parent;
}

static int step(struct folding *folding, uint32_t stack, const char *command, uint32_t *node)
{
	uint32_t symrefs[PROFILE_FRAMES_MAX], label = 0;
	size_t n = profile_frames(folding->profile, stack, symrefs);
	int ret = 0;

	while (n-- && !ret) {
		ret = label_of(folding, symrefs[n], command, &label);
		if (!ret && label != LABEL_NONE)
			ret = child(folding, *node, label - 1, symrefs[n], node);
	}
	return ret;
}

/* The node of a stack below that of its command.  Where its callers are is remembered; the stack itself seldom comes again. */
static int descend(struct folding *folding, uint32_t stack, uint32_t command, uint32_t *node)
{
	/* Copies of texts do not move. */
	const char *name = fold_text(folding->fold, folding->fold->nodes[command].label);
	uint32_t n = 0, at;
	int ret = 0;

	*node = command;
	if (stack == STACK_ROOT)
		return 0;
	for (at = parent_of(folding, stack); at != STACK_ROOT; at = parent_of(folding, at)) {
		uint32_t known = place_find(folding, at, command);

		if (known) {
			*node = known;
			break;
		}
		ret = grow_room(
			(void **)&folding->path, n, &folding->path_room, sizeof(*folding->path));
		if (ret)
			return ret;
		folding->path[n++] = at;
	}
	while (n-- && !ret) {
		ret = step(folding, folding->path[n], name, node);
		if (!ret)
			ret = place_add(folding, folding->path[n], command, *node);
	}
	return ret ? ret : step(folding, stack, name, node);
}

static int command_of(struct folding *folding, uint32_t task, uint32_t *node)
{
	const struct task_label *label = tasks_label_get(folding->profile->tasks, task);
	char name[TASK_COMM_MAX];
	uint32_t text;
	int ret = grow_zeroed((void **)&folding->commands, task, &folding->commands_room,
		sizeof(*folding->commands));

	if (ret)
		return ret;
	*node = folding->commands[task];
	if (*node)
		return 0;
	/* A stack of the merged label is of nobody in particular. */
	clean_text(name, sizeof(name),
		label && task != TASK_LABEL_MERGED ? label->comm : "[merged]", TASK_COMM_MAX);
	ret = intern_id(&folding->fold->texts, name, strlen(name), &text);
	if (!ret)
		ret = child(folding, 0, text, 0, node);
	if (!ret)
		folding->commands[task] = *node;
	return ret;
}

static int add(struct folding *folding, const struct slice *slice, uint32_t i)
{
	struct fold_node *at;
	uint32_t node = 0;
	int ret = command_of(folding, slice->task[i], &node);

	if (!ret)
		ret = descend(folding, slice->stack[i], node, &node);
	if (ret)
		return ret;
	at = &folding->fold->nodes[node];
	at->self += slice->weight[i];
	at->self_count += slice->count[i];
	return 0;
}

/* What cells to come will need, in two steps. */
static void fetch_ahead(const struct folding *folding, const struct slice *slice, uint32_t i)
{
	const struct stacks *stacks = folding->profile->stacks;

	if (i + 2 * AHEAD < slice->cells && slice->stack[i + 2 * AHEAD] != STACK_ROOT)
		__builtin_prefetch(stacks_node(stacks, slice->stack[i + 2 * AHEAD]));
	i += AHEAD;
	if (i < slice->cells && slice->stack[i] != STACK_ROOT &&
		slice->task[i] < folding->commands_room)
		idtable_prefetch(&folding->by_stack,
			idtable_mix(parent_of(folding, slice->stack[i]),
				folding->commands[slice->task[i]]));
}

static int add_all(struct folding *folding)
{
	const struct profile *profile = folding->profile;
	uint32_t event;
	int ret = 0;

	for (size_t s = 0; s < profile->snapshot->n && !ret; s++) {
		const struct slice *slice = profile->snapshot->slices[s];

		if (profile_interrupted(profile))
			ret = -EINTR;
		for (uint32_t i = 0; i < slice->cells && !ret; i++) {
			fetch_ahead(folding, slice, i);
			if (profile_pass(profile, slice, i, &event) && !event)
				ret = add(folding, slice, i);
		}
	}
	return ret;
}

/* --- the finished tree --- */

struct sorting {
	const char *text;
	uint32_t node, parent;
};

static int by_text(const void *a, const void *b)
{
	const struct sorting *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* Children as lists, totals from the leaves up. */
static int finish(struct fold *fold)
{
	uint32_t n = fold->n_nodes;
	struct sorting *order = calloc(n, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 1; i < n; i++)
		order[i] = (struct sorting){
			fold_text(fold, fold->nodes[i].label), i, fold->nodes[i].parent};
	qsort(order + 1, n - 1, sizeof(*order), by_text);
	for (uint32_t i = n; i-- > 1;) {
		struct fold_node *parent = &fold->nodes[order[i].parent];

		fold->nodes[order[i].node].next = parent->first;
		parent->first = order[i].node;
	}
	free(order);
	for (uint32_t i = n; i-- > 0;) {
		struct fold_node *node = &fold->nodes[i];

		node->total += node->self;
		node->count += node->self_count;
		if (i) {
			fold->nodes[node->parent].total += node->total;
			fold->nodes[node->parent].count += node->count;
		}
	}
	return 0;
}

int fold_make(struct fold *out, const struct profile *profile, fold_text_fn *text)
{
	struct folding folding = {.fold = out, .profile = profile, .text = text};
	int ret;

	*out = (struct fold){0};
	ret = grow_zeroed((void **)&out->nodes, 0, &folding.nodes_room, sizeof(*out->nodes));
	out->n_nodes = ret ? 0 : 1;
	if (!ret)
		ret = add_all(&folding);
	if (!ret)
		ret = finish(out);
	free(folding.places);
	free(folding.labels);
	free(folding.java_labels);
	free(folding.commands);
	free(folding.path);
	idtable_fini(&folding.by_label);
	idtable_fini(&folding.by_stack);
	if (ret)
		fold_fini(out);
	return ret;
}

void fold_fini(struct fold *fold)
{
	free(fold->nodes);
	intern_fini(&fold->texts);
	*fold = (struct fold){0};
}
