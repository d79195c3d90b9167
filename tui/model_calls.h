/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model_calls.h - trees of calls of the model's window, for the views.
 *
 * What all trees are made from is computed when the first one is asked for, and kept until window, filter or names are
 * others; so views that no tree is drawn in cost nothing.  Where it is the time alone that goes on, it is not made anew more often than a
 * small share of the time allows: a tree is then of a moment before, and its node 0 tells how much that was.  UI thread.
 */
#ifndef TUI_MODEL_CALLS_H
#define TUI_MODEL_CALLS_H

#include "tui/calltree.h"
#include "tui/model.h"
#include "tui/session.h"

#include <stdbool.h>
#include <stdint.h>

/* All zeros is one that knows nothing.  Private to model_calls.c. */
struct model_calls {
	struct calls *calls;
	uint64_t from_ns, to_ns, last_ns; /* window and end of the history */
	uint64_t epoch, filter; /* of names; the filter's serial */
	unsigned int hide_idle; /* model_idle() */
	uint64_t basis; /* serial of what they are compared with; 0: nothing */
	struct model_time time;
	uint64_t not_before_ns; /* where it is the time alone that goes on */
};

void model_calls_fini(struct model_calls *cache);

/* What is asked of the samples of a model's window, for trees. */
struct scan_question model_calls_question(const struct session *session, const struct model *model,
	struct filter *filter, const struct snapshot *snapshot);

/* epoch: of the names that the other views show.  basis (NULL: none) and its serial as of model_baseline.h.  As model_ops.tree. */
int model_calls_tree(struct model_calls *cache, struct session *session, const struct model *model,
	struct filter *filter, uint64_t epoch, const struct basis *basis, uint64_t serial,
	const struct calltree_query *query, struct calltree *out);

/* Whether the last tree was of a moment before the model's window. */
bool model_calls_are_old(const struct model_calls *cache, const struct model *model);

#endif
