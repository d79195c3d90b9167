/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * engine_internal.h - shared by the engine's own files; nobody else includes it.
 *
 * engine.c        life and the public calls        engine_open.c    points, rings, events
 * engine_loop.c   the sampling thread, commands    engine_choice.c  the chosen events
 * engine_round.c  a drain round: records, credit   engine_tick.c    counters, status, notes by the second
 * engine_attach.c attaching                        engine_target.c  following
 * engine_scope.c  tasks, CPUs or inheritance       engine_tap.c     other readers of the records
 * engine_attr.c   an event as it is opened         engine_weaken.c  fallbacks, refusals
 * engine_group.c  groups of events                 engine_change.c  changes to events that run
 * engine_rate.c   their rates, weights of samples
 * engine_fields.c fields of their samples
 * engine_flight.c the flight recorder              engine_snapshot.c its samples, into the store
 * engine_span.c   time off the CPU                 engine_wake.c    wake-ups, which split it
 *
 * The sampling thread owns everything except the members below `lock`.
 */
#ifndef SAMPLER_ENGINE_INTERNAL_H
#define SAMPLER_ENGINE_INTERNAL_H

#include "sampler/backward.h"
#include "sampler/coverage.h"
#include "sampler/credit.h"
#include "sampler/engine.h"
#include "sampler/follow.h"
#include "sampler/idmap.h"
#include "sampler/ingest.h"
#include "sampler/inherited.h"
#include "sampler/launch.h"
#include "sampler/mailbox.h"
#include "sampler/merge.h"
#include "sampler/notes.h"
#include "sampler/offcpu.h"
#include "sampler/proc.h"
#include "sampler/ring.h"
#include "sampler/rundelay.h"
#include "sampler/sys.h"

#include <pthread.h>
#include <stdatomic.h>

#define PAGE_BYTES 4096u
#define NS_PER_MS 1000000ull
#define NS_PER_S 1000000000ull
#define SWEEP_NS (100 * NS_PER_MS)
#define FLIGHT_SWEEP_NS NS_PER_S /* nothing waits to be read */
#define EARLY_SWEEP_NS (20 * NS_PER_MS) /* the screen waits for its first samples */
#define EARLY_SWEEPS 10

#define CHOICE_LESS_MAX 6u /* ways in which samples can tell less than was asked for */
#define CHOICE_RATES_MAX 32u /* remembered changes of a choice's rate */

/* A choice's period before its rate changed. */
struct choice_rate {
	uint64_t until_ns;
	uint64_t period; /* 0: the samples carry it */
};

/* The size of stack copies, and the figures that engine_stack.c adapts it by. */
struct stack_copies {
	uint32_t bytes;
	uint64_t begun_ns; /* of what is judged now */
	uint64_t seen, told; /* samples, and those before it */
	uint64_t lost; /* before it */
	uint32_t most; /* longer copies cost samples; 0: not known */
	struct unwind_ends ends; /* of chains before it */
};

/* An event the user chose; its public half is status.events[] of the same index. */
struct choice {
	struct event_spec spec; /* as asked for, with the rate now in force */
	struct perf_event_attr attr; /* after fallbacks, without the engine's half */
	struct record_format format; /* of its samples, since it settled */
	unsigned int leader; /* index; its own where it leads or stands alone */
	bool read_group; /* it samples for its group, whose other members only count */
	bool counts_only; /* takes no samples */
	bool tells_id; /* each of its samples reads it, for the sake of its id: see round_may_share_id() */
	uint64_t without; /* of sample_more: bits that it cannot have; 0: all are told */
	struct {
		uint64_t bits; /* of these */
		int error; /* why, positive errno; 0: they would always be 0 */
	} less[CHOICE_LESS_MAX];
	unsigned int n_less;
	bool proven; /* of a leader: the whole group has opened somewhere */
	bool enabled; /* by the user */
	bool open;
	bool stopping; /* disabled; its rings and clock are still to be accounted for */
	bool settled; /* has opened somewhere: fallbacks are over */
	bool filter_refused; /* the last refusal was not the event's, but its filter's */
	bool bpf_refused; /* or its program's */
	bool inherit_refused; /* or inheritance by new tasks */
	const char *ioctl_refused; /* or this ioctl on the open event; NULL if none */
	bool started; /* at least one event of it was enabled */
	bool no_credit; /* the kernel refuses REFRESH */
	bool bpf_asked; /* whether others have programs there */
	int bpf_fd; /* of a tracepoint: another one for the event that its program is attached to; 0: none */
	uint64_t tap_sum; /* of what samples that read it have counted */
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
	unsigned int errors; /* events of it in error state, see in_error */
	bool error_noted;
};

