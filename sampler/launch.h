/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * launch.h - start a command that waits until its events are open.
 *
 * launch_fork() makes the process, launch_go() lets it execute the command.  The parent's side may
 * be used by one thread at a time.
 */
#ifndef SAMPLER_LAUNCH_H
#define SAMPLER_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

/* Replaces inherited signal dispositions that would harm the caller.  A write to a closed pipe or
 * beyond the file size limit then returns an error, and a child's status can be waited for.
 * Commands get the inherited dispositions and the signal mask at this call.  Call once, before any
 * thread starts. */
void launch_take_signals(void);

struct launch {
	int32_t pid; /* 0: none */
	int pid_fd; /* readable when the command ended; -1: the kernel has none, use waiting */
	int go_fd, error_fd;
};

/* Fork a child that waits for launch_go().  When this returns, the child sleeps already.  With
 * output_fd >= 0, which stays the caller's, the command's stdout and stderr go there, stdin is
 * /dev/null and it gets a process group of its own; else it shares all three and the terminal.
 * 0 or -errno. */
int launch_fork(struct launch *launch, char *const argv[], int output_fd);

/* Let the child execute the command.  Returns 0, or -errno of execvp(3), the child being gone then. */
int launch_go(struct launch *launch);

/* Whether the command ended, with its wait status; does not block. */
bool launch_ended(struct launch *launch, int *status);

/* Send it a signal; 0 or -errno.  Not at the same time as launch_ended(), which frees the number. */
int launch_signal(const struct launch *launch, int signal);

/* Closes descriptors.  A child that never got to go ends; a running command goes on. */
void launch_close(struct launch *launch);

#endif
