/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * engine.h - the sampling engine: opens events on targets, drains their rings, fills the store.
 *
 * One sampling thread per engine does all the work after engine_start().  Every other function here
 * may be called from any one other thread and never blocks on the sampling thread's work.  Commands
 * are carried out in order; status and notes report their results.
 *
 * A "point" is a task or a CPU that events are opened on.  Each point has a tracker: an
 * always-enabled dummy event.  The tracker owns the ring, carries side-band records, and is the
 * clock that coverage is measured against.  Each chosen event has one sampling event per point; its
 * output goes to the tracker's ring.  Clocks and events with a frequency run on credit:
 * PERF_EVENT_IOC_REFRESH.
 */
#ifndef SAMPLER_ENGINE_H
#define SAMPLER_ENGINE_H

#include "sampler/event_clash.h"
#include "sampler/images.h"
#include "sampler/stacks.h"
#include "sampler/store.h"
#include "sampler/tasks.h"
#include "sampler/trigger.h"
#include "sampler/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ENGINE_EVENTS_MAX 64 /* open at one time */
#define ENGINE_EVENTS_TOLD 255 /* in a status: recordings may have more than can be open */

#define ENGINE_STACK_BYTES 16384u /* of each stack; enough for most programs */

/* How call chains are taken: see callchain, stack_bytes and stack_adapts of the configuration. */
enum engine_call_graph {
	CALL_GRAPH_AUTO,
	CALL_GRAPH_FP,
	CALL_GRAPH_DWARF,
	CALL_GRAPH_NO,
	CALL_GRAPH_LBR, /* chosen at the start alone: sample_more with a call stack */
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

/* What to profile.  Arrays are copied. */
struct engine_target {
	bool system_wide; /* also meant where nothing is named and every event has a cgroup */
	const int32_t *pids; /* whole processes, with their children from now on */
	size_t n_pids;
	const int32_t *tids; /* single threads */
	size_t n_tids;
	const int *cpus; /* only samples on these CPUs; none: all */
	size_t n_cpus;
	/* Every event without one of its own is opened for each of these, on (the) CPUs; none: wherever tasks are.  At most
	 * ENGINE_EVENTS_MAX in all. */
	const struct event_cgroup *cgroups;
	size_t n_cgroups;
	char *const
		*command; /* argv, NULL-terminated, or NULL; not started before engine_start() */
	int command_output_fd; /* the command's stdout and stderr, stdin being /dev/null; -1: inherit all three */
	/* The command is not sampled: sampling of what else is named begins and ends with it. */
	bool stopwatch;
};

/* Whether the command is what is sampled. */
static inline bool engine_target_is_command(const struct engine_target *target)
{
	return target->command && !target->stopwatch;
}

/*
 * Who wants to see what goes into the store, as it goes (a recording).  All calls come from the sampling thread,
 * which waits for them, in the order of the store; what is filtered away is not seen.
 */
#define ENGINE_TAP_TRACKER SIZE_MAX

struct engine_tap {
	/* Once, before the first record: the events that opened, with their attributes as opened; the last is the
	 * tracker.  What was learned from /proc may come earlier. */
	void (*begin)(const struct event_spec *events, size_t n, void *ctx);
	/* event: its place in the list of begin(), or ENGINE_TAP_TRACKER for side-band records; ids in the record are the
	 * kernel's, but for the counters that a sample reads: those have their event's place + 1, and as values the sums of
	 * what was passed. */
	void (*record)(const struct perf_event_header *record, size_t event, void *ctx);
	/* Learned from /proc, good for all records from time_ns on. */
	void (*mapping)(int32_t pid, const struct record_mmap *mmap, uint64_t time_ns, void *ctx);
	void (*comm)(int32_t pid, int32_t tid, const char *comm, uint64_t time_ns, void *ctx);
	/* Everything older than the beginning of this round has been passed. */
	void (*round)(void *ctx);
	void *ctx;
};

struct engine_config {
	struct engine_target target;
	const struct event_spec *events; /* copied */
	size_t n_events;
	enum engine_scope scope;
	bool callchain;
	bool no_credit; /* enable clocks and events with a frequency without a limit, too */
	uint16_t max_stack; /* frames per sample; 0: the kernel's limit */
	/* Bytes of the user stack that are copied to unwind chains: a multiple of 8, at most
	 * UNWIND_STACK_MAX.  Threads with small rings copy less.  0: chains by frame pointers. */
	uint32_t stack_bytes;
	/* Clocks, events with a frequency and spans alone copy, as much as the chains need and
	 * costs allow. */
	bool stack_adapts;
	/* A tap gets the copies of stacks themselves, of one size, with all general registers. */
	bool keep_stacks;
	struct changes *changes; /* borrowed; NULL: no code takes another's place */
	struct unwind_source unwind; /* never waits; find NULL: none, and no chain is judged */
	bool no_kernel_chain, no_user_chain; /* leave that side's frames out of call chains */
	bool own_threads; /* what the targets fork is not followed, their new threads are */
	/* A target that executes another program is let go, by the kernel itself (remove_on_exec).  Not with a command, nor of
	 * whole CPUs: with the latter scopes -EINVAL. */
	bool until_exec;
	bool inherit_stat; /* of SCOPE_INHERIT: each task's counts go to the tap as it ends (READ) */
	size_t memory_bytes; /* the store's budget */
	unsigned int ring_pages; /* per point, a power of two; 0: chosen */
	uint32_t
		wakeup_events; /* wake after so many samples instead of at a watermark; 0: chosen */
	uint32_t wakeup_bytes; /* or after so many bytes; 0: chosen */
	uint64_t
		sample_more; /* PERF_SAMPLE_* that every event shall carry besides: ADDR, DATA_SRC, WEIGHT ... */
	/* With PERF_SAMPLE_BRANCH_STACK.  Call stacks (BRANCH_CALL_STACK) are the user parts of
	 * chains, where the processor has them. */
	uint64_t branch_sample_type;
	bool no_fields; /* samples' fields (fields.h) are not kept */
	/* The flight recorder: samples stay in rings that overwrite themselves (write_backward), long enough for so many
	 * seconds, and come into the store only by engine_snapshot(), when every target has ended, or by engine_stop().  Not
	 * with SCOPE_INHERIT, nor for groups that are read as one; without credit.  0: off. */
	double flight_s;
	struct trigger_spec flight_trigger; /* takes a snapshot by itself; percent 0: none */
	const struct engine_tap *tap; /* copied; NULL: nobody */
};

struct engine;

/* Checks the configuration only.  0, -EINVAL, -ENOMEM. */
int engine_new(struct engine **out, const struct engine_config *config);

/* Starts the sampling thread, which opens everything; engine_status() tells how that went. */
int engine_start(struct engine *engine);

/* Stops, joins and frees; kills no command.  NULL is a no-op.  Snapshots must be released before. */
void engine_free(struct engine *engine);

/* Readable (eventfd, the caller reads it) after a slice was sealed, a note was added or the state changed. */
int engine_notify_fd(const struct engine *engine);

enum engine_state {
	ENGINE_STARTING,
	ENGINE_RUNNING,
	ENGINE_FAILED, /* nothing could be opened: see failure */
	ENGINE_ENDED, /* every target is gone; the store stays */
	ENGINE_STOPPED, /* by engine_stop() */
};

/* What was asked for beside the attribute, and what of it was refused; texts are event_spec's. */
struct engine_asked {
	const char *probe, *cgroup;
	const char *filter; /* it was the filter that was refused; else NULL */
	const char *bpf; /* or the program */
	bool inherited; /* or inheritance by new tasks; not the event itself */
	const char *ioctl; /* or this ioctl on the open event: "PERF_EVENT_IOC_ENABLE" */
	bool user_refused; /* user space alone was refused, too */
	bool in_group; /* as a member of another event's group */
	bool mixed_group; /* which has members of several PMUs */
	bool counted; /* to be counted alone (counting.h), not sampled */
	struct event_clash clash; /* the engine's own reason, before the kernel was asked */
};

/* What was refused, for the sentence that explains it (tui/explain.h). */
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
	struct perf_event_attr attr; /* as asked for */
	char event[EVENT_NAME_MAX];
	int32_t pid; /* -1: all */
	int cpu; /* -1: any */
	struct engine_asked asked;
};