/* One event of a choice on a point. */
struct point_event {
	struct point_event *next; /* of the point */
	struct point *point;
	unsigned int choice;
	struct point_event *leader; /* of its group; NULL: none, or it leads */
	int fd;
	uint64_t id;
	uint64_t read_value; /* as of the last sample that read it */
	bool in_error, stood;
	bool on_credit, had_credit;
	uint32_t consumed; /* in this round */
	bool owns_ring;
	bool dropped; /* it owns the ring of others, so it is open still; it never runs again */
	struct credit credit;
	struct coverage_point coverage;
	struct sys_counts last; /* as of the last read */
	uint64_t clock_ns,
		tracker_ran_ns; /* the tracker's times as of then, or where this event began */
	uint64_t rate_ns; /* its rate was last changed */
};

/* A ring, the descriptor that owns it, and its place in epoll. */
struct channel {
	struct ring *ring;
	int fd;
	bool owns_fd;
	struct point *point; /* NULL: of all points */
	size_t index;
	uint32_t n_events; /* on credit, that share it */
	uint64_t corrupt, lost;
	bool in_epoll, hup, active;
	bool side; /* carries no samples of points; each side-band record wakes us */
	bool wakes; /* carries only wake-ups */
	int cpu; /* of a channel without a point, else -1 */
	bool old; /* of the scope that was left: its side-band ends at switch_ns */
	uint64_t seen_ns; /* of a side-band ring of a CPU: its clock at the last tick */
};

struct point {
	int32_t pid, tid; /* -1: all */
	int cpu; /* -1: any */
	int tracker_fd; /* -1: none */
	uint64_t tracker_lost;
	uint64_t seen_ns; /* of a CPU: the tracker's clock at the last tick */
	struct channel *channel; /* owned, but for inherited events */
	struct channel *side; /* of its own, or NULL */
	struct flight_ring *flight; /* its samples go there instead; NULL without flight recorder */
	struct point_event *events;
	size_t index;
	bool active; /* consumed something since the last tick */
	bool doomed; /* to be closed at the end of the round */
	bool has_lost;
	bool on_exec; /* armed by exec */
};

/* The ring that a point's samples overwrite in turn.  Its owner is a dummy that is never enabled. */
struct flight_ring {
	struct backward *ring;
	int fd;
	uint64_t taken; /* position of the last snapshot */
};

/* The events that may have written to a ring, as they were. */
struct flight_event {
	uint64_t id;
	unsigned int choice;
	uint8_t event; /* its number in the store */
	uint64_t sample_type;
	bool may_share; /* see round_may_share_id() */
};

/* What a ring held when it was copied. */
struct flight_kept {
	struct flight_kept *next;
	struct backward_copy copy;
	uint64_t time_ns;
	bool of_task; /* of a followed task alone */
	size_t n_events;
	struct flight_event events[];
};

/* A side-band record that waits until the samples before it are taken in or overwritten. */
struct flight_held {
	struct flight_held *next;
	uint64_t time_ns;
	bool tap;
	uint64_t record[]; /* whole */
};

struct flight {
	bool on;
	uint64_t ns; /* how long it remembers */
	struct flight_held *held, **held_end; /* oldest first */
	struct flight_kept *kept; /* of points closed, newest first */
	size_t held_bytes, kept_bytes;
	uint64_t ring_pages; /* of all its rings */
	double holds_s, noted_holds_s;
	struct trigger trigger;
	uint64_t machine_ticks, looked_ns; /* as of the trigger's last look */
};

/* A process on its way to being attached. */
struct job {
	struct job *next;
	int32_t pid, tid; /* tid: that thread alone, else -1 */
	bool named; /* by the user: what comes of it is told */
	uint32_t scans;
	uint32_t opened;
	int error; /* of the last refusal */
};

/* A process that the user let go. */
struct detached {
	int32_t pid;
	uint64_t start_ticks;
};

/* Threads to open, oldest first. */
struct tid_queue {
	int32_t *tids;
	size_t head, n, capacity;
};

