/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_explain.c - each refusal has a sentence with the problem, the reason and the remedy.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/control/note.h"
#include "sampler/events/parse.h"
#include "sampler/events/silent.h"
#include "tests/unit/limits_fixture.h"
#include "tui/explain/explain.h"

static struct engine_failure open_failure(int error, int32_t pid, int cpu)
{
	return (struct engine_failure){
		.what = FAIL_OPEN, .error = error, .event = "cycles", .pid = pid, .cpu = cpu};
}

static void expect(const struct engine_failure *failure, const struct proc_limits *limits,
	const char *const *wanted)
{
	char out[1024];

	explain_failure(failure, limits, out, sizeof(out));
	for (; *wanted; wanted++)
		expect_text(out, *wanted);
	assert_null(strchr(out, '\n'));
	assert_true(strlen(out) < sizeof(out) - 1);
}

#define EXPECT(failure, limits, ...) \
	expect(failure, limits, (const char *const[]){__VA_ARGS__, NULL})

static void test_denied(void **state)
{
	struct engine_failure machine = open_failure(EACCES, -1, 3);
	struct engine_failure kernel = open_failure(EACCES, 42, -1);
	struct engine_failure others = kernel, tracepoint = kernel;
	struct proc_limits limits = limits_ordinary(2);

	(void)state;
	EXPECT(&machine, &limits, "'cycles' on CPU 3", "whole CPUs",
		"kernel.perf_event_paranoid is 2", "sudo sysctl kernel.perf_event_paranoid=0",
		"setcap cap_perfmon", "-p PID");
	EXPECT(&kernel, &limits, "process 42", "the kernel is not permitted",
		"sudo sysctl kernel.perf_event_paranoid=1", ":u");
	others.attr.exclude_kernel = 1;
	EXPECT(&others, &limits, "process 42", "belongs to another user", "setcap");
	limits.paranoid = 4;
	EXPECT(&others, &limits, "no events at all", "kernel.perf_event_paranoid is 4",
		"kernel.perf_event_paranoid=2");
	limits.paranoid = 1;
	tracepoint.attr.type = PERF_TYPE_TRACEPOINT;
	tracepoint.error = EPERM;
	EXPECT(&tracepoint, &limits, "tracepoints", "kernel.perf_event_paranoid=-1");
	kernel.error = EPERM;
	EXPECT(&kernel, &limits, "perf_event_open(2)", "seccomp", "--cap-add PERFMON");

	/* A user with the capability gets no advice about paranoia. */
	limits = limits_ordinary(4);
	limits.cap_perfmon = true;
	EXPECT(&machine, &limits, "has the capability", "security module");
	machine.error = EPERM;
	EXPECT(&machine, &limits, "has the capability", "seccomp");
}

/* These need CAP_SYS_ADMIN: no setting allows them, nor does CAP_PERFMON. */
static void test_needs_admin(void **state)
{
	struct engine_failure kernel = open_failure(EPERM, 42, -1), inherited;
	struct proc_limits limits = limits_ordinary(-1);
	char out[1024];

	(void)state;
	kernel.attr.type = PERF_TYPE_BREAKPOINT;
	kernel.attr.bp_addr = UINT64_C(0xffffffff81000000);
	EXPECT(&kernel, &limits, "breakpoint in the kernel", "CAP_SYS_ADMIN", "Run strobe as root");
	inherited = kernel;
	inherited.asked.inherited = true;
	EXPECT(&inherited, &limits, "breakpoint in the kernel", "CAP_SYS_ADMIN");
	limits.cap_perfmon = true;
	EXPECT(&kernel, &limits, "CAP_PERFMON is not enough", "Run strobe as root");
	limits.cap_perfmon = false;
	limits.user_namespace = true;
	EXPECT(&kernel, &limits, "user namespace", "as root outside of it");
	explain_failure(&kernel, &limits, out, sizeof(out));
	assert_null(strstr(out, "setcap"));
	kernel.error = EINVAL;
	kernel.attr.bp_len = 4;
	EXPECT(&kernel, &limits, "nobody watch the memory");
	kernel.attr.exclude_kernel = 1;
	EXPECT(&kernel, &limits, "modifier :u");
	kernel.attr.bp_addr = UINT64_C(0xffff00000000);
	EXPECT(&kernel, &limits, "no program can have memory at 0xffff00000000");
}

