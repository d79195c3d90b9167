// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * waits.c - threads that sleep, wait for a lock and compute in turns, and report the time of each.
 *
 * In each turn, pair 0 sleeps 30 ms, waits 20 ms for a mutex that its partner holds, and computes
 * 50 ms.  Pair 1 sleeps 20 ms and waits 30 ms.  At the end, each thread prints a line: its name,
 * its tid, and ns in waits_sleep(), waits_lock(), waits_compute(), of CPU time and in total.  The
 * times are measured, since a busy machine does not keep them.
 *
 * usage: waits [TURNS [FILE [wait]]]     default: 20, to standard output
 *        wait: until standard input ends, with all threads alive
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000

struct pair {
	unsigned int number;
	long sleep_ns, hold_ns;
	pthread_mutex_t lock;
	sem_t asked, held;
	int32_t tid;
	uint64_t slept_ns, waited_ns, computed_ns, cpu_ns, all_ns;
};

static unsigned long turns = 20;
static pthread_mutex_t begins = PTHREAD_MUTEX_INITIALIZER;

uint64_t waits_compute(uint64_t x);
void waits_sleep(long ns);
void waits_lock(pthread_mutex_t *lock);
void waits_unlock(pthread_mutex_t *lock);
void waits_begin(void);

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

__attribute__((noinline)) uint64_t waits_compute(uint64_t x)
{
	uint64_t until = now(CLOCK_THREAD_CPUTIME_ID) + 50 * MS;

	do {
		for (unsigned int i = 0; i < 100000; i++) {
			x = x * 6364136223846793005u + 1;
			__asm__ volatile("" : "+r"(x));
		}
	} while (now(CLOCK_THREAD_CPUTIME_ID) < until);
	return x;
}

/* The C library has no frame pointers, so the caller of nanosleep() is missing from callchains. */
static __attribute__((noinline)) void sleep_for(long ns)
{
	struct timespec left = {.tv_nsec = ns};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static __attribute__((noinline)) void lock_it(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
}

__attribute__((noinline)) void waits_sleep(long ns)
{
	sleep_for(ns);
}

__attribute__((noinline)) void waits_lock(pthread_mutex_t *lock)
{
	lock_it(lock);
}

static __attribute__((noinline)) void unlock_it(pthread_mutex_t *lock)
{
	pthread_mutex_unlock(lock);
}

__attribute__((noinline)) void waits_unlock(pthread_mutex_t *lock)
{
	unlock_it(lock);
}

/* Waits for a lock, since this wait leads to its caller. */
__attribute__((noinline)) void waits_begin(void)
{
	lock_it(&begins);
	pthread_mutex_unlock(&begins);
}

static void *hold(void *arg)
{
	struct pair *pair = arg;

	waits_begin();
	for (unsigned long i = 0; i < turns; i++) {
		sem_wait(&pair->asked);
		pthread_mutex_lock(&pair->lock);
		sem_post(&pair->held);
		waits_sleep(pair->hold_ns);
		waits_unlock(&pair->lock);
	}
	return NULL;
}

static void *work(void *arg)
{
	struct pair *pair = arg;
	uint64_t begin, cpu_begin, x = 1;
	char name[16];

	snprintf(name, sizeof(name), "worker-%u", pair->number);
	prctl(PR_SET_NAME, name);
	pair->tid = (int32_t)gettid();
	waits_begin();
	begin = now(CLOCK_MONOTONIC);
	cpu_begin = now(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned long i = 0; i < turns; i++) {
		uint64_t at = now(CLOCK_MONOTONIC);

		waits_sleep(pair->sleep_ns);
		pair->slept_ns += now(CLOCK_MONOTONIC) - at;
		sem_post(&pair->asked);
		sem_wait(&pair->held);
		at = now(CLOCK_MONOTONIC);
		waits_lock(&pair->lock);
		pair->waited_ns += now(CLOCK_MONOTONIC) - at;
		pthread_mutex_unlock(&pair->lock);
		at = now(CLOCK_MONOTONIC);
		x = waits_compute(x);
		pair->computed_ns += now(CLOCK_MONOTONIC) - at;
	}
	pair->cpu_ns = now(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
	pair->all_ns = now(CLOCK_MONOTONIC) - begin;
	return NULL;
}

int main(int argc, char **argv)
{
	struct pair pairs[2] = {{.sleep_ns = 30 * MS, .hold_ns = 20 * MS},
		{.number = 1, .sleep_ns = 20 * MS, .hold_ns = 30 * MS}};
	pthread_t threads[4];
	FILE *out = stdout;

	if (argc > 1)
		turns = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		out = fopen(argv[2], "w");
	if (!out) {
		fprintf(stderr, "waits: %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	pthread_mutex_lock(&begins);
	for (unsigned int i = 0; i < 2; i++) {
		pthread_mutex_init(&pairs[i].lock, NULL);
		sem_init(&pairs[i].asked, 0, 0);
		sem_init(&pairs[i].held, 0, 0);
		if (pthread_create(&threads[i], NULL, work, &pairs[i]) ||
			pthread_create(&threads[2 + i], NULL, hold, &pairs[i])) {
			fprintf(stderr, "waits: no thread\n");
			return 1;
		}
	}
	while (argc > 3 && getchar() != EOF)
		;
	pthread_mutex_unlock(&begins);
	for (unsigned int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (unsigned int i = 0; i < 2; i++)
		fprintf(out, "worker-%u %d %lu %lu %lu %lu %lu\n", i, pairs[i].tid,
			(unsigned long)pairs[i].slept_ns, (unsigned long)pairs[i].waited_ns,
			(unsigned long)pairs[i].computed_ns, (unsigned long)pairs[i].cpu_ns,
			(unsigned long)pairs[i].all_ns);
	return fclose(out) ? 1 : 0;
}
