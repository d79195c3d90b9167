/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * target.c - follows the threads, children and ends of targets; starts the command.
 *
 * It learns of them from records, hang-ups and /proc.  Runs in the sampling thread.
 */
#include "sampler/engine/attr.h"
#include "sampler/engine/group.h"
#include "sampler/engine/internal.h"

#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/control/note.h"
#include "sampler/events/cgroup.h"

#include <errno.h>
#include <stdlib.h>

#define MISSED_PER_S 4
#define FORKS_PER_S 50
#define CHECKS_PER_TICK 64

/* It stays a child of a followed process, so a scan would find it again. */
static void remember_detached(struct engine *engine, const struct follow_process *process)
{
	struct detached *detached = idmap_remove(&engine->targets.detached, (uint32_t)process->pid);
	struct proc_process info;

	if (!detached)
		detached = malloc(sizeof(*detached));
	if (!detached || proc_read(process->pid, &info)) {
		free(detached);
		return;
	}
	*detached = (struct detached){process->pid, info.start_ticks};
	if (idmap_set(&engine->targets.detached, (uint32_t)process->pid, detached))
		free(detached);
}

void target_detach(struct engine *engine, int32_t pid)
{
	struct follow_process *process = follow_process(&engine->follow, pid);
	struct job *job;
	uint32_t tasks;

	/* It may still be waiting to be attached. */
	while ((job = attach_find_job(engine, pid)))
		attach_drop_job(engine, job);
	if (!process || process->ended_ns)
		return;
	engine_round(engine, true, false);
	/* Charges what its tasks ran without events, while it is known. */
	engine_tick(engine, true);
	process = follow_process(&engine->follow, pid);
	if (!process || process->ended_ns)
		return;
	tasks = process->tasks;
	for (struct follow_task *task = process->first_task; task; task = task->next)
		if (task->point)
			task->point->doomed = engine->round.have_doomed = true;
	for (size_t i = 0; i < engine->n_points; i++)
		if (engine->points[i]->pid == pid)
			engine->points[i]->doomed = engine->round.have_doomed = true;
	round_close_doomed(engine);
	process = follow_process(&engine->follow, pid);
	if (process) {
		for (struct follow_task *task = process->first_task; task; task = task->next)
			tasks_forget_thread(engine->ingest.tasks, task->tid);
		remember_detached(engine, process);
		follow_remove(&engine->follow, process);
	}
	engine->followed_changed = true;
	engine_note(engine, NOTE_DETACHED, 0, pid, tasks, NULL);
}

/* --- records --- */

/* True if the process was attached before its fork record was read, and the pid is still its
 * own. */
static bool is_known_already(const struct follow_task *task, const struct record_task *fork)
{
	const struct follow_process *process = task->process;
	struct proc_process info;

	return fork->pid != fork->ppid && fork->tid == fork->pid &&
		process->pid == (int32_t)fork->pid && process->start_ticks &&
		!proc_read(process->pid, &info) && info.start_ticks == process->start_ticks;
}

int target_fork(struct engine *engine, const struct record_task *fork)
{
	const struct follow_task *known = follow_task(&engine->follow, (int32_t)fork->tid);
	uint32_t alive = engine->follow.alive;
	uint64_t forks = engine->follow.forks;
	const struct follow_process *process;
	struct follow_task *born;
	struct point *stale;
	int32_t root = 0;
	int ret;

	if (known && is_known_already(known, fork))
		return 0;
	if (known && known->process->root)
		root = known->process->pid;
	ret = follow_fork(&engine->follow, fork, &born, &stale);
	engine->followed_changed |= engine->follow.alive != alive;
	process = root ? follow_process(&engine->follow, root) : NULL;
	if (root && (!process || process->ended_ns || !process->root))
		engine_note(engine, NOTE_TARGET_EXITED, 0, root, 0, NULL);
	if (stale)
		stale->doomed = engine->round.have_doomed = true;
	if (ret || !born)
		return ret;
	engine->targets.window_forks += engine->follow.forks - forks;
	if (fork->pid != fork->ppid)
		engine->followed_changed = true;
	if (engine->status.scope == SCOPE_INHERIT)
		born->covered = true;
	else
		attach_enqueue(engine, &engine->attach.born, born);
	return 0;
}