static void test_user_namespace(void **state)
{
	struct engine_failure machine = open_failure(EACCES, -1, 3);
	struct engine_failure others = open_failure(EACCES, 42, -1);
	struct proc_limits limits = limits_ordinary(2);
	char out[1024];

	(void)state;
	limits.user_namespace = true;
	EXPECT(&machine, &limits, "whole CPUs", "user namespace", "outside of it",
		"kernel.perf_event_paranoid=0");
	EXPECT(&others, &limits, "the kernel is not permitted", "outside of this user namespace");
	others.asked.user_refused = true;
	EXPECT(&others, &limits, "belongs to another user", "outside of it");
	explain_failure(&others, &limits, out, sizeof(out));
	assert_null(strstr(out, "setcap"));
	others.what = FAIL_TARGET;
	EXPECT(&others, &limits, "belongs to another user", "outside of it");
}

static void test_not_inherited(void **state)
{
	struct engine_failure probe = open_failure(EACCES, 42, -1), kernel = probe;
	struct proc_limits limits = limits_ordinary(2);

	(void)state;
	probe.asked.inherited = kernel.asked.inherited = limits.cap_sys_admin = true;
	EXPECT(&probe, &limits, "process 42", "through tracefs", "may not write", "as root",
		"--scope task");
	probe.error = ENOENT;
	EXPECT(&probe, &limits, "not mounted", "mount -t tracefs");
	probe.error = EROFS;
	EXPECT(&probe, &limits, "read-only");
	probe.error = ENOLCK;
	probe.asked.counted = true;
	EXPECT(&probe, &limits, "cannot count", "--no-inherit", "-a");
	kernel.attr.type = PERF_TYPE_BREAKPOINT;
	kernel.error = EPERM;
	EXPECT(&kernel, &limits, "CAP_SYS_ADMIN", "fork() would fail", "--scope task");
}

static void test_open_errors(void **state)
{
	static const struct {
		int error;
		const char *says, *remedy;
	} cases[] = {
		{ENOENT, "no such event on this machine", "-e cpu-clock"},
		{EOPNOTSUPP, "cannot sample this event", "-e cpu-clock"},
		{ENODEV, "no such counter", "-e cpu-clock"},
		{ENOSPC, "hardware breakpoints", "fewer breakpoint events"},
		{EBUSY, "exclusively", "End other profilers"},
		{EBADF, "the leader of its group", "whole group again"},
		{EFAULT, "mistake in strobe", "report it"},
		{EINVAL, "combination of settings", "without modifiers"},
		{E2BIG, "too old", "newer kernel"},
		{ENOSYS, "CONFIG_PERF_EVENTS", "seccomp"},
		{ESRCH, "ended before", "a process that runs"},
		{EMFILE, "RLIMIT_NOFILE is 1024, at most 4096", "ulimit -n"},
		{ENFILE, "fs.file-max", "sudo sysctl fs.file-max"},
		{ENOMEM, "out of memory", "-a"},
		{EINTR, "interrupted", "again"},
		{EOVERFLOW, "more than the kernel allows (127)", "kernel.perf_event_max_stack=200"},
		{EIO, "Input/output error", "I"},
		{12345, "unknown error", "u"},
	};
	struct proc_limits limits = limits_ordinary(2);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct engine_failure failure = open_failure(cases[i].error, 7, -1);

		failure.attr.sample_max_stack = 200;
		if (cases[i].error == ENOSPC)
			failure.attr.type = PERF_TYPE_BREAKPOINT;
		EXPECT(&failure, &limits, "'cycles'", "process 7", cases[i].says, cases[i].remedy);
	}

	struct engine_failure rate = open_failure(EINVAL, 7, -1);

	rate.attr.freq = 1;
	rate.attr.sample_freq = 200000;
	EXPECT(&rate, &limits, "200000 Hz", "100000 Hz", "-F max",
		"kernel.perf_event_max_sample_rate=200000");

	struct engine_failure cpu = open_failure(ENODEV, -1, 9);

	EXPECT(&cpu, &limits, "CPU 9", "offline", "/sys/devices/system/cpu/online");
	cpu.error = EINVAL;
	EXPECT(&cpu, &limits, "CPU 9", "-C");
}

