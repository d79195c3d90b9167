/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * open.c - points, their trackers, rings and sampling events: opening, arming, closing.
 *
 * Runs in the sampling thread.  Limits are met in this order: rings shrink, then threads lose their
 * own fork rings, then their trackers.  Only then is a thread left out.
 */
#include "sampler/base/grow.h"
#include "sampler/control/note.h"
#include "sampler/engine/attr.h"
#include "sampler/engine/group.h"
#include "sampler/engine/internal.h"
#include "sampler/engine/stack.h"
#include "sampler/engine/weaken.h"
#include "sampler/kernel/attr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define CPU_RING_PAGES 128u
#define CPU_SIDE_PAGES 32u /* if the samples have other rings */
#define TASK_RINGS_PAGES 16384u /* kernel memory for the rings of all threads: 64 MiB */
#define TASK_RING_PAGES_MAX 16u
/* Few threads may have larger rings, which wake the engine less often: 4 MiB in total, and at most
 * a share of the lockable memory, since more threads may be born. */
#define TASK_RINGS_FEW_PAGES 1024u
#define TASK_RINGS_FEW_SHARE 8u
#define TASK_RING_FEW_PAGES_MAX 64u
/* Samples with a stack copy that a ring should hold, memory permitting; smaller for threads, since
 * the kernel clears each new ring. */
#define STACK_SAMPLES 256u
#define STACK_SAMPLES_TASK 128u

static unsigned int order_below(uint64_t pages)
{
	unsigned int order = 0;

	while (order < 16 && (2ull << order) <= pages)
		order++;
	return order;
}

/* Returns how many pages this user may lock for rings, control pages included. */
uint64_t engine_lockable_pages(const struct engine *engine)
{
	const struct proc_limits *limits = &engine->limits;
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t pages;

	if (limits->cap_ipc_lock || limits->paranoid == -1)
		return UINT64_MAX;
	pages = limits->memlock_soft / PAGE_BYTES;
	if (limits->mlock_kb > 0)
		pages += (uint64_t)limits->mlock_kb * 1024 / PAGE_BYTES * (uint64_t)n_cpus;
	return pages > engine->budget.locked_pages ? pages - engine->budget.locked_pages : 0;
}

/* Returns a factor for the ring size.  Raw data roughly doubles the size of samples.  Such events
 * come in bursts, and each event may use only its share of the ring. */
static unsigned int raw_data_factor(const struct engine *engine)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < engine->status.n_events; i++)
		n += engine->choices[i].open &&
			(choice_fields_type(engine, i) & PERF_SAMPLE_RAW) != 0;
	return n < 2 ? 1 + n : n < 5 ? 4 : 8;
}

/* Returns the pages for samples with stack copies.  A copy occupies its full size, however little
 * of it is used. */
static uint64_t stack_pages(const struct engine *engine, size_t n, unsigned int samples)
{
	const uint64_t lockable = engine_lockable_pages(engine);
	uint64_t all = TASK_RINGS_PAGES, each;

	if (lockable != UINT64_MAX &&
		all > (lockable + engine->budget.locked_pages) / TASK_RINGS_FEW_SHARE)
		all = (lockable + engine->budget.locked_pages) / TASK_RINGS_FEW_SHARE;
	each = (uint64_t)samples * engine_stack_bytes(engine) / PAGE_BYTES;
	return each < all / (n + 1) ? each : all / (n + 1);
}

static unsigned int choose_order(const struct engine *engine, size_t n, uint64_t wanted)
{
	uint64_t lockable = engine_lockable_pages(engine);

	if (engine->config.ring_pages)
		return order_below(engine->config.ring_pages);
	if (engine->scope.fork_rings)
		lockable -= lockable / 2 < 2 * n ? lockable / 2 : 2 * n;
	if (n && lockable / n < wanted + 1)
		wanted = lockable / n > 1 ? lockable / n - 1 : 1;
	return order_below(wanted);
}

uint32_t engine_watermark(const struct engine *engine)
{
	uint32_t ring = PAGE_BYTES << engine->budget.order;
	uint32_t asked = engine->config.wakeup_bytes;
	unsigned int n = choice_count_open(engine);

	/* Wakes well before one event alone has spent its credit, since no wakeup reports that. */
	if (!asked)
		return ring / (n > 2 ? 2 * n : 4);
	return asked < ring ? asked : ring;
}

