/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * screen.h - the whole screen without a terminal: model and input in, canvas out.
 *
 * Holds the stack of views (the hot table at the bottom), the prompt and the message line.  It uses
 * no terminal and takes times only from the model and the input, so tests drive it with a script.
 * UI thread.
 */
#ifndef TUI_SCREEN_SCREEN_H
#define TUI_SCREEN_SCREEN_H

#include "tui/base/history.h"
#include "tui/controls/input.h"
#include "tui/controls/theme.h"
#include "tui/model/model.h"
#include "tui/query/filter.h"
#include "tui/screen/view.h"
#include "tui/terminal/canvas.h"

#include <limits.h>

#define SCREEN_VIEWS_MAX 6
#define SCREEN_MESSAGE_NS 6000000000ull
/* for messages whose content the screen also shows elsewhere */
#define SCREEN_BRIEF_NS 2000000000ull

struct screen {
	struct model *model; /* borrowed */
	struct canvas canvas;
	const struct view_entry *entries; /* borrowed, see screen_init() */
	struct view views[SCREEN_VIEWS_MAX];
	int n_views;
	struct area body; /* area of the top view, as last drawn */

	struct theme theme; /* dark at first; the caller may set another */

	bool prompting;
	enum action purpose;
	struct prompt prompt;
	struct history typed_events; /* history of the event picker's prompt */

	char message[512];
	enum style message_style;
	uint64_t message_until_ns;
	bool saving; /* the model was saving at the last refresh */
	uint64_t log_seen; /* serial of the newest log line that was handled */
	/* model time of the last command; log lines soon after it become messages */
	uint64_t last_command_ns;

	/* The last requested rate: the next step starts from it, even if the engine has not applied
	 * it yet. */
	uint8_t rate_event;
	uint64_t rate, rate_ns;

	bool fetching, looking, reading, exporting; /* the message line shows this progress */
	char crumb_text[PROMPT_MAX]; /* text of a filter that was refused, to be corrected */

	char edit_path[PATH_MAX]; /* path for SCREEN_EDIT; "" if none */
	uint32_t edit_line;

	uint64_t click_ns;
	int click_x, click_y;
	bool selecting; /* the mouse button went down on the activity strip, at this time */
	uint64_t select_from_ns, select_to_ns;
};

/* entries: borrowed; the first is the view at the bottom, an entry without ops is the end.
 * Returns 0 or -errno. */
int screen_init(struct screen *screen, struct model *model, const struct view_entry *entries,
	int width, int height, bool ascii);
void screen_fini(struct screen *screen);
int screen_resize(struct screen *screen, int width, int height);

#define SCREEN_QUIT 1u
#define SCREEN_REDRAW 2u /* the user asked to redraw the whole screen */
#define SCREEN_THEME 8u /* the theme changed */
#define SCREEN_EDIT 4u /* the caller must open edit_path in an editor, and clear it */

/* Handles one key or mouse action; the next screen_draw() shows the result.  Returns SCREEN_*
 * bits. */
unsigned int screen_input(struct screen *screen, const struct input *input);

/* Refreshes the model, then the top view.  Returns 0 or -errno. */
int screen_refresh(struct screen *screen);
void screen_draw(struct screen *screen);

/* The functions below are for views. */
int screen_open(struct screen *screen, const struct view_ops *ops, uint32_t arg);
void screen_prompt(struct screen *screen, enum action purpose, const char *label, const char *text);
/* Replaces the text of the open prompt.  cursor: byte offset in the text. */
void screen_prompt_set(struct screen *screen, const char *text, size_t cursor);
void screen_message(struct screen *screen, enum style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Asks the caller of screen_input() to open a file at a line. */
void screen_edit(struct screen *screen, const char *path, uint32_t line);
/* Files (write.c).  Ask for a file name, for ACT_WRITE or ACT_EXPORT; then write the
 * file. */
unsigned int screen_ask_file(struct screen *screen, enum action purpose);
void screen_write_file(struct screen *screen, enum action purpose, const char *text);
/* Filters (crumbs.c): ask for one; take the typed text; add a term or its negation; add an
 * expression; remove the last one.  Return VIEW_* bits; screen_widen() returns 0 if there is no
 * filter. */
void screen_ask_crumb(struct screen *screen);
unsigned int screen_take_crumb(struct screen *screen, const char *text);
unsigned int screen_narrow(
	struct screen *screen, bool negated, enum filter_field field, const char *text);
unsigned int screen_narrow_to(struct screen *screen, const char *expression);
unsigned int screen_widen(struct screen *screen);
/* Shows the error of a command after the text `what`; nothing if ret is 0. */
void screen_result(struct screen *screen, int ret, const char *what);

#endif
