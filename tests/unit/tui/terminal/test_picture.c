/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_picture.c - a canvas as text, HTML and SVG, and the form that a file's name selects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/export/name.h"
#include "tui/session/export_format.h"
#include "tui/terminal/picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *picture(enum picture_form form, enum theme_kind kind)
{
	const struct theme theme = {.kind = kind};
	struct canvas canvas;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(canvas_init(&canvas, 20, 2, 0), 0);
	canvas_text(&canvas, 1, 0, 19, STYLE_BAD, "a<b>&c");
	canvas_text(&canvas, 1, 1, 19, STYLE_TEXT, "█ 漢");
	canvas_select_row(&canvas, 1);
	assert_int_equal(picture_write(out, &canvas, &theme, form), 0);
	assert_int_equal(fclose(out), 0);
	canvas_fini(&canvas);
	return text;
}

static void test_text(void **state)
{
	char *text = picture(PICTURE_TEXT, THEME_KIND_DARK);

	(void)state;
	assert_string_equal(text, " a<b>&c\n █ 漢\n");
	free(text);
}

static void test_html(void **state)
{
	char *text = picture(PICTURE_HTML, THEME_KIND_DARK);

	(void)state;
	assert_non_null(strstr(text, "color:#ff5f5f;"));
	assert_non_null(strstr(text, ">a&lt;b&gt;&amp;c</span>"));
	assert_non_null(strstr(text, "█ 漢"));
	assert_non_null(strstr(text, "font-weight:bold"));
	free(text);
	text = picture(PICTURE_HTML, THEME_KIND_LIGHT);
	assert_non_null(strstr(text, "background:#ffffff"));
	free(text);
}

static void test_svg(void **state)
{
	char *text = picture(PICTURE_SVG, THEME_KIND_DARK);

	(void)state;
	/* Six columns of 8.4 each, from the second one on.  Blanks at the ends are not drawn, but
	 * the background of the selected row is. */
	assert_non_null(strstr(text, "<text x=\"16.4\" y=\"21\" textLength=\"50.4\""));
	assert_non_null(strstr(text, ">a&lt;b&gt;&amp;c</text>"));
	assert_non_null(strstr(text, "<rect x=\"8.0\" y=\"25\" width=\"168.0\""));
	/* Runs of blanks are left out, since viewers would collapse them into one. */
	assert_null(strstr(text, "  </text>"));
	assert_non_null(strstr(text, "</svg>\n"));
	free(text);
}

static void test_form_of_a_name(void **state)
{
	(void)state;
	assert_int_equal(picture_form_of("a.svg"), PICTURE_SVG);
	assert_int_equal(picture_form_of("a.HTML"), PICTURE_HTML);
	assert_int_equal(picture_form_of("a.txt"), PICTURE_TEXT);
	assert_int_equal(picture_form_of("svg"), PICTURE_TEXT);
}

static void expect_format(const char *text, enum export_format want, const char *want_path)
{
	enum export_format format;
	const char *path;
	char sentence[400];

	assert_int_equal(export_name_parse(text, &format, &path, sentence, sizeof(sentence)), 0);
	assert_int_equal(format, want);
	assert_string_equal(path, want_path);
}

static void test_format_of_an_export(void **state)
{
	enum export_format format;
	const char *path;
	char sentence[400];

	(void)state;
	expect_format("/tmp/x.folded", EXPORT_FOLDED, "/tmp/x.folded");
	expect_format("x.speedscope.json", EXPORT_SPEEDSCOPE, "x.speedscope.json");
	expect_format("x.gecko.json", EXPORT_GECKO, "x.gecko.json");
	expect_format("x.json", EXPORT_SPEEDSCOPE, "x.json");
	expect_format("x.pb.gz", EXPORT_PPROF, "x.pb.gz");
	expect_format("dir/callgrind.out.7", EXPORT_CALLGRIND, "dir/callgrind.out.7");
	expect_format("x.svg", EXPORT_SVG, "x.svg");
	expect_format("gecko  my file", EXPORT_GECKO, "my file");
	expect_format("folded x.svg", EXPORT_FOLDED, "x.svg");
	expect_format("my file.svg", EXPORT_SVG, "my file.svg");
	assert_int_equal(
		export_name_parse("x.doc", &format, &path, sentence, sizeof(sentence)), -EINVAL);
	assert_non_null(strstr(sentence, "'x.doc' tells no format"));
	assert_int_equal(
		export_name_parse("folded ", &format, &path, sentence, sizeof(sentence)), -EINVAL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_html),
		cmocka_unit_test(test_svg),
		cmocka_unit_test(test_form_of_a_name),
		cmocka_unit_test(test_format_of_an_export),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
