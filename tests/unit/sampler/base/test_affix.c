/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_affix.c - beginnings and ends of strings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/base/affix.h"

static void test_beginnings(void **state)
{
	(void)state;
	assert_true(starts_with("/dev/shm/x", "/dev/shm/"));
	assert_true(starts_with("abc", "abc"));
	assert_true(starts_with("abc", ""));
	assert_false(starts_with("ab", "abc"));
	assert_false(starts_with("xabc", "abc"));
}

static void test_ends(void **state)
{
	(void)state;
	assert_true(ends_with("energy.scale", ".scale"));
	assert_true(ends_with(".scale", ".scale"));
	assert_true(ends_with("abc", ""));
	assert_false(ends_with("scale", ".scale"));
	assert_false(ends_with("energy.scale2", ".scale"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beginnings),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
