// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * record.c - decode one perf_event record.
 *
 * The order of a sample's fields is that of the kernel's perf_output_sample() (CGROUP and the page
 * sizes come before AUX, other than the manual page lists them).  Records are whole 8-byte words,
 * so a cursor counts words, and lengths read from the record are compared with what is left before
 * they are multiplied.
 */
#include "sampler/record.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define USER_TYPE_START 64 /* perf.data's own records, which have no trailer */

#define SAMPLE_FIXED                                                                          \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |       \
		PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | \
		PERF_SAMPLE_PERIOD)
/* What the engine asks for, with or without CALLCHAIN. */
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

/* Since Linux 6.8, unknown to older headers. */
#define BRANCH_COUNTERS (1u << 19)

struct cursor {
	const uint64_t *at;
	const uint64_t *end;
};

/* The two halves of a word, in the order in which they stand in memory. */
struct pair {
	uint32_t first, second;
};

static inline struct pair pair_at(const uint64_t *word)
{
	struct pair pair;

	memcpy(&pair, word, sizeof(pair));
	return pair;
}

static inline uint64_t words_left(const struct cursor *cursor)
{
	return (uint64_t)(cursor->end - cursor->at);
}

static inline bool skip(struct cursor *cursor, uint64_t words)
{
	if (words > words_left(cursor))
		return false;
	cursor->at += words;
	return true;
}

static inline bool take(struct cursor *cursor, uint64_t *value)
{
	if (cursor->at == cursor->end)
		return false;
	*value = *cursor->at++;
	return true;
}

static inline unsigned int count_bits(uint64_t mask)
{
	return (unsigned int)__builtin_popcountll(mask);
}

static bool skip_array(struct cursor *cursor, uint64_t n, unsigned int words_each)
{
	if (n > words_left(cursor))
		return false;
	return skip(cursor, n * words_each);
}

/* A length in bytes and so many bytes, a multiple of 8. */
static bool skip_bytes(struct cursor *cursor, uint64_t *len)
{
	return take(cursor, len) && !(*len & 7) && skip(cursor, *len / 8);
}

