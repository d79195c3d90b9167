/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model_baseline.h - a time that others are compared with.
 *
 * Its sums are made once, and anew where names, filter or idle setting are others.  UI thread.
 */
#ifndef TUI_MODEL_BASELINE_H
#define TUI_MODEL_BASELINE_H

#include "tui/basis.h"
#include "tui/hot.h"
#include "tui/model.h"
#include "tui/session.h"

#include <stdbool.h>
#include <stdint.h>

/* All zeros is none.  Private to model_baseline.c. */
struct model_baseline {
	struct hot *hot;
	uint64_t epoch, filter;
	bool hide_idle;
	struct basis basis; /* of trees: made when the first one is asked for */
	bool has_basis;
	uint64_t serial;
};

/* The model's window becomes the baseline, or there is none.  0 or -ENOMEM: then there is none. */
int model_baseline_set(struct model_baseline *baseline, const struct session *session,
	struct model *model, struct filter *filter, bool set);
/* With every refresh; epoch is that of the names which the table shows. */
int model_baseline_update(struct model_baseline *baseline, struct model *model,
	struct filter *filter, uint64_t epoch);
/* What trees are compared with, borrowed, and a number that no other one has; of no baseline NULL and 0.  0 or -ENOMEM. */
int model_baseline_basis(struct model_baseline *baseline, const struct session *session,
	const struct model *model, struct filter *filter, const struct basis **out,
	uint64_t *serial);
void model_baseline_fini(struct model_baseline *baseline);

#endif
