/* SPDX-License-Identifier: GPL-3.0-or-later */
/* notes.c - a ring of notes under a mutex; see notes.h. */
#include "sampler/control/notes.h"
#include "sampler/control/note.h"

#include <errno.h>
#include <stdlib.h>

int notes_init(struct notes *notes)
{
	int ret;

	*notes = (struct notes){0};
	notes->ring = calloc(NOTES_MAX, sizeof(*notes->ring));
	if (!notes->ring)
		return -ENOMEM;
	ret = pthread_mutex_init(&notes->lock, NULL);
	if (ret) {
		free(notes->ring);
		notes->ring = NULL;
	}
	return -ret;
}

void notes_fini(struct notes *notes)
{
	if (!notes->ring)
		return;
	pthread_mutex_destroy(&notes->lock);
	free(notes->ring);
	notes->ring = NULL;
}

uint64_t notes_add(struct notes *notes, const struct engine_note *note)
{
	uint64_t serial;

	pthread_mutex_lock(&notes->lock);
	serial = ++notes->last;
	notes->ring[serial % NOTES_MAX] = *note;
	notes->ring[serial % NOTES_MAX].serial = serial;
	pthread_mutex_unlock(&notes->lock);
	return serial;
}

size_t notes_read(struct notes *notes, uint64_t after, struct engine_note *out, size_t max)
{
	size_t n = 0;

	pthread_mutex_lock(&notes->lock);
	if (notes->last > NOTES_MAX && after < notes->last - NOTES_MAX)
		after = notes->last - NOTES_MAX;
	while (n < max && after < notes->last)
		out[n++] = notes->ring[++after % NOTES_MAX];
	pthread_mutex_unlock(&notes->lock);
	return n;
}
