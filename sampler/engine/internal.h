/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * internal.h - shared by the engine's own files, which alone include it.
 *
 * engine.c        life and public calls        open.c     points, rings, events
 * loop.c   sampling thread, commands    choice.c   the chosen events
 * round.c  drain round: records, credit tick.c     counters, status, notes
 * attach.c attaching                    target.c   following
 * scope.c  tasks, CPUs or inheritance   tap.c      passes records to the tap
 * attr.c   how an event is opened       weaken.c   fallbacks, refusals
 * group.c  groups of events             change.c   changes to running events
 * rate.c   rates, weights of samples    fields.c   fields of samples
 * flight.c the flight recorder          snapshot.c its samples, into the store
 * span.c   off-CPU time                 wake.c     wake-ups, which split it
 * stack.c  size of stack copies         pending.c  samples waiting for unwind tables
 *
 * The sampling thread owns everything except the members below `lock`.
 */
#ifndef SAMPLER_ENGINE_INTERNAL_H
#define SAMPLER_ENGINE_INTERNAL_H

#include "sampler/base/idmap.h"
#include "sampler/engine/coverage.h"
#include "sampler/engine/engine.h"
#include "sampler/engine/follow.h"
#include "sampler/engine/mailbox.h"
#include "sampler/engine/notes.h"
#include "sampler/engine/rundelay.h"
#include "sampler/events/inherited.h"
#include "sampler/kernel/backward.h"
#include "sampler/kernel/credit.h"
#include "sampler/kernel/launch.h"
#include "sampler/kernel/merge.h"
#include "sampler/kernel/ring.h"
#include "sampler/kernel/sys.h"
#include "sampler/machine/proc.h"
#include "sampler/store/ingest.h"
#include "sampler/store/offcpu.h"

#include <pthread.h>
#include <stdatomic.h>

#define PAGE_BYTES 4096u
#define NS_PER_MS 1000000ull
#define NS_PER_S 1000000000ull
#define SWEEP_NS (100 * NS_PER_MS)
#define FLIGHT_SWEEP_NS NS_PER_S /* no data waits to be read */
#define EARLY_SWEEP_NS (20 * NS_PER_MS) /* the screen waits for its first samples */
#define EARLY_SWEEPS 10

#define CHOICE_LESS_MAX 6u /* most fallbacks that remove data from samples */
#define CHOICE_RATES_MAX 32u /* remembered changes of a choice's rate */

/* A choice's period before its rate changed. */
struct choice_rate {
	uint64_t until_ns;
	uint64_t period; /* 0: the samples carry it */
};

/* The size of stack copies, and the figures by which stack.c adapts it. */
struct stack_copies {
	uint32_t bytes;
	uint64_t begun_ns; /* start of the current measurement */
	uint64_t seen, told; /* samples, now and at the start of the measurement */
	uint64_t lost; /* at the start of the measurement */
	uint32_t most; /* longer copies cost samples; 0: unknown */
	struct unwind_ends ends; /* chain ends at the start of the measurement */
};

/* An event chosen by the user; status.events[] has its public half at the same index. */
struct choice {
	struct event_spec spec; /* the request, with the rate now in force */
	struct perf_event_attr attr; /* after fallbacks, without the engine's half */
	struct record_format format; /* format of its samples, once settled */
	unsigned int leader; /* index of its group's leader; its own if it leads or has no group */
	bool read_group; /* samples for its group; the other members only count */
	bool counts_only; /* takes no samples */
	bool tells_id; /* its samples carry its own id: see round_may_share_id() */
	uint64_t without; /* bits of sample_more that it cannot have */
	struct {
		uint64_t bits; /* bits left out */
		int error; /* reason, positive errno; 0: they would always be 0 */
	} less[CHOICE_LESS_MAX];
	unsigned int n_less;
	bool proven; /* leader: the whole group has opened on some point */
	bool enabled; /* by the user */
	bool open;
	bool stopping; /* disabled; its rings and clock are not yet accounted for */
	bool settled; /* has opened on some point: no more fallbacks */
	bool filter_refused; /* the last refusal was due to its filter */
	bool bpf_refused; /* the last refusal was due to its BPF program */
	bool inherit_refused; /* the last refusal was due to inheritance by new tasks */
	const char *ioctl_refused; /* this ioctl on the open event was refused; NULL if none */
	bool started; /* at least one of its events was enabled */
	bool no_credit; /* the kernel refuses REFRESH */
	bool bpf_asked; /* programs of other processes were queried */
	int bpf_fd; /* tracepoint: duplicate fd of the event with the BPF program; 0: none */
	uint64_t tap_sum; /* sum of the counts that samples read from it */
	uint32_t record_bytes; /* see credit_record_bytes() */
	struct stack_copies stack;
	struct choice_rate rates[CHOICE_RATES_MAX]; /* oldest first; see rate_weigh() */
	unsigned int n_rates;
	uint64_t noted_lost;
	struct coverage coverage;
	uint64_t spent, noted_spent;
	bool short_lived_noted;
	uint64_t noted_throttled;
	bool throttle_noted;
	bool throttled_now;
	unsigned int errors; /* number of its events with in_error */
	bool error_noted;
};