static void explain_with(const struct explain_request *request, int error,
	const struct explain_system *system, const char *cause, const char *remedy)
{
	struct proc_limits limits = limits_ordinary(2);
	char out[1024];

	limits.cap_perfmon = true;
	explain_open(request, error, &limits, system, out, sizeof(out));
	expect_text(out, cause);
	expect_text(out, remedy);
}

/* Refusals that depend on the kernel or the machine. */
static void test_by_system(void **state)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE};
	struct explain_request request = {.event = "e", .attr = &attr, .pid = 7, .cpu = -1};
	struct explain_system system;

	(void)state;
	explain_system_unknown(&system);
	system.nmi_watchdog = 1;
	explain_with(&request, EBUSY, &system, "exclusively", "kernel.nmi_watchdog=0");
	request.in_group = true;
	explain_with(&request, EINVAL, &system, "more members", "kernel.nmi_watchdog=0");
	request.mixed_group = true;
	explain_with(&request, EINVAL, &system, "members of several", "groups of their own");
	request.in_group = request.mixed_group = false;

	request.cgroup = "/sys/fs/cgroup/web";
	system.cgroup_gone = true;
	explain_with(&request, ENOENT, &system, "'/sys/fs/cgroup/web' is gone", "Choose one");
	request.cgroup = NULL;
	system.cgroup_gone = false;

	system.has_cpu_pmu = true;
	system.max_precise = 1;
	explain_with(&request, ENOENT, &system, "does not count such", "strobe list");
	attr.precise_ip = 3;
	explain_with(&request, EINVAL, &system, "precision 3 is more", "or P");
	explain_with(&request, EOPNOTSUPP, &system, "so precisely", "modifier :p");
	attr.precise_ip = 0;
	attr.exclude_idle = 1;
	explain_with(&request, EOPNOTSUPP, &system, "leave out the idle task", "modifier :I");
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	system.branches = 0;
	explain_with(&request, EOPNOTSUPP, &system, "no branch stack", "-b and -j");
	attr = (struct perf_event_attr){.type = 40};

	strcpy(system.pmu, "power");
	strcpy(system.cpus, "0,8");
	system.own_cpus = true;
	explain_with(&request, EINVAL, &system, "several CPUs at once", "-C 0,8");

	strcpy(system.pmu, "kprobe");
	system.own_cpus = false;
	request.probe = "do_int3";
	system.function = FUNCTION_BLACKLISTED;
	explain_with(&request, EINVAL, &system, "lets nobody probe 'do_int3'", "that calls it");
	system.function = FUNCTION_AMBIGUOUS;
	explain_with(&request, EADDRNOTAVAIL, &system, "several functions", "address");
	system.function = FUNCTION_MISSING;
	explain_with(&request, ENOENT, &system, "no function 'do_int3'", "/proc/kallsyms");
	system.function = FUNCTION_KNOWN;
	explain_with(&request, EILSEQ, &system, "no probe there", "without an offset");

	explain_system_unknown(&system);
	system.lockdown = true;
	attr.sample_type = PERF_SAMPLE_REGS_INTR;
	explain_with(&request, EPERM, &system, "locked down", "lockdown=none");
	request.cpu = 3;
	request.pid = -1;
	system.cpu_offline = true;
	explain_with(&request, ENODEV, &system, "that CPU is offline.", "online");
	explain_with(&request, EINTR, &system, "interrupted", "again");
}

static void test_mmap_errors(void **state)
{
	struct engine_failure failure = {.what = FAIL_MMAP, .error = EPERM, .pid = 7, .cpu = -1};
	struct proc_limits limits = limits_ordinary(2);

	(void)state;
	EXPECT(&failure, &limits, "process 7", "kernel.perf_event_mlock_kb is 516 KiB",
		"RLIMIT_MEMLOCK 64 KiB", "sysctl kernel.perf_event_mlock_kb=4128", "--ring-pages 1",
		"cap_ipc_lock");
	failure.error = ENOMEM;
	EXPECT(&failure, &limits, "out of memory", "--ring-pages 1");
	failure.error = EMFILE;
	EXPECT(&failure, &limits, "ulimit -n");
	failure.error = EIO;
	EXPECT(&failure, &limits, "Input/output error", "--ring-pages");
}

