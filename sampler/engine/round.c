/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * round.c - a drain round: stores the records of all rings in time order.
 *
 * It then grants credit for the overflows that the records consumed.  Runs in the sampling thread.
 */
#include "sampler/base/grow.h"
#include "sampler/control/note.h"
#include "sampler/engine/group.h"
#include "sampler/engine/internal.h"
#include "sampler/engine/rate.h"
#include "sampler/kernel/attr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* With at most this many channels every round checks every ring; with more, inactive rings wait for
 * the sweep. */
#define FEW_CHANNELS 256
/* The tracepoint of a change of a task's name. */
#define RENAMES "task:task_rename"

bool round_cpu_wanted(const struct engine *engine, uint32_t cpu)
{
	return !engine->scope.cpu_wanted ||
		(cpu < engine->scope.cpu_wanted_len && engine->scope.cpu_wanted[cpu]);
}

static struct point_event *find_event(struct engine *engine, uint64_t id)
{
	if (!engine->round.last_event || engine->round.last_event->id != id)
		engine->round.last_event = idmap_find(&engine->ids, id);
	return engine->round.last_event;
}

static void touch(struct engine *engine, struct point_event *event)
{
	event->point->active = true;
	if (event->consumed++)
		return;
	if (grow_items(&engine->round.touched, &engine->round.touched_capacity,
		    engine->round.n_touched + 1, sizeof(*engine->round.touched))) {
		/* The next sample counts it again, or the tick restarts it. */
		event->consumed = 0;
		return;
	}
	engine->round.touched[engine->round.n_touched++] = event;
}

bool round_may_share_id(const struct engine *engine, unsigned int index)
{
	const struct perf_event_attr *attr = &engine->choices[index].attr;

	return !attr_is_clock(attr) &&
		(attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT);
}

/* Words of a sample: header, identifier, ip, task, time, address, CPU, period, value, two times,
 * id.  Address and period are optional. */
size_t round_own_id_at(const struct record_format *format)
{
	const uint64_t before = format->sample_type & (PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD);

	return 1 + 5 + (size_t)__builtin_popcountll(before) + 3;
}

/* Returns the event with the id that the sample reads; NULL if none. */
static struct point_event *find_telling_event(const struct engine *engine,
	const struct channel *channel, const struct perf_event_header *header)
{
	const uint64_t *words = (const uint64_t *)(const void *)header;

	for (struct point_event *event = channel->point->events; event; event = event->next) {
		const struct choice *choice = &engine->choices[event->choice];
		size_t at = round_own_id_at(&choice->format);

		if (choice->tells_id && (at + 1) * sizeof(*words) <= header->size &&
			words[at] == event->id)
			return event;
	}
	return NULL;
}

/* Raw data of a tracepoint begins with the tracepoint's id; samples of other software events have
 * no raw data. */
static bool is_of_tracepoint(const struct choice *choice, const struct perf_event_header *header)
{
	struct record record;
	uint16_t number;

	if (record_decode(&record, header, &choice->format) ||
		record.sample.raw_len < sizeof(number))
		return false;
	memcpy(&number, record.sample.raw, sizeof(number));
	return number == choice->attr.config;
}

/* Returns the event of a sample that carries another event's id.  Since 6.2 the kernel fills one
 * perf_sample_data for all software events that fire together (do_perf_sw_event()).  The id of the
 * first one, possibly another profiler's, stays in it.  The ring identifies the event if it has
 * only one candidate. */
static struct point_event *find_sharing_event(const struct engine *engine,
	const struct channel *channel, const struct perf_event_header *header)
{
	struct point_event *found = NULL;
	bool several = false, traced = false;

	if (!channel->point)
		return NULL;
	for (struct point_event *event = channel->point->events; event; event = event->next) {
		const struct choice *choice = &engine->choices[event->choice];

		if (!round_may_share_id(engine, event->choice) || choice->tells_id)
			continue;
		if (choice->attr.type == PERF_TYPE_TRACEPOINT &&
			choice->format.sample_type & PERF_SAMPLE_RAW) {
			if (!is_of_tracepoint(choice, header))
				continue;
			if (!traced) {
				found = NULL;
				several = false;
				traced = true;
			}
		} else if (traced) {
			continue;
		}
		/* Events of switches count as one. */
		several |=
			found && !(engine->choices[found->choice].spec.span && choice->spec.span);
		found = event;
	}
	return several ? NULL : found;
}

/* Until its exec, the command is a copy of strobe.  If the exec record is lost, the time decides.
 * Exec renames the task, which fires this tracepoint, before it writes the record. */
