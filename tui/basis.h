/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * basis.h - what trees of calls are compared with: paths of symbols, and how much ended at each.
 *
 * Nodes are numbered so that callers come before what they call; node 0 is the root.  It is made of a time of the same
 * profile (basis_scan()), or put together by hand (basis_add()), as a recording is that somebody else has read.  UI thread.
 */
#ifndef TUI_BASIS_H
#define TUI_BASIS_H

#include "tui/scan.h"

#include <stdint.h>

#define BASIS_ROOT 0u

struct basis_weight {
	uint32_t node;
	uint8_t event;
	uint64_t weight, samples;
};

struct basis {
	uint32_t *parents, *symrefs; /* of n nodes; those of the root mean nothing */
	uint32_t n;
	struct basis_weight *weights;
	uint32_t n_weights;
	uint64_t sums[STORE_EVENTS_MAX]; /* by event, of all weights */

	/* private */
	uint32_t parents_room, symrefs_room, weights_room;
};

/* All zeros is one without nodes: nothing can be compared with it. */
void basis_fini(struct basis *basis);

/* What passes of a time.  scan.by is filled in.  0, or -ENOMEM with an empty one. */
int basis_scan(struct basis *out, const struct scan_question *scan);

/* A node below another, and weight that ends at a node.  0 or -ENOMEM, -EINVAL for a parent or node that is not
 * there. */
int basis_add(struct basis *basis, uint32_t parent, uint32_t symref, uint32_t *node);
int basis_weigh(
	struct basis *basis, uint32_t node, uint8_t event, uint64_t weight, uint64_t samples);

/* The weight of an event by symbol, each stack counted once in a symbol's total: arrays of `limit` (every symref is below it)
 * that are added to.  0 or -ENOMEM. */
int basis_symbols(const struct basis *basis, uint8_t event, uint32_t limit, uint64_t *self,
	uint64_t *total, uint64_t *samples);

#endif
