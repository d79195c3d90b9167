/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tick.c - work done each second.
 *
 * It updates counters, coverage, exact losses, stopped events, and the copies for other threads.
 * Runs in the sampling thread; the lock is held only for copying.
 */
#include "sampler/accounting/tasktime.h"
#include "sampler/base/sysfile.h"
#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "sampler/control/status.h"
#include "sampler/engine/change.h"
#include "sampler/engine/internal.h"
#include "sampler/engine/stack.h"
#include "sampler/kernel/attr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Quiet points read per tick, in turn; busy points are always read. */
#define QUIET_READS 256

/* A note is due if this share of the time has no samples, given at least this many expected
 * samples. */
#define SHORT_LIVED_SHARE 0.25
#define WEIGHED_SAMPLES 50
/* Or if new tasks had no event in this share of the time, given at least this much time. */
#define LATE_SHARE 0.02
#define LATE_MIN_NS 20000000u

/* ns; an event has stopped if it did not run while its point's clock advanced this far. */
#define STUCK_NS (50 * NS_PER_MS)

void engine_add_note(struct engine *engine, struct engine_note *note)
{
	note->time_ns = sys_now_ns();
	engine->status.last_note = notes_add(&engine->notes, note);
	engine->news = true;
}

void engine_note(struct engine *engine, enum engine_note_kind kind, int error, int32_t pid,
	uint64_t value, const char *text)
{
	struct engine_note note = {
		.kind = kind,
		.error = error,
		.pid = pid,
		.value = value,
	};

	if (text)
		strncpy(note.text, text, sizeof(note.text) - 1);
	engine_add_note(engine, &note);
}

/* Restarts an event that delivers nothing.  Linux 6.18 can disable an event while it is refreshed:
 * the event then stays disabled with its credit.  Or the kernel enables the event before it stops
 * the PMU: its clock then runs, but it counts nothing until it is disabled.  An event without
 * anything to count looks alike, and the restart does not harm it. */
static void revive(struct engine *engine, struct point_event *event)
{
	sys_disable(event->fd);
	if (event->stood || !event->credit.outstanding)
		(void)point_let_run(
			engine, event, credit_restart(&event->credit, engine->features.lost));
	else
		sys_enable(event->fd);
}

/* A pinned event that found no room stops counting until it is enabled again. */
static void note_error(struct engine *engine, struct point_event *event, bool in_error)
{
	struct choice *choice = &engine->choices[event->choice];

	if (event->in_error == in_error)
		return;
	event->in_error = in_error;
	if (in_error)
		choice->errors++;
	else
		choice->errors--;
	if (in_error && !choice->error_noted)
		engine_note(engine, NOTE_PINNED_ERROR, 0, event->point->tid, 0,
			engine->status.events[event->choice].name);
	choice->error_noted = choice->errors > 0;
}

static int read_counts(struct engine *engine, struct point_event *event, struct sys_counts *now)
{
	int ret = engine->choices[event->choice].read_group
		? sys_read_leader(event->fd, &engine->features, now)
		: sys_read(event->fd, &engine->features, now);

	if (!ret || ret == -ENODATA)
		note_error(engine, event, ret == -ENODATA);
	return ret;
}

/* Returns the time that an event was enabled on its CPU.  The enabled time of an inherited event
 * includes time on other CPUs.  The tracker's running time gives the time on its CPU; without a
 * tracker that is unknown.  If inherit_stat is set, Linux exchanges the times of events between
 * tasks, but not those of their trackers.  Their sums then differ by milliseconds, so they are not
 * used for an event that needs no hardware. */
static uint64_t enabled_there(const struct engine *engine, const struct point_event *event,
	uint64_t ran_ns, uint64_t running_ns, uint64_t there_ns)
{
	const struct choice *choice = &engine->choices[event->choice];
	const struct point *point = event->point;
	const bool by_software = choice->spec.probe || !attr_is_hardware(&choice->attr);

	if (point->tid < 0 || point->cpu < 0)
		return ran_ns;
	if (!ran_ns || point->tracker_fd < 0 || (engine->config.inherit_stat && by_software))
		return running_ns;
	return there_ns;
}

/* Returns whether a count includes hits that may have no samples.  Linux also delivers wake-ups and
 * scheduler times to events of the task concerned, if these are bound to the CPU of the hit.
 * Inherited events are.  The kernel always counts such a hit, but samples it only while the task
 * runs (since 6.18.y; before, always).  The count therefore does not show missing samples. */