unsigned int order_for_cpus(const struct engine *engine, size_t n)
{
	if (engine->flight.on)
		return choose_order(engine, n, CPU_SIDE_PAGES);
	const uint64_t wanted =
		raw_data_factor(engine) * (n > 64 ? CPU_RING_PAGES / 2 : CPU_RING_PAGES);
	const uint64_t stacks = stack_pages(engine, n, STACK_SAMPLES);
	return choose_order(engine, n, wanted > stacks ? wanted : stacks);
}

/* Returns the pages per ring; fewer rings are larger. */
static uint64_t pages_of_few(const struct engine *engine, size_t n)
{
	uint64_t lockable = engine_lockable_pages(engine), all = TASK_RINGS_FEW_PAGES, few;

	if (lockable != UINT64_MAX) {
		uint64_t share = (lockable + engine->budget.locked_pages) / TASK_RINGS_FEW_SHARE /
			raw_data_factor(engine);

		if (all > share)
			all = share;
	}
	few = all / (engine->n_points + n + 1);
	return few < TASK_RING_FEW_PAGES_MAX ? few : TASK_RING_FEW_PAGES_MAX;
}

unsigned int order_for_tasks(const struct engine *engine, size_t n)
{
	uint64_t few = pages_of_few(engine, n), most, wanted;

	most = raw_data_factor(engine) * (few > TASK_RING_PAGES_MAX ? few : TASK_RING_PAGES_MAX);
	wanted = n ? TASK_RINGS_PAGES / n : most;
	/* The tracker's ring has no samples. */
	if (engine->flight.on)
		return choose_order(engine, n, 1);
	if (wanted > most)
		wanted = most;
	const uint64_t stacks = stack_pages(engine, engine->n_points + n, STACK_SAMPLES_TASK);
	if (wanted < stacks)
		wanted = stacks;
	return choose_order(engine, n, wanted < 2 ? 2 : wanted);
}

bool engine_fds_left(const struct engine *engine, size_t n)
{
	uint64_t reserve = engine->budget.fd_limit >= ENGINE_FDS_FEW ? ENGINE_FDS_RESERVE
								     : engine->budget.fd_limit / 2;

	return engine->budget.fds + n + reserve <= engine->budget.fd_limit;
}

int engine_open_at(
	struct engine *engine, const struct perf_event_attr *attr, const struct sys_place *place)
{
	int fd;

	if (!engine_fds_left(engine, 1))
		return -EMFILE;
	fd = sys_open_at(attr, place);
	if (fd >= 0)
		engine->budget.fds++;
	return fd;
}

int engine_open_event(
	struct engine *engine, const struct perf_event_attr *attr, int32_t tid, int cpu)
{
	const struct sys_place place = {.pid = tid, .cpu = cpu, .group_fd = -1};

	return engine_open_at(engine, attr, &place);
}

void engine_close_event(struct engine *engine, int *fd)
{
	if (*fd < 0)
		return;
	close(*fd);
	engine->budget.fds--;
	*fd = -1;
}

/* --- channels --- */

static int grow_channels(struct engine *engine)
{
	size_t capacity = engine->channels_capacity ? engine->channels_capacity * 2 : 16;

	if (engine->n_channels < engine->channels_capacity)
		return 0;
	if (grow_exact(&engine->channels, capacity, sizeof(*engine->channels)) ||
		grow_exact(&engine->round.sources, capacity, sizeof(*engine->round.sources)))
		return -ENOMEM;
	engine->channels_capacity = capacity;
	return 0;
}

static int map_ring(struct engine *engine, struct ring **ring, int fd, unsigned int order)
{
	int ret = ring_open(ring, fd, order);

	while ((ret == -EPERM || ret == -ENOMEM) && order) {
		ret = ring_open(ring, fd, --order);
		if (!ret && order < engine->budget.ring_order_noted) {
			engine->budget.ring_order_noted = order;
			engine_note(engine, NOTE_RING_SHRUNK, EPERM, 0, 1u << order, NULL);
		}
		if (order < engine->budget.order) {
			engine->budget.order = order;
			engine->budget.order_refused = true;
		}
	}
	/* Distinguishes the limit on locked memory from the refusal of an event. */
	if (ret == -EPERM)
		ret = -ENOBUFS;
	engine->budget.ring_error = ret;
	return ret;
}

