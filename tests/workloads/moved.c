/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * moved.c - moves its code into memory without a file, as programs do for huge pages, and runs it.
 *
 * usage: moved HOW [later] [fork|exec]
 *
 * HOW:
 *   copy     anonymous memory over a part of the code
 *   mremap   over all code at once
 *   pieces   over a part, in three pieces
 *   memfd    over a part, in a memory file
 *   sparse   over a part; pages that never run are missing
 *   missing  like sparse; a reader of those pages waits for ever, if userfaultfd(2) is permitted
 *   other    anonymous memory with other code
 *   jit      like other, after the code is unmapped
 *   half     every other page has other code
 *   none     nothing is moved
 *
 * later: it sleeps, and moves the code on SIGUSR1.  fork: a child runs the code.  exec: this
 * program is executed again, and moves nothing.
 *
 * All time is spent in mine(), or in theirs() if its code is moved there.
 */
#include <fcntl.h>
#include <link.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096u
#define PAGES 8u /* pages of mine() and the code after it */
#define PLACE(NAME) __attribute__((noinline, used, section(".text." NAME), aligned(4096)))

PLACE("a_mine") static void mine(void)
{
	for (volatile int i = 0; i < 300000; i++)
		;
}

/* Pages that never run, each with code of its own. */
#define FILLER(NAME, N)                           \
	PLACE(NAME) static int filler##N(int n)   \
	{                                         \
		volatile int sum = N;             \
		for (int i = 0; i < n; i++)       \
			sum += sum * (N + 3) ^ i; \
		return sum;                       \
	}
FILLER("b1", 1)
FILLER("b2", 2)
FILLER("b3", 3)
FILLER("b4", 4)
FILLER("b5", 5)
FILLER("b6", 6)
FILLER("b7", 7)

PLACE("c_theirs") static void theirs(void)
{
	for (volatile long i = 7; i < 100007; i += 2)
		;
}
PLACE("d_end") static int last(void)
{
	return 1;
}

static void wake(int number)
{
	(void)number;
}

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static char *anonymous(void *at, size_t len)
{
	char *memory = mmap(at, len, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	must(memory != MAP_FAILED, "mmap");
	return memory;
}

struct code {
	char *at;
	size_t len;
};

/* Finds the program's code. */
static int find_code(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct code *code = ctx;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		code->at = (char *)((info->dlpi_addr + part->p_vaddr) & ~(uintptr_t)(PAGE - 1));
		code->len = (info->dlpi_addr + part->p_vaddr + part->p_memsz - (uintptr_t)code->at +
				    PAGE - 1) &
			~(size_t)(PAGE - 1);
	}
	return 1;
}

static void move_all(void)
{
	struct code code = {0};

	dl_iterate_phdr(find_code, &code);
	char *copy = anonymous(NULL, code.len);
	memcpy(copy, code.at, code.len);
	must(!mprotect(copy, code.len, PROT_READ | PROT_EXEC), "mprotect");
	/* Both before and after the call, these instructions are at this address. */
	must(mremap(copy, code.len, code.len, MREMAP_MAYMOVE | MREMAP_FIXED, code.at) == code.at,
		"mremap");
}

static void move(const char *how)
{
	void *volatile mine_at = (void *)mine, *volatile theirs_at = (void *)theirs;
	const size_t len = PAGES * PAGE;
	char *at = mine_at;

	if (!strcmp(how, "mremap")) {
		move_all();
		return;
	}
	char *copy = anonymous(NULL, len);
	memcpy(copy, at, len);
	if (!strcmp(how, "other") || !strcmp(how, "jit"))
		for (size_t i = 0; i < PAGES; i++)
			memcpy(copy + i * PAGE, theirs_at, PAGE);
	if (!strcmp(how, "half"))
		for (size_t i = 0; i < PAGES; i += 2)
			memcpy(copy + i * PAGE, theirs_at, PAGE);
	if (!strcmp(how, "jit"))
		must(!munmap(at, len), "munmap");
	if (!strcmp(how, "memfd")) {
		int fd = memfd_create("text", 0);

		must(fd >= 0 && write(fd, copy, len) == (ssize_t)len, "memfd");
		must(mmap(at, len, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) == at,
			"mmap");
		return;
	}
	if (!strcmp(how, "missing") || !strcmp(how, "sparse")) {
		struct uffdio_api api = {.api = UFFD_API};
		struct uffdio_register area = {
			.range = {(uintptr_t)at, len}, .mode = UFFDIO_REGISTER_MODE_MISSING};
		int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

		anonymous(at, len);
		memcpy(at, copy, PAGE);
		must(!mprotect(at, len, PROT_READ | PROT_EXEC), "mprotect");
		if (*how == 'm' && fd >= 0 && !ioctl(fd, UFFDIO_API, &api))
			must(!ioctl(fd, UFFDIO_REGISTER, &area), "userfaultfd");
		return;
	}
	/* The one in the middle differs, so that the kernel does not merge them. */
	const size_t pieces = strcmp(how, "pieces") ? 1 : 3;
	const size_t sizes[] = {pieces == 1 ? len : 2 * PAGE, PAGE, len - 3 * PAGE};
	for (size_t i = 0, from = 0; i < pieces; from += sizes[i++]) {
		anonymous(at + from, sizes[i]);
		memcpy(at + from, copy + from, sizes[i]);
		if (i == 1)
			madvise(at + from, sizes[i], MADV_DONTFORK);
		must(!mprotect(at + from, sizes[i], PROT_READ | PROT_EXEC), "mprotect");
	}
}

int main(int argc, char **argv)
{
	void (*volatile run)(void) = mine;
	const char *then = "";
	int later = 0;

	if (argc < 2)
		return 2;
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "later"))
			later = 1;
		else
			then = argv[i];
	}
	signal(SIGUSR1, wake);
	if (later) {
		puts("ready");
		fflush(stdout);
		pause();
	}
	if (strcmp(argv[1], "none"))
		move(argv[1]);
	if (!strcmp(then, "exec"))
		execl("/proc/self/exe", argv[0], "none", (char *)NULL);
	if (!strcmp(then, "fork")) {
		if (fork()) {
			wait(NULL);
			return 0;
		}
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	}
	if (!later) {
		puts("ready");
		fflush(stdout);
	}
	for (;;)
		run();
}
