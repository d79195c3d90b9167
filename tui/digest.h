/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * digest.h - one slice of the store as sums by symbol; private to hot.
 *
 * The symbols on a stack are those of the forest (forest.h), so a cell costs one addition for each of them.  UI thread.
 */
#ifndef TUI_DIGEST_H
#define TUI_DIGEST_H

#include "sampler/stacks.h"
#include "sampler/store.h"
#include "sampler/tasks.h"
#include "tui/filter.h"
#include "tui/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A symbol that samples have as their leaf. */
struct digest_leaf {
	uint64_t self;
	uint32_t symref, samples;
};

struct digest_total {
	uint64_t weight, samples, unresolved;
	uint32_t first, n; /* its symbols, by rising symrefs */
	uint32_t first_leaf, n_leafs; /* those of them that are leafs, likewise */
	/* Of the leafs' symrefs, from the first one's on, each so many of 1 << shift: where they begin among the leafs. */
	uint32_t *begins; /* n_begins, and one for the end */
	uint32_t n_begins;
	uint8_t shift;
	uint8_t event;
};

struct digest {
	uint64_t serial, start_ns, end_ns; /* of the slice */
	/* Of hot alone: which one it is; its sums are in the table, but no entries are kept; what the slice weighed, filters aside. */
	uint64_t number;
	bool bare;
	uint64_t weight, samples;
	bool pending; /* some symbol is not known yet: to be made anew when the epoch changes */
	/* Most symbols on stacks are no leafs, and all that is looked for are leafs: two lists are half as much to go through. */
	uint64_t *weights; /* total of each symbol */
	uint32_t *symrefs; /* of those */
	struct digest_leaf *leafs;
	struct digest_total *totals;
	uint32_t n_totals;
};

struct digester;

int digester_new(struct digester **out, const struct stacks *stacks, struct names *names);
void digester_free(struct digester *digester);
/* What does not pass is as if it were not there; borrowed, NULL: all passes. */
void digester_set_filter(struct digester *digester, struct filter *filter);

/* tasks may be NULL: then idle samples are told by their leaf. */
int digest_make(struct digester *digester, const struct slice *slice, const struct tasks *tasks,
	bool hide_idle, struct digest *out);
void digest_fini(struct digest *digest);

/* The self weight of a symbol. */
uint64_t digest_self(const struct digest *digest, uint8_t event, uint32_t symref);

#endif
