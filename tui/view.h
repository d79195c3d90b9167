/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * view.h - what every view is: a small table of functions, and private state.
 *
 * A view draws into its area and says what a key changed; the screen (screen.h) acts on it.  UI thread.
 */
#ifndef TUI_VIEW_H
#define TUI_VIEW_H

#include "tui/canvas.h"
#include "tui/input.h"
#include "tui/keys.h"
#include "tui/prompt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct screen;
struct view;

struct area {
	int x, y, width, height;
};

/* What a handler changed; 0: the action is not the view's. */
#define VIEW_HANDLED 1u /* draw again */
#define VIEW_SETTINGS 2u /* settings of the model: bring it up to date, and refresh */
#define VIEW_CLOSE 4u /* the view is done */

struct view_ops {
	enum keys_view keys;
	/* arg is the opener's: the breakdown's symref.  0 with view->state set, or -errno. */
	int (*open)(struct view *view, struct screen *screen, uint32_t arg);
	unsigned int (*action)(struct view *view, struct screen *screen, enum action action);
	/* The text of a prompt that the view asked for (screen_prompt()) changes, or ends. */
	unsigned int (*prompt)(struct view *view, struct screen *screen, enum action purpose,
		const char *text, enum prompt_result result);
	/* A key while its prompt is open, before the prompt gets it; false: the prompt's.  May be NULL. */
	bool (*prompt_key)(
		struct view *view, struct screen *screen, enum action purpose, uint32_t key);
	/* x and y are within the view's area; twice: the second click of a double click. */
	unsigned int (*click)(struct view *view, struct screen *screen, int x, int y, bool twice);
	/* The button that was pressed in the view's area is let go there; may be NULL. */
	unsigned int (*release)(struct view *view, struct screen *screen, int x, int y);
	/* The model holds new data. */
	void (*refresh)(struct view *view, struct screen *screen);
	void (*draw)(struct view *view, struct screen *screen, struct area area);
	/* For the tab line: what is left out, or changed; may be NULL. */
	void (*tags)(const struct view *view, char *out, size_t size);
	void (*close)(struct view *view);
	bool stays; /* below a view that is opened over it */
};

struct view {
	const struct view_ops *ops;
	void *state; /* the view's own */
};

#endif