static bool counts_for_sleepers(const struct engine *engine, unsigned int index)
{
	enum tracefs_kind trace = engine->choices[index].spec.trace;

	return engine->status.scope == SCOPE_INHERIT && !choice_reads(engine, index) &&
		(trace == TRACEFS_WAKEUP || trace == TRACEFS_SCHEDSTAT);
}

/* Adds the counted and lost periods of an event with a fixed period.  An inherited event counts a
 * part of a period in each task; the sum of parts looks like whole periods. */
static void count_hits(
	struct engine *engine, struct point_event *event, uint64_t counted, uint64_t lost)
{
	struct choice *choice = &engine->choices[event->choice];
	bool inherit = event->point->tid >= 0 && event->point->cpu >= 0;
	uint64_t period = choice->attr.sample_period, hits = choice->coverage.hits;

	if (!choice_is_counted(engine, event->choice))
		return;
	/* In a group, the next sample also covers the difference of a lost one. */
	if (choice_reads(engine, event->choice))
		period = 1;
	else
		coverage_add_lost(&choice->coverage, lost, period);
	if ((!inherit || period == 1) && !counts_for_sleepers(engine, event->choice))
		coverage_add_count(&choice->coverage, &event->coverage, counted, period);
	/* The current period continues during a pause, but its hits have no samples. */
	if (engine->paused && !choice_reads(engine, event->choice))
		choice->coverage.hits = hits;
}

static void look_after_credit(
	struct engine *engine, struct point_event *event, bool silent, uint64_t lost)
{
	const struct point_event *leader = event->leader;

	silent |= event->stood;
	if (silent && !event->consumed && !event->point->on_exec && (!leader || !leader->stood))
		revive(engine, event);
	else if (lost && !event->credit.outstanding)
		(void)point_let_run(engine, event, credit_grant(&event->credit));
}

static void read_event(
	struct engine *engine, struct point_event *event, const struct sys_counts *tracker)
{
	struct engine_event_status *status = &engine->status.events[event->choice];
	struct choice *choice = &engine->choices[event->choice];
	uint64_t clock_ns = tracker->enabled_ns;
	struct sys_counts now;
	uint64_t ran_ns, armed_ns, running_ns, clock_ran_ns, lost, counted;
	bool runs = point_event_runs(engine, event), ran = choice_ran(engine, event->choice);
	bool inherit = event->point->tid >= 0 && event->point->cpu >= 0;
	bool is_clock = attr_is_clock(&choice->attr);

	if (read_counts(engine, event, &now))
		return;
	counted = now.value - event->last.value;
	if (!counts_for_sleepers(engine, event->choice))
		status->count += counted;
	lost = now.lost - event->last.lost;
	if (event->on_credit)
		credit_consume(&event->credit, lost);
	/* The kernel counts samples as lost while the user pauses the ring. */
	if (!engine->paused)
		status->lost += lost;
	count_hits(engine, event, counted, engine->paused ? 0 : lost);
	ran_ns = now.enabled_ns - event->last.enabled_ns;
	/* Without a tracker the clock is unknown; an inherited event never stops. */
	clock_ran_ns = clock_ns > event->clock_ns ? clock_ns - event->clock_ns : 0;
	if (inherit)
		clock_ran_ns = ran_ns;
	/* A cgroup's clock runs only with its tasks, so the CPU's clock is no measure for it. */
	if (choice->spec.cgroup)
		clock_ran_ns = 0;
	/* Nothing is missed while the user has switched it off. */
	if (!ran)
		clock_ran_ns = ran_ns;
	running_ns = now.running_ns - event->last.running_ns;
	if (is_clock && !engine->paused && engine->status.scope != SCOPE_CPU)
		coverage_add_clock(&choice->coverage, inherit ? running_ns : clock_ran_ns);
	/* The tracker is read first, so its total never exceeds that of an event that always had
	 * its CPU. */
	status->enabled_ns += enabled_there(engine, event, ran_ns, running_ns,
		tracker->running_ns > event->tracker_ran_ns
			? tracker->running_ns - event->tracker_ran_ns
			: 0);
	status->running_ns += running_ns;
	armed_ns = ran_ns;
	/* While throttled, its clock stops but its enabled time advances. */
	if (ran && is_clock && running_ns == ran_ns && counted < ran_ns)
		armed_ns = counted;
	coverage_add_time(&choice->coverage, &event->coverage, armed_ns, clock_ran_ns,
		event->point->tid < 0 ? attr_highest_hz(&choice->attr) : 0);
	event->stood = runs && !ran_ns && clock_ran_ns > STUCK_NS;
	if (event->on_credit && runs && !engine->stopped)
		look_after_credit(engine, event, !counted && ran_ns > STUCK_NS, lost);
	event->last = now;
	event->clock_ns = clock_ns;
	if (tracker->running_ns)
		event->tracker_ran_ns = tracker->running_ns;
}

