/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scope.c - opens events on tasks, on CPUs, or inherited, and switches between these scopes.
 *
 * Runs in the sampling thread.
 */
#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/control/note.h"
#include "sampler/engine/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIDE_RING_ORDER 5

static bool wanted(const struct engine *engine, int cpu)
{
	const struct engine_target *target = &engine->config.target;

	for (size_t i = 0; i < target->n_cpus; i++)
		if (target->cpus[i] == cpu)
			return true;
	return !target->n_cpus;
}

static int read_cpus(const struct engine *engine, int **cpus, size_t *n)
{
	size_t kept = 0;
	int ret = proc_online_cpus(cpus, n);

	if (ret)
		return ret;
	for (size_t i = 0; i < *n; i++)
		if (wanted(engine, (*cpus)[i]))
			(*cpus)[kept++] = (*cpus)[i];
	*n = kept;
	return 0;
}

/* Returns 0 if events on whole CPUs are permitted, else -errno. */
static int probe_cpu_wide(const struct engine *engine)
{
	const struct sys_setup setup = {0};
	struct perf_event_attr attr;
	int fd;

	if (!engine->scope.n_cpus)
		return -ENODEV;
	sys_dummy(&attr);
	sys_setup(&attr, &engine->features, &setup);
	fd = engine_open_event((struct engine *)engine, &attr, -1, engine->scope.cpus[0]);
	if (fd < 0)
		return fd;
	engine_close_event((struct engine *)engine, &fd);
	return 0;
}

static void fail_open(struct engine *engine, int error, int cpu)
{
	/* A refused event already has its own note. */
	if (engine->status.n_events && choice_count_open(engine) == 0 &&
		engine->status.failure.what != FAIL_NONE)
		return;
	engine_fail(engine, error == ENOBUFS ? FAIL_MMAP : FAIL_OPEN,
		error == ENOBUFS ? EPERM : error, &engine->choices[0].attr,
		engine->status.events[0].name, -1, cpu);
}

static bool asks_for_wakers(const struct engine *engine)
{
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (engine->choices[i].open && engine->choices[i].spec.span == EVENT_SPAN_WOKEN)
			return true;
	return false;
}

int scope_begin(struct engine *engine)
{
	const struct engine_target *target = &engine->config.target;
	enum engine_scope scope = engine->config.scope;
	int ret = read_cpus(engine, &engine->scope.cpus, &engine->scope.n_cpus);

	if (!ret && !engine->scope.n_cpus)
		ret = -ENODEV;
	if (ret) {
		fail_open(engine, -ret, target->n_cpus ? target->cpus[0] : -1);
		return ret;
	}
	ret = probe_cpu_wide(engine);
	engine->scope.cpu_wide = !ret;
	wake_settle(engine);
	if (!engine->filter)
		scope = SCOPE_CPU;
	/* SCOPE_CPU covers a command's tree, which may fork fast, from its first instruction.  A
	 * flight recorder then needs the same memory for any number of threads, and no copy when
	 * one ends.  `woken` needs SCOPE_CPU because any thread may be a waker. */
	if (scope == SCOPE_AUTO)
		scope = (engine_target_is_command(target) || engine->flight.on ||
				asks_for_wakers(engine)) &&
				engine->scope.cpu_wide
			? SCOPE_CPU
			: SCOPE_TASK;
	engine->status.scope = scope;
	if (scope == SCOPE_CPU) {
		if (ret) {
			fail_open(engine, -ret, -1);
			return ret;
		}
		return scope_open_cpus(engine);
	}
	if (scope == SCOPE_TASK) {
		engine->scope.side_by_cpu = engine->scope.cpu_wide && scope_open_side(engine);
		engine->scope.fork_rings = !engine->scope.side_by_cpu;
	}
	return 0;
}

static int open_cpu(struct engine *engine, int cpu)
{
	struct point *point;
	int ret = point_open(engine, -1, -1, cpu, false, NULL, &point);

	if (ret == -EMFILE && engine->scope.trackers && !engine->flight.on) {
		engine->scope.trackers = false;
		ret = point_open(engine, -1, -1, cpu, false, NULL, &point);
	}
	if (!ret)
		engine->status.ring_pages = (uint32_t)(ring_size(point->channel->ring) / 4096);
	return ret;
}

