/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * live.h - the model of a session.  UI thread.
 */
#ifndef TUI_MODEL_LIVE_H
#define TUI_MODEL_LIVE_H

#include "tui/model/model.h"
#include "tui/model/recorded.h"
#include "tui/session/session.h"

struct model_live;

/* Makes the model of a session, which is borrowed.  Returns 0, or -errno and *out = NULL. */
int model_live_new(struct model_live **out, struct session *session);
/* Frees the model; call it before session_close().  Returns false if a thread that uses the session
 * hangs in writing to a file system: the model and the session must then stay.  NULL is a no-op. */
bool model_live_free(struct model_live *live);

struct model *model_live_model(struct model_live *live);

/* Digests the newest slice ahead of the next refresh, which keeps refreshes short.  The shown data
 * does not change.  Returns 0 or -errno. */
int model_live_digest(struct model_live *live);

/* Returns the time (CLOCK_MONOTONIC) of the next update of names, which are updated less often if
 * this takes long.  Before that time, symbols_fd() need not be read. */
uint64_t model_live_names_at(const struct model_live *live);

/* Returns an eventfd that signals news about the offered events; the caller reads it.  Returns -1
 * if they have not been requested. */
int model_live_offers_fd(const struct model_live *live);

/* Returns descriptors that signal news of a recording that is, or will become, the baseline
 * (recorded.h).  The next refresh takes them in. */
void model_live_baseline_fds(const struct model_live *live, int fds[RECORDED_FDS]);

/* Waits for the names of a recording that is the baseline. */
void model_live_baseline_wait(struct model_live *live, unsigned int timeout_ms);

/* Adds to the log a line (raw bytes) that the launched command printed; it is cleaned here. */
void model_live_output(struct model_live *live, const char *line, size_t len);

#endif
