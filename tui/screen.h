/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * screen.h - the whole screen without a terminal: model in, input in, canvas out.
 *
 * Holds the stack of views (the hot table at the bottom), the prompt and the message line.
 * Knows no terminal, no clock but the model's and the input's: tests drive it with a script.  UI thread.
 */
#ifndef TUI_SCREEN_H
#define TUI_SCREEN_H

#include "tui/canvas.h"
#include "tui/filter.h"
#include "tui/history.h"
#include "tui/input.h"
#include "tui/model.h"
#include "tui/theme.h"
#include "tui/view.h"

#include <limits.h>

#define SCREEN_VIEWS_MAX 6
#define SCREEN_MESSAGE_NS 6000000000ull
#define SCREEN_BRIEF_NS 2000000000ull /* of what is seen elsewhere as well */

struct screen {
	struct model *model; /* borrowed */
	struct canvas canvas;
	struct view views[SCREEN_VIEWS_MAX];
	int n_views;
	struct area body; /* of the top view, as last drawn */

	struct theme theme; /* dark at first; the caller may set another */

	bool prompting;
	enum action purpose;
	struct prompt prompt;
	struct history typed_events; /* of the event picker's prompt */

	char message[512];
	enum style message_style;
	uint64_t message_until_ns;
	bool saving; /* was, at the last refresh */
	uint64_t log_seen; /* serial of the newest line looked at */
	uint64_t last_command_ns; /* model time of the last command: its answer is a message */

	/* The last rate asked for: the next step goes on from it, though the engine has not answered. */
	uint8_t rate_event;
	uint64_t rate, rate_ns;

	bool fetching, looking, reading, exporting; /* the progress is shown */
	char crumb_text[PROMPT_MAX]; /* a filter that was refused, to be mended */

	char edit_path[PATH_MAX]; /* of SCREEN_EDIT; "": nothing */
	uint32_t edit_line;

	uint64_t click_ns;
	int click_x, click_y;
	bool selecting; /* the mouse went down on the activity strip, at this time */
	uint64_t select_from_ns, select_to_ns;
};

int screen_init(struct screen *screen, struct model *model, int width, int height, bool ascii);
void screen_fini(struct screen *screen);
int screen_resize(struct screen *screen, int width, int height);

#define SCREEN_QUIT 1u
#define SCREEN_REDRAW 2u /* the user asked for the whole screen again */
#define SCREEN_THEME 8u /* another theme */
#define SCREEN_EDIT 4u /* the caller opens edit_path in an editor, and clears it */

/* Handle one key or mouse action; screen_draw() afterwards shows what it did. */
unsigned int screen_input(struct screen *screen, const struct input *input);

/* Have the model take in what is new, and the top view after it.  0 or -errno. */
int screen_refresh(struct screen *screen);
void screen_draw(struct screen *screen);

/* For views. */
int screen_open(struct screen *screen, const struct view_ops *ops, uint32_t arg);
void screen_prompt(struct screen *screen, enum action purpose, const char *label, const char *text);
/* Another text for the open prompt, with the cursor before its byte of that number. */
void screen_prompt_set(struct screen *screen, const char *text, size_t cursor);
void screen_message(struct screen *screen, enum style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Have a file opened at a line, when the input has been handled. */
void screen_edit(struct screen *screen, const char *path, uint32_t line);
/* Files (screen_write.c): ask for the name of one, for ACT_WRITE or ACT_EXPORT; what was typed. */
unsigned int screen_ask_file(struct screen *screen, enum action purpose);
void screen_write_file(struct screen *screen, enum action purpose, const char *text);
/* Filters (screen_crumbs.c): ask for one, take what was typed; only what has this text in a field, or all but that; take
 * the last one back.  What they changed, for the caller to return; 0: there was none to take back. */
void screen_ask_crumb(struct screen *screen);
unsigned int screen_take_crumb(struct screen *screen, const char *text);
unsigned int screen_narrow(
	struct screen *screen, bool negated, enum filter_field field, const char *text);
unsigned int screen_narrow_to(struct screen *screen, const char *expression);
unsigned int screen_widen(struct screen *screen);
/* Show the outcome of a command: nothing on 0, else what and the error. */
void screen_result(struct screen *screen, int ret, const char *what);

#endif
