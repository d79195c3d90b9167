/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sums.h - sums by a key, to compare two ways of adding up in any order.
 */
#ifndef TESTS_SUMS_H
#define TESTS_SUMS_H

#include <stddef.h>
#include <stdint.h>

#define SUMS 8192u

/* A hash table with open addressing. */
struct sums_slot {
	uint64_t key, self, total, samples;
};

struct sums {
	struct sums_slot slots[SUMS];
	size_t n;
};

static inline uint64_t sums_key(uint64_t key, uint64_t more)
{
	key = (key ^ more) * 0x9e3779b97f4a7c15ull;
	return key ^ key >> 31;
}

static inline uint64_t sums_key_text(uint64_t key, const char *text)
{
	while (*text)
		key = sums_key(key, (unsigned char)*text++);
	return sums_key(key, 256);
}

static inline void sums_add(
	struct sums *sums, uint64_t key, uint64_t self, uint64_t total, uint64_t samples)
{
	size_t at;

	key |= 1;
	at = (size_t)key % SUMS;
	if (!self && !total && !samples)
		return;
	while (sums->slots[at].key && sums->slots[at].key != key)
		at = (at + 1) % SUMS;
	sums->n += !sums->slots[at].key;
	assert_true(sums->n < SUMS / 2);
	sums->slots[at].key = key;
	sums->slots[at].self += self;
	sums->slots[at].total += total;
	sums->slots[at].samples += samples;
}

static inline void sums_expect_same(const struct sums *whole, const struct sums *parts)
{
	assert_true(whole->n > 0);
	assert_int_equal(whole->n, parts->n);
	for (size_t i = 0; i < SUMS; i++) {
		const struct sums_slot *sum = &whole->slots[i];
		size_t at = (size_t)sum->key % SUMS;

		if (!sum->key)
			continue;
		for (size_t step = 0; parts->slots[at].key != sum->key; step++) {
			assert_true(step < SUMS);
			at = (at + 1) % SUMS;
		}
		assert_int_equal(parts->slots[at].self, sum->self);
		assert_int_equal(parts->slots[at].total, sum->total);
		assert_int_equal(parts->slots[at].samples, sum->samples);
	}
}

#endif
