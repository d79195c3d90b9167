/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gzip.c - see gzip.h.
 */
#include "tui/export/gzip.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#define OUT_BYTES 65536
#define GZIP_WINDOW (15 + 16) /* with a gzip header */

struct gzip {
	z_stream stream;
	FILE *out;
	unsigned char bytes[OUT_BYTES];
};

int gzip_new(struct gzip **out, FILE *file)
{
	struct gzip *gzip = calloc(1, sizeof(*gzip));

	*out = NULL;
	if (!gzip)
		return -ENOMEM;
	gzip->out = file;
	if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
		    Z_DEFAULT_STRATEGY) != Z_OK) {
		free(gzip);
		return -ENOMEM;
	}
	*out = gzip;
	return 0;
}

static int push(struct gzip *gzip, int flush)
{
	int ret;

	do {
		size_t n;

		gzip->stream.next_out = gzip->bytes;
		gzip->stream.avail_out = OUT_BYTES;
		ret = deflate(&gzip->stream, flush);
		n = OUT_BYTES - gzip->stream.avail_out;
		if (ret == Z_STREAM_ERROR || fwrite(gzip->bytes, 1, n, gzip->out) != n)
			return -EIO;
	} while (!gzip->stream.avail_out || (flush == Z_FINISH && ret != Z_STREAM_END));
	return 0;
}

int gzip_write(struct gzip *gzip, const void *bytes, size_t n)
{
	gzip->stream.next_in = (unsigned char *)(uintptr_t)bytes;
	gzip->stream.avail_in = (unsigned int)n;
	return push(gzip, Z_NO_FLUSH);
}

int gzip_finish(struct gzip *gzip)
{
	gzip->stream.avail_in = 0;
	return push(gzip, Z_FINISH);
}

void gzip_free(struct gzip *gzip)
{
	if (!gzip)
		return;
	deflateEnd(&gzip->stream);
	free(gzip);
}
