/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * session.h - one profile: its request, engine or recording, symbols and names.
 *
 * Owned by the running command; UI thread.
 */
#ifndef TUI_SESSION_SESSION_H
#define TUI_SESSION_SESSION_H

#include "sampler/events/spec.h"
#include "sampler/machine/proc.h"
#include "tui/query/field_text.h"
#include "tui/session/cgroups.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct changes;
struct engine;
struct engine_failure;
struct engine_note;
struct engine_status;
struct engine_target;
struct expr;
struct expr_error;
struct fields;
struct filter;
struct images;
struct names;
struct recording;
struct request;
struct stacks;
struct store;
struct symbols;
struct tasks;
struct times;
struct unpacked;
struct unwinding;
struct values;

struct session {
	const struct request *request; /* borrowed */
	struct engine *engine; /* NULL for a recording */
	struct recording *recording; /* NULL for a live target */
	struct times *times; /* sample times of a recording, for export; else NULL */
	time_t recorded_at; /* modification time of the file; 0: not known */
	struct unpacked *unpacked; /* the archive of the recording; NULL if none */
	struct symbols *symbols;
	struct changes *changes; /* changes of code, reported by names */
	struct unwinding *unwinding; /* unwind rules for callchains, from symbols */
	struct names *names;
	struct proc_limits limits; /* at the start, for explain.h */
	char target_text[128]; /* cleaned: "postgres (4711)", "whole machine", "make -j2 (812)" */
	struct proc_name target_name; /* name of a target that is one process; else pid 0 */
	uint64_t target_note; /* serial of the last note read by session_describe() */
	char target_cpus[112]; /* " on CPUs 0-1"; "" if all */
	char command_text[128]; /* cleaned: the command with its arguments; "" without one */
	/* fields of samples for filters; updated by session_schemas() */
	struct field_schemas schemas;
	struct event_cgroup cgroups[CGROUPS_MAX]; /* cgroups of -G */
	size_t n_cgroups;
	bool system_wide; /* also if this is the default target */
	/* cleaned: a decision made for the user, like the default target; "" if none */
	char notice[256];
};

/* Opens a session.  Forks the symbol spawner, then either opens request->files[0] and starts to
 * load it, or resolves names and users to processes and starts the engine.  Returns 0, or -errno
 * with one sentence in message (cleaned; size bytes).  session_close() frees the session. */
int session_open(
	struct session *session, const struct request *request, char *message, size_t size);
void session_close(struct session *session);

/* Finds only the target.  Names, users and the default become pids of *target, in an array *pids
 * for free().  Fills request, limits, target_text, command_text, system_wide and notice of
 * *session, which needs no session_close() then.  Returns 0, or -errno with one sentence. */
int session_target(struct session *session, const struct request *request,
	struct engine_target *target, int32_t **pids, char *message, size_t size);

/* Resolves events of the target that are named by a symbol (resolve.h), also those added later.
 * Returns 0, or -errno with one sentence. */
int session_resolve(const struct session *session, const struct engine_target *target,
	struct event_spec *specs, size_t n, char *message, size_t size);

/* Accessors for live or recorded sessions. */
void session_status(const struct session *session, struct engine_status *out);
size_t session_notes(
	const struct session *session, uint64_t after, struct engine_note *out, size_t max);
int session_notify_fd(const struct session *session);
struct store *session_store(const struct session *session);
const struct stacks *session_stacks(const struct session *session);
const struct tasks *session_tasks(const struct session *session);
struct images *session_images(const struct session *session);
/* Returns the fields of an event's samples (event: id in the store); NULL if none. */
const struct fields *session_fields(const struct session *session, uint8_t event);
const struct values *session_values(const struct session *session);
/* Returns whether a recording's event of this name is asked for by -e.  An event that was recorded
 * without its kernel part is also found by the name that was requested, if no other event has it.
 */
bool session_event_asked(const struct session *session, const char *name, const char *asked);
/* Writes why a recording lacks samples of an event: no such event, no sample, or counted with
 * others.  Not cleaned. */
void session_missing_event(const struct session *session, const char *name, char *out, size_t size);
/* Updates samples after names reported that code was replaced by other code; waits at most
 * timeout_ms for it. */
void session_settle(struct session *session, unsigned int timeout_ms);
/* Collects the fields of all events of the status. */
void session_schemas(const struct session *session, const struct engine_status *status,
	struct field_schemas *out);
/* Returns false for a recording whose samples have no times.  Only after the end of loading. */
bool session_has_times(const struct session *session);
/* Returns the length of the profile's part within --time. */
uint64_t session_covered_ns(const struct session *session, const struct engine_status *status);
/* Makes the filter of the command line (filter.c); *out is NULL if it filters nothing.
 * Returns 0 or -ENOMEM. */
int session_filter(struct session *session, struct filter **out);
/* Returns whether the command line's expressions name fields of samples. */
bool session_only_fields(const struct request *request);
/* Checks that the fields exist that expressions name, once the events are known.  On false, *error
 * has the reason; its `at` is a byte offset in expression *which of request->only. */
bool session_check_only(struct session *session, size_t *which, struct expr_error *error);
/* Checks one expression.  Returns 0 or -EINVAL with *error. */
int session_check_expr(const struct session *session, const struct engine_status *status,
	const struct expr *expr, struct expr_error *error);
void session_stop(struct session *session); /* ends sampling or loading; the store stays */

/* Passes the recording's facts to symbols, which decides whether files without a build-id are the
 * recorded ones. */
void session_tell_symbols(const struct session *session);

/* Sets target_text and command_text.  The last argument is the name that selected n_processes, or
 * "". */
void session_describe_target(struct session *session, const struct engine_target *target,
	size_t n_processes, const char *what);

/* Updates target_text: a process may have executed another program, and a pipe names its recorder
 * only at its end. */
void session_describe(struct session *session);

/* Explains why the engine or the loading failed, or the last refusal.  Adds to explain_failure()
 * facts that only the request has. */
void session_explain(const struct session *session, const struct engine_failure *failure, char *out,
	size_t size);

/* Sends SIGTERM to a command that still runs.  Returns its pid, or 0 if no signal was sent. */
int32_t session_end_command(struct session *session);

/* Finds a user by name or number.  Returns 0 or -ENOENT. */
int session_find_user(const char *text, uid_t *uid);

#endif
