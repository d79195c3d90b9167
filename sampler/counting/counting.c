// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * counting.c - counts a target from start to end.
 *
 * It finds tasks and CPUs, starts, reads and stops cells, and notices ends.
 */
#include "sampler/base/grow.h"
#include "sampler/counting/private.h"

#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/events/cgroup.h"
#include "sampler/kernel/sys.h"
#include "sampler/machine/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GROUP_HEAD 3u /* words before the members: number of members, time enabled, time running */
#define GROUP_TRIES 3 /* tries of a read while a group member is created or exits */
/* ns; two clocks of a task may differ by this, since they are switched one by one */
#define PUT_OUT_NS 1000000u
#define PUT_OUT_SHARE 100u
#define PIDFD_OF_THREAD O_EXCL /* PIDFD_THREAD, since Linux 6.9 */

/* --- finding tasks --- */

static int add_task(struct counting *counting, int32_t pid, int32_t tid, bool single, bool gone)
{
	struct place *place;

	if (grow_items(&counting->tasks, &counting->room_tasks, counting->n_tasks + 1,
		    sizeof(*counting->tasks)))
		return -ENOMEM;
	place = &counting->tasks[counting->n_tasks++];
	*place = (struct place){.pid = pid, .tid = tid, .cpu = -1, .single = single, .gone = gone};
	return 0;
}

static int add_process(struct counting *counting, int32_t pid)
{
	int32_t *tids;
	size_t n;
	int ret = proc_threads(pid, &tids, &n);

	if (ret == -ESRCH || ret == -ENOENT)
		return add_task(counting, pid, pid, false, true);
	for (size_t i = 0; !ret && i < n; i++)
		ret = add_task(counting, pid, tids[i], false, false);
	free(tids);
	return ret;
}

static int add_thread(struct counting *counting, int32_t tid)
{
	int32_t pid;
	int ret = proc_tgid(tid, &pid);

	if (ret == -ESRCH || ret == -ENOENT)
		return add_task(counting, tid, tid, true, true);
	return ret ? ret : add_task(counting, pid, tid, true, false);
}

static int find_tasks(struct counting *counting, const struct engine_target *target)
{
	int ret = 0;

	if (engine_target_is_command(target))
		return add_task(counting, counting->launch.pid, counting->launch.pid, false, false);
	for (size_t i = 0; i < target->n_pids && !ret; i++)
		ret = add_process(counting, target->pids[i]);
	for (size_t i = 0; i < target->n_tids && !ret; i++)
		ret = add_thread(counting, target->tids[i]);
	return ret;
}

/* --- watching for ends --- */

static void watch(struct counting *counting, int fd)
{
	struct epoll_event want = {.events = EPOLLIN};

	/* A task that cannot be watched is polled by has_ended(). */
	(void)epoll_ctl(counting->epoll_fd, EPOLL_CTL_ADD, fd, &want);
}

static int find_roots(struct counting *counting, const struct engine_target *target)
{
	size_t n = target->n_pids + target->n_tids;

	counting->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (counting->epoll_fd < 0)
		return -errno;
	if (counting->launch.pid_fd >= 0)
		watch(counting, counting->launch.pid_fd);
	if (!n)
		return 0;
	counting->roots = calloc(n, sizeof(*counting->roots));
	if (!counting->roots)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		bool single = i >= target->n_pids;
		struct root *root = &counting->roots[counting->n_roots++];

		root->pid = single ? target->tids[i - target->n_pids] : target->pids[i];
		root->fd = (int)syscall(
			SYS_pidfd_open, root->pid, single ? (unsigned int)PIDFD_OF_THREAD : 0u);
		if (root->fd >= 0)
			watch(counting, root->fd);
		else
			root->ended = errno == ESRCH;
	}
	return 0;
}

static bool has_ended(const struct root *root)
{
	struct pollfd poll_fd = {root->fd, POLLIN, 0};
	struct proc_process process;
	int ret;

	if (root->fd >= 0)
		return poll(&poll_fd, 1, 0) == 1;
	ret = proc_read(root->pid, &process);
	return ret == -ESRCH || (!ret && (process.state == 'Z' || process.state == 'X'));
}

/* No event reports the removal of a cgroup, so this polls the directories. */
static bool cgroups_alive(const struct counting *counting, bool *told)
{
	const struct engine_target *target = &counting->target;

	*told = false;
	for (size_t i = 0; i < target->n_cgroups; i++) {
		uint64_t inode;
		int ret = cgroup_identity(target->cgroups[i].path, &inode);

		if (ret ? ret != -ENOENT : inode == counting->cgroup_inodes[i])
			return true;
	}
	return false;
}

