/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * private.h - a request under construction; private to args*.c.
 */
#ifndef TUI_OPTIONS_PRIVATE_H
#define TUI_OPTIONS_PRIVATE_H

#include "tui/options/table.h"
#include "tui/session/request.h"

/* An option as it was written.  It is applied once all words are known, since the meaning of -p or
 * -e depends on whether a recording follows. */
struct args_given {
	const struct args_option *option;
	const char *value;
	bool by_letter;
};

struct args {
	struct request request;
	struct args_given *given;
	size_t n_given;
	struct event_spec *events;
	size_t n_events;
	size_t events_before; /* index of the first event of the last -e */
	int32_t *pids, *tids;
	size_t n_pids, n_tids;
	int *cpus;
	size_t n_cpus;
	uint64_t freq_hz, period; /* 0: not given */
	bool format_given, view_given, columns_given;
	char *message;
	size_t size;
};

/* The kinds of a word that is no option. */
enum args_kind {
	ARGS_PERFDATA,
	ARGS_ARCHIVE_FILE,
	ARGS_STREAM, /* "-" or a named pipe: cannot be read in advance */
	ARGS_OTHER_FILE,
	ARGS_NO_FILE, /* a directory, or a file that cannot be read */
};

/* Write an error message and return -EINVAL or -ENOMEM. */
__attribute__((format(printf, 2, 3))) int args_refuse(struct args *args, const char *format, ...);
int args_no_memory(struct args *args);

/* Formats the option as it was written, "-p" or "--pid".  Returns out. */
const char *args_given_text(const struct args_given *given, char *out, size_t size);
const char *args_command_name(int command);

/* Apply one option.  Return 0, -ENOENT if the option is none of this kind, or the error of
 * args_refuse() or args_no_memory(). */
int args_apply_target(struct args *args, int id, const char *text);
int args_apply_sampling(struct args *args, int id, const char *text);
int args_apply_data(struct args *args, int id, const char *text);
int args_apply_filter(struct args *args, int id, const char *text);
int args_apply_rows(struct args *args, int id, const char *text);
int args_apply_screen(struct args *args, int id, const char *text);

int args_parse_groups(struct args *args, const char *text);
/* Checks that the samples of the events have the fields requested.  Call it once the events are
 * known; does nothing for a recording. */
int args_check_fields(struct args *args);

/* Returns "--callers" and the like; not for REPORT_FLAT, which has no option. */
const char *args_view_option(enum report_view view);

/* Adds filter terms of one field: "a,b*", "7,8" or "0-3".  A leading "!" negates all. */
int args_add_terms(
	struct args *args, const char *option, enum filter_field field, const char *text);

/* Sets *out to the index of text in words, a list that ends with NULL. */
int args_choose(struct args *args, const char *option, const char *text, const char *const *words,
	int *out);

/* Appends a copy of len bytes. */
int args_add_word(struct args *args, char ***words, size_t *n, const char *text, size_t len);

/* Returns the word that a mistyped text most likely means, or NULL. */
const char *args_nearest(const char *text, size_t len, const char *const *words);

/* Returns the kind of a path, and in *error the positive errno if it cannot be read. */
enum args_kind args_file_kind(const char *path, int *error);

/* Takes a word as a recording and sets *taken.  Refuses a word that is neither a recording nor a
 * command. */
int args_take_word(struct args *args, char *word, bool *taken);
int args_add_file(struct args *args, char *path);

/* Checks that the recordings and the output can be used. */
int args_check_files(struct args *args);

/* Apply --debug-dir and --debuginfod.  Return 0, or an error after args_refuse(). */
int args_add_debug_dir(struct args *args, const char *text);
int args_want_debuginfod(struct args *args);

#endif
