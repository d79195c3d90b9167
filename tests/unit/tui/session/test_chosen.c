/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_chosen.c - names and number of the profiled processes in the title line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/session/chosen.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NOBODY INT32_MAX /* above every pid_max */

static void test_told_by_the_first(void **state)
{
	struct chosen chosen = {.n = 0};
	char text[128], head[32];

	(void)state;
	chosen_describe(&chosen, text, sizeof(text));
	assert_string_equal(text, "nothing");
	chosen_add(&chosen, getpid(), true, 1);
	chosen_add(&chosen, NOBODY, true, 1);
	chosen_add(&chosen, NOBODY - 1, true, 1);
	chosen_add(&chosen, NOBODY, true, 1); /* a second time, which counts once */
	chosen_describe(&chosen, text, sizeof(text));
	snprintf(head, sizeof(head), "(%d) and 2 more", (int)getpid());
	assert_non_null(strstr(text, head));
	chosen_remove(&chosen, getpid());
	chosen_describe(&chosen, text, sizeof(text));
	assert_string_equal(text, "pid 2147483647 and 1 more");
}

static void test_name_of_now(void **state)
{
	struct chosen chosen = {.n = 0};
	char text[128], before[17];

	(void)state;
	assert_int_equal(prctl(PR_GET_NAME, before), 0);
	chosen_add(&chosen, getpid(), true, 1);
	chosen_describe(&chosen, text, sizeof(text));
	assert_int_equal(prctl(PR_SET_NAME, "another"), 0);
	chosen_describe(&chosen, text, sizeof(text));
	assert_ptr_equal(strstr(text, "another ("), text);
	/* The pid now belongs to another process. */
	chosen.processes[0].name.start_ticks++;
	assert_int_equal(prctl(PR_SET_NAME, before), 0);
	chosen_describe(&chosen, text, sizeof(text));
	assert_ptr_equal(strstr(text, "another ("), text);
}

/* The name was learned from an exec record; /proc has no such process. */
static void test_name_of_what_has_ended(void **state)
{
	struct chosen chosen = {.n = 0};
	char text[128];

	(void)state;
	chosen_add(&chosen, NOBODY, true, 1);
	chosen_executed(&chosen, NOBODY - 1, "another");
	chosen_describe(&chosen, text, sizeof(text));
	assert_string_equal(text, "pid 2147483647");
	chosen_executed(&chosen, NOBODY, "py\033thon3");
	chosen_describe(&chosen, text, sizeof(text));
	assert_string_equal(text, "py?thon3 (2147483647)");
}

static void test_what_ended_is_left_out(void **state)
{
	static const int32_t both[] = {10, 20}, second[] = {20, 30};
	struct chosen chosen = {.n = 0};

	(void)state;
	chosen_add(&chosen, 10, true, 1);
	chosen_add(&chosen, 20, false, 1);
	assert_false(chosen_prune(&chosen, both, 2, 2));
	assert_true(chosen_prune(&chosen, second, 2, 3));
	assert_int_equal(chosen.n, 1);
	assert_int_equal(chosen.processes[0].name.pid, 20);
	/* The last process stays, so that the title names the target. */
	assert_false(chosen_prune(&chosen, NULL, 0, 4));
	assert_int_equal(chosen.n, 1);
}

static void test_attaching_takes_time_but_not_for_ever(void **state)
{
	static const int32_t pids[] = {10};
	struct chosen chosen = {.n = 0};

	(void)state;
	chosen_add(&chosen, 10, true, 1);
	chosen_add(&chosen, 20, false, 1000);
	assert_false(chosen_prune(&chosen, pids, 1, 1000 + CHOSEN_ATTACH_NS - 1));
	assert_true(chosen_prune(&chosen, pids, 1, 1000 + CHOSEN_ATTACH_NS));
	assert_int_equal(chosen.n, 1);
}

static void test_more_than_fit(void **state)
{
	struct chosen chosen = {.n = 0};

	(void)state;
	for (int32_t pid = 1; pid <= CHOSEN_MAX + 10; pid++)
		chosen_add(&chosen, pid, true, 1);
	assert_int_equal(chosen.n, CHOSEN_MAX);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_told_by_the_first),
		cmocka_unit_test(test_name_of_now),
		cmocka_unit_test(test_name_of_what_has_ended),
		cmocka_unit_test(test_what_ended_is_left_out),
		cmocka_unit_test(test_attaching_takes_time_but_not_for_ever),
		cmocka_unit_test(test_more_than_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
