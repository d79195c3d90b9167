/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot_private.h - internals of a hot table, for hot.c (sums), hot_rows.c and hot_trend.c.
 */
#ifndef TUI_TABLES_HOT_PRIVATE_H
#define TUI_TABLES_HOT_PRIVATE_H

#include "tui/base/bits.h"
#include "tui/tables/digest.h"
#include "tui/tables/hot.h"
#include "tui/tables/hot_bulk.h"

struct hot_sum {
	uint64_t self, total, samples;
};

struct hot_leaf {
	uint64_t self, samples;
};

/* Sums of one event, by id - hot.first.  room: number of sums.  A digest lists its ids in
 * rising order, so adding it runs through the arrays once. */
struct hot_column {
	uint64_t *totals;
	struct hot_leaf *leafs;
	uint64_t *used; /* bitmap of the sums that may be nonzero */
	uint32_t room, totals_room, leafs_room, used_room;
};

/* The source of the trend of a symbol on the screen: its self weight in each digest. */
struct hot_line {
	uint64_t *selfs; /* ring, indexed by the digests' numbers */
	uint64_t end; /* weights are valid from the first digest up to this number, exclusive */
	uint32_t symref;
	uint8_t event;
};

#define HOT_LINES 256u

struct hot {
	struct store *store;
	struct names *names;
	hot_namer *namer;
	void *namer_ctx;
	const struct stacks *stacks;
	const struct tasks *tasks;
	struct filter *filter;
	struct digester *digester;
	uint64_t epoch, code_epoch, changes; /* state of the names that the digests depend on */
	bool hide_idle, made_hide_idle;
	bool summed; /* the sums have no digests */
	uint64_t from_ns, to_ns;
	struct digest *digests; /* in the order of time */
	size_t n_digests;
	struct hot_column columns[STORE_EVENTS_MAX];
	uint32_t first;
	uint64_t digested, bulk_cells;
	size_t n_bare; /* number of digests without entries */
	bool bare_pending, bare_growing; /* any bare digest is so; see struct digest */
	struct hot_trends trends; /* used if there are bare digests */
	bool wants_trends; /* hot_trend() was called for bare digests */
	uint64_t last_number; /* last number given to a digest, from 1 on */
	struct hot_line lines[HOT_LINES];
	uint32_t ring; /* number of values in the ring of a line; a power of two, or 0 */
	struct hot_sums by_event[STORE_EVENTS_MAX];
	struct hot_row *rows;
	size_t rows_room;
};

struct scan_question hot_question(
	const struct hot *hot, const struct snapshot *snapshot, uint64_t from_ns, uint64_t to_ns);

/* Sets the time of the trends of a range with history in [first_ns, last_ns). */
void hot_trend_time(uint64_t first_ns, uint64_t last_ns, uint64_t from_ns, uint64_t to_ns,
	struct hot_trends *trends);
void hot_lines_fini(struct hot *hot);

/* Returns the sums of an id; zeros if there are none. */
static inline struct hot_sum hot_sum_at(const struct hot *hot, uint32_t id, uint8_t event)
{
	const struct hot_column *column = &hot->columns[event];

	const uint32_t at = id - hot->first;

	if (at >= column->room)
		return (struct hot_sum){.self = 0};
	return (struct hot_sum){
		column->leafs[at].self, column->totals[at], column->leafs[at].samples};
}

#endif
