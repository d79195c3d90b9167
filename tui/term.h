/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * term.h - the terminal: canvas out, keys and mouse in.  The only module that knows curses.
 *
 * One terminal at a time; UI thread.  From term_open() to term_close() deadly signals (SIGSEGV,
 * SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT) of any thread restore the terminal before they kill.
 * Other signals are the caller's: it blocks them before term_open() (term_signals()), and curses' own
 * handlers then never run.
 */
#ifndef TUI_TERM_H
#define TUI_TERM_H

#include "tui/canvas.h"
#include "tui/input.h"
#include "tui/theme.h"

#include <stdbool.h>

struct terminal;

struct term_options {
	bool ascii; /* even where the locale is UTF-8 */
	bool mono; /* no colours */
	bool no_mouse;
	struct theme theme;
};

/* Returns 0; or sets *out to NULL and returns -ENOTTY where standard output or input is no
 * terminal, -ENOENT for a TERM that is not set or has no stand-in, -ENOTSUP for one that cannot
 * move the cursor, or another -errno. */
int term_open(struct terminal **out, const struct term_options *options);

/* Whether term_open() would find a terminal that it can use, without touching it: 0 or as above. */
int term_probe(void);

/* Returns the terminal that the screen is drawn for if terminfo does not know TERM; else NULL. */
const char *term_stand_in(const struct terminal *term);

/* Back to the shell's screen; NULL is a no-op. */
void term_close(struct terminal *term);

bool term_is_ascii(const struct terminal *term);
int term_input_fd(const struct terminal *term);
int term_output_fd(const struct terminal *term);

/* Another theme from the next term_show() on. */
void term_set_theme(struct terminal *term, const struct theme *theme);

/* Asks the terminal for its size, now. */
void term_size(struct terminal *term, int *width, int *height);

/* Bring the canvas to the screen; only what differs is sent. */
void term_show(struct terminal *term, const struct canvas *canvas);

/* The next term_show() draws everything. */
void term_redraw(struct terminal *term);

/* Whether output would be taken now; a slow terminal still digests the last frame where not. */
bool term_ready(const struct terminal *term);

/* The next key or mouse action; false when there is none now. */
bool term_read(struct terminal *term, struct input *out);

/* Leave the screen to the shell, and come back. */
void term_suspend(struct terminal *term);
void term_resume(struct terminal *term);

#endif
