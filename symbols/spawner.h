/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spawner.h - a small process that forks workers, because the caller has threads by then.
 *
 * It is forked by spawner_open(), before any thread, gives up all privileges at once, and ends when
 * its socket is closed, and all workers with it.  One thread at a time.
 */
#ifndef SYMBOLS_SPAWNER_H
#define SYMBOLS_SPAWNER_H

#include <stdbool.h>
#include <sys/types.h>

struct spawner {
	pid_t pid;
	int sock;
	/* Of the worker that ended last, as far as told. */
	pid_t died_pid;
	int died_status;
};

/* Fork the process.  0, or -errno with spawner->sock -1. */
int spawner_open(struct spawner *spawner, unsigned int memory_mb);
void spawner_close(struct spawner *spawner); /* waits for its end */

/* Fork a worker.  Returns 0, *pid, and in *sock the socket to it, which is the caller's; or -errno. */
int spawner_fork(struct spawner *spawner, pid_t *pid, int *sock);

/* How worker pid ended: waits up to timeout_ms to be told.  0 or -ETIME, or -EPIPE without a spawner. */
int spawner_status(struct spawner *spawner, pid_t pid, int timeout_ms, int *status);

#endif
