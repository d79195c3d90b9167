/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chunks.h - an array that grows and never moves: tables whose entries other threads read.
 *
 * One thread adds.  Another may read an entry, without a lock, once it has learned the entry's id through
 * something that orders memory (the store's lock).  Each chunk is twice as long as the one before, so that the
 * directory is small and fixed; memory beyond the last entry stays untouched and is not counted.
 */
#ifndef SAMPLER_CHUNKS_H
#define SAMPLER_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

#define CHUNKS_FIRST_BITS 8u /* entries of the first chunk */
#define CHUNKS_MAX 23u

struct chunks {
	char *chunk[CHUNKS_MAX];
	size_t entry_bytes;
	uint32_t count; /* every id is below */
};

void chunks_init(struct chunks *chunks, size_t entry_bytes);
void chunks_fini(struct chunks *chunks);

/* Add one zeroed entry.  Returns 0 and sets *id; or -ENOMEM. */
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

/* The entry, of the type that the array was made for, of an id that was given. */
#define CHUNKS_AT(chunks, type, id) \
	((type *)(void *)(chunks)->chunk[chunks_index(id)] + chunks_offset(id))

/* Bytes of all entries ever added. */
size_t chunks_memory(const struct chunks *chunks);

#endif
