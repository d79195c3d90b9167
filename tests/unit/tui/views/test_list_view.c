/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_list_view.c - the common part of tables, on a table of words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/model/model.h"
#include "tui/screen/screen.h"
#include "tui/views/list_view.h"

#include <stdlib.h>
#include <string.h>

#define WORDS 6

/* Columns: order of the list, nothing, the alphabet. */
struct words {
	struct list_view table;
	const char *all[WORDS];
	const char *shown[WORDS];
	enum action opened;
};

struct fixture {
	struct screen screen;
	struct model model;
	struct view view;
	struct words words;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void words_refresh(struct view *view, struct screen *screen)
{
	struct words *words = view->state;
	size_t n = 0;

	for (size_t i = 0; i < WORDS; i++)
		if (words->all[i] && strstr(words->all[i], words->table.filter))
			words->shown[n++] = words->all[i];
	if (n && words->table.sort == 2)
		qsort(words->shown, n, sizeof(*words->shown), by_name);
	for (size_t i = 0; words->table.reverse && i < n / 2; i++) {
		const char *word = words->shown[i];

		words->shown[i] = words->shown[n - 1 - i];
		words->shown[n - 1 - i] = word;
	}
	list_set_count(&words->table.list, n);
	list_view_follow(view, screen);
}

static unsigned int words_action(struct view *view, struct screen *screen, enum action action)
{
	struct words *words = view->state;

	if (action != ACT_OPEN)
		return list_view_action(view, screen, action);
	words->opened = action;
	return VIEW_HANDLED;
}

static uint64_t words_key(struct view *view, struct screen *screen, size_t row)
{
	const struct words *words = view->state;

	(void)screen;
	return list_view_text_key(words->shown[row]);
}

static bool words_match(struct view *view, struct screen *screen, size_t row, const char *text)
{
	const struct words *words = view->state;

	(void)screen;
	return strstr(words->shown[row], text) != NULL;
}

static bool words_can_sort(const struct view *view, const struct screen *screen, int sort)
{
	(void)view;
	(void)screen;
	return sort != 1;
}

static const struct list_view_ops table_ops = {
	.key = words_key,
	.matches = words_match,
	.can_sort = words_can_sort,
	.sorts = 3,
	.ascending = 4,
	.twice = ACT_OPEN,
};

static const struct view_ops ops = {.action = words_action, .refresh = words_refresh};

static void draw_word(void *ctx, size_t row, int y)
{
	struct fixture *fixture = ctx;

	canvas_text(&fixture->screen.canvas, 0, y, 20, STYLE_TEXT, fixture->words.shown[row]);
}

static void draw(struct fixture *fixture)
{
	struct area area = fixture->screen.body;

	if (list_view_heads(&fixture->words.table, &area, 4)) {
		list_view_head(
			&fixture->words.table, &fixture->screen.canvas, 0, 5, "LIST", 0, false);
		list_view_head(
			&fixture->words.table, &fixture->screen.canvas, 6, 0, "NONE", 1, false);
		list_view_head(
			&fixture->words.table, &fixture->screen.canvas, 6, 8, "WORD", 2, true);
	}
	list_view_draw(&fixture->view, &fixture->screen, area, draw_word, fixture);
}

static struct fixture *start(void)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	fixture->words = (struct words){.table = {.ops = &table_ops},
		.all = {"pear", "apple", "plum", "apricot", "fig", "peach"}};
	fixture->view = (struct view){.ops = &ops, .state = &fixture->words};
	fixture->screen.model = &fixture->model;
	fixture->screen.body = (struct area){0, 2, 20, 7};
	assert_int_equal(canvas_init(&fixture->screen.canvas, 20, 10, 0), 0);
	words_refresh(&fixture->view, &fixture->screen);
	draw(fixture);
	return fixture;
}

static void finish(struct fixture *fixture)
{
	canvas_fini(&fixture->screen.canvas);
	free(fixture);
}

static void act(struct fixture *fixture, enum action action)
{
	assert_int_equal(words_action(&fixture->view, &fixture->screen, action), VIEW_HANDLED);
}

static void type(struct fixture *fixture, enum action purpose, const char *text)
{
	list_view_prompt(&fixture->view, &fixture->screen, purpose, text, PROMPT_CHANGED);
}

static void end(
	struct fixture *fixture, enum action purpose, const char *text, enum prompt_result result)
{
	list_view_prompt(&fixture->view, &fixture->screen, purpose, text, result);
}

static const char *word_at_cursor(const struct fixture *fixture)
{
	if (!list_view_has_row(&fixture->words.table))
		return NULL;
	return fixture->words.shown[fixture->words.table.list.cursor];
}

