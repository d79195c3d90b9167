// SPDX-License-Identifier: GPL-3.0-or-later
/* tracing.c - reads and writes the tracing data section; see tracing.h. */
#include "sampler/perfdata/tracing.h"

#include "sampler/base/grow.h"
#include "sampler/base/sysfile.h"
#include "sampler/events/enumerators.h"
#include "sampler/machine/tracefs.h"
#include "sampler/perfdata/swap.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char magic[10] = {23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
#define VERSION "0.6" /* first version with the names of tasks, which are left out */
#define HEADER_PAGE "header_page"
#define HEADER_EVENT "header_event"

struct tracepoint {
	uint64_t id;
	char *format, *subsystem;
};

struct tracing {
	struct tracepoint *at;
	size_t n, size;
	struct tracing_source source;
};

/* --- reading --- */

struct reading {
	const uint8_t *at, *end;
	bool swapped;
};

/* Takes that many bytes.  Returns NULL if fewer are left. */
static const uint8_t *take(struct reading *in, uint64_t len)
{
	const uint8_t *at = in->at;

	if (len > (uint64_t)(in->end - in->at))
		return NULL;
	in->at += len;
	return at;
}

static bool take_32(struct reading *in, uint32_t *out)
{
	const uint8_t *at = take(in, sizeof(*out));

	if (at)
		*out = swap_get_32(at, in->swapped);
	return at;
}

/* Takes a length and that many bytes. */
static const char *take_text(struct reading *in, uint64_t *len)
{
	const uint8_t *at = take(in, sizeof(*len));

	if (!at)
		return NULL;
	*len = swap_get_64(at, in->swapped);
	return (const char *)take(in, *len);
}

static bool take_name(struct reading *in)
{
	const uint8_t *end = memchr(in->at, 0, (size_t)(in->end - in->at));

	if (end)
		in->at = end + 1;
	return end;
}

static bool is_next(struct reading *in, const void *bytes, size_t len)
{
	const uint8_t *at = take(in, len);

	return at && !memcmp(at, bytes, len);
}

/* Reads the number in the line "ID: 316". */
static bool find_id(const char *format, uint64_t *id)
{
	const char *line = !strncmp(format, "ID: ", 4) ? format : strstr(format, "\nID: ");
	char *end;

	if (!line)
		return false;
	line += *line == '\n' ? 5 : 4;
	if (*line < '0' || *line > '9')
		return false;
	errno = 0;
	*id = strtoull(line, &end, 10);
	return !errno;
}

/* Adds a format; ignores one without an id. */
static int add(struct tracing *tracing, const char *subsystem, const char *text, size_t len)
{
	char *copy, *named;
	uint64_t id;

	if (grow_items(&tracing->at, &tracing->size, tracing->n + 1, sizeof(*tracing->at)))
		return -ENOMEM;
	copy = strndup(text, len);
	if (!copy)
		return -ENOMEM;
	if (!find_id(copy, &id)) {
		free(copy);
		return 0;
	}
	named = strdup(subsystem);
	if (!named) {
		free(copy);
		return -ENOMEM;
	}
	tracing->at[tracing->n++] = (struct tracepoint){id, copy, named};
	return 0;
}

/* Takes the header, up to the events.  Returns 0 or -EBADMSG. */
static int take_header(struct tracing *tracing, struct reading *in)
{
	const uint8_t *order, *long_bytes;
	uint32_t n;
	uint64_t len;

	if (!is_next(in, magic, sizeof(magic)) || !take_name(in))
		return -EBADMSG;
	order = take(in, 1);
	if (!order || *order > 1)
		return -EBADMSG;
	in->swapped = *order != (BYTE_ORDER == BIG_ENDIAN);
	tracing->source.swapped = in->swapped;
	/* Bytes of a long, then bytes of a page. */
	long_bytes = take(in, 1);
	if (!long_bytes || !take(in, 4))
		return -EBADMSG;
	tracing->source.long_bytes = *long_bytes;
	if (!is_next(in, HEADER_PAGE, sizeof(HEADER_PAGE)) || !take_text(in, &len) ||
		!is_next(in, HEADER_EVENT, sizeof(HEADER_EVENT)) || !take_text(in, &len) ||
		!take_32(in, &n))
		return -EBADMSG;
	/* Formats of ftrace itself, which are no perf events. */
	while (n-- > 0)
		if (!take_text(in, &len))
			return -EBADMSG;
	return 0;
}

/* A longer format is ignored, because parsing has no time limit.  The kernel's have 7 kB. */
#define FORMAT_MAX (256u << 10)

