// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * swap.c - converts records to this machine's byte order; see swap.h.
 *
 * Walks the bodies in the order of record.c.  Text and raw data stay unchanged.
 */
#include "sampler/perfdata/swap.h"

#include "sampler/perfdata/perfdata.h"

#include <errno.h>

#define TRAILER_FIELDS                                                                 \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
		PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)
#define BRANCH_COUNTERS (1u << 19) /* since Linux 6.8 */

/* Position of the walk; bad once a field did not fit. */
struct walk {
	uint8_t *at, *end;
	bool bad;
};

static size_t left(const struct walk *walk)
{
	return (size_t)(walk->end - walk->at);
}

static bool has(struct walk *walk, uint64_t bytes)
{
	if (bytes > left(walk))
		walk->bad = true;
	return !walk->bad;
}

static uint64_t turn_64(struct walk *walk)
{
	uint64_t value;

	if (!has(walk, sizeof(value)))
		return 0;
	value = swap_get_64(walk->at, true);
	memcpy(walk->at, &value, sizeof(value));
	walk->at += sizeof(value);
	return value;
}

static uint32_t turn_32(struct walk *walk)
{
	uint32_t value;

	if (!has(walk, sizeof(value)))
		return 0;
	value = swap_get_32(walk->at, true);
	memcpy(walk->at, &value, sizeof(value));
	walk->at += sizeof(value);
	return value;
}

static void turn_16(struct walk *walk)
{
	uint16_t value;

	if (!has(walk, sizeof(value)))
		return;
	memcpy(&value, walk->at, sizeof(value));
	value = __builtin_bswap16(value);
	memcpy(walk->at, &value, sizeof(value));
	walk->at += sizeof(value);
}

static void turn_many_64(struct walk *walk, uint64_t n)
{
	if (n > left(walk) / 8)
		walk->bad = true;
	for (uint64_t i = 0; i < n && !walk->bad; i++)
		turn_64(walk);
}

static void turn_many_32(struct walk *walk, uint64_t n)
{
	for (uint64_t i = 0; i < n && !walk->bad; i++)
		turn_32(walk);
}

static void leave(struct walk *walk, uint64_t bytes)
{
	if (has(walk, bytes))
		walk->at += bytes;
}

static unsigned int count_bits(uint64_t mask)
{
	return (unsigned int)__builtin_popcountll(mask);
}

/* Returns the field of `width` bits after `before` bits of a word, as placed by compilers for the
 * other byte order. */
static uint64_t bits_from_top(uint64_t word, unsigned int before, unsigned int width)
{
	return word >> (64 - before - width) & ((1ull << width) - 1);
}

/* Converts the flags of struct perf_branch_entry. */
static void turn_branch_flags(struct walk *walk)
{
	static const uint8_t widths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3};
	unsigned int before = 0;
	uint64_t word = turn_64(walk), turned = 0;

	if (walk->bad)
		return;
	for (size_t i = 0; i < sizeof(widths); i++) {
		turned |= bits_from_top(word, before, widths[i]) << before;
		before += widths[i];
	}
	memcpy(walk->at - sizeof(turned), &turned, sizeof(turned));
}

void swap_attr(struct perf_event_attr *attr)
{
	struct walk walk = {(uint8_t *)attr, (uint8_t *)(attr + 1), false};
	uint8_t *flags;
	unsigned int precise;

	turn_many_32(&walk, 2); /* type, size */
	turn_many_64(&walk, 4); /* config to read_format */
	flags = walk.at;
	for (size_t i = 0; i < sizeof(uint64_t); i++) {
		unsigned int byte = flags[i], turned = 0;

		for (unsigned int bit = 0; bit < 8; bit++)
			turned |= (byte >> bit & 1) << (7 - bit);
		flags[i] = (uint8_t)turned;
	}
	leave(&walk, sizeof(uint64_t));
	/* The only field of two bits has its bits reversed now. */
	precise = attr->precise_ip;
	attr->precise_ip = (precise >> 1 | precise << 1) & 3;
	turn_many_32(&walk, 2); /* wakeup, bp_type */
	turn_many_64(&walk, 4); /* config1 to sample_regs_user */
	turn_many_32(&walk, 2); /* sample_stack_user, clockid */
	turn_64(&walk); /* sample_regs_intr */
	turn_32(&walk); /* aux_watermark */
	turn_16(&walk); /* sample_max_stack */
	turn_16(&walk);
	turn_many_32(&walk, 2); /* aux_sample_size */
	turn_64(&walk); /* sig_data */
}

