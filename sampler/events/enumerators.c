/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * enumerators.c - see enumerators.h.
 *
 * The search begins with /sys/kernel/btf/vmlinux and continues with each module's file.  A file has
 * megabytes, and a recording may have hundreds of formats, so the names and values are kept,
 * sorted.
 */
#include "sampler/events/enumerators.h"

#include "sampler/base/grow.h"
#include "sampler/base/sysfile.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BTF_MAGIC 0xeb9f

struct enumerator {
	const char *name;
	int64_t value;
	bool is_several; /* the name has several values */
};

/* The enumerators of one file. */
struct type_file {
	struct type_file *next;
	char *path;
	struct stat status; /* a reloaded module has another file */
	struct enumerator *at; /* sorted by name */
	size_t n;
	char *names;
	size_t texts_len; /* offset at which the texts of a module's file continue */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards files */
static struct type_file *files;

/* --- BTF --- */

struct btf {
	const uint8_t *types, *types_end;
	const char *texts;
	size_t texts_len, texts_from; /* texts_from: offset of the first text */
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

static int add_value(
	struct type_file *file, size_t *room, const struct btf *btf, uint32_t name, int64_t value)
{
	size_t at = name - btf->texts_from;

	/* A module's enumerator is known from the kernel if its name is among the kernel's
	 * texts. */
	if (name < btf->texts_from || at >= btf->texts_len ||
		!memchr(btf->texts + at, '\0', btf->texts_len - at))
		return 0;
	if (grow_items(&file->at, room, file->n + 1, sizeof(*file->at)))
		return -ENOMEM;
	file->at[file->n++] = (struct enumerator){.name = btf->texts + at, .value = value};
	return 0;
}

/* Returns the size of the data after a type's head: bytes per member, and bytes per type. */
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

static int add_values(struct type_file *file, const struct btf *btf)
{
	size_t room = 0;
	int err = 0;

	for (const uint8_t *at = btf->types; btf->types_end - at >= 12 && !err;) {
		uint32_t info = get_32(at + 4);
		unsigned int kind = info >> 24 & 31;
		size_t n = info & 0xffff, each, once;
		bool is_signed = info >> 31;

		at += 12;
		if (!get_sizes(kind, &each, &once) ||
			n * each + once > (size_t)(btf->types_end - at))
			break;
		for (size_t i = 0; i < n && (kind == 6 || kind == 19) && !err; i++) {
			const uint8_t *member = at + i * each;
			uint64_t low = get_32(member + 4),
				 high = kind == 19 ? get_32(member + 8) : 0;
			int64_t value = kind == 19 || !is_signed ? (int64_t)(low | high << 32)
								 : (int64_t)(int32_t)low;

			err = add_value(file, &room, btf, get_32(member), value);
		}
		at += n * each + once;
	}
	return err;
}

/* --- files --- */

static int by_name(const void *a, const void *b)
{
	const struct enumerator *first = a, *second = b;

	return strcmp(first->name, second->name);
}

/* Sorts, removes duplicate names, and copies the names into memory of the file. */
static int sort_values(struct type_file *file)
{
	size_t size = 0, n = 0;
	char *to;

	if (!file->n)
		return 0;
	qsort(file->at, file->n, sizeof(*file->at), by_name);
	for (size_t i = 0; i < file->n; i++) {
		struct enumerator *last = n ? &file->at[n - 1] : NULL;

		if (last && !strcmp(last->name, file->at[i].name)) {
			last->is_several |= last->value != file->at[i].value;
			continue;
		}
		file->at[n++] = file->at[i];
		size += strlen(file->at[n - 1].name) + 1;
	}
	file->n = n;
	to = file->names = malloc(size);
	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		char *end = stpcpy(to, file->at[i].name);

		file->at[i].name = to;
		to = end + 1;
	}
	return 0;
}

static void free_file(struct type_file *file)
{
	if (!file)
		return;
	free(file->path);
	free(file->at);
	free(file->names);
	free(file);
}

/* Reads a file; an unreadable one has no enumerators.  Returns 0 or -ENOMEM. */
static int read_file(struct type_file **out, const char *path, size_t texts_from)
{
	struct type_file *file = calloc(1, sizeof(*file));
	struct btf btf;
	char *bytes = NULL;
	size_t len;
	int err = -ENOMEM;

	*out = NULL;
	if (file)
		file->path = strdup(path);
	if (!file || !file->path)
		goto out;
	err = sysfile_read(&bytes, &len, "%s", path);
	if (!err && open_btf(&btf, bytes, len, texts_from)) {
		file->texts_len = btf.texts_len;
		err = add_values(file, &btf);
		if (!err)
			err = sort_values(file);
	}
	if (err == -ENOMEM)
		goto out;
	*out = file;
	file = NULL;
	err = 0;
out:
	free(bytes);
	free_file(file);
	return err;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
		a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Finds the enumerators of a file, and reads the file at first use; NULL if there is no such file.
 * Returns 0 or -ENOMEM. */
static int get_file(const struct system_dirs *system, const char *name, size_t texts_from,
	const struct type_file **out)
{
	struct type_file *file, *old, **at = &files;
	char path[PATH_MAX];
	struct stat status;
	int err;

	*out = NULL;
	if (snprintf(path, sizeof(path), "%s/kernel/btf/%s", system->sysfs, name) >= PATH_MAX ||
		stat(path, &status))
		return 0;
	while (*at && strcmp((*at)->path, path) != 0)
		at = &(*at)->next;
	old = *at;
	if (old && is_same_file(&old->status, &status)) {
		*out = old;
		return 0;
	}
	err = read_file(&file, path, texts_from);
	if (err)
		return err;
	file->status = status;
	file->next = old ? old->next : NULL;
	*at = file;
	free_file(old);
	*out = file;
	return 0;
}

/* --- the format's text --- */

struct search {
	const struct system_dirs *system;
	const struct type_file *kernel;
	struct sysfile_names modules; /* includes "vmlinux" */
	bool has_kernel, has_modules; /* already searched */
};

struct word {
	const char *at;
	size_t len;
};

static int compare_word(const void *key, const void *element)
{
	const struct word *word = key;
	const struct enumerator *enumerator = element;
	int order = strncmp(word->at, enumerator->name, word->len);

	return order ? order : enumerator->name[word->len] ? -1 : 0;
}

static const struct enumerator *find_in(const struct type_file *file, const struct word *word)
{
	return file && file->n ? bsearch(word, file->at, file->n, sizeof(*file->at), compare_word)
			       : NULL;
}

static int find_in_modules(
	struct search *search, const struct word *word, const struct enumerator **out)
{
	bool is_several = false;
	int err = 0;

	if (!search->has_modules &&
		sysfile_names(&search->modules, "%s/kernel/btf", search->system->sysfs) == -ENOMEM)
		return -ENOMEM;
	search->has_modules = true;
	for (size_t i = 0; i < search->modules.n && !err; i++) {
		const struct enumerator *found;
		const struct type_file *file;

		if (!strcmp(search->modules.names[i], "vmlinux"))
			continue;
		err = get_file(
			search->system, search->modules.names[i], search->kernel->texts_len, &file);
		found = err ? NULL : find_in(file, word);
		is_several |= found && *out && (*out)->value != found->value;
		*out = found ? found : *out;
	}
	if (is_several)
		*out = NULL;
	return err;
}

/* Finds an enumerator; NULL if there is none or several.  Returns 0 or -ENOMEM. */
static int find_enumerator(
	struct search *search, const struct word *word, const struct enumerator **out)
{
	int err = 0;

	*out = NULL;
	if (!search->has_kernel)
		err = get_file(search->system, "vmlinux", 0, &search->kernel);
	search->has_kernel = true;
	if (err || !search->kernel)
		return err;
	*out = find_in(search->kernel, word);
	if (!*out)
		err = find_in_modules(search, word, out);
	if (*out && (*out)->is_several)
		*out = NULL;
	return err;
}

/* Returns the end of the string or character that begins with the quotation mark at `at`. */
static size_t skip_quoted(const char *text, size_t at)
{
	char mark = text[at];

	for (at++; text[at] && text[at] != mark; at++)
		at += text[at] == '\\' && text[at + 1];
	return at + (text[at] != '\0');
}

static size_t word_len(const char *at)
{
	size_t len = 0;

	while (isalnum((unsigned char)at[len]) || at[len] == '_')
		len++;
	return len;
}

/* Returns whether a word may be an enumerator: alone after a brace, or in an expression.  In an
 * expression, a word without a capital is a type or a name of the format. */
static bool may_be_enumerator(const char *text, size_t at, size_t len)
{
	const char *next = text + at + len;
	bool has_capital = false;
	size_t before = at;

	if (isdigit((unsigned char)text[at]))
		return false;
	for (size_t i = 0; i < len; i++)
		has_capital |= isupper((unsigned char)text[at + i]);
	next += strspn(next, " ");
	while (before && text[before - 1] == ' ')
		before--;
	if (*next == '(' || !strncmp(next, "->", 2))
		return false;
	if (before && text[before - 1] == '{')
		return *next == ',' || has_capital;
	return has_capital && before && text[before - 1] != '.' &&
		!(before > 1 && text[before - 2] == '-' && text[before - 1] == '>');
}

/* Writes the text with numbers in place of names; sets *any if it replaced one. */
static int write_resolved(struct search *search, const char *text, size_t len, FILE *out, bool *any)
{
	const char *print = strstr(text, "print fmt:");
	size_t from = 0, at = print ? (size_t)(print - text) + strlen("print fmt:") : len;
	int err = 0;

	while (text[at] && !err) {
		const struct enumerator *found = NULL;
		struct word word = {text + at, word_len(text + at)};

		if (text[at] == '"' || text[at] == '\'') {
			at = skip_quoted(text, at);
			continue;
		}
		if (word.len && may_be_enumerator(text, at, word.len))
			err = find_enumerator(search, &word, &found);
		if (found) {
			fwrite(text + from, 1, at - from, out);
			fprintf(out, "%s%" PRId64, at && text[at - 1] == '-' ? " " : "",
				found->value);
			from = at + word.len;
			*any = true;
		}
		at += word.len ? word.len : 1;
	}
	fwrite(text + from, 1, len - from, out);
	return err;
}

int enumerators_resolve(const struct system_dirs *system, char **text, size_t *len)
{
	struct search search = {.system = system};
	size_t out_len = 0;
	char *out_text = NULL;
	bool any = false, failed;
	FILE *out;
	int err;

	if (!system->sysfs)
		return 0;
	out = open_memstream(&out_text, &out_len);
	if (!out)
		return -ENOMEM;
	pthread_mutex_lock(&lock);
	err = write_resolved(&search, *text, *len, out, &any);
	pthread_mutex_unlock(&lock);
	sysfile_names_fini(&search.modules);
	failed = ferror(out);
	if ((fclose(out) || failed || !out_text) && !err)
		err = -ENOMEM;
	if (err || !any) {
		free(out_text);
		return err;
	}
	free(*text);
	*text = out_text;
	*len = out_len;
	return 0;
}
