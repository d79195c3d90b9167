/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/accounting/tasktime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char text[] = "cpu  1111 111 11 9 9 9 9 9 0 0\n"
			   "cpu0 100 20 3 4000 500 60 7 8 9 10\n"
			   "cpu1 1000 200 30 4 5 6 7 8 9 10\n"
			   "cpu10 7 0 0 4 5 6 7 8 9 10\n"
			   "intr 12 3 4\n"
			   "ctxt 5\n";

static bool is_one(int cpu, const void *ctx)
{
	return cpu == *(const int *)ctx;
}

static bool is_any(int cpu, const void *ctx)
{
	(void)ctx;
	return cpu >= 0;
}

static void test_ticks(void **state)
{
	int cpu = 1;

	(void)state;
	assert_int_equal(tasktime_ticks(text, is_any, NULL), 100 + 20 + 3 + 1000 + 200 + 30 + 7);
	assert_int_equal(tasktime_ticks(text, is_one, &cpu), 1230);
	cpu = 10;
	assert_int_equal(tasktime_ticks(text, is_one, &cpu), 7);
	cpu = 2;
	assert_int_equal(tasktime_ticks(text, is_one, &cpu), 0);
}

static void test_damaged(void **state)
{
	(void)state;
	assert_int_equal(tasktime_ticks("", is_any, NULL), 0);
	assert_int_equal(tasktime_ticks("\n\n", is_any, NULL), 0);
	assert_int_equal(tasktime_ticks("cpu0 1 2\ncpu1 1 2 3", is_any, NULL), 6);
}

static void test_excess(void **state)
{
	(void)state;
	assert_true(tasktime_excess(0) == 0);
	assert_true(tasktime_excess(100) == 40);
	assert_true(tasktime_excess(-1) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_excess),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
