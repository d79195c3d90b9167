/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model_crumbs.h - what of the samples the views show: the command line's terms, and the expressions that the screen's
 * user has added, each removable.  UI thread.
 */
#ifndef TUI_MODEL_CRUMBS_H
#define TUI_MODEL_CRUMBS_H

#include "tui/expr.h"
#include "tui/model.h"
#include "tui/session.h"

#include <stddef.h>

/* All zeros is one that everything passes. */
struct model_crumbs {
	struct filter *filter; /* of all; NULL: everything passes */
	struct expr exprs[MODEL_CRUMBS_MAX];
};

/* The command line's terms alone; borrowed.  0 or -ENOMEM. */
int model_crumbs_init(struct model_crumbs *crumbs, struct session *session);
void model_crumbs_fini(struct model_crumbs *crumbs);

/* As model_ops.crumb_add and crumb_drop.  The filter is another one afterwards, and the old one is gone. */
int model_crumbs_add(struct model_crumbs *crumbs, struct session *session, struct model *model,
	const char *text, size_t *at, char *message, size_t size);
int model_crumbs_drop(
	struct model_crumbs *crumbs, struct session *session, struct model *model, size_t i);

#endif
