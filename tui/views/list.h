/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list.h - the cursor and the scroll position of a list of rows, and what all lists do alike: draw the rows
 * in sight, follow a click.  Plain data; UI thread.
 */
#ifndef TUI_VIEWS_LIST_H
#define TUI_VIEWS_LIST_H

#include "tui/keys.h"
#include "tui/view.h"

#include <stdbool.h>
#include <stddef.h>

struct list {
	size_t n; /* rows there are */
	size_t cursor; /* below n, or 0 */
	size_t top; /* first row shown */
	size_t height; /* rows shown */
	bool lost; /* the row under the cursor is gone: none is marked until the user moves */
};

void list_set_count(struct list *list, size_t n);
void list_set_height(struct list *list, int height);
void list_set_cursor(struct list *list, size_t cursor);
void list_move(struct list *list, long delta);

/* After the rows changed: put the cursor on the row that it was on, now at `at`, or -1 where that is gone. */
void list_stick(struct list *list, long at);

/* Carry out an ACT_UP .. ACT_LAST; false where action is another one. */
bool list_action(struct list *list, enum action action);

/* For text without a cursor: the same actions, scrolling by rows. */
bool list_scroll(struct list *list, enum action action);
void list_scroll_by(struct list *list, long delta);

/* Draw the rows into the area, one a line, the cursor's marked. */
void list_draw(struct list *list, struct canvas *canvas, struct area area,
	void (*draw_row)(void *ctx, size_t row, int y), void *ctx);

/* Go to the row at y of a view's body, whose list has the last lines; false where there is none. */
bool list_click(struct list *list, const struct area *body, int y);

#endif
