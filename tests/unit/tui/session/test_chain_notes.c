/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_chain_notes.c - the advice shown for an image in which callchains break.
 */
#include "tui/session/chain_notes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/control/status.h"
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

/* The unwind tables exist. Advice to use them is given only if they were not used. */
static void test_tables(void **state)
{
	struct chain_break where = {
		.percent = 50, .kind = IMAGE_FILE, .path = "/bin/xz", .state = SYMBOLS_READY};

	(void)state;
	expect_text(explain(&where), "sample it with --call-graph dwarf");
	where.recorded = true;
	expect_text(explain(&where), "record it with --call-graph dwarf");
	where.keeps_bp = true;
	expect_text(explain(&where), "parts of which keep no frame pointers. It has unwind data");
	where.state = SYMBOLS_PENDING;
	assert_string_equal(explain(&where), "");
}

/* Most code of the file has unwind data, which was used. */
static void test_code_without_rules(void **state)
{
	struct chain_break where = {.percent = 30,
		.kind = IMAGE_FILE,
		.path = "/lib/libcry\033pto.so.3",
		.state = SYMBOLS_READY,
		.copied = true,
		.ruleless = true};

	(void)state;
	assert_string_equal(explain(&where),
		"30.0% of call chains break in '/lib/libcry?pto.so.3', in code without unwind "
		"data, as assembly is that has no .cfi directives: only these help, or "
		"--call-graph lbr where the processor has it");
	where.function = "aes_round";
	expect_text(explain(&where), "pto.so.3' (aes_round), in code without");
	where.more_functions = true;
	expect_text(explain(&where), "pto.so.3' (aes_round and others), in code without");
	where.ruleless = false;
	expect_text(explain(&where),
		"lead to a caller: it needs a register that is not known any more or a word below "
		"the stack pointer (which is not copied), or does not fit this stack");
	where.recorded = true;
	expect_text(
		explain(&where), "(which is not copied), does not fit this stack, or the copy of");
	where.lacks_register = true;
	expect_text(explain(&where),
		"finds the caller by a register that the recording does not have: record all of "
		"them, as perf record does without --user-regs");
	where.ruleless = true;
	expect_text(explain(&where), "in code without");
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

static const char *explain_end(const struct chain_ends *ends)
{
	static char out[500];

	chain_notes_explain_end(ends, out, sizeof(out));
	return out;
}

static void test_cut(void **state)
{
	struct chain_ends ends = {.end = UNWIND_CUT, .chains = 200, .percent = 20, .copied = 16384};

	(void)state;
	expect_text(explain_end(&ends),
		"20.0% of call chains end where the copy of their stack does: --call-graph");
	ends.recorded = true;
	expect_text(explain_end(&ends), "does: record with --call-graph dwarf,65528 copies");
	ends.recorded = false;
	/* strobe has already applied its own advice. */
	ends.first = 16384;
	ends.copied = 32776;
	expect_text(explain_end(&ends),
		"does: copies were of 16384 bytes, and are of 32776 by now. --call-graph");
	ends.copied = 1024;
	expect_text(explain_end(&ends), "stack does: copies shrank to 1024 bytes, because longer");
	ends.first = 0;
	ends.copied = UNWIND_STACK_MAX;
	expect_text(explain_end(&ends), "does: 65528 bytes, the most that the kernel copies");
	ends.copied = 0;
	ends.recorded = false;
	expect_text(explain_end(&ends), "stack did, before copies were switched off");
	ends.recorded = true;
	expect_text(explain_end(&ends), "lack their callers in user space");
	ends.end = UNWIND_AWAY;
	ends.percent = 0.04;
	expect_text(explain_end(&ends), "200 call chains go on on another stack");
	ends.end = UNWIND_DEEP;
	ends.percent = 24.2;
	expect_text(explain_end(&ends), "24.2% of call chains are cut at the root, which is [tr");
	expect_text(explain_end(&ends), "sysctl kernel.perf_event_max_stack=");
}

static void test_hits(void **state)
{
	struct engine_event_status event = {
		.name = "page-\033faults", .chains = {.broken = 30, .whole = 70}};
	char out[600];

	(void)state;
	chain_notes_explain_hits(&event, out, sizeof(out));
	expect_text(out, "30.0% of call chains of page-?faults break: it fires at each hit");
	expect_text(out, "--call-graph dwarf");
	event.freq_hz = 99;
	chain_notes_explain_hits(&event, out, sizeof(out));
	expect_text(out, "break: they are by frame pointers, as its call-graph=fp asks");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_code_without_rules),
		cmocka_unit_test(test_hits),
		cmocka_unit_test(test_run_time_code),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
