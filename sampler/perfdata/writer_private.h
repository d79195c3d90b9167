/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * writer_private.h - shared by the parts of the writer only.
 *
 * writer.c           records, the stream and its compression, the header
 * writer_features.c  data about the recording
 */
#ifndef SAMPLER_PERFDATA_WRITER_PRIVATE_H
#define SAMPLER_PERFDATA_WRITER_PRIVATE_H

#include "sampler/perfdata/writer.h"

#include <stddef.h>
#include <stdint.h>

#define WRITER_COMPRESS_LEVEL 1
/* Bytes of the stream in one pack.  The compressed form always fits into a record. */
#define WRITER_PACK_BYTES (48u << 10)

/* A growing array of bytes.  failed: memory ran out, and later bytes were left out. */
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
	int error; /* negative errno of the first failed write */
	struct writer_event *events;
	struct record_format *formats;
	size_t n_events;
	char **cmdline;
	size_t n_cmdline;

	uint8_t *buffer;
	size_t len;
	uint64_t written; /* bytes passed to write(2) */
	uint64_t data_offset, whole; /* whole: end offset of the last whole record written */

	struct ZSTD_CCtx_s *stream; /* NULL if not compressed */
	uint8_t *pack;
	size_t pack_len;
	uint64_t packed_from, packed_to; /* bytes, for the ratio */

	uint64_t first_sample_ns, last_sample_ns;
	struct writer_bytes tracing; /* formats of tracepoints */
	struct writer_bytes build_ids; /* the section of a file */
	const void *kept; /* only for a file */
	size_t kept_len;
	bool round_pending; /* records were written since the last round */
};

/* Returns the id in all records of an event. */
static inline uint64_t writer_id(size_t event)
{
	return event + 1;
}

/* Lists the features to write, in bit order.  A pipe has its features at the start, without those
 * that are known only at the end. */
size_t writer_feature_list(const struct writer *writer, enum perfdata_feature out[32]);

/* Returns the number of groups with two or more events. */
uint32_t writer_groups(const struct writer *writer);

/* Appends the section of a feature; nothing if this machine does not report it. */
void writer_feature(
	const struct writer *writer, enum perfdata_feature feature, struct writer_bytes *out);

#endif