/* One event of a choice on a point. */
struct point_event {
	struct point_event *next; /* next event of this point */
	struct point *point;
	unsigned int choice;
	struct point_event *leader; /* leader of its group; NULL if none, or if it leads */
	int fd;
	uint64_t id;
	uint64_t read_value; /* value at the last sample that read it */
	bool in_error, stood;
	bool on_credit, had_credit;
	uint32_t consumed; /* overflows in this round */
	bool owns_ring;
	bool dropped; /* stays open because it owns a shared ring; it never runs again */
	struct credit credit;
	struct coverage_point coverage;
	struct sys_counts last; /* values of the last read */
	/* ns; the tracker's times at that read, or at the start of this event */
	uint64_t clock_ns, tracker_ran_ns;
	uint64_t rate_ns; /* time of the last rate change */
};

/* A ring, the descriptor that owns it, and its epoll state. */
struct channel {
	struct ring *ring;
	int fd;
	bool owns_fd;
	struct point *point; /* NULL: shared by points */
	size_t index;
	uint32_t n_events; /* number of events on credit that share it */
	uint64_t corrupt, lost;
	bool in_epoll, hup, active;
	bool side; /* carries no samples of points; each side-band record wakes the engine */
	bool wakes; /* carries only wake-ups */
	int cpu; /* CPU of a channel without a point, else -1 */
	bool old; /* belongs to the previous scope: its side-band ends at switch_ns */
	uint64_t seen_ns; /* side-band ring of a CPU: its clock at the last tick */
};

struct point {
	int32_t pid, tid; /* -1: all */
	int cpu; /* -1: any */
	int tracker_fd; /* -1: none */
	uint64_t tracker_lost;
	uint64_t seen_ns; /* point of a CPU: the tracker's clock at the last tick */
	struct channel *channel; /* owned, except for inherited events */
	struct channel *side; /* owned side-band ring, or NULL */
	struct flight_ring *flight; /* receives the samples instead; NULL without flight recorder */
	struct point_event *events;
	size_t index;
	bool active; /* consumed a record since the last tick */
	bool doomed; /* close at the end of the round */
	bool has_lost;
	bool on_exec; /* the exec of the task arms it */
};

/* The ring that a point's samples overwrite.  A dummy that is never enabled owns it. */
struct flight_ring {
	struct backward *ring;
	int fd;
	uint64_t taken; /* position of the last snapshot */
};

/* State of an event that may have written to a ring, at the time of the copy. */
struct flight_event {
	uint64_t id;
	unsigned int choice;
	uint8_t event; /* event number in the store */
	uint64_t sample_type;
	bool may_share; /* see round_may_share_id() */
};

/* Copy of a ring's content. */
struct flight_kept {
	struct flight_kept *next;
	struct backward_copy copy;
	uint64_t time_ns;
	bool of_task; /* all samples are of a followed task */
	size_t n_events;
	struct flight_event events[];
};

/* A side-band record held until all samples before it are taken in or overwritten. */
struct flight_held {
	struct flight_held *next;
	uint64_t time_ns;
	bool tap;
	uint64_t record[]; /* the whole record */
};

struct flight {
	bool on;
	uint64_t ns; /* flight_s in ns */
	struct flight_held *held, **held_end; /* oldest first */
	struct flight_kept *kept; /* copies of rings of closed points, newest first */
	size_t held_bytes, kept_bytes;
	uint64_t ring_pages; /* pages of all flight rings */
	double holds_s, noted_holds_s;
	struct trigger trigger;
	uint64_t machine_ticks, looked_ns; /* at the trigger's last look */
};

/* A process that is being attached. */
struct job {
	struct job *next;
	int32_t pid, tid; /* tid: attach that thread alone; else -1 */
	bool named; /* named by the user: its result is noted */
	uint32_t scans;
	uint32_t opened;
	int error; /* error of the last refusal */
};

/* A process that the user detached. */
struct detached {
	int32_t pid;
	uint64_t start_ticks;
};

/* Threads to open, oldest first. */
struct tid_queue {
	int32_t *tids;
	size_t head, n, capacity;
};

