/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tasks.c - threads by records, /proc and samples; see tasks.h.  Sampling thread.
 *
 * Known data has a date: records from before it are stale.
 */
#include "sampler/kernel/sys.h"
#include "sampler/store/tasks_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A sample this long after its thread's exit belongs to another thread with that tid. */
#define REUSE_NS 1000000000ull

/* The pause before another attempt at mappings, after a temporary failure. */
#define RETRY_NS 100000000ull

#define PAUSE_FACTOR_MAX 64u

#define IDLE_COMM "swapper"
#define TID_GONE (-1) /* the kernel's tid of a task that has lost its number */

static uint64_t now_ns(const struct tasks *tasks)
{
	if (tasks->reader.recorded)
		return 0;
	return tasks->reader.now_ns ? tasks->reader.now_ns(tasks->reader.ctx) : sys_now_ns();
}

static void set_comm(char *out, const char *comm)
{
	size_t len = strnlen(comm, TASK_COMM_MAX - 1);

	memmove(out, comm, len);
	memset(out + len, 0, TASK_COMM_MAX - len);
}

/* Stores the program in the label of a thread, once it is known. */
static void learn_program(const struct tasks *tasks, const struct thread *thread)
{
	const uint32_t program = space_program(thread->owner->space);
	struct task_label *label = label_at(tasks, thread->label);

	if (thread->label == TASK_LABEL_MERGED || program == IMAGE_ID_UNKNOWN ||
		tasks_label_program(label) != IMAGE_ID_UNKNOWN)
		return;
	images_pin(tasks->spaces.images, program);
	atomic_store_explicit(&label->program, program, memory_order_release);
}

/* --- records --- */

/* The kernel calls the idle task of CPU N "swapper/N". */
static bool is_idle_comm(const char *comm)
{
	const size_t len = strlen(IDLE_COMM);

	return !strncmp(comm, IDLE_COMM, len) && (!comm[len] || comm[len] == '/');
}

/* The idle task executes no program, and nobody renames it. */
static void judge_comm(struct tasks *tasks, const struct record_comm *comm)
{
	if (comm->exec || !is_idle_comm(comm->comm))
		tasks_set_outside(tasks);
}