static void test_target_and_command(void **state)
{
	struct engine_failure failure = {.what = FAIL_TARGET, .pid = 99, .cpu = -1};
	struct proc_limits limits = limits_ordinary(2);

	(void)state;
	failure.error = ESRCH;
	EXPECT(&failure, &limits, "process 99", "no such process");
	failure.error = EINVAL;
	EXPECT(&failure, &limits, "process 99", "zombie");
	failure.error = EACCES;
	EXPECT(&failure, &limits, "process 99", "belongs to another user", "setcap");
	failure.error = EMFILE;
	EXPECT(&failure, &limits, "process 99", "ulimit -n");

	failure = (struct engine_failure){
		.what = FAIL_COMMAND, .error = ENOENT, .event = "bad\033[2Jname"};
	EXPECT(&failure, &limits, "'bad?[2Jname'", "no such program", "PATH");
	failure.error = EACCES;
	EXPECT(&failure, &limits, "may execute");
	failure.error = ENOEXEC;
	EXPECT(&failure, &limits, "#!/bin/sh");
	failure.error = EAGAIN;
	EXPECT(&failure, &limits, "ulimit -u");

	failure = (struct engine_failure){.what = FAIL_SYSTEM, .error = EMFILE};
	EXPECT(&failure, &limits, "RLIMIT_NOFILE");
	failure.error = EAGAIN;
	EXPECT(&failure, &limits, "threads");
	failure.error = ENOMEM;
	EXPECT(&failure, &limits, "out of memory");
}

static void expect_symbols_note(
	const struct symbols_note *note, const char *first, const char *second)
{
	char out[1024];

	explain_symbols_note(note, out, sizeof(out));
	if (!strstr(out, first) || !strstr(out, second))
		fail_msg("'%s' lacks '%s' or '%s'", out, first, second);
}

static void test_files_that_refuse(void **state)
{
	struct symbols_note note = {.kind = SYMBOLS_NOTE_UNREADABLE, .path = "/a/b\033"};
	char out[1024];

	(void)state;
	note.error = EPERM;
	note.value = 1;
	expect_symbols_note(&note, "'/a/b?', which was deleted (Operation not permitted)",
		"Restart its program, or let root");
	note.error = ENOENT;
	expect_symbols_note(&note, "'/a/b?', which was deleted (No such", "Restart its program");
	note.value = 0;
	explain_symbols_note(&note, out, sizeof(out));
	assert_null(strstr(out, "deleted"));
	note = (struct symbols_note){
		.kind = SYMBOLS_NOTE_OTHERS_FUSE, .path = "/a/b\033", .value = 4711};
	expect_symbols_note(&note, "'/a/b?' lies in a FUSE mount of user 4711", "sees names");
	note = (struct symbols_note){
		.kind = SYMBOLS_NOTE_NO_COMMON, .path = "/a/b\033", .error = ESTALE};
	expect_symbols_note(
		&note, "'/a/b?' (of dwz) is not the one", "(another build-id): inlined");
	note.error = ENOENT;
	expect_symbols_note(&note, "'/a/b?' (of dwz) is not here: ", "lines of its programs");
	note.error = ENOEXEC;
	expect_symbols_note(&note, "'/a/b?' (of dwz) is no ELF file", "somebody else: inlined");
	note.error = EACCES;
	expect_symbols_note(&note, "'/a/b?' (of dwz) cannot be read (", "denied): inlined");
}

