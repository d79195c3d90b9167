/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * store_world.h - a store with the stacks and tasks of its samples, and sums of its contents.
 *
 * Included once in a program.
 */
#ifndef TESTS_STORE_WORLD_H
#define TESTS_STORE_WORLD_H

#include "sampler/store/stacks.h"
#include "sampler/store/store.h"
#include "sampler/store/tasks.h"

#include <stdlib.h>
#include <string.h>

#define S STORE_SLICE_NS
#define MIB ((size_t)1 << 20)

struct world {
	struct images *images;
	struct tasks *tasks;
	struct stacks *stacks;
	struct store *store;
	uint64_t random;
};

static inline struct world *world_new(size_t budget)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_int_equal(images_new(&world->images), 0);
	assert_int_equal(tasks_new(&world->tasks, world->images, NULL), 0);
	assert_int_equal(stacks_new(&world->stacks), 0);
	assert_int_equal(store_new(&world->store, world->stacks, world->tasks, budget), 0);
	world->random = 88172645463325252ull;
	return world;
}

static inline void world_free(struct world *world)
{
	store_free(world->store);
	/* No slice has lost or kept a reference. */
	stacks_sweep(world->stacks);
	assert_int_equal(stacks_node_count(world->stacks), 0);
	tasks_expire(world->tasks, UINT64_MAX);
	stacks_free(world->stacks);
	tasks_free(world->tasks);
	images_free(world->images);
	free(world);
}

static inline unsigned int below(struct world *world, unsigned int limit)
{
	world->random ^= world->random << 13;
	world->random ^= world->random >> 7;
	world->random ^= world->random << 17;
	return (unsigned int)(world->random >> 11) % limit;
}

static inline uint32_t stack_of(struct world *world, const uint64_t *offsets, unsigned int n)
{
	uint32_t node = STACK_ROOT, frame;

	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(stacks_frame(world->stacks, 1, offsets[i], FRAME_USER, &frame), 0);
		assert_int_equal(stacks_child(world->stacks, node, frame, &node), 0);
	}
	return node;
}

static inline uint32_t stack(struct world *world, uint64_t offset)
{
	return stack_of(world, &offset, 1);
}

static inline uint32_t task(struct world *world, int32_t pid)
{
	uint32_t label;

	assert_int_equal(tasks_label(world->tasks, pid, pid, 1, &label), 0);
	return label;
}

static inline void add(struct world *world, uint64_t time, uint64_t offset, int32_t pid,
	uint16_t cpu, uint8_t event, uint64_t weight)
{
	assert_int_equal(store_add(world->store, time, stack(world, offset), task(world, pid), cpu,
				 event, weight),
		0);
}

/* Sums over the slices whose middle is in a range.  sum() also checks each slice. */
struct sums {
	uint64_t weight[4], count[4];
	size_t slices;
};

static inline void sum(struct world *world, uint64_t from, uint64_t to, struct sums *sums)
{
	struct snapshot snapshot;
	uint64_t last_end = 0;

	assert_int_equal(store_snapshot(world->store, from, to, &snapshot), 0);
	for (size_t i = 0; i < snapshot.n; i++) {
		const struct slice *slice = snapshot.slices[i];
		uint64_t middle = slice->start_ns + (slice->end_ns - slice->start_ns) / 2;
		uint64_t weight[4] = {0}, count[4] = {0};

		assert_true(slice->start_ns < slice->end_ns);
		assert_true(slice->start_ns >= last_end);
		assert_true(slice->start_ns < to && slice->end_ns > from);
		last_end = slice->end_ns;
		for (uint32_t cell = 0; cell < slice->cells; cell++) {
			weight[slice->event[cell]] += slice->weight[cell];
			count[slice->event[cell]] += slice->count[cell];
		}
		for (uint32_t total = 0; total < slice->n_totals; total++) {
			const struct slice_total *have = &slice->totals[total];

			assert_int_equal(have->weight, weight[have->event]);
			assert_int_equal(have->count, count[have->event]);
			if (middle >= from && middle < to) {
				sums->weight[have->event] += have->weight;
				sums->count[have->event] += have->count;
			}
		}
		sums->slices += middle >= from && middle < to;
	}
	snapshot_release(world->store, &snapshot);
}

/* Sums over all parts of a random partition of time. */
static inline struct sums sum_all(struct world *world, uint64_t end)
{
	struct sums sums = {0};
	uint64_t from = 0, to;

	for (; from < end; from = to) {
		to = from + 1 + below(world, 40) * (S / 3);
		if (below(world, 3) == 0)
			to = end;
		sum(world, from, to, &sums);
	}
	return sums;
}

static inline void assert_sums(const struct sums *have, const struct sums *want)
{
	for (unsigned int event = 0; event < 4; event++) {
		assert_int_equal(have->weight[event], want->weight[event]);
		assert_int_equal(have->count[event], want->count[event]);
	}
}

static inline void note(struct sums *sums, uint8_t event, uint64_t weight)
{
	sums->weight[event] += weight;
	sums->count[event]++;
}

/* Returns one of 2,000 stacks of 8 to 24 frames that share their outer parts; a few are hot. */
static inline uint32_t realistic_stack(struct world *world)
{
	unsigned int which = below(world, 2000);
	uint64_t offsets[24];
	unsigned int n;

	if (below(world, 4))
		which = which * which / 2000 * which / 2000 / 4;
	n = 8 + which % 17;
	for (unsigned int i = 0; i < n; i++)
		offsets[i] = 0x1000ull * i + (i < n / 2 ? which % 3 : which);
	return stack_of(world, offsets, n);
}

#endif
