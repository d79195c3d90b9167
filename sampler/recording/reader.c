// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * reader.c - see reader.h: the records one after the other.
 *
 * A record is given out where it stands in the buffer of what was read ahead, or of what was unpacked,
 * unless it is not aligned there.  It is passed over at the next call.
 */
#include "sampler/recording/reader_private.h"
#include "sampler/recording/swap.h"

#include <errno.h>
#include <string.h>

/* The end of all: what was cut is told. */
static int at_end(struct reader *reader)
{
	uint64_t offset = reader->source.offset;

	if (source_left(&reader->source) || unpack_left(&reader->unpacker) ||
		(reader->has_end && offset < reader->end))
		reader_cut(reader, offset);
	return 0;
}

static int corrupt(struct reader *reader)
{
	reader->status.corrupt = true;
	reader->status.truncated_at = reader->source.offset;
	return -EBADMSG;
}

int reader_pass_over(struct reader *reader)
{
	int ret;

	if (reader->unpacking) {
		reader->unpacker.at += reader->pending;
	} else {
		reader->source.at += reader->pending;
		reader->source.offset += reader->pending;
	}
	reader->pending = 0;
	if (!reader->following)
		return 1;
	ret = source_skip(&reader->source, reader->following);
	reader->following = 0;
	if (!ret)
		reader_cut(reader, reader->source.offset);
	return ret;
}

/* Have the next record, its header turned round, aligned, at *out: 1, 0 at the end, -errno.  *size is what it
 * takes where it stands. */
static int whole_record(struct reader *reader, struct perf_event_header **out, size_t *size)
{
	bool unpacking = reader->unpacking;
	struct perf_event_header header;
	uint8_t *bytes;
	int ret;

	ret = unpacking ? unpack_peek(&reader->unpacker, sizeof(header))
			: source_peek(&reader->source, sizeof(header));
	if (ret <= 0)
		return ret;
	bytes = unpacking ? unpack_bytes(&reader->unpacker) : source_bytes(&reader->source);
	memcpy(&header, bytes, sizeof(header));
	if (reader->swapped) {
		header.type = __builtin_bswap32(header.type);
		header.misc = __builtin_bswap16(header.misc);
		header.size = __builtin_bswap16(header.size);
	}
	if (header.size < sizeof(header))
		return -EBADMSG;
	ret = unpacking ? unpack_peek(&reader->unpacker, header.size)
			: source_peek(&reader->source, header.size);
	if (ret <= 0)
		return ret;
	bytes = unpacking ? unpack_bytes(&reader->unpacker) : source_bytes(&reader->source);
	*size = header.size;
	if (((uintptr_t)bytes | header.size) & 7) {
		memcpy(reader->copy, bytes, header.size);
		memset((uint8_t *)reader->copy + header.size, 0, -header.size & 7u);
		bytes = (uint8_t *)reader->copy;
	}
	*out = (struct perf_event_header *)(void *)bytes;
	if (reader->swapped)
		memcpy(*out, &header, sizeof(header));
	return 1;
}

/* From the pack that is being unpacked, else from the source. */
static int next_record(struct reader *reader, struct perf_event_header **out, size_t *size)
{
	int ret;

	if (reader->unpacking) {
		ret = whole_record(reader, out, size);
		if (ret)
			return ret < 0 ? corrupt(reader) : ret;
		reader->unpacking = false;
		reader->source.at += reader->pack_size;
		reader->source.offset += reader->pack_size;
	}
	ret = whole_record(reader, out, size);
	if (ret == -EBADMSG)
		return corrupt(reader);
	return ret ? ret : at_end(reader);
}

static bool is_known(uint32_t type)
{
	if (type < PERFDATA_RECORD_HEADER_ATTR)
		return type >= PERF_RECORD_MMAP && type < PERF_RECORD_MAX;
	return type <= PERFDATA_RECORD_COMPRESSED2;
}

/* Make of it what the caller sees: false where its fields do not fit. */
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
	*out = (struct reader_record){.header = header, .offset = reader->source.offset};
	if (header->type < PERFDATA_RECORD_HEADER_ATTR) {
		out->has_attr = attrs_find(&reader->attrs, header, reader->swapped, &out->attr);
		if (reader->attrs.n)
			format = &reader->attrs.list[out->attr].format;
	}
	if (reader->swapped && swap_record(header, format))
		return false;
	if (header->type != PERFDATA_RECORD_AUXTRACE)
		return true;
	if (reader->unpacking || size < sizeof(*header) + sizeof(uint64_t))
		return false;
	memcpy(&reader->following, header + 1, sizeof(reader->following));
	return true;
}

int reader_next(struct reader *reader, struct reader_record *out)
{
	if (reader->ended <= 0)
		return reader->ended;
	for (;;) {
		struct perf_event_header *header;
		size_t size;
		int ret = reader_pass_over(reader);

		if (ret > 0)
			ret = next_record(reader, &header, &size);
		if (ret <= 0) {
			reader->ended = ret;
			return ret;
		}
		reader->pending = size;
		if (header->type < PERFDATA_RECORD_TYPES)
			reader->status.counts[header->type]++;
		if (!is_known(header->type)) {
			reader->status.unknown++;
			continue;
		}
		ret = reader_take_own(reader, header, size);
		if (!ret && give_out(reader, header, size, out))
			return 1;
		if (!ret || ret == -EBADMSG || ret == -E2BIG) {
			reader->status.bad++;
		} else if (ret < 0) {
			reader->ended = ret;
			return ret;
		}
	}
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
	out->bytes_read = reader->source.offset;
}