static bool is_before_exec(
	const struct engine *engine, unsigned int index, const struct record_id *id)
{
	return id->pid == (uint32_t)engine->status.command_pid && !engine->command_execed &&
		id->time_ns < engine->command_execed_ns &&
		strncmp(engine->status.events[index].name, RENAMES, strlen(RENAMES));
}

/* Whether a sample on a CPU is of its idle task.  In a pid namespace, all tasks outside have pid 0
 * too. */
static bool is_idle(const struct engine *engine, const struct record_id *id)
{
	return engine->status.scope == SCOPE_CPU && !id->tid && !engine->limits.pid_namespace;
}

static bool is_followed(const struct engine *engine, unsigned int index, const struct record_id *id)
{
	return !engine->filter ||
		(follow_wants(&engine->follow, id->pid, id->tid) &&
			!is_before_exec(engine, index, id));
}

/* The store counts failed allocations; later records may still fit. */
void round_take_sample(struct engine *engine, unsigned int index, struct point_event *event,
	const struct perf_event_header *header, bool of_task)
{
	struct choice *choice = &engine->choices[index];
	struct engine_event_status *status = &engine->status.events[index];
	struct record record;
	bool wanted;

	if (record_decode(&record, header, &choice->format)) {
		engine->status.unknown_records++;
		return;
	}
	rate_weigh(engine, index, event, &record);
	choice->record_bytes = credit_record_bytes(choice->record_bytes, header->size);
	choice->stack.seen++;
	wanted = round_cpu_wanted(engine, record.id.cpu) &&
		(of_task || is_followed(engine, index, &record.id));
	if (wanted)
		tap_time(engine, record.id.time_ns);
	span_pass(engine, record.id.time_ns);
	if (choice->spec.span) {
		/* The CPU filter applies when the time off the CPU ends, in add_span(). */
		if (is_followed(engine, index, &record.id))
			span_sample(engine, index, header, &record);
		return;
	}
	if (span_is_waking(engine, index))
		span_waking(engine, index, &record);
	if (event && choice->read_group) {
		(void)group_take_sample(engine, event, &record, wanted);
		if (wanted)
			tap_reads(engine, header, &record.sample, index);
		return;
	}
	if (!choice->attr.freq || attr_is_clock(&choice->attr))
		coverage_add_sample(&choice->coverage,
			attr_is_clock(&choice->attr) && is_idle(engine, &record.id)
				? 0
				: record.sample.period,
			1);
	if (!wanted) {
		status->filtered++;
		return;
	}
	/* Samples of the idle loop do not make a CPU busy. */
	if (event && record.id.tid)
		event->coverage.samples++;
	status->samples++;
	status->exact += record_is_exact(&record);
	pending_take(engine, index, header, &record);
}

static void take_sample(struct engine *engine, const struct channel *channel,
	const struct perf_event_header *header)
{
	const uint64_t *id = (const uint64_t *)(header + 1);
	struct point_event *event = NULL;

	if (channel->point && engine->round.tell_ids)
		event = find_telling_event(engine, channel, header);
	if (!event && header->size >= sizeof(*header) + sizeof(*id)) {
		event = find_event(engine, *id);
		/* A sample of this event would carry its own id. */
		if (event && engine->choices[event->choice].tells_id)
			event = NULL;
	}
	if (!event)
		event = find_sharing_event(engine, channel, header);
	if (!event) {
		/* The event was just dropped, or is one of several candidates. */
		engine->status.unknown_records++;
		return;
	}
	touch(engine, event);
	round_take_sample(engine, event->choice, event, header, false);
}

static void take_lost(struct engine *engine, struct channel *channel, const struct record *record)
{
	struct point_event *event = find_event(engine, record->lost.id);

	if (record->type == PERF_RECORD_LOST_SAMPLES) {
		if (event)
			engine->status.events[event->choice].lost += record->lost.lost;
		return;
	}
	channel->lost += record->lost.lost;
	if (channel->wakes) {
		engine->wakes.lost += record->lost.lost;
		return;
	}
	span_lost(engine, channel);
	engine->targets.rescan_again |= engine->targets.check_position > 0;
	engine->targets.rescan = true;
	if (channel->point)
		channel->point->has_lost = true;
	if (engine->features.lost && channel->point && channel->point->tracker_fd >= 0)
		return; /* the events report exact numbers */
	if (event && !engine->features.lost) {
		engine->status.events[event->choice].lost += record->lost.lost;
		credit_consume(&event->credit, record->lost.lost);
	} else if (!event) {
		engine->status.lost_side_band += record->lost.lost;
	}
}