int scope_open_cpus(struct engine *engine)
{
	unsigned int opened = 0;
	int ret = 0;

	/* Tasks also create mappings and fork on the other CPUs. */
	if (engine->config.target.n_cpus && !engine->scope.side_by_cpu)
		engine->scope.side_by_cpu = scope_open_side(engine);
	engine->budget.order = order_for_cpus(engine, engine->scope.n_cpus);
	engine->budget.ring_order_noted = engine->budget.order;
	for (size_t i = 0; i < engine->scope.n_cpus; i++) {
		int error = open_cpu(engine, engine->scope.cpus[i]);

		if (!error) {
			opened++;
		} else {
			ret = error;
			fail_open(engine, -error, engine->scope.cpus[i]);
			missing_refuse_cpu(engine, engine->scope.cpus[i], -error);
		}
		if (!choice_count_open(engine)) {
			target_close_all(engine);
			return -EINVAL;
		}
	}
	engine->status.cpus = opened;
	missing_add(engine);
	return opened ? 0 : ret;
}

int scope_open_ring(struct engine *engine, const struct perf_event_attr *attr, int cpu,
	unsigned int order, bool wakes)
{
	struct channel *channel;
	int fd = engine_open_event(engine, attr, -1, cpu), ret;

	if (fd < 0)
		return fd;
	ret = channel_open(engine, &channel, fd, true, order, NULL, true);
	if (ret) {
		engine_close_event(engine, &fd);
		return ret;
	}
	channel->cpu = cpu;
	channel->wakes = wakes;
	return sys_enable(fd);
}

static int open_side_ring(struct engine *engine, int cpu)
{
	const struct sys_setup setup = {
		.callchain = engine->config.callchain,
		.fork_records = true,
		.map_records = true,
		.data_maps = engine->scope.data_maps,
		.wakeup_bytes = 1,
	};
	struct perf_event_attr attr;

	sys_dummy(&attr);
	sys_setup(&attr, &engine->features, &setup);
	return scope_open_ring(engine, &attr, cpu, SIDE_RING_ORDER, false);
}

/* Returns true for a CPU's channel without points: it carries side-band records or wake-ups. */
static bool is_of_cpu(const struct channel *channel, bool wakes)
{
	return channel->side && !channel->point && channel->wakes == wakes;
}

static void close_side(struct engine *engine, bool old)
{
	for (size_t i = engine->n_channels; i-- > 0;) {
		struct channel *channel = engine->channels[i];

		if (is_of_cpu(channel, false) && channel->old == old)
			channel_close(engine, channel);
	}
}