/* How the engine learns that blocked threads become runnable; wake.c. */
struct wakes {
	enum wakes_state {
		WAKES_OFF, /* not needed */
		WAKES_SEEN, /* each wake-up is a sample of sched:sched_wakeup */
		WAKES_SUMMED, /* run delays of threads, since samples are refused */
	} state;
	int error; /* WAKES_SUMMED: the reason, positive errno */
	struct perf_event_attr attr;
	struct record_format format;
	struct fields *fields;
	struct rundelay delays;
	uint64_t lost, noted_lost;
	bool noted;
};

/* Samples waiting for unwind tables, in their order: see pending.c. */
struct pending {
	uint8_t *bytes;
	size_t len, size;
};

struct engine {
	/* Fixed before the thread starts. */
	struct engine_config config; /* its arrays are copies */
	struct proc_limits limits;
	struct ingest ingest;
	bool has_thread, has_store;
	pthread_t thread;
	int notify_fd;
	struct mailbox mailbox;
	struct notes notes;
	struct launch launch;
	atomic_bool quit;
	/* a request outside the mailbox, since posting mail may fail (it allocates) */
	atomic_bool stop;

	/* Owned by the sampling thread. */
	struct sys_features features;
	struct record_format format; /* format of trackers and of every record's trailer */
	int epoll_fd, timer_fd;
	struct engine_status status;
	struct choice choices[ENGINE_EVENTS_MAX];
	struct inherited inherited;
	struct pending pending;
	uint32_t dwarf_bytes; /* bytes of stack, in modes that copy stacks */
	unsigned int next_event_id;
	struct fields *fields[STORE_EVENTS_MAX]; /* by event id; atomic: any thread reads */
	struct fields **retired; /* replaced fields that other threads may still read */
	size_t n_retired;
	uint16_t last_group;
	bool paused;
	struct flight flight;
	struct idmap task_reads; /* tid -> struct task_reads of inherited events; group.c */
	struct idmap ids; /* perf's id -> point_event */
	struct point_event *last_event;
	struct point **points;
	size_t n_points, points_capacity;
	struct channel **channels;
	size_t n_channels, channels_capacity;
	struct merge_source *sources; /* room for channels_capacity */
	struct point_event **touched; /* events that consumed overflows in this round */
	size_t n_touched, touched_capacity;
	bool have_doomed;
	bool tell_ids; /* set if any choice has tells_id */

	struct offcpu offcpu;
	uint64_t span_next_ns; /* start of the next slice; UINT64_MAX: switches are not recorded */
	uint64_t noted_spans;
	bool wakers_noted;
	struct wakes wakes;
	uint32_t span_last_tid; /* tid and time of the last switch sample */
	uint64_t span_last_ns;
	size_t span_tasks; /* number of tasks followed at the last query */
	bool span_ask_again; /* records were lost since the last query */
	uint64_t span_ask_ns; /* earliest time of the next query */

	struct follow follow;
	struct {
		uint64_t inode;
		bool gone;
	} * cgroups; /* one per cgroup of the target */
	bool filter; /* drop samples of tasks that are not followed; false: whole machine */
	bool trackers; /* enough fds for trackers */
	bool data_maps; /* mappings of data are followed */
	bool cpu_wide; /* events on whole CPUs are permitted */
	bool side_by_cpu; /* side-band rings per CPU are open */
	bool fork_rings; /* each thread has a second ring, while mlock and fds last */
	struct job *jobs;
	struct tid_queue attach, born;
	/* pid -> struct detached: children that must not be attached again */
	struct idmap detached;
	uint64_t left_out_fds; /* value of fds when a thread was last left out */
	uint64_t switch_ns; /* time of the last scope change; see channel->old */
	bool rescan; /* side-band records were lost */
	bool rescan_again; /* records were lost during a rescan */
	size_t check_position; /* position in follow.processes for the next tick */
	bool had_targets;
	bool stopped;

	int *cpus; /* online CPUs to sample */
	size_t n_cpus;
	uint8_t *cpu_wanted; /* by CPU number; NULL: all */
	size_t cpu_wanted_len;

	uint64_t fd_limit, fds; /* fds: open descriptors of perf events */
	uint64_t locked_pages;
	unsigned int order; /* order of the next task's ring */
	bool order_refused; /* the kernel accepted only a smaller ring since the last plan */
	unsigned int ring_order_noted;
	bool fd_limit_noted, mlock_noted, coarsened_noted, fields_noted, late_noted;

