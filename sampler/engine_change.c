// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * engine_change.c - changes to events that run: rate, period, filter, address of a breakpoint, on and off; and all
 * rings standing still.  Runs in the sampling thread.
 *
 * What the kernel does not change in an event that is open (a frequency into a period, a second filter) is done by
 * opening it anew on every point; its number, its sums and what it had counted stay.
 */
#include "sampler/engine_internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static struct engine_event_status *status_of(struct engine *engine, unsigned int choice)
{
	return &engine->status.events[choice];
}

static void refuse_spec(
	struct engine *engine, unsigned int index, const struct perf_event_attr *attr, int error)
{
	struct event_spec asked = engine->choices[index].spec;

	asked.attr = *attr;
	choice_note_refused(engine, &asked, error, NULL, NULL);
}

/* What the rings hold is of the event as it was. */
static void settle_accounts(struct engine *engine)
{
	engine_round(engine, true, true);
	engine_tick(engine, true);
}

/* --- opening anew --- */

/* An event that owns the ring of its point, where there are no trackers, cannot be closed. */
static bool owns_a_ring(const struct engine *engine, unsigned int index)
{
	for (size_t i = 0; i < engine->n_points; i++) {
		const struct point_event *event = point_find_event(engine->points[i], index);

		if (event && event->owns_ring)
			return true;
	}
	return false;
}

static int open_everywhere(struct engine *engine, unsigned int index)
{
	unsigned int leader = engine->choices[index].leader;
	int ret = -ESRCH;

	for (size_t i = 0; i < engine->n_points; i++) {
		struct point *point = engine->points[i];
		struct point_event *event;
		int error;

		if (index == leader && group_leads(engine, leader)) {
			error = group_open(engine, point, index, true);
		} else if (!choice_fits(engine, index, point)) {
			continue;
		} else {
			error = point_add_event(engine, point, index);
			event = error ? NULL : point_find_event(point, index);
			if (event)
				error = point_start_event(engine, event);
		}
		if (!error)
			ret = 0;
		else if (ret)
			ret = error;
	}
	return engine->n_points ? ret : 0;
}

static void close_everywhere(struct engine *engine, unsigned int index)
{
	choice_disarm(engine, index);
	settle_accounts(engine);
	for (size_t i = 0; i < engine->n_points; i++) {
		for (unsigned int k = 0; k < engine->status.n_events; k++)
			if (k != index && engine->choices[k].leader == index)
				point_drop_event(engine, engine->points[i], k);
		point_drop_event(engine, engine->points[i], index);
	}
	for (unsigned int k = 0; k < engine->status.n_events; k++)
		if (k == index || engine->choices[k].leader == index)
			engine->choices[k].leaving = false;
}

/* With what stands in the choice now; 0, or -errno when it opened nowhere. */
static int reopen(struct engine *engine, unsigned int index)
{
	close_everywhere(engine, index);
	choice_set_format(engine, index);
	return open_everywhere(engine, index);
}

/* Back to what it was, after a refusal. */
static void restore(struct engine *engine, unsigned int index, const struct choice *before)
{
	struct choice *choice = &engine->choices[index];
	int ret;

	choice->spec = before->spec;
	choice->attr = before->attr;
	ret = reopen(engine, index);
	if (!ret || ret == -ESRCH)
		return;
	choice->settled = false;
	choice_refuse(engine, index, -ret, NULL);
	choice_drop(engine, index);
}

/* --- rates --- */

static void tell_rate(struct engine *engine, unsigned int index)
{
	const struct perf_event_attr *attr = &engine->choices[index].attr;

	choice_show_rate(engine, index);
	engine_note(engine, NOTE_FREQUENCY, 0, 0,
		attr->freq ? attr->sample_freq : attr->sample_period,
		status_of(engine, index)->name);
}

