/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot_private.h - a hot table from inside, for hot.c, which keeps its sums, and hot_rows.c, which makes rows of them.
 */
#ifndef TUI_HOT_PRIVATE_H
#define TUI_HOT_PRIVATE_H

#include "tui/bits.h"
#include "tui/digest.h"
#include "tui/hot.h"
#include "tui/hot_bulk.h"

struct hot_sum {
	uint64_t self, total, samples;
};

struct hot_leaf {
	uint64_t self, samples;
};

/* Those of an event, by id from hot.first on; all below `room`.  Digests have theirs in the order of ids, so they are added from
 * the beginning to the end. */
struct hot_column {
	uint64_t *totals;
	struct hot_leaf *leafs;
	uint64_t *used; /* a bit for each that may not be zero */
	uint32_t room, totals_room, leafs_room, used_room;
};

/* What the trend of a symbol on the screen is made of: its self weight in each digest. */
struct hot_line {
	uint64_t *selfs; /* a ring, by the digests' numbers */
	uint64_t end; /* those from the first digest up to this number are known */
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
	uint64_t epoch, changes; /* of the names that the digests were made with */
	bool hide_idle, made_hide_idle;
	bool summed; /* there are sums without digests */
	uint64_t from_ns, to_ns;
	struct digest *digests; /* by time */
	size_t n_digests;
	struct hot_column columns[STORE_EVENTS_MAX];
	uint32_t first;
	uint64_t digested, bulk_cells;
	size_t n_bare; /* digests without entries */
	bool bare_pending; /* some symbol of theirs is not known yet */
	struct hot_trends trends; /* where there are bare ones */
	bool wants_trends; /* they were asked for */
	uint64_t last_number; /* of a digest; none has 0 */
	struct hot_line lines[HOT_LINES];
	uint32_t ring; /* values in each; a power of two, or 0 */
	struct hot_sums by_event[STORE_EVENTS_MAX];
	struct hot_row *rows;
	size_t rows_room;
};

struct scan_question hot_question(
	const struct hot *hot, const struct snapshot *snapshot, uint64_t from_ns, uint64_t to_ns);

/* The time that trends of a range are of, where its history is [first_ns, last_ns). */
void hot_trend_time(uint64_t first_ns, uint64_t last_ns, uint64_t from_ns, uint64_t to_ns,
	struct hot_trends *trends);
void hot_lines_fini(struct hot *hot);

/* All zeros where there is none. */
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
