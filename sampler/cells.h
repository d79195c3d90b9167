/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cells.h - counted cells, distinct in (stack, task, cpu, event), with an index to find them by.
 *
 * The open slice is one; merging small slices uses another.  Clearing costs nothing: a slot of an older epoch
 * is an empty one.  Sampling thread.
 */
#ifndef SAMPLER_CELLS_H
#define SAMPLER_CELLS_H

#include "sampler/idtable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CELLS_MAX (1u << 20)

struct cell {
	uint32_t stack, task;
	uint16_t cpu;
	uint8_t event;
	uint32_t count;
	uint64_t weight;
};

struct cells_slot {
	uint32_t epoch;
	uint32_t cell;
};

struct cells {
	struct cell *at;
	uint32_t n, size;
	struct cells_slot *slots; /* twice as many */
	uint32_t mask;
	uint32_t epoch;
};

int cells_init(struct cells *cells);
void cells_fini(struct cells *cells);
void cells_clear(struct cells *cells);
size_t cells_memory(const struct cells *cells);

static inline uint32_t cells_hash(uint32_t stack, uint32_t task, uint16_t cpu, uint8_t event)
{
	return idtable_mix((uint64_t)stack << 32 | task, (uint32_t)cpu << 8 | event);
}

/* The cell of this key, or NULL; *where is then what cells_add() needs to put it in its place. */
static inline struct cell *cells_find(const struct cells *cells, uint32_t stack, uint32_t task,
	uint16_t cpu, uint8_t event, uint32_t *where)
{
	uint32_t at = cells_hash(stack, task, cpu, event);

	for (;; at++) {
		struct cells_slot slot = cells->slots[at & cells->mask];
		struct cell *cell = &cells->at[slot.cell];

		*where = at;
		if (slot.epoch != cells->epoch)
			return NULL;
		if (cell->stack == stack && cell->task == task && cell->cpu == cpu &&
			cell->event == event)
			return cell;
	}
}

/* Add a cell that cells_find() did not find.  0, or -ENOMEM, also above CELLS_MAX. */
int cells_add(struct cells *cells, uint32_t where, const struct cell *cell);

#endif
