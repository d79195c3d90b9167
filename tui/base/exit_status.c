/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exit_status.c - see exit_status.h.
 */
#include "tui/base/exit_status.h"

#include <errno.h>
#include <sys/wait.h>

int exit_status_of(int own, bool command_ended, int wait_status)
{
	if (own || !command_ended)
		return own;
	if (WIFSIGNALED(wait_status))
		return 128 + WTERMSIG(wait_status);
	return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;
}

int exit_status_refused(int error)
{
	return error == ENOENT ? 127 : 126;
}
