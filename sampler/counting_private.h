/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * counting_private.h - what opening and reading share; private to counting*.c.
 */
#ifndef SAMPLER_COUNTING_PRIVATE_H
#define SAMPLER_COUNTING_PRIVATE_H

#include "sampler/counting.h"
#include "sampler/inherited.h"
#include "sampler/launch.h"

/* Where an event can be opened. */
struct place {
	int32_t pid, tid; /* -1: all tasks */
	int cpu; /* -1: any */
	bool single; /* a thread that was named as such */
	bool gone;
};

/* A task whose end is waited for. */
struct root {
	int32_t pid; /* or tid */
	int fd; /* pidfd; -1: the kernel has none for it */
	bool ended;
};

struct counting {
	struct engine_target target; /* its arrays are ours; command and pids as the places tell */
	struct counting_event *events;
	size_t n_events;
	bool by_cpu, no_inherit, own_threads, until_exec;
	bool raised_nofile;
	bool started;
	struct launch launch;
	struct inherited inherited;
	bool command_ended;
	int command_status;

	uint64_t *cgroup_inodes; /* of the target's cgroups */

	struct place *tasks;
	size_t n_tasks, room_tasks;
	int *cpus; /* that CPU-wide events were opened on, online when last looked at */
	size_t n_cpus;

	struct counting_cell *cells;
	size_t n_cells, room_cells;
	uint64_t *words; /* of a group's read */
	size_t n_words;

	struct root *roots;
	size_t n_roots;
	int epoll_fd;
	uint64_t started_ns, ended_ns;
};

/* All events on all places; places of tasks that ended meanwhile are gone.  0, or -errno and *failure. */
int counting_open_all(struct counting *counting, struct engine_failure *failure);

/* CPU-wide events on one more CPU, counting at once.  0, or -errno of what is no event's own. */
int counting_open_cpu(struct counting *counting, int cpu);

void counting_close_cell(struct counting_cell *cell);

/* Whether an event counts on CPUs, whatever task runs. */
bool counting_is_cpu_wide(const struct counting *counting, const struct event_spec *spec);

#endif
