/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notes.h - the last notable events of an engine, numbered.
 *
 * One thread adds, any thread reads; a mutex inside is held for copies only.
 */
#ifndef SAMPLER_NOTES_H
#define SAMPLER_NOTES_H

#include "sampler/engine.h"

#include <pthread.h>

#define NOTES_MAX 1000

struct notes {
	pthread_mutex_t lock;
	struct engine_note *ring; /* guarded, NOTES_MAX of them */
	uint64_t last; /* guarded: serial of the newest, 0: none */
};

int notes_init(struct notes *notes);
void notes_fini(struct notes *notes);

/* Keeps a copy with the next serial, which it returns. */
uint64_t notes_add(struct notes *notes, const struct engine_note *note);

/* Those with a serial above `after`, oldest first, at most max. */
size_t notes_read(struct notes *notes, uint64_t after, struct engine_note *out, size_t max);

#endif
