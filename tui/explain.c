/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain.c - refusals of the kernel as sentences: what was asked, why not, what to do.
 *
 * Pure functions of their arguments; any thread.
 */
#include "tui/explain.h"

#include "tui/clean.h"
#include "tui/explain_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NO_THREADS "the limit of threads is reached (RLIMIT_NPROC: ulimit -u)"
#define SETCAP "sudo setcap cap_perfmon,cap_sys_ptrace,cap_syslog=ep \"$(command -v strobe)\""

/* What was to be opened: "cannot sample 'cycles' on CPU 3: ". */
static void add_subject(struct text *text, const struct engine_failure *failure)
{
	/* The dummy is what strobe tries out before anything that the user named. */
	if (!failure->event[0] || !strcmp(failure->event, "dummy"))
		text_add(text, "cannot open an event");
	else
		text_add(text, "cannot sample '%.*s'", EVENT_NAME_MAX, failure->event);
	if (failure->pid > 0)
		text_add(text, " in process %" PRId32, failure->pid);
	else if (failure->cpu >= 0)
		text_add(text, " on CPU %d", failure->cpu);
	text_add(text, ": ");
}

static bool may_all(const struct proc_limits *limits)
{
	return limits->cap_perfmon || limits->cap_sys_admin;
}

static void add_paranoid(struct text *text, const struct proc_limits *limits)
{
	if (limits->paranoid != EXPLAIN_UNKNOWN)
		text_add(text, " (kernel.perf_event_paranoid is %d)", limits->paranoid);
}

/* EACCES and EPERM of perf_event_open(2), by the checks in the order the kernel makes them. */
static void open_denied(
	struct text *text, const struct engine_failure *failure, const struct proc_limits *limits)
{
	bool system_wide = failure->pid <= 0;

	if (may_all(limits)) {
		if (failure->error == EPERM)
			text_add(text,
				"this user has the capability, so something else forbids it, most "
				"likely "
				"the seccomp filter of a container. Start the container with "
				"--cap-add PERFMON --security-opt seccomp=unconfined, or run "
				"strobe "
				"outside of it");
		else
			text_add(text,
				"this user has the capability, so a security module (SELinux, "
				"AppArmor) "
				"or kernel lockdown forbids it. Look for the denial with: "
				"sudo dmesg | tail");
		return;
	}
	if (system_wide && limits->paranoid >= 1) {
		text_add(text, "sampling whole CPUs is not permitted to this user");
		add_paranoid(text, limits);
		text_add(text,
			". Allow it with: sudo sysctl kernel.perf_event_paranoid=0, or "
			"with: " SETCAP
			". Your own processes can be sampled with -p PID or -u USER");
		return;
	}
	if (!failure->attr.exclude_kernel && limits->paranoid >= 2) {
		text_add(text, "sampling the kernel is not permitted to this user");
		add_paranoid(text, limits);
		text_add(text,
			". Allow it with: sudo sysctl kernel.perf_event_paranoid=1, or sample user "
			"space alone with the modifier :u");
		return;
	}
	/* A distribution's patch; the mainline kernel takes levels above 2 for 2. */
	if (limits->paranoid >= 3) {
		text_add(text, "the kernel allows no events at all to ordinary users");
		add_paranoid(text, limits);
		text_add(text,
			". Allow your own processes with: sudo sysctl "
			"kernel.perf_event_paranoid=2, or allow strobe everything with: " SETCAP);
		return;
	}
	if (failure->attr.type == PERF_TYPE_TRACEPOINT && failure->error == EPERM) {
		text_add(text, "tracepoints are not permitted to this user");
		add_paranoid(text, limits);
		text_add(text,
			". Allow them with: sudo sysctl kernel.perf_event_paranoid=-1, or "
			"with: " SETCAP);
		return;
	}
	if (failure->pid > 0 && failure->error != EPERM) {
		text_add(text,
			"it belongs to another user, or is protected (a set-user-ID program). Run "
			"strobe as root, or allow it with: " SETCAP);
		return;
	}
	text_add(text, "the kernel refuses perf_event_open(2) to this user");
	add_paranoid(text, limits);
	text_add(text,
		". In a container this is usually its seccomp filter: start it with --cap-add "
		"PERFMON --security-opt seccomp=unconfined; elsewhere, run strobe as root or "
		"use: " SETCAP);
}

static void open_invalid(
	struct text *text, const struct engine_failure *failure, const struct proc_limits *limits)
{
	const struct perf_event_attr *attr = &failure->attr;