/* How the engine learns when blocked threads become runnable; engine_wake.c. */
struct wakes {
	enum wakes_state {
		WAKES_OFF, /* not needed */
		WAKES_SEEN, /* a sample of sched:sched_wakeup for each */
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

/* Samples whose stacks cannot be unwound yet, in their order: see engine_pending.c. */
struct pending {
	uint8_t *bytes;
	size_t len, size;
};

struct engine {
	/* fixed before the thread starts */
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
	atomic_bool stop; /* a request; not mail, since mail allocates */

	/* the sampling thread's */
	struct sys_features features;
	struct record_format format; /* of the trackers, and of every trailer */
	int epoll_fd, timer_fd;
	struct engine_status status;
	struct choice choices[ENGINE_EVENTS_MAX];
	struct inherited inherited;
	struct pending pending;
	uint32_t dwarf_bytes; /* of stacks, in modes that copy them */
	unsigned int next_event_id;
	struct fields *fields[STORE_EVENTS_MAX]; /* by the event's id; atomic: any thread reads */
	struct fields **retired; /* that somebody may still look at */
	size_t n_retired;
	uint16_t last_group;
	bool paused;
	struct flight flight;
	struct idmap task_reads; /* tid -> struct task_reads, of inherited events; engine_group.c */
	struct idmap ids; /* perf's id -> point_event */
	struct point_event *last_event;
	struct point **points;
	size_t n_points, points_capacity;
	struct channel **channels;
	size_t n_channels, channels_capacity;
	struct merge_source *sources; /* channels_capacity of them */
	struct point_event **touched; /* consumed something in this round */
	size_t n_touched, touched_capacity;
	bool have_doomed;
	bool tell_ids; /* some choice does */

	struct offcpu offcpu;
	uint64_t
		span_next_ns; /* the next slice begins there; UINT64_MAX: nothing is told of switches */
	uint64_t noted_spans;
	bool wakers_noted;
	struct wakes wakes;
	uint32_t span_last_tid; /* tid of the last sample of a switch, and its time */
	uint64_t span_last_ns;
	size_t span_tasks; /* as many were followed when they were asked last */
	bool span_ask_again; /* records were lost since */
	uint64_t span_ask_ns; /* not before */

	struct follow follow;
	struct {
		uint64_t inode;
		bool gone;
	} * cgroups; /* of the target, in its order */
	bool filter; /* samples of others are dropped: not the whole machine */
	bool trackers; /* fds suffice for them */
	bool data_maps; /* mappings of data are followed */
	bool cpu_wide; /* events on whole CPUs are permitted */
	bool side_by_cpu; /* side-band rings per CPU are open */
	bool fork_rings; /* a second ring per thread, while mlock and fds last */
	struct job *jobs;
	struct tid_queue attach, born;
	struct idmap detached; /* pid -> struct detached: children not to be found again */
	uint64_t left_out_fds; /* fds when a thread was last left out */
	uint64_t switch_ns; /* the scope changed then; see channel->old */
	bool rescan; /* side-band records were lost */
	bool rescan_again; /* the same, while a rescan was under way */
	size_t check_position; /* in follow.processes; the tick goes on from there */
	bool had_targets;
	bool stopped;

	int *cpus; /* to sample, online */
	size_t n_cpus;
	uint8_t *cpu_wanted; /* by number; NULL: all */
	size_t cpu_wanted_len;

	uint64_t fd_limit, fds; /* perf's own */
	uint64_t locked_pages;
	unsigned int order; /* of the next task's ring */
	bool order_refused; /* by the kernel, which took a smaller one, since the last plan */
	unsigned int ring_order_noted;
	bool fd_limit_noted, mlock_noted, coarsened_noted, fields_noted, late_noted;

	struct engine_tap tap;
	bool has_tap, tap_begun;
	uint64_t tap_ns; /* what is learned now is good for records from here on */
	uint8_t tap_index[ENGINE_EVENTS_MAX]; /* of a choice: its place in begin()'s list */
	uint8_t tap_wakes; /* the tap's number for wake-ups */

	uint64_t round_ns; /* T0 of this round */
	uint64_t next_sweep_ns, next_tick_ns;
	unsigned int sweeps;
	uint64_t window_forks, window_missed; /* since the last tick */
	uint64_t n_born; /* threads, while they were followed */
	uint64_t noted_missed, noted_corrupt, noted_unread;
	size_t read_cursor;
	bool news; /* write the eventfd at the end of the round */
	bool followed_changed;

