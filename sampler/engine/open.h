/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * open.h - points, their trackers, rings and events; the budget of descriptors and locked pages.
 *
 * A point is a task, a CPU, or both, on which each chosen event is open.
 */
#ifndef SAMPLER_ENGINE_OPEN_H
#define SAMPLER_ENGINE_OPEN_H

#include "sampler/accounting/coverage.h"
#include "sampler/kernel/credit.h"
#include "sampler/kernel/ring.h"
#include "sampler/kernel/sys.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct flight_ring;

/* One event of a choice on a point. */
struct point_event {
	struct point_event *next; /* next event of this point */
	struct point *point;
	unsigned int choice;
	struct point_event *leader; /* leader of its group; NULL if none, or if it leads */
	int fd;
	uint64_t id;
	uint64_t read_value; /* value at the last sample that read it */
	bool in_error, stood;
	bool on_credit, had_credit;
	uint32_t consumed; /* overflows in this round */
	bool owns_ring;
	bool dropped; /* stays open because it owns a shared ring; it never runs again */
	struct credit credit;
	struct coverage_point coverage;
	struct sys_counts last; /* values of the last read */
	/* ns; the tracker's times at that read, or at the start of this event */
	uint64_t clock_ns, tracker_ran_ns;
	uint64_t rate_ns; /* time of the last rate change */
};

/* A ring, the descriptor that owns it, and its epoll state. */
struct channel {
	struct ring *ring;
	int fd;
	bool owns_fd;
	struct point *point; /* NULL: shared by points */
	size_t index;
	uint32_t n_events; /* number of events on credit that share it */
	uint64_t corrupt, lost;
	bool in_epoll, hup, active;
	bool side; /* carries no samples of points; each side-band record wakes the engine */
	bool wakes; /* carries only wake-ups */
	int cpu; /* CPU of a channel without a point, else -1 */
	bool old; /* belongs to the previous scope: its side-band ends at switch_ns */
	uint64_t seen_ns; /* side-band ring of a CPU: its clock at the last tick */
};

struct point {
	int32_t pid, tid; /* -1: all */
	int cpu; /* -1: any */
	int tracker_fd; /* -1: none */
	uint64_t tracker_lost;
	uint64_t seen_ns; /* point of a CPU: the tracker's clock at the last tick */
	uint64_t clock_ns; /* point of a task: the tracker's clock at the last read */
	struct channel *channel; /* owned, except for inherited events */
	struct channel *side; /* owned side-band ring, or NULL */
	struct flight_ring *flight; /* receives the samples instead; NULL without flight recorder */
	struct point_event *events;
	size_t index;
	bool active; /* consumed a record since the last tick */
	bool doomed; /* close at the end of the round */
	bool has_lost;
	bool on_exec; /* the exec of the task arms it */
};

/* The rest of the program needs some descriptors, mostly for symbols; half of a small limit. */
#define ENGINE_FDS_RESERVE 96u
#define ENGINE_FDS_FEW 512u

/* Descriptors and locked pages, which this user's limits allow. */
struct budget {
	uint64_t fd_limit, fds; /* fds: open descriptors of perf events */
	uint64_t locked_pages;
	unsigned int order; /* order of the next task's ring */
	bool order_refused; /* the kernel accepted only a smaller ring since the last plan */
	unsigned int ring_order_noted;
	int ring_error; /* -errno of the last ring that could not be mapped */
};

/* Opens every chosen event on a task (cpu -1), a CPU (tid -1) or a task on a CPU (inherited).
 * shared: the channel of that CPU, or NULL.  Returns 0 or -errno; -ESRCH: the task is gone. */
int point_open(struct engine *engine, int32_t pid, int32_t tid, int cpu, bool on_exec,
	struct channel *shared, struct point **out);
/* Reads the counters a last time and closes the point.  Does not drain: see
 * round_drain_channel(). */
void point_close(struct engine *engine, struct point *point);
int point_add_event(struct engine *engine, struct point *point, unsigned int choice);
struct point_event *point_find_event(const struct point *point, unsigned int choice);
/* Starts an event that was added to a running point. */
int point_start_event(struct engine *engine, struct point_event *event);
/* Enables it, with more credit if it runs on credit.  Returns 0, or -errno after a note. */
int point_let_run(struct engine *engine, struct point_event *event, uint32_t credit);
/* Enables an event again after it was disabled. */
void point_go_on(struct engine *engine, struct point_event *event);
void point_drop_event(struct engine *engine, struct point *point, unsigned int choice);
/* Opens a replacement for a choice's event, disables the old event and starts the new one.  Returns
 * 0 or -errno; if the replacement does not open, the old event continues. */
int point_swap_event(struct engine *engine, struct point *point, unsigned int choice);
/* Drops the disabled events that were replaced. */
void point_drop_swapped(struct engine *engine, struct point *point, unsigned int choice);
/* Stops the sampling events and the tracker, the reference clock; point_rearm() restarts both. */
void point_disarm(struct point *point);
void point_rearm(struct engine *engine, struct point *point);
/* Called after the exec of a point's task, which enabled all open events: disables those that are
 * switched off. */
void point_executed(struct engine *engine, struct point *point);
void point_retarget(struct engine *engine, struct point *point);
/* Maps a ring on fd; take_fd: the channel owns fd. */
int channel_open(struct engine *engine, struct channel **out, int fd, bool take_fd,
	unsigned int order, struct point *point, bool side);
void channel_close(struct engine *engine, struct channel *channel);
/* Opens an event within the budget of descriptors; -EMFILE leaves some for the rest of the
 * program. */
int engine_open_event(
	struct engine *engine, const struct perf_event_attr *attr, int32_t tid, int cpu);
int engine_open_at(
	struct engine *engine, const struct perf_event_attr *attr, const struct sys_place *place);
void engine_close_event(struct engine *engine, int *fd);
bool engine_fds_left(const struct engine *engine, size_t n);
/* Returns how many pages this user may still lock for rings, control pages included. */
uint64_t engine_lockable_pages(const struct engine *engine);
/* Returns the wakeup watermark in bytes of a ring of the current order. */
uint32_t engine_watermark(const struct engine *engine);
unsigned int order_for_cpus(const struct engine *engine, size_t n);
unsigned int order_for_tasks(const struct engine *engine, size_t n);

#endif
