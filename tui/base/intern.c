/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * intern.c - see intern.h.
 */
#include "tui/base/intern.h"

#include "tui/base/grow.h"

#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define BLOCK_SIZE (64u << 10)

void intern_fini(struct intern *intern)
{
	while (intern->block) {
		char *before;

		memcpy(&before, intern->block, sizeof(before));
		free(intern->block);
		intern->block = before;
	}
	free(intern->entries);
	free(intern->slots);
	memset(intern, 0, sizeof(*intern));
}

static int slots_grow(struct intern *intern)
{
	uint32_t n = intern->n_slots ? intern->n_slots * 2 : 256;
	uint32_t *slots;

	if (intern->n < intern->n_slots / 2)
		return 0;
	/* Names come from other programs: a random seed keeps them from choosing collisions. */
	if (!intern->n_slots && getrandom(&intern->seed, sizeof(intern->seed), GRND_NONBLOCK) < 0)
		intern->seed = (uintptr_t)intern;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < intern->n; i++) {
		uint32_t slot = intern->entries[i].hash & (n - 1);

		while (slots[slot])
			slot = (slot + 1) & (n - 1);
		slots[slot] = i + 1;
	}
	free(intern->slots);
	intern->slots = slots;
	intern->n_slots = n;
	return 0;
}

static char *copy_of(struct intern *intern, const void *bytes, size_t len)
{
	size_t needed = len + 1;
	char *copy;

	if (!intern->block || intern->block_size - intern->block_used < needed) {
		size_t size =
			needed + sizeof(char *) > BLOCK_SIZE ? needed + sizeof(char *) : BLOCK_SIZE;
		char *block = malloc(size);

		if (!block)
			return NULL;
		memcpy(block, &intern->block, sizeof(intern->block));
		intern->block = block;
		intern->block_used = sizeof(intern->block);
		intern->block_size = size;
	}
	copy = intern->block + intern->block_used;
	memcpy(copy, bytes, len);
	copy[len] = '\0';
	intern->block_used += needed;
	return copy;
}

int intern_id(struct intern *intern, const void *bytes, size_t len, uint32_t *id)
{
	struct intern_entry *entry;
	uint32_t hash, slot;

	if (slots_grow(intern))
		return -ENOMEM;
	hash = (uint32_t)XXH3_64bits_withSeed(bytes, len, intern->seed);
	for (slot = hash & (intern->n_slots - 1); intern->slots[slot];
		slot = (slot + 1) & (intern->n_slots - 1)) {
		entry = &intern->entries[intern->slots[slot] - 1];
		if (entry->hash == hash && entry->len == len && !memcmp(entry->bytes, bytes, len)) {
			*id = intern->slots[slot] - 1;
			return 0;
		}
	}
	if (grow_room((void **)&intern->entries, intern->n, &intern->room, sizeof(*entry)))
		return -ENOMEM;
	entry = &intern->entries[intern->n];
	entry->bytes = copy_of(intern, bytes, len);
	if (!entry->bytes)
		return -ENOMEM;
	entry->len = (uint32_t)len;
	entry->hash = hash;
	*id = intern->n;
	intern->slots[slot] = ++intern->n;
	return 0;
}

const char *intern_text(struct intern *intern, const char *text)
{
	uint32_t id;

	return intern_id(intern, text, strlen(text), &id) ? NULL : intern->entries[id].bytes;
}
