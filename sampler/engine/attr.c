// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * attr.c - how an event is opened: its attribute, sample format, points and texts.
 *
 * The texts are those beyond the attribute: probes, cgroups, filters.  Runs in the sampling thread.
 */
#include "sampler/engine/attr.h"
#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "sampler/engine/internal.h"
#include "sampler/engine/stack.h"
#include "sampler/machine/bpf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define STACK_RING_PAGES_LEAST 4u

/* Returns sample_type bits beyond those of the engine and of the event. */
static uint64_t choice_format(const struct engine *engine, unsigned int index)
{
	if (engine->choices[index].counts_only)
		return 0;
	return (engine->config.sample_more | choice_fields_type(engine, index)) &
		~engine->choices[index].without;
}

static bool wants_chain(const struct engine *engine, const struct choice *choice)
{
	if (choice->counts_only || choice->spec.chain == EVENT_CHAIN_OFF)
		return false;
	return engine->config.callchain || choice->spec.chain == EVENT_CHAIN_ON;
}

/* Small rings requested by the user may have no room for stack copies, which the user did not
 * request. */
static bool has_small_rings(const struct engine_config *config)
{
	return config->stack_adapts && config->ring_pages &&
		config->ring_pages < STACK_RING_PAGES_LEAST;
}

/* The flight recorder copies no stacks, since its rings would hold too few samples. */
uint32_t engine_stack_bytes(const struct engine *engine)
{
	if (engine->flight.on || engine->config.no_user_chain || !engine->ingest.unwind ||
		!unwind_registers() || has_small_rings(&engine->config))
		return 0;
	return engine->config.stack_bytes;
}

void choice_attr(const struct engine *engine, unsigned int index, const struct sys_setup *base,
	struct perf_event_attr *attr)
{
	const struct choice *choice = &engine->choices[index];
	struct sys_setup setup = *base;

	setup.callchain = wants_chain(engine, choice);
	setup.stack_bytes = setup.callchain ? stack_copied(engine, index) : 0;
	setup.stack_registers = unwind_registers();
	setup.no_kernel_chain = engine->config.no_kernel_chain;
	/* Other unwinders append their frames to the kernel's. */
	setup.no_user_chain =
		engine->config.no_user_chain || (engine->config.keep_stacks && setup.stack_bytes);
	setup.inherit_thread = engine->config.own_threads;
	setup.inherit_stat = engine->config.inherit_stat && !choice->counts_only;
	setup.until_exec = engine->config.until_exec;
	setup.sample_more = choice_format(engine, index);
	setup.branch_sample_type = engine->config.branch_sample_type;
	setup.read_group = choice->read_group;
	setup.read_self = choice->tells_id && !setup.inherit;
	*attr = choice->attr;
	if (choice->counts_only) {
		attr->freq = 0;
		attr->sample_period = 0;
		attr->sample_type = 0;
	}
	sys_setup(attr, &engine->features, &setup);
}

/* The ring's owner has the watermark.  With wakeup_events, samples wake by number, up to half of
 * the samples that the ring can hold.  With a larger number the credit could end before any
 * wakeup. */
struct sys_setup point_setup(const struct engine *engine, const struct point *point, bool carries)
{
	struct sys_setup setup = {
		.fork_records = carries,
		.map_records = carries,
		.data_maps = engine->scope.data_maps,
		.inherit = point->tid >= 0 && point->cpu >= 0,
		.on_exec = point->on_exec,
		.backward = point->flight != NULL,
		.wakeup_bytes = point->channel ? 1 : engine_watermark(engine),
		.wakeup_events =
			point->channel && !point->flight ? engine->config.wakeup_events : 0,
	};
	uint32_t most;

	if (!setup.wakeup_events)
		return setup;
	most = credit_target(ring_size(point->channel->ring), point->channel->n_events + 1, 336) /
		2;
	if (setup.wakeup_events > most)
		setup.wakeup_events = most;
	return setup;
}

/* Samples of events that fire together may carry one event's id, and then only a counter value in
 * the sample (PERF_SAMPLE_READ) identifies the event.  The value costs some bytes per sample, so
 * the first of the events that may be confused omits it.  A sample that matches none of the others
 * is attributed to it. */
void choice_find_id(struct engine *engine, unsigned int index)
{
	struct choice *choice = &engine->choices[index];
	bool traced = choice->attr.type == PERF_TYPE_TRACEPOINT;

	choice->tells_id = false;
	if (choice->settled || choice->read_group || choice->counts_only || choice->spec.span ||
		engine->flight.on || engine->status.scope == SCOPE_INHERIT ||
		(engine->config.scope == SCOPE_AUTO && !engine->scope.cpu_wide) ||
		!round_may_share_id(engine, index))
		return;
	for (unsigned int i = 0; i < engine->status.n_events && !choice->tells_id; i++) {
		const struct choice *other = &engine->choices[i];

		if (i == index || !other->open || !other->settled || !round_may_share_id(engine, i))
			continue;
		choice->tells_id = (other->attr.type == PERF_TYPE_TRACEPOINT) == traced &&
			(!traced || other->attr.config == choice->attr.config);
	}
	engine->round.tell_ids |= choice->tells_id;
}