static void turn_read(struct walk *walk, uint64_t read_format)
{
	uint64_t times = count_bits(read_format &
			 (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)),
		 each = 1 + count_bits(read_format & (PERF_FORMAT_ID | PERF_FORMAT_LOST)),
		 nr = read_format & PERF_FORMAT_GROUP ? turn_64(walk) : 1;

	if (nr > left(walk))
		walk->bad = true;
	else
		turn_many_64(walk, times + nr * each);
}

static void turn_branches(struct walk *walk, const struct record_format *format)
{
	uint64_t nr = turn_64(walk);

	/* An empty branch stack may have an index too (see record.c).  It is converted as a word of
	 * the next field. */
	if (format->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX && nr)
		turn_64(walk);
	if (nr > left(walk) / sizeof(struct perf_branch_entry))
		walk->bad = true;
	for (uint64_t i = 0; i < nr && !walk->bad; i++) {
		turn_many_64(walk, 2);
		turn_branch_flags(walk);
	}
	if (format->branch_sample_type & BRANCH_COUNTERS)
		turn_many_64(walk, nr);
}

static void turn_regs(struct walk *walk, uint64_t mask)
{
	if (turn_64(walk) != PERF_SAMPLE_REGS_ABI_NONE)
		turn_many_64(walk, count_bits(mask));
}

static void turn_sample(struct walk *walk, const struct record_format *format)
{
	uint64_t type = format->sample_type, len;

	turn_many_64(walk, count_bits(type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP)));
	if (type & PERF_SAMPLE_TID)
		turn_many_32(walk, 2);
	turn_many_64(walk,
		count_bits(type &
			(PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
				PERF_SAMPLE_STREAM_ID)));
	if (type & PERF_SAMPLE_CPU)
		turn_many_32(walk, 2);
	if (type & PERF_SAMPLE_PERIOD)
		turn_64(walk);
	if (type & PERF_SAMPLE_READ)
		turn_read(walk, format->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		turn_many_64(walk, turn_64(walk));
	if (type & PERF_SAMPLE_RAW)
		leave(walk, turn_32(walk));
	if (type & PERF_SAMPLE_BRANCH_STACK)
		turn_branches(walk, format);
	if (type & PERF_SAMPLE_REGS_USER)
		turn_regs(walk, format->regs_user);
	if (type & PERF_SAMPLE_STACK_USER) {
		len = turn_64(walk);
		leave(walk, len);
		if (len)
			turn_64(walk);
	}
	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		turn_64(walk);
	turn_many_64(walk, count_bits(type & (PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION)));
	if (type & PERF_SAMPLE_REGS_INTR)
		turn_regs(walk, format->regs_intr);
	turn_many_64(walk,
		count_bits(type &
			(PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE |
				PERF_SAMPLE_CODE_PAGE_SIZE)));
	if (type & PERF_SAMPLE_AUX)
		leave(walk, turn_64(walk));
}

/* Converts the sample_id at the end of a record, and cuts it off the walk. */
static void turn_trailer(struct walk *walk, const struct record_format *format)
{
	uint64_t type = format->sample_type;
	size_t bytes = 8 * count_bits(type & TRAILER_FIELDS);
	struct walk trailer;

	if (!has(walk, bytes))
		return;
	walk->end -= bytes;
	trailer = (struct walk){walk->end, walk->end + bytes, false};
	if (type & PERF_SAMPLE_TID)
		turn_many_32(&trailer, 2);
	turn_many_64(&trailer,
		count_bits(type & (PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID)));
	if (type & PERF_SAMPLE_CPU)
		turn_many_32(&trailer, 2);
	if (type & PERF_SAMPLE_IDENTIFIER)
		turn_64(&trailer);
}

