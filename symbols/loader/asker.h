/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * asker.h - one question at a time to the worker.
 *
 * Starts the worker when it is needed and kills it when it takes too long.  The loader thread asks;
 * the thread that creates the loader calls asker_open() and asker_close().
 */
#ifndef SYMBOLS_LOADER_ASKER_H
#define SYMBOLS_LOADER_ASKER_H

#include "symbols/wire/wire.h"
#include "symbols/worker/spawner.h"

#include <stdatomic.h>
#include <stdbool.h>

struct asker {
	struct spawner spawner;
	int sock; /* to the worker; -1: none now */
	int stop_fd; /* borrowed eventfd; a wait ends when it is readable */
	uint32_t last_id;
	_Atomic int worker_pid, spawner_pid; /* -1: none now; any thread */
	int died_status; /* waitpid(2) status; valid after -EPIPE */
	bool timed_out; /* after -EPIPE: the worker exceeded its time and was killed */
	int start_error; /* positive errno, after -ECHILD; 0: worker or spawner was killed */
	int confine_error; /* positive errno of the last worker started; taken by the loader */
};

/* How long the worker may take: its own CPU time, and wall-clock time (slow disks, busy
 * machines). */
struct asker_limits {
	unsigned int cpu_ms, wall_ms;
};

struct asker_question {
	enum wire_type type;
	const void *payload;
	size_t len;
	int fd; /* -1: none; owned by the caller */
	const int *second_fd; /* NULL: none */
	const int *fds; /* instead of both: n_fds descriptors, at most WIRE_FDS_MAX; NULL: none */
	size_t n_fds;
	uint32_t flags; /* WIRE_FLAG_* */
	uint64_t address;
	struct asker_limits limits;
};

/* Forks the spawner; must run before any thread starts.  Returns 0 or -errno. */
int asker_open(struct asker *asker, int stop_fd, unsigned int memory_mb);
/* Begins without a spawner: the first question executes this program again as the spawner, see
 * spawner_restart().  So any thread may ask it at any time.  code: its workers can disassemble. */
void asker_open_late(struct asker *asker, int stop_fd, unsigned int memory_mb, bool code);
void asker_close(struct asker *asker); /* ends worker and spawner */

/* Ends the worker, if any: the next question starts a new one. */
void asker_renew(struct asker *asker);

/* Sends a question and waits for its answer.  Returns 0 with *answer, *len bytes of payload in
 * `out`, and *fd, which the caller owns (-1: none).  Returns -EPIPE if the worker died or was
 * killed, see died_status; -ECANCELED if stop_fd ended the wait; -ECHILD if no worker can be
 * started, see start_error; or -errno.  The payload is not checked. */
int asker_ask(struct asker *asker, const struct asker_question *question,
	struct wire_message *answer, void *out, size_t size, size_t *len, int *fd);

#endif
