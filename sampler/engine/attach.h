/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * attach.h - opens events on processes, thread by thread.
 */
#ifndef SAMPLER_ENGINE_ATTACH_H
#define SAMPLER_ENGINE_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct follow_task;

/* A process that is being attached. */
struct job {
	struct job *next;
	int32_t pid, tid; /* tid: attach that thread alone; else -1 */
	bool named; /* named by the user: its result is noted */
	uint32_t scans;
	uint32_t opened;
	int error; /* error of the last refusal */
};

/* Threads to open, oldest first. */
struct tid_queue {
	int32_t *tids;
	size_t head, n, capacity;
};

struct attach {
	struct job *jobs;
	struct tid_queue queue, born; /* threads that a scan found, and new ones */
	uint64_t left_out_fds; /* value of fds when a thread was last left out */
	bool fd_limit_noted, mlock_noted;
};

void attach_enqueue(struct engine *engine, struct tid_queue *queue, struct follow_task *task);
struct job *attach_find_job(struct engine *engine, int32_t pid);
void attach_drop_job(struct engine *engine, struct job *job);
/* Plans n more threads: a feature without room for all is given up for all. */
void attach_plan(struct engine *engine, size_t n);
/* Called after EMFILE: saves descriptors and returns true if the thread should be tried again. */
bool attach_economize(struct engine *engine);
/* Notes once that descriptors ran out. */
void attach_note_fd_limit(struct engine *engine, int error);
/* Tries threads that were left out again, if descriptors were closed since. */
void attach_left_out(struct engine *engine);
/* Accounts the whole life of a task that had no events; it had ended by end_ns. */
void attach_miss(struct engine *engine, const struct follow_task *task, uint64_t end_ns);
/* Charges the time of tasks without events, at most the rest of their process's CPU time.  Call
 * after the points were read, and before processes are removed. */
void attach_settle_missed(struct engine *engine);
/* Ends a thread, and its process if it was the last one. */
void attach_end_task(struct engine *engine, struct follow_task *task, uint64_t time_ns);
void target_attach(struct engine *engine, int32_t pid, int32_t tid);
/* Continues opening for a short while; returns whether more is waiting. */
bool target_work(struct engine *engine);
/* Scans a process again for missed threads and children, without a note. */
void target_rescan(struct engine *engine, int32_t pid);

#endif
