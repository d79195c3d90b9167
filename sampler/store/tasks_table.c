/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tasks_table.c - labels, threads, processes and their ends; see tasks_private.h and tasks.h.
 * Sampling thread.
 */
#include "sampler/store/tasks_private.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t number_hash(int32_t number)
{
	return idtable_mix((uint64_t)number, 0);
}

int tasks_new(struct tasks **out, struct images *images, const struct tasks_reader *reader)
{
	struct tasks *tasks = calloc(1, sizeof(*tasks));
	uint32_t id;

	*out = NULL;
	if (!tasks)
		return -ENOMEM;
	tasks->spaces.images = images;
	if (reader)
		tasks->reader = *reader;
	chunks_init(&tasks->threads, sizeof(struct thread));
	chunks_init(&tasks->processes, sizeof(struct process));
	chunks_init(&tasks->labels, sizeof(struct task_label));
	if (chunks_add(&tasks->threads, &id) || chunks_add(&tasks->processes, &id) ||
		chunks_add(&tasks->labels, &id)) {
		tasks_free(tasks);
		return -ENOMEM;
	}
	*label_at(tasks, TASK_LABEL_MERGED) = (struct task_label){
		.pid = -1, .tid = -1, .comm = "[earlier]", .process_comm = "[earlier]", .refs = 1};
	/* No label is reused that often: whoever remembers a label by its generation asks again. */
	tasks->outside_label = (struct task_label){
		.comm = TASK_OUTSIDE, .process_comm = TASK_OUTSIDE, .generation = UINT32_MAX};
	*out = tasks;
	return 0;
}

void tasks_free(struct tasks *tasks)
{
	if (!tasks)
		return;
	for (uint32_t id = 1; id < tasks->processes.count; id++)
		space_free(process_at(tasks, id)->space);
	spaces_fini(&tasks->spaces);
	chunks_fini(&tasks->threads);
	chunks_fini(&tasks->processes);
	chunks_fini(&tasks->labels);
	idtable_fini(&tasks->by_tid);
	idtable_fini(&tasks->by_pid);
	free(tasks);
}

/* --- labels --- */

const struct task_label *tasks_label_get(const struct tasks *tasks, uint32_t label)
{
	const struct task_label *found = label_at(tasks, label);

	return found->tid || !tasks_has_outside(tasks) ? found : &tasks->outside_label;
}

void tasks_set_outside(struct tasks *tasks)
{
	atomic_store_explicit(&tasks->outside, true, memory_order_relaxed);
}

bool tasks_has_outside(const struct tasks *tasks)
{
	return atomic_load_explicit(&tasks->outside, memory_order_relaxed);
}

void tasks_label_ref(struct tasks *tasks, uint32_t label)
{
	label_at(tasks, label)->refs++;
}

void tasks_label_unref(struct tasks *tasks, uint32_t label)
{
	struct task_label *entry = label_at(tasks, label);

	if (--entry->refs)
		return;
	entry->generation++;
	entry->since_ns = tasks->free_label;
	tasks->free_label = label;
	tasks->labels_used--;
}

int tasks_label_new(struct tasks *tasks, uint32_t *label)
{
	int err;

	if (!tasks->free_label) {
		err = chunks_add(&tasks->labels, label);
		if (err)
			return err;
	} else {
		*label = tasks->free_label;
		tasks->free_label = (uint32_t)label_at(tasks, *label)->since_ns;
	}
	tasks->labels_used++;
	return 0;
}

/* Drops the label of a thread that has another name now.  The next sample makes a new label. */
void tasks_label_drop(struct tasks *tasks, struct thread *thread)
{
	if (thread->label != TASK_LABEL_MERGED)
		tasks_label_unref(tasks, thread->label);
	thread->label = TASK_LABEL_MERGED;
}

/* --- threads and processes --- */

uint32_t tasks_find_thread(const struct tasks *tasks, int32_t tid)
{
	uint32_t id;

	IDTABLE_FOR_EACH(&tasks->by_tid, number_hash(tid), id)
	{
		if (thread_at(tasks, id)->tid == tid)
			return id;
	}
	return 0;
}

uint32_t tasks_find_process(const struct tasks *tasks, int32_t pid)
{
	uint32_t id;

	IDTABLE_FOR_EACH(&tasks->by_pid, number_hash(pid), id)
	{
		if (process_at(tasks, id)->pid == pid)
			return id;
	}
	return 0;
}

/* Takes a process out of the index: its pid belongs to another one now. */
void tasks_retire_process(struct tasks *tasks, uint32_t id)
{
	struct process *process = process_at(tasks, id);

	if (process->current)
		idtable_remove(&tasks->by_pid, number_hash(process->pid), id);
	process->current = false;
}

static void put_process(struct tasks *tasks, uint32_t id)
{
	struct process *process = process_at(tasks, id);

	if (process->threads)
		return;
	tasks_retire_process(tasks, id);
	space_free(process->space);
	*process = (struct process){.next_free = tasks->free_process};
	tasks->free_process = id;
}

static int new_process(struct tasks *tasks, int32_t pid, uint32_t *out)
{
	struct process *process;
	uint32_t id = tasks->free_process;
	int err;

	if (!id) {
		err = chunks_add(&tasks->processes, &id);
		if (err)
			return err;
		tasks->free_process = id; /* until the process is complete */
	}
	process = process_at(tasks, id);
	err = space_new(&process->space, &tasks->spaces, pid);
	if (err)
		return err;
	err = idtable_put(&tasks->by_pid, number_hash(pid), id);
	if (err) {
		space_free(process->space);
		process->space = NULL;
		return err;
	}
	tasks->free_process = process->next_free;
	process->pid = pid;
	process->current = true;
	*out = id;
	return 0;
}