int channel_open(struct engine *engine, struct channel **out, int fd, bool take_fd,
	unsigned int order, struct point *point, bool side)
{
	struct epoll_event interest = {.events = EPOLLIN};
	struct channel *channel;
	int ret = grow_channels(engine);

	*out = NULL;
	if (ret)
		return ret;
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return -ENOMEM;
	ret = map_ring(engine, &channel->ring, fd, order);
	if (ret)
		goto fail;
	interest.data.ptr = channel;
	if (epoll_ctl(engine->loop.epoll_fd, EPOLL_CTL_ADD, fd, &interest)) {
		ret = -errno;
		ring_close(channel->ring);
		goto fail;
	}
	channel->fd = fd;
	channel->cpu = -1;
	channel->owns_fd = take_fd;
	channel->in_epoll = true;
	channel->point = point;
	channel->side = side;
	channel->active = true;
	channel->index = engine->n_channels;
	engine->channels[engine->n_channels++] = channel;
	engine->budget.locked_pages += ring_size(channel->ring) / PAGE_BYTES + 1;
	if (engine->paused && !side)
		sys_pause(fd, true);
	*out = channel;
	return 0;
fail:
	free(channel);
	return ret;
}

void channel_close(struct engine *engine, struct channel *channel)
{
	struct channel *last;

	if (!channel)
		return;
	if (channel->in_epoll)
		epoll_ctl(engine->loop.epoll_fd, EPOLL_CTL_DEL, channel->fd, NULL);
	engine->budget.locked_pages -= ring_size(channel->ring) / PAGE_BYTES + 1;
	last = engine->channels[--engine->n_channels];
	engine->channels[channel->index] = last;
	last->index = channel->index;
	ring_close(channel->ring);
	if (channel->owns_fd)
		engine_close_event(engine, &channel->fd);
	free(channel);
}

/* --- events of a point --- */

static void retarget_event(struct engine *engine, struct point_event *event)
{
	const struct channel *channel = event->point->channel;

	event->credit.target =
		credit_target(ring_size(channel->ring), channel->n_events ? channel->n_events : 1,
			engine->choices[event->choice].record_bytes);
}

void point_retarget(struct engine *engine, struct point *point)
{
	for (struct point_event *event = point->events; event; event = event->next)
		if (event->on_credit)
			retarget_event(engine, event);
}

/* Refuses an event that was never enabled as if it had not opened.  The caller drops it. */
static void refuse_to_run(struct engine *engine, struct point_event *event, int error)
{
	struct choice *choice = &engine->choices[event->choice];

	choice->ioctl_refused = "PERF_EVENT_IOC_ENABLE";
	choice->partial |= choice->started;
	if (!choice->started)
		choice->settled = false;
	choice_refuse(engine, event->choice, error, event->point);
}

/* Enables the event without a limit: REFRESH never worked, and without it the event would stop. */
static void do_without_credit(struct engine *engine, struct point_event *event, int error)
{
	struct choice *choice = &engine->choices[event->choice];

	if (!choice->no_credit)
		engine_note(engine, NOTE_NO_CREDIT, error, 0, 0,
			engine->status.events[event->choice].name);
	choice->no_credit = true;
	event->on_credit = false;
	event->point->channel->n_events--;
}

static int give_credit(struct engine *engine, struct point_event *event, uint32_t credit)
{
	int ret = sys_refresh(event->fd, credit);

	if (!ret) {
		event->had_credit = true;
	} else if (!event->had_credit) {
		do_without_credit(engine, event, -ret);
	} else {
		/* The tick retries as long as the event is stopped. */
		event->credit.outstanding -= credit;
		engine->choices[event->choice].ioctl_refused = "PERF_EVENT_IOC_REFRESH";
		choice_refuse(engine, event->choice, -ret, event->point);
	}
	return ret;
}

int point_let_run(struct engine *engine, struct point_event *event, uint32_t credit)
{
	int ret = event->on_credit ? give_credit(engine, event, credit) : 0;

	if (!event->on_credit) {
		ret = event->point->on_exec ? 0 : sys_enable(event->fd);
		if (ret)
			refuse_to_run(engine, event, -ret);
	}
	engine->choices[event->choice].started |= !ret;
	return ret;
}

