/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spec.h - an event as the user specified it, without a target.
 *
 * A specification is a perf_event_attr with only the event's own fields set: type, config*,
 * exclude_*, precise_ip, and either sample_freq with freq=1, or sample_period.  The engine adds its
 * fields (sample_type, wakeups, side-band bits) when it opens the event.  Plain data.
 */
#ifndef SAMPLER_EVENTS_SPEC_H
#define SAMPLER_EVENTS_SPEC_H

#include "sampler/machine/tracefs.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#define EVENT_NAME_MAX TRACEFS_NAME_MAX
#define EVENT_FIT_BYTES 80u /* size, with NUL, of a shortened name: modifiers still fit */
#define EVENT_DEFAULT_FREQ_HZ 997

/*
 * Parts of an event that need symbols or a target.  Before opening, the caller replaces the symbol
 * by numbers (tui/session/resolve.h) and sets kind to NEEDS_NOTHING.
 */
struct event_needs {
	enum event_needs_kind {
		NEEDS_NOTHING,
		NEEDS_DATA_ADDRESS, /* mem:SYMBOL+OFFSET: attr.bp_addr */
		/* uprobe:BINARY:FUNCTION+OFFSET: probe (a path) and attr.config2 */
		NEEDS_FILE_OFFSET,
	} kind;
	const char *binary; /* a path or a bare name, unchanged; NULL if not given */
	/* NULL with NEEDS_FILE_OFFSET: offset is a file offset, only the path is missing */
	const char *symbol;
	uint64_t offset; /* added to the symbol's */
};

/*
 * Events that measure time.  The weight is the time in ns until the thread continues (offcpu.h).  A
 * thread that waits all the time has 1e9 per second.
 */
enum event_span {
	EVENT_SPAN_NONE,
	EVENT_SPAN_BLOCKED, /* waiting for an event */
	EVENT_SPAN_PREEMPTED, /* runnable, waiting for a CPU */
	EVENT_SPAN_WALL, /* on the CPU, by the first sampled clock, plus both of the above */
	EVENT_SPAN_WOKEN, /* blocked, reported when it ends, with the waker's stack */
};

/* The tracepoint of a thread that wakes another. */
#define EVENT_WAKING "sched:sched_waking"
/* The tracepoint of a thread that becomes runnable. */
#define EVENT_WAKEUP "sched:sched_wakeup"
/* Carries wake-ups in a recording that only split off-CPU time; not an event of its own. */
#define EVENT_WAKEUPS "off-cpu-wakeups"

/* Returns whether switches themselves make the event; the others derive from other events and are
 * opened as dummies. */
static inline bool event_is_of_switches(enum event_span span)
{
	return span == EVENT_SPAN_BLOCKED || span == EVENT_SPAN_PREEMPTED;
}

enum event_chain { EVENT_CHAIN_DEFAULT, EVENT_CHAIN_OFF, EVENT_CHAIN_ON };

/*
 * Plain data, may be copied.  Its texts belong to event_text() and live as long as the process.
 */
struct event_spec {
	char name[EVENT_NAME_MAX]; /* from name=, or canonical with modifiers: "page-faults:u" */
	struct perf_event_attr attr;
	uint64_t config3; /* since Linux 6.3; missing in headers of older kernels */
	bool by_default; /* the user named no event: cycles, may become cpu-clock */
	bool has_rate; /* attr has the rate of period= or freq=; -F and -c do not change it */
	/* P: the highest precision of this machine, found by lowering attr.precise_ip from 3 */
	bool precise_most;
	enum event_span span;
	enum tracefs_kind trace;
	bool part; /* part of a derived event; not added if it already runs */
	bool weak_group; /* W: members are opened alone if the group does not open */
	bool read_group; /* S: only the leader samples, and reads all members with each sample */
	uint16_t group; /* neighbours with the same nonzero number are a group, led by the first */
	enum event_chain chain; /* call-graph=; max-stack= is in attr.sample_max_stack */
	const char *filter; /* tracepoint: filter for SET_FILTER; or NULL */
	const char *bpf; /* program for SET_BPF that filters hits (bpf.h); or NULL */
	/* target of attr.config1: a function of kprobes, a path of uprobes; or NULL */
	const char *probe;
	/* directory: only its tasks, CPU-wide (PERF_FLAG_PID_CGROUP); or NULL */
	const char *cgroup;
	const char *cgroup_label; /* short name, shown after the event's name */
	const char *cpus; /* cpumask of a PMU that counts for several CPUs: "0,8"; or NULL */
	const char *core_cpus; /* CPUs of a hybrid machine's PMU: "0-7"; NULL: all */
	const char *pmu; /* directory name in sysfs; NULL if none was named */
	const char *unit; /* unit of scaled counts: "Joules"; or NULL */
	double scale; /* scale of counts; 0: none, like 1 */
	struct event_needs needs;
};

/* A cgroup to open events for (cgroup.h): its directory and a short name, both from
 * event_text(). */
struct event_cgroup {
	const char *path, *label;
};

#endif
