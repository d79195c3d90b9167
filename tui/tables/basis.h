/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * basis.h - the baseline of a comparison: a tree of calls by symbol, with the weight that ended at
 * each node.
 *
 * Nodes are numbered so that callers come before what they call; node 0 is the root.  It is built
 * from a time range of the same profile (basis_scan()), or node by node (basis_add()) from another
 * recording. UI thread.
 */
#ifndef TUI_TABLES_BASIS_H
#define TUI_TABLES_BASIS_H

#include "tui/query/scan.h"

#include <stdint.h>

#define BASIS_ROOT 0u

struct basis_weight {
	uint32_t node;
	uint8_t event;
	uint64_t weight, samples;
};

struct basis {
	uint32_t *parents, *symrefs; /* n nodes each; the root's values are unused */
	uint32_t n;
	struct basis_weight *weights;
	uint32_t n_weights;
	uint64_t sums[STORE_EVENTS_MAX]; /* by event, sum of all weights */

	/* private: allocated sizes */
	uint32_t parents_room, symrefs_room, weights_room;
};

/* Frees the arrays and resets to zero.  A zeroed basis has no nodes: nothing can be compared with
 * it. */
void basis_fini(struct basis *basis);

/* Builds a basis from the samples that pass.  It sets scan.by itself.  Returns 0, or -ENOMEM with
 * an empty *out. */
int basis_scan(struct basis *out, const struct scan_question *scan);

/* Add a node below another, and weight that ends at a node.  Return 0, -ENOMEM, or -EINVAL if the
 * parent or node does not exist. */
int basis_add(struct basis *basis, uint32_t parent, uint32_t symref, uint32_t *node);
int basis_weigh(
	struct basis *basis, uint32_t node, uint8_t event, uint64_t weight, uint64_t samples);

/* Adds an event's weight by symbol to self, total and samples, arrays of `limit` entries.  A
 * stack counts once in a symbol's total.  Symbols at or above limit are skipped.  Returns 0 or
 * -ENOMEM. */
int basis_symbols(const struct basis *basis, uint8_t event, uint32_t limit, uint64_t *self,
	uint64_t *total, uint64_t *samples);

#endif
