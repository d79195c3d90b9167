// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * test_trigger.c - the text of a trigger, its first and next firing, and /proc/stat.
 */
#include "sampler/control/trigger.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define SECOND 1000000000ull

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		double percent, seconds;
	} good[] = {
		{"cpu>80%,5", 80, 5},
		{"cpu>80%,5s", 80, 5},
		{"cpu>250", 250, 1},
		{"cpu>0.5%,0.25s", 0.5, 0.25},
		{"cpu>12.75,3", 12.75, 3},
	};
	static const struct {
		const char *text;
		size_t bad;
	} wrong[] = {
		{"", 0},
		{"mem>80%", 0},
		{"cpu", 3},
		{"cpu<80%", 3},
		{"cpu>", 4},
		{"cpu>0%", 4},
		{"cpu>x", 4},
		{"cpu>-3", 4},
		{"cpu>80%%", 7},
		{"cpu>80%,", 8},
		{"cpu>80%,0", 8},
		{"cpu>80%,5m", 9},
		{"cpu>80%,5s ", 10},
		{"cpu>80 %", 6},
		{"cpu>99999999", 4},
		{"cpu>80%,86401", 8},
		{"cpu>1.2.3", 7},
	};
	char endless[1024] = "cpu>";
	struct trigger_spec spec;
	size_t bad;

	(void)state;
	/* More digits than any number has, before and after the point. */
	memset(endless + 4, '9', 900);
	endless[450] = '.';
	assert_int_equal(trigger_parse(endless, &spec, &bad), -EINVAL);
	assert_int_equal(bad, 4);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(trigger_parse(good[i].text, &spec, &bad), 0);
		assert_true(spec.percent == good[i].percent);
		assert_true(spec.seconds == good[i].seconds);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(trigger_parse(wrong[i].text, &spec, &bad), -EINVAL);
		if (bad != wrong[i].bad)
			print_message("'%s': at %zu\n", wrong[i].text, bad);
		assert_int_equal(bad, wrong[i].bad);
		assert_true(spec.percent == 0);
	}
}

static void test_fires_once_for_each_time_above(void **state)
{
	struct trigger trigger = {.spec = {.percent = 80, .seconds = 3}};

	(void)state;
	assert_false(trigger_feed(&trigger, 81, SECOND));
	assert_false(trigger_feed(&trigger, 81, SECOND));
	/* not in a row */
	assert_false(trigger_feed(&trigger, 80, SECOND));
	assert_false(trigger_feed(&trigger, 200, SECOND));
	assert_false(trigger_feed(&trigger, 200, SECOND));
	assert_true(trigger_feed(&trigger, 200, SECOND));
	for (int i = 0; i < 10; i++)
		assert_false(trigger_feed(&trigger, 200, SECOND));
	assert_false(trigger_feed(&trigger, 0, SECOND));
	assert_false(trigger_feed(&trigger, 90, SECOND));
	assert_false(trigger_feed(&trigger, 90, SECOND));
	/* an interval that is a little short */
	assert_true(trigger_feed(&trigger, 90, SECOND - SECOND / 100));
}

static void test_no_trigger(void **state)
{
	struct trigger trigger = {0};

	(void)state;
	assert_false(trigger_feed(&trigger, 1000, 1000 * SECOND));
}

static void test_busy(void **state)
{
	uint64_t ticks;

	(void)state;
	assert_int_equal(
		trigger_parse_busy("cpu  100 20 3 4000 500 60 7 8 9 10\ncpu0 1 1 1 1\n", &ticks),
		0);
	assert_int_equal(ticks, 100 + 20 + 3 + 60 + 7);
	assert_int_equal(trigger_parse_busy("cpu 1 2 3 4\n", &ticks), 0);
	assert_int_equal(ticks, 6);
	assert_int_equal(trigger_parse_busy("cpu 1 2\n", &ticks), -EBADMSG);
	assert_int_equal(trigger_parse_busy("", &ticks), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_fires_once_for_each_time_above),
		cmocka_unit_test(test_no_trigger),
		cmocka_unit_test(test_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
