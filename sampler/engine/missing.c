/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * missing.c - events that are open on some of their CPUs or threads only.
 *
 * Only a clock of the whole machine has a known share of missing samples: the time that tasks ran
 * on its missing CPUs.  The coverage of any other event is unknown from then on.  Runs in the
 * sampling thread.
 */
#include "sampler/engine/missing.h"
#include "sampler/base/sysfile.h"
#include "sampler/control/note.h"
#include "sampler/engine/attr.h"
#include "sampler/engine/internal.h"
#include "sampler/kernel/attr.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define EVERY_EVENT ENGINE_EVENTS_MAX

void missing_mark(struct engine *engine, unsigned int index, const struct point *point)
{
	const unsigned int leader = engine->choices[index].leader;

	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (engine->choices[i].open && engine->choices[i].leader == leader &&
			(!point || !point_find_event(point, i)))
			engine->choices[i].partial = true;
}

void missing_mark_all(struct engine *engine)
{
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		engine->choices[i].partial |= engine->choices[i].open;
}

/* --- notes --- */

static uint64_t key_of(int cpu, unsigned int index)
{
	return (uint64_t)cpu * (EVERY_EVENT + 1) + index;
}

bool missing_is_news(struct engine *engine, int cpu, unsigned int index, int error)
{
	const uint64_t key = key_of(cpu, index);
	void *value = (void *)(intptr_t)error; /* NOLINT(performance-no-int-to-ptr) */

	if (idmap_find(&engine->scope.refused, key) == value)
		return false;
	(void)idmap_set(&engine->scope.refused, key, value);
	return true;
}

void missing_forget_cpu(struct engine *engine, int cpu)
{
	for (unsigned int i = 0; i <= EVERY_EVENT; i++)
		idmap_remove(&engine->scope.refused, key_of(cpu, i));
}

/* Returns a limit that leaves enough for the rest of the program: see engine_fds_left(). */
static uint64_t find_needed(const struct engine *engine)
{
	const size_t per_cpu = choice_count_open(engine) + 1 + engine->flight.on;
	uint64_t n = engine->scope.n_cpus * per_cpu;

	for (size_t i = 0; i < engine->n_channels; i++)
		n += engine->channels[i]->side && !engine->channels[i]->point;
	if (n <= ENGINE_FDS_RESERVE)
		return n + ENGINE_FDS_RESERVE;
	if (n < ENGINE_FDS_FEW / 2)
		return 2 * n;
	return n + ENGINE_FDS_RESERVE < ENGINE_FDS_FEW ? ENGINE_FDS_FEW : n + ENGINE_FDS_RESERVE;
}

void missing_note_fds(struct engine *engine, int error)
{
	struct engine_note note = {
		.kind = NOTE_FD_LIMIT,
		.error = error,
		.value = engine->budget.fd_limit,
		.needed = find_needed(engine),
	};

	if (note.needed <= engine->scope.fds_noted)
		return;
	engine->scope.fds_noted = note.needed;
	engine_add_note(engine, &note);
}

static void note_cpu(struct engine *engine, int cpu, int error)
{
	const bool locked = error == ENOBUFS;
	struct engine_note note = {
		.kind = NOTE_EVENT_REFUSED,
		.error = locked ? EPERM : error,
		.pid = -1,
		.cpu = cpu,
		.asked.ring = engine->budget.ring_error == -error,
	};

	sys_dummy(&note.attr);
	engine_add_note(engine, &note);
}

void missing_refuse_cpu(struct engine *engine, int cpu, int error)
{
	const struct point here = {.tid = -1, .cpu = cpu};
	bool told = false;

	if (proc_is_offline(cpu))
		return;
	for (unsigned int i = 0; i < engine->status.n_events; i++) {
		if (engine->choices[i].open && choice_fits(engine, i, &here))
			engine->choices[i].partial = true;
		told |= idmap_find(&engine->scope.refused, key_of(cpu, i)) != NULL;
	}
	if (error == EMFILE)
		missing_note_fds(engine, error);
	if (!told && missing_is_news(engine, cpu, EVERY_EVENT, error))
		note_cpu(engine, cpu, error);
}

/* --- coverage --- */

struct missing_of {
	const struct engine *engine;
	unsigned int index;
};

static bool is_missing(int cpu, const void *ctx)
{
	const struct missing_of *of = ctx;
	const struct engine *engine = of->engine;
	const struct point here = {.tid = -1, .cpu = cpu};
	bool wanted = false;

	for (size_t i = 0; i < engine->scope.n_cpus && !wanted; i++)
		wanted = engine->scope.cpus[i] == cpu;
	if (!wanted || !choice_fits(engine, of->index, &here))
		return false;
	for (size_t i = 0; i < engine->n_points; i++)
		if (engine->points[i]->cpu == cpu && point_find_event(engine->points[i], of->index))
			return false;
	return true;
}

/* Returns whether the time of all tasks on a CPU is the time that the event would sample there. */
static bool is_measured(const struct engine *engine, unsigned int index)
{
	const struct choice *choice = &engine->choices[index];
	const struct perf_event_attr *attr = &choice->attr;

	return engine->status.scope == SCOPE_CPU && !engine->filter && attr_is_clock(attr) &&
		!attr->exclude_kernel && !attr->exclude_user && !choice->spec.cgroup &&
		!choice_reads(engine, index);
}

static int add_time(struct engine *engine, unsigned int index)
{
	const double tick_ns = (double)NS_PER_S / (double)sysconf(_SC_CLK_TCK);
	const struct missing_of of = {engine, index};
	struct choice *choice = &engine->choices[index];
	const struct missing before = choice->missing;
	struct missing *now = &choice->missing;
	double ran_ns;
	char *text;
	int ret = sysfile_read(&text, NULL, "/proc/stat");

	if (ret)
		return ret;
	now->tasks = tasktime_read(text, is_missing, &of);
	now->read_ns = sys_now_ns();
	now->n = 0;
	free(text);
	for (size_t i = 0; i < engine->scope.n_cpus; i++)
		now->n += is_missing(engine->scope.cpus[i], &of);
	if (now->n != before.n || engine->paused || !choice_ran(engine, index))
		return 0;
	ran_ns = tick_ns *
		tasktime_since(&before.tasks, &now->tasks,
			(double)(now->read_ns - before.read_ns) / tick_ns * (double)now->n);
	coverage_add_time(&choice->coverage, &now->coverage, 0, (uint64_t)ran_ns,
		attr_highest_hz(&choice->attr));
	return 0;
}

void missing_add(struct engine *engine)
{
	for (unsigned int i = 0; i < engine->status.n_events && engine->n_points; i++) {
		struct choice *choice = &engine->choices[i];

		if (!choice->open || !choice->partial || choice->unmeasured)
			continue;
		choice->unmeasured = !is_measured(engine, i) || add_time(engine, i);
	}
}
