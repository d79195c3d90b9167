/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * digest.h - sums one slice of the store by symbol; private to hot.
 *
 * The symbols on a stack come from the forest (forest.h), so a cell costs one addition for each. UI
 * thread.
 */
#ifndef TUI_TABLES_DIGEST_H
#define TUI_TABLES_DIGEST_H

#include "sampler/store/stacks.h"
#include "sampler/store/store.h"
#include "sampler/store/tasks.h"
#include "tui/names/names.h"
#include "tui/query/filter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A symbol that is the leaf of samples. */
struct digest_leaf {
	uint64_t self;
	uint32_t symref, samples;
};

struct digest_total {
	uint64_t weight, samples, unresolved;
	uint32_t first, n; /* range in weights and symrefs, sorted by symref */
	uint32_t first_leaf, n_leafs; /* range in leafs, sorted by symref */
	/* Index of the leafs: the symref range from the first leaf's on, in parts of 1 << shift
	 * symrefs. */
	uint32_t *begins; /* by part: its first leaf; one more for the end */
	uint32_t n_begins;
	uint8_t shift;
	uint8_t event;
};

struct digest {
	uint64_t serial, start_ns, end_ns; /* from the slice */
	/* For hot.  number: identifies the digest; bare: its sums are in the table, without entries
	 * here; weight, samples: the whole slice, without filters. */
	uint64_t number;
	bool bare;
	uint64_t weight, samples;
	bool pending; /* a symbol was not known yet: rebuild when the epoch changes */
	bool growing; /* code made at run time may get a name: rebuild when its epoch changes */
	/* Most symbols on stacks are no leafs, but lookups are for leafs only.  Two lists halve the
	 * data to search. */
	uint64_t *weights; /* total of each symbol */
	uint32_t *symrefs; /* symref of each weight */
	struct digest_leaf *leafs;
	struct digest_total *totals;
	uint32_t n_totals;
};

struct digester;

int digester_new(struct digester **out, const struct stacks *stacks, struct names *names);
void digester_free(struct digester *digester);
/* Sets the filter of the next digests, borrowed; NULL: all cells pass.  Other cells are ignored. */
void digester_set_filter(struct digester *digester, struct filter *filter);

/* Sums a slice.  tasks: NULL to recognize idle samples by their leaf.  Returns 0 (release *out with
 * digest_fini()) or -ENOMEM. */
int digest_make(struct digester *digester, const struct slice *slice, const struct tasks *tasks,
	bool hide_idle, struct digest *out);
void digest_fini(struct digest *digest);

/* Returns the self weight of a symbol. */
uint64_t digest_self(const struct digest *digest, uint8_t event, uint32_t symref);

#endif
