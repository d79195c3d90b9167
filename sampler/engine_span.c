// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * engine_span.c - the events `off-cpu` and `preempted`: records of switches, made into time by sampler/offcpu, into the
 * store.  Runs in the sampling thread.
 *
 * Both events are open as context-switches with records of switches, and both tell all: one of them, the first that
 * runs, is listened to for both.
 */
#include "sampler/engine_internal.h"

#include <errno.h>
#include <string.h>

/* Of the threads that are out, so many are brought up to date for each slice; others have their turn in the next ones. */
#define SPAN_ADVANCE_MAX 4096u

static bool is_open(const struct engine *engine, unsigned int index)
{
	return engine->choices[index].open && engine->choices[index].spec.span &&
		choice_runs(engine, index);
}

static int find_lead(const struct engine *engine)
{
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (is_open(engine, i))
			return (int)i;
	return -ENOENT;
}

static int find_span(const struct engine *engine, enum event_span span)
{
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (engine->choices[i].spec.span == span && is_open(engine, i))
			return (int)i;
	return -ENOENT;
}

/* --- for offcpu --- */

static bool add_span(const struct offcpu_span *span, void *ctx)
{
	struct engine *engine = ctx;
	const struct task_label *label = tasks_label_get(engine->ingest.tasks, span->label);
	int index = find_span(engine, span->preempted ? EVENT_SPAN_PREEMPTED : EVENT_SPAN_BLOCKED);
	struct engine_event_status *status;

	if (engine->filter &&
		!follow_wants(&engine->follow, (uint32_t)label->pid, (uint32_t)label->tid))
		return false;
	if (index < 0 || !round_cpu_wanted(engine, span->cpu))
		return true;
	status = &engine->status.events[index];
	status->samples++;
	/* Out of memory is counted by the store. */
	(void)store_add(engine->ingest.store, span->end_ns - 1, span->stack, span->label,
		(uint16_t)span->cpu, status->id, span->ns);
	return true;
}

static int find_unknown(
	int32_t pid, int32_t tid, uint64_t time_ns, uint32_t *stack, uint32_t *label, void *ctx)
{
	static char name[] = "[off-cpu]";
	const struct image key = {.kind = IMAGE_KSYMBOL, .path = name};
	struct engine *engine = ctx;
	struct ingest *ingest = &engine->ingest;
	uint32_t image, frame;
	int ret;

	ret = tasks_label(ingest->tasks, pid, tid, time_ns, label);
	if (!ret)
		ret = images_intern(ingest->images, &key, &image);
	if (ret)
		return ret;
	images_pin(ingest->images, image);
	ret = stacks_frame(ingest->stacks, image, 0, FRAME_KERNEL, &frame);
	if (!ret)
		ret = stacks_child(ingest->stacks, STACK_ROOT, frame, stack);
	if (ret)
		return ret;
	stacks_ref(ingest->stacks, *stack);
	tasks_label_ref(ingest->tasks, *label);
	return 0;
}

static void release(uint32_t stack, uint32_t label, void *ctx)
{
	struct engine *engine = ctx;

	stacks_unref(engine->ingest.stacks, stack);
	tasks_label_unref(engine->ingest.tasks, label);
}

void span_init(struct engine *engine)
{
	const struct offcpu_ops ops = {
		.add = add_span, .unknown = find_unknown, .release = release, .ctx = engine};

	offcpu_init(&engine->offcpu, &ops);
	engine->span_next_ns = UINT64_MAX;
}

void span_fini(struct engine *engine)
{
	if (engine->offcpu.ops.ctx)
		offcpu_fini(&engine->offcpu);
}

/* --- records --- */

static void begin(struct engine *engine, int lead, uint64_t time_ns)
{
	/* Without the kernel there is no sample of a switch: the stack before it is the best there is. */
	engine->offcpu.keep_stacks = engine->choices[lead].attr.exclude_kernel;
	if (engine->span_next_ns == UINT64_MAX)
		engine->span_next_ns = time_ns - time_ns % STORE_SLICE_NS + STORE_SLICE_NS;
}

void span_sample(struct engine *engine, const struct record *record)
{
	int lead = find_lead(engine);
	uint32_t stack, label;

	if (lead < 0 || !record->id.tid)
		return;
	begin(engine, lead, record->id.time_ns);
	if (ingest_stack(&engine->ingest, record, &stack, &label))
		return;
	stacks_ref(engine->ingest.stacks, stack);
	tasks_label_ref(engine->ingest.tasks, label);
	offcpu_stack(&engine->offcpu, (int32_t)record->id.tid, stack, label);
}

void span_seen(struct engine *engine, const struct record *record)
{
	const struct ingest *ingest = &engine->ingest;

	if (!engine->offcpu.keep_stacks || !record->id.tid)
		return;
	stacks_ref(ingest->stacks, ingest->last_stack);
	tasks_label_ref(ingest->tasks, ingest->last_label);
	offcpu_seen(
		&engine->offcpu, (int32_t)record->id.tid, ingest->last_stack, ingest->last_label);
}