	if (attr->freq && limits->max_sample_rate != EXPLAIN_UNKNOWN &&
		attr->sample_freq > (uint64_t)limits->max_sample_rate) {
		text_add(text,
			"%" PRIu64 " Hz is above the kernel's limit of %" PRId64
			" Hz. Use -F max, or raise the limit with: sudo sysctl "
			"kernel.perf_event_max_sample_rate=%" PRIu64,
			(uint64_t)attr->sample_freq, limits->max_sample_rate,
			(uint64_t)attr->sample_freq);
		return;
	}
	if (failure->pid <= 0 && failure->cpu >= 0) {
		text_add(text,
			"the kernel takes neither this CPU number nor this combination of settings "
			"(%s). Check -C, and try the event without its modifiers",
			strerrorname_np(EINVAL));
		return;
	}
	text_add(text,
		"the kernel does not take this combination of settings (EINVAL): the event may not "
		"support its modifiers or being sampled, or the kernel is too old. Try the event "
		"without modifiers, or -e cpu-clock");
}

/* threads: fewer of them would need fewer descriptors. */
static void add_nofile(struct text *text, const struct proc_limits *limits, bool threads)
{
	uint64_t more = limits->nofile_hard < UINT64_MAX / 4 ? limits->nofile_hard * 4
							     : limits->nofile_hard;

	text_add(text,
		"the limit of open files is reached (RLIMIT_NOFILE is %" PRIu64 ", at most %" PRIu64
		"). Raise it with: ulimit -n %" PRIu64
		", as root or by LimitNOFILE= of the service",
		limits->nofile_soft, limits->nofile_hard,
		more < EXPLAIN_NOFILE_ENOUGH ? (uint64_t)EXPLAIN_NOFILE_ENOUGH : more);
	if (threads)
		text_add(text, "; or sample fewer threads, or the whole machine with -a");
}

/* What every call may fail of; false when it is something else. */
static bool add_scarce(struct text *text, int error, const struct proc_limits *limits, bool threads)
{
	switch (error) {
	case EMFILE:
		add_nofile(text, limits, threads);
		return true;
	case ENFILE:
		text_add(text,
			"the whole system has too many open files (fs.file-max). Raise it with: "
			"sudo sysctl fs.file-max=1000000");
		return true;
	case ENOMEM:
		text_add(text, "out of memory");
		return true;
	default:
		return false;
	}
}

static void add_other(struct text *text, int error, const struct proc_limits *limits, bool threads)
{
	const char *name = strerrorname_np(error);

	if (!add_scarce(text, error, limits, threads))
		text_add(text, "%s (%s)",
			strerrordesc_np(error) ? strerrordesc_np(error) : "unknown error",
			name ? name : "?");
}

static void explain_open(
	struct text *text, const struct engine_failure *failure, const struct proc_limits *limits)
{
	add_subject(text, failure);
	switch (failure->error) {
	case EACCES:
	case EPERM:
		open_denied(text, failure, limits);
		break;
	case ENOENT:
		text_add(text,
			"there is no such event on this machine (virtual machines often have no "
			"hardware counters). -e cpu-clock works everywhere");
		break;
	case EOPNOTSUPP:
		text_add(text,
			"the hardware cannot sample this event here (no interrupt of its counter, "
			"or no such precision). Leave out the modifier :p, or use -e cpu-clock");
		break;
	case ENODEV:
	case ENXIO:
		if (failure->cpu >= 0 && failure->pid <= 0)
			text_add(text,
				"that CPU is offline, does not exist, or has no such counter. "
				"Choose among the CPUs in /sys/devices/system/cpu/online");
		else
			text_add(text,
				"the processor has no such counter. -e cpu-clock works everywhere");
		break;
	case ENOSPC:
		text_add(text,
			"all hardware breakpoints are in use, by a debugger or another profiler. "
			"End it, or use fewer breakpoint events");
		break;
	case EBUSY:
		text_add(text,
			"another user of the counters has them exclusively. End other profilers, "
			"and free the counter of the kernel's watchdog with: sudo sysctl "
			"kernel.nmi_watchdog=0");
		break;
	case EINVAL:
		open_invalid(text, failure, limits);
		break;
	case EOVERFLOW:
		text_add(text,
			"%u frames are more than the kernel allows (%" PRId64
			"). Use a smaller --max-stack, or: sudo sysctl "
			"kernel.perf_event_max_stack=%u",
			failure->attr.sample_max_stack, limits->max_stack,
			failure->attr.sample_max_stack);
		break;
	case E2BIG:
		text_add(text,
			"this kernel is too old for a setting of the event (E2BIG). Use a newer "
			"kernel, or the event without modifiers");
		break;
	case ENOSYS:
		text_add(text,
			"this kernel has no perf_event_open(2): it was built without "
			"CONFIG_PERF_EVENTS, or a seccomp filter hides the call. Use another "
			"kernel, "
			"or run strobe outside the container");
		break;
	case ESRCH:
		text_add(text,
			"it ended before its events could be opened. Choose a process that runs");
		break;
	case ENOMEM:
		text_add(text,
			"the kernel is out of memory for events. Sample fewer threads, or the "
			"whole "
			"machine with -a");
		break;
	case EINTR:
		text_add(text,
			"the call was interrupted by another change of the kernel's tracing. Try "
			"again");
		break;
	default:
		add_other(text, failure->error, limits, failure->pid > 0);
		break;
	}
}

