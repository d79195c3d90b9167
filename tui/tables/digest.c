/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * digest.c - see digest.h.
 *
 * Sums are dense arrays by symref, kept between slices.  UI thread.
 */
#include "tui/tables/digest.h"

#include "tui/base/bits.h"
#include "tui/base/grow.h"
#include "tui/names/forest.h"
#include "tui/query/sieve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD 8u /* prefetch distance for stacks, in cells */

struct self {
	uint64_t weight;
	uint32_t samples;
};

/* A cell that passes, and its node in the forest. */
struct met {
	uint32_t cell, number;
};

struct digester {
	const struct stacks *stacks;
	struct names *names;
	struct filter *filter;
	/* valid while a digest is made */
	struct forest *forest;
	struct met *met; /* cells of the current event */
	uint32_t n_met, met_room;
	/* sums of the current event, by symref */
	uint64_t *totals;
	struct self *selfs;
	uint64_t *touched; /* one bit per symref with a total or as a leaf */
	uint32_t totals_room, selfs_room, touched_room;
	/* one bit per symref known to have a name; a name is never lost */
	uint64_t *resolved;
	uint32_t resolved_room;
	/* the lists of the digest under construction */
	uint64_t *weights;
	uint32_t *symrefs;
	struct digest_leaf *leafs;
	uint32_t n, n_leafs, weights_room, symrefs_room, leafs_room;
};

int digester_new(struct digester **out, const struct stacks *stacks, struct names *names)
{
	struct digester *digester = calloc(1, sizeof(*digester));

	*out = NULL;
	if (!digester)
		return -ENOMEM;
	digester->stacks = stacks;
	digester->names = names;
	*out = digester;
	return 0;
}

void digester_free(struct digester *digester)
{
	if (!digester)
		return;
	free(digester->met);
	free(digester->totals);
	free(digester->selfs);
	free(digester->touched);
	free(digester->resolved);
	free(digester->weights);
	free(digester->symrefs);
	free(digester->leafs);
	free(digester);
}

void digester_set_filter(struct digester *digester, struct filter *filter)
{
	digester->filter = filter;
}

static bool is_idle(const struct digester *digester, const struct slice *slice, uint32_t cell,
	uint32_t number, const struct tasks *tasks)
{
	const struct symref *leaf =
		tasks ? NULL : names_get(digester->names, digester->forest->symref[number]);

	return sieve_is_idle(tasks, slice->task[cell], leaf, !tasks);
}

/* Finds the cells of an event that pass, and their nodes in the forest. */
static int find_cells(struct digester *digester, const struct slice *slice, uint8_t event,
	const struct tasks *tasks, bool hide_idle)
{
	digester->n_met = 0;
	for (uint32_t i = 0; i < slice->cells; i++) {
		uint32_t number;

		if (i + AHEAD < slice->cells)
			forest_fetch(digester->forest, slice->stack[i + AHEAD]);
		if (slice->event[i] != event || !filter_pass(digester->filter, slice, i))
			continue;
		if (forest_number(digester->forest, slice->stack[i], &number))
			return -ENOMEM;
		if (hide_idle && is_idle(digester, slice, i, number, tasks))
			continue;
		if (grow_room((void **)&digester->met, digester->n_met, &digester->met_room,
			    sizeof(*digester->met)))
			return -ENOMEM;
		digester->met[digester->n_met++] = (struct met){i, number};
	}
	return 0;
}

/* Makes room for each symbol of the forest. */
static int grow_sums(struct digester *digester)
{
	const uint32_t last = digester->forest->n_newest - 1;

	if (grow_zeroed((void **)&digester->totals, last, &digester->totals_room,
		    sizeof(*digester->totals)) ||
		grow_zeroed((void **)&digester->selfs, last, &digester->selfs_room,
			sizeof(*digester->selfs)))
		return -ENOMEM;
	return grow_zeroed((void **)&digester->touched, last / BITS_WORD, &digester->touched_room,
		sizeof(*digester->touched));
}

static void add_cell(
	struct digester *digester, const struct slice *slice, uint32_t cell, uint32_t number)
{
	const struct forest *forest = digester->forest;
	const uint64_t weight = slice->weight[cell];
	struct self *self = &digester->selfs[forest->symref[number]];

