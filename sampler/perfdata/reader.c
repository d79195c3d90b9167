// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * reader.c - reads the records of one file, one after the other; see reader.h.
 *
 * A record stays in the buffer of read-ahead or unpacked bytes, unless it is not aligned there.
 * The next call passes over it.
 */
#include "sampler/perfdata/reader_private.h"
#include "sampler/perfdata/swap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- faults --- */

struct reader_fault *reader_add_fault(struct reader *reader, const char *file)
{
	uint64_t n = reader->status.n_faults++;
	struct reader_fault *fault =
		n < READER_FAULTS_MAX ? &reader->status.faults[n] : &reader->unlisted;

	*fault = (struct reader_fault){0};
	memccpy(fault->file, file, '\0', sizeof(fault->file));
	return fault;
}

static struct reader_fault *own_fault(struct reader *reader)
{
	struct stream *stream = reader->stream;

	if (!stream->fault)
		stream->fault = reader_add_fault(reader, stream->file);
	return stream->fault;
}

void reader_cut(struct reader *reader, uint64_t offset)
{
	bool known = reader->stream->fault;
	struct reader_fault *fault = own_fault(reader);

	reader->status.truncated = true;
	if (!known || (fault->kind == READER_CUT && offset < fault->offset))
		fault->offset = offset;
}

/* --- records --- */

/* Ends the input.  Notes the bytes that are missing. */
static int at_end(struct reader *reader)
{
	uint64_t offset = reader->stream->source.offset;

	if (source_left(&reader->stream->source) || unpack_left(&reader->stream->unpacker) ||
		(reader->stream->has_end && offset < reader->stream->end))
		reader_cut(reader, offset);
	return 0;
}

int reader_pass_over(struct reader *reader)
{
	int ret;

	if (reader->stream->unpacking) {
		reader->stream->unpacker.at += reader->stream->pending;
	} else {
		reader->stream->source.at += reader->stream->pending;
		reader->stream->source.offset += reader->stream->pending;
	}
	reader->stream->pending = 0;
	if (!reader->stream->following)
		return 1;
	ret = source_skip(&reader->stream->source, reader->stream->following);
	reader->stream->following = 0;
	if (!ret)
		reader_cut(reader, reader->stream->source.offset);
	return ret;
}

/* Makes the next record available at *out: aligned, its header in this machine's byte order.  *size
 * is its size in the buffer.  Returns 1, 0 at the end, or -errno. */
static int whole_record(struct reader *reader, struct perf_event_header **out, size_t *size)
{
	bool unpacking = reader->stream->unpacking;
	struct perf_event_header header;
	uint8_t *bytes;
	int ret;

	ret = unpacking ? unpack_peek(&reader->stream->unpacker, sizeof(header))
			: source_peek(&reader->stream->source, sizeof(header));
	if (ret <= 0)
		return ret;
	bytes = unpacking ? unpack_bytes(&reader->stream->unpacker)
			  : source_bytes(&reader->stream->source);
	memcpy(&header, bytes, sizeof(header));
	if (reader->swapped) {
		header.type = __builtin_bswap32(header.type);
		header.misc = __builtin_bswap16(header.misc);
		header.size = __builtin_bswap16(header.size);
	}
	if (header.size < sizeof(header))
		return -EBADMSG;
	ret = unpacking ? unpack_peek(&reader->stream->unpacker, header.size)
			: source_peek(&reader->stream->source, header.size);
	if (ret <= 0)
		return ret;
	bytes = unpacking ? unpack_bytes(&reader->stream->unpacker)
			  : source_bytes(&reader->stream->source);
	*size = header.size;
	if (((uintptr_t)bytes | header.size) & 7) {
		if (!reader->stream->copy)
			reader->stream->copy = malloc(STREAM_COPY_BYTES);
		if (!reader->stream->copy)
			return -ENOMEM;
		memcpy(reader->stream->copy, bytes, header.size);
		memset((uint8_t *)reader->stream->copy + header.size, 0, -header.size & 7u);
		bytes = (uint8_t *)reader->stream->copy;
	}
	*out = (struct perf_event_header *)(void *)bytes;
	if (reader->swapped)
		memcpy(*out, &header, sizeof(header));
	return 1;
}

