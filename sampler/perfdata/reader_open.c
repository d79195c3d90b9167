// SPDX-License-Identifier: GPL-3.0-or-later
/* reader_open.c - opens a recording: its header, attributes and feature sections; see reader.h. */
#include "sampler/perfdata/reader_private.h"
#include "sampler/perfdata/swap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC_OLD 0x454c494646524550ull /* "PERFFILE" of the first version */
#define HEADER_NO_FEATURES offsetof(struct perfdata_header, features)

bool reader_is_magic(const void *bytes, size_t len)
{
	uint64_t magic;

	if (len < sizeof(magic))
		return false;
	memcpy(&magic, bytes, sizeof(magic));
	return magic == PERFDATA_MAGIC || magic == __builtin_bswap64(PERFDATA_MAGIC) ||
		magic == MAGIC_OLD || magic == __builtin_bswap64(MAGIC_OLD);
}

bool reader_is_compressed(const void *bytes, size_t len)
{
	static const struct {
		const char *bytes;
		size_t len;
	} magics[] = {{"\x1f\x8b", 2}, {"\xfd\x37zXZ", 6}, {"BZh", 3}, {"\x28\xb5\x2f\xfd", 4}};

	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (len >= magics[i].len && !memcmp(bytes, magics[i].bytes, magics[i].len))
			return true;
	return false;
}

static void swap_words(void *bytes, size_t n)
{
	uint64_t *words = bytes;

	for (size_t i = 0; i < n; i++)
		words[i] = __builtin_bswap64(words[i]);
}

