/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spawner.h - a small process that forks workers for a caller that has threads.
 *
 * spawner_open() forks it before any thread starts.  It drops all privileges at once.  It ends when
 * its socket closes, together with all workers.  If it was killed, this program is executed again
 * to replace it, because threads run then.  For one thread at a time.
 */
#ifndef SYMBOLS_WORKER_SPAWNER_H
#define SYMBOLS_WORKER_SPAWNER_H

#include <stdbool.h>
#include <sys/types.h>

/* Call first in main(), or spawner_restart() fails.  Becomes the spawner if spawner_restart()
 * executed this program, and then never returns. */
void spawner_entry(int argc, char **argv);

struct spawner {
	pid_t pid;
	int sock;
	int stop_fd; /* borrowed; ends waits when readable; -1 if none */
	unsigned int memory_mb;
	bool code; /* an executed spawner loads the disassembler for its workers */
	/* The worker that was reported last as ended: */
	pid_t died_pid;
	int died_status;
};

/* Forks the spawner.  Returns 0; -errno and spawner->sock is -1. */
int spawner_open(struct spawner *spawner, unsigned int memory_mb);

/* Kills the spawner and its workers, even stopped ones; waits at most two seconds for its end. */
void spawner_close(struct spawner *spawner);

/* Ends the spawner if it still runs, and executes another.  Any thread may run meanwhile.  Returns
 * 0; -errno and spawner->sock is -1: -ENOTSUP without spawner_entry(). */
int spawner_restart(struct spawner *spawner);

/* Forks a worker.  Returns 0 with *pid and *sock, a socket to it that the caller closes.  -EPIPE:
 * the spawner is gone.  -ETIME or -EBADMSG: it no longer works, and only spawner_restart() helps.
 * -ECANCELED: stop_fd is readable.  Otherwise -errno. */
int spawner_fork(struct spawner *spawner, pid_t *pid, int *sock);

/* Reports how worker pid ended, after waiting up to timeout_ms.  Returns 0, -ETIME, -ECANCELED, or
 * -EPIPE without a spawner. */
int spawner_status(struct spawner *spawner, pid_t pid, int timeout_ms, int *status);

#endif
