// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * change.c - changes of running events.
 *
 * It changes the filter, the breakpoint address and the call chains, switches events on and off,
 * and pauses all rings.  Runs in the sampling thread.
 *
 * The kernel cannot change an open event's frequency into a period, or its filter a second time.
 * Such an event is reopened on every point; its number, sums and count stay.
 */
#include "sampler/engine/change.h"
#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/control/note.h"
#include "sampler/engine/attr.h"
#include "sampler/engine/group.h"
#include "sampler/engine/internal.h"
#include "sampler/engine/stack.h"
#include "sampler/engine/weaken.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void change_refuse(struct engine *engine, unsigned int index, const struct perf_event_attr *attr,
	int error, enum event_clash_kind clash)
{
	struct event_spec asked = engine->choices[index].spec;
	struct engine_asked why = {
		.clash.kind = clash, .ioctl = engine->choices[index].ioctl_refused};

	memcpy(why.clash.event, asked.name, sizeof(why.clash.event));
	asked.attr = *attr;
	choice_note_refused(engine, &asked, error, NULL, clash || why.ioctl ? &why : NULL);
	engine->choices[index].ioctl_refused = NULL;
}

/* Drains the rings before a change, since their samples belong to the event before it. */
void change_settle(struct engine *engine)
{
	engine_round(engine, true, true);
	engine_tick(engine, true);
}

/* --- reopening --- */

bool change_owns_ring(const struct engine *engine, unsigned int index)
{
	for (size_t i = 0; i < engine->n_points; i++) {
		const struct point_event *event = point_find_event(engine->points[i], index);

		if (event && event->owns_ring)
			return true;
	}
	return false;
}

/* Notes the points on which an event did not open although it did on others. */
static void note_missing(struct engine *engine, unsigned int index, int error)
{
	for (size_t i = 0; i < engine->n_points && engine->choices[index].open; i++)
		if (choice_fits(engine, index, engine->points[i]) &&
			!point_find_event(engine->points[i], index))
			choice_refuse(engine, index, error, engine->points[i]);
	missing_add(engine);
}

int change_open(struct engine *engine, unsigned int index)
{
	unsigned int leader = engine->choices[index].leader;
	int ret = -ESRCH, missed = 0;

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
		if (error && error != -ESRCH)
			missed = error;
	}
	if (!ret && missed)
		note_missing(engine, index, -missed);
	return engine->n_points ? ret : 0;
}

void change_close(struct engine *engine, unsigned int index)
{
	choice_disarm(engine, index);
	change_settle(engine);
	/* Pending samples have a format that may change. */
	pending_retry(engine, true);
	/* Switches may go unseen until the event is open again. */
	if (engine->choices[index].spec.span)
		span_stop(engine);
	for (size_t i = 0; i < engine->n_points; i++) {
		for (unsigned int k = 0; k < engine->status.n_events; k++)
			if (k != index && engine->choices[k].leader == index)
				point_drop_event(engine, engine->points[i], k);
		point_drop_event(engine, engine->points[i], index);
	}
	for (unsigned int k = 0; k < engine->status.n_events; k++)
		if (k == index || engine->choices[k].leader == index)
			engine->choices[k].stopping = false;
}

/* Reopens with the current settings of the choice; returns 0, or -errno if it opened on no
 * point. */
int change_reopen(struct engine *engine, unsigned int index)
{
	change_close(engine, index);
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (i == index || (engine->choices[i].open && engine->choices[i].leader == index))
			choice_set_format(engine, i);
	return change_open(engine, index);
}

int change_swap(struct engine *engine, unsigned int index)
{
	int ret = -ESRCH;

	for (size_t i = 0; i < engine->n_points; i++) {
		const int error = point_swap_event(engine, engine->points[i], index);

		if (!error || ret == -ESRCH)
			ret = error;
	}
	change_settle(engine);
	for (size_t i = 0; i < engine->n_points; i++)
		point_drop_swapped(engine, engine->points[i], index);
	return ret;
}

