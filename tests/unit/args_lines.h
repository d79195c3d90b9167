/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * args_lines.h - command lines as one string, for the tests of args.
 *
 * Include cmocka.h and its requirements before.
 */
#ifndef TESTS_UNIT_ARGS_LINES_H
#define TESTS_UNIT_ARGS_LINES_H

#include "tui/options/args.h"
#include "tui/session/request.h"

#include <errno.h>
#include <string.h>

#define WORDS_MAX 24

struct line {
	struct request request;
	char message[512];
	char bytes[512];
	char *argv[WORDS_MAX];
};

/* Splits the text at blanks and parses it. */
static inline int parse(struct line *line, const char *text)
{
	int argc = 0;

	strcpy(line->bytes, text);
	for (char *word = strtok(line->bytes, " "); word; word = strtok(NULL, " "))
		line->argv[argc++] = word;
	line->argv[argc] = NULL;
	return args_parse(&line->request, argc, line->argv, line->message, sizeof(line->message));
}

static inline void good(struct line *line, const char *text)
{
	if (parse(line, text))
		fail_msg("%s: %s", text, line->message);
	assert_string_equal(line->message, "");
}

static inline void bad(const char *text, const char *wanted)
{
	struct line line;

	assert_int_equal(parse(&line, text), -EINVAL);
	if (!strstr(line.message, wanted))
		fail_msg("%s: '%s' does not say '%s'", text, line.message, wanted);
}

#endif