/* Adds the time that a task ran since the last read. */
static void count_process(struct engine *engine, struct point *point, uint64_t clock_ns)
{
	struct follow_process *process =
		point->cpu < 0 ? follow_process(&engine->follow, point->pid) : NULL;

	if (process && clock_ns > point->clock_ns)
		process->counted_ns += clock_ns - point->clock_ns;
	point->clock_ns = clock_ns;
}

void engine_read_point(struct engine *engine, struct point *point)
{
	struct sys_counts tracker = {0};
	bool executed = false;

	if (point->tracker_fd >= 0 && !sys_read(point->tracker_fd, &engine->features, &tracker)) {
		engine->status.lost_side_band += tracker.lost - point->tracker_lost;
		point->tracker_lost = tracker.lost;
		count_process(engine, point, tracker.enabled_ns);
	}
	for (struct point_event *event = point->events; event; event = event->next) {
		read_event(engine, event, &tracker);
		executed |= event->last.enabled_ns > 0;
	}
	/* The record of the exec may be lost. */
	if (point->on_exec && executed)
		point_executed(engine, point);
	point->active = false;
	point->has_lost = false;
}

/* Reads the counters of active points, and some quiet ones in turn.  A point with a stopped event
 * delivers nothing and looks quiet. */
static void read_points(struct engine *engine, bool all)
{
	size_t quiet = 0;

	for (size_t i = 0; i < engine->n_points; i++)
		if (all || engine->points[i]->active || engine->points[i]->has_lost)
			engine_read_point(engine, engine->points[i]);
	if (all)
		return;
	while (quiet++ < QUIET_READS && quiet <= engine->n_points) {
		if (engine->tick.read_cursor >= engine->n_points)
			engine->tick.read_cursor = 0;
		engine_read_point(engine, engine->points[engine->tick.read_cursor++]);
	}
}

/* Notes unreadable processes each time their number doubles, and the total at the end. */
static void note_unread(struct engine *engine, bool all)
{
	const struct tasks_unread *unread = tasks_unread(engine->ingest.tasks);
	uint64_t told = engine->tick.noted_unread;

	/* A retry may have succeeded for some. */
	if (told > unread->processes)
		told = engine->tick.noted_unread = unread->processes;
	if (unread->processes == told || (!all && unread->processes < 2 * told))
		return;
	engine->tick.noted_unread = unread->processes;
	engine_note(engine, NOTE_MAPS_UNREAD, unread->error, unread->pid, unread->processes, NULL);
}

static void note_changes(struct engine *engine, bool all)
{
	for (size_t i = 0; i < engine->status.n_events; i++) {
		struct engine_event_status *status = &engine->status.events[i];
		struct choice *choice = &engine->choices[i];

		if (status->lost > choice->noted_lost) {
			engine_note(engine, NOTE_LOST, 0, 0, status->lost - choice->noted_lost,
				status->name);
			choice->noted_lost = status->lost;
		}
		if (choice->spent > choice->noted_spent) {
			engine_note(engine, NOTE_CREDIT_SPENT, 0, 0,
				choice->spent - choice->noted_spent, status->name);
			choice->noted_spent = choice->spent;
		}
		if (status->throttled > choice->noted_throttled) {
			engine_note(engine, NOTE_THROTTLED, 0, 0,
				status->throttled - choice->noted_throttled, status->name);
			choice->noted_throttled = status->throttled;
			choice->throttle_noted = true;
		} else if (choice->throttle_noted && !choice->throttled_now) {
			engine_note(engine, NOTE_UNTHROTTLED, 0, 0, 0, status->name);
			choice->throttle_noted = false;
		}
	}
	if (engine->tick.noted_corrupt) {
		engine_note(engine, NOTE_CORRUPT_RING, 0, 0, engine->tick.noted_corrupt, NULL);
		engine->tick.noted_corrupt = 0;
	}
	if (engine->status.tasks_missed > engine->tick.noted_missed) {
		engine_note(engine, NOTE_TASKS_MISSED, 0, 0,
			engine->status.tasks_missed - engine->tick.noted_missed, NULL);
		engine->tick.noted_missed = engine->status.tasks_missed;
	}
	if (engine->status.records_dropped > (all ? 1 : 2) * engine->tick.noted_dropped) {
		engine->tick.noted_dropped = engine->status.records_dropped;
		engine_note(engine, NOTE_RECORDS_DROPPED, 0, 0, engine->tick.noted_dropped, NULL);
	}
	note_unread(engine, all);
	if (engine->status.store.merges && !engine->tick.coarsened_noted) {
		engine->tick.coarsened_noted = true;
		engine_note(engine, NOTE_COARSENED, 0, 0, 0, NULL);
	}
	if (engine->status.store.fields_dropped && !engine->tick.fields_noted) {
		engine->tick.fields_noted = true;
		engine_note(engine, NOTE_FIELDS_DROPPED, 0, 0, 0, NULL);
	}
}

