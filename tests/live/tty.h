/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tty.h - a program in a pseudo-terminal, below a shell of a few lines: for tests of what a user's
 * terminal sees.
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
	int events_fd; /* from the shell: wait statuses */
	int continue_fd; /* to the shell: one byte continues a stopped program */
	struct termios before;
	char *output; /* everything that came so far, terminated */
	size_t len, seen; /* tty_expect() looks from seen on */
};

/* Start argv with the extra environment settings ("NAME=value", NULL-terminated, or NULL) in a new terminal.
 * Returns 0 or -errno. */
int tty_start(
	struct tty *tty, char *const *argv, const char *const *environment, int columns, int rows);
void tty_close(struct tty *tty); /* kills what still runs */

/* Read until text comes, from where the last one that was found ended.  False when it did not come in time. */
bool tty_expect(struct tty *tty, const char *text);
void tty_forget(
	struct tty *tty); /* what came so far: read what is there, and look only at what follows */
bool tty_contains(const struct tty *tty, const char *text); /* in everything that came */

void tty_type(struct tty *tty, const char *keys);
void tty_resize(struct tty *tty, int columns, int rows);

/* The next wait status of the program (ended, or stopped); false when none came in time. */
bool tty_status(struct tty *tty, int *status);
void tty_continue(struct tty *tty);

/* The terminal's modes are those of before the program. */
bool tty_modes_restored(const struct tty *tty);

/* Skips the test, with the reason, where a process that the caller has begun may not be sampled. */
void tty_need_events(pid_t target);

#endif
