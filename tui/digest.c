/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * digest.c - see digest.h.
 *
 * Sums are dense arrays by symref, kept between slices.  The lists of symbols of stacks live in one
 * arena, which is emptied when it is full or when names change.
 */
#include "tui/digest.h"

#include "tui/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PATHS_MAX (1u << 16) /* stacks remembered, at most */
#define ARENA_MAX (1u << 20) /* symrefs in all their lists, at most */

/* The symbols on one stack, leaf first, each once. */
struct path {
	uint32_t node; /* STACK_ROOT: free */
	uint32_t first; /* in the arena */
	uint16_t n;
	uint16_t generation;
};

struct sum {
	uint64_t self, total;
	uint32_t samples;
	uint32_t seen; /* the walk that met it last */
};

struct digester {
	const struct stacks *stacks;
	struct names *names;
	struct filter *filter;
	uint64_t epoch; /* of the paths */
	struct path *paths; /* open addressing */
	uint32_t n_paths, n_slots;
	uint32_t *arena;
	uint32_t arena_used, arena_room;
	struct sum *sums; /* by symref */
	uint32_t n_sums;
	uint32_t walk;
	uint32_t *touched; /* symrefs with sums, of the event at hand */
	uint32_t n_touched, touched_room;
	struct digest_entry *entries;
	uint32_t n_entries, entries_room;
};

int digester_new(struct digester **out, const struct stacks *stacks, struct names *names)
{
	struct digester *digester = calloc(1, sizeof(*digester));

	*out = NULL;
	if (!digester)
		return -ENOMEM;
	digester->stacks = stacks;
	digester->names = names;
	digester->epoch = names_epoch(names);
	digester->n_slots = 1024;
	digester->paths = calloc(digester->n_slots, sizeof(*digester->paths));
	if (!digester->paths) {
		digester_free(digester);
		return -ENOMEM;
	}
	*out = digester;
	return 0;
}

void digester_free(struct digester *digester)
{
	if (!digester)
		return;
	free(digester->paths);
	free(digester->arena);
	free(digester->sums);
	free(digester->touched);
	free(digester->entries);
	free(digester);
}

void digester_set_filter(struct digester *digester, struct filter *filter)
{
	digester->filter = filter;
}

static int sums_grow(struct digester *digester, uint32_t symref)
{
	uint32_t n = symref + symref / 2 + 256;
	struct sum *grown;

	if (symref < digester->n_sums)
		return 0;
	grown = reallocarray(digester->sums, n, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + digester->n_sums, 0, (n - digester->n_sums) * sizeof(*grown));
	digester->sums = grown;
	digester->n_sums = n;
	return 0;
}

static struct path *slot_of(struct path *paths, uint32_t n_slots, uint32_t node)
{
	uint32_t slot = (uint32_t)((node * 0x9e3779b97f4a7c15ull) >> 32) & (n_slots - 1);

	while (paths[slot].node != STACK_ROOT && paths[slot].node != node)
		slot = (slot + 1) & (n_slots - 1);
	return &paths[slot];
}

static void forget_paths(struct digester *digester)
{
	memset(digester->paths, 0, digester->n_slots * sizeof(*digester->paths));
	digester->n_paths = 0;
	digester->arena_used = 0;
}

static int paths_grow(struct digester *digester)
{
	uint32_t n = digester->n_slots * 2;
	struct path *paths;

	if (digester->n_paths < digester->n_slots / 2)
		return 0;
	if (digester->n_paths >= PATHS_MAX) {
		forget_paths(digester);
		return 0;
	}
	paths = calloc(n, sizeof(*paths));
	if (!paths)
		return -ENOMEM;
	for (uint32_t i = 0; i < digester->n_slots; i++)
		if (digester->paths[i].node != STACK_ROOT)
			*slot_of(paths, n, digester->paths[i].node) = digester->paths[i];
	free(digester->paths);
	digester->paths = paths;
	digester->n_slots = n;
	return 0;
}