	struct engine_tap tap;
	bool has_tap, tap_begun;
	uint64_t tap_ns; /* data learned now is valid for records from here on */
	uint8_t tap_index[ENGINE_EVENTS_MAX]; /* by choice: index in begin()'s list */
	uint8_t tap_wakes; /* the tap's index for wake-ups */

	uint64_t round_ns; /* start time of this round */
	uint64_t next_sweep_ns, next_tick_ns;
	unsigned int sweeps;
	uint64_t window_forks, window_missed; /* since the last tick */
	uint64_t n_born; /* threads born while followed */
	uint64_t noted_missed, noted_dropped, noted_corrupt, noted_unread;
	size_t read_cursor;
	bool news; /* write the eventfd at the end of the round */
	bool followed_changed;

	/* Shared with other threads. */
	pthread_mutex_t lock;
	struct engine_status shared; /* guarded */
	int32_t *followed; /* guarded */
	size_t n_followed; /* guarded */
	bool command_runs; /* guarded: launch.pid has not been reaped */
	bool command_execed; /* the command's exec record arrived */
	uint64_t command_execed_ns; /* the command had executed its program by then */
};

/* loop.c */
void *engine_main(void *engine);
void engine_fail(struct engine *engine, enum engine_failure_kind what, int error,
	const struct perf_event_attr *attr, const char *event, int32_t pid, int cpu);

/* tick.c */
void engine_note(struct engine *engine, enum engine_note_kind kind, int error, int32_t pid,
	uint64_t value, const char *text);
void engine_add_note(struct engine *engine, struct engine_note *note);
void engine_publish(struct engine *engine);
void engine_read_point(struct engine *engine, struct point *point);
void engine_tick(struct engine *engine, bool all);

/* choice.c */

/* Adds events to the list, whole groups at once; they open with the next points.  Calls fn, unless
 * NULL, for each event that leads or has no group.  Events without room in the list are noted as
 * refused. */
typedef void choice_added(struct engine *engine, unsigned int choice);
void choice_add_all(
	struct engine *engine, const struct event_spec *specs, size_t n, choice_added *fn);
/* Stops an event, and a leader's group, before choice_drop(), which follows after the next
 * round. */
void choice_disarm(struct engine *engine, unsigned int choice);
void choice_drop(struct engine *engine, unsigned int choice);
int choice_find(const struct engine *engine, uint8_t id);
unsigned int choice_count_open(const struct engine *engine);
void choice_show_rate(struct engine *engine, unsigned int choice);
/* Returns whether the event and its leader should run from now on; only then it gets credit. */
bool choice_runs(const struct engine *engine, unsigned int choice);
/* Returns whether the event should have run up to now; includes an event that is stopping. */
bool choice_ran(const struct engine *engine, unsigned int choice);
/* Returns whether its samples read the counters of a group, including its own.  Each sample weighs
 * the difference to the previous one. */
bool choice_reads(const struct engine *engine, unsigned int choice);
/* Returns whether each counted period is a sample or a loss: a fixed period and no clock.  Coverage
 * is then a share of its count. */
bool choice_is_counted(const struct engine *engine, unsigned int choice);

/* attr.c */

/* Fills in the attribute for opening a choice; the caller sets the other fields of setup. */
void choice_attr(const struct engine *engine, unsigned int choice, const struct sys_setup *setup,
	struct perf_event_attr *attr);
void choice_set_format(struct engine *engine, unsigned int choice);
/* Decides, before the first open, whether its samples must carry its id. */
void choice_find_id(struct engine *engine, unsigned int choice);
/* Returns whether it should open on the point: events of a PMU or cgroup open only on (some)
 * CPUs. */
bool choice_fits(const struct engine *engine, unsigned int choice, const struct point *point);
/* Returns 0, or the errno of an event that is impossible for this target. */
int choice_check_target(const struct engine *engine, const struct event_spec *spec);
/* Closes the descriptor that keeps its BPF program attached. */
void choice_close_program(struct choice *choice);
/* Opens the event on the point, with its filter and BPF program.  Returns a descriptor or
 * -errno. */
int choice_open_event(struct engine *engine, unsigned int choice, struct perf_event_attr *attr,
	const struct point *point, int group_fd);

/* fields.c */

/* Creates the fields of its future samples. */
void choice_make_fields(struct engine *engine, unsigned int choice);
/* Recreates them without those that the event turned out not to have. */
void choice_remake_fields(struct engine *engine, unsigned int choice);
uint64_t choice_fields_type(const struct engine *engine, unsigned int choice);
/* Continues without the fields of a tracepoint; false if it has none. */
bool choice_leave_fields(struct engine *engine, unsigned int choice);
void engine_free_fields(struct engine *engine);

/* weaken.c */