void change_restore(struct engine *engine, unsigned int index, const struct choice *before)
{
	struct choice *choice = &engine->choices[index];
	int ret;

	choice->spec = before->spec;
	choice->attr = before->attr;
	ret = change_reopen(engine, index);
	if (!ret || ret == -ESRCH)
		return;
	choice->settled = false;
	choice_refuse(engine, index, -ret, NULL);
	choice_drop(engine, index);
}

/* --- on and off --- */

/* Disabling a leader stops its group; the members keep their own state.  PERF_IOC_FLAG_GROUP is not
 * used: it would let members without credit run without a limit. */
void change_enabled(struct engine *engine, unsigned int index, bool enable)
{
	struct choice *choice = &engine->choices[index];

	/* The reference clock is read before enabling and after disabling. */
	if (enable && !choice->enabled)
		change_settle(engine);
	if (enable) {
		choice->enabled = true;
		wake_settle(engine);
	}
	/* Draining the rings must not grant credit, which would enable the event again. */
	choice->stopping = !enable;
	for (size_t i = 0; i < engine->n_points; i++) {
		struct point_event *event = point_find_event(engine->points[i], index);

		if (!event)
			continue;
		if (!enable)
			sys_disable(event->fd);
		else if (!engine->points[i]->on_exec)
			point_go_on(engine, event);
	}
	if (!enable) {
		change_settle(engine);
		choice->enabled = choice->stopping = false;
		span_changed(engine);
	}
	engine_note(engine, NOTE_EVENT_ENABLED, 0, 0, enable, status_of(engine, index)->name);
}

/* --- filters --- */

/* Tries a filter on a temporary event of this thread: returns 0 or a positive errno. */
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

/* Linux accepts one filter per event (EEXIST).  The first filter is set on the open events; a
 * change reopens them. */
void change_filter(struct engine *engine, unsigned int index, const char *filter)
{
	struct choice *choice = &engine->choices[index];
	struct choice before = *choice;
	int error = try_filter(engine, index, filter), ret = 0;

	if (!error && change_owns_ring(engine, index) && before.spec.filter)
		error = EBUSY;
	if (!error && (before.spec.filter || filter)) {
		choice->spec.filter = filter;
		for (size_t i = 0; !before.spec.filter && i < engine->n_points && !ret; i++) {
			struct point_event *event = point_find_event(engine->points[i], index);

			ret = event ? sys_set_filter(event->fd, filter) : 0;
		}
		if (before.spec.filter || ret)
			ret = change_reopen(engine, index);
		if (ret && ret != -ESRCH) {
			error = -ret;
			change_restore(engine, index, &before);
		}
	}
	status_of(engine, index)->filter = choice->spec.filter;
	note_filter(engine, index, filter, error);
}

/* --- call chains --- */

enum engine_call_graph change_find_call_graph(const struct engine_config *config)
{
	if (!config->callchain)
		return CALL_GRAPH_NO;
	if (config->sample_more & PERF_SAMPLE_BRANCH_STACK &&
		config->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		return CALL_GRAPH_LBR;
	if (!config->stack_bytes)
		return CALL_GRAPH_FP;
	return config->stack_adapts ? CALL_GRAPH_AUTO : CALL_GRAPH_DWARF;
}

static void set_call_graph(
	struct engine_config *config, enum engine_call_graph mode, uint32_t stack_bytes)
{
	if (config->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		config->sample_more &= ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
	if (mode == CALL_GRAPH_LBR)
		config->sample_more |= PERF_SAMPLE_BRANCH_STACK;
	config->callchain = mode != CALL_GRAPH_NO;
	config->stack_adapts = mode == CALL_GRAPH_AUTO;
	config->stack_bytes = mode == CALL_GRAPH_AUTO || mode == CALL_GRAPH_DWARF ? stack_bytes : 0;
}

static int check_call_graph(const struct engine *engine, enum engine_call_graph mode)
{
	if (mode == CALL_GRAPH_DWARF && (!engine->ingest.unwind || !unwind_registers()))
		return EOPNOTSUPP;
	/* Reopening would lose inherited children, samples in the flight rings, or the recording's
	 * format. */
	if (engine->status.scope == SCOPE_INHERIT || engine->flight.on || engine->tap.on)
		return EBUSY;
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (engine->choices[i].open && change_owns_ring(engine, i))
			return EBUSY;
	return 0;
}

/* Returns whether the attribute of the leader or of a member differs from the open one. */
static bool is_outdated(const struct engine *engine, unsigned int leader,
	const struct perf_event_attr attrs[ENGINE_EVENTS_MAX])
{
	const struct sys_setup setup = {0};
	struct perf_event_attr attr;

	for (unsigned int i = 0; i < engine->status.n_events; i++) {
		if (!engine->choices[i].open || engine->choices[i].leader != leader)
			continue;
		choice_attr(engine, i, &setup, &attr);
		if (memcmp(&attr, &attrs[i], sizeof(attr)) != 0)
			return true;
	}
	return false;
}

/* Reopens the events that the mode changes; returns 0 or a positive errno. */
static int switch_call_graph(
	struct engine *engine, enum engine_call_graph mode, uint32_t stack_bytes, bool restore)
{
	struct perf_event_attr attrs[ENGINE_EVENTS_MAX];
	const struct sys_setup setup = {0};
	int error = 0;

