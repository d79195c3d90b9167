/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_keep.c - files that the screen writes, themes, and keys that a configuration changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/screens/fixture.h"
#include "tests/unit/scratch.h"
#include "tui/screen/settings.h"
#include "tui/session/export_format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void type_path(struct fixture *fixture, const char *key, const char *name)
{
	char path[128];

	keys(fixture, key);
	press(fixture, INPUT_CTRL('U'));
	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	keys(fixture, path);
	screen_draw(&fixture->screen); /* shows the prompt */
	press(fixture, INPUT_ENTER);
}

static char *read_back(const char *name)
{
	char path[128], *text;
	size_t len;

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	assert_int_equal(settings_read(path, 1u << 20, &text, &len), 0);
	unlink(path);
	return text;
}

static void test_the_screen_as_text(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	char *before, *text;

	(void)state;
	screen_draw(&fixture->screen);
	before = canvas_dump(&fixture->screen.canvas);
	assert_non_null(before);
	type_path(fixture, "w", "s.txt");
	text = read_back("s.txt");
	assert_string_equal(text, before);
	assert_non_null(strstr(fixture->screen.message, "was written to"));
	free(before);
	free(text);
	finish(fixture);
}

static void test_the_screen_as_pictures(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	char *text;

	(void)state;
	type_path(fixture, "w", "s.svg");
	text = read_back("s.svg");
	assert_int_equal(strncmp(text, "<svg ", 5), 0);
	assert_non_null(strstr(text, "#181a1f"));
	free(text);
	/* The next theme is the light one. */
	assert_int_equal(press(fixture, 'Y'), SCREEN_THEME);
	type_path(fixture, "w", "s.html");
	text = read_back("s.html");
	assert_non_null(strstr(text, "#ffffff"));
	free(text);
	finish(fixture);
}

static void test_what_cannot_be_written_is_told(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	type_path(fixture, "w", "none/s.txt");
	assert_non_null(strstr(fixture->screen.message, "cannot be written"));
	assert_int_equal(fixture->screen.message_style, STYLE_BAD);
	finish(fixture);
}

static void test_exports(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	char want[128];

	(void)state;
	type_path(fixture, "x", "e.folded");
	snprintf(want, sizeof(want), "export %d %s/e.folded\n", EXPORT_FOLDED, scratch);
	assert_string_equal(fixture->fake.commands, want);
	keys(fixture, "<Tick>");
	assert_string_equal(fixture->screen.message, "Exporting: 42% (Esc stops it)");
	fixture->fake.commands[0] = '\0';
	keys(fixture, "<Esc>");
	assert_string_equal(fixture->fake.commands, "export-stop 0\n");
	assert_false(fixture->fake.model.exporting);
	keys(fixture, "<Tick>");
	assert_false(fixture->screen.exporting);
	fixture->fake.commands[0] = '\0';
	type_path(fixture, "x", "e.doc");
	assert_string_equal(fixture->fake.commands, "");
	assert_non_null(strstr(fixture->screen.message, "tells no format"));
	fixture->fake.refuse = EACCES;
	type_path(fixture, "x", "e.svg");
	assert_int_equal(fixture->screen.message_style, STYLE_BAD);
	finish(fixture);
}

static void test_themes_go_round(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	for (int i = 1; i <= THEME_KINDS; i++) {
		assert_int_equal(press(fixture, 'Y'), SCREEN_THEME);
		assert_int_equal(fixture->screen.theme.kind, i % THEME_KINDS);
	}
	finish(fixture);
}

/* Hint line and help show the configured keys. */
static void test_bound_keys_are_shown(void **state)
{
	(void)state;
	assert_int_equal(keys_bind(KEYS_HOT, 'A', ACT_ANNOTATE), 0);
	assert_int_equal(keys_bind(KEYS_ALL, 'H', ACT_HELP), 0);
	expect("", 120, 24, true, "bound-keys");
	expect("H", 100, 40, true, "bound-keys-help");
	keys_reset();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_screen_as_text),
		cmocka_unit_test(test_the_screen_as_pictures),
		cmocka_unit_test(test_what_cannot_be_written_is_told),
		cmocka_unit_test(test_exports),
		cmocka_unit_test(test_themes_go_round),
		cmocka_unit_test(test_bound_keys_are_shown),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