enum engine_note_kind {
	NOTE_FALLBACK_CLOCK, /* the default event has no hardware here; cpu-clock instead. error */
	NOTE_USER_ONLY, /* the kernel is refused; user space only. error */
	NOTE_EVENT_ADDED,
	NOTE_EVENT_DROPPED,
	NOTE_EVENT_REFUSED, /* text = event; error, attr; pid and cpu, -1: all, any */
	NOTE_FREQUENCY, /* value = Hz, or the period where the event has one */
	NOTE_ATTACHED,
	NOTE_DETACHED, /* pid; value = threads */
	NOTE_ATTACH_FAILED, /* pid, error */
	NOTE_TARGET_EXITED, /* pid */
	NOTE_TARGET_EXEC, /* pid; text = comm */
	NOTE_COMMAND_ENDED, /* pid; value = wait status */
	NOTE_ALL_ENDED,
	NOTE_TASKS_MISSED, /* value = ended before their events could be opened */
	NOTE_MAPS_UNREAD, /* value = processes with unreadable mappings; pid, error: the first */
	NOTE_SCOPE, /* value = new enum engine_scope */
	NOTE_RING_SHRUNK, /* value = pages */
	NOTE_FD_LIMIT,
	NOTE_MLOCK_LIMIT, /* value = the limit; error */
	NOTE_LOST, /* value = samples, text = event */
	NOTE_THROTTLED,
	NOTE_UNTHROTTLED, /* text = event */
	NOTE_CREDIT_SPENT, /* text = event: the consumer fell behind */
	NOTE_SHORT_LIVED, /* text = event: inherited; error EACCES: events on CPUs cannot be used */
	NOTE_BORN_LATE, /* new tasks ran before their events were opened; error as of the last */
	NOTE_CORRUPT_RING, /* value = how often */
	NOTE_CPU_OFFLINE,
	NOTE_CPU_ONLINE, /* value = cpu */
	NOTE_COARSENED, /* the memory budget is spent: old history gets coarser */
	NOTE_LESS_PRECISE, /* text = event; value = precise_ip in force */
	NOTE_UNGROUPED, /* text = the leader: a weak group was taken apart; error */
	NOTE_EVENT_ENABLED, /* text = event; value = 1, 0 */
	NOTE_FILTER, /* text = event; a new filter is in force; error where it was refused */
	NOTE_BREAKPOINT, /* text = event; value = its new address; error where it was refused */
	NOTE_BPF, /* text = event: value = BPF programs that were attached to it by others, and decide about samples */
	NOTE_PAUSED, /* value = 1, 0; error */
	NOTE_STACK_BYTES, /* text = event; value = bytes of stack that its samples copy from now on */
	NOTE_CALL_GRAPH, /* value = enum engine_call_graph: in force, or refused with error */
	NOTE_PINNED_ERROR, /* text = event: pinned, and the hardware has no room */
	NOTE_SAMPLES_LESS, /* text = event; value = bits of sample_type that its samples go without; error, 0: it has none */
	NOTE_COUNTS_ONLY, /* text = event: its PMU cannot sample, it is counted alone; error */
	NOTE_SNAPSHOT, /* of the flight recorder: value = samples; reach_ns */
	NOTE_FLIGHT_SHORT, /* its rings hold less than was asked for: value = ms; error EPERM: the limit on locked memory */
	NOTE_FLIGHT_TRIGGER, /* value = percent of a CPU that the target used */
	NOTE_CGROUP_GONE, /* text = its label: removed; what was sampled in it stays */
	NOTE_SPANS_DROPPED, /* text = event; value = times that a thread was off its CPU, of which records are missing */
	NOTE_WAKERS_UNKNOWN, /* text = event: sched:sched_waking is not open */
	/* text = event, error: no samples of wake-ups; value = 1: run delays replace them */
	NOTE_WAITS_SUMMED,
	NOTE_WAKEUPS_LOST, /* text = event; value = wake-ups */
	NOTE_SPANS_STACKLESS, /* text = event: without the kernel there is no stack of a switch */
	NOTE_FIELDS_DROPPED, /* the memory budget is spent: fields of old samples are given up */
	NOTE_SILENT, /* text = event: it can never happen; value = enum silent_reason */
	NOTE_NO_CREDIT, /* text = event, error of REFRESH: it samples without a limit */
	/* Of recordings (recording.h). */
	NOTE_FILE_TRUNCATED, /* value = offset of the cut; text = file of a directory, or "" */
	NOTE_FILE_MISSING, /* text = file of a directory; error; 0: it does not exist */
	NOTE_FILE_MORE_FAULTS, /* value = further files with one of these faults or a FILE_ERROR */
	NOTE_FILE_UNFINISHED, /* its table of features is missing: recording was not ended */
	NOTE_FILE_BAD_RECORDS, /* value = records whose fields do not fit, skipped */
	NOTE_FILE_UNKNOWN_RECORDS, /* value = records of types not known, skipped */
	NOTE_FILE_OUT_OF_ORDER, /* value = records that came too late to be put in order */
	NOTE_FILE_EVENTS_FOLDED, /* value = events beyond the limit, counted as one */
	NOTE_FILE_MAPS_CUT, /* value = processes with mappings perf did not finish reading */
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
	uint64_t reach_ns; /* of NOTE_SNAPSHOT: what is older was overwritten; 0: nothing was */
	int cpu; /* of NOTE_EVENT_REFUSED alone, as the next; asked of NOTE_FILTER too */
	struct perf_event_attr attr;
	struct engine_asked asked;
};

