/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * attach.c - opens events on processes, thread by thread.  Runs in the sampling thread.
 *
 * Threads to open wait in two queues: new threads first, then those found by a scan.  They are
 * opened in short bursts between drains, so a large process never blocks draining.  A process is
 * attached when a scan of its threads finds no new one.
 */
#include "sampler/base/grow.h"
#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/control/note.h"
#include "sampler/engine/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BURST_NS (5 * NS_PER_MS)
#define SCANS_MAX 100

/* --- queues --- */

static int queue_put(struct tid_queue *queue, int32_t tid)
{
	if (queue->head && queue->head == queue->n)
		queue->head = queue->n = 0;
	if (queue->head > queue->capacity / 2) {
		/* Compacts a queue that never gets empty, so that it does not grow forever. */
		queue->n -= queue->head;
		memmove(queue->tids, queue->tids + queue->head, queue->n * sizeof(*queue->tids));
		queue->head = 0;
	}
	if (grow_items(&queue->tids, &queue->capacity, queue->n + 1, sizeof(*queue->tids)))
		return -ENOMEM;
	queue->tids[queue->n++] = tid;
	return 0;
}

static bool queue_take(struct tid_queue *queue, int32_t *tid)
{
	if (queue->head == queue->n)
		return false;
	*tid = queue->tids[queue->head++];
	return true;
}

void attach_enqueue(struct engine *engine, struct tid_queue *queue, struct follow_task *task)
{
	if (task->point || task->covered || task->queued || engine->status.scope == SCOPE_CPU)
		return;
	task->queued = !queue_put(queue, task->tid);
	if (task->queued)
		engine->status.attaching_total++;
	else
		engine->status.records_dropped++; /* the thread stays without events */
}

/* --- jobs --- */

struct job *attach_find_job(struct engine *engine, int32_t pid)
{
	struct job *job = engine->attach.jobs;

	while (job && job->pid != pid)
		job = job->next;
	return job;
}

static struct job *add_job(struct engine *engine, int32_t pid, int32_t tid, bool named)
{
	struct job **end = &engine->attach.jobs;
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	*job = (struct job){.pid = pid, .tid = tid, .named = named};
	while (*end)
		end = &(*end)->next;
	*end = job;
	return job;
}

void attach_drop_job(struct engine *engine, struct job *job)
{
	struct job **link = &engine->attach.jobs;

	while (*link != job)
		link = &(*link)->next;
	*link = job->next;
	free(job);
}

void target_rescan(struct engine *engine, int32_t pid)
{
	if (!attach_find_job(engine, pid))
		add_job(engine, pid, -1, false);
}

/* --- opening one thread --- */

void attach_note_fd_limit(struct engine *engine, int error)
{
	if (engine->attach.fd_limit_noted)
		return;
	engine->attach.fd_limit_noted = true;
	engine_note(engine, NOTE_FD_LIMIT, -error, 0, engine->budget.fd_limit, NULL);
}

/* Saves descriptors.  Returns true if the caller should try the thread again. */
bool attach_economize(struct engine *engine)
{
	if (engine->scope.fork_rings) {
		engine->scope.fork_rings = false;
		return true;
	}
	/* A ring that overwrites itself must not carry side-band records. */
	if (engine->scope.trackers && !engine->flight.on) {
		engine->scope.trackers = false;
		return true;
	}
	return false;
}

static int open_points(struct engine *engine, struct follow_task *task)
{
	struct point *point = NULL;
	int ret;

	if (engine->status.scope == SCOPE_INHERIT) {
		ret = scope_open_inherited(engine, task->process->pid, task->tid, false);
		task->covered = !ret;
		return ret;
	}
	do
		ret = point_open(engine, task->process->pid, task->tid, -1, false, NULL, &point);
	while (ret == -EMFILE && attach_economize(engine));
	task->point = point;
	if (!ret)
		engine->status.ring_pages = (uint32_t)(ring_size(point->channel->ring) / 4096);
	return ret;
}

/* Returns whether the process is alive although the kernel reported its exit.  The kernel also
 * reports an exit when it removes our events from a task that executed another user's program.  A
 * task that really exits has already released its memory, and with it its arguments. */
static bool lives_on(const struct follow_process *process)
{
	struct proc_process info;

	return !proc_read(process->pid, &info) && info.state != 'Z' && info.state != 'X' &&
		info.start_ticks == process->start_ticks && info.cmdline[0];
}