static void turn_kernel(struct walk *walk, const struct perf_event_header *header,
	const struct record_format *format)
{
	switch (header->type) {
	case PERF_RECORD_MMAP:
		turn_many_32(walk, 2);
		turn_many_64(walk, 3);
		break;
	case PERF_RECORD_MMAP2:
		turn_many_32(walk, 2);
		turn_many_64(walk, 3);
		if (has(walk, 24) &&
			record_has_build_id(header->misc, walk->at, format->no_build_ids)) {
			leave(walk, 24);
		} else {
			turn_many_32(walk, 2);
			turn_many_64(walk, 2);
		}
		turn_many_32(walk, 2);
		break;
	case PERF_RECORD_COMM:
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		turn_many_32(walk, 2);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		turn_many_32(walk, 4);
		turn_64(walk);
		break;
	case PERF_RECORD_READ:
	case PERF_RECORD_NAMESPACES:
		turn_many_32(walk, 2);
		turn_many_64(walk, left(walk) / 8);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
	case PERF_RECORD_AUX:
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
	case RECORD_CALLCHAIN_DEFERRED:
		turn_many_64(walk, left(walk) / 8);
		break;
	case PERF_RECORD_KSYMBOL:
		turn_64(walk);
		turn_32(walk);
		turn_16(walk);
		turn_16(walk);
		break;
	case PERF_RECORD_BPF_EVENT:
		turn_16(walk);
		turn_16(walk);
		turn_32(walk);
		break;
	case PERF_RECORD_CGROUP:
		turn_64(walk);
		break;
	case PERF_RECORD_TEXT_POKE:
		turn_64(walk);
		turn_16(walk);
		turn_16(walk);
		break;
	}
}

/* Converts perf's own records, except those that the reader itself processes. */
static void turn_user(struct walk *walk, uint32_t type)
{
	uint64_t n;

	switch (type) {
	case PERFDATA_RECORD_ID_INDEX:
	case PERFDATA_RECORD_STAT_CONFIG:
	case PERFDATA_RECORD_STAT_ROUND:
	case PERFDATA_RECORD_TIME_CONV:
		turn_many_64(walk, left(walk) / 8);
		break;
	case PERFDATA_RECORD_AUXTRACE_INFO:
		turn_many_32(walk, 2);
		turn_many_64(walk, left(walk) / 8);
		break;
	case PERFDATA_RECORD_AUXTRACE:
		turn_many_64(walk, 3);
		turn_many_32(walk, 4);
		break;
	case PERFDATA_RECORD_AUXTRACE_ERROR:
		turn_many_32(walk, 6);
		turn_64(walk);
		break;
	case PERFDATA_RECORD_THREAD_MAP:
		n = turn_64(walk);
		if (n > left(walk) / 24)
			walk->bad = true;
		for (uint64_t i = 0; i < n && !walk->bad; i++) {
			turn_64(walk);
			leave(walk, 16);
		}
		break;
	case PERFDATA_RECORD_CPU_MAP:
		turn_16(walk); /* its kind; the data depends on it, and is not used */
		break;
	case PERFDATA_RECORD_STAT:
		turn_64(walk);
		turn_many_32(walk, 2);
		turn_many_64(walk, 3);
		break;
	}
}

int swap_record(struct perf_event_header *header, const struct record_format *format)
{
	uint8_t *bytes = (uint8_t *)header;
	struct walk walk = {bytes + sizeof(*header), bytes + header->size, false};

	if (header->type >= PERFDATA_RECORD_HEADER_ATTR) {
		turn_user(&walk, header->type);
	} else if (header->type == PERF_RECORD_SAMPLE) {
		turn_sample(&walk, format);
	} else {
		if (format->sample_id_all)
			turn_trailer(&walk, format);
		turn_kernel(&walk, header, format);
	}
	return walk.bad ? -EBADMSG : 0;
}
