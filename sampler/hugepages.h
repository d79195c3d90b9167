/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hugepages.h - large tables that are read here and there: fewer pages for the processor to look up.
 *
 * Any thread.  Where the kernel has no huge pages, or is told not to give them, nothing changes.
 */
#ifndef SAMPLER_HUGEPAGES_H
#define SAMPLER_HUGEPAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGEPAGES_BYTES \
	((uintptr_t)2 << 20) /* a page's; where they are larger the kernel takes none */

/* For free(3); NULL when out of memory.  Not zeroed, and mostly not touched yet.  A block at least as large as a huge page begins
 * where one may: such as malloc(3) gives begin anywhere, and of a few megabytes most would lie in small pages. */
static inline void *hugepages_alloc(size_t align, size_t bytes)
{
	bool large = bytes >= HUGEPAGES_BYTES;
	void *block;

	if (posix_memalign(&block, large ? HUGEPAGES_BYTES : align, bytes))
		return NULL;
	if (large)
		(void)madvise(block, bytes & ~(HUGEPAGES_BYTES - 1), MADV_HUGEPAGE);
	return block;
}

/* The same, all zero. */
static inline void *hugepages_zeroed(size_t align, size_t bytes)
{
	void *block = hugepages_alloc(align, bytes);

	if (block)
		memset(block, 0, bytes);
	return block;
}

#endif
