/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * activity.h - the activity strip of the model: weight by columns of time.
 *
 * Live columns are seconds of the clock, or as many seconds as it takes to have the window on the strip; one that is over
 * is asked for once.  Of a recording they are equal parts of all of its time, asked for when something has
 * changed.  UI thread.
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

#define ACTIVITY_VISITED 64

/* All zeros is one that knows nothing.  Private to activity.c. */
struct activity {
	/* Columns first .. first + n - 1 since time 0, all over. */
	uint64_t columns[MODEL_COLUMNS];
	uint64_t column_ns, first;
	size_t n;
	uint8_t event;
	unsigned int hide_idle; /* model_idle() */
	uint64_t changes; /* of names, which filters may look at */
	uint64_t filter; /* its serial */
	uint64_t whole_from_ns, whole_to_ns; /* of a recording's activity */
	/* Stretches that activity_busiest() has told of, and of which event; not again before it starts anew. */
	struct {
		uint64_t from_ns, to_ns;
	} visited[ACTIVITY_VISITED];
	size_t n_visited;
	uint8_t visited_event;
};

/* A query of a snapshot as the model is set; groups are the caller's to add.  The snapshot may be taken later. */
struct query activity_query(const struct model *model, const struct session *session,
	struct filter *filter, const struct snapshot *snapshot);

/* query_activity() of the model's event and settings. */
int activity_ask(const struct model *model, struct session *session, struct filter *filter,
	uint64_t from_ns, uint64_t to_ns, uint64_t *out, size_t columns);

/* Make the model's activity that of its event, window and settings; strip_to_ns is given.  0 or -ENOMEM. */
int activity_update(struct activity *activity, struct model *model, struct session *session,
	struct filter *filter);

/* The busiest stretch of the whole history, then the next busiest, and so on.  0; -ENODATA when there is none, or when all
 * have been told of (then it starts anew); -ENOMEM. */
int activity_busiest(struct activity *activity, struct model *model, struct session *session,
	struct filter *filter, struct model_spike *out);

#endif
