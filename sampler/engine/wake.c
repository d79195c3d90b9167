// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * wake.c - times at which blocked threads become runnable, for sampler/store/offcpu.
 *
 * It samples sched:sched_wakeup on every CPU in separate rings, since any CPU may wake a followed
 * thread.  sched:sched_wakeup follows the thread's switch-out; sched:sched_waking may precede it.
 * If the kernel refuses these samples, the run delay of each thread replaces them.  Runs in the
 * sampling thread.
 */
#include "sampler/engine/internal.h"
#include "sampler/fields/fields.h"

#include "sampler/control/note.h"
#include "sampler/machine/tracefs.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Leaves locked memory for the rings of points, which are opened later. */
#define LOCK_SHARE 4u

void wake_init(struct engine *engine)
{
	rundelay_init(&engine->wakes.delays, proc_read_wait);
}

void wake_fini(struct engine *engine)
{
	rundelay_fini(&engine->wakes.delays);
	fields_free(engine->wakes.fields);
	engine->wakes.fields = NULL;
}

static bool are_needed(const struct engine *engine)
{
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (event_is_of_switches(engine->choices[i].spec.span) && engine->choices[i].open &&
			choice_ran(engine, i))
			return true;
	return false;
}

static int prepare(struct engine *engine)
{
	const struct sys_setup setup = {.sample_more = PERF_SAMPLE_RAW};
	struct wakes *wakes = &engine->wakes;
	uint64_t id;
	int ret;

	if (wakes->fields)
		return 0;
	ret = tracefs_id(system_dirs(), "sched", "sched_wakeup", &id);
	if (ret)
		return ret;
	wakes->attr = (struct perf_event_attr){
		.type = PERF_TYPE_TRACEPOINT, .config = id, .sample_period = 1};
	sys_setup(&wakes->attr, &engine->features, &setup);
	sys_format_of(&wakes->format, &wakes->attr);
	return fields_new(&wakes->fields, &wakes->attr, NULL, system_dirs(), NULL);
}

int wake_open_ring(struct engine *engine, int cpu)
{
	unsigned int order = order_for_cpus(engine, LOCK_SHARE * engine->scope.n_cpus);

	return scope_open_ring(engine, &engine->wakes.attr, cpu, order, true);
}

static int open_rings(struct engine *engine)
{
	int *cpus, ret;
	size_t n;

	/* The tracepoint's records have pids of the initial namespace. */
	if (engine->limits.pid_namespace)
		return -EXDEV;
	ret = prepare(engine);
	if (ret)
		return ret;
	ret = proc_online_cpus(&cpus, &n);
	if (ret)
		return ret;
	for (size_t i = 0; i < n && !ret; i++)
		ret = wake_open_ring(engine, cpus[i]);
	free(cpus);
	return ret;
}

static void close_rings(struct engine *engine)
{
	for (size_t i = engine->n_channels; i-- > 0;)
		if (engine->channels[i]->wakes)
			channel_close(engine, engine->channels[i]);
}

void wake_settle(struct engine *engine)
{
	struct wakes *wakes = &engine->wakes;
	bool needed = are_needed(engine);

	if (needed == (wakes->state != WAKES_OFF))
		return;
	if (!needed) {
		close_rings(engine);
		wakes->state = WAKES_OFF;
		return;
	}
	wakes->error = -open_rings(engine);
	wakes->state = wakes->error ? WAKES_SUMMED : WAKES_SEEN;
	if (wakes->error)
		close_rings(engine);
}

void wake_sample(struct engine *engine, const struct perf_event_header *header)
{
	const struct wakes *wakes = &engine->wakes;
	int field = fields_find(wakes->fields, "pid");
	struct record record;
	uint64_t tid;

	if (record_decode(&record, header, &wakes->format) || field < 0 ||
		!fields_number(wakes->fields, (size_t)field, &record, &tid)) {
		engine->status.unknown_records++;
		return;
	}
	if (!offcpu_is_out(&engine->spans.offcpu, (int32_t)tid))
		return;
	span_pass(engine, record.id.time_ns);
	tap_wake(engine, header);
	offcpu_ready(&engine->spans.offcpu, (int32_t)tid, record.id.time_ns);
}

uint64_t wake_take_delay(struct engine *engine, int32_t tid, const struct offcpu_span *span)
{
	if (engine->wakes.state != WAKES_SUMMED)
		return 0;
	return rundelay_take(&engine->wakes.delays, tid, span, sys_now_ns());
}

void wake_tick(struct engine *engine, const char *event)
{
	struct wakes *wakes = &engine->wakes;
	uint64_t delay_ns;

	if (wakes->state == WAKES_SUMMED && !wakes->noted) {
		wakes->noted = true;
		engine_note(engine, NOTE_WAITS_SUMMED, wakes->error, 0,
			!proc_read_wait(getpid(), &delay_ns), event);
	}
	if (wakes->lost == wakes->noted_lost)
		return;
	engine_note(engine, NOTE_WAKEUPS_LOST, 0, 0, wakes->lost - wakes->noted_lost, event);
	wakes->noted_lost = wakes->lost;
}