static void take_throttle(
	struct engine *engine, const struct perf_event_header *header, const struct record *record)
{
	const struct point_event *event = find_event(engine, record->throttle.id);

	if (!event)
		return;
	if (record->type == PERF_RECORD_THROTTLE) {
		engine->status.events[event->choice].throttled++;
		engine->choices[event->choice].throttled_now = true;
	} else {
		engine->choices[event->choice].throttled_now = false;
	}
	tap_sample(engine, header, event->choice, NULL);
}

/* A thread's count of an inherited event, written when the thread ends (inherit_stat).  Only
 * recordings need it. */
static void take_read(
	struct engine *engine, const struct perf_event_header *header, const struct record *record)
{
	const struct point_event *event = find_event(engine, record->id.id);

	if (event && !engine->choices[event->choice].read_group)
		tap_sample(engine, header, event->choice, NULL);
}

/* Passes a side-band record to the store and to the tap. */
int round_take_in(struct engine *engine, const struct perf_event_header *header,
	const struct record *record, bool tap)
{
	int ret;

	pending_settle(engine, record);
	ret = ingest_record(&engine->ingest, record, 0);
	if (tap)
		tap_side_band(engine, header);
	return ret;
}

static int take_in(
	struct engine *engine, const struct perf_event_header *header, const struct record *record)
{
	return engine->flight.on ? flight_hold(engine, header, record, true)
				 : round_take_in(engine, header, record, true);
}

static int take_exit(
	struct engine *engine, const struct perf_event_header *header, const struct record *record)
{
	bool tap = !engine->filter ||
		follow_wants(&engine->follow, record->task.pid, record->task.tid);

	if (tap)
		span_end_task(engine, (int32_t)record->task.tid, record->id.time_ns);
	return engine->flight.on ? flight_hold(engine, header, record, tap)
				 : round_take_in(engine, header, record, tap);
}

static void take_switch(
	struct engine *engine, const struct perf_event_header *header, const struct record *record)
{
	const struct point_event *event = find_event(engine, record->id.id);

	if (event)
		span_switch(engine, event->choice, header, record);
}

static int take_comm(
	struct engine *engine, const struct perf_event_header *header, const struct record *record)
{
	const struct follow_process *process =
		follow_process(&engine->follow, (int32_t)record->comm.pid);
	int ret = 0, taken;

	if (record->comm.exec)
		span_forget_task(engine, (int32_t)record->comm.tid);
	engine->command_execed |=
		record->comm.exec && (int32_t)record->comm.pid == engine->status.command_pid;
	if (record->comm.exec && process)
		ret = target_exec(engine, (int32_t)record->comm.pid);
	if (engine->filter && !follow_wants(&engine->follow, record->comm.pid, record->comm.tid))
		return ret;
	if (record->comm.exec && process && process->root)
		engine_note(engine, NOTE_TARGET_EXEC, 0, process->pid, 0, record->comm.comm);
	taken = take_in(engine, header, record);
	return ret ? ret : taken;
}

static int take_side_band(
	struct engine *engine, struct channel *channel, const struct perf_event_header *header)
{
	struct record record;
	int ret = record_decode(&record, header, &engine->format), followed = 0;

	if (ret) {
		engine->status.unknown_records++;
		return 0;
	}
	tap_time(engine, record.id.time_ns);
	if (engine->scope.switch_ns &&
		channel->old != (record.id.time_ns < engine->scope.switch_ns))
		/* Both scopes report it: the old one's record counts before switch_ns, the new
		 * one's after. */
		return 0;
	/* The kernel writes fork records for every event that requests mappings; only those in the
	 * thread's own fork ring count. */
	if ((record.type == PERF_RECORD_FORK || record.type == PERF_RECORD_EXIT) &&
		channel->point && channel->point->side && !channel->side)
		return 0;
	switch (record.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		/* The kernel's own mappings have pid -1. */
		if (!engine->filter || follow_process(&engine->follow, (int32_t)record.mmap.pid))
			ret = take_in(engine, header, &record);
		break;
	case PERF_RECORD_COMM:
		ret = take_comm(engine, header, &record);
		break;
	case PERF_RECORD_FORK:
		span_forget_task(engine, (int32_t)record.task.tid);
		if (!engine->filter || follow_process(&engine->follow, (int32_t)record.task.ppid)) {
			ret = take_in(engine, header, &record);
			engine->n_born++;
		}
		if (engine->filter)
			followed = target_fork(engine, &record.task);
		break;
	case PERF_RECORD_EXIT:
		/* Also for threads no longer followed, so that ingest forgets them. */
		ret = take_exit(engine, header, &record);
		if (engine->filter)
			target_exit(engine, (int32_t)record.task.tid, record.task.time_ns);
		break;
	case PERF_RECORD_KSYMBOL:
		engine->status.ksymbols++;
		ret = take_in(engine, header, &record);
		break;
	case PERF_RECORD_BPF_EVENT:
		engine->status.bpf_events++;
		ret = take_in(engine, header, &record);
		break;
	case PERF_RECORD_READ:
		take_read(engine, header, &record);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		take_lost(engine, channel, &record);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		take_switch(engine, header, &record);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		take_throttle(engine, header, &record);
		break;
	default:
		engine->status.unknown_records++;
		break;
	}
	return ret ? ret : followed;
}

