/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * view.h - the interface of a view: a table of functions, and private state.
 *
 * A view draws into its area and returns what a key changed; the screen (screen.h) acts on it.
 * UI thread.
 */
#ifndef TUI_SCREEN_VIEW_H
#define TUI_SCREEN_VIEW_H

#include "tui/controls/input.h"
#include "tui/controls/keys.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/prompt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct screen;
struct view;

struct area {
	int x, y, width, height;
};

/* Results of a handler, or'ed; 0: the view does not handle the action. */
#define VIEW_HANDLED 1u /* draw again */
#define VIEW_SETTINGS 2u /* settings of the model changed: update it and refresh */
#define VIEW_CLOSE 4u /* close the view */

struct view_ops {
	enum keys_view keys;
	/* arg depends on the view, like the breakdown's symref.  Returns 0 with view->state set, or
	 * -errno. */
	int (*open)(struct view *view, struct screen *screen, uint32_t arg);
	unsigned int (*action)(struct view *view, struct screen *screen, enum action action);
	/* Handles a change or the end of a prompt that the view opened with screen_prompt(). */
	unsigned int (*prompt)(struct view *view, struct screen *screen, enum action purpose,
		const char *text, enum prompt_result result);
	/* Handles a key while the view's prompt is open; false passes it to the prompt.  May be
	 * NULL. */
	bool (*prompt_key)(
		struct view *view, struct screen *screen, enum action purpose, uint32_t key);
	/* x and y are relative to the view's area.  twice: second click of a double click. */
	unsigned int (*click)(struct view *view, struct screen *screen, int x, int y, bool twice);
	/* Handles the release of a button that was pressed in the view's area; may be NULL. */
	unsigned int (*release)(struct view *view, struct screen *screen, int x, int y);
	/* Called when the model has new data. */
	void (*refresh)(struct view *view, struct screen *screen);
	void (*draw)(struct view *view, struct screen *screen, struct area area);
	/* Writes a text for the tab line, like an active search; may be NULL. */
	void (*tags)(const struct view *view, char *out, size_t size);
	void (*close)(struct view *view);
	bool stays; /* stays open below a view that is opened over it */
};

struct view {
	const struct view_ops *ops;
	void *state; /* private to the view */
};

/* A view that a key opens from every other one; the first entry of a table is the bottom view. */
struct view_entry {
	enum action action;
	const struct view_ops *ops; /* arg: enum keys_view of the view below; 0 for the first */
	const char *title;
};

#endif
