/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_theme.c - the look of every style at every depth.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/controls/theme.h"

#include <math.h>
#include <string.h>

static const struct theme dark = {.kind = THEME_KIND_DARK};

static void colours_fit_their_depth(enum theme_kind kind)
{
	const struct theme theme = {.kind = kind};
	static const int32_t limits[] = {[THEME_MONO] = 0,
		[THEME_8] = 8,
		[THEME_16] = 16,
		[THEME_256] = 256,
		[THEME_RGB] = 0x1000000};

	for (int depth = THEME_MONO; depth <= THEME_RGB; depth++) {
		for (int style = 0; style < STYLE_COUNT; style++) {
			for (int selected = 0; selected < 2; selected++) {
				struct theme_look look = theme_look(&theme, (enum theme_depth)depth,
					(enum style)style, selected != 0);

				assert_in_range(look.fg + 1, 0, limits[depth]);
				assert_in_range(look.bg + 1, 0, limits[depth]);
				if (look.fg != THEME_DEFAULT)
					assert_int_not_equal(look.fg, look.bg);
			}
		}
	}
}

static void test_colours_fit_their_depth(void **state)
{
	(void)state;
	for (int kind = 0; kind < THEME_KINDS; kind++)
		colours_fit_their_depth((enum theme_kind)kind);
}

