/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * args.h - the command line: one table of options that parses it and prints the help text, and
 * that the manual page and the completions are checked against.
 *
 * args_parse() uses getopt_long(3), hence one thread at a time.
 */
#ifndef TUI_ARGS_H
#define TUI_ARGS_H

#include "tui/session.h"

#include <stdio.h>

/* Commands that an option belongs to. */
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
	const char *name; /* long form, without dashes; NULL: none */
	const char *value; /* what follows, as help shows it; NULL: nothing does */
	unsigned int commands;
	enum args_section section;
	const char *help;
};

/* All options, in the order of the help text; *n entries, static storage. */
const struct args_option *args_options(size_t *n);

/* Understand the command line.  Returns 0 and fills *out, to be released with args_fini(); or
 * -EINVAL (bad usage), -ENOMEM, with a cleaned sentence in message and *out empty. Strings of *out
 * may point into argv.
 *
 * Looks into the files that are named: a word that is a recording (the magic of perf.data, or of an archive;
 * "-" or a pipe unseen) is one of out->files, and nothing of a target is set then: no events, no
 * target_by_default.  A word after "--" is always a command. */
int args_parse(struct request *out, int argc, char **argv, char *message, size_t size);
void args_fini(struct request *request);

/* Of request.help_command, besides commands: what a configuration may name. */
#define ARGS_HELP_KEYS (-1)
#define ARGS_HELP_COLORS (-2)

/* The text of --help: of one command (CMD_LIVE, CMD_REPORT ...), of one of these, or the general one (CMD_HELP). */
void args_help(FILE *out, int command);

/* As --group has it, and the rows of reports: "symbol". */
const char *args_group_name(enum query_group group);

/* Parsers of single values; 0, or -EINVAL where text is not wholly such a value within [min, max].
 * A size has an optional suffix K, M, G (powers of 1024); a decimal is digits with an optional fraction. */
int args_number(const char *text, uint64_t min, uint64_t max, uint64_t *out);
int args_size(const char *text, uint64_t min, uint64_t max, uint64_t *out);
int args_decimal(const char *text, double min, double max, double *out);

/* "80x24", each from 1 to 1000.  0, or -EINVAL. */
int args_geometry(const char *text, int *width, int *height);

#endif
