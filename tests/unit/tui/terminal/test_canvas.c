/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_canvas.c - clipping, cutting, wide characters, bars, sparklines, ASCII and the dump.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/base/width.h"
#include "tui/terminal/canvas.h"

#include <stdlib.h>
#include <string.h>

static void expect(const struct canvas *canvas, const char *text)
{
	char *dump = canvas_dump(canvas);

	assert_non_null(dump);
	assert_string_equal(dump, text);
	free(dump);
}

static void test_text_is_clipped(void **state)
{
	struct canvas canvas;

	(void)state;
	assert_int_equal(canvas_init(&canvas, 6, 2, 0), 0);
	assert_int_equal(canvas_text(&canvas, 0, 0, 10, STYLE_TEXT, "abcdefgh"), 8);
	assert_int_equal(canvas_text(&canvas, -2, 1, 10, STYLE_TEXT, "abcd"), 4);
	canvas_text(&canvas, 0, 7, 10, STYLE_TEXT, "below");
	canvas_text(&canvas, 0, -1, 10, STYLE_TEXT, "above");
	assert_int_equal(canvas_text(&canvas, 3, 1, 0, STYLE_TEXT, "none"), 0);
	expect(&canvas, "abcdef\ncd\n");
	canvas_fini(&canvas);
}

static void test_cut_text_ends_in_an_ellipsis(void **state)
{
	struct canvas canvas;

	(void)state;
	assert_int_equal(canvas_init(&canvas, 10, 2, 0), 0);
	assert_int_equal(canvas_text(&canvas, 0, 0, 5, STYLE_TEXT, "abcdef"), 5);
	assert_int_equal(canvas_text(&canvas, 0, 1, 5, STYLE_TEXT, "abcde"), 5);
	expect(&canvas, "abcd…\nabcde\n");
	canvas_fini(&canvas);
}

static void test_wide_characters_take_two_columns(void **state)
{
	struct canvas canvas;

	(void)state;
	assert_int_equal(width_of("日本"), 4);
	assert_int_equal(width_of("e\xcc\x81x"), 2);
	assert_int_equal(canvas_init(&canvas, 6, 3, 0), 0);
	assert_int_equal(canvas_text(&canvas, 0, 0, 6, STYLE_TEXT, "日x"), 3);
	assert_int_equal(canvas.cells[1].glyph, 0);
	/* Overwriting half of a wide character clears the other half. */
	canvas_glyph(&canvas, 1, 0, '!', STYLE_TEXT);
	assert_int_equal(canvas.cells[0].glyph, ' ');
	/* A wide character is never cut in half, at the edge or before an ellipsis. */
	assert_int_equal(canvas_text(&canvas, 5, 1, 6, STYLE_TEXT, "日"), 2);
	assert_int_equal(canvas_text(&canvas, 0, 2, 4, STYLE_TEXT, "日本語"), 3);
	expect(&canvas, " !x\n\n日…\n");
	canvas_fini(&canvas);
}

static void test_fit_wraps_at_blanks(void **state)
{
	(void)state;
	assert_int_equal(width_fit("one two three", 8), 8);
	assert_int_equal(width_fit("one two three", 9), 8);
	assert_int_equal(width_fit("one two three", 40), 13);
	assert_int_equal(width_fit("unbreakable", 4), 4);
	assert_int_equal(width_fit("日本語", 5), 6);
	assert_int_equal(width_fit("日本語", 1), 3);
	assert_int_equal(width_fit("x", 0), 1);
	assert_int_equal(width_fit("", 5), 0);
}

static void test_prefix_holds_whole_characters(void **state)
{
	(void)state;
	assert_int_equal(width_prefix("one two", 5), 5);
	assert_int_equal(width_prefix("one", 5), 3);
	assert_int_equal(width_prefix("日本語", 5), 6);
	assert_int_equal(width_prefix("日本語", 1), 0);
	/* A combining character stays with its letter. */
	assert_int_equal(width_prefix("e\xcc\x81x", 1), 3);
	assert_int_equal(width_prefix("x", 0), 0);
	assert_int_equal(width_prefix("x", -3), 0);
}

static void test_bad_utf8_and_controls_never_come_through(void **state)
{
	struct canvas canvas;

	(void)state;
	assert_int_equal(canvas_init(&canvas, 8, 1, 0), 0);
	canvas_text(&canvas, 0, 0, 8, STYLE_TEXT, "a\033[\xff\xe6\x97");
	for (int i = 0; i < 8; i++)
		assert_true(canvas.cells[i].glyph >= ' ');
	assert_int_equal(canvas.cells[3].glyph, 0xfffd);
	/* U+009B, the C1 control character CSI */
	canvas_text(&canvas, 0, 0, 8, STYLE_TEXT, "\xc2\x9b");
	assert_int_equal(canvas.cells[0].glyph, '?');
	canvas_glyph(&canvas, 1, 0, 0x9b, STYLE_TEXT);
	assert_int_equal(canvas.cells[1].glyph, '?');
	canvas_fini(&canvas);
}

