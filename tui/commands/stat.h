/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stat.h - strobe stat: counts events on a target without samples, and prints the counts as text,
 * CSV or JSON.
 *
 * UI thread.
 */
#ifndef TUI_COMMANDS_STAT_H
#define TUI_COMMANDS_STAT_H

#include "tui/session/session.h"

/* Counts and prints.  Messages about failures go to standard error.  Returns the exit status. */
int stat_run(const struct request *request);

#endif
