/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * crumbs.h - the filter of the views: the command line's terms and the expressions added by
 * the user, each of which can be removed.  UI thread.
 */
#ifndef TUI_MODEL_CRUMBS_H
#define TUI_MODEL_CRUMBS_H

#include "tui/model/model.h"
#include "tui/query/expr.h"
#include "tui/session/session.h"

#include <stddef.h>

/* Zero-initialized: all samples pass. */
struct model_crumbs {
	struct filter *filter; /* AND of all; NULL: all samples pass */
	struct expr exprs[MODEL_CRUMBS_MAX];
};

/* Makes the filter of the command line alone.  Borrows the session.  Returns 0 or -ENOMEM. */
int model_crumbs_init(struct model_crumbs *crumbs, struct session *session);
void model_crumbs_fini(struct model_crumbs *crumbs);

/* Implement model_commands.crumb_add and crumb_drop.  Both replace the filter; old pointers become
 * invalid. */
int model_crumbs_add(struct model_crumbs *crumbs, struct session *session, struct model *model,
	const char *text, size_t *at, char *message, size_t size);
int model_crumbs_drop(
	struct model_crumbs *crumbs, struct session *session, struct model *model, size_t i);

#endif
