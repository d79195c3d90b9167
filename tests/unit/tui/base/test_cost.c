/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_cost.c - CPU time and memory of strobe itself.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tui/base/cost.h"

#include <unistd.h>

#define SECOND 1000000000ull

static void test_statm(void **state)
{
	uint64_t pages = 0;

	(void)state;
	assert_int_equal(cost_parse_statm("5270 1311 970 51 0 412 0\n", &pages), 0);
	assert_int_equal(pages, 1311);
	assert_true(cost_parse_statm("", &pages) < 0);
	assert_true(cost_parse_statm("12 x", &pages) < 0);
}

static void test_measures_itself(void **state)
{
	struct cost cost;
	volatile unsigned long sum = 0;
	const int32_t none[] = {-1, 0};

	(void)state;
	cost_init(&cost);
	assert_true(cost.cpu_percent < 0.0);
	cost_update(&cost, SECOND, SECOND, none, 2);
	assert_true(cost.cpu_percent < 0.0);
	assert_true(cost.memory_bytes > 0);
	/* Too soon for a new measurement. */
	cost_update(&cost, SECOND + 1, SECOND, none, 2);
	assert_int_equal(cost.measured_ns, SECOND);
	for (unsigned long i = 0; i < 20000000; i++)
		sum += i;
	assert_true(sum > 0);
	/* The caller's clock counts: one second has passed. */
	cost_update(&cost, 2 * SECOND, SECOND, none, 2);
	assert_true(cost.cpu_percent > 0.0);
}

static void test_others_are_added(void **state)
{
	struct cost alone, both;
	const int32_t self[] = {getpid()};

	(void)state;
	cost_init(&alone);
	cost_init(&both);
	cost_update(&alone, SECOND, SECOND, NULL, 0);
	cost_update(&both, SECOND, SECOND, self, 1);
	assert_true(both.memory_bytes > alone.memory_bytes + alone.memory_bytes / 2);
	/* A process that is gone is not an error. */
	cost_update(&both, 2 * SECOND, SECOND, (const int32_t[]){0x7ffffffe}, 1);
	assert_true(both.memory_bytes > 0);
}

/* Measures with strobe's own events, if they are permitted. */
static void test_own_events(void **state)
{
	struct cost cost;
	volatile unsigned long sum = 0;
	int ret;

	(void)state;
	cost_init(&cost);
	ret = cost_open(&cost);
	if (ret) {
		print_message("skipped: events on this program are refused: %s\n", strerror(-ret));
		skip();
	}
	assert_int_equal(cost_open(&cost), -EALREADY);
	cost_update(&cost, SECOND, SECOND, NULL, 0);
	assert_true(cost.cpu_percent < 0.0);
	assert_true(cost.instructions_per_s < 0.0);
	for (unsigned long i = 0; i < 20000000; i++)
		sum += i;
	assert_true(sum > 0);
	cost_update(&cost, 2 * SECOND, SECOND, NULL, 0);
	assert_true(cost.cpu_percent > 0.0);
	assert_non_null(cost.counters);
	/* After cost_fini(), the cost is measured without events again. */
	cost_fini(&cost);
	cost_fini(&cost);
	cost_init(&cost);
	cost_update(&cost, SECOND, SECOND, NULL, 0);
	cost_update(&cost, 2 * SECOND, SECOND, NULL, 0);
	assert_true(cost.cpu_percent >= 0.0);
	assert_null(cost.counters);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_statm),
		cmocka_unit_test(test_measures_itself),
		cmocka_unit_test(test_others_are_added),
		cmocka_unit_test(test_own_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
