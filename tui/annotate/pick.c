/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pick.c - see pick.h.
 */
#include "tui/annotate/pick.h"

#include "tui/base/grow.h"
#include "tui/names/called.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b, void *ctx)
{
	const struct pick_function *left = a, *right = b;
	const struct symref *l, *r;
	struct names *names = ctx;
	int order;

	if (left->share > right->share || left->share < right->share)
		return left->share > right->share ? -1 : 1;
	if (left->other > right->other || left->other < right->other)
		return left->other > right->other ? -1 : 1;
	if (left->samples != right->samples)
		return left->samples > right->samples ? -1 : 1;
	l = names_get(names, left->symref);
	r = names_get(names, right->symref);
	order = strcmp(l->symbol, r->symbol);
	if (!order)
		order = strcmp(l->path, r->path);
	return order ? order : left->symref < right->symref ? -1 : left->symref > right->symref;
}

/* Grows the sums to `limit` symrefs; each event has two sums. */
static int grow_sums(struct pick *pick, uint32_t limit, size_t n_events)
{
	const size_t size = n_events * 2 * sizeof(*pick->sums);

	if (limit <= pick->n_symrefs)
		return 0;
	if (grow_exact(&pick->sums, limit, size))
		return -ENOMEM;
	memset(pick->sums + (size_t)pick->n_symrefs * n_events * 2, 0,
		(limit - pick->n_symrefs) * size);
	pick->n_symrefs = limit;
	return 0;
}

static int add_entries(struct pick *pick, const struct scan_question *question,
	const struct scan *scan, const uint8_t *events, size_t n_events)
{
	for (uint32_t i = 0; i < scan->n_entries; i++) {
		const struct scan_entry *entry = &scan->entries[i];
		uint8_t event = scan->sides[entry->side].event;
		size_t column = 0;
		uint32_t symref = 0;
		uint64_t *sums;

		while (column < n_events && events[column] != event)
			column++;
		if (column == n_events)
			continue;
		if (entry->node != STACK_ROOT)
			symref = names_symref(
				question->names, stacks_node(question->stacks, entry->node)->frame);
		if (grow_sums(pick, names_limit(question->names), n_events))
			return -ENOMEM;
		sums = pick->sums + ((size_t)symref * n_events + column) * 2;
		sums[0] += entry->weight;
		sums[1] += entry->samples;
		pick->weight[column] += entry->weight;
		pick->samples[column] += entry->samples;
	}
	return 0;
}

static int list_functions(struct pick *pick, struct names *names)
{
	size_t first = 0;

	pick->functions = calloc((size_t)pick->n_symrefs + 1, sizeof(*pick->functions));
	if (!pick->functions)
		return -ENOMEM;
	while (first + 1 < pick->n_events && !pick->samples[first])
		first++;
	for (uint32_t i = 0; i < pick->n_symrefs; i++) {
		struct pick_function function = {.symref = i};

		for (size_t j = 0; j < pick->n_events; j++) {
			const uint64_t *sums = pick->sums + ((size_t)i * pick->n_events + j) * 2;
			double share =
				pick->weight[j] ? (double)sums[0] / (double)pick->weight[j] : 0;

			if (j == first)
				function.share = share;
			if (share > function.other)
				function.other = share;
			function.samples += sums[1];
		}
		if (function.samples)
			pick->functions[pick->n++] = function;
	}
	qsort_r(pick->functions, pick->n, sizeof(*pick->functions), compare, names);
	return 0;
}

int pick_make(struct pick *out, const struct scan_question *question, const uint8_t *events,
	size_t n_events)
{
	struct scan_question asked = *question;
	struct scan scan;
	int ret;

	memset(out, 0, sizeof(*out));
	out->n_events = n_events;
	asked.by = SCAN_STACK;
	asked.leave_unresolved = true;
	asked.column = GROUP_KEYS;
	asked.event = -1;
	ret = scan_run(&asked, &scan);
	if (ret)
		return ret;
	ret = add_entries(out, &asked, &scan, events, n_events);
	scan_fini(&scan);
	if (!ret)
		ret = list_functions(out, asked.names);
	if (ret)
		pick_fini(out);
	return ret;
}

void pick_fini(struct pick *pick)
{
	free(pick->functions);
	free(pick->sums);
	memset(pick, 0, sizeof(*pick));
}

/* --- by name --- */

enum how { HOW_EXACT, HOW_WHOLE, HOW_BARE, HOW_LAST, HOW_CLONE, HOW_PART, HOWS };

static bool is_called(
	const struct symref *name, struct symbols *symbols, const char *text, enum how how)
{
	struct symbol symbol;

	switch (how) {
	case HOW_EXACT:
		return !strcmp(name->symbol, text) ||
			(symbols_find(symbols, name->image_id, name->start, &symbol) &&
				*symbol.name && !strcmp(symbol.name, text));
	case HOW_WHOLE:
		return called_in_text(text, name->symbol, CALLED_WHOLE);
	case HOW_BARE:
		return called(text, name, CALLED_BARE);
	case HOW_LAST:
		return called(text, name, CALLED_LAST);
	case HOW_CLONE:
		return called(text, name, CALLED_CLONE);
	default:
		return strstr(name->symbol, text) != NULL;
	}
}

int pick_find(const struct pick *pick, struct names *names, struct symbols *symbols,
	const char *text, enum pick_match *match, size_t **found, size_t *n)
{
	size_t *list = calloc(pick->n + 1, sizeof(*list));
	bool one_name = true;

	*match = PICK_NONE;
	*found = NULL;
	*n = 0;
	if (!list)
		return -ENOMEM;
	for (int how = HOW_EXACT; how < HOWS && !*n; how++) {
		for (size_t i = 0; i < pick->n; i++) {
			const struct symref *name = names_get(names, pick->functions[i].symref);

			if (!name->bounded || !is_called(name, symbols, text, (enum how)how))
				continue;
			one_name &= !*n ||
				!strcmp(name->symbol,
					names_get(names, pick->functions[list[0]].symref)->symbol);
			list[(*n)++] = i;
		}
		if (!*n)
			continue;
		if (!one_name)
			*match = PICK_SEVERAL;
		else
			*match = how == HOW_PART ? PICK_PART : PICK_EXACT;
	}
	*found = list;
	return 0;
}
