/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * session.h - one profile being taken: request, engine, symbols and names, tied together.
 *
 * Owned by the command that runs (live, report); UI thread.
 */
#ifndef TUI_SESSION_H
#define TUI_SESSION_H

#include "sampler/engine.h"
#include "sampler/proc.h"
#include "sampler/recording/recording.h"
#include "symbols/symbols.h"
#include "tui/cgroups.h"
#include "tui/csv.h"
#include "tui/expr.h"
#include "tui/filter.h"
#include "tui/names.h"
#include "tui/query.h"
#include "tui/resolve.h"
#include "tui/unwinding.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum report_format { REPORT_TEXT, REPORT_CSV, REPORT_JSON };
enum report_view {
	REPORT_FLAT,
	REPORT_CALLERS, /* below each symbol its callers, a tree */
	REPORT_CALLEES, /* below each symbol what it calls, a tree */
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
	DIFF_SAMPLE, /* shares: of each recording's own whole */
	DIFF_SECOND, /* weight per second of each recording */
};
/* What strobe stat has a row for. */
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

/* The command line, understood (args.h). */
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
	int help_command; /* of CMD_HELP: whose help; CMD_HELP itself: the general one */
	bool command_given; /* "live" or "report" was written, not assumed */
	struct engine_config engine; /* its arrays belong to the request */
	char **names; /* -n */
	size_t n_names;
	char **cgroups; /* -G */
	size_t n_cgroups;
	char **users; /* -u */
	size_t n_users;
	bool target_by_default; /* nothing was named: the whole machine when permitted, else the user's own processes */
	double duration_s; /* 0: until q, the end of the target, or a signal */
	enum report_format format; /* of report and diff */
	char **files; /* recordings or archives; "-" is standard input: diff has two or more, the others at most one */
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
	const char *symfs; /* --symfs: binaries are looked for below this directory first; NULL */
	struct filter_term
		*terms; /* --comm, --image, --symbol; in a recording --pid, --tid, --cpu too */
	size_t n_terms;
	struct expr *only; /* --only: each must be passed */
	size_t n_only;
	double time_from_s, time_to_s; /* --time, from the start; to 0: the end */
	char **event_names; /* -e with a recording: which of its events; none: all */
	size_t n_event_names;
	enum query_group groups[QUERY_KEYS_MAX]; /* --group; none: symbol and image */
	size_t n_groups;
	const char *fields[QUERY_FIELDS_MAX]; /* names of those among them; event_text()'s */
	size_t n_fields;
	enum report_view view;
	enum report_columns columns; /* side by side */
	enum { INLINES_DEFAULT, INLINES_ON, INLINES_OFF } inlines; /* --inline, --no-inline */
	bool absolute; /* --percentage absolute: shares of everything, not of what the filters let pass */
	enum export_format export_format;
	enum diff_normal normal; /* --normalize */
	const char *symbol; /* of annotate; NULL: the hottest */
	const char *pattern; /* of list; NULL: all */
	bool names_only; /* --names of list */
	struct csv_style csv; /* --raw-cells, --crlf */
	int annotate_mode; /* --mode: enum annotate_mode */
	bool intel_syntax; /* --syntax intel */
	const char **source_prefixes; /* --source-prefix, ends with NULL; NULL: none */
	size_t n_source_prefixes;
	const char *source_tree; /* --source-tree: a directory to be written; NULL */
	enum stat_per per; /* stat --per */
	unsigned int interval_ms; /* stat --interval; 0: counts are printed once */
	unsigned int repeat; /* stat --repeat; 0: not given */
	bool no_inherit; /* stat --no-inherit */
	bool compress; /* record -z */
	bool sort_total;
	double percent_limit; /* below 0: not given */
	size_t rows; /* 0: all (report), ignored (live); of annotate SIZE_MAX: not given */
	bool hide_idle;
	unsigned int delay_ms; /* between screen refreshes */
	bool ascii, mono, no_mouse;
	const char *config; /* --config; NULL: the user's */
	bool no_config;
	int theme; /* --theme: enum theme_kind */
	unsigned int given; /* of the command line: bits 1u << enum config_setting */
	struct settings *settings; /* of the screen; borrowed, or NULL */
	int snapshot_width, snapshot_height; /* of the screen to print as text; 0: none */
	enum color_mode color;
	const char *cache_dir; /* see symbols_config */
	const char *baseline; /* --baseline: a recording to compare with; NULL */
	bool beside; /* a session beside another one: threads run already */
	const struct resolve_wait
		*wait; /* of the command that runs, for what takes its time; NULL */
};