bool counting_alive(struct counting *counting, bool *told)
{
	bool alive = false;
	int status;

	*told = true;
	if (counting->target.command) {
		*told = counting->launch.pid_fd >= 0;
		if (!counting->command_ended && launch_ended(&counting->launch, &status)) {
			counting->command_ended = true;
			counting->command_status = status;
			/* A stopwatch command ends, but its targets are counted until
			 * counting_stop(). */
			if (!counting->target.stopwatch)
				counting->ended_ns = sys_now_ns();
		}
		if (counting->command_ended || !counting->target.stopwatch)
			return !counting->command_ended;
	}
	if (counting->target.n_cgroups)
		return cgroups_alive(counting, told);
	if (!counting->n_roots)
		return true;
	for (size_t i = 0; i < counting->n_roots; i++) {
		struct root *root = &counting->roots[i];

		if (!root->ended && has_ended(root)) {
			root->ended = true;
			if (root->fd >= 0)
				close(root->fd);
			root->fd = -1;
		}
		alive |= !root->ended;
		*told &= root->ended || root->fd >= 0;
	}
	return alive;
}

/* --- start and stop --- */

static int copy_array(const void **to, const void *from, size_t n, size_t size)
{
	*to = NULL;
	if (!n)
		return 0;
	*to = malloc(n * size);
	if (!*to)
		return -ENOMEM;
	memcpy((void *)(uintptr_t)*to, from, n * size);
	return 0;
}

static int take_events(struct counting *counting, const struct counting_config *config)
{
	const struct engine_target *target = &config->target;
	struct event_spec *specs;
	int ret = cgroup_spread(config->events, config->n_events, target->cgroups,
		target->n_cgroups, COUNTING_EVENTS_MAX, &specs, &counting->n_events);

	if (ret)
		return ret;
	counting->events = calloc(counting->n_events, sizeof(*counting->events));
	for (size_t i = 0; counting->events && i < counting->n_events; i++)
		counting->events[i].spec = specs[i];
	free(specs);
	return counting->events ? 0 : -ENOMEM;
}

static int take_cgroups(struct counting *counting, const struct engine_target *target)
{
	size_t n = target->n_cgroups;
	int ret = copy_array((const void **)&counting->target.cgroups, target->cgroups, n,
		sizeof(*target->cgroups));

	if (ret || !n)
		return ret;
	counting->cgroup_inodes = calloc(n, sizeof(*counting->cgroup_inodes));
	if (!counting->cgroup_inodes)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		(void)cgroup_identity(target->cgroups[i].path, &counting->cgroup_inodes[i]);
	return 0;
}

static int prepare(struct counting *counting, const struct counting_config *config)
{
	const struct engine_target *target = &config->target;
	int ret;

	counting->target = *target;
	counting->target.pids = counting->target.tids = NULL;
	counting->target.cgroups = NULL;
	counting->target.n_pids = counting->target.n_tids = 0;
	ret = copy_array((const void **)&counting->target.cpus, target->cpus, target->n_cpus,
		sizeof(*target->cpus));
	if (ret)
		return ret;
	counting->by_cpu = config->by_cpu;
	counting->no_inherit = config->no_inherit;
	counting->own_threads = config->own_threads;
	counting->until_exec = config->until_exec;
	ret = take_events(counting, config);
	if (!ret)
		ret = take_cgroups(counting, target);
	if (ret)
		return ret;
	counting->words = calloc(GROUP_HEAD + 2 * counting->n_events, sizeof(*counting->words));
	if (!counting->words)
		return -ENOMEM;
	counting->n_words = GROUP_HEAD + 2 * counting->n_events;
	return proc_online_cpus(&counting->cpus, &counting->n_cpus);
}

int counting_open(
	struct counting **out, const struct counting_config *config, struct engine_failure *failure)
{
	const struct engine_target *target = &config->target;
	struct counting *counting = calloc(1, sizeof(*counting));
	int ret;

	*out = NULL;
	*failure = (struct engine_failure){
		.what = FAIL_SYSTEM, .pid = -1, .cpu = -1, .asked.counted = true};
	if (!counting || !config->n_events) {
		free(counting);
		failure->error = config->n_events ? ENOMEM : EINVAL;
		return -failure->error;
	}
	counting->epoll_fd = -1;
	counting->launch = (struct launch){.pid_fd = -1, .go_fd = -1, .error_fd = -1};
	inherited_init(&counting->inherited);
	ret = prepare(counting, config);
	if (!ret && target->command) {
		ret = launch_fork(&counting->launch, target->command, target->command_output_fd);
		failure->what = ret ? FAIL_COMMAND : FAIL_SYSTEM;
	}
	if (!ret)
		ret = find_tasks(counting, target);
	if (!ret)
		ret = find_roots(counting, target);
	failure->error = -ret;
	if (!ret)
		ret = counting_open_all(counting, failure);
	if (ret) {
		counting_close(counting);
		return ret;
	}
	*out = counting;
	return 0;
}