/* Leaves out bits of sample_more that the kernel accepts for any event but fills with zeros. */
void choice_leave_out(struct engine *engine, unsigned int choice);

/* Chooses the next fallback after a refusal; false: none is left, and the error stands. */
bool choice_weaken(struct engine *engine, unsigned int choice, int error);
/* Called when it opened: notes the fallbacks taken. */
void choice_settle(struct engine *engine, unsigned int choice);
/* point: NULL if the target as a whole is the cause. */
void choice_refuse(
	struct engine *engine, unsigned int choice, int error, const struct point *point);

static inline struct engine_event_status *status_of(struct engine *engine, unsigned int choice)
{
	return &engine->status.events[choice];
}

/* Copies an event's name, cut if it is too long. */
void choice_copy_name(char to[EVENT_NAME_MAX], const char *from);
/* Shows the name as requested, with its cgroup. */
void choice_show_name(struct engine *engine, unsigned int choice, const char *name);
/* Notes a refusal by the kernel, or by the engine if point is NULL.  asked: NULL if no part of the
 * request beyond the attribute was refused. */
void choice_note_refused(struct engine *engine, const struct event_spec *spec, int error,
	const struct point *point, const struct engine_asked *asked);

/* group.c */

bool group_leads(const struct engine *engine, unsigned int choice);
/* Opens a choice, with its group if it leads, on a point.  Returns 0 or -errno; refusals are
 * noted. */
int group_open(struct engine *engine, struct point *point, unsigned int leader, bool live);
/* Takes in a sample that read its group: each member's count since the previous one.  Returns 0 or
 * -ENOMEM. */
int group_take_sample(
	struct engine *engine, struct point_event *event, struct record *record, bool wanted);
void group_forget_task(struct engine *engine, int32_t tid);
void group_fini(struct engine *engine);

/* rate.c */
void change_rate(struct engine *engine, unsigned int choice, uint64_t rate);
void change_period(struct engine *engine, unsigned int choice, uint64_t period);
/* Limits the attribute's rate to the fastest one of a clock. */
void rate_limit(struct perf_event_attr *attr);
/* Gives a sample the weight of its event's rate at that time.  event: NULL if unknown. */
void rate_weigh(const struct engine *engine, unsigned int choice, const struct point_event *event,
	struct record *record);

/* change.c */
/* Takes in all samples and counts up to now, before a change of events. */
void change_settle(struct engine *engine);
/* change_close() closes a choice on every point, after its samples were taken in; change_open()
 * reopens it.  Returns 0, or -errno if it opens on no point. */
void change_close(struct engine *engine, unsigned int choice);
int change_open(struct engine *engine, unsigned int choice);
/* Restores the previous settings after a refusal. */
void change_restore(struct engine *engine, unsigned int choice, const struct choice *before);
/* Notes a change that the kernel refused (error) or that clashes (clash). */
void change_refuse(struct engine *engine, unsigned int choice, const struct perf_event_attr *attr,
	int error, enum event_clash_kind clash);
/* Reopens the event on every point with its choice's current settings.  Returns 0, or -errno if it
 * opened on no point. */
int change_reopen(struct engine *engine, unsigned int choice);
/* Like change_reopen(), for an event without a group and with an unchanged format.  It misses only
 * the hits between two system calls on each point.  On a point where it does not open, the old
 * event stays. */
int change_swap(struct engine *engine, unsigned int choice);
/* Returns whether the event owns the ring of a point, which has no tracker; it cannot be closed
 * then. */
bool change_owns_ring(const struct engine *engine, unsigned int choice);
void change_enabled(struct engine *engine, unsigned int choice, bool enable);
void change_filter(struct engine *engine, unsigned int choice, const char *filter);
void change_call_graph(struct engine *engine, enum engine_call_graph mode);
enum engine_call_graph change_find_call_graph(const struct engine_config *config);
void change_breakpoint(struct engine *engine, unsigned int choice, uint64_t address);
void change_paused(struct engine *engine, bool pause);

/* open.c */

/* Opens every chosen event on a task (cpu -1), a CPU (tid -1) or a task on a CPU (inherited).
 * shared: the channel of that CPU, or NULL.  Returns 0 or -errno; -ESRCH: the task is gone. */
int point_open(struct engine *engine, int32_t pid, int32_t tid, int cpu, bool on_exec,
	struct channel *shared, struct point **out);
/* Reads the counters a last time and closes the point.  Does not drain: see
 * round_drain_channel(). */
