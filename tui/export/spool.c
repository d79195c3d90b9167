/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spool.c - see spool.h.
 */
#include "tui/export/spool.h"

#include "sampler/base/whole.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define PIECE 65536

int spool_stream(int from, int *fd)
{
	char *piece = malloc(PIECE);
	int to = whole_unnamed(), ret = to < 0 ? to : 0;
	ssize_t n = 1;

	*fd = -1;
	if (!piece)
		ret = -ENOMEM;
	while (!ret && n) {
		n = read(from, piece, PIECE);
		if (n < 0 && errno != EINTR)
			ret = -errno;
		else if (n > 0)
			ret = whole_write(to, piece, (size_t)n, NULL);
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
