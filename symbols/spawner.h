/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spawner.h - a small process that forks workers, because the caller has threads by then.
 *
 * It is forked by spawner_open(), before any thread, gives up all privileges at once, and ends when
 * its socket is closed, and all workers with it.  One that was killed is replaced by this program executed
 * anew, since by then there are threads.  One thread at a time.
 */
#ifndef SYMBOLS_SPAWNER_H
#define SYMBOLS_SPAWNER_H

#include <stdbool.h>
#include <sys/types.h>

/* The first thing in main(), for a program that shall be able to replace its spawner: becomes the spawner
 * where spawner_restart() executed it, and then never returns. */
void spawner_entry(int argc, char **argv);

struct spawner {
	pid_t pid;
	int sock;
	int stop_fd; /* borrowed; waits end when it becomes readable; -1: none */
	unsigned int memory_mb;
	bool code; /* one that is executed loads what disassembles, for its workers */
	/* Of the worker that ended last, as far as told. */
	pid_t died_pid;
	int died_status;
};

/* Fork the process.  0, or -errno with spawner->sock -1. */
int spawner_open(struct spawner *spawner, unsigned int memory_mb);

/* Kills it and its workers, even stopped ones; waits at most two seconds for its end. */
void spawner_close(struct spawner *spawner);

/* End it, if it has not ended, and execute another.  Any thread may run.  0, or -errno with spawner->sock -1:
 * -ENOTSUP without spawner_entry(). */
int spawner_restart(struct spawner *spawner);

/* Fork a worker.  Returns 0, *pid, and the caller's socket to it in *sock.  -EPIPE: the spawner is
 * gone.  -ETIME or -EBADMSG: it no longer works, and only spawner_restart() helps.  -ECANCELED:
 * stop_fd is readable.  Or -errno. */
int spawner_fork(struct spawner *spawner, pid_t *pid, int *sock);

/* Reports how worker pid ended, after waiting up to timeout_ms.  Returns 0, -ETIME, -ECANCELED, or
 * -EPIPE without a spawner. */
int spawner_status(struct spawner *spawner, pid_t pid, int timeout_ms, int *status);

#endif