/* Notes a clock that misses many short-lived tasks.  A clock's timer restarts in each task, and if
 * inherited on each CPU: that is `places` per task.  The last part of a period has no sample there.
 * If more time than these parts is missing, the cause is another one. */
static void note_short_lived(
	struct engine *engine, unsigned int index, double period_ns, size_t places)
{
	const struct engine_event_status *status = &engine->status.events[index];
	const struct engine_config *config = &engine->config;
	struct choice *choice = &engine->choices[index];
	const double parts_ns = (double)places * period_ns;
	const double open_ns = (double)engine->status.threads * parts_ns;
	const double missing_ns =
		status->coverable - status->covered - (double)status->lost * period_ns - open_ns;
	const bool has_remedy =
		engine->scope.cpu_wide && !config->until_exec && !config->inherit_stat;

	if (choice->short_lived_noted || status->throttled ||
		missing_ns < SHORT_LIVED_SHARE * status->coverable ||
		missing_ns > (double)engine->n_born * parts_ns + open_ns)
		return;
	choice->short_lived_noted = true;
	engine_note(engine, NOTE_SHORT_LIVED, has_remedy ? 0 : EACCES, 0, 0, status->name);
}

/* Returns whether the weight of a clock's samples reveals the kernel's gaps. */
static bool is_weighed(const struct engine *engine, unsigned int index)
{
	const struct choice *choice = &engine->choices[index];

	/* A BPF program discards samples; a leader's samples carry the counts of its group. */
	return attr_is_clock(&choice->attr) && !choice->spec.bpf && !choice_reads(engine, index);
}

static bool has_point(int cpu, const void *ctx)
{
	const struct engine *engine = ctx;

	for (size_t i = 0; i < engine->n_points; i++)
		if (engine->points[i]->cpu == cpu)
			return true;
	return false;
}

/* Whether an event could sample all tasks on its CPUs since the last reading. */
static bool samples_all_tasks(const struct engine *engine, unsigned int index)
{
	const struct choice *choice = &engine->choices[index];

	return engine->status.scope == SCOPE_CPU && !engine->flight.on && !engine->paused &&
		choice->open && is_weighed(engine, index) && choice_ran(engine, index) &&
		!choice->spec.cgroup;
}

/* Adds the time that tasks ran on the sampled CPUs.  A CPU's own clock also runs while it is idle,
 * and then there may be no samples: they are not wanted, or the timer sleeps with the CPU. */
static void add_task_time(struct engine *engine)
{
	const double tick_ns = (double)NS_PER_S / (double)sysconf(_SC_CLK_TCK);
	struct tick *tick = &engine->tick;
	const struct tasktime before = tick->tasks;
	const uint64_t before_ns = tick->tasks_ns;
	const bool same = tick->task_points && tick->task_points == engine->n_points;
	bool wanted = false;
	double ran_ns = 0;
	char *text;

	for (unsigned int i = 0; i < engine->status.n_events; i++)
		wanted |= samples_all_tasks(engine, i);
	tick->task_points = 0;
	if (wanted && !sysfile_read(&text, NULL, "/proc/stat")) {
		tick->tasks = tasktime_read(text, has_point, engine);
		tick->tasks_ns = sys_now_ns();
		tick->task_points = engine->n_points;
		free(text);
	}
	if (same && tick->task_points)
		ran_ns = tick_ns *
			tasktime_since(&before, &tick->tasks,
				(double)(tick->tasks_ns - before_ns) / tick_ns *
					(double)engine->n_points);
	for (unsigned int i = 0; i < engine->status.n_events; i++) {
		struct choice *choice = &engine->choices[i];
		const bool sampled = samples_all_tasks(engine, i);

		if (sampled && choice->task_timed)
			coverage_add_clock(&choice->coverage, (uint64_t)ran_ns);
		choice->task_timed = sampled;
	}
}

