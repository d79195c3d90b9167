/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot.h - the hot-symbol table over a time range, updated slice by slice.
 *
 * Each slice is digested once: (symref, event) -> self, total, samples.  A digest is added to the
 * sums of the range when its slice enters, and subtracted when it leaves.  So a refresh costs the
 * newest slice, not the range.  Many new slices are summed at once, without digests.  Recursion is
 * folded: a stack counts once in the total of each symbol on it.  When names change
 * (names_epoch()), the digests are rebuilt.  UI thread.
 */
#ifndef TUI_TABLES_HOT_H
#define TUI_TABLES_HOT_H

#include "sampler/store/store.h"
#include "sampler/store/tasks.h"
#include "tui/names/names.h"
#include "tui/query/filter.h"
#include "tui/query/scan.h"
#include "tui/tables/basis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOT_TREND SCAN_PARTS

struct hot;

int hot_new(
	struct hot **out, struct store *store, const struct stacks *stacks, struct names *names);
void hot_free(struct hot *hot);

/* Updates the table to the sealed slices with their middle in [from_ns, to_ns).  Returns 0 or
 * -ENOMEM (the table is then empty). */
int hot_update(struct hot *hot, uint64_t from_ns, uint64_t to_ns);

/* Variant of hot_update() for a range that is summed only once.  It keeps no digests, so a long
 * history takes no more memory than its symbols.  There are no trends, and the next hot_update()
 * starts from scratch. */
int hot_sum(struct hot *hot, uint64_t from_ns, uint64_t to_ns);

/* Fills the table from a basis, whose symrefs must be below names_limit().  The next hot_update()
 * starts from scratch.  Returns 0 or -ENOMEM (the table is then empty). */
int hot_load(struct hot *hot, const struct basis *basis);

/* Sets the number of new cells above which they are summed by stack, without digests.  For tests,
 * which have few cells. */
void hot_set_bulk(struct hot *hot, uint64_t cells);

/* Returns how many slices hot_update() has read so far, a measure of work for tests and
 * benchmarks. */
uint64_t hot_digested(const struct hot *hot);

/* Leaves samples of the idle loop out of rows and totals: those of pid 0 if the tasks were set
 * (borrowed), else those with a leaf function of the idle loop. */
void hot_hide_idle(struct hot *hot, bool hide);
void hot_set_tasks(struct hot *hot, const struct tasks *tasks);

/* Leaves out samples that do not pass the filter (borrowed).  The table is empty until the next
 * update. */
void hot_set_filter(struct hot *hot, struct filter *filter);

enum hot_sort {
	HOT_SORT_SELF,
	HOT_SORT_TOTAL,
	HOT_SORT_SAMPLES,
	HOT_SORT_CHANGE, /* by absolute value */
	HOT_SORT_SYMBOL,
	HOT_SORT_IMAGE
};

struct hot_row {
	uint32_t symref;
	uint64_t self, total; /* weight for the event of the query */
	uint64_t samples; /* samples with this symbol as the leaf */
	double change; /* change of the self share from the baseline, -1 .. 1; 0 without one */
};

struct hot_query {
	uint8_t event;
	enum hot_sort sort;
	bool reverse;
	bool hide_kernel;
	const char *filter; /* case-insensitive substring of symbol or image; NULL or "": all */
	const struct hot *base; /* baseline with the same names, adds rows; or NULL */
	bool quick; /* ties of numbers are ordered by symref, that is by first use */
	size_t most; /* number of rows, from the first one on, that the caller reads; 0: all */
};

struct hot_sums {
	/* sums of the event over the whole range, before hot_query.filter */
	uint64_t weight, samples;
	uint64_t unresolved; /* weight with a leaf that has no symbol */
	uint64_t all_samples; /* includes samples that hot_update() and hot_sum() leave out */
	uint64_t span_ns; /* covered time, ns */
};

/* hot_fill() fills the table with other sums, for rows that are not symbols.  Their ids replace the
 * symrefs.  There are no trends.  Returns 0 or -ENOMEM (the table is then empty). */
struct hot_part {
	uint64_t self, total, samples;
	uint32_t id;
	uint8_t event;
};
int hot_fill(struct hot *hot, const struct hot_part *parts, size_t n,
	const struct hot_sums by_event[STORE_EVENTS_MAX]);

/* Returns the name of an id, also of a baseline's.  If NULL is set, the ids are symrefs. */
typedef const struct symref *hot_namer(void *ctx, uint32_t id);
void hot_set_namer(struct hot *hot, hot_namer *namer, void *ctx);

/* Returns in *rows the sorted rows that pass the filter.  Ties of self are ordered by total, all
 * others by symbol, image and start.  *n: number of rows.  Only the first query->most rows are
 * valid; if that is 0, all.  The array belongs to the table and is valid until the next call.
 * Returns 0 or -ENOMEM. */
int hot_rows(struct hot *hot, const struct hot_query *query, const struct hot_row **rows, size_t *n,
	struct hot_sums *sums);

/* Returns the weight of one symbol for an event, to show events in adjacent columns. */
void hot_cell(
	const struct hot *hot, uint32_t symref, uint8_t event, uint64_t *self, uint64_t *total);
void hot_sums(const struct hot *hot, uint8_t event, struct hot_sums *out);

/* Returns the self weight of a symbol in HOT_TREND equal parts of the range, oldest first.  For a
 * long, moving range the result may be slightly out of date. */
void hot_trend(struct hot *hot, uint32_t symref, uint8_t event, uint64_t out[HOT_TREND]);

#endif