struct engine_event_status {
	uint8_t id; /* the event's number in store cells, never reused while anything refers to it */
	bool open; /* false: dropped or refused; its samples stay */
	int error; /* of the last refusal, positive errno */
	char name[EVENT_NAME_MAX]; /* "cpu-clock:u", of a cgroup "cpu-clock:u@web" */
	const char *cgroup; /* its label; NULL: none */
	bool is_clock;
	enum event_span span; /* it is time that threads wait, of many at a time */
	bool user_only; /* because the kernel was refused */
	uint64_t freq_hz,
		period; /* one is not 0; both are 0: it counts and takes no samples of its own */
	bool rate_varies; /* it had others before; in a recording, where one cannot say: both are 0 */
	uint64_t samples; /* delivered and stored */
	uint64_t exact; /* samples at the very instruction (PERF_RECORD_MISC_EXACT_IP) */
	struct unwind_ends chains; /* of samples whose chains could be judged */
	uint32_t stack_bytes; /* that its samples copy now; 0: their chains are by frame pointers */
	uint32_t stack_first; /* that they copied before the size adapted; 0: it did not */
	uint64_t lost; /* produced by the kernel and not delivered */
	bool lost_of_all; /* SCOPE_CPU: other processes' samples are in lost and held_back */
	uint64_t filtered; /* delivered, but of no followed task (SCOPE_CPU) or CPU */
	uint64_t throttled; /* times */
	uint64_t count; /* the counter's value, summed over points; inherited events of wake-ups and
			 * of times of the scheduler: the weight of samples and losses */
	/* Coverage is covered / coverable; coverable 0: not known.  Inherited clocks: weight of samples
	 * / time on the clock.  Other clocks and events with a frequency: time armed / time on the
	 * clock.  Others: sampled / counted by the kernel. */
	double covered, coverable;
	uint64_t held_back; /* fixed period: counted by the kernel, neither sampled nor lost */
	uint64_t stood_still; /* frequency: times that it ran out of credit and stopped */
	/* Of the counter, summed over points: it counted for running_ns of enabled_ns (multiplexing), so an estimate is
	 * count * enabled_ns / running_ns; running_ns 0 with enabled_ns above: it was never counted. */
	uint64_t enabled_ns, running_ns;
	bool enabled; /* false: switched off by engine_event_enable() */
	bool in_error; /* pinned, and could not be put on the hardware on some point: it counts no more there */
	uint16_t group; /* the same for all of a group, the engine's own numbers; 0: none */
	uint8_t precise; /* precise_ip in force */
	bool is_tracepoint, is_breakpoint;
	const char *filter; /* of a tracepoint, in force; or NULL */
	uint64_t address; /* of a breakpoint */
	const char *unit; /* see event_spec */
	double scale;
};

