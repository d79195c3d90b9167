/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slices.h - making sealed slices, for store.c: from counted cells, by merging two, by leaving out detail.
 *
 * A slice holds one reference to the stack and one to the task of each cell.  Sampling thread.
 */
#ifndef SAMPLER_SLICES_H
#define SAMPLER_SLICES_H

#include "sampler/cells.h"
#include "sampler/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How much of a slice's stacks and tasks is left. */
enum detail {
	DETAIL_FULL,
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
	bool sorted; /* cells are in the order of merging */
};

/* What slices refer to, and work space that is kept from one call to the next. */
struct slices {
	struct stacks *stacks;
	struct tasks *tasks;
	struct cell *work; /* for sorting */
	size_t work_size;
	struct cells adding; /* for adding up */
	uint64_t last_serial;
};

int slices_init(struct slices *slices, struct stacks *stacks, struct tasks *tasks);
void slices_fini(struct slices *slices);
size_t slices_memory(const struct slices *slices);

/* Takes over the references of the cells.  0, or -ENOMEM with nothing taken. */
int slices_seal(struct slices *slices, const struct cell *cells, uint32_t n, uint64_t start_ns,
	uint64_t end_ns, struct sealed **out);

/* Two neighbours as one, a before b, which stay as they are.  -EOVERFLOW where a count might not fit; -ENOMEM. */
int slices_merge(
	struct slices *slices, const struct sealed *a, const struct sealed *b, struct sealed **out);

/* The same with less detail. */
int slices_reduce(
	struct slices *slices, const struct sealed *from, enum detail detail, struct sealed **out);

/* Drops the references and frees.  NULL is a no-op. */
void slices_destroy(struct slices *slices, struct sealed *sealed);

#endif
