/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idmap.h - a hash table from 64-bit numbers to pointers: event ids, thread ids, process ids.
 *
 * Open addressing with linear probing; removal closes the gap, so lookups never degrade.
 * Values are borrowed.  One thread.
 */
#ifndef SAMPLER_IDMAP_H
#define SAMPLER_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct idmap_slot {
	uint64_t key;
	void *value; /* NULL: free */
};

struct idmap {
	struct idmap_slot *slots;
	size_t n, capacity; /* a power of two, or 0 */
};

void idmap_init(struct idmap *map);
void idmap_fini(struct idmap *map); /* a zeroed table is legal */

/* Sets key's value, which is not NULL.  0 or -ENOMEM. */
int idmap_set(struct idmap *map, uint64_t key, void *value);

/* NULL when there is none. */
void *idmap_find(const struct idmap *map, uint64_t key);

/* The removed value, or NULL. */
void *idmap_remove(struct idmap *map, uint64_t key);

/* The next value from slot *position on, which starts at 0; NULL at the end.  No change of the
 * table is allowed in between, but for setting a present key. */
void *idmap_next(const struct idmap *map, size_t *position);

#endif
