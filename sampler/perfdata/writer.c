/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * writer.c - the stream of records, its compression, and the header; see writer.h.
 *
 * A file that is never finished (a crash) has all records up to the last flush, and no features.
 */
#include "sampler/kernel/sys.h"
#include "sampler/perfdata/writer_private.h"

#include "sampler/base/whole.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include <zstd.h>

#define BUFFER_BYTES ((size_t)1 << 20)
#define PATH_LEN_MAX 4096u
#define KEPT_PART_BYTES (32u << 10)
#define RECORD_MAX 65528u /* largest multiple of 8 that fits into header.size */

/* --- bytes --- */

/* Writes the buffer, which always ends with a whole record. */
static int flush_buffer(struct writer *writer)
{
	size_t done = 0;

	if (!writer->error && writer->len)
		writer->error = whole_write(writer->fd, writer->buffer, writer->len, &done);
	writer->written += done;
	if (!writer->error)
		writer->whole = writer->written;
	writer->len = 0;
	return writer->error;
}

/* Appends to the buffer.  len is at most the size of the buffer. */
static int put(struct writer *writer, const void *bytes, size_t len)
{
	if (writer->len + len > BUFFER_BYTES)
		flush_buffer(writer);
	if (writer->error)
		return writer->error;
	memcpy(writer->buffer + writer->len, bytes, len);
	writer->len += len;
	return 0;
}

/* Puts a record of perf's own: its header, then a body of any length that fits. */
static int put_record(
	struct writer *writer, uint32_t type, uint16_t misc, const void *body, size_t len)
{
	struct {
		struct perf_event_header header;
		uint8_t body[RECORD_MAX - sizeof(struct perf_event_header)];
	} record;

	if (len > sizeof(record.body))
		return -E2BIG;
	record.header = (struct perf_event_header){
		.type = type, .misc = misc, .size = (uint16_t)(sizeof(record.header) + len)};
	memcpy(record.body, body, len);
	return put(writer, &record, record.header.size);
}

/* --- compression --- */

/* Writes one flushed pack.  It unpacks to all of its input, so no reader gets an empty pack. */
static int flush_pack(struct writer *writer)
{
	uint8_t out[RECORD_MAX - sizeof(struct perf_event_header)];
	ZSTD_inBuffer from = {writer->pack, writer->pack_len, 0};
	ZSTD_outBuffer to = {out, sizeof(out), 0};
	size_t left;

	if (!writer->pack_len)
		return 0;
	left = ZSTD_compressStream2(writer->stream, &to, &from, ZSTD_e_flush);
	if (left)
		return ZSTD_isError(left) ? -ENOMEM : -E2BIG;
	writer->packed_from += writer->pack_len;
	writer->packed_to += to.pos;
	writer->pack_len = 0;
	return put_record(writer, PERFDATA_RECORD_COMPRESSED, 0, out, to.pos);
}

static int put_packed(struct writer *writer, const uint8_t *bytes, size_t len)
{
	int ret = 0;

	while (len && !ret) {
		size_t room = WRITER_PACK_BYTES - writer->pack_len;
		size_t n = len < room ? len : room;

		memcpy(writer->pack + writer->pack_len, bytes, n);
		writer->pack_len += n;
		bytes += n;
		len -= n;
		if (writer->pack_len == WRITER_PACK_BYTES)
			ret = flush_pack(writer);
	}
	return ret;
}

static int put_stream(struct writer *writer, const void *bytes, size_t len)
{
	return writer->stream ? put_packed(writer, bytes, len) : put(writer, bytes, len);
}

static int start_compression(struct writer *writer)
{
	writer->pack = malloc(WRITER_PACK_BYTES);
	writer->stream = ZSTD_createCCtx();
	if (!writer->pack || !writer->stream)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(writer->stream, ZSTD_c_compressionLevel, WRITER_COMPRESS_LEVEL);
	return 0;
}