	/* shared */
	pthread_mutex_t lock;
	struct engine_status shared; /* guarded */
	int32_t *followed; /* guarded */
	size_t n_followed; /* guarded */
	bool command_runs; /* guarded: launch.pid is not yet waited for */
	bool command_execed; /* its record of exec came */
	uint64_t command_execed_ns; /* by then it had executed its program */
};

/* engine_loop.c */
void *engine_main(void *engine);
void engine_fail(struct engine *engine, enum engine_failure_kind what, int error,
	const struct perf_event_attr *attr, const char *event, int32_t pid, int cpu);

/* engine_tick.c */
void engine_note(struct engine *engine, enum engine_note_kind kind, int error, int32_t pid,
	uint64_t value, const char *text);
void engine_add_note(struct engine *engine, struct engine_note *note);
void engine_publish(struct engine *engine);
void engine_read_point(struct engine *engine, struct point *point);
void engine_tick(struct engine *engine, bool all);

/* engine_choice.c */

/* Adds events to the list, groups as one; they open with the next points.  fn, or NULL, is told each that stands
 * alone or leads; what finds no place is told as refused. */
typedef void choice_added(struct engine *engine, unsigned int choice);
void choice_add_all(
	struct engine *engine, const struct event_spec *specs, size_t n, choice_added *fn);
/* They take no more samples, to be dropped after the next round; of a leader, its group. */
void choice_disarm(struct engine *engine, unsigned int choice);
void choice_drop(struct engine *engine, unsigned int choice);
int choice_find(const struct engine *engine, uint8_t id);
unsigned int choice_count_open(const struct engine *engine);
void choice_show_rate(struct engine *engine, unsigned int choice);
/* It is to run from now on, as is its leader: only then it gets credit. */
bool choice_runs(const struct engine *engine, unsigned int choice);
/* It was to run up to now, which includes an event that is stopping. */
bool choice_ran(const struct engine *engine, unsigned int choice);
/* Its samples read the counters of a group, its own among them.  Each weighs the difference to the
 * last. */
bool choice_reads(const struct engine *engine, unsigned int choice);
/* Each counted period of it is a sample or a loss, since it has a fixed period and is no clock.
 * Coverage is a share of its count. */
bool choice_is_counted(const struct engine *engine, unsigned int choice);

/* engine_attr.c */

/* The attribute of a choice as it is opened; setup's other fields are the caller's. */
void choice_attr(const struct engine *engine, unsigned int choice, const struct sys_setup *setup,
	struct perf_event_attr *attr);
void choice_set_format(struct engine *engine, unsigned int choice);
/* Before it opens for the first time: whether its samples need to tell whose they are. */
void choice_find_id(struct engine *engine, unsigned int choice);
/* Whether it is to be opened there: a PMU's or a cgroup's event only on (some) CPUs. */
bool choice_fits(const struct engine *engine, unsigned int choice, const struct point *point);
/* 0, or the errno of an event that such a target cannot have. */
int choice_check_target(const struct engine *engine, const struct event_spec *spec);
/* Lets go of what its BPF program is attached to. */
void choice_close_program(struct choice *choice);
/* Opens it there, with its filter and its program.  A descriptor or -errno. */
int choice_open_event(struct engine *engine, unsigned int choice, struct perf_event_attr *attr,
	const struct point *point, int group_fd);

/* engine_fields.c */

/* What its samples tell besides where they were, from now on. */
void choice_make_fields(struct engine *engine, unsigned int choice);
/* Without what it turned out not to have. */
void choice_remake_fields(struct engine *engine, unsigned int choice);
uint64_t choice_fields_type(const struct engine *engine, unsigned int choice);
/* It goes on without the fields of a tracepoint; false: it has none. */
bool choice_leave_fields(struct engine *engine, unsigned int choice);
void engine_free_fields(struct engine *engine);

/* engine_weaken.c */

/* Of what samples shall carry besides, leave out what the kernel takes of any event and fills with zeros. */
void choice_leave_out(struct engine *engine, unsigned int choice);

/* What to try after a refusal; false: nothing is left, the error stands. */
bool choice_weaken(struct engine *engine, unsigned int choice, int error);
/* It opened: tell what it took. */
void choice_settle(struct engine *engine, unsigned int choice);
/* point: NULL where the target as a whole is the reason. */
void choice_refuse(
	struct engine *engine, unsigned int choice, int error, const struct point *point);
/* Tell of a refusal by the kernel, or of ours where there is no point. */
/* As it was asked for, with its cgroup. */
void choice_show_name(struct engine *engine, unsigned int choice, const char *name);
void choice_note_refused(struct engine *engine, const struct event_spec *spec, int error,
	const struct point *point, const struct engine_asked *asked); /* NULL: nothing of it */

/* engine_group.c */

bool group_leads(const struct engine *engine, unsigned int choice);
/* Open a choice, and where it leads its group, on a point: 0 or -errno, with what is refused told. */
int group_open(struct engine *engine, struct point *point, unsigned int leader, bool live);
/* A sample that read its group: what each member counted since the last one. 0 or -ENOMEM. */
int group_take_sample(
	struct engine *engine, struct point_event *event, struct record *record, bool wanted);
void group_forget_task(struct engine *engine, int32_t tid);
void group_fini(struct engine *engine);

/* engine_rate.c */
void change_rate(struct engine *engine, unsigned int choice, uint64_t rate);
void change_period(struct engine *engine, unsigned int choice, uint64_t period);
/* Limits the attribute's rate to the fastest of a clock. */
void rate_limit(struct perf_event_attr *attr);
/* Gives a sample the weight of its event's rate at that time.  event: NULL if not known. */
void rate_weigh(const struct engine *engine, unsigned int choice, const struct point_event *event,
	struct record *record);

/* engine_change.c */
/* Takes in all samples and counts up to now, before a change of events. */
void change_settle(struct engine *engine);
/* Close a choice on every point after its samples were taken in; reopen it on every point.  Returns
 * 0, or -errno if it opens nowhere. */
void change_close(struct engine *engine, unsigned int choice);
int change_open(struct engine *engine, unsigned int choice);
/* Back to what it was, after a refusal. */
void change_restore(struct engine *engine, unsigned int choice, const struct choice *before);
/* Notes a change that the kernel refused (error) or that clashes (clash). */
void change_refuse(struct engine *engine, unsigned int choice, const struct perf_event_attr *attr,
	int error, enum event_clash_kind clash);
/* Opens the event anew everywhere, with what stands in its choice: 0, -errno if it opened nowhere. */
int change_reopen(struct engine *engine, unsigned int choice);
/* As change_reopen(), for an event of no group whose format stays: no more than the hits between two system calls
 * are missed on each point.  Where it does not open, the event stays as it was. */
int change_swap(struct engine *engine, unsigned int choice);
/* An event that owns the ring of its point, where there are no trackers, cannot be closed. */
bool change_owns_ring(const struct engine *engine, unsigned int choice);
void change_enabled(struct engine *engine, unsigned int choice, bool enable);
void change_filter(struct engine *engine, unsigned int choice, const char *filter);
void change_call_graph(struct engine *engine, enum engine_call_graph mode);
enum engine_call_graph change_find_call_graph(const struct engine_config *config);
void change_breakpoint(struct engine *engine, unsigned int choice, uint64_t address);
void change_paused(struct engine *engine, bool pause);

/* engine_open.c */

/* Open every chosen event on a task (cpu -1), a CPU (tid -1) or a task on a CPU (inherited).
 * shared: the channel of that CPU, or NULL.  0 or -errno; ESRCH: the task is gone. */
int point_open(struct engine *engine, int32_t pid, int32_t tid, int cpu, bool on_exec,
	struct channel *shared, struct point **out);
/* Drains nothing: see round_drain_channel().  Reads the counters a last time. */
void point_close(struct engine *engine, struct point *point);
int point_add_event(struct engine *engine, struct point *point, unsigned int choice);
struct point_event *point_find_event(const struct point *point, unsigned int choice);
/* Let an event added to a running point begin. */
int point_start_event(struct engine *engine, struct point_event *event);
/* Enables it, with more credit if it runs on credit.  Returns 0 or -errno, after a note. */
int point_let_run(struct engine *engine, struct point_event *event, uint32_t credit);
/* Returns whether an event may run from now on. */
bool point_event_runs(const struct engine *engine, const struct point_event *event);
/* Returns whether the kernel may enable an event.  A member whose leader is off does not count,
 * but stays enabled, so that it continues with the leader. */
bool point_event_is_on(const struct engine *engine, const struct point_event *event);
/* Let it go on, after it was disabled. */
void point_go_on(struct engine *engine, struct point_event *event);
/* The engine's half of its attribute. */
struct sys_setup point_setup(const struct engine *engine, const struct point *point, bool carries);
void point_drop_event(struct engine *engine, struct point *point, unsigned int choice);
/* Open a choice's event anew in the place of the one that runs, which stands still from then on.  Returns 0 or -errno:
 * the old one runs on. */
int point_swap_event(struct engine *engine, struct point *point, unsigned int choice);
/* Drops those that stand still. */
void point_drop_swapped(struct engine *engine, struct point *point, unsigned int choice);
/* Stop sampling, and the clock it is measured against; rearm lets both go on. */
void point_disarm(struct point *point);
void point_rearm(struct engine *engine, struct point *point);
/* Call after the exec of a point's task.  It enabled all open events; this disables those that are
 * switched off. */
void point_executed(struct engine *engine, struct point *point);
void point_retarget(struct engine *engine, struct point *point);

/* A ring of its own on fd, which it then owns if take_fd. */
int channel_open(struct engine *engine, struct channel **out, int fd, bool take_fd,
	unsigned int order, struct point *point, bool side);
void channel_close(struct engine *engine, struct channel *channel);
/* perf_event_open() within the budget of descriptors: EMFILE leaves some for others. */
int engine_open_event(
	struct engine *engine, const struct perf_event_attr *attr, int32_t tid, int cpu);
int engine_open_at(
	struct engine *engine, const struct perf_event_attr *attr, const struct sys_place *place);
void engine_close_event(struct engine *engine, int *fd);
bool engine_fds_left(const struct engine *engine, size_t n);
/* Returns how long copies of stacks may grow, by the size of the rings. */
uint32_t engine_stack_most(const struct engine *engine);
void point_fit_stack(
	const struct engine *engine, const struct point *point, struct perf_event_attr *attr);

/* Returns how many bytes of the user stack a sample copies; 0 if none. */
uint32_t engine_stack_bytes(const struct engine *engine);
/* Sets what samples copy of the stack, and how large they are, before the first one came. */
void choice_begin_stack(const struct engine *engine, struct choice *choice);

/* Pages this user may still lock for rings, their control pages included. */
uint64_t engine_lockable_pages(const struct engine *engine);
/* When a ring of the next order wakes us. */
uint32_t engine_watermark(const struct engine *engine);
unsigned int order_for_cpus(const struct engine *engine, size_t n);
unsigned int order_for_tasks(const struct engine *engine, size_t n);

/* engine_round.c */
void engine_round(struct engine *engine, bool all, bool final);
void round_drain_channel(struct engine *engine, struct channel *channel);
void round_close_doomed(struct engine *engine);
/* One sample of a choice; event: NULL where it reads no group.  of_task: it need not be asked whether it is followed.  What
 * becomes of a side-band record once its time has come. */
void round_take_sample(struct engine *engine, unsigned int choice, struct point_event *event,
	const struct perf_event_header *header, bool of_task);
int round_take_in(struct engine *engine, const struct perf_event_header *header,
	const struct record *record, bool tap);
/* Its samples may come under the id of another software event. */
bool round_may_share_id(const struct engine *engine, unsigned int choice);
/* Of one that tells its own: at which word of a sample.  Before it stand the value and two times. */
size_t round_own_id_at(const struct record_format *format);
bool round_cpu_wanted(const struct engine *engine, uint32_t cpu);

/* engine_flight.c; without a flight recorder nothing happens, but for open_ring and hold, which are not to be called. */
bool flight_is_valid(const struct engine_config *config);
void flight_init(struct engine *engine);
void flight_fini(struct engine *engine);
/* What is known of the machine's processes, before the first record: whoever is asked later may be gone. */
void flight_begin(struct engine *engine);
int flight_open_ring(struct engine *engine, struct point *point);
void flight_close_ring(struct engine *engine, struct point *point);
/* Before the events of a point are closed: its samples are kept as long as its ring would have. */
void flight_keep(struct engine *engine, struct point *point);
/* The same of a point that goes on; NULL: out of memory or nothing new. */
struct flight_kept *flight_copy(struct engine *engine, struct point *point);
void flight_forget_kept(struct engine *engine);
/* A side-band record: it comes in after the samples before it.  0 or -ENOMEM. */
int flight_hold(struct engine *engine, const struct perf_event_header *header,
	const struct record *record, bool tap);
/* Let in those held that are not younger. */
void flight_let_in(struct engine *engine, uint64_t time_ns);
void flight_pause(struct engine *engine, bool pause);
/* At each sweep: forget what is too old. */
void flight_sweep(struct engine *engine);
/* What is older than this is of no interest now. */
uint64_t flight_begin_ns(const struct engine *engine, uint64_t now_ns);
/* By the second: the trigger's look at the target. */
void flight_tick(struct engine *engine);

/* engine_span.c */
void span_init(struct engine *engine);
void span_fini(struct engine *engine);
/* A sample of a switch-out, and the record that follows it or tells of the switch-in. */
void span_sample(struct engine *engine, unsigned int choice, const struct perf_event_header *header,
	struct record *record);
void span_switch(struct engine *engine, unsigned int choice, const struct perf_event_header *header,
	const struct record *record);
/* A sample of sched:sched_waking, or of one of its fellows. */
bool span_is_waking(const struct engine *engine, unsigned int choice);
void span_waking(struct engine *engine, unsigned int choice, const struct record *record);
/* A sample that was taken in last: of a clock, it is time for `wall`. */
void span_on_cpu(struct engine *engine, unsigned int choice, const struct record *record);
/* Another event's sample, as it was taken in last. */
void span_seen(struct engine *engine, const struct record *record);
/* Records of that ring are lost. */
void span_lost(struct engine *engine, const struct channel *channel);
void span_end_task(struct engine *engine, int32_t tid, uint64_t time_ns);
/* The number is another task's from now on. */
void span_forget_task(struct engine *engine, int32_t tid);
/* Records of switches will be missing from here on; of span_changed(): if none of the events runs any more. */
void span_stop(struct engine *engine);
void span_changed(struct engine *engine);
/* All records up to there are taken in: what is out is brought up to date as slices end, so that none is sealed without. */
void span_pass_slices(struct engine *engine, uint64_t time_ns);
static inline void span_pass(struct engine *engine, uint64_t time_ns)
{
	/* Rings of threads that ended are read further than the others; at the end, all are. */
	if (time_ns > engine->round_ns && !engine->stopped)
		time_ns = engine->round_ns;
	if (time_ns >= engine->span_next_ns)
		span_pass_slices(engine, time_ns);
}
/* Waiting is given out where slices end: none is to be sealed before, and time passes for all rings at once. */
static inline bool span_is_on(const struct engine *engine)
{
	return engine->span_next_ns != UINT64_MAX;
}
/* At the end of sampling: the time of all that are out up to here. */
void span_finish(struct engine *engine, uint64_t time_ns);
void span_tick(struct engine *engine);
/* A thread that was born has its events. */
void span_born(struct engine *engine, struct follow_task *task);
/* At each sweep: who sleeps since before anybody looked. */
void span_sweep(struct engine *engine);

/* engine_wake.c */
void wake_init(struct engine *engine);
void wake_fini(struct engine *engine);
/* Opens the rings that the running events need, and closes the others. */
void wake_settle(struct engine *engine);
int wake_open_ring(struct engine *engine, int cpu); /* 0 or -errno */
void wake_sample(struct engine *engine, const struct perf_event_header *header);
/* Returns the part of a blocked piece's end that was a wait for a CPU, if no sample reports it. */
uint64_t wake_take_delay(struct engine *engine, int32_t tid, const struct offcpu_span *span);
/* Adds notes; event is the name of an affected event. */
void wake_tick(struct engine *engine, const char *event);

/* engine_snapshot.c */
void flight_snapshot(struct engine *engine);

/* engine_tap.c; without a tap nothing happens. */
void tap_init(struct engine *engine, const struct engine_tap *tap);
void tap_time(struct engine *engine, uint64_t time_ns);
/* unwound: the sample's chain as it was ingested, NULL for other records. */
void tap_sample(struct engine *engine, const struct perf_event_header *header, unsigned int choice,
	const struct record_sample *unwound);
/* Of a sample that read counters, whose sums (tap_sum) take part. */
void tap_reads(struct engine *engine, const struct perf_event_header *header,
	const struct record_sample *sample, unsigned int choice);
void tap_wake(struct engine *engine, const struct perf_event_header *header);
void tap_side_band(struct engine *engine, const struct perf_event_header *header);
void tap_round(struct engine *engine);

/* engine_attach.c */
void attach_enqueue(struct engine *engine, struct tid_queue *queue, struct follow_task *task);
struct job *attach_find_job(struct engine *engine, int32_t pid);
void attach_drop_job(struct engine *engine, struct job *job);
/* The plan for n more threads: what would not fit for all of them is given up for all. */
void attach_plan(struct engine *engine, size_t n);
/* After EMFILE: something costs less now, and the thread is to be tried again; or false. */
bool attach_economize(struct engine *engine);
/* Descriptors are used up: told once. */
void attach_note_fd_limit(struct engine *engine, int error);
/* Threads left out are tried again when something was closed since. */
void attach_left_out(struct engine *engine);
/* The thread is gone, and its process if it was the last. */
/* Nothing could be sampled while a new task ran so long. */
void attach_add_late(struct engine *engine, uint64_t ran_ns);
uint64_t attach_lifetime_ns(const struct follow_task *task, uint64_t now_ns);
void attach_end_task(struct engine *engine, struct follow_task *task, uint64_t time_ns);

/* engine_target.c, and of attaching in engine_attach.c */
int target_open_initial(struct engine *engine);
void target_attach(struct engine *engine, int32_t pid, int32_t tid);
void target_detach(struct engine *engine, int32_t pid);
/* Carry on with what waits to be opened, for a little while; true: more is waiting. */
bool target_work(struct engine *engine);
void target_fork(struct engine *engine, const struct record_task *fork);
void target_exit(struct engine *engine, int32_t tid, uint64_t time_ns);
/* A followed process executed a program: its threads are one. */
void target_exec(struct engine *engine, int32_t pid);
void target_hup(struct engine *engine, struct point *point);
void target_tick(struct engine *engine);
/* Starts the command that ends sampling of the named targets, once all of them are attached.
 * Returns 0 or -errno. */
int target_start_stopwatch(struct engine *engine);
bool target_all_gone(const struct engine *engine);
void target_close_all(struct engine *engine);
void target_fini(struct engine *engine);
/* Look at a process again: threads or children may have been missed.  Told to nobody. */
void target_rescan(struct engine *engine, int32_t pid);

/* engine_scope.c */

/* Which CPUs there are, what is permitted, and the scope to begin with.  0, or -errno with the failure told. */
int scope_begin(struct engine *engine);
/* Open every CPU's point.  0, or -errno with the failure told. */
int scope_open_cpus(struct engine *engine);
/* Rings for FORK and the rest on every CPU; false: not permitted. */
bool scope_open_side(struct engine *engine);
/* Open a running ring of a CPU beside those of points.  Returns 0 or -errno. */
int scope_open_ring(struct engine *engine, const struct perf_event_attr *attr, int cpu,
	unsigned int order, bool wakes);
/* One inherited event per choice on every CPU. 0 or -errno of the last refusal. */
int scope_open_inherited(struct engine *engine, int32_t pid, int32_t tid, bool on_exec);
/* Forks outran following: cover the tree completely from now on. */
void scope_escalate(struct engine *engine);
void scope_watch_cpus(struct engine *engine);

/* --- engine_stack.c --- */

/* Returns how much of the stack a new event's samples copy. */
uint32_t stack_begin(const struct engine *engine, const struct choice *choice);
/* Returns how much an event's samples copy as it is now; 0 if nothing. */
uint32_t stack_copied(const struct engine *engine, unsigned int choice);
/* Adapts the sizes to what chains need and to what they cost. */
void stack_sweep(struct engine *engine);

/* --- engine_pending.c --- */

/* A sample that is wanted: into the store, at once or as soon as its stack can be unwound. */
void pending_take(struct engine *engine, unsigned int index, const struct perf_event_header *header,
	struct record *record);
/* Unwinds a sample that may not wait; UNTRIED, and counted as late, if tables are missing. */
enum unwind_end pending_unwind_now(
	struct engine *engine, unsigned int index, struct record *record);
/* Retries the samples that wait.  all: takes in every one of them. */
void pending_retry(struct engine *engine, bool all);
void pending_fini(struct engine *engine);

#endif
