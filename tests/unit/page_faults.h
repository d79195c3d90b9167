/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page_faults.h - causes a given number of minor faults.
 */
#ifndef TESTS_PAGE_FAULTS_H
#define TESTS_PAGE_FAULTS_H

#include <sys/mman.h>
#include <unistd.h>

/* Causes one fault for each page.  Not instrumented, since a sanitizer's own memory would fault,
 * too. */
__attribute__((no_sanitize("thread"))) static inline void touch(size_t pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory = mmap(
		NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	madvise((void *)memory, pages * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		memory[i * page] = 1;
	munmap((void *)memory, pages * page);
}

#endif
