/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_explain_event.c - sentences about event texts and tracepoint filters with errors.
 *
 * A sentence has a suggestion and a caret below the error. Filters are those that the kernel
 * refuses.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/control/failure.h"
#include "sampler/events/parse.h"
#include "tests/unit/event_fixture.h"
#include "tests/unit/limits_fixture.h"
#include "tui/explain/explain.h"

static int make_machine(void **state)
{
	static struct event_fixture fixture;

	fixture_make(&fixture);
	*state = &fixture;
	return 0;
}

static int remove_machine(void **state)
{
	fixture_remove(*state);
	return 0;
}

struct wrong {
	/* near: follows "did you mean"; NULL if there is no suggestion */
	const char *text, *says, *near;
	size_t column; /* column of the caret, from 0 */
};

static void check_caret(const struct wrong *wrong, const struct event_error *error)
{
	char caret[1024], wanted[1024];

	explain_event_caret(wrong->text, error, caret, sizeof(caret));
	snprintf(wanted, sizeof(wanted), "\n    %s\n    %*s^", wrong->text, (int)wrong->column, "");
	if (strcmp(caret, wanted) != 0)
		fail_msg("the caret of '%s':%s\ninstead of:%s", wrong->text, caret, wanted);
}

static void check(const struct system_dirs *system, const struct wrong *wrong)
{
	struct event_error error;
	struct event_spec *specs;
	char sentence[1024], meant[128];
	size_t n;

	if (event_parse_list_in(system, wrong->text, &specs, &n, &error) != -EINVAL)
		fail_msg("'%s' is taken", wrong->text);
	explain_event_error(wrong->text, &error, sentence, sizeof(sentence));
	expect_text(sentence, wrong->says);
	snprintf(meant, sizeof(meant), "did you mean '%s'?", wrong->near ? wrong->near : "");
	if (wrong->near)
		expect_text(sentence, meant);
	else if (strstr(sentence, "did you mean"))
		fail_msg("'%s' suggests something for '%s'", sentence, wrong->text);
	check_caret(wrong, &error);
}

static void test_sentence_and_caret(void **state)
{
	static const struct wrong wrongs[] = {
		{"cpu-clok", "there is no event 'cpu-clok'", "cpu-clock", 0},
		{"cycles,page-faults:u,instrctions", "there is no event 'instrctions'",
			"instructions", 21},
		{"L1-dcache-load-mises", "there is no event 'L1-dcache-load-mises'",
			"L1-dcache-load-misses", 0},
		{"zzzzzzzzzzzz", "there is no event 'zzzzzzzzzzzz'", NULL, 0},
		{"sched:sched_swich", "there is no event 'sched_swich'", "sched:sched_switch", 6},
		{"sched:nothing*", "no tracepoint matches 'sched:nothing*'", NULL, 0},
		{"cycles,,instructions", "an event is missing at character 8", NULL, 7},
		{"cycles,", "an event is missing at character 8", NULL, 7},
		{"cycles:x", "modifier at 'x'", NULL, 7},
		{"cpuu/event=1/", "there is no PMU 'cpuu'", "cpu", 0},
		{"cpu/evnt=1/", "there is no term 'evnt'", "event", 4},
		{"cpu/event=0x1ff/", "the value '0x1ff' is none that fits there", NULL, 10},
		{"cpu/event=1,event=2/", "contradicts another, or stands there twice", NULL, 12},
		{"cpu/asks/", "needs the term 'umask='", NULL, 4},
		{"cpu/event=1", "the slash that ends the terms is missing", NULL, 11},
		{"{cycles,instructions", "with both braces", NULL, 0},
		{"cycles,{}", "at least one event", NULL, 7},
		{"mem:0x1000:q", "waits for r, w, rw or x, not for 'q'", NULL, 11},
		{"mem:0x1000/3", "1, 2, 4 or 8 bytes long, not '3'", NULL, 11},
		{"kprobe:", "a probe is kprobe:FUNCTION", NULL, 7},
		{"cycles/sigtrap=1/", "programs that monitor themselves", NULL, 7},
	};
	const struct event_fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(wrongs) / sizeof(*wrongs); i++)
		check(&fixture->system, &wrongs[i]);
}

static void test_no_caret(void **state)
{
	const struct event_error error = {.kind = EVENT_ERROR_UNKNOWN, .offset = 1};
	char caret[256];

	(void)state;
	explain_event_caret("a\tb", &error, caret, sizeof(caret));
	assert_string_equal(caret, "");
	explain_event_caret("cycles", &error, caret, 20);
	assert_string_equal(caret, "");
}

