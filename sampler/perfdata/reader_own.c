// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * reader_own.c - records that the reader itself processes: attributes, features, build-ids, packs.
 *
 * Their bodies are in the file's byte order.
 */
#include "sampler/base/grow.h"
#include "sampler/perfdata/reader_private.h"
#include "sampler/perfdata/swap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int take_pack(struct reader *reader, const struct perf_event_header *header, size_t size)
{
	const uint8_t *pack = source_bytes(&reader->stream->source) + sizeof(*header);
	size_t len = size - sizeof(*header);
	int ret;

	if (header->type == PERFDATA_RECORD_COMPRESSED2) {
		uint64_t told;

		if (len < sizeof(told))
			return -EBADMSG;
		told = swap_get_64(pack, reader->swapped);
		pack += sizeof(told);
		len -= sizeof(told);
		if (told > len)
			return -EBADMSG;
		len = (size_t)told;
	}
	reader->features.info.compressed = true;
	ret = unpack_feed(&reader->stream->unpacker, pack, len);
	if (ret)
		return ret;
	reader->stream->unpacking = true;
	reader->stream->pack_size = size;
	reader->stream->pending = 0;
	return 0;
}

static int take_tracing_data(
	struct reader *reader, const struct perf_event_header *header, size_t size)
{
	uint64_t len;
	void *bytes;
	int ret;

	if (size < sizeof(*header) + sizeof(uint32_t))
		return -EBADMSG;
	len = ((uint64_t)swap_get_32(header + 1, reader->swapped) + 7) & ~7ull;
	if (len > features_limit(PERFDATA_TRACING_DATA)) {
		reader->stream->following = len;
		return -EBADMSG;
	}
	ret = reader_pass_over(reader);
	if (ret < 0)
		return ret;
	bytes = malloc(len ? len : 1);
	if (!bytes)
		return -ENOMEM;
	ret = source_read(&reader->stream->source, bytes, len);
	if (ret <= 0) {
		free(bytes);
		if (!ret)
			reader_cut(reader, reader->stream->source.offset);
		return ret;
	}
	return features_tracing_data(&reader->features, &reader->attrs, bytes, len);
}

static int take_attr(struct reader *reader, const struct perf_event_header *header, size_t size)
{
	const uint8_t *bytes = (const uint8_t *)(header + 1);
	size_t left = size - sizeof(*header), len;

	if (left < PERF_ATTR_SIZE_VER0)
		return -EBADMSG;
	len = swap_get_32(bytes + 4, reader->swapped);
	if (!len)
		len = PERF_ATTR_SIZE_VER0;
	if (len > left)
		return -EBADMSG;
	return attrs_add(
		&reader->attrs, bytes, len, bytes + len, (left - len) / 8, reader->swapped);
}

static int take_kept(struct reader *reader, const uint8_t *bytes, size_t left)
{
	uint64_t len;

	if (left < sizeof(len))
		return -EBADMSG;
	len = swap_get_64(bytes, reader->swapped);
	if (len > left - sizeof(len))
		return -EBADMSG;
	return features_kept(&reader->features, bytes + sizeof(len), (size_t)len);
}

/* An EVENT_UPDATE is two words, then data.  A FEATURE is one word, then data. */
static int take_update(struct reader *reader, const struct perf_event_header *header, size_t size)
{
	const uint8_t *bytes = (const uint8_t *)(header + 1);
	size_t left = size - sizeof(*header);
	uint64_t kind, id;

	if (left < 2 * sizeof(uint64_t))
		return -EBADMSG;
	kind = swap_get_64(bytes, reader->swapped);
	id = swap_get_64(bytes + 8, reader->swapped);
	bytes += 2 * sizeof(uint64_t);
	left -= 2 * sizeof(uint64_t);
	if (kind == PERFDATA_UPDATE_NAME)
		attrs_name(&reader->attrs, &id, SIZE_MAX, (const char *)bytes, left);
	if (kind == PERFDATA_UPDATE_KEPT)
		return take_kept(reader, bytes, left);
	return 0;
}

static int take_feature(struct reader *reader, const struct perf_event_header *header, size_t size)
{
	const uint8_t *bytes = (const uint8_t *)(header + 1);
	size_t left = size - sizeof(*header);
	uint64_t feature;
	int ret;

	if (left < sizeof(feature))
		return -EBADMSG;
	feature = swap_get_64(bytes, reader->swapped);
	if (feature >= PERFDATA_FEATURES)
		return 0;
	ret = features_take(&reader->features, &reader->attrs, (unsigned int)feature, bytes + 8,
		left - 8, reader->swapped);
	if (ret != -EBADMSG)
		return ret;
	reader->status.features_bad++;
	return 0;
}

