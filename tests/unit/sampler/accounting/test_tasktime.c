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

static void must_read(
	const char *from, tasktime_cpu_fn *wanted, int cpu, uint64_t tasks, uint64_t idle)
{
	const struct tasktime sum = tasktime_read(from, wanted, &cpu);

	assert_int_equal(sum.tasks, tasks);
	assert_int_equal(sum.idle, idle);
}

static void test_read(void **state)
{
	(void)state;
	must_read(text, is_any, 0, 100 + 20 + 3 + 1000 + 200 + 30 + 7, 4500 + 9 + 9);
	must_read(text, is_one, 1, 1230, 9);
	must_read(text, is_one, 10, 7, 9);
	must_read(text, is_one, 2, 0, 0);
}

static void test_damaged(void **state)
{
	(void)state;
	must_read("", is_any, 0, 0, 0);
	must_read("\n\n", is_any, 0, 0, 0);
	must_read("cpu0 1 2\ncpu1 1 2 3 4 5", is_any, 0, 6, 9);
	must_read("intr 1\ncpu1 1 2 3 4 5", is_any, 0, 0, 0);
}

static void test_since(void **state)
{
	const struct tasktime before = {.tasks = 1000, .idle = 5000};
	const struct tasktime busy = {.tasks = 1080, .idle = 5120};
	const struct tasktime in_step = {.tasks = 1100, .idle = 5190}; /* ticks tell too much */
	const struct tasktime other = {.tasks = 90000, .idle = 4000}; /* another CPU */
	const struct tasktime older = {.tasks = 900, .idle = 5000};

	(void)state;
	assert_true(tasktime_since(&before, &busy, 200) == 80);
	assert_true(tasktime_since(&before, &in_step, 200) == 10);
	assert_true(tasktime_since(&before, &other, 200) == 0);
	assert_true(tasktime_since(&before, &older, 200) == 0);
	assert_true(tasktime_since(&before, &before, 200) == 0);
}

static void test_excess(void **state)
{
	(void)state;
	assert_true(tasktime_excess(0, 10, 10) == 0);
	assert_true(tasktime_excess(1000, 5, 5) == 400);
	assert_true(tasktime_excess(-1, 10, 10) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_since),
		cmocka_unit_test(test_excess),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
