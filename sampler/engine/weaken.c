// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * weaken.c - fallbacks when the kernel refuses an event.
 *
 * It also adds the notes about fallbacks taken and about refusals.  Runs in the sampling thread.
 */
#include "sampler/engine/weaken.h"
#include "sampler/control/failure.h"
#include "sampler/control/note.h"
#include "sampler/engine/attr.h"
#include "sampler/engine/internal.h"
#include "sampler/events/event.h"
#include "sampler/events/silent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void note_without(struct choice *choice, uint64_t bits, int error)
{
	if (!bits)
		return;
	choice->without |= bits;
	if (choice->n_less == CHOICE_LESS_MAX)
		return;
	choice->less[choice->n_less].bits = bits;
	choice->less[choice->n_less++].error = error;
}

void choice_leave_out(struct engine *engine, unsigned int index)
{
	const uint64_t hardware = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT |
		PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_DATA_SRC;
	struct choice *choice = &engine->choices[index];
	uint32_t type = choice->attr.type;

	if (type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT ||
		type == PERF_TYPE_BREAKPOINT || choice->spec.probe)
		note_without(choice, engine->config.sample_more & hardware & ~choice->without, 0);
}

/* Returns whether another event was requested by this name, or is shown by it. */
static bool is_taken(const struct engine *engine, unsigned int index, const char *name)
{
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (i != index && engine->choices[i].open &&
			(!strcmp(engine->choices[i].spec.name, name) ||
				!strcmp(engine->status.events[i].name, name)))
			return true;
	return false;
}

void choice_show_actual(struct engine *engine, unsigned int index)
{
	const struct choice *choice = &engine->choices[index];
	const char *modifier = strchr(choice->spec.name, ':');
	char name[EVENT_NAME_MAX];

	choice_copy_name(name, choice->spec.name);
	if (choice->attr.type != choice->spec.attr.type)
		snprintf(name, sizeof(name), "cpu-clock%.*s",
			(int)(sizeof(name) - sizeof("cpu-clock")), modifier ? modifier : "");
	if (status_of(engine, index)->user_only) {
		char user[EVENT_NAME_MAX];

		memcpy(user, name, sizeof(user));
		event_name_user_only(user, choice->attr.type);
		if (!is_taken(engine, index, user))
			memcpy(name, user, sizeof(name));
	}
	choice_show_name(engine, index, name);
}

static void fall_back_to_clock(struct engine *engine, unsigned int index)
{
	struct choice *choice = &engine->choices[index];
	struct perf_event_attr *attr = &choice->attr;

	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_CPU_CLOCK;
	attr->precise_ip = 0;
	if (engine->filter)
		attr->exclude_idle = 1;
	choice_leave_out(engine, index);
	choice_show_actual(engine, index);
	choice_show_rate(engine, index);
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
	choice_show_rate(engine, index);
	return true;
}

/* Returns whether a modifier asks for the kernel; without the kernel it would be another event. */
static bool names_kernel(const struct event_spec *spec)
{
	return strchr(event_modifiers(spec->name, spec->attr.type), 'k');
}

/* Lowers the precision by one step, like perf does for P. */
static bool less_precise(struct choice *choice)
{
	if (!choice->attr.precise_ip)
		return false;
	choice->attr.precise_ip--;
	return true;
}

/* PMUs without guest support refuse to exclude either side. */
static bool both_sides(struct choice *choice)
{
	struct perf_event_attr *attr = &choice->attr;

	if (!attr->exclude_guest && !attr->exclude_host)
		return false;
	attr->exclude_guest = attr->exclude_host = 0;
	return true;
}