static double channel(int32_t value)
{
	double c = (value & 0xff) / 255.0;

	return c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double luminance(int32_t rgb)
{
	return 0.2126 * channel(rgb >> 16) + 0.7152 * channel(rgb >> 8) + 0.0722 * channel(rgb);
}

/* Contrast ratio of WCAG 2, from 1 to 21. */
static double contrast(int32_t a, int32_t b)
{
	double x = luminance(a) + 0.05, y = luminance(b) + 0.05;

	return x > y ? x / y : y / x;
}

/* Whether a style is unobtrusive: no text of its own, or text that is elsewhere as well. */
static bool is_dim(enum style style)
{
	return style == STYLE_DIM || style == STYLE_BORDER || style == STYLE_STRIP ||
		style == STYLE_TREND || style == STYLE_UNRESOLVED;
}

static void test_text_can_be_read(void **state)
{
	size_t bad = 0;

	(void)state;
	for (int kind = 0; kind < THEME_KINDS; kind++) {
		const struct theme theme = {.kind = (enum theme_kind)kind};
		int32_t paper_fg, paper_bg;

		theme_paper(theme.kind, &paper_fg, &paper_bg);
		/* Shades of heat are not text: the low ones are close to the paper. */
		for (int style = 0; style < STYLE_HEAT; style++) {
			for (int selected = 0; selected < 2; selected++) {
				struct theme_look look = theme_look(
					&theme, THEME_RGB, (enum style)style, selected != 0);
				int32_t fg = look.fg == THEME_DEFAULT ? paper_fg : look.fg;
				int32_t bg = look.bg == THEME_DEFAULT ? paper_bg : look.bg;
				double least = is_dim((enum style)style) ? 3.0 : 4.5;

				if (contrast(fg, bg) >= least)
					continue;
				bad++;
				print_error("%s: %s%s: %06x on %06x has only %.2f\n",
					theme_names[theme.kind],
					theme_style_name((enum style)style),
					selected ? " selected" : "", (unsigned int)fg,
					(unsigned int)bg, contrast(fg, bg));
			}
		}
	}
	assert_int_equal(bad, 0);
}

/* Linear red, green and blue as seen without cones for red, or for green (Vienot and others,
 * 1999). */
static const double colour_blind[][3][3] = {
	{{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
	{{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
};

static double lab_of(double part)
{
	return part > 0.008856 ? cbrt(part) : 7.787 * part + 16.0 / 116;
}

/* Converts a colour to CIELAB, as that eye sees it. */
static void seen_as(int32_t rgb, const double eye[3][3], double lab[3])
{
	static const double to_xyz[3][3] = {
		{0.4339, 0.3763, 0.1899}, {0.2126, 0.7152, 0.0722}, {0.0177, 0.1095, 0.8728}};
	const double light[] = {channel(rgb >> 16), channel(rgb >> 8), channel(rgb)};
	double seen[3] = {0}, xyz[3] = {0};

	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 3; k++)
			seen[i] += eye[i][k] * light[k];
		seen[i] = fmin(1, fmax(0, seen[i]));
	}
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			xyz[i] += to_xyz[i][k] * seen[k];
	lab[0] = 116 * lab_of(xyz[1]) - 16;
	lab[1] = 500 * (lab_of(xyz[0]) - lab_of(xyz[1]));
	lab[2] = 200 * (lab_of(xyz[1]) - lab_of(xyz[2]));
}

static double difference(int32_t x, int32_t y, const double eye[3][3])
{
	double a[3], b[3];

	seen_as(x, eye, a);
	seen_as(y, eye, b);
	return sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
}

#define DIFFERENT 15.0
#define OPPOSITE 40.0 /* the dark theme's good and bad have 16 */

/* Red and green look alike to many, so nothing depends on the difference of these two alone. */
static void test_the_safe_theme_needs_no_red_and_green(void **state)
{
	static const struct {
		enum style a, b;
		double least;
	} pairs[] = {
		{STYLE_GOOD, STYLE_BAD, OPPOSITE},
		{STYLE_GOOD, STYLE_WARN, OPPOSITE},
		{STYLE_BAR_COOL, STYLE_BAR_HOT, OPPOSITE},
		{STYLE_USER, STYLE_LIBRARY, DIFFERENT},
		{STYLE_USER, STYLE_KERNEL, DIFFERENT},
		{STYLE_LIBRARY, STYLE_KERNEL, DIFFERENT},
		{STYLE_FLAME_USER, STYLE_FLAME_LIBRARY, OPPOSITE},
		{STYLE_FLAME_MORE, STYLE_FLAME_LESS, OPPOSITE},
		{STYLE_FLAME_MORE + 1, STYLE_FLAME_LESS + 1, OPPOSITE},
		{STYLE_FLAME_MORE + 2, STYLE_FLAME_LESS + 2, OPPOSITE},
		{STYLE_FLAME_MORE + 1, STYLE_FLAME_SAME, DIFFERENT},
		{STYLE_FLAME_LESS + 1, STYLE_FLAME_SAME, DIFFERENT},
	};
	const struct theme theme = {.kind = THEME_KIND_SAFE};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		struct theme_look a = theme_look(&theme, THEME_RGB, pairs[i].a, false);
		struct theme_look b = theme_look(&theme, THEME_RGB, pairs[i].b, false);
		int32_t x = a.bg == THEME_DEFAULT ? a.fg : a.bg;
		int32_t y = b.bg == THEME_DEFAULT ? b.fg : b.bg;

		for (int eye = 0; eye < 2; eye++)
			if (difference(x, y, colour_blind[eye]) < pairs[i].least)
				fail_msg("%s and %s are told apart by red and green alone: %.1f",
					theme_style_name(pairs[i].a), theme_style_name(pairs[i].b),
					difference(x, y, colour_blind[eye]));
	}
}

static void test_mono_has_no_colours(void **state)
{
	const struct theme theme = {.kind = THEME_KIND_MONO};

	(void)state;
	for (int depth = THEME_MONO; depth <= THEME_RGB; depth++)
		for (int style = 0; style < STYLE_COUNT; style++)
			for (int selected = 0; selected < 2; selected++) {
				struct theme_look look = theme_look(&theme, (enum theme_depth)depth,
					(enum style)style, selected != 0);

				assert_int_equal(look.fg, THEME_DEFAULT);
				assert_int_equal(look.bg, THEME_DEFAULT);
			}
}

/* The hotter a shade, the greater its contrast with the paper. */
static void test_heat_stands_out(void **state)
{
	(void)state;
	for (int kind = 0; kind < THEME_KINDS; kind++) {
		const struct theme theme = {.kind = (enum theme_kind)kind};
		int32_t paper_fg, paper_bg;
		double last = 1.0;

		theme_paper(theme.kind, &paper_fg, &paper_bg);
		for (int i = 0; i < STYLE_HEAT_SHADES; i++) {
			struct theme_look look =
				theme_look(&theme, THEME_RGB, (enum style)(STYLE_HEAT + i), false);
			double now =
				contrast(look.fg == THEME_DEFAULT ? paper_fg : look.fg, paper_bg);

			if (kind != THEME_KIND_MONO)
				assert_true(now > last);
			last = now;
		}
	}
}

static void test_names(void **state)
{
	int32_t rgb;

	(void)state;
	for (int i = 0; i < STYLE_COUNT; i++) {
		assert_non_null(theme_style_name((enum style)i));
		assert_int_equal(theme_style_of(theme_style_name((enum style)i)), i);
	}
	assert_int_equal(theme_style_of("nothing"), STYLE_COUNT);
	assert_true(theme_color_of("#0aFF10", &rgb));
	assert_int_equal(rgb, 0x0aff10);
	assert_false(theme_color_of("#0aFF1", &rgb));
	assert_false(theme_color_of("#0aFF1g", &rgb));
	assert_true(theme_color_of("bright-blue", &rgb));
	assert_int_equal(theme_nearest_16(0xff1010, 16), 9);
	assert_int_equal(theme_nearest_16(0xd01010, 8), 1);
	assert_int_equal(theme_nearest_256(0x5fd7ff), 81);
	assert_int_equal(theme_nearest_256(0x303030), 236);
}

static void test_what_a_configuration_says(void **state)
{
	struct theme_custom custom = {0};
	const struct theme theme = {.kind = THEME_KIND_LIGHT, .custom = &custom};
	struct theme_look look;

	(void)state;
	custom.given[STYLE_TITLE] = true;
	custom.looks[STYLE_TITLE] = (struct theme_look){0x5fd7ff, THEME_DEFAULT, THEME_UNDERLINE};
	look = theme_look(&theme, THEME_256, STYLE_TITLE, false);
	assert_int_equal(look.fg, 81);
	assert_int_equal(look.bg, THEME_DEFAULT);
	assert_int_equal(look.attrs, THEME_UNDERLINE);
	assert_int_equal(theme_look(&theme, THEME_RGB, STYLE_TITLE, false).fg, 0x5fd7ff);
	assert_int_equal(theme_look(&theme, THEME_MONO, STYLE_TITLE, false).fg, THEME_DEFAULT);
	assert_int_not_equal(theme_look(&theme, THEME_RGB, STYLE_TITLE, true).bg, THEME_DEFAULT);
}

static void check_selected(const struct theme *theme, enum theme_depth depth)
{
	for (int style = 0; style < STYLE_COUNT; style++) {
		struct theme_look plain = theme_look(theme, depth, (enum style)style, false);
		struct theme_look selected = theme_look(theme, depth, (enum style)style, true);

		if (style == STYLE_SELECTED &&
			(depth == THEME_MONO || theme->kind == THEME_KIND_MONO))
			continue;
		if (plain.bg == selected.bg && plain.attrs == selected.attrs)
			fail_msg("%s, depth %d: %s is the same when it is selected",
				theme_names[theme->kind], (int)depth,
				theme_style_name((enum style)style));
		if (selected.fg != THEME_DEFAULT && selected.fg == selected.bg)
			fail_msg("%s, depth %d: %s cannot be seen when it is selected",
				theme_names[theme->kind], (int)depth,
				theme_style_name((enum style)style));
	}
}

static void test_the_selected_row_differs(void **state)
{
	(void)state;
	for (int kind = 0; kind < THEME_KINDS; kind++) {
		const struct theme theme = {.kind = (enum theme_kind)kind};

		for (int depth = THEME_MONO; depth <= THEME_RGB; depth++)
			check_selected(&theme, (enum theme_depth)depth);
	}
}

static void test_mono_tells_what_matters(void **state)
{
	(void)state;
	assert_true(theme_look(&dark, THEME_MONO, STYLE_BAD, false).attrs !=
		theme_look(&dark, THEME_MONO, STYLE_TEXT, false).attrs);
	assert_true(theme_look(&dark, THEME_MONO, STYLE_HEADER_SORTED, false).attrs !=
		theme_look(&dark, THEME_MONO, STYLE_HEADER, false).attrs);
	assert_true(theme_look(&dark, THEME_MONO, STYLE_MATCH, false).attrs !=
		theme_look(&dark, THEME_MONO, STYLE_USER, false).attrs);
	assert_true(theme_look(&dark, THEME_256, STYLE_USER, false).fg !=
		theme_look(&dark, THEME_256, STYLE_KERNEL, false).fg);
	assert_true(theme_look(&dark, THEME_256, STYLE_USER, false).fg !=
		theme_look(&dark, THEME_256, STYLE_LIBRARY, false).fg);
}

/* The box shows the kind of a frame's image, in every theme with colours. */
static void test_boxes(void **state)
{
	static const enum style kinds[] = {STYLE_FLAME_USER, STYLE_FLAME_LIBRARY,
		STYLE_FLAME_KERNEL, STYLE_FLAME_UNRESOLVED, STYLE_FLAME_MATCH};
	size_t n = sizeof(kinds) / sizeof(*kinds);

	(void)state;
	for (int kind = 0; kind < THEME_KINDS; kind++) {
		const struct theme theme = {.kind = (enum theme_kind)kind};

		for (int depth = THEME_8; depth <= THEME_RGB && kind != THEME_KIND_MONO; depth++) {
			enum theme_depth at = (enum theme_depth)depth;

			for (size_t i = 0; i < n; i++) {
				struct theme_look a = theme_look(&theme, at, kinds[i], false);

				assert_int_not_equal(a.bg, THEME_DEFAULT);
				for (size_t k = 0; k < i; k++) {
					struct theme_look b =
						theme_look(&theme, at, kinds[k], false);

					if (a.bg == b.bg && a.attrs == b.attrs)
						fail_msg("%s, depth %d: %s and %s are the same",
							theme_names[kind], depth,
							theme_style_name(kinds[i]),
							theme_style_name(kinds[k]));
				}
			}
		}
	}
}

/* More, less and equal look different in every theme at every depth.  A greater change has a darker
 * colour. */
static void test_changes(void **state)
{
	(void)state;
	for (int kind = 0; kind < THEME_KINDS; kind++) {
		const struct theme theme = {.kind = (enum theme_kind)kind};

		for (int depth = THEME_MONO; depth <= THEME_RGB; depth++) {
			const enum theme_depth at = (enum theme_depth)depth;
			struct theme_look same = theme_look(&theme, at, STYLE_FLAME_SAME, false);

			for (int i = 0; i < STYLE_CHANGE_SHADES; i++) {
				struct theme_look more = theme_look(
					&theme, at, (enum style)(STYLE_FLAME_MORE + i), false);
				struct theme_look less = theme_look(
					&theme, at, (enum style)(STYLE_FLAME_LESS + i), false);

				assert_true(more.bg != less.bg || more.attrs != less.attrs);
				assert_true(more.bg != same.bg || more.attrs != same.attrs);
				assert_true(less.bg != same.bg || less.attrs != same.attrs);
			}
		}
		for (int i = 1; i < STYLE_CHANGE_SHADES && kind != THEME_KIND_MONO; i++) {
			static const enum style kinds[] = {STYLE_FLAME_MORE, STYLE_FLAME_LESS};

			for (int k = 0; k < 2; k++) {
				struct theme_look weak = theme_look(&theme, THEME_RGB,
					(enum style)((int)kinds[k] + i - 1), false);
				struct theme_look strong = theme_look(
					&theme, THEME_RGB, (enum style)((int)kinds[k] + i), false);

				assert_true(luminance(strong.bg) < luminance(weak.bg));
			}
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_colours_fit_their_depth),
		cmocka_unit_test(test_text_can_be_read),
		cmocka_unit_test(test_the_safe_theme_needs_no_red_and_green),
		cmocka_unit_test(test_mono_has_no_colours),
		cmocka_unit_test(test_heat_stands_out),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_what_a_configuration_says),
		cmocka_unit_test(test_the_selected_row_differs),
		cmocka_unit_test(test_mono_tells_what_matters),
		cmocka_unit_test(test_boxes),
		cmocka_unit_test(test_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
