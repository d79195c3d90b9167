/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_names.c - demangles names in batches; a batch that kills the worker is retried name by name.
 *
 * Runs in the loader thread.
 */
#include "symbols/loader/loader_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct asker_limits demangle_limits = {.cpu_ms = 500, .wall_ms = 10000};

/* Splits the answer into names.  After an invalid answer the remaining names stay as they are. */
static void take_pretty(struct loader_name **names, size_t n, const char *text, size_t len)
{
	for (size_t i = 0; i < n; i++) {
		size_t pretty_len = strnlen(text, len);
		if (pretty_len == len)
			return;
		if (pretty_len)
			names[i]->pretty = strdup(text);
		text += pretty_len + 1;
		len -= pretty_len + 1;
	}
}

/* Demangles a batch.  Returns false if it must be retried name by name. */
static bool demangle(struct loader *loader, struct loader_name **names, size_t n)
{
	struct wire_message answer;
	size_t len = 0;
	int none;

	for (size_t i = 0; i < n; i++) {
		size_t bytes = strlen(names[i]->name) + 1;
		memcpy(loader->packet + len, names[i]->name, bytes);
		len += bytes;
	}
	const struct asker_question question = {.type = WIRE_DEMANGLE,
		.payload = loader->packet,
		.len = len,
		.fd = -1,
		.limits = demangle_limits};
	load_for(loader, LOADER_NAMES);
	int ret = asker_ask(
		&loader->asker, &question, &answer, loader->packet, WIRE_PACKET_BYTES, &len, &none);
	if (none >= 0)
		close(none);
	if (ret == 0)
		take_pretty(names, n, loader->packet, len);
	if (ret == -EPIPE && n == 1)
		loader_add_note(loader, SYMBOLS_NOTE_NAME_LEFT, names[0]->name, 0,
			loader->asker.died_status);
	if (ret == -ECHILD)
		loader_tell_no_worker(loader);
	return ret != -EPIPE || n == 1;
}

size_t load_take_names(struct loader *loader, struct loader_name **batch)
{
	size_t n = 0, bytes = 0;

	while (n < WIRE_NAMES_MAX && loader->names) {
		struct loader_name *name = loader->names;
		bytes += strlen(name->name) + 1;
		if (n && (name->suspect || bytes > WIRE_PACKET_BYTES / 2))
			break;
		batch[n++] = name;
		loader->names = name->next;
		if (!loader->names)
			loader->names_end = &loader->names;
		name->next = NULL;
		if (name->suspect)
			break;
	}
	return n;
}

void load_names(struct loader *loader, struct loader_name **batch, size_t n)
{
	bool done = demangle(loader, batch, n);

	pthread_mutex_lock(&loader->lock);
	for (size_t i = 0; i < n; i++) {
		struct loader_name ***end = done ? &loader->names_done_end : &loader->names_end;
		batch[i]->suspect = !done;
		**end = batch[i];
		*end = &batch[i]->next;
	}
	pthread_mutex_unlock(&loader->lock);
	if (done)
		loader_signal(loader);
}
