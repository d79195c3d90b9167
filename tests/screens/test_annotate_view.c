/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_annotate_view.c - the code of a function on the screen: drawn, walked, left, and changing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/screens/fixture.h"

#include <string.h>

static void test_annotate(void **state)
{
	(void)state;
	expect("a", 80, 24, false, "annotate-80x24");
	expect("a", 120, 40, false, "annotate-120x40");
	expect("a", 80, 24, true, "annotate-80x24-ascii");
	expect("a", 40, 12, false, "annotate-40x12");
	expect("a", 20, 5, false, "annotate-20x5");
	expect("as", 80, 24, false, "annotate-source");
	expect("ass", 80, 24, false, "annotate-code");
	expect("ass", 120, 40, false, "annotate-code-120x40");
	expect("asss", 80, 24, false, "annotate-mixed-again");
	expect("ax", 80, 24, false, "annotate-intel");
	expect("av", 120, 40, false, "annotate-side-by-side");
	expect("aJ", 80, 24, false, "annotate-no-arrows");
	expect("a<Tab>", 80, 24, false, "annotate-event-2");
}

/* Checks the text of the cursor's row, without its surroundings. */
static void cursor_is(struct fixture *fixture, const char *script, const char *text)
{
	const struct canvas *canvas = &fixture->screen.canvas;
	char line[512];
	int rows = 0;

	screen_draw(&fixture->screen);
	for (int y = 0; y < canvas->height; y++) {
		const struct cell *cells = &canvas->cells[y * canvas->width];

		if (!cells[0].selected)
			continue;
		rows++;
		for (int x = 0; x < canvas->width; x++)
			line[x] = cells[x].glyph < 0x7f ? (char)cells[x].glyph : ' ';
		line[canvas->width] = '\0';
	}
	assert_int_equal(rows, 1);
	if (!strstr(line, text))
		fail_msg("%s: the cursor is on \"%s\", not \"%s\"", script, line, text);
}

static void expect_cursor(const char *script, const char *text)
{
	struct fixture *fixture = start(80, 24, false);

	keys(fixture, script);
	cursor_is(fixture, script, text);
	finish(fixture);
}

static void test_annotate_cursor(void **state)
{
	(void)state;
	expect_cursor("a", "mov    0x14(%r12");
	expect_cursor("ah", "test   $0x18000");
	expect_cursor("ahh", "movzwl 0xc");
	expect_cursor("ahhH", "test   $0x18000");
	expect_cursor("aH", "mov    0x14(%r12");
	expect_cursor("a<Down><Down><Enter>", "xor    %eax,%eax");
	expect_cursor("a<Down><Down><Enter><Backspace>", "je     1b2c4e");
	expect_cursor("a/Satisfies<Enter><Enter>", "mov    (%rsi),%eax");
	expect_cursor("a/Satisfies<Enter><Enter><Backspace>", "HeapTupleSatisfies");
	/* The mode changes while the other function is shown. */
	expect_cursor("a/Satisfies<Enter><Enter>ss<Esc>", "HeapTupleSatisfies");
	expect_cursor("a:1741<Enter>", "PredicateLockTID(relation");
	expect_cursor("a:1742<Enter>", "return found");
	expect_cursor("a:0x1b2c51<Enter>", "add    $0x48");
	expect_cursor("a:zebra<Enter>", "mov    0x14(%r12");
	/* Source, code, both: the instruction stays selected. */
	expect_cursor("as", "lp = PageGetItemId");
	expect_cursor("ass", "mov    0x14(%r12");
	expect_cursor("asss", "mov    0x14(%r12");
	/* The syntax changes while the other function is shown. */
	expect_cursor("a/Satisfies<Enter><Enter><Esc><Home>hh", "test   $0x18000");
	expect_cursor("a/Satisfies<Enter><Enter>x<Esc><Home>hh", "test   edx,0x18000");
	expect_cursor("ahx", "test   edx,0x18000");
	expect_cursor("a<Tab>", "mov    0x14(%r12");
	expect_cursor("2a", "sub    $0x18,%eax");
}

