/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model_lanes.h - who runs when in the model's window, for the views.
 *
 * Computed when a view asks, and kept until window, filter, names or the question are others; where it is the time alone
 * that goes on, not more often than a small share of the time allows.  UI thread.
 */
#ifndef TUI_MODEL_LANES_H
#define TUI_MODEL_LANES_H

#include "tui/lanes.h"
#include "tui/model.h"
#include "tui/session.h"

#include <stdbool.h>
#include <stdint.h>

/* All zeros is one that knows nothing.  Private to model_lanes.c. */
struct model_lanes {
	struct lanes lanes;
	bool known;
	enum query_group group;
	uint8_t event;
	unsigned int hide_idle; /* model_idle() */
	struct model_time time;
	uint64_t last_ns, epoch, filter;
	uint64_t not_before_ns;
	bool has_baseline;
	uint64_t shown_serial; /* of the baseline that they were compared with */

	struct lanes_memory memory; /* of the live window */

	struct lanes base; /* of the baseline, and what was asked for it */
	bool base_known;
	enum query_group base_group;
	uint8_t base_event;
	uint64_t base_serial, base_changes;
};

/* Who knows the lanes of a baseline that is a recording: of the model's event, without columns.  0 or -ENOMEM. */
typedef int model_lanes_recorded(struct model *model, enum query_group group, struct lanes *out);

/* As model_ops.lanes; epoch: of the names that the other views show.  recorded may be NULL where no baseline is a recording. */
int model_lanes_get(struct model_lanes *cache, struct session *session, struct model *model,
	struct filter *filter, uint64_t epoch, model_lanes_recorded *recorded,
	enum query_group group, size_t columns, const struct lanes **out);
void model_lanes_fini(struct model_lanes *cache);

#endif
