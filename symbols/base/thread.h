/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * thread.h - a thread with a limited wait for its end, since it may hang in a system call forever.
 *
 * Its owner starts it and waits for it, once each.  All signals are blocked in it.
 */
#ifndef SYMBOLS_BASE_THREAD_H
#define SYMBOLS_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

struct thread {
	pthread_t thread;
	void (*run)(void *arg);
	void (*drop)(void *arg); /* called after run() if the owner stopped waiting; NULL if none */
	void *arg;
	pthread_mutex_t lock; /* guards the members below */
	pthread_cond_t end;
	bool ended, left;
};

/* Starts the thread with a name of at most 15 characters.  Returns 0 or -errno. */
int thread_start(struct thread *thread, const char *name, void (*run)(void *arg),
	void (*drop)(void *arg), void *arg);

/* Joins the thread.  Returns false if it still runs after limit_ms of the monotonic clock.  Then
 * *thread and all its data must stay until drop() is called. */
bool thread_wait(struct thread *thread, unsigned int limit_ms);

#endif