/* --- the beginning --- */

static int begin_file(struct writer *writer)
{
	const size_t entry = sizeof(struct perf_event_attr) + sizeof(struct perfdata_section);
	const uint64_t ids = sizeof(struct perfdata_header);
	const uint64_t attrs = ids + writer->n_events * sizeof(uint64_t);
	struct perfdata_header header = {
		.magic = PERFDATA_MAGIC,
		.size = sizeof(header),
		.attr_size = entry,
		.attrs = {attrs, writer->n_events * entry},
	};
	int ret;

	header.data.offset = writer->data_offset = attrs + header.attrs.size;
	ret = put(writer, &header, sizeof(header));
	for (size_t i = 0; i < writer->n_events && !ret; i++) {
		uint64_t id = writer_id(i);

		ret = put(writer, &id, sizeof(id));
	}
	for (size_t i = 0; i < writer->n_events && !ret; i++) {
		struct perfdata_section section = {ids + i * sizeof(uint64_t), sizeof(uint64_t)};

		ret = put(writer, &writer->events[i].attr, sizeof(writer->events[i].attr));
		if (!ret)
			ret = put(writer, &section, sizeof(section));
	}
	return ret ? ret : flush_buffer(writer);
}

static int put_pipe_event(struct writer *writer, size_t event)
{
	struct {
		struct perf_event_attr attr;
		uint64_t id;
	} attr = {writer->events[event].attr, writer_id(event)};
	struct {
		uint64_t kind, id;
		char name[EVENT_NAME_MAX];
	} update = {PERFDATA_UPDATE_NAME, writer_id(event), ""};
	int ret = put_record(writer, PERFDATA_RECORD_HEADER_ATTR, 0, &attr, sizeof(attr));

	memcpy(update.name, writer->events[event].name, sizeof(update.name));
	if (!ret)
		ret = put_record(writer, PERFDATA_RECORD_EVENT_UPDATE, 0, &update, sizeof(update));
	return ret;
}

static int put_pipe_feature(struct writer *writer, enum perfdata_feature feature)
{
	static const uint8_t zeros[8];
	struct writer_bytes body = {0};
	uint64_t number = (uint64_t)feature;
	int ret = 0;

	writer_append(&body, &number, sizeof(number));
	writer_feature(writer, feature, &body);
	writer_append(&body, zeros, (8 - body.len % 8) % 8);
	if (body.failed)
		ret = -ENOMEM;
	else if (body.len > sizeof(number))
		ret = put_record(writer, PERFDATA_RECORD_FEATURE, 0, body.at, body.len);
	free(body.at);
	/* A feature that does not fit into a record is left out. */
	return ret == -E2BIG ? 0 : ret;
}

/* Writes the tracing data of a pipe: a record with the length, then that many bytes. */
static int put_pipe_tracing(struct writer *writer)
{
	static const uint8_t zeros[8];
	const struct writer_bytes *tracing = &writer->tracing;
	size_t padding = -tracing->len & 7u;
	uint32_t len = (uint32_t)(tracing->len + padding);
	int ret;

	if (!tracing->len)
		return 0;
	ret = put_record(writer, PERFDATA_RECORD_TRACING_DATA, 0, &len, sizeof(len));
	for (size_t at = 0; at < tracing->len && !ret; at += BUFFER_BYTES) {
		size_t left = tracing->len - at;

		ret = put(writer, tracing->at + at, left < BUFFER_BYTES ? left : BUFFER_BYTES);
	}
	return ret ? ret : put(writer, zeros, padding);
}

static int begin_pipe(struct writer *writer)
{
	const struct perfdata_pipe_header header = {PERFDATA_MAGIC, sizeof(header)};
	enum perfdata_feature features[32];
	size_t n = writer_feature_list(writer, features);
	int ret = put(writer, &header, sizeof(header));

	for (size_t i = 0; i < writer->n_events && !ret; i++)
		ret = put_pipe_event(writer, i);
	for (size_t i = 0; i < n && !ret; i++)
		ret = put_pipe_feature(writer, features[i]);
	if (!ret)
		ret = put_pipe_tracing(writer);
	return ret ? ret : flush_buffer(writer);
}

