// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * paths.c - functions on known paths, without frame pointers: callbacks of libc's qsort() and
 * bsearch(), one of libstdc++, a signal handler, a thread, and a frame of 24 KiB.
 *
 * usage: paths SECONDS
 *
 * The program runs for SECONDS of CPU time.  Then it prints a line for each leaf: its name and its
 * number of turns.  Turns take equal time.  The thread's CPU may be slower or faster, so its turns
 * are counted as turns of the main thread that take as long.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROWS 64
#define WIDE_BYTES (24u << 10)
#define ALONE __attribute__((noinline))

static uint64_t turns_compare, turns_match, turns_wide, turns_handler, turns_construct;
static uint64_t main_ns, thread_ns; /* CPU time spent in turns */

/* Runs the loop for `turns` turns, in the function that contains it. */
#define BURN(turns)                                                    \
	do {                                                           \
		for (unsigned int turn_ = 0; turn_ < (turns); turn_++) \
			__asm__ volatile("" : : : "memory");           \
	} while (0)

ALONE static int compare_rows(const void *a, const void *b)
{
	const int one = *(const int *)a, other = *(const int *)b;

	turns_compare++;
	BURN(10000);
	return (one > other) - (one < other);
}

ALONE static void sort_rows(int *rows)
{
	for (int i = 0; i < ROWS; i++)
		rows[i] = i * 37 % ROWS;
	qsort(rows, ROWS, sizeof(*rows), compare_rows);
	__asm__ volatile("");
}

ALONE static int match_row(const void *key, const void *row)
{
	turns_match++;
	BURN(10000);
	return *(const int *)key - *(const int *)row;
}

ALONE static int find_rows(const int *rows)
{
	int found = 0;

	for (int i = 0; i < ROWS; i++)
		found += bsearch(&i, rows, ROWS, sizeof(*rows), match_row) != NULL;
	return found;
}

ALONE static void construct_row(void *row)
{
	*(int *)row = 0;
	turns_construct++;
	BURN(10000);
}

/* Constructs an array element by element.  If a constructor throws, destroys the elements that
 * exist. */
typedef void vec_ctor_fn(
	void *array, size_t n, size_t size, void (*construct)(void *), void (*destroy)(void *));

ALONE static void construct_rows(vec_ctor_fn *construct_array, int *rows)
{
	for (int i = 0; i < 4; i++)
		construct_array(rows, ROWS, sizeof(*rows), construct_row, NULL);
	__asm__ volatile("");
}

ALONE static void wide_leaf(void)
{
	for (int i = 0; i < 200; i++) {
		turns_wide++;
		BURN(10000);
	}
}

ALONE static void wide_frame(void)
{
	char room[WIDE_BYTES];

	/* The kernel copies no page that was never touched, and nothing beyond such a page. */
	for (size_t i = 0; i < WIDE_BYTES; i += 512)
		room[i] = 0;
	__asm__ volatile("" : : "r"(room) : "memory");
	wide_leaf();
	__asm__ volatile("");
}

ALONE static void handler_leaf(void)
{
	for (int i = 0; i < 100; i++) {
		turns_handler++;
		BURN(10000);
	}
}

ALONE static void handle_signal(int number)
{
	(void)number;
	handler_leaf();
	__asm__ volatile("");
}

ALONE static void raise_signal(void)
{
	raise(SIGUSR1);
	__asm__ volatile("");
}

ALONE static void thread_leaf(void)
{
	for (int i = 0; i < 300; i++)
		BURN(10000);
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

ALONE static void *run_thread(void *arg)
{
	const uint64_t begin_ns = cpu_ns();

	thread_leaf();
	thread_ns += cpu_ns() - begin_ns;
	return arg;
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? strtod(argv[1], NULL) : 3;
	void *library = dlopen("libstdc++.so.6", RTLD_NOW);
	vec_ctor_fn *construct_array = NULL;
	int rows[ROWS];

	if (library)
		*(void **)(void *)&construct_array = dlsym(library, "__cxa_vec_ctor");
	if (!construct_array)
		return 1;
	signal(SIGUSR1, handle_signal);
	while ((double)clock() / CLOCKS_PER_SEC < seconds) {
		const uint64_t begin_ns = cpu_ns();
		pthread_t thread;

		sort_rows(rows);
		if (find_rows(rows) != ROWS)
			return 1;
		construct_rows(construct_array, rows);
		wide_frame();
		raise_signal();
		main_ns += cpu_ns() - begin_ns;
		if (pthread_create(&thread, NULL, run_thread, NULL))
			return 1;
		pthread_join(thread, NULL);
	}
	const uint64_t turns =
		turns_compare + turns_match + turns_wide + turns_handler + turns_construct;
	const double turns_thread = (double)thread_ns * (double)turns / (double)main_ns;
	printf("compare_rows %ju\nmatch_row %ju\nwide_leaf %ju\nhandler_leaf %ju\nthread_leaf "
	       "%ju\nconstruct_row %ju\n",
		(uintmax_t)turns_compare, (uintmax_t)turns_match, (uintmax_t)turns_wide,
		(uintmax_t)turns_handler, (uintmax_t)turns_thread, (uintmax_t)turns_construct);
	return 0;
}
