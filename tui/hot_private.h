/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot_private.h - a hot table from inside, for hot.c, which keeps its sums, and hot_rows.c, which makes rows of them.
 */
#ifndef TUI_HOT_PRIVATE_H
#define TUI_HOT_PRIVATE_H

#include "tui/digest.h"
#include "tui/hot.h"
#include "tui/hot_bulk.h"

struct sum {
	uint64_t self, total, samples;
	uint32_t symref;
	uint8_t event;
	bool used;
};

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
	struct sum *
		sums; /* open addressing by (symref, event); a used one stays, at 0 when all left */
	uint32_t n_sums, n_slots;
	uint64_t digested, bulk_cells;
	size_t n_bare; /* digests without entries */
	bool bare_pending; /* some symbol of theirs is not known yet */
	struct hot_trends trends; /* where there are bare ones */
	bool wants_trends; /* they were asked for */
	struct hot_sums by_event[STORE_EVENTS_MAX];
	struct hot_row *rows;
	size_t rows_room;
};

#endif
