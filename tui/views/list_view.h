/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list_view.h - the common part of views with a table: cursor, search, filter, order, clicks.
 *
 * The cursor stays on its row while rows change, and on top if it was never moved.  The state of
 * such a view begins with a struct list_view.  Functions for actions, prompts, clicks and tags may
 * be handlers in struct view_ops, or are called by them.  UI thread.
 */
#ifndef TUI_VIEWS_LIST_VIEW_H
#define TUI_VIEWS_LIST_VIEW_H

#include "tui/screen/screen.h"
#include "tui/views/list.h"

#define LIST_HEADS_MAX 16

/* Callbacks get only rows below list.n. */
struct list_view_ops {
	/* Returns the identity of a row, by which the row is found again after a refresh. */
	uint64_t (*key)(struct view *view, struct screen *screen, size_t row);
	/* Returns whether a row contains the searched text, which is not empty. */
	bool (*matches)(struct view *view, struct screen *screen, size_t row, const char *text);
	/* Returns whether there is a column to sort by; NULL: all are there. */
	bool (*can_sort)(const struct view *view, const struct screen *screen, int sort);
	int sorts; /* number of columns to sort by; 0: the view has no keys to sort */
	unsigned int ascending; /* bits of the columns that begin with the least or with A */
	enum action twice; /* action of a double click; ACT_NONE: none */
	bool first_sticks; /* the cursor stays on a first row that the user chose, too */
};

struct list_view {
	struct list list;
	const struct list_view_ops *ops; /* set by the view */
	uint64_t selected; /* key of the row that the user saw at the cursor */
	bool moved; /* the cursor stays on the selected row, not on top */
	int sort; /* below ops->sorts */
	bool reverse;
	char search[PROMPT_MAX], filter[PROMPT_MAX];
	/* private */
	char old[PROMPT_MAX]; /* search or filter before the prompt */
	uint64_t search_from; /* key of the row where the search began */
	bool search_moved; /* `moved` at that time */
	uint64_t clicked; /* key of the row that was clicked last */
	struct {
		int x, sort;
	} heads[LIST_HEADS_MAX];
	int n_heads, heads_y;
};

/* Handle moves, search, filter, order, and Esc, which ends search and filter; 0 for other actions.
 * Return VIEW_* bits. */
unsigned int list_view_action(struct view *view, struct screen *screen, enum action action);
unsigned int list_view_prompt(struct view *view, struct screen *screen, enum action purpose,
	const char *text, enum prompt_result result);
unsigned int list_view_click(struct view *view, struct screen *screen, int x, int y, bool twice);
void list_view_tags(const struct view *view, char *out, size_t size);

/* After new rows: moves the cursor to the selected one. */
void list_view_follow(struct view *view, struct screen *screen);
/* After the user chose other rows: refreshes; selects the first row if the selected one is gone.
 * Returns VIEW_HANDLED. */
unsigned int list_view_changed(struct view *view, struct screen *screen);
/* Sorts by a column, or reverses the order if rows are sorted by it.  Returns VIEW_HANDLED. */
unsigned int list_view_sort(struct view *view, struct screen *screen, int sort);
/* Selects the first row if the selected one is gone. */
void list_view_choose(struct view *view, struct screen *screen);
/* Goes to the first row, and stays on top.  The next refresh selects it. */
void list_view_first(struct list_view *table);
/* Moves the cursor to a row, and stays there. */
void list_view_go_to(struct view *view, struct screen *screen, size_t row);

/* Returns the row that the user saw at the cursor, for commands: rows may have moved since the last
 * drawing.  -1 if there is none. */
long list_view_seen(struct view *view, struct screen *screen);

/* Returns whether a row is selected that still exists, which is then list.cursor. */
bool list_view_has_row(const struct list_view *table);

/* Returns a key of a text. */
uint64_t list_view_text_key(const char *text);

/* Takes the first line of the area for the heads of columns, if the area has `least` lines or more.
 * If it returns true, the caller draws each head. */
bool list_view_heads(struct list_view *table, struct area *area, int least);
/* Draws the head of a column, which is not shown if its width is below 1.  sort: negative if rows
 * cannot be sorted by it.  right: the column is aligned to the right. */
void list_view_head(struct list_view *table, struct canvas *canvas, int x, int width,
	const char *name, int sort, bool right);
/* Draws the visible rows. */
void list_view_draw(struct view *view, struct screen *screen, struct area area,
	void (*draw_row)(void *ctx, size_t row, int y), void *ctx);

#endif
