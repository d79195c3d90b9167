/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_prompt.c - the line editor.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/terminal/prompt.h"

#include <stdlib.h>
#include <string.h>

#define CTRL(letter) ((letter)&0x1f)

static enum prompt_result type(struct prompt *prompt, const char *text)
{
	enum prompt_result result = PROMPT_SAME;

	for (; *text; text++)
		result = prompt_key(prompt, (unsigned char)*text);
	return result;
}

static void test_typing(void **state)
{
	struct prompt prompt;

	(void)state;
	prompt_start(&prompt, "filter: ", "ab");
	assert_int_equal(type(&prompt, "cd"), PROMPT_CHANGED);
	assert_string_equal(prompt.text, "abcd");
	prompt_key(&prompt, CTRL('A'));
	type(&prompt, "x");
	assert_string_equal(prompt.text, "xabcd");
	assert_int_equal(prompt_key(&prompt, 127), PROMPT_CHANGED);
	assert_string_equal(prompt.text, "abcd");
	assert_int_equal(prompt_key(&prompt, 10), PROMPT_DONE);
	assert_int_equal(prompt_key(&prompt, 27), PROMPT_CANCELLED);
}

static void test_words_and_lines(void **state)
{
	struct prompt prompt;

	(void)state;
	prompt_start(&prompt, "", "one two  ");
	prompt_key(&prompt, CTRL('W'));
	assert_string_equal(prompt.text, "one ");
	prompt_key(&prompt, CTRL('U'));
	assert_string_equal(prompt.text, "");
	assert_int_equal(prompt_key(&prompt, CTRL('U')), PROMPT_SAME);
	/* on an empty line */
	assert_int_equal(prompt_key(&prompt, 127), PROMPT_CANCELLED);
}

static void test_utf8_is_edited_by_characters(void **state)
{
	struct prompt prompt;

	(void)state;
	prompt_start(&prompt, "", "");
	prompt_key(&prompt, 0xe9);
	prompt_key(&prompt, 0x65e5);
	prompt_key(&prompt, 0x1f600);
	assert_string_equal(prompt.text, "\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80");
	prompt_key(&prompt, 127);
	assert_string_equal(prompt.text, "\xc3\xa9\xe6\x97\xa5");
	prompt_key(&prompt, CTRL('B'));
	prompt_key(&prompt, 127);
	assert_string_equal(prompt.text, "\xe6\x97\xa5");
}

static void test_no_controls_and_no_overflow(void **state)
{
	struct prompt prompt;

	(void)state;
	prompt_start(&prompt, "", "");
	assert_int_equal(prompt_key(&prompt, 0x9b), PROMPT_SAME);
	assert_int_equal(prompt_key(&prompt, 1 + CTRL('X')), PROMPT_SAME);
	assert_int_equal(prompt_key(&prompt, 0x110005), PROMPT_SAME);
	for (int i = 0; i < 1000; i++)
		prompt_key(&prompt, 0x65e5);
	assert_true(prompt.len < PROMPT_MAX);
	assert_int_equal(strlen(prompt.text), prompt.len);
}

static void test_cursor_stays_in_sight(void **state)
{
	struct prompt prompt;
	struct canvas canvas;
	char *dump;

	(void)state;
	prompt_start(&prompt, "f: ", "abcdefghijklmnopqrstuvwxyz");
	assert_int_equal(canvas_init(&canvas, 12, 1, 1), 0);
	prompt_draw(&prompt, &canvas, 0);
	dump = canvas_dump(&canvas);
	assert_string_equal(dump, " f: tuvwxyz#\n");
	free(dump);
	canvas_fini(&canvas);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_typing),
		cmocka_unit_test(test_words_and_lines),
		cmocka_unit_test(test_utf8_is_edited_by_characters),
		cmocka_unit_test(test_no_controls_and_no_overflow),
		cmocka_unit_test(test_cursor_stays_in_sight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
