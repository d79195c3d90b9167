/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * grow.h - growth of arrays on the heap.  Pure functions; any thread.
 */
#ifndef SAMPLER_BASE_GROW_H
#define SAMPLER_BASE_GROW_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Gives an array room for exactly n items, at least one.  array: address of the array's pointer;
 * size: bytes of an item.  Returns 0, or -ENOMEM with the array unchanged. */
static inline int grow_exact(void *array, size_t n, size_t size)
{
	void *old, *grown;

	memcpy(&old, array, sizeof(old));
	grown = reallocarray(old, n, size);
	if (!grown)
		return -ENOMEM;
	memcpy(array, &grown, sizeof(grown));
	return 0;
}

/* Makes room for n items at least, in an array that doubles.  *room: items that it holds.  Returns
 * 0, or -ENOMEM with the array and *room unchanged. */
static inline int grow_items(void *array, size_t *room, size_t n, size_t size)
{
	size_t wanted = *room ? *room * 2 : 64;
	int ret;

	if (n <= *room)
		return 0;
	if (wanted < n)
		wanted = n;
	ret = grow_exact(array, wanted, size);
	if (!ret)
		*room = wanted;
	return ret;
}

/* Makes room for the element `at`; new elements are zero.  Returns 0, or -ENOMEM with the array
 * and *room unchanged. */
static inline int grow_zeroed(void *array, uint32_t at, uint32_t *room, size_t size)
{
	size_t wanted = (size_t)at + at / 2 + 256;
	char *old, *grown;

	if (at < *room)
		return 0;
	if (wanted > UINT32_MAX)
		wanted = UINT32_MAX;
	if (at >= wanted)
		return -ENOMEM;
	memcpy(&old, array, sizeof(old));
	/* calloc() takes physical memory only for pages that are written. */
	grown = *room ? reallocarray(old, wanted, size) : calloc(wanted, size);
	if (!grown)
		return -ENOMEM;
	if (*room)
		memset(grown + (size_t)*room * size, 0, (wanted - *room) * size);
	memcpy(array, &grown, sizeof(grown));
	*room = (uint32_t)wanted;
	return 0;
}

#endif