static void end_process(struct engine *engine, struct follow_process *process)
{
	engine->followed_changed = true;
	if (!process->root)
		return;
	if (process->start_ticks && lives_on(process))
		engine_note(engine, NOTE_ATTACH_FAILED, EACCES, process->pid, 0, NULL);
	else
		engine_note(engine, NOTE_TARGET_EXITED, 0, process->pid, 0, NULL);
}

void attach_end_task(struct engine *engine, struct follow_task *task, uint64_t time_ns)
{
	const struct record exit = {
		.type = PERF_RECORD_EXIT,
		.id.time_ns = sys_now_ns(),
		.task = {.pid = (uint32_t)task->process->pid, .tid = (uint32_t)task->tid},
	};
	struct follow_process *ended;

	/* Replaces a missing EXIT record; the flight recorder may still hold the task's samples. */
	if (!engine->flight.on)
		ingest_record(&engine->ingest, &exit, 0);
	span_end_task(engine, task->tid, time_ns);
	ended = follow_exit(&engine->follow, task, time_ns);
	if (ended)
		end_process(engine, ended);
}

static void leave_out(struct engine *engine, struct follow_task *task)
{
	follow_leave_out(&engine->follow, task, true);
	engine->attach.left_out_fds = engine->budget.fds;
}

void attach_left_out(struct engine *engine)
{
	struct follow_task *task;
	size_t position = 0;
	uint64_t freed;

	if (!engine->follow.left_out || engine->budget.fds >= engine->attach.left_out_fds)
		return;
	freed = engine->attach.left_out_fds - engine->budget.fds;
	while (freed && (task = idmap_next(&engine->follow.tasks, &position))) {
		if (!task->left_out)
			continue;
		attach_enqueue(engine, &engine->attach.queue, task);
		freed--;
	}
}

/* Plans the ring size for a new thread, which no scan has planned.  While threads of a scan wait,
 * the size may only shrink. */
static void plan_ring(struct engine *engine)
{
	size_t born = engine->attach.born.n - engine->attach.born.head;
	size_t found = engine->attach.queue.n - engine->attach.queue.head;
	unsigned int order = order_for_tasks(engine, 1 + born + found);

	if (engine->status.scope != SCOPE_TASK)
		return;
	if (order < engine->budget.order || (!found && !engine->budget.order_refused))
		engine->budget.order = order;
}

static void charge(struct engine *engine, struct follow_process *process, uint64_t ran_ns)
{
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (engine->choices[i].open && choice_ran(engine, i))
			coverage_add_late(&engine->choices[i].coverage, ran_ns);
	process->counted_ns += ran_ns;
}

/* Accounts the time that a task ran without events: ran_ns for sure, and at most most_ns. */
static void add_late(
	struct engine *engine, const struct follow_task *task, uint64_t ran_ns, uint64_t most_ns)
{
	if (engine->paused || engine->status.scope != SCOPE_TASK)
		return;
	charge(engine, task->process, ran_ns);
	task->process->missed_ns += most_ns - ran_ns;
}

static uint64_t lifetime_ns(const struct follow_task *task, uint64_t now_ns)
{
	return task->born_ns && now_ns > task->born_ns ? now_ns - task->born_ns : 0;
}

void attach_miss(struct engine *engine, const struct follow_task *task, uint64_t end_ns)
{
	add_late(engine, task, 0, lifetime_ns(task, end_ns));
}

static void was_late(struct engine *engine, const struct follow_task *task)
{
	const uint64_t now_ns = sys_now_ns();
	struct proc_thread thread;

	if (engine->status.scope != SCOPE_TASK || !task->born_ns)
		return;
	if (proc_read_thread(task->tid, &thread) || !thread.has_times)
		attach_miss(engine, task, now_ns);
	else
		add_late(engine, task, thread.cpu_ns,
			coverage_ran_ns(thread.state == 'R', thread.cpu_ns, thread.wait_ns,
				lifetime_ns(task, now_ns)));
}

/* Returns the CPU time of a process, or 0 if it is unknown. */
static uint64_t find_cpu_ns(const struct engine *engine, const struct follow_process *process)
{
	if (process->pid == engine->status.command_pid && engine->status.command_ended)
		return engine->launch.cpu_ns;
	return sys_cpu_ns(process->pid);
}

/* Points without samples are not read at each tick. */
static void read_tasks(struct engine *engine, const struct follow_process *process)
{
	for (const struct follow_task *task = process->first_task; task; task = task->next)
		if (task->point && !task->point->on_exec)
			engine_read_point(engine, task->point);
}