/* Returns the number of CPUs in a CPU_MAP of any kind; 0 if malformed. */
static unsigned int count_cpus(const struct reader *reader, const uint8_t *bytes, size_t len)
{
	uint16_t words[4] = {0}; /* kind, n, bytes per word; or kind, unused, first, last */
	unsigned int n = 0;
	size_t at, end;

	memcpy(words, bytes, len < sizeof(words) ? len : sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && reader->swapped; i++)
		words[i] = __builtin_bswap16(words[i]);
	switch (words[0]) {
	case PERFDATA_CPUS_LIST:
		return words[1];
	case PERFDATA_CPUS_MASK:
		at = words[2] == sizeof(uint64_t) ? 10 : 6;
		end = at + (size_t)words[1] * words[2];
		for (; at < end && at < len; at++)
			n += (unsigned int)__builtin_popcount(bytes[at]);
		return n;
	case PERFDATA_CPUS_RANGE:
		return words[3] < words[2] ? 0 : words[3] - words[2] + 1u;
	default:
		return 0;
	}
}

/* --- simpleperf's records, see told.h --- */

static int take_event_ids(struct reader *reader, const uint8_t *bytes, size_t len)
{
	const uint64_t n = len < 8 ? 0 : swap_get_64(bytes, reader->swapped);
	int ret = len < 8 || n > (len - 8) / 16 ? -EBADMSG : 0;

	for (uint64_t i = 0; !ret && i < n; i++) {
		const uint8_t *pair = bytes + 8 + 16 * i;

		ret = attrs_add_id(&reader->attrs, swap_get_64(pair, reader->swapped),
			swap_get_64(pair + 8, reader->swapped));
	}
	return ret;
}

static int take_simpleperf(struct reader *reader, uint32_t type, const uint8_t *bytes, size_t len)
{
	size_t size;
	void *copy;

	if (type == PERFDATA_SIMPLEPERF_EVENT_ID)
		return take_event_ids(reader, bytes, len);
	if (type != PERFDATA_SIMPLEPERF_TRACING_DATA)
		return 0;
	size = len < 4 ? 0 : swap_get_32(bytes, reader->swapped);
	if (len < 4 || size > len - 4)
		return -EBADMSG;
	copy = malloc(size ? size : 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes + 4, size);
	return features_tracing_data(&reader->features, &reader->attrs, copy, size);
}

/* Takes a piece of a record that is too long for one header.  The pieces contain all its bytes,
 * including its header. */
static int take_piece(struct reader *reader, const struct perf_event_header *header, size_t size)
{
	struct reader_pieces *pieces = &reader->pieces;
	const size_t len = size - sizeof(*header);
	int ret = 0;

	if (len > features_limit(PERFDATA_TRACING_DATA) - pieces->len) {
		pieces->len = 0;
		return -EBADMSG;
	}
	if (grow_items(&pieces->bytes, &pieces->room, pieces->len + len, 1))
		return -ENOMEM;
	memcpy(pieces->bytes + pieces->len, header + 1, len);
	pieces->len += len;
	if (header->type == PERFDATA_SIMPLEPERF_SPLIT)
		return 0;
	if (pieces->len < sizeof(*header))
		ret = -EBADMSG;
	else
		ret = take_simpleperf(reader, swap_get_32(pieces->bytes, reader->swapped),
			pieces->bytes + sizeof(*header), pieces->len - sizeof(*header));
	pieces->len = 0;
	return ret;
}

int reader_take_own(struct reader *reader, const struct perf_event_header *header, size_t size)
{
	bool follows = header->type == PERFDATA_RECORD_TRACING_DATA ||
		header->type == PERFDATA_RECORD_COMPRESSED ||
		header->type == PERFDATA_RECORD_COMPRESSED2;
	int ret;

	if (follows && reader->stream->unpacking)
		return -EBADMSG;
	switch (header->type) {
	case PERFDATA_RECORD_HEADER_ATTR:
		ret = take_attr(reader, header, size);
		break;
	case PERFDATA_RECORD_EVENT_TYPE:
		return 1;
	case PERFDATA_RECORD_TRACING_DATA:
		ret = take_tracing_data(reader, header, size);
		break;
	case PERFDATA_RECORD_BUILD_ID:
		ret = features_build_id(&reader->features, (const uint8_t *)header, size,
			header->misc, reader->swapped);
		break;
	case PERFDATA_RECORD_EVENT_UPDATE:
		ret = take_update(reader, header, size);
		break;
	case PERFDATA_RECORD_FEATURE:
		ret = take_feature(reader, header, size);
		break;
	case PERFDATA_RECORD_COMPRESSED:
	case PERFDATA_RECORD_COMPRESSED2:
		ret = take_pack(reader, header, size);
		break;
	case PERFDATA_RECORD_CPU_MAP:
		/* perf record --threads writes a ring and a file for each CPU. */
		if (reader->n_files)
			reader_expect_files(reader,
				count_cpus(reader, (const uint8_t *)(header + 1),
					size - sizeof(*header)));
		return 0;
	case PERFDATA_SIMPLEPERF_SPLIT:
	case PERFDATA_SIMPLEPERF_SPLIT_END:
		ret = take_piece(reader, header, size);
		break;
	default:
		if (header->type < PERFDATA_SIMPLEPERF_FIRST)
			return 0;
		ret = take_simpleperf(reader, header->type, (const uint8_t *)(header + 1),
			size - sizeof(*header));
	}
	return ret ? ret : 1;
}
