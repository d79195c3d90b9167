// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * newborns.c - a new thread each millisecond, beside threads that are always busy.
 *
 * A new thread sleeps or computes for US microseconds, and ends.  After MS milliseconds the program
 * writes the CPU time of all its threads to FILE, in ns.
 *
 * usage: newborns FILE MS BUSY US sleep|work
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUSY_MAX 64
#define STACK_SIZE (64u * 1024)

static atomic_bool ends;
static atomic_uint living;
static unsigned int short_us;
static bool sleeps;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *busy_main(void *arg)
{
	volatile uint64_t x = 1;

	while (!atomic_load(&ends))
		for (unsigned int i = 0; i < 10000; i++)
			x = x * 31 + 1;
	return arg;
}

static void *short_main(void *arg)
{
	const uint64_t end_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)short_us * 1000;

	if (sleeps)
		usleep(short_us);
	else
		while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
			continue;
	atomic_fetch_sub(&living, 1);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t busy[BUSY_MAX], thread;
	unsigned int n_busy;
	pthread_attr_t attr;
	uint64_t end_ns;
	FILE *file;

	if (argc != 6)
		return 2;
	end_ns = now_ns(CLOCK_MONOTONIC) + strtoull(argv[2], NULL, 10) * 1000000u;
	n_busy = (unsigned int)atoi(argv[3]);
	short_us = (unsigned int)atoi(argv[4]);
	sleeps = !strcmp(argv[5], "sleep");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	for (unsigned int i = 0; i < n_busy && i < BUSY_MAX; i++)
		if (pthread_create(&busy[i], &attr, busy_main, NULL))
			return 1;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	while (now_ns(CLOCK_MONOTONIC) < end_ns) {
		usleep(1000);
		atomic_fetch_add(&living, 1);
		if (pthread_create(&thread, &attr, short_main, NULL))
			return 1;
	}
	while (atomic_load(&living))
		usleep(1000);
	atomic_store(&ends, true);
	for (unsigned int i = 0; i < n_busy && i < BUSY_MAX; i++)
		pthread_join(busy[i], NULL);
	file = fopen(argv[1], "w");
	if (!file)
		return 1;
	fprintf(file, "%llu\n", (unsigned long long)now_ns(CLOCK_PROCESS_CPUTIME_ID));
	return fclose(file) ? 1 : 0;
}