struct engine_status {
	enum engine_state state;
	struct engine_failure failure; /* of ENGINE_FAILED, else of the last refusal */
	enum engine_scope scope; /* in force */
	/* CLOCK_MONOTONIC; now is the last drain, after the end the one of the end */
	uint64_t started_ns, now_ns;
	struct engine_event_status events[ENGINE_EVENTS_TOLD];
	size_t n_events;
	uint32_t processes, threads; /* followed; 0 when system-wide */
	uint32_t cpus; /* sampled */
	uint64_t tasks_missed;
	uint32_t threads_left_out; /* for want of descriptors or locked memory: no events */
	uint64_t lost_side_band; /* records that were no samples */
	uint64_t unknown_records;
	/* Told of functions that the kernel made or freed (BPF above all), and of BPF programs. */
	uint64_t ksymbols, bpf_events;
	uint32_t ring_pages;
	uint64_t attaching_done, attaching_total; /* threads, while attaching */
	bool paused; /* by engine_pause() */
	/* Of the flight recorder: what its smallest ring holds, at most what was asked for; snapshots taken, and how many of
	 * them were the trigger's. */
	double flight_holds_s;
	uint32_t snapshots, triggered;
	bool pid_namespace; /* a recording of one: pid 0 is more than the idle tasks */
	bool command_ended;
	int command_status; /* of waitpid(2) */
	int32_t command_pid;
	struct store_status store;
	struct unwind_totals chains;
	enum engine_call_graph call_graph; /* in force */
	uint64_t last_note;
};
void engine_status(struct engine *engine, struct engine_status *out);

