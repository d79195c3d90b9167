/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * follow.c - see follow.h.
 */
#include "sampler/accounting/follow.h"

#include <errno.h>
#include <stdlib.h>

void follow_init(struct follow *follow)
{
	*follow = (struct follow){0};
}

static void free_all(struct idmap *map)
{
	size_t position = 0;
	void *value;

	while ((value = idmap_next(map, &position)))
		free(value);
	idmap_fini(map);
}

void follow_fini(struct follow *follow)
{
	free_all(&follow->tasks);
	free_all(&follow->processes);
	follow_init(follow);
}

struct follow_process *follow_process(const struct follow *follow, int32_t pid)
{
	return idmap_find(&follow->processes, (uint32_t)pid);
}

struct follow_task *follow_task(const struct follow *follow, int32_t tid)
{
	return idmap_find(&follow->tasks, (uint32_t)tid);
}

struct follow_process *follow_add_process(struct follow *follow, int32_t pid, bool whole)
{
	struct follow_process *process = follow_process(follow, pid);

	if (process && !process->ended_ns) {
		process->whole |= whole;
		return process;
	}
	if (!process) {
		process = calloc(1, sizeof(*process));
		if (!process)
			return NULL;
		if (idmap_set(&follow->processes, (uint32_t)pid, process)) {
			free(process);
			return NULL;
		}
	}
	*process = (struct follow_process){
		.pid = pid,
		.whole = whole,
		.listed = process->listed,
		.next_ended = process->next_ended,
	};
	follow->alive++;
	return process;
}

struct follow_task *follow_add_task(
	struct follow *follow, struct follow_process *process, int32_t tid)
{
	struct follow_task *task = follow_task(follow, tid);

	if (task && task->process == process)
		return task;
	if (task) {
		follow_exit(follow, task, 1);
		task = NULL;
	}
	task = malloc(sizeof(*task));
	if (!task)
		return NULL;
	if (idmap_set(&follow->tasks, (uint32_t)tid, task)) {
		free(task);
		return NULL;
	}
	*task = (struct follow_task){.tid = tid, .process = process, .next = process->first_task};
	if (task->next)
		task->next->prev = task;
	process->first_task = task;
	process->tasks++;
	return task;
}

void follow_leave_out(struct follow *follow, struct follow_task *task, bool left_out)
{
	follow->left_out += (uint32_t)left_out - (uint32_t)task->left_out;
	task->left_out = left_out;
}

static void free_task(struct follow *follow, struct follow_task *task)
{
	follow_leave_out(follow, task, false);
	if (task->next)
		task->next->prev = task->prev;
	if (task->prev)
		task->prev->next = task->next;
	else
		task->process->first_task = task->next;
	task->process->tasks--;
	idmap_remove(&follow->tasks, (uint32_t)task->tid);
	free(task);
}

struct follow_process *follow_exit(
	struct follow *follow, struct follow_task *task, uint64_t time_ns)
{
	struct follow_process *process = task->process;

	free_task(follow, task);
	if (process->tasks)
		return NULL;
	process->ended_ns = time_ns ? time_ns : 1;
	follow->alive--;
	if (!process->listed) {
		process->listed = true;
		process->next_ended = follow->ended;
		follow->ended = process;
	}
	return process;
}

struct follow_task *follow_exec(struct follow *follow, struct follow_process *process)
{
	struct follow_task *left = follow_task(follow, process->pid), *task;

	if (left && left->process != process) {
		follow_exit(follow, left, 1);
		left = NULL;
	}
	task = process->first_task;
	if (!left && task && !task->next) {
		if (idmap_set(&follow->tasks, (uint32_t)process->pid, task))
			return NULL;
		idmap_remove(&follow->tasks, (uint32_t)task->tid);
		task->tid = process->pid;
		return task;
	}
	if (!left)
		left = follow_add_task(follow, process, process->pid);
	if (!left)
		return NULL;
	if (process->ended_ns) {
		process->ended_ns = 0;
		follow->alive++;
	}
	for (task = process->first_task; task;) {
		struct follow_task *next = task->next;

		if (task != left)
			free_task(follow, task);
		task = next;
	}
	return left;
}

int follow_fork(struct follow *follow, const struct record_task *fork, struct follow_task **born,
	struct point **stale)
{
	const struct follow_process *parent = follow_process(follow, (int32_t)fork->ppid);
	struct follow_task *old = follow_task(follow, (int32_t)fork->tid);
	struct follow_process *process;
	bool is_thread = fork->pid == fork->ppid;

	*born = NULL;
	*stale = NULL;
	if (old && is_thread && parent == old->process && !parent->ended_ns) {
		/* A scan found the thread before its FORK record arrived. */
		old->born_ns = fork->time_ns;
		*born = old;
		return 0;
	}
	if (old) {
		*stale = old->point;
		follow_exit(follow, old, fork->time_ns);
	}
	if (!parent || !parent->whole || (follow->own_threads && !is_thread)) {
		struct follow_process *ended = follow_process(follow, (int32_t)fork->pid);

		if (!is_thread && ended && ended->ended_ns)
			follow_remove(follow, ended);
		return 0;
	}
	process = follow_add_process(follow, (int32_t)fork->pid, true);
	if (!process)
		return -ENOMEM;
	*born = follow_add_task(follow, process, (int32_t)fork->tid);
	if (!*born)
		return -ENOMEM;
	(*born)->born_ns = fork->time_ns;
	follow->forks++;
	return 0;
}

bool follow_wants(const struct follow *follow, uint32_t pid, uint32_t tid)
{
	const struct follow_process *process = idmap_find(&follow->processes, pid);

	if (!process)
		return false;
	return process->whole || idmap_find(&follow->tasks, tid);
}

void follow_remove(struct follow *follow, struct follow_process *process)
{
	while (process->first_task)
		free_task(follow, process->first_task);
	if (!process->ended_ns)
		follow->alive--;
	if (process->listed) {
		struct follow_process **link = &follow->ended;

		while (*link != process)
			link = &(*link)->next_ended;
		*link = process->next_ended;
	}
	idmap_remove(&follow->processes, (uint32_t)process->pid);
	free(process);
}

void follow_expire(struct follow *follow, uint64_t time_ns)
{
	struct follow_process **link = &follow->ended;

	while (*link) {
		struct follow_process *process = *link;

		if (process->ended_ns >= time_ns) {
			link = &process->next_ended;
			continue;
		}
		*link = process->next_ended;
		process->listed = false;
		if (process->ended_ns)
			follow_remove(follow, process);
	}
}

static int compare_pids(const void *a, const void *b)
{
	int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;

	return (left > right) - (left < right);
}

int follow_pids(const struct follow *follow, int32_t **pids, size_t *n)
{
	const struct follow_process *process;
	size_t position = 0;

	*pids = NULL;
	*n = 0;
	if (!follow->alive)
		return 0;
	*pids = malloc(follow->alive * sizeof(**pids));
	if (!*pids)
		return -ENOMEM;
	while ((process = idmap_next(&follow->processes, &position)))
		if (!process->ended_ns)
			(*pids)[(*n)++] = process->pid;
	qsort(*pids, *n, sizeof(**pids), compare_pids);
	return 0;
}
