/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_exit_status.c - strobe's exit status: its own or that of its command.
 */
#include "tui/base/exit_status.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_command(void **state)
{
	(void)state;
	assert_int_equal(exit_status_of(0, true, 7 << 8), 7);
	assert_int_equal(exit_status_of(0, true, 0), 0);
	assert_int_equal(exit_status_of(0, true, SIGKILL), 128 + SIGKILL);
	/* with a core dump */
	assert_int_equal(exit_status_of(0, true, SIGSEGV | 0x80), 128 + SIGSEGV);
	assert_int_equal(exit_status_of(0, false, 7 << 8), 0);
}

static void test_own_failure(void **state)
{
	(void)state;
	assert_int_equal(exit_status_of(1, true, 7 << 8), 1);
	assert_int_equal(exit_status_of(1, true, 0), 1);
	assert_int_equal(exit_status_of(1, false, 0), 1);
}

static void test_refused(void **state)
{
	(void)state;
	assert_int_equal(exit_status_refused(ENOENT), 127);
	assert_int_equal(exit_status_refused(EACCES), 126);
	assert_int_equal(exit_status_refused(ENOEXEC), 126);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_own_failure),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("exit_status", tests, NULL, NULL);
}
