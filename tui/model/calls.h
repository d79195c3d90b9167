/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calls.h - call trees of the model's window, for the views.
 *
 * The common source of all trees is computed at the first call, and kept until window, filter or
 * names change.  Views without a tree cost nothing.  If only time has passed, it is recomputed at
 * most for a small share of the time.  A tree may then be slightly old; its node 0 has the weight
 * at that time.  UI thread.
 */
#ifndef TUI_MODEL_CALLS_H
#define TUI_MODEL_CALLS_H

#include "tui/model/model.h"
#include "tui/session/session.h"
#include "tui/tables/calltree.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialized: empty.  Private to calls.c. */
struct model_calls {
	struct calls *calls;
	uint64_t from_ns, to_ns, last_ns; /* window and end of the history */
	uint64_t epoch, filter; /* epoch of the names; serial of the filter */
	unsigned int hide_idle; /* model_idle() */
	uint64_t basis; /* serial of the baseline's sums; 0: none */
	struct model_time time;
	uint64_t not_before_ns; /* earliest time to recompute if only time has passed */
};

void model_calls_fini(struct model_calls *cache);

/* Returns the query for the samples of a model's window, for trees. */
struct scan_question model_calls_question(const struct session *session, const struct model *model,
	struct filter *filter, const struct snapshot *snapshot);

/* Implements model_queries.tree.  epoch: that of the names shown by the other views.  basis (NULL:
 * none) and its serial: see baseline.h. */
int model_calls_tree(struct model_calls *cache, struct session *session, const struct model *model,
	struct filter *filter, uint64_t epoch, const struct basis *basis, uint64_t serial,
	const struct calltree_query *query, struct calltree *out);

/* Whether the last tree is older than the model's window. */
bool model_calls_are_old(const struct model_calls *cache, const struct model *model);

#endif
