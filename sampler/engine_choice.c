/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * engine_choice.c - the events the user chose: what is tried when the kernel refuses one, adding,
 * dropping and retuning them.  Runs in the sampling thread.
 */
#include "sampler/engine_internal.h"

#include <errno.h>
#include <string.h>

static struct engine_event_status *status_of(struct engine *engine, unsigned int choice)
{
	return &engine->status.events[choice];
}

static void copy_name(char to[EVENT_NAME_MAX], const char *from)
{
	size_t len = strnlen(from, EVENT_NAME_MAX - 1);

	memcpy(to, from, len);
	memset(to + len, 0, EVENT_NAME_MAX - len);
}

static void show_rate(struct engine *engine, unsigned int choice)
{
	const struct perf_event_attr *attr = &engine->choices[choice].attr;
	struct engine_event_status *status = status_of(engine, choice);

	status->freq_hz = attr->freq ? attr->sample_freq : 0;
	status->period = attr->freq ? 0 : attr->sample_period;
	status->is_clock = event_is_clock(attr);
}

/* A free place in the list: a new one, else that of the event dropped longest ago. */
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

/* The same event, whatever its rate. */
static bool is_same(const struct event_spec *a, const struct event_spec *b)
{
	struct perf_event_attr left = a->attr, right = b->attr;

	left.freq = right.freq = 0;
	left.sample_freq = right.sample_freq = 0;
	return !strcmp(a->name, b->name) && a->by_default == b->by_default &&
		!memcmp(&left, &right, sizeof(left));
}

/* The place of the same event, dropped before; or -ENOENT. */
static int place_before(const struct engine *engine, const struct event_spec *spec)
{
	for (size_t i = 0; i < engine->status.n_events; i++)
		if (!engine->choices[i].open && is_same(&engine->choices[i].spec, spec))
			return (int)i;
	return -ENOENT;
}

/* An event that comes back goes on under its number and adds to its sums: numbers are few, and its
 * samples in the store bear it. */
static void take_up(struct engine *engine, unsigned int place)
{
	struct engine_event_status *status = status_of(engine, place);

	status->open = true;
	status->error = 0;
	status->user_only = false;
}

int choice_add(struct engine *engine, const struct event_spec *spec)
{
	int before = place_before(engine, spec), place = before < 0 ? place_for(engine) : before;
	struct choice *choice;

	if (place < 0 || (before < 0 && engine->next_event_id >= STORE_EVENTS_MAX))
		return -ENOSPC;
	choice = &engine->choices[place];
	*choice = (struct choice){
		.spec = *spec,
		.attr = spec->attr,
		.open = true,
		.noted_lost = before < 0 ? 0 : choice->noted_lost,
		.spent = before < 0 ? 0 : choice->spent,
		.noted_spent = before < 0 ? 0 : choice->noted_spent,
		.noted_throttled = before < 0 ? 0 : choice->noted_throttled,
	};
	if (!choice->attr.freq && !choice->attr.sample_period) {
		choice->attr.freq = 1;
		choice->attr.sample_freq = EVENT_DEFAULT_FREQ_HZ;
	}
	/* Idle is no followed task; waking for it would only spend credit. */
	if (engine->filter && event_is_clock(&choice->attr))
		choice->attr.exclude_idle = 1;
	choice->record_bytes = engine->config.callchain ? 336 : 56;
	if (before < 0)
		engine->status.events[place] = (struct engine_event_status){
			.id = (uint8_t)engine->next_event_id++, .open = true};
	else
		take_up(engine, (unsigned int)place);
	copy_name(engine->status.events[place].name, spec->name);
	show_rate(engine, (unsigned int)place);
	if ((size_t)place == engine->status.n_events)
		engine->status.n_events++;
	return place;
}

static void fall_back_to_clock(struct engine *engine, unsigned int index)
{
	struct choice *choice = &engine->choices[index];
	struct perf_event_attr *attr = &choice->attr;
	const char *modifier = strchr(choice->spec.name, ':');

	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_CPU_CLOCK;
	attr->precise_ip = 0;
	if (engine->filter)
		attr->exclude_idle = 1;
	strcpy(status_of(engine, index)->name, "cpu-clock");
	if (modifier)
		strncat(status_of(engine, index)->name, modifier,
			EVENT_NAME_MAX - sizeof("cpu-clock"));
	show_rate(engine, index);
}

static bool lower_rate(struct engine *engine, unsigned int index)
{
	struct perf_event_attr *attr = &engine->choices[index].attr;
	struct proc_limits limits;

	if (!attr->freq)
		return false;
	proc_limits(&limits);
	if (limits.max_sample_rate <= 0 || attr->sample_freq <= (uint64_t)limits.max_sample_rate)
		return false;
	attr->sample_freq = (uint64_t)limits.max_sample_rate;
	show_rate(engine, index);
	return true;
}

/* Asked for the kernel by its modifier, alone or not: less of it would be another event. */
static bool names_kernel(const struct event_spec *spec)
{
	const char *modifiers = strrchr(spec->name, ':');

	return modifiers && strchr(modifiers, 'k') &&
		!modifiers[1 + strspn(modifiers + 1, "ukhGHIp")];
}

