/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fold.c - see fold.h.
 *
 * The place of each stack in the folded tree is stored by stack number.  A stack is walked only up
 * to the first node that another stack of the command has reached.  So the work grows with the
 * number of nodes, not with their depth.
 */
#include "tui/export/fold.h"

#include "sampler/base/hugepages.h"
#include "sampler/base/idtable.h"
#include "tui/base/clean.h"
#include "tui/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_NONE UINT32_MAX /* the frame is left out */
#define AHEAD 8u
#define STACKS_A_NODE 4u /* large profiles have about 5 stacks per node */

/* The place of a stack in the tree, for one command. */
struct place {
	uint32_t command; /* node of the command; 0: no place yet */
	uint32_t node;
};

/* The place of a stack for further commands; the first command's is in places[]. */
struct other_place {
	uint32_t stack;
	struct place place;
};

/* The key of a node, separate from the sums, since a lookup compares many keys. */
struct key {
	uint32_t parent, label;
};

struct frame_label {
	uint32_t label; /* label + 1; 0: not known yet */
	uint32_t symref;
};

struct folding {
	struct fold *fold;
	const struct profile *profile;
	fold_text_fn *text;
	uint32_t nodes_room;
	struct key *keys; /* keys of the nodes */
	uint32_t keys_room;
	struct idtable by_key;
	struct place *places; /* indexed by stack */
	uint32_t places_room;
	struct other_place *others;
	uint32_t n_others, others_room;
	struct idtable by_stack; /* (stack, command) -> index in others + 1 */
	uint32_t *labels; /* label + 1, by symref; java commands have java_labels */
	uint32_t labels_room;
	uint32_t *java_labels;
	uint32_t java_room;
	/* labels by frame; not used for java or with inlined functions */
	struct frame_label *frames;
	uint32_t frames_room;
	uint32_t *commands; /* nodes, by task label */
	uint32_t commands_room;
	uint32_t *path; /* stacks on the way up */
	uint32_t path_room;
};

static bool is_java(const char *command)
{
	return !strncmp(command, "java", 4);
}

/* Finds the label + 1 of a symref.  Returns 0 or -ENOMEM. */
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
	folding->text(text, folding->profile, symref, command);
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

static int add_node(
	struct folding *folding, uint32_t parent, uint32_t label, uint32_t symref, uint32_t hash)
{
	struct fold *fold = folding->fold;
	uint32_t id = fold->n_nodes;
	int ret = grow_room((void **)&fold->nodes, id, &folding->nodes_room, sizeof(*fold->nodes));

	if (!ret)
		ret = grow_room(
			(void **)&folding->keys, id, &folding->keys_room, sizeof(*folding->keys));
	if (!ret)
		ret = idtable_put(&folding->by_key, hash, id);
	if (ret)
		return ret;
	folding->keys[id] = (struct key){parent, label};
	fold->nodes[id] = (struct fold_node){.parent = parent,
		.label = label,
		.symref = symref,
		.depth = fold->nodes[parent].depth + 1};
	if (fold->nodes[id].depth > fold->depth)
		fold->depth = fold->nodes[id].depth;
	fold->n_nodes++;
	return 0;
}

static int child(
	struct folding *folding, uint32_t parent, uint32_t label, uint32_t symref, uint32_t *node)
{
	uint32_t hash = idtable_mix(parent, label), id;

	IDTABLE_FOR_EACH(&folding->by_key, hash, id)
	{
		if (folding->keys[id].parent == parent && folding->keys[id].label == label) {
			*node = id;
			return 0;
		}
	}
	*node = folding->fold->n_nodes;
	return add_node(folding, parent, label, symref, hash);
}

static uint32_t other_find(const struct folding *folding, uint32_t stack, uint32_t command)
{
	uint32_t id;

	IDTABLE_FOR_EACH(&folding->by_stack, idtable_mix(stack, command), id)
	{
		const struct other_place *other = &folding->others[id - 1];

		if (other->stack == stack && other->place.command == command)
			return other->place.node;
	}
	return 0;
}

