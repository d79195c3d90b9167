/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * private.h - state shared by opening and reading; private to counting*.c.
 */
#ifndef SAMPLER_COUNTING_PRIVATE_H
#define SAMPLER_COUNTING_PRIVATE_H

#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/counting/counting.h"
#include "sampler/events/inherited.h"
#include "sampler/kernel/launch.h"

/* A place on which an event can be opened. */
struct place {
	int32_t pid, tid; /* -1: all tasks */
	int cpu; /* -1: any */
	bool single; /* a thread named by tid */
	bool gone;
};

/* A named task, watched for its end. */
struct root {
	int32_t pid; /* or tid */
	int fd; /* pidfd; -1 if not available */
	bool ended;
};

struct counting {
	/* arrays are owned; pids and tids are empty: see tasks and roots */
	struct engine_target target;
	struct counting_event *events;
	size_t n_events;
	bool by_cpu, no_inherit, own_threads, until_exec;
	bool raised_nofile;
	bool started;
	struct launch launch;
	struct inherited inherited;
	bool command_ended;
	int command_status;

	uint64_t *cgroup_inodes; /* one per cgroup of the target */

	struct place *tasks;
	size_t n_tasks, room_tasks;
	int *cpus; /* online CPUs at the last look; CPU-wide events are open on them */
	size_t n_cpus;

	struct counting_cell *cells;
	size_t n_cells, room_cells;
	uint64_t *words; /* buffer for reading a group */
	size_t n_words;

	struct root *roots;
	size_t n_roots;
	int epoll_fd;
	uint64_t started_ns, ended_ns;
};

/* Opens all events on all places; marks tasks that ended meanwhile as gone.  Returns 0, or -errno
 * and *failure. */
int counting_open_all(struct counting *counting, struct engine_failure *failure);

/* Enables a cell and its clock.  Returns 0, or -errno and *failure. */
int counting_enable(struct counting *counting, const struct counting_cell *cell,
	struct engine_failure *failure);

/* Opens CPU-wide events on one more CPU; they count at once.  Returns 0, or -errno of an error
 * unrelated to any event. */
int counting_open_cpu(struct counting *counting, int cpu);

void counting_close_cell(struct counting_cell *cell);

/* Returns whether an event counts on CPUs, for all tasks. */
bool counting_is_cpu_wide(const struct counting *counting, const struct event_spec *spec);

#endif
