/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_settings.c - precedence of files, remembered settings, and directories that are never
 * written to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/controls/input.h"
#include "tui/screen/settings.h"
#include "tui/session/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char home[64];

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", home, name);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static int make_home(void **state)
{
	char path[256];

	(void)state;
	snprintf(home, sizeof(home), "/tmp/strobe-settings-XXXXXX");
	if (!mkdtemp(home))
		return -1;
	snprintf(path, sizeof(path), "%s/strobe", home);
	if (mkdir(path, 0700))
		return -1;
	setenv("XDG_CONFIG_HOME", home, 1);
	setenv("XDG_STATE_HOME", home, 1);
	return 0;
}

static int remove_home(void **state)
{
	static const char *const names[] = {
		"strobe/config", "strobe/layout", "other", "strobe", ""};
	char path[256];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", home, names[i]);
		remove(path);
	}
	keys_reset();
	return 0;
}

static struct settings *load(struct request *request)
{
	struct settings *settings;

	assert_int_equal(settings_load(&settings, request), 0);
	return settings;
}

static char *told(const struct settings *settings)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	settings_tell(settings, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void test_nothing_there(void **state)
{
	struct request request = {0};
	struct settings *settings = load(&request);
	char *text = told(settings);

	(void)state;
	assert_string_equal(text, "");
	assert_int_equal(settings_theme(settings).kind, THEME_KIND_DARK);
	assert_false(request.ascii);
	free(text);
	settings_free(settings);
}

static void test_command_line_then_file_then_layout(void **state)
{
	struct request request = {.given = 1u << CONFIG_SORT};
	struct settings *settings;
	struct model *model = calloc(1, sizeof(*model));

	(void)state;
	assert_non_null(model);
	put("strobe/config", "set sort total\nset syntax intel\nset ascii on\nset hide-idle on\n");
	put("strobe/layout",
		"set syntax att\nset window 3\nset theme light\nset group cpu\nset rows line\n");
	settings = load(&request);
	assert_false(request.sort_total);
	assert_true(request.intel_syntax);
	assert_true(request.ascii);
	assert_int_equal(settings_theme(settings).kind, THEME_KIND_LIGHT);
	settings_free(settings);
	request = (struct request){
		.given = 1u << CONFIG_SORT | 1u << CONFIG_THEME, .theme = THEME_KIND_MONO};
	settings = load(&request);
	assert_int_equal(settings_theme(settings).kind, THEME_KIND_MONO);
	settings_apply(settings, model);
	assert_int_equal(model->window.length_ns, 3000000000u);
	assert_true(model->hide_idle);
	assert_int_equal(model->group_by, GROUP_CPU + 1);
	assert_true(model->grouped);
	assert_int_equal(model->rows_by.group, GROUP_LINE);
	settings_free(settings);
	free(model);
}

static void test_errors_are_told_and_the_rest_holds(void **state)
{
	struct request request = {0};
	struct settings *settings;
	char *text;

	(void)state;
	put("strobe/config", "set mouse off\nset theme pink\nkey hot-symbols M annotate\n");
	settings = load(&request);
	text = told(settings);
	assert_non_null(strstr(text, "/strobe/config: line 2, column 11: expected one of dark"));
	assert_true(request.no_mouse);
	assert_int_equal(keys_find(KEYS_HOT, 'M'), ACT_ANNOTATE);
	free(text);
	settings_free(settings);
}

static void test_another_file_and_none(void **state)
{
	char path[128];
	struct request request = {.config = path}, none = {.no_config = true};
	struct settings *settings;
	char *text;

	(void)state;
	put("strobe/config", "set ascii on\n");
	put("other", "set mouse off\n");
	snprintf(path, sizeof(path), "%s/other", home);
	settings = load(&request);
	assert_true(request.no_mouse);
	assert_false(request.ascii);
	settings_free(settings);
	request.config = "/dev/null/nothing";
	settings = load(&request);
	text = told(settings);
	assert_non_null(strstr(text, "cannot be read"));
	free(text);
	settings_free(settings);
	settings = load(&none);
	assert_false(none.ascii);
	settings_free(settings);
}

static void test_the_layout_comes_back(void **state)
{
	struct request request = {0}, again = {0};
	struct settings *settings = load(&request);
	struct model *model = calloc(1, sizeof(*model)), *next = calloc(1, sizeof(*next));

	(void)state;
	assert_non_null(model);
	assert_non_null(next);
	model->sort_total = true;
	model->calls_shape = 2;
	model->group_by = GROUP_THREAD + 1;
	model->grouped = true;
	model->rows_by.group = GROUP_IMAGE;
	model->code_mode = ANNOTATE_SOURCE;
	model->code_syntax = DISASM_INTEL;
	model->window.length_ns = 5500000000u;
	assert_int_equal(settings_remember(settings, model, THEME_KIND_SAFE), 0);
	settings_free(settings);
	settings = load(&again);
	settings_apply(settings, next);
	assert_int_equal(settings_theme(settings).kind, THEME_KIND_SAFE);
	assert_true(again.sort_total);
	assert_true(again.intel_syntax);
	assert_int_equal(again.annotate_mode, ANNOTATE_SOURCE);
	assert_int_equal(next->calls_shape, 2);
	assert_int_equal(next->group_by, GROUP_THREAD + 1);
	assert_true(next->grouped && next->rows_by.group == GROUP_IMAGE);
	assert_int_equal(next->window.length_ns, 5500000000u);
	settings_free(settings);
	free(model);
	free(next);
}

static void test_a_broken_layout_is_ignored(void **state)
{
	struct request request = {0};
	struct settings *settings;
	struct logbook *log = calloc(1, sizeof(*log));
	char *text;

	(void)state;
	assert_non_null(log);
	put("strobe/layout", "set sort total\nset wind");
	settings = load(&request);
	text = told(settings);
	assert_string_equal(text, "");
	settings_log(settings, log, 1);
	assert_int_equal(logbook_count(log), 1);
	assert_non_null(strstr(logbook_get(log, 0)->text, "is ignored"));
	logbook_fini(log);
	free(log);
	free(text);
	settings_free(settings);
}

/* If strobe runs as root, HOME may belong to another user. */
static void test_nothing_is_written_where_others_live(void **state)
{
	struct request request = {0};
	struct settings *settings;
	struct model *model;
	char path[256];

	(void)state;
	if (geteuid()) {
		print_message("only root can give a directory away\n");
		skip();
	}
	model = calloc(1, sizeof(*model));
	assert_non_null(model);
	assert_int_equal(chown(home, 65534, 65534), 0);
	settings = load(&request);
	assert_int_equal(settings_remember(settings, model, THEME_KIND_DARK), -EPERM);
	settings_free(settings);
	snprintf(path, sizeof(path), "%s/strobe/layout", home);
	assert_int_equal(access(path, F_OK), -1);
	free(model);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_there, make_home, remove_home),
		cmocka_unit_test_setup_teardown(
			test_command_line_then_file_then_layout, make_home, remove_home),
		cmocka_unit_test_setup_teardown(
			test_errors_are_told_and_the_rest_holds, make_home, remove_home),
		cmocka_unit_test_setup_teardown(test_another_file_and_none, make_home, remove_home),
		cmocka_unit_test_setup_teardown(test_the_layout_comes_back, make_home, remove_home),
		cmocka_unit_test_setup_teardown(
			test_a_broken_layout_is_ignored, make_home, remove_home),
		cmocka_unit_test_setup_teardown(
			test_nothing_is_written_where_others_live, make_home, remove_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