static uint32_t place_find(const struct folding *folding, uint32_t stack, uint32_t command)
{
	struct place place = {0};

	if (stack < folding->places_room)
		place = folding->places[stack];
	if (place.command == command)
		return place.node;
	return place.command ? other_find(folding, stack, command) : 0;
}

static int place_add(struct folding *folding, uint32_t stack, uint32_t command, uint32_t node)
{
	const struct place place = {command, node};
	int ret = grow_zeroed(
		(void **)&folding->places, stack, &folding->places_room, sizeof(*folding->places));

	if (!ret && !folding->places[stack].command) {
		folding->places[stack] = place;
		return 0;
	}
	if (!ret)
		ret = grow_room((void **)&folding->others, folding->n_others, &folding->others_room,
			sizeof(*folding->others));
	if (!ret)
		ret = idtable_put(
			&folding->by_stack, idtable_mix(stack, command), folding->n_others + 1);
	if (!ret)
		folding->others[folding->n_others++] = (struct other_place){stack, place};
	return ret;
}

/* Steps through inlined functions, or through a java command's own texts. */
static int step_frames(struct folding *folding, uint32_t stack, const char *command, uint32_t *node)
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

static int frame_label_of(struct folding *folding, uint32_t stack, uint32_t frame,
	const char *command, struct frame_label *out)
{
	int ret = grow_zeroed(
		(void **)&folding->frames, frame, &folding->frames_room, sizeof(*folding->frames));

	if (ret)
		return ret;
	*out = folding->frames[frame];
	if (out->label)
		return 0;
	out->symref = profile_symref(folding->profile, stack);
	ret = label_of(folding, out->symref, command, &out->label);
	if (!ret)
		folding->frames[frame] = *out;
	return ret;
}

/* Steps from the node of a stack's callers to its own. */
static int step(struct folding *folding, uint32_t stack, const char *command, uint32_t *node)
{
	struct frame_label frame;
	int ret;

	if (folding->profile->inlines || is_java(command))
		return step_frames(folding, stack, command, node);
	ret = frame_label_of(folding, stack, stacks_node(folding->profile->stacks, stack)->frame,
		command, &frame);
	if (ret || frame.label == LABEL_NONE)
		return ret;
	return child(folding, *node, frame.label - 1, frame.symref, node);
}

