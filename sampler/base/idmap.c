/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idmap.c - see idmap.h.
 */
#include "sampler/base/idmap.h"

#include <errno.h>
#include <stdlib.h>

#define IDMAP_MIN 16

static size_t home_of(const struct idmap *map, uint64_t key)
{
	/* Ids are small and dense: the multiplication spreads them, and the high bits are the
	 * best. */
	return (size_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & (map->capacity - 1);
}

void idmap_init(struct idmap *map)
{
	*map = (struct idmap){0};
}

void idmap_fini(struct idmap *map)
{
	free(map->slots);
	idmap_init(map);
}

static struct idmap_slot *slot_of(const struct idmap *map, uint64_t key)
{
	size_t i = home_of(map, key);

	while (map->slots[i].value && map->slots[i].key != key)
		i = (i + 1) & (map->capacity - 1);
	return &map->slots[i];
}

static int grow(struct idmap *map)
{
	struct idmap bigger = {.n = map->n};

	bigger.capacity = map->capacity ? map->capacity * 2 : IDMAP_MIN;
	bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->capacity; i++)
		if (map->slots[i].value)
			*slot_of(&bigger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = bigger;
	return 0;
}

int idmap_set(struct idmap *map, uint64_t key, void *value)
{
	struct idmap_slot *slot;

	if (map->n * 4 >= map->capacity * 3) {
		int ret = grow(map);

		if (ret)
			return ret;
	}
	slot = slot_of(map, key);
	if (!slot->value)
		map->n++;
	*slot = (struct idmap_slot){.key = key, .value = value};
	return 0;
}

void *idmap_find(const struct idmap *map, uint64_t key)
{
	return map->capacity ? slot_of(map, key)->value : NULL;
}

void *idmap_remove(struct idmap *map, uint64_t key)
{
	size_t mask = map->capacity - 1;
	struct idmap_slot *slot;
	void *value;
	size_t gap;

	if (!map->capacity)
		return NULL;
	slot = slot_of(map, key);
	value = slot->value;
	if (!value)
		return NULL;
	gap = (size_t)(slot - map->slots);
	for (size_t i = (gap + 1) & mask; map->slots[i].value; i = (i + 1) & mask) {
		size_t home = home_of(map, map->slots[i].key);

		/* An entry may move to the gap only if the probe from its home passes the gap. */
		if (((i - home) & mask) < ((i - gap) & mask))
			continue;
		map->slots[gap] = map->slots[i];
		gap = i;
	}
	map->slots[gap] = (struct idmap_slot){0};
	map->n--;
	return value;
}

void *idmap_next(const struct idmap *map, size_t *position)
{
	while (*position < map->capacity) {
		void *value = map->slots[(*position)++].value;

		if (value)
			return value;
	}
	return NULL;
}
