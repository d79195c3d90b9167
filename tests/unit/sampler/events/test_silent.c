/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_silent.c - events that can never happen, on fake machines made of files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/events/parse.h"
#include "sampler/events/silent.h"
#include "tests/unit/event_fixture.h"

static struct event_fixture machine;

static int make_machine(void **state)
{
	(void)state;
	fixture_make(&machine);
	fixture_file(&machine, "trace/events/sched/sched_stat_wait/id", "901\n");
	fixture_file(&machine, "trace/events/syscalls/sys_enter_read/id", "902\n");
	fixture_file(&machine, "trace/events/mine/entry/id", "903\n");
	fixture_file(&machine, "trace/events/mine/kernels/id", "904\n");
	fixture_file(&machine, "trace/events/mine/kernels_own/id", "905\n");
	fixture_file(&machine, "trace/uprobe_events", "p:mine/entry /bin/sh:0x10\n");
	fixture_file(&machine, "trace/kprobe_events", "r8:mine/kernels vfs_read\n");
	machine.system.proc = machine.root;
	return 0;
}

static int remove_machine(void **state)
{
	(void)state;
	fixture_remove(&machine);
	return 0;
}

static enum silent_reason why(const char *text)
{
	struct event_error error;
	enum silent_reason reason;
	struct event_spec *specs;
	size_t n;

	assert_int_equal(event_parse_list_in(&machine.system, text, &specs, &n, &error), 0);
	assert_int_equal(n, 1);
	reason = silent_why(&machine.system, specs);
	free(specs);
	return reason;
}

static void set(const char *path, const char *text)
{
	assert_int_equal(fixture_file(&machine, path, text), 0);
}

static void test_kernel_left_out(void **state)
{
	(void)state;
	assert_int_equal(why("context-switches:u"), SILENT_IN_KERNEL);
	assert_int_equal(why("context-switches"), SILENT_NOT);
	assert_int_equal(why("page-faults:u"), SILENT_NOT);
	assert_int_equal(why("sched:sched_switch:u"), SILENT_IN_KERNEL);
	assert_int_equal(why("sched:sched_switch:k"), SILENT_NOT);
	assert_int_equal(why("syscalls:sys_enter_read:u"), SILENT_NOT);
	assert_int_equal(why("mine:entry:u"), SILENT_NOT);
	assert_int_equal(why("mine:kernels:u"), SILENT_IN_KERNEL);
}

static void test_probes_off(void **state)
{
	static const char *const probes[] = {
		"kprobe:vfs_read", "kretprobe:vfs_read", "mine:kernels"};
	static const char *const others[] = {"mine:kernels_own", "mine:entry", "cycles"};
	static const char switch_file[] = "sys/kernel/debug/kprobes/enabled",
			  ftrace_file[] = "sys/kernel/ftrace_enabled";

	(void)state;
	for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++) {
		assert_int_equal(why(probes[i]), SILENT_NOT);
		set(switch_file, "1\n");
		assert_int_equal(why(probes[i]), SILENT_NOT);
		set(switch_file, "0\n");
		assert_int_equal(why(probes[i]), SILENT_PROBES_OFF);
		assert_int_equal(why(others[i]), SILENT_NOT);
		set(switch_file, "1\n");
		set(ftrace_file, "0\n");
		assert_int_equal(why(probes[i]), SILENT_FTRACE_OFF);
		assert_int_equal(why(others[i]), SILENT_NOT);
		set(ftrace_file, "1\n");
	}
}

static void test_schedstats_off(void **state)
{
	(void)state;
	assert_int_equal(why("sched:sched_stat_wait"), SILENT_NOT);
	set("sys/kernel/sched_schedstats", "0\n");
	assert_int_equal(why("sched:sched_stat_wait"), SILENT_SCHEDSTATS_OFF);
	assert_int_equal(why("sched:sched_switch"), SILENT_NOT);
	set("sys/kernel/sched_schedstats", "1\n");
	assert_int_equal(why("sched:sched_stat_wait"), SILENT_NOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_left_out),
		cmocka_unit_test(test_probes_off),
		cmocka_unit_test(test_schedstats_off),
	};

	return cmocka_run_group_tests_name("silent", tests, make_machine, remove_machine);
}
