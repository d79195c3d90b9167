/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_radix.c - sorting many numbers, compared with qsort(3).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/base/radix.h"

#define ITEMS 5000u

static int compare(const void *a, const void *b)
{
	const struct radix_item *left = a, *right = b;

	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	return left->id < right->id ? -1 : left->id > right->id;
}

/* Sorts n random keys; each has `bits` random bits, from bit `shift` on. */
static void check(uint32_t n, unsigned int bits, unsigned int shift)
{
	struct radix_item items[ITEMS], work[ITEMS], expected[ITEMS], *sorted;
	uint64_t seed = n + bits + shift, mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;

	memset(items, 0, sizeof(items));
	for (uint32_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		items[i].key = ((seed ^ seed >> 29) & mask) << shift;
		items[i].id = i;
	}
	memcpy(expected, items, sizeof(items));
	qsort(expected, n, sizeof(*expected), compare);
	sorted = radix_sort(items, work, n);
	assert_true(sorted == items || sorted == work);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(sorted[i].key, expected[i].key);
		assert_int_equal(sorted[i].id, expected[i].id);
	}
}

static void test_sorted(void **state)
{
	(void)state;
	check(ITEMS, 64, 0);
	check(ITEMS, 8, 0);
	check(ITEMS, 12, 20);
	check(ITEMS, 3, 61);
	check(ITEMS, 1, 30);
	check(1, 64, 0);
	check(2, 64, 0);
	check(0, 64, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
