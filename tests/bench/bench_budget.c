/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench_budget.c - the cost of keeping a store within its memory budget while samples arrive.
 *
 * Adds 10,000 samples a second of THREADS threads.  They have about 100,000 distinct stacks 15 to
 * 25 deep and 20,000 functions, like those of tests/workloads/wide.  After each part of the session
 * it prints the CPU time of adding and of maintaining, in percent of a CPU at this rate.  It also
 * prints the longest call, and how much history is left.
 *
 *	bench_budget [MEGABYTES [SECONDS [PARTS [THREADS]]]]
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sampler/store/images.h"
#include "sampler/store/slices.h"
#include "sampler/store/stacks.h"
#include "sampler/store/store.h"
#include "sampler/store/tasks.h"

#define RATE 10000u
#define PATHS 16000u
#define LEAFS 6u
#define FUNCTIONS 20000u
#define DEPTH_MAX 25u
#define SECOND 1000000000ull

static uint64_t seed = 42;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(((seed >> 33) * n) >> 31);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void check(int ret)
{
	if (!ret)
		return;
	fprintf(stderr, "bench_budget: %s\n", strerror(-ret));
	exit(1);
}

struct path {
	uint32_t depth;
	uint32_t function[DEPTH_MAX];
};

static struct path paths[PATHS];

static uint32_t sample_stack(struct stacks *stacks)
{
	uint32_t number = random_below(PATHS), leaf = random_below(LEAFS);
	uint64_t hash = ((uint64_t)number * LEAFS + leaf + 1) * 0x9e3779b97f4a7c15ull;
	const struct path *path = &paths[number];
	uint32_t node, frame;
	uint16_t dropped;

	hash ^= hash >> 29;
	node = stacks_chain_find(stacks, hash, &dropped);
	if (node != STACK_ROOT)
		return node;
	for (uint32_t i = 0; i < path->depth; i++) {
		uint64_t offset = 64ull * path->function[i] + (i + 1 == path->depth ? leaf : 20);

		check(stacks_frame(stacks, 4, offset, FRAME_USER, &frame));
		check((i + 1 < path->depth ? stacks_child : stacks_leaf)(
			stacks, node, frame, &node));
	}
	check(stacks_chain_add(stacks, hash, node, 0));
	return node;
}

static void history(struct store *store)
{
	struct snapshot snapshot;
	size_t reduced = 0;
	uint64_t longest = 0;

	check(store_snapshot(store, 0, UINT64_MAX, &snapshot));
	for (size_t i = 0; i < snapshot.n; i++) {
		const struct slice *slice = snapshot.slices[i];
		uint64_t span = slice->end_ns - slice->start_ns;

		longest = span > longest ? span : longest;
		reduced += ((const struct sealed *)(const void *)slice)->detail > DETAIL_PLAIN;
	}
	printf("; %zu slices, longest %.1f s, %zu with less detail", snapshot.n,
		(double)longest / 1e9, reduced);
	snapshot_release(store, &snapshot);
}

int main(int argc, char **argv)
{
	size_t megabytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 256;
	uint64_t seconds = argc > 2 ? strtoul(argv[2], NULL, 10) : 3000;
	uint64_t parts = argc > 3 ? strtoul(argv[3], NULL, 10) : 10;
	struct images *images;
	struct stacks *stacks;
	struct tasks *tasks;
	struct store *store;
	uint32_t n_labels = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 1;
	uint32_t *labels = calloc(n_labels + 1, sizeof(*labels));
	double begin, adding = 0, maintaining = 0, worst = 0;

	for (uint32_t i = 0; i < PATHS; i++) {
		paths[i].depth = 15 + random_below(11);
		for (uint32_t j = 0; j < paths[i].depth; j++)
			paths[i].function[j] = random_below(FUNCTIONS);
	}
	check(stacks_new(&stacks));
	check(images_new(&images));
	check(tasks_new(&tasks, images, NULL));
	check(store_new(&store, stacks, tasks, megabytes << 20));
	check(labels ? 0 : -ENOMEM);
	check(n_labels && parts && parts <= seconds * 10 ? 0 : -EINVAL);
	for (uint32_t i = 0; i < n_labels; i++) {
		check(tasks_label(tasks, 1, (int32_t)i + 1, 1, &labels[i]));
		tasks_label_ref(tasks, labels[i]);
	}
	for (uint64_t slice = 0; slice < seconds * 10; slice++) {
		uint64_t start = slice * STORE_SLICE_NS;
		double call;

		begin = now();
		for (unsigned int i = 0; i < RATE / 10; i++)
			check(store_add(store, start + i * (STORE_SLICE_NS / RATE * 10),
				sample_stack(stacks), labels[random_below(n_labels)], 0, 0,
				100000));
		adding += now() - begin;
		begin = now();
		store_seal(store, start + STORE_SLICE_NS, false);
		store_maintain(store);
		call = now() - begin;
		maintaining += call;
		worst = call > worst ? call : worst;
		if ((slice + 1) % (seconds * 10 / parts) == 0) {
			struct store_status status;
			double span = (double)seconds / (double)parts;

			store_status(store, &status);
			printf("%6.0f s: adding %.2f %%, maintaining %.2f %%, longest %.1f ms; "
			       "%.1f of %zu MB, stacks %.1f",
				(double)(slice + 1) / 10, adding / span * 100,
				maintaining / span * 100, worst * 1e3,
				(double)status.memory_bytes / 1048576, megabytes,
				(double)stacks_memory_used(stacks) / 1048576);
			history(store);
			puts("");
			fflush(stdout);
			adding = maintaining = worst = 0;
		}
	}
	store_free(store);
	free(labels);
	tasks_free(tasks);
	stacks_free(stacks);
	images_free(images);
	return 0;
}
