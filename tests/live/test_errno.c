/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_errno.c - provokes each errno of perf_event_open(2) and checks its explanation.
 *
 * EINTR and EBUSY are not provoked; test_explain.c has their sentences.  EINTR needs a
 * signal while the target's execve(2) holds its lock.  No test can choose that moment.  EBUSY
 * needs a PMU that has only one user at a time, such as Intel PT.  A seccomp filter provokes the
 * errors of containers.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tui/explain/explain.h"

#define NOBODY 65534
#define NO_PID 4194303 /* above every pid_max except the highest */

static uint64_t watched[8];

struct attempt {
	const char *name; /* event as the user writes it */
	struct perf_event_attr attr;
	int32_t pid;
	int cpu, group;
	unsigned long flags;
	bool bad_pointer;
	const char *probe, *cgroup;
	bool in_group;
	int opened_before; /* number of equal events to open before this one */
	void (*prepare)(void);
	int error;
	const char *cause, *remedy;
};

struct result {
	int error;
	char sentence[1024];
};

static int open_event(const struct attempt *attempt)
{
	struct perf_event_attr attr = attempt->attr;
	const void *address = attempt->bad_pointer ? (const void *)8 : &attr;

	if (!attr.size)
		attr.size = sizeof(attr);
	return (int)syscall(SYS_perf_event_open, address, attempt->pid, attempt->cpu,
		attempt->group, attempt->flags);
}

/* Runs the attempt in a child process, whose rights and limits it may change. */
static void run(const struct attempt *attempt, struct result *result)
{
	const struct explain_request request = {.event = attempt->name,
		.attr = &attempt->attr,
		.pid = attempt->pid,
		.cpu = attempt->cpu,
		.probe = attempt->probe,
		.cgroup = attempt->cgroup,
		.in_group = attempt->in_group};
	struct explain_system system;
	struct proc_limits limits;
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct result mine = {0};

		/* Limits first: under a limit of descriptors, they cannot be read. */
		proc_limits(&limits);
		explain_system_read(&system, &request, attempt->error);
		if (attempt->prepare) {
			attempt->prepare();
			if (attempt->error != EMFILE) {
				proc_limits(&limits);
				explain_system_read(&system, &request, attempt->error);
			}
		}
		for (int i = 0; i < attempt->opened_before; i++)
			(void)open_event(attempt);
		if (open_event(attempt) < 0)
			mine.error = errno;
		explain_open(&request, mine.error, &limits, &system, mine.sentence,
			sizeof(mine.sentence));
		_exit(write(ends[1], &mine, sizeof(mine)) == (ssize_t)sizeof(mine) ? 0 : 1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], result, sizeof(*result)), sizeof(*result));
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void expect(const struct attempt *attempt)
{
	struct result result;

	run(attempt, &result);
	print_message("%-14s %s\n", result.error ? strerrorname_np(result.error) : "opened",
		result.sentence);
	if (result.error != attempt->error)
		fail_msg("'%s': %s instead of %s", attempt->name,
			result.error ? strerrorname_np(result.error) : "opened",
			strerrorname_np(attempt->error));
	if (!strstr(result.sentence, attempt->cause) || !strstr(result.sentence, attempt->remedy))
		fail_msg("'%s' does not say '%s' and '%s'", result.sentence, attempt->cause,
			attempt->remedy);
}

static void expect_all(const struct attempt *attempts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		expect(&attempts[i]);
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define SOFTWARE(...)                                                                  \
	{                                                                              \
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, __VA_ARGS__ \
	}
#define WATCH(...)                                                                             \
	{                                                                                      \
		.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_W, .exclude_kernel = 1, \
		__VA_ARGS__                                                                    \
	}
#define SELF .pid = 0, .cpu = -1, .group = -1

static void few_descriptors(void)
{
	struct rlimit limit = {0, 0};

	/* No descriptor below the limit is free. */
	if (setrlimit(RLIMIT_NOFILE, &limit))
		_exit(3);
}

static void become_nobody(void)
{
	if (setresuid(NOBODY, NOBODY, NOBODY))
		_exit(3);
}

static void filter_events(int error)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = COUNT(program), .filter = program};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		_exit(3);
}

static void docker(void)
{
	filter_events(EPERM);
}

static void hidden(void)
{
	filter_events(ENOSYS);
}

static bool root_or_skip(void)
{
	if (geteuid() == 0)
		return true;
	print_message("skipped: only root provokes this\n");
	return false;
}

