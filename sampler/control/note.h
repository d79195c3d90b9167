/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * note.h - reports of an engine or a recording, beside its figures.
 */
#ifndef SAMPLER_CONTROL_NOTE_H
#define SAMPLER_CONTROL_NOTE_H

#include "sampler/control/failure.h"
#include "sampler/events/spec.h"

#include <linux/perf_event.h>
#include <stdint.h>

enum engine_note_kind {
	NOTE_FALLBACK_CLOCK, /* the default event has no hardware here; cpu-clock instead. error */
	NOTE_USER_ONLY, /* the kernel was refused; user space only. error */
	NOTE_EVENT_ADDED,
	NOTE_EVENT_DROPPED,
	/* text = event, "": every event on that CPU; error, attr; pid and cpu, -1: all, any */
	NOTE_EVENT_REFUSED,
	NOTE_FREQUENCY, /* value = Hz, or the period of an event that has one */
	NOTE_ATTACHED,
	NOTE_DETACHED, /* pid; value = threads */
	NOTE_ATTACH_FAILED, /* pid, error */
	NOTE_TARGET_EXITED, /* pid */
	NOTE_TARGET_EXEC, /* pid; text = comm */
	NOTE_COMMAND_ENDED, /* pid; value = wait status */
	NOTE_ALL_ENDED,
	NOTE_TASKS_MISSED, /* value = tasks that ended before their events could be opened */
	/* value = side-band records so far that memory was too short for */
	NOTE_RECORDS_DROPPED,
	NOTE_MAPS_UNREAD, /* value = processes with unreadable mappings; pid, error: the first */
	NOTE_SCOPE, /* value = new enum engine_scope */
	NOTE_RING_SHRUNK, /* value = pages */
	NOTE_FD_LIMIT, /* error; needed */
	NOTE_MLOCK_LIMIT, /* value = the limit; error */
	NOTE_LOST, /* value = samples, text = event */
	NOTE_THROTTLED,
	NOTE_UNTHROTTLED, /* text = event */
	NOTE_CREDIT_SPENT, /* text = event: the consumer was too slow */
	/* text = inherited event: short-lived threads have few samples; error: EACCES if SCOPE_CPU
	 * is not permitted */
	NOTE_SHORT_LIVED,
	/* new tasks ran before their events were opened; error: see NOTE_SHORT_LIVED */
	NOTE_BORN_LATE,
	NOTE_CORRUPT_RING, /* value = number of times */
	NOTE_CPU_OFFLINE,
	NOTE_CPU_ONLINE, /* value = cpu */
	NOTE_COARSENED, /* memory budget spent: old history gets coarser */
	NOTE_LESS_PRECISE, /* text = event; value = precise_ip in force */
	NOTE_UNGROUPED, /* text = leader: a weak group was split; error */
	NOTE_EVENT_ENABLED, /* text = event; value = 1, 0 */
	NOTE_FILTER, /* text = event: new filter in force; error if refused */
	NOTE_BREAKPOINT, /* text = event; value = new address; error if refused */
	/* text = event; value = number of BPF programs attached by others, which filter its
	 * samples */
	NOTE_BPF,
	NOTE_PAUSED, /* value = 1, 0; error */
	/* text = event; value = bytes of stack that its samples copy from now on */
	NOTE_STACK_BYTES,
	NOTE_CALL_GRAPH, /* value = enum engine_call_graph in force; error if refused */
	NOTE_PINNED_ERROR, /* text = event: pinned, and the hardware has no room */
	/* text = event; value = bits of sample_type that its samples lack; error; 0: it has no such
	 * data */
	NOTE_SAMPLES_LESS,
	NOTE_COUNTS_ONLY, /* text = event: its PMU cannot sample, so it only counts; error */
	NOTE_SNAPSHOT, /* flight recorder: value = samples; reach_ns */
	/* flight recorder: rings hold less than requested; value = ms; error EPERM: locked-memory
	 * limit */
	NOTE_FLIGHT_SHORT,
	NOTE_FLIGHT_TRIGGER, /* value = CPU percent that the target used */
	NOTE_CGROUP_GONE, /* text = label: cgroup removed; its samples stay */
	NOTE_SPANS_DROPPED, /* text = event; value = off-CPU spans with missing records */
	NOTE_WAKERS_UNKNOWN, /* text = event: sched:sched_waking is not open */
	/* text = event, error: no samples of wake-ups; value = 1: run delays replace them */
	NOTE_WAITS_SUMMED,
	NOTE_WAKEUPS_LOST, /* text = event; value = wake-ups */
	NOTE_SPANS_STACKLESS, /* text = event: without the kernel, a switch has no stack */
	NOTE_FIELDS_DROPPED, /* memory budget spent: fields of old samples were dropped */
	NOTE_SILENT, /* text = event: it can never occur; value = enum silent_reason */
	NOTE_NO_CREDIT, /* text = event, error of REFRESH: it samples without a limit */
	/* Only in recordings (recording.h). */
	NOTE_FILE_TRUNCATED, /* value = offset of the cut; text = file of a directory, or "" */
	NOTE_FILE_MISSING, /* text = file of a directory; error; 0: it does not exist */
	NOTE_FILE_MORE_FAULTS, /* value = further files with one of these faults or a FILE_ERROR */
	NOTE_FILE_UNFINISHED, /* the feature table is missing: recording did not end properly */
	NOTE_FILE_BAD_RECORDS, /* value = records skipped for invalid fields */
	NOTE_FILE_UNKNOWN_RECORDS, /* value = records skipped for unknown types */
	NOTE_FILE_OUT_OF_ORDER, /* value = records that arrived too late to be sorted */
	NOTE_FILE_EVENTS_FOLDED, /* value = events beyond the limit, merged into one */
	NOTE_FILE_MAPS_CUT, /* value = processes with mappings that perf did not finish reading */
	NOTE_FILE_AUX_TRUNCATED, /* value = parts of hardware traces without their end */
	NOTE_FILE_AUX_PARTIAL, /* value = parts with gaps */
	NOTE_FILE_AUX_COLLISION, /* value = parts disturbed by another trace on the CPU */
	NOTE_FILE_ERROR, /* error; value = offset of the unreadable part; text = file or "" */
};

struct engine_note {
	uint64_t serial; /* 1, 2, 3 ... */
	uint64_t time_ns;
	enum engine_note_kind kind;
	int error; /* positive errno, or 0 */
	int32_t pid;
	uint64_t value;
	char text[EVENT_NAME_MAX]; /* raw bytes */
	/* NOTE_SNAPSHOT: age in ns; older samples were overwritten; 0: none were */
	uint64_t reach_ns;
	/* NOTE_FD_LIMIT: the limit that all events on all CPUs need; 0: they are on threads */
	uint64_t needed;
	int cpu; /* NOTE_EVENT_REFUSED only, like attr; asked also for NOTE_FILTER */
	struct perf_event_attr attr;
	struct engine_asked asked;
};

#endif
