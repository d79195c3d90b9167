/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cells.h - counted cells, distinct in (stack, task, cpu, event, values), with an index to find them by.
 *
 * Values have a column of their own, made when the first cell has some: those who sample without fields pay nothing.
 * The open slice is one; merging slices uses another.  Clearing costs nothing: a slot of an older epoch
 * is an empty one.  Sampling thread.
 */
#ifndef SAMPLER_CELLS_H
#define SAMPLER_CELLS_H

#include "sampler/idtable.h"
#include "sampler/radix.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CELLS_BITS 20u
#define CELLS_MAX (1u << CELLS_BITS)

struct cell {
	uint32_t stack, task;
	uint16_t cpu;
	uint8_t event;
	uint8_t more; /* how many cells were added to this one: for slices.c */
	uint32_t count;
	uint64_t weight;
};

struct cells_slot {
	uint32_t epoch;
	uint32_t cell; /* the number of a cell; above it, bits of its hash */
};

struct cells {
	struct cell *at;
	uint32_t *values; /* of each cell; NULL: none has any */
	uint32_t n_values; /* cells that have some */
	uint32_t n, size;
	struct cells_slot *slots; /* twice as many */
	uint32_t mask;
	uint32_t epoch;
	struct radix_item *order; /* work space of cells_by_stack(), twice n_order */
	uint32_t n_order;
};

int cells_init(struct cells *cells);
void cells_fini(struct cells *cells);
void cells_clear(struct cells *cells);
/* Clear, and give memory back where there is room for more than `keep` cells. */
void cells_trim(struct cells *cells, uint32_t keep);
size_t cells_memory(const struct cells *cells);
/* The numbers (id) of the cells in ascending order of their stacks, those of one stack as they were added; the cells' own, until
 * they are changed.  NULL when out of memory. */
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

/* The cell of this key, or NULL; *where is then what cells_add() needs to put it in its place. */
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

/* Two steps for many cells to be found: each asks for memory that the next one reads. */
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

/* Add a cell that cells_find() did not find.  0, or -ENOMEM, also above CELLS_MAX. */
int cells_add(struct cells *cells, uint32_t where, const struct cell *cell, uint32_t values);

#endif
