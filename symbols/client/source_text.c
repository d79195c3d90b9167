/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source_text.c - finds and reads a source file that debug information names.
 *
 * A compiler on another machine, or an attacker, chose the names.  So the user's prefixes come
 * first, then the image's rights.  Only regular files are opened.
 */
#include "symbols/client/source_text.h"

#include "symbols/loader/opener.h"

#include <errno.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOURCE_BYTES_MAX (64u * 1024 * 1024)

static int read_all(const struct opener_file *file, struct symbols_source_text *out)
{
	if (file->size > SOURCE_BYTES_MAX)
		return -EFBIG;
	char *bytes = malloc((size_t)file->size + 1);
	if (!bytes)
		return -ENOMEM;
	size_t len = 0;
	while (len < file->size) {
		ssize_t n = pread(file->fd, bytes + len, (size_t)file->size - len, (off_t)len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int ret = -errno;
			free(bytes);
			return ret;
		}
		if (n == 0)
			break;
		len += (size_t)n;
	}
	bytes[len] = '\0';
	*out = (struct symbols_source_text){bytes, len, file->mtime_ns};
	return 0;
}

/* Removes "." and "DIR/.." from an absolute path: the file may exist without the compiler's
 * directory. */
static void simplify(char *path)
{
	char *to = path;

	for (const char *from = path; *from;) {
		size_t len = strcspn(from + 1, "/") + 1;

		if (len == 3 && memcmp(from, "/..", 3) == 0) {
			while (to > path && *--to != '/')
				;
		} else if (len > 1 && !(len == 2 && from[1] == '.')) {
			memmove(to, from, len);
			to += len;
		}
		from += len;
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
}

/* A candidate path and its limits. */
struct place {
	char dir[PATH_MAX]; /* "": path is absolute, or relative to this process */
	char path[PATH_MAX];
	unsigned long long resolve; /* flags for openat2(2) */
	uid_t user; /* the user who opens it */
	bool confined; /* path is simplified first, since it must not leave dir */
	struct opener_file file;
};

static int open_place(struct place *place)
{
	return opener_below_as(place->dir[0] ? place->dir : ".", place->path, place->resolve,
		place->user, &place->file);
}

static int open_path(struct place *place, const char *path)
{
	if ((size_t)snprintf(place->path, sizeof(place->path), "%s", path) >= sizeof(place->path))
		return -ENAMETOOLONG;
	if (!place->confined) {
		int ret = open_place(place);

		if (ret != -ENOENT || path[0] != '/')
			return ret;
	}
	if (path[0] == '/')
		simplify(place->path);
	if (!place->confined)
		return strcmp(place->path, path) != 0 ? open_place(place) : -ENOENT;
	if (place->resolve & RESOLVE_BENEATH)
		memmove(place->path, place->path + strspn(place->path, "/"),
			strlen(place->path + strspn(place->path, "/")) + 1);
	return open_place(place);
}

/* Applies a prefix: "FROM=TO" replaces whole leading components, "DIR" is put in front.  dir: the
 * user's part; rest: the rest of the file's name, "" or with a leading slash.  Returns false if the
 * prefix does not match. */
static bool apply(const char *prefix, const char *file, char dir[PATH_MAX], char rest[PATH_MAX])
{
	const char *equals = strchr(prefix, '=');
	const char *to = equals ? equals + 1 : prefix;
	size_t len = 0;

	if (equals) {
		len = (size_t)(equals - prefix);
		if (strncmp(file, prefix, len) != 0)
			return false;
		if (!(len > 0 && prefix[len - 1] == '/') && file[len] != '/' && file[len])
			return false;
	}
	file += len;
	return snprintf(dir, PATH_MAX, "%s", to) < PATH_MAX &&
		snprintf(rest, PATH_MAX, "%s%s", *file && *file != '/' ? "/" : "", file) < PATH_MAX;
}

/* Follows all links in the user's part.  Names from other users' images stay below it. */
static int open_prefixed(const struct symbols_source_origin *origin, const char *prefix,
	const char *file, struct place *place)
{
	char dir[PATH_MAX], rest[PATH_MAX], path[2 * PATH_MAX];

	if (!apply(prefix, file, dir, rest))
		return -ENOENT;
	*place = (struct place){.user = geteuid()};
	if (origin->rights.kind == SYMBOLS_RIGHTS_OWN || !rest[0]) {
		snprintf(path, sizeof(path), "%s%s", dir, rest);
		return open_path(place, path);
	}
	place->confined = true;
	place->resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
	snprintf(place->dir, sizeof(place->dir), "%s", dir[0] ? dir : "/");
	return open_path(place, rest);
}

static int open_named(
	const struct symbols_source_origin *origin, const char *file, struct place *place)
{
	*place = (struct place){.user = geteuid()};
	if (file[0] != '/' || origin->rights.kind == SYMBOLS_RIGHTS_NONE)
		return -ENOENT;
	if (origin->rights.kind == SYMBOLS_RIGHTS_OWN)
		return open_path(place, file);
	place->user = origin->rights.user;
	place->resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
	if (origin->rights.here)
		snprintf(place->dir, sizeof(place->dir), "/");
	else
		snprintf(place->dir, sizeof(place->dir), "/proc/%d/root", origin->pid);
	return open_path(place, file);
}

/* Finds the file and leaves it open in place. */
static int find(const struct symbols_source_origin *origin, const char *file,
	const char *const *prefixes, struct place *place)
{
	int ret = -ENOENT, last;

	if (!file[0])
		return -ENOENT;
	for (; prefixes && *prefixes; prefixes++) {
		last = open_prefixed(origin, *prefixes, file, place);
		if (last == 0)
			return 0;
		ret = last == -ENOENT ? ret : last;
	}
	last = open_named(origin, file, place);
	return last == -ENOENT ? ret : last;
}

int symbols_source_read(const struct symbols_source_origin *origin, const char *file,
	const char *const *prefixes, struct symbols_source_text *out)
{
	struct place place;

	*out = (struct symbols_source_text){.bytes = NULL};
	int ret = find(origin, file, prefixes, &place);
	if (ret < 0)
		return ret;
	ret = read_all(&place.file, out);
	close(place.file.fd);
	return ret;
}

int symbols_source_find(const struct symbols_source_origin *origin, const char *file,
	const char *const *prefixes, char *out, size_t size)
{
	struct place place;

	int ret = find(origin, file, prefixes, &place);
	if (ret < 0)
		return ret;
	close(place.file.fd);
	/* A program that opens the path would follow links out of dir, with this user's rights. */
	if (place.dir[0])
		return -EPERM;
	int n = snprintf(out, size, "%s", place.path);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}
