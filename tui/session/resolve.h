/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resolve.h - finds the numbers of events that are named by a symbol.
 *
 * "mem:SYMBOL+OFFSET" needs an address, "uprobe:BINARY:FUNCTION" a file and an offset in it.  For a
 * process, the symbol is looked up in its program first, then in its other mapped files.  For the
 * whole machine it is looked up in the kernel.  UI thread.
 */
#ifndef TUI_SESSION_RESOLVE_H
#define TUI_SESSION_RESOLVE_H

#include "sampler/events/spec.h"
#include "symbols/client/symbols.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct resolve_target {
	const int32_t *pids; /* processes or threads */
	size_t n_pids;
	const char *command; /* program to start, as for execvp(3); NULL if none */
};

/* Options of the wait for symbols. */
struct resolve_wait {
	int stop_fd; /* ends the wait when it becomes readable; -1: none */
	/* Called once for each file that takes long, with raw texts: the symbol and the file.  May
	 * be NULL. */
	void (*tell)(const char *symbol, const char *path, void *ctx);
	void *ctx;
};

enum resolve_error_kind {
	RESOLVE_OK,
	RESOLVE_NO_BINARY, /* binary does not exist */
	RESOLVE_UNREADABLE, /* binary, error */
	RESOLVE_NO_SYMBOL, /* not in binary ("": in no file of the target); near, stripped */
	RESOLVE_NO_FUNCTION, /* binary has the symbol, but it is data */
	RESOLVE_AMBIGUOUS, /* several in binary; near lists their places */
	RESOLVE_NOT_STARTED, /* the program is position-independent: no address before it starts */
	RESOLVE_DIFFERS, /* pid has the symbol at another address than the first process */
	RESOLVE_HIDDEN, /* the kernel hides its addresses */
	RESOLVE_UNWOUND, /* a return probe in binary would crash its program */
	RESOLVE_NO_PROCESS, /* pid, error */
	RESOLVE_NO_TARGET, /* the event names no symbol */
	RESOLVE_FAILED, /* error: EINTR, ETIME, ENOMEM */
};

struct resolve_error {
	enum resolve_error_kind kind;
	int error; /* positive errno */
	int32_t pid;
	uint64_t offset; /* the symbol's offset in binary */
	bool stripped;
	size_t event; /* index in the list */
	char event_name[EVENT_NAME_MAX], symbol[256], binary[PATH_MAX]; /* raw */
	char near[512]; /* similar names, or places; joined by ", "; raw */
};

/* Resolves all specs that need a number (struct event_needs).  wait NULL: no callback, no stop_fd.
 * Returns 0, or a negative number with *error filled in; some specs may be resolved then. */
int resolve_events(struct symbols *symbols, const struct resolve_target *target,
	const struct resolve_wait *wait, struct event_spec *specs, size_t n,
	struct resolve_error *error);

/* Begins to resolve without waiting.  Copies everything; resolve_step() continues as answers
 * arrive.  Returns 0 or -ENOMEM; resolve_end() frees the job. */
struct resolve_job;
int resolve_begin(struct resolve_job **out, struct symbols *symbols,
	const struct resolve_target *target, const struct event_spec *specs, size_t n);
/* Returns 0 if all specs are resolved; -EAGAIN: call again when symbols_fd() is readable; else like
 * resolve_events(). */
int resolve_step(struct resolve_job *job, struct resolve_error *error);
const struct event_spec *resolve_specs(const struct resolve_job *job, size_t *n);
/* Returns the symbol and file that the last step waits for; raw, "" if none. */
void resolve_describe(const struct resolve_job *job, const char **symbol, const char **path);
void resolve_end(struct resolve_job *job); /* before symbols_free(); NULL is a no-op */

/* Returns whether any spec needs to be resolved. */
bool resolve_is_needed(const struct event_spec *specs, size_t n);

/* Writes the reason of a failure and the remedy: a sentence, cleaned. */
void explain_resolve(const struct resolve_error *error, char *out, size_t size);

#endif