void target_exit(struct engine *engine, int32_t tid, uint64_t time_ns)
{
	struct follow_task *task = follow_task(&engine->follow, tid);

	if (!task)
		return;
	/* The task ended before its events were opened, so no failed open reports it. */
	if (task->queued && task->born_ns && engine->status.scope == SCOPE_TASK) {
		engine->status.tasks_missed++;
		engine->targets.window_missed++;
		attach_miss(engine, task, time_ns);
	} else if (task->gone_ns) {
		/* The EXIT record may be lost; time_ns is then much later. */
		attach_miss(engine, task, task->gone_ns < time_ns ? task->gone_ns : time_ns);
	}
	if (task->point)
		task->point->doomed = engine->round.have_doomed = true;
	group_forget_task(engine, tid);
	attach_end_task(engine, task, time_ns);
}

/* remove_on_exec has removed its events: it is treated as if it had ended. */
static void let_go(struct engine *engine, struct follow_process *process)
{
	bool is_root = process->root;

	remember_detached(engine, process);
	/* Not noted as an end. */
	process->root = false;
	while (process->first_task)
		target_exit(engine, process->first_task->tid, engine->round.begun_ns);
	process->root = is_root;
}

int target_exec(struct engine *engine, int32_t pid)
{
	struct follow_process *process = follow_process(&engine->follow, pid);
	struct follow_task *first = process->first_task, *left;
	int32_t before = first ? first->tid : pid;

	if (engine->config.until_exec) {
		let_go(engine, process);
		return 0;
	}
	for (size_t i = 0; i < engine->n_points; i++)
		if (engine->points[i]->on_exec && engine->points[i]->pid == pid)
			point_executed(engine, engine->points[i]);
	if (process->tasks == 1 && before == pid)
		return 0;
	if (!process->tasks && !process->whole)
		return 0;
	for (struct follow_task *task = first; process->tasks > 1 && task; task = task->next)
		if (task->point && task->tid != pid) {
			task->point->doomed = engine->round.have_doomed = true;
			task->point = NULL;
		}
	left = follow_exec(&engine->follow, process);
	if (!left)
		return -ENOMEM;
	engine->followed_changed = true;
	for (size_t i = 0; i < engine->n_points && left == first; i++)
		if (engine->points[i]->pid == pid && engine->points[i]->tid == before)
			engine->points[i]->tid = pid;
	left->queued = false;
	if (engine->status.scope == SCOPE_INHERIT)
		left->covered = true;
	else
		attach_enqueue(engine, &engine->attach.queue, left);
	return 0;
}

/* The thread ended, or executed a program with more rights than ours: the kernel removed the
 * events. */
void target_hup(struct engine *engine, struct point *point)
{
	struct follow_task *task = follow_task(&engine->follow, point->tid);

	point->doomed = engine->round.have_doomed = true;
	if (!task || task->point != point)
		return;
	task->point = NULL;
	/* The event owned its ring, so no record shows whether the thread ended or executed a
	 * program.  Both have the same effect here. */
	if (engine->config.until_exec) {
		attach_end_task(engine, task, engine->round.begun_ns);
		return;
	}
	attach_enqueue(engine, &engine->attach.queue, task);
}

/* --- each second --- */

static bool has_living_root(const struct engine *engine)
{
	const struct follow_process *process;
	size_t position = 0;

	while ((process = idmap_next(&engine->follow.processes, &position)))
		if (process->root && !process->ended_ns)
			return true;
	return false;
}

/* Checks whether followed processes still live, since exit records may be lost.  A loss may go
 * unnoticed, and a check after a loss may find the process still exiting.  If only children without
 * a living root are left, nothing else detects their end. */
