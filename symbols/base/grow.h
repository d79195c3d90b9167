/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * grow.h - growth of arrays on the heap.  Pure functions; any thread.
 */
#ifndef SYMBOLS_BASE_GROW_H
#define SYMBOLS_BASE_GROW_H

#include <stddef.h>

/* Gives an array room for exactly n items, at least one.  array: address of the array's pointer;
 * size: bytes of an item.  Returns 0, or -ENOMEM with the array unchanged. */
int array_resize(void *array, size_t n, size_t size);

/* Makes room for n items at least, in an array that grows by half and 16 items.  *cap: items that
 * it holds.  Returns 0, or -ENOMEM with the array and *cap unchanged. */
int array_grow(void *array, size_t *cap, size_t n, size_t size);

#endif
