// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * deep.c - many distinct callchains, 20 to 40 frames deep, on busy threads.
 *
 * A path is a seed: it gives the depth of the chain, and which of eight functions is at each level.
 * The deepest function computes for some microseconds, so most samples see whole chains.  At the
 * end, the program prints the number of chains, which shows how much it was slowed down.
 *
 * usage: deep [THREADS [SECONDS [MIN [MAX [PATHS]]]]]
 *        default: 2 threads, no end (0 seconds), 20 to 40 frames, 1,000 paths
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS_MAX 64
#define TURNS 2000

static unsigned int depth_min = 20, depth_max = 40, paths = 1000;
static unsigned long seconds;

typedef uint64_t step_fn(uint64_t path, unsigned int left, uint64_t x);
static step_fn *const steps[8];

uint64_t deep_work(uint64_t x);

__attribute__((noinline)) uint64_t deep_work(uint64_t x)
{
	for (unsigned int i = 0; i < TURNS; i++) {
		x = x * 6364136223846793005u + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static inline uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
	return x ^ (x >> 29);
}

/* The addition after the call prevents a tail call. */
#define STEP(name)                                                         \
	step_fn deep_##name;                                               \
	__attribute__((noinline))                                          \
	uint64_t deep_##name(uint64_t path, unsigned int left, uint64_t x) \
	{                                                                  \
		if (!left)                                                 \
			return deep_work(x) + 1;                           \
		path = mix(path);                                          \
		return steps[path >> 61](path, left - 1, x) + left;        \
	}

STEP(alpha)
STEP(beta)
STEP(gamma)
STEP(delta)
STEP(epsilon)
STEP(zeta)
STEP(eta)
STEP(theta)

static step_fn *const steps[8] = {deep_alpha, deep_beta, deep_gamma, deep_delta, deep_epsilon,
	deep_zeta, deep_eta, deep_theta};

/* Frames other than those steps: deep_main, the first step, deep_work. */
#define OTHER_FRAMES 3u

static void *deep_main(void *arg)
{
	uint64_t *walked = arg, x = 1;
	unsigned int spread = depth_max - depth_min + 1;
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (uint64_t path = 0;; path = (path + 1) % paths) {
		uint64_t seed = mix(path + 1);
		unsigned int depth = depth_min + (unsigned int)(seed >> 40) % spread;

		x = steps[seed & 7](seed, depth > OTHER_FRAMES ? depth - OTHER_FRAMES : 0, x);
		++*walked;
		if (!seconds || *walked % 256)
			continue;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - begin.tv_sec - (now.tv_nsec < begin.tv_nsec) >= (time_t)seconds)
			return NULL;
	}
}

static unsigned int argument(int argc, char **argv, int i, unsigned int otherwise)
{
	return argc > i ? (unsigned int)strtoul(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	static struct {
		_Alignas(64) uint64_t walked;
	} counts[THREADS_MAX];
	unsigned int threads = argument(argc, argv, 1, 2);
	pthread_t thread[THREADS_MAX];
	uint64_t total = 0;

	seconds = argument(argc, argv, 2, 0);
	depth_min = argument(argc, argv, 3, depth_min);
	depth_max = argument(argc, argv, 4, depth_max);
	paths = argument(argc, argv, 5, paths);
	if (!threads || threads > THREADS_MAX || depth_max < depth_min || !paths) {
		fprintf(stderr, "usage: deep [THREADS [SECONDS [MIN [MAX [PATHS]]]]]\n");
		return 2;
	}
	for (unsigned int i = 0; i < threads; i++) {
		int err = pthread_create(&thread[i], NULL, deep_main, &counts[i].walked);

		if (err) {
			fprintf(stderr, "deep: %s\n", strerror(err));
			return 1;
		}
	}
	for (unsigned int i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		total += counts[i].walked;
	}
	printf("%llu\n", (unsigned long long)total);
	return 0;
}