static double clock_period_ns(const struct perf_event_attr *attr)
{
	return attr->freq ? (double)NS_PER_S / (double)attr->sample_freq
			  : (double)attr->sample_period;
}

static void settle_clock(struct engine *engine, unsigned int index, bool final)
{
	struct engine_event_status *status = &engine->status.events[index];
	const struct choice *choice = &engine->choices[index];
	const double period_ns = clock_period_ns(&choice->attr);
	const bool by_task = engine->status.scope == SCOPE_TASK;
	/* The current period of each task or CPU has no sample yet. */
	double rest_ns = (double)(engine->n_points + status->lost) * period_ns;
	const double tick_ns = (double)NS_PER_S / (double)sysconf(_SC_CLK_TCK);

	coverage_by_time(&choice->coverage, &status->covered, &status->coverable);
	/* A clock of user or kernel space alone counts the time of both; a flight recorder drops
	 * samples. */
	if (choice->attr.exclude_kernel || choice->attr.exclude_user || engine->flight.on)
		return;
	if (by_task && (double)choice->coverage.clock_ran_ns < WEIGHED_SAMPLES * period_ns)
		return;
	if (!by_task)
		rest_ns +=
			tasktime_excess((double)choice->coverage.clock_ran_ns, tick_ns, period_ns);
	coverage_bound_by_weight(
		&choice->coverage, rest_ns, final, &status->covered, status->coverable);
	if (by_task)
		note_short_lived(engine, index, period_ns, 1);
}

static void settle_inherited_clock(struct engine *engine, unsigned int index)
{
	struct engine_event_status *status = &engine->status.events[index];
	const struct choice *choice = &engine->choices[index];
	const struct perf_event_attr *attr = &choice->attr;
	const double period_ns = clock_period_ns(attr);

	/* A clock of user or kernel space alone counts the time of both, so the share with samples
	 * is unknown. */
	if (attr->exclude_kernel || attr->exclude_user) {
		status->covered = status->coverable = 0;
		return;
	}
	coverage_by_weight(&choice->coverage, &status->covered, &status->coverable);
	if (status->coverable < WEIGHED_SAMPLES * period_ns)
		coverage_by_time(&choice->coverage, &status->covered, &status->coverable);
	else
		note_short_lived(engine, index, period_ns, engine->scope.n_cpus);
}

static void settle_late(struct engine *engine, unsigned int index)
{
	struct engine_event_status *status = &engine->status.events[index];
	const struct coverage *coverage = &engine->choices[index].coverage;

	if (engine->status.scope != SCOPE_TASK)
		return;
	if (status->coverable > 0)
		coverage_with_late(coverage, choice_is_counted(engine, index), &status->coverable);
	if (engine->tick.late_noted || coverage->late_ns < LATE_MIN_NS ||
		coverage_late_share(coverage) < LATE_SHARE)
		return;
	engine->tick.late_noted = true;
	engine_note(engine, NOTE_BORN_LATE, engine->scope.cpu_wide ? 0 : EACCES, 0, 0, NULL);
}

static void settle_coverage(struct engine *engine)
{
	bool final = engine->stopped || !engine->n_points;

	for (unsigned int i = 0; i < engine->status.n_events; i++) {
		struct engine_event_status *status = &engine->status.events[i];
		struct coverage *coverage = &engine->choices[i].coverage;
		bool reads = choice_reads(engine, i);
		uint64_t held_back = coverage_held_back(coverage, final);

		status->coverable = 0;
		if (choice_is_counted(engine, i))
			coverage_by_count(coverage, held_back,
				reads ? 1 : engine->choices[i].attr.sample_period, &status->covered,
				&status->coverable);
		status->held_back = status->coverable > 0 && !reads ? held_back : 0;
		if (counts_for_sleepers(engine, i))
			status->count = coverage->weight + coverage->lost_weight;
		status->lost_of_all = engine->filter && status->filtered;
		/* The event has counts, but no whole period in any task, so time does not measure
		 * it. */
		if (is_weighed(engine, i) && engine->status.scope == SCOPE_INHERIT)
			settle_inherited_clock(engine, i);
		else if (is_weighed(engine, i))
			settle_clock(engine, i, final);
		else if (!(status->coverable > 0) &&
			!(choice_is_counted(engine, i) && status->count))
			coverage_by_time(coverage, &status->covered, &status->coverable);
		settle_late(engine, i);
		/* For the rest of the time other events had the hardware. */
		if (status->running_ns < status->enabled_ns)
			status->covered *= (double)status->running_ns / (double)status->enabled_ns;
		/* Its counter stopped for an unknown time. */
		if (status->throttled && attr_is_hardware(&engine->choices[i].attr))
			status->coverable = 0;
		/* It was not open everywhere. */
		if (engine->choices[i].unmeasured)
			status->coverable = 0;
		coverage_end_reading(coverage);
	}
}