static void explain_mmap(
	struct text *text, const struct engine_failure *failure, const struct proc_limits *limits)
{
	text_add(text, "cannot map the buffer for samples");
	if (failure->pid > 0)
		text_add(text, " of process %" PRId32, failure->pid);
	else if (failure->cpu >= 0)
		text_add(text, " of CPU %d", failure->cpu);
	text_add(text, ": ");
	switch (failure->error) {
	case EPERM:
	case EAGAIN:
		text_add(text, "the limit of locked memory is reached");
		if (limits->mlock_kb != EXPLAIN_UNKNOWN)
			text_add(text,
				" (kernel.perf_event_mlock_kb is %" PRId64
				" KiB per CPU, RLIMIT_MEMLOCK %" PRIu64
				" KiB). Raise it with: sudo sysctl "
				"kernel.perf_event_mlock_kb=%" PRId64,
				limits->mlock_kb, limits->memlock_soft / 1024,
				limits->mlock_kb * 8);
		else
			text_add(text,
				" (RLIMIT_MEMLOCK is %" PRIu64 " KiB). Raise it with: ulimit -l",
				limits->memlock_soft / 1024);
		text_add(text,
			", use smaller buffers with --ring-pages 1, or allow strobe to lock memory "
			"with: sudo setcap cap_ipc_lock,cap_perfmon=ep \"$(command -v strobe)\"");
		break;
	case ENOMEM:
		text_add(text,
			"out of memory or of address space (RLIMIT_AS, vm.max_map_count). Use "
			"--ring-pages 1, or sample fewer threads");
		break;
	default:
		add_other(text, failure->error, limits, failure->pid > 0);
		if (failure->error != EMFILE && failure->error != ENFILE)
			text_add(text, ". Try another size with --ring-pages");
		break;
	}
}

void explain_target_error(
	struct text *text, int32_t pid, int error, const struct proc_limits *limits)
{
	if (pid > 0)
		text_add(text, "process %" PRId32 ": ", pid);
	else
		text_add(text, "the target: ");
	switch (error) {
	case ESRCH:
	case ENOENT:
		text_add(text, "there is no such process or thread; it may have ended");
		break;
	case EINVAL:
		text_add(text,
			"it is a zombie: it has ended and waits for its parent, so nothing is left "
			"to "
			"sample");
		break;
	case EACCES:
	case EPERM:
		text_add(text, "it belongs to another user, or is protected");
		if (limits->paranoid != EXPLAIN_UNKNOWN && !may_all(limits))
			add_paranoid(text, limits);
		text_add(text, ". Run strobe as root, or allow it with: " SETCAP);
		break;
	default:
		add_other(text, error, limits, true);
		break;
	}
}

static void explain_command(
	struct text *text, const struct engine_failure *failure, const struct proc_limits *limits)
{
	if (failure->event[0])
		text_add(text, "cannot start '%.*s': ", EVENT_NAME_MAX, failure->event);
	else
		text_add(text, "cannot start the command: ");
	switch (failure->error) {
	case ENOENT:
		text_add(text, "there is no such program. Check its spelling and PATH");
		break;
	case EACCES:
	case EPERM:
		text_add(text, "it is not a file that this user may execute");
		break;
	case ENOEXEC:
		text_add(text,
			"it is no program for this machine (a script needs a first line such as "
			"#!/bin/sh)");
		break;
	case EAGAIN:
		text_add(text, "the limit of processes is reached (RLIMIT_NPROC: ulimit -u)");
		break;
	case E2BIG:
		text_add(text, "its arguments are too long");
		break;
	default:
		add_other(text, failure->error, limits, false);
		break;
	}
}

void explain_failure(const struct engine_failure *failure, const struct proc_limits *limits,
	char *out, size_t size)
{
	struct text text = {0};

	switch (failure->what) {
	case FAIL_OPEN:
		explain_open(&text, failure, limits);
		break;
	case FAIL_MMAP:
		explain_mmap(&text, failure, limits);
		break;
	case FAIL_TARGET:
		text_add(&text, "cannot sample ");
		explain_target_error(&text, failure->pid, failure->error, limits);
		break;
	case FAIL_COMMAND:
		explain_command(&text, failure, limits);
		break;
	case FAIL_SYSTEM:
		text_add(&text, "cannot start sampling: ");
		if (failure->error == EAGAIN)
			text_add(&text, NO_THREADS);
		else
			add_other(&text, failure->error, limits, false);
		break;
	default:
		text_add(&text, "nothing was refused");
		break;
	}
	clean_string(out, size, text.bytes);
}

void explain_error(
	const char *what, int error, const struct proc_limits *limits, char *out, size_t size)
{
	struct text text = {0};

	text_add(&text, "%s: ", what);
	if (error == EAGAIN)
		text_add(&text, NO_THREADS);
	else
		add_other(&text, error, limits, false);
	clean_string(out, size, text.bytes);
}
