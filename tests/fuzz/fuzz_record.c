// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * fuzz_record.c - any bytes as a record, under any format.
 *
 * Input: the record_format's five words, its flag in the low bit of a byte, 7 bytes unused, then
 * the record.  Every byte that the result points to is read, so ASan sees what lies outside.
 */
#include "sampler/record.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static volatile uint64_t sink; /* what is read has an effect */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum(const void *bytes, uint64_t n)
{
	uint64_t total = 0;

	for (uint64_t i = 0; i < n; i++)
		total += ((const uint8_t *)bytes)[i];
	return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct record_format format = {0};
	struct perf_event_header *header;
	struct record out;

	if (size < 48 + sizeof(*header) || size - 48 > UINT16_MAX)
		return 0;
	memcpy(&format.sample_type, data, 8);
	memcpy(&format.read_format, data + 8, 8);
	memcpy(&format.branch_sample_type, data + 16, 8);
	memcpy(&format.regs_user, data + 24, 8);
	memcpy(&format.regs_intr, data + 32, 8);
	format.sample_id_all = data[40] & 1;
	size -= 48;
	header = malloc(size);
	if (!header)
		return 0;
	memcpy(header, data + 48, size);
	header->size = (uint16_t)size;
	sink += record_time(header, &format);
	if (!record_decode(&out, header, &format))
		switch (out.type) {
		case PERF_RECORD_SAMPLE:
			if (out.sample.chain)
				sink += sum(out.sample.chain, out.sample.chain_len * 8);
			sink += sum(out.sample.raw, out.sample.raw_len);
			break;
		case PERF_RECORD_MMAP:
		case PERF_RECORD_MMAP2:
			sink += strlen(out.mmap.filename) +
				sum(out.mmap.build_id, out.mmap.build_id_len);
			break;
		case PERF_RECORD_COMM:
			sink += strlen(out.comm.comm);
			break;
		}
	free(header);
	return 0;
}