static void unlink_exited(struct tasks *tasks, uint32_t id)
{
	struct thread *thread = thread_at(tasks, id);

	if (thread->prev)
		thread_at(tasks, thread->prev)->next = thread->next;
	else
		tasks->first_exited = thread->next;
	if (thread->next)
		thread_at(tasks, thread->next)->prev = thread->prev;
	else
		tasks->last_exited = thread->prev;
}

void tasks_mark_exited(struct tasks *tasks, uint32_t id, uint64_t time_ns)
{
	struct thread *thread = thread_at(tasks, id);

	if (thread->exited)
		return;
	thread->exited = true;
	thread->exit_ns = time_ns;
	thread->next = 0;
	thread->prev = tasks->last_exited;
	if (thread->prev)
		thread_at(tasks, thread->prev)->next = id;
	else
		tasks->first_exited = id;
	tasks->last_exited = id;
	tasks->alive--;
	process_at(tasks, thread->process)->alive--;
}

void tasks_outlive(struct tasks *tasks, uint32_t id, uint64_t time_ns)
{
	struct thread *thread = thread_at(tasks, id);

	if (thread->exited) {
		unlink_exited(tasks, id);
		thread->exited = false;
		thread->prev = thread->next = 0;
		tasks->alive++;
		thread->owner->alive++;
	}
	/* All others had EXIT records, except one that lost its tid to this one. */
	for (uint32_t i = 1; i < tasks->threads.count && thread->owner->alive > 1; i++)
		if (i != id && thread_at(tasks, i)->used &&
			thread_at(tasks, i)->process == thread->process)
			tasks_mark_exited(tasks, i, time_ns);
}

void tasks_forget_thread(struct tasks *tasks, int32_t tid)
{
	uint32_t id = tasks_find_thread(tasks, tid);

	if (id)
		tasks_drop_thread(tasks, id);
}

void tasks_drop_thread(struct tasks *tasks, uint32_t id)
{
	struct thread *thread = thread_at(tasks, id);
	uint32_t process = thread->process;

	tasks_label_drop(tasks, thread);
	if (thread->exited) {
		unlink_exited(tasks, id);
	} else {
		tasks->alive--;
		process_at(tasks, process)->alive--;
	}
	idtable_remove(&tasks->by_tid, number_hash(thread->tid), id);
	*thread = (struct thread){.next = tasks->free_thread};
	tasks->free_thread = id;
	process_at(tasks, process)->threads--;
	put_process(tasks, process);
}

static int new_thread(struct tasks *tasks, int32_t tid, uint32_t process, uint32_t *out)
{
	struct thread *thread;
	uint32_t id = tasks->free_thread;
	int err;

	if (!id) {
		err = chunks_add(&tasks->threads, &id);
		if (err)
			return err;
		tasks->free_thread = id;
	}
	err = idtable_put(&tasks->by_tid, number_hash(tid), id);
	if (err)
		return err;
	thread = thread_at(tasks, id);
	tasks->free_thread = thread->next;
	*thread = (struct thread){.tid = tid,
		.pid = process_at(tasks, process)->pid,
		.process = process,
		.owner = process_at(tasks, process),
		.used = true};
	process_at(tasks, process)->threads++;
	process_at(tasks, process)->alive++;
	tasks->alive++;
	*out = id;
	return 0;
}

/* Finds or adds a thread and its process.  A thread with this tid in another process has ended
 * without a record. */
int tasks_need_thread(struct tasks *tasks, int32_t pid, int32_t tid, uint32_t *out)
{
	uint32_t id = tasks_find_thread(tasks, tid), process;
	int err = 0;

	if (id && thread_at(tasks, id)->pid != pid) {
		tasks_drop_thread(tasks, id);
		id = 0;
	}
	if (!id) {
		process = tasks_find_process(tasks, pid);
		if (!process)
			err = new_process(tasks, pid, &process);
		if (!err)
			err = new_thread(tasks, tid, process, &id);
		if (err && process)
			put_process(tasks, process);
	}
	*out = id;
	return err;
}

/* --- ends and sizes --- */

void tasks_expire(struct tasks *tasks, uint64_t time_ns)
{
	while (tasks->first_exited && thread_at(tasks, tasks->first_exited)->exit_ns < time_ns)
		tasks_drop_thread(tasks, tasks->first_exited);
}

uint32_t tasks_thread_count(const struct tasks *tasks)
{
	return tasks->alive;
}

uint32_t tasks_label_count(const struct tasks *tasks)
{
	return tasks->labels_used;
}

size_t tasks_memory_labels(const struct tasks *tasks)
{
	return tasks->labels_used * sizeof(struct task_label);
}

size_t tasks_memory(const struct tasks *tasks)
{
	return sizeof(*tasks) + chunks_memory(&tasks->threads) + chunks_memory(&tasks->processes) +
		chunks_memory(&tasks->labels) + idtable_memory(&tasks->by_tid) +
		idtable_memory(&tasks->by_pid) + tasks->spaces.bytes +
		images_memory(tasks->spaces.images);
}