	bits_add(digester->touched, forest->symref[number]);
	self->weight += weight;
	self->samples += slice->count[cell];
	for (uint32_t i = number; i != FOREST_ROOT; i = forest->parent[i]) {
		/* count recursion once */
		if (forest->above[i])
			continue;
		bits_add(digester->touched, forest->symref[i]);
		digester->totals[forest->symref[i]] += weight;
	}
}

static void add_cells(struct digester *digester, const struct slice *slice)
{
	const struct forest *forest = digester->forest;

	for (uint32_t i = 0; i < digester->n_met; i++) {
		if (i + AHEAD < digester->n_met) {
			const uint32_t next = digester->met[i + AHEAD].number;

			__builtin_prefetch(&forest->symref[next]);
			__builtin_prefetch(&forest->parent[next]);
			__builtin_prefetch(&forest->above[next]);
		}
		add_cell(digester, slice, digester->met[i].cell, digester->met[i].number);
	}
}

/* Caches resolved symbols, since there are many and the entries of `names` are scattered in
 * memory. */
static bool is_resolved(struct digester *digester, uint32_t symref, struct digest *out)
{
	const struct symref *name;

	if (bits_has(digester->resolved, digester->resolved_room, symref))
		return true;
	name = names_get(digester->names, symref);
	out->pending |= name->pending;
	out->growing |= name->growing;
	/* If memory runs out, the symbol is looked up again. */
	if (name->resolved &&
		!grow_zeroed((void **)&digester->resolved, symref / BITS_WORD,
			&digester->resolved_room, sizeof(*digester->resolved)))
		bits_add(digester->resolved, symref);
	return name->resolved;
}

static int take_leaf(struct digester *digester, uint32_t symref, const struct self *self,
	bool resolved, struct digest_total *total)
{
	if (grow_room((void **)&digester->leafs, digester->n_leafs, &digester->leafs_room,
		    sizeof(*digester->leafs)))
		return -ENOMEM;
	digester->leafs[digester->n_leafs++] =
		(struct digest_leaf){self->weight, symref, self->samples};
	total->weight += self->weight;
	total->samples += self->samples;
	if (!resolved)
		total->unresolved += self->weight;
	return 0;
}

static int take_sums(
	struct digester *digester, uint32_t symref, struct digest *out, struct digest_total *total)
{
	const struct self *self = &digester->selfs[symref];
	const uint64_t weight = digester->totals[symref];
	bool resolved;

	/* Symbols without weight may be touched, too. */
	if (!weight && !self->samples)
		return 0;
	resolved = is_resolved(digester, symref, out);
	if (grow_room((void **)&digester->weights, digester->n, &digester->weights_room,
		    sizeof(*digester->weights)) ||
		grow_room((void **)&digester->symrefs, digester->n, &digester->symrefs_room,
			sizeof(*digester->symrefs)))
		return -ENOMEM;
	digester->weights[digester->n] = weight;
	digester->symrefs[digester->n++] = symref;
	return self->samples || self->weight ? take_leaf(digester, symref, self, resolved, total)
					     : 0;
}

/* Turns the sums into lists by rising symref and resets them to zero, also after a failure. */
static int collect(
	struct digester *digester, struct digest *out, struct digest_total *total, int ret)
{
	struct bits_walk walk = bits_walk(digester->touched, digester->touched_room);
	uint32_t symref;

	while (bits_next(&walk, &symref)) {
		if (!ret)
			ret = take_sums(digester, symref, out, total);
		digester->totals[symref] = 0;
		digester->selfs[symref] = (struct self){.weight = 0};
		bits_remove(digester->touched, symref);
	}
	total->n = digester->n - total->first;
	total->n_leafs = digester->n_leafs - total->first_leaf;
	return ret;
}

