/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * choice.c - the list of chosen events: adds and drops events and whole groups.
 *
 * Runs in the sampling thread.
 */
#include "sampler/engine/attr.h"
#include "sampler/engine/internal.h"
#include "sampler/engine/rate.h"
#include "sampler/engine/stack.h"
#include "sampler/engine/weaken.h"
#include "sampler/kernel/attr.h"

#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/engine/choice.h"
#include "sampler/events/cgroup.h"
#include "sampler/events/event.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void choice_copy_name(char to[EVENT_NAME_MAX], const char *from)
{
	size_t len = strnlen(from, EVENT_NAME_MAX - 1);

	memcpy(to, from, len);
	memset(to + len, 0, EVENT_NAME_MAX - len);
}

void choice_show_name(struct engine *engine, unsigned int index, const char *name)
{
	struct engine_event_status *status = status_of(engine, index);
	const char *label = engine->choices[index].spec.cgroup_label;
	char shown[EVENT_NAME_MAX + CGROUP_LABEL_MAX];
	size_t len = strlen(name);

	/* The cgroup label distinguishes events of one name, so the event's name is shortened
	 * instead. */
	if (label) {
		event_fit_name(shown, EVENT_NAME_MAX - 1 - strlen(label), name, len);
		len = strlen(shown);
		snprintf(shown + len, sizeof(shown) - len, "@%s", label);
	} else {
		event_fit_name(shown, EVENT_NAME_MAX, name, len);
	}
	choice_copy_name(status->name, shown);
	status->cgroup = label;
}

void choice_show_rate(struct engine *engine, unsigned int index)
{
	const struct choice *choice = &engine->choices[index];
	const struct perf_event_attr *attr = &choice->attr;
	struct engine_event_status *status = status_of(engine, index);

	status->freq_hz = attr->freq && !choice->counts_only ? attr->sample_freq : 0;
	status->period = attr->freq || choice->counts_only ? 0 : attr->sample_period;
	status->span = choice->spec.span;
	status->is_clock = attr_is_clock(attr) || choice->spec.span;
}

/* Returns a free index in the list: a new one, else that of the event dropped longest ago; -ENOSPC
 * if none. */