void engine_tick(struct engine *engine, bool all)
{
	read_points(engine, all);
	attach_settle_missed(engine);
	add_task_time(engine);
	missing_add(engine);
	settle_coverage(engine);
	note_changes(engine, all);
	span_tick(engine);
	/* Entries that the flight recorder's samples may need are kept. */
	follow_expire(&engine->follow, flight_begin_ns(engine, engine->round.begun_ns - NS_PER_S));
	tasks_expire(engine->ingest.tasks, engine->round.begun_ns - NS_PER_S);
}

static void publish_followed(struct engine *engine)
{
	int32_t *pids, *old;
	size_t n;

	if (!engine->followed_changed || follow_pids(&engine->follow, &pids, &n))
		return;
	pthread_mutex_lock(&engine->lock);
	old = engine->followed;
	engine->followed = pids;
	engine->n_followed = n;
	pthread_mutex_unlock(&engine->lock);
	free(old);
	engine->followed_changed = false;
}

/* Returns the samples lost by the events that a derived event is made of. */
static uint64_t lost_of_parts(const struct engine_status *status, enum event_span span)
{
	uint64_t switches = 0, clock = 0;

	for (size_t i = 0; i < status->n_events; i++) {
		const struct engine_event_status *event = &status->events[i];

		/* Both events of switches report the same records. */
		if (event_is_of_switches(event->span) && event->lost > switches)
			switches = event->lost;
		else if (!event->span && event->is_clock && !clock)
			clock = event->lost;
	}
	return switches + (span == EVENT_SPAN_WALL ? clock : 0);
}

static bool is_over(const struct engine_status *status)
{
	return status->state == ENGINE_ENDED || status->state == ENGINE_STOPPED;
}

static void show_copies(struct engine *engine)
{
	struct engine_status *status = &engine->status;

	status->chains.stack_bytes = 0;
	for (unsigned int i = 0; i < status->n_events; i++) {
		struct engine_event_status *event = &status->events[i];

		if (!engine->choices[i].open)
			continue;
		event->stack_bytes = stack_copied(engine, i);
		if (event->stack_bytes > status->chains.stack_bytes)
			status->chains.stack_bytes = event->stack_bytes;
	}
}

void engine_publish(struct engine *engine)
{
	struct engine_status *status = &engine->status;

	/* Rounds continue after the end, but the duration stays. */
	if (!is_over(&engine->shared) || !is_over(status))
		status->now_ns = engine->round.begun_ns;
	status->paused = engine->paused;
	status->flight_holds_s = engine->flight.holds_s;
	status->processes = engine->filter ? engine->follow.alive : 0;
	status->threads = engine->filter ? (uint32_t)engine->follow.tasks.n : 0;
	status->threads_left_out = engine->follow.left_out;
	store_status(engine->ingest.store, &status->store);
	publish_followed(engine);
	ingest_unwind_totals(&engine->ingest, &status->chains);
	status->call_graph = change_find_call_graph(&engine->config);
	show_copies(engine);
	pthread_mutex_lock(&engine->lock);
	engine->shared = *status;
	for (size_t i = 0; i < status->n_events; i++) {
		struct engine_event_status *event = &engine->shared.events[i];

		event->chains = engine->ingest.ends[event->id];
		if (event->span && !event_is_of_switches(event->span))
			event->lost = lost_of_parts(status, event->span);
		event->enabled = choice_runs(engine, (unsigned int)i);
		event->in_error = engine->choices[i].errors ||
			engine->choices[engine->choices[i].leader].errors;
	}
	pthread_mutex_unlock(&engine->lock);
	if (engine->news)
		(void)!eventfd_write(engine->notify_fd, 1);
	engine->news = false;
}
