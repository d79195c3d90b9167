/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waiting.h - while a command waits for the symbols of its events: a message on the terminal, and a
 * signal that ends the wait.  UI thread.
 */
#ifndef TUI_SESSION_WAITING_H
#define TUI_SESSION_WAITING_H

#include "tui/session/request.h"
#include "tui/session/resolve.h"
#include "tui/session/session.h"

struct waiting {
	struct resolve_wait wait;
};

/* Sets request->wait, if an event needs a symbol. */
void waiting_begin(struct waiting *waiting, struct request *request);
void waiting_end(struct waiting *waiting);

#endif