/* The clocks of tasks and of their process differ by some thousandths.  Each comparison therefore
 * covers only the time since the last one. */
static void settle_missed(struct engine *engine, struct follow_process *process)
{
	uint64_t cpu_ns;

	read_tasks(engine, process);
	cpu_ns = find_cpu_ns(engine, process);
	charge(engine, process,
		coverage_missed_ns(process->missed_ns, cpu_ns, process->counted_ns));
	if (cpu_ns)
		process->counted_ns = cpu_ns;
	process->missed_ns = 0;
}

void attach_settle_missed(struct engine *engine)
{
	struct follow_process *process;
	size_t position = 0;

	while ((process = idmap_next(&engine->follow.processes, &position))) {
		if (process->missed_ns)
			settle_missed(engine, process);
		else if (engine->paused)
			process->counted_ns = find_cpu_ns(engine, process);
	}
}

static void open_task(struct engine *engine, int32_t tid, bool born)
{
	struct follow_task *task = follow_task(&engine->follow, tid);
	struct job *job;
	bool is_leader;
	int ret;

	engine->status.attaching_done++;
	/* The task may have ended while it waited. */
	if (!task || !task->queued)
		return;
	task->queued = false;
	if (born || task->left_out)
		plan_ring(engine);
	ret = open_points(engine, task);
	job = attach_find_job(engine, task->process->pid);
	is_leader = task->tid == task->process->pid;
	if (!ret) {
		follow_leave_out(&engine->follow, task, false);
		/* If every event was refused, the tracker alone is no profile. */
		engine->targets.had_any |= choice_count_open(engine) > 0;
		if (job)
			job->opened++;
		if (born) {
			was_late(engine, task);
			span_born(engine, task);
		}
		/* Finds mappings and children from before its side-band was on. */
		if (born && !engine->scope.side_by_cpu && engine->status.scope == SCOPE_TASK) {
			if (is_leader)
				tasks_load_process(engine->ingest.tasks, task->process->pid);
			target_rescan(engine, task->process->pid);
		}
		return;
	}
	if (job)
		job->error = -ret;
	switch (-ret) {
	case ESRCH:
		engine->status.tasks_missed += born;
		engine->targets.window_missed += born;
		/* Its EXIT record has the time of its end. */
		if (born && engine->scope.side_by_cpu)
			task->gone_ns = sys_now_ns();
		else if (born)
			attach_miss(engine, task, sys_now_ns());
		if (!born || !engine->scope.side_by_cpu)
			attach_end_task(engine, task, engine->round.begun_ns);
		break;
	case EMFILE:
	case ENFILE:
		leave_out(engine, task);
		attach_note_fd_limit(engine, ret);
		break;
	case ENOBUFS:
		leave_out(engine, task);
		if (!engine->attach.mlock_noted)
			engine_note(engine, NOTE_MLOCK_LIMIT, EPERM, 0, engine->limits.memlock_soft,
				NULL);
		engine->attach.mlock_noted = true;
		break;
	default:
		/* It was attached before and is now inaccessible: it executed another user's
		 * program. */
		if (!job)
			engine_note(engine, NOTE_ATTACH_FAILED, -ret, task->process->pid, 0, NULL);
		break;
	}
}

/* --- scans --- */

