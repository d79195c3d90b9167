/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model_baseline.h - a time that others are compared with.
 *
 * Its sums are made once, and anew where names, filter or idle setting are others.  UI thread.
 */
#ifndef TUI_MODEL_BASELINE_H
#define TUI_MODEL_BASELINE_H

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
};

/* The model's window becomes the baseline, or there is none.  0 or -ENOMEM: then there is none. */
int model_baseline_set(struct model_baseline *baseline, const struct session *session,
	struct model *model, struct filter *filter, bool set);
/* With every refresh; epoch is that of the names which the table shows. */
int model_baseline_update(struct model_baseline *baseline, struct model *model,
	struct filter *filter, uint64_t epoch);
void model_baseline_fini(struct model_baseline *baseline);

#endif
