/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list.h - cursor and scroll position of a list of rows, and common actions: draw visible rows,
 * follow a click.  Plain data; UI thread.
 */
#ifndef TUI_VIEWS_LIST_H
#define TUI_VIEWS_LIST_H

#include "tui/controls/keys.h"
#include "tui/screen/view.h"

#include <stdbool.h>
#include <stddef.h>

struct list {
	size_t n; /* number of rows */
	size_t cursor; /* row at the cursor; below n, or 0 */
	size_t top; /* first visible row */
	size_t height; /* number of visible rows */
	int y; /* y of the first visible row on the canvas, as last drawn */
	bool lost; /* the row at the cursor is gone: no row is marked until the user moves */
};

void list_set_count(struct list *list, size_t n);
void list_set_height(struct list *list, int height);
void list_set_cursor(struct list *list, size_t cursor);
void list_move(struct list *list, long delta);
/* Moves the cursor to a row, into the middle of the screen if it was out of sight. */
void list_go_to(struct list *list, size_t row);

/* After the rows changed: moves the cursor to its old row, now at `at`; -1 if that is gone. */
void list_stick(struct list *list, long at);

/* Handles ACT_UP to ACT_LAST; returns false for other actions. */
bool list_action(struct list *list, enum action action);

/* Handles the same actions for text without a cursor: scrolls by rows. */
bool list_scroll(struct list *list, enum action action);
void list_scroll_by(struct list *list, long delta);

/* Draws the visible rows into the area, one per line, and marks the cursor's. */
void list_draw(struct list *list, struct canvas *canvas, struct area area,
	void (*draw_row)(void *ctx, size_t row, int y), void *ctx);

/* Moves the cursor to the row that was drawn at y of the canvas.  Returns false if there is no
 * row. */
bool list_click(struct list *list, int y);

#endif