bool scope_open_side(struct engine *engine)
{
	int *cpus;
	size_t n;

	/* A followed task may run and fork on any CPU, not only on sampled ones. */
	if (proc_online_cpus(&cpus, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (open_side_ring(engine, cpus[i])) {
			close_side(engine, false);
			free(cpus);
			return false;
		}
	}
	free(cpus);
	return true;
}

static struct channel *find_shared(const struct engine *engine, int cpu)
{
	for (size_t i = 0; i < engine->n_channels; i++)
		if (!engine->channels[i]->side && !engine->channels[i]->point &&
			engine->channels[i]->cpu == cpu)
			return engine->channels[i];
	return NULL;
}

/* Returns the ring that all inherited events of a CPU share.  A dummy on the sampling thread owns
 * it, since that thread outlives every target. */
static struct channel *shared_channel(struct engine *engine, int cpu)
{
	struct sys_setup setup = {.callchain = engine->config.callchain};
	struct perf_event_attr attr;
	struct channel *channel = find_shared(engine, cpu);
	unsigned int order;
	int fd;

	while (!channel) {
		order = engine->budget.order;
		setup.wakeup_bytes = engine_watermark(engine);
		sys_dummy(&attr);
		sys_setup(&attr, &engine->features, &setup);
		fd = engine_open_event(engine, &attr, 0, cpu);
		if (fd < 0)
			return NULL;
		if (channel_open(engine, &channel, fd, true, order, NULL, false)) {
			engine_close_event(engine, &fd);
			return NULL;
		}
		if (engine->budget.order >= order)
			break;
		/* Its watermark does not fit the smaller ring. */
		channel_close(engine, channel);
		channel = NULL;
	}
	if (channel->cpu == cpu)
		return channel;
	channel->cpu = cpu;
	engine->status.ring_pages = (uint32_t)(ring_size(channel->ring) / 4096);
	return channel;
}

int scope_open_inherited(struct engine *engine, int32_t pid, int32_t tid, bool on_exec)
{
	unsigned int opened = 0;
	int ret = 0;

	engine->budget.order = order_for_cpus(engine, engine->scope.n_cpus);
	for (size_t i = 0; i < engine->scope.n_cpus; i++) {
		struct channel *channel = shared_channel(engine, engine->scope.cpus[i]);
		struct point *point;

		if (!channel)
			return -ENOBUFS;
		ret = point_open(engine, pid, tid, engine->scope.cpus[i], on_exec, channel, &point);
		if (!ret)
			opened++;
		else if (ret == -ESRCH || ret == -EMFILE || ret == -ENFILE)
			break;
		else
			missing_refuse_cpu(engine, engine->scope.cpus[i], -ret);
	}
	/* It is not sampled on some CPUs. */
	if (opened && (ret == -EMFILE || ret == -ENFILE)) {
		missing_mark_all(engine);
		attach_note_fd_limit(engine, ret);
	}
	return opened ? 0 : ret;
}

static void close_old(struct engine *engine)
{
	for (size_t i = engine->n_points; i-- > 0;) {
		struct point *point = engine->points[i];

		if (point->channel && point->channel->old)
			point_close(engine, point);
	}
	close_side(engine, true);
}

static void forget_points(struct engine *engine)
{
	struct follow_task *task;
	size_t position = 0;

	while ((task = idmap_next(&engine->follow.tasks, &position))) {
		task->point = NULL;
		task->queued = false;
		follow_leave_out(&engine->follow, task, false);
	}
	engine->attach.born.n = engine->attach.born.head = 0;
	engine->attach.queue.n = engine->attach.queue.head = 0;
}

static void plan_inherited(struct engine *engine)
{
	size_t each = engine->scope.n_cpus * (choice_count_open(engine) + 1);

	engine->scope.trackers = engine_fds_left(engine, engine->follow.tasks.n * each);
}

static int open_all_inherited(struct engine *engine)
{
	struct follow_task *task;
	struct job *job;
	size_t position = 0;
	int ret = -ESRCH;

	plan_inherited(engine);
	while ((task = idmap_next(&engine->follow.tasks, &position)) &&
		!atomic_load(&engine->quit)) {
		int error = scope_open_inherited(engine, task->process->pid, task->tid, false);

		task->covered = !error;
		if (!error)
			ret = 0;
		else if (ret)
			ret = error;
	}
	for (job = engine->attach.jobs; job; job = job->next)
		job->opened += !ret;
	return ret;
}

void scope_escalate(struct engine *engine)
{
	enum engine_scope scope =
		engine->scope.cpu_wide && !engine->config.until_exec ? SCOPE_CPU : SCOPE_INHERIT;
	bool fork_rings = engine->scope.fork_rings, side_by_cpu = engine->scope.side_by_cpu;
	int ret;

	/* Inherited events share forward rings, which a flight recorder cannot use. */
	if (scope == SCOPE_INHERIT && engine->flight.on) {
		engine->config.scope = SCOPE_TASK;
		return;
	}
	if (scope == SCOPE_INHERIT && !engine->n_points) {
		/* No thread is open yet: the queue opens them inherited, in bursts. */
		plan_inherited(engine);
		engine->scope.fork_rings = false;
		engine->status.scope = scope;
		engine_note(engine, NOTE_SCOPE, 0, 0, scope, NULL);
		return;
	}
	for (size_t i = 0; i < engine->n_points; i++)
		point_disarm(engine->points[i]);
	for (size_t i = 0; i < engine->n_channels; i++)
		engine->channels[i]->old = true;
	engine->scope.fork_rings = false;
	engine->scope.side_by_cpu = false;
	engine->scope.trackers = true;
	ret = scope == SCOPE_CPU ? scope_open_cpus(engine) : open_all_inherited(engine);
	engine->scope.switch_ns = sys_now_ns();
	engine_round(engine, true, true);
	if (ret) {
		/* No better scope is available: continue as before; the tick restarts the
		 * events. */
		engine->scope.fork_rings = fork_rings;
		engine->scope.side_by_cpu = side_by_cpu;
		engine->config.scope = SCOPE_TASK;
		engine->scope.switch_ns = 0;
		for (size_t i = 0; i < engine->n_channels; i++)
			engine->channels[i]->old = false;
		for (size_t i = 0; i < engine->n_points; i++)
			point_rearm(engine, engine->points[i]);
		return;
	}
	forget_points(engine);
	close_old(engine);
	engine->scope.switch_ns = 0;
	engine->status.scope = scope;
	engine_note(engine, NOTE_SCOPE, 0, 0, scope, NULL);
}

static bool has_cpu(const int *cpus, size_t n, int cpu)
{
	for (size_t i = 0; i < n; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

/* Returns whether an event no longer counts.  After its CPU goes offline it stays stopped, without
 * a hang-up, even when the CPU is back. */
static bool stands_still(struct engine *engine, int fd, uint64_t *seen_ns)
{
	struct sys_counts now;
	bool still;

	if (fd < 0 || sys_read(fd, &engine->features, &now))
		return false;
	still = now.enabled_ns == *seen_ns;
	*seen_ns = now.enabled_ns;
	return still;
}

static void watch_rings(struct engine *engine, const int *online, size_t n, bool wakes)
{
	for (size_t i = engine->n_channels; i-- > 0;) {
		struct channel *channel = engine->channels[i];

		if (!is_of_cpu(channel, wakes) ||
			(has_cpu(online, n, channel->cpu) &&
				!stands_still(engine, channel->fd, &channel->seen_ns)))
			continue;
		round_drain_channel(engine, channel);
		channel_close(engine, channel);
	}
	for (size_t i = 0; i < n; i++) {
		bool has_ring = false;

		for (size_t k = 0; k < engine->n_channels && !has_ring; k++)
			has_ring = is_of_cpu(engine->channels[k], wakes) &&
				engine->channels[k]->cpu == online[i];
		if (has_ring)
			continue;
		/* Records of the time without a ring are missing. */
		if (wakes)
			(void)wake_open_ring(engine, online[i]);
		else if (!open_side_ring(engine, online[i]))
			engine->targets.rescan = true;
	}
}

static void watch_points(struct engine *engine)
{
	for (size_t i = engine->n_points; i-- > 0;) {
		struct point *point = engine->points[i];

		if (has_cpu(engine->scope.cpus, engine->scope.n_cpus, point->cpu) &&
			!stands_still(engine, point->tracker_fd, &point->seen_ns))
			continue;
		engine_note(engine, NOTE_CPU_OFFLINE, 0, 0, (uint64_t)point->cpu, NULL);
		round_drain_channel(engine, point->channel);
		point_close(engine, point);
	}
	for (size_t i = 0; i < engine->scope.n_cpus; i++) {
		bool has_point = false;
		int error;

		for (size_t k = 0; k < engine->n_points && !has_point; k++)
			has_point = engine->points[k]->cpu == engine->scope.cpus[i];
		if (has_point)
			continue;
		error = open_cpu(engine, engine->scope.cpus[i]);
		if (error) {
			missing_refuse_cpu(engine, engine->scope.cpus[i], -error);
			continue;
		}
		missing_forget_cpu(engine, engine->scope.cpus[i]);
		engine_note(engine, NOTE_CPU_ONLINE, 0, 0, (uint64_t)engine->scope.cpus[i], NULL);
	}
	engine->status.cpus = (uint32_t)engine->n_points;
}

/* Events of a task on one CPU survive while the CPU is offline.  A CPU that was offline at the
 * start has none yet. */
static void watch_inherited(struct engine *engine)
{
	for (size_t i = 0; i < engine->scope.n_cpus; i++) {
		int cpu = engine->scope.cpus[i], ret = 0;
		struct follow_task *task;
		struct channel *channel;
		struct point *point;
		size_t position = 0;

		if (find_shared(engine, cpu) || !engine->n_points)
			continue;
		channel = shared_channel(engine, cpu);
		while (channel && (task = idmap_next(&engine->follow.tasks, &position)) &&
			ret != -EMFILE && ret != -ENFILE)
			if (task->covered) {
				ret = point_open(engine, task->process->pid, task->tid, cpu, false,
					channel, &point);
				if (ret && ret != -ESRCH)
					missing_refuse_cpu(engine, cpu, -ret);
			}
		if (ret == -EMFILE || ret == -ENFILE)
			attach_note_fd_limit(engine, ret);
		if (channel)
			engine_note(engine, NOTE_CPU_ONLINE, 0, 0, (uint64_t)cpu, NULL);
	}
}

void scope_watch_cpus(struct engine *engine)
{
	int *cpus, *online;
	size_t n, n_online;

	if (engine->stopped || read_cpus(engine, &cpus, &n))
		return;
	free(engine->scope.cpus);
	engine->scope.cpus = cpus;
	engine->scope.n_cpus = n;
	if (!proc_online_cpus(&online, &n_online)) {
		if (engine->scope.side_by_cpu)
			watch_rings(engine, online, n_online, false);
		if (engine->wakes.state == WAKES_SEEN)
			watch_rings(engine, online, n_online, true);
		free(online);
	}
	if (engine->status.scope == SCOPE_CPU)
		watch_points(engine);
	else if (engine->status.scope == SCOPE_INHERIT)
		watch_inherited(engine);
}
