/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain.c - explains errors of the kernel: the request, the reason, the remedy.
 *
 * Pure functions of their arguments; any thread.
 */
#include "tui/explain/explain.h"

#include "sampler/control/failure.h"
#include "sampler/control/note.h"
#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/explain/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* EAGAIN of clone(2) means a limit; pthread_create(3) also returns it if a stack cannot be
 * allocated. */
static void add_no_threads(struct text *text, const char *what, const struct proc_limits *limits)
{
	if (limits->memory_max)
		text_add(text,
			"there is no memory for another thread (RLIMIT_AS is %" PRIu64
			" kB: ulimit -v), or ",
			limits->memory_max / 1024);
	text_add(text,
		"the limit of %s is reached (RLIMIT_NPROC: ulimit -u, or pids.max of the cgroup)",
		what);
}

void explain_no_memory(struct text *text, const char *what, const struct proc_limits *limits)
{
	text_add(text, "%s", what);
	if (limits->memory_max)
		text_add(text, " (RLIMIT_AS is %" PRIu64 " kB: ulimit -v)",
			limits->memory_max / 1024);
}

/* Explains EMFILE.  threads: fewer threads would need fewer descriptors. */
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

/* Explains errors that any call may return.  Returns false if the error is another one. */
bool explain_scarce(struct text *text, int error, const struct proc_limits *limits, bool threads)
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
		explain_no_memory(text, "out of memory", limits);
		return true;
	default:
		return false;
	}
}

void explain_other(struct text *text, int error, const struct proc_limits *limits, bool threads)
{
	if (!explain_scarce(text, error, limits, threads))
		text_add(text, "%s", explain_errno(error));
}

void explain_add_error(struct text *text, int error)
{
	if (error)
		text_add(text, " (%s)", explain_errno(error));
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
		explain_other(text, failure->error, limits, failure->pid > 0);
		if (failure->error != EMFILE && failure->error != ENFILE)
			text_add(text, ". Try another size with --ring-pages");
		break;
	}
}

void explain_unread(struct text *text, const struct engine_note *note)
{
	const bool one = note->value == 1;

	if (note->error == ESRCH) {
		if (one)
			text_add(text, "process %" PRId32 " ended before its", note->pid);
		else
			text_add(text,
				"%" PRIu64 " processes, process %" PRId32
				" first, ended before their",
				note->value, note->pid);
		text_add(text,
			" mappings were read: %s functions are [unknown]. -p PID reads them at the "
			"start",
			one ? "its" : "their");
		return;
	}
	if (one)
		text_add(text, "cannot read the mappings of process %" PRId32, note->pid);
	else
		text_add(text,
			"cannot read the mappings of %" PRIu64
			" processes, first of process %" PRId32,
			note->value, note->pid);
	explain_add_error(text, note->error);
	text_add(text, ": %s functions are [unknown]", one ? "its" : "their");
	if (note->error == EMFILE)
		text_add(text,
			" until they can be read. Raise the limit of open files with: ulimit -n %d",
			EXPLAIN_NOFILE_ENOUGH);
	else if (note->error == EACCES || note->error == EPERM)
		text_add(text, ". Root may read them, or a strobe with cap_sys_ptrace");
	else
		text_add(text, " until they can be read");
}

void explain_target_error(
	struct text *text, int32_t pid, int error, const struct proc_limits *limits)
{
	if (pid > 0)
		text_add(text, "process %" PRId32 ": ", pid);
	else
		text_add(text, "the target: ");
	switch (error) {
	case EXDEV:
		text_add(text, EXPLAIN_FOREIGN_PROC);
		break;
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
		if (limits->paranoid != EXPLAIN_UNKNOWN && !explain_may_all(limits))
			explain_paranoid(text, limits);
		explain_be_root(text, limits, EXPLAIN_SETCAP);
		break;
	default:
		explain_other(text, error, limits, true);
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
		add_no_threads(text, "processes", limits);
		break;
	case E2BIG:
		text_add(text, "its arguments are too long");
		break;
	default:
		explain_other(text, failure->error, limits, false);
		break;
	}
}

static void open_failure(
	struct text *text, const struct engine_failure *failure, const struct proc_limits *limits)
{
	char probe[EVENT_NAME_MAX];
	const struct explain_request request = {
		.event = failure->event,
		.attr = &failure->attr,
		.pid = failure->pid,
		.cpu = failure->cpu,
		.probe = failure->asked.probe
			? failure->asked.probe
			: explain_probe_of(failure->event, probe, sizeof(probe)),
		.cgroup = failure->asked.cgroup,
		.filter = failure->asked.filter,
		.bpf = failure->asked.bpf,
		.inherited = failure->asked.inherited,
		.ioctl = failure->asked.ioctl,
		.user_refused = failure->asked.user_refused,
		.in_group = failure->asked.in_group,
		.mixed_group = failure->asked.mixed_group,
		.counted = failure->asked.counted,
	};
	struct explain_system system;

	explain_system_read(&system, &request, failure->error);
	explain_open_text(text, &request, failure->error, limits, &system);
}

void explain_failure(const struct engine_failure *failure, const struct proc_limits *limits,
	char *out, size_t size)
{
	struct text text = {0};

	switch (failure->what) {
	case FAIL_OPEN:
		if (failure->asked.clash.kind)
			explain_clash(&text, &failure->asked.clash);
		else
			open_failure(&text, failure, limits);
		break;
	case FAIL_MMAP:
		explain_mmap(&text, failure, limits);
		break;
	case FAIL_TARGET:
		text_add(&text, "cannot %s ", failure->asked.counted ? "count" : "sample");
		explain_target_error(&text, failure->pid, failure->error, limits);
		break;
	case FAIL_COMMAND:
		explain_command(&text, failure, limits);
		break;
	case FAIL_SYSTEM:
		text_add(&text,
			"cannot start %s: ", failure->asked.counted ? "counting" : "sampling");
		if (failure->error == EAGAIN)
			add_no_threads(&text, "threads", limits);
		else
			explain_other(&text, failure->error, limits, false);
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
		add_no_threads(&text, "threads", limits);
	else
		explain_other(&text, error, limits, false);
	clean_string(out, size, text.bytes);
}

void explain_stand_in(char *out, size_t size, const char *wanted, const char *type)
{
	struct text text = {0};

	text_add(&text, "TERM=%.64s is not in terminfo here: the screen is drawn for %s", wanted,
		type);
	clean_string(out, size, text.bytes);
}

void explain_wait_status(int status, char *out, size_t size)
{
	const char *name;

	if (WIFEXITED(status)) {
		snprintf(out, size, "with status %d", WEXITSTATUS(status));
	} else if (WIFSIGNALED(status)) {
		name = sigabbrev_np(WTERMSIG(status));
		snprintf(out, size, "killed by SIG%s%s", name ? name : "?",
			WCOREDUMP(status) ? " (core dumped)" : "");
	} else {
		snprintf(out, size, "with wait status 0x%x", (unsigned int)status);
	}
}
