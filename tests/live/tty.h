/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tty.h - runs a program in a pseudo-terminal, below a small shell.
 *
 * For tests of the output that a user's terminal gets.
 */
#ifndef TESTS_LIVE_TTY_H
#define TESTS_LIVE_TTY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

#define TTY_TIMEOUT_MS 60000 /* a guard against hanging, not an expectation */

struct tty {
	int master;
	pid_t shell, program;
	int events_fd; /* wait statuses from the shell */
	int continue_fd; /* to the shell; one byte continues a stopped program */
	struct termios before;
	char *output; /* all output so far, NUL-terminated */
	size_t len, seen; /* tty_expect() starts its search at seen */
};

/* Starts argv in a new terminal of this size, below a shell.  environment: more settings
 * ("NAME=value"), NULL-terminated; may be NULL.  Returns 0 or -errno. */
int tty_start(
	struct tty *tty, char *const *argv, const char *const *environment, int columns, int rows);
void tty_close(struct tty *tty); /* kills the processes that still run */

/* Reads until text comes; starts after the last match.  Returns false if it does not come in
 * time. */
bool tty_expect(struct tty *tty, const char *text);
/* Reads the pending output.  tty_expect() then searches only later output. */
void tty_forget(struct tty *tty);
bool tty_contains(const struct tty *tty, const char *text); /* in all output so far */

void tty_type(struct tty *tty, const char *keys);
void tty_resize(struct tty *tty, int columns, int rows);

/* Waits for the program's next wait status (ended, or stopped).  Returns false if none comes in
 * time. */
bool tty_status(struct tty *tty, int *status);
void tty_continue(struct tty *tty);

/* Returns whether the terminal has the modes from before the program. */
bool tty_modes_restored(const struct tty *tty);

/* Skips the test, with the reason, if a child of the caller may not be sampled. */
void tty_need_events(pid_t target);

#endif
