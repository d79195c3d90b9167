// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * stacks.c - a function that computes on stacks of several kinds, called from places of several
 * kinds, without frame pointers.
 *
 * usage: stacks KIND SECONDS [LIBRARY]
 *
 * KIND:
 *   coroutine  makecontext()
 *   alternate  a signal handler with sigaltstack()
 *   library    opened with dlopen()
 *   deleted    removed after it is opened
 *   tall       40 KiB
 *   register   x86-64: assembly that keeps the caller's stack pointer in r11
 *   assembly   x86-64: assembly without call frame information and frame pointer
 *   last       x86-64: such assembly that ends in a call
 *
 * The program runs for SECONDS of CPU time.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define ALONE __attribute__((noinline))
#define STACK_BYTES 65536u

static ucontext_t outside, inside;
static double seconds;

static bool goes_on(void)
{
	return (double)clock() / CLOCKS_PER_SEC < seconds;
}

ALONE static void compute(void)
{
	for (unsigned int turn = 0; turn < 1000000; turn++)
		__asm__ volatile("" : : : "memory");
}

ALONE static void enter_coroutine(void)
{
	for (;;) {
		compute();
		swapcontext(&inside, &outside);
	}
}

ALONE static void run_coroutine(void)
{
	static char stack[STACK_BYTES];

	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	makecontext(&inside, enter_coroutine, 0);
	while (goes_on())
		swapcontext(&outside, &inside);
}

ALONE static void handle_signal(int number)
{
	(void)number;
	compute();
	__asm__ volatile("");
}

ALONE static void run_signals(void)
{
	static char bytes[STACK_BYTES];
	const stack_t stack = {.ss_sp = bytes, .ss_size = sizeof(bytes)};
	const struct sigaction action = {.sa_handler = handle_signal, .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	while (goes_on())
		raise(SIGUSR1);
}

ALONE static int run_library(const char *path, bool removed)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*between)(void (*)(void)) = NULL;

	if (library)
		*(void **)(void *)&between = dlsym(library, "stacks_between");
	if (!between || (removed && unlink(path)))
		return 1;
	while (goes_on())
		between(compute);
	return 0;
}

ALONE static void run_tall(unsigned int floors)
{
	char room[4096];

	__asm__ volatile("" : : "r"(room) : "memory");
	if (floors)
		run_tall(floors - 1);
	else
		while (goes_on())
			compute();
	__asm__ volatile("" : : "r"(room) : "memory");
}

#ifdef __x86_64__
void spin_bare(unsigned int turns);
__asm__(".pushsection .text\n"
	".type spin_bare, @function\n"
	"spin_bare:\n"
	"	push %rbp\n"
	"	mov $1, %ebp\n"
	"1:	dec %edi\n"
	"	jnz 1b\n"
	"	pop %rbp\n"
	"	ret\n"
	".size spin_bare, . - spin_bare\n"
	".popsection\n");

ALONE static void run_assembly(void)
{
	while (goes_on())
		spin_bare(1000000);
}

void compute_by_register(void);
void call_last(void (*function)(void));

__asm__(".text\n"
	".p2align 4\n"
	".type compute_by_register, @function\n"
	"compute_by_register:\n"
	"	.cfi_startproc\n"
	"	mov %rsp, %r11\n"
	"	.cfi_def_cfa_register %r11\n"
	"	sub $200, %rsp\n"
	"	and $-64, %rsp\n"
	"	mov $1000000, %ecx\n"
	"1:	dec %ecx\n"
	"	jnz 1b\n"
	"	mov %r11, %rsp\n"
	"	.cfi_def_cfa_register %rsp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size compute_by_register, . - compute_by_register\n"
	/* The call ends at a multiple of 16, and another function begins there. */
	".p2align 4\n"
	".type call_last, @function\n"
	"call_last:\n"
	"	sub $8, %rsp\n"
	"	.skip 26, 0x90\n"
	"	call *%rdi\n"
	"	.size call_last, . - call_last\n"
	".type behind_last, @function\n"
	"behind_last:\n"
	"	.cfi_startproc\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size behind_last, . - behind_last\n");

ALONE static void run_register(void)
{
	while (goes_on())
		compute_by_register();
}

ALONE static void exit_at_last(void)
{
	while (goes_on())
		compute();
	_exit(0);
}
#endif

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	seconds = strtod(argv[2], NULL);
	if (!strcmp(argv[1], "coroutine"))
		run_coroutine();
	else if (!strcmp(argv[1], "alternate"))
		run_signals();
	else if (!strcmp(argv[1], "tall"))
		run_tall(10);
#ifdef __x86_64__
	else if (!strcmp(argv[1], "assembly"))
		run_assembly();
	else if (!strcmp(argv[1], "register"))
		run_register();
	else if (!strcmp(argv[1], "last"))
		call_last(exit_at_last);
#endif
	else if (argc > 3)
		return run_library(argv[3], !strcmp(argv[1], "deleted"));
	return 0;
}
