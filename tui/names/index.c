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

struct names_index {
	struct names *names;
	uint32_t *slots; /* open addressing; 0: free */
	uint32_t n, n_slots; /* a power of two */
};

static uint32_t next_of(const struct names_index *index, uint32_t at)
{
	return (at + 1) & (index->n_slots - 1);
}

/* Returns the first slot for a symbol.  Clones of one function have the same. */
static uint32_t first_of(const struct names_index *index, const char *symbol, const char *image)
{
	const uint32_t hash = format_hash(symbol, called_base(symbol).len) * 31u +
		format_hash(image, strlen(image));

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

int names_index_new(struct names_index **out, struct names *names)
{
	struct names_index *index = calloc(1, sizeof(*index));

	*out = NULL;
	if (!index)
		return -ENOMEM;
	index->names = names;
	if (fill(index)) {
		names_index_free(index);
		return -ENOMEM;
	}
	*out = index;
	return 0;
}

void names_index_free(struct names_index *index)
{
	if (index)
		free(index->slots);
	free(index);
}

enum likeness { UNLIKE, ADDED, CLONE, BASE, SAME_NAME, SAME };

static enum likeness likeness_of(const struct symref *symbol, const struct symref *other)
{
	if (strcmp(symbol->image, other->image) != 0)
		return UNLIKE;
	if (!strcmp(symbol->symbol, other->symbol)) {
		if (other->foreign)
			return ADDED;
		return other->start == symbol->start ? SAME : SAME_NAME;
	}
	if (other->foreign || !other->resolved || !symbol->resolved ||
		!called_alike(symbol->symbol, other->symbol))
		return UNLIKE;
	return called_base(other->symbol).len == strlen(other->symbol) ? BASE : CLONE;
}

/* Finds the most similar symref: same name and start, same name, the whole function, a clone of it,
 * or one added before; 0 if none. */
static uint32_t find(const struct names_index *index, const struct symref *symbol)
{
	enum likeness best = UNLIKE;
	uint32_t found = 0;

	for (uint32_t at = first_of(index, symbol->symbol, symbol->image); index->slots[at];
		at = next_of(index, at)) {
		enum likeness likeness =
			likeness_of(symbol, names_get(index->names, index->slots[at]));

		if (likeness > best) {
			best = likeness;
			found = index->slots[at];
		}
	}
	return found;
}

int names_index_add(struct names_index *index, const struct symref *symbol, uint32_t *symref)
{
	*symref = find(index, symbol);
	if (*symref)
		return 0;
	*symref = names_foreign(index->names, symbol->symbol, symbol->image);
	if (!*symref)
		return -ENOMEM;
	if (2 * (index->n + 1) > index->n_slots)
		return fill(index);
	insert(index, *symref);
	return 0;
}