static int place_for(const struct engine *engine)
{
	int oldest = -ENOSPC;

	if (engine->status.n_events < ENGINE_EVENTS_MAX)
		return (int)engine->status.n_events;
	for (size_t i = 0; i < engine->status.n_events; i++) {
		if (engine->status.events[i].open)
			continue;
		if (oldest < 0 || engine->status.events[i].id < engine->status.events[oldest].id)
			oldest = (int)i;
	}
	return oldest;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Compares events without their rates. */
static bool is_same(const struct event_spec *a, const struct event_spec *b)
{
	struct perf_event_attr left = a->attr, right = b->attr;

	left.freq = right.freq = 0;
	left.sample_freq = right.sample_freq = 0;
	return !strcmp(a->name, b->name) && a->by_default == b->by_default &&
		!memcmp(&left, &right, sizeof(left)) && a->config3 == b->config3 &&
		a->chain == b->chain && same_text(a->probe, b->probe) &&
		same_text(a->cgroup, b->cgroup) && same_text(a->bpf, b->bpf);
}

/* Returns the index of the same event if it was dropped before; else -ENOENT. */
static int place_before(const struct engine *engine, const struct event_spec *spec)
{
	for (size_t i = 0; i < engine->status.n_events; i++)
		if (!engine->choices[i].open && is_same(&engine->choices[i].spec, spec))
			return (int)i;
	return -ENOENT;
}

/* A returning event keeps its number and adds to its sums: numbers are scarce, and samples in the
 * store carry it. */
static void take_up(struct engine *engine, unsigned int place)
{
	struct engine_event_status *status = status_of(engine, place);

	status->open = true;
	status->error = 0;
	status->user_only = false;
}

void choice_begin_stack(const struct engine *engine, struct choice *choice)
{
	choice->stack.bytes = stack_begin(engine, choice);
	choice->stack.begun_ns = engine->round.begun_ns;
	choice->record_bytes = engine->config.callchain ? 336 + choice->stack.bytes : 56;
}

static void show_spec(struct engine *engine, unsigned int index)
{
	const struct choice *choice = &engine->choices[index];
	struct engine_event_status *status = status_of(engine, index);

	status->enabled = true;
	status->group = 0;
	status->precise = choice->attr.precise_ip;
	status->is_tracepoint = choice->attr.type == PERF_TYPE_TRACEPOINT;
	status->is_breakpoint = choice->attr.type == PERF_TYPE_BREAKPOINT;
	status->filter = choice->spec.filter;
	status->address = choice->attr.type == PERF_TYPE_BREAKPOINT ? choice->attr.bp_addr : 0;
	status->unit = choice->spec.unit;
	status->scale = choice->spec.scale;
	choice_show_rate(engine, index);
}

static int add_one(struct engine *engine, const struct event_spec *wanted)
{
	struct event_spec own = *wanted;
	const struct event_spec *spec = &own;

	if (!own.attr.sample_max_stack)
		own.attr.sample_max_stack = engine->config.max_stack;

	int before = place_before(engine, spec), place = before < 0 ? place_for(engine) : before;
	struct choice *choice;

	if (place < 0 || (before < 0 && engine->next_event_id >= STORE_EVENTS_MAX))
		return -ENOSPC;
	choice = &engine->choices[place];
	*choice = (struct choice){
		.spec = *spec,
		.attr = spec->attr,
		.open = true,
		.enabled = true,
		.leader = (unsigned int)place,
		.noted_lost = before < 0 ? 0 : choice->noted_lost,
		.coverage = before < 0 ? (struct coverage){0} : choice->coverage,
		.partial = before >= 0 && choice->partial,
		.unmeasured = before >= 0 && choice->unmeasured,
		.short_lived_noted = before >= 0 && choice->short_lived_noted,
		.spent = before < 0 ? 0 : choice->spent,
		.noted_spent = before < 0 ? 0 : choice->noted_spent,
		.noted_throttled = before < 0 ? 0 : choice->noted_throttled,
	};
	if (!choice->attr.freq && !choice->attr.sample_period) {
		choice->attr.freq = 1;
		choice->attr.sample_freq = EVENT_DEFAULT_FREQ_HZ;
	}
	rate_limit(&choice->attr);
	/* The idle task is never followed; sampling it would only spend credit. */
	if (engine->filter && attr_is_clock(&choice->attr))
		choice->attr.exclude_idle = 1;
	choice_begin_stack(engine, choice);
	choice_leave_out(engine, (unsigned int)place);
	if (before < 0)
		engine->status.events[place] = (struct engine_event_status){
			.id = (uint8_t)engine->next_event_id++, .open = true};
	else
		take_up(engine, (unsigned int)place);
	choice_show_name(engine, (unsigned int)place, spec->name);
	show_spec(engine, (unsigned int)place);
	choice_make_fields(engine, (unsigned int)place);
	if ((size_t)place == engine->status.n_events)
		engine->status.n_events++;
	/* A name that an event lost with its kernel part may be this one. */
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (i != (unsigned int)place && engine->choices[i].open &&
			engine->status.events[i].user_only)
			choice_show_actual(engine, i);
	return place;
}

/* Adds n specs of one group; only the leader may be pinned or exclusive. */
static int add_group(struct engine *engine, const struct event_spec *specs, size_t n)
{
	int leader = -ENOSPC;
	bool reads = false;
	size_t i;

	for (i = 0; i < n; i++)
		reads |= specs[i].read_group;
	if (!++engine->last_group)
		engine->last_group = 1;
	for (i = 0; i < n; i++) {
		int place = add_one(engine, &specs[i]);
		struct choice *choice;

		if (place < 0)
			break;
		choice = &engine->choices[place];
		leader = i ? leader : place;
		choice->leader = (unsigned int)leader;
		choice->read_group = reads && !i;
		choice->counts_only = reads && i;
		if (i)
			choice->attr.pinned = choice->attr.exclusive = 0;
		status_of(engine, (unsigned int)place)->group = engine->last_group;
		choice_show_rate(engine, (unsigned int)place);
	}
	if (i == n || leader < 0)
		return leader;
	choice_drop(engine, (unsigned int)leader);
	return -ENOSPC;
}

static size_t group_size(const struct event_spec *specs, size_t n)
{
	size_t len = 1;

	while (specs->group && len < n && specs[len].group == specs->group)
		len++;
	return len;
}

static bool runs_already(const struct engine *engine, const struct event_spec *part)
{
	for (unsigned int i = 0; i < engine->status.n_events; i++) {
		const struct event_spec *spec = &engine->choices[i].spec;

		if (choice_runs(engine, i) && engine->choices[i].open &&
			spec->attr.type == part->attr.type &&
			spec->attr.config == part->attr.config && spec->span == part->span)
			return true;
	}
	return false;
}

/* Refuses all specs of a command if any of them clashes with another. */
static bool refuse_clash(struct engine *engine, const struct event_spec *specs, size_t n)
{
	const struct event_use use = {.recorded = engine->tap.on, .flight = engine->flight.on};
	const struct event_spec *all[2 * ENGINE_EVENTS_MAX];
	struct engine_asked asked = {0};
	size_t n_all = 0;

	for (size_t i = 0; i < engine->status.n_events; i++)
		if (engine->choices[i].open)
			all[n_all++] = &engine->choices[i].spec;
	for (size_t i = 0; i < n && n_all < sizeof(all) / sizeof(all[0]); i++)
		all[n_all++] = &specs[i];
	if (!event_clash_find(all, n_all, &use, &asked.clash))
		return false;
	choice_note_refused(engine, specs, EBUSY, NULL, &asked);
	return true;
}

void choice_add_all(
	struct engine *engine, const struct event_spec *specs, size_t n, choice_added *fn)
{
	if (n && refuse_clash(engine, specs, n))
		return;
	for (size_t i = 0, len; i < n; i += len) {
		int place, error = 0;

		len = group_size(specs + i, n - i);
		/* Events of off-CPU time, and parts of derived events, run once, even if several
		 * events need them. */
		if ((specs[i].part || specs[i].span) && runs_already(engine, specs + i))
			continue;
		place = len > 1 ? add_group(engine, specs + i, len) : add_one(engine, specs + i);
		if (place < 0) {
			choice_note_refused(engine, specs + i, -place, NULL, NULL);
			continue;
		}
		for (size_t k = i; k < i + len && !error; k++)
			error = choice_check_target(engine, specs + k);
		if (error) {
			choice_refuse(engine, (unsigned int)place, error, NULL);
			choice_drop(engine, (unsigned int)place);
		} else if (fn) {
			fn(engine, (unsigned int)place);
		}
	}
}

bool choice_runs(const struct engine *engine, unsigned int index)
{
	const struct choice *choice = &engine->choices[index];
	const struct choice *leader = &engine->choices[choice->leader];

	return choice_ran(engine, index) && !choice->stopping && !leader->stopping;
}

bool choice_ran(const struct engine *engine, unsigned int index)
{
	const struct choice *choice = &engine->choices[index];

	return choice->enabled && engine->choices[choice->leader].enabled;
}

bool point_event_runs(const struct engine *engine, const struct point_event *event)
{
	return !event->dropped && choice_runs(engine, event->choice);
}

bool point_event_is_on(const struct engine *engine, const struct point_event *event)
{
	const struct choice *choice = &engine->choices[event->choice];

	return !event->dropped && choice->enabled && !choice->stopping;
}

bool choice_reads(const struct engine *engine, unsigned int index)
{
	return engine->choices[engine->choices[index].leader].read_group;
}

bool choice_is_counted(const struct engine *engine, unsigned int index)
{
	bool reads = choice_reads(engine, index);
	const struct choice *choice = &engine->choices[index];
	const struct choice *sampler = reads ? &engine->choices[choice->leader] : choice;

	if (sampler->attr.freq || !sampler->attr.sample_period || choice->spec.span ||
		engine->flight.on || (choice->counts_only && !reads))
		return false;
	/* A clock also counts time in the idle loop, which may have no samples. */
	if (!reads && attr_is_clock(&choice->attr))
		return false;
	/* A BPF program discards samples after they are counted; on a tracepoint, before. */
	return !choice->spec.bpf || choice->attr.type == PERF_TYPE_TRACEPOINT;
}

static void disarm(struct engine *engine, unsigned int index)
{
	engine->choices[index].stopping = true;
	for (size_t i = 0; i < engine->n_points; i++) {
		struct point_event *event = point_find_event(engine->points[i], index);

		if (event)
			sys_disable(event->fd);
	}
}

void choice_disarm(struct engine *engine, unsigned int index)
{
	disarm(engine, index);
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (i != index && engine->choices[i].open && engine->choices[i].leader == index)
			disarm(engine, i);
}

static void drop(struct engine *engine, unsigned int index)
{
	for (size_t i = 0; i < engine->n_points; i++)
		point_drop_event(engine, engine->points[i], index);
	choice_close_program(&engine->choices[index]);
	engine->choices[index].open = false;
	engine->choices[index].leader = index;
	status_of(engine, index)->open = false;
}

/* Members are dropped first: closing the leader would leave them running alone. */
void choice_drop(struct engine *engine, unsigned int index)
{
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (i != index && engine->choices[i].leader == index)
			drop(engine, i);
	drop(engine, index);
	span_changed(engine);
}

int choice_find(const struct engine *engine, uint8_t id)
{
	for (size_t i = 0; i < engine->status.n_events; i++)
		if (engine->status.events[i].id == id)
			return (int)i;
	return -ENOENT;
}

unsigned int choice_count_open(const struct engine *engine)
{
	unsigned int n = 0;

	for (size_t i = 0; i < engine->status.n_events; i++)
		n += engine->choices[i].open;
	return n;
}
