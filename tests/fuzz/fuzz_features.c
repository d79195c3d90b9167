// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * fuzz_features.c - a feature's number, a byte of flags, then its section: metadata in a recording.
 *
 * With flag 2 the bytes are formats of tracepoints, with flag 4 a build-id entry with its header.
 */
#include "sampler/perfdata/features.h"
#include "sampler/perfdata/told.h"
#include "sampler/perfdata/tracing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static volatile uint64_t sink; /* uses all results, so that no read is optimized out */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum_text(const char *text)
{
	return text ? strlen(text) : 0;
}

static void look_at_info(const struct reader_info *info)
{
	sink += sum_text(info->hostname) + sum_text(info->release) + sum_text(info->perf_version) +
		sum_text(info->arch) + sum_text(info->cpu_desc) + sum_text(info->cpu_id);
	for (size_t i = 0; i < info->n_cmdline; i++)
		sink += sum_text(info->cmdline[i]);
	for (size_t i = 0; i < info->n_build_ids; i++) {
		sink += sum_text(info->build_ids[i].path);
		if (info->build_ids[i].build_id_len > sizeof(info->build_ids[i].build_id))
			abort();
	}
}

static void look_at_told(const struct reader_info *info)
{
	sink += sum_text(info->recorder) + sum_text(info->device);
	for (size_t i = 0; i < info->n_told; i++) {
		const struct reader_told *told = &info->told[i];

		if (i && strcmp(told[-1].path, told->path) > 0)
			abort();
		if (told->len && told->names[told->len - 1] != '\n')
			abort();
		sink += sum_text(told->path) + (told_find(info, told->path) != NULL);
	}
}

static void try_tracing(const uint8_t *bytes, size_t len)
{
	struct tracing *tracing;

	if (tracing_new(&tracing, bytes, len))
		return;
	if (tracing_count(tracing) > TRACING_EVENTS_MAX)
		abort();
	for (uint64_t id = 0; id < 64; id++)
		sink += sum_text(tracing_format(tracing, id));
	tracing_free(tracing);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct features features = {0};
	struct attrs attrs = {0};
	const bool swapped = size > 1 && (data[1] & 1);
	uint8_t *bytes;

	if (size < 2)
		return 0;
	size -= 2;
	bytes = malloc(size ? size : 1);
	if (!bytes)
		return 0;
	memcpy(bytes, data + 2, size);
	if (data[1] & 2)
		try_tracing(bytes, size);
	else if (data[1] & 4)
		(void)features_build_id(&features, bytes, size, (uint16_t)(data[0] << 8), swapped);
	else
		(void)features_take(&features, &attrs, data[0], bytes, size, swapped);
	look_at_info(&features.info);
	look_at_told(&features.info);
	features_fini(&features);
	attrs_fini(&attrs);
	free(bytes);
	return 0;
}
