/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list.h - the cursor and the scroll position of a list of rows.  Plain data; UI thread.
 */
#ifndef TUI_VIEWS_LIST_H
#define TUI_VIEWS_LIST_H

#include "tui/keys.h"

#include <stdbool.h>
#include <stddef.h>

struct list {
	size_t n; /* rows there are */
	size_t cursor; /* below n, or 0 */
	size_t top; /* first row shown */
	size_t height; /* rows shown */
};

void list_set_count(struct list *list, size_t n);
void list_set_height(struct list *list, int height);
void list_set_cursor(struct list *list, size_t cursor);
void list_move(struct list *list, long delta);

/* Carry out an ACT_UP .. ACT_LAST; false where action is another one. */
bool list_action(struct list *list, enum action action);

/* For text without a cursor: the same actions, scrolling by rows. */
bool list_scroll(struct list *list, enum action action);
void list_scroll_by(struct list *list, long delta);

#endif
