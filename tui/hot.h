/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot.h - the hot-symbol table over a time range, kept up to date slice by slice.
 *
 * Each slice is digested once: (symref, event) -> self, total, samples.  The sums of the range are those of
 * its digests, added when a slice enters and subtracted when it leaves; so a refresh costs the newest
 * slice, not the range; what comes into it all at once is summed at once.  Recursion is folded: a stack counts once in the total of each symbol on it.
 * When names change (names_epoch), the digests are made anew.  UI thread.
 */
#ifndef TUI_HOT_H
#define TUI_HOT_H

#include "sampler/store.h"
#include "sampler/tasks.h"
#include "tui/basis.h"
#include "tui/filter.h"
#include "tui/names.h"
#include "tui/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOT_TREND SCAN_PARTS

struct hot;

int hot_new(
	struct hot **out, struct store *store, const struct stacks *stacks, struct names *names);
void hot_free(struct hot *hot);

/* Make the table that of the sealed slices within [from_ns, to_ns) (a slice belongs to the range that its middle
 * lies in).  Returns 0 or -ENOMEM (the table is then empty). */
int hot_update(struct hot *hot, uint64_t from_ns, uint64_t to_ns);

/* The same for a range that is summed once and for all: no digest is kept, so a long history costs no more
 * memory than its symbols, but there are no trends and the next hot_update() starts anew. */
int hot_sum(struct hot *hot, uint64_t from_ns, uint64_t to_ns);

/* The sums of a basis in place of those of a range; the next hot_update() starts anew.  Its symrefs are below those of the names'
 * limit.  0 or -ENOMEM (the table is then empty). */
int hot_load(struct hot *hot, const struct basis *basis);

/* Where more cells than this come into the range at once they are summed by stack, and their slices leave no digests: for
 * tests, which have few. */
void hot_set_bulk(struct hot *hot, uint64_t cells);

/* How many slices hot_update() has looked into so far: the work done, for tests and benches. */
uint64_t hot_digested(const struct hot *hot);

/* Leave out samples of the idle loop, from rows and from totals: those of pid 0 when the tasks were given
 * (borrowed), else those whose leaf is a function of the idle loop. */
void hot_hide_idle(struct hot *hot, bool hide);
void hot_set_tasks(struct hot *hot, const struct tasks *tasks);

/* Leave out what does not pass the filter, as if it were not there; borrowed.  The table is empty until the next update. */
void hot_set_filter(struct hot *hot, struct filter *filter);

enum hot_sort {
	HOT_SORT_SELF,
	HOT_SORT_TOTAL,
	HOT_SORT_SAMPLES,
	HOT_SORT_CHANGE, /* whichever way */
	HOT_SORT_SYMBOL,
	HOT_SORT_IMAGE
};

struct hot_row {
	uint32_t symref;
	uint64_t self, total; /* weight of the event asked for */
	uint64_t samples; /* with this symbol as the leaf */
	double change; /* of the self share against the baseline, -1 .. 1; without one 0 */
};

struct hot_query {
	uint8_t event;
	enum hot_sort sort;
	bool reverse;
	bool hide_kernel;
	const char *filter; /* case-insensitive substring of symbol or image; NULL or "": all */
	const struct hot
		*base; /* a baseline over the same names; its symbols are rows, too.  Or NULL */
	bool quick; /* ties of numbers stay in the order in which the symbols were first seen */
	size_t most; /* how many rows, from the first one on, are looked at; 0: all */
};

struct hot_sums {
	uint64_t weight, samples; /* of the event, whole range, whatever the filter */
	uint64_t unresolved; /* weight with a leaf that has no symbol */
	uint64_t all_samples; /* with those that hot_update() and hot_sum() leave out */
	uint64_t span_ns; /* of time covered */
};

/* The table as one of other sums, made elsewhere: of rows that are no symbols, whose ids take the symrefs' place.  There are
 * no trends. */
struct hot_part {
	uint64_t self, total, samples;
	uint32_t id;
	uint8_t event;
};
int hot_fill(struct hot *hot, const struct hot_part *parts, size_t n,
	const struct hot_sums by_event[STORE_EVENTS_MAX]);

/* What ids are called, in place of names; of a baseline, too.  NULL: they are symrefs. */
typedef const struct symref *hot_namer(void *ctx, uint32_t id);
void hot_set_namer(struct hot *hot, hot_namer *namer, void *ctx);

/* Rows that pass the filter, sorted; ties of self by total, then by symbol, image, start, so that the order
 * is total.  *n is how many there are, of which the array has the first query->most, or all where that is 0: nothing behind those
 * may be looked at.  It is the hot table's own and valid until the next call.  0 or -ENOMEM. */
int hot_rows(struct hot *hot, const struct hot_query *query, const struct hot_row **rows, size_t *n,
	struct hot_sums *sums);

/* Weight of one symbol under another event, for columns side by side. */
void hot_cell(
	const struct hot *hot, uint32_t symref, uint8_t event, uint64_t *self, uint64_t *total);
void hot_sums(const struct hot *hot, uint8_t event, struct hot_sums *out);

/* Self weight of a symbol in HOT_TREND equal parts of the range, oldest first; of a long range that goes on, it may be of a moment
 * before. */
void hot_trend(struct hot *hot, uint32_t symref, uint8_t event, uint64_t out[HOT_TREND]);

#endif