static int arm(struct engine *engine, struct point_event *event)
{
	int ret = 0;

	if (!point_event_is_on(engine, event))
		return 0;
	ret = point_let_run(engine, event, event->on_credit ? credit_grant(&event->credit) : 0);
	/* A disabled event keeps its credit, so a task that waits for its exec loses none. */
	if (!ret && event->on_credit && event->point->on_exec)
		ret = sys_disable(event->fd);
	return ret;
}

/* Drops choices that failed on this point and were never enabled anywhere. */
static void drop_refused(struct engine *engine, const struct point *point)
{
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (!engine->choices[i].open && point_find_event(point, i))
			choice_drop(engine, i);
}

void point_disarm(struct point *point)
{
	for (struct point_event *event = point->events; event; event = event->next)
		sys_disable(event->fd);
	if (point->tracker_fd >= 0)
		sys_disable(point->tracker_fd);
}

void point_go_on(struct engine *engine, struct point_event *event)
{
	/* It may have no credit left; two extra overflows do no harm. */
	if (event->on_credit)
		event->credit.outstanding += CREDIT_MIN;
	(void)point_let_run(engine, event, CREDIT_MIN);
}

void point_rearm(struct engine *engine, struct point *point)
{
	if (point->tracker_fd >= 0)
		sys_enable(point->tracker_fd);
	for (struct point_event *event = point->events; event; event = event->next)
		if (point_event_is_on(engine, event))
			point_go_on(engine, event);
}

void point_executed(struct engine *engine, struct point *point)
{
	point->on_exec = false;
	for (struct point_event *event = point->events; event; event = event->next) {
		if (!engine->stopped && point_event_is_on(engine, event))
			point_go_on(engine, event);
		else
			sys_disable(event->fd);
	}
}

static void take_credit(struct point_event *event)
{
	if (event->on_credit)
		event->point->channel->n_events--;
	event->on_credit = false;
}

static void free_event(struct engine *engine, struct point_event *event)
{
	take_credit(event);
	engine->choices[event->choice].errors -= event->in_error;
	idmap_remove(&engine->ids, event->id);
	if (engine->round.last_event == event)
		engine->round.last_event = NULL;
	for (size_t i = 0; i < engine->round.n_touched; i++)
		if (engine->round.touched[i] == event)
			engine->round.touched[i] = NULL;
	if (!event->owns_ring)
		engine_close_event(engine, &event->fd);
	free(event);
}

static int open_sampling(
	struct engine *engine, struct point *point, struct point_event *event, bool carries)
{
	int fd;

	do {
		const struct sys_setup setup = point_setup(engine, point, carries);
		struct perf_event_attr attr;

		choice_attr(engine, event->choice, &setup, &attr);
		point_fit_stack(engine, point, &attr);
		fd = choice_open_event(engine, event->choice, &attr, point,
			event->leader ? event->leader->fd : -1);
	} while (fd < 0 && choice_weaken(engine, event->choice, -fd));
	return fd;
}

/* Opens the event, with a ring of its own unless it shares the point's. */
static int open_into_ring(
	struct engine *engine, struct point *point, struct point_event *event, bool carries)
{
	for (;;) {
		unsigned int order = engine->budget.order;
		int ret;

		event->fd = open_sampling(engine, point, event, carries);
		if (event->fd < 0)
			return event->fd;
		choice_settle(engine, event->choice);
		if (event->owns_ring)
			ret = channel_open(
				engine, &point->channel, event->fd, true, order, point, false);
		else
			ret = sys_set_output(
				event->fd, point->flight ? point->flight->fd : point->channel->fd);
		if (ret) {
			if (!event->owns_ring)
				engine->choices[event->choice].ioctl_refused =
					"PERF_EVENT_IOC_SET_OUTPUT";
			engine_close_event(engine, &event->fd);
			return ret;
		}
		if (!event->owns_ring || engine->budget.order >= order)
			return 0;
		/* Its watermark does not fit the smaller ring. */
		channel_close(engine, point->channel);
		point->channel = NULL;
	}
}

struct point_event *point_find_event(const struct point *point, unsigned int index)
{
	struct point_event *event = point->events;

	while (event && (event->choice != index || event->dropped))
		event = event->next;
	return event;
}

/* Without a tracker, the first event owns the ring if none is shared.  It carries the side-band
 * records unless rings per CPU do. */
