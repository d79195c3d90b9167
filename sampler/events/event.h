/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * event.h - an event as the user specified it, without a target.
 *
 * A specification is a perf_event_attr with only the event's own fields set: type, config*,
 * exclude_*, precise_ip, and either sample_freq with freq=1, or sample_period.  The engine adds its
 * fields (sample_type, wakeups, side-band bits) when it opens the event.  Pure functions and plain
 * data; any thread.
 */
#ifndef SAMPLER_EVENTS_EVENT_H
#define SAMPLER_EVENTS_EVENT_H

#include "sampler/machine/system_dirs.h"
#include "sampler/machine/tracefs.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
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

/* Copies len bytes to out, of size bytes (32 or more).  If they do not fit, a hash of the whole
 * replaces the middle, so different events stay different. */
void event_fit_name(char *out, size_t size, const char *text, size_t len);
/* Returns whether a text, which may be longer than names can be, names this event. */
bool event_is_called(const char *name, const char *asked);
/* Returns the length in bytes of the first event in a list of names: up to a comma outside of
 * terms, braces and escapes. */
size_t event_name_len(const char *text);

/* Returns the single copy of a text, which lives until the process ends; NULL if memory runs out.
 * Any thread. */
const char *event_text(const char *text, size_t len);

enum event_error_kind {
	EVENT_ERROR_NONE,
	EVENT_ERROR_EMPTY, /* missing event */
	EVENT_ERROR_UNKNOWN, /* no event of that name; near[] may have a suggestion */
	EVENT_ERROR_MODIFIER, /* unknown or conflicting modifier */
	EVENT_ERROR_TOO_LONG,
	EVENT_ERROR_UNSUPPORTED, /* kind of event that this version does not open */
	EVENT_ERROR_NO_PMU, /* no PMU of that name; near[] */
	EVENT_ERROR_TERM, /* no such term of the PMU or event; near[] */
	EVENT_ERROR_VALUE, /* not a number, or too large for the term */
	EVENT_ERROR_NO_TRACEFS, /* tracepoints cannot be looked up: error (positive errno) */
	EVENT_ERROR_NO_MATCH, /* no tracepoint matches the pattern */
	EVENT_ERROR_ADDRESS, /* breakpoint: invalid address */
	EVENT_ERROR_ACCESS, /* breakpoint: access is not r, w, rw or x */
	EVENT_ERROR_LENGTH, /* breakpoint: length is not 1, 2, 4 or 8 */
	EVENT_ERROR_PROBE, /* no function or file in a probe */
	EVENT_ERROR_GROUP, /* an unmatched brace, an empty group or a nested group */
	EVENT_ERROR_TOO_MANY, /* a pattern matches more events than can be open at one time */
	EVENT_ERROR_SYNTAX, /* text after the end of an event, or unterminated terms */
	EVENT_ERROR_LEADER, /* D or e on a group member that is not the leader */
	EVENT_ERROR_TERM_TWICE, /* a repeated term, or one that conflicts with another */
	EVENT_ERROR_TERM_NEEDED, /* the event needs a term that is missing: near[] */
	EVENT_ERROR_TERM_FOREIGN, /* a term of perf without a meaning here */
	EVENT_ERROR_NO_PROBES, /* this kernel has no PMU for kprobes or uprobes */
	EVENT_ERROR_NO_LIBRARY, /* libpfm4 is not installed */
};

struct event_error {
	enum event_error_kind kind;
	size_t offset; /* offset of the offending byte in the text */
	int error;
	char near[EVENT_NAME_MAX];
};

/* Parses a comma-separated list such as "cycles:u,page-faults".  Returns 0 and sets *specs to an
 * array of *n for free(); or -EINVAL with *error filled in, or -ENOMEM, both with *specs NULL.
 * Sets neither frequency nor period; see event_set_freq() and event_set_period(). */
int event_parse_list(
	const char *text, struct event_spec **specs, size_t *n, struct event_error *error);
/* Like event_parse_list(), with other roots of event descriptions. */
int event_parse_list_in(const struct system_dirs *system, const char *text,
	struct event_spec **specs, size_t *n, struct event_error *error);
/* Like event_parse_list(), for names of libpfm4, such as "skl::INST_RETIRED:ANY_P:u,CYCLES"; groups
 * in braces. */
int event_parse_pfm_list(
	const char *text, struct event_spec **specs, size_t *n, struct event_error *error);

/* Fills in "cycles", marked by_default. */
void event_default(struct event_spec *out);

/* Set the rate, except for an event that has_rate.  Tracepoints, breakpoints and probes have no
 * frequency, like in perf: event_set_freq() gives them a period of 1. */
void event_set_freq(struct event_spec *spec, uint64_t hz);
void event_set_period(struct event_spec *spec, uint64_t period);

/* Returns true for an event of the PMU kprobe or uprobe. */
bool event_is_probe(const struct event_spec *spec);
/* Returns true for a probe at a function's return. */
bool event_is_return_probe(const struct event_spec *spec);

/* Returns true for a breakpoint at a kernel address. */
bool event_is_in_kernel(const struct perf_event_attr *attr);

/* Returns true if it occurs only in the kernel, so that with :u it counts nothing.  True for all
 * tracepoints. */
bool event_is_kernels_own(const struct perf_event_attr *attr);
/* Returns true if it counts with :u: not the kernel's own, or an exceptional tracepoint. */
bool event_fires_in_user(const struct event_spec *spec);

/* Returns whether both can be in one group: they have one PMU, or either is a software event,
 * tracepoint or breakpoint. */
bool event_may_share_group(const struct perf_event_attr *a, const struct perf_event_attr *b);

/* A generic event of the catalogue, for pickers and completion. */
struct event_info {
	const char *name;
	const char *alias; /* perf's second name; NULL if none */
	const char *description;
	uint32_t type; /* PERF_TYPE_HARDWARE or PERF_TYPE_SOFTWARE */
	uint64_t config;
	enum event_span span; /* distinguishes events with the same config */
};

/* Returns the generic hardware and software events in display order: *n entries in static
 * storage. */
const struct event_info *event_catalogue(size_t *n);

#endif
