// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * fuzz_record.c - any bytes as a record, under any format.
 *
 * Input: the record_format's five words, its flag in the low bit of a byte, 7 unused bytes, then
 * the record.  Every byte that the result points to is read, so ASan sees bytes outside the record.
 */
#include "sampler/kernel/record.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static volatile uint64_t sink; /* keeps the reads from being optimized out */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum(const void *bytes, uint64_t n)
{
	uint64_t total = 0;

	for (uint64_t i = 0; i < n; i++)
		total += ((const uint8_t *)bytes)[i];
	return total;
}

static void look_at_read(const struct record_read *read)
{
	for (uint64_t i = 0; i < read->n; i++) {
		struct record_counter counter;

		record_counter(read, i, &counter);
		sink += counter.value + counter.id + counter.lost;
	}
}

static void look_at_regs(const struct record_regs *regs, uint64_t mask)
{
	if (regs->values)
		sink += sum(regs->values, 8 * (uint64_t)__builtin_popcountll(mask));
}

static void look_at_more(const struct record_more *more, const struct record_format *format)
{
	look_at_read(&more->read);
	look_at_regs(&more->regs_user, format->regs_user);
	look_at_regs(&more->regs_intr, format->regs_intr);
	sink += sum(more->branches, more->n_branches * sizeof(struct perf_branch_entry));
	if (more->branch_counters)
		sink += sum(more->branch_counters, more->n_branches * 8);
	sink += sum(more->stack, more->stack_len) + sum(more->aux, more->aux_len);
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
			if (out.sample.has_more)
				look_at_more(&out.sample.more, &format);
			break;
		case PERF_RECORD_MMAP:
		case PERF_RECORD_MMAP2:
			sink += strlen(out.mmap.filename) +
				sum(out.mmap.build_id, out.mmap.build_id_len);
			break;
		case PERF_RECORD_COMM:
			sink += strlen(out.comm.comm);
			break;
		case PERF_RECORD_READ:
			look_at_read(&out.read.read);
			break;
		case PERF_RECORD_NAMESPACES:
			sink += sum(out.namespaces.pairs, out.namespaces.n * 16);
			break;
		case PERF_RECORD_KSYMBOL:
			sink += strlen(out.ksymbol.name);
			break;
		case PERF_RECORD_CGROUP:
			sink += strlen(out.cgroup.path);
			break;
		case PERF_RECORD_TEXT_POKE:
			sink += sum(out.text_poke.bytes,
				(uint64_t)out.text_poke.old_len + out.text_poke.new_len);
			break;
		case RECORD_CALLCHAIN_DEFERRED:
			sink += sum(out.deferred.chain, out.deferred.chain_len * 8);
			break;
		}
	free(header);
	return 0;
}
