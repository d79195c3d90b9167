/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_idmap.c - the map against a plain array with equal contents.
 */
#include "sampler/base/idmap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define KEYS 512

static void test_empty(void **state)
{
	struct idmap map;
	size_t position = 0;

	(void)state;
	idmap_init(&map);
	assert_null(idmap_find(&map, 1));
	assert_null(idmap_remove(&map, 1));
	assert_null(idmap_next(&map, &position));
	idmap_fini(&map);
	idmap_fini(&map);
}

/* Sets and removals in a fixed random order. After each, map and array agree on that key. */
static void test_against_array(void **state)
{
	static char values[KEYS];
	void *expected[KEYS] = {0};
	struct idmap map;
	uint32_t random = 1;
	size_t n = 0;

	(void)state;
	idmap_init(&map);
	for (int i = 0; i < 20000; i++) {
		uint32_t key;

		random = random * 1664525u + 1013904223u;
		key = (random >> 8) % KEYS;
		if (random >> 31) {
			assert_int_equal(idmap_set(&map, key, &values[key]), 0);
			n += !expected[key];
			expected[key] = &values[key];
		} else {
			assert_ptr_equal(idmap_remove(&map, key), expected[key]);
			n -= expected[key] != NULL;
			expected[key] = NULL;
		}
		assert_int_equal(map.n, n);
		if (i % 100)
			continue;
		for (uint32_t k = 0; k < KEYS; k++)
			assert_ptr_equal(idmap_find(&map, k), expected[k]);
	}
	idmap_fini(&map);
}

static void test_walk_meets_each_once(void **state)
{
	static char values[100];
	struct idmap map;
	size_t position = 0, n = 0;
	char *value;

	(void)state;
	idmap_init(&map);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(idmap_set(&map, i << 40, &values[i]), 0);
	while ((value = idmap_next(&map, &position))) {
		assert_int_equal(*value, 0);
		*value = 1;
		n++;
	}
	assert_int_equal(n, 100);
	idmap_fini(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_against_array),
		cmocka_unit_test(test_walk_meets_each_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
