/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_sys.c - the part of an attribute that the engine sets.  Live tests cover its effect in the
 * kernel.
 */
#include "sampler/kernel/sys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const struct sys_features all = {.mmap2 = true, .comm_exec = true, .lost = true};
static const struct sys_features none;

static void test_event_keeps_its_own(void **state)
{
	const struct sys_setup setup = {.callchain = true, .wakeup_bytes = 4096};
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
		.config = 3,
		.freq = 1,
		.sample_freq = 99,
		.sample_max_stack = 32,
		.exclude_user = 1};

	(void)state;
	sys_setup(&attr, &all, &setup);
	assert_int_equal(attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(attr.config, 3);
	assert_int_equal(attr.sample_freq, 99);
	assert_int_equal(attr.exclude_user, 1);
	assert_int_equal(attr.size, sizeof(attr));
	assert_int_equal(attr.disabled, 1);
	assert_int_equal(attr.use_clockid, 1);
	assert_int_equal(attr.clockid, CLOCK_MONOTONIC);
	assert_int_equal(attr.sample_id_all, 1);
	assert_int_equal(attr.sample_max_stack, 32);
	assert_int_equal(attr.watermark, 1);
	assert_int_equal(attr.wakeup_watermark, 4096);
	/* An event that may stand still carries no side-band records. */
	assert_int_equal(attr.task | attr.mmap | attr.mmap2 | attr.comm, 0);
	assert_true(attr.sample_type & PERF_SAMPLE_CALLCHAIN);
	assert_true(attr.sample_type & PERF_SAMPLE_PERIOD);
	assert_true(attr.read_format & PERF_FORMAT_LOST);
}

static void test_fixed_period_is_not_recorded(void **state)
{
	const struct sys_setup setup = {0};
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .sample_period = 100};

	(void)state;
	sys_setup(&attr, &all, &setup);
	assert_false(attr.sample_type & PERF_SAMPLE_PERIOD);
	assert_false(attr.sample_type & PERF_SAMPLE_CALLCHAIN);
	assert_true(attr.sample_type & PERF_SAMPLE_IDENTIFIER);
}

/* Other requested fields do not move ids and times. */
static void test_more_of_samples(void **state)
{
	const struct sys_setup setup = {
		.read_group = true,
		.sample_more = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID,
		.wakeup_bytes = 4096,
		.wakeup_events = 7,
	};
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_RAW,
		.sample_max_stack = 32};
	struct record_format plain, format;

	(void)state;
	sys_setup(&attr, &all, &setup);
	sys_format(&plain, &all, false);
	sys_format_of(&format, &attr);
	assert_int_equal(format.sample_type & (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID), 0);
	assert_true(format.sample_type & PERF_SAMPLE_RAW);
	assert_true(format.sample_type & PERF_SAMPLE_READ);
	assert_true(format.read_format & PERF_FORMAT_GROUP);
	assert_false(plain.read_format & PERF_FORMAT_GROUP);
	assert_int_equal(format.branch_sample_type, PERF_SAMPLE_BRANCH_ANY);
	assert_int_equal(attr.sample_max_stack, 0); /* no callchains */
	assert_int_equal(attr.watermark, 0);
	assert_int_equal(attr.wakeup_events, 7);
}

/* Fields for inherited events are set on those only. */
static void test_asked_for(void **state)
{
	const struct sys_setup alone = {.inherit_thread = true,
		.inherit_stat = true,
		.until_exec = true,
		.no_kernel_chain = true};
	const struct sys_setup inherited = {.inherit = true,
		.inherit_thread = true,
		.inherit_stat = true,
		.no_user_chain = true};
	struct perf_event_attr attr;

	(void)state;
	sys_dummy(&attr);
	sys_setup(&attr, &all, &alone);
	assert_int_equal(attr.inherit | attr.inherit_thread | attr.inherit_stat, 0);
	assert_int_equal(attr.remove_on_exec, 1);
	assert_int_equal(attr.exclude_callchain_kernel, 1);
	assert_int_equal(attr.exclude_callchain_user, 0);
	sys_dummy(&attr);
	sys_setup(&attr, &all, &inherited);
	assert_int_equal(attr.inherit & attr.inherit_thread & attr.inherit_stat, 1);
	assert_int_equal(attr.remove_on_exec, 0);
	assert_int_equal(attr.exclude_callchain_user, 1);
}

static void test_old_kernel(void **state)
{
	const struct sys_setup setup = {.fork_records = true, .map_records = true};
	struct record_format format;
	struct perf_event_attr attr;

	(void)state;
	sys_dummy(&attr);
	sys_setup(&attr, &none, &setup);
	sys_format(&format, &none, false);
	assert_int_equal(attr.mmap, 1);
	assert_int_equal(attr.mmap2, 0);
	assert_int_equal(attr.comm, 1);
	assert_int_equal(attr.comm_exec, 0);
	assert_int_equal(attr.task, 1);
	assert_false(attr.read_format & PERF_FORMAT_LOST);
	assert_int_equal(attr.read_format, format.read_format);
	/* Users without rights on the kernel may open dummies. */
	assert_int_equal(attr.exclude_kernel, 1);
}

/* If one event requests build-ids, the kernel marks the mapping records of all.  Other profilers
 * then misread theirs. */
static void test_build_ids_are_not_asked_for(void **state)
{
	const struct sys_setup setup = {.fork_records = true, .map_records = true};
	struct perf_event_attr attr;

	(void)state;
	sys_dummy(&attr);
	sys_setup(&attr, &all, &setup);
	assert_int_equal(attr.mmap2, 1);
	assert_int_equal(attr.build_id, 0);
}

static void test_bad_descriptors(void **state)
{
	struct perf_event_attr attr = {.sample_period = 0};
	struct sys_counts counts;
	uint64_t id;

	(void)state;
	assert_true(sys_read(-1, &all, &counts) < 0);
	assert_true(sys_id(-1, &id) < 0);
	assert_true(sys_enable(-1) < 0);
	assert_true(sys_disable(-1) < 0);
	assert_true(sys_refresh(-1, 1) < 0);
	assert_true(sys_set_output(-1, -1) < 0);
	assert_true(sys_set_period(-1, &attr) < 0);
}

static uint64_t own_cpu_ns(void)
{
	struct timespec ran;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ran), 0);
	return (uint64_t)ran.tv_sec * 1000000000u + (uint64_t)ran.tv_nsec;
}

static void test_cpu_time_of_a_process(void **state)
{
	const uint64_t before_ns = own_cpu_ns(), ns = sys_cpu_ns((int32_t)getpid());

	(void)state;
	assert_true(before_ns <= ns && ns <= own_cpu_ns());
	/* Linux has no pids that large. */
	assert_int_equal(sys_cpu_ns(1 << 25), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_keeps_its_own),
		cmocka_unit_test(test_fixed_period_is_not_recorded),
		cmocka_unit_test(test_more_of_samples),
		cmocka_unit_test(test_asked_for),
		cmocka_unit_test(test_old_kernel),
		cmocka_unit_test(test_build_ids_are_not_asked_for),
		cmocka_unit_test(test_bad_descriptors),
		cmocka_unit_test(test_cpu_time_of_a_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
