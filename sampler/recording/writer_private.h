/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * writer_private.h - what the parts of the writer share; nobody else includes it.
 *
 * writer.c           records, the stream and its compression, the header
 * writer_features.c  what a recording says of itself
 */
#ifndef SAMPLER_RECORDING_WRITER_PRIVATE_H
#define SAMPLER_RECORDING_WRITER_PRIVATE_H

#include "sampler/recording/writer.h"

#include <stddef.h>
#include <stdint.h>

#define WRITER_COMPRESS_LEVEL 1
/* Of the stream, in one pack: what it unpacks to, and whose compressed form always fits a record. */
#define WRITER_PACK_BYTES (48u << 10)

/* Bytes that grow; failed: out of memory, and what followed was left out. */
struct writer_bytes {
	uint8_t *at;
	size_t len, capacity;
	bool failed;
};

void writer_append(struct writer_bytes *bytes, const void *from, size_t len);

struct ZSTD_CCtx_s;

struct writer {
	int fd;
	bool pipe;
	int error; /* of the first write that failed, negative */
	struct writer_event *events;
	struct record_format *formats;
	size_t n_events;
	char **cmdline;
	size_t n_cmdline;

	uint8_t *buffer;
	size_t len;
	uint64_t written; /* bytes that went out */
	uint64_t data_offset, whole; /* whole: everything before this offset is whole records */

	struct ZSTD_CCtx_s *stream; /* NULL: not compressed */
	uint8_t *pack;
	size_t pack_len;
	uint64_t packed_from, packed_to; /* bytes, for the ratio */

	uint64_t first_sample_ns, last_sample_ns;
	struct writer_bytes tracing; /* of tracepoints: their formats */
	struct writer_bytes build_ids; /* of a file: its section */
	const void *kept; /* of a file */
	size_t kept_len;
	bool round_pending; /* records came since the last round */
};

/* The id that all records of an event carry. */
static inline uint64_t writer_id(size_t event)
{
	return event + 1;
}

/* The features there are to write, in the order of their bits; a pipe's come first, before anything is known
 * that only the end tells. */
size_t writer_feature_list(const struct writer *writer, enum perfdata_feature out[32]);

/* Groups of two and more: how many. */
uint32_t writer_groups(const struct writer *writer);

/* What the section of a feature holds is appended; nothing where it cannot be told. */
void writer_feature(
	const struct writer *writer, enum perfdata_feature feature, struct writer_bytes *out);

#endif
