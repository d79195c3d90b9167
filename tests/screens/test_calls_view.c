/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_calls_view.c - butterfly, call tree and callers on the screen: golden screens after scripts
 * of keys.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/screens/fake_calls.h"
#include "tests/screens/fake_model.h"
#include "tests/screens/fixture.h"

static void test_butterfly(void **state)
{
	struct fixture *fixture = start(120, 40, false);

	(void)state;
	keys(fixture, "jc");
	compare(fixture, "calls-butterfly-120x40");
	/* The callers above open upwards.  The centre moves, and moves back. */
	keys(fixture, "k<Right>");
	compare(fixture, "calls-butterfly-open");
	keys(fixture, "c");
	compare(fixture, "calls-butterfly-moved");
	press(fixture, INPUT_BACKSPACE);
	press(fixture, INPUT_BACKSPACE);
	compare(fixture, "calls-butterfly-back");
	finish(fixture);
}

static void test_tree(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "ct");
	compare(fixture, "calls-tree-80x24");
	keys(fixture, "<Left>");
	compare(fixture, "calls-tree-closed");
	keys(fixture, "/fault<Enter>");
	compare(fixture, "calls-tree-search");
	/* The text does not show the selected row, but the butterfly is centred on it. */
	keys(fixture, "c");
	compare(fixture, "calls-tree-search-centre");
	keys(fixture, "t");
	keys(fixture, "no");
	compare(fixture, "calls-tree-next");
	keys(fixture, "a");
	assert_int_equal(fixture->screen.n_views, 3);
	keys(fixture, "q");
	compare(fixture, "calls-tree-again");
	keys(fixture, "t");
	compare(fixture, "calls-callers-80x24");
	keys(fixture, "jj<Enter>");
	compare(fixture, "calls-callers-open");
	keys(fixture, "/nothing-like-it<Enter>");
	compare(fixture, "calls-callers-not-found");
	/* The next match is in a closed row. */
	keys(fixture, "jjjjj/PostgresMain<Enter>");
	compare(fixture, "calls-callers-search");
	finish(fixture);
}

static void test_sizes(void **state)
{
	struct fixture *fixture = start(160, 50, false);

	(void)state;
	keys(fixture, "jct");
	compare(fixture, "calls-tree-160x50");
	finish(fixture);
	fixture = start(40, 12, true);
	keys(fixture, "jc");
	compare(fixture, "calls-butterfly-ascii-40x12");
	finish(fixture);
}

/* A row shows how many children are too light for nodes.  It cannot be opened. */
static void test_left_out(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	fake_calls_least = fake_model_weight(40);
	keys(fixture, "ct");
	compare(fixture, "calls-tree-left-out");
	keys(fixture, "<End><Enter><Left><Right>ca");
	assert_int_equal(fixture->screen.n_views, 2);
	compare(fixture, "calls-tree-left-out");
	/* The row of light symbols sums only self weights, since totals overlap. */
	keys(fixture, "t");
	compare(fixture, "calls-callers-left-out");
	fake_calls_least = 0;
	finish(fixture);
}

/* One tree holds all events, and both have the same weight.  The rows are still those of the
 * event. */
static void test_other_event(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	fixture->fake.model.calls_weight = fake_model_weight(1000);
	keys(fixture, "jc<Tab>");
	compare(fixture, "calls-butterfly-event-2");
	keys(fixture, "t");
	compare(fixture, "calls-tree-event-2");
	keys(fixture, "<Tab>");
	compare(fixture, "calls-tree-event-1");
	finish(fixture);
}

/* Against a baseline, paths are marked as changed, new or gone. */
static void test_changes(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "bjc");
	screen_draw(&fixture->screen);
	fixture->screen.message_until_ns = 0;
	compare(fixture, "calls-butterfly-change-80x24");
	keys(fixture, "t");
	compare(fixture, "calls-tree-change-80x24");
	keys(fixture, "t");
	compare(fixture, "calls-callers-change-80x24");
	keys(fixture, "b");
	assert_false(fixture->fake.model.has_baseline);
	finish(fixture);
	expect("bjct", 160, 50, false, "calls-tree-change-160x50");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_butterfly),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_other_event),
		cmocka_unit_test(test_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
