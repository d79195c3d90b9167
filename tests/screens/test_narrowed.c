/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_narrowed.c - filters, times and baselines by keys and mouse, compared with golden text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/screens/fixture.h"

#include <stdio.h>
#include <string.h>

/* Against a baseline, rows show how their share changed, and can be sorted by it. */
static void test_baseline(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "b");
	assert_true(fixture->fake.model.has_baseline);
	keys(fixture, "<Tick><Tick>sss");
	compare(fixture, "baseline-change");
	keys(fixture, "b<<");
	compare(fixture, "baseline-none");
	finish(fixture);
}

/* A recording is read in the background.  Esc gives it up.  An unreadable one changes nothing. */
static void test_recorded_baseline(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	struct model *model = &fixture->fake.model;

	(void)state;
	keys(fixture, "bBno-file<Enter>");
	assert_string_equal(fixture->screen.message, "Cannot read 'no-file'");
	assert_true(model->has_baseline);
	keys(fixture, "B");
	compare(fixture, "baseline-asked");
	keys(fixture, "old.data<Enter><Tick>");
	compare(fixture, "baseline-read");
	keys(fixture, "<Esc>");
	assert_false(model->base_reading.active);
	assert_non_null(strstr(fixture->screen.message, "not read any further"));
	assert_int_equal(fixture->screen.n_views, 1);
	keys(fixture, "Bold.data<Enter><Tick>");
	model->base_reading.active = false;
	model->base_recorded = true;
	snprintf(model->base_name, sizeof(model->base_name), "old.data");
	keys(fixture, "<Tick>");
	compare(fixture, "baseline-recorded");
	model->base_empty = true;
	compare(fixture, "baseline-recorded-empty");
	model->base_empty = false;
	/* Threads of a recording are matched by their names. */
	keys(fixture, "t");
	compare(fixture, "baseline-recorded-threads");
	keys(fixture, "q<Enter>");
	compare(fixture, "baseline-recorded-breakdown");
	/* The baseline's thread of a row may be unknown.  A thread that is only in the baseline
	 * is no filter. */
	keys(fixture, "qRjjjjj<Enter><Tick>");
	compare(fixture, "baseline-recorded-rows");
	keys(fixture, "GI");
	assert_string_equal(fixture->screen.message, "pg_dump (4790) is in the baseline only");
	keys(fixture, "<Enter>");
	assert_true(model->grouped && !model->n_crumbs);
	keys(fixture, "R<Home><Enter><Enter>");
	/* The baseline may change meanwhile. */
	keys(fixture, "b<Tick>b<Tick>");
	assert_true(model->has_baseline);
	model->base_recorded = false;
	keys(fixture, "b<Tick>b<Tick>");
	compare(fixture, "baseline-breakdown");
	finish(fixture);
}

/* Filters are typed or pointed at, shown as crumbs, and removed one by one.  A refused text is
 * kept. */
static void test_crumbs(void **state)
{
	struct fixture *fixture = start(120, 24, false);
	struct model *model = &fixture->fake.model;

	(void)state;
	keys(fixture, "&comm~^post<Enter>");
	assert_int_equal(model->n_crumbs, 1);
	compare(fixture, "crumbs-one");
	keys(fixture, "jI");
	assert_string_equal(model->crumbs[1], "stack=index_fetch_heap");
	keys(fixture, "<Enter>X");
	assert_string_equal(model->crumbs[2], "!tid:4711");
	compare(fixture, "crumbs-three");
	keys(fixture, "q&wrong:x<Enter>");
	compare(fixture, "crumbs-refused");
	keys(fixture, "&");
	assert_string_equal(fixture->screen.prompt.text, "wrong:x");
	keys(fixture, "<Esc>");
	for (int i = 0; i < 2; i++)
		keys(fixture, "cX<Esc>");
	assert_int_equal(model->n_crumbs, 5);
	compare(fixture, "crumbs-many");
	press(fixture, '&');
	press(fixture, INPUT_CTRL('U'));
	keys(fixture, "-2<Enter>");
	assert_int_equal(model->n_crumbs, 4);
	assert_string_equal(model->crumbs[1], "!tid:4711");
	for (int i = 0; i < 4; i++)
		press(fixture, INPUT_BACKSPACE);
	assert_int_equal(model->n_crumbs, 0);
	press(fixture, INPUT_BACKSPACE);
	compare(fixture, "crumbs-none");
	finish(fixture);
}

/* If filters do not fit, the head shortens them, and at last shows only their number. */
static void test_crumbs_narrow(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	struct model *model = &fixture->fake.model;

	(void)state;
	keys(fixture, "&line:/usr/src/postgresql/src/backend/executor/execMain.c:1690<Enter>");
	compare(fixture, "crumbs-narrow-line");
	keys(fixture, "&!image:/usr/lib/x86_64-linux-gnu/libplanner.so.2.1<Enter>");
	assert_int_equal(model->n_crumbs, 2);
	compare(fixture, "crumbs-narrow-two");
	assert_int_equal(screen_resize(&fixture->screen, 40, 10), 0);
	compare(fixture, "crumbs-narrow-40x10");
	finish(fixture);
}

/* Keys and mouse select a time, and return to live.  The strip and the head show its place. */
static void test_time(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	struct model *model = &fixture->fake.model;

	(void)state;
	keys(fixture, "[");
	assert_true(model->window.selected);
	compare(fixture, "time-earlier");
	keys(fixture, "[[[");
	compare(fixture, "time-before");
	keys(fixture, "!");
	assert_true(model->to_ns - model->from_ns == 300000000u);
	compare(fixture, "time-spike");
	keys(fixture, "{{");
	assert_true(model->to_ns - model->from_ns == 1200000000u);
	press(fixture, INPUT_ESCAPE);
	assert_false(model->window.selected);
	compare(fixture, "time-live");
	/* A drag selects the columns from 10 to 20.  A click moves the window to its column. */
	click(fixture, 20, 2);
	release(fixture, 10, 2);
	assert_true(model->window.selected);
	assert_true(model->to_ns - model->from_ns == 11000000000u);
	compare(fixture, "time-mouse");
	click(fixture, 40, 2);
	release(fixture, 40, 2);
	assert_true(model->to_ns - model->from_ns == 11000000000u);
	keys(fixture, ".");
	assert_false(model->window.selected);
	finish(fixture);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_baseline),
		cmocka_unit_test(test_recorded_baseline),
		cmocka_unit_test(test_crumbs),
		cmocka_unit_test(test_crumbs_narrow),
		cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
