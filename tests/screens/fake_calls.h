/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_calls.h - trees of a few fixed stacks of the fake model's symbols, built in the simplest
 * way.
 */
#ifndef TESTS_SCREENS_FAKE_CALLS_H
#define TESTS_SCREENS_FAKE_CALLS_H

#include "tui/model/model.h"

struct calltree_query;
struct calltree;

/* Least weight of a node; trees leave out lighter ones.  0: trees have all nodes. */
extern uint64_t fake_calls_least;

/* Implements model_queries.tree. */
int fake_calls_tree(struct model *model, const struct calltree_query *query, struct calltree *out);

#endif
