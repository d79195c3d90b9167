/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * strings.c - chunks of text, and a table of hashes.
 */
#include "symbols/wire/strings.h"

#include "symbols/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define CHUNK_BYTES (64u * 1024)

struct strings_chunk {
	struct strings_chunk *next;
	size_t used, size;
	char text[];
};

void strings_fini(struct strings *strings)
{
	while (strings->chunks) {
		struct strings_chunk *next = strings->chunks->next;
		free(strings->chunks);
		strings->chunks = next;
	}
	free(strings->texts);
	free(strings->slots);
	*strings = (struct strings){0};
}

/* Returns the slot of text, or the free slot for it. */
static uint32_t *find_slot(
	const struct strings *strings, uint32_t *slots, uint32_t cap, const char *text, size_t len)
{
	uint32_t i = (uint32_t)XXH3_64bits(text, len) & (cap - 1);

	while (slots[i] && strcmp(strings->texts[slots[i] - 1], text) != 0)
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

static int grow_slots(struct strings *strings)
{
	const uint32_t cap = strings->slots_cap ? strings->slots_cap * 2 : 256;

	if (strings->n < strings->slots_cap / 2)
		return 0;
	uint32_t *slots = cap ? calloc(cap, sizeof(*slots)) : NULL;
	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < strings->n; i++) {
		const char *text = strings->texts[i];
		*find_slot(strings, slots, cap, text, strlen(text)) = i + 1;
	}
	free(strings->slots);
	strings->slots = slots;
	strings->slots_cap = cap;
	return 0;
}

static char *copy(struct strings *strings, const char *text, size_t bytes)
{
	struct strings_chunk *chunk = strings->chunks;

	if (!chunk || bytes > chunk->size - chunk->used) {
		const size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
		chunk = malloc(sizeof(*chunk) + size);
		if (!chunk)
			return NULL;
		*chunk = (struct strings_chunk){.next = strings->chunks, .size = size};
		strings->chunks = chunk;
	}
	char *kept = chunk->text + chunk->used;
	memcpy(kept, text, bytes);
	chunk->used += bytes;
	return kept;
}

int64_t strings_add(struct strings *strings, const char *text)
{
	const size_t len = strlen(text);

	if (grow_slots(strings) < 0 ||
		array_grow(&strings->texts, &strings->cap, (size_t)strings->n + 1,
			sizeof(*strings->texts)) < 0)
		return -ENOMEM;
	uint32_t *slot = find_slot(strings, strings->slots, strings->slots_cap, text, len);
	if (*slot)
		return (int64_t)*slot - 1;
	const char *kept = copy(strings, text, len + 1);
	if (!kept)
		return -ENOMEM;
	strings->texts[strings->n] = kept;
	*slot = ++strings->n;
	return (int64_t)strings->n - 1;
}