	for (unsigned int i = 0; i < engine->status.n_events; i++)
		choice_attr(engine, i, &setup, &attrs[i]);
	set_call_graph(&engine->config, mode, stack_bytes);
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		choice_begin_stack(engine, &engine->choices[i]);
	for (unsigned int i = 0; i < engine->status.n_events && !error; i++) {
		const struct choice choice = engine->choices[i];

		if (!choice.open || choice.leader != i || !is_outdated(engine, i, attrs))
			continue;
		if (restore) {
			change_restore(engine, i, &choice);
			continue;
		}
		const int ret = change_reopen(engine, i);
		error = ret && ret != -ESRCH ? -ret : 0;
	}
	return error;
}

void change_call_graph(struct engine *engine, enum engine_call_graph mode)
{
	const enum engine_call_graph before = change_find_call_graph(&engine->config);
	int error = check_call_graph(engine, mode);

	if (!error) {
		error = switch_call_graph(engine, mode, engine->dwarf_bytes, false);
		if (error)
			(void)switch_call_graph(engine, before, engine->dwarf_bytes, true);
	}
	engine_note(engine, NOTE_CALL_GRAPH, error, 0, mode, NULL);
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
		point_fit_stack(engine, point, &attr);
		/* The attribute has `disabled` set: an event enabled by this call would run without
		 * credit. */
		ret = sys_modify(event->fd, &attr);
		if (ret && ret != -ESRCH)
			return ret;
		if (!ret && point_event_is_on(engine, event) && !point->on_exec)
			point_go_on(engine, event);
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
		/* Kernels before 4.17 cannot modify it, and later ones reject some differences. */
		if (ret)
			ret = change_owns_ring(engine, index) ? -EBUSY
							      : change_reopen(engine, index);
		if (ret == -ESRCH)
			ret = 0;
		if (ret)
			change_restore(engine, index, &before);
	}
	status_of(engine, index)->address = choice->attr.bp_addr;
	engine_note(engine, NOTE_BREAKPOINT, -ret, 0, address, status_of(engine, index)->name);
}

/* --- pause --- */

/* Side-band records in shared rings were lost during the pause. */
static void learn_again(struct engine *engine)
{
	struct follow_process *process;
	size_t position = 0;

	engine->targets.rescan = true;
	if (engine->scope.side_by_cpu)
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
	if (pause)
		change_settle(engine);
	else
		engine_round(engine, true, true);
	for (size_t i = 0; i < engine->n_channels; i++) {
		const struct channel *channel = engine->channels[i];
		int ret = channel->side ? 0 : sys_pause(channel->fd, pause);

		if (ret)
			error = -ret;
	}
	/* Samples that came until each ring stood belong to the time before the pause. */
	if (pause) {
		sys_wait_for_hits();
		engine_round(engine, true, true);
	}
	span_stop(engine);
	flight_pause(engine, pause);
	/* The rings already run at this tick, so it covers the whole pause. */
	if (!pause)
		engine_tick(engine, true);
	engine->paused = pause;
	if (!pause)
		learn_again(engine);
	engine_note(engine, NOTE_PAUSED, error, 0, pause, NULL);
}
