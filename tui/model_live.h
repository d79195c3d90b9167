/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model_live.h - the model of a session that runs.  UI thread.
 */
#ifndef TUI_MODEL_LIVE_H
#define TUI_MODEL_LIVE_H

#include "tui/model.h"
#include "tui/recorded.h"
#include "tui/session.h"

struct model_live;

/* Borrows the session.  0, or -errno and *out = NULL. */
int model_live_new(struct model_live **out, struct session *session);
/* Before session_close().  False if a file system keeps a thread that writes, which uses the session:
 * both have to stay.  NULL is a no-op. */
bool model_live_free(struct model_live *live);

struct model *model_live_model(struct model_live *live);

/* Digest the newest slice ahead of the next refresh, so that a refresh never has much to do.  What the
 * model shows stays as it is.  0 or -errno. */
int model_live_digest(struct model_live *live);

/* When names will be taken in again (CLOCK_MONOTONIC): where much has to be made anew for new names, they come
 * less often.  Before that time symbols_fd() need not be looked at. */
uint64_t model_live_names_at(const struct model_live *live);

/* An eventfd, which the caller reads: more is known of what there is to be sampled.  -1: nobody has asked. */
int model_live_offers_fd(const struct model_live *live);

/* Where there is news of a recording that is compared with (recorded.h): the next refresh takes it in. */
void model_live_baseline_fds(const struct model_live *live, int fds[RECORDED_FDS]);

/* Wait for its names. */
void model_live_baseline_wait(struct model_live *live, unsigned int timeout_ms);

/* A line that the launched command printed: raw bytes, cleaned here. */
void model_live_output(struct model_live *live, const char *line, size_t len);

#endif
