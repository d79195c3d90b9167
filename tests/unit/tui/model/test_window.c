/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_window.c - windows slide, scale and return to live; the busiest stretch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/model/window.h"

#define SECOND 1000000000ull

/* A history of 100 seconds, the newest 20 shown. */
static struct window_view newest(void)
{
	return (struct window_view){
		.first_ns = 1000 * SECOND,
		.last_ns = 1100 * SECOND,
		.from_ns = 1080 * SECOND,
		.to_ns = 1100 * SECOND,
	};
}

static void show(struct window_view *view, const struct window *window)
{
	view->from_ns = window->from_ns;
	view->to_ns = window->to_ns;
}

static void test_slides(void **state)
{
	struct window window = {0};
	struct window_view view = newest();

	(void)state;
	window_slide(&window, &view, 1);
	assert_false(window.selected);
	window_slide(&window, &view, -1);
	assert_true(window.selected);
	assert_true(window.from_ns == 1070 * SECOND && window.to_ns == 1090 * SECOND);
	show(&view, &window);
	for (int i = 0; i < 20; i++) {
		window_slide(&window, &view, -1);
		show(&view, &window);
	}
	assert_true(window.from_ns == 1000 * SECOND && window.to_ns == 1020 * SECOND);
	for (int i = 0; i < 8; i++) {
		assert_true(window.selected);
		window_slide(&window, &view, 1);
		show(&view, &window);
	}
	assert_true(window.from_ns == 1080 * SECOND);
	window_slide(&window, &view, 1);
	assert_false(window.selected);
}

static void test_recording_has_no_live_end(void **state)
{
	struct window window = {0};
	struct window_view view = newest();

	(void)state;
	view.whole = true;
	window_select(&window, &view, 1085 * SECOND, 1095 * SECOND);
	show(&view, &window);
	window_slide(&window, &view, 1);
	assert_true(window.selected);
	assert_true(window.from_ns == 1090 * SECOND && window.to_ns == 1100 * SECOND);
	show(&view, &window);
	window_slide(&window, &view, 1);
	assert_true(window.selected);
	assert_true(window.from_ns == 1090 * SECOND && window.to_ns == 1100 * SECOND);
	for (int i = 0; i < 6; i++) {
		window_scale(&window, &view, 1);
		show(&view, &window);
	}
	assert_false(window.selected);
}

static void test_scales(void **state)
{
	struct window window = {0};
	struct window_view view = newest();

	(void)state;
	window_scale(&window, &view, -1);
	assert_false(window.selected);
	assert_true(window_length(&window) == 10 * SECOND);
	for (int i = 0; i < 40; i++)
		window_scale(&window, &view, -1);
	assert_true(window_length(&window) >= WINDOW_LEAST_NS);
	for (int i = 0; i < 40; i++)
		window_scale(&window, &view, 1);
	assert_true(window_length(&window) >= 100 * SECOND);
	assert_true(window_length(&window) < 400 * SECOND);

	window_select(&window, &view, 1040 * SECOND, 1060 * SECOND);
	show(&view, &window);
	window_scale(&window, &view, -1);
	assert_true(window.from_ns == 1045 * SECOND && window.to_ns == 1055 * SECOND);
	for (int i = 0; i < 20; i++) {
		show(&view, &window);
		window_scale(&window, &view, -1);
	}
	assert_true(window.to_ns - window.from_ns == WINDOW_LEAST_NS);
	for (int i = 0; i < 20; i++) {
		show(&view, &window);
		window_scale(&window, &view, 1);
	}
	assert_true(window.from_ns == 1000 * SECOND && window.to_ns == 1100 * SECOND);
}

static void test_selects_within_history(void **state)
{
	struct window window = {0};
	struct window_view view = newest();

	(void)state;
	window_select(&window, &view, 1050 * SECOND + 1, 1040 * SECOND + 1);
	assert_true(window.from_ns == 1040 * SECOND);
	assert_true(window.to_ns == 1050 * SECOND + WINDOW_LEAST_NS);
	window_select(&window, &view, 5, 7);
	assert_true(window.from_ns == 1000 * SECOND);
	assert_true(window.to_ns == 1000 * SECOND + WINDOW_LEAST_NS);
	window_select(&window, &view, 2000 * SECOND, 3000 * SECOND);
	assert_true(window.to_ns > window.from_ns);
	window_select(&window, &view, 1099 * SECOND, 1200 * SECOND);
	assert_true(window.from_ns == 1099 * SECOND && window.to_ns == 1100 * SECOND);
}

static void test_busiest(void **state)
{
	const uint64_t flat[] = {0, 0, 0, 0};
	const uint64_t spike[] = {10, 11, 10, 12, 50, 60, 48, 10, 11, 30, 10};
	bool skip[11] = {false};
	size_t first, length;

	(void)state;
	assert_false(window_busiest(flat, NULL, 4, &first, &length));
	assert_false(window_busiest(flat, NULL, 0, &first, &length));
	assert_true(window_busiest(spike, NULL, 11, &first, &length));
	assert_int_equal(first, 4);
	assert_int_equal(length, 3);
	for (size_t i = 4; i < 7; i++)
		skip[i] = true;
	assert_true(window_busiest(spike, skip, 11, &first, &length));
	assert_int_equal(first, 9);
	assert_int_equal(length, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slides),
		cmocka_unit_test(test_recording_has_no_live_end),
		cmocka_unit_test(test_scales),
		cmocka_unit_test(test_selects_within_history),
		cmocka_unit_test(test_busiest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
