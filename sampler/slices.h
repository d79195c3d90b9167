/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slices.h - making sealed slices, for store.c: from counted cells, by merging some, by leaving out detail.
 *
 * A slice holds one reference to the stack, the task and the values of each cell.  Merging and leaving out detail
 * cost a bounded time for each cell of the slices they are given.  Sampling thread.
 */
#ifndef SAMPLER_SLICES_H
#define SAMPLER_SLICES_H

#include "sampler/cells.h"
#include "sampler/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How much of a slice's stacks and tasks is left; no less than full have values. */
enum detail {
	DETAIL_FULL,
	DETAIL_PLAIN, /* no values */
	DETAIL_FEW, /* the 4 leaf-most frames */
	DETAIL_LEAF, /* 1 */
	DETAIL_NONE, /* one stack, one task */
};

struct sealed {
	struct slice slice; /* first: others know only this */
	struct sealed *next; /* in the store's list of slices given back */
	size_t bytes;
	uint64_t samples;
	enum detail detail;
};

#define SLICES_MERGED_MAX 16u

/* What slices refer to, and work space that is kept from one call to the next. */
struct slices {
	struct stacks *stacks;
	struct tasks *tasks;
	struct values *values; /* NULL: no cell has any */
	struct cells adding; /* for adding up */
	uint32_t
		kept; /* so many of its cells have room between two uses; of more it is given back */
	uint64_t last_serial;
};

int slices_init(struct slices *slices, struct stacks *stacks, struct tasks *tasks, uint32_t kept);
void slices_fini(struct slices *slices);
size_t slices_memory(const struct slices *slices);

/* Takes over the references of the cells.  0, or -ENOMEM with nothing taken. */
int slices_seal(struct slices *slices, struct cells *cells, uint64_t start_ns, uint64_t end_ns,
	struct sealed **out);

/* Neighbours in the order of time as one, which has no references yet; they stay as they are.  -EOVERFLOW where a
 * count might not fit; -ENOMEM. */
int slices_merge(
	struct slices *slices, struct sealed *const *from, unsigned int n, struct sealed **out);

/* To follow a merge: gives the merged slice its references and frees those of its parts that nobody holds.
 * Where all parts go, their references are handed on, and only cells that became one drop some. */
void slices_settle(struct slices *slices, const struct sealed *merged, struct sealed *const *from,
	const bool *unheld, unsigned int n);

/* Whether less detail makes it smaller by a quarter at least, with the stacks that nothing else has; as good as can be told without
 * doing so.  false where memory does not last to know. */
bool slices_worth_reducing(struct slices *slices, const struct sealed *from, enum detail detail);

/* One with less detail, with its own references. */
int slices_reduce(
	struct slices *slices, const struct sealed *from, enum detail detail, struct sealed **out);

/* Which stacks samples have by what is known now.  cuts: the times within [start_ns, end_ns), not
 * at its start, at which that changes, ascending, at most max; how many.  stack: of one that was
 * sampled between from_ns and to_ns.  0 or -ENOMEM. */
struct slices_renaming {
	size_t (*cuts)(void *ctx, uint64_t start_ns, uint64_t end_ns, uint64_t *cuts, size_t max);
	int (*stack)(
		void *ctx, uint32_t stack, uint64_t from_ns, uint64_t to_ns, uint32_t *renamed);
	void *ctx;
};
#define SLICES_CUTS_MAX 15u

/* The same slice with other stacks, with its own references.  When in its time a sample was
 * taken is not known: of a cell whose stack changes in that time, parts of the samples are
 * counted for each, in proportion to their times.  *out is NULL where all stays. */
int slices_rename(struct slices *slices, const struct sealed *from,
	const struct slices_renaming *renaming, struct sealed **out);

/* Drops the references and frees.  NULL is a no-op. */
void slices_destroy(struct slices *slices, struct sealed *sealed);

#endif
