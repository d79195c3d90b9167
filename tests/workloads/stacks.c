// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * stacks - a function that computes on stacks of several kinds, called from places of several kinds,
 * without frame pointers.
 *
 * usage: stacks KIND SECONDS [LIBRARY]
 *
 * KIND: coroutine (makecontext()), alternate (a signal handler with sigaltstack()), library (opened
 * with dlopen()), deleted (removed, once it is open).  The program runs for so much CPU time.
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

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	seconds = strtod(argv[2], NULL);
	if (!strcmp(argv[1], "coroutine"))
		run_coroutine();
	else if (!strcmp(argv[1], "alternate"))
		run_signals();
	else if (argc > 3)
		return run_library(argv[3], !strcmp(argv[1], "deleted"));
	return 0;
}
