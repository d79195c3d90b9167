/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * follow.h - the set of followed processes and threads, as FORK and EXIT records change it.
 *
 * Knows no events and no /proc: the engine tells it what it saw and is told what that means.
 * The sampling thread's.  Lookups are O(1).
 */
#ifndef SAMPLER_FOLLOW_H
#define SAMPLER_FOLLOW_H

#include "sampler/idmap.h"
#include "sampler/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct point;

struct follow_process {
	int32_t pid;
	bool whole; /* every thread, and children from now on; else single threads */
	bool root; /* named by the user */
	uint32_t tasks; /* alive */
	uint64_t start_ticks; /* with the pid it names the process; 0: not known */
	uint64_t since_ticks; /* children that started before were there already */
	uint64_t ended_ns; /* 0: alive */
	uint64_t cpu_ticks; /* as last seen; the engine's */
	struct follow_task *first_task;
	struct follow_process *next_ended;
	bool listed; /* among the ended; may have started afresh since */
};

struct follow_task {
	int32_t tid;
	struct follow_process *process;
	struct point *point; /* the engine's; NULL: no events of its own */
	bool queued; /* waits to be opened; the engine's */
	bool covered; /* by an inherited event; the engine's */
	bool asked; /* whether it is asleep; the engine's */
	uint64_t born_ns; /* by its FORK record; 0: it was there before */
	bool left_out; /* see follow_leave_out() */
	struct follow_task *next, *prev; /* of the process */
};

struct follow {
	struct idmap processes, tasks;
	struct follow_process *ended;
	uint32_t alive; /* processes */
	uint32_t left_out; /* living threads without events for want of means */
	uint64_t forks; /* of followed tasks, threads included, ever */
	bool own_threads; /* new threads are followed, children are not */
};

void follow_init(struct follow *follow);
void follow_fini(struct follow *follow);

struct follow_process *follow_process(const struct follow *follow, int32_t pid);
struct follow_task *follow_task(const struct follow *follow, int32_t tid);

/* The process, new or as it is.  One that ended starts afresh.  NULL: out of memory. */
struct follow_process *follow_add_process(struct follow *follow, int32_t pid, bool whole);

/* The thread, new or as it is.  A tid that belongs to another process starts afresh there; its
 * point must have been closed.  NULL: out of memory. */
struct follow_task *follow_add_task(
	struct follow *follow, struct follow_process *process, int32_t tid);

/* A FORK record.  *born is the new followed task, or NULL where it is of no followed parent (a
 * stale entry under that tid is then gone; *stale is its point, to be closed).  0 or -ENOMEM. */
int follow_fork(struct follow *follow, const struct record_task *fork, struct follow_task **born,
	struct point **stale);

/* Whether the thread could have no events, for want of descriptors or memory. */
void follow_leave_out(struct follow *follow, struct follow_task *task, bool left_out);

/* The thread ended.  Returns its process if that was its last one, which then counts as ended,
 * but stays until follow_expire(): samples of it may still come.  The task is freed. */
struct follow_process *follow_exit(
	struct follow *follow, struct follow_task *task, uint64_t time_ns);

/* The process executed a program: one thread is left, which has the process's number whatever its own
 * was.  A single thread is known to be that one and keeps its point, under the new number; of several (their ends were
 * not told) all but the one of that number are forgotten, whose points must have been closed.  A process that counted
 * as ended lives on.  NULL: out of memory. */
struct follow_task *follow_exec(struct follow *follow, struct follow_process *process);

/* Whether a sample of that thread is of a followed task. */
bool follow_wants(const struct follow *follow, uint32_t pid, uint32_t tid);

/* Forget the process and its tasks, whose points must have been closed. */
void follow_remove(struct follow *follow, struct follow_process *process);

/* Forget processes that ended before time_ns. */
void follow_expire(struct follow *follow, uint64_t time_ns);

/* The pids of living processes, ascending; an array of *n for free(), NULL when there are none.
 * 0 or -ENOMEM. */
int follow_pids(const struct follow *follow, int32_t **pids, size_t *n);

#endif
