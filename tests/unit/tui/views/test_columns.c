/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_columns.c - the columns of the hot table at each width.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/views/columns.h"

static int end_of(const struct column *column)
{
	return column->width ? column->x + column->width : 0;
}

static void test_nothing_overlaps_or_leaves_the_screen(void **state)
{
	(void)state;
	for (int width = 16; width < 400; width++) {
		struct columns c;
		const struct column *order[] = {
			&c.bar, &c.self, &c.total, &c.samples, &c.trend, &c.symbol, &c.image};
		int last = 0;

		columns_layout(&c, width);
		for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
			if (!order[i]->width)
				continue;
			assert_true(order[i]->x > last || last == 0);
			last = end_of(order[i]);
		}
		assert_true(last <= width);
	}
}

static void test_symbol_goes_first(void **state)
{
	struct columns c;

	(void)state;
	columns_layout(&c, 80);
	assert_true(c.symbol.width >= 30);
	assert_true(c.trend.width && c.bar.width && c.image.width);
	for (int width = 58; width < 400; width++) {
		columns_layout(&c, width);
		assert_true(c.symbol.width >= 30);
		/* The order in which columns disappear. */
		assert_false(c.samples.width && !c.trend.width);
		assert_false(c.trend.width && !c.bar.width);
	}
	columns_layout(&c, 20);
	assert_true(c.self.width && c.symbol.width >= 8);
	assert_false(c.total.width || c.image.width);
}

static void test_events_side_by_side(void **state)
{
	static const int wants[] = {9, 11, 20, 3, 9, 9, 9, 9};
	struct columns c;

	(void)state;
	columns_layout_events(&c, 120, wants, 3);
	assert_int_equal(c.n_events, 3);
	assert_int_equal(c.events[2].width, 14);
	assert_false(c.self.width || c.trend.width);
	columns_layout_events(&c, 80, wants, 8);
	assert_in_range(c.n_events, 1, 4);
	assert_true(c.symbol.width >= 30);
	assert_true(end_of(&c.image) <= 80);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_overlaps_or_leaves_the_screen),
		cmocka_unit_test(test_symbol_goes_first),
		cmocka_unit_test(test_events_side_by_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
