/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idtable.h - an open-addressing hash table from keys to ids; the keys live with their owner.
 *
 * A slot is an id (never 0) and 32 bits of its key's hash: the table can grow and delete without asking the
 * owner, and a probe touches a key only when the hash agrees.  Linear probing, power of two, deletion by
 * shifting back.  One thread.
 */
#ifndef SAMPLER_IDTABLE_H
#define SAMPLER_IDTABLE_H

#include <stddef.h>
#include <stdint.h>

struct idtable_slot {
	uint32_t id; /* 0: empty */
	uint32_t hash;
};

struct idtable {
	struct idtable_slot *slots; /* NULL while nothing was ever put */
	uint32_t mask;
	uint32_t used;
};

/* A good 32-bit hash of two words for keys of our own making; chains are hashed with a secret instead. */
static inline uint32_t idtable_mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull;

	x ^= x >> 32;
	x = (x + b) * 0xc4ceb9fe1a85ec53ull;
	return (uint32_t)(x >> 32);
}

/* The next id whose hash agrees, or 0.  *cursor starts as the hash. */
static inline uint32_t idtable_next(const struct idtable *table, uint32_t hash, uint32_t *cursor)
{
	if (!table->slots)
		return 0;
	for (;;) {
		const struct idtable_slot *slot = &table->slots[(*cursor)++ & table->mask];

		if (!slot->id || slot->hash == hash)
			return slot->id;
	}
}

static inline void idtable_prefetch(const struct idtable *table, uint32_t hash)
{
	if (table->slots)
		__builtin_prefetch(&table->slots[hash & table->mask]);
}

/* Walk the ids that may have the key: the body compares and breaks, with id 0 after the last. */
#define IDTABLE_FOR_EACH(table, hash_, id) \
	for (uint32_t cursor_ = (hash_); ((id) = idtable_next((table), (hash_), &cursor_)) != 0;)

/* Add an id that is not there.  Returns 0 or -ENOMEM. */
int idtable_put(struct idtable *table, uint32_t hash, uint32_t id);

/* Remove (hash, id); nothing happens where it is not there. */
void idtable_remove(struct idtable *table, uint32_t hash, uint32_t id);

void idtable_fini(struct idtable *table);
size_t idtable_memory(const struct idtable *table);

#endif
