/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * launch.h - starts a command that waits until its events are open.
 *
 * launch_fork() creates the process, launch_go() lets it execute the command.  One thread at a time
 * may use the parent's side.
 */
#ifndef SAMPLER_KERNEL_LAUNCH_H
#define SAMPLER_KERNEL_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

/* Replaces inherited signal dispositions that would harm the caller.  A write to a closed pipe or
 * beyond the file size limit then returns an error, and a child's status can be waited for.
 * Commands get the inherited dispositions and the signal mask at this call.  Call once, before any
 * thread starts. */
void launch_take_signals(void);

struct launch {
	int32_t pid; /* 0: none */
	/* readable once the command ended; -1: not supported by the kernel, wait for pid instead */
	int pid_fd;
	int go_fd, error_fd;
	/* CPU time of the ended command and of the children that it waited for; 0: unknown */
	uint64_t cpu_ns;
};

/* Forks a child that waits for launch_go().  The child already sleeps when this returns.  If
 * output_fd >= 0, the child's stdout and stderr go there, stdin is /dev/null, and it gets its own
 * process group.  Otherwise it shares all three and the terminal.  Returns 0 or -errno.  The caller
 * keeps output_fd. */
int launch_fork(struct launch *launch, char *const argv[], int output_fd);

/* Lets the child execute the command.  Returns 0, or -errno of execvp(3); the child is gone
 * then. */
int launch_go(struct launch *launch);

/* Whether the command ended; sets its wait status.  Does not block. */
bool launch_ended(struct launch *launch, int *status);

/* Sends a signal to the command.  Returns 0 or -errno.  Must not run at the same time as
 * launch_ended(), which frees the pid. */
int launch_signal(const struct launch *launch, int signal);

/* Closes the descriptors.  A child that launch_go() never released ends; a running command
 * continues. */
void launch_close(struct launch *launch);

#endif