/* If descriptors run out, the sentence has the limit and the remedy. */
static void test_no_descriptors(void **state)
{
	static const enum engine_failure_kind kinds[] = {
		FAIL_OPEN, FAIL_MMAP, FAIL_TARGET, FAIL_COMMAND, FAIL_SYSTEM};
	struct symbols_note note = {.kind = SYMBOLS_NOTE_UNREADABLE, .error = EMFILE};
	struct proc_limits limits = limits_ordinary(2);
	char out[1024];

	(void)state;
	limits.nofile_soft = limits.nofile_hard = 7;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct engine_failure failure = {
			.what = kinds[i], .error = EMFILE, .pid = -1, .cpu = 0, .event = "dummy"};

		EXPECT(&failure, &limits, "RLIMIT_NOFILE is 7, at most 7", "ulimit -n 1024");
		failure.error = ENFILE;
		EXPECT(&failure, &limits, "fs.file-max", "sysctl fs.file-max");
	}
	explain_error("cannot start it", EMFILE, &limits, out, sizeof(out));
	assert_non_null(strstr(out, "cannot start it: the limit of open files"));
	assert_non_null(strstr(out, "ulimit -n 1024"));
	assert_null(strstr(out, "fewer threads"));
	explain_error("cannot start it", EAGAIN, &limits, out, sizeof(out));
	assert_non_null(strstr(out, "ulimit -u"));
	assert_null(strstr(out, "ulimit -v"));
	limits.memory_max = 20 << 20;
	explain_error("cannot start it", EAGAIN, &limits, out, sizeof(out));
	assert_non_null(
		strstr(out, "no memory for another thread (RLIMIT_AS is 20480 kB: ulimit -v)"));
	explain_error("cannot start it", ENOMEM, &limits, out, sizeof(out));
	assert_non_null(strstr(out, "out of memory (RLIMIT_AS is 20480 kB: ulimit -v)"));
	explain_error("cannot start it", EIO, &limits, out, sizeof(out));
	assert_non_null(strstr(out, "Input/output error"));
	explain_symbols_note(&note, out, sizeof(out));
	assert_non_null(strstr(out, "ulimit -n"));
}

/* Each kind of note has a sentence, and texts from outside are cleaned. */
static void test_notes(void **state)
{
	struct proc_limits limits = limits_ordinary(2);
	char out[1024], previous[1024] = "";

	(void)state;
	for (int kind = NOTE_FALLBACK_CLOCK; kind <= NOTE_FIELDS_DROPPED; kind++) {
		struct engine_note note = {.kind = (enum engine_note_kind)kind,
			.error = ENOENT,
			.pid = 77,
			.value = 5,
			.text = "ev\033ent"};

		explain_note(&note, &limits, out, sizeof(out));
		assert_true(strlen(out) > 10);
		assert_null(strstr(out, "note "));
		assert_null(strchr(out, '\033'));
		assert_string_not_equal(out, previous);
		strcpy(previous, out);
		assert_in_range(explain_note_level(&note), EXPLAIN_INFO, EXPLAIN_ERROR);
	}
}

static void say(enum engine_note_kind kind, uint64_t value, int error, const char *wanted)
{
	struct engine_note note = {
		.kind = kind, .value = value, .error = error, .pid = 77, .text = "cycles"};
	struct proc_limits limits = limits_ordinary(2);
	char out[1024];

	explain_note(&note, &limits, out, sizeof(out));
	expect_text(out, wanted);
}

/* Checks the start of the sentence for a note on a recording's file. */
static void say_of(const char *file, enum engine_note_kind kind, int error, const char *wanted)
{
	struct engine_note note = {.kind = kind, .value = 120, .error = error};
	struct proc_limits limits = limits_ordinary(2);
	char out[1024];

	snprintf(note.text, sizeof(note.text), "%s", file);
	explain_note(&note, &limits, out, sizeof(out));
	assert_ptr_equal(strstr(out, wanted), out);
}

/* A refusal for one process gets no advice for whole CPUs. */
static void test_refused_event_says_where(void **state)
{
	struct engine_note note = {.kind = NOTE_EVENT_REFUSED,
		.error = EACCES,
		.pid = 77,
		.cpu = -1,
		.text = "page-faults:k"};
	struct proc_limits limits = limits_ordinary(2);
	char out[1024];

	(void)state;
	note.attr.exclude_user = 1;
	explain_note(&note, &limits, out, sizeof(out));
	expect_text(out, "'page-faults:k' in process 77: sampling the kernel is not permitted");
	expect_text(out, "sudo sysctl kernel.perf_event_paranoid=1");
	note.pid = -1;
	note.cpu = 1;
	explain_note(&note, &limits, out, sizeof(out));
	expect_text(out, "on CPU 1: sampling whole CPUs is not permitted");
	note.kind = NOTE_FD_LIMIT;
	note.needed = 105;
	explain_note(&note, &limits, out, sizeof(out));
	expect_text(out, "every event on every CPU. Raise it with: ulimit -n 105");
	note.kind = NOTE_EVENT_REFUSED;
	note.error = ENOMEM;
	explain_note(&note, &limits, out, sizeof(out));
	assert_null(strstr(out, "with -a"));
	note.asked.ring = true;
	explain_note(&note, &limits, out, sizeof(out));
	expect_text(out, "cannot map the buffer for samples of CPU 1: ");
	note.asked.ring = false;
	note.attr.freq = 1;
	note.attr.sample_freq = 1000000;
	note.error = EINVAL;
	explain_note(&note, &limits, out, sizeof(out));
	expect_text(out, "1000000 Hz is above the kernel's limit");
}