/* Takes a record from the current pack or, after its end, from the source. */
static int next_record(struct reader *reader, struct perf_event_header **out, size_t *size)
{
	int ret;

	if (reader->stream->unpacking) {
		ret = whole_record(reader, out, size);
		if (ret)
			return ret < 0 && ret != -ENOMEM ? -EBADMSG : ret;
		reader->stream->unpacking = false;
		reader->stream->source.at += reader->stream->pack_size;
		reader->stream->source.offset += reader->stream->pack_size;
	}
	ret = whole_record(reader, out, size);
	return ret ? ret : at_end(reader);
}

static bool is_known(uint32_t type)
{
	if (type < PERFDATA_RECORD_HEADER_ATTR)
		return type >= PERF_RECORD_MMAP && type <= RECORD_CALLCHAIN_DEFERRED;
	return type <= PERFDATA_RECORD_COMPRESSED2 ||
		(type >= PERFDATA_SIMPLEPERF_FIRST && type <= PERFDATA_SIMPLEPERF_LAST);
}

/* Converts a record to the caller's form.  Returns false if its fields do not fit. */
static bool give_out(struct reader *reader, struct perf_event_header *header, size_t size,
	struct reader_record *out)
{
	static const struct record_format no_format;
	const struct record_format *format = &no_format;

	if (size & 7) {
		if (size > UINT16_MAX - 7)
			return false;
		header->size = (uint16_t)((size + 7) & ~(size_t)7);
	}
	*out = (struct reader_record){.header = header, .offset = reader->stream->source.offset};
	if (header->type < PERFDATA_RECORD_HEADER_ATTR) {
		out->has_attr = attrs_find(&reader->attrs, header, reader->swapped, &out->attr);
		if (reader->attrs.n)
			format = &reader->attrs.list[out->attr].format;
	}
	if (reader->swapped && swap_record(header, format))
		return false;
	if (header->type != PERFDATA_RECORD_AUXTRACE)
		return true;
	if (reader->stream->unpacking || size < sizeof(*header) + sizeof(uint64_t))
		return false;
	memcpy(&reader->stream->following, header + 1, sizeof(reader->stream->following));
	return true;
}

static int next_given(struct reader *reader, struct reader_record *out)
{
	for (;;) {
		struct perf_event_header *header;
		size_t size;
		int ret = reader_pass_over(reader);

		if (ret > 0)
			ret = next_record(reader, &header, &size);
		if (ret <= 0)
			return ret;
		reader->stream->pending = size;
		if (header->type < PERFDATA_RECORD_TYPES)
			reader->status.counts[header->type]++;
		if (!is_known(header->type)) {
			reader->status.unknown++;
			continue;
		}
		ret = reader_take_own(reader, header, size);
		if (!ret && give_out(reader, header, size, out))
			return 1;
		if (!ret || ret == -EBADMSG || ret == -E2BIG)
			reader->status.bad++;
		else if (ret < 0)
			return ret;
	}
}

int reader_next_of_stream(struct reader *reader, struct reader_record *out)
{
	int ret = next_given(reader, out);
	struct reader_fault *fault;

	if (ret >= 0 || ret == -ENOMEM)
		return ret;
	fault = own_fault(reader);
	fault->kind = READER_UNREADABLE;
	fault->error = -ret;
	fault->offset = reader->stream->source.offset;
	return ret;
}

int reader_next(struct reader *reader, struct reader_record *out)
{
	if (reader->ended > 0)
		reader->ended = reader->n_streams > 1 ? reader_next_of_all(reader, out)
						      : reader_next_of_stream(reader, out);
	return reader->ended;
}

size_t reader_attr_count(const struct reader *reader)
{
	return reader->attrs.n;
}

const struct reader_attr *reader_attr(const struct reader *reader, size_t i)
{
	return i < reader->attrs.n ? &reader->attrs.list[i] : NULL;
}

const struct reader_info *reader_info(const struct reader *reader)
{
	return &reader->features.info;
}

void reader_status(const struct reader *reader, struct reader_status *out)
{
	*out = reader->status;
	for (size_t i = 0; i < reader->n_streams; i++)
		out->bytes_read += reader->streams[i]->source.offset;
}
