/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lanes_private.h - lanes that are being summed, for lanes*.c alone.
 *
 * lanes.c has what every sum needs and what is remembered of slices; lanes_cells.c goes over many cells, of which nothing is
 * remembered.
 */
#ifndef TUI_LANES_PRIVATE_H
#define TUI_LANES_PRIVATE_H

#include "tui/halves.h"
#include "tui/intern.h"
#include "tui/lanes.h"
#include "tui/sieve.h"

/* Of one slice: what has the same label, or CPU, and the same symbol at the leaf. */
struct lanes_part {
	uint32_t at, symref;
	uint64_t weight, samples;
};

struct lanes_digest {
	uint64_t serial; /* of the slice */
	struct lanes_part *parts;
	uint32_t n;
};

struct lanes_part_slot {
	uint32_t slice, part; /* of another slice: free */
};

/* How much of one lane fell into one symbol. */
struct lanes_pair {
	uint32_t lane, symref;
	uint64_t weight; /* 0: free */
};

/* What slices bring to a lane until others lie in other columns. */
struct lanes_fresh {
	uint64_t weight, samples;
};

/* The columns that a slice is spread over. */
struct lanes_spread {
	size_t first, last;
	uint64_t from, to; /* of it, since the range began */
};

struct lanes_work {
	const struct query *query;
	struct half half; /* of the stacks, where cells are many */
	struct lanes *lanes;
	uint32_t lanes_room;
	struct intern keys;
	uint32_t *of_label, *of_cpu; /* lane + 1 */
	uint32_t labels_room, cpus_room;
	/* A label, or CPU, that has a lane: what does not count is added to it as nothing. */
	uint32_t counted;
	struct sieve sieve;
	/* Of the slice at hand. */
	struct lanes_part *parts;
	uint32_t n_parts, parts_room;
	struct lanes_part_slot *part_slots;
	uint32_t n_part_slots, n_slices;
	/* Of the slices in the columns at hand. */
	struct lanes_fresh *fresh; /* by lane; all 0 where none is met */
	uint32_t fresh_room;
	struct lanes_spread spread; /* of it */
	uint32_t *met; /* lanes */
	uint32_t n_met, met_room;
	/* How much of each lane fell into each symbol: an array by symref for the first lanes, pairs for others. */
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

/* The lane of a key, made when it is new.  0 or -ENOMEM. */
int lanes_find(struct lanes_work *work, const struct lanes_key *key, uint32_t *id);
/* Before what is counted is another slice's. */
void lanes_begin_slice(struct lanes_work *work, const struct slice *slice);
/* Into what its lane has of the columns at hand, and into its symbol.  0 or -ENOMEM. */
int lanes_count(struct lanes_work *work, const struct lanes_part *part);
/* What was counted goes to its columns: after the last slice. */
void lanes_spread_out(struct lanes_work *work);

/* Some weight to a lane's symbol.  0 or -ENOMEM. */
int lanes_add_symbol(struct lanes_work *work, uint32_t lane, uint32_t symref, uint64_t weight);
/* The same for all symbols, n_symrefs of them. */
int lanes_add_symbols(struct lanes_work *work, uint32_t lane, const uint64_t *weights);

static inline bool lanes_has_row(const struct lanes_work *work, uint32_t lane)
{
	return lane < work->rows_room && work->rows[lane];
}

/* The cells of slice `at` of the snapshot, of which nothing is remembered.  0 or -ENOMEM. */
int lanes_add_cells(struct lanes_work *work, const struct slice *slice, size_t at);
/* All cells, by two threads where they are many.  0 or -ENOMEM. */
int lanes_add_all(struct lanes_work *work);

#endif
