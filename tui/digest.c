/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * digest.c - see digest.h.
 *
 * Sums are dense arrays by symref, kept between slices.
 */
#include "tui/digest.h"

#include "tui/forest.h"
#include "tui/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORD 64u /* bits of `touched` */

struct sum {
	uint64_t self, total;
	uint32_t samples;
};

struct digester {
	const struct stacks *stacks;
	struct names *names;
	struct filter *filter;
	struct forest *forest; /* while a digest is made */
	struct sum *sums; /* by symref */
	uint64_t *touched; /* a bit for each symref that has a sum, of the event at hand */
	uint64_t *resolved; /* the same for those that were found to have a name, which they keep */
	uint32_t sums_room, touched_room, resolved_room;
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
	*out = digester;
	return 0;
}

void digester_free(struct digester *digester)
{
	if (!digester)
		return;
	free(digester->sums);
	free(digester->touched);
	free(digester->resolved);
	free(digester->entries);
	free(digester);
}

void digester_set_filter(struct digester *digester, struct filter *filter)
{
	digester->filter = filter;
}

/* The sum of a symbol, noted as touched. */
static struct sum *touch(struct digester *digester, uint32_t symref)
{
	if (symref >= digester->sums_room &&
		grow_zeroed((void **)&digester->sums, symref, &digester->sums_room,
			sizeof(*digester->sums)))
		return NULL;
	if (symref / WORD >= digester->touched_room &&
		grow_zeroed((void **)&digester->touched, symref / WORD, &digester->touched_room,
			sizeof(*digester->touched)))
		return NULL;
	digester->touched[symref / WORD] |= UINT64_C(1) << symref % WORD;
	return &digester->sums[symref];
}

static int add_cell(
	struct digester *digester, const struct slice *slice, uint32_t cell, uint32_t number)
{
	const struct forest *forest = digester->forest;
	uint64_t weight = slice->weight[cell];
	struct sum *sum = touch(digester, forest->symref[number]);

	if (!sum)
		return -ENOMEM;
	sum->self += weight;
	sum->samples += slice->count[cell];
	for (uint32_t i = number; i != FOREST_ROOT; i = forest->parent[i]) {
		/* Recursion counts once. */
		if (forest->above[i])
			continue;
		sum = touch(digester, forest->symref[i]);
		if (!sum)
			return -ENOMEM;
		sum->total += weight;
	}
	return 0;
}

static bool is_idle(const struct digester *digester, const struct slice *slice, uint32_t cell,
	uint32_t number, const struct tasks *tasks)
{
	if (tasks) {
		const struct task_label *label = tasks_label_get(tasks, slice->task[cell]);

		return label && label->pid == 0;
	}
	return names_get(digester->names, digester->forest->symref[number])->idle;
}

/* Symbols are many, and what is known of each lies far apart: it is looked at once. */
static bool is_resolved(struct digester *digester, uint32_t symref, bool *pending)
{
	const uint64_t bit = UINT64_C(1) << symref % WORD;
	const uint32_t at = symref / WORD;
	const struct symref *name;

	if (at < digester->resolved_room && digester->resolved[at] & bit)
		return true;
	name = names_get(digester->names, symref);
	*pending |= name->pending;
	/* Out of memory it is looked at again. */
	if (name->resolved &&
		!grow_zeroed((void **)&digester->resolved, at, &digester->resolved_room,
			sizeof(*digester->resolved)))
		digester->resolved[at] |= bit;
	return name->resolved;
}

static int take_sum(struct digester *digester, uint32_t symref, const struct sum *sum,
	struct digest *out, struct digest_total *total)
{
	if (grow_room((void **)&digester->entries, digester->n_entries, &digester->entries_room,
		    sizeof(*digester->entries)))
		return -ENOMEM;
	digester->entries[digester->n_entries++] =
		(struct digest_entry){sum->self, sum->total, symref, sum->samples};
	total->weight += sum->self;
	total->samples += sum->samples;
	if (!is_resolved(digester, symref, &out->pending))
		total->unresolved += sum->self;
	total->n++;
	return 0;
}

/* From sums to entries, by rising symrefs, and the sums back to zero, also after a failure. */
static int collect(
	struct digester *digester, struct digest *out, struct digest_total *total, int ret)
{
	for (uint32_t i = 0; i < digester->touched_room; i++) {
		for (uint64_t bits = digester->touched[i]; bits; bits &= bits - 1) {
			const uint32_t symref = i * WORD + (uint32_t)__builtin_ctzll(bits);
			struct sum *sum = &digester->sums[symref];

			/* What weighs nothing may have been touched as well. */
			if (!ret && (sum->total || sum->samples))
				ret = take_sum(digester, symref, sum, out, total);
			*sum = (struct sum){.self = 0};
		}
		digester->touched[i] = 0;
	}
	return ret;
}

static int sum_event(struct digester *digester, const struct slice *slice, uint8_t event,
	const struct tasks *tasks, bool hide_idle, struct digest *out)
{
	struct digest_total *total = &out->totals[out->n_totals++];
	int ret = 0;

	*total = (struct digest_total){.event = event, .first = digester->n_entries};
	for (uint32_t i = 0; i < slice->cells && !ret; i++) {
		uint32_t number;

		if (slice->event[i] != event || !filter_pass(digester->filter, slice, i))
			continue;
		ret = forest_number(digester->forest, slice->stack[i], &number);
		if (!ret && !(hide_idle && is_idle(digester, slice, i, number, tasks)))
			ret = add_cell(digester, slice, i, number);
	}
	return collect(digester, out, total, ret);
}

int digest_make(struct digester *digester, const struct slice *slice, const struct tasks *tasks,
	bool hide_idle, struct digest *out)
{
	int ret = 0;

	*out = (struct digest){
		.serial = slice->serial, .start_ns = slice->start_ns, .end_ns = slice->end_ns};
	if (slice->n_totals) {
		out->totals = calloc(slice->n_totals, sizeof(*out->totals));
		if (!out->totals)
			return -ENOMEM;
	}
	digester->forest = forest_of(digester->names, digester->stacks);
	if (!digester->forest)
		ret = -ENOMEM;
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
	forest_put(digester->forest);
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

uint64_t digest_self(const struct digest *digest, uint8_t event, uint32_t symref)
{
	const struct digest_total *total = digest_total(digest, event);
	const struct digest_entry key = {.symref = symref};
	const struct digest_entry *entry;

	if (!total || !total->n)
		return 0;
	entry = bsearch(
		&key, digest->entries + total->first, total->n, sizeof(key), compare_entries);
	return entry ? entry->self : 0;
}
