/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source_text.c - finds and reads a source file that debug information names.
 *
 * The names are a compiler's, of another machine or time: what the user said about them goes first,
 * then the file system of the process, then this one's.  Nothing but regular files is opened.
 */
#include "symbols/source_text.h"

#include "symbols/code.h"
#include "symbols/opener.h"

#include <errno.h>
#include <limits.h>
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

/* Remove "." and "DIR/.." from an absolute path: the compiler's directory need not be there for the
 * file to be. */
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

/* Where it was found: dir is its root, NULL this process's. */
struct place {
	const char *dir;
	char path[PATH_MAX];
	struct opener_file file;
};

static int open_in(struct place *place, const char *dir, const char *path)
{
	if ((size_t)snprintf(place->path, sizeof(place->path), "%s", path) >= sizeof(place->path))
		return -ENAMETOOLONG;
	place->dir = dir;
	int ret = opener_below(dir ? dir : ".", place->path, dir != NULL, &place->file);
	if (ret == -ENOENT && path[0] == '/') {
		simplify(place->path);
		if (strcmp(place->path, path) != 0)
			ret = opener_below(dir ? dir : ".", place->path, dir != NULL, &place->file);
	}
	return ret;
}

/* "FROM=TO" in the place of a beginning that ends where a name does, or "DIR" in front.  False where it says nothing of
 * the file. */
static bool apply(const char *prefix, const char *file, char out[PATH_MAX])
{
	const char *equals = strchr(prefix, '=');
	int n;

	if (!equals) {
		n = snprintf(out, PATH_MAX, "%s/%s", prefix, file);
	} else {
		size_t len = (size_t)(equals - prefix);

		if (strncmp(file, prefix, len) != 0)
			return false;
		if (!(len > 0 && prefix[len - 1] == '/') && file[len] != '/' && file[len])
			return false;
		n = snprintf(out, PATH_MAX, "%s%s%s", equals + 1,
			len > 0 && prefix[len - 1] == '/' ? "/" : "", file + len);
	}
	return n > 0 && n < PATH_MAX;
}

/* The file stays open in place.  root is its buffer. */
static int find(const struct symbols_source *image, const char *file, const char *const *prefixes,
	struct place *place, char root[64])
{
	char path[PATH_MAX];
	int ret = -ENOENT, last;

	if (!file[0])
		return -ENOENT;
	for (; prefixes && *prefixes; prefixes++) {
		if (!apply(*prefixes, file, path))
			continue;
		last = open_in(place, NULL, path);
		if (last == 0)
			return 0;
		ret = last == -ENOENT ? ret : last;
	}
	if (file[0] != '/')
		return ret;
	if (image->pid > 0) {
		snprintf(root, 64, "/proc/%d/root", image->pid);
		last = open_in(place, root, file);
		if (last == 0)
			return 0;
		ret = last == -ENOENT ? ret : last;
	}
	last = open_in(place, NULL, file);
	return last == -ENOENT ? ret : last;
}

int symbols_source_read(const struct symbols_source *image, const char *file,
	const char *const *prefixes, struct symbols_source_text *out)
{
	struct place place;
	char root[64];

	*out = (struct symbols_source_text){.bytes = NULL};
	int ret = find(image, file, prefixes, &place, root);
	if (ret < 0)
		return ret;
	ret = read_all(&place.file, out);
	close(place.file.fd);
	return ret;
}

int symbols_source_find(const struct symbols_source *image, const char *file,
	const char *const *prefixes, char *out, size_t size)
{
	struct opener_file here;
	struct place place;
	char root[64];

	int ret = find(image, file, prefixes, &place, root);
	if (ret < 0)
		return ret;
	close(place.file.fd);
	/* The same file by its plain name where that leads there: that is what people know. */
	if (place.dir && opener_below("/", place.path, false, &here) == 0) {
		if (here.dev == place.file.dev && here.inode == place.file.inode)
			place.dir = NULL;
		close(here.fd);
	}
	int n = snprintf(out, size, "%s%s", place.dir ? place.dir : "", place.path);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}
