/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * args.h - the command line: one table of options that parses it and prints the help text.
 *
 * The manual page and the completions are checked against this table.  args_parse() uses
 * getopt_long(3), hence one thread at a time.
 */
#ifndef TUI_OPTIONS_ARGS_H
#define TUI_OPTIONS_ARGS_H

#include "tui/session/request.h"
#include "tui/session/session.h"

#include <stdio.h>

/* Commands that accept an option, as bits. */
#define ARGS_LIVE 1u
#define ARGS_REPORT 2u
#define ARGS_DOCTOR 4u
#define ARGS_RECORD 8u
#define ARGS_EXPORT 16u
#define ARGS_DIFF 32u
#define ARGS_ARCHIVE 64u
#define ARGS_ANNOTATE 128u
#define ARGS_STAT 256u
#define ARGS_LIST 512u

enum args_section {
	ARGS_TARGETS,
	ARGS_FILES,
	ARGS_FILTERS,
	ARGS_SAMPLING,
	ARGS_OUTPUT,
	ARGS_SCREEN,
	ARGS_GENERAL
};

struct args_option {
	char letter; /* 0: none */
	const char *name; /* long form, without dashes; NULL if none */
	const char *value; /* name of the value in the help text; NULL if it takes none */
	unsigned int commands;
	enum args_section section;
	const char *help;
};

/* Returns all options in the order of the help text, and their number in *n.  Static storage. */
const struct args_option *args_options(size_t *n);

/* Parses the command line.  Returns 0 and fills *out (release with args_fini()); or -EINVAL (bad
 * usage) or -ENOMEM, with a cleaned sentence in message and *out empty.  Strings of *out may point
 * into argv.
 *
 * Reads the beginning of the files that are named.  A word that is a recording is one of
 * out->files: it has the magic of perf.data or of an archive, or is "-" or a pipe, which are not
 * read.  With a recording no target is set: no events, no target_by_default.  A word after "--" is
 * always a command. */
int args_parse(struct request *out, int argc, char **argv, char *message, size_t size);
void args_fini(struct request *request);

/* Values of request.help_command that are no commands: the names allowed in a configuration. */
#define ARGS_HELP_KEYS (-1)
#define ARGS_HELP_COLORS (-2)

/* Prints the help text of a command (CMD_LIVE, CMD_REPORT ...), of ARGS_HELP_KEYS or
 * ARGS_HELP_COLORS, or the general one (CMD_HELP). */
void args_help(FILE *out, int command);

/* Returns the name of a group in --group and in report rows: "symbol". */
const char *args_group_name(enum query_group group);

/* Parse one value.  Return 0, or -EINVAL if the text is not entirely such a value within [min,
 * max]. A size has an optional suffix K, M, G (powers of 1024).  A decimal is digits with an
 * optional fraction. */
int args_number(const char *text, uint64_t min, uint64_t max, uint64_t *out);
int args_size(const char *text, uint64_t min, uint64_t max, uint64_t *out);
int args_decimal(const char *text, double min, double max, double *out);

/* Parses "80x24", each number from 1 to 1000.  Returns 0 or -EINVAL. */
int args_geometry(const char *text, int *width, int *height);

#endif
