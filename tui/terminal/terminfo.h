/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * terminfo.h - the folders in which curses looks for the description of a terminal.
 */
#ifndef TUI_TERMINAL_TERMINFO_H
#define TUI_TERMINAL_TERMINFO_H

#define TERMINFO_PLACES 3

/* Variables of the environment that are hidden; NULL: not hidden. */
struct terminfo_hidden {
	char *values[TERMINFO_PLACES];
};

/* Hides TERMINFO, TERMINFO_DIRS and HOME from curses if the file system of their terminfo folder
 * does not answer: curses would wait without end.  Until terminfo_show() other threads do not see
 * these variables either. */
void terminfo_hide(struct terminfo_hidden *hidden, const char *type);
void terminfo_show(struct terminfo_hidden *hidden);

#endif
