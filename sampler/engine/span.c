// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * span.c - the events `off-cpu` and `preempted`: stores the time between switches.
 *
 * store/offcpu.h turns switch records into time.  Both events are context-switches with switch
 * records, and each reports all switches.  Only the lead event, the first that runs, is evaluated,
 * for both.  `wall` and `woken` are also produced here, from these and other events: see enum
 * event_span.  Runs in the sampling thread.
 */
#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "sampler/engine/internal.h"
#include "sampler/fields/fields.h"
#include "sampler/kernel/attr.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TRACE_HARD 0x08u
#define TRACE_SOFT 0x10u
#define ASK_SHARE 50u /* querying threads again may take at most 1/50 of the time */
#define GAP_PIECES_MAX (1u << 20) /* takes some tenths of a second, without any other work */
#define WOKEN_DEPTH_MAX (STACK_DEPTH_MAX - 2) /* leaves room for the waker's name */

static bool is_open(const struct engine *engine, unsigned int index)
{
	return engine->choices[index].open && choice_ran(engine, index);
}

/* Returns the first event of switches that continues to run, since it sees every switch; else the
 * first that is stopping. */
static int find_lead(const struct engine *engine)
{
	int found = -ENOENT;

	for (unsigned int i = 0; i < engine->status.n_events; i++) {
		if (!event_is_of_switches(engine->choices[i].spec.span) || !is_open(engine, i))
			continue;
		if (choice_runs(engine, i))
			return (int)i;
		if (found < 0)
			found = (int)i;
	}
	return found;
}

static int find_span(const struct engine *engine, enum event_span span)
{
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (engine->choices[i].spec.span == span && is_open(engine, i))
			return (int)i;
	return -ENOENT;
}

static void store(struct engine *engine, int index, const struct offcpu_span *span, uint32_t stack)
{
	struct engine_event_status *status = &engine->status.events[index];

	status->samples++;
	ingest_count_end(&engine->ingest, status->id, span->stack_end);
	/* The store counts failed allocations. */
	(void)store_add(engine->ingest.store, span->end_ns - 1,
		ingest_stack_moved(&engine->ingest, stack), span->label, (uint16_t)span->cpu,
		status->id, span->ns);
}

/* --- callbacks of offcpu --- */

static void add_to_wall(struct engine *engine, const struct offcpu_span *span)
{
	int index = find_span(engine, EVENT_SPAN_WALL);
	uint32_t stack;

	if (index >= 0 &&
		!ingest_named(&engine->ingest, span->preempted ? "[preempted]" : "[blocked]",
			span->stack, &stack))
		store(engine, index, span, stack);
}

static void add_kind(struct engine *engine, const struct offcpu_span *span)
{
	int index = find_span(engine, span->preempted ? EVENT_SPAN_PREEMPTED : EVENT_SPAN_BLOCKED);

	if (index >= 0)
		store(engine, index, span, span->stack);
	add_to_wall(engine, span);
}

/* Splits off a wait for a CPU at the end of blocked time.  No sample has its stack. */
static void add_delayed(struct engine *engine, const struct offcpu_span *span, uint64_t delay_ns)
{
	struct offcpu_span part = *span;

	part.ns = span->ns - delay_ns;
	part.end_ns = span->end_ns - delay_ns;
	if (part.ns)
		add_kind(engine, &part);
	part = *span;
	part.ns = delay_ns;
	part.preempted = true;
	part.stack_end = UNWIND_UNTRIED;
	/* The store counts failed allocations. */
	if (!ingest_named(&engine->ingest, "[waited for a CPU]", STACK_ROOT, &part.stack))
		add_kind(engine, &part);
}

static bool add_span(const struct offcpu_span *span, void *ctx)
{
	struct engine *engine = ctx;
	const struct task_label *label = tasks_label_get(engine->ingest.tasks, span->label);
	uint64_t delay_ns;

	if (engine->filter &&
		!follow_wants(&engine->follow, (uint32_t)label->pid, (uint32_t)label->tid))
		return false;
	delay_ns = wake_take_delay(engine, label->tid, span);
	if (!round_cpu_wanted(engine, span->cpu))
		return true;
	if (delay_ns)
		add_delayed(engine, span, delay_ns);
	else
		add_kind(engine, span);
	return true;
}

/* Appends the waker to the stack of a wait: the waker's frames, outermost last, then its name. */
static int put_waker(
	struct engine *engine, const struct offcpu_waker *waker, uint32_t stack, uint32_t *out)
{
	struct stacks *stacks = engine->ingest.stacks;
	char name[TASK_COMM_MAX + 16];
	int ret = 0;

