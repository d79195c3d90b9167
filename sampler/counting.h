/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * counting.h - counting only: events without rings, opened on a target, read when asked.
 *
 * A "cell" is one event on one place (a task, a CPU, or a task on a CPU): one descriptor.  Cells keep
 * their last values when their task ends or their CPU goes away.  Events on tasks are inherited by
 * what the task starts, so a cell counts for the tree below it.
 *
 * Used by one thread, which owns the events: it is prctl(PR_TASK_PERF_EVENTS_ENABLE) of that thread
 * that starts them together.  Nothing here waits but counting_start(), for the exec of a command.
 */
#ifndef SAMPLER_COUNTING_H
#define SAMPLER_COUNTING_H

#include "sampler/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTING_EVENTS_MAX 4096

struct counting_config {
	struct engine_target target; /* arrays are copied; command_output_fd as there */
	/* Copied; nothing of them is needed any more (needs).  At most COUNTING_EVENTS_MAX, spread over the target's cgroups. */
	const struct event_spec *events;
	size_t n_events;
	bool by_cpu; /* events on tasks: one for each CPU as well */
	bool own_threads; /* not what the tasks fork, but their new threads */
	bool until_exec; /* a task that executes a program is counted no further; not with a command */
	bool no_inherit; /* not what the tasks start from now on; single threads (tids) never inherit */
};

/* An event, and what became of it. */
struct counting_event {
	struct event_spec spec; /* as opened: user_only excludes the kernel */
	size_t opened; /* cells */
	int error; /* of the last refusal, positive errno; 0: none.  With opened > 0: somewhere */
	struct engine_asked asked; /* what of it */
	int32_t error_pid; /* where; -1: all */
	int error_cpu; /* -1: any */
	bool user_only; /* because the kernel was refused */
	bool ungrouped; /* of a weak group that did not open */
	bool no_room; /* refused as a member of its group, and would open alone */
};

struct counting_cell {
	uint32_t event; /* its place among the events */
	int32_t pid, tid; /* -1: all tasks */
	int cpu; /* -1: any */
	uint64_t value, enabled_ns,
		running_ns; /* as last read; of a task on one CPU: of its time there */
	bool in_error; /* pinned, and the hardware had no room: counts no more */
	/* counting's own: */
	int fd;
	int clock_fd; /* of a leader: tells its task's time, on its CPU where it has one; -1: not needed */
	/* Of a leader: so many cells from here on are told of by one read; 0: by the leader's. */
	uint32_t members;
	bool by_group; /* opened with PERF_FORMAT_GROUP: so is what it reads, alone or not */
	uint64_t id;
};

struct counting;

/* Opens everything; nothing counts yet, and a command waits.  Returns 0; or -errno, with *failure telling what was
 * refused, when nothing of the target or no event could be opened, and *out = NULL. */
int counting_open(struct counting **out, const struct counting_config *config,
	struct engine_failure *failure);

/* Count from now on; a command from its exec on.  0, or -errno and *failure (FAIL_COMMAND). */
int counting_start(struct counting *counting, struct engine_failure *failure);

/* Read all.  0, or -errno of the first cell that could not be read (it keeps its values). */
int counting_read(struct counting *counting);

/* Open what counts on CPUs on CPUs that came online since; cheap when there are none.  0 or -errno. */
int counting_take_cpus(struct counting *counting);

/* All stand still. */
void counting_stop(struct counting *counting);

/* Frees; a running command goes on.  NULL is a no-op. */
void counting_close(struct counting *counting);

/* Readable when a task that was named, or the command, ended: then ask counting_alive(). */
int counting_fd(const struct counting *counting);

/* Whether a task that was named still lives; of cgroups, whether one is left; always true of CPUs.  Where counting_fd() cannot tell
 * (*told false: no pidfd for it), it is to be asked now and then. */
bool counting_alive(struct counting *counting, bool *told);

/* The command ended, with its wait status. */
bool counting_command_ended(const struct counting *counting, int *status);
int32_t counting_command_pid(const struct counting *counting); /* 0: none, or ended */
int counting_signal_command(struct counting *counting, int signal);

/* CLOCK_MONOTONIC: when counting began, and ended (0: not yet). */
uint64_t counting_started_ns(const struct counting *counting);
uint64_t counting_ended_ns(const struct counting *counting);

/* In the order of the configuration.  Valid until counting_close(). */
const struct counting_event *counting_events(const struct counting *counting, size_t *n);
/* Grows at its end alone; the address is good until the next counting_take_cpus(). */
const struct counting_cell *counting_cells(const struct counting *counting, size_t *n);

/* An estimate for all of enabled_ns by the time it ran; the value itself where it always ran, 0 where it never did. */
uint64_t counting_scale(uint64_t value, uint64_t enabled_ns, uint64_t running_ns);

/* Whether a pinned event stands still while its clock, an event of the same place that always counts, went on: the
 * hardware had no room for it. */
bool counting_was_put_out(const struct counting_cell *cell, uint64_t clock_enabled_ns);

/* Words of one read(2) of n events with PERF_FORMAT_GROUP, TIMES and ID, into the cells they belong to by id.  0;
 * -EIO for an end of file (error state), -ESTALE where some of the cells are not in it, which keep their values;
 * -EBADMSG for what is no such text. */
int counting_parse_group(
	struct counting_cell *cells, size_t n, const uint64_t *words, size_t n_words);

#endif