static int take_events(struct tracing *tracing, struct reading *in)
{
	uint32_t systems, n;

	if (!take_32(in, &systems))
		return -EBADMSG;
	while (systems-- > 0) {
		const char *subsystem = (const char *)in->at;

		if (!take_name(in) || !take_32(in, &n))
			return -EBADMSG;
		while (n-- > 0) {
			uint64_t len;
			const char *text = take_text(in, &len);
			int err = !text || tracing->n == TRACING_EVENTS_MAX ? -EBADMSG
				: len > FORMAT_MAX			    ? 0
						   : add(tracing, subsystem, text, (size_t)len);

			if (err)
				return err;
		}
	}
	return 0;
}

/* Takes the data after the events: the kernel's symbols, which perf leaves out, and the texts that
 * samples refer to. */
static void take_texts(struct tracing *tracing, struct reading *in)
{
	const char *text;
	uint32_t len;

	if (!take_32(in, &len) || !take(in, len) || !take_32(in, &len) || !len)
		return;
	text = (const char *)take(in, len);
	if (!text)
		return;
	tracing->source.texts = strndup(text, len);
	if (tracing->source.texts)
		tracing->source.texts_len = strlen(tracing->source.texts);
}

static int by_id(const void *a, const void *b)
{
	const struct tracepoint *first = a, *second = b;

	return (first->id > second->id) - (first->id < second->id);
}

int tracing_new(struct tracing **out, const void *bytes, size_t len)
{
	struct tracing *tracing = calloc(1, sizeof(*tracing));
	const uint8_t *from = bytes ? bytes : (const uint8_t *)"";
	struct reading in = {from, from + len, false};
	int err;

	*out = NULL;
	if (!tracing)
		return -ENOMEM;
	err = take_header(tracing, &in);
	if (!err)
		err = take_events(tracing, &in);
	if (!err)
		take_texts(tracing, &in);
	if (err == -ENOMEM) {
		tracing_free(tracing);
		return err;
	}
	if (tracing->n)
		qsort(tracing->at, tracing->n, sizeof(*tracing->at), by_id);
	*out = tracing;
	return 0;
}

void tracing_free(struct tracing *tracing)
{
	if (!tracing)
		return;
	for (size_t i = 0; i < tracing->n; i++) {
		free(tracing->at[i].format);
		free(tracing->at[i].subsystem);
	}
	free(tracing->at);
	free((void *)(uintptr_t)tracing->source.texts);
	free(tracing);
}

size_t tracing_count(const struct tracing *tracing)
{
	return tracing->n;
}

static const struct tracepoint *find_tracepoint(const struct tracing *tracing, uint64_t id)
{
	const struct tracepoint key = {.id = id};

	if (!tracing || !tracing->n)
		return NULL;
	return bsearch(&key, tracing->at, tracing->n, sizeof(*tracing->at), by_id);
}

const char *tracing_format(const struct tracing *tracing, uint64_t id)
{
	const struct tracepoint *found = find_tracepoint(tracing, id);

	return found ? found->format : NULL;
}

const struct tracing_source *tracing_source(const struct tracing *tracing)
{
	static const struct tracing_source none;

	return tracing ? &tracing->source : &none;
}

bool tracing_name(const struct tracing *tracing, uint64_t id, char *out, size_t size)
{
	static const char key[] = "name: ";
	const struct tracepoint *found = find_tracepoint(tracing, id);
	const char *name;
	size_t system_len, len;

	if (!found || strncmp(found->format, key, sizeof(key) - 1) != 0)
		return false;
	name = found->format + sizeof(key) - 1;
	len = strcspn(name, "\n");
	system_len = strlen(found->subsystem);
	if (!len || !system_len || system_len + 1 + len >= size)
		return false;
	snprintf(out, size, "%s:%.*s", found->subsystem, (int)len, name);
	return true;
}

/* --- writing --- */

struct described {
	char subsystem[EVENT_NAME_MAX];
	char *format;
	size_t len;
};

static int by_subsystem(const void *a, const void *b)
{
	return strcmp(
		((const struct described *)a)->subsystem, ((const struct described *)b)->subsystem);
}

static void put_32(FILE *out, uint32_t value)
{
	fwrite(&value, sizeof(value), 1, out);
}

static void put_text(FILE *out, const char *text, size_t len)
{
	const uint64_t told = len;

	fwrite(&told, sizeof(told), 1, out);
	if (len)
		fwrite(text, 1, len, out);
}