struct session {
	const struct request *request; /* borrowed */
	struct engine *engine; /* NULL where a recording is looked at */
	struct recording *recording; /* NULL where a target is */
	struct times *times; /* sample times of a recording, for export; else NULL */
	time_t recorded_at; /* when the file was written; 0: not known */
	struct unpacked *unpacked; /* the archive that it came in; NULL: none */
	struct symbols *symbols;
	struct changes *changes; /* of code, told by names */
	struct unwinding *unwinding; /* rules for call chains, of symbols */
	struct names *names;
	struct proc_limits limits; /* at the start, for explain.h */
	char target_text[128]; /* cleaned: "postgres (4711)", "whole machine", "make -j2 (812)" */
	struct proc_name target_name; /* of a target that is one process; else pid 0 */
	uint64_t target_note; /* the last note that session_describe() has seen */
	char target_cpus[112]; /* " on CPUs 0-1"; "" for all */
	char command_text[128]; /* cleaned: the command with its arguments; "" without one */
	struct field_schemas
		schemas; /* what filters know of samples' fields; brought up to date by session_schemas() */
	struct event_cgroup cgroups[CGROUPS_MAX]; /* found */
	size_t n_cgroups;
	bool system_wide; /* also when it is so because nothing was named */
	char notice
		[256]; /* cleaned: what was decided for the user (the target by default), or "" */
};

/* Returns the name of the one recording for sentences; not cleaned. */
const char *request_file_name(const struct request *request);

/* Forks the symbol spawner, then opens request->files[0] and starts loading it; or resolves names and
 * users to processes and starts the engine.  On failure
 * returns -errno, after writing one sentence to message (cleaned; size bytes). */
int session_open(
	struct session *session, const struct request *request, char *message, size_t size);
void session_close(struct session *session);

/* Only the first part of that: names, users and what is taken where nothing was named become pids of *target, an array for
 * free() with *pids.  Fills request, limits, target_text, command_text, system_wide and notice of *session, which
 * needs no session_close() then.  0 or -errno and a sentence. */
int session_target(struct session *session, const struct request *request,
	struct engine_target *target, int32_t **pids, char *message, size_t size);

/* Numbers for events of the target that are named by a symbol (resolve.h); for those that are added while it runs, too.  0, or
 * -errno after one sentence. */
int session_resolve(const struct session *session, const struct engine_target *target,
	struct event_spec *specs, size_t n, char *message, size_t size);

/* Of whichever it is. */
void session_status(const struct session *session, struct engine_status *out);
size_t session_notes(
	const struct session *session, uint64_t after, struct engine_note *out, size_t max);
int session_notify_fd(const struct session *session);
struct store *session_store(const struct session *session);
const struct stacks *session_stacks(const struct session *session);
const struct tasks *session_tasks(const struct session *session);
struct images *session_images(const struct session *session);
/* The fields of an event's samples (a store event id); NULL: none. */
const struct fields *session_fields(const struct session *session, uint8_t event);
const struct values *session_values(const struct session *session);
/* "the recording has no event 'x'", or no sample of it, or counts it with others; not cleaned. */
void session_missing_event(const struct session *session, const char *name, char *out, size_t size);
/* Where names have told that code took the place of other code: what was sampled is sorted anew, if
 * that does not take longer than timeout_ms. */
void session_settle(struct session *session, unsigned int timeout_ms);
/* The same of all events of the status. */
void session_schemas(const struct session *session, const struct engine_status *status,
	struct field_schemas *out);
/* The filter of what the command line asked for alone (session_filter.c); *out is NULL where that is nothing.  0 or -ENOMEM. */
int session_filter(struct session *session, struct filter **out);
/* Whether the command line's expressions name fields of samples. */
bool session_only_fields(const struct request *request);
/* Whether there are all fields of samples that expressions name, where the events are known; else *error, whose `at` is the
 * byte of expression *which of request->only. */
bool session_check_only(struct session *session, size_t *which, struct expr_error *error);
/* The same of one expression.  0 or -EINVAL. */
int session_check_expr(const struct session *session, const struct engine_status *status,
	const struct expr *expr, struct expr_error *error);
void session_stop(struct session *session); /* sampling or loading; the store stays */

/* Passes the recording's facts to symbols, which decides whether files without a build-id are the
 * recorded ones. */
void session_tell_symbols(const struct session *session);

/* Set target_text and command_text.  what: the name that selected n_processes, or "". */
void session_describe_target(struct session *session, const struct engine_target *target,
	size_t n_processes, const char *what);

/* Update target_text: a process may have executed another program, and a pipe names its recorder
 * only at its end. */
void session_describe(struct session *session);

/* Why the engine or the loading failed, or what was refused last: explain_failure() with what only the request knows. */
void session_explain(const struct session *session, const struct engine_failure *failure, char *out,
	size_t size);

/* Tell a command that still runs to end, by SIGTERM.  Its pid, or 0 where there was nothing to tell. */
int32_t session_end_command(struct session *session);

/* The user of a name or a number.  0, or -ENOENT. */
int session_find_user(const char *text, uid_t *uid);

#endif
