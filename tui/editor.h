/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * editor.h - the user's editor, while strobe has left the terminal to it.  UI thread.
 */
#ifndef TUI_EDITOR_H
#define TUI_EDITOR_H

#include <signal.h>
#include <stdint.h>

/* Run $VISUAL, $EDITOR or vi on a file's line and wait for its end; where it is stopped (^Z), so is this process.
 * mask: the signal mask that the editor gets.  Its exit status, 127 where it could not be started; or -errno. */
int editor_run(const char *path, uint32_t line, const sigset_t *mask);

#endif