static int copy_config(struct writer *writer, const struct writer_config *config)
{
	writer->events = calloc(config->n_events + 1, sizeof(*writer->events));
	writer->formats = calloc(config->n_events + 1, sizeof(*writer->formats));
	writer->cmdline = calloc(config->n_cmdline + 1, sizeof(*writer->cmdline));
	writer->buffer = malloc(BUFFER_BYTES);
	if (!writer->events || !writer->formats || !writer->cmdline || !writer->buffer)
		return -ENOMEM;
	for (size_t i = 0; i < config->n_cmdline; i++) {
		writer->cmdline[i] = strdup(config->cmdline[i]);
		if (!writer->cmdline[i])
			return -ENOMEM;
		writer->n_cmdline++;
	}
	for (size_t i = 0; i < config->n_events; i++) {
		const struct perf_event_attr *attr = &config->events[i].attr;

		writer->events[i] = config->events[i];
		writer->events[i].name[EVENT_NAME_MAX - 1] = '\0';
		writer->events[i].attr.size = sizeof(*attr);
		/* Synthesized mappings already have their build-ids; see synth_mapping(). */
		writer->events[i].attr.build_id = 1;
		sys_format_of(&writer->formats[i], attr);
	}
	writer->n_events = config->n_events;
	if (config->tracing_data)
		writer_append(&writer->tracing, config->tracing_data, config->tracing_data_len);
	return writer->tracing.failed ? -ENOMEM : 0;
}

int writer_new(struct writer **out, const struct writer_config *config)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	int ret;

	*out = NULL;
	if (!writer)
		return -ENOMEM;
	writer->fd = config->fd;
	writer->pipe = config->pipe;
	ret = copy_config(writer, config);
	if (!ret && config->compress)
		ret = start_compression(writer);
	if (!ret)
		ret = config->pipe ? begin_pipe(writer) : begin_file(writer);
	if (ret)
		writer_free(writer);
	else
		*out = writer;
	return ret;
}

void writer_free(struct writer *writer)
{
	if (!writer)
		return;
	for (size_t i = 0; i < writer->n_cmdline; i++)
		free(writer->cmdline[i]);
	free(writer->cmdline);
	free(writer->events);
	free(writer->formats);
	free(writer->buffer);
	free(writer->pack);
	free(writer->tracing.at);
	free(writer->build_ids.at);
	ZSTD_freeCCtx(writer->stream);
	free(writer);
}

/* --- records --- */

static void note_time(struct writer *writer, const struct perf_event_header *record, size_t event)
{
	uint64_t time_ns = record_time(record, &writer->formats[event]);

	if (!time_ns)
		return;
	if (!writer->first_sample_ns || time_ns < writer->first_sample_ns)
		writer->first_sample_ns = time_ns;
	if (time_ns > writer->last_sample_ns)
		writer->last_sample_ns = time_ns;
}

/* Rewrites the ids of a record: in the first word of a sample, otherwise at the end and in the body
 * of some types. */
static int rewrite_ids(uint8_t *bytes, const struct perf_event_header *header, size_t event)
{
	const uint64_t id = writer_id(event);
	size_t first = 0, n = 0;

	if (header->size < sizeof(*header) + sizeof(id))
		return -EBADMSG;
	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		memcpy(bytes + sizeof(*header), &id, sizeof(id));
		return 0;
	case PERF_RECORD_LOST:
		first = sizeof(*header);
		n = 1;
		break;
	case PERF_RECORD_READ:
		/* After pid and tid, and the value and both times of one counter. */
		first = sizeof(*header) + 4 * sizeof(uint64_t);
		n = 1;
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		first = sizeof(*header) + sizeof(uint64_t);
		n = 2;
		break;
	default:
		break;
	}
	if (first + (n + 1) * sizeof(id) > header->size)
		return -EBADMSG;
	for (size_t i = 0; i < n; i++)
		memcpy(bytes + first + i * sizeof(id), &id, sizeof(id));
	memcpy(bytes + header->size - sizeof(id), &id, sizeof(id));
	return 0;
}

