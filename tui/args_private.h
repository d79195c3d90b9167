/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * args_private.h - a request while it grows; private to args*.c.
 */
#ifndef TUI_ARGS_PRIVATE_H
#define TUI_ARGS_PRIVATE_H

#include "tui/args_table.h"

/* An option as it was written.  It is understood once all words are known: what -p or -e mean
 * depends on whether a recording comes after them. */
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
	size_t events_before; /* the last -e gave those from here on */
	int32_t *pids, *tids;
	size_t n_pids, n_tids;
	int *cpus;
	size_t n_cpus;
	uint64_t freq_hz, period; /* 0: not given */
	bool format_given, view_given, columns_given;
	char *message;
	size_t size;
};

/* What a word that is no option may be. */
enum args_kind {
	ARGS_PERFDATA,
	ARGS_ARCHIVE_FILE,
	ARGS_STREAM, /* "-", or a pipe with a name: cannot be looked into beforehand */
	ARGS_OTHER_FILE,
	ARGS_NO_FILE, /* a directory, or nothing that can be read */
};

/* Both write the sentence; -EINVAL and -ENOMEM. */
__attribute__((format(printf, 2, 3))) int args_refuse(struct args *args, const char *format, ...);
int args_no_memory(struct args *args);

/* "-p" or "--pid", as it was written. */
const char *args_given_text(const struct args_given *given, char *out, size_t size);
const char *args_command_name(int command);

/* 0, or what args_refuse() and args_no_memory() return; -ENOENT: not an option of this kind. */
int args_apply_target(struct args *args, int id, const char *text);
int args_apply_sampling(struct args *args, int id, const char *text);
int args_apply_data(struct args *args, int id, const char *text);
int args_apply_filter(struct args *args, int id, const char *text);
int args_apply_rows(struct args *args, int id, const char *text);
int args_apply_screen(struct args *args, int id, const char *text);

int args_parse_groups(struct args *args, const char *text);
/* Once the events are known, of no recording: whether their samples have the fields asked for. */
int args_check_fields(struct args *args);

/* "--callers"; not of REPORT_FLAT, which is no option. */
const char *args_view_option(enum report_view view);

/* Terms of one field: "a,b*", "7,8" or "0-3", all of them negated after a "!" at the beginning. */
int args_add_terms(
	struct args *args, const char *option, enum filter_field field, const char *text);

/* The number of text in words, which end with NULL. */
int args_choose(struct args *args, const char *option, const char *text, const char *const *words,
	int *out);

/* Append a copy of len bytes. */
int args_add_word(struct args *args, char ***words, size_t *n, const char *text, size_t len);

/* The word nearest to text that it could be meant for, or NULL. */
const char *args_nearest(const char *text, size_t len, const char *const *words);

/* What path is; error gets the positive errno of what cannot be read. */
enum args_kind args_file_kind(const char *path, int *error);

/* Take a word for a recording: *taken.  A word that is neither that nor a command is refused. */
int args_take_word(struct args *args, char *word, bool *taken);
int args_add_file(struct args *args, char *path);

/* Whether the recordings and the output can be what they are given for. */
int args_check_files(struct args *args);

/* --debug-dir and --debuginfod.  0, or an error that args_refuse() has told. */
int args_add_debug_dir(struct args *args, const char *text);
int args_want_debuginfod(struct args *args);

#endif
