/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cells.c - see cells.h.  Sampling thread.
 */
#include "sampler/store/cells.h"

#include "sampler/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_MIN 256u

int cells_init(struct cells *cells)
{
	*cells = (struct cells){.size = CELLS_MIN, .mask = CELLS_MIN * 2 - 1, .epoch = 1};
	cells->at = malloc(CELLS_MIN * sizeof(*cells->at));
	cells->slots = calloc((size_t)CELLS_MIN * 2, sizeof(*cells->slots));
	if (cells->at && cells->slots)
		return 0;
	cells_fini(cells);
	return -ENOMEM;
}

void cells_fini(struct cells *cells)
{
	free(cells->at);
	free(cells->values);
	free(cells->slots);
	free(cells->order);
	*cells = (struct cells){0};
}

void cells_clear(struct cells *cells)
{
	cells->n = cells->n_values = 0;
	if (++cells->epoch == 0) {
		memset(cells->slots, 0, ((size_t)cells->mask + 1) * sizeof(*cells->slots));
		cells->epoch = 1;
	}
}

void cells_trim(struct cells *cells, uint32_t keep)
{
	struct cells small;

	if (cells->size <= keep || cells_init(&small)) {
		cells_clear(cells);
		return;
	}
	cells_fini(cells);
	*cells = small;
}

size_t cells_memory(const struct cells *cells)
{
	return cells->size *
		(sizeof(*cells->at) + 2 * sizeof(*cells->slots) +
			(cells->values ? sizeof(*cells->values) : 0)) +
		2 * cells->n_order * sizeof(*cells->order);
}

static uint32_t hash_of(const struct cell *cell, uint32_t values)
{
	return cells_hash(cell->stack, cell->task, cell->cpu, cell->event, values);
}

static uint32_t empty_slot(const struct cells *cells, uint32_t hash)
{
	uint32_t at = hash;

	while (cells->slots[at & cells->mask].epoch == cells->epoch)
		at++;
	return at;
}

static void fill_slot(struct cells *cells, uint32_t where, uint32_t hash, uint32_t cell)
{
	cells->slots[where & cells->mask] = (struct cells_slot){
		.epoch = cells->epoch, .cell = (hash & ~(CELLS_MAX - 1)) | cell};
}

static int grow(struct cells *cells)
{
	uint32_t size = cells->size * 2;
	struct cells_slot *slots;

	if (size > CELLS_MAX)
		return -ENOMEM;
	slots = calloc((size_t)size * 2, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	if (grow_exact(&cells->at, size, sizeof(*cells->at)) ||
		(cells->values && grow_exact(&cells->values, size, sizeof(*cells->values)))) {
		free(slots);
		return -ENOMEM;
	}
	free(cells->slots);
	cells->slots = slots;
	cells->size = size;
	cells->mask = size * 2 - 1;
	for (uint32_t i = 0; i < cells->n; i++) {
		uint32_t hash = hash_of(&cells->at[i], cells_values(cells, i));

		fill_slot(cells, empty_slot(cells, hash), hash, i);
	}
	return 0;
}

int cells_add(struct cells *cells, uint32_t where, const struct cell *cell, uint32_t values)
{
	uint32_t hash = hash_of(cell, values);

	if (cells->n == cells->size) {
		int err = grow(cells);

		if (err)
			return err;
		where = empty_slot(cells, hash);
	}
	if (values && !cells->values) {
		cells->values = calloc(cells->size, sizeof(*cells->values));
		if (!cells->values)
			return -ENOMEM;
	}
	if (cells->values)
		cells->values[cells->n] = values;
	cells->n_values += values != 0;
	fill_slot(cells, where, hash, cells->n);
	cells->at[cells->n++] = *cell;
	return 0;
}

const struct radix_item *cells_by_stack(struct cells *cells)
{
	struct radix_item *order;

	if (cells->n_order < cells->n || !cells->order) {
		if (grow_exact(&cells->order, cells->size, 2 * sizeof(*order)))
			return NULL;
		cells->n_order = cells->size;
	}
	order = cells->order;
	for (uint32_t i = 0; i < cells->n; i++)
		order[i] = (struct radix_item){.key = cells->at[i].stack, .id = i};
	return radix_sort(order, order + cells->n_order, cells->n);
}
