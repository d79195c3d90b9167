/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * digest.c - see digest.h.
 *
 * The scratch memory is kept between slices.  What was found out about a node is kept in a cache of
 * fixed size, so its cost does not grow with the number of stacks.
 */
#include "tui/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_BITS 15
#define NONE UINT32_MAX

/* A node's symbol, and whether no caller on its path has the same one. */
struct known {
	uint32_t node; /* STACK_ROOT: empty */
	uint32_t symref;
	uint32_t epoch;
	uint16_t generation;
	bool outermost;
};

/* A node that the slice touches, for one event. */
struct visit {
	uint64_t self, total;
	uint32_t node;
	uint32_t samples;
	uint32_t next; /* of the same depth */
	uint8_t event;
};

struct digester {
	const struct stacks *stacks;
	struct names *names;
	struct known *cache;
	struct visit *visits;
	uint32_t n_visits, room;
	uint32_t *slots; /* over visits, by (node, event); NONE: free */
	uint32_t n_slots;
	uint32_t *depths; /* first visit of each depth */
	uint32_t n_depths, max_depth;
	uint32_t *by_symref; /* entry of a symref + 1, for the event being summed */
	uint32_t n_symrefs;
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
	digester->n_slots = 1024;
	digester->cache = calloc(1u << CACHE_BITS, sizeof(*digester->cache));
	digester->slots = malloc(digester->n_slots * sizeof(*digester->slots));
	if (!digester->cache || !digester->slots) {
		digester_free(digester);
		return -ENOMEM;
	}
	memset(digester->slots, 0xff, digester->n_slots * sizeof(*digester->slots));
	*out = digester;
	return 0;
}

void digester_free(struct digester *digester)
{
	if (!digester)
		return;
	free(digester->cache);
	free(digester->visits);
	free(digester->slots);
	free(digester->depths);
	free(digester->by_symref);
	free(digester->entries);
	free(digester);
}

static uint32_t slot_of(const struct digester *digester, uint32_t node, uint8_t event)
{
	uint64_t hash = ((uint64_t)node << 8 | event) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(hash >> 32) & (digester->n_slots - 1);
}

