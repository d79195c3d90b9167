// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * stubs.c - runs code in a page of each file of a folder, and in a function of its own.
 *
 * usage: stubs FOLDER map|remap COUNTERS
 *
 * stubs_known() does most of the work.  The rest is done by its loop in private copies of one page
 * of each file, in turn.  Any files will do, and they stay unchanged.  With remap, each page is
 * mapped again for each turn.  A file that can be mapped but not run (a file of no bytes) is left
 * out.  Prints "ready COUNT", and runs until it is killed.  The file COUNTERS gets two 64-bit
 * numbers: the CPU time in ns so far in stubs_known(), and in the pages.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILES_MAX 256
#define PART 100000u /* turns of the loop */

struct page {
	int fd;
	off_t at;
	void *code;
};

typedef uint64_t stub_fn(uint64_t turns);

uint64_t stubs_known(uint64_t turns);

#if defined(__x86_64__)
/* like the C code below: push %rbp; mov %rsp,%rbp; mov $1,%eax; 1: imul $3,%rax,%rax; dec %rdi; jnz
 * 1b; pop; ret */
static const uint8_t stub_code[] = {0x55, 0x48, 0x89, 0xe5, 0xb8, 0x01, 0x00, 0x00, 0x00, 0x48,
	0x6b, 0xc0, 0x03, 0x48, 0xff, 0xcf, 0x75, 0xf7, 0x5d, 0xc3};

__attribute__((noinline)) uint64_t stubs_known(uint64_t turns)
{
	uint64_t x = 1;

	__asm__ volatile("1: imul $3, %0, %0\n\tdec %1\n\tjnz 1b" : "+r"(x), "+r"(turns) : : "cc");
	return x;
}
#else
static const uint8_t stub_code[1];

__attribute__((noinline)) uint64_t stubs_known(uint64_t turns)
{
	return turns;
}
#endif

static void *map_page(const struct page *page)
{
	void *code = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, page->fd, page->at);

	if (code == MAP_FAILED)
		return NULL;
	memcpy(code, stub_code, sizeof(stub_code));
	return code;
}

/* Opens a file and maps the page that should hold code: the second one, if the file has one.
 * Returns 0 or -1. */
static int open_page(struct page *page, int folder, const char *name)
{
	struct stat st;

	page->fd = openat(folder, name, O_RDONLY);
	if (page->fd < 0)
		return -1;
	if (fstat(page->fd, &st) == 0 && S_ISREG(st.st_mode)) {
		page->at = st.st_size > 4096 ? 4096 : 0;
		if (st.st_size > 0 && (page->code = map_page(page)))
			return 0;
		/* An empty file is mapped, too, but its page cannot be run. */
		if (st.st_size == 0)
			mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, page->fd, 0);
	}
	close(page->fd);
	return -1;
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static volatile uint64_t *map_counters(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || ftruncate(fd, 16) < 0)
		return NULL;
	void *counters = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return counters == MAP_FAILED ? NULL : counters;
}

uint64_t stubs_sum; /* keeps the results of the functions in use */

static int turn(struct page *page, bool remap, volatile uint64_t counters[2])
{
	stub_fn *stub;

	if (remap) {
		munmap(page->code, 4096);
		page->code = map_page(page);
		if (!page->code)
			return -1;
	}
	memcpy(&stub, &page->code, sizeof(stub));
	uint64_t begin = cpu_ns();
	stubs_sum += stubs_known(7 * PART);
	uint64_t middle = cpu_ns();
	stubs_sum += stub(3 * PART);
	counters[0] += middle - begin;
	counters[1] += cpu_ns() - middle;
	return 0;
}

int main(int argc, char **argv)
{
	static struct page pages[FILES_MAX];
	struct dirent *entry;
	size_t n = 0;

	DIR *dir = argc == 4 ? opendir(argv[1]) : NULL;
	volatile uint64_t *counters = dir ? map_counters(argv[3]) : NULL;
	if (!counters)
		return 1;
	while (n < FILES_MAX && (entry = readdir(dir)))
		if (open_page(&pages[n], dirfd(dir), entry->d_name) == 0)
			n++;
	printf("ready %zu\n", n);
	fflush(stdout);
	for (size_t i = 0; n; i = (i + 1) % n)
		if (turn(&pages[i], !strcmp(argv[2], "remap"), counters))
			return 1;
	return 1;
}