/* Notes with a serial above `after`, oldest first, at most max.  The last 1,000 are kept. */
size_t engine_notes(struct engine *engine, uint64_t after, struct engine_note *out, size_t max);

/* The followed processes, by pid; an array of *n for free(). */
int engine_followed(struct engine *engine, int32_t **pids, size_t *n);

/* Commands.  0 when queued, -ENOMEM; -EINVAL for what can be seen to be wrong. */
int engine_attach(struct engine *engine, int32_t pid);
int engine_detach(struct engine *engine, int32_t pid);
int engine_event_add(struct engine *engine, const struct event_spec *spec);
/* Several that came in one text; those of one group are added as one. */
int engine_events_add(struct engine *engine, const struct event_spec *specs, size_t n);
int engine_event_drop(struct engine *engine, uint8_t id); /* of a leader: its group */
int engine_set_freq(struct engine *engine, uint8_t id,
	uint64_t hz); /* or the period, for events that have one */
int engine_set_period(struct engine *engine, uint8_t id, uint64_t period);
int engine_event_enable(
	struct engine *engine, uint8_t id, bool enable); /* of a leader: its group */
int engine_set_filter(struct engine *engine, uint8_t id, const char *filter); /* NULL or "": none */
int engine_move_breakpoint(
	struct engine *engine, uint8_t id, uint64_t address); /* MODIFY_ATTRIBUTES */
/* Open all events with chains again, to take them in another way: NOTE_CALL_GRAPH. */
int engine_set_call_graph(struct engine *engine, enum engine_call_graph mode);
/* All rings stand still (PAUSE_OUTPUT): the kernel goes on counting, and samples are lost, and told as lost. */
int engine_pause(struct engine *engine, bool pause);
/* Take what the flight recorder holds into the store, each sample once; NOTE_SNAPSHOT tells when that is done.  -EINVAL
 * without one. */
int engine_snapshot(struct engine *engine);
int engine_stop(struct engine *engine); /* stop sampling, drain all, keep the store */

/* Send the command a signal, now.  0; -ESRCH when it does not run (any more), other -errno. */
int engine_signal_command(struct engine *engine, int signal);

/* What samples refer to; read only by ids reached through a snapshot. */
struct fields; /* fields.h */
struct values; /* values.h */
/* The fields of an event's samples; NULL: it has none.  Immutable, good as long as the engine. */
const struct fields *engine_fields(struct engine *engine, uint8_t id);
const struct values *engine_values(const struct engine *engine);
struct store *engine_store(struct engine *engine);
const struct stacks *engine_stacks(const struct engine *engine);
const struct tasks *engine_tasks(const struct engine *engine);
struct images *engine_images(struct engine *engine);

#endif
