/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * activity.h - the activity strip of the model: weight by columns of time.
 *
 * Live columns last one second, or longer if the window would not fit on the strip otherwise.  Each
 * finished column is queried once.  A recording is divided into equal columns, which are queried
 * again only after a change.  UI thread.
 */
#ifndef TUI_MODEL_ACTIVITY_H
#define TUI_MODEL_ACTIVITY_H

#include "tui/model/model.h"
#include "tui/query/filter.h"
#include "tui/query/query.h"
#include "tui/session/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_spike;

#define ACTIVITY_VISITED 64

/* Zero-initialized: no columns known.  Private to activity.c. */
struct activity {
	/* Finished columns first .. first + n - 1, counted from time 0. */
	uint64_t columns[MODEL_COLUMNS];
	uint64_t column_ns, first;
	size_t n;
	uint8_t event;
	unsigned int hide_idle; /* model_idle() of these columns */
	uint64_t names; /* activity_names() of these columns */
	uint64_t filter; /* serial of the filter */
	uint64_t whole_from_ns, whole_to_ns; /* range of a recording's activity */
	/* Stretches that activity_busiest() has returned for visited_event.  It skips them until it
	 * starts over. */
	struct {
		uint64_t from_ns, to_ns;
	} visited[ACTIVITY_VISITED];
	size_t n_visited;
	uint8_t visited_event;
};

/* Builds a query of a snapshot with the model's settings.  The caller adds groups, and may take the
 * snapshot later. */
struct query activity_query(const struct model *model, const struct session *session,
	struct filter *filter, const struct snapshot *snapshot);

/* Returns a number that changes if names may have changed which samples count: by the filter, or by
 * functions that are idle. */
uint64_t activity_names(
	const struct model *model, const struct session *session, const struct filter *filter);

/* Runs query_activity() for [from_ns, to_ns) with the model's event and settings.  Returns 0 or
 * -errno. */
int activity_ask(const struct model *model, struct session *session, struct filter *filter,
	uint64_t from_ns, uint64_t to_ns, uint64_t *out, size_t columns);

/* Updates the model's activity for its event, window and settings.  The caller sets strip_to_ns
 * first.  Returns 0 or -ENOMEM. */
int activity_update(struct activity *activity, struct model *model, struct session *session,
	struct filter *filter);

/* Finds the busiest stretch of the whole history; each further call finds the next busiest.
 * Returns 0; -ENODATA if there is none, or if all were returned (the next call starts over); or
 * -ENOMEM. */
int activity_busiest(struct activity *activity, struct model *model, struct session *session,
	struct filter *filter, struct model_spike *out);

#endif
