/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * private.h - the inside of the store, only for its own files.
 *
 * The sampling thread owns the open slice and the data for merging.  The lock guards the list of
 * sealed slices and their references.  Only the sampling thread changes the list, so it reads the
 * list without the lock.
 */
#ifndef SAMPLER_STORE_PRIVATE_H
#define SAMPLER_STORE_PRIVATE_H

#include "sampler/store/slices.h"
#include "sampler/store/store.h"

#include <pthread.h>

#define STORE_PLAN_MAX 64u

struct listed {
	struct sealed *sealed;
	/* Copied from the slice, so that a search of the list does not touch each slice. */
	uint64_t start_ns, end_ns;
	uint64_t samples;
	uint32_t cells;
	uint8_t detail; /* enum detail */
	uint8_t in_vain; /* enum detail that was checked last and would not save memory */
	bool with_values;
};

struct store {
	struct slices slices;
	size_t budget_bytes;
	uint32_t merge_cells; /* limit of the cells in one merge */

	/* The open slice. */
	uint64_t open_start_ns, open_end_ns; /* end 0: none is open */
	uint64_t newest_ns;
	struct cells open;
	uint64_t sealed_until_ns;
	bool sealed_by_adding; /* since the last store_seal() */

	/* Merging. */
	uint32_t plan[STORE_PLAN_MAX]; /* first slices of groups, ascending, taken from the end */
	uint32_t n_plan, plan_fan;
	size_t tables_retry;
	double cheapest; /* cost of the cheapest group when the plan was made */
	double kept; /* share of cells that remained in recent merges */
	bool wide; /* merging saves little: join many at once */
	uint64_t work; /* cells touched in this call */

	/* Counted by the sampling thread, read by all. */
	uint64_t samples, dropped, merges, fields_dropped;
	size_t memory_bytes;

	size_t listed_bytes;
	size_t slice_bytes; /* listed_bytes, and the slices that are held but not listed */

	pthread_mutex_t lock; /* guards the fields below and the slices' refs */
	struct listed *list; /* by time */
	size_t n_list, list_size;
	size_t n_with_values; /* listed slices with values; for the sampling thread only */
	struct sealed *returned; /* slices released by their last holders */
};

/* Adds to a counter that only one thread writes. */
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

/* Free a slice without references, and all returned slices. */
void store_bury(struct store *store, struct sealed *sealed);
void store_bury_returned(struct store *store);

/* Replaces n listed slices from index `at` by one. */
void store_replace(struct store *store, size_t at, unsigned int n, struct sealed *sealed);

/* Returns the bytes of the store, stacks and tasks, with slice_bytes for the slices. */
size_t store_memory(const struct store *store, size_t slice_bytes);
void store_publish_memory(struct store *store);

#endif
