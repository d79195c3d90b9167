// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * group.c - groups of events.
 *
 * It opens a group as a unit on each point, splits weak groups, and distributes the counts of
 * counting members over the leader's samples.  Runs in the sampling thread.
 *
 * Each sampling member has its own credit.  When the leader's credit is spent the kernel stops the
 * whole group; when a member's is spent, only that member stops.
 */
#include "sampler/engine/group.h"
#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "sampler/engine/attr.h"
#include "sampler/engine/internal.h"
#include "sampler/engine/weaken.h"

#include <errno.h>
#include <stdlib.h>

/* Last values read by inherited events, by event id, for one task. */
struct task_reads {
	size_t n;
	struct {
		uint64_t id, value;
	} last[ENGINE_EVENTS_MAX];
};

bool group_leads(const struct engine *engine, unsigned int index)
{
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (i != index && engine->choices[i].open && engine->choices[i].leader == index)
			return true;
	return false;
}

static bool is_member(const struct engine *engine, unsigned int index, unsigned int leader)
{
	return engine->choices[index].open && engine->choices[index].leader == leader;
}

/* Errors of the target or of limits, not of the event. */
static bool is_targets(int ret)
{
	return ret == -ESRCH || ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM ||
		ret == -ENOBUFS;
}

static void drop_from_point(struct engine *engine, struct point *point, unsigned int leader)
{
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (i != leader && engine->choices[i].leader == leader)
			point_drop_event(engine, point, i);
	point_drop_event(engine, point, leader);
}

static void take_apart(struct engine *engine, unsigned int leader, int error)
{
	engine_note(engine, NOTE_UNGROUPED, error, 0, 0, engine->status.events[leader].name);
	for (unsigned int i = 0; i < engine->status.n_events; i++) {
		struct choice *choice = &engine->choices[i];

		if (!choice->open || choice->leader != leader)
			continue;
		choice->leader = i;
		choice->read_group = false;
		choice->counts_only = false;
		engine->status.events[i].group = 0;
		choice_set_format(engine, i);
		choice_show_rate(engine, i);
	}
}

/* Refuses the whole group: the refused member is noted with its error, the others with
 * ECANCELED. */
static void refuse(struct engine *engine, struct point *point, unsigned int leader,
	unsigned int refused, int error)
{
	if (engine->choices[leader].proven) {
		choice_refuse(engine, refused, error, point);
		return;
	}
	for (unsigned int i = 0; i < engine->status.n_events; i++) {
		if (!is_member(engine, i, leader))
			continue;
		engine->choices[i].settled = false;
		if (i != refused)
			choice_refuse(engine, i, ECANCELED, point);
	}
	choice_refuse(engine, refused, error, point);
	choice_drop(engine, leader);
}

static int open_one(struct engine *engine, struct point *point, unsigned int index)
{
	return choice_fits(engine, index, point) ? point_add_event(engine, point, index) : 0;
}

static int open_members(
	struct engine *engine, struct point *point, unsigned int leader, unsigned int *refused)
{
	for (unsigned int i = 0; i < engine->status.n_events; i++) {
		int ret;

		if (i == leader || !is_member(engine, i, leader))
			continue;
		ret = open_one(engine, point, i);
		*refused = i;
		if (ret)
			return ret;
	}
	return 0;
}

/* Starts members first, so that all count from the moment the leader starts. */
static void start(struct engine *engine, struct point *point, unsigned int leader)
{
	struct point_event *event;

	for (unsigned int i = 0; i < engine->status.n_events; i++) {
		event = i != leader && is_member(engine, i, leader) ? point_find_event(point, i)
								    : NULL;
		if (event)
			point_start_event(engine, event);
	}
	event = point_find_event(point, leader);
	if (event)
		point_start_event(engine, event);
}

static int open_alone(struct engine *engine, struct point *point, unsigned int index, bool live)
{
	int ret = open_one(engine, point, index);

	if (ret && !is_targets(ret) &&
		(live || point->tracker_fd >= 0 || engine->choices[index].settled))
		/* Without a tracker, the task itself may be the cause. */
		choice_refuse(engine, index, -ret, point);
	if (!ret && live)
		start(engine, point, index);
	return ret;
}

