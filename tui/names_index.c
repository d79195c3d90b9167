/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names_index.c - symrefs by what they are called, for symbols of another profile that have the same names.
 */
#include "tui/names_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct names_index {
	struct names *names;
	uint32_t *slots; /* open addressing; 0: free */
	uint32_t n, n_slots; /* a power of two */
};

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return (hash ^ 0xff) * 0x100000001b3ull;
}

/* The slot of a symbol, or the free one where it belongs. */
static uint32_t *slot_of(const struct names_index *index, const char *symbol, const char *image)
{
	uint64_t hash = hash_text(hash_text(0xcbf29ce484222325ull, symbol), image);
	uint32_t at = (uint32_t)(hash ^ hash >> 32) & (index->n_slots - 1);

	while (index->slots[at]) {
		const struct symref *other = names_get(index->names, index->slots[at]);

		if (!strcmp(other->symbol, symbol) && !strcmp(other->image, image))
			break;
		at = (at + 1) & (index->n_slots - 1);
	}
	return &index->slots[at];
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
	for (uint32_t i = 1; i < limit; i++) {
		const struct symref *symbol = names_get(index->names, i);
		uint32_t *slot = slot_of(index, symbol->symbol, symbol->image);

		index->n += !*slot;
		/* What was added comes behind what is really here. */
		if (!*slot || (names_get(index->names, *slot)->foreign && !symbol->foreign))
			*slot = i;
	}
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

int names_index_add(
	struct names_index *index, const char *symbol, const char *image, uint32_t *symref)
{
	uint32_t *slot = slot_of(index, symbol, image);

	*symref = *slot;
	if (*slot)
		return 0;
	if (2 * ++index->n > index->n_slots) {
		if (fill(index))
			return -ENOMEM;
		slot = slot_of(index, symbol, image);
	}
	*slot = *symref = names_foreign(index->names, symbol, image);
	return *symref ? 0 : -ENOMEM;
}