static void test_annotate_moves(void **state)
{
	(void)state;
	expect("ah", 80, 24, false, "annotate-next-hottest");
	expect("ahhHH", 80, 24, false, "annotate-80x24");
	expect("aH", 80, 24, false, "annotate-hottest-told");
	/* Follows a jump, and goes back. */
	expect("a<Down><Down><Enter>", 80, 24, false, "annotate-jumped");
	expect("a<Down><Down><Enter><Backspace>", 80, 24, false, "annotate-jumped-back");
	/* Follows a call to its function, and goes back. */
	expect("a/Satisfies<Enter><Enter>", 80, 24, false, "annotate-called");
	expect("a/Satisfies<Enter><Enter><Esc>", 80, 24, false, "annotate-searched");
	expect("a/Satisfies<Enter>", 80, 24, false, "annotate-searched");
	expect("a/Predicate<Enter>n<Enter>", 80, 24, false, "annotate-not-known");
	expect("a/2f4c<Enter><Enter>", 80, 24, false, "annotate-indirect");
	expect("a/zebra<Enter>", 80, 24, false, "annotate-search-nothing");
	expect("a:1741<Enter>", 80, 24, false, "annotate-goto-line");
	expect("a:0x1b2c51<Enter>", 80, 24, false, "annotate-goto-address");
	expect("a:9999<Enter>", 80, 24, false, "annotate-goto-nothing");
	expect("a:x<Enter>", 80, 24, false, "annotate-goto-no-number");
	/* Leaves the view. */
	expect("a<Esc>", 80, 24, false, "hot-80x24");
	expect("aq", 80, 24, false, "hot-80x24");
	expect("a/Satisfies<Enter><Enter>q", 80, 24, false, "hot-80x24");
	expect("a?<Esc>", 80, 24, false, "annotate-80x24");
	expect("a?", 80, 24, false, "annotate-help");
}

static void test_annotate_states(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	/* An address without a name has no function. */
	keys(fixture, "/postgres+<Enter>a");
	assert_int_equal(fixture->screen.n_views, 1);
	compare(fixture, "annotate-refused");
	keys(fixture, "<Home>");

	fake_code.waits = true;
	keys(fixture, "a<Tick>");
	compare(fixture, "annotate-waits");
	keys(fixture, "hsx/n<Enter>n:5<Enter><Enter>e<Down>");
	keys(fixture, "<Esc>");
	assert_true(fake_code.abandoned);
	assert_int_equal(fixture->screen.n_views, 1);
	assert_int_equal(fake_code.n_open, 0);
	finish(fixture);

	fixture = start(80, 24, false);
	fake_code.failed = true;
	keys(fixture, "a");
	compare(fixture, "annotate-failed");
	fake_code.failed = false;
	fake_code.no_lines = true;
	keys(fixture, "<Tick>");
	compare(fixture, "annotate-no-lines");
	keys(fixture, "s");
	compare(fixture, "annotate-no-lines-told");
	fake_code.no_lines = false;
	fake_code.no_source = true;
	keys(fixture, "<Esc>ass");
	compare(fixture, "annotate-no-source");
	assert_int_equal(press(fixture, 'e'), 0);
	compare(fixture, "annotate-edit-nothing");
	finish(fixture);
}

/* Numbers and rows change; the cursor stays on its row. */
static void test_annotate_stays(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "ah");
	fake_code.hotter = true;
	fake_code.grown = true;
	keys(fixture, "<Tick>");
	compare(fixture, "annotate-stays");
	cursor_is(fixture, "a row more", "test   $0x18000");
	finish(fixture);
	assert_int_equal(fake_code.n_open, 0);
}

/* A source file hangs.  The code is shown, and Esc gives up the file before it leaves the view. */
static void test_annotate_reads(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	fake_code.reading = fake_code.no_source = true;
	keys(fixture, "a<Tick>");
	compare(fixture, "annotate-reads");
	keys(fixture, "h");
	cursor_is(fixture, "while a source hangs", "test   $0x18000");
	keys(fixture, "<Esc>");
	assert_true(fake_code.abandoned);
	assert_int_equal(fixture->screen.n_views, 2);
	compare(fixture, "annotate-reads-given-up");
	keys(fixture, "<Esc>");
	assert_int_equal(fixture->screen.n_views, 1);
	finish(fixture);
}

/* Inlined functions are still missing.  The lines are shown, and Esc leaves at once. */
static void test_annotate_partial(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	fake_code.partial = true;
	keys(fixture, "a<Tick>");
	compare(fixture, "annotate-partial");
	keys(fixture, "<Esc>");
	assert_false(fake_code.abandoned);
	assert_int_equal(fixture->screen.n_views, 1);
	finish(fixture);
}

/* The cursor goes back to its line, even if another file in front has a line of the same number. */
static void test_annotate_returns(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	fake_code.twin_line = true;
	keys(fixture, "a/Satisfies<Enter><Enter>s<Esc>");
	cursor_is(fixture, "back, to source alone", "ItemIdIsRedirected");
	finish(fixture);
}

static void test_annotate_edits(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "a");
	assert_int_equal(press(fixture, 'e'), SCREEN_EDIT);
	assert_string_equal(fixture->screen.edit_path,
		"/elsewhere/usr/src/postgresql-15/src/backend/access/heap/heapam.c");
	assert_int_equal(fixture->screen.edit_line, 1720);
	finish(fixture);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_annotate),
		cmocka_unit_test(test_annotate_cursor),
		cmocka_unit_test(test_annotate_moves),
		cmocka_unit_test(test_annotate_states),
		cmocka_unit_test(test_annotate_stays),
		cmocka_unit_test(test_annotate_reads),
		cmocka_unit_test(test_annotate_partial),
		cmocka_unit_test(test_annotate_returns),
		cmocka_unit_test(test_annotate_edits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
