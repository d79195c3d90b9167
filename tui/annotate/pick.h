/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pick.h - which functions strobe annotate shows: samples by function, and the functions a
 * name selects.
 *
 * UI thread; the caller holds the snapshot during pick_make().
 */
#ifndef TUI_ANNOTATE_PICK_H
#define TUI_ANNOTATE_PICK_H

#include "tui/query/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pick_function {
	uint32_t symref;
	double share; /* share of the weight of the first event with samples: 0 to 1 */
	double other; /* largest share over all events */
	uint64_t samples; /* over all events */
};

struct pick {
	struct pick_function *functions; /* those with samples, by falling share, then by name */
	size_t n;
	uint64_t *sums; /* by symref and event column: weight, samples */
	uint32_t n_symrefs;
	size_t n_events;
	/* that passed the filter, by column */
	uint64_t weight[STORE_EVENTS_MAX], samples[STORE_EVENTS_MAX];
};

/* Sums samples by the symbol of the leaf.  question: pick_make() sets `by`.  events: event ids in
 * column order.  Returns 0 (release *out with pick_fini()) or -ENOMEM. */
int pick_make(struct pick *out, const struct scan_question *question, const uint8_t *events,
	size_t n_events);
void pick_fini(struct pick *pick);

enum pick_match {
	PICK_NONE,
	/* the name itself, as shown or as in the file; or the name without its parameters */
	PICK_EXACT,
	PICK_PART, /* the text is part of one function name */
	PICK_SEVERAL, /* the text selects functions of different names */
};

/* Finds the functions that a text selects.  *found: indices into functions, hottest first; the
 * caller frees it.  PICK_EXACT: all have the same name.  PICK_NONE: *n is 0.  Returns 0 or
 * -ENOMEM. */
int pick_find(const struct pick *pick, struct names *names, struct symbols *symbols,
	const char *text, enum pick_match *match, size_t **found, size_t *n);

#endif
