/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pending.c - samples that wait for unwind tables.  Runs in the sampling thread.
 *
 * A sample triggers the loading of tables, which arrive some milliseconds later.  Until then
 * samples are copied out of their rings.  After PENDING_NS, or beyond PENDING_BYTES, they are
 * ingested with the kernel's call chain.  So are those of a task that gets another name or other
 * code: their addresses mean what they meant before.
 *
 * A chain by frame pointers waits for the table of its outermost code, which shows whether it is
 * whole.  Without the table it counts as broken.
 */
#include "sampler/base/grow.h"
#include "sampler/engine/internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PENDING_BYTES (16u << 20)
#define PENDING_NS 1000000000ull
#define TABLE_NS 250000000ull /* the most that a snapshot waits for one table */
#define PAUSE_NS 1000000

struct held {
	size_t len; /* length of the record, which follows */
	uint64_t period; /* weight of the sample */
	int32_t pid, tid;
	unsigned int index; /* index of the choice */
	uint8_t id; /* event id, to detect that another event took the index */
};

static bool hold(struct engine *engine, unsigned int index, const struct perf_event_header *header,
	const struct record *record)
{
	struct pending *pending = &engine->pending;
	const struct held held = {header->size, record->sample.period, (int32_t)record->id.pid,
		(int32_t)record->id.tid, index, engine->status.events[index].id};
	const size_t len = sizeof(held) + header->size;

	_Static_assert(sizeof(struct held) % 8 == 0, "records are aligned");
	if (pending->len + len > PENDING_BYTES)
		return false;
	if (grow_items(&pending->bytes, &pending->size, pending->len + len, 1))
		return false;
	memcpy(pending->bytes + pending->len, &held, sizeof(held));
	memcpy(pending->bytes + pending->len + sizeof(held), header, header->size);
	pending->len += len;
	return true;
}

/* Unwinds or judges a chain. */
static enum unwind_end find_end(struct engine *engine, unsigned int index, struct record *record)
{
	enum unwind_end end;

	if (ingest_unwind(&engine->ingest, record, &engine->choices[index].format, &end))
		return UNWIND_UNTRIED;
	if (end == UNWIND_UNTRIED)
		end = ingest_end(&engine->ingest, record, engine->status.events[index].id);
	return end;
}

/* Unwinds or judges the chain of a new sample.  Snapshots of the flight recorder wait here, since
 * their samples are taken in by time. */
static enum unwind_end find_end_now(
	struct engine *engine, unsigned int index, struct record *record)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	enum unwind_end end = find_end(engine, index, record);
	uint64_t now_ns = engine->pending.until_ns ? sys_now_ns() : 0;
	const uint64_t end_ns = now_ns + TABLE_NS;

	while (end == UNWIND_WAITS && now_ns < end_ns && now_ns < engine->pending.until_ns) {
		nanosleep(&pause, NULL);
		now_ns = sys_now_ns();
		end = find_end(engine, index, record);
	}
	return end;
}

static void take_in(struct engine *engine, unsigned int index,
	const struct perf_event_header *header, struct record *record, enum unwind_end end)
{
	if (end == UNWIND_WAITS)
		end = ingest_give_up(&engine->ingest, record, engine->status.events[index].id);

	struct ingest_sample sample = {.record = record,
		.event = engine->status.events[index].id,
		.end = (uint8_t)end,
		.hash = ingest_chain_hash(&engine->ingest, record)};

	if (!ingest_samples(&engine->ingest, &sample, 1)) {
		span_seen(engine, record);
		span_on_cpu(engine, index, record);
	}
	tap_sample(engine, header, index, &record->sample);
}

void pending_take(struct engine *engine, unsigned int index, const struct perf_event_header *header,
	struct record *record)
{
	const enum unwind_end end = find_end_now(engine, index, record);

	if (end == UNWIND_WAITS && !engine->flight.on && hold(engine, index, header, record))
		return;
	take_in(engine, index, header, record, end);
}

enum unwind_end pending_unwind_now(struct engine *engine, unsigned int index, struct record *record)
{
	const enum unwind_end end = find_end_now(engine, index, record);

	if (end != UNWIND_WAITS)
		return end;
	return ingest_give_up(&engine->ingest, record, engine->status.events[index].id);
}

/* Returns false if the sample still waits. */
static bool retry(struct engine *engine, const struct held *held,
	const struct perf_event_header *header, bool all)
{
	const struct choice *choice = &engine->choices[held->index];
	enum unwind_end end;
	struct record record;

	if (held->index >= engine->status.n_events ||
		engine->status.events[held->index].id != held->id ||
		record_decode(&record, header, &choice->format))
		return true;
	record.sample.period = held->period;
	end = find_end(engine, held->index, &record);
	if (end == UNWIND_WAITS && !all && record.id.time_ns + PENDING_NS > engine->round.begun_ns)
		return false;
	take_in(engine, held->index, header, &record, end);
	return true;
}

/* Retries the waiting samples of a process and thread (-1: all). */
static void retry_some(struct engine *engine, int32_t pid, int32_t tid, bool all)
{
	struct pending *pending = &engine->pending;
	size_t at = 0, kept = 0;

	while (at < pending->len) {
		const struct held *held = (const void *)(pending->bytes + at);
		const size_t len = sizeof(*held) + held->len;

		if ((pid >= 0 && held->pid != pid) || (tid >= 0 && held->tid != tid) ||
			!retry(engine, held, (const void *)(held + 1), all)) {
			if (kept != at)
				memmove(pending->bytes + kept, pending->bytes + at, len);
			kept += len;
		}
		at += len;
	}
	pending->len = kept;
}

void pending_retry(struct engine *engine, bool all)
{
	retry_some(engine, -1, -1, all);
}

void pending_settle(struct engine *engine, const struct record *record)
{
	if (!engine->pending.len || !tasks_changes_meaning(engine->ingest.tasks, record))
		return;
	if (record->type == PERF_RECORD_COMM)
		retry_some(engine, (int32_t)record->comm.pid,
			record->comm.exec ? -1 : (int32_t)record->comm.tid, true);
	else
		retry_some(engine, (int32_t)record->mmap.pid, -1, true);
}

void pending_fini(struct engine *engine)
{
	free(engine->pending.bytes);
	engine->pending = (struct pending){0};
}
