/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * enumerators.c - see enumerators.h.
 *
 * First /sys/kernel/btf/vmlinux is searched, then the file of each module.
 */
#include "sampler/enumerators.h"

#include "sampler/sysfile.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WANTED_MAX 512u /* of a format */
#define NAME_MAX_BYTES 128u
#define BTF_MAGIC 0xeb9f

struct wanted {
	size_t at, len; /* in the text */
	int64_t value;
	bool is_found, is_several;
};

struct search {
	const char *text;
	struct wanted names[WANTED_MAX];
	size_t n, left; /* that were not found */
};

/* --- the text --- */

static size_t skip_string(const char *text, size_t at)
{
	for (at++; text[at] && text[at] != '"'; at++)
		at += text[at] == '\\' && text[at + 1];
	return at + (text[at] != '\0');
}

/* "{ NAME ," */
static void find_wanted(struct search *search)
{
	const char *print = strstr(search->text, "print fmt:"), *text = search->text;

	for (size_t at = print ? (size_t)(print - text) : 0; print && text[at];) {
		size_t from, len = 0;

		if (text[at] == '"') {
			at = skip_string(text, at);
			continue;
		}
		if (text[at++] != '{')
			continue;
		from = at + strspn(text + at, " ");
		while (isalnum((unsigned char)text[from + len]) || text[from + len] == '_')
			len++;
		if (!len || len >= NAME_MAX_BYTES || isdigit((unsigned char)text[from]) ||
			text[from + len + strspn(text + from + len, " ")] != ',' ||
			search->n == WANTED_MAX)
			continue;
		search->names[search->n++] = (struct wanted){.at = from, .len = len};
		at = from + len;
	}
	search->left = search->n;
}

static int replace(const struct search *search, char **text, size_t *len)
{
	char *out = NULL;
	size_t size = 0, from = 0;
	FILE *file = open_memstream(&out, &size);
	bool failed;

	if (!file)
		return -ENOMEM;
	for (size_t i = 0; i < search->n; i++) {
		const struct wanted *name = &search->names[i];

		if (!name->is_found || name->is_several)
			continue;
		fwrite(*text + from, 1, name->at - from, file);
		fprintf(file, "%" PRId64, name->value);
		from = name->at + name->len;
	}
	fwrite(*text + from, 1, *len - from, file);
	failed = ferror(file);
	if (fclose(file) || failed) {
		free(out);
		return -ENOMEM;
	}
	free(*text);
	*text = out;
	*len = size;
	return 0;
}

/* --- BTF --- */

struct btf {
	const uint8_t *types, *types_end;
	const char *texts;
	size_t texts_len, texts_from; /* the number of the first one's first byte */
};

static uint32_t get_32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static bool open_btf(struct btf *btf, const void *bytes, size_t len, size_t texts_from)
{
	const uint8_t *at = bytes;
	uint64_t head, types, n_types, texts, n_texts;
	uint16_t magic;

	if (len < 24)
		return false;
	memcpy(&magic, at, sizeof(magic));
	head = get_32(at + 4);
	types = head + get_32(at + 8);
	n_types = get_32(at + 12);
	texts = head + get_32(at + 16);
	n_texts = get_32(at + 20);
	if (magic != BTF_MAGIC || types + n_types > len || texts + n_texts > len)
		return false;
	*btf = (struct btf){.types = at + types,
		.types_end = at + types + n_types,
		.texts = (const char *)at + texts,
		.texts_len = n_texts,
		.texts_from = texts_from};
	return true;
}

static void take_value(struct search *search, const struct btf *btf, uint32_t name, int64_t value)
{
	size_t at = name - btf->texts_from;

	if (name < btf->texts_from || at >= btf->texts_len)
		return;
	for (size_t i = 0; i < search->n; i++) {
		struct wanted *wanted = &search->names[i];

		if (btf->texts_len - at <= wanted->len || btf->texts[at + wanted->len] ||
			memcmp(btf->texts + at, search->text + wanted->at, wanted->len) != 0)
			continue;
		search->left -= !wanted->is_found;
		wanted->is_several |= wanted->is_found && wanted->value != value;
		wanted->is_found = true;
		wanted->value = value;
	}
}

/* Bytes of what follows a type's head: for each of its members, and for the type. */
static bool get_sizes(unsigned int kind, size_t *each, size_t *once)
{
	static const uint8_t members[20] = {
		[4] = 12, [5] = 12, [6] = 8, [13] = 8, [15] = 12, [19] = 12};
	static const uint8_t fixed[20] = {[1] = 4, [3] = 12, [14] = 4, [17] = 4};

	if (!kind || kind >= sizeof(members))
		return false;
	*each = members[kind];
	*once = fixed[kind];
	return true;
}

static void search_btf(struct search *search, const struct btf *btf)
{
	for (const uint8_t *at = btf->types; btf->types_end - at >= 12;) {
		uint32_t info = get_32(at + 4);
		unsigned int kind = info >> 24 & 31;
		size_t n = info & 0xffff, each, once;
		bool is_signed = info >> 31;

		at += 12;
		if (!get_sizes(kind, &each, &once) ||
			n * each + once > (size_t)(btf->types_end - at))
			return;
		for (size_t i = 0; i < n && (kind == 6 || kind == 19); i++) {
			const uint8_t *member = at + i * each;
			uint64_t low = get_32(member + 4),
				 high = kind == 19 ? get_32(member + 8) : 0;
			int64_t value = kind == 19 || !is_signed ? (int64_t)(low | high << 32)
								 : (int64_t)(int32_t)low;

			take_value(search, btf, get_32(member), value);
		}
		at += n * each + once;
	}
}

static void search_modules(struct search *search, const struct event_system *system, size_t from)
{
	struct sysfile_names names;
	struct btf btf;

	if (sysfile_names(&names, "%s/kernel/btf", system->sysfs))
		return;
	for (size_t i = 0; i < names.n && search->left; i++) {
		char *bytes;
		size_t len;

		if (!strcmp(names.names[i], "vmlinux") ||
			sysfile_read(
				&bytes, &len, "%s/kernel/btf/%s", system->sysfs, names.names[i]))
			continue;
		if (open_btf(&btf, bytes, len, from))
			search_btf(search, &btf);
		free(bytes);
	}
	sysfile_names_fini(&names);
}

int enumerators_resolve(const struct event_system *system, char **text, size_t *len)
{
	struct search *search = calloc(1, sizeof(*search));
	struct btf btf;
	char *bytes;
	size_t bytes_len;
	int err = 0;

	if (!search)
		return -ENOMEM;
	search->text = *text;
	find_wanted(search);
	if (search->n && system->sysfs &&
		!sysfile_read(&bytes, &bytes_len, "%s/kernel/btf/vmlinux", system->sysfs)) {
		if (open_btf(&btf, bytes, bytes_len, 0)) {
			search_btf(search, &btf);
			if (search->left)
				search_modules(search, system, btf.texts_len);
		}
		free(bytes);
	}
	if (search->left < search->n)
		err = replace(search, text, len);
	free(search);
	return err;
}
