/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * giveup.h - lets a signal end writing, even if opening the output or its reader blocks.
 *
 * SIGINT, SIGTERM and SIGHUP interrupt the blocked call and replace the output by a descriptor that
 * cannot be written.  All later writes fail, and the command ends as after any write error.  The
 * state is global to the process.  Signals that were ignored at the start stay ignored.
 */
#ifndef TUI_BASE_GIVEUP_H
#define TUI_BASE_GIVEUP_H

#include <stdbool.h>

/* Installs the handlers and unblocks the signals in the calling thread; other threads keep them
 * blocked.  Returns 0 or -errno. */
int giveup_begin(void);

/* Sets the output; -1: none.  Call it with -1 before the output is closed. */
void giveup_watch(int fd);

/* Sets whether the calling thread takes the signals.  Only the thread that writes should. */
void giveup_here(bool here);

/* Whether a signal has come. */
bool giveup_came(void);

/* Acts as if a signal had come. */
void giveup_now(void);

/* Blocks the signals again and forgets the output. */
void giveup_end(void);

#endif
