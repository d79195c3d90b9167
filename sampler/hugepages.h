/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hugepages.h - large tables that are read here and there: fewer pages for the processor to look up.
 *
 * Any thread.  Where the kernel has no huge pages, or is told not to give them, nothing changes.
 */
#ifndef SAMPLER_HUGEPAGES_H
#define SAMPLER_HUGEPAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define HUGEPAGES_BYTES \
	((uintptr_t)2 << 20) /* a page's; where they are larger the kernel takes none */

/* To be called with memory that is not yet touched.  Smaller blocks stay as they are: theirs would be mostly empty. */
static inline void hugepages_advise(void *block, size_t bytes)
{
	uintptr_t begin = ((uintptr_t)block + HUGEPAGES_BYTES - 1) & ~(HUGEPAGES_BYTES - 1);
	uintptr_t end = ((uintptr_t)block + bytes) & ~(HUGEPAGES_BYTES - 1);

	if (block && bytes >= 2 * HUGEPAGES_BYTES && end > begin)
		(void)madvise(
			(char *)block + (begin - (uintptr_t)block), end - begin, MADV_HUGEPAGE);
}

#endif
