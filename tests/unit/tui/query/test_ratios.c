/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_ratios.c - which counts are compared with each other, and which are not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/query/ratios.h"

#include <string.h>

static double value_of(const struct ratio_part *parts, size_t n, const char *brief)
{
	struct ratio ratios[RATIOS_MAX];
	size_t found = ratios_find(parts, n, ratios);

	for (size_t i = 0; i < found; i++)
		if (!strcmp(ratios[i].brief, brief))
			return ratios[i].value;
	return -1.0;
}

static void test_values(void **state)
{
	const struct ratio_part parts[] = {
		{"cycles", 2000, 0, true, NULL, NULL},
		{"instructions", 3000, 0, true, NULL, NULL},
		{"branch-instructions", 500, 0, true, NULL, NULL},
		{"branch-misses", 50, 0, true, NULL, NULL},
		{"cache-misses", 6, 0, true, NULL, NULL},
		{"task-clock", 2e9, 0, true, NULL, NULL},
		{"page-faults", 5, 0, true, NULL, NULL},
	};

	(void)state;
	assert_float_equal(value_of(parts, 7, "IPC"), 1.5, 1e-9);
	assert_float_equal(value_of(parts, 7, "branch misses"), 10.0, 1e-9);
	assert_float_equal(value_of(parts, 7, "cache MPKI"), 2.0, 1e-9);
	assert_float_equal(value_of(parts, 7, "faults"), 2.5, 1e-9);
	/* the cache references are missing */
	assert_float_equal(value_of(parts, 7, "cache misses"), -1.0, 0);
}

static void test_not_at_the_same_time(void **state)
{
	struct ratio_part parts[] = {{"cycles", 2000, 1, false, NULL, NULL},
		{"instructions", 3000, 1, false, NULL, NULL}};

	(void)state;
	assert_float_equal(value_of(parts, 2, "IPC"), 1.5, 1e-9);
	parts[1].group = 2;
	assert_float_equal(value_of(parts, 2, "IPC"), -1.0, 0);
	parts[1].always = true;
	assert_float_equal(value_of(parts, 2, "IPC"), -1.0, 0);
	parts[0].always = true;
	assert_float_equal(value_of(parts, 2, "IPC"), 1.5, 1e-9);
	parts[0].group = parts[1].group = 0;
	parts[0].always = false;
	assert_float_equal(value_of(parts, 2, "IPC"), -1.0, 0);
}

static void test_modes(void **state)
{
	struct ratio_part parts[] = {
		{"cycles:u", 1000, 0, true, NULL, NULL},
		{"instructions", 3000, 0, true, NULL, NULL},
		{"instructions:uppD", 500, 0, true, NULL, NULL},
		{"task-clock", 1e9, 0, true, NULL, NULL},
		{"page-faults:u", 7, 0, true, NULL, NULL},
	};

	(void)state;
	assert_float_equal(value_of(parts, 5, "IPC"), 0.5, 1e-9);
	assert_float_equal(value_of(parts, 5, "faults"), 7, 1e-9);
	assert_float_equal(value_of(parts, 2, "IPC"), -1.0, 0);
}

static void test_nothing_to_divide_by(void **state)
{
	const struct ratio_part parts[] = {
		{"cycles", 0, 0, true, NULL, NULL}, {"instructions", 0, 0, true, NULL, NULL}};

	(void)state;
	assert_float_equal(value_of(parts, 2, "IPC"), -1.0, 0);
	assert_int_equal(ratios_find(NULL, 0, (struct ratio[RATIOS_MAX]){{0}}), 0);
}

/* Events match by their attributes, not by their names.  Any cache works, and each count has one
 * ratio. */
static void test_by_attribute(void **state)
{
	const struct perf_event_attr cycles = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES};
	const struct perf_event_attr instructions = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS};
	const struct perf_event_attr in_user = {.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1};
	const struct perf_event_attr stores = {
		.type = PERF_TYPE_HW_CACHE, .config = PERF_COUNT_HW_CACHE_OP_WRITE << 8};
	const struct perf_event_attr store_misses = {.type = PERF_TYPE_HW_CACHE,
		.config =
			PERF_COUNT_HW_CACHE_OP_WRITE << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16};
	const struct perf_event_attr clock = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK};
	struct ratio_part parts[] = {{"mine", 2000, 0, true, &cycles, NULL},
		{"my own", 3000, 0, true, &instructions, ""}, {"s", 400, 0, true, &stores, NULL},
		{"m", 30, 0, true, &store_misses, NULL}, {"c", 1000, 0, true, &clock, NULL}};
	struct ratio ratio;

	(void)state;
	assert_float_equal(value_of(parts, 5, "IPC"), 1.5, 1e-9);
	assert_true(ratios_of(parts, 5, 1, &ratio));
	assert_string_equal(ratio.unit, "per cycle");
	assert_int_equal(ratio.other, 0);
	assert_true(ratios_of(parts, 5, 3, &ratio));
	assert_string_equal(ratio.unit, "% of accesses");
	assert_float_equal(ratio.value, 7.5, 1e-9);
	parts[2].always = false;
	assert_true(ratios_of(parts, 5, 3, &ratio));
	assert_string_equal(ratio.unit, "per 1,000 instructions");
	assert_float_equal(ratio.value, 10, 1e-9);
	assert_true(ratios_of(parts, 5, 0, &ratio));
	assert_string_equal(ratio.unit, "GHz");
	assert_float_equal(ratio.value, 2, 1e-9);
	assert_false(ratios_of(parts, 5, 4, &ratio));
	/* other modes, another cgroup */
	parts[1].attr = &in_user;
	assert_false(ratios_of(parts, 5, 1, &ratio));
	parts[1].attr = &instructions;
	parts[1].cgroup = "/a";
	assert_false(ratios_of(parts, 5, 1, &ratio));
	parts[0].cgroup = "/a";
	assert_true(ratios_of(parts, 5, 1, &ratio));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_attribute),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_not_at_the_same_time),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_nothing_to_divide_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
