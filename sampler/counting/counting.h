/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * counting.h - counting only: events without rings, opened on a target and read on demand.
 *
 * A cell is one event on one place (a task, a CPU, or a task on a CPU): one descriptor.  A cell
 * keeps its last values when its task ends or its CPU goes offline.  New children inherit the
 * events of a task, so its cell counts for the tree below it.
 *
 * One thread calls all functions and owns the events, since its prctl(PR_TASK_PERF_EVENTS_ENABLE)
 * starts them together.  Only counting_start() blocks, for the exec of a command.
 */
#ifndef SAMPLER_COUNTING_COUNTING_H
#define SAMPLER_COUNTING_COUNTING_H

#include "sampler/control/config.h"
#include "sampler/control/failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTING_EVENTS_MAX 4096

struct counting_config {
	/* arrays are copied; command_output_fd: see struct engine_target */
	struct engine_target target;
	/* Copied; may be freed after counting_open().  At most COUNTING_EVENTS_MAX after they are
	 * spread over the target's cgroups. */
	const struct event_spec *events;
	size_t n_events;
	bool by_cpu; /* also one event per CPU for each task */
	bool own_threads; /* inherit to new threads, not to forked processes */
	bool until_exec; /* stop counting a task that executes a program; not with a command */
	bool no_inherit; /* new children are not counted; single threads (tids) never inherit */
};

/* An event and the result of opening it. */
struct counting_event {
	struct event_spec spec; /* the opened event; user_only excludes the kernel */
	size_t opened; /* number of cells */
	/* positive errno of the last refusal; 0 if none.  With opened > 0, refused on some
	 * places */
	int error;
	struct engine_asked asked; /* the refused part */
	int32_t error_pid; /* place of the refusal; -1: all */
	int error_cpu; /* -1: any */
	bool user_only; /* opened without the kernel, which was refused */
	bool ungrouped; /* member of a weak group that did not open as a group */
	bool no_room; /* refused as a member of its group, but would open alone */
};

struct counting_cell {
	uint32_t event; /* index into the events */
	int32_t pid, tid; /* -1: all tasks */
	int cpu; /* -1: any */
	/* Values of the last read.  The times of a task on one CPU are its times there. */
	uint64_t value, enabled_ns, running_ns;
	bool in_error; /* pinned, and the hardware had no room: counts no longer */
	/* Private to counting. */
	int fd;
	/* On a leader: clock of the task, on the cell's CPU if it has one; -1: not needed. */
	int clock_fd;
	/* Leader: number of cells, from this one on, that one read() covers; 0: read with the
	 * leader. */
	uint32_t members;
	/* opened with PERF_FORMAT_GROUP, so read() returns that layout even for a single cell */
	bool by_group;
	uint64_t id;
};

struct counting;

/* Opens all events; nothing counts yet, and a command waits.  Returns 0; or -errno with *failure
 * filled in and *out NULL if the target does not exist or no event could be opened. */
int counting_open(struct counting **out, const struct counting_config *config,
	struct engine_failure *failure);

/* Starts counting; a command is counted from its exec on.  Returns 0, or -errno and *failure
 * (FAIL_COMMAND, or FAIL_OPEN if an event cannot be enabled). */
int counting_start(struct counting *counting, struct engine_failure *failure);

/* Reads all cells.  Returns 0, or -errno of the first cell that could not be read; it keeps its
 * values. */
int counting_read(struct counting *counting);

/* Opens CPU-wide events on CPUs that came online since; cheap if there are none.  Returns 0 or
 * -errno. */
int counting_take_cpus(struct counting *counting);

/* Stops all cells. */
void counting_stop(struct counting *counting);

/* Frees; a running command continues.  NULL is a no-op. */
void counting_close(struct counting *counting);

/* Returns an epoll fd, readable when a named task or the command ended; then call
 * counting_alive(). */
int counting_fd(const struct counting *counting);

/* Returns whether any named task is alive, or any cgroup still exists; always true for CPUs.  *told
 * is false if counting_fd() cannot report the end (no pidfd, or cgroups); the caller must then poll
 * this function. */
bool counting_alive(struct counting *counting, bool *told);

/* Returns whether the command ended, with its wait status. */
bool counting_command_ended(const struct counting *counting, int *status);
int32_t counting_command_pid(const struct counting *counting); /* 0: none, or ended */
int counting_signal_command(struct counting *counting, int signal);

/* CLOCK_MONOTONIC ns; start and end of counting (0: not yet). */
uint64_t counting_started_ns(const struct counting *counting);
uint64_t counting_ended_ns(const struct counting *counting);

/* Returns the events in the order of the configuration.  Valid until counting_close(). */
const struct counting_event *counting_events(const struct counting *counting, size_t *n);
/* Returns the cells.  New cells are appended; the address is valid until counting_take_cpus(). */
const struct counting_cell *counting_cells(const struct counting *counting, size_t *n);

/* Estimates the count for all of enabled_ns, by the time the event ran.  Returns the value itself
 * if it always ran, 0 if it never ran. */
uint64_t counting_scale(uint64_t value, uint64_t enabled_ns, uint64_t running_ns);

/* Returns whether a pinned event stopped because the hardware had no room.  Its clock, an event of
 * the same place that always counts, has then advanced further. */
bool counting_was_put_out(const struct counting_cell *cell, uint64_t clock_enabled_ns);

/* Parses one read(2) of n events with PERF_FORMAT_GROUP, TIMES and ID into the cells with those
 * ids.  Returns 0; -EIO for an end of file (error state); -ESTALE if some cells are missing, which
 * keep their values; -EBADMSG for invalid words. */
int counting_parse_group(
	struct counting_cell *cells, size_t n, const uint64_t *words, size_t n_words);

#endif
