/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lanes_private.h - lanes during summing, for lanes*.c only.
 *
 * lanes.c has the common code and the cache of slices.  lanes_cells.c sums many cells without the
 * cache.
 */
#ifndef TUI_TABLES_LANES_PRIVATE_H
#define TUI_TABLES_LANES_PRIVATE_H

#include "tui/base/intern.h"
#include "tui/query/halves.h"
#include "tui/query/sieve.h"
#include "tui/tables/lanes.h"

/* Sum of the cells of one slice with equal label (or CPU) and symbol of the leaf. */
struct lanes_part {
	uint32_t at, symref;
	uint64_t weight, samples;
};

struct lanes_digest {
	uint64_t serial; /* serial of the slice */
	struct lanes_part *parts;
	uint32_t n;
};

struct lanes_part_slot {
	uint32_t slice, part; /* slice: its number in this pass; a slot of another slice is free */
};

/* Weight of one symbol in one lane. */
struct lanes_pair {
	uint32_t lane, symref;
	uint64_t weight; /* 0: free */
};

/* Sums of slices not yet spread over the lane's columns. */
struct lanes_fresh {
	uint64_t weight, samples;
};

/* The columns that a slice is spread over. */
struct lanes_spread {
	size_t first, last;
	uint64_t from, to; /* time of the slice in the range, ns since its start */
};

struct lanes_work {
	const struct query *query;
	struct half half; /* the range of stacks, if two threads work */
	struct lanes *lanes;
	uint32_t lanes_room;
	struct intern keys;
	uint32_t *of_label, *of_cpu; /* lane + 1 */
	uint32_t labels_room, cpus_room;
	/* A label, or CPU, with a lane, to which cells that do not count add 0. */
	uint32_t counted;
	struct sieve sieve;
	/* Parts of the current slice. */
	struct lanes_part *parts;
	uint32_t n_parts, parts_room;
	struct lanes_part_slot *part_slots;
	uint32_t n_part_slots, n_slices;
	/* Sums of the slices in the current columns. */
	struct lanes_fresh *fresh; /* by lane; all 0 except for the lanes in met */
	uint32_t fresh_room;
	struct lanes_spread spread; /* the current columns */
	uint32_t *met; /* lanes with samples in fresh */
	uint32_t n_met, met_room;
	/* Weight by lane and symbol: an array by symref for the first lanes, pairs for others. */
	uint64_t **rows;
	uint32_t rows_room, n_symrefs;
	struct lanes_pair *pairs;
	uint32_t n_pairs, n_slots;
};

struct lanes_key {
	int32_t pid, tid;
	uint32_t cpu;
	char name[TASK_COMM_MAX];
};

void lanes_work_init(struct lanes_work *work, const struct query *query, struct lanes *lanes);
void lanes_work_fini(struct lanes_work *work);

/* Finds or adds the lane of a key.  Returns 0 or -ENOMEM. */
int lanes_find(struct lanes_work *work, const struct lanes_key *key, uint32_t *id);
/* Starts a slice.  Call it before the first lanes_count() for the slice. */
void lanes_begin_slice(struct lanes_work *work, const struct slice *slice);
/* Adds a part to its lane in the current columns and to its symbol.  Returns 0 or -ENOMEM. */
int lanes_count(struct lanes_work *work, const struct lanes_part *part);
/* Spreads the pending sums over their columns.  Call it after the last slice. */
void lanes_spread_out(struct lanes_work *work);

/* Adds weight to a symbol of a lane.  Returns 0 or -ENOMEM. */
int lanes_add_symbol(struct lanes_work *work, uint32_t lane, uint32_t symref, uint64_t weight);
/* Variant for all symbols: weights has n_symrefs elements. */
int lanes_add_symbols(struct lanes_work *work, uint32_t lane, const uint64_t *weights);

static inline bool lanes_has_row(const struct lanes_work *work, uint32_t lane)
{
	return lane < work->rows_room && work->rows[lane];
}

/* Adds the cells of slice `at` of the snapshot, without the cache.  Returns 0 or -ENOMEM. */
int lanes_add_cells(struct lanes_work *work, const struct slice *slice, size_t at);
/* Adds all cells, in two threads if they are many.  Returns 0 or -ENOMEM. */
int lanes_add_all(struct lanes_work *work);

#endif