	for (uint32_t node = waker->known ? waker->stack : STACK_ROOT;
		node != STACK_ROOT && !ret && stacks_node(stacks, stack)->depth < WOKEN_DEPTH_MAX;
		node = stacks_node(stacks, node)->parent)
		ret = stacks_child(stacks, stack, stacks_node(stacks, node)->frame, &stack);
	if (ret)
		return ret;
	if (!waker->known || waker->interrupt)
		return ingest_named(&engine->ingest,
			waker->known ? "[woken by an interrupt]" : "[woken by unknown]", stack,
			out);
	snprintf(name, sizeof(name), "[woken by %s]",
		tasks_label_get(engine->ingest.tasks, waker->label)->comm);
	return ingest_named(&engine->ingest, name, stack, out);
}

static void add_wait(const struct offcpu_span *wait, const struct offcpu_waker *waker, void *ctx)
{
	struct engine *engine = ctx;
	int index = find_span(engine, EVENT_SPAN_WOKEN);
	uint32_t stack;

	if (index >= 0 && round_cpu_wanted(engine, wait->cpu) &&
		!put_waker(engine, waker, wait->stack, &stack))
		store(engine, index, wait, stack);
}

void span_init(struct engine *engine)
{
	const struct offcpu_ops ops = {
		.over = add_wait,
		.add = add_span,
		.unknown = ingest_unknown,
		.release = ingest_release,
		.ingest = &engine->ingest,
		.ctx = engine,
	};

	offcpu_init(&engine->spans.offcpu, &ops);
	wake_init(engine);
	engine->spans.next_ns = UINT64_MAX;
}

void span_fini(struct engine *engine)
{
	if (!engine->spans.offcpu.ops.ctx)
		return;
	offcpu_fini(&engine->spans.offcpu);
	wake_fini(engine);
}

/* --- records --- */

static void begin(struct engine *engine, int lead, uint64_t time_ns)
{
	/* Without the kernel a switch has no sample: the last stack before it is the best
	 * available. */
	engine->spans.offcpu.keep_stacks = engine->choices[lead].attr.exclude_kernel;
	if (engine->spans.next_ns == UINT64_MAX)
		engine->spans.next_ns = time_ns - time_ns % STORE_SLICE_NS + STORE_SLICE_NS;
}

void span_sample(struct engine *engine, unsigned int index, const struct perf_event_header *header,
	struct record *record)
{
	int lead = find_lead(engine);
	struct ingest_sample sample = {.record = record};

	if (lead < 0 || !record->id.tid)
		return;
	/* Every open event of switches samples the same switch, with the same id and time (Linux
	 * 6.1 and later). */
	if (record->id.tid == engine->spans.last_tid && record->id.time_ns == engine->spans.last_ns)
		return;
	engine->spans.last_tid = record->id.tid;
	engine->spans.last_ns = record->id.time_ns;
	begin(engine, lead, record->id.time_ns);
	/* A sleeping thread is known by its last switch, so its sample must not wait for tables. */
	sample.end = (uint8_t)pending_unwind_now(engine, index, record);
	if (ingest_stack(&engine->ingest, &sample))
		return;
	stacks_ref(engine->ingest.stacks, sample.stack);
	tasks_label_ref(engine->ingest.tasks, sample.label);
	offcpu_stack(&engine->spans.offcpu, (int32_t)record->id.tid,
		&(struct offcpu_stack){sample.stack, sample.label, sample.end});
	tap_sample(engine, header, (unsigned int)lead, &record->sample);
}

void span_seen(struct engine *engine, const struct record *record)
{
	const struct ingest *ingest = &engine->ingest;

	if (!engine->spans.offcpu.keep_stacks || !record->id.tid)
		return;
	stacks_ref(ingest->stacks, ingest->last_stack);
	tasks_label_ref(ingest->tasks, ingest->last_label);
	offcpu_seen(&engine->spans.offcpu, (int32_t)record->id.tid,
		&(struct offcpu_stack){ingest->last_stack, ingest->last_label, ingest->last_end});
}

/* An interrupt runs on top of an unrelated task's stack. */
static bool is_of_interrupt(const struct record_sample *sample)
{
	/* The byte after the event's id has the flags: enum trace_flag_type in
	 * linux/trace_events.h. */
	return sample->raw_len > 2 && ((const uint8_t *)sample->raw)[2] & (TRACE_HARD | TRACE_SOFT);
}

bool span_is_waking(const struct engine *engine, unsigned int index)
{
	return engine->choices[index].spec.attr.type == PERF_TYPE_TRACEPOINT &&
		!strncmp(engine->choices[index].spec.name, EVENT_WAKING, strlen(EVENT_WAKING));
}

