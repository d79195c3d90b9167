// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * reader.c - see reader.h: the header, and the records one after the other.
 *
 * A record is given out where it stands in the buffer of what was read ahead, or of what was unpacked,
 * unless it is not aligned there.  It is passed over at the next call.
 */
#include "sampler/recording/reader.h"

#include "sampler/recording/attrs.h"
#include "sampler/recording/features.h"
#include "sampler/recording/source.h"
#include "sampler/recording/swap.h"
#include "sampler/recording/unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC_OLD 0x454c494646524550ull /* "PERFFILE", the first version's */
#define HEADER_NO_FEATURES offsetof(struct perfdata_header, features)
#define EVENT_UPDATE_NAME 2

struct reader {
	int fd;
	struct source source;
	struct unpacker unpacker;
	struct attrs attrs;
	struct features features;
	struct reader_status status;
	bool swapped;
	bool has_end; /* the header tells where the records end */
	uint64_t end;
	int ended; /* what is returned from now on: 1: not yet */
	bool unpacking; /* the pack stands at the source's place */
	size_t pending; /* bytes of the record that was given out last, to be passed over */
	uint64_t following; /* and what follows it, which is no record */
	size_t pack_size;
	uint64_t copy[65536 / 8 + 1]; /* a record that is not aligned */
};

bool reader_is_magic(const void *bytes, size_t len)
{
	uint64_t magic;

	if (len < sizeof(magic))
		return false;
	memcpy(&magic, bytes, sizeof(magic));
	return magic == PERFDATA_MAGIC || magic == __builtin_bswap64(PERFDATA_MAGIC) ||
		magic == MAGIC_OLD || magic == __builtin_bswap64(MAGIC_OLD);
}

/* The first place where something is missing counts. */
static void set_truncated(struct reader *reader, uint64_t offset)
{
	if (!reader->status.truncated || offset < reader->status.truncated_at)
		reader->status.truncated_at = offset;
	reader->status.truncated = true;
}

static void swap_words(void *bytes, size_t n)
{
	uint64_t *words = bytes;

	for (size_t i = 0; i < n; i++)
		words[i] = __builtin_bswap64(words[i]);
}

/* Bits of the other order are in words as long as the recording machine's: all have a host name, so where its
 * bit is not set the words were of 32 bits. */
static void swap_features(uint64_t *words)
{
	swap_words(words, PERFDATA_FEATURE_WORDS);
	if (words[0] & (1ull << PERFDATA_HOSTNAME))
		return;
	for (size_t i = 0; i < PERFDATA_FEATURE_WORDS; i++)
		words[i] = words[i] << 32 | words[i] >> 32;
	if (!(words[0] & (1ull << PERFDATA_HOSTNAME)))
		for (size_t i = 0; i < PERFDATA_FEATURE_WORDS; i++)
			words[i] = words[i] << 32 | words[i] >> 32;
}

static int read_attr(struct reader *reader, uint8_t *bytes, size_t attr_size)
{
	struct perfdata_section ids;
	size_t len = attr_size - sizeof(ids), n_ids;
	uint8_t *words = NULL;
	int ret;

	ids.offset = swap_get_64(bytes + len, reader->swapped);
	ids.size = swap_get_64(bytes + len + 8, reader->swapped);
	if (ids.offset > reader->source.size || ids.size > reader->source.size - ids.offset) {
		set_truncated(reader, reader->source.size);
		ids.size = ids.offset < reader->source.size ? reader->source.size - ids.offset : 0;
	}
	n_ids = (size_t)(ids.size / 8);
	if (n_ids > ATTRS_IDS_MAX - reader->attrs.n_ids)
		return -EBADMSG;
	if (n_ids) {
		words = malloc(n_ids * 8);
		if (!words)
			return -ENOMEM;
		ret = source_pread(&reader->source, ids.offset, words, n_ids * 8);
		if (ret <= 0) {
			free(words);
			return ret ? ret : -EBADMSG;
		}
	}
	ret = attrs_add(&reader->attrs, bytes, len, words, n_ids, reader->swapped);
	free(words);
	return ret == -E2BIG ? -EBADMSG : ret;
}

