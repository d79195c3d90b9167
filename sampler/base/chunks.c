/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chunks.c - see chunks.h.  Sampling thread.
 */
#include "sampler/base/chunks.h"

#include "sampler/base/hugepages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void chunks_init(struct chunks *chunks, size_t entry_bytes)
{
	*chunks = (struct chunks){.entry_bytes = entry_bytes};
}

void chunks_fini(struct chunks *chunks)
{
	for (unsigned int i = 0; i < CHUNKS_MAX; i++)
		free(chunks->chunk[i]);
	*chunks = (struct chunks){.entry_bytes = chunks->entry_bytes};
}

int chunks_add(struct chunks *chunks, uint32_t *id)
{
	uint32_t next = chunks->count;

	if (next >= (1u << (CHUNKS_FIRST_BITS + CHUNKS_MAX)) - (1u << CHUNKS_FIRST_BITS))
		return -ENOMEM;

	unsigned int index = chunks_index(next);
	if (!chunks->chunk[index])
		chunks->chunk[index] = hugepages_alloc(
			_Alignof(max_align_t), chunks->entry_bytes << (CHUNKS_FIRST_BITS + index));
	if (!chunks->chunk[index])
		return -ENOMEM;
	memset(chunks->chunk[index] + chunks_offset(next) * chunks->entry_bytes, 0,
		chunks->entry_bytes);
	/* Other threads read count as the limit of ids; it orders no memory access. */
	__atomic_store_n(&chunks->count, next + 1, __ATOMIC_RELAXED);
	*id = next;
	return 0;
}

size_t chunks_memory(const struct chunks *chunks)
{
	return chunks->entry_bytes * chunks->count;
}