static int slots_grow(struct digester *digester)
{
	uint32_t n = digester->n_slots * 2;
	uint32_t *slots = malloc((size_t)n * sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	memset(slots, 0xff, (size_t)n * sizeof(*slots));
	free(digester->slots);
	digester->slots = slots;
	digester->n_slots = n;
	for (uint32_t i = 0; i < digester->n_visits; i++) {
		uint32_t slot =
			slot_of(digester, digester->visits[i].node, digester->visits[i].event);

		while (slots[slot] != NONE)
			slot = (slot + 1) & (n - 1);
		slots[slot] = i;
	}
	return 0;
}

static int depths_grow(struct digester *digester, uint32_t depth)
{
	uint32_t n = digester->n_depths ? digester->n_depths : 64;
	uint32_t *grown;

	while (n <= depth)
		n *= 2;
	grown = reallocarray(digester->depths, n, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + digester->n_depths, 0xff, (n - digester->n_depths) * sizeof(*grown));
	digester->depths = grown;
	digester->n_depths = n;
	return 0;
}

/* The visit of a node, made when it is the first; NULL when out of memory. */
static struct visit *visit(struct digester *digester, uint32_t node, uint8_t event)
{
	uint32_t slot = slot_of(digester, node, event);
	struct visit *made;
	uint32_t depth;

	for (; digester->slots[slot] != NONE; slot = (slot + 1) & (digester->n_slots - 1)) {
		struct visit *at = &digester->visits[digester->slots[slot]];

		if (at->node == node && at->event == event)
			return at;
	}
	if (digester->n_visits == digester->room) {
		uint32_t room = digester->room ? digester->room * 2 : 1024;
		struct visit *grown = reallocarray(digester->visits, room, sizeof(*grown));

		if (!grown)
			return NULL;
		digester->visits = grown;
		digester->room = room;
	}
	depth = node == STACK_ROOT ? 0 : stacks_node(digester->stacks, node)->depth;
	if (depth >= digester->n_depths && depths_grow(digester, depth))
		return NULL;
	if (depth > digester->max_depth)
		digester->max_depth = depth;

	digester->slots[slot] = digester->n_visits;
	made = &digester->visits[digester->n_visits];
	*made = (struct visit){.node = node, .event = event, .next = digester->depths[depth]};
	digester->depths[depth] = digester->n_visits++;
	if (digester->n_visits > digester->n_slots / 2) {
		if (slots_grow(digester))
			return NULL;
		made = &digester->visits[digester->n_visits - 1];
	}
	return made;
}

static void look_up(struct digester *digester, uint32_t node, struct known *out)
{
	struct known *known = &digester->cache[node & ((1u << CACHE_BITS) - 1)];
	uint32_t epoch = (uint32_t)names_epoch(digester->names);
	const struct stack_node *at;

	if (node == STACK_ROOT) {
		*out = (struct known){.outermost = true};
		return;
	}
	at = stacks_node(digester->stacks, node);
	if (known->node == node && known->generation == at->generation && known->epoch == epoch) {
		*out = *known;
		return;
	}
	*out = (struct known){
		.node = node,
		.symref = names_symref(digester->names, at->frame),
		.epoch = epoch,
		.generation = at->generation,
		.outermost = true,
	};
	for (uint32_t up = at->parent; up != STACK_ROOT && out->outermost;) {
		const struct stack_node *above = stacks_node(digester->stacks, up);

		out->outermost = names_symref(digester->names, above->frame) != out->symref;
		up = above->parent;
	}
	*known = *out;
}

static bool is_idle(struct digester *digester, const struct slice *slice, uint32_t cell,
	const struct tasks *tasks)
{
	struct known known;

	if (tasks) {
		const struct task_label *label = tasks_label_get(tasks, slice->task[cell]);

		return label && label->pid == 0;
	}
	look_up(digester, slice->stack[cell], &known);
	return names_get(digester->names, known.symref)->idle;
}

/* Cells of one stack under different tasks and CPUs come together here. */
static int gather(struct digester *digester, const struct slice *slice, const struct tasks *tasks,
	bool hide_idle)
{
	for (uint32_t i = 0; i < slice->cells; i++) {
		struct visit *at;

		if (hide_idle && is_idle(digester, slice, i, tasks))
			continue;
		at = visit(digester, slice->stack[i], slice->event[i]);
		if (!at)
			return -ENOMEM;
		at->self += slice->weight[i];
		at->total += slice->weight[i];
		at->samples += slice->count[i];
	}
	return 0;
}

/* Deepest level first, so a node is complete before its caller takes it over. */
static int push_up(struct digester *digester)
{
	for (uint32_t depth = digester->max_depth; depth > 1; depth--) {
		uint32_t next;

		for (uint32_t i = digester->depths[depth]; i != NONE; i = next) {
			const struct visit *at = &digester->visits[i];
			uint64_t total = at->total;
			struct visit *above = visit(digester,
				stacks_node(digester->stacks, at->node)->parent, at->event);

			if (!above)
				return -ENOMEM;
			above->total += total;
			next = digester->visits[i].next;
		}
	}
	return 0;
}

static struct digest_entry *entry_of(struct digester *digester, uint32_t symref)
{
	uint32_t *map = digester->by_symref;

	if (symref >= digester->n_symrefs) {
		uint32_t n = symref + symref / 2 + 256;

		map = reallocarray(map, n, sizeof(*map));
		if (!map)
			return NULL;
		memset(map + digester->n_symrefs, 0, (n - digester->n_symrefs) * sizeof(*map));
		digester->by_symref = map;
		digester->n_symrefs = n;
	}
	if (map[symref])
		return &digester->entries[map[symref] - 1];
	if (digester->n_entries == digester->entries_room) {
		uint32_t room = digester->entries_room ? digester->entries_room * 2 : 256;
		struct digest_entry *grown = reallocarray(digester->entries, room, sizeof(*grown));

		if (!grown)
			return NULL;
		digester->entries = grown;
		digester->entries_room = room;
	}
	map[symref] = digester->n_entries + 1;
	digester->entries[digester->n_entries] = (struct digest_entry){.symref = symref};
	return &digester->entries[digester->n_entries++];
}

static int compare_entries(const void *a, const void *b)
{
	const struct digest_entry *left = a, *right = b;

	return left->symref < right->symref ? -1 : left->symref > right->symref;
}

/* The entries and the total of one event, appended to out. */
static int sum_event(struct digester *digester, uint8_t event, struct digest *out)
{
	struct digest_total *total = &out->totals[out->n_totals];
	uint32_t first = digester->n_entries;
	int ret = 0;

	*total = (struct digest_total){.event = event, .first = first};
	for (uint32_t i = 0; i < digester->n_visits && !ret; i++) {
		const struct visit *at = &digester->visits[i];
		struct digest_entry *entry;
		struct known known;

		if (at->event != event)
			continue;
		look_up(digester, at->node, &known);
		entry = entry_of(digester, known.symref);
		if (!entry) {
			ret = -ENOMEM;
			break;
		}
		entry->self += at->self;
		entry->samples += at->samples;
		if (known.outermost)
			entry->total += at->total;
		total->weight += at->self;
		total->samples += at->samples;
	}
	total->n = digester->n_entries - first;
	for (uint32_t i = first; i < digester->n_entries; i++) {
		const struct digest_entry *entry = &digester->entries[i];
		const struct symref *symref = names_get(digester->names, entry->symref);

		digester->by_symref[entry->symref] = 0;
		if (!symref->resolved)
			total->unresolved += entry->self;
		out->pending |= symref->pending;
	}
	if (total->n)
		qsort(digester->entries + first, total->n, sizeof(*digester->entries),
			compare_entries);
	out->n_totals++;
	return ret;
}

static void clear(struct digester *digester)
{
	/* Most slices touch few of many slots. */
	if (digester->n_visits < digester->n_slots / 16) {
		for (uint32_t i = 0; i < digester->n_visits; i++) {
			uint32_t slot = slot_of(
				digester, digester->visits[i].node, digester->visits[i].event);

			while (digester->slots[slot] != NONE) {
				digester->slots[slot] = NONE;
				slot = (slot + 1) & (digester->n_slots - 1);
			}
		}
	} else {
		memset(digester->slots, 0xff, digester->n_slots * sizeof(*digester->slots));
	}
	if (digester->n_depths)
		memset(digester->depths, 0xff,
			(digester->max_depth + 1) * sizeof(*digester->depths));
	digester->max_depth = 0;
	digester->n_visits = 0;
	digester->n_entries = 0;
}

int digest_make(struct digester *digester, const struct slice *slice, const struct tasks *tasks,
	bool hide_idle, struct digest *out)
{
	int ret;

	*out = (struct digest){
		.serial = slice->serial, .start_ns = slice->start_ns, .end_ns = slice->end_ns};
	if (slice->n_totals) {
		out->totals = calloc(slice->n_totals, sizeof(*out->totals));
		if (!out->totals)
			return -ENOMEM;
	}
	ret = gather(digester, slice, tasks, hide_idle);
	if (!ret)
		ret = push_up(digester);
	for (uint32_t i = 0; i < slice->n_totals && !ret; i++)
		ret = sum_event(digester, slice->totals[i].event, out);
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
	clear(digester);
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

const struct digest_entry *digest_find(const struct digest *digest, uint8_t event, uint32_t symref)
{
	const struct digest_total *total = digest_total(digest, event);
	struct digest_entry key = {.symref = symref};

	if (!total || !total->n)
		return NULL;
	return bsearch(
		&key, digest->entries + total->first, total->n, sizeof(key), compare_entries);
}
