/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * follow.h - the set of followed processes and threads, updated by FORK and EXIT records.
 *
 * It uses neither events nor /proc: the engine passes in its observations.  Sampling thread.
 * Lookups are O(1).
 */
#ifndef SAMPLER_ACCOUNTING_FOLLOW_H
#define SAMPLER_ACCOUNTING_FOLLOW_H

#include "sampler/base/idmap.h"
#include "sampler/kernel/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct point;

struct follow_process {
	int32_t pid;
	bool whole; /* all threads and future children; else single threads */
	bool root; /* named by the user */
	uint32_t tasks; /* living tasks */
	uint64_t start_ticks; /* identifies the process together with the pid; 0 if unknown */
	uint64_t since_ticks; /* start_ticks below this: a child from before the attach */
	uint64_t ended_ns; /* 0: alive */
	uint64_t cpu_ticks; /* at the last look; owned by the engine */
	/* ns of CPU time that are accounted for: before the last comparison or the attach, counted
	 * since, or charged as missed.
	 * missed_ns: the most that tasks may have run without events since the last tick.  Both are
	 * owned by the engine. */
	uint64_t counted_ns, missed_ns;
	struct follow_task *first_task;
	struct follow_process *next_ended;
	bool listed; /* in the list of ended ones; may have been restarted since */
};

struct follow_task {
	int32_t tid;
	struct follow_process *process;
	struct point *point; /* owned by the engine; NULL: no events of its own */
	bool queued; /* waits to be opened; owned by the engine */
	bool covered; /* covered by an inherited event; owned by the engine */
	bool asked; /* the engine has checked whether it sleeps */
	uint64_t born_ns; /* time of its FORK record; 0: older than the attach */
	uint64_t gone_ns; /* its events came too late: it had ended by then; 0: they did not */
	bool left_out; /* see follow_leave_out() */
	struct follow_task *next, *prev; /* neighbours in the process's list */
};

struct follow {
	struct idmap processes, tasks;
	struct follow_process *ended;
	uint32_t alive; /* living processes */
	uint32_t left_out; /* living threads without events, since descriptors or memory ran out */
	uint64_t forks; /* total forks of followed tasks, including threads */
	bool own_threads; /* follow new threads, not children */
};

void follow_init(struct follow *follow);
void follow_fini(struct follow *follow);

struct follow_process *follow_process(const struct follow *follow, int32_t pid);
struct follow_task *follow_task(const struct follow *follow, int32_t tid);

/* Returns the process, and adds it if it is new.  An ended process is reset.  NULL if memory runs
 * out. */
struct follow_process *follow_add_process(struct follow *follow, int32_t pid, bool whole);

/* Returns the thread, and adds it if it is new.  A tid of another process is reset and moved; its
 * point must be closed already.  NULL if memory runs out. */
struct follow_task *follow_add_task(
	struct follow *follow, struct follow_process *process, int32_t tid);

/* Applies a FORK record.  *born is the new followed task, or NULL if no followed parent forked it.
 * A stale entry of that tid is removed; *stale is its point, which the caller closes.  Returns 0 or
 * -ENOMEM. */
int follow_fork(struct follow *follow, const struct record_task *fork, struct follow_task **born,
	struct point **stale);

/* Sets whether the thread has no events because descriptors or memory ran out. */
void follow_leave_out(struct follow *follow, struct follow_task *task, bool left_out);

/* Ends a thread and frees the task.  Returns its process if this was the last thread.  The process
 * then counts as ended, but stays until follow_expire(), since its samples may still arrive. */
struct follow_process *follow_exit(
	struct follow *follow, struct follow_task *task, uint64_t time_ns);

/* Applies an exec, which leaves one thread with the pid as tid.  A single thread keeps its point
 * under the new tid.  If several are known (their exits were not seen), all except the one with
 * that tid are removed; their points must be closed already.  An ended process becomes alive again.
 * Returns the thread; NULL if memory runs out. */
struct follow_task *follow_exec(struct follow *follow, struct follow_process *process);

/* Returns whether a sample of that thread belongs to a followed task. */
bool follow_wants(const struct follow *follow, uint32_t pid, uint32_t tid);

/* Removes the process and its tasks; their points must be closed already. */
void follow_remove(struct follow *follow, struct follow_process *process);

/* Removes processes that ended before time_ns. */
void follow_expire(struct follow *follow, uint64_t time_ns);

/* Lists the pids of living processes, ascending: an array of *n for free(), NULL if none.  Returns
 * 0 or -ENOMEM. */
int follow_pids(const struct follow *follow, int32_t **pids, size_t *n);

#endif