static void test_what_notes_say(void **state)
{
	struct engine_note note = {.kind = NOTE_ATTACH_FAILED};

	(void)state;
	say_of("data.3", NOTE_FILE_TRUNCATED, 0,
		"data.3 of the recording is cut short at byte 120: ");
	say_of("", NOTE_FILE_TRUNCATED, 0, "the recording is cut short at byte 120: what is whole");
	say_of("data.3", NOTE_FILE_ERROR, EBADMSG,
		"data.3 of the recording cannot be read further: ");
	say_of("", NOTE_FILE_ERROR, EBADMSG, "the recording cannot be read further: ");
	say_of("data.3", NOTE_FILE_MISSING, 0, "data.3 of the recording is missing: ");
	say_of("data.3", NOTE_FILE_MISSING, EACCES,
		"data.3 of the recording cannot be opened: Permission denied: the other files");
	say(NOTE_FILE_MORE_FAULTS, 1, 0, "1 more file of the recording is cut, unreadable or");
	say(NOTE_FILE_MORE_FAULTS, 5, 0, "5 more files of the recording are cut, unreadable or");
	say(NOTE_MAPS_UNREAD, 1, ESRCH,
		"process 77 ended before its mappings were read: its functions are [unknown]");
	say(NOTE_MAPS_UNREAD, 3, ESRCH,
		"3 processes, process 77 first, ended before their mappings were read: their");
	say(NOTE_FILE_MAPS_CUT, 1, 0, "mappings of 1 process: addresses in it may have no names");
	say(NOTE_FILE_MAPS_CUT, 2, 0, "mappings of 2 processes: addresses in them may");
	say(NOTE_FILE_AUX_TRUNCATED, 1, 0, "1 part of hardware traces lacks the end");
	say(NOTE_FILE_AUX_PARTIAL, 3, 0, "3 parts of hardware traces have gaps");
	say(NOTE_FILE_AUX_COLLISION, 2, 0, "2 samples of the hardware collided");
	say(NOTE_FALLBACK_CLOCK, 0, ENOENT, "cpu-clock");
	say(NOTE_USER_ONLY, 0, EACCES, "user space only");
	say(NOTE_USER_ONLY, 0, EACCES, "perf_event_paranoid is 2");
	say(NOTE_ATTACHED, 1, 0, "process 77 (1 thread)");
	say(NOTE_ATTACHED, 12, 0, "(12 threads)");
	say(NOTE_ATTACH_FAILED, 0, EINVAL, "zombie");
	say(NOTE_COMMAND_ENDED, 3 << 8, 0, "with status 3");
	say(NOTE_COMMAND_ENDED, 11, 0, "killed by SIGSEGV");
	say(NOTE_TASKS_MISSED, 40, 0, "40 tasks");
	say(NOTE_RECORDS_DROPPED, 1, 0,
		"out of memory: 1 kernel record of new threads, programs or mappings was dropped");
	say(NOTE_RECORDS_DROPPED, 7, 0,
		"7 kernel records of new threads, programs or mappings were dropped");
	say(NOTE_SCOPE, SCOPE_CPU, 0, "every CPU");
	say(NOTE_FD_LIMIT, 64, EMFILE, "ulimit -n");
	say(NOTE_MLOCK_LIMIT, 64, EPERM, "kernel.perf_event_mlock_kb=4128");
	say(NOTE_LOST, 9, 0, "9 samples of 'cycles'");
	say(NOTE_SHORT_LIVED, 0, 0, "few samples of 'cycles': --scope cpu takes them");
	say(NOTE_SHORT_LIVED, 0, EACCES, "few samples of 'cycles': a higher rate takes more");
	say(NOTE_BORN_LATE, 0, 0, "no samples of that time: --scope cpu");
	say(NOTE_BORN_LATE, 0, EACCES, "no samples of that time: --scope inherit");
	say(NOTE_WAITS_SUMMED, 1, EACCES, "tracefs and CAP_PERFMON or root. So the time");
	say(NOTE_WAITS_SUMMED, 1, EXDEV, "[waited for a CPU] in preempted");
	say(NOTE_WAITS_SUMMED, 0, EINVAL, "counts as off-cpu");
	say(NOTE_WAITS_SUMMED, 0, 0, "the recording has no samples of sched:sched_wakeup");
	say(NOTE_WAKEUPS_LOST, 9, 0, "9 wake-ups were lost");
	say(NOTE_LESS_PRECISE, 1, 0, "precision 1");
	say(NOTE_SILENT, SILENT_BREAKPOINTS, 0, "'cycles' counts nothing here");
	say(NOTE_SILENT, SILENT_IN_KERNEL, 0, "in the kernel alone");
	say(NOTE_SILENT, SILENT_PROBES_OFF, 0, "echo 1 > /sys/kernel/debug/kprobes/enabled");
	say(NOTE_SILENT, SILENT_FTRACE_OFF, 0, "kernel.ftrace_enabled=1");
	say(NOTE_SILENT, SILENT_SCHEDSTATS_OFF, 0, "kernel.sched_schedstats=1");
	say(NOTE_SAMPLES_LESS, PERF_SAMPLE_BRANCH_STACK, EOPNOTSUPP,
		"without branch stacks: they come with hardware counters alone");
	say(NOTE_SAMPLES_LESS, PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_TRANSACTION, 0,
		"without weights and transactions: hardware counters alone");
	say(NOTE_SAMPLES_LESS, PERF_SAMPLE_PHYS_ADDR, EACCES, "perf_event_paranoid=1");
	say(NOTE_SAMPLES_LESS, PERF_SAMPLE_DATA_PAGE_SIZE, EINVAL, "this kernel does not take");
	say(NOTE_UNGROUPED, 0, EINVAL, "counted in turn");
	say(NOTE_EVENT_ENABLED, 0, 0, "switched off");
	say(NOTE_FILTER, 0, EINVAL, "The one before stays in force");
	say(NOTE_FILTER, 0, 0, "has a new filter");
	say(NOTE_BREAKPOINT, 0x1000, 0, "watches 0x1000 now");
	say(NOTE_BREAKPOINT, 0x1001, EINVAL, "no multiple");
	say(NOTE_PAUSED, 1, 0, "samples are lost");
	say(NOTE_CALL_GRAPH, CALL_GRAPH_FP, 0, "call chains: 'fp', by frame pointers");
	say(NOTE_CALL_GRAPH, CALL_GRAPH_NO, EBUSY, "in the mode 'no': inherited events, the");
	say(NOTE_CALL_GRAPH, CALL_GRAPH_DWARF, EOPNOTSUPP, "cannot be unwound by tables");
	say(NOTE_CALL_GRAPH, CALL_GRAPH_DWARF, ENOSPC, "The mode before stays in force");
	say(NOTE_PINNED_ERROR, 0, 0, "counts no more");
	say(NOTE_CGROUP_GONE, 0, 0, "the cgroup 'cycles' is gone");
	say(NOTE_SNAPSHOT, 12, 0, "12 samples");
	say(NOTE_SNAPSHOT, 0, ENOMEM, "cannot give all it holds");
	say(NOTE_FLIGHT_SHORT, 2500, EPERM, "2.5 s: the limit on locked memory");
	say(NOTE_FLIGHT_SHORT, 2500, 0, "--memory gives it more");
	say(NOTE_FLIGHT_TRIGGER, 93, 0, "93% of a CPU");
	say(NOTE_EVENT_REFUSED, 0, ENOENT, "no such event on this machine");
	assert_int_equal(explain_note_level(&note), EXPLAIN_ERROR);
	note.kind = NOTE_LOST;
	assert_int_equal(explain_note_level(&note), EXPLAIN_WARNING);
	note.kind = NOTE_ATTACHED;
	assert_int_equal(explain_note_level(&note), EXPLAIN_INFO);
	note.kind = NOTE_FILTER;
	assert_int_equal(explain_note_level(&note), EXPLAIN_INFO);
	note.error = EINVAL;
	assert_int_equal(explain_note_level(&note), EXPLAIN_ERROR);
	note.kind = NOTE_COMMAND_ENDED;
	assert_int_equal(explain_note_level(&note), EXPLAIN_INFO);
	note.value = 256;
	assert_int_equal(explain_note_level(&note), EXPLAIN_WARNING);
}