int point_add_event(struct engine *engine, struct point *point, unsigned int index)
{
	const struct choice *choice = &engine->choices[index];
	bool inherit = point->tid >= 0 && point->cpu >= 0;
	bool owner = !point->channel;
	bool carries = point->tracker_fd < 0 && !point->events && !engine->scope.side_by_cpu;
	struct point_event *event = calloc(1, sizeof(*event));
	int ret = -ENOMEM;

	if (!event)
		return ret;
	*event = (struct point_event){.point = point, .choice = index, .owns_ring = owner};
	if (!choice->settled)
		choice_find_id(engine, index);
	if (choice->leader != index)
		event->leader = point_find_event(point, choice->leader);
	ret = open_into_ring(engine, point, event, carries);
	if (ret) {
		free(event);
		return ret;
	}
	ret = sys_id(event->fd, &event->id);
	if (ret)
		engine->choices[index].ioctl_refused = "PERF_EVENT_IOC_ID";
	else
		ret = idmap_set(&engine->ids, event->id, event);
	if (ret) {
		if (owner && point->channel) {
			channel_close(engine, point->channel);
			point->channel = NULL;
		} else {
			engine_close_event(engine, &event->fd);
		}
		free(event);
		return ret;
	}
	event->on_credit = !engine->config.no_credit && !choice->no_credit &&
		attr_fires_by_time(&choice->attr) && !inherit && !carries && !choice->counts_only &&
		!point->flight && !choice->spec.span;
	if (event->on_credit)
		point->channel->n_events++;
	event->next = point->events;
	point->events = event;
	return 0;
}

int point_start_event(struct engine *engine, struct point_event *event)
{
	struct point *point = event->point;
	struct sys_counts clock = {0};
	int ret;

	point_retarget(engine, point);
	if (point->tracker_fd >= 0)
		sys_read(point->tracker_fd, &engine->features, &clock);
	event->clock_ns = clock.enabled_ns;
	event->tracker_ran_ns = clock.running_ns;
	ret = arm(engine, event);
	drop_refused(engine, point);
	return ret;
}

void point_drop_event(struct engine *engine, struct point *point, unsigned int index)
{
	struct point_event **link = &point->events;

	while (*link) {
		struct point_event *event = *link;

		if (event->choice != index) {
			link = &event->next;
			continue;
		}
		if (event->owns_ring) {
			/* Other events use its ring, so it stays open but disabled. */
			sys_disable(event->fd);
			take_credit(event);
			event->dropped = true;
			link = &event->next;
			continue;
		}
		*link = event->next;
		free_event(engine, event);
	}
	point_retarget(engine, point);
}

int point_swap_event(struct engine *engine, struct point *point, unsigned int index)
{
	struct point_event *before = point_find_event(point, index);
	int ret;

	if (!before)
		return -ESRCH;
	if (before->owns_ring || point->on_exec)
		return -EBUSY;
	ret = point_add_event(engine, point, index);
	if (ret)
		return ret;
	take_credit(before);
	sys_disable(before->fd);
	return point_start_event(engine, point->events);
}

void point_drop_swapped(struct engine *engine, struct point *point, unsigned int index)
{
	struct point_event *newest = point_find_event(point, index);
	struct point_event **link = newest ? &newest->next : &point->events;

	while (*link) {
		struct point_event *event = *link;

		if (event->choice != index) {
			link = &event->next;
			continue;
		}
		*link = event->next;
		free_event(engine, event);
	}
	point_retarget(engine, point);
}

/* --- points --- */

static int add_to_list(struct engine *engine, struct point *point)
{
	if (grow_items(&engine->points, &engine->points_capacity, engine->n_points + 1,
		    sizeof(*engine->points)))
		return -ENOMEM;
	point->index = engine->n_points;
	engine->points[engine->n_points++] = point;
	return 0;
}

static int open_tracker(struct engine *engine, struct point *point, struct channel *shared)
{
	bool carries = !engine->scope.side_by_cpu;
	struct perf_event_attr attr;
	struct sys_setup setup = {
		.callchain = engine->config.callchain,
		.fork_records = carries && !point->side,
		.map_records = carries,
		.data_maps = engine->scope.data_maps,
		.inherit = shared && point->tid >= 0,
		.inherit_thread = engine->config.own_threads,
		.on_exec = point->on_exec,
	};

	for (;;) {
		unsigned int order = engine->budget.order;
		int fd, ret;

		setup.wakeup_bytes = engine_watermark(engine);
		sys_dummy(&attr);
		sys_setup(&attr, &engine->features, &setup);
		fd = engine_open_event(engine, &attr, point->tid, point->cpu);
		if (fd < 0)
			return fd;
		point->tracker_fd = fd;
		if (shared) {
			point->channel = shared;
			return sys_set_output(fd, shared->fd);
		}
		ret = channel_open(engine, &point->channel, fd, false, order, point, false);
		if (ret || engine->budget.order >= order)
			return ret;
		/* Its watermark does not fit the smaller ring. */
		channel_close(engine, point->channel);
		point->channel = NULL;
		engine_close_event(engine, &point->tracker_fd);
	}
}

