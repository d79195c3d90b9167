/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_builder.h - builds records word by word, in the order in which the kernel writes them.
 *
 * Each decoded copy is exactly as large as its header says, so that ASan reports reads beyond it.
 */
#ifndef TESTS_RECORD_BUILDER_H
#define TESTS_RECORD_BUILDER_H

#include "sampler/kernel/record.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define WORDS_MAX 512

struct builder {
	uint64_t words[WORDS_MAX];
	size_t n;
};

static inline void begin(struct builder *b, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {.type = type, .misc = misc};

	memcpy(b->words, &header, sizeof(header));
	b->n = 1;
}

static inline void put(struct builder *b, uint64_t word)
{
	b->words[b->n++] = word;
}

static inline void put_pair(struct builder *b, uint32_t first, uint32_t second)
{
	uint32_t pair[2] = {first, second};

	memcpy(&b->words[b->n++], pair, sizeof(pair));
}

static inline void put_string(struct builder *b, const char *text)
{
	size_t words = strlen(text) / 8 + 1;

	memset(&b->words[b->n], 0, words * 8);
	memcpy(&b->words[b->n], text, strlen(text));
	b->n += words;
}

/* Returns a copy of the first n words, with this size in its header.  The caller frees it. */
static inline struct perf_event_header *copy_of(const struct builder *b, size_t n)
{
	struct perf_event_header *header = malloc(n * 8);

	assert_non_null(header);
	memcpy(header, b->words, n * 8);
	header->size = (uint16_t)(n * 8);
	return header;
}

/* Decodes into *out.  Its pointers stay valid until the caller frees the returned copy. */
static inline struct perf_event_header *decode(
	struct record *out, const struct builder *b, const struct record_format *format)
{
	struct perf_event_header *header = copy_of(b, b->n);

	memset(out, 0xa5, sizeof(*out));
	assert_int_equal(record_decode(out, header, format), 0);
	return header;
}

static inline void assert_bad(const struct builder *b, const struct record_format *format)
{
	struct perf_event_header *header = copy_of(b, b->n);
	struct record out;

	assert_int_equal(record_decode(&out, header, format), -EBADMSG);
	free(header);
}

static inline void assert_bad_when_cut(struct builder *b, const struct record_format *format)
{
	size_t n = b->n;

	for (b->n = 1; b->n < n; b->n++)
		assert_bad(b, format);
}

static const struct record_format hot = {
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
	.sample_id_all = true,
};

static inline void put_trailer(struct builder *b)
{
	put_pair(b, 4711, 4712);
	put(b, 1234567);
	put_pair(b, 3, 0xdead);
	put(b, 99);
}

static inline void check_trailer(const struct record *out, const struct perf_event_header *header)
{
	assert_int_equal(out->id.pid, 4711);
	assert_int_equal(out->id.tid, 4712);
	assert_int_equal(out->id.time_ns, 1234567);
	assert_int_equal(out->id.cpu, 3);
	assert_int_equal(out->id.id, 99);
	assert_int_equal(record_time(header, &hot), 1234567);
}

#endif
