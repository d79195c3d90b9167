// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * snapshot.c - moves the flight recorder's samples into the store.
 *
 * The rings are copied while their output is paused.  Samples of all rings are taken in by time,
 * together with the held side-band records.  Runs in the sampling thread.
 */
#include "sampler/base/grow.h"
#include "sampler/control/note.h"
#include "sampler/control/status.h"
#include "sampler/engine/internal.h"

#include <errno.h>
#include <stdlib.h>

#define SAMPLES_AT_ONCE 4096 /* samples between checks of the store's budget */
#define TABLES_NS 1000000000ull /* the most that a snapshot waits for unwind tables */

struct entry {
	uint64_t time_ns;
	size_t place; /* order of collection, newest first */
	const struct perf_event_header *header;
	unsigned int choice;
	bool of_task;
};

struct entries {
	struct engine *engine;
	const struct flight_kept *kept; /* the copy being read */
	uint64_t begin_ns; /* older samples are skipped */
	uint64_t oldest_ns; /* oldest sample of that copy */
	uint64_t reach_ns; /* samples before this time were overwritten; 0: none */
	struct entry *at;
	size_t n, capacity;
};

static const struct flight_event *find_event(const struct flight_kept *kept, uint64_t id)
{
	const struct flight_event *sharing = NULL;
	size_t n_sharing = 0;

	for (size_t i = 0; i < kept->n_events; i++) {
		if (kept->events[i].id == id)
			return &kept->events[i];
		if (kept->events[i].may_share) {
			sharing = &kept->events[i];
			n_sharing++;
		}
	}
	return n_sharing == 1 ? sharing : NULL;
}

/* Returns whether the event is still open and unchanged since the copy. */
static bool is_current(const struct engine *engine, const struct flight_event *event)
{
	const struct choice *choice = &engine->choices[event->choice];

	return choice->open && engine->status.events[event->choice].id == event->event &&
		choice->format.sample_type == event->sample_type;
}

static void take_other(struct entries *entries, const struct perf_event_header *header)
{
	struct engine *engine = entries->engine;
	const struct flight_event *event;
	struct record record;

	if (record_decode(&record, header, &engine->format))
		return;
	/* If the kernel counts losses per event, they are read from the event. */
	if (record.type == PERF_RECORD_LOST && !engine->features.lost) {
		event = find_event(entries->kept, record.lost.id);
		if (event)
			engine->status.events[event->choice].lost += record.lost.lost;
	} else if (record.type == PERF_RECORD_THROTTLE) {
		event = find_event(entries->kept, record.throttle.id);
		if (event)
			engine->status.events[event->choice].throttled++;
	}
}

static int collect(const struct perf_event_header *header, void *ctx)
{
	struct entries *entries = ctx;
	const uint64_t *id = (const uint64_t *)(header + 1);
	const struct flight_event *event;
	uint64_t time_ns;

	if (header->type != PERF_RECORD_SAMPLE) {
		take_other(entries, header);
		return 0;
	}
	if (header->size < sizeof(*header) + sizeof(*id))
		return 0;
	time_ns = record_time(header, &entries->engine->format);
	entries->oldest_ns = time_ns;
	event = find_event(entries->kept, *id);
	/* The event was dropped or reopened. */
	if (!event || !is_current(entries->engine, event))
		return 0;
	if (time_ns < entries->begin_ns)
		return 0;
	if (grow_items(&entries->at, &entries->capacity, entries->n + 1, sizeof(*entries->at)))
		return -ENOMEM;
	entries->at[entries->n] = (struct entry){
		.time_ns = time_ns,
		.place = entries->n,
		.header = header,
		.choice = event->choice,
		.of_task = entries->kept->of_task,
	};
	entries->n++;
	return 0;
}

/* Returns 0, or -ENOMEM if older samples are missing. */
static int collect_all(struct entries *entries, const struct flight_kept *kept)
{
	int ret = 0;

	for (; kept && ret != -ENOMEM; kept = kept->next) {
		entries->kept = kept;
		entries->oldest_ns = 0;
		ret = backward_walk(&kept->copy, collect, entries);
		if (ret == -EBADMSG)
			entries->engine->tick.noted_corrupt++;
		if (!kept->copy.overwritten || !entries->oldest_ns)
			continue;
		if (entries->oldest_ns < entries->begin_ns)
			entries->oldest_ns = entries->begin_ns;
		if (entries->oldest_ns > entries->reach_ns)
			entries->reach_ns = entries->oldest_ns;
	}
	return ret == -ENOMEM ? ret : 0;
}