static int read_attrs(struct reader *reader, const struct perfdata_header *header)
{
	uint64_t n, offset = header->attrs.offset;
	uint8_t *bytes;
	int ret = 0;

	if (header->attr_size < PERF_ATTR_SIZE_VER0 + sizeof(struct perfdata_section) ||
		header->attr_size > UINT16_MAX)
		return -EBADMSG;
	n = header->attrs.size / header->attr_size;
	if (n > ATTRS_MAX || offset > UINT64_MAX - header->attrs.size)
		return -EBADMSG;
	bytes = malloc(header->attr_size);
	if (!bytes)
		return -ENOMEM;
	for (uint64_t i = 0; i < n && !ret; i++, offset += header->attr_size) {
		ret = source_pread(&reader->source, offset, bytes, header->attr_size);
		if (ret < 0)
			break;
		if (!ret) {
			set_truncated(reader, offset);
			break;
		}
		ret = read_attr(reader, bytes, header->attr_size);
	}
	free(bytes);
	return ret;
}

static int read_feature(
	struct reader *reader, unsigned int feature, struct perfdata_section section)
{
	uint8_t *bytes;
	int ret;

	if (section.size > features_limit(feature)) {
		reader->status.features_bad += features_limit(feature) > 0;
		return 0;
	}
	bytes = malloc(section.size ? section.size : 1);
	if (!bytes)
		return -ENOMEM;
	ret = source_pread(&reader->source, section.offset, bytes, section.size);
	if (!ret)
		set_truncated(reader, reader->source.size);
	if (ret > 0)
		ret = features_take(&reader->features, &reader->attrs, feature, bytes, section.size,
			reader->swapped);
	else if (!ret)
		ret = -EBADMSG;
	free(bytes);
	if (ret == -EBADMSG) {
		reader->status.features_bad++;
		ret = 0;
	}
	return ret;
}

