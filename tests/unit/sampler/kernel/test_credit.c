/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_credit.c - credit against a model of the kernel's event_limit.
 */
#include "sampler/kernel/credit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_target(void **state)
{
	(void)state;
	assert_int_equal(credit_target(8192, 1, 56), 128);
	assert_int_equal(credit_target(8192, 2, 56), 64);
	assert_int_equal(credit_target(4096, 1, 60000), CREDIT_MIN);
	assert_int_equal(credit_target(4096, 0, 56), CREDIT_MIN);
	assert_int_equal(credit_target(4096, 1, 0), CREDIT_MIN);
	assert_true(credit_target(SIZE_MAX, 1, 1) <= INT32_MAX / 4);
}

static void test_gives_back_what_was_consumed(void **state)
{
	struct credit credit = {.target = 100};

	(void)state;
	assert_int_equal(credit_grant(&credit), 100);
	assert_int_equal(credit_grant(&credit), 0);
	assert_false(credit_consume(&credit, 30));
	assert_int_equal(credit_grant(&credit), 30);
	assert_false(credit_consume(&credit, 0));
	assert_int_equal(credit_grant(&credit), 0);
}

static void test_dry(void **state)
{
	struct credit credit = {.target = 10};

	(void)state;
	credit_grant(&credit);
	assert_false(credit_consume(&credit, 9));
	assert_true(credit_consume(&credit, 1));
	assert_int_equal(credit_grant(&credit), 10);
	/* The event ran unlimited for a while. */
	assert_true(credit_consume(&credit, 1000));
	assert_int_equal(credit.outstanding, 0);
	assert_int_equal(credit_grant(&credit), 10);
}

static void test_target_that_shrinks(void **state)
{
	struct credit credit = {.target = 100};

	(void)state;
	credit_grant(&credit);
	credit.target = 40;
	assert_int_equal(credit_grant(&credit), 0);
	credit_consume(&credit, 50);
	assert_int_equal(credit_grant(&credit), 0);
	credit_consume(&credit, 20);
	assert_int_equal(credit_grant(&credit), 10);
}

/* The kernel never holds more than the target, for any order of consumption. */
static void test_never_above_target(void **state)
{
	struct credit credit = {.target = 64};
	uint32_t kernel = credit_grant(&credit), random = 7;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		uint32_t taken;

		random = random * 1664525u + 1013904223u;
		taken = kernel ? (random >> 8) % (kernel + 1) : 0;
		kernel -= taken;
		assert_true(credit_consume(&credit, taken) == (taken && !kernel));
		kernel += credit_grant(&credit);
		assert_int_equal(kernel, credit.outstanding);
		assert_true(kernel <= credit.target);
	}
}

static void test_restart(void **state)
{
	struct credit credit = {.target = 10};

	(void)state;
	/* All credit is given and none consumed, but the event stands still: the disabling came
	 * after the refresh. */
	credit_grant(&credit);
	assert_true(credit_restart(&credit, true) > 0);
	assert_true(credit.outstanding > 10);
	assert_true(credit_restart(&credit, true) > 0);
	/* Old kernels do not report lost records: all credit may be lost. */
	assert_int_equal(credit_restart(&credit, false), 10);
	assert_int_equal(credit.outstanding, 10);
}

static void test_record_bytes(void **state)
{
	uint32_t average = 56;

	(void)state;
	for (int i = 0; i < 20; i++)
		average = credit_record_bytes(average, 1000);
	assert_in_range(average, 990, 1000);
	average = credit_record_bytes(average, 56);
	assert_in_range(average, 900, 999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_target),
		cmocka_unit_test(test_gives_back_what_was_consumed),
		cmocka_unit_test(test_dry),
		cmocka_unit_test(test_target_that_shrinks),
		cmocka_unit_test(test_never_above_target),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_record_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
