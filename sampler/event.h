/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * event.h - what to count: an event as the user named it, before it meets a target.
 *
 * A specification is a perf_event_attr with only the event's own fields set (type, config*,
 * exclude_*, precise_ip, and either sample_freq with freq=1, or sample_period); what belongs to
 * the engine (sample_type, wakeups, side-band bits) is added where the event is opened.
 * Pure functions and plain data; any thread.
 */
#ifndef SAMPLER_EVENT_H
#define SAMPLER_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_NAME_MAX 96
#define EVENT_FIT_BYTES \
	80u /* what a longer name is cut to, with its NUL: letters of modifiers still fit */
#define EVENT_DEFAULT_FREQ_HZ 997

/*
 * What only symbols or a target can tell: the event is named by a symbol, and whoever opens it first puts numbers in its
 * place (tui/resolve.h), then sets kind to NEEDS_NOTHING.
 */
struct event_needs {
	enum event_needs_kind {
		NEEDS_NOTHING,
		NEEDS_DATA_ADDRESS, /* mem:SYMBOL+OFFSET: attr.bp_addr */
		NEEDS_FILE_OFFSET, /* uprobe:BINARY:FUNCTION+OFFSET: probe (a path) and attr.config2 */
	} kind;
	const char *binary; /* as written: a path, or a bare name; NULL: not told */
	const char *
		symbol; /* NULL of a file offset: offset is of the file already, only the path is to be found */
	uint64_t offset; /* added to the symbol's */
};

/*
 * Not how often, but how long: an event of switches whose weights are the time in ns until the thread goes on
 * (offcpu.h).  A thread that waits all the time has 1e9 a second.
 */
enum event_span {
	EVENT_SPAN_NONE,
	EVENT_SPAN_BLOCKED, /* waiting for something */
	EVENT_SPAN_PREEMPTED, /* for a CPU alone */
	EVENT_SPAN_WALL, /* on the CPU, by the first clock that is sampled, and both of the above */
	EVENT_SPAN_WOKEN, /* blocked, told at once when it is over, with the stack of who ended it */
};

/* The tracepoint of who wakes whom. */
#define EVENT_WAKING "sched:sched_waking"
/* The tracepoint of a thread that becomes runnable. */
#define EVENT_WAKEUP "sched:sched_wakeup"
/* Carries wake-ups in a recording that only split time off the CPU; not an event of its own. */
#define EVENT_WAKEUPS "off-cpu-wakeups"

/* Made of switches themselves; the others are made of other events, and opened as dummies. */
static inline bool event_is_of_switches(enum event_span span)
{
	return span == EVENT_SPAN_BLOCKED || span == EVENT_SPAN_PREEMPTED;
}

/* How a tracepoint happens, if that matters. */
enum event_trace {
	EVENT_TRACE_PLAIN, /* in the kernel; or it is no tracepoint */
	EVENT_TRACE_SYSCALL, /* samples have the registers of user space */
	EVENT_TRACE_UPROBE, /* so do these */
	EVENT_TRACE_KPROBE,
	EVENT_TRACE_SCHEDSTAT, /* only while kernel.sched_schedstats is 1; of another task, too */
	EVENT_TRACE_WAKEUP, /* a hit of the task that wakes, and one of the task that is woken */
};

enum event_chain { EVENT_CHAIN_DEFAULT, EVENT_CHAIN_OFF, EVENT_CHAIN_ON };

/*
 * Plain data, copied freely.  Texts it points to are event_text()'s, which live as long as the process.
 */
