/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * thread.h - a thread with a limited wait for its end, since it may hang in a system call for ever.
 *
 * Its owner starts it and waits for it, once each.  All signals are blocked in it.
 */
#ifndef SYMBOLS_THREAD_H
#define SYMBOLS_THREAD_H

#include <pthread.h>
#include <stdbool.h>

struct thread {
	pthread_t thread;
	void (*run)(void *arg);
	void (*drop)(void *arg); /* called after run() if the owner gave up waiting; NULL if none */
	void *arg;
	pthread_mutex_t lock; /* guards the members below */
	pthread_cond_t end;
	bool ended, left;
};

/* Start it with a name of at most 15 characters.  Returns 0 or -errno. */
int thread_start(struct thread *thread, const char *name, void (*run)(void *arg),
	void (*drop)(void *arg), void *arg);

/* Join it.  Returns false if it still runs after limit_ms of the monotonic clock.  Then *thread and
 * all its data must stay until drop(). */
bool thread_wait(struct thread *thread, unsigned int limit_ms);

#endif