static int take_record(const struct perf_event_header *header, void *owner, void *ctx)
{
	const struct channel *channel = owner;

	/* The store counts samples that it had no memory for.  Later records may still fit. */
	if (header->type == PERF_RECORD_SAMPLE && channel->wakes)
		wake_sample(ctx, header);
	else if (header->type == PERF_RECORD_SAMPLE)
		take_sample(ctx, owner, header);
	else if (take_side_band(ctx, owner, header) == -ENOMEM)
		((struct engine *)ctx)->status.records_dropped++;
	return 0;
}

static void give_back(struct engine *engine)
{
	for (size_t i = 0; i < engine->round.n_touched; i++) {
		struct point_event *event = engine->round.touched[i];
		uint32_t n;

		if (!event)
			continue;
		const bool spent =
			event->on_credit && credit_consume(&event->credit, event->consumed);
		if (event->on_credit && !engine->stopped && point_event_runs(engine, event)) {
			if (spent) {
				engine->choices[event->choice].spent++;
				engine->status.events[event->choice].stood_still++;
				/* Its CPU may not have disabled it yet, and would otherwise do so
				 * after the refresh. */
				sys_disable(event->fd);
			}
			event->credit.target = credit_target(ring_size(event->point->channel->ring),
				event->point->channel->n_events,
				engine->choices[event->choice].record_bytes);
			n = credit_grant(&event->credit);
			if (n)
				(void)point_let_run(engine, event, n);
		}
		event->consumed = 0;
	}
	engine->round.n_touched = 0;
}

static void watch_corruption(struct engine *engine, struct channel *channel)
{
	uint64_t corrupt = ring_corrupt(channel->ring);

	engine->tick.noted_corrupt += corrupt - channel->corrupt;
	channel->corrupt = corrupt;
}

void engine_round(struct engine *engine, bool all, bool final)
{
	size_t n = 0;

	engine->round.begun_ns = sys_now_ns();
	all = all || final || engine->n_channels <= FEW_CHANNELS;
	for (size_t i = 0; i < engine->n_channels; i++) {
		struct channel *channel = engine->channels[i];

		if (!all && !channel->active && !channel->side)
			continue;
		ring_refresh(channel->ring);
		channel->active = ring_pending(channel->ring) > 0;
		if (channel->active)
			engine->round.sources[n++] =
				(struct merge_source){channel->ring, channel, NULL, 0};
	}
	merge_drain(engine->round.sources, n, &engine->format,
		final ? UINT64_MAX : engine->round.begun_ns, take_record, engine);
	for (size_t i = 0; i < n; i++) {
		struct channel *channel = engine->round.sources[i].owner;

		ring_release(channel->ring);
		watch_corruption(engine, channel);
	}
	give_back(engine);
	round_close_doomed(engine);
	tap_time(engine, engine->round.begun_ns);
	if (all && !engine->flight.on)
		tap_round(engine);
}

void round_drain_channel(struct engine *engine, struct channel *channel)
{
	struct merge_source source = {channel->ring, channel, NULL, 0};

	ring_refresh(channel->ring);
	merge_drain(&source, 1, &engine->format, UINT64_MAX, take_record, engine);
	ring_release(channel->ring);
	watch_corruption(engine, channel);
	tap_time(engine, engine->round.begun_ns);
}

/* Closes the points of ended threads, after draining their rings a last time. */
void round_close_doomed(struct engine *engine)
{
	while (engine->round.have_doomed) {
		engine->round.have_doomed = false;
		for (size_t i = engine->n_points; i-- > 0;) {
			struct point *point = engine->points[i];

			if (!point->doomed)
				continue;
			if (point->side)
				round_drain_channel(engine, point->side);
			if (point->channel && point->channel->point == point)
				round_drain_channel(engine, point->channel);
			point_close(engine, point);
		}
	}
	give_back(engine);
}
