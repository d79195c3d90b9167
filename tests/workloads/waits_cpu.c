// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * waits_cpu.c - more threads than CPUs that sleep and compute in turns, so each waits for a CPU
 * after it wakes.
 *
 * At the end, each thread prints a line: its tid, and in ns its run delay
 * (/proc/self/task/TID/schedstat), its CPU time and the whole time, all from one moment on.
 *
 * usage: waits_cpu [THREADS [MS [FILE [wait]]]]    default: 8, 2000, standard output
 *        wait: until standard input ends, with all threads alive
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000
#define THREADS_MAX 64

struct worker {
	pthread_t thread;
	long sleep_ns, compute_ns;
	int32_t tid;
	uint64_t delay_ns, cpu_ns, all_ns;
};

static struct worker workers[THREADS_MAX];
static uint64_t for_ns = 2000ull * MS;
static pthread_mutex_t begins = PTHREAD_MUTEX_INITIALIZER;

uint64_t waits_cpu_compute(long ns);
void waits_cpu_sleep(long ns);
void waits_cpu_turns(const struct worker *worker);

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

__attribute__((noinline)) uint64_t waits_cpu_compute(long ns)
{
	uint64_t until = now(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)ns, x = 1;

	do {
		for (unsigned int i = 0; i < 2000; i++) {
			x = x * 6364136223846793005u + 1;
			__asm__ volatile("" : "+r"(x));
		}
	} while (now(CLOCK_THREAD_CPUTIME_ID) < until);
	return x;
}

__attribute__((noinline)) void waits_cpu_sleep(long ns)
{
	struct timespec left = {.tv_nsec = ns};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

/* All measured code is called from here.  The C library has no frame pointers, so its direct caller
 * is missing from callchains.  This function is not. */
__attribute__((noinline)) void waits_cpu_turns(const struct worker *worker)
{
	uint64_t begin = now(CLOCK_MONOTONIC);

	while (now(CLOCK_MONOTONIC) - begin < for_ns) {
		waits_cpu_compute(worker->compute_ns);
		waits_cpu_sleep(worker->sleep_ns);
	}
}

/* ns that this thread has waited for a CPU since its start. */
static uint64_t run_delay(int32_t tid)
{
	char path[64];
	unsigned long cpu = 0, delay = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	file = fopen(path, "r");
	if (file) {
		if (fscanf(file, "%lu %lu", &cpu, &delay) != 2)
			delay = 0;
		fclose(file);
	}
	return delay;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	uint64_t begin, cpu, delay;

	worker->tid = (int32_t)gettid();
	pthread_mutex_lock(&begins);
	pthread_mutex_unlock(&begins);
	delay = run_delay(worker->tid);
	begin = now(CLOCK_MONOTONIC);
	cpu = now(CLOCK_THREAD_CPUTIME_ID);
	waits_cpu_turns(worker);
	worker->delay_ns = run_delay(worker->tid) - delay;
	worker->cpu_ns = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
	worker->all_ns = now(CLOCK_MONOTONIC) - begin;
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 8;
	FILE *out = stdout;

	if (argc > 2)
		for_ns = strtoul(argv[2], NULL, 10) * MS;
	if (argc > 3)
		out = fopen(argv[3], "w");
	if (!out || !n || n > THREADS_MAX) {
		fprintf(stderr, "waits_cpu: 1 to %d threads, a file to write\n", THREADS_MAX);
		return 1;
	}
	if (argc > 4)
		pthread_mutex_lock(&begins);
	for (unsigned long i = 0; i < n; i++) {
		workers[i].compute_ns = (long)(1 + i % 3) * MS;
		workers[i].sleep_ns = (long)(1 + i % 2) * MS;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) {
			fprintf(stderr, "waits_cpu: no thread: %s\n", strerror(errno));
			return 1;
		}
	}
	if (argc > 4) {
		while (getchar() != EOF)
			;
		pthread_mutex_unlock(&begins);
	}
	for (unsigned long i = 0; i < n; i++)
		pthread_join(workers[i].thread, NULL);
	for (unsigned long i = 0; i < n; i++)
		fprintf(out, "%d %lu %lu %lu\n", workers[i].tid, (unsigned long)workers[i].delay_ns,
			(unsigned long)workers[i].cpu_ns, (unsigned long)workers[i].all_ns);
	return fclose(out) ? 1 : 0;
}