/* Leaves out the next optional sample data that is in the set `of`, in the order of the table. */
static bool tell_less(struct engine *engine, unsigned int index, uint64_t of, int error)
{
	static const uint64_t refused[] = {
		PERF_SAMPLE_BRANCH_STACK,
		/* newer kernels only */
		PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE,
		PERF_SAMPLE_WEIGHT_STRUCT,
		PERF_SAMPLE_PHYS_ADDR,
		PERF_SAMPLE_TRANSACTION,
	};
	struct choice *choice = &engine->choices[index];
	uint64_t asked = engine->config.sample_more & ~choice->without & of, less = 0;

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]) && !less; i++)
		less = asked & refused[i];
	if (!less || choice->counts_only)
		return false;
	note_without(choice, less, error);
	/* Lowering the precision did not help. */
	if (choice->attr.type == choice->spec.attr.type)
		choice->attr.precise_ip = choice->spec.attr.precise_ip;
	return true;
}

/* Uncore PMUs, msr and others have no interrupt, but their counts can be read. */
static bool only_count(struct engine *engine, unsigned int index)
{
	struct choice *choice = &engine->choices[index];

	if (choice->counts_only || choice->read_group || choice->spec.attr.type < PERF_TYPE_MAX ||
		choice->spec.probe)
		return false;
	choice->counts_only = true;
	choice_show_rate(engine, index);
	return true;
}

bool choice_weaken(struct engine *engine, unsigned int index, int error)
{
	struct choice *choice = &engine->choices[index];
	struct perf_event_attr *attr = &choice->attr;
	struct engine_event_status *status = status_of(engine, index);

	if (choice->settled || choice->filter_refused || choice->bpf_refused ||
		choice->inherit_refused)
		return false;
	switch (error) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		if (attr->exclude_idle && attr->type != PERF_TYPE_SOFTWARE) {
			attr->exclude_idle = 0;
			return true;
		}
		if (less_precise(choice) ||
			(error == EOPNOTSUPP &&
				tell_less(engine, index, PERF_SAMPLE_BRANCH_STACK, error)))
			return true;
		if (!choice->spec.by_default || attr->type != PERF_TYPE_HARDWARE)
			return false;
		fall_back_to_clock(engine, index);
		status->error = error;
		return true;
	case EPERM:
		if (choice_leave_fields(engine, index))
			return true;
		/* fall through */
	case EACCES:
		if (attr->exclude_kernel || attr->exclude_user || names_kernel(&choice->spec) ||
			event_is_probe(&choice->spec))
			return tell_less(engine, index, PERF_SAMPLE_PHYS_ADDR, error) ||
				tell_less(engine, index, PERF_SAMPLE_BRANCH_STACK, error);
		/* Nothing would be left of it.  Events of off-CPU time use other records. */
		if (!event_fires_in_user(&choice->spec) && !choice->spec.span)
			return false;
		attr->exclude_kernel = 1;
		attr->exclude_hv = 1;
		attr->exclude_callchain_kernel = 1;
		status->user_only = true;
		status->error = error;
		choice_show_actual(engine, index);
		return true;
	case EINVAL:
		return lower_rate(engine, index) || less_precise(choice) || both_sides(choice) ||
			tell_less(engine, index, UINT64_MAX, error) || only_count(engine, index);
	default:
		return false;
	}
}

/* The data source is requested together with addresses, and is optional. */
static void note_less(struct engine *engine, const struct choice *choice, const char *name)
{
	for (unsigned int i = 0; i < choice->n_less && !choice->counts_only; i++) {
		uint64_t bits = choice->less[i].bits & ~(uint64_t)PERF_SAMPLE_DATA_SRC;

		if (bits)
			engine_note(
				engine, NOTE_SAMPLES_LESS, choice->less[i].error, 0, bits, name);
	}
}

