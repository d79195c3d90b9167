/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * events.h - events of a running session: lists the offered ones, adds some, and finds the
 * symbols in their names.
 *
 * Part of model_live; UI thread.
 */
#ifndef TUI_MODEL_EVENTS_H
#define TUI_MODEL_EVENTS_H

#include "sampler/events/parse.h"
#include "tui/model/model.h"
#include "tui/session/session.h"

/* Zero-initialized except for session. */
struct model_events {
	struct session *session; /* borrowed */
	struct offers *offers; /* NULL: not requested yet */
	struct resolve_job *job; /* search for a symbol, or NULL */
	bool moves; /* the search is for the new place of a breakpoint, not for a new event */
	uint8_t event; /* that breakpoint */
};

void model_events_fini(struct model_events *events);

/* Implements model_offer_ops.begin. */
int model_events_begin(struct model_events *events, struct model *model);

/* Implement model_commands.event_add, .move_breakpoint and .look_cancel. */
int model_events_add(struct model_events *events, struct model *model, const char *text,
	struct event_error *error);
int model_events_move(struct model_events *events, struct model *model, uint8_t event,
	const char *where, char *message, size_t size);
void model_events_cancel(struct model_events *events, struct model *model);

/* Continues the search for a symbol.  The log reports the result. */
void model_events_update(struct model_events *events, struct model *model);

#endif
