/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_threads_view.c - threads and the heat map on the screen: golden screens after scripts of keys and clicks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/screens/fake_lanes.h"
#include "tests/screens/fixture.h"

#include <string.h>

static void test_groups(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "t");
	compare(fixture, "threads-80x24");
	keys(fixture, "t");
	compare(fixture, "threads-processes");
	keys(fixture, "t");
	compare(fixture, "threads-commands");
	keys(fixture, "t");
	compare(fixture, "threads-cpus");
	keys(fixture, "t");
	compare(fixture, "threads-80x24");
	finish(fixture);
}

static void test_sizes(void **state)
{
	(void)state;
	expect("t", 160, 50, false, "threads-160x50");
	expect("tj", 80, 24, true, "threads-80x24-ascii");
	expect("tj", 40, 12, false, "threads-40x12");
	expect("tj", 20, 5, false, "threads-20x5");
}

/* Of an event that counts no time, shares are of all. */
static void test_other_event(void **state)
{
	(void)state;
	expect("t<Tab>", 80, 24, false, "threads-event-2");
}

static void test_sort_and_filter(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "tjs");
	compare(fixture, "threads-sorted-tid");
	keys(fixture, "ssr");
	compare(fixture, "threads-sorted-symbol");
	keys(fixture, "/dump<Enter>");
	compare(fixture, "threads-filtered");
	keys(fixture, "/nothing<Enter>");
	compare(fixture, "threads-filtered-nothing");
	keys(fixture, "<Esc>");
	assert_int_equal(fixture->screen.n_views, 2);
	keys(fixture, "<Esc>");
	assert_int_equal(fixture->screen.n_views, 1);
	finish(fixture);
}

static void test_narrow(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	const struct model *model = &fixture->fake.model;

	(void)state;
	keys(fixture, "tX");
	assert_int_equal(fixture->screen.n_views, 2);
	assert_string_equal(model->crumbs[0], "!tid:4711");
	keys(fixture, "jI<Backspace>");
	assert_int_equal(model->n_crumbs, 1);
	keys(fixture, "<Enter>");
	assert_int_equal(fixture->screen.n_views, 1);
	assert_int_equal(model->n_crumbs, 2);
	assert_string_equal(model->crumbs[1], "tid:4790");
	keys(fixture, "tt<Enter>ttt<Enter>tttt<Enter>");
	assert_int_equal(model->n_crumbs, 5);
	assert_string_equal(model->crumbs[2], "pid:4711");
	assert_string_equal(model->crumbs[3], "comm:postgres");
	assert_string_equal(model->crumbs[4], "cpu:0");
	compare(fixture, "threads-narrowed");
	finish(fixture);
}

/* Of each thread in sight once a second, however often the screen is drawn. */
static void test_states_are_read_seldom(void **state)
{
	struct fixture *fixture = start(80, 11, false);
	unsigned int before;

	(void)state;
	fake_states_read = 0;
	keys(fixture, "t");
	screen_draw(&fixture->screen);
	before = fake_states_read;
	assert_true(before > 0 && before <= 5);
	for (int i = 0; i < 5; i++)
		screen_draw(&fixture->screen);
	keys(fixture, "<Tick>");
	screen_draw(&fixture->screen);
	assert_int_equal(fake_states_read, before);
	keys(fixture, "<Tick>");
	assert_int_equal(fake_states_read, 2 * before);
	finish(fixture);
}

static void test_mouse(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "t");
	screen_draw(&fixture->screen);
	click(fixture, 50, 5);
	compare(fixture, "threads-clicked-head");
	click(fixture, 50, 8);
	click(fixture, 50, 8);
	assert_int_equal(fixture->screen.n_views, 1);
	assert_int_equal(fixture->fake.model.n_crumbs, 1);
	finish(fixture);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_other_event),
		cmocka_unit_test(test_sort_and_filter),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_states_are_read_seldom),
		cmocka_unit_test(test_mouse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