/* In a long text, the part around the error fits on a line, with the caret below it. */
static void test_long_text(void **state)
{
	static char text[100001];
	static const size_t at[] = {0, 40, 50001, 99990, 100000};
	const size_t len = sizeof(text) - 1;
	char sentence[1024], caret[256];

	(void)state;
	memset(text, 'c', len);
	for (size_t i = 9; i < len; i += 10)
		text[i] = ',';
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		const struct event_error error = {.kind = EVENT_ERROR_UNKNOWN, .offset = at[i]};
		size_t line;
		char *below;

		text[at[i]] = at[i] < len ? 'X' : '\0';
		explain_event_error(text, &error, sentence, sizeof(sentence));
		assert_true(strlen(sentence) < 200);
		explain_event_caret(text, &error, caret, sizeof(caret));
		below = strchr(caret + 1, '\n');
		assert_non_null(below);
		line = (size_t)(below - caret);
		assert_true(line <= 4 + 72 + 1);
		if (at[i] < len)
			assert_int_equal(caret[1 + strcspn(below + 1, "^")], 'X');
		text[at[i]] = at[i] < len ? 'c' : '\0';
	}
	/* A text of one word, and a cut within a character. */
	memset(text, 'e', len);
	for (size_t i = 0; i + 1 < len; i += 2)
		memcpy(text + i, "\xc3\xa4", 2);
	for (size_t offset = 500; offset < 504; offset++) {
		const struct event_error error = {.kind = EVENT_ERROR_UNKNOWN, .offset = offset};

		explain_event_error(text, &error, sentence, sizeof(sentence));
		assert_true(strlen(sentence) < 300);
		assert_memory_equal(sentence, "-e '...\xc3\xa4", 9);
	}
}

/* A refused program is named, with the kind that the event needs. */
static void test_programs(void **state)
{
	static const struct {
		int error;
		const char *says;
	} refusals[] = {
		{ENOENT, "there is no such program"},
		{EPERM, "Run strobe as root"},
		{EACCES, "reads more than the event has"},
		{EINVAL, "tracepoint for tracepoints"},
		{E2BIG, "(64)"},
		{EEXIST, "has a program already"},
		{ENOSYS, "no bpf(2)"},
		{EIO, "Input/output error"},
	};
	const struct proc_limits limits = limits_ordinary(2);
	struct engine_failure failure = {.what = FAIL_OPEN,
		.event = "sched:sched_switch",
		.pid = -1,
		.cpu = 0,
		.asked = {.bpf = "id:12"}};
	char out[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		failure.error = refusals[i].error;
		explain_failure(&failure, &limits, out, sizeof(out));
		expect_text(out, "the BPF program 'id:12' for 'sched:sched_switch' is refused: ");
		expect_text(out, refusals[i].says);
	}

	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	const struct explain_request request = {
		.event = "sched:sched_switch", .attr = &attr, .pid = -1, .bpf = "id:12"};
	struct explain_system system;

	explain_system_unknown(&system);
	system.seccomp = true;
	explain_open(&request, EPERM, &limits, &system, out, sizeof(out));
	expect_text(out, "a seccomp filter forbids it, this user may not use it, or");
	expect_text(out, "as root, outside of the container");
}

/* For an event that happens only in the kernel, there is no advice to count it in user space. */
static void test_no_user_space(void **state)
{
	const struct proc_limits limits = limits_ordinary(2);
	struct engine_failure failure = {.what = FAIL_OPEN,
		.error = EACCES,
		.event = "context-switches",
		.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CONTEXT_SWITCHES},
		.pid = 7,
		.cpu = -1};
	char out[1024];

	(void)state;
	explain_failure(&failure, &limits, out, sizeof(out));
	expect_text(out, ":u would count nothing");
	failure.attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	explain_failure(&failure, &limits, out, sizeof(out));
	expect_text(out, "with the modifier :u");
}

static void test_other_options(void **state)
{
	const struct event_error error = {.kind = EVENT_ERROR_NO_LIBRARY};
	char sentence[512];

	(void)state;
	explain_option_error("--pfm-events", "skl::X", &error, sentence, sizeof(sentence));
	expect_text(sentence, "--pfm-events 'skl::X': ");
	expect_text(sentence, "Debian: libpfm4");
}

static void test_no_tracefs(void **state)
{
	struct event_error error = {.kind = EVENT_ERROR_NO_TRACEFS, .error = EACCES};
	char sentence[512];

	(void)state;
	explain_event_error("sched:x", &error, sentence, sizeof(sentence));
	expect_text(sentence, "may not be read by this user");
	error.error = ENOENT;
	explain_event_error("sched:x", &error, sentence, sizeof(sentence));
	expect_text(sentence, "mount -t tracefs");
}

/* --- filters --- */

