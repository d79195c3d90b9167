/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_intern.c - byte strings keep their numbers and addresses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/base/intern.h"

static void test_many(void **state)
{
	struct intern intern = {0};
	const char *first;
	char text[32];
	uint32_t id;

	(void)state;
	first = intern_text(&intern, "text 0");
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 20000; i++) {
			snprintf(text, sizeof(text), "text %u", i);
			assert_int_equal(intern_id(&intern, text, strlen(text), &id), 0);
			assert_int_equal(id, i);
		}
	assert_int_equal(intern.n, 20000);
	assert_ptr_equal(intern_text(&intern, "text 0"), first);
	assert_string_equal(first, "text 0");
	intern_fini(&intern);
	intern_fini(&intern);
}

/* All bytes and the length count, NULs too. */
static void test_bytes(void **state)
{
	struct intern intern = {0};
	const char bytes[] = "ab\0cd\0ab";
	uint32_t ids[6];

	(void)state;
	assert_int_equal(intern_id(&intern, bytes, 2, &ids[0]), 0);
	assert_int_equal(intern_id(&intern, bytes, 3, &ids[1]), 0);
	assert_int_equal(intern_id(&intern, bytes, 8, &ids[2]), 0);
	assert_int_equal(intern_id(&intern, bytes, 0, &ids[3]), 0);
	assert_int_equal(intern_id(&intern, bytes + 3, 2, &ids[4]), 0);
	assert_int_equal(intern_id(&intern, bytes + 6, 2, &ids[5]), 0);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(ids[i], i);
	assert_int_equal(ids[5], ids[0]);
	assert_memory_equal(intern.entries[2].bytes, bytes, 9);
	intern_fini(&intern);
}

/* Each table has its own seed, so that collisions differ. */
static void test_seeds(void **state)
{
	struct intern one = {0}, other = {0};

	(void)state;
	assert_non_null(intern_text(&one, "text"));
	assert_non_null(intern_text(&other, "text"));
	assert_int_not_equal(one.seed, other.seed);
	assert_int_not_equal(one.entries[0].hash, other.entries[0].hash);
	intern_fini(&one);
	intern_fini(&other);
}

static void test_longer_than_a_block(void **state)
{
	struct intern intern = {0};
	size_t size = 1 << 20;
	char *text = malloc(size);
	const char *before, *copy;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', size);
	text[size - 1] = '\0';
	before = intern_text(&intern, "before");
	copy = intern_text(&intern, text);
	assert_string_equal(copy, text);
	assert_string_equal(intern_text(&intern, "after"), "after");
	assert_string_equal(before, "before");
	assert_ptr_equal(intern_text(&intern, text), copy);
	free(text);
	intern_fini(&intern);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_longer_than_a_block),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
