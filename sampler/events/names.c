// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * names.c - event names as texts: shortens long names and splits lists.
 */
#include "sampler/events/event.h"
#include "sampler/events/private.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HASH_BYTES (sizeof("..#01234567..") - 1)

static bool is_continued(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

void event_fit_name(char *out, size_t size, const char *text, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325ull;
	size_t head, tail;

	if (len < size) {
		memcpy(out, text, len);
		out[len] = '\0';
		return;
	}
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
	/* The tail is longer, since a probe's function is at the end. */
	head = (size - 1 - HASH_BYTES) / 3;
	tail = len - (size - 1 - HASH_BYTES - head);
	while (head && is_continued(text[head]))
		head--;
	while (tail < len && is_continued(text[tail]))
		tail++;
	memcpy(out, text, head);
	head += (size_t)sprintf(out + head, "..#%08" PRIx32 "..", (uint32_t)(hash >> 32));
	memcpy(out + head, text + tail, len - tail);
	out[head + len - tail] = '\0';
}

/* Joins a name and its modifier letters, "" or ":u". */
static void join_letters(
	char out[EVENT_NAME_MAX], const char *name, size_t len, const char *letters)
{
	size_t n = strlen(letters);

	event_fit_name(out, len + n < EVENT_NAME_MAX ? EVENT_NAME_MAX : EVENT_FIT_BYTES, name, len);
	memcpy(out + strlen(out), letters, n + 1);
}

void event_add_letters(struct event_spec *spec, const char *letters)
{
	char name[EVENT_NAME_MAX] = "";

	join_letters(name, spec->name, strlen(spec->name), letters);
	memcpy(spec->name, name, sizeof(name));
}

const char *event_modifiers(const char *name, uint32_t type)
{
	/* In a tracepoint, the first colon separates subsystem and name. */
	const char *begin = type == PERF_TYPE_TRACEPOINT ? strchr(name, ':') : NULL;
	const char *colon = strrchr(begin ? begin + 1 : name, ':'), *slash = strrchr(name, '/');
	const char *last = !colon || (slash && slash > colon) ? slash : colon;

	if (last && event_are_modifiers((struct event_piece){last + 1, strlen(last + 1)}))
		return last + 1;
	return name + strlen(name);
}

void event_name_user_only(char name[EVENT_NAME_MAX], uint32_t type)
{
	const char *old = event_modifiers(name, type);
	char letters[EVENT_NAME_MAX + 2] = ":", out[EVENT_NAME_MAX] = "";
	size_t len = (size_t)(old - name), n = 1;

	if (*old && old[-1] == ':')
		len--;
	if (len && name[len - 1] == '/')
		n = 0;
	letters[n++] = 'u';
	for (; *old; old++)
		if (!strchr("ukh", *old))
			letters[n++] = *old;
	letters[n] = '\0';
	join_letters(out, name, len, letters);
	memcpy(name, out, sizeof(out));
}

bool event_is_called(const char *name, const char *asked)
{
	const char *colon = strrchr(asked, ':'), *slash = strrchr(asked, '/');
	const char *letters = !colon || (slash && slash > colon) ? slash : colon;
	const size_t len = strlen(asked);
	char fit[EVENT_NAME_MAX];

	if (!strcmp(name, asked))
		return true;
	if (len < EVENT_NAME_MAX)
		return false;
	/* perf's names are cut to EVENT_NAME_MAX; strobe's leave room for modifiers. */
	event_fit_name(fit, sizeof(fit), asked, len);
	if (!strcmp(name, fit))
		return true;
	join_letters(fit, asked, len, "");
	if (!strcmp(name, fit))
		return true;
	/* Modifier letters follow the colon, or the slash that ends the terms. */
	if (!letters)
		return false;
	letters += letters == slash;
	if (strlen(letters) > EVENT_NAME_MAX - EVENT_FIT_BYTES)
		return false;
	join_letters(fit, asked, (size_t)(letters - asked), letters);
	return !strcmp(name, fit);
}

size_t event_name_len(const char *text)
{
	size_t len = event_place_len(text);
	const char *close;

	for (; text[len] && text[len] != ','; len++) {
		bool terms = text[len] == '/' && len && text[len - 1] != '@';

		close = terms ? strchr(text + len + 1, '/') : NULL;
		if (text[len] == '{')
			close = strchr(text + len, '}');
		if (close)
			len = (size_t)(close - text);
	}
	return len;
}