void choice_settle(struct engine *engine, unsigned int index)
{
	struct choice *choice = &engine->choices[index];
	struct engine_event_status *status = status_of(engine, index);
	bool hardware = choice->spec.attr.type == PERF_TYPE_HARDWARE;
	const enum silent_reason silent =
		choice->settled ? SILENT_NOT : silent_why(system_dirs(), &choice->spec);

	if (choice->settled)
		return;
	choice->settled = true;
	choice_remake_fields(engine, index);
	choice_set_format(engine, index);
	status->precise = choice->attr.precise_ip;
	if (choice->attr.precise_ip < choice->spec.attr.precise_ip && !choice->spec.precise_most)
		engine_note(engine, NOTE_LESS_PRECISE, 0, 0, choice->attr.precise_ip, status->name);
	if (choice->counts_only && engine->choices[choice->leader].read_group == false)
		engine_note(engine, NOTE_COUNTS_ONLY, EINVAL, 0, 0, status->name);
	note_less(engine, choice, status->name);
	if (silent)
		engine_note(engine, NOTE_SILENT, 0, 0, silent, status->name);
	if (hardware && choice->attr.type == PERF_TYPE_SOFTWARE)
		engine_note(engine, NOTE_FALLBACK_CLOCK, ENOENT, 0, 0, status->name);
	if (status->user_only)
		engine_note(engine, NOTE_USER_ONLY, EACCES, 0, 0, status->name);
	if (choice->spec.span && choice->attr.exclude_kernel)
		engine_note(engine, NOTE_SPANS_STACKLESS, EACCES, 0, 0, status->name);
	if (choice->attr.freq && choice->spec.attr.freq &&
		choice->attr.sample_freq != choice->spec.attr.sample_freq)
		engine_note(
			engine, NOTE_FREQUENCY, EINVAL, 0, choice->attr.sample_freq, status->name);
	status->error = 0;
}

static bool is_mixed(const struct engine *engine, unsigned int index)
{
	const struct choice *choice = &engine->choices[index];

	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (engine->choices[i].leader == choice->leader &&
			!event_may_share_group(&engine->choices[i].attr, &choice->attr))
			return true;
	return false;
}

static struct engine_asked asked_of(const struct engine *engine, unsigned int index)
{
	const struct choice *choice = &engine->choices[index];

	return (struct engine_asked){
		.probe = choice->spec.probe,
		.cgroup = choice->spec.cgroup,
		.filter = choice->filter_refused ? choice->spec.filter : NULL,
		.bpf = choice->bpf_refused ? choice->spec.bpf : NULL,
		.inherited = choice->inherit_refused,
		.ioctl = choice->ioctl_refused,
		.in_group = choice->leader != index,
		.mixed_group = is_mixed(engine, index),
	};
}

void choice_note_refused(struct engine *engine, const struct event_spec *spec, int error,
	const struct point *point, const struct engine_asked *asked)
{
	struct engine_note note = {
		.kind = NOTE_EVENT_REFUSED,
		.error = error,
		.pid = point ? point->tid : -1,
		.cpu = point ? point->cpu : -1,
		.attr = spec->attr,
	};

	if (asked)
		note.asked = *asked;
	choice_copy_name(note.text, spec->name);
	engine_add_note(engine, &note);
}

/* The tracker has opened, so the target is not the cause: the event is. */
void choice_refuse(struct engine *engine, unsigned int index, int error, const struct point *point)
{
	struct choice *choice = &engine->choices[index];
	struct engine_event_status *status = status_of(engine, index);
	const struct engine_asked asked = asked_of(engine, index);

	/* The CPU is offline; the next check of the CPUs reports that. */
	if (choice->settled && error == ENODEV && point && proc_is_offline(point->cpu))
		return;
	if (!choice->settled) {
		choice->open = false;
		status->open = false;
		/* An event that opened keeps its name, since the kernel refused only the ioctl. */
		if (!choice->ioctl_refused)
			choice_show_name(engine, index, choice->spec.name);
		status->user_only = false;
	} else {
		missing_mark(engine, index, point);
		if (point && point->cpu >= 0 ? !missing_is_news(engine, point->cpu, index, error)
					     : status->error == error)
			return;
	}
	status->error = error;
	engine->status.failure = (struct engine_failure){
		.what = FAIL_OPEN,
		.error = error,
		.attr = choice->spec.attr,
		.pid = point ? point->tid : -1,
		.cpu = point ? point->cpu : -1,
		.asked = asked,
	};
	choice_copy_name(engine->status.failure.event, status->name);
	struct event_spec refused = choice->spec;
	if (choice->ioctl_refused)
		choice_copy_name(refused.name, status->name);
	choice_note_refused(engine, &refused, error, point, &asked);
}
