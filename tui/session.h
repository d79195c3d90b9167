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
#include "symbols/symbols.h"
#include "tui/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum report_format { REPORT_TEXT, REPORT_CSV, REPORT_JSON };
enum color_mode { COLOR_AUTO, COLOR_NEVER, COLOR_ALWAYS };

/* The command line, understood (args.h). */
struct request {
	enum { CMD_LIVE, CMD_REPORT, CMD_DOCTOR, CMD_HELP, CMD_VERSION } command;
	int help_command; /* of CMD_HELP: whose help; CMD_HELP itself: the general one */
	bool command_given; /* "live" or "report" was written, not assumed */
	struct engine_config engine; /* its arrays belong to the request */
	char **names; /* -n */
	size_t n_names;
	char **users; /* -u */
	size_t n_users;
	bool target_by_default; /* nothing was named: the whole machine when permitted, else the user's own processes */
	double duration_s; /* 0: until q, the end of the target, or a signal */
	enum report_format format;
	bool sort_total;
	double percent_limit;
	size_t rows; /* 0: all (report), ignored (live) */
	bool hide_idle;
	unsigned int delay_ms; /* between screen refreshes */
	bool ascii, mono, no_mouse;
	int snapshot_width, snapshot_height; /* of the screen to print as text; 0: none */
	enum color_mode color;
	const char *cache_dir; /* see symbols_config */
};

struct session {
	const struct request *request; /* borrowed */
	struct engine *engine;
	struct symbols *symbols;
	struct names *names;
	struct proc_limits limits; /* at the start, for explain.h */
	char target_text[128]; /* cleaned: "postgres (4711)", "whole machine", "make -j2 (812)" */
	char command_text[128]; /* cleaned: the command with its arguments; "" without one */
	char notice
		[256]; /* cleaned: what was decided for the user (the target by default), or "" */
};

/* Forks the symbol spawner, resolves names and users to processes, starts the engine.  On failure
 * returns -errno, after writing one sentence to message (cleaned; size bytes). */
int session_open(
	struct session *session, const struct request *request, char *message, size_t size);
void session_close(struct session *session);

/* Why the engine failed, or what was refused last: explain_failure() with what only the request knows. */
void session_explain(const struct session *session, const struct engine_failure *failure, char *out,
	size_t size);

/* The user of a name or a number.  0, or -ENOENT. */
int session_find_user(const char *text, uid_t *uid);

#endif
