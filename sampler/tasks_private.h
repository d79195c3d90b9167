/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tasks_private.h - the tables of threads, processes and labels, for tasks.c and tasks_table.c alone.
 *
 * Threads are found by tid, processes by pid.  A process lives as long as threads in the table point to it; when its
 * pid is reused it only leaves the index.  Entries never move; id 0 is nobody's.  Sampling thread.
 */
#ifndef SAMPLER_TASKS_PRIVATE_H
#define SAMPLER_TASKS_PRIVATE_H

#include "sampler/chunks.h"
#include "sampler/idtable.h"
#include "sampler/spaces.h"
#include "sampler/tasks.h"

#define TASKS_RECENT 64u

struct process {
	int32_t pid, ppid; /* ppid 0: not known */
	uint32_t threads; /* in the table; 0: free */
	uint32_t alive;
	uint32_t next_free;
	bool current; /* found by its pid */
	bool loaded; /* nothing is left to ask /proc for */
	int unread; /* errno counted in tasks.unread; 0: not counted */
	bool comm_known;
	bool comm_told; /* to the observer */
	char comm[TASK_COMM_MAX];
	struct space *space;
	uint64_t since_ns; /* fork or exec: older mappings are those of somebody else */
	uint64_t loaded_ns; /* older mappings fill gaps */
	uint64_t pause_ns; /* until mappings are read again, see tasks_find_code() */
};

struct thread {
	int32_t tid, pid;
	uint32_t label; /* TASK_LABEL_MERGED: none made yet */
	uint32_t process;
	struct process *owner; /* the same: entries never move */
	bool used, exited, comm_known;
	uint64_t known_ns; /* older records are stale */
	uint64_t exit_ns;
	uint32_t prev, next; /* in the list of exited threads; next also of the free ones */
	char comm[TASK_COMM_MAX];
};

struct tasks {
	struct spaces spaces;
	bool fills; /* mappings that are read fill gaps only, and others are told of those alone */
	struct tasks_reader reader;
	struct tasks_observer observer; /* its functions may be NULL */
	struct chunks threads, processes, labels; /* thread and process 0 are nobody */
	struct idtable by_tid, by_pid;
	uint32_t free_thread, free_process, free_label; /* 0: none */
	uint32_t first_exited, last_exited; /* by time of exit, nearly */
	uint32_t alive, labels_used;
	struct tasks_unread unread;
	uint32_t recent[TASKS_RECENT]; /* threads sampled lately, by the low bits of tid */
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

/* 0 where there is none. */
uint32_t tasks_find_thread(const struct tasks *tasks, int32_t tid);
uint32_t tasks_find_process(const struct tasks *tasks, int32_t pid);

/* The thread, made with its process where they are not known.  A thread of that number in another process
 * is one that ended unseen. */
int tasks_need_thread(struct tasks *tasks, int32_t pid, int32_t tid, uint32_t *out);

/* Forget a thread, and its process when it was the last one. */
void tasks_drop_thread(struct tasks *tasks, uint32_t id);

/* It has ended, and is forgotten when its time comes. */
void tasks_mark_exited(struct tasks *tasks, uint32_t id, uint64_t time_ns);

/* Its process executed a program: this thread lives, even if its number was that of one that ended, and
 * no other one does. */
void tasks_outlive(struct tasks *tasks, uint32_t id, uint64_t time_ns);

/* The process's number belongs to somebody else now. */
void tasks_retire_process(struct tasks *tasks, uint32_t id);

/* A label without contents; and the one a thread has let go: its next sample makes a new one. */
int tasks_label_new(struct tasks *tasks, uint32_t *label);
void tasks_label_drop(struct tasks *tasks, struct thread *thread);

#endif
