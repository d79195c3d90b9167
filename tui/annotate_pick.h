/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_pick.h - which functions strobe annotate shows: what was sampled in each, and whom a name means.
 *
 * UI thread, with the snapshot held while it is made.
 */
#ifndef TUI_ANNOTATE_PICK_H
#define TUI_ANNOTATE_PICK_H

#include "tui/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pick_function {
	uint32_t symref;
	double share; /* of the weight of the first event that has samples: 0 to 1 */
	double other; /* the largest share of an event */
	uint64_t samples; /* of all events */
};

struct pick {
	struct pick_function *functions; /* with samples, by falling share, then by names */
	size_t n;
	uint64_t *sums; /* by symref and event column: weight, samples */
	uint32_t n_symrefs;
	size_t n_events;
	uint64_t weight[STORE_EVENTS_MAX], samples[STORE_EVENTS_MAX]; /* that passed, by column */
};

/* What fell on each symbol as the leaf.  question: by is filled in.  events: ids in the order of the columns.  0 and *out for
 * pick_fini(); or -ENOMEM. */
int pick_make(struct pick *out, const struct scan_question *question, const uint8_t *events,
	size_t n_events);
void pick_fini(struct pick *pick);

enum pick_match {
	PICK_NONE,
	PICK_EXACT, /* the name itself, as shown or as in the file; or without its parameters */
	PICK_PART, /* one symbol has the text in its name */
	PICK_SEVERAL, /* more than one has, or is called so apart from its parameters */
};

/* Whom the text means: indices into functions, hottest first, for free().  Of PICK_EXACT all have the same name; of
 * PICK_NONE there are none.  0 or -ENOMEM. */
int pick_find(const struct pick *pick, struct names *names, struct symbols *symbols,
	const char *text, enum pick_match *match, size_t **found, size_t *n);

#endif
