/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_sizes.c - golden screens of every view at 80x24 and 160x50.
 *
 * Only sizes that the view's own tests do not have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/screens/fixture.h"

static void test_large(void **state)
{
	(void)state;
	expect("", 160, 50, false, "hot-160x50");
	expect("jc", 160, 50, false, "calls-butterfly-160x50");
	expect("jctt", 160, 50, false, "calls-callers-160x50");
	expect("gt", 160, 50, false, "flame-turned-160x50");
	expect("<Enter>", 160, 50, false, "breakdown-160x50");
	expect("a", 160, 50, false, "annotate-160x50");
	expect("E", 160, 50, false, "picker-160x50");
	expect("P<Tick>", 160, 50, false, "processes-160x50");
	expect("?", 160, 50, false, "help-160x50");
	expect("L", 160, 50, false, "log-160x50");
	expect("b", 160, 50, false, "baseline-change-160x50");
}

static void test_usual(void **state)
{
	(void)state;
	expect("jc", 80, 24, false, "calls-butterfly-80x24");
	expect("gt", 80, 24, false, "flame-turned-80x24");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_usual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
