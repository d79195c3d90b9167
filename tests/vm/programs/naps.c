// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * naps.c - THREADS threads that are asleep in the kernel at the same time.
 *
 * Makes THREADS * TIMES calls of hrtimer_nanosleep().
 *
 * usage: naps THREADS TIMES
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define THREADS_MAX 256

static long times;

static void *sleep_often(void *unused)
{
	const struct timespec nap = {.tv_nsec = 20000000};

	for (long i = 0; i < times; i++)
		nanosleep(&nap, NULL);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	long n = argc > 1 ? atol(argv[1]) : 1;

	times = argc > 2 ? atol(argv[2]) : 1;
	if (n < 1 || n > THREADS_MAX)
		return 2;
	for (long i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, sleep_often, NULL))
			return 1;
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
