// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * text.c - texts and roots of event descriptions, shared until the process ends.
 *
 * The table below references all texts until the end.  Any thread.
 */
#include "sampler/events/event.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
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

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct event_system this_system = {.sysfs = "/sys", .proc = "/proc"};

static void look_around(void)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !this_system.tracefs; i++) {
		char path[64] = "";

		strcat(strcat(path, places[i]), "/events");
		/* An unreadable directory exists too: report that it cannot be read. */
		if (!access(path, F_OK) || errno == EACCES)
			this_system.tracefs = places[i];
	}
}

const struct event_system *event_system(void)
{
	pthread_once(&once, look_around);
	return &this_system;
}