struct event_spec {
	char name[EVENT_NAME_MAX]; /* of name=, or canonical, with modifiers: "page-faults:u" */
	struct perf_event_attr attr;
	uint64_t config3; /* since Linux 6.3: not in the header of older kernels */
	bool by_default; /* the user named none: cycles, may become cpu-clock */
	bool has_rate; /* period= or freq= was given and stands in attr: -F and -c leave it alone */
	bool precise_most; /* P: as precise as this machine is, found by weakening from attr.precise_ip = 3 */
	enum event_span span;
	enum event_trace trace;
	bool part; /* comes with another that is made of it: where it runs already, it need not be added */
	bool weak_group; /* W: where the group does not open, its members are opened alone */
	bool read_group; /* S: the leader alone samples, and reads all members with each sample */
	uint16_t
		group; /* neighbours with the same number other than 0 are one group, led by the first */
	enum event_chain chain; /* call-graph=; attr.sample_max_stack is max-stack= */
	const char *filter; /* of a tracepoint, for SET_FILTER; or NULL */
	const char *bpf; /* a program that decides, for SET_BPF (bpf.h); or NULL */
	const char *
		probe; /* what attr.config1 has to point to, of kprobes (a function) and uprobes (a path); or NULL */
	const char *
		cgroup; /* a directory: only tasks in it, CPU-wide (PERF_FLAG_PID_CGROUP); or NULL */
	const char *cgroup_label; /* what it is called beside the event's name */
	const char
		*cpus; /* of a PMU that counts for more than one CPU, its cpumask: "0,8"; or NULL */
	const char
		*core_cpus; /* of a hybrid machine's PMU: the CPUs that have it, "0-7"; NULL: all */
	const char *pmu; /* its directory's name in sysfs; NULL: none was named */
	const char *unit; /* of counts, after scaling: "Joules"; or NULL */
	double scale; /* of counts; 0: none, the same as 1 */
	struct event_needs needs;
};

/* A cgroup that events are opened for (cgroup.h): its directory, and a short name; event_text()'s. */
struct event_cgroup {
	const char *path, *label;
};

/* Copies len bytes to out, of size bytes (32 or more).  If they do not fit, the middle goes, and a
 * hash of the whole is there: events that differ stay different. */
void event_fit_name(char *out, size_t size, const char *text, size_t len);
/* Whether an event of this name is meant by a text that may be longer than names are. */
bool event_is_called(const char *name, const char *asked);
/* Bytes of the first event in a list of names, to a comma outside of terms, braces and escapes. */
size_t event_name_len(const char *text);

/* The one copy of a text that lives until the process ends; NULL when out of memory.  Any thread. */
const char *event_text(const char *text, size_t len);

/* Where events are described: roots of sysfs ("/sys") and tracefs, other ones in tests. */
struct event_system {
	const char *sysfs;
	const char *tracefs; /* NULL: not mounted or not readable */
	const char *proc; /* NULL: settings are not looked at */
};

/* This machine's; found once.  Any thread. */
const struct event_system *event_system(void);

enum event_error_kind {
	EVENT_ERROR_NONE,
	EVENT_ERROR_EMPTY, /* nothing where an event should stand */
	EVENT_ERROR_UNKNOWN, /* no event of that name; near[] may hold a suggestion */
	EVENT_ERROR_MODIFIER, /* unknown or contradicting modifier */
	EVENT_ERROR_TOO_LONG,
	EVENT_ERROR_UNSUPPORTED, /* a kind of event this version does not open */
	EVENT_ERROR_NO_PMU, /* no PMU of that name; near[] */
	EVENT_ERROR_TERM, /* a PMU has no such term, or an event no such one; near[] */
	EVENT_ERROR_VALUE, /* no number, or beyond the term's bits */
	EVENT_ERROR_NO_TRACEFS, /* tracepoints cannot be looked up: error (positive errno) */
	EVENT_ERROR_NO_MATCH, /* a pattern that no tracepoint matches */
	EVENT_ERROR_ADDRESS, /* of a breakpoint */
	EVENT_ERROR_ACCESS, /* of a breakpoint: what is not r, w, rw or x */
	EVENT_ERROR_LENGTH, /* of a breakpoint: not 1, 2, 4, 8 */
	EVENT_ERROR_PROBE, /* no function or file in a probe */
	EVENT_ERROR_GROUP, /* a brace without its other, an empty group, one within another */
	EVENT_ERROR_TOO_MANY, /* a pattern that matches more than can be open at one time */
	EVENT_ERROR_SYNTAX, /* something else than the end of an event, or terms that do not end */
	EVENT_ERROR_LEADER, /* D or e behind a member of a group that does not lead it */
	EVENT_ERROR_TERM_TWICE, /* a term that stands there already, or goes against another */
	EVENT_ERROR_TERM_NEEDED, /* the event needs a term that is not given: near[] */
	EVENT_ERROR_TERM_FOREIGN, /* one of perf's that has no meaning here */
	EVENT_ERROR_NO_PROBES, /* this kernel has no PMU for kprobes or uprobes */
	EVENT_ERROR_NO_LIBRARY, /* libpfm4 is not installed */
};