static void test_search(void **state)
{
	struct fixture *fixture = start();

	(void)state;
	act(fixture, ACT_SEARCH_NEXT);
	assert_string_equal(fixture->screen.message, "Nothing was searched yet: / does");
	act(fixture, ACT_DOWN);
	act(fixture, ACT_SEARCH);
	type(fixture, ACT_SEARCH, "p");
	assert_string_equal(word_at_cursor(fixture), "apple");
	type(fixture, ACT_SEARCH, "pe");
	assert_string_equal(word_at_cursor(fixture), "peach");
	type(fixture, ACT_SEARCH, "pl");
	assert_string_equal(word_at_cursor(fixture), "apple");
	end(fixture, ACT_SEARCH, "pe", PROMPT_DONE);
	assert_string_equal(word_at_cursor(fixture), "peach");
	act(fixture, ACT_SEARCH_NEXT);
	assert_string_equal(word_at_cursor(fixture), "pear");
	act(fixture, ACT_SEARCH_PREVIOUS);
	assert_string_equal(word_at_cursor(fixture), "peach");
	/* A cancelled search goes back to its start, and to the search before. */
	act(fixture, ACT_SEARCH);
	type(fixture, ACT_SEARCH, "plum");
	end(fixture, ACT_SEARCH, "plum", PROMPT_CANCELLED);
	assert_string_equal(word_at_cursor(fixture), "peach");
	assert_string_equal(fixture->words.table.search, "pe");
	act(fixture, ACT_SEARCH);
	end(fixture, ACT_SEARCH, "lemon", PROMPT_DONE);
	assert_string_equal(fixture->screen.message, "No row matches \"lemon\"");
	assert_string_equal(word_at_cursor(fixture), "peach");
	act(fixture, ACT_BACK);
	assert_string_equal(fixture->words.table.search, "");
	assert_int_equal(list_view_action(&fixture->view, &fixture->screen, ACT_BACK), 0);
	finish(fixture);
}

static void test_the_selected_row_is_followed(void **state)
{
	struct fixture *fixture = start();

	(void)state;
	words_refresh(&fixture->view, &fixture->screen);
	assert_string_equal(word_at_cursor(fixture), "pear");
	act(fixture, ACT_SORT_NEXT);
	assert_string_equal(word_at_cursor(fixture), "apple"); /* on top */
	act(fixture, ACT_LAST);
	act(fixture, ACT_REVERSE);
	assert_string_equal(word_at_cursor(fixture), "plum");
	assert_int_equal(fixture->words.table.list.cursor, 0);
	act(fixture, ACT_SORT_LEFT);
	assert_int_equal(fixture->words.table.sort, 0);
	assert_string_equal(word_at_cursor(fixture), "plum");
	act(fixture, ACT_DOWN);
	fixture->words.all[3] = NULL;
	words_refresh(&fixture->view, &fixture->screen);
	assert_null(word_at_cursor(fixture));
	fixture->words.all[1] = "apricot";
	words_refresh(&fixture->view, &fixture->screen);
	assert_string_equal(word_at_cursor(fixture), "apricot");
	finish(fixture);
}

static void test_filter(void **state)
{
	struct fixture *fixture = start();

	(void)state;
	act(fixture, ACT_LAST);
	act(fixture, ACT_FILTER);
	type(fixture, ACT_FILTER, "pe");
	assert_string_equal(word_at_cursor(fixture), "peach");
	assert_int_equal(fixture->words.table.list.n, 2);
	type(fixture, ACT_FILTER, "ap");
	assert_string_equal(word_at_cursor(fixture), "apple");
	end(fixture, ACT_FILTER, "ap", PROMPT_CANCELLED);
	assert_int_equal(fixture->words.table.list.n, WORDS);
	act(fixture, ACT_FILTER);
	end(fixture, ACT_FILTER, "none", PROMPT_DONE);
	assert_null(word_at_cursor(fixture));
	act(fixture, ACT_BACK);
	assert_string_equal(word_at_cursor(fixture), "pear");
	finish(fixture);
}

static unsigned int click(struct fixture *fixture, int x, int y, bool twice)
{
	return list_view_click(&fixture->view, &fixture->screen, x, y, twice);
}

static void test_clicks(void **state)
{
	struct fixture *fixture = start();

	(void)state;
	assert_int_equal(click(fixture, 3, 3, false), VIEW_HANDLED);
	assert_string_equal(word_at_cursor(fixture), "plum");
	assert_int_equal(click(fixture, 3, 2, true), VIEW_HANDLED);
	assert_int_equal(fixture->words.opened, ACT_NONE);
	assert_int_equal(click(fixture, 3, 2, true), VIEW_HANDLED);
	assert_int_equal(fixture->words.opened, ACT_OPEN);
	assert_int_equal(click(fixture, 3, 7, false), 0);
	/* The last column reaches to the end of the line. */
	click(fixture, 18, 0, false);
	assert_int_equal(fixture->words.table.sort, 2);
	assert_false(fixture->words.table.reverse);
	click(fixture, 7, 0, false);
	assert_true(fixture->words.table.reverse);
	click(fixture, 5, 0, false);
	assert_int_equal(fixture->words.table.sort, 0);
	finish(fixture);
}

static void expect_heads(struct fixture *fixture, const char *heads)
{
	char *dump;

	canvas_clear(&fixture->screen.canvas);
	draw(fixture);
	dump = canvas_dump(&fixture->screen.canvas);
	*strchr(dump + 2, '\n') = '\0';
	assert_string_equal(dump + 2, heads);
	free(dump);
}

static void test_heads(void **state)
{
	struct fixture *fixture = start();

	(void)state;
	expect_heads(fixture, "LIST▼     WORD");
	act(fixture, ACT_SORT_RIGHT);
	expect_heads(fixture, "LIST     WORD▲");
	act(fixture, ACT_REVERSE);
	expect_heads(fixture, "LIST     WORD▼");
	fixture->screen.body.height = 3;
	expect_heads(fixture, "plum");
	click(fixture, 3, 0, false);
	assert_int_equal(fixture->words.table.sort, 2);
	finish(fixture);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_the_selected_row_is_followed),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_clicks),
		cmocka_unit_test(test_heads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
