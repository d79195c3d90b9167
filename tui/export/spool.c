/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spool.c - see spool.h.
 */
#include "tui/export/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PIECE 65536

static int open_unnamed(void)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!folder || *folder != '/')
		folder = "/tmp";
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
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

static int write_whole(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			bytes += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

int spool_stream(int from, int *fd)
{
	char *piece = malloc(PIECE);
	int to = open_unnamed(), ret = to < 0 ? to : 0;
	ssize_t n = 1;

	*fd = -1;
	if (!piece)
		ret = -ENOMEM;
	while (!ret && n) {
		n = read(from, piece, PIECE);
		if (n < 0 && errno != EINTR)
			ret = -errno;
		else if (n > 0)
			ret = write_whole(to, piece, (size_t)n);
	}
	if (!ret && lseek(to, 0, SEEK_SET) < 0)
		ret = -errno;
	free(piece);
	if (ret && to >= 0)
		close(to);
	if (!ret)
		*fd = to;
	return ret;
}