/* Swaps the feature bits, which are in words of the recording machine's size.  All recordings have
 * a host name.  If its bit is not set, the words had 32 bits. */
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
	if (ids.offset > reader->stream->source.size ||
		ids.size > reader->stream->source.size - ids.offset) {
		reader_cut(reader, reader->stream->source.size);
		ids.size = ids.offset < reader->stream->source.size
			? reader->stream->source.size - ids.offset
			: 0;
	}
	n_ids = (size_t)(ids.size / 8);
	if (n_ids > ATTRS_IDS_MAX - reader->attrs.n_ids)
		return -EBADMSG;
	if (n_ids) {
		words = malloc(n_ids * 8);
		if (!words)
			return -ENOMEM;
		ret = source_pread(&reader->stream->source, ids.offset, words, n_ids * 8);
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
		ret = source_pread(&reader->stream->source, offset, bytes, header->attr_size);
		if (ret < 0)
			break;
		if (!ret) {
			reader_cut(reader,
				offset < reader->stream->source.size ? offset
								     : reader->stream->source.size);
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

	if (section.offset > reader->stream->source.size ||
		section.size > reader->stream->source.size - section.offset)
		reader_cut(reader, reader->stream->source.size);
	if (section.size > features_limit(feature)) {
		reader->status.features_bad += features_limit(feature) > 0;
		return 0;
	}
	bytes = malloc(section.size ? section.size : 1);
	if (!bytes)
		return -ENOMEM;
	ret = source_pread(&reader->stream->source, section.offset, bytes, section.size);
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
			? source_pread(&reader->stream->source, at, &section, sizeof(section))
			: 0;
		if (ret < 0)
			return ret;
		if (!ret) {
			reader->status.features_missing = true;
			if (header->data.size)
				reader_cut(reader, reader->stream->source.size);
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

static void add_limit_fault(struct reader *reader, uint64_t offset)
{
	struct reader_fault *fault = reader_add_fault(reader, reader->stream->file);

	fault->kind = READER_UNREADABLE;
	fault->error = EFBIG;
	fault->offset = offset;
}

/* Reads the section that strobe writes after all sections of perf. */
static int read_kept(struct reader *reader, struct perfdata_section section)
{
	static const char magic[] = {PERFDATA_KEPT_MAGIC};
	struct source *source = &reader->stream->source;
	uint8_t block[16384];
	int ret = 0;

	if (section.size < sizeof(magic) - 1)
		return 0;
	ret = source_pread(source, section.offset, block, sizeof(magic) - 1);
	if (!ret)
		reader_cut(reader, source->size);
	if (ret <= 0 || memcmp(block, magic, sizeof(magic) - 1) != 0)
		return ret < 0 ? ret : 0;
	for (uint64_t done = 0; done < section.size;) {
		const uint64_t left = section.size - done;
		const size_t len = left < sizeof(block) ? (size_t)left : sizeof(block);

		ret = source_pread(source, section.offset + done, block, len);
		if (!ret)
			reader_cut(reader, source->size);
		if (ret <= 0)
			return ret;
		ret = features_kept(&reader->features, block, len);
		if (ret == -EBADMSG)
			reader->status.features_bad++;
		if (ret == -EFBIG)
			add_limit_fault(reader, section.offset + done);
		if (ret)
			return ret == -ENOMEM ? ret : 0;
		done += len;
	}
	return 0;
}

static int read_header(struct reader *reader)
{
	struct perfdata_header header = {0};
	int ret = source_pread(&reader->stream->source, 0, &header, HEADER_NO_FEATURES);
	bool has_features;

	if (ret <= 0)
		return ret ? ret : -EBADMSG;
	if (reader->swapped)
		swap_words(&header, HEADER_NO_FEATURES / 8);
	has_features = header.size >= sizeof(header);
	if (!has_features && header.size != HEADER_NO_FEATURES)
		return -EBADMSG;
	if (has_features) {
		ret = source_pread(&reader->stream->source, HEADER_NO_FEATURES, header.features,
			sizeof(header.features));
		if (ret <= 0)
			return ret ? ret : -EBADMSG;
		if (reader->swapped)
			swap_features(header.features);
	}
	if (header.data.size > UINT64_MAX - header.data.offset - 16 * PERFDATA_FEATURES ||
		header.data.offset > UINT64_MAX - 16 * PERFDATA_FEATURES)
		return -EBADMSG;
	/* The bit alone decides if the version cannot be read. */
	reader->features.is_directory = header.features[0] >> PERFDATA_DIR_FORMAT & 1;
	ret = read_attrs(reader, &header);
	if (!ret)
		ret = read_features(reader, &header);
	if (!ret)
		ret = read_kept(reader, header.event_types);
	/* A killed recorder leaves a size of 0: all that follows are records. */
	reader->stream->has_end = header.data.size > 0;
	reader->stream->end =
		reader->stream->has_end ? header.data.offset + header.data.size : UINT64_MAX;
	source_seek(&reader->stream->source, header.data.offset, reader->stream->end);
	reader->status.bytes_total = reader->stream->end < reader->stream->source.size
		? reader->stream->end
		: reader->stream->source.size;
	return ret;
}

/* Reads magic and size, which begin both files and pipes. */
static int read_start(struct reader *reader)
{
	uint64_t magic, size;
	int ret;

	ret = source_peek(&reader->stream->source, sizeof(struct perfdata_pipe_header));
	if (ret < 0)
		return ret;
	if (!source_left(&reader->stream->source))
		return -ENODATA;
	if (!reader_is_magic(
		    source_bytes(&reader->stream->source), source_left(&reader->stream->source)))
		return reader_is_compressed(source_bytes(&reader->stream->source),
			       source_left(&reader->stream->source))
			? -EMEDIUMTYPE
			: -ENOEXEC;
	magic = swap_get_64(source_bytes(&reader->stream->source), false);
	reader->swapped = magic != PERFDATA_MAGIC;
	if (magic == MAGIC_OLD || magic == __builtin_bswap64(MAGIC_OLD))
		return -ENOTSUP;
	if (!ret)
		return -EBADMSG;
	size = swap_get_64(source_bytes(&reader->stream->source) + 8, reader->swapped);
	reader->features.info.swapped = reader->swapped;
	if (size != sizeof(struct perfdata_pipe_header)) {
		/* A file's features are needed before its records, but come after them. */
		ret = reader->stream->source.seekable ? 0 : source_spool(&reader->stream->source);
		return ret ? ret : read_header(reader);
	}
	reader->features.info.pipe = true;
	reader->status.bytes_total = reader->stream->source.size;
	return source_skip(&reader->stream->source, size) < 0 ? -EIO : 0;
}

/* Opens the file with the header in a directory.  Returns an fd, -EISDIR if there is none, or
 * another -errno. */
static int open_header_file(int dir_fd)
{
	struct stat st;
	int fd = openat(dir_fd, "data", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return errno == ENOENT || errno == ELOOP ? -EISDIR : -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EISDIR;
}

/* Opens all files of a recording.  Takes over fd. */
static int open_all(struct reader *reader, int fd)
{
	struct stat st;
	int dir_fd = -1, ret = 0;

	if (!fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		dir_fd = fd;
		fd = open_header_file(dir_fd);
		ret = fd < 0 ? fd : 0;
	}
	if (!ret)
		ret = reader_add_stream(reader, fd, SOURCE_BUFFER_BYTES);
	if (!ret && dir_fd >= 0)
		strcpy(reader->stream->file, "data");
	if (!ret)
		ret = read_start(reader);
	if (!ret && reader->features.is_directory)
		ret = dir_fd < 0 ? -ENOTDIR : reader_add_directory(reader, dir_fd);
	if (dir_fd >= 0)
		close(dir_fd);
	return ret;
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
	reader->ended = 1;
	ret = open_all(reader, fd);
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
	attrs_fini(&reader->attrs);
	features_fini(&reader->features);
	reader_close_streams(reader);
	free(reader->pieces.bytes);
	free(reader);
}
