// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * record.c - decodes one perf_event record: its id, and samples; see record_side.c for other
 * records.
 *
 * The fields of a sample have the order of the kernel's perf_output_sample().  There, CGROUP and
 * the page sizes come before AUX, unlike in the manual page.  Records are whole 8-byte words, so a
 * cursor counts words.  A length from the record is compared with the words left before it is
 * multiplied.
 */
#include "sampler/kernel/record_private.h"

#include <errno.h>
#include <stddef.h>

#define USER_TYPE_START 64 /* first type of perf.data's own records, which have no trailer */

#define SAMPLE_FIXED                                                                          \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |       \
		PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | \
		PERF_SAMPLE_PERIOD)
/* Fields that the engine requests, with or without CALLCHAIN. */
#define SAMPLE_USUAL                                                                    \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define SAMPLE_TAIL                                                                        \
	(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |       \
		PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | \
		PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |       \
		PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_AUX)
#define TRAILER_FIELDS                                                                 \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
		PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* Since Linux 6.8; unknown to older headers. */
#define BRANCH_COUNTERS (1u << 19)

static bool skip_array(struct cursor *cursor, uint64_t n, unsigned int words_each)
{
	if (n > words_left(cursor))
		return false;
	return skip(cursor, n * words_each);
}

/* Takes a length in bytes, a multiple of 8, and that many bytes. */
static bool take_bytes(struct cursor *cursor, const void **bytes, uint64_t *len)
{
	if (!take(cursor, len) || (*len & 7))
		return false;
	*bytes = cursor->at;
	return skip(cursor, *len / 8);
}

bool record_take_read(struct record_read *read, struct cursor *cursor, uint64_t read_format)
{
	bool group = read_format & PERF_FORMAT_GROUP;

	read->n = 1;
	read->words_each = 1;
	read->has_id = read_format & PERF_FORMAT_ID;
	read->has_lost = read_format & PERF_FORMAT_LOST;
	if (group) {
		read->words_each += (uint8_t)(read->has_id + read->has_lost);
		if (!take(cursor, &read->n))
			return false;
	} else {
		/* Here the times come between value and id, unlike in a group. */
		read->values = cursor->at;
		if (!skip(cursor, 1))
			return false;
	}
	if ((read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) && !take(cursor, &read->enabled_ns))
		return false;
	if ((read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) && !take(cursor, &read->running_ns))
		return false;
	if (group) {
		read->values = cursor->at;
		return skip_array(cursor, read->n, read->words_each);
	}
	read->rest = cursor->at;
	return skip(cursor, (uint64_t)read->has_id + read->has_lost);
}

void record_counter(const struct record_read *read, uint64_t i, struct record_counter *out)
{
	const uint64_t *at = read->values + i * read->words_each;
	const uint64_t *rest = read->rest ? read->rest : at + 1;

	out->value = *at;
	out->id = read->has_id ? *rest++ : 0;
	out->lost = read->has_lost ? *rest : 0;
}

