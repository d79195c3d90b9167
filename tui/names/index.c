/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index.c - an index of symrefs by name, for symbols of another profile.
 */
#include "tui/base/format.h"
#include "tui/names/called.h"
#include "tui/names/private.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A function of either profile. */
struct function {
	const struct symref *symbol;
	struct names_place place;
	uint32_t symref;
	bool here;
	bool apart; /* in the build of its namesakes here, so it is partner or none of them */
	uint32_t partner; /* its symref here; 0: none, or not known */
};

struct names_index {
	struct names *names;
	uint32_t *slots; /* open addressing; 0: free */
	uint32_t n, n_slots; /* a power of two */
	struct function *functions; /* both profiles', by_place() */
	uint32_t n_functions;
};

static uint32_t next_of(const struct names_index *index, uint32_t at)
{
	return (at + 1) & (index->n_slots - 1);
}

/* Returns the first slot for a symbol.  Clones of one function have the same, and so has generated
 * code of several runs. */
static uint32_t first_of(const struct names_index *index, const char *symbol, const char *image)
{
	const char *run = called_run(image);
	const uint32_t hash =
		format_hash(symbol, called_base(symbol).len) * 31u + format_hash(run, strlen(run));

	return hash & (index->n_slots - 1);
}

static void insert(struct names_index *index, uint32_t symref)
{
	const struct symref *symbol = names_get(index->names, symref);
	uint32_t at = first_of(index, symbol->symbol, symbol->image);

	while (index->slots[at])
		at = next_of(index, at);
	index->slots[at] = symref;
	index->n++;
}

static int fill(struct names_index *index)
{
	uint32_t limit = names_limit(index->names);

	free(index->slots);
	index->n = 0;
	index->n_slots = 1024;
	while (index->n_slots < 4 * limit)
		index->n_slots *= 2;
	index->slots = calloc(index->n_slots, sizeof(*index->slots));
	if (!index->slots)
		return -ENOMEM;
	for (uint32_t i = 1; i < limit; i++)
		insert(index, i);
	return 0;
}

/* --- functions of one name --- */

static int by_name(const struct function *x, const struct function *y)
{
	int order = strcmp(x->symbol->image, y->symbol->image);

	return order ? order : strcmp(x->symbol->symbol, y->symbol->symbol);
}

/* Orders by name, profile and start. */
static int by_place(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	int order = by_name(x, y);

	if (!order)
		order = (int)y->here - (int)x->here;
	if (!order)
		order = (x->place.start > y->place.start) - (x->place.start < y->place.start);
	return order;
}

static void add_functions(
	struct names_index *index, struct names *names, bool here, const struct symref *only)
{
	uint32_t limit = names_limit(names);

	for (uint32_t i = 1; i < limit; i++) {
		const struct symref *symbol = names_get(names, i);
		struct function function = {.symbol = symbol, .symref = i, .here = here};

		if (only &&
			(strcmp(symbol->symbol, only->symbol) != 0 ||
				strcmp(symbol->image, only->image) != 0))
			continue;
		if (names_place(names, i, &function.place))
			index->functions[index->n_functions++] = function;
	}
}

/* Finds for each function there the one at its place here, in the same build. */
static void pair_places(struct function *functions, uint32_t n_here, uint32_t n)
{
	for (uint32_t i = n_here, k = 0; i < n; i++) {
		functions[i].apart = true;
		while (k < n_here && functions[k].place.start < functions[i].place.start)
			k++;
		if (k < n_here && functions[k].place.start == functions[i].place.start)
			functions[i].partner = functions[k].symref;
	}
}

/* Pairs the functions of one name, n_here and n - n_here.  In other builds, neither their places
 * nor their sampled part are comparable unless as many were sampled. */
static void pair(struct function *functions, uint32_t n_here, uint32_t n)
{
	bool one_build = functions[0].place.build != 0;

	for (uint32_t i = 1; i < n; i++)
		one_build &= functions[i].place.build == functions[0].place.build;
	if (one_build)
		pair_places(functions, n_here, n);
	else if (n == 2 * n_here)
		for (uint32_t i = 0; i < n_here; i++)
			functions[n_here + i].partner = functions[i].symref;
}

