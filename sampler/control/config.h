/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * config.h - the configuration of an engine: its target, events, call chains and limits.
 */
#ifndef SAMPLER_CONTROL_CONFIG_H
#define SAMPLER_CONTROL_CONFIG_H

#include "sampler/control/trigger.h"
#include "sampler/store/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct changes;
struct event_cgroup;
struct event_spec;
struct perf_event_header;
struct record_mmap;

#define ENGINE_EVENTS_MAX 64 /* open at one time */
#define ENGINE_EVENTS_TOLD 255 /* in a status: recordings may have more than ENGINE_EVENTS_MAX */

#define ENGINE_STACK_BYTES 16384u /* bytes per stack copy; enough for most programs */

/* How call chains are collected: see callchain, stack_bytes and stack_adapts below. */
enum engine_call_graph {
	CALL_GRAPH_AUTO,
	CALL_GRAPH_FP,
	CALL_GRAPH_DWARF,
	CALL_GRAPH_NO,
	CALL_GRAPH_LBR, /* only at the start: sample_more with a call stack */
	CALL_GRAPH_MODES
};
static inline const char *engine_call_graph_name(enum engine_call_graph mode)
{
	static const char *const names[] = {"auto", "fp", "dwarf", "no", "lbr"};

	return names[mode % CALL_GRAPH_MODES];
}

enum engine_scope {
	SCOPE_AUTO, /* task, until forks outrun following; then cpu if permitted, else inherit */
	SCOPE_TASK, /* one point per thread */
	SCOPE_CPU, /* one point per CPU, samples filtered to the followed tree */
	SCOPE_INHERIT, /* inherited events per thread and CPU, without credit */
};

/* Target of the profile.  Arrays are copied. */
struct engine_target {
	bool system_wide; /* implied if only CPUs, or only cgroups, are given */
	const int32_t *pids; /* whole processes and their future children */
	size_t n_pids;
	const int32_t *tids; /* single threads */
	size_t n_tids;
	const int *cpus; /* only samples on these CPUs; empty: all */
	size_t n_cpus;
	/* Every event without a cgroup is opened once per cgroup, on (the given) CPUs; empty:
	 * wherever tasks are.  At most ENGINE_EVENTS_MAX events in total. */
	const struct event_cgroup *cgroups;
	size_t n_cgroups;
	char *const *command; /* argv, NULL-terminated, or NULL; runs after engine_start() */
	/* the command's stdout and stderr, with /dev/null as stdin; -1: inherit all three */
	int command_output_fd;
	/* The command is not sampled; sampling of the other targets begins and ends with it. */
	bool stopwatch;
};

/* Returns whether the command is sampled. */
static inline bool engine_target_is_command(const struct engine_target *target)
{
	return target->command && !target->stopwatch;
}

/*
 * Receives all data that goes into the store (a recording).  The sampling thread makes all calls,
 * in the order of the store, and waits for them.  Filtered samples are not passed.
 */
#define ENGINE_TAP_TRACKER SIZE_MAX

struct engine_tap {
	/* Called once, before the first record: the events that opened, with their attributes as
	 * opened.  The last event is the tracker.  mapping() and comm() may be called earlier. */
	void (*begin)(const struct event_spec *events, size_t n, void *ctx);
	/* event: index in the list of begin(), or ENGINE_TAP_TRACKER for side-band records.  Ids in
	 * the record are the kernel's, except those of counters in a sample: their id is the
	 * event's index + 1.  The values of those counters are the sums of the values passed. */
	void (*record)(const struct perf_event_header *record, size_t event, void *ctx);
	/* Read from /proc; valid for all records from time_ns on. */
	void (*mapping)(int32_t pid, const struct record_mmap *mmap, uint64_t time_ns, void *ctx);
	void (*comm)(int32_t pid, int32_t tid, const char *comm, uint64_t time_ns, void *ctx);
	/* All records older than the start of this round have been passed. */
	void (*round)(void *ctx);
	void *ctx;
};

struct engine_config {
	struct engine_target target;
	const struct event_spec *events; /* copied */
	size_t n_events;
	enum engine_scope scope;
	bool callchain;
	bool no_credit; /* no overflow limit for clocks and events with a frequency */
	uint16_t max_stack; /* frames per sample; 0: the kernel's limit */
	/* Bytes of user stack copied to unwind chains: a multiple of 8, at most UNWIND_STACK_MAX.
	 * Threads with small rings copy less.  0: chains by frame pointers. */
	uint32_t stack_bytes;
	/* Only clocks, events with a frequency and spans copy stacks.  The size adapts to the
	 * chains and to the cost. */
	bool stack_adapts;
	/* Passes the stack copies to the tap, all of one size, with all general registers. */
	bool keep_stacks;
	struct changes *changes; /* borrowed; NULL: no code is ever replaced */
	/* must not block; find NULL: no unwinding, and no chain is judged */
	struct unwind_source unwind;
	bool no_kernel_chain, no_user_chain; /* leave that side's frames out of call chains */
	bool own_threads; /* follow the targets' new threads, not forked processes */
	/* The kernel releases a target that executes another program (remove_on_exec).  -EINVAL
	 * with a command, whole CPUs (system_wide, SCOPE_CPU) or flight_s. */
	bool until_exec;
	bool inherit_stat; /* SCOPE_INHERIT: a task's counts go to the tap when it ends (READ) */
	size_t memory_bytes; /* budget of the store */
	unsigned int ring_pages; /* per point, a power of two; 0: chosen by the engine */
	uint32_t wakeup_events; /* wake after this many samples; 0: by watermark */
	uint32_t wakeup_bytes; /* wake after this many bytes; 0: chosen */
	/* further PERF_SAMPLE_* bits for every event: ADDR, DATA_SRC, WEIGHT ... */
	uint64_t sample_more;
	/* With PERF_SAMPLE_BRANCH_STACK.  A call stack (BRANCH_CALL_STACK) becomes the user part of
	 * the chain, if the processor provides it. */
	uint64_t branch_sample_type;
	bool no_fields; /* do not keep samples' fields (fields.h) */
	/* Flight recorder: samples stay in rings that overwrite themselves (write_backward) and
	 * hold about this many seconds.  They enter the store only by engine_snapshot(), at the end
	 * of all targets, or by engine_stop().  Not with SCOPE_INHERIT or groups read as one;
	 * without credit.  0: off. */
	double flight_s;
	struct trigger_spec flight_trigger; /* takes a snapshot automatically; percent 0: none */
	const struct engine_tap *tap; /* copied; NULL: none */
};

#endif
