/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notes.h - the last notable events of an engine, numbered.
 *
 * One thread adds, any thread reads.  An internal mutex is held for copies only.
 */
#ifndef SAMPLER_CONTROL_NOTES_H
#define SAMPLER_CONTROL_NOTES_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct engine_note;

#define NOTES_MAX 1000

struct notes {
	pthread_mutex_t lock;
	struct engine_note *ring; /* guarded; NOTES_MAX entries */
	uint64_t last; /* guarded; serial of the newest note, 0 if none */
};

int notes_init(struct notes *notes);
void notes_fini(struct notes *notes);

/* Keeps a copy with the next serial.  Returns that serial. */
uint64_t notes_add(struct notes *notes, const struct engine_note *note);

/* Copies the notes with a serial above `after`, oldest first, at most max.  Returns their
 * number. */
size_t notes_read(struct notes *notes, uint64_t after, struct engine_note *out, size_t max);

#endif
