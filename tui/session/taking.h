/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * taking.h - takes a profile from beginning to end, for report, export, diff, archive and record.
 *
 * Samples until the duration, the target or a signal ends it, or loads a recording.  Then waits for
 * names.  Everything that can end a wait is a descriptor of one poll(2).  Messages go to standard
 * error.  UI thread.
 */
#ifndef TUI_SESSION_TAKING_H
#define TUI_SESSION_TAKING_H

#include "sampler/control/status.h"
#include "tui/session/early.h"
#include "tui/session/session.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAKING_ALSO_MAX 2

struct taking;

/* Additional descriptors to wait for while taking. */
struct taking_also {
	int fds[TAKING_ALSO_MAX]; /* -1: none */
	void (*ready)(struct taking *taking, size_t i, void *ctx); /* fds[i] is readable */
	void (*running)(struct taking *taking,
		void *ctx); /* called once or more after sampling began; may be NULL */
	void *ctx;
};

struct taking {
	struct session session;
	const struct request *request; /* borrowed */
	struct engine_status status; /* last status read */
	bool interrupted; /* by a signal, while sampling ended or while waiting for names */
	bool failed; /* set by also->ready(): the profile is useless, so sampling ends */
	/* The caller sets these after taking_open(). */
	struct taking_also *also; /* borrowed; NULL if none */
	bool without_names; /* do not ask for names while sampling */
	/* The rest is private to taking.c. */
	struct early early;
	sigset_t old_signals;
	int signal_fd, timer_fd;
	bool timer_armed, timed_out;
	bool snapshot; /* SIGUSR2 came: the flight recorder must end with a snapshot */
	bool told_command; /* the command was sent SIGTERM */
};

/* Blocks the signals that end sampling, and opens the session.  Returns 0, or nonzero after a
 * message.  Call taking_close() in both cases. */
int taking_open(struct taking *taking, const struct request *request);
void taking_close(struct taking *taking);

/* Waits until sampling or loading is over.  Returns 0, or nonzero after a message if there is no
 * profile.  quiet: no message about decisions made for the user. */
int taking_run(struct taking *taking, bool quiet);

/* Parts of taking_run(), for callers with more to do.  taking_sample() returns early only after a
 * second signal.  taking_wait() waits once for any descriptor. */
void taking_sample(struct taking *taking);
bool taking_is_over(const struct taking *taking);
void taking_wait(struct taking *taking);
void taking_tell_command(const struct taking *taking);

/* Returns the exit status.  own: the status of the command line's own work (exit_status.h). */
int taking_exit_status(const struct taking *taking, int own);

/* Restores the signals' usual effect.  Drops signals that arrived together with the first one,
 * because timeout(1) sends several. */
void taking_release_signals(struct taking *taking);

/* Call before opening or writing the output: from now on a signal ends that (giveup.h).  Drops
 * signals like taking_release_signals().  Returns 0 or -errno. */
int taking_begin_output(struct taking *taking);

/* Asks for the symbols of all samples. */
void taking_ask_names(struct taking *taking);

/* Waits until the requested names have come, the time limit is reached, or a signal comes. */
void taking_wait_names(struct taking *taking);

/* Writes why functions are shown as offsets, if the wait ended before their symbols came.  Returns
 * false if it did not. */
bool taking_explain_pending(const struct taking *taking, char *out, size_t size);
/* Prints that message, if there is one. */
void taking_tell_pending(const struct taking *taking);

/* Returns whether a signal has come; for long work between waits. */
bool taking_was_interrupted(struct taking *taking);

/* Prints "strobe: SENTENCE" on standard error. */
void taking_complain(const char *sentence);
/* Prints a formatted message, cleaned. */
__attribute__((format(printf, 1, 2))) void taking_complainf(const char *format, ...);

#endif