/* Orders by time.  At equal times, a later place in a copy means written earlier. */
static int compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->place > b->place ? -1 : 1;
}

static void take_all(struct engine *engine, const struct entries *entries)
{
	engine->pending.until_ns = sys_now_ns() + TABLES_NS;
	for (size_t i = 0; i < entries->n; i++) {
		const struct entry *entry = &entries->at[i];

		flight_let_in(engine, entry->time_ns);
		round_take_sample(engine, entry->choice, NULL, entry->header, entry->of_task);
		if (i % SAMPLES_AT_ONCE == SAMPLES_AT_ONCE - 1)
			store_maintain(engine->ingest.store);
	}
	engine->pending.until_ns = 0;
}

static uint64_t stored(const struct engine *engine)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < engine->status.n_events; i++)
		samples += engine->status.events[i].samples;
	return samples;
}

/* Disables or enables a point's events.  A sample refused by a paused ring counts as lost; the time
 * of a disabled event only lacks coverage. */
static void let_events_run(struct engine *engine, const struct point *point, bool run)
{
	for (struct point_event *event = point->events; event; event = event->next) {
		if (engine->choices[event->choice].counts_only ||
			!point_event_runs(engine, event) || point->on_exec)
			continue;
		if (run)
			(void)point_let_run(engine, event, 0);
		else
			(void)sys_disable(event->fd);
	}
}

/* Copies all rings, and puts the copies before those of closed points in the list.  All rings stop
 * before the first copy, so that they end together; each resumes after its copy. */
static void copy_rings(struct engine *engine)
{
	for (size_t i = 0; i < engine->n_points && !engine->paused && !engine->stopped; i++)
		if (engine->points[i]->flight)
			let_events_run(engine, engine->points[i], false);
	flight_pause(engine, true);
	for (size_t i = 0; i < engine->n_points; i++) {
		struct point *point = engine->points[i];
		struct flight_kept *kept;

		if (!point->flight)
			continue;
		kept = flight_copy(engine, point);
		if (!engine->paused && !engine->stopped) {
			sys_pause(point->flight->fd, false);
			let_events_run(engine, point, true);
		}
		if (!kept)
			continue;
		kept->next = engine->flight.kept;
		engine->flight.kept = kept;
		engine->flight.kept_bytes += kept->copy.len;
	}
}

static void tell(
	struct engine *engine, const struct entries *entries, uint64_t now_ns, uint64_t samples)
{
	struct engine_note note = {.kind = NOTE_SNAPSHOT, .value = samples};

	if (entries->reach_ns)
		note.reach_ns = now_ns - entries->reach_ns;
	engine->status.snapshots++;
	engine_add_note(engine, &note);
}

void flight_snapshot(struct engine *engine)
{
	struct entries entries = {.engine = engine};
	uint64_t now_ns, before;

	if (!engine->flight.on || engine->status.state == ENGINE_FAILED)
		return;
	copy_rings(engine);
	now_ns = sys_now_ns();
	entries.begin_ns = flight_begin_ns(engine, now_ns);
	/* Side-band records of these samples may still be in the trackers' rings. */
	engine_round(engine, true, true);
	if (collect_all(&entries, engine->flight.kept))
		engine_note(engine, NOTE_SNAPSHOT, ENOMEM, 0, 0, NULL);
	if (entries.n)
		qsort(entries.at, entries.n, sizeof(*entries.at), compare);
	before = stored(engine);
	take_all(engine, &entries);
	flight_let_in(engine, now_ns);
	tap_time(engine, now_ns);
	tap_round(engine);
	store_seal(engine->ingest.store, now_ns, true);
	store_maintain(engine->ingest.store);
	tell(engine, &entries, now_ns, stored(engine) - before);
	free(entries.at);
	flight_forget_kept(engine);
	engine->round.begun_ns = now_ns;
}
