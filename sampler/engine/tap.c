/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tap.c - passes all data that goes into the store to the tap.  Runs in the sampling thread.
 */
#include "sampler/control/config.h"
#include "sampler/engine/attr.h"
#include "sampler/engine/internal.h"

#include <string.h>

#define TAP_NONE UINT8_MAX

void tap_time(struct engine *engine, uint64_t time_ns)
{
	engine->tap.ns = time_ns;
}

/* The number of bytes stays, as a sign that chains were unwound from copies. */
static void leave_out_stack(struct perf_event_attr *attr)
{
	attr->sample_type &= ~(uint64_t)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	attr->sample_regs_user = 0;
}

/* Called at the first record or later, when fallbacks are settled. */
static void begin(struct engine *engine)
{
	struct event_spec events[ENGINE_EVENTS_MAX + 2];
	const struct sys_setup sampling = {
		.inherit = engine->status.scope == SCOPE_INHERIT,
	};
	const struct sys_setup tracking = {.callchain = engine->config.callchain,
		.fork_records = true,
		.map_records = true,
		.data_maps = engine->scope.data_maps};
	size_t n = 0;

	memset(engine->tap.index, TAP_NONE, sizeof(engine->tap.index));
	for (unsigned int i = 0; i < engine->status.n_events; i++) {
		if (!engine->choices[i].open)
			continue;
		engine->tap.index[i] = (uint8_t)n;
		events[n] = engine->choices[i].spec;
		memcpy(events[n].name, engine->status.events[i].name, sizeof(events[n].name));
		events[n].group = engine->status.events[i].group;
		choice_attr(engine, i, &sampling, &events[n].attr);
		if (engine->choices[i].tells_id)
			events[n].attr.sample_type &= ~(uint64_t)PERF_SAMPLE_READ;
		if (!engine->config.keep_stacks)
			leave_out_stack(&events[n].attr);
		/* Values read are passed as sums over all tasks. */
		if (events[n].attr.sample_type & PERF_SAMPLE_READ)
			events[n].attr.inherit = 0;
		n++;
	}
	engine->tap.wakes = TAP_NONE;
	if (engine->wakes.state == WAKES_SEEN) {
		engine->tap.wakes = (uint8_t)n;
		events[n++] =
			(struct event_spec){.name = EVENT_WAKEUPS, .attr = engine->wakes.attr};
	}
	events[n] = (struct event_spec){.name = "dummy:u"};
	sys_dummy(&events[n].attr);
	sys_setup(&events[n++].attr, &engine->features, &tracking);
	engine->tap.begun = true;
	engine->tap.to.begin(events, n, engine->tap.to.ctx);
}

/* Begins as soon as a point is open, so that data from /proc need not be buffered. */
static void begin_early(struct engine *engine)
{
	if (!engine->tap.begun && engine->n_points)
		begin(engine);
}

static void learn_mapping(int32_t pid, const struct record_mmap *mmap, void *ctx)
{
	struct engine *engine = ctx;

	begin_early(engine);
	/* Before its exec, the command's process is a copy of this one: perf 6.1 would search those
	 * libraries for the program's unwind data. */
	if (pid == engine->launch.pid && !engine->command_runs)
		return;
	engine->tap.to.mapping(pid, mmap, engine->tap.ns, engine->tap.to.ctx);
}

static void learn_comm(int32_t pid, int32_t tid, const char *comm, void *ctx)
{
	struct engine *engine = ctx;

	begin_early(engine);
	engine->tap.to.comm(pid, tid, comm, engine->tap.ns, engine->tap.to.ctx);
}

void tap_init(struct engine *engine, const struct engine_tap *tap)
{
	const struct tasks_observer observer = {learn_mapping, learn_comm, engine};

	if (!tap)
		return;
	engine->tap.to = *tap;
	engine->tap.on = true;
	tasks_observe(engine->ingest.tasks, &observer);
}

static void pass(struct engine *engine, const struct perf_event_header *header, size_t event)
{
	if (!engine->tap.begun)
		begin(engine);
	engine->tap.to.record(header, event, engine->tap.to.ctx);
}

/* Removes the values that the sample reads only to carry its own id. */
static const struct perf_event_header *without_own_id(const struct engine *engine,
	const struct perf_event_header *header, unsigned int choice,
	uint64_t copy[(UINT16_MAX + 1) / sizeof(uint64_t)])
{
	const uint64_t *words = (const uint64_t *)(const void *)header;
	size_t end = round_own_id_at(&engine->choices[choice].format) + 1 + engine->features.lost;
	size_t n = header->size / sizeof(*words), begin = end - 4 - engine->features.lost;
	struct perf_event_header *shorter = (struct perf_event_header *)(void *)copy;

	if (header->type != PERF_RECORD_SAMPLE || n < end)
		return header;
	memcpy(copy, words, begin * sizeof(*words));
	memcpy(copy + begin, words + end, (n - end) * sizeof(*words));
	shorter->size = (uint16_t)(header->size - (end - begin) * sizeof(*words));
	return shorter;
}

