/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chunks.h - a growing array whose entries never move, for tables that other threads read.
 *
 * One thread adds.  Another thread may read an entry without a lock, after it learned the id
 * through something that orders memory (the store's lock).  Each chunk is twice as long as the
 * previous one, which keeps the directory small and fixed.  Memory beyond the last entry stays
 * untouched and uncounted.
 */
#ifndef SAMPLER_BASE_CHUNKS_H
#define SAMPLER_BASE_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

#define CHUNKS_FIRST_BITS 8u /* log2 of the entries in the first chunk */
#define CHUNKS_MAX 23u

struct chunks {
	char *chunk[CHUNKS_MAX];
	size_t entry_bytes;
	uint32_t count; /* all ids are below */
};

void chunks_init(struct chunks *chunks, size_t entry_bytes);
void chunks_fini(struct chunks *chunks);

/* Adds one zeroed entry.  Returns 0 and sets *id; or -ENOMEM. */
int chunks_add(struct chunks *chunks, uint32_t *id);

static inline unsigned int chunks_index(uint32_t id)
{
	return 31u - (unsigned int)__builtin_clz(id + (1u << CHUNKS_FIRST_BITS)) -
		CHUNKS_FIRST_BITS;
}

static inline uint32_t chunks_offset(uint32_t id)
{
	uint32_t biased = id + (1u << CHUNKS_FIRST_BITS);

	return biased - (1u << (31u - (unsigned int)__builtin_clz(biased)));
}

/* Pointer to the entry of a valid id; type must be the array's entry type. */
#define CHUNKS_AT(chunks, type, id) \
	((type *)(void *)(chunks)->chunk[chunks_index(id)] + chunks_offset(id))

/* Returns the bytes of all entries. */
size_t chunks_memory(const struct chunks *chunks);

#endif
