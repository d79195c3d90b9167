/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exit_status.h - strobe's exit status after it ran a command, like env(1), time(1) and perf
 * record.
 */
#ifndef TUI_BASE_EXIT_STATUS_H
#define TUI_BASE_EXIT_STATUS_H

#include <stdbool.h>

/* Returns `own`, the status of strobe's own work, if it is a failure.  Else returns the command's
 * status, or 0 if it has not ended.  A command killed by a signal has 128 plus the signal's number.
 * wait_status: from waitpid(2), read only if the command ended. */
int exit_status_of(int own, bool command_ended, int wait_status);

/* Returns the status for a command that execvp(3) refused with error: 127 if the file is missing,
 * else 126. */
int exit_status_refused(int error);

#endif
