/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain_system.h - what of this machine's state decides why an event was refused, beyond proc_limits().
 *
 * Read when something was refused, and only for that one request; sentences take it as plain data, so that tests
 * bring their own.  Any thread.
 */
#ifndef TUI_EXPLAIN_SYSTEM_H
#define TUI_EXPLAIN_SYSTEM_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPLAIN_UNKNOWN (-1) /* of a setting that could not be read */

/* What was asked of perf_event_open(2).  Texts may be NULL where the event has none. */
struct explain_request {
	const char *event; /* as the user named it */
	const struct perf_event_attr *attr;
	int32_t pid; /* 0: strobe itself; -1: all */
	int cpu; /* -1: any */
	const char *probe; /* of kprobes the function, of uprobes the path */
	const char *cgroup; /* its directory */
	const char *filter; /* that was refused, where the event itself was not */
	const char *bpf; /* or the program that was */
	bool inherited; /* the kernel refused inheritance by new tasks */
	const char *ioctl; /* or this ioctl on the open event */
	bool user_refused; /* it was refused without the kernel, too */
	bool in_group; /* opened as a member of another event's group */
	bool mixed_group; /* with members of several PMUs */
	bool counted; /* to be counted alone, not sampled */
};

enum explain_function {
	FUNCTION_NOT_ASKED,
	FUNCTION_KNOWN, /* in the kernel's list of symbols, once */
	FUNCTION_AMBIGUOUS, /* there more than once */
	FUNCTION_MISSING,
	FUNCTION_BLACKLISTED, /* the kernel lets nobody probe it */
};

struct explain_system {
	bool seccomp; /* a filter is in force on strobe: a container */
	bool lockdown; /* the kernel hides itself even from root */
	int nmi_watchdog; /* 1: holds a hardware counter; EXPLAIN_UNKNOWN */
	bool has_cpu_pmu; /* the processor's counters are there */
	int max_precise; /* of that PMU; EXPLAIN_UNKNOWN */
	int branches; /* entries of its branch stack, 0: none; EXPLAIN_UNKNOWN */
	int possible_cpus; /* the highest number that a CPU can have, plus 1; EXPLAIN_UNKNOWN */
	bool cpu_offline; /* the request's CPU can be, and is not now */
	char pmu[48]; /* the request's: of attr.type in sysfs; "" where there is none. Raw bytes */
	bool own_cpus; /* that PMU counts for several CPUs at once, on the CPUs of its cpumask */
	char cpus[48]; /* the cpumask */
	enum explain_function function; /* of a kprobe */
	int file_error; /* positive errno of opening a uprobe's file; 0: it can be read */
	bool file_odd; /* it is no regular file */
	int64_t file_bytes; /* its size; EXPLAIN_UNKNOWN */
	bool cgroup_gone; /* the request's directory is not there (any more) */
	char fields
		[512]; /* names that a filter of this event may have: "prev_pid, prev_comm"; raw */
};

/* error: the positive errno, by which only what matters is read. */
void explain_system_read(
	struct explain_system *out, const struct explain_request *request, int error);

/* As it is where nothing is known. */
void explain_system_unknown(struct explain_system *out);

#endif
