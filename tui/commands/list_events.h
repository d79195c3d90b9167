/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list_events.h - strobe list: the events of this machine, and whether this user can open them for
 * this target.
 */
#ifndef TUI_COMMANDS_LIST_EVENTS_H
#define TUI_COMMANDS_LIST_EVENTS_H

#include "sampler/events/catalogue.h"
#include "tui/session/session.h"

#include <stddef.h>

/* Runs the command.  Returns the exit status; if nonzero, after a message on stderr. */
int list_events_run(const struct request *request);

/* Sets the target on which events are probed for a request: its first process, thread or CPU, else
 * a CPU if permitted, else strobe itself. */
void list_events_target(const struct request *request, const struct proc_limits *limits,
	struct catalogue_target *out);

/* Returns the state in a few words: "sampled", "user space only", "counted, not sampled", "not
 * permitted". */
const char *list_events_state(const struct catalogue_entry *entry);

/* Writes why an entry does not open, as a sentence; "" if it does. */
void list_events_reason(const struct catalogue_entry *entry, const struct proc_limits *limits,
	char *out, size_t size);

#endif
