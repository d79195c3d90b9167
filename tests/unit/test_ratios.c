/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_ratios.c - what is compared with what, and what is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/ratios.h"

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
		{"cycles", 2000, 0, true},
		{"instructions", 3000, 0, true},
		{"branch-instructions", 500, 0, true},
		{"branch-misses", 50, 0, true},
		{"cache-misses", 6, 0, true},
		{"task-clock", 2e9, 0, true},
		{"page-faults", 5, 0, true},
	};

	(void)state;
	assert_float_equal(value_of(parts, 7, "IPC"), 1.5, 1e-9);
	assert_float_equal(value_of(parts, 7, "branch misses"), 10.0, 1e-9);
	assert_float_equal(value_of(parts, 7, "cache MPKI"), 2.0, 1e-9);
	assert_float_equal(value_of(parts, 7, "faults"), 2.5, 1e-9);
	assert_float_equal(value_of(parts, 7, "cache misses"), -1.0, 0); /* no references */
}

static void test_not_at_the_same_time(void **state)
{
	struct ratio_part parts[] = {{"cycles", 2000, 1, false}, {"instructions", 3000, 1, false}};

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
		{"cycles:u", 1000, 0, true},
		{"instructions", 3000, 0, true},
		{"instructions:uppD", 500, 0, true},
		{"task-clock", 1e9, 0, true},
		{"page-faults:u", 7, 0, true},
	};

	(void)state;
	assert_float_equal(value_of(parts, 5, "IPC"), 0.5, 1e-9);
	assert_float_equal(value_of(parts, 5, "faults"), 7, 1e-9);
	assert_float_equal(value_of(parts, 2, "IPC"), -1.0, 0);
}

static void test_nothing_to_divide_by(void **state)
{
	const struct ratio_part parts[] = {{"cycles", 0, 0, true}, {"instructions", 0, 0, true}};

	(void)state;
	assert_float_equal(value_of(parts, 2, "IPC"), -1.0, 0);
	assert_int_equal(ratios_find(NULL, 0, (struct ratio[RATIOS_MAX]){{0}}), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_not_at_the_same_time),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_nothing_to_divide_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
