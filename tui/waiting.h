/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waiting.h - while a command waits for the symbols of its events before it begins: a line on the terminal, and a signal that
 * ends the wait.  UI thread.
 */
#ifndef TUI_WAITING_H
#define TUI_WAITING_H

#include "tui/session.h"

struct waiting {
	struct resolve_wait wait;
};

/* Has the request point to it, where there is something to wait for. */
void waiting_begin(struct waiting *waiting, struct request *request);
void waiting_end(struct waiting *waiting);

#endif
