/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_doctor.c - from facts about a machine to what its user is told.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/doctor.h"

/* root on a machine with everything. */
static struct doctor_facts fortunate(void)
{
	return (struct doctor_facts){
		.limits = {.paranoid = 2,
			.max_sample_rate = 100000,
			.mlock_kb = 516,
			.max_stack = 127,
			.cpu_time_max_percent = 25,
			.nofile_soft = 1024,
			.nofile_hard = 1048576,
			.memlock_soft = 8388608,
			.memlock_hard = 8388608,
			.cap_perfmon = true,
			.cap_sys_admin = true,
			.cap_ipc_lock = true,
			.cap_sys_ptrace = true,
			.cap_syslog = true},
		.kernel = "Linux 6.1.0 x86_64",
		.user = "root",
		.program = "/usr/bin/strobe",
		.pmus = "cpu",
		.cpus = 8,
	};
}

/* An ordinary user in a virtual machine. */
static struct doctor_facts ordinary(void)
{
	struct doctor_facts facts = fortunate();

	facts.limits.cap_perfmon = facts.limits.cap_sys_admin = facts.limits.cap_ipc_lock =
		facts.limits.cap_sys_ptrace = facts.limits.cap_syslog = false;
	facts.limits.nofile_hard = 4096;
	facts.limits.kptr_restrict = 1;
	strcpy(facts.user, "j\033oe");
	facts.pmus[0] = '\0';
	facts.open_kernel = EACCES;
	facts.open_machine = EACCES;
	facts.open_cycles = ENOENT;
	facts.kallsyms = KALLSYMS_HIDDEN;
	facts.tracefs = EACCES;
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

static void expect(const char *text, const char *wanted)
{
	if (!strstr(text, wanted))
		fail_msg("'%s' is not in\n%s", wanted, text);
}

static void test_all_is_permitted(void **state)
{
	struct doctor_facts facts = fortunate();
	unsigned int refused;
	char *text = print(&facts, &refused);

	(void)state;
	assert_int_equal(refused, 0);
	expect(text, "8 CPUs, as root");
	expect(text, "does not bind this user");
	expect(text, "unlimited by cap_ipc_lock");
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
	assert_int_equal(refused, 6);
	expect(text, "as j?oe");
	expect(text, "perf_event_paranoid");
	expect(text, "2: users may sample user space");
	expect(text, "user space only (EACCES)");
	expect(text,
		"setcap cap_perfmon,cap_sys_ptrace,cap_syslog,cap_ipc_lock=ep '/usr/bin/strobe'");
	expect(text, "sudo sysctl kernel.perf_event_paranoid=0");
	expect(text, "samples cpu-clock, a timer, instead (ENOENT)");
	expect(text, "kptr_restrict is 1");
	expect(text, "kernel.kptr_restrict=0");
	expect(text, "8192 KiB (RLIMIT_MEMLOCK), and 516 KiB for each CPU");
	expect(text, "kernel.perf_event_mlock_kb=4128");
	expect(text, "1024, raised to 4096");
	expect(text, "LimitNOFILE=");
	expect(text, "remount,mode=755 /sys/kernel/tracing");
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
	expect(text, "seccomp");
	expect(text, "--cap-add PERFMON");
	expect(text, "mount -t tracefs");
	assert_null(strstr(text, "setcap"));
	free(text);

	facts.open_user = facts.open_kernel = facts.open_machine = facts.open_cycles = ENOSYS;
	text = print(&facts, &refused);
	expect(text, "CONFIG_PERF_EVENTS");
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
		expect(text, says[level + 1]);
		free(text);
	}
}

/* What is found here depends on the machine; that it is found at all does not. */
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
	expect(text, "perf_event_paranoid");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_is_permitted),
		cmocka_unit_test(test_ordinary_user),
		cmocka_unit_test(test_container),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_gather),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