/* The frequency, or the period of an event that has one: in place. */
void change_rate(struct engine *engine, unsigned int index, uint64_t rate)
{
	struct choice *choice = &engine->choices[index];
	struct perf_event_attr before = choice->attr;
	int error = choice->counts_only || choice->spec.span ? EINVAL : 0;

	if (choice->attr.freq)
		choice->attr.sample_freq = rate;
	else
		choice->attr.sample_period = rate;
	for (size_t i = 0; i < engine->n_points && !error; i++) {
		struct point_event *event = point_find_event(engine->points[i], index);
		int ret = event ? sys_set_period(event->fd, &choice->attr) : 0;

		if (ret && ret != -ESRCH)
			error = -ret;
	}
	if (error) {
		struct perf_event_attr asked = choice->attr;

		choice->attr = before;
		refuse_spec(engine, index, &asked, error);
		return;
	}
	choice->spec.attr.sample_freq = choice->attr.sample_freq;
	tell_rate(engine, index);
}

void change_period(struct engine *engine, unsigned int index, uint64_t period)
{
	struct choice *choice = &engine->choices[index];
	struct choice before = *choice;
	int ret;

	if (!choice->attr.freq || choice->counts_only) {
		engine_round(engine, true, true);
		change_rate(engine, index, period);
		return;
	}
	choice->attr.freq = 0;
	choice->attr.sample_period = period;
	choice->spec.attr.freq = 0;
	choice->spec.attr.sample_period = period;
	ret = owns_a_ring(engine, index) ? -EBUSY : 0;
	if (!ret) {
		/* Still in the old format what is in the rings. */
		choice->attr = before.attr;
		close_everywhere(engine, index);
		choice->attr.freq = 0;
		choice->attr.sample_period = period;
		choice_set_format(engine, index);
		ret = open_everywhere(engine, index);
	}
	if (!ret || ret == -ESRCH) {
		tell_rate(engine, index);
		return;
	}
	refuse_spec(engine, index, &choice->attr, -ret);
	if (ret != -EBUSY) {
		restore(engine, index, &before);
		return;
	}
	choice->spec = before.spec;
	choice->attr = before.attr;
}

/* --- on and off --- */

/* Disabling a leader stops its group, whose members stay as they are.  Not by PERF_IOC_FLAG_GROUP: members without
 * credit left would run on unlimited. */
void change_enabled(struct engine *engine, unsigned int index, bool enable)
{
	struct choice *choice = &engine->choices[index];

	/* The clock they are measured against is read before the one and after the other. */
	if (enable && !choice->enabled)
		settle_accounts(engine);
	choice->enabled = enable;
	for (size_t i = 0; i < engine->n_points; i++) {
		struct point_event *event = point_find_event(engine->points[i], index);

		if (!event)
			continue;
		if (!enable)
			sys_disable(event->fd);
		else if (!engine->points[i]->on_exec)
			point_go_on(event);
	}
	if (!enable) {
		choice->enabled = true;
		settle_accounts(engine);
		choice->enabled = false;
		span_changed(engine);
	}
	engine_note(engine, NOTE_EVENT_ENABLED, 0, 0, enable, status_of(engine, index)->name);
}

/* --- filters --- */

/* Whether the kernel takes it, tried on a throwaway event of this thread: 0 or an errno. */
static int try_filter(struct engine *engine, unsigned int index, const char *filter)
{
	const struct sys_setup setup = {0};
	const struct point here = {.tid = 0, .cpu = -1};
	struct event_spec *spec = &engine->choices[index].spec;
	struct event_spec before = *spec;
	struct perf_event_attr attr;
	int fd;

	if (!filter)
		return 0;
	spec->filter = filter;
	spec->cgroup = NULL;
	choice_attr(engine, index, &setup, &attr);
	fd = choice_open_event(engine, index, &attr, &here, -1);
	*spec = before;
	if (fd < 0)
		return -fd;
	engine_close_event(engine, &fd);
	return 0;
}

static void note_filter(struct engine *engine, unsigned int index, const char *filter, int error)
{
	struct engine_note note = {
		.kind = NOTE_FILTER,
		.error = error,
		.pid = -1,
		.cpu = -1,
		.attr = engine->choices[index].spec.attr,
		.asked.filter = error ? filter : NULL,
	};

	memcpy(note.text, status_of(engine, index)->name, sizeof(note.text));
	engine_add_note(engine, &note);
}

