// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * open.c - opens the cells: every event, or group of events, on each of its places.
 *
 * A refusal by the kernel is stored with the event; the remaining events are still opened.
 */
#include "sampler/base/grow.h"
#include "sampler/counting/private.h"
#include "sampler/machine/bpf.h"

#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/events/event.h"
#include "sampler/kernel/sys.h"
#include "sampler/machine/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS_MAX 8 /* tries of an open interrupted by other changes of kernel tracing */

/* A range of events opened together: one group, or one event. */
struct span {
	size_t first, last; /* last: one past the end */
	/* no PERF_FORMAT_GROUP: one event, or a kernel that refuses it for inherited events */
	bool alone;
	int cgroup_fd;
};

/* attr.size exceeds sizeof(attr) if the event needs fields unknown to the header. */
union sized_attr {
	struct perf_event_attr attr;
	unsigned char bytes[PERF_ATTR_SIZE_VER7 + 8];
};

bool counting_is_cpu_wide(const struct counting *counting, const struct event_spec *spec)
{
	return counting->target.system_wide || spec->cgroup || spec->cpus;
}

static void fill_attr(const struct counting *counting, const struct event_spec *spec,
	const struct span *span, const struct place *place, bool is_leader, union sized_attr *out)
{
	struct perf_event_attr *attr = &out->attr;
	bool on_task = place->tid >= 0;

	memset(out, 0, sizeof(*out));
	*attr = spec->attr;
	attr->size = sizeof(*attr);
	if (spec->config3 && sizeof(*attr) < sizeof(out->bytes)) {
		memcpy(out->bytes + PERF_ATTR_SIZE_VER7, &spec->config3, sizeof(spec->config3));
		attr->size = sizeof(out->bytes);
	}
	/* This counter never overflows, and precise_ip only affects samples. */
	attr->sample_period = 0;
	attr->freq = 0;
	attr->precise_ip = 0;
	attr->sample_type = 0;
	attr->wakeup_events = 0;
	attr->sample_max_stack = 0;
	attr->read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
	if (!span->alone)
		attr->read_format |= PERF_FORMAT_GROUP;
	attr->inherit = on_task && !place->single && !counting->no_inherit;
	attr->inherit_thread = attr->inherit && counting->own_threads;
	attr->remove_on_exec = on_task && counting->until_exec;
	attr->disabled = is_leader;
	attr->enable_on_exec = is_leader && on_task && engine_target_is_command(&counting->target);
	/* Only leaders may have these flags; the kernel refuses them for members. */
	if (!is_leader)
		attr->pinned = attr->exclusive = 0;
}

