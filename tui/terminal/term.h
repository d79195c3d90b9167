/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * term.h - the terminal: shows a canvas, reads keys and mouse.  The only module that uses curses.
 *
 * One terminal at a time; UI thread.  From term_open() to term_close(), deadly signals (SIGSEGV,
 * SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT) in any thread restore the terminal before they kill.
 * The caller handles other signals: it blocks them before term_open(), so that curses' own handlers
 * never run.
 */
#ifndef TUI_TERMINAL_TERM_H
#define TUI_TERMINAL_TERM_H

#include "tui/controls/input.h"
#include "tui/controls/theme.h"
#include "tui/terminal/canvas.h"

#include <stdbool.h>

struct terminal;

struct term_options {
	bool ascii; /* even if the locale is UTF-8 */
	bool mono; /* no colors */
	bool no_mouse;
	struct theme theme;
};

/* Opens the terminal.  Returns 0, or an error with *out = NULL.  Errors: -ENOTTY: standard output
 * or input is no terminal.  -ENOENT: TERM is not set, or has no stand-in.  -ENOTSUP: the terminal
 * cannot move the cursor.  Or another -errno. */
int term_open(struct terminal **out, const struct term_options *options);

/* Checks whether term_open() would work, without touching the terminal.  Returns 0 or an error as
 * above. */
int term_probe(void);

/* Returns the terminal type in use if terminfo does not know TERM; else NULL. */
const char *term_stand_in(const struct terminal *term);

/* Returns to the shell's screen; NULL is a no-op. */
void term_close(struct terminal *term);

bool term_is_ascii(const struct terminal *term);
int term_input_fd(const struct terminal *term);
int term_output_fd(const struct terminal *term);

/* Sets the theme, from the next term_show() on. */
void term_set_theme(struct terminal *term, const struct theme *theme);

/* Asks the terminal for its current size. */
void term_size(struct terminal *term, int *width, int *height);

/* Shows the canvas; sends only what differs from the screen. */
void term_show(struct terminal *term, const struct canvas *canvas);

/* Makes the next term_show() draw everything. */
void term_redraw(struct terminal *term);

/* Returns whether the terminal accepts output now; false while a slow terminal still processes the
 * last frame. */
bool term_ready(const struct terminal *term);

/* Reads the next key or mouse action; false if there is none now. */
bool term_read(struct terminal *term, struct input *out);

/* Leave the screen to the shell, and come back. */
void term_suspend(struct terminal *term);
void term_resume(struct terminal *term);

#endif
