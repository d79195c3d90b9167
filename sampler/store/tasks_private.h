/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tasks_private.h - the tables of threads, processes and labels, only for the tasks files.
 *
 * Threads are found by tid, processes by pid.  A process exists while threads in the table point to
 * it; if its pid is reused, it only leaves the index.  Entries never move; id 0 is unused.
 * Sampling thread.
 */
#ifndef SAMPLER_STORE_TASKS_PRIVATE_H
#define SAMPLER_STORE_TASKS_PRIVATE_H

#include "sampler/base/chunks.h"
#include "sampler/base/idtable.h"
#include "sampler/store/spaces.h"
#include "sampler/store/tasks.h"

#include <stdatomic.h>

#define TASKS_RECENT 64u

struct process {
	int32_t pid, ppid; /* ppid 0: not known */
	uint32_t threads; /* number in the table; 0: the entry is free */
	uint32_t alive;
	uint32_t next_free;
	bool current; /* found by its pid */
	bool loaded; /* /proc need not be read any more */
	int unread; /* errno counted in tasks.unread; 0: not counted */
	bool comm_known;
	bool comm_told; /* reported to the observer */
	char comm[TASK_COMM_MAX];
	struct space *space;
	uint64_t since_ns; /* time of fork or exec: older mappings are not its own */
	uint64_t loaded_ns; /* older mappings fill gaps */
	uint64_t pause_ns; /* ns before mappings are read again, see tasks_find_code() */
};

struct thread {
	int32_t tid, pid;
	uint32_t label; /* TASK_LABEL_MERGED: not made yet */
	uint32_t process;
	struct process *owner; /* entry of `process`; entries never move */
	bool used, exited, comm_known;
	uint64_t known_ns; /* time of the known data: older records are stale */
	uint64_t exit_ns;
	uint32_t prev, next; /* in the list of exited threads; next also in the free list */
	char comm[TASK_COMM_MAX];
};

struct tasks {
	struct spaces spaces;
	bool fills; /* mappings being read only fill gaps, and only those are reported */
	struct tasks_reader reader;
	struct tasks_observer observer; /* its functions may be NULL */
	struct chunks threads, processes, labels; /* thread and process 0 are unused */
	struct idtable by_tid, by_pid;
	uint32_t free_thread, free_process, free_label; /* 0 if none */
	uint32_t first_exited, last_exited; /* almost in order of exit time */
	uint32_t alive, labels_used;
	struct tasks_unread unread;
	atomic_bool outside; /* tid 0 is not only the idle task's */
	struct task_label outside_label; /* replaces all labels of tid 0 if `outside` */
	uint32_t recent[TASKS_RECENT]; /* threads sampled recently, by the low bits of tid */
};

static inline struct thread *thread_at(const struct tasks *tasks, uint32_t id)
{
	return CHUNKS_AT(&tasks->threads, struct thread, id);
}

static inline struct process *process_at(const struct tasks *tasks, uint32_t id)
{
	return CHUNKS_AT(&tasks->processes, struct process, id);
}

static inline struct task_label *label_at(const struct tasks *tasks, uint32_t id)
{
	return CHUNKS_AT(&tasks->labels, struct task_label, id);
}

/* Return 0 if there is none. */
uint32_t tasks_find_thread(const struct tasks *tasks, int32_t tid);
uint32_t tasks_find_process(const struct tasks *tasks, int32_t pid);

/* Finds or adds a thread and its process.  A thread with this tid in another process has ended
 * without a record, and is dropped.  Returns 0 or -ENOMEM. */
int tasks_need_thread(struct tasks *tasks, int32_t pid, int32_t tid, uint32_t *out);

/* Forgets a thread, and its process with the last thread. */
void tasks_drop_thread(struct tasks *tasks, uint32_t id);

/* Marks a thread as ended; tasks_expire() drops it later. */
void tasks_mark_exited(struct tasks *tasks, uint32_t id, uint64_t time_ns);

/* Handles an exec: this thread lives, even if its tid is that of one that ended.  All other threads
 * of its process have ended. */
void tasks_outlive(struct tasks *tasks, uint32_t id, uint64_t time_ns);

/* Takes a process out of the index: its pid belongs to another one now. */
void tasks_retire_process(struct tasks *tasks, uint32_t id);

/* Makes an empty label.  tasks_label_drop() releases that of a thread; its next sample makes a new
 * one. */
int tasks_label_new(struct tasks *tasks, uint32_t *label);
void tasks_label_drop(struct tasks *tasks, struct thread *thread);

#endif
