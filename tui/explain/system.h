/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * system.h - the machine state, beyond proc_limits(), that decides why an event was
 * refused.
 *
 * Read after a refusal, for that one request.  Sentences take it as plain data, so that tests can
 * supply their own.  Any thread.
 */
#ifndef TUI_EXPLAIN_SYSTEM_H
#define TUI_EXPLAIN_SYSTEM_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* for a setting that could not be read */
#define EXPLAIN_UNKNOWN (-1)

/* A request to perf_event_open(2).  Texts may be NULL if the event has none. */
struct explain_request {
	const char *event; /* name that the user gave */
	const struct perf_event_attr *attr;
	int32_t pid; /* 0: strobe itself; -1: all */
	int cpu; /* -1: any */
	const char *probe; /* kprobes: the function; uprobes: the path */
	const char *cgroup; /* its directory */
	const char *filter; /* a filter that was refused although the event was accepted */
	const char *bpf; /* a BPF program that was refused likewise */
	bool inherited; /* only inheritance by new tasks was refused (sampler/events/inherited.h) */
	const char *ioctl; /* an ioctl that was refused on the open event */
	bool user_refused; /* the event was refused with exclude_kernel, too */
	bool in_group; /* opened as a member of another event's group */
	bool mixed_group; /* that group has members of several PMUs */
	bool counted; /* only counted, not sampled */
};

enum explain_function {
	FUNCTION_NOT_ASKED,
	FUNCTION_KNOWN, /* once in the kernel's list of symbols */
	FUNCTION_AMBIGUOUS, /* several times in that list */
	FUNCTION_MISSING,
	FUNCTION_BLACKLISTED, /* the kernel forbids probes on it */
};

struct explain_system {
	bool seccomp; /* a seccomp filter applies to strobe: a container */
	bool lockdown; /* kernel lockdown: kernel data is hidden even from root */
	int nmi_watchdog; /* 1: it uses a hardware counter; EXPLAIN_UNKNOWN */
	bool has_cpu_pmu; /* the processor's PMU exists */
	int max_precise; /* highest precise_ip of that PMU; EXPLAIN_UNKNOWN */
	int branches; /* entries of its branch stack; 0: none; EXPLAIN_UNKNOWN */
	int possible_cpus; /* highest possible CPU number plus 1; EXPLAIN_UNKNOWN */
	bool cpu_offline; /* the request's CPU is offline */
	char pmu[48]; /* name in sysfs of the PMU with attr.type; "" if none; raw bytes */
	bool own_cpus; /* that PMU counts for several CPUs at once, on the CPUs in its cpumask */
	char cpus[48]; /* its cpumask */
	enum explain_function function; /* state of a kprobe's function */
	int file_error; /* positive errno of opening a uprobe's file; 0: readable */
	bool file_odd; /* that file is not a regular file */
	int64_t file_bytes; /* size of that file; EXPLAIN_UNKNOWN */
	bool cgroup_gone; /* the request's cgroup directory does not exist */
	char fields[512]; /* field names for this event's filter: "prev_pid, prev_comm"; raw */
};

/* Reads the state.  error: positive errno; some facts are read only for certain errors. */
void explain_system_read(
	struct explain_system *out, const struct explain_request *request, int error);

/* Sets all fields to unknown. */
void explain_system_unknown(struct explain_system *out);

#endif
