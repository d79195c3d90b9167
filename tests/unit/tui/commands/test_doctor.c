/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_doctor.c - the doctor's advice for given facts about a machine.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/limits_fixture.h"
#include "tui/commands/doctor.h"

/* Returns the facts of an ordinary user in a virtual machine. */
static struct doctor_facts ordinary(void)
{
	struct doctor_facts facts = {
		.limits = limits_ordinary(2),
		.kernel = "Linux 6.1.0 x86_64",
		.user = "j\033oe",
		.program = "/usr/bin/strobe",
		.cpus = 8,
		.open_kernel = EACCES,
		.open_machine = EACCES,
		.open_cycles = ENOENT,
		.kallsyms = KALLSYMS_HIDDEN,
		.tracefs = EACCES,
		.cgroups = "/sys/fs/cgroup",
		.open_cgroup = EACCES,
	};

	facts.limits.kptr_restrict = 1;
	return facts;
}

/* Returns the facts of root on a machine with all features. */
static struct doctor_facts fortunate(void)
{
	struct doctor_facts facts = {
		.limits = limits_ordinary(2),
		.kernel = "Linux 6.1.0 x86_64",
		.user = "root",
		.program = "/usr/bin/strobe",
		.pmus = "cpu",
		.cgroups = "/sys/fs/cgroup/perf_event",
		.cgroups_v1 = true,
		.cpus = 8,
	};
	struct proc_limits *limits = &facts.limits;

	limits->euid = 0;
	limits->nofile_hard = 1048576;
	limits->cap_perfmon = limits->cap_sys_admin = limits->cap_ipc_lock =
		limits->cap_sys_ptrace = limits->cap_syslog = true;
	return facts;
}

static char *print(const struct doctor_facts *facts, unsigned int *refused)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	*refused = doctor_print(out, facts);
	fclose(out);
	assert_null(strchr(text, '\033'));
	return text;
}

static void test_cgroups(void **state)
{
	struct doctor_facts facts = fortunate();
	unsigned int refused;
	char *text = print(&facts, &refused);

	(void)state;
	expect_text(text, "yes  cgroups");
	expect_text(text, "below /sys/fs/cgroup/perf_event (version 1)");
	free(text);
	facts.cgroups[0] = '\0';
	facts.open_cgroup = ENODEV;
	text = print(&facts, &refused);
	assert_int_equal(refused, 1);
	expect_text(text, "mount -t cgroup2");
	free(text);
	facts = ordinary();
	text = print(&facts, &refused);
	expect_text(text, "no   cgroups               as they are sampled on whole CPUs");
	free(text);
}

static void test_all_is_permitted(void **state)
{
	struct doctor_facts facts = fortunate();
	unsigned int refused;
	char *text = print(&facts, &refused);

	(void)state;
	assert_int_equal(refused, 0);
	expect_text(text, "8 CPUs, as root");
	expect_text(text, "does not bind this user");
	expect_text(text, "unlimited by cap_ipc_lock");
	assert_null(strstr(text, "->"));
	assert_null(strstr(text, "  no "));
	free(text);
}

static void test_ordinary_user(void **state)
{
	struct doctor_facts facts = ordinary();
	unsigned int refused;
	char *text = print(&facts, &refused);

	(void)state;
	assert_int_equal(refused, 7);
	expect_text(text, "as j?oe");
	expect_text(text, "perf_event_paranoid");
	expect_text(text, "2: users may sample user space");
	expect_text(text, "user space only (Permission denied)");
	expect_text(text,
		"setcap cap_perfmon,cap_sys_ptrace,cap_syslog,cap_ipc_lock=ep '/usr/bin/strobe'");
	expect_text(text, "sudo sysctl kernel.perf_event_paranoid=0");
	expect_text(text, "samples cpu-clock, a timer, instead (No such file or directory)");
	expect_text(text, "kptr_restrict is 1");
	expect_text(text, "kernel.kptr_restrict=0");
	expect_text(text, "64 KiB (RLIMIT_MEMLOCK), and 516 KiB for each CPU");
	expect_text(text, "kernel.perf_event_mlock_kb=4128");
	expect_text(text, "1024, raised to 4096");
	expect_text(text, "LimitNOFILE=");
	expect_text(text, "remount,mode=755 /sys/kernel/tracing");
	free(text);
}

/* Cycles can be counted, but branches cannot be recorded, as in most virtual machines. */
static void test_branches(void **state)
{
	struct doctor_facts facts = fortunate();
	unsigned int refused;
	char *text;

	(void)state;
	facts.open_cycles = 0;
	text = print(&facts, &refused);
	expect_text(text, "the branches before a sample");
	free(text);
	facts.open_branches = EOPNOTSUPP;
	text = print(&facts, &refused);
	expect_text(text,
		"records none that can be read: -b and -j have no effect (Operation not "
		"supported)");
	assert_null(strstr(text, "caches, branches"));
	free(text);
	facts.open_cycles = ENOENT;
	text = print(&facts, &refused);
	assert_null(strstr(text, "branch stacks"));
	free(text);
}

static void test_container(void **state)
{
	struct doctor_facts facts = fortunate();
	unsigned int refused;
	char *text;

	(void)state;
	facts.open_user = facts.open_kernel = facts.open_machine = facts.open_cycles = EPERM;
	facts.tracefs = ENOENT;
	text = print(&facts, &refused);
	expect_text(text, "seccomp");
	expect_text(text, "--cap-add PERFMON");
	expect_text(text, "mount -t tracefs");
	assert_null(strstr(text, "setcap"));
	free(text);

	facts.open_user = facts.open_kernel = facts.open_machine = facts.open_cycles = ENOSYS;
	text = print(&facts, &refused);
	expect_text(text, "CONFIG_PERF_EVENTS");
	free(text);
}

static void test_pid_namespace(void **state)
{
	struct doctor_facts facts = fortunate();
	unsigned int refused;
	char *text = print(&facts, &refused);

	(void)state;
	assert_null(strstr(text, "pid namespace"));
	free(text);
	facts.limits.pid_namespace = true;
	text = print(&facts, &refused);
	expect_text(text, "in a pid namespace");
	expect_text(text, "[outside]");
	expect_text(text, "--pid=host");
	free(text);
}

static void test_levels(void **state)
{
	static const char *const says[] = {"-1: everything", "0: users may sample whole CPUs",
		"1: users may", "2: users may", "3: users may sample nothing"};
	unsigned int refused;

	(void)state;
	for (int level = -1; level <= 3; level++) {
		struct doctor_facts facts = ordinary();
		char *text;

		facts.limits.paranoid = level;
		text = print(&facts, &refused);
		expect_text(text, says[level + 1]);
		free(text);
	}
}

/* The facts depend on the machine, but they can be gathered on any. */
static void test_gather(void **state)
{
	struct doctor_facts facts;
	unsigned int refused;
	char *text;

	(void)state;
	doctor_gather(&facts);
	assert_true(facts.cpus > 0);
	assert_non_null(strstr(facts.kernel, "Linux"));
	assert_true(facts.user[0]);
	text = print(&facts, &refused);
	expect_text(text, "perf_event_paranoid");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_is_permitted),
		cmocka_unit_test(test_cgroups),
		cmocka_unit_test(test_ordinary_user),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_container),
		cmocka_unit_test(test_pid_namespace),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_gather),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
