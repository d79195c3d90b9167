/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * radix.c - sorts by bytes, the lowest first; see radix.h.
 *
 * Bytes that are equal in all keys cost no pass.
 */
#include "sampler/base/radix.h"

#define BITS 8u
#define DIGITS (1u << BITS)
#define PASSES (64u / BITS)

static unsigned int digit_of(uint64_t key, unsigned int pass)
{
	return key >> pass * BITS & (DIGITS - 1);
}

static void sort_digit(const struct radix_item *from, struct radix_item *to, uint32_t n,
	unsigned int pass, const uint32_t counts[DIGITS])
{
	uint32_t starts[DIGITS], at = 0;

	for (unsigned int digit = 0; digit < DIGITS; digit++) {
		starts[digit] = at;
		at += counts[digit];
	}
	for (uint32_t i = 0; i < n; i++)
		to[starts[digit_of(from[i].key, pass)]++] = from[i];
}

struct radix_item *radix_sort(struct radix_item *items, struct radix_item *work, uint32_t n)
{
	uint32_t counts[PASSES][DIGITS] = {{0}};

	for (uint32_t i = 0; i < n; i++)
		for (unsigned int pass = 0; pass < PASSES; pass++)
			counts[pass][digit_of(items[i].key, pass)]++;
	for (unsigned int pass = 0; pass < PASSES && n; pass++) {
		struct radix_item *sorted = work;

		if (counts[pass][digit_of(items[0].key, pass)] == n)
			continue;
		sort_digit(items, sorted, n, pass, counts[pass]);
		work = items;
		items = sorted;
	}
	return items;
}
