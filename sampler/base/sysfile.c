// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * sysfile.c - read(2) and readdir(3), to the end; see sysfile.h.
 *
 * Files of sysfs and tracefs have no reliable size, so they are read until the end.
 */
#include "sampler/base/sysfile.h"

#include "sampler/base/grow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (16u << 20)

__attribute__((format(printf, 2, 0))) static int make_path(
	char path[PATH_MAX], const char *format, va_list list)
{
	int len = vsnprintf(path, PATH_MAX, format, list);

	return len < 0 || len >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int read_whole(int fd, char **text, size_t *len)
{
	size_t room = 4096, used = 0;
	char *buf = malloc(room), *grown;
	ssize_t n;

	if (!buf)
		return -ENOMEM;
	while ((n = read(fd, buf + used, room - 1 - used)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int err = -errno;

			free(buf);
			return err;
		}
		used += (size_t)n;
		if (used + 1 < room)
			continue;
		grown = room < FILE_MAX ? realloc(buf, 2 * room) : NULL;
		if (!grown) {
			free(buf);
			return room < FILE_MAX ? -ENOMEM : -EFBIG;
		}
		room *= 2;
		buf = grown;
	}
	buf[used] = '\0';
	*text = buf;
	*len = used;
	return 0;
}

int sysfile_read(char **text, size_t *len, const char *format, ...)
{
	char path[PATH_MAX];
	size_t unused;
	va_list list;
	int fd, err;

	*text = NULL;
	if (!len)
		len = &unused;
	*len = 0;
	va_start(list, format);
	err = make_path(path, format, list);
	va_end(list);
	if (err)
		return err;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	err = read_whole(fd, text, len);
	close(fd);
	return err;
}

int sysfile_line(char *out, size_t size, const char *format, ...)
{
	char path[PATH_MAX];
	size_t len = 0;
	va_list list;
	int fd, err;

	out[0] = '\0';
	va_start(list, format);
	err = make_path(path, format, list);
	va_end(list);
	if (err)
		return err;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	while (len + 1 < size) {
		ssize_t n = read(fd, out + len, size - 1 - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err = -errno;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	close(fd);
	while (len && strchr(" \t\n", out[len - 1]))
		len--;
	out[len] = '\0';
	return err;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_directory(DIR *dir, const struct dirent *entry)
{
	struct stat status;

	if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK)
		return entry->d_type == DT_DIR;
	return !fstatat(dirfd(dir), entry->d_name, &status, 0) && S_ISDIR(status.st_mode);
}

static int list_directory(struct sysfile_names *out, const char *path, bool directories)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	size_t room = 0;
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (errno = 0, entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
			(directories && !is_directory(dir, entry)))
			continue;
		err = grow_items(&out->names, &room, out->n + 1, sizeof(*out->names));
		if (err)
			break;
		out->names[out->n] = strdup(entry->d_name);
		if (!out->names[out->n])
			err = -ENOMEM;
		else
			out->n++;
	}
	if (!err && errno)
		err = -errno;
	closedir(dir);
	if (err)
		sysfile_names_fini(out);
	else if (out->n)
		qsort(out->names, out->n, sizeof(*out->names), compare);
	return err;
}

int sysfile_names(struct sysfile_names *out, const char *format, ...)
{
	char path[PATH_MAX];
	va_list list;
	int err;

	memset(out, 0, sizeof(*out));
	va_start(list, format);
	err = make_path(path, format, list);
	va_end(list);
	return err ? err : list_directory(out, path, false);
}

int sysfile_directories(struct sysfile_names *out, const char *format, ...)
{
	char path[PATH_MAX];
	va_list list;
	int err;

	memset(out, 0, sizeof(*out));
	va_start(list, format);
	err = make_path(path, format, list);
	va_end(list);
	return err ? err : list_directory(out, path, true);
}

void sysfile_names_fini(struct sysfile_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names->names);
	memset(names, 0, sizeof(*names));
}