/* One call switches all events of this thread, so they count for the same time. */
static bool switch_together(bool on)
{
	return !prctl(on ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0);
}

/* Enables the events that no exec enables. */
static int enable_all(struct counting *counting, struct engine_failure *failure)
{
	const bool is_command = engine_target_is_command(&counting->target);
	int ret = 0;

	if (!is_command && switch_together(true))
		return 0;
	for (size_t i = 0; i < counting->n_cells && !ret; i++)
		if (counting->cells[i].members && (!is_command || counting->cells[i].tid < 0))
			ret = counting_enable(counting, &counting->cells[i], failure);
	return ret;
}

int counting_start(struct counting *counting, struct engine_failure *failure)
{
	const bool is_command = engine_target_is_command(&counting->target);
	int ret;

	counting->started = true;
	if (!is_command)
		counting->started_ns = sys_now_ns();
	ret = enable_all(counting, failure);
	if (ret)
		return ret;
	if (is_command)
		counting->started_ns = sys_now_ns();
	if (!counting->target.command)
		return 0;
	ret = launch_go(&counting->launch);
	if (ret)
		*failure = (struct engine_failure){
			.what = FAIL_COMMAND, .error = -ret, .pid = -1, .cpu = -1};
	return ret;
}

static void disable_all(const struct counting *counting)
{
	if (switch_together(false))
		return;
	for (size_t i = 0; i < counting->n_cells; i++) {
		const struct counting_cell *cell = &counting->cells[i];

		if (cell->members)
			(void)sys_disable(cell->fd);
		if (cell->members && cell->clock_fd >= 0)
			(void)sys_disable(cell->clock_fd);
	}
}

void counting_stop(struct counting *counting)
{
	disable_all(counting);
	if (!counting->ended_ns)
		counting->ended_ns = sys_now_ns();
}

void counting_close(struct counting *counting)
{
	if (!counting)
		return;
	for (size_t i = 0; i < counting->n_cells; i++)
		counting_close_cell(&counting->cells[i]);
	inherited_fini(&counting->inherited);
	for (size_t i = 0; i < counting->n_roots; i++)
		if (counting->roots[i].fd >= 0)
			close(counting->roots[i].fd);
	launch_close(&counting->launch);
	if (counting->epoll_fd >= 0)
		close(counting->epoll_fd);
	free(counting->roots);
	free(counting->cells);
	free(counting->words);
	free(counting->tasks);
	free(counting->cpus);
	free(counting->events);
	free((void *)(uintptr_t)counting->target.cpus);
	free((void *)(uintptr_t)counting->target.cgroups);
	free(counting->cgroup_inodes);
	free(counting);
}

/* --- reading --- */

