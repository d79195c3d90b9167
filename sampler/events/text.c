/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text.c - texts of event descriptions, one copy of each, until the process ends.  Any thread.
 */
#include "sampler/events/event.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define SLOTS 256

struct text {
	struct text *next;
	size_t len;
	char bytes[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct text *slots[SLOTS]; /* guarded by lock */

static struct text **slot_of(const char *text, size_t len)
{
	return &slots[XXH3_64bits(text, len) % SLOTS];
}

const char *event_text(const char *text, size_t len)
{
	struct text **slot = slot_of(text, len), *found;

	pthread_mutex_lock(&lock);
	for (found = *slot; found; found = found->next)
		if (found->len == len && !memcmp(found->bytes, text, len))
			break;
	if (!found) {
		found = malloc(sizeof(*found) + len + 1);
		if (found) {
			found->len = len;
			memcpy(found->bytes, text, len);
			found->bytes[len] = '\0';
			found->next = *slot;
			*slot = found;
		}
	}
	pthread_mutex_unlock(&lock);
	return found ? found->bytes : NULL;
}