static int open_attr(struct counting *counting, struct counting_event *event, union sized_attr attr,
	const struct span *span, const struct place *place, int leader_fd)
{
	const struct event_spec *spec = &event->spec;
	pid_t pid = span->cgroup_fd >= 0 ? span->cgroup_fd : place->tid;
	unsigned long flags =
		PERF_FLAG_FD_CLOEXEC | (span->cgroup_fd >= 0 ? PERF_FLAG_PID_CGROUP : 0);
	int ret;

	if (spec->probe)
		attr.attr.config1 = (uint64_t)(uintptr_t)spec->probe;
	ret = inherited_prepare(&counting->inherited, spec, &attr.attr, &event->asked.inherited);
	if (ret)
		return ret;
	for (int round = 0; round < ROUNDS_MAX; round++) {
		long fd =
			syscall(SYS_perf_event_open, &attr.attr, pid, place->cpu, leader_fd, flags);

		if (fd >= 0)
			return (int)fd;
		if (errno == EMFILE && !counting->raised_nofile) {
			counting->raised_nofile = true;
			sys_raise_nofile();
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return -EINTR;
}

/* Sets the event's filter and BPF program.  Returns fd, or -errno with fd closed. */
static int narrow(struct counting_event *event, int fd)
{
	int ret = event->spec.filter ? sys_set_filter(fd, event->spec.filter) : 0;

	if (ret)
		event->asked.filter = event->spec.filter;
	if (!ret && event->spec.bpf) {
		int program = bpf_program_open(event->spec.bpf);

		ret = program < 0 ? program : bpf_attach(fd, program);
		if (program >= 0)
			close(program);
		/* A program attached once applies to all events of a tracepoint.  An inherited
		 * probe is one tracepoint too. */
		if (ret == -EEXIST &&
			(event->spec.attr.type == PERF_TYPE_TRACEPOINT ||
				event_is_probe(&event->spec)))
			ret = 0;
		if (ret)
			event->asked.bpf = event->spec.bpf;
	}
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* Opens one event; retries without the kernel if the kernel part was refused. */
static int open_event(struct counting *counting, size_t index, const struct span *span,
	const struct place *place, int leader_fd)
{
	struct counting_event *event = &counting->events[index];
	union sized_attr attr;
	int fd;

	fill_attr(counting, &event->spec, span, place, leader_fd < 0, &attr);
	fd = open_attr(counting, event, attr, span, place, leader_fd);
	if ((fd == -EACCES || fd == -EPERM) && !attr.attr.exclude_kernel &&
		!attr.attr.exclude_user && !event->opened && !event_is_probe(&event->spec) &&
		!event->asked.inherited && event_fires_in_user(&event->spec)) {
		int user;

		attr.attr.exclude_kernel = attr.attr.exclude_hv = 1;
		user = open_attr(counting, event, attr, span, place, leader_fd);
		/* The kernel checks permission first, then whether the event exists and can be
		 * opened. */
		if (user == -ENOENT || user == -EOPNOTSUPP || user == -EINVAL)
			return user;
		event->asked.user_refused = user < 0;
		if (user >= 0) {
			event->spec.attr.exclude_kernel = event->spec.attr.exclude_hv = 1;
			event->user_only = true;
			event_name_user_only(event->spec.name, event->spec.attr.type);
			return user;
		}
	}
	return fd < 0 ? fd : narrow(event, fd);
}

static int add_cell(
	struct counting *counting, size_t event, const struct place *place, int fd, bool by_group)
{
	struct counting_cell *cell;
	int ret;

	if (grow_items(
		    &counting->cells, &counting->room_cells, counting->n_cells + 1, sizeof(*cell)))
		return -ENOMEM;
	cell = &counting->cells[counting->n_cells];
	*cell = (struct counting_cell){
		.event = (uint32_t)event,
		.pid = place->pid,
		.tid = place->tid,
		.cpu = place->cpu,
		.fd = fd,
		.clock_fd = -1,
		.members = 1,
		.by_group = by_group,
	};
	ret = sys_id(fd, &cell->id);
	if (ret) {
		counting->events[event].asked.ioctl = "PERF_EVENT_IOC_ID";
		return ret;
	}
	counting->n_cells++;
	counting->events[event].opened++;
	return 0;
}

void counting_close_cell(struct counting_cell *cell)
{
	close(cell->fd);
	if (cell->clock_fd >= 0)
		close(cell->clock_fd);
}

/* Such events always count while their task runs. */
static bool is_never_multiplexed(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT ||
		attr->type == PERF_TYPE_BREAKPOINT;
}

/* An event of a task on one CPU stays "enabled" while the task runs elsewhere, and that time must
 * not be scaled up.  A clock, an event that always has a counter, provides the time on that CPU.
 * The clock also reveals a pinned event that found no room: after its task ended, only its shorter
 * enabled time shows that. */
static bool needs_clock(const struct perf_event_attr *attr, const struct place *place)
{
	return place->tid >= 0 && (place->cpu >= 0 || attr->pinned) && !is_never_multiplexed(attr);
}

static int open_clock(struct counting *counting, const struct place *place, int *fd)
{
	const struct span span = {.alone = true, .cgroup_fd = -1};
	struct counting_event dummy = {0};
	union sized_attr attr;

	sys_dummy(&dummy.spec.attr);
	fill_attr(counting, &dummy.spec, &span, place, true, &attr);
	*fd = open_attr(counting, &dummy, attr, &span, place, -1);
	return *fd < 0 ? *fd : 0;
}

static void drop_cells(struct counting *counting, size_t from)
{
	while (counting->n_cells > from) {
		struct counting_cell *cell = &counting->cells[--counting->n_cells];

		counting->events[cell->event].opened--;
		counting_close_cell(cell);
	}
}

/* Errors unrelated to event or place: nothing else would open either. */
static bool is_fatal(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == EINTR;
}

static void refuse(struct counting *counting, size_t index, const struct span *span,
	const struct place *place, int error)
{
	struct counting_event *event = &counting->events[index];

	/* The CPU went offline; the event is opened there when the CPU is back. */
	if (event->error || (event->opened && error == ENODEV && proc_is_offline(place->cpu)))
		return;
	event->asked.counted = true;
	event->asked.probe = event->spec.probe;
	event->asked.cgroup = event->spec.cgroup;
	event->asked.in_group = index > span->first && !span->alone;
	for (size_t i = span->first; i < span->last && event->asked.in_group; i++)
		event->asked.mixed_group |=
			!event_may_share_group(&counting->events[i].spec.attr, &event->spec.attr);
	event->error = error;
	event->error_pid = place->pid;
	event->error_cpu = place->cpu;
}

/* Avoids repeating a hopeless open for each of thousands of threads. */
static bool is_hopeless(const struct counting_event *event, const struct place *place)
{
	switch (event->error) {
	case ENOENT:
	case EOPNOTSUPP:
	case EINVAL:
	case ENODEV:
	case ENXIO:
	case ENOSYS:
	case E2BIG:
		return !event->opened && place->tid >= 0;
	default:
		return false;
	}
}

/* Returns whether a member that its group refused would open alone. */
static bool opens_alone(
	struct counting *counting, size_t index, const struct span *span, const struct place *place)
{
	struct span single = {
		.first = index, .last = index + 1, .alone = true, .cgroup_fd = span->cgroup_fd};
	struct counting_event *event = &counting->events[index];
	union sized_attr attr;
	int fd;

	fill_attr(counting, &event->spec, &single, place, true, &attr);
	fd = open_attr(counting, event, attr, &single, place, -1);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Opens the events of a span on one place.  Returns 0; -ESRCH: the task is gone; -EAGAIN: retry,
 * with a weak group split or a group read one by one (span->alone is then set); another -errno is
 * unrelated to event and place. */
static int open_span(struct counting *counting, struct span *span, const struct place *place)
{
	size_t leader = SIZE_MAX, before = counting->n_cells;
	int ret = 0;

	for (size_t i = span->first; i < span->last; i++) {
		struct counting_event *event = &counting->events[i];
		int leader_fd = leader == SIZE_MAX ? -1 : counting->cells[leader].fd, fd;

		if (is_hopeless(event, place))
			continue;
		fd = open_event(counting, i, span, place, leader_fd);
		if (fd == -EINVAL && !span->alone && leader == SIZE_MAX && !event->asked.filter &&
			!event->asked.bpf && opens_alone(counting, i, span, place)) {
			span->alone = true;
			ret = -EAGAIN;
			goto fail;
		}
		if (fd == -ESRCH || (fd < 0 && is_fatal(-fd))) {
			ret = fd;
			goto fail;
		}
		if (fd < 0 && event->spec.weak_group && leader != SIZE_MAX &&
			!event->asked.filter && !event->asked.bpf) {
			for (size_t k = span->first; k < span->last; k++)
				counting->events[k].ungrouped = true;
			ret = -EAGAIN;
			goto fail;
		}
		if (fd < 0) {
			refuse(counting, i, span, place, -fd);
			event->no_room |= fd == -EINVAL && leader != SIZE_MAX &&
				!event->asked.filter && !event->asked.bpf &&
				opens_alone(counting, i, span, place);
			continue;
		}
		ret = add_cell(counting, i, place, fd, !span->alone);
		if (ret) {
			close(fd);
			if (!event->asked.ioctl)
				goto fail;
			refuse(counting, i, span, place, -ret);
			continue;
		}
		if ((leader == SIZE_MAX || span->alone) && needs_clock(&event->spec.attr, place)) {
			ret = open_clock(
				counting, place, &counting->cells[counting->n_cells - 1].clock_fd);
			if (ret)
				goto fail;
		}
		if (leader == SIZE_MAX) {
			leader = counting->n_cells - 1;
		} else if (!span->alone) {
			counting->cells[leader].members++;
			counting->cells[counting->n_cells - 1].members = 0;
		}
	}
	return 0;
fail:
	drop_cells(counting, before);
	return ret;
}

static bool wanted(const struct counting *counting, int cpu)
{
	const struct engine_target *target = &counting->target;

	for (size_t i = 0; i < target->n_cpus; i++)
		if (target->cpus[i] == cpu)
			return true;
	return !target->n_cpus;
}

/* Returns whether a CPU-wide event should open on this CPU. */
static bool is_for(const struct counting *counting, const struct event_spec *spec, int cpu)
{
	const char *list = spec->cpus ? spec->cpus : spec->core_cpus;
	int *cpus;
	size_t n, bad;
	bool found = false;

	if (!spec->cpus && !wanted(counting, cpu))
		return false;
	if (!list)
		return true;
	if (proc_parse_cpu_list(list, &cpus, &n, &bad))
		return false;
	for (size_t i = 0; i < n; i++)
		found |= cpus[i] == cpu;
	free(cpus);
	return found;
}

static int open_on_cpu(struct counting *counting, struct span *span, int cpu)
{
	const struct place place = {.pid = -1, .tid = -1, .cpu = cpu};

	if (!is_for(counting, &counting->events[span->first].spec, cpu))
		return 0;
	return open_span(counting, span, &place);
}

static int open_on_cpus(struct counting *counting, struct span *span)
{
	const struct engine_target *target = &counting->target;
	bool named = target->n_cpus && !counting->events[span->first].spec.cpus;
	int ret = 0;

	/* CPUs given by number are tried even if offline, so that a refusal is reported. */
	for (size_t i = 0; named && i < target->n_cpus && !ret; i++)
		ret = open_on_cpu(counting, span, target->cpus[i]);
	for (size_t i = 0; !named && i < counting->n_cpus && !ret; i++)
		ret = open_on_cpu(counting, span, counting->cpus[i]);
	return ret;
}

static int open_on_task(struct counting *counting, struct span *span, struct place *task)
{
	const struct engine_target *target = &counting->target;
	const int *cpus = target->n_cpus ? target->cpus : counting->cpus;
	size_t n = target->n_cpus ? target->n_cpus : counting->n_cpus;
	int ret = 0;

	if (!target->n_cpus && !counting->by_cpu)
		return open_span(counting, span, task);
	for (size_t i = 0; i < n && !ret; i++) {
		struct place place = *task;

		place.cpu = cpus[i];
		if (is_for(counting, &counting->events[span->first].spec, place.cpu))
			ret = open_span(counting, span, &place);
	}
	return ret;
}

static int open_on_tasks(struct counting *counting, struct span *span)
{
	for (size_t i = 0; i < counting->n_tasks; i++) {
		struct place *task = &counting->tasks[i];
		int ret = task->gone ? 0 : open_on_task(counting, span, task);

		if (ret == -ESRCH)
			task->gone = true;
		else if (ret)
			return ret;
	}
	return 0;
}

static size_t span_end(const struct counting *counting, size_t first)
{
	const struct event_spec *spec = &counting->events[first].spec;
	size_t last = first + 1;

	while (spec->group && !counting->events[first].ungrouped && last < counting->n_events &&
		counting->events[last].spec.group == spec->group)
		last++;
	return last;
}

/* Opens a span on all its places; cpu >= 0: on that CPU alone. */
static int open_everywhere(struct counting *counting, struct span *span, int cpu)
{
	const struct event_spec *spec = &counting->events[span->first].spec;
	size_t before = counting->n_cells;
	int ret;

	span->cgroup_fd = -1;
	if (spec->cgroup) {
		span->cgroup_fd = open(spec->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (span->cgroup_fd < 0) {
			const struct place nowhere = {.pid = -1, .tid = -1, .cpu = -1};
			int error = errno;

			for (size_t i = span->first; i < span->last; i++)
				refuse(counting, i, span, &nowhere, error);
			return 0;
		}
	}
	do {
		if (cpu >= 0)
			ret = open_on_cpu(counting, span, cpu);
		else if (counting_is_cpu_wide(counting, spec))
			ret = open_on_cpus(counting, span);
		else
			ret = open_on_tasks(counting, span);
		if (ret)
			drop_cells(counting, before);
	} while (ret == -EAGAIN && span->alone && !counting->events[span->first].ungrouped);
	if (span->cgroup_fd >= 0)
		close(span->cgroup_fd);
	return ret;
}

static int open_events(struct counting *counting, int cpu, size_t *failed)
{
	size_t first = 0;

	while (first < counting->n_events) {
		struct span span = {.first = first, .last = span_end(counting, first)};
		int ret = 0;

		span.alone = span.last == first + 1;
		*failed = first;
		if (cpu < 0 || counting_is_cpu_wide(counting, &counting->events[first].spec))
			ret = open_everywhere(counting, &span, cpu);
		if (ret == -EAGAIN)
			continue; /* retry the events one by one */
		if (ret)
			return ret;
		first = span.last;
	}
	return 0;
}

static void tell(struct engine_failure *failure, const struct counting_event *event,
	enum engine_failure_kind what, int error, int32_t pid, int cpu)
{
	*failure = (struct engine_failure){
		.what = what,
		.error = error,
		.attr = event->spec.attr,
		.pid = pid,
		.cpu = cpu,
		.asked = event->asked,
	};
	failure->asked.counted = true;
	/* Report the event as a counter, without a sampling rate. */
	failure->attr.sample_period = 0;
	failure->attr.freq = 0;
	memcpy(failure->event, event->spec.name, sizeof(failure->event));
}

int counting_open_all(struct counting *counting, struct engine_failure *failure)
{
	const struct counting_event *event = counting->events;
	size_t failed = 0, gone = 0;
	int ret = open_events(counting, -1, &failed);

	if (ret) {
		tell(failure, &event[failed], FAIL_OPEN, -ret, -1, -1);
		return ret;
	}
	if (counting->n_cells)
		return 0;
	for (size_t i = 0; i < counting->n_tasks; i++)
		gone += counting->tasks[i].gone;
	if (gone && gone == counting->n_tasks) {
		tell(failure, event, FAIL_TARGET, ESRCH, counting->tasks[0].pid, -1);
		return -ESRCH;
	}
	if (!event->error) {
		tell(failure, event, FAIL_OPEN, ENODEV, -1,
			counting->n_cpus ? counting->cpus[0] : -1);
		return -ENODEV;
	}
	tell(failure, event, FAIL_OPEN, event->error, event->error_pid, event->error_cpu);
	return -event->error;
}

int counting_enable(
	struct counting *counting, const struct counting_cell *cell, struct engine_failure *failure)
{
	struct counting_event *event = &counting->events[cell->event];
	int ret = sys_enable(cell->fd);

	if (!ret && cell->clock_fd >= 0)
		ret = sys_enable(cell->clock_fd);
	if (ret) {
		event->asked.ioctl = "PERF_EVENT_IOC_ENABLE";
		tell(failure, event, FAIL_OPEN, -ret, cell->pid, cell->cpu);
	}
	return ret;
}

int counting_open_cpu(struct counting *counting, int cpu)
{
	size_t before = counting->n_cells, failed;
	int ret = open_events(counting, cpu, &failed);

	for (size_t i = before; i < counting->n_cells && counting->started; i++)
		(void)sys_enable(counting->cells[i].fd);
	return ret;
}