/* The idle task maps nothing below the kernel's addresses. */
static void judge_mmap(struct tasks *tasks, uint16_t misc, const struct record_mmap *mmap)
{
	if ((misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER &&
		mmap->start <= INT64_MAX)
		tasks_set_outside(tasks);
}

static int apply_fork(
	struct tasks *tasks, uint16_t misc, const struct record_task *task, uint64_t time_ns)
{
	int32_t pid = (int32_t)task->pid, tid = (int32_t)task->tid;
	int32_t ppid = (int32_t)task->ppid;
	uint32_t id = tasks_find_thread(tasks, tid), parent_thread, parent, process, own;
	struct space *space;
	int err;

	if (!tid)
		return 0;
	if (id) {
		if (time_ns && thread_at(tasks, id)->known_ns > time_ns)
			return 0;
		tasks_drop_thread(tasks, id);
	}
	if (pid != ppid) {
		process = tasks_find_process(tasks, pid);
		if (process)
			tasks_retire_process(tasks, process);
	}
	err = tasks_need_thread(tasks, pid, tid, &id);
	if (err)
		return err;
	thread_at(tasks, id)->known_ns = time_ns;
	/* A parent outside the pid namespace has tid 0, like all others there. */
	parent_thread = task->ptid ? tasks_find_thread(tasks, (int32_t)task->ptid) : 0;
	if (parent_thread && thread_at(tasks, parent_thread)->comm_known) {
		set_comm(thread_at(tasks, id)->comm, thread_at(tasks, parent_thread)->comm);
		thread_at(tasks, id)->comm_known = true;
	}
	if (pid == ppid)
		return 0;

	own = thread_at(tasks, id)->process;
	process_at(tasks, own)->ppid = ppid;
	process_at(tasks, own)->since_ns = time_ns;
	if (thread_at(tasks, id)->comm_known) {
		set_comm(process_at(tasks, own)->comm, thread_at(tasks, id)->comm);
		process_at(tasks, own)->comm_known = true;
	}
	parent = ppid ? tasks_find_process(tasks, ppid) : 0;
	/* No mappings are copied for a FORK synthesized by perf: its process has executed a program
	 * since. */
	if (!parent || (misc & PERF_RECORD_MISC_FORK_EXEC))
		return 0;
	err = space_fork(&space, process_at(tasks, parent)->space, pid);
	if (err)
		return err;
	space_free(process_at(tasks, own)->space);
	process_at(tasks, own)->space = space;
	process_at(tasks, own)->loaded = process_at(tasks, parent)->loaded;
	return 0;
}

static int apply_exit(struct tasks *tasks, const struct record_task *task, uint64_t time_ns)
{
	uint32_t id = task->tid ? tasks_find_thread(tasks, (int32_t)task->tid) : 0;

	if (!id || (time_ns && thread_at(tasks, id)->known_ns > time_ns))
		return 0;
	tasks_mark_exited(tasks, id, time_ns);
	return 0;
}

static int apply_comm(struct tasks *tasks, const struct record_comm *comm, uint64_t time_ns)
{
	struct process *process;
	struct thread *thread;
	uint32_t id;
	int err;

	if (!comm->tid) {
		judge_comm(tasks, comm);
		return 0;
	}
	err = tasks_need_thread(tasks, (int32_t)comm->pid, (int32_t)comm->tid, &id);
	if (err)
		return err;
	thread = thread_at(tasks, id);
	if (time_ns && thread->known_ns > time_ns)
		return 0;
	process = process_at(tasks, thread->process);
	tasks_label_drop(tasks, thread);
	thread->known_ns = time_ns;
	thread->comm_known = true;
	set_comm(thread->comm, comm->comm);
	if (comm->exec || comm->pid == comm->tid) {
		process->comm_known = true;
		set_comm(process->comm, comm->comm);
	}
	if (comm->exec) {
		tasks_outlive(tasks, id, time_ns);
		/* All later mappings come as records. */
		space_clear(process->space);
		process->loaded = true;
		process->since_ns = time_ns;
		process->loaded_ns = 0;
		process->pause_ns = 0;
	}
	return 0;
}

/* Looks at size and change time of a program's file.  Linkers and package managers replace a
 * program by another file.  Writing over it in place keeps its inode, but is possible only while no
 * process executes it.  So the file is checked when a process begins to execute it. */
static void look_at_program(
	const struct tasks *tasks, const struct process *process, struct record_mmap *mmap)
{
	struct tasks_program program;

	if (!tasks->reader.read_program || !(mmap->executable || tasks->spaces.data) ||
		!mmap->has_inode || space_count(process->space) ||
		tasks->reader.read_program(process->pid, &program, tasks->reader.ctx) ||
		program.inode != mmap->inode || program.dev_major != mmap->dev_major ||
		program.dev_minor != mmap->dev_minor)
		return;
	mmap->file_size = program.size;
	mmap->file_mtime_ns = program.mtime_ns;
}

static int apply_mmap(
	struct tasks *tasks, uint16_t misc, const struct record_mmap *mmap, uint64_t time_ns)
{
	const struct process *process;
	uint32_t id;
	int err;

	if ((misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL ||
		(int32_t)mmap->pid == TID_GONE)
		return 0;
	/* The programs of all tasks outside, in one address space, would name each other's code. */
	if (!mmap->pid) {
		judge_mmap(tasks, misc, mmap);
		return 0;
	}
	err = tasks_need_thread(tasks, (int32_t)mmap->pid, (int32_t)mmap->tid, &id);
	if (err)
		return err;
	process = process_at(tasks, thread_at(tasks, id)->process);
	if (time_ns && time_ns < process->since_ns)
		return 0;
	struct record_mmap looked_at = *mmap;
	look_at_program(tasks, process, &looked_at);
	tasks->spaces.time_ns = time_ns;
	err = space_map(process->space, &looked_at,
		time_ns && time_ns < process->loaded_ns ? SPACE_OLDER : SPACE_NEWER);
	learn_program(tasks, thread_at(tasks, id));
	return err;
}

int tasks_apply(struct tasks *tasks, const struct record *record)
{
	uint64_t time_ns = record->id.time_ns;

	switch (record->type) {
	case PERF_RECORD_FORK:
		return apply_fork(tasks, record->misc, &record->task,
			time_ns ? time_ns : record->task.time_ns);
	case PERF_RECORD_EXIT:
		return apply_exit(tasks, &record->task, time_ns ? time_ns : record->task.time_ns);
	case PERF_RECORD_COMM:
		return apply_comm(tasks, &record->comm, time_ns);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return apply_mmap(tasks, record->misc, &record->mmap, time_ns);
	default:
		return 0;
	}
}

bool tasks_changes_meaning(const struct tasks *tasks, const struct record *record)
{
	uint32_t id;

	if (record->type == PERF_RECORD_COMM)
		return true;
	if (record->type != PERF_RECORD_MMAP && record->type != PERF_RECORD_MMAP2)
		return false;
	id = tasks_find_process(tasks, (int32_t)record->mmap.pid);
	return id && space_replaces(process_at(tasks, id)->space, &record->mmap);
}

/* --- data only in /proc --- */

static bool is_gone(int err)
{
	return err == -ESRCH || err == -ENOENT;
}

/* A lack of memory or descriptors may be temporary; a refusal is not. */
static bool may_pass(int err)
{
	return err && !is_gone(err) && err != -EACCES && err != -EPERM;
}

static int read_task(const struct tasks *tasks, int32_t tid, int32_t *pid, char *comm)
{
	int err = -EAGAIN;

	if (!tasks->reader.read_task)
		return -ENOENT;
	for (int i = 0; i < 2 && may_pass(err); i++) {
		memset(comm, 0, TASK_COMM_MAX);
		err = tasks->reader.read_task(tid, pid, comm, TASK_COMM_MAX, tasks->reader.ctx);
	}
	comm[TASK_COMM_MAX - 1] = '\0';
	return err;
}

const struct tasks_unread *tasks_unread(const struct tasks *tasks)
{
	return &tasks->unread;
}

static void count_unread(struct tasks *tasks, struct process *process, int err)
{
	if (process->unread)
		return;
	process->unread = -err;
	if (!tasks->unread.processes++) {
		tasks->unread.pid = process->pid;
		tasks->unread.error = -err;
	}
}

/* A retry succeeded.  If this process was the named one, another takes its place. */
static void forget_unread(struct tasks *tasks, struct process *process)
{
	bool is_named = tasks->unread.pid == process->pid;

	if (!process->unread)
		return;
	process->unread = 0;
	tasks->unread.processes--;
	for (uint32_t i = 1; is_named && i < tasks->processes.count; i++) {
		const struct process *other = process_at(tasks, i);

		if (!other->unread)
			continue;
		tasks->unread.pid = other->pid;
		tasks->unread.error = other->unread;
		break;
	}
}

static int read_maps(struct tasks *tasks, uint32_t id)
{
	struct process *process = process_at(tasks, id);
	int err = -EAGAIN;

	/* Set first, so that /proc is read once for a process that is gone. */
	process->loaded = true;
	process->loaded_ns = now_ns(tasks);
	if (!tasks->reader.read_maps)
		return 0;
	for (int i = 0; i < 2 && may_pass(err); i++)
		err = tasks->reader.read_maps(tasks, process->pid, tasks->reader.ctx);
	if (err && !is_gone(err))
		count_unread(tasks, process, err);
	else if (!err)
		forget_unread(tasks, process);
	process->loaded = !may_pass(err);
	return err;
}

int tasks_load_process(struct tasks *tasks, int32_t pid)
{
	char comm[TASK_COMM_MAX];
	uint64_t asked_ns = now_ns(tasks);
	struct thread *thread;
	int32_t leader;
	uint32_t id;
	int err = read_task(tasks, pid, &leader, comm);

	if (err)
		return err == -ENOENT ? -ESRCH : err;
	if (leader != pid)
		return -ESRCH;
	/* The known data belongs to the previous process with this pid. */
	id = tasks_find_thread(tasks, pid);
	if (id && thread_at(tasks, id)->exited && !thread_at(tasks, id)->owner->alive) {
		tasks_retire_process(tasks, thread_at(tasks, id)->process);
		tasks_drop_thread(tasks, id);
	}
	err = tasks_need_thread(tasks, pid, pid, &id);
	if (err)
		return err;
	thread = thread_at(tasks, id);
	if (strcmp(thread->comm, comm))
		tasks_label_drop(tasks, thread);
	set_comm(thread->comm, comm);
	thread->comm_known = true;
	thread->known_ns = asked_ns;
	set_comm(process_at(tasks, thread->process)->comm, comm);
	process_at(tasks, thread->process)->comm_known = true;
	return read_maps(tasks, thread->process);
}

int tasks_add_mapping(struct tasks *tasks, int32_t pid, const struct record_mmap *mmap,
	const struct space_text *text)
{
	uint32_t process = tasks_find_process(tasks, pid), id;
	int err = 0;

	if (!process) {
		err = tasks_need_thread(tasks, pid, pid, &id);
		if (err)
			return err;
		process = thread_at(tasks, id)->process;
	}
	struct space *space = process_at(tasks, process)->space;
	const uint64_t generation = space_generation(space);
	struct record_mmap looked_at = *mmap;

	look_at_program(tasks, process_at(tasks, process), &looked_at);
	const enum space_order order = tasks->fills ? SPACE_OLDER : SPACE_NEWER;
	err = text ? space_map_piece(space, &looked_at, order, text)
		   : space_map(space, &looked_at, order);
	if (tasks->observer.mapping && (!tasks->fills || space_generation(space) != generation))
		tasks->observer.mapping(pid, mmap, tasks->observer.ctx);
	return err;
}

/* --- observers --- */

void tasks_observe(struct tasks *tasks, const struct tasks_observer *observer)
{
	tasks->observer = *observer;
}

void tasks_keep_data(struct tasks *tasks)
{
	tasks->spaces.data = true;
}

uint32_t tasks_take_dump_image(struct tasks *tasks)
{
	const uint32_t image = tasks->spaces.dump_image;

	tasks->spaces.dump_image = 0;
	return image;
}

bool tasks_keeps_data(const struct tasks *tasks)
{
	return tasks->spaces.data;
}

struct observed {
	const struct tasks_observer *observer;
	int32_t pid;
};

static void observe_mapping(const struct record_mmap *mmap, void *ctx)
{
	const struct observed *observed = ctx;

	observed->observer->mapping(observed->pid, mmap, observed->observer->ctx);
}

int tasks_move(struct tasks *tasks, const struct code_move *move)
{
	struct observed observed = {.observer = &tasks->observer};
	int err = 0;

	for (uint32_t id = 1; id < tasks->processes.count && !err; id++) {
		const struct process *process = process_at(tasks, id);

		observed.pid = process->pid;
		if (process->threads)
			err = space_move(process->space, move,
				tasks->observer.mapping ? observe_mapping : NULL, &observed);
	}
	return err;
}

bool tasks_take_move(struct tasks *tasks, struct code_move *out)
{
	return space_take_move(&tasks->spaces, out);
}

/* Reports the mappings that a process has from its parent, although no FORK describes it. */
static void observe_space(const struct tasks *tasks, const struct process *process)
{
	struct observed observed = {&tasks->observer, process->pid};

	if (tasks->observer.mapping)
		space_list(process->space, observe_mapping, &observed);
}

/* Reports the name under which a thread's samples are filed, even if a record had it.  The idle
 * task's name is known without, unless it is only one of those with its tid. */
static void observe_label(const struct tasks *tasks, struct process *process, uint32_t id)
{
	const struct task_label *label = tasks_label_get(tasks, id);

	if (!tasks->observer.comm || label->tid < 0 || (!label->tid && !tasks_has_outside(tasks)))
		return;
	if (label->tid != label->pid && !process->comm_told)
		tasks->observer.comm(
			label->pid, label->pid, label->process_comm, tasks->observer.ctx);
	process->comm_told = true;
	tasks->observer.comm(label->pid, label->tid, label->comm, tasks->observer.ctx);
}

/* --- samples --- */

/* Adds a thread that had no record. */
static int meet_thread(
	struct tasks *tasks, int32_t pid, int32_t tid, uint64_t time_ns, uint32_t *out)
{
	char comm[TASK_COMM_MAX] = "";
	uint64_t asked_ns = 0;
	int32_t leader = pid;
	struct thread *thread;
	bool known = true, gone = false;
	uint32_t process;
	int err = 0;

	if (!tid) {
		set_comm(comm, IDLE_COMM);
	} else if (tasks->reader.recorded) {
		known = false;
	} else if (tid == TID_GONE) {
		set_comm(comm, "[exited]");
	} else {
		asked_ns = now_ns(tasks);
		err = read_task(tasks, tid, &leader, comm);
		known = !err && leader == pid;
		gone = !known && (!err || is_gone(err)) && tasks->reader.read_task;
	}
	/* All threads of this process have ended.  If it is met again, it is another one with its
	 * pid. */
	process = tasks_find_process(tasks, pid);
	if (process && !process_at(tasks, process)->alive && known)
		tasks_retire_process(tasks, process);

	err = tasks_need_thread(tasks, pid, tid, out);
	if (err)
		return err;
	thread = thread_at(tasks, *out);
	thread->comm_known = known || gone;
	if (known) {
		set_comm(thread->comm, comm);
		thread->known_ns = asked_ns;
	}
	if (!tid || (tid == TID_GONE && !tasks->reader.recorded)) {
		process_at(tasks, thread->process)->loaded = true;
		process_at(tasks, thread->process)->comm_known = true;
		set_comm(process_at(tasks, thread->process)->comm, comm);
	}
	/* It will have no EXIT, so it expires together with threads that exit now. */
	if (gone)
		tasks_mark_exited(tasks, *out, time_ns);
	return 0;
}

/* Loads the mappings of a process that was met without them.  If it is gone already, it gets those
 * of its parent, unless it has executed another program. */
static void load_lazily(struct tasks *tasks, uint32_t id)
{
	int32_t ppid = process_at(tasks, id)->ppid;
	uint32_t parent, thread;
	struct space *space;
	int err;

	if (!process_at(tasks, id)->current || tasks->reader.recorded) {
		process_at(tasks, id)->loaded = true;
		return;
	}
	if (process_at(tasks, id)->unread &&
		now_ns(tasks) - process_at(tasks, id)->loaded_ns < RETRY_NS)
		return;
	err = read_maps(tasks, id); /* a zombie has maps, but empty ones */
	if ((err && !is_gone(err)) || !ppid || space_count(process_at(tasks, id)->space))
		return;
	parent = tasks_find_process(tasks, ppid);
	if (!parent) {
		if (meet_thread(tasks, ppid, ppid, process_at(tasks, id)->since_ns, &thread))
			return;
		parent = thread_at(tasks, thread)->process;
	}
	if (!process_at(tasks, parent)->loaded)
		(void)read_maps(tasks, parent);
	if (space_fork(&space, process_at(tasks, parent)->space, process_at(tasks, id)->pid))
		return;
	space_free(process_at(tasks, id)->space);
	process_at(tasks, id)->space = space;
	observe_space(tasks, process_at(tasks, id));
}

static void name_by_number(char *comm, int32_t number)
{
	snprintf(comm, TASK_COMM_MAX, ":%" PRId32, number);
}

/* Names thread and process by number if no record has named them.  A record may still come. */
static void number_comms(const struct tasks *tasks, struct thread *thread)
{
	struct process *process = process_at(tasks, thread->process);

	if (!thread->comm_known)
		name_by_number(thread->comm, thread->tid);
	if (!process->comm_known)
		name_by_number(process->comm, process->pid);
}

static void learn_comms(struct tasks *tasks, struct thread *thread)
{
	struct process *process = process_at(tasks, thread->process);
	int32_t leader;
	uint32_t id;

	if (!thread->comm_known) {
		thread->comm_known = true;
		if (read_task(tasks, thread->tid, &leader, thread->comm) || leader != thread->pid)
			thread->comm[0] = '\0';
	}
	if (!process->comm_known) {
		process->comm_known = true;
		id = tasks_find_thread(tasks, process->pid);
		if (thread->tid == process->pid)
			set_comm(process->comm, thread->comm);
		else if (id && thread_at(tasks, id)->process == thread->process &&
			thread_at(tasks, id)->comm_known)
			set_comm(process->comm, thread_at(tasks, id)->comm);
		else if (read_task(tasks, process->pid, &leader, process->comm))
			set_comm(process->comm, thread->comm);
	}
	if (!*process->comm && !tasks->reader.read_task)
		name_by_number(process->comm, process->pid);
	if (!*thread->comm)
		set_comm(thread->comm, process->comm);
}

static int label_thread(struct tasks *tasks, uint32_t id, uint64_t time_ns)
{
	struct thread *thread = thread_at(tasks, id);
	struct task_label *label;
	uint32_t new;
	int err;

	if (tasks->reader.recorded)
		number_comms(tasks, thread);
	else
		learn_comms(tasks, thread);
	err = tasks_label_new(tasks, &new);
	if (err)
		return err;
	label = label_at(tasks, new);
	label->pid = thread->pid;
	label->tid = thread->tid;
	set_comm(label->comm, thread->comm);
	set_comm(label->process_comm, process_at(tasks, thread->process)->comm);
	atomic_store_explicit(&label->program, IMAGE_ID_UNKNOWN, memory_order_relaxed);
	label->since_ns = time_ns;
	label->refs = 1; /* held by the thread */
	thread->label = new;
	learn_program(tasks, thread);
	observe_label(tasks, process_at(tasks, thread->process), new);
	return 0;
}

static int sampled_thread(
	struct tasks *tasks, int32_t pid, int32_t tid, uint64_t time_ns, struct thread **out)
{
	uint32_t *recent = &tasks->recent[(uint32_t)tid % TASKS_RECENT], id = *recent;
	struct thread *thread = thread_at(tasks, id);
	int err = 0;

	if (thread->tid != tid || thread->pid != pid || !thread->used) {
		id = tasks_find_thread(tasks, tid);
		thread = thread_at(tasks, id);
	}
	if (id &&
		(thread->pid != pid ||
			(thread->exited && !tasks->reader.recorded && time_ns > thread->exit_ns &&
				time_ns - thread->exit_ns > REUSE_NS))) {
		tasks_drop_thread(tasks, id);
		id = 0;
	}
	if (!id)
		err = meet_thread(tasks, pid, tid, time_ns, &id);
	if (!err && thread_at(tasks, id)->label == TASK_LABEL_MERGED)
		err = label_thread(tasks, id, time_ns);
	if (err)
		return err;
	*recent = id;
	*out = thread_at(tasks, id);
	return 0;
}

static bool is_settled(const struct thread *thread, int32_t pid, int32_t tid)
{
	return thread->tid == tid && thread->pid == pid && !thread->exited &&
		thread->label != TASK_LABEL_MERGED && thread->owner->loaded;
}

bool tasks_is_settled(const struct tasks *tasks, int32_t pid, int32_t tid)
{
	return is_settled(thread_at(tasks, tasks->recent[(uint32_t)tid % TASKS_RECENT]), pid, tid);
}

int tasks_sample(struct tasks *tasks, int32_t pid, int32_t tid, uint64_t time_ns, uint32_t *label,
	struct space **space)
{
	struct thread *thread = thread_at(tasks, tasks->recent[(uint32_t)tid % TASKS_RECENT]);
	int err;

	/* Nearly always, the thread is known and needs no query. */
	if (!is_settled(thread, pid, tid)) {
		err = sampled_thread(tasks, pid, tid, time_ns, &thread);
		if (err)
			return err;
		if (!thread->owner->loaded)
			load_lazily(tasks, thread->process);
		learn_program(tasks, thread);
	}
	*label = thread->label;
	*space = thread->owner->space;
	return 0;
}

int tasks_label(struct tasks *tasks, int32_t pid, int32_t tid, uint64_t time_ns, uint32_t *label)
{
	struct thread *thread;
	int err = sampled_thread(tasks, pid, tid, time_ns, &thread);

	if (!err)
		*label = thread->label;
	return err;
}

static void share_parent(struct tasks *tasks, const struct process *process, uint64_t address)
{
	const uint32_t parent = tasks_find_process(tasks, space_parent(process->space));
	const struct image *image;
	uint64_t offset;
	uint32_t id;

	if (!parent)
		return;
	space_resolve(process_at(tasks, parent)->space, address, &id, &offset);
	image = images_get(tasks->spaces.images, id);
	if (image && image->kind == IMAGE_FILE)
		(void)space_fill(process->space, process_at(tasks, parent)->space);
}

/* Counts a process that ended before its mappings were read at its first sample. */
static void count_gone(struct tasks *tasks, struct process *process)
{
	if (process->loaded && tasks->reader.read_maps && !space_count(process->space))
		count_unread(tasks, process, -ESRCH);
}

void tasks_find_code(struct tasks *tasks, int32_t pid, uint64_t address)
{
	const uint32_t id = tasks_find_process(tasks, pid);
	struct process *process = process_at(tasks, id);
	uint64_t offset;
	uint32_t image;

	if (!id || pid <= 0)
		return;
	if (tasks->reader.recorded) {
		share_parent(tasks, process, address);
		return;
	}
	if (!process->alive || !process->loaded || !tasks->reader.read_maps ||
		now_ns(tasks) - process->loaded_ns < process->pause_ns) {
		count_gone(tasks, process);
		return;
	}
	/* Its present mappings do not replace those at the times of older samples. */
	tasks->fills = true;
	(void)read_maps(tasks, id);
	tasks->fills = false;
	process = process_at(tasks, id);
	count_gone(tasks, process);
	space_resolve(process->space, address, &image, &offset);
	/* A process that runs unmapped code is read less and less often. */
	process->pause_ns = image != IMAGE_ID_UNKNOWN		  ? RETRY_NS
		: process->pause_ns < RETRY_NS			  ? RETRY_NS
		: process->pause_ns < RETRY_NS * PAUSE_FACTOR_MAX ? 2 * process->pause_ns
								  : process->pause_ns;
}

struct space *tasks_space(struct tasks *tasks, int32_t pid, int32_t tid, uint64_t time_ns)
{
	struct space *space;
	uint32_t label;

	return tasks_sample(tasks, pid, tid, time_ns, &label, &space) ? NULL : space;
}
