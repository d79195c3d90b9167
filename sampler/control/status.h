/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * status.h - the state and the figures of an engine or a recording, and of its events.
 */
#ifndef SAMPLER_CONTROL_STATUS_H
#define SAMPLER_CONTROL_STATUS_H

#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/events/spec.h"
#include "sampler/store/store.h"
#include "sampler/store/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum engine_state {
	ENGINE_STARTING,
	ENGINE_RUNNING,
	ENGINE_FAILED, /* no event could be opened: see failure */
	ENGINE_ENDED, /* all targets are gone; the store stays */
	ENGINE_STOPPED, /* by engine_stop() */
};

struct engine_event_status {
	uint8_t id; /* event number in store cells, never reused while anything refers to it */
	bool open; /* false: dropped or refused; its samples stay */
	int error; /* positive errno of the last refusal */
	char name[EVENT_NAME_MAX]; /* "cpu-clock:u", in a cgroup "cpu-clock:u@web" */
	const char *cgroup; /* label of its cgroup; NULL if none */
	bool is_clock;
	enum event_span span; /* set if its weight is waiting time; many threads wait at a time */
	bool user_only; /* opened without the kernel, which was refused */
	/* at most one is not 0; both 0: takes no samples of its own, or see rate_varies */
	uint64_t freq_hz, period;
	/* had other rates before; in a recording without a single rate, freq_hz and period are 0 */
	bool rate_varies;
	uint64_t samples; /* delivered and stored */
	uint64_t exact; /* samples with an exact ip (PERF_RECORD_MISC_EXACT_IP) */
	struct unwind_ends chains; /* how the chains ended, for samples that could be judged */
	uint32_t stack_bytes; /* bytes copied per sample now; 0: chains by frame pointers */
	uint32_t stack_first; /* bytes before the size adapted; 0: it did not */
	uint64_t lost; /* produced by the kernel and not delivered */
	bool lost_of_all; /* SCOPE_CPU: lost and held_back include samples of other processes */
	uint64_t filtered; /* delivered, but from a task (SCOPE_CPU) or CPU that is not sampled */
	uint64_t throttled; /* number of times */
	/* Counter value, summed over points.  For inherited events of wake-ups and of scheduler
	 * times: the weight of samples and losses. */
	uint64_t count;
	/* recordings: count is the weight of the samples, which hold no value of the counter */
	bool count_by_samples;
	/* Coverage is covered / coverable; unknown if coverable is 0.  Inherited clocks: weight of
	 * samples / time on the clock.  Other clocks and events with a frequency: time armed / time
	 * on the clock.  Others: sampled / counted by the kernel. */
	double covered, coverable;
	uint64_t held_back; /* fixed period: counted by the kernel, neither sampled nor lost */
	uint64_t stood_still; /* frequency: times that it stopped without credit */
	/* ns, summed over points: the event counted for running_ns of enabled_ns (multiplexing).
	 * An estimate is count * enabled_ns / running_ns.  running_ns 0 with enabled_ns above 0:
	 * never counted. */
	uint64_t enabled_ns, running_ns;
	bool enabled; /* false: disabled by engine_event_enable() */
	/* pinned, without room on the hardware of some point: no longer counts there */
	bool in_error;
	uint16_t group; /* group number assigned by the engine; 0: none */
	uint8_t precise; /* precise_ip in force */
	bool is_tracepoint, is_breakpoint;
	const char *filter; /* tracepoint: filter in force, or NULL */
	uint64_t address; /* breakpoint only */
	const char *unit; /* unit and scale: see event_spec */
	double scale;
};

struct engine_status {
	enum engine_state state;
	struct engine_failure failure; /* ENGINE_FAILED: the cause; else the last refusal */
	enum engine_scope scope; /* in force */
	/* CLOCK_MONOTONIC ns; now_ns is the time of the last drain, or of the end */
	uint64_t started_ns, now_ns;
	struct engine_event_status events[ENGINE_EVENTS_TOLD];
	size_t n_events;
	uint32_t processes, threads; /* followed; 0 when system-wide */
	uint32_t cpus; /* number of sampled CPUs */
	uint64_t tasks_missed;
	uint32_t threads_left_out; /* have no events: descriptors or locked memory ran out */
	uint64_t lost_side_band; /* non-sample records */
	uint64_t records_dropped; /* side-band records that memory was too short for */
	uint64_t unknown_records;
	/* Records of functions that the kernel created or freed (mostly BPF), and of BPF
	 * programs. */
	uint64_t ksymbols, bpf_events;
	uint32_t ring_pages;
	uint64_t attaching_done, attaching_total; /* threads, while attaching */
	bool paused; /* by engine_pause() */
	/* Flight recorder: seconds that its smallest ring holds, at most flight_s; number of
	 * snapshots, and how many the trigger took. */
	double flight_holds_s;
	uint32_t snapshots, triggered;
	bool pid_namespace; /* recording of a pid namespace: pid 0 is more than the idle tasks */
	bool command_ended;
	int command_status; /* wait status, see waitpid(2) */
	int32_t command_pid;
	struct store_status store;
	struct unwind_totals chains;
	enum engine_call_graph call_graph; /* in force */
	uint64_t last_note;
};

#endif
