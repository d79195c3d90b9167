/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * editor.h - runs the user's editor while strobe releases the terminal.  UI thread.
 */
#ifndef TUI_TERMINAL_EDITOR_H
#define TUI_TERMINAL_EDITOR_H

#include <signal.h>
#include <stdint.h>

/* Runs $VISUAL, $EDITOR or vi on a line of a file and waits until it exits.  If the editor is
 * stopped (^Z), this process stops, too.  mask: the editor's signal mask.  Returns the exit status,
 * 127 if the command was not found, or -errno. */
int editor_run(const char *path, uint32_t line, const sigset_t *mask);

#endif
