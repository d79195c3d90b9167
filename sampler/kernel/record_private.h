/* SPDX-License-Identifier: GPL-3.0-or-later */
/* record_private.h - the cursor of record.c (samples) and record_side.c (all other records). */
#ifndef SAMPLER_KERNEL_RECORD_PRIVATE_H
#define SAMPLER_KERNEL_RECORD_PRIVATE_H

#include "sampler/kernel/record.h"

#include <string.h>

struct cursor {
	const uint64_t *at;
	const uint64_t *end;
};

/* The two halves of a word, in memory order. */
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

/* Takes the counter values of a sample or a READ record.  Returns false if they do not fit. */
bool record_take_read(struct record_read *read, struct cursor *cursor, uint64_t read_format);

/* Decodes the body of a record that is no sample; its type, misc and id are already set.  Returns
 * like record_decode(). */
int record_decode_side(
	struct record *out, struct cursor *cursor, const struct record_format *format);

#endif