void point_close(struct engine *engine, struct point *point);
int point_add_event(struct engine *engine, struct point *point, unsigned int choice);
struct point_event *point_find_event(const struct point *point, unsigned int choice);
/* Starts an event that was added to a running point. */
int point_start_event(struct engine *engine, struct point_event *event);
/* Enables it, with more credit if it runs on credit.  Returns 0, or -errno after a note. */
int point_let_run(struct engine *engine, struct point_event *event, uint32_t credit);
/* Returns whether an event may run from now on. */
bool point_event_runs(const struct engine *engine, const struct point_event *event);
/* Returns whether the kernel may enable an event.  A member of a disabled leader does not count,
 * but stays enabled, so that it continues with the leader. */
bool point_event_is_on(const struct engine *engine, const struct point_event *event);
/* Enables an event again after it was disabled. */
void point_go_on(struct engine *engine, struct point_event *event);
/* Returns the engine's half of an event's attribute. */
struct sys_setup point_setup(const struct engine *engine, const struct point *point, bool carries);
void point_drop_event(struct engine *engine, struct point *point, unsigned int choice);
/* Opens a replacement for a choice's event, disables the old event and starts the new one.  Returns
 * 0 or -errno; if the replacement does not open, the old event continues. */
int point_swap_event(struct engine *engine, struct point *point, unsigned int choice);
/* Drops the disabled events that were replaced. */
void point_drop_swapped(struct engine *engine, struct point *point, unsigned int choice);
/* Stops the sampling events and the tracker, the reference clock; point_rearm() restarts both. */
void point_disarm(struct point *point);
void point_rearm(struct engine *engine, struct point *point);
/* Called after the exec of a point's task, which enabled all open events: disables those that are
 * switched off. */
void point_executed(struct engine *engine, struct point *point);
void point_retarget(struct engine *engine, struct point *point);

/* Maps a ring on fd; take_fd: the channel owns fd. */
int channel_open(struct engine *engine, struct channel **out, int fd, bool take_fd,
	unsigned int order, struct point *point, bool side);
void channel_close(struct engine *engine, struct channel *channel);
/* Opens an event within the budget of descriptors; -EMFILE leaves some for the rest of the
 * program. */
int engine_open_event(
	struct engine *engine, const struct perf_event_attr *attr, int32_t tid, int cpu);
int engine_open_at(
	struct engine *engine, const struct perf_event_attr *attr, const struct sys_place *place);
void engine_close_event(struct engine *engine, int *fd);
bool engine_fds_left(const struct engine *engine, size_t n);
/* Returns the most bytes of a stack copy that the rings permit. */
uint32_t engine_stack_most(const struct engine *engine);
void point_fit_stack(
	const struct engine *engine, const struct point *point, struct perf_event_attr *attr);

/* Returns how many bytes of the user stack a sample copies; 0 if none. */
uint32_t engine_stack_bytes(const struct engine *engine);
/* Sets the size of stack copies and the estimated size of records, before the first sample. */
void choice_begin_stack(const struct engine *engine, struct choice *choice);

/* Returns how many pages this user may still lock for rings, control pages included. */
uint64_t engine_lockable_pages(const struct engine *engine);
/* Returns the wakeup watermark in bytes of a ring of the current order. */
uint32_t engine_watermark(const struct engine *engine);
unsigned int order_for_cpus(const struct engine *engine, size_t n);
unsigned int order_for_tasks(const struct engine *engine, size_t n);

/* round.c */
void engine_round(struct engine *engine, bool all, bool final);
void round_drain_channel(struct engine *engine, struct channel *channel);
void round_close_doomed(struct engine *engine);
/* round_take_sample() takes in one sample of a choice.  event: NULL if it reads no group.  of_task:
 * skip the check whether its task is followed.  round_take_in() takes in a side-band record when it
 * is due. */
void round_take_sample(struct engine *engine, unsigned int choice, struct point_event *event,
	const struct perf_event_header *header, bool of_task);
int round_take_in(struct engine *engine, const struct perf_event_header *header,
	const struct record *record, bool tap);
/* Returns whether its samples may carry the id of another software event. */
bool round_may_share_id(const struct engine *engine, unsigned int choice);
/* Returns the index of the word with the event's own id in its samples (tells_id).  The value and
 * two times precede it. */
size_t round_own_id_at(const struct record_format *format);
bool round_cpu_wanted(const struct engine *engine, uint32_t cpu);

/* flight.c; without a flight recorder these do nothing, but flight_open_ring() and
 * flight_hold() must not be called. */
bool flight_is_valid(const struct engine_config *config);
void flight_init(struct engine *engine);
void flight_fini(struct engine *engine);
/* Loads the machine's processes before the first record, since they may be gone later. */
void flight_begin(struct engine *engine);
int flight_open_ring(struct engine *engine, struct point *point);
void flight_close_ring(struct engine *engine, struct point *point);
/* Called before a point's events are closed: keeps its samples as long as its ring would have. */
void flight_keep(struct engine *engine, struct point *point);
/* Copies the ring of a point that continues; NULL if memory runs out or there are no new
 * samples. */
