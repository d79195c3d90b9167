/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list_events.h - strobe list: the events that this machine offers, and whether they open for this user and target.
 */
#ifndef TUI_LIST_EVENTS_H
#define TUI_LIST_EVENTS_H

#include "sampler/catalogue.h"
#include "tui/session.h"

#include <stddef.h>

/* The whole command; the exit status, and one sentence on stderr where that is not 0. */
int list_events_run(const struct request *request);

/* Where events are tried for a request: its first process, thread or CPU, else a CPU where that is permitted, else
 * strobe itself. */
void list_events_target(const struct request *request, const struct proc_limits *limits,
	struct catalogue_target *out);

/* "sampled", "user space only", "counted, not sampled", "not permitted": in a few words. */
const char *list_events_state(const struct catalogue_entry *entry);

/* Why an entry does not open, as a sentence; "" where it does. */
void list_events_reason(const struct catalogue_entry *entry, const struct proc_limits *limits,
	char *out, size_t size);

#endif
