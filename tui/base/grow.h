/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * grow.h - growth of arrays that are counted in 32 bits.  Pure functions; any thread.
 */
#ifndef TUI_BASE_GROW_H
#define TUI_BASE_GROW_H

#include <stdint.h>

#include "sampler/base/grow.h"

/* Makes room for one more element than `used`.  Returns 0, or -ENOMEM with the array unchanged. */
static inline int grow_room(void **array, uint32_t used, uint32_t *room, size_t size)
{
	uint32_t wanted = *room ? *room * 2 : 256;

	if (used < *room)
		return 0;
	if (wanted < *room || grow_exact(array, wanted, size))
		return -ENOMEM;
	*room = wanted;
	return 0;
}

#endif
