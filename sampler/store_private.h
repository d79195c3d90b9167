/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * store_private.h - the store's insides, for store.c and store_budget.c alone.
 *
 * The open slice and what keeps the budget belong to the sampling thread; the list of sealed slices and
 * their references are guarded by the lock.  Only the sampling thread changes the list, so it reads the list without
 * the lock.
 */
#ifndef SAMPLER_STORE_PRIVATE_H
#define SAMPLER_STORE_PRIVATE_H

#include "sampler/slices.h"
#include "sampler/store.h"

#include <pthread.h>

#define STORE_PLAN_MAX 64u

struct listed {
	struct sealed *sealed;
	/* of it, so that the list can be searched without touching each */
	uint64_t start_ns, end_ns;
	uint64_t samples;
	uint32_t cells;
	uint8_t detail; /* enum detail */
	uint8_t in_vain; /* enum detail: down to which it was asked, and would not save memory */
	bool with_values;
};

struct store {
	struct slices slices;
	size_t budget_bytes;
	uint32_t merge_cells; /* of slices that are merged: a limit of work */

	/* the open slice */
	uint64_t open_start_ns, open_end_ns; /* end 0: none is open */
	uint64_t newest_ns;
	struct cells open;
	uint64_t sealed_until_ns;
	bool sealed_by_adding; /* since store_seal() was called last */

	/* merging */
	uint32_t plan[STORE_PLAN_MAX]; /* first slices of groups, rising, taken from the end */
	uint32_t n_plan, plan_fan;
	size_t tables_retry;
	double cheapest; /* cost of the cheapest group when the plan was made */
	double kept; /* cells that remain of those merged lately */
	bool wide; /* merging saves little: many at once */
	uint64_t work; /* cells touched in this call */

	/* counted by the sampling thread, read by all */
	uint64_t samples, dropped, merges, fields_dropped;
	size_t memory_bytes;

	size_t listed_bytes;
	size_t slice_bytes; /* the same with those not in the list but held */

	pthread_mutex_t lock; /* guards what follows and the slices' refs */
	struct listed *list; /* by time */
	size_t n_list, list_size;
	size_t n_with_values; /* of them; the sampling thread's */
	struct sealed *returned; /* given up by their last holders */
};

/* Only one thread writes these counters. */
static inline void store_count(uint64_t *counter, uint64_t add)
{
	__atomic_store_n(counter, *counter + add, __ATOMIC_RELAXED);
}

static inline struct listed store_listed(struct sealed *sealed)
{
	return (struct listed){.sealed = sealed,
		.start_ns = sealed->slice.start_ns,
		.end_ns = sealed->slice.end_ns,
		.samples = sealed->samples,
		.cells = sealed->slice.cells,
		.detail = (uint8_t)sealed->detail,
		.with_values = sealed->slice.values};
}

/* Free a slice that nobody refers to any more; all those given back by others. */
void store_bury(struct store *store, struct sealed *sealed);
void store_bury_returned(struct store *store);

/* Put one slice in the place of n listed ones, from number `at` on. */
void store_replace(struct store *store, size_t at, unsigned int n, struct sealed *sealed);

/* Memory of the store, stacks and tasks, slices being counted as given. */
size_t store_memory(const struct store *store, size_t slice_bytes);
void store_publish_memory(struct store *store);

#endif
