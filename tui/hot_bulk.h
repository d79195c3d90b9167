/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot_bulk.h - many samples at once as sums by symbol; private to hot.
 *
 * Digests (digest.h) cost each cell as many additions as its stack has symbols, but can be subtracted again.  Here cells are summed by
 * stack first and then all stacks at once, which is cheaper where cells are many.  UI thread, with the
 * snapshot held.
 */
#ifndef TUI_HOT_BULK_H
#define TUI_HOT_BULK_H

#include "tui/hot.h"
#include "tui/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hot_bulk {
	struct hot_part *parts; /* by symref */
	uint32_t n, room;
	struct hot_sums by_event[STORE_EVENTS_MAX]; /* without span_ns */
	bool pending; /* some symbol is not known yet */
};

/* Self weight in HOT_TREND equal parts of [from_ns, to_ns), of the leaf-most symbols. */
struct hot_trends {
	uint64_t (*of)[HOT_TREND]; /* by symref; NULL: nothing is known */
	uint32_t room;
	uint64_t from_ns, to_ns;
	uint8_t event;
};

/* Of a question whose `by` is filled in.  trends, or NULL: made by the way, of the time and event that it is for.  0 or -ENOMEM;
 * hot_bulk_fini() in any case, the trends then being known or nothing of them. */
int hot_bulk_sum(
	const struct scan_question *question, struct hot_trends *trends, struct hot_bulk *out);
void hot_bulk_fini(struct hot_bulk *bulk);

/* The trends alone.  0 or -ENOMEM with nothing known. */
int hot_trends_make(const struct scan_question *question, struct hot_trends *trends);
/* Nothing is known then; time and event stay. */
void hot_trends_clear(struct hot_trends *trends);

#endif