struct event_error {
	enum event_error_kind kind;
	size_t offset; /* of the offending byte in the text */
	int error;
	char near[EVENT_NAME_MAX];
};

/* Parse one comma-separated list such as "cycles:u,page-faults".  Returns 0 and sets *specs, an
 * array of *n the caller frees with free(); or -EINVAL with *error filled, or -ENOMEM, and sets
 * *specs to NULL.  Neither frequency nor period is set; see event_set_freq() and event_set_period(). */
int event_parse_list(
	const char *text, struct event_spec **specs, size_t *n, struct event_error *error);
/* The same with events described elsewhere. */
int event_parse_list_in(const struct event_system *system, const char *text,
	struct event_spec **specs, size_t *n, struct event_error *error);
/* Names of libpfm4, such as "skl::INST_RETIRED:ANY_P:u,CYCLES"; groups in braces.  As event_parse_list(). */
int event_parse_pfm_list(
	const char *text, struct event_spec **specs, size_t *n, struct event_error *error);

/* "cycles", marked by_default. */
void event_default(struct event_spec *out);

/* Neither changes an event that has_rate.  Tracepoints, breakpoints and probes have no frequency, as with perf: the first
 * gives them a period of 1. */
void event_set_freq(struct event_spec *spec, uint64_t hz);
void event_set_period(struct event_spec *spec, uint64_t period);

/* Of the PMU kprobe or uprobe. */
bool event_is_probe(const struct event_spec *spec);
/* True for a probe at a function's return. */
bool event_is_return_probe(const struct event_spec *spec);

/* True where a sample's period is a time in ns (cpu-clock, task-clock). */
bool event_is_clock(const struct perf_event_attr *attr);

/* Returns true if strobe chooses the event's rate.  The target chooses the rate of others, and
 * each hit slows it down; so credit does not limit them. */
bool event_fires_by_time(const struct perf_event_attr *attr);

/* A PMU counts it, which may be multiplexed, and stands still while it is throttled. */
bool event_is_hardware(const struct perf_event_attr *attr);

/* A breakpoint at an address of the kernel. */
bool event_is_in_kernel(const struct perf_event_attr *attr);

/* It happens in the kernel alone: with :u it counts nothing.  True for all tracepoints. */
bool event_is_kernels_own(const struct perf_event_attr *attr);
/* Something is left of it with :u: not its kernel's own, or a tracepoint that is an exception. */
bool event_fires_in_user(const struct event_spec *spec);

/* Whether both can be in one group: of one PMU, or one is of the kernel's own that go with any. */
bool event_may_share_group(const struct perf_event_attr *a, const struct perf_event_attr *b);

/* One generic event of the catalogue, for pickers and completion. */
struct event_info {
	const char *name;
	const char *alias; /* perf's second name, or NULL */
	const char *description;
	uint32_t type; /* PERF_TYPE_HARDWARE or PERF_TYPE_SOFTWARE */
	uint64_t config;
	enum event_span span; /* those of one are the only ones with the same config as another */
};

/* The generic hardware and software events, in display order; *n entries, static storage. */
const struct event_info *event_catalogue(size_t *n);

#endif
