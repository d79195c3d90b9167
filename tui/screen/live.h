/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * live.h - strobe live: the interactive screen.
 *
 * The calling thread becomes the UI thread: it alone draws, queries the model and reads keys.  It
 * must not have started threads before.
 */
#ifndef TUI_SCREEN_LIVE_H
#define TUI_SCREEN_LIVE_H

#include "tui/session/session.h"

struct view_entry;

/* Profiles and shows the samples until the user quits, a signal comes, or the request's duration is
 * over.  Returns the exit status.  Errors are printed on standard error after the terminal is
 * restored.  entries: see screen_init(). */
int live_run(const struct request *request, const struct view_entry *entries);

/* Variant without a terminal.  Profiles for the request's duration (2 s by default), then prints
 * the screen at width x height to standard output.  Returns the exit status. */
int live_snapshot(
	const struct request *request, const struct view_entry *entries, int width, int height);

#endif
