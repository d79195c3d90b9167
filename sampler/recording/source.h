/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.h - the bytes of a recording, read ahead in large pieces from a file or a pipe.
 *
 * Files are read with pread(2), never mapped: they may be cut while they are read.  Offsets count from
 * where the descriptor stood at first.  One thread.
 */
#ifndef SAMPLER_RECORDING_SOURCE_H
#define SAMPLER_RECORDING_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOURCE_PEEK_MAX 65536 /* a record's size is a 16-bit number */

struct source {
	int fd; /* borrowed */
	bool seekable;
	bool ended; /* the last byte before the limit is in the buffer, or was */
	uint64_t start; /* of the recording in the file */
	uint64_t size; /* of the recording; 0: not known */
	uint64_t offset; /* of the byte at `at` */
	uint64_t limit; /* nothing is read from here on */
	uint8_t *buffer;
	size_t buffer_bytes;
	size_t at, end;
};

#ifndef SOURCE_BUFFER_BYTES /* fuzz targets have less */
#define SOURCE_BUFFER_BYTES \
	(512u * 1024) /* large, so that calls are cheap; small enough for the cache */
#endif

/* buffer_bytes: at least SOURCE_PEEK_MAX.  Returns 0, -ENOMEM, -errno; source_fini() is always
 * legal. */
int source_init(struct source *source, int fd, size_t buffer_bytes);
void source_fini(struct source *source);

/* What cannot seek is copied, to its end, into a file without a name (in $TMPDIR or /tmp) that takes the descriptor's
 * place; nothing may have been passed over.  0, -errno. */
int source_spool(struct source *source);

/* Move to an offset of a file that can seek, and set the limit. */
void source_seek(struct source *source, uint64_t offset, uint64_t limit);

/* Have n bytes (at most SOURCE_PEEK_MAX) at source_bytes(), 8-byte aligned when they had to be read:
 * 1; 0 where fewer are left; -errno.  Keeps no pointer of source_bytes() valid. */
int source_peek(struct source *source, size_t n);

static inline uint8_t *source_bytes(const struct source *source)
{
	return source->buffer + source->at;
}

static inline size_t source_left(const struct source *source)
{
	return source->end - source->at;
}

/* Pass n bytes over, or read them: 1; 0 where fewer are left (then all is passed over); -errno. */
int source_skip(struct source *source, uint64_t n);
int source_read(struct source *source, void *out, size_t n);

/* Bytes of a file that can seek, wherever the reading stands: 1, 0 where fewer are there, -errno. */
int source_pread(const struct source *source, uint64_t offset, void *out, size_t n);

#endif
