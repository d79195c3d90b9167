/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.h - the bytes of a recording, read ahead in large blocks from a file or a pipe.
 *
 * Files are read with pread(2), never mapped, because they may be cut meanwhile.  Offsets count
 * from the descriptor's position at the start.  One thread.
 */
#ifndef SAMPLER_PERFDATA_SOURCE_H
#define SAMPLER_PERFDATA_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOURCE_PEEK_MAX 65536 /* the size of a record is a 16-bit number */

struct source {
	int fd; /* borrowed */
	bool seekable;
	bool ended; /* the end or the limit was reached */
	uint64_t start; /* offset of the recording in the file */
	uint64_t size; /* size of the recording; 0: not known */
	uint64_t offset; /* offset of the byte at `at` */
	uint64_t limit; /* end of reading, an offset */
	uint8_t *buffer;
	size_t buffer_bytes;
	size_t at, end;
};

#ifndef SOURCE_BUFFER_BYTES /* fuzz targets set less */
#define SOURCE_BUFFER_BYTES (512u * 1024) /* large for few calls; small enough for the cache */
#endif

/* Starts reading fd, which is borrowed.  buffer_bytes: at least SOURCE_PEEK_MAX.  Returns 0,
 * -ENOMEM or -errno.  source_fini() is always legal. */
int source_init(struct source *source, int fd, size_t buffer_bytes);
void source_fini(struct source *source);

/* Copies input that cannot seek, up to its end, to an unnamed file in $TMPDIR or /tmp.  The file
 * replaces the descriptor.  No byte may have been passed over before.  Returns 0 or -errno. */
int source_spool(struct source *source);

/* Moves to an offset of a file that can seek, and sets the limit. */
void source_seek(struct source *source, uint64_t offset, uint64_t limit);

/* Makes n bytes (at most SOURCE_PEEK_MAX) available at source_bytes(), 8-byte aligned if they had
 * to be read.  Returns 1; 0 if fewer are left; -errno.  Earlier pointers from source_bytes() become
 * invalid. */
int source_peek(struct source *source, size_t n);

static inline uint8_t *source_bytes(const struct source *source)
{
	return source->buffer + source->at;
}

static inline size_t source_left(const struct source *source)
{
	return source->end - source->at;
}

/* Passes over n bytes, or reads them.  Returns 1; 0 if fewer are left (then all are passed over);
 * -errno. */
int source_skip(struct source *source, uint64_t n);
int source_read(struct source *source, void *out, size_t n);

/* Reads bytes of a file that can seek, independent of the position.  Returns 1; 0 if there are
 * fewer; -errno. */
int source_pread(const struct source *source, uint64_t offset, void *out, size_t n);

#endif
