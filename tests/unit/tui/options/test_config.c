/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_config.c - the grammar of configurations: accepted lines, and errors with their place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/controls/input.h"
#include "tui/options/config.h"

#include <stdlib.h>
#include <string.h>

struct told {
	size_t n;
	unsigned int line, column; /* place of the last error */
	char sentence[512];
};

static void listen(unsigned int line, unsigned int column, const char *sentence, void *ctx)
{
	struct told *told = ctx;

	told->n++;
	told->line = line;
	told->column = column;
	snprintf(told->sentence, sizeof(told->sentence), "%s", sentence);
}

static struct config config;

static struct told parse(const char *text)
{
	struct told told = {0};

	memset(&config, 0, sizeof(config));
	config_parse(&config, text, strlen(text), listen, &told);
	return told;
}

static void expect_told(const char *text, unsigned int line, unsigned int column, const char *part)
{
	struct told told = parse(text);

	assert_int_equal(told.n, 1);
	assert_int_equal(told.line, line);
	assert_int_equal(told.column, column);
	if (!strstr(told.sentence, part))
		fail_msg("'%s' is not in: %s", part, told.sentence);
}

static void test_settings(void **state)
{
	struct told told = parse("# a comment\n\n  set theme light\t# another\r\n"
				 "set ascii on\nset rate 4999\nset window 2.5\nset calls callers");

	(void)state;
	assert_int_equal(told.n, 0);
	assert_int_equal(config.given,
		1u << CONFIG_THEME | 1u << CONFIG_ASCII | 1u << CONFIG_RATE | 1u << CONFIG_WINDOW |
			1u << CONFIG_CALLS);
	assert_int_equal(config.values[CONFIG_THEME], THEME_KIND_LIGHT);
	assert_int_equal(config.values[CONFIG_ASCII], 1);
	assert_int_equal(config.values[CONFIG_RATE], 4999);
	assert_int_equal(config.values[CONFIG_WINDOW], 25);
	assert_int_equal(config.values[CONFIG_CALLS], 2);
}

static void test_the_last_line_holds(void **state)
{
	(void)state;
	assert_int_equal(parse("set sort total\nset sort self\n").n, 0);
	assert_int_equal(config.values[CONFIG_SORT], 0);
}

static void test_errors_name_their_place(void **state)
{
	(void)state;
	expect_told("set theme light\nset  theme drak\n", 2, 12, "colour-blind, not 'drak'");
	expect_told("set colour on", 1, 5, "hide-idle");
	expect_told("set", 1, 4, "the line ends here");
	expect_told("set rate 0", 1, 10, "from 1 to 1000000");
	expect_told("set rate 1.5", 1, 10, "Hz");
	expect_told("set rate 99999999999999999999", 1, 10, "Hz");
	expect_told("set window 0", 1, 12, "seconds");
	expect_told("set window 0.15", 1, 12, "tenths");
	expect_told("set window .", 1, 12, "seconds");
	expect_told("set ascii on off", 1, 14, "the end of the line");
	expect_told("frobnicate", 1, 1, "set, key, color");
	expect_told("key nowhere x help", 1, 5, "hot-symbols");
	expect_told("key everywhere F99 help", 1, 16, "a key");
	expect_told("key everywhere x halp", 1, 18, "strobe help keys");
	/* The action exists only in another view. */
	expect_told("key log x syntax", 1, 11, "an action of log");
	expect_told("key everywhere x event-number", 1, 18, "can be chosen");
	expect_told("key everywhere x", 1, 17, "an action");
	expect_told("color nothing red", 1, 7, "strobe help colors");
	expect_told("color title", 1, 12, "a colour");
	expect_told("color title red blue", 1, 17, "not 'blue'");
	expect_told("color title on", 1, 15, "background");
	expect_told("color title #12345", 1, 13, "a colour");
	expect_told("a b c d e f g h i j k l m", 1, 25, "too many words");
}

/* A line with an error changes nothing. */
static void test_errors_change_nothing(void **state)
{
	(void)state;
	parse("set ascii on on\nset theme x\nkey everywhere x help help\ncolor title red bold "
	      "blue");
	assert_int_equal(config.given, 0);
	assert_int_equal(config.n_keys, 0);
	assert_false(config.colors.given[STYLE_TITLE]);
}

static void test_odd_bytes_are_told_cleanly(void **state)
{
	static const char text[] = "set theme \x1b[31m\nset \0x y\n";
	struct told told = {0};

	(void)state;
	config_parse(&config, text, sizeof(text) - 1, listen, &told);
	assert_int_equal(told.n, 2);
	told = parse("set theme \x1b[31m");
	assert_null(strchr(told.sentence, '\x1b'));
}

static void test_keys(void **state)
{
	(void)state;
	assert_int_equal(parse("key hot-symbols # annotate # not a key\n"
			       "key everywhere ^T help\nkey annotate PgUp syntax\n"
			       "key calls none search")
				 .n,
		0);
	assert_int_equal(config.n_keys, 4);
	assert_int_equal(config.keys[0].view, KEYS_HOT);
	assert_int_equal(config.keys[0].key, '#');
	assert_int_equal(config.keys[0].action, ACT_ANNOTATE);
	assert_int_equal(config.keys[1].key, INPUT_CTRL('T'));
	assert_int_equal(config.keys[2].key, INPUT_PAGE_UP);
	assert_int_equal(config.keys[3].key, 0);
	assert_int_equal(config.keys[3].line, 4);
}

static void test_colors(void **state)
{
	const struct theme_look *look = &config.colors.looks[STYLE_TITLE];

	(void)state;
	assert_int_equal(parse("color title bold #ff8700 on bright-black underline").n, 0);
	assert_true(config.colors.given[STYLE_TITLE]);
	assert_int_equal(look->fg, 0xff8700);
	assert_int_equal(look->bg, 0x7f7f7f);
	assert_int_equal(look->attrs, THEME_BOLD | THEME_UNDERLINE);
	assert_int_equal(parse("color title dim").n, 0);
	assert_int_equal(look->fg, THEME_DEFAULT);
}

static void test_what_is_written_reads_back(void **state)
{
	struct config copy;
	struct told told = {0};
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	(void)state;
	for (uint32_t round = 0; round < 2; round++) {
		memset(&config, 0, sizeof(config));
		config.given = (1u << CONFIG_SETTINGS) - 1;
		for (int i = 0; i < CONFIG_SETTINGS; i++)
			config.values[i] = round;
		config.values[CONFIG_RATE] = 997 + round;
		config.values[CONFIG_WINDOW] = 200 + 7 * round;
		out = open_memstream(&text, &len);
		assert_non_null(out);
		assert_int_equal(config_write(out, &config), 0);
		assert_int_equal(fclose(out), 0);
		copy = config;
		memset(&config, 0, sizeof(config));
		config_parse(&config, text, len, listen, &told);
		free(text);
		assert_int_equal(told.n, 0);
		assert_int_equal(config.given, copy.given);
		assert_memory_equal(config.values, copy.values, sizeof(copy.values));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_the_last_line_holds),
		cmocka_unit_test(test_errors_name_their_place),
		cmocka_unit_test(test_errors_change_nothing),
		cmocka_unit_test(test_odd_bytes_are_told_cleanly),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_colors),
		cmocka_unit_test(test_what_is_written_reads_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