/* Finds the node of a stack below its command's node. */
static int descend(struct folding *folding, uint32_t stack, uint32_t command, uint32_t *node)
{
	/* interned texts do not move */
	const char *name = fold_text(folding->fold, folding->fold->nodes[command].label);
	uint32_t n = 0, known;
	int ret = 0;

	*node = command;
	while (stack != STACK_ROOT) {
		known = place_find(folding, stack, command);
		if (known) {
			*node = known;
			break;
		}
		ret = grow_room(
			(void **)&folding->path, n, &folding->path_room, sizeof(*folding->path));
		if (ret)
			return ret;
		folding->path[n++] = stack;
		stack = stacks_node(folding->profile->stacks, stack)->parent;
	}
	while (n-- && !ret) {
		ret = step(folding, folding->path[n], name, node);
		if (!ret)
			ret = place_add(folding, folding->path[n], command, *node);
	}
	return ret;
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
	/* A merged stack belongs to no particular command. */
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

/* Prefetches the data of later cells in two steps. */
static void fetch_ahead(const struct folding *folding, const struct slice *slice, uint32_t i)
{
	uint32_t stack;

	if (i + 2 * AHEAD < slice->cells && slice->stack[i + 2 * AHEAD] < folding->places_room)
		__builtin_prefetch(&folding->places[slice->stack[i + 2 * AHEAD]]);
	i += AHEAD;
	if (i >= slice->cells)
		return;
	stack = slice->stack[i];
	if (stack < folding->places_room && folding->places[stack].command)
		__builtin_prefetch(&folding->fold->nodes[folding->places[stack].node]);
	else
		__builtin_prefetch(stacks_node(folding->profile->stacks, stack));
}

/* Reserves room for all stacks and a typical number of nodes, to avoid copies of growing arrays. */
static int reserve(struct folding *folding)
{
	const struct snapshot *snapshot = folding->profile->snapshot;
	struct fold *fold = folding->fold;
	uint32_t last = 0;

	for (size_t s = 0; s < snapshot->n; s++)
		for (uint32_t i = 0; i < snapshot->slices[s]->cells; i++)
			if (snapshot->slices[s]->stack[i] > last)
				last = snapshot->slices[s]->stack[i];
	folding->nodes_room = last / STACKS_A_NODE + 1;
	fold->nodes = hugepages_alloc(sizeof(void *), folding->nodes_room * sizeof(*fold->nodes));
	folding->places =
		hugepages_alloc(sizeof(void *), ((size_t)last + 1) * sizeof(*folding->places));
	if (!fold->nodes || !folding->places)
		return -ENOMEM;
	fold->nodes[0] = (struct fold_node){0};
	fold->n_nodes = 1;
	folding->places_room = last + 1;
	memset(folding->places, 0, folding->places_room * sizeof(*folding->places));
	return 0;
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
	uint32_t label;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct sorting *)a)->text, ((const struct sorting *)b)->text);
}

/* Builds the lists of children, sorted by text.  There are far fewer texts than nodes, so the texts
 * are sorted instead.  Nodes are put at the head of their parent's list, last text first. */
static int list_children(struct fold *fold)
{
	uint32_t n_texts = fold->texts.n;
	struct sorting *order = calloc((size_t)n_texts + 1, sizeof(*order));
	uint32_t *first = calloc((size_t)n_texts + 1, sizeof(*first)); /* last node of each text */
	uint32_t *next = calloc(fold->n_nodes, sizeof(*next)); /* next node of the same text */
	int ret = order && first && next ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < n_texts && !ret; i++)
		order[i] = (struct sorting){fold_text(fold, i), i};
	if (!ret)
		qsort(order, n_texts, sizeof(*order), by_text);
	for (uint32_t i = 1; i < fold->n_nodes && !ret; i++) {
		next[i] = first[fold->nodes[i].label];
		first[fold->nodes[i].label] = i;
	}
	for (uint32_t i = n_texts; i-- > 0 && !ret;) {
		for (uint32_t at = first[order[i].label]; at; at = next[at]) {
			struct fold_node *parent = &fold->nodes[fold->nodes[at].parent];

			fold->nodes[at].next = parent->first;
			parent->first = at;
		}
	}
	free(order);
	free(first);
	free(next);
	return ret;
}

/* Adds up totals, from the leaves to the root. */
static void add_up(struct fold *fold)
{
	for (uint32_t i = fold->n_nodes; i-- > 0;) {
		struct fold_node *node = &fold->nodes[i];

		node->total += node->self;
		node->count += node->self_count;
		if (i) {
			fold->nodes[node->parent].total += node->total;
			fold->nodes[node->parent].count += node->count;
		}
	}
}

int fold_make(struct fold *out, const struct profile *profile, fold_text_fn *text)
{
	struct folding folding = {.fold = out, .profile = profile, .text = text};
	int ret;

	*out = (struct fold){0};
	ret = reserve(&folding);
	if (!ret)
		ret = add_all(&folding);
	if (!ret)
		ret = list_children(out);
	if (!ret)
		add_up(out);
	free(folding.keys);
	free(folding.places);
	free(folding.others);
	free(folding.labels);
	free(folding.java_labels);
	free(folding.frames);
	free(folding.commands);
	free(folding.path);
	idtable_fini(&folding.by_key);
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
