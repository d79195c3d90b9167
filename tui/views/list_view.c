/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list_view.c - see list_view.h.
 */
#include "tui/views/list_view.h"

#include "tui/base/width.h"

#include <stdio.h>
#include <string.h>

#define HEAD_MAX 256

bool list_view_has_row(const struct list_view *table)
{
	return table->list.cursor < table->list.n && !table->list.lost;
}

uint64_t list_view_text_key(const char *text)
{
	uint64_t key = 0xcbf29ce484222325u; /* FNV-1a */

	for (; *text; text++)
		key = (key ^ (unsigned char)*text) * 0x100000001b3u;
	return key;
}

/* --- the selected row --- */

static void remember(struct view *view, struct screen *screen)
{
	struct list_view *table = view->state;

	table->moved = table->list.cursor != 0 || table->ops->first_sticks;
	if (list_view_has_row(table))
		table->selected = table->ops->key(view, screen, table->list.cursor);
}

static long row_of(struct view *view, struct screen *screen, uint64_t key)
{
	const struct list_view *table = view->state;

	for (size_t i = 0; i < table->list.n; i++)
		if (table->ops->key(view, screen, i) == key)
			return (long)i;
	return -1;
}

long list_view_seen(struct view *view, struct screen *screen)
{
	const struct list_view *table = view->state;

	return list_view_has_row(table) ? row_of(view, screen, table->selected) : -1;
}

void list_view_follow(struct view *view, struct screen *screen)
{
	struct list_view *table = view->state;

	list_stick(&table->list, table->moved ? row_of(view, screen, table->selected) : 0);
	/* If it is set, it is the row drawn last. */
	if (!table->selected && list_view_has_row(table))
		table->selected = table->ops->key(view, screen, table->list.cursor);
}

void list_view_choose(struct view *view, struct screen *screen)
{
	struct list_view *table = view->state;

	if (!table->list.lost || !table->list.n)
		return;
	list_set_cursor(&table->list, 0);
	remember(view, screen);
}

unsigned int list_view_changed(struct view *view, struct screen *screen)
{
	view->ops->refresh(view, screen);
	list_view_choose(view, screen);
	return VIEW_HANDLED;
}

void list_view_first(struct list_view *table)
{
	table->moved = false;
	table->selected = 0;
	list_set_cursor(&table->list, 0);
}

void list_view_go_to(struct view *view, struct screen *screen, size_t row)
{
	struct list_view *table = view->state;

	list_go_to(&table->list, row);
	remember(view, screen);
}

/* --- search and filter --- */

/* Moves the cursor to the next matching row; here: the current row counts, too. */
static bool find_row(struct view *view, struct screen *screen, int step, bool here)
{
	const struct list_view *table = view->state;
	size_t at = table->list.cursor;

	for (size_t i = 0; i < table->list.n; i++) {
		if (i > 0 || !here)
			at = (step > 0 ? at + 1 : at + table->list.n - 1) % table->list.n;
		if (table->ops->matches(view, screen, at, table->search)) {
			list_view_go_to(view, screen, at);
			return true;
		}
	}
	return false;
}

static unsigned int search_again(struct view *view, struct screen *screen, int step)
{
	const struct list_view *table = view->state;

	if (!table->search[0])
		screen_message(screen, STYLE_WARN, "Nothing was searched yet: / does");
	else if (!find_row(view, screen, step, false))
		screen_message(screen, STYLE_WARN, "No row matches \"%s\"", table->search);
	return VIEW_HANDLED;
}

static unsigned int ask(struct view *view, struct screen *screen, enum action action)
{
	struct list_view *table = view->state;
	bool search = action == ACT_SEARCH;

	memcpy(table->old, search ? table->search : table->filter, sizeof(table->old));
	table->search_from = table->selected;
	table->search_moved = table->moved;
	screen_prompt(
		screen, action, search ? "search: " : "filter: ", search ? "" : table->filter);
	return VIEW_HANDLED;
}

unsigned int list_view_prompt(struct view *view, struct screen *screen, enum action purpose,
	const char *text, enum prompt_result result)
{
	struct list_view *table = view->state;
	bool cancelled = result == PROMPT_CANCELLED;
	long from;

	snprintf(purpose == ACT_FILTER ? table->filter : table->search, PROMPT_MAX, "%s",
		cancelled ? table->old : text);
	if (purpose == ACT_FILTER)
		return list_view_changed(view, screen);
	/* While the text is typed, each search starts from the same row. */
	from = row_of(view, screen, table->search_from);
	if (cancelled && !table->search_moved) {
		list_view_first(table);
		table->selected = table->search_from;
	} else if (from >= 0) {
		list_view_go_to(view, screen, (size_t)from);
	}
	if (!cancelled && text[0] && !find_row(view, screen, 1, true) && result == PROMPT_DONE)
		screen_message(screen, STYLE_WARN, "No row matches \"%s\"", text);
	return VIEW_HANDLED;
}

