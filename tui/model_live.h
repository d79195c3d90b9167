/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model_live.h - the model of a session that runs.  UI thread.
 */
#ifndef TUI_MODEL_LIVE_H
#define TUI_MODEL_LIVE_H

#include "tui/model.h"
#include "tui/session.h"

struct model_live;

/* Borrows the session.  0, or -errno and *out = NULL. */
int model_live_new(struct model_live **out, struct session *session);
void model_live_free(struct model_live *live); /* before session_close(); NULL is a no-op */

struct model *model_live_model(struct model_live *live);

/* A line that the launched command printed: raw bytes, cleaned here. */
void model_live_output(struct model_live *live, const char *line, size_t len);

#endif
