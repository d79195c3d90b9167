/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idtable.h - an open-addressing hash table from keys to ids; the keys are stored with their owner.
 *
 * A slot has an id (never 0) and 32 bits of its key's hash.  The table can therefore grow and
 * delete without the owner, and a probe reads a key only if the hash matches.  Linear probing; size
 * a power of two; deletion shifts back.  One thread.
 */
#ifndef SAMPLER_BASE_IDTABLE_H
#define SAMPLER_BASE_IDTABLE_H

#include <stddef.h>
#include <stdint.h>

struct idtable_slot {
	uint32_t id; /* 0: empty */
	uint32_t hash;
};

struct idtable {
	struct idtable_slot *slots; /* NULL until the first put */
	uint32_t mask;
	uint32_t used;
};

/* Returns a good 32-bit hash of two words, for keys that strobe creates.  Chains use a secret hash
 * instead. */
static inline uint32_t idtable_mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull;

	x ^= x >> 32;
	x = (x + b) * 0xc4ceb9fe1a85ec53ull;
	return (uint32_t)(x >> 32);
}

/* Returns the next id with a matching hash, or 0.  *cursor starts as the hash. */
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

/* Iterates over ids that may have the key: the body compares and breaks; id is 0 after the last. */
#define IDTABLE_FOR_EACH(table, hash_, id) \
	for (uint32_t cursor_ = (hash_); ((id) = idtable_next((table), (hash_), &cursor_)) != 0;)

/* Adds an id that is not in the table.  Returns 0 or -ENOMEM. */
int idtable_put(struct idtable *table, uint32_t hash, uint32_t id);

/* Removes (hash, id), if it is in the table. */
void idtable_remove(struct idtable *table, uint32_t hash, uint32_t id);

void idtable_fini(struct idtable *table);
size_t idtable_memory(const struct idtable *table);

#endif