static void check_processes(struct engine *engine)
{
	struct follow_process *process = NULL, *gone[CHECKS_PER_TICK];
	const bool command_lives =
		engine->launch.pid && engine_target_is_command(&engine->config.target);
	bool all = engine->targets.rescan || (!command_lives && !has_living_root(engine));
	size_t n_gone = 0, checked = 0;
	struct proc_process info;
	int ret;

	while (checked < CHECKS_PER_TICK &&
		(process = idmap_next(
			 &engine->follow.processes, &engine->targets.check_position))) {
		if (process->ended_ns || attach_find_job(engine, process->pid))
			continue;
		if (!all && !process->root)
			continue;
		checked++;
		ret = proc_read(process->pid, &info);
		/* Other errors do not mean that the process has ended. */
		if (ret && ret != -ESRCH)
			continue;
		if (ret || info.state == 'Z' || info.state == 'X' ||
			(process->start_ticks && info.start_ticks != process->start_ticks)) {
			gone[n_gone++] = process;
			continue;
		}
		process->start_ticks = info.start_ticks;
		if (process->whole && info.threads != process->tasks)
			target_rescan(engine, process->pid);
	}
	/* All processes were checked; otherwise the next tick continues here. */
	if (!process) {
		engine->targets.check_position = 0;
		engine->targets.rescan = engine->targets.rescan_again;
		engine->targets.rescan_again = false;
	}
	while (n_gone--) {
		/* A leader may end before its threads; the scan then still finds those. */
		int32_t *tids;
		size_t n = 0;

		process = gone[n_gone];
		if (!proc_threads(process->pid, &tids, &n))
			free(tids);
		if (n > 1)
			continue;
		if (!process->first_task) {
			follow_remove(&engine->follow, process);
			engine->followed_changed = true;
			continue;
		}
		while (process->first_task && !process->ended_ns)
			target_exit(engine, process->first_task->tid, engine->round.begun_ns);
	}
}

/* A recreated cgroup of the same name is another one, in which these events do not count. */
static void check_cgroups(struct engine *engine)
{
	const struct engine_target *target = &engine->config.target;

	for (size_t i = 0; i < target->n_cgroups; i++) {
		uint64_t inode;
		int ret = engine->targets.cgroups[i].gone
			? 0
			: cgroup_identity(target->cgroups[i].path, &inode);

		if (engine->targets.cgroups[i].gone ||
			(ret ? ret != -ENOENT : inode == engine->targets.cgroups[i].inode))
			continue;
		engine->targets.cgroups[i].gone = true;
		engine_note(engine, NOTE_CGROUP_GONE, 0, 0, 0, target->cgroups[i].label);
	}
}

static bool cgroups_gone(const struct engine *engine)
{
	size_t gone = 0, n = engine->config.target.n_cgroups;

	for (size_t i = 0; i < n; i++)
		gone += engine->targets.cgroups[i].gone;
	return n && gone == n;
}

void target_tick(struct engine *engine)
{
	check_cgroups(engine);
	if (engine->filter && !engine->stopped)
		check_processes(engine);
	scope_watch_cpus(engine);
	if (!engine->stopped)
		attach_left_out(engine);
	if (engine->config.scope == SCOPE_AUTO && engine->status.scope == SCOPE_TASK &&
		!engine->stopped &&
		(engine->targets.window_missed >= MISSED_PER_S ||
			engine->targets.window_forks > FORKS_PER_S))
		scope_escalate(engine);
	engine->targets.window_missed = engine->targets.window_forks = 0;
	round_close_doomed(engine);
}

bool target_all_gone(const struct engine *engine)
{
	const struct engine_target *target = &engine->config.target;

	if (target->stopwatch && engine->status.command_ended)
		return true;
	if (!engine->filter)
		return cgroups_gone(engine);
	if (engine->launch.pid && engine_target_is_command(target))
		return false;
	return !engine->follow.alive && !engine->attach.jobs;
}

/* --- start and end --- */

static int let_command_go(struct engine *engine)
{
	int ret = launch_go(&engine->launch);

	if (ret) {
		engine_fail(engine, FAIL_COMMAND, -ret, NULL, NULL, engine->launch.pid, -1);
		return ret;
	}
	engine->command_execed_ns = sys_now_ns();
	pthread_mutex_lock(&engine->lock);
	engine->command_runs = true;
	pthread_mutex_unlock(&engine->lock);
	return 0;
}

