/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * grow.h - growth of arrays on the heap.
 */
#ifndef SYMBOLS_BASE_GROW_H
#define SYMBOLS_BASE_GROW_H

#include <stddef.h>

/* Makes room for one more item in an array, which grows by half and 16 items.  array: address of
 * the array's pointer; *cap: items that it holds; n: items in use.  Returns 0 or -ENOMEM. */
int array_grow(void *array, size_t *cap, size_t n, size_t size);

#endif