static void check_filter(const char *filter, int error, const char *fields, const char *wanted)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .config = 316};
	const struct explain_request request = {.event = "sched:sched_switch",
		.attr = &attr,
		.pid = -1,
		.cpu = 0,
		.filter = filter};
	const struct proc_limits limits = limits_ordinary(2);
	struct explain_system system;
	char out[1024];

	explain_system_unknown(&system);
	strcpy(system.fields, fields);
	explain_open(&request, error, &limits, &system, out, sizeof(out));
	expect_text(out, "of 'sched:sched_switch' is refused");
	expect_text(out, wanted);
}

/* Checks the sentence for an address filter of a PMU's event. */
static void check_address_filter(uint32_t type, const char *wanted)
{
	struct perf_event_attr attr = {.type = type};
	const struct explain_request request = {
		.event = "pt/tsc/", .attr = &attr, .pid = -1, .cpu = 0, .filter = "filter main"};
	const struct proc_limits limits = limits_ordinary(2);
	struct explain_system system;
	char out[1024];

	explain_system_unknown(&system);
	explain_open(&request, EINVAL, &limits, &system, out, sizeof(out));
	expect_text(out, "the filter 'filter main' of 'pt/tsc/' is refused");
	expect_text(out, wanted);
}

static void test_address_filters(void **state)
{
	(void)state;
	check_address_filter(40, "START[/LENGTH] and, of a program, @FILE");
	check_address_filter(PERF_TYPE_HARDWARE, "only tracepoints and probes can be filtered");
}

static void test_filters(void **state)
{
	static const char fields[] = "prev_comm, prev_pid, next_comm";

	(void)state;
	check_filter("prev_pidd != 0", EINVAL, fields, "the event has no field 'prev_pidd'");
	check_filter(
		"prev_pidd != 0", EINVAL, fields, "fields are: prev_comm, prev_pid, next_comm");
	check_filter("prev_pid != 0 && (nx==1)", EINVAL, fields, "no field 'nx'");
	check_filter(
		"prev_comm == \"nx == 1\" && next_pid&3", EINVAL, fields, "no field 'next_pid'");
	check_filter("common_pid == 3 && prev_pid ==", EINVAL, fields, "no expression");
	check_filter("prev_pid == abc", EINVAL, fields, "no expression");
	check_filter("prev_pid && 3", EINVAL, fields, "no expression");
	check_filter("nx == 1", EINVAL, "", "strobe list sched:sched_switch");
	check_filter("prev_pid == 1", EEXIST, fields, "changes none that runs");
	check_filter("prev_pid == 1", EACCES, fields, "Permission denied");
}

/* Facts that are not in the attribute reach the sentence as well. */
static void test_what_was_asked(void **state)
{
	struct engine_failure failure = {.what = FAIL_OPEN,
		.error = EINVAL,
		.event = "cycles",
		.pid = -1,
		.cpu = 0,
		.asked = {.in_group = true, .mixed_group = true}};
	const struct proc_limits limits = limits_ordinary(2);
	char out[1024];

	(void)state;
	explain_failure(&failure, &limits, out, sizeof(out));
	expect_text(out, "cannot sample 'cycles'");
	expect_text(out, "members of several");
	failure.asked = (struct engine_asked){.cgroup = "/tmp", .counted = true};
	failure.error = EBADF;
	explain_failure(&failure, &limits, out, sizeof(out));
	expect_text(out, "cannot count 'cycles'");
	expect_text(out, "'/tmp' is no cgroup");
	failure.error = EACCES;
	explain_failure(&failure, &limits, out, sizeof(out));
	expect_text(out, "counting a cgroup is done on whole CPUs");
	failure.asked.cgroup = NULL;
	failure.error = EOPNOTSUPP;
	explain_failure(&failure, &limits, out, sizeof(out));
	expect_text(out, "does not count this event");
	failure = (struct engine_failure){.what = FAIL_TARGET, .error = ESRCH, .pid = 7};
	failure.asked.counted = true;
	explain_failure(&failure, &limits, out, sizeof(out));
	expect_text(out, "cannot count process 7");
	failure = (struct engine_failure){.what = FAIL_SYSTEM, .error = EAGAIN};
	failure.asked.counted = true;
	explain_failure(&failure, &limits, out, sizeof(out));
	expect_text(out, "cannot start counting");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_sentence_and_caret, make_machine, remove_machine),
		cmocka_unit_test(test_no_caret),
		cmocka_unit_test(test_long_text),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_no_user_space),
		cmocka_unit_test(test_other_options),
		cmocka_unit_test(test_no_tracefs),
		cmocka_unit_test(test_address_filters),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_what_was_asked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