bool choice_weaken(struct engine *engine, unsigned int index, int error)
{
	struct choice *choice = &engine->choices[index];
	struct perf_event_attr *attr = &choice->attr;
	struct engine_event_status *status = status_of(engine, index);

	if (choice->settled)
		return false;
	switch (error) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		if (attr->exclude_idle && attr->type != PERF_TYPE_SOFTWARE) {
			attr->exclude_idle = 0;
			return true;
		}
		if (!choice->spec.by_default || attr->type != PERF_TYPE_HARDWARE)
			return false;
		fall_back_to_clock(engine, index);
		status->error = error;
		return true;
	case EACCES:
	case EPERM:
		if (attr->exclude_kernel || names_kernel(&choice->spec))
			return false;
		attr->exclude_kernel = 1;
		attr->exclude_hv = 1;
		attr->exclude_callchain_kernel = 1;
		status->user_only = true;
		status->error = error;
		return true;
	case EOVERFLOW:
		if (!engine->config.max_stack)
			return false;
		engine->config.max_stack = 0;
		return true;
	case EINVAL:
		return lower_rate(engine, index);
	default:
		return false;
	}
}

void choice_settle(struct engine *engine, unsigned int index)
{
	struct choice *choice = &engine->choices[index];
	struct engine_event_status *status = status_of(engine, index);
	bool hardware = choice->spec.attr.type == PERF_TYPE_HARDWARE;

	if (choice->settled)
		return;
	choice->settled = true;
	if (hardware && choice->attr.type == PERF_TYPE_SOFTWARE)
		engine_note(engine, NOTE_FALLBACK_CLOCK, ENOENT, 0, 0, status->name);
	if (status->user_only)
		engine_note(engine, NOTE_USER_ONLY, EACCES, 0, 0, status->name);
	if (choice->attr.freq && choice->spec.attr.freq &&
		choice->attr.sample_freq != choice->spec.attr.sample_freq)
		engine_note(
			engine, NOTE_FREQUENCY, EINVAL, 0, choice->attr.sample_freq, status->name);
	status->error = 0;
}

void choice_note_refused(
	struct engine *engine, const struct event_spec *spec, int error, const struct point *point)
{
	struct engine_note note = {
		.kind = NOTE_EVENT_REFUSED,
		.error = error,
		.pid = point ? point->tid : -1,
		.cpu = point ? point->cpu : -1,
		.attr = spec->attr,
	};

	copy_name(note.text, spec->name);
	engine_add_note(engine, &note);
}

/* The target's own fault would have kept the tracker from opening; so this is the event's. */
void choice_refuse(struct engine *engine, unsigned int index, int error, const struct point *point)
{
	struct choice *choice = &engine->choices[index];
	struct engine_event_status *status = status_of(engine, index);

	if (!choice->settled) {
		choice->open = false;
		status->open = false;
		/* Told as it was asked for. */
		copy_name(status->name, choice->spec.name);
		status->user_only = false;
	} else if (status->error == error) {
		return;
	}
	status->error = error;
	engine->status.failure = (struct engine_failure){
		.what = FAIL_OPEN,
		.error = error,
		.attr = choice->spec.attr,
		.pid = point->tid,
		.cpu = point->cpu,
	};
	copy_name(engine->status.failure.event, status->name);
	choice_note_refused(engine, &choice->spec, error, point);
}

void choice_disarm(struct engine *engine, unsigned int index)
{
	engine->choices[index].leaving = true;
	for (size_t i = 0; i < engine->n_points; i++)
		for (struct point_event *event = engine->points[i]->events; event;
			event = event->next)
			if (event->choice == index)
				sys_disable(event->fd);
}

void choice_drop(struct engine *engine, unsigned int index)
{
	struct choice *choice = &engine->choices[index];

	for (size_t i = 0; i < engine->n_points; i++)
		point_drop_event(engine, engine->points[i], index);
	choice->open = false;
	status_of(engine, index)->open = false;
}

void choice_set_rate(struct engine *engine, unsigned int index, uint64_t rate)
{
	struct choice *choice = &engine->choices[index];
	struct perf_event_attr before = choice->attr;
	const struct point *refused = NULL;
	int error = 0, ret;

	if (choice->attr.freq)
		choice->attr.sample_freq = rate;
	else
		choice->attr.sample_period = rate;
	for (size_t i = 0; i < engine->n_points && !error; i++) {
		for (struct point_event *event = engine->points[i]->events; event;
			event = event->next) {
			if (event->choice != index)
				continue;
			ret = sys_set_period(event->fd, &choice->attr);
			if (!ret || ret == -ESRCH)
				continue;
			error = -ret;
			refused = event->point;
		}
	}
	if (error) {
		struct event_spec asked = choice->spec;

		asked.attr = choice->attr;
		choice->attr = before;
		choice_note_refused(engine, &asked, error, refused);
		return;
	}
	choice->spec.attr.sample_freq = choice->attr.sample_freq;
	show_rate(engine, index);
	engine_note(engine, NOTE_FREQUENCY, 0, 0, rate, status_of(engine, index)->name);
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
