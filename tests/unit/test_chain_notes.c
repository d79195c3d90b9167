/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_chain_notes.c - which sentence is told of an image that call chains break in.
 */
#include "tui/chain_notes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/limits_fixture.h"

static const char *explain(const struct chain_break *where)
{
	static char out[1200];

	const bool some = chain_notes_explain(where, out, sizeof(out));

	assert_int_equal(some, out[0] != '\0');
	return out;
}

static void test_files(void **state)
{
	struct chain_break where = {.percent = 12.34,
		.kind = IMAGE_FILE,
		.path = "/opt/li\033b.so",
		.state = SYMBOLS_NONE};

	(void)state;
	assert_string_equal(explain(&where),
		"12.3% of call chains break in '/opt/li?b.so', which has no unwind data: rebuild "
		"it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer");
	where.is_32_bits = true;
	expect_text(explain(&where), ".so', of 32 bits, which is unwound by frame pointers alone");
	where.is_32_bits = false;
	where.is_go = true;
	expect_text(explain(&where), "a Go program: chains follow its frame pointers");
	where.is_go = false;
	where.state = SYMBOLS_UNREADABLE;
	where.error = EACCES;
	expect_text(explain(&where), "cannot be read (Permission denied). Root may read it");
	where.error = ENOENT;
	assert_null(strstr(explain(&where), "--symfs"));
	where.recorded = true;
	expect_text(explain(&where), "--symfs");
	where.error = ESTALE;
	expect_text(explain(&where), "cannot be read (it was replaced by another file)");
	where.error = EREMOTE;
	expect_text(explain(&where), "cannot be read (it is of another machine");
	where.error = EOWNERDEAD;
	expect_text(explain(&where), "cannot be read (the process that read it was killed");
	where.error = ECHILD;
	expect_text(explain(&where), "cannot be read (the process that reads files cannot");
	where.error = ENOENT;
	where.deleted = true;
	expect_text(explain(&where), "was deleted (No such file or directory): restart the");
}

/* The tables are there: they help only if they were not used. */
static void test_tables(void **state)
{
	struct chain_break where = {
		.percent = 50, .kind = IMAGE_FILE, .path = "/bin/xz", .state = SYMBOLS_READY};

	(void)state;
	expect_text(explain(&where), "sample it with --call-graph dwarf");
	where.recorded = true;
	expect_text(explain(&where), "record it with --call-graph dwarf");
	where.keeps_bp = true;
	assert_string_equal(explain(&where), "");
	where.keeps_bp = false;
	where.copied = true;
	assert_string_equal(explain(&where), "");
	where.state = SYMBOLS_PENDING;
	assert_string_equal(explain(&where), "");
}

static void test_run_time_code(void **state)
{
	struct chain_break where = {.percent = 7, .kind = IMAGE_ANON, .path = "[anon]", .pid = 42};

	(void)state;
	expect_text(explain(&where), "7.0% of call chains break in code that process 42 made");
	expect_text(explain(&where), "-XX:+PreserveFramePointer");
	expect_text(explain(&where), "--perf-basic-prof --interpreted-frames-native-stack");
	where.kind = IMAGE_VDSO;
	assert_string_equal(explain(&where), "");
}

static void test_cut(void **state)
{
	struct unwind_ends ends = {.whole = 600, .cut = 200, .broken = 200};
	char out[256];

	(void)state;
	assert_true(chain_notes_explain_end(UNWIND_CUT, &ends, 16384, out, sizeof(out)));
	expect_text(
		out, "20.0% of call chains end where the copy of their stack does: --call-graph");
	ends.cut = 199;
	assert_false(chain_notes_explain_end(UNWIND_CUT, &ends, 16384, out, sizeof(out)));
	assert_string_equal(out, "");
	ends.cut = 200;
	ends.whole = 3601;
	assert_false(chain_notes_explain_end(UNWIND_CUT, &ends, 16384, out, sizeof(out)));
	assert_false(chain_notes_explain_end(UNWIND_AWAY, &ends, 16384, out, sizeof(out)));
	ends.away = 400;
	assert_true(chain_notes_explain_end(UNWIND_AWAY, &ends, 16384, out, sizeof(out)));
	expect_text(out, "9.1% of call chains go on on another stack");
	ends.cut = 800;
	assert_true(chain_notes_explain_end(UNWIND_CUT, &ends, UNWIND_STACK_MAX, out, sizeof(out)));
	expect_text(
		out, "16.0% of call chains end where the copy of their stack does: 65528 bytes");
	assert_false(chain_notes_explain_end(UNWIND_DEEP, &ends, 0, out, sizeof(out)));
	ends.deep = 1600;
	assert_true(chain_notes_explain_end(UNWIND_DEEP, &ends, 0, out, sizeof(out)));
	expect_text(out, "24.2% of call chains are cut at the root, which is [truncated]");
	assert_non_null(strstr(out, "sysctl kernel.perf_event_max_stack="));
	ends = (struct unwind_ends){.deep = 20};
	assert_true(chain_notes_explain_end(UNWIND_DEEP, &ends, 0, out, sizeof(out)));
	expect_text(out, "100.0% of call chains are cut");
	ends.deep = 19;
	assert_false(chain_notes_explain_end(UNWIND_DEEP, &ends, 0, out, sizeof(out)));
}

static void test_hits(void **state)
{
	struct engine_event_status event = {.name = "page-\033faults", .chains = {.broken = 19}};
	char out[600];

	(void)state;
	assert_false(chain_notes_explain_hits(&event, out, sizeof(out)));
	event.chains.broken = 30;
	event.chains.whole = 70;
	assert_true(chain_notes_explain_hits(&event, out, sizeof(out)));
	expect_text(out, "30.0% of call chains of page-?faults break: it fires at each hit");
	expect_text(out, "--call-graph dwarf");
	event.chains.whole = 970;
	assert_false(chain_notes_explain_hits(&event, out, sizeof(out)));
	assert_string_equal(out, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_hits),
		cmocka_unit_test(test_run_time_code),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
