/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * giveup.h - writing that a signal ends, however long its reader or its opening lets it wait.
 *
 * SIGINT, SIGTERM and SIGHUP interrupt the call that waits, and put a descriptor that nothing can be written to in the
 * place of the output, so that all that follows fails at once and the command ends as after any error.  One for the
 * process.  Signals that the process was started to ignore stay ignored.
 */
#ifndef TUI_GIVEUP_H
#define TUI_GIVEUP_H

#include <stdbool.h>

/* From here on, in the calling thread; others keep the signals blocked.  0 or -errno. */
int giveup_begin(void);

/* The output, -1: none; to be taken back before it is closed. */
void giveup_watch(int fd);

/* Whether the calling thread takes the signals: the one that writes should, and no other. */
void giveup_here(bool here);

/* Has a signal come? */
bool giveup_came(void);

/* As if one had. */
void giveup_now(void);

/* Blocks the signals again. */
void giveup_end(void);

#endif
