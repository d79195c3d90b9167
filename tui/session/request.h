/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request.h - the parsed command line.
 */
#ifndef TUI_SESSION_REQUEST_H
#define TUI_SESSION_REQUEST_H

#include "sampler/control/config.h"
#include "tui/base/csv.h"
#include "tui/query/expr.h"
#include "tui/query/filter.h"
#include "tui/query/query.h"
#include "tui/session/export_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct resolve_wait;
struct settings;

enum report_format { REPORT_TEXT, REPORT_CSV, REPORT_JSON };
enum report_view {
	REPORT_FLAT,
	REPORT_CALLERS, /* a tree of the callers below each symbol */
	REPORT_CALLEES, /* a tree of the callees below each symbol */
	REPORT_TREE, /* one call tree from the outermost frames */
};
enum report_columns { COLUMNS_EVENT, COLUMNS_CPU, COLUMNS_THREAD, COLUMNS_CGROUP, COLUMNS_NONE };
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

/* Returns the name of the single recording for messages; not cleaned. */
const char *request_file_name(const struct request *request);

#endif
