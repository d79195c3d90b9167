/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain.h - the one place that turns (request, errno, state of the system) into a sentence.
 *
 * A sentence states the request, why it was refused, and the remedy.  Pure functions of their
 * arguments; results are cleaned text without a newline.  Any thread.
 */
#ifndef TUI_EXPLAIN_EXPLAIN_H
#define TUI_EXPLAIN_EXPLAIN_H

#define EXPLAIN_FOREIGN_PROC                                                                      \
	"/proc is that of another pid namespace: its numbers are other processes. Mount the one " \
	"of this namespace (unshare --mount-proc, or mount -t proc proc /proc)"

#include "sampler/control/failure.h"
#include "sampler/events/parse.h"
#include "sampler/machine/proc.h"
#include "symbols/client/symbols.h"
#include "tui/explain/system.h"
#include "tui/names/names.h"

#include <stddef.h>

struct engine_note;

void explain_failure(const struct engine_failure *failure, const struct proc_limits *limits,
	char *out, size_t size);
/* Explains an error of one perf_event_open(2) by the state of the system
 * (explain_system_read()). */
void explain_open(const struct explain_request *request, int error,
	const struct proc_limits *limits, const struct explain_system *system, char *out,
	size_t size);
void explain_note(
	const struct engine_note *note, const struct proc_limits *limits, char *out, size_t size);
/* Explains that the screen is drawn for `type`, since terminfo does not know the terminal in
 * TERM. */
void explain_stand_in(char *out, size_t size, const char *wanted, const char *type);
/* Explains why a function without a name has no code to show, and how it would get a name. */
void explain_nameless(const struct symref *symbol, char *out, size_t size);

/* Explains why symbols_fetch() of an image (cleaned) refused; "" if it did not. */
void explain_fetch(int ret, const char *image, char *out, size_t size);

void explain_symbols_note(const struct symbols_note *note, char *out, size_t size);

/* Explains a failure of strobe itself, such as "cannot start the symbol worker".  error: positive
 * errno. */
void explain_error(
	const char *what, int error, const struct proc_limits *limits, char *out, size_t size);
void explain_event_error(const char *text, const struct event_error *error, char *out, size_t size);
/* Like explain_event_error(), for an option other than -e. */
void explain_option_error(const char *option, const char *text, const struct event_error *error,
	char *out, size_t size);
/* Writes two more lines, each after a newline: the text, and a caret below the error; else "". */
void explain_event_caret(const char *text, const struct event_error *error, char *out, size_t size);

/* Explains why events exclude each other. */
void explain_event_clash(const struct event_clash *clash, char *out, size_t size);

/* Explains why tracepoints cannot be looked up, and the remedy.  error: positive errno. */
void explain_tracefs(int error, char *out, size_t size);

/* Returns why an event is refused in a few words for a list, such as "not on this machine".  error:
 * positive errno. */
const char *explain_refusal(int error);

/* Formats how a process ended: "with status 1", "killed by SIGSEGV (core dumped)".  status: from
 * waitpid(2). */
void explain_wait_status(int status, char *out, size_t size);

/* The level of a note selects its colour and decides whether the screen's message line shows it. */
enum explain_level { EXPLAIN_INFO, EXPLAIN_WARNING, EXPLAIN_ERROR };
enum explain_level explain_note_level(const struct engine_note *note);

#endif
