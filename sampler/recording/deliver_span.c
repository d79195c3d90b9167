// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * deliver_span.c - time off the CPU in a file: turns switch records into `off-cpu` and `preempted`.
 *
 * Loading thread.  A file written by strobe has events with these names.  In other files, switch
 * records (perf record --switch-events) feed both events.  Stacks come from samples of
 * context-switches or sched:sched_switch, if there are any.  Samples of sched:sched_wakeup or
 * sched:sched_waking show when blocked time ends.
 */
#include "sampler/recording/recording_private.h"

#include "sampler/fields/fields.h"

#include <string.h>

#define TIME_MAX ((uint64_t)INT64_MAX)

static const struct {
	const char *name;
	enum event_span span;
} kinds[] = {
	{"off-cpu", EVENT_SPAN_BLOCKED},
	{"preempted", EVENT_SPAN_PREEMPTED},
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

static bool is_of_switches(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES;
}

/* Whether the event is `name` with or without modifiers: "off-cpu", "off-cpu:u". */
static bool is_named(const struct reader_attr *attr, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(attr->name, name, len) && (!attr->name[len] || attr->name[len] == ':');
}

/* Returns the span of an event written by strobe, else EVENT_SPAN_NONE. */
static enum event_span span_of(const struct reader_attr *attr)
{
	for (size_t i = 0; i < KINDS; i++)
		if (is_of_switches(&attr->attr) && attr->attr.context_switch &&
			is_named(attr, kinds[i].name))
			return kinds[i].span;
	return EVENT_SPAN_NONE;
}

void deliver_span_attr(struct recording *recording, struct recording_attr *kept)
{
	enum event_span span = span_of(&kept->attr);

	kept->tells_wake = kept->is_wakes || is_named(&kept->attr, EVENT_WAKEUP) ||
		is_named(&kept->attr, EVENT_WAKING);
	kept->tells_switch =
		is_of_switches(&kept->attr.attr) || !strcmp(kept->attr.name, "sched:sched_switch");
	if (!span)
		return;
	if (kept->event == EVENT_NONE)
		kept->event = deliver_event(recording, &kept->attr);
	kept->is_span = true;
	recording->status.events[kept->event].span = span;
	recording->status.events[kept->event].is_clock = true;
	recording->span_events[span] = (int16_t)(kept->event + 1);
}

/* Makes both events for a file that has neither. */
static void make_events(struct recording *recording)
{
	for (size_t i = 0; i < KINDS; i++)
		if (recording->span_events[kinds[i].span])
			return;
	for (size_t i = 0; i < KINDS; i++) {
		struct recording_attr made = {.attr.attr = {.type = PERF_TYPE_SOFTWARE,
						      .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
						      .context_switch = 1,
						      .sample_period = 1}};

		strcpy(made.attr.name, kinds[i].name);
		made.event = deliver_event(recording, &made.attr);
		if (made.event != RECORDING_OTHER_EVENTS)
			deliver_span_attr(recording, &made);
	}
}

/* --- for offcpu --- */

static void tap_span(struct recording *recording, const struct offcpu_span *span, uint8_t event,
	uint64_t to_ns, uint64_t ns)
{
	const struct task_label *label = tasks_label_get(recording->ingest.tasks, span->label);
	const struct record record = {
		.type = PERF_RECORD_SAMPLE,
		.id = {.pid = (uint32_t)label->pid,
			.tid = (uint32_t)label->tid,
			.cpu = span->cpu,
			.time_ns = to_ns - 1},
		.sample.period = ns,
	};

	if (recording->config.tap && !recording->span_failed)
		recording->span_failed =
			recording->config.tap(&(struct recording_sample){.record = &record,
						      .event = event,
						      .stack = span->stack,
						      .label = span->label,
						      .is_span = true},
				recording->config.tap_ctx);
}

static bool add_span(const struct offcpu_span *span, void *ctx)
{
	struct recording *recording = ctx;
	enum event_span kind = span->preempted ? EVENT_SPAN_PREEMPTED : EVENT_SPAN_BLOCKED;
	uint64_t from_ns = span->end_ns - span->ns, to_ns = span->end_ns;
	struct engine_event_status *event;

	/* Time counts from the first sample on. */
	if (!recording->has_sample || !recording->span_events[kind])
		return true;
	if (from_ns < recording->from_ns)
		from_ns = recording->from_ns;
	if (to_ns > recording->to_ns)
		to_ns = recording->to_ns;
	if (from_ns >= to_ns)
		return true;
	event = &recording->status.events[recording->span_events[kind] - 1];
	event->samples++;
	event->count += to_ns - from_ns;
	ingest_count_end(&recording->ingest, event->id, span->stack_end);
	/* The store counts failures for lack of memory. */
	(void)store_add(recording->ingest.store, to_ns - 1, span->stack, span->label,
		(uint16_t)span->cpu, event->id, to_ns - from_ns);
	tap_span(recording, span, event->id, to_ns, to_ns - from_ns);
	return true;
}

void deliver_span_init(struct recording *recording)
{
	const struct offcpu_ops ops = {
		.add = add_span,
		.unknown = ingest_unknown,
		.release = ingest_release,
		.ingest = &recording->ingest,
		.ctx = recording,
	};

	offcpu_init(&recording->offcpu, &ops);
	recording->span_attr = SIZE_MAX;
}

void deliver_span_fini(struct recording *recording)
{
	if (recording->offcpu.ops.ctx)
		offcpu_fini(&recording->offcpu);
}

/* --- records --- */

void deliver_span_stack(struct recording *recording, const struct ingest_sample *sample)
{
	const uint32_t tid = sample->record->id.tid;

	if (!tid || tid > INT32_MAX)
		return;
	stacks_ref(recording->ingest.stacks, sample->stack);
	tasks_label_ref(recording->ingest.tasks, sample->label);
	offcpu_stack(&recording->offcpu, (int32_t)tid,
		&(struct offcpu_stack){sample->stack, sample->label, sample->end});
}

int deliver_span_sample(
	struct recording *recording, const struct record *record, enum unwind_end end)
{
	struct ingest_sample sample = {.record = record, .end = (uint8_t)end};
	int err = ingest_stack(&recording->ingest, &sample);

	if (!err)
		deliver_span_stack(recording, &sample);
	return err;
}

void deliver_span_wake(
	struct recording *recording, const struct recording_attr *kept, const struct record *record)
{
	int field = kept->wake_fields ? fields_find(kept->wake_fields, "pid") : -1;
	uint64_t tid;

	if (field < 0 || !fields_number(kept->wake_fields, (size_t)field, record, &tid))
		return;
	offcpu_ready(&recording->offcpu, (int32_t)tid, record->id.time_ns);
}

void deliver_switch(
	struct recording *recording, const struct order_record *from, const struct record *record)
{
	const struct offcpu_switch who = {
		.pid = (int32_t)record->id.pid,
		.tid = (int32_t)record->id.tid,
		.cpu = record->id.cpu,
		.time_ns = record->id.time_ns,
		.preempted = record->switched.preempted,
	};

	if (who.tid <= 0 || !who.time_ns || who.time_ns > TIME_MAX || !from->has_attr)
		return;
	/* Several events may have records of the same switches. */
	if (recording->span_attr == SIZE_MAX) {
		recording->span_attr = from->attr;
		make_events(recording);
	}
	if (recording->span_attr != from->attr)
		return;
	if (recording->has_sample)
		deliver_pass_time(recording, who.time_ns);
	if (record->switched.out)
		offcpu_out(&recording->offcpu, &who);
	else
		offcpu_in(&recording->offcpu, &who);
}

void deliver_span_task(struct recording *recording, const struct record *record)
{
	switch (record->type) {
	case PERF_RECORD_EXIT:
		offcpu_end(&recording->offcpu, (int32_t)record->task.tid, record->id.time_ns);
		break;
	case PERF_RECORD_FORK:
		offcpu_forget(&recording->offcpu, (int32_t)record->task.tid);
		break;
	case PERF_RECORD_COMM:
		if (record->comm.exec)
			offcpu_forget(&recording->offcpu, (int32_t)record->comm.tid);
		break;
	case PERF_RECORD_LOST:
		offcpu_lost(&recording->offcpu, -1);
		break;
	default:
		break;
	}
}

/* --- time --- */

static void end_slice(uint64_t end_ns, void *ctx)
{
	struct recording *recording = ctx;

	if (store_seal(recording->ingest.store, end_ns, false))
		store_maintain(recording->ingest.store);
}

void deliver_span_pass(struct recording *recording, uint64_t time_ns)
{
	/* No slice has begun before the first sample. */
	if (recording->slice_end_ns)
		offcpu_pass(&recording->offcpu, &recording->slice_end_ns, time_ns, SIZE_MAX,
			end_slice, recording);
}

void deliver_span_finish(struct recording *recording)
{
	if (recording->has_sample)
		offcpu_advance(&recording->offcpu, recording->last_ns, SIZE_MAX);
	offcpu_clear(&recording->offcpu);
}

bool deliver_span_lacks_wakes(const struct recording *recording)
{
	bool has = recording->span_attr == SIZE_MAX;

	for (size_t i = 0; i < recording->n_attrs && !has; i++)
		has = recording->attrs[i].tells_wake && recording->attrs[i].wake_fields;
	return !has;
}