struct flight_kept *flight_copy(struct engine *engine, struct point *point);
void flight_forget_kept(struct engine *engine);
/* Holds a side-band record until the samples before it are taken in.  Returns 0 or -ENOMEM. */
int flight_hold(struct engine *engine, const struct perf_event_header *header,
	const struct record *record, bool tap);
/* Takes in held records up to time_ns. */
void flight_let_in(struct engine *engine, uint64_t time_ns);
void flight_pause(struct engine *engine, bool pause);
/* Called at each sweep: drops data that is too old. */
void flight_sweep(struct engine *engine);
/* Returns the start of the recorder's window; older data is dropped. */
uint64_t flight_begin_ns(const struct engine *engine, uint64_t now_ns);
/* Called each second: checks the trigger. */
void flight_tick(struct engine *engine);

/* span.c */
void span_init(struct engine *engine);
void span_fini(struct engine *engine);
/* span_sample() takes a switch-out's sample; span_switch() takes the record that follows it, or
 * that of a switch-in. */
void span_sample(struct engine *engine, unsigned int choice, const struct perf_event_header *header,
	struct record *record);
void span_switch(struct engine *engine, unsigned int choice, const struct perf_event_header *header,
	const struct record *record);
/* span_is_waking() returns whether it is sched:sched_waking or a related event; span_waking() takes
 * its sample. */
bool span_is_waking(const struct engine *engine, unsigned int choice);
void span_waking(struct engine *engine, unsigned int choice, const struct record *record);
/* Processes the sample taken in last; a clock's sample adds on-CPU time to `wall`. */
void span_on_cpu(struct engine *engine, unsigned int choice, const struct record *record);
/* Processes another event's sample, just taken in. */
void span_seen(struct engine *engine, const struct record *record);
/* Records of that ring were lost. */
void span_lost(struct engine *engine, const struct channel *channel);
void span_end_task(struct engine *engine, int32_t tid, uint64_t time_ns);
/* The tid belongs to another task from now on. */
void span_forget_task(struct engine *engine, int32_t tid);
/* Records of switches will be missing from now on.  span_changed(): only if no such event runs any
 * more. */
void span_stop(struct engine *engine);
void span_changed(struct engine *engine);
/* Called when all records up to time_ns are taken in.  Adds the time of off-CPU threads at each
 * slice's end, so that no slice is sealed without it. */
void span_pass_slices(struct engine *engine, uint64_t time_ns);
static inline void span_pass(struct engine *engine, uint64_t time_ns)
{
	/* Rings of ended threads are read further than the others; at the end, all are. */
	if (time_ns > engine->round_ns && !engine->stopped)
		time_ns = engine->round_ns;
	if (time_ns >= engine->span_next_ns)
		span_pass_slices(engine, time_ns);
}
/* Returns whether switches are recorded.  Waiting time is then added at slice ends: no slice may be
 * sealed earlier, and time advances for all rings at once. */
static inline bool span_is_on(const struct engine *engine)
{
	return engine->span_next_ns != UINT64_MAX;
}
/* Called at the end of sampling: adds the time of all off-CPU threads up to time_ns. */
void span_finish(struct engine *engine, uint64_t time_ns);
void span_tick(struct engine *engine);
/* Called when a new thread has its events. */
void span_born(struct engine *engine, struct follow_task *task);
/* Called at each sweep: checks for threads that were asleep before their events were opened. */
void span_sweep(struct engine *engine);

/* wake.c */
void wake_init(struct engine *engine);
void wake_fini(struct engine *engine);
/* Opens the rings that the running events need and closes the others. */
void wake_settle(struct engine *engine);
int wake_open_ring(struct engine *engine, int cpu); /* 0 or -errno */
void wake_sample(struct engine *engine, const struct perf_event_header *header);
/* Returns the part of a blocked span's end that was a wait for a CPU, if no sample reports it. */
uint64_t wake_take_delay(struct engine *engine, int32_t tid, const struct offcpu_span *span);
/* Adds notes; event is the name of an affected event. */
void wake_tick(struct engine *engine, const char *event);

/* snapshot.c */
void flight_snapshot(struct engine *engine);

/* tap.c; without a tap these do nothing. */
void tap_init(struct engine *engine, const struct engine_tap *tap);
void tap_time(struct engine *engine, uint64_t time_ns);
/* unwound: the sample's chain as ingested; NULL for other records. */
void tap_sample(struct engine *engine, const struct perf_event_header *header, unsigned int choice,
	const struct record_sample *unwound);
