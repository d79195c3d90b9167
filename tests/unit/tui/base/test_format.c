/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_format.c - numbers as text for people.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/base/format.h"

static void test_counts(void **state)
{
	char text[FORMAT_MAX];

	(void)state;
	assert_string_equal(format_count(text, 0), "0");
	assert_string_equal(format_count(text, 999), "999");
	assert_string_equal(format_count(text, 1000), "1.00k");
	assert_string_equal(format_count(text, 9994), "9.99k");
	assert_string_equal(format_count(text, 9996), "10.0k");
	assert_string_equal(format_count(text, 41234), "41.2k");
	assert_string_equal(format_count(text, 99960), "100k");
	assert_string_equal(format_count(text, 999499), "999k");
	assert_string_equal(format_count(text, 999600), "1.00M");
	assert_string_equal(format_count(text, UINT64_MAX), "18.4E");
}

static void test_bytes(void **state)
{
	char text[FORMAT_MAX];

	(void)state;
	assert_string_equal(format_bytes(text, 2048), "2.0 kB");
	assert_string_equal(format_bytes(text, 11 << 20), "11 MB");
	assert_string_equal(format_bytes(text, 1600ull << 20), "1.6 GB");
	assert_string_equal(format_bytes(text, 1023ull << 20), "1023 MB");
}

static void test_clock(void **state)
{
	char text[FORMAT_MAX];

	(void)state;
	assert_string_equal(format_clock(text, 102 * 1000000000ull + 999999999), "00:01:42");
	assert_string_equal(format_clock(text, 360000 * 1000000000ull), "100:00:00");
}

static void test_percent_and_share(void **state)
{
	char text[FORMAT_MAX];

	(void)state;
	assert_string_equal(format_percent(text, 37.84), "37.8%");
	assert_string_equal(format_percent(text, 99.94), "99.9%");
	assert_string_equal(format_percent(text, 99.96), "100%");
	assert_string_equal(format_percent(text, -1), "0.0%");
	assert_true(format_share(1, 0) == 0.0);
	assert_true(format_share(1, 4) == 0.25);
}

/* Colours in pictures depend on these hashes, which must not change. */
static void test_hash(void **state)
{
	const uint32_t none = 2166136261u, a = 0xe40c292cu;

	(void)state;
	assert_int_equal(format_hash("", 0), none ^ none >> 15);
	assert_int_equal(format_hash("ab", 1), a ^ a >> 15);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_percent_and_share),
		cmocka_unit_test(test_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
