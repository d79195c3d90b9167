/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * taking.h - a profile taken from its beginning to its end, for the commands that then print it: report, export, diff.
 *
 * Samples until the duration, the target or a signal ends it, or loads a recording; then waits for names.  Everything
 * that can end a wait is a descriptor of one poll(2).  Sentences go to standard error.  UI thread.
 */
#ifndef TUI_TAKING_H
#define TUI_TAKING_H

#include "tui/early.h"
#include "tui/session.h"

#include <stdbool.h>
#include <stdint.h>

struct taking {
	struct session session;
	const struct request *request; /* borrowed */
	struct engine_status status; /* the last one read */
	bool interrupted; /* by a signal, while names were waited for */
	/* The rest is taking.c's own. */
	struct early early;
	int signal_fd, timer_fd;
	bool timer_armed, timed_out;
	bool told_command; /* to end */
};

/* Blocks the signals that end it, opens the session.  0, or nonzero after a sentence; taking_close() is legal then. */
int taking_open(struct taking *taking, const struct request *request);
void taking_close(struct taking *taking);

/* Until sampling or loading is over: 0, or nonzero after a sentence when nothing could be taken.  quiet leaves out what is
 * said of decisions taken for the user. */
int taking_run(struct taking *taking, bool quiet);

/* Ask for the symbols of all that was taken. */
void taking_ask_names(struct taking *taking);

/* Until the names asked for have come, the time is over, or a signal. */
void taking_wait_names(struct taking *taking);

/* Whether a signal has come since; for long work between waits. */
bool taking_was_interrupted(struct taking *taking);

/* "strobe: SENTENCE" on standard error. */
void taking_complain(const char *sentence);

#endif