/* For a sample that read counters: passes their sums (tap_sum). */
void tap_reads(struct engine *engine, const struct perf_event_header *header,
	const struct record_sample *sample, unsigned int choice);
void tap_wake(struct engine *engine, const struct perf_event_header *header);
void tap_side_band(struct engine *engine, const struct perf_event_header *header);
void tap_round(struct engine *engine);

/* attach.c */
void attach_enqueue(struct engine *engine, struct tid_queue *queue, struct follow_task *task);
struct job *attach_find_job(struct engine *engine, int32_t pid);
void attach_drop_job(struct engine *engine, struct job *job);
/* Plans n more threads: a feature without room for all is given up for all. */
void attach_plan(struct engine *engine, size_t n);
/* Called after EMFILE: saves descriptors and returns true if the thread should be tried again. */
bool attach_economize(struct engine *engine);
/* Notes once that descriptors ran out. */
void attach_note_fd_limit(struct engine *engine, int error);
/* Tries threads that were left out again, if descriptors were closed since. */
void attach_left_out(struct engine *engine);
/* Accounts ran_ns that a new task ran before its events were opened. */
void attach_add_late(struct engine *engine, uint64_t ran_ns);
uint64_t attach_lifetime_ns(const struct follow_task *task, uint64_t now_ns);
/* Ends a thread, and its process if it was the last one. */
void attach_end_task(struct engine *engine, struct follow_task *task, uint64_t time_ns);

/* target.c; attaching is in attach.c */
int target_open_initial(struct engine *engine);
void target_attach(struct engine *engine, int32_t pid, int32_t tid);
void target_detach(struct engine *engine, int32_t pid);
/* Continues opening for a short while; returns whether more is waiting. */
bool target_work(struct engine *engine);
int target_fork(struct engine *engine, const struct record_task *fork);
void target_exit(struct engine *engine, int32_t tid, uint64_t time_ns);
/* A followed process executed a program and has one thread left. */
int target_exec(struct engine *engine, int32_t pid);
void target_hup(struct engine *engine, struct point *point);
void target_tick(struct engine *engine);
/* When all named targets are attached, starts the command that ends their sampling.  Returns 0 or
 * -errno. */
int target_start_stopwatch(struct engine *engine);
bool target_all_gone(const struct engine *engine);
void target_close_all(struct engine *engine);
void target_fini(struct engine *engine);
/* Scans a process again for missed threads and children, without a note. */
void target_rescan(struct engine *engine, int32_t pid);

/* scope.c */

/* Finds the CPUs, the permissions and the initial scope.  Returns 0, or -errno with the failure
 * reported. */
int scope_begin(struct engine *engine);
/* Opens every CPU's point.  Returns 0, or -errno with the failure reported. */
int scope_open_cpus(struct engine *engine);
/* Opens side-band rings (FORK and others) on every CPU; false if not permitted. */
bool scope_open_side(struct engine *engine);
/* Opens a running ring of a CPU, in addition to those of points.  Returns 0 or -errno. */
int scope_open_ring(struct engine *engine, const struct perf_event_attr *attr, int cpu,
	unsigned int order, bool wakes);
/* Opens one inherited event per choice on every CPU.  Returns 0 or -errno of the last refusal. */
int scope_open_inherited(struct engine *engine, int32_t pid, int32_t tid, bool on_exec);
/* Forks outran following: covers the whole tree from now on. */
void scope_escalate(struct engine *engine);
void scope_watch_cpus(struct engine *engine);

/* --- stack.c --- */

/* Returns how many bytes of stack a new event's samples copy. */
uint32_t stack_begin(const struct engine *engine, const struct choice *choice);
/* Returns how many bytes an event's samples copy now; 0 if none. */
uint32_t stack_copied(const struct engine *engine, unsigned int choice);
/* Adapts the sizes to the needs of chains and to their cost. */
void stack_sweep(struct engine *engine);

/* --- pending.c --- */

/* Takes a wanted sample into the store, at once or when its stack can be unwound. */
void pending_take(struct engine *engine, unsigned int index, const struct perf_event_header *header,
	struct record *record);
/* Unwinds a sample that may not wait.  If tables are missing, returns UNWIND_UNTRIED and counts it
 * as late. */
enum unwind_end pending_unwind_now(
	struct engine *engine, unsigned int index, struct record *record);
/* Retries waiting samples.  all: takes in every one. */
void pending_retry(struct engine *engine, bool all);
void pending_fini(struct engine *engine);

#endif