uint64_t counting_scale(uint64_t value, uint64_t enabled_ns, uint64_t running_ns)
{
	unsigned __int128 product = (unsigned __int128)value * enabled_ns;

	if (!running_ns)
		return 0;
	if (running_ns >= enabled_ns)
		return value;
	product = (product + running_ns / 2) / running_ns;
	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

static void set_error(struct counting_cell *cells, size_t n)
{
	for (size_t i = 0; i < n; i++)
		cells[i].in_error = true;
}

int counting_parse_group(
	struct counting_cell *cells, size_t n, const uint64_t *words, size_t n_words)
{
	int ret = 0;

	if (!n_words)
		return -EIO;
	if (n_words < GROUP_HEAD || !words[0] || words[0] > (n_words - GROUP_HEAD) / 2)
		return -EBADMSG;
	for (size_t i = 0; i < n; i++) {
		size_t at = 0;

		while (at < words[0] && words[GROUP_HEAD + 2 * at + 1] != cells[i].id)
			at++;
		if (at == words[0]) {
			ret = -ESTALE;
			continue;
		}
		cells[i].value = words[GROUP_HEAD + 2 * at];
		cells[i].enabled_ns = words[1];
		cells[i].running_ns = words[2];
	}
	return ret;
}

static int read_group(struct counting *counting, struct counting_cell *cells)
{
	ssize_t len = 0;

	for (int i = 0; i < GROUP_TRIES; i++) {
		len = read(cells->fd, counting->words, counting->n_words * sizeof(uint64_t));
		/* ECHILD: the task's group is incomplete at the moment. */
		if (len >= 0 || (errno != EINTR && errno != ECHILD))
			break;
	}
	if (len < 0)
		return -errno;
	return counting_parse_group(
		cells, cells->members, counting->words, (size_t)len / sizeof(uint64_t));
}

/* The kernel splits a group when its CPU goes offline; each member is then read on its own. */
static int read_members(struct counting *counting, struct counting_cell *cells)
{
	uint32_t n = cells->members;
	int ret = 0;

	for (uint32_t i = 0; i < n; i++) {
		int error;

		cells[i].members = 1;
		error = read_group(counting, &cells[i]);
		ret = ret ? ret : error;
	}
	return ret;
}

static int read_one(struct counting_cell *cell)
{
	static const struct sys_features plain = {0};
	struct sys_counts counts;
	int ret = sys_read(cell->fd, &plain, &counts);

	if (ret)
		return ret == -ENODATA ? -EIO : ret;
	cell->value = counts.value;
	cell->enabled_ns = counts.enabled_ns;
	cell->running_ns = counts.running_ns;
	return 0;
}

bool counting_was_put_out(const struct counting_cell *cell, uint64_t clock_enabled_ns)
{
	uint64_t slack_ns = PUT_OUT_NS + clock_enabled_ns / PUT_OUT_SHARE;

	return clock_enabled_ns > cell->enabled_ns &&
		clock_enabled_ns - cell->enabled_ns > slack_ns;
}

/* Limits the enabled time of a task on one CPU to its time on that CPU. */
static void take_clock(const struct counting *counting, struct counting_cell *cells)
{
	static const struct sys_features plain = {0};
	bool pinned = counting->events[cells->event].spec.attr.pinned;
	uint64_t here_ns = cells->running_ns;
	struct sys_counts clock = {0};

	if (cells->tid < 0)
		return;
	if (cells->clock_fd >= 0 && !sys_read(cells->clock_fd, &plain, &clock))
		here_ns = clock.running_ns;
	/* read(2) reports a pinned event's error state only while the task lives. */
	if (pinned && counting_was_put_out(cells, clock.enabled_ns)) {
		set_error(cells, cells->members);
		return;
	}
	if (cells->cpu < 0)
		return;
	for (uint32_t i = 0; i < cells->members; i++) {
		/* The clock is read a moment later and may have advanced. */
		if (cells[i].enabled_ns > here_ns)
			cells[i].enabled_ns = here_ns;
		if (cells[i].enabled_ns < cells[i].running_ns)
			cells[i].enabled_ns = cells[i].running_ns;
	}
}

int counting_read(struct counting *counting)
{
	int first = 0;

	for (size_t i = 0; i < counting->n_cells; i++) {
		struct counting_cell *cell = &counting->cells[i];
		int ret;

		if (!cell->members || cell->in_error)
			continue;
		ret = cell->by_group ? read_group(counting, cell) : read_one(cell);
		if (ret == -ESTALE)
			ret = read_members(counting, cell);
		if (ret == -EIO)
			set_error(cell, cell->members);
		else if (ret && !first)
			first = ret;
		else if (!ret)
			take_clock(counting, cell);
	}
	return first;
}

/* --- CPUs that come online --- */

static bool is_listed(const int *cpus, size_t n, int cpu)
{
	for (size_t i = 0; i < n; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

static bool counts_on_cpus(const struct counting *counting)
{
	for (size_t i = 0; i < counting->n_events; i++)
		if (counting_is_cpu_wide(counting, &counting->events[i].spec))
			return true;
	return false;
}

int counting_take_cpus(struct counting *counting)
{
	int *online, ret;
	size_t n;

	if (!counts_on_cpus(counting))
		return 0;
	ret = proc_online_cpus(&online, &n);
	if (ret)
		return ret;
	for (size_t i = 0; i < n; i++) {
		int opened;

		if (is_listed(counting->cpus, counting->n_cpus, online[i]))
			continue;
		opened = counting_open_cpu(counting, online[i]);
		if (opened && !ret)
			ret = opened;
	}
	free(counting->cpus);
	counting->cpus = online;
	counting->n_cpus = n;
	return ret;
}

/* --- accessors --- */

int counting_fd(const struct counting *counting)
{
	return counting->epoll_fd;
}

bool counting_command_ended(const struct counting *counting, int *status)
{
	*status = counting->command_status;
	return counting->command_ended;
}

int32_t counting_command_pid(const struct counting *counting)
{
	return counting->launch.pid;
}

int counting_signal_command(struct counting *counting, int signal)
{
	return launch_signal(&counting->launch, signal);
}

uint64_t counting_started_ns(const struct counting *counting)
{
	return counting->started_ns;
}

uint64_t counting_ended_ns(const struct counting *counting)
{
	return counting->ended_ns;
}

const struct counting_event *counting_events(const struct counting *counting, size_t *n)
{
	*n = counting->n_events;
	return counting->events;
}

const struct counting_cell *counting_cells(const struct counting *counting, size_t *n)
{
	*n = counting->n_cells;
	return counting->cells;
}
