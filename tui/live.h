/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * live.h - strobe live: the interactive screen.
 *
 * The UI thread is the caller's; it must not have started threads before, and is the only one
 * that draws, asks, and reads keys.
 */
#ifndef TUI_LIVE_H
#define TUI_LIVE_H

#include "tui/session.h"

/* Profile and show, until the user quits, a signal ends it, or the request's duration is over.
 * Returns the exit status; failures are told on standard error, after the terminal was restored. */
int live_run(const struct request *request);

/* The same without a terminal: profile for the request's duration (2 s where it has none), then print the
 * screen as it would be at width x height to standard output. */
int live_snapshot(const struct request *request, int width, int height);

#endif
