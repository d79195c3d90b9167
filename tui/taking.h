/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * taking.h - a profile taken from its beginning to its end, for the commands that then do something with it: report,
 * export, diff, archive; and record, which writes meanwhile.
 *
 * Samples until the duration, the target or a signal ends it, or loads a recording; then waits for names.  Everything
 * that can end a wait is a descriptor of one poll(2).  Sentences go to standard error.  UI thread.
 */
#ifndef TUI_TAKING_H
#define TUI_TAKING_H

#include "tui/early.h"
#include "tui/session.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAKING_ALSO_MAX 2

struct taking;

/* What a command waits for besides, as long as something is taken. */
struct taking_also {
	int fds[TAKING_ALSO_MAX]; /* -1: none */
	void (*ready)(struct taking *taking, size_t i, void *ctx); /* fds[i] can be read */
	void (*running)(struct taking *taking,
		void *ctx); /* sampling has begun, told at least once; may be NULL */
	void *ctx;
};

struct taking {
	struct session session;
	const struct request *request; /* borrowed */
	struct engine_status status; /* the last one read */
	bool interrupted; /* by a signal, while names were waited for or the end of sampling was */
	bool failed; /* set by also->ready(): what was taken is of no use, so sampling ends */
	/* Both to be set after taking_open(). */
	struct taking_also *also; /* borrowed; NULL: nothing */
	bool without_names; /* they are not asked for while sampling */
	/* The rest is taking.c's own. */
	struct early early;
	sigset_t old_signals;
	int signal_fd, timer_fd;
	bool timer_armed, timed_out;
	bool snapshot; /* SIGUSR2 asks for what the flight recorder holds, which ends it */
	bool told_command; /* to end */
};

/* Blocks the signals that end it, opens the session.  0, or nonzero after a sentence; taking_close() is legal then. */
int taking_open(struct taking *taking, const struct request *request);
void taking_close(struct taking *taking);

/* Until sampling or loading is over: 0, or nonzero after a sentence when nothing could be taken.  quiet leaves out what is
 * said of decisions taken for the user. */
int taking_run(struct taking *taking, bool quiet);

/* The parts of taking_run(), for who has more to do.  taking_sample() returns before it is over only where a second signal
 * came; taking_wait() is one more wait for whatever comes first. */
void taking_sample(struct taking *taking);
bool taking_is_over(const struct taking *taking);
void taking_wait(struct taking *taking);
void taking_tell_command(const struct taking *taking);

/* Returns the exit status.  own: the status of the command line's own work (exit_status.h). */
int taking_exit_status(const struct taking *taking, int own);

/* From here on a signal does what it does to any program; but not one that came together with the first, as timeout(1)
 * sends them. */
void taking_release_signals(struct taking *taking);

/* Before the output is opened or written to: from here on a signal ends that (giveup.h); as above, not one that came together
 * with the first.  0 or -errno. */
int taking_begin_output(struct taking *taking);

/* Ask for the symbols of all that was taken. */
void taking_ask_names(struct taking *taking);

/* Until the names asked for have come, the time is over, or a signal. */
void taking_wait_names(struct taking *taking);

/* Why functions are shown as offsets, if the wait ended before their symbols came.  False: it did not. */
bool taking_explain_pending(const struct taking *taking, char *out, size_t size);
void taking_tell_pending(const struct taking *taking); /* complains of it, if there is cause */

/* Whether a signal has come since; for long work between waits. */
bool taking_was_interrupted(struct taking *taking);

/* "strobe: SENTENCE" on standard error. */
void taking_complain(const char *sentence);
/* The same, cleaned. */
__attribute__((format(printf, 1, 2))) void taking_complainf(const char *format, ...);

#endif
