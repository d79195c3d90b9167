/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot_bulk.h - sums many samples by symbol at once; private to hot.
 *
 * A digest (digest.h) costs, for each cell, one addition per symbol on its stack, but can be
 * subtracted later.  Here cells are first summed by stack and then all stacks at once, which is
 * cheaper for many cells.  UI thread, with the snapshot held.
 */
#ifndef TUI_TABLES_HOT_BULK_H
#define TUI_TABLES_HOT_BULK_H

#include "tui/query/scan.h"
#include "tui/tables/hot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hot_bulk {
	struct hot_part *parts; /* by symref */
	uint32_t n, room;
	struct hot_sums by_event[STORE_EVENTS_MAX]; /* without span_ns */
	bool pending, growing; /* see struct digest */
};

/* Self weight of the leaf symbols in HOT_TREND equal parts of [from_ns, to_ns). */
struct hot_trends {
	uint64_t (*of)[HOT_TREND]; /* by symref; NULL: not computed */
	uint32_t room;
	uint64_t from_ns, to_ns;
	uint8_t event;
};

/* Sums the samples of a question; fills in its `by`.  trends: NULL, or the trends to compute in the
 * same pass, for the time and event set in it; cleared on failure.  Returns 0 or -ENOMEM; call
 * hot_bulk_fini() in both cases. */
int hot_bulk_sum(
	const struct scan_question *question, struct hot_trends *trends, struct hot_bulk *out);
void hot_bulk_fini(struct hot_bulk *bulk);

/* Computes the trends alone.  Returns 0, or -ENOMEM with the trends cleared. */
int hot_trends_make(const struct scan_question *question, struct hot_trends *trends);
/* Frees the trends, but keeps time and event. */
void hot_trends_clear(struct hot_trends *trends);

#endif
