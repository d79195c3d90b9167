/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lanes.h - the lanes of the model's window, for the views.
 *
 * They are computed when a view requests them, and kept until window, filter, names or query
 * change.  If only time has passed, they are recomputed at most for a small share of the time.  UI
 * thread.
 */
#ifndef TUI_MODEL_LANES_H
#define TUI_MODEL_LANES_H

#include "tui/model/model.h"
#include "tui/session/session.h"
#include "tui/tables/lanes.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialized: empty.  Private to lanes.c. */
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
	uint64_t shown_serial; /* serial of the baseline that the lanes were compared with */

	struct lanes_memory memory; /* for the live window */

	struct lanes base; /* lanes of the baseline, and their query */
	bool base_known;
	enum query_group base_group;
	uint8_t base_event;
	uint64_t base_serial, base_changes;
};

/* Returns the lanes of a baseline that is a recording, for the model's event, with one column.
 * Returns 0 or -ENOMEM. */
typedef int model_lanes_recorded(struct model *model, enum query_group group, struct lanes *out);

/* Implements model_queries.lanes.  epoch: that of the names shown by the other views.  recorded may
 * be NULL if no baseline is a recording. */
int model_lanes_get(struct model_lanes *cache, struct session *session, struct model *model,
	struct filter *filter, uint64_t epoch, model_lanes_recorded *recorded,
	enum query_group group, size_t columns, const struct lanes **out);
void model_lanes_fini(struct model_lanes *cache);

#endif