/* Returns the type of a PMU from sysfs, or 0 if there is none. */
static uint32_t pmu_type(const char *name)
{
	char path[128], line[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		print_message("skipped: this kernel has no PMU '%s'\n", name);
	if (file)
		fclose(file);
	return (uint32_t)strtoul(line, NULL, 10);
}

static void test_invalid(void **state)
{
	const struct attempt attempts[] = {
		{.name = "dummy:f",
			.attr = SOFTWARE(.freq = 1, .sample_freq = 500000000),
			SELF,
			.error = EINVAL,
			.cause = "above the kernel's limit",
			.remedy = "kernel.perf_event_max_sample_rate=500000000"},
		{.name = "a period",
			.attr = SOFTWARE(.sample_period = 1ull << 63),
			SELF,
			.error = EINVAL,
			.cause = "more than the kernel counts to",
			.remedy = "below 2^63"},
		{.name = "sigtrap",
			.attr = SOFTWARE(.sigtrap = 1),
			SELF,
			.error = EINVAL,
			.cause = "programs that monitor themselves, and needs remove_on_exec",
			.remedy = "Leave it out"},
		{.name = "remove",
			.attr = SOFTWARE(.remove_on_exec = 1, .enable_on_exec = 1),
			SELF,
			.error = EINVAL,
			.cause = "remove_on_exec",
			.remedy = "Leave it out"},
		{.name = "cpu-clock",
			.attr = SOFTWARE(),
			.pid = -1,
			.cpu = 99999,
			.group = -1,
			.error = EINVAL,
			.cause = "no CPU 99999",
			.remedy = "/sys/devices/system/cpu/online"},
		{.name = "nowhere",
			.attr = SOFTWARE(),
			.pid = -1,
			.cpu = -1,
			.group = -1,
			.error = EINVAL,
			.cause = "neither a process nor a CPU",
			.remedy = "-a"},
		{.name = "of a cgroup",
			.attr = SOFTWARE(),
			SELF,
			.flags = PERF_FLAG_PID_CGROUP,
			.cgroup = "/sys/fs/cgroup",
			.error = EINVAL,
			.cause = "CPU by CPU",
			.remedy = "-a or -C"},
		{.name = "mem:3",
			.attr = WATCH(.bp_addr = (uintptr_t)watched, .bp_len = 3),
			SELF,
			.error = EINVAL,
			.cause = "not 3",
			.remedy = "/4"},
		{.name = "mem:odd",
			.attr = WATCH(.bp_addr = 0x1001, .bp_len = 4),
			SELF,
			.error = EINVAL,
			.cause = "0x1001 is no multiple",
			.remedy = "0x1000"},
		{.name = "mem:x",
			.attr = {.type = PERF_TYPE_BREAKPOINT,
				.bp_type = HW_BREAKPOINT_X,
				.bp_addr = 0x1000,
				.bp_len = 1},
			SELF,
			.error = EINVAL,
			.cause = "has the length 8",
			.remedy = "Leave the length out"},
		{.name = "mem:r",
			.attr = {.type = PERF_TYPE_BREAKPOINT,
				.bp_type = HW_BREAKPOINT_R,
				.bp_addr = 0x1000,
				.bp_len = 8},
			SELF,
			.error = EINVAL,
			.cause = "reads alone",
			.remedy = ":rw"},
		{.name = "gone:tracepoint",
			.attr = {.type = PERF_TYPE_TRACEPOINT, .config = 999999},
			SELF,
			.error = EINVAL,
			.cause = "no tracepoint with the number 999999",
			.remedy = "strobe list"},
		{.name = "anything",
			.attr = SOFTWARE(.sample_type = 1ull << 50),
			SELF,
			.error = EINVAL,
			.cause = "combination of settings",
			.remedy = "without modifiers"},
	};

	(void)state;
	expect_all(attempts, COUNT(attempts));
}

/* The msr PMU represents all PMUs that only count. */
static void test_counting_pmu(void **state)
{
	uint32_t type = pmu_type("msr");
	const struct attempt attempts[] = {
		{.name = "msr/tsc/u",
			.attr = {.type = type, .exclude_kernel = 1},
			.pid = -1,
			.cpu = 0,
			.group = -1,
			.error = EINVAL,
			.cause = "'msr' cannot leave out",
			.remedy = "Leave out the modifiers"},
		{.name = "msr/tsc/",
			.attr = {.type = type, .sample_period = 1000},
			.pid = -1,
			.cpu = 0,
			.group = -1,
			.error = EINVAL,
			.cause = "can be counted, not sampled",
			.remedy = "strobe stat"},
	};

	(void)state;
	if (!type || !root_or_skip())
		skip();
	expect_all(attempts, COUNT(attempts));
}

static void test_uprobes(void **state)
{
	static const char program[] = "/proc/self/exe", missing[] = "/no/such/file";
	uint32_t type = pmu_type("uprobe");
	const struct attempt attempts[] = {
		{.name = "uprobe:/no/such/file:f",
			.attr = {.type = type, .config1 = (uintptr_t)missing},
			SELF,
			.probe = missing,
			.error = ENOENT,
			.cause = "'/no/such/file' cannot be read (No such file or directory)",
			.remedy = "Check its path"},
		{.name = "uprobe:/tmp:f",
			.attr = {.type = type, .config1 = (uintptr_t) "/tmp"},
			SELF,
			.probe = "/tmp",
			.error = EINVAL,
			.cause = "no regular file",
			.remedy = "program or library itself"},
		{.name = "uprobe:exe:far",
			.attr = {.type = type,
				.config1 = (uintptr_t)program,
				.config2 = 1ull << 40},
			SELF,
			.probe = program,
			.error = EINVAL,
			.cause = "beyond the end",
			.remedy = "readelf -l"},
		{.name = "uprobe:exe:denied",
			.attr = {.type = type,
				.config1 = (uintptr_t)program,
				.config2 = 0x1000,
				.exclude_kernel = 1},
			SELF,
			.probe = program,
			.prepare = become_nobody,
			.error = EACCES,
			.cause = "needs CAP_SYS_ADMIN",
			.remedy = "as root"},
	};

	(void)state;
	if (!type || !root_or_skip())
		skip();
	expect_all(attempts, COUNT(attempts));
}

static void test_kprobes(void **state)
{
	static const char missing[] = "no_such_function_here";
	uint32_t type = pmu_type("kprobe");
	const struct attempt missing_function = {.name = "kprobe:no_such_function_here",
		.attr = {.type = type, .config1 = (uintptr_t)missing},
		SELF,
		.probe = missing,
		.error = ENOENT,
		.cause = "no function 'no_such_function_here'",
		.remedy = "/proc/kallsyms"};

	(void)state;
	if (!type || !root_or_skip())
		skip();
	expect(&missing_function);
}

static void test_what_is_not_there(void **state)
{
	const struct attempt attempts[] = {
		{.name = "no type",
			.attr = {.type = 0x7ffffff0},
			SELF,
			.error = ENOENT,
			.cause = "no such event on this machine",
			.remedy = "-e cpu-clock"},
		{.name = "ended",
			.attr = SOFTWARE(),
			.pid = NO_PID,
			.cpu = -1,
			.group = -1,
			.error = ESRCH,
			.cause = "ended before",
			.remedy = "a process that runs"},
		{.name = "leader gone",
			.attr = SOFTWARE(),
			.pid = 0,
			.cpu = -1,
			.group = 4242,
			.in_group = true,
			.error = EBADF,
			.cause = "the leader of its group",
			.remedy = "the whole group again"},
		{.name = "no cgroup",
			.attr = SOFTWARE(),
			.pid = 4242,
			.cpu = 0,
			.group = -1,
			.flags = PERF_FLAG_PID_CGROUP,
			.cgroup = "/tmp",
			.error = EBADF,
			.cause = "'/tmp' is no cgroup",
			.remedy = "cgroup v2"},
		{.name = "branches",
			.attr = SOFTWARE(.sample_period = 1000,
				.sample_type = PERF_SAMPLE_BRANCH_STACK,
				.branch_sample_type = PERF_SAMPLE_BRANCH_ANY),
			SELF,
			.error = EOPNOTSUPP,
			.cause = "branch stacks come with hardware",
			.remedy = "-b and -j"},
		{.name = "aux",
			.attr = SOFTWARE(.aux_output = 1),
			SELF,
			.error = EOPNOTSUPP,
			.cause = "AUX trace",
			.remedy = "Leave out aux-output"},
	};

	(void)state;
	expect_all(attempts, COUNT(attempts));
}

static void test_limits(void **state)
{
	const struct attempt attempts[] = {
		{.name = "deep",
			.attr = SOFTWARE(.sample_period = 1000,
				.sample_type = PERF_SAMPLE_CALLCHAIN, .sample_max_stack = 65000),
			SELF,
			.error = EOVERFLOW,
			.cause = "65000 frames",
			.remedy = "kernel.perf_event_max_stack=65000"},
		{.name = "long",
			.attr = SOFTWARE(.size = 65000),
			SELF,
			.error = E2BIG,
			.cause = "too old",
			.remedy = "newer kernel"},
		{.name = "unreadable",
			.attr = SOFTWARE(),
			SELF,
			.bad_pointer = true,
			.error = EFAULT,
			.cause = "mistake in strobe",
			.remedy = "report it"},
		{.name = "many",
			.attr = SOFTWARE(),
			SELF,
			.prepare = few_descriptors,
			.error = EMFILE,
			.cause = "RLIMIT_NOFILE",
			.remedy = "ulimit -n"},
		{.name = "mem:watched",
			SELF,
			.attr = WATCH(.bp_addr = (uintptr_t)watched, .bp_len = 8),
			.opened_before = 16,
			.error = ENOSPC,
			.cause = "breakpoints are in use",
			.remedy = "fewer breakpoint events"},
	};

	(void)state;
	expect_all(attempts, COUNT(attempts));
}

static void test_offline_cpu(void **state)
{
	FILE *file = fopen("/sys/devices/system/cpu/offline", "re");
	struct attempt attempt = {.name = "cpu-clock",
		.attr = SOFTWARE(),
		.pid = -1,
		.group = -1,
		.error = ENODEV,
		.cause = "offline",
		.remedy = "/sys/devices/system/cpu/online"};
	int cpu = -1;

	(void)state;
	if (file && fscanf(file, "%d", &cpu) != 1)
		cpu = -1;
	if (file)
		fclose(file);
	if (cpu < 0) {
		print_message("skipped: no CPU is offline, and this test takes none away\n");
		skip();
	}
	attempt.cpu = cpu;
	expect(&attempt);
}

static void test_ordinary_user(void **state)
{
	const struct attempt attempts[] = {
		{.name = "machine",
			.attr = SOFTWARE(),
			.pid = -1,
			.cpu = 0,
			.group = -1,
			.prepare = become_nobody,
			.error = EACCES,
			.cause = "whole CPUs",
			.remedy = "kernel.perf_event_paranoid=0"},
		{.name = "kernel",
			.attr = SOFTWARE(),
			SELF,
			.prepare = become_nobody,
			.error = EACCES,
			.cause = "sampling the kernel is not permitted",
			.remedy = ":u"},
		{.name = "namespaces",
			.attr = SOFTWARE(.exclude_kernel = 1, .namespaces = 1),
			SELF,
			.prepare = become_nobody,
			.error = EACCES,
			.cause = "namespaces",
			.remedy = "setcap"},
		{.name = "others",
			.attr = SOFTWARE(.exclude_kernel = 1),
			.pid = 1,
			.cpu = -1,
			.group = -1,
			.prepare = become_nobody,
			.error = EACCES,
			.cause = "belongs to another user",
			.remedy = "as root"},
		{.name = "physical",
			.attr = SOFTWARE(.exclude_kernel = 1, .sample_period = 1000,
				.sample_type = PERF_SAMPLE_PHYS_ADDR),
			SELF,
			.prepare = become_nobody,
			.error = EACCES,
			.cause = "physical addresses",
			.remedy = "kernel.perf_event_paranoid=1"},
	};
	struct proc_limits limits;

	(void)state;
	proc_limits(&limits);
	if (!root_or_skip() || limits.paranoid != 2) {
		print_message(
			"skipped: kernel.perf_event_paranoid is %d, not 2\n", limits.paranoid);
		skip();
	}
	expect_all(attempts, COUNT(attempts));
}

static void test_tracepoint_user(void **state)
{
	FILE *file = fopen("/sys/kernel/tracing/events/sched/sched_switch/id", "re");
	unsigned int id = 0;
	struct attempt attempt = {.name = "sched:sched_switch",
		.attr = {.type = PERF_TYPE_TRACEPOINT,
			.sample_period = 1,
			.exclude_kernel = 1,
			.sample_type = PERF_SAMPLE_RAW},
		SELF,
		.prepare = become_nobody,
		.error = EPERM,
		.cause = "tracepoints with their fields",
		.remedy = "kernel.perf_event_paranoid=-1"};

	(void)state;
	if (file && fscanf(file, "%u", &id) != 1)
		id = 0;
	if (file)
		fclose(file);
	if (!id) {
		print_message("skipped: tracefs cannot be read\n");
		skip();
	}
	attempt.attr.config = id;
	expect(&attempt);
}

static void test_containers(void **state)
{
	const struct attempt attempts[] = {
		{.name = "forbidden",
			.attr = SOFTWARE(),
			SELF,
			.prepare = docker,
			.error = EPERM,
			.cause = "seccomp filter",
			.remedy = "--cap-add PERFMON"},
		{.name = "hidden",
			.attr = SOFTWARE(),
			SELF,
			.prepare = hidden,
			.error = ENOSYS,
			.cause = "a seccomp filter hides the call",
			.remedy = "outside the container"},
	};

	(void)state;
	expect_all(attempts, COUNT(attempts));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_counting_pmu),
		cmocka_unit_test(test_uprobes),
		cmocka_unit_test(test_kprobes),
		cmocka_unit_test(test_what_is_not_there),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_offline_cpu),
		cmocka_unit_test(test_ordinary_user),
		cmocka_unit_test(test_tracepoint_user),
		cmocka_unit_test(test_containers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
