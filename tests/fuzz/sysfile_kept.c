/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sysfile_kept.c - sysfile.h for files that do not change.
 *
 * Each file is read once, since opening it takes longer than all further work on it.  The newest
 * answers are kept.  One thread.
 */
#define sysfile_read(...) read_now(__VA_ARGS__)
#define sysfile_line(...) line_now(__VA_ARGS__)
#define sysfile_names(...) names_now(__VA_ARGS__)
#define sysfile_directories(...) directories_now(__VA_ARGS__)
#include "../../sampler/base/sysfile.c"
#undef sysfile_read
#undef sysfile_line
#undef sysfile_names
#undef sysfile_directories

#include <stdint.h>

#define KEPT 1024u

enum question { TEXT, NAMES, DIRECTORIES };

struct kept {
	enum question question;
	char *path; /* NULL: free */
	int error;
	char *text;
	size_t len;
	struct sysfile_names names;
};

/* The header declares the functions renamed above, so the real ones are declared again. */
__attribute__((format(printf, 3, 4))) int sysfile_read(
	char **text, size_t *len, const char *format, ...);
__attribute__((format(printf, 3, 4))) int sysfile_line(
	char *out, size_t size, const char *format, ...);
__attribute__((format(printf, 2, 3))) int sysfile_names(
	struct sysfile_names *out, const char *format, ...);
__attribute__((format(printf, 2, 3))) int sysfile_directories(
	struct sysfile_names *out, const char *format, ...);

static struct kept *slot_of(enum question question, const char *path)
{
	static struct kept kept[KEPT];
	uint64_t hash = question;

	for (; *path; path++)
		hash = (hash ^ (uint8_t)*path) * 0x100000001b3ull;
	return &kept[hash >> 32 & (KEPT - 1)];
}

static const struct kept *ask(enum question question, const char *path)
{
	struct kept *kept = slot_of(question, path);

	if (kept->path && kept->question == question && strcmp(kept->path, path) == 0)
		return kept;
	free(kept->path);
	free(kept->text);
	sysfile_names_fini(&kept->names);
	*kept = (struct kept){.question = question, .path = strdup(path)};
	if (question == TEXT)
		kept->error = read_now(&kept->text, &kept->len, "%s", path);
	else
		kept->error =
			(question == NAMES ? names_now : directories_now)(&kept->names, "%s", path);
	return kept;
}

int sysfile_read(char **text, size_t *len, const char *format, ...)
{
	char path[PATH_MAX];
	va_list list;

	*text = NULL;
	if (len)
		*len = 0;
	va_start(list, format);
	const int err = make_path(path, format, list);
	va_end(list);
	if (err)
		return err;
	const struct kept *kept = ask(TEXT, path);
	if (kept->error)
		return kept->error;
	*text = malloc(kept->len + 1);
	if (!*text)
		return -ENOMEM;
	memcpy(*text, kept->text, kept->len + 1);
	if (len)
		*len = kept->len;
	return 0;
}

int sysfile_line(char *out, size_t size, const char *format, ...)
{
	char path[PATH_MAX];
	va_list list;

	out[0] = '\0';
	va_start(list, format);
	const int err = make_path(path, format, list);
	va_end(list);
	if (err)
		return err;
	const struct kept *kept = ask(TEXT, path);
	if (kept->error)
		return kept->error;
	size_t len = kept->len < size - 1 ? kept->len : size - 1;
	memcpy(out, kept->text, len);
	while (len && strchr(" \t\n", out[len - 1]))
		len--;
	out[len] = '\0';
	return 0;
}

__attribute__((format(printf, 3, 0))) static int copy_names(
	struct sysfile_names *out, enum question question, const char *format, va_list list)
{
	char path[PATH_MAX];

	*out = (struct sysfile_names){0};
	const int err = make_path(path, format, list);
	if (err)
		return err;
	const struct kept *kept = ask(question, path);
	if (kept->error || !kept->names.n)
		return kept->error;
	out->names = calloc(kept->names.n, sizeof(*out->names));
	for (size_t i = 0; out->names && i < kept->names.n; i++)
		out->names[out->n++] = strdup(kept->names.names[i]);
	return out->names ? 0 : -ENOMEM;
}

int sysfile_names(struct sysfile_names *out, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	const int err = copy_names(out, NAMES, format, list);
	va_end(list);
	return err;
}

int sysfile_directories(struct sysfile_names *out, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	const int err = copy_names(out, DIRECTORIES, format, list);
	va_end(list);
	return err;
}
