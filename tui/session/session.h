/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * session.h - one profile: its request, engine or recording, symbols and names.
 *
 * Owned by the running command; UI thread.
 */
#ifndef TUI_SESSION_SESSION_H
#define TUI_SESSION_SESSION_H

#include "sampler/engine/engine.h"
#include "sampler/machine/proc.h"
#include "sampler/recording/recording.h"
#include "symbols/client/symbols.h"
#include "tui/base/csv.h"
#include "tui/names/names.h"
#include "tui/query/expr.h"
#include "tui/query/filter.h"
#include "tui/query/query.h"
#include "tui/session/cgroups.h"
#include "tui/session/resolve.h"
#include "tui/session/unwinding.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum report_format { REPORT_TEXT, REPORT_CSV, REPORT_JSON };
enum report_view {
	REPORT_FLAT,
	REPORT_CALLERS, /* a tree of the callers below each symbol */
	REPORT_CALLEES, /* a tree of the callees below each symbol */
	REPORT_TREE, /* one call tree from the outermost frames */
};
enum report_columns { COLUMNS_EVENT, COLUMNS_CPU, COLUMNS_THREAD, COLUMNS_CGROUP, COLUMNS_NONE };
enum export_format {
	EXPORT_FOLDED,
	EXPORT_SPEEDSCOPE,
	EXPORT_PPROF,
	EXPORT_CALLGRIND,
	EXPORT_SVG,
	EXPORT_SCRIPT,
	EXPORT_GECKO,
	EXPORT_FORMATS
};
enum diff_normal {
	DIFF_SAMPLE, /* compare shares of each recording's own total */
	DIFF_SECOND, /* compare weights per second of each recording */
};
/* One row of strobe stat per ... */
enum stat_per {
	STAT_PER_TOTAL,
	STAT_PER_THREAD,
	STAT_PER_PROCESS,
	STAT_PER_CPU,
	STAT_PER_CORE,
	STAT_PER_SOCKET,
	STAT_PER_NODE
};
enum color_mode { COLOR_AUTO, COLOR_NEVER, COLOR_ALWAYS };

/* The parsed command line (args.h). */
struct request {
	enum {
		CMD_LIVE,
		CMD_REPORT,
		CMD_DOCTOR,
		CMD_HELP,
		CMD_VERSION,
		CMD_RECORD,
		CMD_EXPORT,
		CMD_DIFF,
		CMD_ARCHIVE,
		CMD_ANNOTATE,
		CMD_STAT,
		CMD_LIST
	} command;
	int help_command; /* for CMD_HELP: the command to explain; CMD_HELP: general help */
	bool command_given; /* the command line has "live" or "report" as a word */
	struct engine_config engine; /* its arrays belong to the request */
	char **names; /* -n */
	size_t n_names;
	char **cgroups; /* -G */
	size_t n_cgroups;
	char **users; /* -u */
	size_t n_users;
	/* no target named: the whole machine if permitted, else the user's own processes */
	bool target_by_default;
	double duration_s; /* 0: until q, the end of the target, or a signal */
	enum report_format format; /* for report and diff */
	/* recordings or archives, "-" is standard input; diff has two or more, others at most
	 * one */
	char **files;
	size_t n_files;
	const char *file_name; /* the user's name for files[0]; NULL: files[0] itself */
	const char *output; /* -o: a path, "-" for standard output; NULL: the command's default */
	const char **debug_dirs; /* --debug-dir, ends with NULL; NULL: none */
	size_t n_debug_dirs;
	bool debuginfod; /* --debuginfod */
	bool all_notes; /* --all-notes */
	bool memory_given; /* --memory */
	uint64_t memory_limit_bytes; /* the cgroup's limit, if it lowers the default; else 0 */
	bool trust_local; /* --trust-local-files */
	const char *symfs; /* --symfs: directory searched first for binaries; NULL if none */
	/* --comm, --image, --symbol; with a recording also --pid, --tid, --cpu */
	struct filter_term *terms;
	size_t n_terms;
	struct expr *only; /* --only: samples must pass each */
	size_t n_only;
	double time_from_s, time_to_s; /* --time, in seconds from the start; to 0: the end */
	char **event_names; /* -e with a recording: its events to show; none: all */
	size_t n_event_names;
	enum query_group groups[QUERY_KEYS_MAX]; /* --group; none: symbol and image */
	size_t n_groups;
	/* names of the fields in `groups`; from event_text() */
	const char *fields[QUERY_FIELDS_MAX];
	size_t n_fields;
	enum report_view view;
	enum report_columns columns; /* the side-by-side columns */
	enum { INLINES_DEFAULT, INLINES_ON, INLINES_OFF } inlines; /* --inline, --no-inline */
	/* --percentage absolute: shares of all samples, not only of those that pass the filters */
	bool absolute;
	enum export_format export_format;
	enum diff_normal normal; /* --normalize */
	const char *symbol; /* for annotate; NULL: the hottest symbol */
	const char *pattern; /* for list; NULL: all events */
	bool names_only; /* list --names */
	struct csv_style csv; /* --raw-cells, --crlf */
	int annotate_mode; /* --mode: enum annotate_mode */
	bool intel_syntax; /* --syntax intel */
	const char **source_prefixes; /* --source-prefix, ends with NULL; NULL: none */
	size_t n_source_prefixes;
	const char *source_tree; /* --source-tree: a directory to write; NULL if none */
	enum stat_per per; /* stat --per */
	unsigned int interval_ms; /* stat --interval; 0: print counts only once */
	unsigned int repeat; /* stat --repeat; 0: not given */
	bool no_inherit; /* stat --no-inherit */
	bool compress; /* record -z */
	bool sort_total;
	double percent_limit; /* negative: not given */
	size_t rows; /* 0: all (report), ignored (live); SIZE_MAX: not given (annotate) */
	bool hide_idle;
	unsigned int delay_ms; /* between screen refreshes */
	bool ascii, mono, no_mouse;
	const char *config; /* --config; NULL: the user's file */
	bool no_config;
	int theme; /* --theme: enum theme_kind */
	unsigned int given; /* settings given on the command line: bits 1u << enum config_setting */
	struct settings *settings; /* settings of the screen; borrowed; may be NULL */
	int snapshot_width, snapshot_height; /* size of the screen to print as text; 0: none */
	enum color_mode color;
	const char *cache_dir; /* see struct symbols_config */
	const char *baseline; /* --baseline: a recording to compare with; NULL if none */
	bool beside; /* opened next to another session: threads already run */
	const struct resolve_wait *wait; /* options for slow waits of this command; NULL if none */
};

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

/* Returns the name of the single recording for messages; not cleaned. */
const char *request_file_name(const struct request *request);

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
/* Writes why a recording lacks samples of an event: no such event, no sample, or counted with
 * others.  Not cleaned. */
void session_missing_event(const struct session *session, const char *name, char *out, size_t size);
/* Updates samples after names reported that code was replaced by other code; waits at most
 * timeout_ms for it. */
void session_settle(struct session *session, unsigned int timeout_ms);
/* Collects the fields of all events of the status. */
void session_schemas(const struct session *session, const struct engine_status *status,
	struct field_schemas *out);
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