void choice_set_format(struct engine *engine, unsigned int index)
{
	const struct sys_setup setup = {0};
	struct perf_event_attr attr;

	choice_attr(engine, index, &setup, &attr);
	sys_format_of(&engine->choices[index].format, &attr);
	engine->choices[index].format.max_stack = attr.sample_max_stack;
	if (!attr.sample_max_stack && engine->limits.max_stack > 0)
		attr.sample_max_stack =
			(uint16_t)(engine->limits.max_stack < UINT16_MAX ? engine->limits.max_stack
									 : UINT16_MAX);
	ingest_max_stack(&engine->ingest, engine->status.events[index].id, attr.sample_max_stack);
}

/* --- points --- */

static bool has_cpu(const char *list, int cpu)
{
	bool found = false;
	size_t n, bad;
	int *cpus;

	if (proc_parse_cpu_list(list, &cpus, &n, &bad))
		return true; /* not parsed: the kernel decides */
	for (size_t i = 0; i < n && !found; i++)
		found = cpus[i] == cpu;
	free(cpus);
	return found;
}

bool choice_fits(const struct engine *engine, unsigned int index, const struct point *point)
{
	const struct event_spec *spec = &engine->choices[index].spec;

	/* On a task, such an event counts on the CPUs of its PMU and stops elsewhere. */
	if (spec->core_cpus && point->tid < 0 && !has_cpu(spec->core_cpus, point->cpu))
		return false;
	return !spec->cpus || has_cpu(spec->cpus, point->cpu);
}

/* The kernel also returns EINVAL for a task's event on such a PMU. */
int choice_check_target(const struct engine *engine, const struct event_spec *spec)
{
	return engine->filter && (spec->cpus || spec->cgroup) ? EINVAL : 0;
}

/* BPF programs attached by other processes also filter our samples. */
static void ask_programs(struct engine *engine, unsigned int index, int fd)
{
	struct choice *choice = &engine->choices[index];
	uint32_t ids[BPF_PROGRAMS_MAX];
	size_t n;

	if (choice->bpf_asked || choice->attr.type != PERF_TYPE_TRACEPOINT)
		return;
	choice->bpf_asked = true;
	if (!bpf_attached(fd, ids, &n) && n)
		engine_note(engine, NOTE_BPF, 0, 0, n, choice->spec.name);
}

/* Attaches to the tracepoint as a whole, through a descriptor kept until the choice is dropped.
 * For other events, attaches to each event. */
static int attach_program(struct choice *choice, const struct perf_event_attr *attr, int fd)
{
	bool traced = attr->type == PERF_TYPE_TRACEPOINT;
	int ret, program;

	if (traced && choice->bpf_fd)
		return 0;
	program = bpf_program_open(choice->spec.bpf);
	if (program < 0)
		return program;
	ret = bpf_attach(fd, program);
	close(program);
	if (!traced)
		return ret;
	/* Another process may have attached it, and may detach it later. */
	if (ret && ret != -EEXIST)
		return ret;
	choice->bpf_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return choice->bpf_fd < 0 ? choice_close_program(choice), -EMFILE : 0;
}

void choice_close_program(struct choice *choice)
{
	if (choice->bpf_fd > 0)
		close(choice->bpf_fd);
	choice->bpf_fd = 0;
}

int choice_open_event(struct engine *engine, unsigned int index, struct perf_event_attr *attr,
	const struct point *point, int group_fd)
{
	struct choice *choice = &engine->choices[index];
	const struct event_spec *spec = &choice->spec;
	struct sys_place place = {
		.pid = point->tid,
		.cpu = point->cpu,
		.group_fd = group_fd,
		.config3 = spec->config3,
	};
	int fd, ret, directory = -1;

	choice->filter_refused = choice->bpf_refused = false;
	choice->ioctl_refused = NULL;
	if (spec->probe)
		attr->config1 = (uintptr_t)spec->probe;
	ret = inherited_prepare(&engine->inherited, spec, attr, &choice->inherit_refused);
	if (ret)
		return ret;
	if (spec->cgroup) {
		directory = open(spec->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (directory < 0)
			return -errno;
		place.pid = directory;
		place.flags = PERF_FLAG_PID_CGROUP;
	}
	fd = engine_open_at(engine, attr, &place);
	if (directory >= 0)
		close(directory);
	if (fd < 0)
		return fd;
	ask_programs(engine, index, fd);
	ret = spec->filter ? sys_set_filter(fd, spec->filter) : 0;
	if (ret)
		choice->filter_refused = true;
	if (!ret && spec->bpf) {
		ret = attach_program(choice, attr, fd);
		choice->bpf_refused = ret != 0;
	}
	if (!ret)
		return fd;
	engine_close_event(engine, &fd);
	return ret;
}