/* Replaces the call chain by the unwound one and removes the stack copy. */
static const struct perf_event_header *with_chain(const struct engine *engine,
	const struct perf_event_header *header, unsigned int choice,
	const struct record_sample *unwound, uint64_t copy[(UINT16_MAX + 1) / sizeof(uint64_t)])
{
	const struct record_format *format = &engine->choices[choice].format;
	const uint64_t *words = (const uint64_t *)(const void *)header;
	struct perf_event_header *other = (struct perf_event_header *)(void *)copy;
	struct record record;
	size_t to;

	if (!(format->sample_type & PERF_SAMPLE_STACK_USER) ||
		record_decode(&record, header, format) || !record.sample.chain)
		return header;
	/* Registers and the length precede the stack; the used length follows it. */
	const struct record_more *more = &record.sample.more;
	const uint64_t *stack = more->stack, len = stack[-1] / sizeof(*words);
	const size_t from = (size_t)(record.sample.chain - words);
	const size_t n_registers =
		more->regs_user.abi ? (size_t)__builtin_popcountll(format->regs_user) : 0;
	const size_t before = (size_t)(stack - 2 - n_registers - words);
	const size_t after = (size_t)(stack + len + (len ? 1 : 0) - words);
	const size_t between = before - from - record.sample.chain_len;

	memcpy(copy, words, from * sizeof(*words));
	copy[from - 1] = unwound->chain_len;
	memcpy(copy + from, unwound->chain, unwound->chain_len * sizeof(*words));
	to = from + unwound->chain_len;
	memcpy(copy + to, words + before - between, between * sizeof(*words));
	to += between;
	memcpy(copy + to, words + after, header->size - after * sizeof(*words));
	to += header->size / sizeof(*words) - after;
	other->size = (uint16_t)(to * sizeof(*words));
	return other;
}

void tap_sample(struct engine *engine, const struct perf_event_header *header, unsigned int choice,
	const struct record_sample *unwound)
{
	uint64_t copy[(UINT16_MAX + 1) / sizeof(uint64_t)];
	uint64_t shorter[(UINT16_MAX + 1) / sizeof(uint64_t)];

	if (!engine->tap.on)
		return;
	if (!engine->tap.begun)
		begin(engine);
	/* Events added during a recording are not recorded. */
	if (engine->tap.index[choice] == TAP_NONE)
		return;
	if (unwound && !engine->config.keep_stacks)
		header = with_chain(engine, header, choice, unwound, shorter);
	if (engine->choices[choice].tells_id)
		header = without_own_id(engine, header, choice, copy);
	pass(engine, header, engine->tap.index[choice]);
}

void tap_wake(struct engine *engine, const struct perf_event_header *header)
{
	if (!engine->tap.on)
		return;
	if (!engine->tap.begun)
		begin(engine);
	if (engine->tap.wakes != TAP_NONE)
		pass(engine, header, engine->tap.wakes);
}

/* Replaces ids and values of counters by each event's index + 1 and sum; the kernel's ids mean
 * nothing to a reader. */
void tap_reads(struct engine *engine, const struct perf_event_header *header,
	const struct record_sample *sample, unsigned int choice)
{
	const struct record_read *read = &sample->more.read;
	uint64_t copy[(UINT16_MAX + 1) / sizeof(uint64_t)];
	size_t first = (size_t)(read->values - (const uint64_t *)(const void *)header);

	if (!engine->tap.on)
		return;
	if (!engine->tap.begun)
		begin(engine);
	memcpy(copy, header, header->size);
	for (uint64_t i = 0; i < read->n && read->has_id; i++) {
		size_t value = first + i * read->words_each;
		size_t id = read->rest
			? (size_t)(read->rest - (const uint64_t *)(const void *)header)
			: value + 1;
		const struct point_event *member = idmap_find(&engine->ids, copy[id]);

		copy[id] = 0;
		if (!member || engine->tap.index[member->choice] == TAP_NONE)
			continue;
		copy[id] = engine->tap.index[member->choice] + 1u;
		copy[value] = engine->choices[member->choice].tap_sum;
	}
	tap_sample(engine, (const struct perf_event_header *)(const void *)copy, choice, sample);
}

void tap_side_band(struct engine *engine, const struct perf_event_header *header)
{
	if (engine->tap.on)
		pass(engine, header, ENGINE_TAP_TRACKER);
}

void tap_round(struct engine *engine)
{
	if (!engine->tap.on)
		return;
	engine->tap.ns = engine->round.begun_ns;
	begin_early(engine);
	/* Pending samples are older than records passed since. */
	if (!engine->pending.len)
		engine->tap.to.round(engine->tap.to.ctx);
}