int writer_record(struct writer *writer, const struct perf_event_header *record, size_t event)
{
	_Alignas(uint64_t) uint8_t copy[RECORD_MAX];
	int ret;

	if (writer->error)
		return writer->error;
	if (event >= writer->n_events || record->size > RECORD_MAX || record->size % 8)
		return -EBADMSG;
	memcpy(copy, record, record->size);
	ret = rewrite_ids(copy, record, event);
	if (ret)
		return ret;
	if (record->type == PERF_RECORD_SAMPLE)
		note_time(writer, record, event);
	writer->round_pending = true;
	return put_stream(writer, copy, record->size);
}

static int put_mark(struct writer *writer, enum perfdata_record type)
{
	const struct perf_event_header mark = {.type = type, .size = sizeof(mark)};

	return put_stream(writer, &mark, sizeof(mark));
}

int writer_round(struct writer *writer)
{
	if (writer->error || !writer->round_pending)
		return writer->error;
	writer->round_pending = false;
	return put_mark(writer, PERFDATA_RECORD_FINISHED_ROUND);
}

int writer_synthesized(struct writer *writer)
{
	return writer->error ? writer->error : put_mark(writer, PERFDATA_RECORD_FINISHED_INIT);
}

int writer_build_id(struct writer *writer, const struct reader_build_id *build_id)
{
	static const uint8_t zeros[64];
	size_t path_len = strlen(build_id->path) + 1, padded = (path_len + 63) & ~(size_t)63;
	struct perfdata_build_id entry = {
		.header.type = PERFDATA_RECORD_BUILD_ID,
		.header.misc = build_id->cpumode | PERFDATA_BUILD_ID_HAS_SIZE,
		.pid = build_id->pid,
		.size = build_id->build_id_len,
	};
	struct writer_bytes bytes = {0};
	int ret = 0;

	if (build_id->build_id_len > sizeof(entry.build_id) || path_len > PATH_LEN_MAX)
		return -EINVAL;
	memcpy(entry.build_id, build_id->build_id, build_id->build_id_len);
	entry.header.size = (uint16_t)(sizeof(entry) + padded);
	writer_append(&bytes, &entry, sizeof(entry));
	writer_append(&bytes, build_id->path, path_len);
	writer_append(&bytes, zeros, padded - path_len);
	if (bytes.failed)
		ret = -ENOMEM;
	else if (writer->pipe)
		ret = writer->error ? writer->error : put(writer, bytes.at, bytes.len);
	else
		writer_append(&writer->build_ids, bytes.at, bytes.len);
	free(bytes.at);
	return ret;
}

int writer_kept(struct writer *writer, const void *bytes, size_t len)
{
	struct {
		uint64_t kind, id, len;
		uint8_t bytes[KEPT_PART_BYTES];
	} part = {.kind = PERFDATA_UPDATE_KEPT, .id = writer_id(0)};
	const uint8_t *at = bytes;
	int ret = writer->error;

	if (!writer->pipe) {
		writer->kept = bytes;
		writer->kept_len = len;
		return 0;
	}
	for (size_t done = 0; done < len && !ret; done += (size_t)part.len) {
		const size_t head = offsetof(typeof(part), bytes);

		part.len = len - done < KEPT_PART_BYTES ? len - done : KEPT_PART_BYTES;
		memcpy(part.bytes, at + done, (size_t)part.len);
		ret = put_record(writer, PERFDATA_RECORD_EVENT_UPDATE, 0, &part,
			head + (((size_t)part.len + 7) & ~(size_t)7));
	}
	return ret;
}