static int read_features(struct reader *reader, const struct perfdata_header *header)
{
	uint64_t at = header->data.offset + header->data.size;

	for (unsigned int bit = 0; bit < PERFDATA_FEATURES; bit++) {
		struct perfdata_section section;
		int ret;

		if (!(header->features[bit / 64] >> bit % 64 & 1))
			continue;
		ret = header->data.size
			? source_pread(&reader->source, at, &section, sizeof(section))
			: 0;
		if (ret < 0)
			return ret;
		if (!ret) {
			reader->status.features_missing = true;
			if (header->data.size)
				set_truncated(reader, reader->source.size);
			return 0;
		}
		at += sizeof(section);
		if (reader->swapped)
			swap_words(&section, 2);
		ret = read_feature(reader, bit, section);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_header(struct reader *reader)
{
	struct perfdata_header header = {0};
	int ret = source_pread(&reader->source, 0, &header, HEADER_NO_FEATURES);
	bool has_features;

	if (ret <= 0)
		return ret ? ret : -EBADMSG;
	if (reader->swapped)
		swap_words(&header, HEADER_NO_FEATURES / 8);
	has_features = header.size >= sizeof(header);
	if (!has_features && header.size != HEADER_NO_FEATURES)
		return -EBADMSG;
	if (has_features) {
		ret = source_pread(&reader->source, HEADER_NO_FEATURES, header.features,
			sizeof(header.features));
		if (ret <= 0)
			return ret ? ret : -EBADMSG;
		if (reader->swapped)
			swap_features(header.features);
	}
	if (header.data.size > UINT64_MAX - header.data.offset - 16 * PERFDATA_FEATURES ||
		header.data.offset > UINT64_MAX - 16 * PERFDATA_FEATURES)
		return -EBADMSG;
	if (header.features[0] >> PERFDATA_DIR_FORMAT & 1)
		return -ENOTSUP;
	ret = read_attrs(reader, &header);
	if (!ret)
		ret = read_features(reader, &header);
	/* A recorder that was killed leaves a size of 0: all that is there are records. */
	reader->has_end = header.data.size > 0;
	reader->end = reader->has_end ? header.data.offset + header.data.size : UINT64_MAX;
	source_seek(&reader->source, header.data.offset, reader->end);
	reader->status.bytes_total =
		reader->end < reader->source.size ? reader->end : reader->source.size;
	return ret;
}

/* Magic and size, which both kinds begin with. */
static int read_start(struct reader *reader)
{
	uint64_t magic, size;
	struct stat st;
	int ret;

	if (!fstat(reader->fd, &st) && S_ISDIR(st.st_mode))
		return -ENOTSUP;
	ret = source_init(&reader->source, reader->fd);
	if (ret)
		return ret;
	ret = source_peek(&reader->source, sizeof(struct perfdata_pipe_header));
	if (ret < 0)
		return ret;
	if (!reader_is_magic(source_bytes(&reader->source), source_left(&reader->source)))
		return -ENOEXEC;
	magic = swap_get_64(source_bytes(&reader->source), false);
	reader->swapped = magic != PERFDATA_MAGIC;
	if (magic == MAGIC_OLD || magic == __builtin_bswap64(MAGIC_OLD))
		return -ENOTSUP;
	if (!ret)
		return -EBADMSG;
	size = swap_get_64(source_bytes(&reader->source) + 8, reader->swapped);
	reader->features.info.swapped = reader->swapped;
	if (size != sizeof(struct perfdata_pipe_header))
		return reader->source.seekable ? read_header(reader) : -ENOTSUP;
	reader->features.info.pipe = true;
	reader->status.bytes_total = reader->source.size;
	return source_skip(&reader->source, size) < 0 ? -EIO : 0;
}

int reader_open(struct reader **out, int fd)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	int ret = -ENOMEM;

	*out = NULL;
	if (!reader) {
		close(fd);
		return ret;
	}
	reader->fd = fd;
	reader->ended = 1;
	ret = read_start(reader);
	if (ret) {
		reader_close(reader);
		return ret;
	}
	*out = reader;
	return 0;
}

void reader_close(struct reader *reader)
{
	if (!reader)
		return;
	unpack_fini(&reader->unpacker);
	attrs_fini(&reader->attrs);
	features_fini(&reader->features);
	source_fini(&reader->source);
	close(reader->fd);
	free(reader);
}

/* The end of all: what was cut is told. */
static int at_end(struct reader *reader)
{
	uint64_t offset = reader->source.offset;

	if (source_left(&reader->source) || unpack_left(&reader->unpacker) ||
		(reader->has_end && offset < reader->end))
		set_truncated(reader, offset);
	return 0;
}

static int corrupt(struct reader *reader)
{
	reader->status.corrupt = true;
	reader->status.truncated_at = reader->source.offset;
	return -EBADMSG;
}

/* Pass over what the last call gave out. */
static int pass_over(struct reader *reader)
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
		set_truncated(reader, reader->source.offset);
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

static int take_pack(struct reader *reader, const struct perf_event_header *header, size_t size)
{
	const uint8_t *pack = source_bytes(&reader->source) + sizeof(*header);
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
	ret = unpack_feed(&reader->unpacker, pack, len);
	if (ret)
		return ret;
	reader->unpacking = true;
	reader->pack_size = size;
	reader->pending = 0;
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
		reader->following = len;
		return -EBADMSG;
	}
	ret = pass_over(reader);
	if (ret < 0)
		return ret;
	bytes = malloc(len ? len : 1);
	if (!bytes)
		return -ENOMEM;
	ret = source_read(&reader->source, bytes, len);
	if (ret <= 0) {
		free(bytes);
		if (!ret)
			set_truncated(reader, reader->source.offset);
		return ret;
	}
	return features_tracing_data(&reader->features, bytes, len);
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

/* Two words, then data, are of EVENT_UPDATE; one word, then data, of FEATURE. */
static int take_update(struct reader *reader, const struct perf_event_header *header, size_t size)
{
	const uint8_t *bytes = (const uint8_t *)(header + 1);
	size_t left = size - sizeof(*header);
	uint64_t kind, id;

	if (left < 2 * sizeof(uint64_t))
		return -EBADMSG;
	kind = swap_get_64(bytes, reader->swapped);
	id = swap_get_64(bytes + 8, reader->swapped);
	if (kind == EVENT_UPDATE_NAME)
		attrs_name(&reader->attrs, &id, SIZE_MAX, (const char *)bytes + 16, left - 16);
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

/* Records that are the reader's own: 1 where it is one (taken in), 0 where not, -EBADMSG, -errno. */
static int take_own(struct reader *reader, const struct perf_event_header *header, size_t size)
{
	bool follows = header->type == PERFDATA_RECORD_TRACING_DATA ||
		header->type == PERFDATA_RECORD_COMPRESSED ||
		header->type == PERFDATA_RECORD_COMPRESSED2;
	int ret;

	if (follows && reader->unpacking)
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
	default:
		return 0;
	}
	return ret ? ret : 1;
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
		int ret = pass_over(reader);

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
		ret = take_own(reader, header, size);
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