/* Appends the stack's distinct symbols to the arena. */
static int walk(struct digester *digester, uint32_t node, struct path *path)
{
	/* Stamps tell what this walk has met; when the counter wraps, old stamps must go. */
	if (++digester->walk == 0) {
		for (uint32_t i = 0; i < digester->n_sums; i++)
			digester->sums[i].seen = 0;
		digester->walk = 1;
	}
	path->node = node;
	path->first = digester->arena_used;
	path->n = 0;
	path->generation = stacks_node(digester->stacks, node)->generation;
	while (node != STACK_ROOT) {
		const struct stack_node *at = stacks_node(digester->stacks, node);
		uint32_t symref = names_symref(digester->names, at->frame);

		node = at->parent;
		if (sums_grow(digester, symref))
			return -ENOMEM;
		if (digester->sums[symref].seen == digester->walk)
			continue;
		digester->sums[symref].seen = digester->walk;
		if (grow_room((void **)&digester->arena, digester->arena_used,
			    &digester->arena_room, sizeof(*digester->arena)))
			return -ENOMEM;
		digester->arena[digester->arena_used++] = symref;
		path->n++;
	}
	return 0;
}

/* The stack's path; NULL when out of memory.  Valid until the next call. */
static const struct path *path_of(struct digester *digester, uint32_t node)
{
	struct path *path = slot_of(digester->paths, digester->n_slots, node);
	bool known = path->node == node;

	if (known && path->generation == stacks_node(digester->stacks, node)->generation)
		return path;
	if (digester->arena_used >= ARENA_MAX) {
		forget_paths(digester);
		known = false;
	}
	if (!known && paths_grow(digester))
		return NULL;
	path = slot_of(digester->paths, digester->n_slots, node);
	if (walk(digester, node, path)) {
		/* The slot may be half written, and the next slice may find memory again. */
		forget_paths(digester);
		return NULL;
	}
	digester->n_paths += !known;
	return path;
}

/* The sum of a symbol, noted as touched when it is the first time. */
static struct sum *touch(struct digester *digester, uint32_t symref)
{
	struct sum *sum = &digester->sums[symref];

	if (sum->total || sum->samples)
		return sum;
	if (grow_room((void **)&digester->touched, digester->n_touched, &digester->touched_room,
		    sizeof(*digester->touched)))
		return NULL;
	digester->touched[digester->n_touched++] = symref;
	return sum;
}

static int add_cell(struct digester *digester, const struct slice *slice, uint32_t cell)
{
	static const struct path nowhere = {.n = 1};
	const uint32_t unknown = 0, *list = &unknown;
	const struct path *path = &nowhere;
	uint64_t weight = slice->weight[cell];

	if (slice->stack[cell] != STACK_ROOT) {
		path = path_of(digester, slice->stack[cell]);
		if (!path)
			return -ENOMEM;
		list = digester->arena + path->first;
	} else if (sums_grow(digester, unknown)) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < path->n; i++) {
		struct sum *sum = touch(digester, list[i]);

		if (!sum)
			return -ENOMEM;
		sum->total += weight;
		if (!i) {
			sum->self += weight;
			sum->samples += slice->count[cell];
		}
	}
	return 0;
}

static int is_idle(struct digester *digester, const struct slice *slice, uint32_t cell,
	const struct tasks *tasks)
{
	const struct path *path;

	if (tasks) {
		const struct task_label *label = tasks_label_get(tasks, slice->task[cell]);

		return label && label->pid == 0;
	}
	if (slice->stack[cell] == STACK_ROOT)
		return 0;
	path = path_of(digester, slice->stack[cell]);
	if (!path)
		return -ENOMEM;
	return names_get(digester->names, digester->arena[path->first])->idle;
}

