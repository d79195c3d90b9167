/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_threads_view.c - threads and the heat map: golden screens after scripts of keys and clicks.
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
	expect("t", 100, 30, false, "threads-100x30");
	expect("t", 120, 40, false, "threads-120x40");
	expect("tj", 80, 24, true, "threads-80x24-ascii");
	expect("tj", 40, 12, false, "threads-40x12");
	expect("tj", 20, 5, false, "threads-20x5");
}

/* If the event does not count time, shares are parts of its total weight. */
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
	keys(fixture, "\\dump<Enter>");
	compare(fixture, "threads-filtered");
	keys(fixture, "\\nothing<Enter>");
	compare(fixture, "threads-filtered-nothing");
	keys(fixture, "<Esc>");
	assert_int_equal(fixture->screen.n_views, 2);
	keys(fixture, "<Esc>");
	assert_int_equal(fixture->screen.n_views, 1);
	finish(fixture);
}

/* The search finds commands, ids and symbols, and the cursor stays on the found thread. */
static void test_search(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "t/DUMP<Enter>");
	compare(fixture, "threads-searched");
	assert_int_equal(fixture->screen.canvas.cells[80 * 7 + 52].style, STYLE_MATCH);
	keys(fixture, "ns<Tick>");
	compare(fixture, "threads-searched-sorted");
	keys(fixture, "N<Enter>");
	assert_string_equal(fixture->fake.model.crumbs[0], "tid:4790");
	keys(fixture, "t/4713<Enter>I");
	assert_string_equal(fixture->fake.model.crumbs[1], "tid:4713");
	keys(fixture, "/execinit<Enter>I");
	assert_string_equal(fixture->fake.model.crumbs[2], "tid:4791");
	keys(fixture, "/no such thread<Enter>");
	assert_string_equal(fixture->screen.message, "No row matches \"no such thread\"");
	keys(fixture, "/4711<Esc>I");
	assert_string_equal(fixture->fake.model.crumbs[3], "tid:4791");
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

/* States are read once a second for each visible thread, however often the screen is drawn. */
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

static void test_heat(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	const struct model *model = &fixture->fake.model;

	(void)state;
	keys(fixture, "m");
	compare(fixture, "heat-80x24");
	/* Moves to older time, which comes in from the left. */
	keys(fixture, "<Home>");
	compare(fixture, "heat-oldest");
	keys(fixture, "<Right><Right><Right>kk<Enter>lllj");
	compare(fixture, "heat-marked");
	keys(fixture, "<Enter>");
	assert_int_equal(fixture->screen.n_views, 1);
	assert_true(model->window.selected);
	assert_int_equal(model->from_ns, 103200000000);
	assert_int_equal(model->to_ns, 106200000000);
	keys(fixture, "m<Enter>");
	assert_int_equal(fixture->screen.n_views, 2);
	keys(fixture, "<Esc>");
	assert_int_equal(fixture->screen.n_views, 2);
	keys(fixture, "<Esc>");
	assert_int_equal(fixture->screen.n_views, 1);
	/* Either end may be set first.  Enter goes back to the previous view. */
	keys(fixture, "tm<End>h<Enter>hh<Enter>");
	assert_int_equal(fixture->screen.n_views, 2);
	assert_int_equal(model->to_ns - model->from_ns, 2100000000);
	finish(fixture);
}

/* The newest time stays visible, until the cursor moves. */
static void test_heat_follows(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "m<Tick><Tick><Tick>");
	compare(fixture, "heat-follows");
	keys(fixture, "h<Tick><Tick><Tick><Tick>");
	compare(fixture, "heat-stands");
	finish(fixture);
}

static void test_heat_mouse(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	const struct model *model = &fixture->fake.model;
	uint64_t from_ns;

	(void)state;
	keys(fixture, "m");
	screen_draw(&fixture->screen);
	click(fixture, 20, 9);
	compare(fixture, "heat-pressed");
	release(fixture, 24, 6);
	assert_int_equal(fixture->screen.n_views, 1);
	assert_int_equal(model->to_ns - model->from_ns, 4400000000);
	from_ns = model->from_ns;
	keys(fixture, "m");
	screen_draw(&fixture->screen);
	click(fixture, 20, 9);
	release(fixture, 20, 9);
	assert_int_equal(fixture->screen.n_views, 2);
	click(fixture, 21, 9);
	release(fixture, 21, 9);
	assert_int_equal(fixture->screen.n_views, 1);
	assert_int_equal(model->from_ns, from_ns);
	assert_int_equal(model->to_ns - model->from_ns, 1100000000);
	finish(fixture);
}

static void test_heat_sizes(void **state)
{
	(void)state;
	expect("m", 160, 50, false, "heat-160x50");
	expect("mhh", 80, 24, true, "heat-80x24-ascii");
	expect("m<Tab>", 80, 24, false, "heat-event-2");
	expect("mh", 40, 12, false, "heat-40x12");
	expect("mh", 20, 5, false, "heat-20x5");
}

/* Against a baseline, there is a column of changes.  At 80 columns it replaces the states. */
static void test_changes(void **state)
{
	(void)state;
	expect("tb<Tick>", 80, 24, false, "threads-change-80x24");
	expect("tb<Tick>", 160, 50, false, "threads-change-160x50");
	expect("b<Enter>", 80, 24, false, "breakdown-change-80x24");
	expect("b<Enter>", 160, 50, false, "breakdown-change-160x50");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_other_event),
		cmocka_unit_test(test_sort_and_filter),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_states_are_read_seldom),
		cmocka_unit_test(test_mouse),
		cmocka_unit_test(test_heat),
		cmocka_unit_test(test_heat_follows),
		cmocka_unit_test(test_heat_mouse),
		cmocka_unit_test(test_heat_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
