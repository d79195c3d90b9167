/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_command_output.c - lines of a launched command.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/terminal/command_output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lines {
	char text[65536];
	size_t len;
	int n;
};

static void take(const char *line, size_t len, void *ctx)
{
	struct lines *lines = ctx;

	memcpy(lines->text + lines->len, line, len);
	lines->len += len;
	lines->text[lines->len++] = '|';
	lines->text[lines->len] = '\0';
	lines->n++;
}

static void put(const struct command_output *output, const char *text)
{
	assert_int_equal(write(output->write_fd, text, strlen(text)), strlen(text));
}

static void test_lines_come_whole(void **state)
{
	struct command_output output;
	struct lines *lines = calloc(1, sizeof(*lines));

	(void)state;
	assert_non_null(lines);
	assert_int_equal(command_output_open(&output), 0);
	put(&output, "one\n\ntw");
	assert_true(command_output_read(&output, take, lines));
	assert_string_equal(lines->text, "one||");
	put(&output, "o\nlast");
	assert_true(command_output_read(&output, take, lines));
	assert_string_equal(lines->text, "one||two|");
	command_output_started(&output); /* closes the only writer: the end */
	assert_false(command_output_read(&output, take, lines));
	assert_string_equal(lines->text, "one||two|last|");
	command_output_close(&output);
	command_output_close(&output);
	free(lines);
}

static void test_long_lines_come_in_parts(void **state)
{
	struct command_output output;
	struct lines *lines = calloc(1, sizeof(*lines));
	char text[2 * COMMAND_OUTPUT_LINE + 2];

	(void)state;
	assert_non_null(lines);
	memset(text, 'x', sizeof(text));
	text[2 * COMMAND_OUTPUT_LINE] = '\n';
	text[2 * COMMAND_OUTPUT_LINE + 1] = '\0';
	assert_int_equal(command_output_open(&output), 0);
	put(&output, text);
	assert_true(command_output_read(&output, take, lines));
	assert_int_equal(lines->n, 2);
	assert_int_equal(lines->len, 2 * COMMAND_OUTPUT_LINE + 2);
	command_output_close(&output);
	free(lines);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_come_whole),
		cmocka_unit_test(test_long_lines_come_in_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
