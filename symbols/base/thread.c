/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * thread.c - see thread.h.
 *
 * thread_wait() uses a condition for two reasons.  pthread_timedjoin_np() uses the wall clock,
 * which may be set back.  gcc 12's ThreadSanitizer does not know pthread_clockjoin_np().
 */
#include "symbols/base/thread.h"

#include "symbols/base/clock.h"

#include <signal.h>
#include <time.h>

static void fini_thread(struct thread *thread)
{
	pthread_cond_destroy(&thread->end);
	pthread_mutex_destroy(&thread->lock);
}

static void *run_thread(void *arg)
{
	struct thread *thread = arg;

	thread->run(thread->arg);
	pthread_mutex_lock(&thread->lock);
	thread->ended = true;
	const bool left = thread->left;
	pthread_cond_signal(&thread->end);
	pthread_mutex_unlock(&thread->lock);
	/* An owner that still waits joins this thread, and *thread may already be gone. */
	if (left && thread->drop) {
		fini_thread(thread);
		thread->drop(thread->arg);
	}
	return NULL;
}

int thread_start(struct thread *thread, const char *name, void (*run)(void *arg),
	void (*drop)(void *arg), void *arg)
{
	pthread_condattr_t attr;
	sigset_t all, old;

	*thread = (struct thread){.run = run, .drop = drop, .arg = arg};
	pthread_mutex_init(&thread->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&thread->end, &attr);
	pthread_condattr_destroy(&attr);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	const int ret = pthread_create(&thread->thread, NULL, run_thread, thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret) {
		fini_thread(thread);
		return -ret;
	}
	pthread_setname_np(thread->thread, name);
	return 0;
}

bool thread_wait(struct thread *thread, unsigned int limit_ms)
{
	const struct timespec until = clock_after(limit_ms);
	int ret = 0;

	pthread_mutex_lock(&thread->lock);
	while (!thread->ended && ret == 0)
		ret = pthread_cond_timedwait(&thread->end, &thread->lock, &until);
	const bool ended = thread->ended;
	thread->left = !ended;
	/* Detached under the lock, since the thread may free itself after it sees `left`. */
	if (!ended)
		pthread_detach(thread->thread);
	pthread_mutex_unlock(&thread->lock);
	if (ended) {
		pthread_join(thread->thread, NULL);
		fini_thread(thread);
	}
	return ended;
}
