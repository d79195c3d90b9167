/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_sentence.c - output to a terminal, by its width, and to anything else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/base/sentence.h"

#include <pty.h>
#include <termios.h>
#include <unistd.h>

#define BYTES_MAX 1024

/* Checks the output on a terminal of `columns` columns; 0: a terminal that does not report its
 * width. */
static void expect(unsigned short columns, const char *sentence, const char *wanted)
{
	const struct winsize size = {.ws_row = 24, .ws_col = columns};
	struct termios modes = {0};
	char bytes[BYTES_MAX];
	size_t len = 0;
	int master, slave;
	FILE *out;

	cfmakeraw(&modes);
	assert_int_equal(openpty(&master, &slave, NULL, &modes, &size), 0);
	out = fdopen(slave, "w");
	assert_non_null(out);
	sentence_print(out, "%s", sentence);
	putc('\0', out);
	assert_int_equal(fflush(out), 0);
	do {
		ssize_t n = read(master, bytes + len, BYTES_MAX - len);

		assert_true(n > 0);
		len += (size_t)n;
	} while (bytes[len - 1]);
	assert_string_equal(bytes, wanted);
	assert_int_equal(fclose(out), 0);
	close(master);
}

static void test_rows_end_between_words(void **state)
{
	(void)state;
	expect(80, "out of memory", "strobe: out of memory\n");
	expect(20, "the quick brown fox jumps", "strobe: the quick\nbrown fox jumps\n");
	/* The last column stays empty. */
	expect(18, "the quick brown fox jumps", "strobe: the quick\nbrown fox jumps\n");
	expect(17, "the quick brown fox jumps", "strobe: the\nquick brown fox\njumps\n");
	expect(1, "a b", "strobe:\na\nb\n");
}

static void test_columns_are_counted_not_bytes(void **state)
{
	(void)state;
	expect(16, "größe größe", "strobe: größe\ngröße\n");
	expect(16, "ééé éé x", "strobe: ééé éé\nx\n");
	expect(16, "名前 名前 x", "strobe: 名前\n名前 x\n");
}

static void test_long_words_stay_whole(void **state)
{
	(void)state;
	expect(10, "see /a/very/long/path/to it", "strobe:\nsee\n/a/very/long/path/to\nit\n");
}

/* The mark stays below the text that it points at. */
static void test_what_is_marked_stays_whole(void **state)
{
	(void)state;
	expect(16, "there is no such event\n    no such event, surely\n       ^",
		"strobe: there\nis no such\nevent\n    no such event, surely\n       ^\n");
}

/* A command that spans rows has no newline: it is copied from the terminal as one command. */
static void test_commands_are_no_two_lines(void **state)
{
	(void)state;
	expect(20, "use: sudo mount -t none /mnt, or ask for it",
		"strobe: use: sudo   "
		"mount -t none /mnt,\nor ask for it\n");
	expect(20, "few (ulimit -n 4): it is so",
		"strobe: few (ulimit "
		"-n 4): it is so\n");
	expect(20, "allow: sudo sysctl a.key.longer.than.a.row=1 b=2. So it is",
		"strobe: allow: sudo "
		"sysctl              "
		"a.key.longer.than.a.row=1               "
		"b=2. So it is\n");
}

static void test_without_a_width_it_is_one_line(void **state)
{
	static const char sentence[] = "the quick brown fox jumps over the lazy dog, and once more "
				       "over the lazy dog; that makes two of them";
	char wanted[BYTES_MAX], *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	snprintf(wanted, sizeof(wanted), "strobe: %s\n", sentence);
	expect(0, sentence, wanted);
	assert_non_null(out);
	sentence_print(out, "%s", sentence);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, wanted);
	free(text);
}

static void test_kept_sentences_are_unique(void **state)
{
	char **list = NULL;
	size_t n = 0;

	(void)state;
	assert_int_equal(sentence_keep(&list, &n, "one"), 0);
	assert_int_equal(sentence_keep(&list, &n, "two"), 0);
	assert_int_equal(sentence_keep(&list, &n, "one"), 0);
	assert_int_equal(n, 2);
	assert_string_equal(list[0], "one");
	assert_string_equal(list[1], "two");
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_end_between_words),
		cmocka_unit_test(test_columns_are_counted_not_bytes),
		cmocka_unit_test(test_long_words_stay_whole),
		cmocka_unit_test(test_what_is_marked_stays_whole),
		cmocka_unit_test(test_commands_are_no_two_lines),
		cmocka_unit_test(test_without_a_width_it_is_one_line),
		cmocka_unit_test(test_kept_sentences_are_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
