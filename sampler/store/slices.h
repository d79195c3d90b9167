/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slices.h - makes sealed slices for store.c: from counted cells, by merging, or by reducing
 * detail.
 *
 * A slice holds one reference to the stack, the task and the values of each cell.  Merging and
 * reducing cost a bounded time per cell of their input.  Sampling thread.
 */
#ifndef SAMPLER_STORE_SLICES_H
#define SAMPLER_STORE_SLICES_H

#include "sampler/store/cells.h"
#include "sampler/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Detail of the stacks and tasks in a slice.  Only DETAIL_FULL has values. */
enum detail {
	DETAIL_FULL,
	DETAIL_PLAIN, /* no values */
	DETAIL_FEW, /* the 4 leaf-most frames */
	DETAIL_LEAF, /* the leaf-most frame */
	DETAIL_NONE, /* one stack, one task for all cells */
};

struct sealed {
	struct slice slice; /* first member: other files know only this */
	struct sealed *next; /* next in the store's list of returned slices */
	size_t bytes;
	uint64_t samples;
	enum detail detail;
};

#define SLICES_MERGED_MAX 16u

/* The tables that slices refer to, and work space that is kept between calls. */
struct slices {
	struct stacks *stacks;
	struct tasks *tasks;
	struct values *values; /* NULL if no cell has any */
	struct cells adding; /* work space for adding up */
	uint32_t kept; /* number of cells of `adding` that stay allocated between uses */
	uint64_t last_serial;
};

int slices_init(struct slices *slices, struct stacks *stacks, struct tasks *tasks, uint32_t kept);
void slices_fini(struct slices *slices);
size_t slices_memory(const struct slices *slices);

/* Seals cells, and takes over their references.  Returns 0, or -ENOMEM with nothing taken. */
int slices_seal(struct slices *slices, struct cells *cells, uint64_t start_ns, uint64_t end_ns,
	struct sealed **out);

/* Merges n slices that are adjacent in time order.  The result has no references yet; the parts
 * stay unchanged.  Returns 0; -EOVERFLOW if a count might not fit; -ENOMEM. */
int slices_merge(
	struct slices *slices, struct sealed *const *from, unsigned int n, struct sealed **out);

/* Completes a merge: gives the merged slice its references, and frees the parts without a holder
 * (unheld).  If all parts are freed, their references are handed on, and only cells that were
 * joined drop some. */
void slices_settle(struct slices *slices, const struct sealed *merged, struct sealed *const *from,
	const bool *unheld, unsigned int n);

/* Estimates whether less detail saves at least a quarter of the slice's memory, including the
 * stacks that only this slice uses.  Returns false if memory runs out. */
bool slices_worth_reducing(struct slices *slices, const struct sealed *from, enum detail detail);

/* Makes a slice with less detail and with its own references.  Returns 0, -EOVERFLOW or -ENOMEM. */
int slices_reduce(
	struct slices *slices, const struct sealed *from, enum detail detail, struct sealed **out);

/* The stacks of samples by the present knowledge of their code.
 *
 * cuts: sets the times when stacks change, ascending, at most max.  They are within [start_ns,
 * end_ns), but not at its start.  Returns their number.  stack: sets the stack of one that was
 * sampled between from_ns and to_ns.  Returns 0 or -ENOMEM. */
struct slices_renaming {
	size_t (*cuts)(void *ctx, uint64_t start_ns, uint64_t end_ns, uint64_t *cuts, size_t max);
	int (*stack)(
		void *ctx, uint32_t stack, uint64_t from_ns, uint64_t to_ns, uint32_t *renamed);
	void *ctx;
};
#define SLICES_CUTS_MAX 15u

/* Makes the same slice with other stacks and with its own references.  The times of samples within
 * the slice are not known.  If the stack of a cell changes in that time, each of its stacks gets
 * samples in proportion to its time.  *out is NULL if no stack changes.  Returns 0 or -ENOMEM. */
int slices_rename(struct slices *slices, const struct sealed *from,
	const struct slices_renaming *renaming, struct sealed **out);

/* Drops the slice's references and frees it.  NULL is a no-op. */
void slices_destroy(struct slices *slices, struct sealed *sealed);

#endif
