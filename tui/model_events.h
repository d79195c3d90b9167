/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model_events.h - events of a running session: what there is, adding some, looking for the symbols that they are named by.
 *
 * A part of model_live; UI thread.
 */
#ifndef TUI_MODEL_EVENTS_H
#define TUI_MODEL_EVENTS_H

#include "tui/model.h"
#include "tui/session.h"

/* All 0 but the session at first. */
struct model_events {
	struct session *session; /* borrowed */
	struct offers *offers; /* NULL: not asked for yet */
	struct resolve_job *job; /* a symbol is being looked for, or NULL */
	bool moves; /* it is where a breakpoint goes, not an event's */
	uint8_t event; /* that breakpoint */
};

void model_events_fini(struct model_events *events);

/* As model_offer_ops.begin. */
int model_events_begin(struct model_events *events, struct model *model);

/* As model_ops.event_add, .move_breakpoint and .look_cancel. */
int model_events_add(struct model_events *events, struct model *model, const char *text,
	struct event_error *error);
int model_events_move(struct model_events *events, struct model *model, uint8_t event,
	const char *where, char *message, size_t size);
void model_events_cancel(struct model_events *events, struct model *model);

/* Take in what was found; what comes of it is told by the log. */
void model_events_update(struct model_events *events, struct model *model);

#endif
