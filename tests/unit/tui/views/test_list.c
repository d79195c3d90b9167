/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_list.c - cursor and scroll position of lists.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/terminal/canvas.h"
#include "tui/views/list.h"

#include <stdlib.h>

static struct list list_of(size_t n, int height)
{
	struct list list = {0};

	list_set_height(&list, height);
	list_set_count(&list, n);
	return list;
}

static void test_cursor_stays_in_the_list(void **state)
{
	struct list list = list_of(5, 3);

	(void)state;
	assert_true(list_action(&list, ACT_UP));
	assert_int_equal(list.cursor, 0);
	assert_true(list_action(&list, ACT_LAST));
	assert_int_equal(list.cursor, 4);
	assert_int_equal(list.top, 2);
	assert_true(list_action(&list, ACT_DOWN));
	assert_int_equal(list.cursor, 4);
	assert_true(list_action(&list, ACT_FIRST));
	assert_int_equal(list.cursor, 0);
	assert_int_equal(list.top, 0);
	assert_false(list_action(&list, ACT_OPEN));
}

static void test_pages_keep_a_row(void **state)
{
	struct list list = list_of(100, 10);

	(void)state;
	list_action(&list, ACT_PAGE_DOWN);
	assert_int_equal(list.cursor, 9);
	assert_int_equal(list.top, 0);
	list_action(&list, ACT_PAGE_DOWN);
	assert_int_equal(list.cursor, 18);
	assert_int_equal(list.top, 9);
	list_action(&list, ACT_HALF_UP);
	assert_int_equal(list.cursor, 13);
}

static void test_shrinking_list(void **state)
{
	struct list list = list_of(100, 10);

	(void)state;
	list_action(&list, ACT_LAST);
	list_set_count(&list, 4);
	assert_int_equal(list.cursor, 3);
	assert_int_equal(list.top, 0);
	list_set_count(&list, 0);
	assert_int_equal(list.cursor, 0);
	list_action(&list, ACT_DOWN);
	assert_int_equal(list.cursor, 0);
}

static void test_smaller_and_larger_screen(void **state)
{
	struct list list = list_of(100, 10);

	(void)state;
	list_set_cursor(&list, 9);
	list_set_height(&list, 3);
	assert_int_equal(list.top, 7);
	list_action(&list, ACT_LAST);
	list_set_height(&list, 200);
	assert_int_equal(list.top, 0);
	list_set_height(&list, -1);
	assert_int_equal(list.cursor, 99);
}

static void test_scrolling_stops_at_the_end(void **state)
{
	struct list list = list_of(12, 10);

	(void)state;
	assert_true(list_scroll(&list, ACT_DOWN));
	assert_int_equal(list.top, 1);
	list_scroll(&list, ACT_PAGE_DOWN);
	assert_int_equal(list.top, 2);
	list_scroll(&list, ACT_FIRST);
	assert_int_equal(list.top, 0);
	assert_false(list_scroll(&list, ACT_OPEN));
}

static void test_a_row_that_is_gone(void **state)
{
	struct list list = list_of(10, 5);

	(void)state;
	list_set_cursor(&list, 4);
	list_stick(&list, 7);
	assert_int_equal(list.cursor, 7);
	assert_false(list.lost);
	list_stick(&list, -1);
	assert_int_equal(list.cursor, 7);
	assert_true(list.lost);
	list_action(&list, ACT_DOWN);
	assert_int_equal(list.cursor, 8);
	assert_false(list.lost);
}

static void draw_number(void *ctx, size_t row, int y)
{
	canvas_printf(ctx, 0, y, 4, STYLE_TEXT, "%zu", row);
}

static void test_rows_in_sight_are_drawn(void **state)
{
	struct list list = list_of(10, 3);
	struct canvas canvas;
	char *dump;

	(void)state;
	assert_int_equal(canvas_init(&canvas, 4, 5, 0), 0);
	list_set_cursor(&list, 8);
	list_draw(&list, &canvas, (struct area){0, 1, 4, 3}, draw_number, &canvas);
	dump = canvas_dump(&canvas);
	assert_string_equal(dump, "\n6\n7\n8\n\n");
	assert_int_equal(canvas.cells[3 * 4].selected, 1);
	assert_int_equal(canvas.cells[2 * 4].selected, 0);
	free(dump);
	canvas_clear(&canvas);
	list_stick(&list, -1);
	list_draw(&list, &canvas, (struct area){0, 1, 4, 3}, draw_number, &canvas);
	assert_int_equal(canvas.cells[3 * 4].selected, 0);
	canvas_fini(&canvas);
}

static void test_clicks(void **state)
{
	struct list list = list_of(10, 3);
	struct canvas canvas;

	(void)state;
	assert_int_equal(canvas_init(&canvas, 4, 9, 0), 0);
	list_set_cursor(&list, 9);
	list_draw(&list, &canvas, (struct area){0, 4, 4, 3}, draw_number, &canvas);
	assert_false(list_click(&list, 3));
	assert_false(list_click(&list, 7));
	assert_int_equal(list.cursor, 9);
	assert_true(list_click(&list, 4));
	assert_int_equal(list.cursor, 7);
	list_set_count(&list, 2);
	assert_false(list_click(&list, 6));
	assert_true(list_click(&list, 5));
	assert_int_equal(list.cursor, 1);
	canvas_fini(&canvas);
}

static void test_far_rows_come_into_the_middle(void **state)
{
	struct list list = list_of(100, 10);

	(void)state;
	list_go_to(&list, 9);
	assert_int_equal(list.top, 0);
	list_go_to(&list, 50);
	assert_int_equal(list.cursor, 50);
	assert_int_equal(list.top, 45);
	list_go_to(&list, 54);
	assert_int_equal(list.top, 45);
	list_go_to(&list, 99);
	assert_int_equal(list.top, 90);
	list_go_to(&list, 1);
	assert_int_equal(list.top, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cursor_stays_in_the_list),
		cmocka_unit_test(test_pages_keep_a_row),
		cmocka_unit_test(test_shrinking_list),
		cmocka_unit_test(test_smaller_and_larger_screen),
		cmocka_unit_test(test_scrolling_stops_at_the_end),
		cmocka_unit_test(test_a_row_that_is_gone),
		cmocka_unit_test(test_rows_in_sight_are_drawn),
		cmocka_unit_test(test_clicks),
		cmocka_unit_test(test_far_rows_come_into_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
