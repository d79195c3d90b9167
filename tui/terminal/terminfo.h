/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * terminfo.h - the folders in which curses looks for the description of a terminal.
 */
#ifndef TUI_TERMINAL_TERMINFO_H
#define TUI_TERMINAL_TERMINFO_H

/* Removes TERMINFO, TERMINFO_DIRS and HOME from the environment if the file system of their
 * terminfo folder does not answer: curses would wait for it without end.  Changes the environment,
 * so no other thread may read it yet. */
void terminfo_leave_out(const char *type);

#endif