static int pair_functions(struct names_index *index, struct names *other, const struct symref *only)
{
	const size_t room = (size_t)names_limit(index->names) + names_limit(other);
	uint32_t n, n_here;

	index->functions = calloc(room, sizeof(*index->functions));
	if (!index->functions)
		return -ENOMEM;
	add_functions(index, index->names, true, only);
	add_functions(index, other, false, only);
	qsort(index->functions, index->n_functions, sizeof(*index->functions), by_place);
	for (uint32_t i = 0; i < index->n_functions; i += n) {
		struct function *first = &index->functions[i];

		for (n = n_here = 0; i + n < index->n_functions && !by_name(first, first + n); n++)
			n_here += first[n].here;
		pair(first, n_here, n);
	}
	return 0;
}

/* Returns the function for a symbol of the other profile; NULL if it is no function there. */
static const struct function *function_there(
	const struct names_index *index, const struct symref *symbol)
{
	const struct function key = {.symbol = symbol, .place.start = symbol->start};

	return index->n_functions && !symbol->foreign
		? bsearch(&key, index->functions, index->n_functions, sizeof(key), by_place)
		: NULL;
}

int names_index_new(struct names_index **out, struct names *names, struct names *other,
	const struct symref *only)
{
	struct names_index *index = calloc(1, sizeof(*index));

	*out = NULL;
	if (!index)
		return -ENOMEM;
	index->names = names;
	if (fill(index) || (other && pair_functions(index, other, only))) {
		names_index_free(index);
		return -ENOMEM;
	}
	*out = index;
	return 0;
}

void names_index_free(struct names_index *index)
{
	if (!index)
		return;
	free(index->functions);
	free(index->slots);
	free(index);
}

enum likeness { UNLIKE, ADDED, CLONE, BASE, OTHER_RUN, SAME_NAME, SAME };

static enum likeness likeness_of(const struct symref *symbol, const struct symref *other)
{
	if (strcmp(called_run(symbol->image), called_run(other->image)) != 0)
		return UNLIKE;
	if (!strcmp(symbol->symbol, other->symbol)) {
		if (other->foreign)
			return other->start && other->start != symbol->start ? UNLIKE : ADDED;
		if (strcmp(symbol->image, other->image) != 0)
			return OTHER_RUN;
		return other->start == symbol->start ? SAME : SAME_NAME;
	}
	if (other->foreign || !other->resolved || !symbol->resolved ||
		!called_alike(symbol->symbol, other->symbol))
		return UNLIKE;
	return called_base(other->symbol).len == strlen(other->symbol) ? BASE : CLONE;
}

/* Finds the function's partner, else the most similar symref: same name and start, same name,
 * generated code of another run, the whole function, a clone of it, or one added before; 0 if none.
 * A function without a partner in its build is none of its namesakes. */
static uint32_t find(const struct names_index *index, const struct symref *symbol)
{
	const struct function *function = function_there(index, symbol);
	enum likeness best = UNLIKE;
	uint32_t found = 0, added = 0;

	if (function && function->partner)
		return function->partner;
	for (uint32_t at = first_of(index, symbol->symbol, symbol->image); index->slots[at];
		at = next_of(index, at)) {
		enum likeness likeness =
			likeness_of(symbol, names_get(index->names, index->slots[at]));

		if (likeness == ADDED) {
			added = index->slots[at];
		} else if (likeness > best) {
			best = likeness;
			found = index->slots[at];
		}
	}
	return !found || (function && function->apart && best >= SAME_NAME) ? added : found;
}

int names_index_add(struct names_index *index, const struct symref *symbol, uint32_t *symref)
{
	const struct function *function = function_there(index, symbol);

	*symref = find(index, symbol);
	if (*symref)
		return 0;
	*symref = names_foreign(index->names, symbol->symbol, symbol->image,
		function && function->apart ? symbol->start : 0);
	if (!*symref)
		return -ENOMEM;
	if (2 * (index->n + 1) > index->n_slots)
		return fill(index);
	insert(index, *symref);
	return 0;
}