int target_start_stopwatch(struct engine *engine)
{
	if (!engine->config.target.stopwatch || engine->attach.jobs || engine->launch.go_fd < 0)
		return 0;
	return let_command_go(engine);
}

static int start_command(struct engine *engine)
{
	int32_t pid = engine->launch.pid;
	struct follow_process *process;
	struct follow_task *task;
	int ret;

	process = follow_add_process(&engine->follow, pid, true);
	task = process ? follow_add_task(&engine->follow, process, pid) : NULL;
	if (!task) {
		engine_fail(engine, FAIL_SYSTEM, ENOMEM, NULL, NULL, pid, -1);
		return -ENOMEM;
	}
	process->counted_ns = sys_cpu_ns(pid);
	engine->followed_changed = true;
	tasks_load_process(engine->ingest.tasks, pid);
	if (engine->status.scope == SCOPE_TASK) {
		attach_plan(engine, 1);
		do
			ret = point_open(engine, pid, pid, -1, true, NULL, &task->point);
		while (ret == -EMFILE && attach_economize(engine));
		if (!ret)
			engine->status.ring_pages =
				(uint32_t)(ring_size(task->point->channel->ring) / 4096);
	} else if (engine->status.scope == SCOPE_INHERIT) {
		ret = scope_open_inherited(engine, pid, pid, true);
		task->covered = !ret;
	} else {
		ret = 0;
	}
	if (!ret && !choice_count_open(engine))
		return -EINVAL;
	if (ret) {
		if (choice_count_open(engine))
			engine_fail(engine, ret == -ENOBUFS ? FAIL_MMAP : FAIL_OPEN,
				ret == -ENOBUFS ? EPERM : -ret, &engine->choices[0].attr,
				engine->status.events[0].name, pid, -1);
		return ret;
	}
	ret = let_command_go(engine);
	engine->targets.had_any |= !ret;
	return ret;
}

int target_open_initial(struct engine *engine)
{
	const struct engine_target *target = &engine->config.target;
	int ret;

	engine->filter = !target->system_wide;
	engine->scope.trackers = true;
	engine->budget.fd_limit = sys_raise_nofile();
	choice_add_all(engine, engine->config.events, engine->config.n_events, NULL);
	ret = scope_begin(engine);
	if (ret)
		return ret;
	flight_begin(engine);
	for (size_t i = 0; i < target->n_pids; i++)
		target_attach(engine, target->pids[i], -1);
	for (size_t i = 0; i < target->n_tids; i++)
		target_attach(engine, -1, target->tids[i]);
	if (engine_target_is_command(target))
		ret = start_command(engine);
	return ret;
}

void target_close_all(struct engine *engine)
{
	while (engine->n_points)
		point_close(engine, engine->points[engine->n_points - 1]);
	while (engine->n_channels)
		channel_close(engine, engine->channels[engine->n_channels - 1]);
	engine->round.n_touched = 0;
}

static void forget_detached(struct engine *engine)
{
	size_t position = 0;
	void *detached;

	while ((detached = idmap_next(&engine->targets.detached, &position)))
		free(detached);
	idmap_fini(&engine->targets.detached);
}

void target_fini(struct engine *engine)
{
	flight_fini(engine);
	target_close_all(engine);
	for (size_t i = 0; i < engine->status.n_events; i++)
		choice_close_program(&engine->choices[i]);
	while (engine->attach.jobs)
		attach_drop_job(engine, engine->attach.jobs);
	free(engine->attach.born.tids);
	free(engine->attach.queue.tids);
	engine->attach.born = engine->attach.queue = (struct tid_queue){0};
	forget_detached(engine);
	follow_fini(&engine->follow);
	idmap_fini(&engine->ids);
	group_fini(engine);
	free(engine->points);
	free(engine->channels);
	free(engine->round.sources);
	free(engine->round.touched);
	free(engine->scope.cpus);
}
