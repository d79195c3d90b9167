/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slice_cells.h - adds cells to handmade slices, in the store's order, and updates the totals by
 * event.
 */
#ifndef TESTS_SLICE_CELLS_H
#define TESTS_SLICE_CELLS_H

#include "sampler/store/store.h"

#include <string.h>

/* Makes room for one element at index `at` of a column of n. */
static inline void slice_cells_open(const void *column, uint32_t at, uint32_t n, size_t size)
{
	char *begin = (char *)(uintptr_t)column + at * size;

	memmove(begin + size, begin, (n - at) * size);
}

/* Adds a cell to a slice; returns its index.  The caller's arrays for columns and totals must
 * have room. */
static inline uint32_t slice_cells_add(struct slice *slice, uint32_t stack, uint32_t task,
	uint16_t cpu, uint8_t event, uint64_t weight, uint32_t count)
{
	struct slice_total *totals = (struct slice_total *)(uintptr_t)slice->totals;
	uint32_t n = slice->cells++, at = n, total = 0;

	while (at && slice->stack[at - 1] > stack)
		at--;
	slice_cells_open(slice->stack, at, n, sizeof(*slice->stack));
	slice_cells_open(slice->task, at, n, sizeof(*slice->task));
	slice_cells_open(slice->cpu, at, n, sizeof(*slice->cpu));
	slice_cells_open(slice->event, at, n, sizeof(*slice->event));
	slice_cells_open(slice->weight, at, n, sizeof(*slice->weight));
	slice_cells_open(slice->count, at, n, sizeof(*slice->count));
	((uint32_t *)(uintptr_t)slice->stack)[at] = stack;
	((uint32_t *)(uintptr_t)slice->task)[at] = task;
	((uint16_t *)(uintptr_t)slice->cpu)[at] = cpu;
	((uint8_t *)(uintptr_t)slice->event)[at] = event;
	((uint64_t *)(uintptr_t)slice->weight)[at] = weight;
	((uint32_t *)(uintptr_t)slice->count)[at] = count;
	while (total < slice->n_totals && totals[total].event != event)
		total++;
	if (total == slice->n_totals)
		totals[slice->n_totals++] = (struct slice_total){.event = event};
	totals[total].weight += weight;
	totals[total].count += count;
	return at;
}

#endif
