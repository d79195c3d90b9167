/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_theme.c - the looks of all styles at all depths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/theme.h"

static void test_colours_fit_their_depth(void **state)
{
	static const int32_t limits[] = {[THEME_MONO] = 0,
		[THEME_8] = 8,
		[THEME_16] = 16,
		[THEME_256] = 256,
		[THEME_RGB] = 0x1000000};

	(void)state;
	for (int depth = THEME_MONO; depth <= THEME_RGB; depth++) {
		for (int style = 0; style < STYLE_COUNT; style++) {
			for (int selected = 0; selected < 2; selected++) {
				struct theme_look look = theme_look(
					(enum theme_depth)depth, (enum style)style, selected != 0);

				assert_in_range(look.fg + 1, 0, limits[depth]);
				assert_in_range(look.bg + 1, 0, limits[depth]);
				if (look.fg != THEME_DEFAULT)
					assert_int_not_equal(look.fg, look.bg);
			}
		}
	}
}

static void test_the_selected_row_differs(void **state)
{
	(void)state;
	for (int depth = THEME_MONO; depth <= THEME_RGB; depth++) {
		for (int style = 0; style < STYLE_COUNT; style++) {
			struct theme_look plain =
				theme_look((enum theme_depth)depth, (enum style)style, false);
			struct theme_look selected =
				theme_look((enum theme_depth)depth, (enum style)style, true);

			if (style == STYLE_SELECTED && depth == THEME_MONO)
				continue;
			assert_true(plain.bg != selected.bg || plain.attrs != selected.attrs);
		}
	}
}

static void test_mono_tells_what_matters(void **state)
{
	(void)state;
	assert_true(theme_look(THEME_MONO, STYLE_BAD, false).attrs !=
		theme_look(THEME_MONO, STYLE_TEXT, false).attrs);
	assert_true(theme_look(THEME_MONO, STYLE_HEADER_SORTED, false).attrs !=
		theme_look(THEME_MONO, STYLE_HEADER, false).attrs);
	assert_true(theme_look(THEME_MONO, STYLE_MATCH, false).attrs !=
		theme_look(THEME_MONO, STYLE_USER, false).attrs);
	assert_true(theme_look(THEME_256, STYLE_USER, false).fg !=
		theme_look(THEME_256, STYLE_KERNEL, false).fg);
	assert_true(theme_look(THEME_256, STYLE_USER, false).fg !=
		theme_look(THEME_256, STYLE_LIBRARY, false).fg);
}

/* What kind of image a frame is of can be told from its box, wherever there are colours. */
static void test_boxes(void **state)
{
	static const enum style kinds[] = {STYLE_FLAME_USER, STYLE_FLAME_LIBRARY,
		STYLE_FLAME_KERNEL, STYLE_FLAME_UNRESOLVED, STYLE_FLAME_MATCH};
	size_t n = sizeof(kinds) / sizeof(*kinds);

	(void)state;
	for (int depth = THEME_8; depth <= THEME_RGB; depth++) {
		for (size_t i = 0; i < n; i++) {
			struct theme_look look =
				theme_look((enum theme_depth)depth, kinds[i], false);

			assert_int_not_equal(look.bg, THEME_DEFAULT);
			for (size_t k = 0; k < i; k++)
				assert_int_not_equal(look.bg,
					theme_look((enum theme_depth)depth, kinds[k], false).bg);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_colours_fit_their_depth),
		cmocka_unit_test(test_the_selected_row_differs),
		cmocka_unit_test(test_mono_tells_what_matters),
		cmocka_unit_test(test_boxes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