static void test_symbols_notes(void **state)
{
	char out[1024];

	(void)state;
	for (int kind = SYMBOLS_NOTE_WORKER_DIED; kind <= SYMBOLS_NOTE_NO_WORKER; kind++) {
		struct symbols_note note = {.kind = (enum symbols_note_kind)kind,
			.error = EACCES,
			.value = 11,
			.path = "/tmp/e\033vil"};

		explain_symbols_note(&note, out, sizeof(out));
		assert_true(strlen(out) > 10);
		assert_null(strchr(out, '\033'));
		if (kind != SYMBOLS_NOTE_KERNEL_HIDDEN && kind < SYMBOLS_NOTE_UNCONFINED)
			assert_non_null(strstr(out, "/tmp/e?vil"));
		if (kind == SYMBOLS_NOTE_WORKER_DIED)
			assert_non_null(strstr(out, "SIGSEGV"));
	}
}

static void test_event_errors(void **state)
{
	struct event_error error = {.kind = EVENT_ERROR_UNKNOWN, .offset = 7, .near = "cpu-clock"};
	char out[512];

	(void)state;
	explain_event_error("cycles,cpu-clok,faults", &error, out, sizeof(out));
	assert_non_null(strstr(out, "no event 'cpu-clok'; did you mean 'cpu-clock'?"));
	error = (struct event_error){.kind = EVENT_ERROR_EMPTY, .offset = 7};
	explain_event_error("cycles,,faults", &error, out, sizeof(out));
	assert_non_null(strstr(out, "character 8"));
	/* An offset beyond the text is not used. */
	error = (struct event_error){.kind = EVENT_ERROR_MODIFIER, .offset = 7000};
	explain_event_error("cycles:\033", &error, out, sizeof(out));
	assert_non_null(strstr(out, "cycles:?"));
	for (int kind = EVENT_ERROR_NONE; kind <= EVENT_ERROR_UNSUPPORTED; kind++) {
		error = (struct event_error){.kind = (enum event_error_kind)kind};
		explain_event_error("x", &error, out, sizeof(out));
		assert_true(strlen(out) > 8);
	}
}