/* Opens a second dummy; its ring wakes on every FORK and EXIT.  Without it these records wait in
 * the samples' ring. */
static void open_fork_ring(struct engine *engine, struct point *point)
{
	struct perf_event_attr attr;
	const struct sys_setup setup = {
		.callchain = engine->config.callchain,
		.fork_records = true,
		.on_exec = point->on_exec,
		.wakeup_bytes = 1,
	};
	int fd;

	if (engine_lockable_pages(engine) < 2) {
		engine->scope.fork_rings = false;
		return;
	}
	sys_dummy(&attr);
	sys_setup(&attr, &engine->features, &setup);
	fd = engine_open_event(engine, &attr, point->tid, point->cpu);
	if (fd < 0)
		return;
	if (channel_open(engine, &point->side, fd, true, 0, point, true)) {
		engine_close_event(engine, &fd);
		return;
	}
	if (!point->on_exec && sys_enable(fd)) {
		channel_close(engine, point->side);
		point->side = NULL;
	}
}

static void free_point(struct engine *engine, struct point *point)
{
	bool own_channel = point->channel && point->channel->point == point;

	while (point->events) {
		struct point_event *event = point->events;

		point->events = event->next;
		free_event(engine, event);
	}
	flight_close_ring(engine, point);
	channel_close(engine, point->side);
	if (own_channel)
		channel_close(engine, point->channel);
	engine_close_event(engine, &point->tracker_fd);
	free(point);
}

static int open_choices(struct engine *engine, struct point *point)
{
	int first_error = 0;

	for (unsigned int i = 0; i < engine->status.n_events; i++) {
		int ret;

		if (!engine->choices[i].open || engine->choices[i].leader != i)
			continue;
		ret = group_open(engine, point, i, false);
		if (!ret)
			continue;
		if (!first_error)
			first_error = ret;
		if (ret == -ESRCH || ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM)
			return ret;
	}
	return point->events || !first_error ? 0 : first_error;
}

int point_open(struct engine *engine, int32_t pid, int32_t tid, int cpu, bool on_exec,
	struct channel *shared, struct point **out)
{
	struct point *point = calloc(1, sizeof(*point));
	int ret = 0;

	*out = NULL;
	engine->budget.ring_error = 0;
	if (!point)
		return -ENOMEM;
	*point = (struct point){
		.pid = pid, .tid = tid, .cpu = cpu, .tracker_fd = -1, .on_exec = on_exec};
	if (engine->scope.fork_rings && engine->scope.trackers && tid >= 0 && !shared)
		open_fork_ring(engine, point);
	if (engine->scope.trackers)
		ret = open_tracker(engine, point, shared);
	else
		point->channel = shared;
	if (!ret && engine->flight.on)
		ret = flight_open_ring(engine, point);
	if (!ret)
		ret = open_choices(engine, point);
	if (!ret)
		ret = add_to_list(engine, point);
	if (ret) {
		free_point(engine, point);
		return ret;
	}
	if (point->tracker_fd >= 0 && !on_exec)
		ret = sys_enable(point->tracker_fd);
	for (struct point_event *event = point->events; event; event = event->next) {
		if (event->on_credit)
			retarget_event(engine, event);
		/* The leader, opened first, is last in the list, so its group starts as a unit. */
		if (ret)
			refuse_to_run(engine, event, -ret);
		else
			(void)arm(engine, event);
	}
	drop_refused(engine, point);
	*out = point;
	return 0;
}

void point_close(struct engine *engine, struct point *point)
{
	struct point *last;

	engine_read_point(engine, point);
	flight_keep(engine, point);
	last = engine->points[--engine->n_points];
	engine->points[point->index] = last;
	last->index = point->index;
	free_point(engine, point);
}
