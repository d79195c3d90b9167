/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_flame_view.c - the flame graph on the screen: golden screens after scripts of keys and
 * clicks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/screens/fixture.h"

#include <string.h>

static void test_moves(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "g");
	compare(fixture, "flame-80x24");
	keys(fixture, "jjj");
	compare(fixture, "flame-moved");
	/* Moves to the frames on the right, up to the last one. */
	keys(fixture, "lllll");
	compare(fixture, "flame-beside");
	keys(fixture, "G");
	compare(fixture, "flame-deepest");
	keys(fixture, "<Home>t");
	compare(fixture, "flame-turned");
	keys(fixture, "kk");
	compare(fixture, "flame-turned-up");
	finish(fixture);
}

static const struct cell *cell_at(const struct fixture *fixture, int x, int y)
{
	const struct canvas *canvas = &fixture->screen.canvas;

	return &canvas->cells[y * canvas->width + x];
}

/* Colours show images and hits.  Only the selected frame is marked. */
static void test_styles(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	int marked = 0;

	(void)state;
	keys(fixture, "gjjj");
	screen_draw(&fixture->screen);
	assert_int_equal(cell_at(fixture, 5, 5)->style, STYLE_FLAME_ROOT);
	assert_in_range(cell_at(fixture, 5, 6)->style, STYLE_FLAME_LIBRARY, STYLE_FLAME_KERNEL - 1);
	assert_in_range(cell_at(fixture, 5, 8)->style, STYLE_FLAME_USER, STYLE_FLAME_LIBRARY - 1);
	assert_in_range(
		cell_at(fixture, 10, 9)->style, STYLE_FLAME_KERNEL, STYLE_FLAME_UNRESOLVED - 1);
	assert_int_equal(cell_at(fixture, 76, 6)->style, STYLE_FLAME_UNRESOLVED);
	for (int y = 0; y < 24; y++) {
		for (int x = 0; x < 80; x++) {
			assert_true(!cell_at(fixture, x, y)->selected || y == 8);
			marked += cell_at(fixture, x, y)->selected;
		}
	}
	assert_int_equal(marked, 64);
	keys(fixture, "/fault<Enter>");
	screen_draw(&fixture->screen);
	assert_int_equal(cell_at(fixture, 10, 9)->style, STYLE_FLAME_MATCH);
	assert_int_not_equal(cell_at(fixture, 5, 8)->style, STYLE_FLAME_MATCH);
	finish(fixture);
}

static void test_zoom(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "gjjj<Enter>");
	compare(fixture, "flame-zoomed");
	keys(fixture, "jj<Enter><Tick>");
	compare(fixture, "flame-zoomed-twice");
	keys(fixture, "<Backspace>");
	compare(fixture, "flame-zoomed-back");
	/* Enter on a frame that contains the zoomed one zooms out to it. */
	keys(fixture, "<Home>j<Enter>");
	compare(fixture, "flame-zoomed-below");
	keys(fixture, "<Esc><Esc>");
	assert_int_equal(fixture->screen.n_views, 1);
	keys(fixture, "gj<Enter>q");
	assert_int_equal(fixture->screen.n_views, 1);
	finish(fixture);
}

static void test_search(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "g/fault<Enter>");
	compare(fixture, "flame-search");
	keys(fixture, "n");
	compare(fixture, "flame-search-next");
	/* A frame inside a matching one is not counted again. */
	keys(fixture, "/execinit<Enter>n");
	compare(fixture, "flame-search-recursive");
	keys(fixture, "/no-such<Enter>");
	compare(fixture, "flame-search-nothing");
	keys(fixture, "<Esc>");
	assert_int_equal(fixture->screen.n_views, 2);
	keys(fixture, "<Esc>");
	assert_int_equal(fixture->screen.n_views, 1);
	finish(fixture);
}

static void test_other_views(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "gc");
	assert_int_equal(fixture->screen.n_views, 2);
	assert_non_null(strstr(fixture->screen.message, "all of it"));
	keys(fixture, "jjjc");
	compare(fixture, "flame-calls");
	keys(fixture, "g");
	compare(fixture, "flame-of-calls");
	/* Views can be opened from each other, up to the limit, and q leads back to the table. */
	keys(fixture, "cgcgcgca");
	assert_int_equal(fixture->screen.n_views, SCREEN_VIEWS_MAX);
	assert_int_equal(fixture->screen.views[SCREEN_VIEWS_MAX - 1].ops->keys, KEYS_ANNOTATE);
	keys(fixture, "qqqqq");
	assert_int_equal(fixture->screen.n_views, 1);
	assert_int_equal(fixture->screen.views[0].ops->keys, KEYS_HOT);
	finish(fixture);
}