void span_waking(struct engine *engine, unsigned int index, const struct record *record)
{
	const struct fields *fields = engine->ingest.fields[engine->status.events[index].id];
	struct offcpu_waker waker = {.interrupt = is_of_interrupt(&record->sample)};
	struct ingest_sample sample = {.record = record};
	int field = fields_find(fields, "pid");
	uint64_t tid;

	if (find_span(engine, EVENT_SPAN_WOKEN) < 0 || field < 0 ||
		!fields_number(fields, (size_t)field, record, &tid))
		return;
	if (!offcpu_is_out(&engine->spans.offcpu, (int32_t)tid) ||
		ingest_stack(&engine->ingest, &sample))
		return;
	waker.stack = waker.interrupt ? STACK_ROOT : sample.stack;
	waker.label = sample.label;
	stacks_ref(engine->ingest.stacks, waker.stack);
	tasks_label_ref(engine->ingest.tasks, waker.label);
	offcpu_wake(&engine->spans.offcpu, (int32_t)tid, &waker);
}

void span_on_cpu(struct engine *engine, unsigned int index, const struct record *record)
{
	const struct ingest *ingest = &engine->ingest;
	int wall = find_span(engine, EVENT_SPAN_WALL);
	const struct offcpu_span span = {
		.end_ns = record->id.time_ns + 1,
		.ns = record->sample.period,
		.label = ingest->last_label,
		.cpu = record->id.cpu,
		.stack_end = ingest->last_end,
	};

	if (wall < 0 || !attr_is_clock(&engine->choices[index].attr))
		return;
	/* Only the first clock counts; the others measure the same time. */
	for (unsigned int i = 0; i < index; i++)
		if (attr_is_clock(&engine->choices[i].attr) && is_open(engine, i))
			return;
	store(engine, wall, &span, ingest->last_stack);
}

void span_switch(struct engine *engine, unsigned int index, const struct perf_event_header *header,
	const struct record *record)
{
	const struct offcpu_switch who = {
		.pid = (int32_t)record->id.pid,
		.tid = (int32_t)record->id.tid,
		.cpu = record->id.cpu,
		.time_ns = record->id.time_ns,
		.preempted = record->switched.preempted,
	};

	/* CPU-wide records include idle tasks, and exiting tasks without a tid (-1). */
	if ((int)index != find_lead(engine) || who.tid <= 0)
		return;
	if (engine->filter && !follow_wants(&engine->follow, record->id.pid, record->id.tid))
		return;
	begin(engine, (int)index, who.time_ns);
	tap_sample(engine, header, index, NULL);
	span_pass(engine, who.time_ns);
	if (record->switched.out)
		offcpu_out(&engine->spans.offcpu, &who);
	else
		offcpu_in(&engine->spans.offcpu, &who);
}

void span_lost(struct engine *engine, const struct channel *channel)
{
	const struct point *point = channel->point;

	engine->spans.ask_again = true;
	offcpu_lost(&engine->spans.offcpu, point && point->cpu < 0 ? point->tid : -1);
}

void span_end_task(struct engine *engine, int32_t tid, uint64_t time_ns)
{
	rundelay_forget(&engine->wakes.delays, tid);
	if (engine->spans.next_ns != UINT64_MAX)
		offcpu_end(&engine->spans.offcpu, tid, time_ns);
}

void span_forget_task(struct engine *engine, int32_t tid)
{
	rundelay_forget(&engine->wakes.delays, tid);
	offcpu_forget(&engine->spans.offcpu, tid);
}

static void ask_all_again(struct engine *engine)
{
	struct follow_task *task;
	size_t position = 0;

	engine->spans.tasks = 0;
	while ((task = idmap_next(&engine->follow.tasks, &position)))
		task->asked = false;
}

void span_stop(struct engine *engine)
{
	if (engine->spans.next_ns == UINT64_MAX)
		return;
	offcpu_clear(&engine->spans.offcpu);
	rundelay_clear(&engine->wakes.delays);
	engine->spans.next_ns = UINT64_MAX;
	ask_all_again(engine);
}

void span_changed(struct engine *engine)
{
	if (find_lead(engine) < 0)
		span_stop(engine);
	wake_settle(engine);
}

/* --- threads already asleep --- */

/* Returns whether the thread's records arrive, so that an assumed sleep ends with the next one. */
static bool is_covered(const struct engine *engine, const struct follow_task *task)
{
	if (task->left_out)
		return false;
	return engine->status.scope == SCOPE_CPU || task->covered ||
		(task->point && !task->point->on_exec);
}

/* Checks whether a thread sleeps, since no record reports a sleep that began before its events were
 * opened.  The thread's events are already open: if the answer is outdated, a record is still to
 * come and takes precedence.  A new thread has slept since its birth, except for the time it ran or
 * waited for a CPU. */