static bool skip_read(struct cursor *cursor, uint64_t read_format)
{
	unsigned int times = count_bits(
		read_format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
	unsigned int each = 1 + count_bits(read_format & (PERF_FORMAT_ID | PERF_FORMAT_LOST));
	uint64_t nr = 1;

	if ((read_format & PERF_FORMAT_GROUP) && !take(cursor, &nr))
		return false;
	return skip(cursor, times) && skip_array(cursor, nr, each);
}

static bool skip_regs(struct cursor *cursor, uint64_t mask)
{
	uint64_t abi;

	if (!take(cursor, &abi))
		return false;
	return abi == PERF_SAMPLE_REGS_ABI_NONE || skip(cursor, count_bits(mask));
}

/* A sample without a branch stack has nr alone, one with an empty branch stack has nr and hw_idx:
 * the caller tries both, since nothing tells them apart but the record's size. */
static bool skip_branches(
	struct cursor *cursor, const struct record_format *format, bool empty_has_index)
{
	bool has_index = format->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX;
	unsigned int each = sizeof(struct perf_branch_entry) / 8;
	uint64_t nr;

	if (format->branch_sample_type & BRANCH_COUNTERS)
		each++;
	if (!take(cursor, &nr))
		return false;
	if (has_index && (nr || empty_has_index) && !skip(cursor, 1))
		return false;
	return skip_array(cursor, nr, each);
}

/* What follows RAW; nothing of it is kept yet. */
static bool skip_tail(
	struct cursor *cursor, const struct record_format *format, bool empty_has_index)
{
	uint64_t type = format->sample_type, len;

	if ((type & PERF_SAMPLE_BRANCH_STACK) && !skip_branches(cursor, format, empty_has_index))
		return false;
	if ((type & PERF_SAMPLE_REGS_USER) && !skip_regs(cursor, format->regs_user))
		return false;
	if (type & PERF_SAMPLE_STACK_USER) {
		if (!skip_bytes(cursor, &len))
			return false;
		if (len && !skip(cursor, 1)) /* dyn_size */
			return false;
	}
	if ((type & PERF_SAMPLE_WEIGHT_TYPE) && !skip(cursor, 1))
		return false;
	if (!skip(cursor, count_bits(type & (PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION))))
		return false;
	if ((type & PERF_SAMPLE_REGS_INTR) && !skip_regs(cursor, format->regs_intr))
		return false;
	if (!skip(cursor,
		    count_bits(type &
			    (PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |
				    PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE))))
		return false;
	return !(type & PERF_SAMPLE_AUX) || skip_bytes(cursor, &len);
}

static bool tail_fits(const struct cursor *cursor, const struct record_format *format)
{
	struct cursor with = *cursor, without = *cursor;

	return skip_tail(&with, format, true) || skip_tail(&without, format, false);
}

static bool decode_raw(struct record_sample *sample, struct cursor *cursor)
{
	uint32_t len;
	const void *data;

	if (cursor->at == cursor->end)
		return false;
	memcpy(&len, cursor->at, sizeof(len));
	data = (const uint8_t *)cursor->at + sizeof(len);
	/* The kernel pads the data so that it ends with a word, and counts the padding. */
	if ((len & 7) != 4 || !skip(cursor, ((uint64_t)len + sizeof(len)) / 8))
		return false;
	sample->raw = data;
	sample->raw_len = len;
	return true;
}

/* SAMPLE_USUAL at its fixed places: at millions of samples a second the tests for each field of
 * decode_sample() would cost more than the fields. */
static inline int decode_usual(struct record *out, const struct cursor *cursor, bool chain)
{
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
	out->sample = (struct record_sample){.ip = at[1], .period = at[5]};
	if (chain) {
		if (at[6] > words_left(cursor) - 7)
			return -EBADMSG;
		out->sample.chain = at + 7;
		out->sample.chain_len = at[6];
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

	memset(sample, 0, sizeof(*sample));
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
		at++;
	if (type & PERF_SAMPLE_CPU)
		id->cpu = pair_at(at++).first;
	if (type & PERF_SAMPLE_PERIOD)
		sample->period = *at++;
	cursor->at = at;
	if ((type & PERF_SAMPLE_READ) && !skip_read(cursor, format->read_format))
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
	if ((type & SAMPLE_TAIL) && !tail_fits(cursor, format))
		return -EBADMSG;
	return 0;
}

/* Take the sample_id off the record's end. */
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
		at++;
	if (type & PERF_SAMPLE_CPU)
		id->cpu = pair_at(at++).first;
	if (type & PERF_SAMPLE_IDENTIFIER)
		id->id = *at;
	return true;
}

/* The string that fills the rest of the record, padded with NULs; NULL when not terminated. */
static const char *string_at(const struct cursor *cursor)
{
	const char *text = (const char *)cursor->at;

	return memchr(text, 0, words_left(cursor) * 8) ? text : NULL;
}

static int decode_mmap(struct record *out, struct cursor *cursor)
{
	struct record_mmap *mmap = &out->mmap;
	bool second = out->type == PERF_RECORD_MMAP2;
	const uint64_t *at = cursor->at;
	struct pair pair;

	memset(mmap, 0, sizeof(*mmap));
	if (!skip(cursor, second ? 8 : 4))
		return -EBADMSG;
	pair = pair_at(at);
	mmap->pid = pair.first;
	mmap->tid = pair.second;
	mmap->start = at[1];
	mmap->len = at[2];
	mmap->pgoff = at[3];
	mmap->executable = !(out->misc & PERF_RECORD_MISC_MMAP_DATA);
	if (second) {
		if (out->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
			const uint8_t *bytes = (const uint8_t *)(at + 4);

			if (bytes[0] > RECORD_BUILD_ID_MAX)
				return -EBADMSG;
			mmap->build_id_len = bytes[0];
			memcpy(mmap->build_id, bytes + 4, mmap->build_id_len);
		} else {
			pair = pair_at(at + 4);
			mmap->dev_major = pair.first;
			mmap->dev_minor = pair.second;
			mmap->inode = at[5];
			mmap->inode_generation = at[6];
			mmap->has_inode = true;
		}
		pair = pair_at(at + 7);
		mmap->prot = pair.first;
		mmap->flags = pair.second;
		mmap->executable = mmap->prot & PROT_EXEC;
	}
	mmap->filename = string_at(cursor);
	return mmap->filename ? 0 : -EBADMSG;
}

static int decode_comm(struct record *out, struct cursor *cursor)
{
	struct record_comm *comm = &out->comm;
	struct pair pair;

	if (cursor->at == cursor->end)
		return -EBADMSG;
	pair = pair_at(cursor->at++);
	comm->pid = pair.first;
	comm->tid = pair.second;
	comm->exec = out->misc & PERF_RECORD_MISC_COMM_EXEC;
	comm->comm = string_at(cursor);
	return comm->comm ? 0 : -EBADMSG;
}

static int decode_task(struct record *out, struct cursor *cursor)
{
	struct record_task *task = &out->task;
	const uint64_t *at = cursor->at;
	struct pair pair;

	if (!skip(cursor, 3))
		return -EBADMSG;
	pair = pair_at(at);
	task->pid = pair.first;
	task->ppid = pair.second;
	pair = pair_at(at + 1);
	task->tid = pair.first;
	task->ptid = pair.second;
	task->time_ns = at[2];
	return 0;
}

static int decode_lost(struct record *out, struct cursor *cursor)
{
	out->lost.id = out->id.id;
	if (out->type == PERF_RECORD_LOST && !take(cursor, &out->lost.id))
		return -EBADMSG;
	return take(cursor, &out->lost.lost) ? 0 : -EBADMSG;
}

static int decode_throttle(struct record *out, struct cursor *cursor)
{
	const uint64_t *at = cursor->at;

	if (!skip(cursor, 3))
		return -EBADMSG;
	out->throttle.time_ns = at[0];
	out->throttle.id = at[1];
	out->throttle.stream_id = at[2];
	return 0;
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

/* Apart from record_decode(), so that the usual sample pays for none of its registers. */
static __attribute__((noinline)) int decode_rest(
	struct record *out, struct cursor cursor, const struct record_format *format)
{
	out->id = (struct record_id){0};
	if (out->type == PERF_RECORD_SAMPLE)
		return decode_sample(out, &cursor, format);
	if (format->sample_id_all && out->type < USER_TYPE_START &&
		!decode_trailer(&out->id, &cursor, format))
		return -EBADMSG;
	switch (out->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return decode_mmap(out, &cursor);
	case PERF_RECORD_COMM:
		return decode_comm(out, &cursor);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return decode_task(out, &cursor);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return decode_lost(out, &cursor);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		return decode_throttle(out, &cursor);
	}
	return -ENOTSUP;
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
