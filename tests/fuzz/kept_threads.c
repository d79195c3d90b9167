/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kept_threads.c - see kept_threads.h.  A pthread_t is the thread's index in the list plus one.
 */
#define KEPT_THREADS_C
#include "tests/fuzz/kept_threads.h"

#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>

#define THREADS 8u

static struct kept {
	bool is_used; /* this and is_made are guarded by lock */
	bool is_made;
	pthread_t thread;
	sem_t begun, ended;
	void *(*function)(void *);
	void *ctx, *result;
} threads[THREADS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *serve(void *ctx)
{
	struct kept *kept = ctx;

	for (;;) {
		while (sem_wait(&kept->begun))
			;
		kept->result = kept->function(kept->ctx);
		sem_post(&kept->ended);
	}
	return NULL;
}

int kept_create(
	pthread_t *out, const pthread_attr_t *attributes, void *(*function)(void *), void *ctx)
{
	size_t i = 0;

	pthread_mutex_lock(&lock);
	/* So many threads run only if the target failed to join some. */
	while (threads[i].is_used)
		if (++i == THREADS)
			abort();
	struct kept *kept = &threads[i];
	if (!kept->is_made &&
		(sem_init(&kept->begun, 0, 0) || sem_init(&kept->ended, 0, 0) ||
			pthread_create(&kept->thread, attributes, serve, kept)))
		abort();
	kept->is_made = kept->is_used = true;
	pthread_mutex_unlock(&lock);
	kept->function = function;
	kept->ctx = ctx;
	*out = (pthread_t)(i + 1);
	sem_post(&kept->begun);
	return 0;
}

int kept_join(pthread_t thread, void **result)
{
	struct kept *kept = &threads[thread - 1];

	while (sem_wait(&kept->ended))
		;
	if (result)
		*result = kept->result;
	pthread_mutex_lock(&lock);
	kept->is_used = false;
	pthread_mutex_unlock(&lock);
	return 0;
}
