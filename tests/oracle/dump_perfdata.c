// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * dump_perfdata.c - prints the contents of a recording, as lines for tests to compare.
 *
 *   dump_perfdata [--records] FILE|-
 *
 * Prints "count TYPE N" for each record type, "event NAME SAMPLES", and "state KEY VALUE".  With
 * --records, also prints one line for each record, with a digest of the bytes that the reader
 * returned.
 */
#include "sampler/perfdata/reader.h"
#include "sampler/perfdata/tracing.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t digest(const void *bytes, size_t n)
{
	uint64_t hash = 14695981039346656037ull;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) * 1099511628211ull;
	return hash;
}

/* Prints the first line of each tracepoint format in the recording. */
static void print_tracepoints(const struct reader_info *info)
{
	struct tracing *tracing;

	if (tracing_new(&tracing, info->tracing_data, info->tracing_data_len))
		return;
	for (uint64_t id = 0; id < UINT16_MAX; id++) {
		const char *format = tracing_format(tracing, id);

		if (format)
			printf("tracepoint %" PRIu64 " %.*s\n", id, (int)strcspn(format, "\n"),
				format);
	}
	tracing_free(tracing);
}

static void print_status(const struct reader *reader, int ret)
{
	const struct reader_info *info = reader_info(reader);
	struct reader_status status;

	reader_status(reader, &status);
	for (unsigned int type = 0; type < PERFDATA_RECORD_TYPES; type++)
		if (status.counts[type])
			printf("count %u %" PRIu64 "\n", type, status.counts[type]);
	printf("state end %s\n", ret ? strerrorname_np(-ret) : "0");
	printf("state unknown %" PRIu64 "\n", status.unknown);
	printf("state bad %" PRIu64 "\n", status.bad);
	printf("state truncated %d\n", status.truncated);
	printf("state truncated_at %" PRIu64 "\n", status.faults[0].offset);
	printf("state features_missing %d\n", status.features_missing);
	printf("state features_bad %u\n", status.features_bad);
	printf("state bytes_read %" PRIu64 "\n", status.bytes_read);
	printf("state compressed %d\n", info->compressed);
	printf("state pipe %d\n", info->pipe);
	printf("state hostname %s\n", info->hostname ? info->hostname : "");
	printf("state release %s\n", info->release ? info->release : "");
	printf("state arch %s\n", info->arch ? info->arch : "");
	printf("state cpus %u\n", info->cpus_online);
	printf("state tracing_bytes %zu\n", info->tracing_data_len);
	print_tracepoints(info);
	for (size_t i = 0; i < info->n_build_ids; i++) {
		printf("build-id ");
		for (unsigned int k = 0; k < info->build_ids[i].build_id_len; k++)
			printf("%02x", info->build_ids[i].build_id[k]);
		printf(" %s\n", info->build_ids[i].path);
	}
}

static void print_attr(const struct reader_attr *attr, uint64_t samples)
{
	printf("event %s %" PRIu64 "\n", attr->name, samples);
	printf("attr type %u config %" PRIu64 " period %" PRIu64 " sample_type %" PRIx64
	       " precise %u exclude_kernel %u sample_id_all %u max_stack %u ids %zu\n",
		attr->attr.type, (uint64_t)attr->attr.config, (uint64_t)attr->attr.sample_period,
		attr->format.sample_type, attr->attr.precise_ip, attr->attr.exclude_kernel,
		attr->format.sample_id_all, attr->attr.sample_max_stack, attr->n_ids);
}

int main(int argc, char **argv)
{
	bool records = argc == 3 && !strcmp(argv[1], "--records");
	uint64_t undecodable = 0, orphans = 0, *samples = NULL;
	struct reader_record record;
	struct reader *reader;
	size_t n_samples = 0;
	int fd, ret;

	if (argc != 2 + records)
		return 2;
	fd = strcmp(argv[argc - 1], "-") ? open(argv[argc - 1], O_RDONLY | O_CLOEXEC) : 0;
	ret = reader_open(&reader, fd);
	if (ret) {
		printf("state open %s\n", strerrorname_np(-ret));
		return 0;
	}
	while ((ret = reader_next(reader, &record)) > 0) {
		uint32_t type = record.header->type;
		struct record out;

		if (records)
			printf("record %u %u %u %" PRIx64 "\n", type, record.header->size,
				record.attr, digest(record.header, record.header->size));
		if (type >= PERFDATA_RECORD_HEADER_ATTR)
			continue;
		if (!record.has_attr) {
			orphans++;
			continue;
		}
		undecodable += record_decode(&out, record.header,
				       &reader_attr(reader, record.attr)->format) != 0;
		if (type != PERF_RECORD_SAMPLE)
			continue;
		if (record.attr >= n_samples) {
			size_t n = reader_attr_count(reader);

			samples = reallocarray(samples, n, sizeof(*samples));
			if (!samples)
				return 1;
			memset(samples + n_samples, 0, (n - n_samples) * sizeof(*samples));
			n_samples = n;
		}
		samples[record.attr]++;
	}
	print_status(reader, ret);
	printf("state undecodable %" PRIu64 "\n", undecodable);
	printf("state orphans %" PRIu64 "\n", orphans);
	for (size_t i = 0; i < reader_attr_count(reader); i++)
		print_attr(reader_attr(reader, i), i < n_samples ? samples[i] : 0);
	free(samples);
	reader_close(reader);
	return 0;
}