static int sum_event(struct digester *digester, const struct slice *slice, uint8_t event,
	const struct tasks *tasks, bool hide_idle, struct digest *out)
{
	struct digest_total *total = &out->totals[out->n_totals++];
	int ret = find_cells(digester, slice, event, tasks, hide_idle);

	*total = (struct digest_total){
		.event = event, .first = digester->n, .first_leaf = digester->n_leafs};
	if (!ret)
		ret = grow_sums(digester);
	if (!ret)
		add_cells(digester, slice);
	return collect(digester, out, total, ret);
}

/* Builds the index: a new row on the screen looks up its leaf in all digests.  Each part of the
 * index holds about one leaf. */
static int make_index(const struct digest *digest, struct digest_total *total)
{
	const struct digest_leaf *leafs = digest->leafs + total->first_leaf;
	uint32_t range, at = 0;

	if (!total->n_leafs)
		return 0;
	range = leafs[total->n_leafs - 1].symref - leafs[0].symref;
	while (range >> total->shift > total->n_leafs)
		total->shift++;
	total->n_begins = (range >> total->shift) + 1;
	total->begins = malloc((total->n_begins + 1) * sizeof(*total->begins));
	if (!total->begins)
		return -ENOMEM;
	for (uint32_t i = 0; i < total->n_begins; i++) {
		total->begins[i] = at;
		while (at < total->n_leafs &&
			(leafs[at].symref - leafs[0].symref) >> total->shift == i)
			at++;
	}
	total->begins[total->n_begins] = at;
	return 0;
}

static void *copy_of(const void *array, uint32_t n, size_t size)
{
	void *copy = malloc(n ? n * size : 1);

	if (copy && n)
		memcpy(copy, array, n * size);
	return copy;
}

int digest_make(struct digester *digester, const struct slice *slice, const struct tasks *tasks,
	bool hide_idle, struct digest *out)
{
	int ret = 0;

	*out = (struct digest){
		.serial = slice->serial, .start_ns = slice->start_ns, .end_ns = slice->end_ns};
	out->totals = calloc(slice->n_totals ? slice->n_totals : 1, sizeof(*out->totals));
	digester->forest = forest_of(digester->names, digester->stacks);
	if (!out->totals || !digester->forest)
		ret = -ENOMEM;
	digester->n = digester->n_leafs = 0;
	for (uint32_t i = 0; i < slice->n_totals && !ret; i++)
		ret = sum_event(digester, slice, slice->totals[i].event, tasks, hide_idle, out);
	if (!ret) {
		out->weights = copy_of(digester->weights, digester->n, sizeof(*out->weights));
		out->symrefs = copy_of(digester->symrefs, digester->n, sizeof(*out->symrefs));
		out->leafs = copy_of(digester->leafs, digester->n_leafs, sizeof(*out->leafs));
		if (!out->weights || !out->symrefs || !out->leafs)
			ret = -ENOMEM;
	}
	for (uint32_t i = 0; i < out->n_totals && !ret; i++)
		ret = make_index(out, &out->totals[i]);
	forest_put(digester->forest);
	if (ret)
		digest_fini(out);
	return ret;
}

void digest_fini(struct digest *digest)
{
	free(digest->weights);
	free(digest->symrefs);
	free(digest->leafs);
	for (uint32_t i = 0; i < digest->n_totals; i++)
		free(digest->totals[i].begins);
	free(digest->totals);
	memset(digest, 0, sizeof(*digest));
}

uint64_t digest_self(const struct digest *digest, uint8_t event, uint32_t symref)
{
	const struct digest_total *total = NULL;
	const struct digest_leaf *leafs;
	uint32_t part, first, end;

	for (uint32_t i = 0; i < digest->n_totals; i++)
		if (digest->totals[i].event == event)
			total = &digest->totals[i];
	if (!total || !total->n_leafs)
		return 0;
	leafs = digest->leafs + total->first_leaf;
	part = (symref - leafs[0].symref) >> total->shift;
	if (symref < leafs[0].symref || part >= total->n_begins)
		return 0;
	first = total->begins[part];
	end = total->begins[part + 1];
	while (first < end) {
		const uint32_t middle = first + (end - first) / 2;

		if (leafs[middle].symref == symref)
			return leafs[middle].self;
		if (leafs[middle].symref < symref)
			first = middle + 1;
		else
			end = middle;
	}
	return 0;
}
