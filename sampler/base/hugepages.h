/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hugepages.h - large tables with random access: huge pages reduce TLB misses.
 *
 * Any thread.  No effect if the kernel has no huge pages or may not use them.
 */
#ifndef SAMPLER_BASE_HUGEPAGES_H
#define SAMPLER_BASE_HUGEPAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGEPAGES_BYTES \
	((uintptr_t)2 << 20) /* page size; if the kernel's pages are larger, it uses none */

/* Allocates a block for free(3); NULL if memory runs out.  It is not zeroed, and mostly untouched.
 * A block of at least one huge page is aligned to huge pages.  malloc(3) does not align, so most of
 * a block of a few megabytes would lie in small pages. */
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

/* Like hugepages_alloc(), zeroed. */
static inline void *hugepages_zeroed(size_t align, size_t bytes)
{
	void *block = hugepages_alloc(align, bytes);

	if (block)
		memset(block, 0, bytes);
	return block;
}

#endif