void list_view_tags(const struct view *view, char *out, size_t size)
{
	const struct list_view *table = view->state;

	snprintf(out, size, "%s%s", table->filter[0] ? "filter: " : "", table->filter);
}

/* --- order --- */

static bool can_sort(const struct view *view, const struct screen *screen, int sort)
{
	const struct list_view *table = view->state;

	return !table->ops->can_sort || table->ops->can_sort(view, screen, sort);
}

unsigned int list_view_sort(struct view *view, struct screen *screen, int sort)
{
	struct list_view *table = view->state;

	table->reverse = table->sort == sort && !table->reverse;
	table->sort = sort;
	return list_view_changed(view, screen);
}

static unsigned int step_sort(struct view *view, struct screen *screen, int step)
{
	const struct list_view *table = view->state;
	int sort = table->sort;

	do
		sort = (sort + step + table->ops->sorts) % table->ops->sorts;
	while (!can_sort(view, screen, sort));
	return list_view_sort(view, screen, sort);
}

/* --- keys and clicks --- */

unsigned int list_view_action(struct view *view, struct screen *screen, enum action action)
{
	struct list_view *table = view->state;

	if (list_action(&table->list, action)) {
		remember(view, screen);
		return VIEW_HANDLED;
	}
	switch (action) {
	case ACT_SEARCH:
	case ACT_FILTER:
		return ask(view, screen, action);
	case ACT_SEARCH_NEXT:
		return search_again(view, screen, 1);
	case ACT_SEARCH_PREVIOUS:
		return search_again(view, screen, -1);
	case ACT_SORT_NEXT:
	case ACT_SORT_RIGHT:
		return step_sort(view, screen, 1);
	case ACT_SORT_LEFT:
		return step_sort(view, screen, -1);
	case ACT_REVERSE:
		return list_view_sort(view, screen, table->sort);
	case ACT_BACK:
		if (!table->search[0] && !table->filter[0])
			return 0;
		table->search[0] = table->filter[0] = '\0';
		return list_view_changed(view, screen);
	default:
		return 0;
	}
}

/* A column reaches to the next one. */
static unsigned int click_head(struct view *view, struct screen *screen, int x)
{
	const struct list_view *table = view->state;
	int sort = -1, nearest = -1;

	for (int i = 0; i < table->n_heads; i++) {
		if (table->heads[i].x > x || table->heads[i].x < nearest)
			continue;
		nearest = table->heads[i].x;
		sort = table->heads[i].sort;
	}
	return sort >= 0 && can_sort(view, screen, sort) ? list_view_sort(view, screen, sort) : 0;
}

unsigned int list_view_click(struct view *view, struct screen *screen, int x, int y, bool twice)
{
	struct list_view *table = view->state;
	uint64_t clicked = table->clicked;

	y += screen->body.y;
	if (table->n_heads && y == table->heads_y)
		return click_head(view, screen, x + screen->body.x);
	if (!list_click(&table->list, y))
		return 0;
	remember(view, screen);
	table->clicked = table->selected;
	/* Rows may have moved between the clicks: both must have hit the same row. */
	return twice && clicked == table->clicked && table->ops->twice != ACT_NONE
		? view->ops->action(view, screen, table->ops->twice)
		: VIEW_HANDLED;
}

/* --- drawing --- */

bool list_view_heads(struct list_view *table, struct area *area, int least)
{
	table->n_heads = 0;
	if (area->height < least)
		return false;
	table->heads_y = area->y++;
	area->height--;
	return true;
}

void list_view_head(struct list_view *table, struct canvas *canvas, int x, int width,
	const char *name, int sort, bool right)
{
	bool sorted = sort >= 0 && table->sort == sort, up;
	char text[HEAD_MAX];
	int used;

	if (width < 1)
		return;
	up = sorted && (table->ops->ascending >> sort & 1) != table->reverse;
	snprintf(text, sizeof(text), "%s%s", name, !sorted ? "" : up ? "▲" : "▼");
	used = width_of(text);
	canvas_text(canvas, right && used < width ? x + width - used : x, table->heads_y, width,
		sorted ? STYLE_HEADER_SORTED : STYLE_HEADER, text);
	if (table->n_heads < LIST_HEADS_MAX) {
		table->heads[table->n_heads].x = x;
		table->heads[table->n_heads++].sort = sort;
	}
}

void list_view_draw(struct view *view, struct screen *screen, struct area area,
	void (*draw_row)(void *ctx, size_t row, int y), void *ctx)
{
	struct list_view *table = view->state;

	list_draw(&table->list, &screen->canvas, area, draw_row, ctx);
	/* The user sees this row under the cursor. */
	if (!table->moved && table->list.n)
		table->selected = table->ops->key(view, screen, 0);
}
