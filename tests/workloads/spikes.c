/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spikes.c - eight threads that compute a little; the seventh sometimes computes much.
 *
 * Work is measured in CPU time, so that a spike is a spike on a busy machine, too.
 *
 * usage: spikes
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define THREADS 8
#define SLOW_THREAD 7
#define NAP_NS 100000000
#define LITTLE_NS 200000
#define SPIKE_NS 300000000
#define NAPS_BETWEEN 20

uint64_t spikes_slow(uint64_t x);
uint64_t spikes_caller(uint64_t x);
uint64_t spikes_little(uint64_t x);

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) uint64_t spikes_slow(uint64_t x)
{
	/* Without this use of its frame, the leaf has none, and a chain would miss its caller. */
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	for (unsigned int i = 0; i < 1000000; i++)
		x = (x * 31 + i) % 1000003; /* the slow line */
	return x;
}

__attribute__((noinline)) uint64_t spikes_caller(uint64_t x)
{
	uint64_t end = cpu_ns() + SPIKE_NS;

	while (cpu_ns() < end)
		x = spikes_slow(x) + 1;
	return x;
}

__attribute__((noinline)) uint64_t spikes_little(uint64_t x)
{
	uint64_t end = cpu_ns() + LITTLE_NS;

	while (cpu_ns() < end)
		x = x * 31 + 1;
	return x;
}

static void *spikes_main(void *arg)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	unsigned int number = (unsigned int)(uintptr_t)arg;
	uint64_t x = number;
	char name[16];

	snprintf(name, sizeof(name), "worker-%u", number);
	prctl(PR_SET_NAME, name);
	for (unsigned int naps = 1;; naps++) {
		x = spikes_little(x);
		if (number == SLOW_THREAD && naps % NAPS_BETWEEN == 0)
			x = spikes_caller(x);
		nanosleep(&nap, NULL);
	}
	return NULL;
}

int main(void)
{
	for (uintptr_t i = 1; i <= THREADS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, spikes_main,
			    (void *)i)) // NOLINT(performance-no-int-to-ptr)
			return 1;
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
