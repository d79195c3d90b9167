/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idtable.c - see idtable.h.
 */
#include "sampler/base/idtable.h"

#include "sampler/base/hugepages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IDTABLE_MIN 64u

static void place(struct idtable_slot *slots, uint32_t mask, struct idtable_slot what)
{
	uint32_t i = what.hash & mask;

	while (slots[i].id)
		i = (i + 1) & mask;
	slots[i] = what;
}

static int resize(struct idtable *table, uint32_t size)
{
	size_t bytes = size * sizeof(struct idtable_slot);
	struct idtable_slot *slots = hugepages_alloc(sizeof(void *), bytes);

	if (!slots)
		return -ENOMEM;
	memset(slots, 0, bytes);
	for (uint32_t i = 0; table->slots && i <= table->mask; i++)
		if (table->slots[i].id)
			place(slots, size - 1, table->slots[i]);
	free(table->slots);
	table->slots = slots;
	table->mask = size - 1;
	return 0;
}

int idtable_put(struct idtable *table, uint32_t hash, uint32_t id)
{
	int err = 0;

	if (!table->slots)
		err = resize(table, IDTABLE_MIN);
	else if (table->used >= table->mask / 4 * 3)
		err = table->mask < UINT32_MAX / 2 ? resize(table, (table->mask + 1) * 2) : -ENOMEM;
	if (err)
		return err;
	place(table->slots, table->mask, (struct idtable_slot){.id = id, .hash = hash});
	table->used++;
	return 0;
}

void idtable_remove(struct idtable *table, uint32_t hash, uint32_t id)
{
	struct idtable_slot *slots = table->slots;
	uint32_t mask = table->mask, hole = hash & mask;

	if (!slots)
		return;
	while (slots[hole].id != id || slots[hole].hash != hash) {
		if (!slots[hole].id)
			return;
		hole = (hole + 1) & mask;
	}
	/* Closes the gap, so that no probe ends too early: entries that may be in the hole move
	 * back. */
	for (uint32_t i = (hole + 1) & mask; slots[i].id; i = (i + 1) & mask) {
		if (((i - slots[i].hash) & mask) >= ((i - hole) & mask)) {
			slots[hole] = slots[i];
			hole = i;
		}
	}
	slots[hole].id = 0;
	table->used--;
	/* Shrinks a table that a burst has enlarged. */
	if (mask + 1 > IDTABLE_MIN && table->used < (mask + 1) / 8)
		(void)resize(table, (mask + 1) / 2); /* on failure the table stays */
}

void idtable_fini(struct idtable *table)
{
	free(table->slots);
	*table = (struct idtable){0};
}

size_t idtable_memory(const struct idtable *table)
{
	return table->slots ? ((size_t)table->mask + 1) * sizeof(*table->slots) : 0;
}