static void put_header(FILE *out, const struct system_dirs *system, const char *name)
{
	char *text = NULL;
	size_t len = 0;

	(void)sysfile_read(&text, &len, "%s/events/%s", system->tracefs, name);
	fwrite(name, 1, strlen(name) + 1, out);
	put_text(out, text, text ? len : 0);
	free(text);
}

/* Writes the texts that formats refer to: a 32-bit length, then that many bytes. */
static void put_texts(FILE *out, const struct system_dirs *system)
{
	char *text = NULL;
	size_t len = 0;

	(void)sysfile_read(&text, &len, "%s/printk_formats", system->tracefs);
	if (!text || len > UINT32_MAX)
		len = 0;
	put_32(out, (uint32_t)len);
	if (len)
		fwrite(text, 1, len, out);
	free(text);
}

static void put_all(
	FILE *out, const struct system_dirs *system, const struct described *events, size_t n)
{
	uint32_t subsystems = 0;

	fwrite(magic, 1, sizeof(magic), out);
	fwrite(VERSION, 1, sizeof(VERSION), out);
	fputc(BYTE_ORDER == BIG_ENDIAN, out);
	fputc(sizeof(long), out);
	put_32(out, (uint32_t)sysconf(_SC_PAGESIZE));
	put_header(out, system, HEADER_PAGE);
	put_header(out, system, HEADER_EVENT);
	put_32(out, 0); /* number of ftrace's own formats */
	for (size_t i = 0; i < n; i++)
		subsystems += !i || by_subsystem(&events[i - 1], &events[i]);
	put_32(out, subsystems);
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && !by_subsystem(&events[i], &events[next]); next++)
			continue;
		fwrite(events[i].subsystem, 1, strlen(events[i].subsystem) + 1, out);
		put_32(out, (uint32_t)(next - i));
		for (size_t k = i; k < next; k++)
			put_text(out, events[k].format, events[k].len);
	}
	put_32(out, 0); /* size of the kernel's symbols */
	put_texts(out, system);
	put_text(out, NULL, 0); /* no names of tasks */
}

/* Search for the wanted tracepoints, which looks at each existing one once. */
struct search {
	const struct system_dirs *system;
	const uint64_t *ids;
	size_t n;
	struct described *events; /* room for n */
	size_t found;
};

static bool is_wanted(const struct search *search, uint64_t id)
{
	for (size_t i = 0; i < search->n; i++)
		if (search->ids[i] == id)
			return true;
	return false;
}

static int search_subsystem(struct search *search, const char *subsystem)
{
	struct sysfile_names names;
	int err = tracefs_events(search->system, subsystem, &names) == -ENOMEM ? -ENOMEM : 0;

	for (size_t i = 0; i < names.n && !err && search->found < search->n; i++) {
		struct described *to = &search->events[search->found];
		uint64_t id;

		if (tracefs_id(search->system, subsystem, names.names[i], &id) ||
			!is_wanted(search, id))
			continue;
		snprintf(to->subsystem, sizeof(to->subsystem), "%s", subsystem);
		err = tracefs_format(
			search->system, subsystem, names.names[i], &to->format, &to->len);
		search->found += !err;
		/* Another machine would not know the enumerators. */
		if (!err)
			err = enumerators_resolve(search->system, &to->format, &to->len);
		/* An unreadable format is left out. */
		if (err != -ENOMEM)
			err = 0;
	}
	sysfile_names_fini(&names);
	return err;
}

int tracing_make(
	const struct system_dirs *system, const uint64_t *ids, size_t n, void **bytes, size_t *len)
{
	struct search search = {system, ids, n, calloc(n ? n : 1, sizeof(struct described)), 0};
	struct sysfile_names subsystems = {0};
	char *text = NULL;
	FILE *out = NULL;
	int err = search.events ? 0 : -ENOMEM;

	*bytes = NULL;
	*len = 0;
	if (!err && tracefs_subsystems(system, &subsystems) == -ENOMEM)
		err = -ENOMEM;
	for (size_t i = 0; i < subsystems.n && !err && search.found < n; i++)
		err = search_subsystem(&search, subsystems.names[i]);
	if (err || !search.found)
		goto out;
	qsort(search.events, search.found, sizeof(*search.events), by_subsystem);
	out = open_memstream(&text, len);
	if (!out) {
		err = -ENOMEM;
		goto out;
	}
	put_all(out, system, search.events, search.found);
	err = ferror(out) ? -ENOMEM : 0;
	if (fclose(out) || !text)
		err = -ENOMEM;
	if (!err)
		*bytes = text;
	else
		free(text);
out:
	for (size_t i = 0; i < search.found; i++)
		free(search.events[i].format);
	free(search.events);
	sysfile_names_fini(&subsystems);
	return err;
}
