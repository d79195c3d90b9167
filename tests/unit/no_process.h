/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * no_process.h - a spawner that may not fork: the limit of its user's processes is 0.
 *
 * The limit does not bind root, but what root becomes; others are bound at once and have to be told later.
 */
#ifndef TESTS_NO_PROCESS_H
#define TESTS_NO_PROCESS_H

#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

/* Around the spawner's start: before it, with the limit to be put back. */
static inline void no_process_before(struct rlimit *old)
{
	getrlimit(RLIMIT_NPROC, old);
	if (geteuid() == 0)
		setrlimit(RLIMIT_NPROC, &(struct rlimit){0, old->rlim_max});
}

/* After it. */
static inline void no_process_after(const struct rlimit *old, pid_t spawner)
{
	if (geteuid() == 0)
		setrlimit(RLIMIT_NPROC, old);
	else
		prlimit(spawner, RLIMIT_NPROC, &(struct rlimit){0, old->rlim_max}, NULL);
}

#endif