/* Each thread is a filter that replaces the previous thread's.  The user's own filters stay. */
static void test_threads(void **state)
{
	struct fixture *fixture = start(80, 24, false);
	const struct model *model = &fixture->fake.model;

	(void)state;
	keys(fixture, "g&cpu:0<Enter>T");
	compare(fixture, "flame-thread");
	assert_int_equal(model->n_crumbs, 2);
	assert_non_null(strstr(model->crumbs[1], "4711"));
	keys(fixture, "TT");
	assert_int_equal(model->n_crumbs, 2);
	assert_non_null(strstr(model->crumbs[1], "4790"));
	keys(fixture, "T");
	assert_int_equal(model->n_crumbs, 1);
	assert_string_equal(fixture->screen.message, "All threads again");
	/* If the filter is removed otherwise, the next T starts with the first thread. */
	keys(fixture, "TT<Backspace>");
	assert_int_equal(model->n_crumbs, 1);
	keys(fixture, "T");
	assert_non_null(strstr(model->crumbs[1], "4711"));
	keys(fixture, "<Esc>");
	assert_int_equal(fixture->screen.n_views, 1);
	assert_int_equal(model->n_crumbs, 2);
	finish(fixture);
}

static void test_mouse(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "g");
	screen_draw(&fixture->screen);
	click(fixture, 10, 8);
	compare(fixture, "flame-clicked");
	click(fixture, 10, 8);
	compare(fixture, "flame-clicked-twice");
	finish(fixture);
}

static void test_sizes(void **state)
{
	(void)state;
	expect("g", 160, 50, false, "flame-160x50");
	expect("gjj", 80, 24, true, "flame-80x24-ascii");
	expect("gG", 40, 10, false, "flame-40x10");
	expect("gjjjj<Enter>", 40, 10, false, "flame-zoomed-40x10");
	/* Frames that are too narrow for a box are still shown. */
	expect("g", 24, 16, false, "flame-24x16");
	expect("gG", 20, 5, false, "flame-20x5");
}

/* A wider screen has more boxes at once. */
static void test_resize(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "gjjj<Enter>");
	assert_int_equal(screen_resize(&fixture->screen, 120, 40), 0);
	compare(fixture, "flame-resized");
	finish(fixture);
}

/* Against a baseline, more, less and equal have colours of their own, and the numbers are shown. */
static void test_changes(void **state)
{
	struct fixture *fixture = start(80, 24, false);

	(void)state;
	keys(fixture, "gd");
	assert_non_null(strstr(fixture->screen.message, "b marks"));
	keys(fixture, "bjjjj");
	compare(fixture, "flame-change-80x24");
	assert_int_equal(cell_at(fixture, 5, 5)->style, STYLE_FLAME_ROOT);
	assert_int_equal(cell_at(fixture, 5, 7)->style, STYLE_FLAME_SAME);
	assert_int_equal(cell_at(fixture, 5, 8)->style, STYLE_FLAME_MORE + 1);
	assert_int_equal(cell_at(fixture, 35, 10)->style, STYLE_FLAME_MORE + 2);
	assert_in_range(cell_at(fixture, 8, 10)->style, STYLE_FLAME_LESS, STYLE_FLAME_LESS + 2);
	keys(fixture, "d");
	screen_draw(&fixture->screen);
	assert_in_range(cell_at(fixture, 5, 8)->style, STYLE_FLAME_USER, STYLE_FLAME_LIBRARY - 1);
	keys(fixture, "d/fault<Enter>");
	screen_draw(&fixture->screen);
	assert_int_equal(cell_at(fixture, 10, 9)->style, STYLE_FLAME_MATCH);
	keys(fixture, "b");
	screen_draw(&fixture->screen);
	assert_in_range(cell_at(fixture, 5, 8)->style, STYLE_FLAME_USER, STYLE_FLAME_LIBRARY - 1);
	finish(fixture);
	expect("gbjjjj", 160, 50, false, "flame-change-160x50");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_styles),
		cmocka_unit_test(test_zoom),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_other_views),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_mouse),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_resize),
		cmocka_unit_test(test_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
