/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idmap.h - a hash table from 64-bit numbers to pointers: event ids, thread ids, process ids.
 *
 * Open addressing with linear probing; removal closes the gap, so lookups never degrade.  Values
 * are borrowed.  One thread.
 */
#ifndef SAMPLER_BASE_IDMAP_H
#define SAMPLER_BASE_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct idmap_slot {
	uint64_t key;
	void *value; /* NULL: free slot */
};

struct idmap {
	struct idmap_slot *slots;
	size_t n, capacity; /* capacity: a power of two, or 0 */
};

void idmap_init(struct idmap *map);
void idmap_fini(struct idmap *map); /* accepts a zeroed table */

/* Sets the value of key; not NULL.  Returns 0 or -ENOMEM. */
int idmap_set(struct idmap *map, uint64_t key, void *value);

/* Returns the value; NULL if none. */
void *idmap_find(const struct idmap *map, uint64_t key);

/* Removes a key.  Returns its value; NULL if none. */
void *idmap_remove(struct idmap *map, uint64_t key);

/* Returns the next value from slot *position on, which starts at 0; NULL at the end.  During the
 * walk the table must not change, except for values of existing keys. */
void *idmap_next(const struct idmap *map, size_t *position);

#endif
