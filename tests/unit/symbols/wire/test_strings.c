/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_strings.c - each string is stored once, at an address that stays while thousands are added.
 */
#include "symbols/wire/strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 20000

static void test_once(void **state)
{
	struct strings strings = {0};

	(void)state;
	assert_int_equal(strings_add(&strings, "one"), 0);
	assert_int_equal(strings_add(&strings, ""), 1);
	assert_int_equal(strings_add(&strings, "one"), 0);
	assert_int_equal(strings_add(&strings, "on"), 2);
	assert_int_equal(strings.n, 3);
	assert_string_equal(strings.texts[1], "");
	strings_fini(&strings);
	assert_int_equal(strings.n, 0);
	strings_fini(&strings);
}

static void test_many(void **state)
{
	struct strings strings = {0};
	const char *first;
	char text[32];

	(void)state;
	assert_int_equal(strings_add(&strings, "0"), 0);
	first = strings.texts[0];
	for (int i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "%d", i);
		assert_int_equal(strings_add(&strings, text), i);
	}
	for (int i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "%d", i);
		assert_string_equal(strings.texts[i], text);
		assert_int_equal(strings_add(&strings, text), i);
	}
	assert_ptr_equal(strings.texts[0], first);
	strings_fini(&strings);
}

/* A string longer than a chunk. */
static void test_long(void **state)
{
	const size_t len = 300000;
	struct strings strings = {0};
	char *text = calloc(1, len + 1);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', len);
	assert_int_equal(strings_add(&strings, "short"), 0);
	assert_int_equal(strings_add(&strings, text), 1);
	assert_int_equal(strings_add(&strings, "after"), 2);
	assert_int_equal(strings_add(&strings, text), 1);
	assert_int_equal(strlen(strings.texts[1]), len);
	assert_string_equal(strings.texts[0], "short");
	assert_string_equal(strings.texts[2], "after");
	strings_fini(&strings);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
