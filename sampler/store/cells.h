/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cells.h - counted cells, unique by (stack, task, cpu, event, values), with a hash index.
 *
 * Values have a separate column, allocated with the first cell that has some; sampling without
 * fields pays nothing.  The open slice is one struct cells; merging slices uses another.  Clearing
 * advances the epoch, since a slot of an older epoch counts as empty.  Sampling thread.
 */
#ifndef SAMPLER_STORE_CELLS_H
#define SAMPLER_STORE_CELLS_H

#include "sampler/base/idtable.h"
#include "sampler/base/radix.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CELLS_BITS 20u
#define CELLS_MAX (1u << CELLS_BITS)

struct cell {
	uint32_t stack, task;
	uint16_t cpu;
	uint8_t event;
	uint8_t more; /* number of cells merged into this one; for slices.c */
	uint32_t count;
	uint64_t weight;
};

struct cells_slot {
	uint32_t epoch;
	uint32_t cell; /* index of a cell; above CELLS_BITS, bits of its hash */
};

struct cells {
	struct cell *at;
	uint32_t *values; /* one per cell; NULL if no cell has any */
	uint32_t n_values; /* number of cells that have some */
	uint32_t n, size;
	struct cells_slot *slots; /* 2 * size */
	uint32_t mask;
	uint32_t epoch;
	struct radix_item *order; /* work space of cells_by_stack(), 2 * n_order */
	uint32_t n_order;
};

int cells_init(struct cells *cells);
void cells_fini(struct cells *cells);
void cells_clear(struct cells *cells);
/* Clears, and shrinks to the initial size if there is room for more than `keep` cells. */
void cells_trim(struct cells *cells, uint32_t keep);
size_t cells_memory(const struct cells *cells);
/* Returns the indexes (id) of all cells sorted by stack; cells of one stack stay in order of
 * addition.  The array belongs to cells and is valid until they change.  NULL if memory runs
 * out. */
const struct radix_item *cells_by_stack(struct cells *cells);

static inline uint32_t cells_values(const struct cells *cells, uint32_t i)
{
	return cells->values ? cells->values[i] : 0;
}

static inline uint32_t cells_hash(
	uint32_t stack, uint32_t task, uint16_t cpu, uint8_t event, uint32_t values)
{
	return idtable_mix(
		(uint64_t)stack << 32 | task, (uint64_t)values << 24 | (uint32_t)cpu << 8 | event);
}

/* Returns the cell of this key, or NULL with *where set for cells_add(). */
static inline struct cell *cells_find_hashed(const struct cells *cells, uint32_t hash,
	uint32_t stack, uint32_t task, uint16_t cpu, uint8_t event, uint32_t values,
	uint32_t *where)
{
	for (uint32_t at = hash;; at++) {
		struct cells_slot slot = cells->slots[at & cells->mask];
		struct cell *cell;

		if (slot.epoch != cells->epoch) {
			*where = at;
			return NULL;
		}
		if ((slot.cell ^ hash) >> CELLS_BITS)
			continue;
		cell = &cells->at[slot.cell & (CELLS_MAX - 1)];
		if (cell->stack == stack && cell->task == task && cell->cpu == cpu &&
			cell->event == event &&
			cells_values(cells, slot.cell & (CELLS_MAX - 1)) == values)
			return cell;
	}
}

static inline struct cell *cells_find(const struct cells *cells, uint32_t stack, uint32_t task,
	uint16_t cpu, uint8_t event, uint32_t values, uint32_t *where)
{
	return cells_find_hashed(cells, cells_hash(stack, task, cpu, event, values), stack, task,
		cpu, event, values, where);
}

/* Prefetch in two steps before looking up many cells: first the slots, then the cells. */
static inline void cells_prefetch_slot(const struct cells *cells, uint32_t hash)
{
	__builtin_prefetch(&cells->slots[hash & cells->mask]);
}

static inline void cells_prefetch_cell(const struct cells *cells, uint32_t hash)
{
	struct cells_slot slot = cells->slots[hash & cells->mask];

	if (slot.epoch == cells->epoch)
		__builtin_prefetch(&cells->at[slot.cell & (CELLS_MAX - 1)]);
}

/* Adds a cell that cells_find() did not find, at its *where.  Returns 0, or -ENOMEM, also above
 * CELLS_MAX. */
int cells_add(struct cells *cells, uint32_t where, const struct cell *cell, uint32_t values);

#endif
