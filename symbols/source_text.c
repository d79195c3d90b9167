/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source_text.c - finds and reads a source file that debug information names.
 *
 * The names are a compiler's, of another machine or time: what the user said about them goes first,
 * then the file system of the process, then this one's.  Nothing but regular files is opened.
 */
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

/* With dir as its root, or by path where dir is NULL. */
static int read_in(const char *dir, const char *path, struct symbols_source_text *out)
{
	char plain[PATH_MAX];
	struct opener_file file;

	if ((size_t)snprintf(plain, sizeof(plain), "%s", path) >= sizeof(plain))
		return -ENAMETOOLONG;
	int ret = opener_below(dir ? dir : ".", path, dir != NULL, &file);
	if (ret == -ENOENT && path[0] == '/') {
		simplify(plain);
		if (strcmp(plain, path) != 0)
			ret = opener_below(dir ? dir : ".", plain, dir != NULL, &file);
	}
	if (ret < 0)
		return ret;
	ret = read_all(&file, out);
	close(file.fd);
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
		bool whole = (len > 0 && prefix[len - 1] == '/') || file[len] == '/' || !file[len];

		if (strncmp(file, prefix, len) != 0 || !whole)
			return false;
		n = snprintf(out, PATH_MAX, "%s%s%s", equals + 1,
			len > 0 && prefix[len - 1] == '/' ? "/" : "", file + len);
	}
	return n > 0 && n < PATH_MAX;
}

int symbols_source_read(const struct symbols_source *image, const char *file,
	const char *const *prefixes, struct symbols_source_text *out)
{
	char path[PATH_MAX], root[64];
	int ret = -ENOENT, last;

	*out = (struct symbols_source_text){.bytes = NULL};
	if (!file[0])
		return -ENOENT;
	for (; prefixes && *prefixes; prefixes++) {
		if (!apply(*prefixes, file, path))
			continue;
		last = read_in(NULL, path, out);
		if (last == 0 || last == -ENOMEM)
			return last;
		ret = last == -ENOENT ? ret : last;
	}
	if (file[0] != '/')
		return ret;
	if (image->pid > 0) {
		snprintf(root, sizeof(root), "/proc/%d/root", image->pid);
		last = read_in(root, file, out);
		if (last == 0 || last == -ENOMEM)
			return last;
		ret = last == -ENOENT ? ret : last;
	}
	last = read_in(NULL, file, out);
	return last == -ENOENT ? ret : last;
}