int group_open(struct engine *engine, struct point *point, unsigned int leader, bool live)
{
	struct choice *choice = &engine->choices[leader];
	bool members[ENGINE_EVENTS_MAX] = {false};
	unsigned int refused = leader;
	int ret;

	if (!group_leads(engine, leader))
		return open_alone(engine, point, leader, live);
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		members[i] = is_member(engine, i, leader);
	ret = open_one(engine, point, leader);
	if (!ret)
		ret = open_members(engine, point, leader, &refused);
	if (!ret) {
		choice->proven = true;
		if (live)
			start(engine, point, leader);
		return 0;
	}
	drop_from_point(engine, point, leader);
	if (is_targets(ret))
		return ret;
	if (!choice->spec.weak_group || choice->proven) {
		if (live || point->tracker_fd >= 0 || choice->settled)
			refuse(engine, point, leader, refused, -ret);
		return ret;
	}
	take_apart(engine, leader, -ret);
	for (unsigned int i = 0; i < engine->status.n_events; i++) {
		int error = members[i] ? open_alone(engine, point, i, live) : 0;

		if (error && is_targets(error))
			return error;
	}
	return 0;
}

/* --- samples that read their group --- */

static struct task_reads *reads_of(struct engine *engine, uint32_t tid)
{
	struct task_reads *reads = idmap_find(&engine->task_reads, tid);

	if (reads)
		return reads;
	reads = calloc(1, sizeof(*reads));
	if (reads && idmap_set(&engine->task_reads, tid, reads)) {
		free(reads);
		return NULL;
	}
	return reads;
}

static uint64_t *last_value(
	struct engine *engine, struct point_event *member, const struct record *record)
{
	struct task_reads *reads;
	size_t i = 0;

	if (member->point->tid < 0 || member->point->cpu < 0)
		return &member->read_value;
	reads = reads_of(engine, record->id.tid);
	if (!reads)
		return NULL;
	while (i < reads->n && reads->last[i].id != member->id)
		i++;
	/* There may be more ids than events: the task ran on other CPUs before. */
	if (i == ENGINE_EVENTS_MAX)
		i = member->id % ENGINE_EVENTS_MAX;
	if (i == reads->n)
		reads->n++;
	if (reads->last[i].id != member->id) {
		reads->last[i].id = member->id;
		reads->last[i].value = 0;
	}
	return &reads->last[i].value;
}

int group_take_sample(
	struct engine *engine, struct point_event *event, struct record *record, bool wanted)
{
	struct ingest_sample sample = {.record = record};
	struct record_read read;
	int ret = 0;

	if (!record->sample.has_more)
		return 0;
	read = record->sample.more.read;
	if (!wanted)
		engine->status.events[event->choice].filtered++;
	else
		sample.end = (uint8_t)pending_unwind_now(engine, event->choice, record);
	sample.hash = ingest_chain_hash(&engine->ingest, record);
	for (uint64_t i = 0; i < read.n; i++) {
		struct record_counter counter;
		struct point_event *member;
		uint64_t *last;
		int error;

		record_counter(&read, i, &counter);
		member = idmap_find(&engine->ids, counter.id);
		last = member ? last_value(engine, member, record) : NULL;
		if (!last)
			continue;
		/* The count since the last sample is the weight of this sample's stack, like in
		 * perf.  A count of 0 makes no sample. */
		record->sample.period = counter.value - *last;
		*last = counter.value;
		if (!record->sample.period || record->sample.period > INT64_MAX)
			continue;
		coverage_add_sample(&engine->choices[member->choice].coverage,
			record->sample.period, record->sample.period);
		if (!wanted)
			continue;
		member->coverage.samples += record->id.tid != 0;
		engine->status.events[member->choice].samples++;
		engine->status.events[member->choice].exact += record_is_exact(record);
		engine->choices[member->choice].tap_sum += record->sample.period;
		sample.event = engine->status.events[member->choice].id;
		error = ingest_samples(&engine->ingest, &sample, 1);
		ret = ret ? ret : error;
	}
	return ret;
}

void group_forget_task(struct engine *engine, int32_t tid)
{
	free(idmap_remove(&engine->task_reads, (uint32_t)tid));
}

void group_fini(struct engine *engine)
{
	size_t position = 0;
	void *reads;

	while ((reads = idmap_next(&engine->task_reads, &position)))
		free(reads);
	idmap_fini(&engine->task_reads);
}