static int compare_symrefs(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

/* From sums to entries, and the sums back to zero, also after a failure. */
static int collect(
	struct digester *digester, struct digest *out, struct digest_total *total, int ret)
{
	if (digester->n_touched)
		qsort(digester->touched, digester->n_touched, sizeof(*digester->touched),
			compare_symrefs);
	for (uint32_t i = 0; i < digester->n_touched; i++) {
		uint32_t symref = digester->touched[i];
		struct sum *sum = &digester->sums[symref];

		if (!ret)
			ret = grow_room((void **)&digester->entries, digester->n_entries,
				&digester->entries_room, sizeof(*digester->entries));
		/* A weight of 0 without samples can be touched twice. */
		if (!ret && (sum->total || sum->samples)) {
			const struct symref *name = names_get(digester->names, symref);

			digester->entries[digester->n_entries++] =
				(struct digest_entry){sum->self, sum->total, symref, sum->samples};
			total->weight += sum->self;
			total->samples += sum->samples;
			if (!name->resolved)
				total->unresolved += sum->self;
			out->pending |= name->pending;
			total->n++;
		}
		sum->self = sum->total = 0;
		sum->samples = 0;
	}
	digester->n_touched = 0;
	return ret;
}

static int sum_event(struct digester *digester, const struct slice *slice, uint8_t event,
	const struct tasks *tasks, bool hide_idle, struct digest *out)
{
	struct digest_total *total = &out->totals[out->n_totals++];
	int ret = 0;

	*total = (struct digest_total){.event = event, .first = digester->n_entries};
	for (uint32_t i = 0; i < slice->cells && ret >= 0; i++) {
		if (slice->event[i] != event || !filter_pass(digester->filter, slice, i))
			continue;
		ret = hide_idle ? is_idle(digester, slice, i, tasks) : 0;
		if (!ret)
			ret = add_cell(digester, slice, i);
	}
	return collect(digester, out, total, ret < 0 ? ret : 0);
}

int digest_make(struct digester *digester, const struct slice *slice, const struct tasks *tasks,
	bool hide_idle, struct digest *out)
{
	int ret = 0;

	*out = (struct digest){
		.serial = slice->serial, .start_ns = slice->start_ns, .end_ns = slice->end_ns};
	if (digester->epoch != names_epoch(digester->names)) {
		forget_paths(digester);
		digester->epoch = names_epoch(digester->names);
	}
	if (slice->n_totals) {
		out->totals = calloc(slice->n_totals, sizeof(*out->totals));
		if (!out->totals)
			return -ENOMEM;
	}
	digester->n_entries = 0;
	for (uint32_t i = 0; i < slice->n_totals && !ret; i++)
		ret = sum_event(digester, slice, slice->totals[i].event, tasks, hide_idle, out);
	if (!ret && digester->n_entries) {
		size_t bytes = digester->n_entries * sizeof(*out->entries);

		out->entries = malloc(bytes);
		if (out->entries) {
			memcpy(out->entries, digester->entries, bytes);
			out->n_entries = digester->n_entries;
		} else {
			ret = -ENOMEM;
		}
	}
	if (ret)
		digest_fini(out);
	return ret;
}

void digest_fini(struct digest *digest)
{
	free(digest->entries);
	free(digest->totals);
	memset(digest, 0, sizeof(*digest));
}

const struct digest_total *digest_total(const struct digest *digest, uint8_t event)
{
	for (uint32_t i = 0; i < digest->n_totals; i++)
		if (digest->totals[i].event == event)
			return &digest->totals[i];
	return NULL;
}

static int compare_entries(const void *a, const void *b)
{
	const struct digest_entry *left = a, *right = b;

	return left->symref < right->symref ? -1 : left->symref > right->symref;
}

const struct digest_entry *digest_find(const struct digest *digest, uint8_t event, uint32_t symref)
{
	const struct digest_total *total = digest_total(digest, event);
	struct digest_entry key = {.symref = symref};

	if (!total || !total->n)
		return NULL;
	return bsearch(
		&key, digest->entries + total->first, total->n, sizeof(key), compare_entries);
}