/* --- the end --- */

int writer_flush(struct writer *writer)
{
	int ret = writer->stream && !writer->error ? flush_pack(writer) : 0;
	uint64_t size;

	if (!ret)
		ret = flush_buffer(writer);
	if (ret || writer->pipe)
		return ret;
	/* perf reads no records from a recording without a size in its header. */
	size = writer->whole - writer->data_offset;
	return whole_pwrite(writer->fd, &size, sizeof(size),
		offsetof(struct perfdata_header, data) + offsetof(struct perfdata_section, size));
}

/* Writes the table of sections, then their contents.  Sets bits[] for the features written. */
static int write_features(struct writer *writer, uint64_t end, uint64_t *bits, uint64_t *len)
{
	enum perfdata_feature list[32];
	struct perfdata_section sections[32];
	struct writer_bytes bytes = {0};
	size_t n = writer_feature_list(writer, list), used = 0;
	uint64_t table;
	int ret;

	for (size_t i = 0; i < n; i++) {
		size_t from = bytes.len;

		writer_feature(writer, list[i], &bytes);
		if (bytes.len == from)
			continue;
		sections[used++] = (struct perfdata_section){from, bytes.len - from};
		bits[list[i] / 64] |= 1ull << list[i] % 64;
	}
	table = used * sizeof(sections[0]);
	for (size_t i = 0; i < used; i++)
		sections[i].offset += end + table;
	ret = bytes.failed ? -ENOMEM : whole_pwrite(writer->fd, sections, table, end);
	if (!ret)
		ret = whole_pwrite(writer->fd, bytes.at, bytes.len, end + table);
	*len = table + bytes.len;
	free(bytes.at);
	return ret;
}

/* Writes the kept bytes.  If they do not fit on the disk, cuts the file before them. */
static int write_kept(struct writer *writer, uint64_t at, struct perfdata_section *section)
{
	const int ret = whole_pwrite(writer->fd, writer->kept, writer->kept_len, at);

	if (ret)
		(void)!ftruncate(writer->fd, (off_t)at);
	else
		*section = (struct perfdata_section){at, writer->kept_len};
	return ret;
}

static int complete_file(struct writer *writer)
{
	struct perfdata_header header = {0};
	uint64_t end = writer->whole, len = 0;
	size_t entry = sizeof(struct perf_event_attr) + sizeof(struct perfdata_section);
	int ret, last;

	/* Cut the bytes after the last whole record: their record did not fit. */
	ret = ftruncate(writer->fd, (off_t)end) ? -errno : 0;
	if (!ret)
		ret = write_features(writer, end, header.features, &len);
	if (ret) {
		/* The file can be read without features too. */
		memset(header.features, 0, sizeof(header.features));
		len = 0;
		(void)!ftruncate(writer->fd, (off_t)end);
	}
	if (!ret && writer->kept_len)
		ret = write_kept(writer, end + len, &header.event_types);
	header.magic = PERFDATA_MAGIC;
	header.size = sizeof(header);
	header.attr_size = entry;
	header.attrs = (struct perfdata_section){
		sizeof(header) + writer->n_events * sizeof(uint64_t), writer->n_events * entry};
	header.data = (struct perfdata_section){writer->data_offset, end - writer->data_offset};
	writer->written = end + len + header.event_types.size;
	last = whole_pwrite(writer->fd, &header, sizeof(header), 0);
	return ret ? ret : last;
}

int writer_finish(struct writer *writer)
{
	int ret = writer_flush(writer), completed;

	if (!writer->pipe) {
		completed = complete_file(writer);
		if (!ret)
			ret = completed;
	}
	return ret;
}

uint64_t writer_bytes(const struct writer *writer)
{
	return writer->written + writer->len + writer->pack_len;
}