/* Linux takes one filter in an event's life (EEXIST): the first goes into the open events, another one into new ones. */
void change_filter(struct engine *engine, unsigned int index, const char *filter)
{
	struct choice *choice = &engine->choices[index];
	struct choice before = *choice;
	int error = try_filter(engine, index, filter), ret = 0;

	if (!error && owns_a_ring(engine, index) && before.spec.filter)
		error = EBUSY;
	if (!error && (before.spec.filter || filter)) {
		choice->spec.filter = filter;
		for (size_t i = 0; !before.spec.filter && i < engine->n_points && !ret; i++) {
			struct point_event *event = point_find_event(engine->points[i], index);

			ret = event ? sys_set_filter(event->fd, filter) : 0;
		}
		if (before.spec.filter || ret)
			ret = reopen(engine, index);
		if (ret && ret != -ESRCH) {
			error = -ret;
			restore(engine, index, &before);
		}
	}
	status_of(engine, index)->filter = choice->spec.filter;
	note_filter(engine, index, filter, error);
}

/* --- breakpoints --- */

static int move_in_place(struct engine *engine, unsigned int index)
{
	for (size_t i = 0; i < engine->n_points; i++) {
		struct point *point = engine->points[i];
		struct point_event *event = point_find_event(point, index);
		struct perf_event_attr attr;
		struct sys_setup setup;
		int ret;

		if (!event)
			continue;
		if (event->owns_ring)
			return -EINVAL;
		setup = point_setup(engine, point, false);
		choice_attr(engine, index, &setup, &attr);
		/* Disabled it stays as it is; enabled by this call, it would run without credit. */
		ret = sys_modify(event->fd, &attr);
		if (ret && ret != -ESRCH)
			return ret;
		if (!ret && choice_runs(engine, index) && !point->on_exec)
			point_go_on(event);
	}
	return 0;
}

void change_breakpoint(struct engine *engine, unsigned int index, uint64_t address)
{
	struct choice *choice = &engine->choices[index];
	struct choice before = *choice;
	int ret = -EINVAL;

	if (choice->attr.type == PERF_TYPE_BREAKPOINT) {
		choice->attr.bp_addr = choice->spec.attr.bp_addr = address;
		ret = move_in_place(engine, index);
		/* Kernels before 4.17 cannot, and others find a difference that they do not like. */
		if (ret)
			ret = owns_a_ring(engine, index) ? -EBUSY : reopen(engine, index);
		if (ret == -ESRCH)
			ret = 0;
		if (ret)
			restore(engine, index, &before);
	}
	status_of(engine, index)->address = choice->attr.bp_addr;
	engine_note(engine, NOTE_BREAKPOINT, -ret, 0, address, status_of(engine, index)->name);
}

/* --- all rings --- */

/* Side-band that shared a ring was lost meanwhile. */
static void learn_again(struct engine *engine)
{
	struct follow_process *process;
	size_t position = 0;

	engine->rescan = true;
	if (engine->side_by_cpu)
		return;
	while ((process = idmap_next(&engine->follow.processes, &position)))
		if (!process->ended_ns)
			tasks_load_process(engine->ingest.tasks, process->pid);
}

void change_paused(struct engine *engine, bool pause)
{
	int error = 0;

	if (engine->paused == pause)
		return;
	engine_round(engine, true, true);
	for (size_t i = 0; i < engine->n_channels; i++) {
		const struct channel *channel = engine->channels[i];
		int ret = channel->side ? 0 : sys_pause(channel->fd, pause);

		if (ret)
			error = -ret;
	}
	span_stop(engine);
	flight_pause(engine, pause);
	engine->paused = pause;
	if (!pause)
		learn_again(engine);
	engine_note(engine, NOTE_PAUSED, error, 0, pause, NULL);
}
