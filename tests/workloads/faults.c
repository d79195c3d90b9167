// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * faults.c - an exact number of page faults.
 *
 * Prints "ready" and waits for a line (or the end) of its standard input.  Then faults_touch()
 * touches PAGES fresh pages, each of which is one minor fault.  Prints the number of faults that
 * the kernel counted, waits for another line, and ends.
 *
 * usage: faults PAGES [ROUNDS]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

void faults_touch(volatile uint8_t *memory, size_t pages, size_t page_len);

__attribute__((noinline)) void faults_touch(volatile uint8_t *memory, size_t pages, size_t page_len)
{
	for (size_t i = 0; i < pages; i++)
		memory[i * page_len] = 1;
}

static void wait_for_line(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n')
		continue;
}

static long faults_now(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

int main(int argc, char **argv)
{
	size_t pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	size_t page_len = (size_t)sysconf(_SC_PAGESIZE), len = pages * page_len;
	long before;
	void *memory;

	if (!pages || !rounds) {
		fprintf(stderr, "usage: faults PAGES [ROUNDS]\n");
		return 2;
	}
	memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* A huge page would be one fault instead of 512. */
	if (memory == MAP_FAILED || (madvise(memory, len, MADV_NOHUGEPAGE) && rounds > 1)) {
		perror("faults");
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	wait_for_line();
	before = faults_now();
	for (unsigned long i = 0; i < rounds; i++) {
		faults_touch(memory, pages, page_len);
		madvise(memory, len, MADV_DONTNEED);
	}
	printf("%ld\n", faults_now() - before);
	fflush(stdout);
	wait_for_line();
	return 0;
}
