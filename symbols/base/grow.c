/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * grow.c - see grow.h.
 */
#include "symbols/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int array_resize(void *array, size_t n, size_t size)
{
	void *old;

	memcpy(&old, array, sizeof(old));
	void *grown = reallocarray(old, n, size);
	if (!grown)
		return -ENOMEM;
	memcpy(array, &grown, sizeof(grown));
	return 0;
}

int array_grow(void *array, size_t *cap, size_t n, size_t size)
{
	if (n <= *cap)
		return 0;
	size_t want = *cap + *cap / 2 + 16;
	if (want < n)
		want = n;
	int ret = array_resize(array, want, size);
	if (ret == 0)
		*cap = want;
	return ret;
}
