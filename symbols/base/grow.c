/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * grow.c - see grow.h.
 */
#include "symbols/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int array_grow(void *array, size_t *cap, size_t n, size_t size)
{
	void *old;

	if (n < *cap)
		return 0;
	size_t want = *cap + *cap / 2 + 16;
	memcpy(&old, array, sizeof(old));
	void *grown = reallocarray(old, want, size);
	if (!grown)
		return -ENOMEM;
	memcpy(array, &grown, sizeof(grown));
	*cap = want;
	return 0;
}
