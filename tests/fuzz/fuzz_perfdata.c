// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * fuzz_perfdata.c - any bytes as a recording, read to its end, each record decoded.
 *
 * Inputs of an odd length come through a pipe, others from a file.  All returned bytes are read, so
 * ASan sees bytes outside the input.
 */
#include "sampler/perfdata/reader.h"
#include "sampler/perfdata/tracing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIPE_BYTES 65536

static volatile uint64_t sink; /* keeps the reads from being optimized out */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum(const void *bytes, uint64_t n)
{
	uint64_t total = 0;

	for (uint64_t i = 0; i < n; i++)
		total += ((const uint8_t *)bytes)[i];
	return total;
}

static uint64_t sum_text(const char *text)
{
	return text ? strlen(text) : 0;
}

static int fd_of(const uint8_t *data, size_t size)
{
	int fds[2];

	if ((size & 1) && size < PIPE_BYTES) {
		if (pipe(fds))
			return -1;
		if (write(fds[1], data, size) != (ssize_t)size)
			abort();
		close(fds[1]);
		return fds[0];
	}
	fds[0] = memfd_create("fuzz", MFD_CLOEXEC);
	if (fds[0] >= 0 && pwrite(fds[0], data, size, 0) != (ssize_t)size)
		abort();
	return fds[0];
}

static void look_at_sample(const struct record_sample *sample)
{
	sink += sum(sample->chain, sample->chain_len * 8) + sum(sample->raw, sample->raw_len);
	if (!sample->has_more)
		return;
	sink += sum(
		sample->more.branches, sample->more.n_branches * sizeof(struct perf_branch_entry));
	sink += sum(sample->more.stack, sample->more.stack_len);
	sink += sum(sample->more.aux, sample->more.aux_len);
	for (uint64_t i = 0; i < sample->more.read.n; i++) {
		struct record_counter counter;

		record_counter(&sample->more.read, i, &counter);
		sink += counter.value + counter.id + counter.lost;
	}
}

static void look_at(const struct reader *reader, const struct reader_record *record)
{
	struct record out;
	const struct record_format *format;

	if (record->header->size & 7 || (uintptr_t)record->header & 7)
		abort();
	sink += sum(record->header, record->header->size);
	if (!record->has_attr)
		return;
	format = &reader_attr(reader, record->attr)->format;
	sink += record_time(record->header, format);
	if (!record_decode(&out, record->header, format) && out.type == PERF_RECORD_SAMPLE)
		look_at_sample(&out.sample);
}

/* Reads the formats of all tracepoints in the recording. */
static void look_at_tracing(const struct reader_info *info)
{
	struct tracing *tracing;

	if (tracing_new(&tracing, info->tracing_data, info->tracing_data_len))
		return;
	sink += tracing_count(tracing);
	for (uint64_t id = 0; id < 1000; id++)
		sink += sum_text(tracing_format(tracing, id));
	tracing_free(tracing);
}

static void look_at_info(const struct reader *reader)
{
	const struct reader_info *info = reader_info(reader);

	sink += sum_text(info->hostname) + sum_text(info->release) + sum_text(info->perf_version) +
		sum_text(info->arch) + sum_text(info->cpu_desc) + sum_text(info->cpu_id);
	for (size_t i = 0; i < info->n_cmdline; i++)
		sink += sum_text(info->cmdline[i]);
	for (size_t i = 0; i < info->n_build_ids; i++)
		sink += sum_text(info->build_ids[i].path) +
			sum(info->build_ids[i].build_id, info->build_ids[i].build_id_len);
	sink += sum(info->tracing_data, info->tracing_data_len);
	look_at_tracing(info);
	for (size_t i = 0; i < reader_attr_count(reader); i++)
		sink += sum_text(reader_attr(reader, i)->name) +
			sum(reader_attr(reader, i)->ids, reader_attr(reader, i)->n_ids * 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader_record record;
	struct reader_status status;
	struct reader *reader;
	int fd = fd_of(data, size);

	if (fd < 0 || reader_open(&reader, fd))
		return 0;
	while (reader_next(reader, &record) > 0)
		look_at(reader, &record);
	look_at_info(reader);
	reader_status(reader, &status);
	sink += status.bytes_read;
	reader_close(reader);
	return 0;
}