static uint64_t ticks_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * (uint64_t)sysconf(_SC_CLK_TCK) +
		(uint64_t)now.tv_nsec / (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void fail_job(struct engine *engine, struct job *job, int error)
{
	int32_t pid = job->tid >= 0 ? job->tid : job->pid;

	if (job->named) {
		/* A refused event already has its own note. */
		if (choice_count_open(engine))
			engine_fail(engine, error == ENOBUFS ? FAIL_MMAP : FAIL_TARGET,
				error == ENOBUFS ? EPERM : error, &engine->choices[0].attr,
				engine->status.events[0].name, pid, -1);
		engine_note(engine, NOTE_ATTACH_FAILED, error, pid, 0, NULL);
	}
	attach_drop_job(engine, job);
}

/* Returns whether any of its threads is sampled, since an earlier job may have opened them. */
static bool is_sampled(const struct follow_process *process)
{
	const struct follow_task *task = process ? process->first_task : NULL;

	while (task && !task->point && !task->covered)
		task = task->next;
	return task != NULL;
}

static void finish_job(struct engine *engine, struct job *job)
{
	struct follow_process *process = follow_process(&engine->follow, job->pid);
	bool has_events = engine->status.scope == SCOPE_CPU || job->opened || !job->named ||
		is_sampled(process);

	if (!process || process->ended_ns || !has_events || !choice_count_open(engine)) {
		int error = job->error ? job->error : ESRCH;

		if (process && job->named && !has_events) {
			follow_remove(&engine->follow, process);
			engine->followed_changed = true;
		}
		fail_job(engine, job, error);
		return;
	}
	engine->targets.had_any = true;
	if (!engine->scope.side_by_cpu && engine->status.scope != SCOPE_CPU)
		tasks_load_process(engine->ingest.tasks, job->pid);
	if (job->named)
		engine_note(engine, NOTE_ATTACHED, 0, job->pid, process->tasks, NULL);
	attach_drop_job(engine, job);
}

/* Plans n more threads: a feature without room for all is given up for all. */
void attach_plan(struct engine *engine, size_t n)
{
	unsigned int events = choice_count_open(engine);
	uint64_t pages = engine_lockable_pages(engine);

	if (engine->status.scope != SCOPE_TASK)
		return;
	if (engine->config.scope == SCOPE_AUTO &&
		(pages / 2 < n || !engine_fds_left(engine, n * events)) &&
		(engine->scope.cpu_wide ||
			(!engine->flight.on &&
				engine_fds_left(engine, n * events * engine->scope.n_cpus)))) {
		if (!engine_fds_left(engine, n * events))
			attach_note_fd_limit(engine, -EMFILE);
		scope_escalate(engine);
		return;
	}
	if (engine->scope.fork_rings &&
		(pages / 4 < n || !engine_fds_left(engine, n * (events + 2))))
		engine->scope.fork_rings = false;
	if (engine->scope.trackers && !engine->flight.on &&
		!engine_fds_left(engine, n * (events + 1)))
		engine->scope.trackers = false;
	engine->budget.order = order_for_tasks(engine, n);
	engine->budget.order_refused = false;
	if (!engine->budget.ring_order_noted)
		engine->budget.ring_order_noted = engine->budget.order;
}

static bool is_detached(const struct engine *engine, const struct proc_process *info)
{
	const struct detached *detached =
		idmap_find(&engine->targets.detached, (uint32_t)info->pid);

	return detached && detached->start_ticks == info->start_ticks;
}

/* Adds children of a followed process that FORK records did not report. */
static void scan_children(struct engine *engine, const struct follow_process *process)
{
	int32_t *pids;
	size_t n;

	if (engine->config.own_threads || proc_children(process->pid, &pids, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		const struct follow_process *known = follow_process(&engine->follow, pids[i]);
		struct follow_process *child;
		struct proc_process info;

		if ((known && !known->ended_ns) || proc_read(pids[i], &info) ||
			info.start_ticks < process->since_ticks || is_detached(engine, &info))
			continue;
		child = follow_add_process(&engine->follow, pids[i], true);
		if (!child)
			break;
		child->start_ticks = info.start_ticks;
		engine->followed_changed = true;
		tasks_load_process(engine->ingest.tasks, pids[i]);
		target_rescan(engine, pids[i]);
	}
	free(pids);
}

static void forget_process(struct engine *engine, struct follow_process *process)
{
	for (struct follow_task *task = process->first_task; task; task = task->next) {
		tasks_forget_thread(engine->ingest.tasks, task->tid);
		if (task->point)
			task->point->doomed = engine->round.have_doomed = true;
	}
	follow_remove(&engine->follow, process);
	engine->followed_changed = true;
}

static int first_scan(struct engine *engine, struct job *job, struct follow_process **process)
{
	struct proc_process info;
	bool whole;
	int ret;

	/* Drain first, so the end of an earlier process with this pid is not taken for its end. */
	if (job->named)
		engine_round(engine, true, false);
	ret = proc_read(job->pid, &info);
	if (ret)
		return ret;
	/* A leader may end before its threads do. */
	if ((info.state == 'Z' && info.threads < 2) || info.state == 'X')
		return -EINVAL;
	*process = follow_process(&engine->follow, job->pid);
	if (*process && !(*process)->ended_ns && (*process)->start_ticks &&
		(*process)->start_ticks != info.start_ticks)
		forget_process(engine, *process); /* the pid was reused */
	*process = follow_process(&engine->follow, job->pid);
	whole = *process && (*process)->whole;
	*process = follow_add_process(&engine->follow, job->pid, job->tid < 0);
	if (!*process)
		return -ENOMEM;
	(*process)->start_ticks = info.start_ticks;
	engine->followed_changed = true;
	if (job->named) {
		if (!(*process)->first_task || (!whole && job->tid < 0)) {
			read_tasks(engine, *process);
			(*process)->counted_ns = sys_cpu_ns(job->pid);
		}
		(*process)->root = true;
		free(idmap_remove(&engine->targets.detached, (uint32_t)job->pid));
		(*process)->since_ticks = ticks_now();
		tasks_load_process(engine->ingest.tasks, job->pid);
	}
	return 0;
}

/* Ends threads that have no events, since no record reports their exit. */
static void end_missing(
	struct engine *engine, struct follow_process *process, const int32_t *tids, size_t n)
{
	struct follow_task *task = process->first_task;

	while (engine->follow.left_out && task) {
		struct follow_task *next = task->next;
		size_t i = 0;

		while (task->left_out && i < n && tids[i] != task->tid)
			i++;
		if (task->left_out && i == n)
			attach_end_task(engine, task, engine->round.begun_ns);
		task = next;
	}
}

static int scan_threads(
	struct engine *engine, struct job *job, struct follow_process *process, size_t *found)
{
	int32_t *tids = NULL;
	size_t n = 1, kept = 0;
	int ret = 0;

	if (job->tid < 0)
		ret = proc_threads(job->pid, &tids, &n);
	else if (!(tids = malloc(sizeof(*tids))))
		ret = -ENOMEM;
	else
		tids[0] = job->tid;
	if (ret)
		return ret;
	if (job->tid < 0)
		end_missing(engine, process, tids, n);
	for (size_t i = 0; i < n; i++)
		if (!follow_task(&engine->follow, tids[i]))
			tids[kept++] = tids[i];
	for (size_t i = 0; i < kept && !ret; i++)
		if (!follow_add_task(&engine->follow, process, tids[i]))
			ret = -ENOMEM;
	attach_plan(engine, kept);
	for (size_t i = 0; i < kept && !ret; i++)
		attach_enqueue(
			engine, &engine->attach.queue, follow_task(&engine->follow, tids[i]));
	free(tids);
	*found = kept;
	return ret;
}

static void scan(struct engine *engine, struct job *job)
{
	struct follow_process *process = follow_process(&engine->follow, job->pid);
	size_t found = 0;
	int ret = 0;

	if (!job->scans++) {
		ret = first_scan(engine, job, &process);
	} else if (!process || process->ended_ns) {
		finish_job(engine, job);
		return;
	}
	if (!ret)
		ret = scan_threads(engine, job, process, &found);
	if (ret && job->scans == 1) {
		/* It ended between the two scans, without a thread to report the exit. */
		if (process && !process->first_task && !process->ended_ns)
			forget_process(engine, process);
		fail_job(engine, job, -ret);
		return;
	}
	if (!ret && found && job->scans < SCANS_MAX)
		return;
	if (!engine->scope.side_by_cpu && engine->status.scope == SCOPE_TASK && process->whole)
		scan_children(engine, process);
	finish_job(engine, job);
}

bool target_work(struct engine *engine)
{
	uint64_t until_ns = sys_now_ns() + BURST_NS;

	if (engine->stopped)
		return false;
	while (!atomic_load(&engine->quit) && sys_now_ns() < until_ns) {
		int32_t tid;

		if (queue_take(&engine->attach.born, &tid))
			open_task(engine, tid, true);
		else if (queue_take(&engine->attach.queue, &tid))
			open_task(engine, tid, false);
		else if (engine->attach.jobs)
			scan(engine, engine->attach.jobs);
		else
			break;
	}
	if (engine->attach.jobs || engine->attach.born.head < engine->attach.born.n ||
		engine->attach.queue.head < engine->attach.queue.n)
		return true;
	engine->status.attaching_done = engine->status.attaching_total = 0;
	return false;
}

/* --- commands --- */

void target_attach(struct engine *engine, int32_t pid, int32_t tid)
{
	int32_t process = pid;
	int ret = tid >= 0 ? proc_tgid(tid, &process) : 0;

	if (ret) {
		struct job gone = {.pid = tid, .tid = tid, .named = true};
		struct job *job = add_job(engine, gone.pid, gone.tid, true);

		if (job)
			fail_job(engine, job, -ret);
		return;
	}
	/* If the whole machine was sampled: its events stay open, and samples are filtered from now
	 * on. */
	engine->filter = true;
	if (!add_job(engine, process, tid, true))
		engine_note(engine, NOTE_ATTACH_FAILED, ENOMEM, pid, 0, NULL);
}