void span_switch(struct engine *engine, unsigned int index, const struct record *record)
{
	const struct offcpu_switch who = {
		.pid = (int32_t)record->id.pid,
		.tid = (int32_t)record->id.tid,
		.cpu = record->id.cpu,
		.time_ns = record->id.time_ns,
		.preempted = record->switched.preempted,
	};

	/* Of CPUs it comes with the idle tasks, and with tasks so far gone that they have no number (-1). */
	if ((int)index != find_lead(engine) || who.tid <= 0)
		return;
	if (engine->filter && !follow_wants(&engine->follow, record->id.pid, record->id.tid))
		return;
	begin(engine, (int)index, who.time_ns);
	span_pass(engine, who.time_ns);
	if (record->switched.out)
		offcpu_out(&engine->offcpu, &who);
	else
		offcpu_in(&engine->offcpu, &who);
}

void span_lost(struct engine *engine, const struct channel *channel)
{
	const struct point *point = channel->point;

	offcpu_lost(&engine->offcpu, point && point->cpu < 0 ? point->tid : -1);
}

void span_end_task(struct engine *engine, int32_t tid, uint64_t time_ns)
{
	if (engine->span_next_ns != UINT64_MAX)
		offcpu_end(&engine->offcpu, tid, time_ns);
}

void span_forget_task(struct engine *engine, int32_t tid)
{
	offcpu_forget(&engine->offcpu, tid);
}

void span_stop(struct engine *engine)
{
	struct follow_task *task;
	size_t position = 0;

	if (engine->span_next_ns == UINT64_MAX)
		return;
	offcpu_clear(&engine->offcpu);
	engine->span_next_ns = UINT64_MAX;
	engine->span_tasks = 0;
	while ((task = idmap_next(&engine->follow.tasks, &position)))
		task->asked = false;
}

void span_changed(struct engine *engine)
{
	if (find_lead(engine) < 0)
		span_stop(engine);
}

/* --- who sleeps since before --- */

/* Its records come, so what is taken for sleep ends with the next one. */
static bool is_covered(const struct engine *engine, const struct follow_task *task)
{
	if (task->left_out)
		return false;
	return engine->status.scope == SCOPE_CPU || task->covered ||
		(task->point && !task->point->on_exec);
}

/* A thread that sleeps as it is attached may not run for long: no record tells of it.  Read while its events are open
 * already, "asleep" can at worst be older than a record still to come, which is then the one that counts. */
static void ask_task(struct engine *engine, const struct follow_task *task)
{
	struct proc_process now;
	struct offcpu_switch who = {.pid = task->process->pid, .tid = task->tid};

	if (proc_read(task->tid, &now) || !strchr("SDTtI", now.state))
		return;
	who.time_ns = sys_now_ns();
	offcpu_assume(&engine->offcpu, &who);
}

void span_sweep(struct engine *engine)
{
	int lead = find_lead(engine);
	struct follow_task *task;
	size_t position = 0;

	if (lead < 0 || !engine->filter || engine->cpu_wanted || engine->paused || engine->stopped)
		return;
	begin(engine, lead, engine->round_ns);
	if (engine->span_tasks == engine->follow.tasks.n)
		return;
	engine->span_tasks = engine->follow.tasks.n;
	while ((task = idmap_next(&engine->follow.tasks, &position))) {
		if (task->asked)
			continue;
		if (is_covered(engine, task)) {
			task->asked = true;
			ask_task(engine, task);
		} else {
			/* Looked at again. */
			engine->span_tasks = 0;
		}
	}
}

/* --- time --- */

/* Whether who comes back is always seen: of some CPUs alone, it is not. */
static bool sees_all(const struct engine *engine)
{
	return !engine->cpu_wanted || engine->status.scope == SCOPE_TASK;
}

void span_pass_slices(struct engine *engine, uint64_t time_ns)
{
	/* Nothing was read for a long time. */
	if (time_ns - engine->span_next_ns > NS_PER_S)
		engine->span_next_ns = time_ns - time_ns % STORE_SLICE_NS;
	for (; engine->span_next_ns <= time_ns; engine->span_next_ns += STORE_SLICE_NS)
		if (sees_all(engine))
			offcpu_advance(&engine->offcpu, engine->span_next_ns, SPAN_ADVANCE_MAX);
}

void span_finish(struct engine *engine, uint64_t time_ns)
{
	span_pass(engine, time_ns);
	if (sees_all(engine))
		offcpu_advance(&engine->offcpu, time_ns, SIZE_MAX);
	span_stop(engine);
}

void span_tick(struct engine *engine)
{
	int lead = find_lead(engine);
	uint64_t dropped = engine->offcpu.dropped + engine->offcpu.left_out;

	offcpu_expire(&engine->offcpu, engine->round_ns - NS_PER_S);
	if (dropped == engine->noted_spans)
		return;
	engine_note(engine, NOTE_SPANS_DROPPED, 0, 0, dropped - engine->noted_spans,
		lead < 0 ? NULL : engine->status.events[lead].name);
	engine->noted_spans = dropped;
}