static void test_small_buffers(void **state)
{
	struct engine_failure failure = open_failure(EACCES, 7, -1);
	struct proc_limits limits = limits_ordinary(2);
	char out[8] = "zzzzzzz";

	(void)state;
	explain_failure(&failure, &limits, out, 5);
	assert_string_equal(out, "cann");
	assert_int_equal(out[5], 'z');
}

static void test_nameless(void **state)
{
	static const struct {
		struct symref symbol;
		const char *wanted;
	} cases[] = {{{.image = "[anon]"}, "--perf-basic-prof"},
		{{.image = "[kernel]", .kernel = true}, "strobe doctor"},
		{{.image = "[unknown]"}, "only an address"},
		{{.image = "node"}, "node has no name for this address"},
		{{.image = "node", .path = "/bin/node", .mismatch = true},
			"/bin/node is not the one"},
		{{.image = "node", .pending = true}, "of node are still being read"}};
	char out[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		explain_nameless(&cases[i].symbol, out, sizeof(out));
		expect_text(out, cases[i].wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_denied),
		cmocka_unit_test(test_not_inherited),
		cmocka_unit_test(test_needs_admin),
		cmocka_unit_test(test_user_namespace),
		cmocka_unit_test(test_open_errors),
		cmocka_unit_test(test_by_system),
		cmocka_unit_test(test_mmap_errors),
		cmocka_unit_test(test_target_and_command),
		cmocka_unit_test(test_files_that_refuse),
		cmocka_unit_test(test_no_descriptors),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_refused_event_says_where),
		cmocka_unit_test(test_what_notes_say),
		cmocka_unit_test(test_symbols_notes),
		cmocka_unit_test(test_nameless),
		cmocka_unit_test(test_event_errors),
		cmocka_unit_test(test_small_buffers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
