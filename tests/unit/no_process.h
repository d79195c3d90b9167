/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * no_process.h - a spawner that may not fork: its user's limit of processes is 0.
 *
 * The limit does not bind root itself, only the user that root becomes.  It binds other users at
 * once, so for them it is set later.
 */
#ifndef TESTS_NO_PROCESS_H
#define TESTS_NO_PROCESS_H

#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

/* Call before the spawner starts.  *old: the limit for no_process_after() to restore. */
static inline void no_process_before(struct rlimit *old)
{
	getrlimit(RLIMIT_NPROC, old);
	if (geteuid() == 0)
		setrlimit(RLIMIT_NPROC, &(struct rlimit){0, old->rlim_max});
}

/* Call after the spawner has started. */
static inline void no_process_after(const struct rlimit *old, pid_t spawner)
{
	if (geteuid() == 0)
		setrlimit(RLIMIT_NPROC, old);
	else
		prlimit(spawner, RLIMIT_NPROC, &(struct rlimit){0, old->rlim_max}, NULL);
}

#endif
