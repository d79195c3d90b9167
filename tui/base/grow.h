/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * grow.h - growing arrays.  Pure functions; any thread.
 */
#ifndef TUI_BASE_GROW_H
#define TUI_BASE_GROW_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more element than `used`.  Returns 0, or -ENOMEM with the array unchanged. */
static inline int grow_room(void **array, uint32_t used, uint32_t *room, size_t size)
{
	uint32_t wanted = *room ? *room * 2 : 256;
	void *grown;

	if (used < *room)
		return 0;
	if (wanted < *room)
		return -ENOMEM;
	grown = reallocarray(*array, wanted, size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*room = wanted;
	return 0;
}

/* Makes room for the element `at`; new elements are zero.  Returns 0, or -ENOMEM with the array
 * unchanged. */
static inline int grow_zeroed(void **array, uint32_t at, uint32_t *room, size_t size)
{
	size_t wanted = (size_t)at + at / 2 + 256;
	char *grown;

	if (at < *room)
		return 0;
	if (wanted > UINT32_MAX)
		wanted = UINT32_MAX;
	if (at >= wanted)
		return -ENOMEM;
	/* calloc() takes physical memory only for pages that are written. */
	grown = *room ? reallocarray(*array, wanted, size) : calloc(wanted, size);
	if (!grown)
		return -ENOMEM;
	if (*room)
		memset(grown + (size_t)*room * size, 0, (wanted - *room) * size);
	*array = grown;
	*room = (uint32_t)wanted;
	return 0;
}

#endif
