/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * activity.h - the activity strip of the model: weight by seconds of the clock, or of a recording by equal parts.
 *
 * A second that is over is asked for once; a recording when something has changed.  UI thread.
 */
#ifndef TUI_ACTIVITY_H
#define TUI_ACTIVITY_H

#include "tui/filter.h"
#include "tui/model.h"
#include "tui/query.h"
#include "tui/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zeros is one that knows nothing.  Private to activity.c. */
struct activity {
	/* Seconds first_second .. first_second + n_seconds - 1 of the clock, all over. */
	uint64_t seconds[MODEL_COLUMNS];
	uint64_t first_second;
	size_t n_seconds;
	uint8_t event;
	bool hide_idle;
	uint64_t changes; /* of names, which filters may look at */
	uint64_t whole_from_ns, whole_to_ns; /* of a recording's activity */
};

/* A query of a snapshot as the model is set; groups are the caller's to add.  The snapshot may be taken later. */
struct query activity_query(const struct model *model, const struct session *session,
	struct filter *filter, const struct snapshot *snapshot);

/* Make the model's activity that of its event, window and settings.  0 or -ENOMEM. */
int activity_update(struct activity *activity, struct model *model, struct session *session,
	struct filter *filter);

#endif