static bool take_regs(struct record_regs *regs, struct cursor *cursor, uint64_t mask)
{
	if (!take(cursor, &regs->abi))
		return false;
	if (regs->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return true;
	regs->values = cursor->at;
	return skip(cursor, count_bits(mask));
}

/* A sample without a branch stack has only nr, one with an empty branch stack has nr and hw_idx.
 * Only the record's size distinguishes them, so the caller tries both. */
static bool take_branches(struct record_more *more, struct cursor *cursor,
	const struct record_format *format, bool empty_has_index)
{
	unsigned int words = sizeof(struct perf_branch_entry) / 8;
	uint64_t nr;

	if (!take(cursor, &nr))
		return false;
	more->branch_index = UINT64_MAX;
	if ((format->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) && (nr || empty_has_index) &&
		!take(cursor, &more->branch_index))
		return false;
	more->branches = (const struct perf_branch_entry *)(const void *)cursor->at;
	more->n_branches = nr;
	if (!skip_array(cursor, nr, words))
		return false;
	if (!(format->branch_sample_type & BRANCH_COUNTERS))
		return true;
	more->branch_counters = cursor->at;
	return skip(cursor, nr);
}

static bool take_weight(struct record_more *more, struct cursor *cursor, bool is_struct)
{
	uint64_t word;

	if (!take(cursor, &word))
		return false;
	more->weight = word;
	if (is_struct) {
		more->weight = word & UINT32_MAX;
		more->weight_2 = (uint16_t)(word >> 32);
		more->weight_3 = (uint16_t)(word >> 48);
	}
	return true;
}

static bool take_if(struct cursor *cursor, uint64_t wanted, uint64_t *value)
{
	return !wanted || take(cursor, value);
}

/* Takes the fields after RAW. */
static bool take_tail(struct record_more *more, struct cursor *cursor,
	const struct record_format *format, bool empty_has_index)
{
	uint64_t type = format->sample_type;

	if ((type & PERF_SAMPLE_BRANCH_STACK) &&
		!take_branches(more, cursor, format, empty_has_index))
		return false;
	if ((type & PERF_SAMPLE_REGS_USER) &&
		!take_regs(&more->regs_user, cursor, format->regs_user))
		return false;
	if (type & PERF_SAMPLE_STACK_USER) {
		uint64_t len;

		if (!take_bytes(cursor, &more->stack, &len))
			return false;
		if (len && !take(cursor, &more->stack_len))
			return false;
		if (more->stack_len > len) /* the bytes that were really copied */
			more->stack_len = len;
		more->stack_ends = more->stack_len < len;
	}
	if ((type & PERF_SAMPLE_WEIGHT_TYPE) &&
		!take_weight(more, cursor, type & PERF_SAMPLE_WEIGHT_STRUCT))
		return false;
	if (!take_if(cursor, type & PERF_SAMPLE_DATA_SRC, &more->data_src) ||
		!take_if(cursor, type & PERF_SAMPLE_TRANSACTION, &more->transaction))
		return false;
	if ((type & PERF_SAMPLE_REGS_INTR) &&
		!take_regs(&more->regs_intr, cursor, format->regs_intr))
		return false;
	if (!take_if(cursor, type & PERF_SAMPLE_PHYS_ADDR, &more->phys_addr) ||
		!take_if(cursor, type & PERF_SAMPLE_CGROUP, &more->cgroup) ||
		!take_if(cursor, type & PERF_SAMPLE_DATA_PAGE_SIZE, &more->data_page_size) ||
		!take_if(cursor, type & PERF_SAMPLE_CODE_PAGE_SIZE, &more->code_page_size))
		return false;
	return !(type & PERF_SAMPLE_AUX) || take_bytes(cursor, &more->aux, &more->aux_len);
}

static bool decode_tail(
	struct record_more *more, const struct cursor *cursor, const struct record_format *format)
{
	const struct record_more before = *more;
	struct cursor with = *cursor, without = *cursor;

	if (take_tail(more, &with, format, true))
		return true;
	*more = before;
	return take_tail(more, &without, format, false);
}

static bool decode_raw(struct record_sample *sample, struct cursor *cursor)
{
	uint32_t len;
	const void *data;

	if (cursor->at == cursor->end)
		return false;
	memcpy(&len, cursor->at, sizeof(len));
	data = (const uint8_t *)cursor->at + sizeof(len);
	/* The kernel pads the data to a word boundary, and counts the padding. */
	if ((len & 7) != 4 || !skip(cursor, ((uint64_t)len + sizeof(len)) / 8))
		return false;
	sample->raw = data;
	sample->raw_len = len;
	return true;
}

/* Decodes SAMPLE_USUAL from fixed offsets.  With millions of samples a second, the tests of
 * decode_sample() would cost more than the fields. */
static inline int decode_usual(struct record *out, const struct cursor *cursor, bool chain)
{
	struct record_sample *sample = &out->sample;
	const uint64_t *at = cursor->at;
	struct pair pair;

	if (words_left(cursor) < (chain ? 7 : 6))
		return -EBADMSG;
	pair = pair_at(at + 2);
	out->id.pid = pair.first;
	out->id.tid = pair.second;
	out->id.time_ns = at[3];
	out->id.id = at[0];
	out->id.cpu = pair_at(at + 4).first;
	out->id.stream_id = 0;
	sample->ip = at[1];
	sample->addr = 0;
	sample->period = at[5];
	sample->chain = NULL;
	sample->chain_len = 0;
	sample->raw = NULL;
	sample->raw_len = 0;
	sample->has_more = false;
	if (chain) {
		if (at[6] > words_left(cursor) - 7)
			return -EBADMSG;
		sample->chain = at + 7;
		sample->chain_len = at[6];
	}
	return 0;
}

static int decode_sample(
	struct record *out, struct cursor *cursor, const struct record_format *format)
{
	struct record_sample *sample = &out->sample;
	struct record_id *id = &out->id;
	uint64_t type = format->sample_type;
	const uint64_t *at = cursor->at;

	memset(sample, 0, offsetof(struct record_sample, more));
	if (count_bits(type & SAMPLE_FIXED) > words_left(cursor))
		return -EBADMSG;
	if (type & PERF_SAMPLE_IDENTIFIER)
		id->id = *at++;
	if (type & PERF_SAMPLE_IP)
		sample->ip = *at++;
	if (type & PERF_SAMPLE_TID) {
		struct pair pair = pair_at(at++);

		id->pid = pair.first;
		id->tid = pair.second;
	}
	if (type & PERF_SAMPLE_TIME)
		id->time_ns = *at++;
	if (type & PERF_SAMPLE_ADDR)
		sample->addr = *at++;
	if (type & PERF_SAMPLE_ID)
		id->id = *at++;
	if (type & PERF_SAMPLE_STREAM_ID)
		id->stream_id = *at++;
	if (type & PERF_SAMPLE_CPU)
		id->cpu = pair_at(at++).first;
	if (type & PERF_SAMPLE_PERIOD)
		sample->period = *at++;
	cursor->at = at;
	sample->has_more = type & (PERF_SAMPLE_READ | SAMPLE_TAIL);
	if (sample->has_more)
		memset(&sample->more, 0, sizeof(sample->more));
	if ((type & PERF_SAMPLE_READ) &&
		!record_take_read(&sample->more.read, cursor, format->read_format))
		return -EBADMSG;
	if (type & PERF_SAMPLE_CALLCHAIN) {
		uint64_t nr;

		if (!take(cursor, &nr))
			return -EBADMSG;
		sample->chain = cursor->at;
		sample->chain_len = nr;
		if (!skip(cursor, nr))
			return -EBADMSG;
	}
	if ((type & PERF_SAMPLE_RAW) && !decode_raw(sample, cursor))
		return -EBADMSG;
	if ((type & SAMPLE_TAIL) && !decode_tail(&sample->more, cursor, format))
		return -EBADMSG;
	return 0;
}

/* Takes the sample_id off the end of the record. */
static bool decode_trailer(
	struct record_id *id, struct cursor *cursor, const struct record_format *format)
{
	uint64_t type = format->sample_type;
	const uint64_t *at;
	unsigned int words = count_bits(type & TRAILER_FIELDS);

	if (words > words_left(cursor))
		return false;
	cursor->end -= words;
	at = cursor->end;
	if (type & PERF_SAMPLE_TID) {
		struct pair pair = pair_at(at++);

		id->pid = pair.first;
		id->tid = pair.second;
	}
	if (type & PERF_SAMPLE_TIME)
		id->time_ns = *at++;
	if (type & PERF_SAMPLE_ID)
		id->id = *at++;
	if (type & PERF_SAMPLE_STREAM_ID)
		id->stream_id = *at++;
	if (type & PERF_SAMPLE_CPU)
		id->cpu = pair_at(at++).first;
	if (type & PERF_SAMPLE_IDENTIFIER)
		id->id = *at;
	return true;
}

static inline bool is_whole(const struct perf_event_header *header)
{
	return header->size >= sizeof(*header) && !(header->size & 7);
}

static inline struct cursor payload(const struct perf_event_header *header)
{
	const uint64_t *words = (const uint64_t *)(const void *)header;
	struct cursor cursor = {words + 1, words + header->size / 8};

	return cursor;
}

/* Not part of record_decode(), so that the usual sample saves none of its registers. */
static __attribute__((noinline)) int decode_rest(
	struct record *out, struct cursor cursor, const struct record_format *format)
{
	out->id = (struct record_id){0};
	if (out->type == PERF_RECORD_SAMPLE)
		return decode_sample(out, &cursor, format);
	if (format->sample_id_all && out->type < USER_TYPE_START &&
		!decode_trailer(&out->id, &cursor, format))
		return -EBADMSG;
	return record_decode_side(out, &cursor, format);
}

int record_decode(struct record *out, const struct perf_event_header *header,
	const struct record_format *format)
{
	struct cursor cursor;

	if (!is_whole(header))
		return -EBADMSG;
	cursor = payload(header);
	out->type = header->type;
	out->misc = header->misc;
	if (out->type == PERF_RECORD_SAMPLE &&
		(format->sample_type & ~(uint64_t)PERF_SAMPLE_CALLCHAIN) == SAMPLE_USUAL)
		return decode_usual(out, &cursor, format->sample_type & PERF_SAMPLE_CALLCHAIN);
	return decode_rest(out, cursor, format);
}

uint64_t record_time(const struct perf_event_header *header, const struct record_format *format)
{
	uint64_t type = format->sample_type;
	struct cursor cursor;
	int before;

	if (!(type & PERF_SAMPLE_TIME) || !is_whole(header))
		return 0;
	cursor = payload(header);
	if (header->type == PERF_RECORD_SAMPLE) {
		before = !!(type & PERF_SAMPLE_IDENTIFIER) + !!(type & PERF_SAMPLE_IP) +
			!!(type & PERF_SAMPLE_TID);
		return before < cursor.end - cursor.at ? cursor.at[before] : 0;
	}
	if (!format->sample_id_all || header->type >= USER_TYPE_START)
		return 0;
	before = (int)count_bits(type & TRAILER_FIELDS & ~(uint64_t)PERF_SAMPLE_TID);
	return before <= cursor.end - cursor.at ? cursor.end[-before] : 0;
}