static void test_bars_are_in_eighths(void **state)
{
	struct canvas canvas;

	(void)state;
	assert_int_equal(canvas_init(&canvas, 4, 6, 0), 0);
	canvas_bar(&canvas, 0, 0, 4, 1.0, STYLE_BAR_HOT);
	canvas_bar(&canvas, 0, 1, 4, 0.5, STYLE_BAR_HOT);
	canvas_bar(&canvas, 0, 2, 4, 1.0 / 32, STYLE_BAR_HOT);
	canvas_bar(&canvas, 0, 3, 4, 15.0 / 32, STYLE_BAR_HOT);
	canvas_bar(&canvas, 0, 4, 4, -3.0, STYLE_BAR_HOT);
	canvas_bar(&canvas, 0, 5, 4, 7.0, STYLE_BAR_HOT);
	expect(&canvas, "████\n██\n▏\n█▉\n\n████\n");
	canvas_fini(&canvas);
}

static void test_sparkline_levels(void **state)
{
	static const uint64_t values[] = {0, 1, 2, 4, 6, 8, 9};
	struct canvas canvas;

	(void)state;
	assert_int_equal(canvas_init(&canvas, 7, 2, 0), 0);
	canvas_spark(&canvas, 0, 0, 7, values, 8, STYLE_TREND);
	canvas_spark(&canvas, 0, 1, 7, values, 0, STYLE_TREND);
	expect(&canvas, " ▁▂▄▆██\n\n");
	canvas_fini(&canvas);
}

static void test_ascii_canvas_holds_only_ascii(void **state)
{
	static const uint64_t values[] = {1, 4, 8};
	struct canvas canvas;

	(void)state;
	assert_int_equal(canvas_init(&canvas, 12, 4, 1), 0);
	canvas_bar(&canvas, 0, 0, 4, 0.6, STYLE_BAR_HOT);
	canvas_spark(&canvas, 6, 0, 3, values, 8, STYLE_TREND);
	canvas_text(&canvas, 0, 1, 12, STYLE_TEXT, "‹1 x› · 日é");
	canvas_text(&canvas, 0, 2, 4, STYLE_TEXT, "abcdef");
	canvas_glyph(&canvas, 0, 3, 0x1f600, STYLE_TEXT);
	for (int i = 0; i < 48; i++)
		assert_in_range(canvas.cells[i].glyph, ' ', '~');
	expect(&canvas, "##-   _=#\n<1 x> . ? ?\nabc~\n?\n");
	canvas_fini(&canvas);
}

static void test_selection_and_style(void **state)
{
	struct canvas canvas;

	(void)state;
	assert_int_equal(canvas_init(&canvas, 3, 2, 0), 0);
	canvas_text(&canvas, 0, 1, 3, STYLE_KERNEL, "abc");
	canvas_select_row(&canvas, 1);
	canvas_select_row(&canvas, 9);
	canvas_restyle(&canvas, 1, 1, 9, STYLE_MATCH);
	assert_int_equal(canvas.cells[0].selected, 0);
	assert_int_equal(canvas.cells[3].selected, 1);
	assert_int_equal(canvas.cells[3].style, STYLE_KERNEL);
	assert_int_equal(canvas.cells[5].style, STYLE_MATCH);
	canvas_clear(&canvas);
	assert_int_equal(canvas.cells[3].selected, 0);
	canvas_fini(&canvas);
}

static void test_resize_clears(void **state)
{
	struct canvas canvas;

	(void)state;
	assert_int_equal(canvas_init(&canvas, 3, 1, 0), 0);
	canvas_text(&canvas, 0, 0, 3, STYLE_TEXT, "abc");
	assert_int_equal(canvas_resize(&canvas, 5, 2), 0);
	expect(&canvas, "\n\n");
	assert_int_equal(canvas_resize(&canvas, -1, 0), 0);
	assert_int_equal(canvas.width, 1);
	canvas_fini(&canvas);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_is_clipped),
		cmocka_unit_test(test_cut_text_ends_in_an_ellipsis),
		cmocka_unit_test(test_wide_characters_take_two_columns),
		cmocka_unit_test(test_fit_wraps_at_blanks),
		cmocka_unit_test(test_prefix_holds_whole_characters),
		cmocka_unit_test(test_bad_utf8_and_controls_never_come_through),
		cmocka_unit_test(test_bars_are_in_eighths),
		cmocka_unit_test(test_sparkline_levels),
		cmocka_unit_test(test_ascii_canvas_holds_only_ascii),
		cmocka_unit_test(test_selection_and_style),
		cmocka_unit_test(test_resize_clears),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
