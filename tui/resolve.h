/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resolve.h - events that are named by a symbol get their numbers: "mem:SYMBOL+OFFSET" an address, "uprobe:BINARY:FUNCTION"
 * a file and an offset in it.
 *
 * A symbol of a process is looked for in its program first, then in what else it has mapped; of the whole machine, in the
 * kernel.  UI thread.
 */
#ifndef TUI_RESOLVE_H
#define TUI_RESOLVE_H

#include "sampler/event.h"
#include "symbols/symbols.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct resolve_target {
	const int32_t *pids; /* processes, or threads of them */
	size_t n_pids;
	const char *command; /* a program to be started, as execvp(3) takes it; or NULL */
};

/* While it takes its time. */
struct resolve_wait {
	int stop_fd; /* ends the wait where it can be read; -1: none */
	/* Raw: what is looked for, and in which file; once for each file that takes long.  NULL: nobody is told. */
	void (*tell)(const char *symbol, const char *path, void *ctx);
	void *ctx;
};

enum resolve_error_kind {
	RESOLVE_OK,
	RESOLVE_NO_BINARY, /* no file of that name: binary */
	RESOLVE_UNREADABLE, /* binary, error */
	RESOLVE_NO_SYMBOL, /* in binary ("": in none of the target's files); near, stripped */
	RESOLVE_NO_FUNCTION, /* binary has it, but it is data */
	RESOLVE_AMBIGUOUS, /* several in binary; near tells where */
	RESOLVE_NOT_STARTED, /* where a position-independent program will have it, nobody knows yet */
	RESOLVE_DIFFERS, /* pid has it elsewhere than the first process */
	RESOLVE_HIDDEN, /* the kernel shows no addresses */
	RESOLVE_UNWOUND, /* a return probe in binary would crash its program */
	RESOLVE_NO_PROCESS, /* pid, error */
	RESOLVE_NO_TARGET, /* nothing is there that has the symbol */
	RESOLVE_FAILED, /* error: EINTR, ETIME, ENOMEM */
};

struct resolve_error {
	enum resolve_error_kind kind;
	int error; /* positive errno */
	int32_t pid;
	uint64_t offset; /* the symbol's offset in binary */
	bool stripped;
	size_t event; /* its place in the list */
	char event_name[EVENT_NAME_MAX], symbol[256], binary[PATH_MAX]; /* raw */
	char near[512]; /* names that are nearly the same, or places; joined by ", "; raw */
};

/* Put numbers into all specs that need some, as struct event_needs tells.  wait: NULL: nobody is told, nothing ends it.  0;
 * or a negative number and *error, and some specs have theirs already. */
int resolve_events(struct symbols *symbols, const struct resolve_target *target,
	const struct resolve_wait *wait, struct event_spec *specs, size_t n,
	struct resolve_error *error);

/* The same without waiting: everything is copied, and steps are taken as answers come. */
struct resolve_job;
int resolve_begin(struct resolve_job **out, struct symbols *symbols,
	const struct resolve_target *target, const struct event_spec *specs, size_t n);
/* 0: all have theirs; -EAGAIN: when symbols_fd() can be read again; else as resolve_events(). */
int resolve_step(struct resolve_job *job, struct resolve_error *error);
const struct event_spec *resolve_specs(const struct resolve_job *job, size_t *n);
/* What the last step waits for; raw, "" for nothing. */
void resolve_describe(const struct resolve_job *job, const char **symbol, const char **path);
void resolve_end(struct resolve_job *job); /* before symbols_free(); NULL is a no-op */

/* Whether any of them needs it. */
bool resolve_is_needed(const struct event_spec *specs, size_t n);

/* Why it failed, and what to do: a sentence, cleaned. */
void explain_resolve(const struct resolve_error *error, char *out, size_t size);

#endif
