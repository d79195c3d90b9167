/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_address_filters.c - --filter of a tracing PMU with address filters, on a machine made of
 * files.
 *
 * system_dirs() returns that machine: see meson.build.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/args_lines.h"
#include "tests/unit/event_fixture.h"
#include "tui/session/request.h"

static struct event_fixture machine;

const struct system_dirs *__wrap_system_dirs(void);

const struct system_dirs *__wrap_system_dirs(void)
{
	return &machine.system;
}

static int make_machine(void **state)
{
	(void)state;
	fixture_make(&machine);
	return fixture_file(&machine, FIXTURE_PMUS "pt/type", "40\n") ||
		fixture_file(&machine, FIXTURE_PMUS "pt/format/tsc", "config:10\n") ||
		fixture_file(&machine, FIXTURE_PMUS "pt/nr_addr_filters", "2\n");
}

static int remove_machine(void **state)
{
	(void)state;
	fixture_remove(&machine);
	return 0;
}

/* The filter has blanks, and goes to the kernel unchanged. */
static void test_taken(void **state)
{
	static const char text[] = "filter 0x1000/0x100@/bin/ls, stop main@/bin/ls";
	const char *argv[] = {"strobe", "-e", "cycles", "-e", "pt/tsc/", "--filter", text, NULL};
	struct line line;

	(void)state;
	assert_int_equal(
		args_parse(&line.request, 7, (char **)argv, line.message, sizeof(line.message)), 0);
	assert_int_equal(line.request.engine.n_events, 2);
	assert_null(line.request.engine.events[0].filter);
	assert_int_equal(line.request.engine.events[1].attr.type, 40);
	assert_string_equal(line.request.engine.events[1].filter, text);
	args_fini(&line.request);
}

static void test_refused(void **state)
{
	(void)state;
	bad("strobe -e pt/tsc/ --filter start@x --filter stop@x",
		"'pt/tsc/' has one already; address filters are joined by commas, at most 2");
	bad("strobe -e uncore_imc_0/cas_count_read/ --filter start@x",
		"nor has its PMU address filters (nr_addr_filters)");
	bad("strobe -e pt/tsc/ -e cycles --filter start@x", "'cycles' is none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
