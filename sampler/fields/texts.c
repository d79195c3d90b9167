/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * texts.c - see private.h: texts for addresses, from a kernel's printk_formats.
 *
 * Each line is like 0xffffffff8281a569 : "rcu_preempt-GPS".  The characters \n, \t, \\ and \" are
 * escaped.
 */
#include "sampler/fields/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS_MAX 65536u

struct fields_text {
	uint64_t address;
	const char *text; /* points into bytes */
};

struct fields_texts {
	struct fields_text *at;
	size_t n;
	char *bytes;
};

static int by_address(const void *a, const void *b)
{
	const struct fields_text *first = a, *second = b;

	return (first->address > second->address) - (first->address < second->address);
}

/* Unescapes the text of a NUL-terminated line, in place; NULL if the line has none. */
static char *take_text(char *at)
{
	char *text, *to;

	at += strspn(at, " ");
	if (*at++ != ':')
		return NULL;
	at += strspn(at, " ");
	if (*at++ != '"')
		return NULL;
	text = to = at;
	for (; *at && *at != '"'; at++) {
		if (*at == '\\' && at[1])
			*to++ = *++at == 'n' ? '\n' : *at == 't' ? '\t' : *at;
		else
			*to++ = *at;
	}
	*to = '\0';
	return text;
}

#define BYTES_MAX ((size_t)1 << 20) /* each event has a copy; the kernel has about 50 kB */

int fields_texts_new(struct fields_texts **out, const char *text, size_t len)
{
	struct fields_texts *texts = calloc(1, sizeof(*texts));
	size_t lines = 1;

	*out = NULL;
	if (!texts)
		return -ENOMEM;
	len = len < BYTES_MAX ? len : BYTES_MAX;
	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	lines = lines < TEXTS_MAX ? lines : TEXTS_MAX;
	texts->bytes = strndup(text, len);
	texts->at = calloc(lines, sizeof(*texts->at));
	if (!texts->bytes || !texts->at) {
		fields_texts_free(texts);
		return -ENOMEM;
	}
	for (char *line = texts->bytes, *next; line && texts->n < lines; line = next) {
		struct fields_text *to = &texts->at[texts->n];
		char *end;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		to->address = strtoull(line, &end, 16);
		to->text = end == line ? NULL : take_text(end);
		texts->n += to->text != NULL;
	}
	qsort(texts->at, texts->n, sizeof(*texts->at), by_address);
	*out = texts;
	return 0;
}

void fields_texts_free(struct fields_texts *texts)
{
	if (!texts)
		return;
	free(texts->at);
	free(texts->bytes);
	free(texts);
}

const char *fields_texts_find(const struct fields_texts *texts, uint64_t address)
{
	const struct fields_text key = {.address = address}, *found = NULL;

	if (texts && texts->n)
		found = bsearch(&key, texts->at, texts->n, sizeof(*texts->at), by_address);
	return found ? found->text : NULL;
}
