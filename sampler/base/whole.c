// SPDX-License-Identifier: GPL-3.0-or-later
/* whole.c - complete writes and unnamed files; see whole.h. */
#include "sampler/base/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int whole_write(int fd, const void *bytes, size_t len, size_t *done)
{
	const char *at = bytes;
	size_t put = 0;
	int ret = 0;

	while (put < len && !ret) {
		ssize_t n = write(fd, at + put, len - put);

		if (n > 0)
			put += (size_t)n;
		else if (n == 0)
			ret = -EIO;
		else if (errno != EINTR)
			ret = -errno;
	}
	if (done)
		*done = put;
	return ret;
}

int whole_pwrite(int fd, const void *bytes, size_t len, uint64_t offset)
{
	const char *at = bytes;

	while (len) {
		ssize_t n = pwrite(fd, at, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

const char *whole_folder(void)
{
	const char *folder = secure_getenv("TMPDIR");

	return folder && *folder == '/' ? folder : "/tmp";
}

int whole_unnamed(void)
{
	const char *folder = whole_folder();
	char path[4096];
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	/* Not every file system supports O_TMPFILE. */
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd < 0 ? -errno : fd;
	if (snprintf(path, sizeof(path), "%s/strobe-XXXXXX", folder) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}