static void ask_task(struct engine *engine, const struct follow_task *task, bool since_birth)
{
	struct offcpu_switch who = {.pid = task->process->pid, .tid = task->tid};
	struct proc_thread now;
	uint64_t begin_ns;

	if (proc_read_thread(task->tid, &now) || !strchr("SDTtI", now.state))
		return;
	who.time_ns = sys_now_ns();
	begin_ns = task->born_ns + now.cpu_ns + now.wait_ns;
	if (since_birth && task->born_ns && now.has_times && begin_ns < who.time_ns)
		who.time_ns = begin_ns;
	offcpu_assume(&engine->spans.offcpu, &who);
}

void span_born(struct engine *engine, struct follow_task *task)
{
	int lead = find_lead(engine);

	/* In other scopes its records are complete from the start. */
	if (lead < 0 || engine->status.scope != SCOPE_TASK || task->asked || engine->paused ||
		engine->stopped)
		return;
	begin(engine, lead, engine->round.begun_ns);
	task->asked = true;
	ask_task(engine, task, true);
}

static void ask_tasks(struct engine *engine)
{
	struct follow_task *task;
	size_t position = 0;

	engine->spans.tasks = engine->follow.tasks.n;
	while ((task = idmap_next(&engine->follow.tasks, &position))) {
		if (task->asked)
			continue;
		if (is_covered(engine, task)) {
			task->asked = true;
			if (!offcpu_is_out(&engine->spans.offcpu, task->tid))
				ask_task(engine, task, false);
		} else {
			/* Forces the next sweep to check all tasks again. */
			engine->spans.tasks = 0;
		}
	}
}

void span_sweep(struct engine *engine)
{
	int lead = find_lead(engine);
	uint64_t begin_ns, spent_ns;

	if (lead < 0 || !engine->filter || engine->scope.cpu_wanted || engine->paused ||
		engine->stopped)
		return;
	begin(engine, lead, engine->round.begun_ns);
	/* After a loss, offcpu dropped the threads that were off their CPU; check whether they
	 * still sleep. */
	if (engine->spans.ask_again && engine->round.begun_ns >= engine->spans.ask_ns) {
		engine->spans.ask_again = false;
		ask_all_again(engine);
		begin_ns = sys_now_ns();
		ask_tasks(engine);
		/* With very many threads this takes long, and more records are lost meanwhile. */
		spent_ns = ASK_SHARE * (sys_now_ns() - begin_ns);
		engine->spans.ask_ns =
			engine->round.begun_ns + (spent_ns > NS_PER_S ? spent_ns : NS_PER_S);
	} else if (engine->spans.tasks != engine->follow.tasks.n) {
		ask_tasks(engine);
	}
}

/* --- time --- */

/* Returns whether every switch-in is seen; not if only some CPUs are sampled. */
static bool sees_all(const struct engine *engine)
{
	return !engine->scope.cpu_wanted || engine->status.scope == SCOPE_TASK;
}

/* Called at each slice's end; after a long time without records, many end at once. */
static void end_slice(uint64_t end_ns, void *ctx)
{
	struct engine *engine = ctx;

	if (!store_seal(engine->ingest.store, end_ns, false))
		return;
	engine->news = true;
	store_maintain(engine->ingest.store);
}

void span_pass_slices(struct engine *engine, uint64_t time_ns)
{
	if (sees_all(engine))
		offcpu_pass(&engine->spans.offcpu, &engine->spans.next_ns, time_ns, GAP_PIECES_MAX,
			end_slice, engine);
	else
		engine->spans.next_ns = time_ns - time_ns % STORE_SLICE_NS + STORE_SLICE_NS;
}

void span_finish(struct engine *engine, uint64_t time_ns)
{
	span_pass(engine, time_ns);
	if (sees_all(engine))
		offcpu_advance(&engine->spans.offcpu, time_ns, SIZE_MAX);
	span_stop(engine);
}

static void note_wakers(struct engine *engine)
{
	int index = find_span(engine, EVENT_SPAN_WOKEN);

	if (index < 0 || engine->spans.wakers_noted)
		return;
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (span_is_waking(engine, i) && engine->choices[i].open)
			return;
	engine->spans.wakers_noted = true;
	engine_note(engine, NOTE_WAKERS_UNKNOWN, EACCES, 0, 0, engine->status.events[index].name);
}

void span_tick(struct engine *engine)
{
	int lead = find_lead(engine);
	uint64_t dropped = engine->spans.offcpu.dropped + engine->spans.offcpu.left_out;

	note_wakers(engine);
	if (lead >= 0)
		wake_tick(engine, engine->status.events[lead].name);
	offcpu_expire(&engine->spans.offcpu, engine->round.begun_ns - NS_PER_S);
	if (dropped == engine->spans.noted)
		return;
	engine_note(engine, NOTE_SPANS_DROPPED, 0, 0, dropped - engine->spans.noted,
		lead < 0 ? NULL : engine->status.events[lead].name);
	engine->spans.noted = dropped;
}
