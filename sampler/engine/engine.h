/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * engine.h - the sampling engine: opens events on targets, drains their rings, fills the store.
 *
 * One sampling thread per engine does all the work after engine_start().  One other thread at a
 * time may call the other functions; they never block on the sampling thread's work.  Commands are
 * executed in order; status and notes report their results.
 *
 * A point is a task or CPU on which events are opened.  Each point has a tracker: an always-enabled
 * dummy event.  The tracker owns the ring, carries side-band records, and is the clock for
 * measuring coverage.  Each chosen event has one sampling event per point, with output to the
 * tracker's ring.  Clocks and events with a frequency run on credit: PERF_EVENT_IOC_REFRESH.
 */
#ifndef SAMPLER_ENGINE_ENGINE_H
#define SAMPLER_ENGINE_ENGINE_H

#include "sampler/engine/trigger.h"
#include "sampler/events/clash.h"
#include "sampler/store/images.h"
#include "sampler/store/stacks.h"
#include "sampler/store/store.h"
#include "sampler/store/tasks.h"
#include "sampler/store/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

struct engine;

/* Checks and copies the configuration; opens no event.  Returns 0, -EINVAL or -ENOMEM. */
int engine_new(struct engine **out, const struct engine_config *config);

/* Starts the sampling thread, which opens all events; engine_status() reports the result. */
int engine_start(struct engine *engine);

/* Stops, joins and frees; does not kill a command.  NULL is a no-op.  Release snapshots first. */
void engine_free(struct engine *engine);

/* Returns an eventfd, which the caller reads.  It is readable after a slice was sealed, a note was
 * added or the state changed. */
int engine_notify_fd(const struct engine *engine);

enum engine_state {
	ENGINE_STARTING,
	ENGINE_RUNNING,
	ENGINE_FAILED, /* no event could be opened: see failure */
	ENGINE_ENDED, /* all targets are gone; the store stays */
	ENGINE_STOPPED, /* by engine_stop() */
};

/* Parts of the request beyond the attribute, and the refused one; texts belong to event_spec. */
struct engine_asked {
	const char *probe, *cgroup;
	const char *filter; /* set if the filter was refused; else NULL */
	const char *bpf; /* set if the BPF program was refused */
	bool inherited; /* inheritance by new tasks was refused, not the event itself */
	const char *ioctl; /* this ioctl on the open event was refused: "PERF_EVENT_IOC_ENABLE" */
	bool user_refused; /* user space alone was refused, too */
	bool in_group; /* requested as a member of another event's group */
	bool mixed_group; /* that group has members of several PMUs */
	bool counted; /* requested for counting only (counting.h) */
	struct event_clash clash; /* the engine's own reason, without an open */
};

/* A refusal, with the data for its message (tui/explain/explain.h). */
struct engine_failure {
	enum engine_failure_kind {
		FAIL_NONE,
		FAIL_OPEN, /* perf_event_open */
		FAIL_MMAP, /* the ring */
		FAIL_TARGET, /* the process or thread: ESRCH, a zombie (EINVAL), ... */
		FAIL_COMMAND, /* fork or exec of the command */
		FAIL_SYSTEM, /* epoll, eventfd, thread, memory */
	} what;
	int error; /* positive errno */
	struct perf_event_attr attr; /* the requested attribute */
	char event[EVENT_NAME_MAX];
	int32_t pid; /* -1: all */
	int cpu; /* -1: any */
	struct engine_asked asked;
};

enum engine_note_kind {
	NOTE_FALLBACK_CLOCK, /* the default event has no hardware here; cpu-clock instead. error */
	NOTE_USER_ONLY, /* the kernel was refused; user space only. error */
	NOTE_EVENT_ADDED,
	NOTE_EVENT_DROPPED,
	NOTE_EVENT_REFUSED, /* text = event; error, attr; pid and cpu, -1: all, any */
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
	NOTE_FD_LIMIT,
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
	int cpu; /* NOTE_EVENT_REFUSED only, like attr; asked also for NOTE_FILTER */
	struct perf_event_attr attr;
	struct engine_asked asked;
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
void engine_status(struct engine *engine, struct engine_status *out);

/* Copies up to max notes with a serial above `after`, oldest first; returns their number.  The last
 * 1,000 notes are kept. */
size_t engine_notes(struct engine *engine, uint64_t after, struct engine_note *out, size_t max);

/* Lists the followed processes, by pid: an array of *n for free().  Returns 0 or -ENOMEM. */
int engine_followed(struct engine *engine, int32_t **pids, size_t *n);

/* Commands for the sampling thread.  Return 0 if queued; -ENOMEM; -EINVAL if obviously invalid. */
int engine_attach(struct engine *engine, int32_t pid);
int engine_detach(struct engine *engine, int32_t pid);
int engine_event_add(struct engine *engine, const struct event_spec *spec);
/* Adds several events at once; members of one group are added together. */
int engine_events_add(struct engine *engine, const struct event_spec *specs, size_t n);
int engine_event_drop(struct engine *engine, uint8_t id); /* dropping a leader drops its group */
int engine_set_freq(struct engine *engine, uint8_t id,
	uint64_t hz); /* or the period, for events that have one */
int engine_set_period(struct engine *engine, uint8_t id, uint64_t period);
int engine_event_enable(
	struct engine *engine, uint8_t id, bool enable); /* switching a leader switches its group */
int engine_set_filter(struct engine *engine, uint8_t id, const char *filter); /* NULL or "": none */
int engine_move_breakpoint(
	struct engine *engine, uint8_t id, uint64_t address); /* MODIFY_ATTRIBUTES */
/* Reopens all events with chains, to collect them in another way: NOTE_CALL_GRAPH. */
int engine_set_call_graph(struct engine *engine, enum engine_call_graph mode);
/* Pauses all rings that carry samples (PAUSE_OUTPUT): the kernel keeps counting; samples are lost
 * and reported as lost. */
int engine_pause(struct engine *engine, bool pause);
/* Moves the flight recorder's samples into the store, each once; NOTE_SNAPSHOT reports the end.
 * -EINVAL without a flight recorder. */
int engine_snapshot(struct engine *engine);
int engine_stop(struct engine *engine); /* stop sampling, drain all rings, keep the store */

/* Sends the command a signal at once.  Returns 0; -ESRCH if it does not run; another -errno. */
int engine_signal_command(struct engine *engine, int signal);

/* Objects that samples refer to; read only ids reached through a snapshot. */
struct fields; /* fields.h */
struct values; /* values.h */
/* Returns the fields of an event's samples; NULL if none.  Immutable; lives as long as the
 * engine. */
const struct fields *engine_fields(struct engine *engine, uint8_t id);
const struct values *engine_values(const struct engine *engine);
struct store *engine_store(struct engine *engine);
const struct stacks *engine_stacks(const struct engine *engine);
const struct tasks *engine_tasks(const struct engine *engine);
struct images *engine_images(struct engine *engine);

#endif
