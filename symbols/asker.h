/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * asker.h - one question at a time to the worker, which is started when needed and killed when it takes too long.
 *
 * Used by the loader thread; asker_open() and asker_close() by the thread that makes it.
 */
#ifndef SYMBOLS_ASKER_H
#define SYMBOLS_ASKER_H

#include "symbols/spawner.h"
#include "symbols/wire.h"

#include <stdatomic.h>
#include <stdbool.h>

struct asker {
	struct spawner spawner;
	int sock; /* to the worker; -1: none now */
	int stop_fd; /* borrowed eventfd: readable ends the wait */
	uint32_t last_id;
	_Atomic int worker_pid, spawner_pid; /* -1: none now; any thread */
	int died_status; /* of waitpid(2), after -EPIPE */
	bool timed_out; /* after -EPIPE: the worker exceeded its time and was killed */
	int start_error; /* after -ECHILD: positive errno; 0: it was killed */
	int confine_error; /* of the last worker started, positive errno; taken by the loader */
};

/* How long the worker may take: its own CPU time, and time on the wall (slow disks, busy machines). */
struct asker_limits {
	unsigned int cpu_ms, wall_ms;
};

struct asker_question {
	enum wire_type type;
	const void *payload;
	size_t len;
	int fd; /* -1: none; stays the caller's */
	const int *second_fd; /* NULL: none */
	const int *
		fds; /* instead of both, where more are sent: n_fds, at most WIRE_FDS_MAX; NULL: none */
	size_t n_fds;
	uint32_t flags; /* WIRE_FLAG_* */
	uint64_t address;
	struct asker_limits limits;
};

/* Fork the spawner; before any thread.  0 or -errno. */
int asker_open(struct asker *asker, int stop_fd, unsigned int memory_mb);
/* Begin without a spawner: the first question executes this program anew for it (see spawner_restart()), so that it may
 * be asked by any thread at any time.  code: its workers can disassemble. */
void asker_open_late(struct asker *asker, int stop_fd, unsigned int memory_mb, bool code);
void asker_close(struct asker *asker); /* ends worker and spawner */

/* End the worker, if there is one: the next question finds a new one. */
void asker_renew(struct asker *asker);

/* Returns 0 with *answer, *len bytes of payload in out, and *fd, which becomes the caller's (-1: none);
 * -EPIPE when the worker died of it or was killed, see died_status; -ECANCELED; -ECHILD when no worker
 * can be started, see start_error; or -errno.  What the answer says is not checked. */
int asker_ask(struct asker *asker, const struct asker_question *question,
	struct wire_message *answer, void *out, size_t size, size_t *len, int *fd);

#endif
