/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list.c - see list.h.
 */
#include "tui/views/list.h"

static void keep_visible(struct list *list)
{
	size_t height = list->height ? list->height : 1;

	if (list->cursor >= list->n)
		list->cursor = list->n ? list->n - 1 : 0;
	if (list->cursor < list->top)
		list->top = list->cursor;
	else if (list->cursor >= list->top + height)
		list->top = list->cursor - height + 1;
	/* No blank rows at the end while there are rows above. */
	if (list->top + height > list->n)
		list->top = list->n > height ? list->n - height : 0;
}

void list_set_count(struct list *list, size_t n)
{
	list->n = n;
	keep_visible(list);
}

void list_set_height(struct list *list, int height)
{
	list->height = height > 0 ? (size_t)height : 0;
	keep_visible(list);
}

void list_set_cursor(struct list *list, size_t cursor)
{
	list->cursor = cursor;
	list->lost = false;
	keep_visible(list);
}

void list_stick(struct list *list, long at)
{
	if (at >= 0)
		list_set_cursor(list, (size_t)at);
	else
		list->lost = true;
}

void list_move(struct list *list, long delta)
{
	if (delta < 0)
		list->cursor -= (size_t)-delta < list->cursor ? (size_t)-delta : list->cursor;
	else
		list->cursor += (size_t)delta;
	keep_visible(list);
}

void list_go_to(struct list *list, size_t row)
{
	size_t half = list->height / 2;

	if (row < list->top || row >= list->top + list->height)
		list->top = row > half ? row - half : 0;
	list_set_cursor(list, row);
}

static bool distance(const struct list *list, enum action action, long *delta)
{
	long page = list->height > 1 ? (long)list->height - 1 : 1;

	switch (action) {
	case ACT_UP:
		*delta = -1;
		return true;
	case ACT_DOWN:
		*delta = 1;
		return true;
	case ACT_PAGE_UP:
		*delta = -page;
		return true;
	case ACT_PAGE_DOWN:
		*delta = page;
		return true;
	case ACT_HALF_UP:
		*delta = -(page + 1) / 2;
		return true;
	case ACT_HALF_DOWN:
		*delta = (page + 1) / 2;
		return true;
	case ACT_FIRST:
		*delta = -(long)list->n;
		return true;
	case ACT_LAST:
		*delta = (long)list->n;
		return true;
	default:
		return false;
	}
}

bool list_action(struct list *list, enum action action)
{
	long delta;

	if (!distance(list, action, &delta))
		return false;
	list->lost = false;
	list_move(list, delta);
	return true;
}

void list_scroll_by(struct list *list, long delta)
{
	size_t last = list->n > list->height ? list->n - list->height : 0;

	if (delta < 0)
		list->top -= (size_t)-delta < list->top ? (size_t)-delta : list->top;
	else
		list->top += (size_t)delta;
	if (list->top > last)
		list->top = last;
	list->cursor = list->top;
}

bool list_scroll(struct list *list, enum action action)
{
	long delta;

	if (!distance(list, action, &delta))
		return false;
	list_scroll_by(list, delta);
	return true;
}

void list_draw(struct list *list, struct canvas *canvas, struct area area,
	void (*draw_row)(void *ctx, size_t row, int y), void *ctx)
{
	list_set_height(list, area.height);
	list->y = area.y;
	for (size_t i = 0; i < list->height && list->top + i < list->n; i++) {
		int y = area.y + (int)i;

		draw_row(ctx, list->top + i, y);
		if (list->top + i == list->cursor && !list->lost)
			canvas_select_row(canvas, y);
	}
}

bool list_click(struct list *list, int y)
{
	long line = y - list->y;

	if (line < 0 || (size_t)line >= list->height || list->top + (size_t)line >= list->n)
		return false;
	list_set_cursor(list, list->top + (size_t)line);
	return true;
}
