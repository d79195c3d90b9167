/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_tasks.c - threads and their names: births, ends, execs, and /proc for threads that are met
 * late.
 */
#include "tests/unit/tasks_fixture.h"

/* --- processes --- */

static void test_fork_copies_and_exec_clears(void **state)
{
	struct fake *fake = *state;
	uint64_t parent, child;
	uint32_t mine, own;
	uint64_t offset;

	do_comm(fake, 7, 7, "shell", true, SEC);
	do_map(fake, 7, 0x10000, 0x1000, 0, "/bin/shell", SEC);
	do_map(fake, 7, 0x50000, 0x1000, 0, "//anon", SEC);
	do_fork(fake, 7, 7, 8, 8, 2 * SEC);
	assert_string_equal(label_at(fake, 8, 8, 2 * SEC)->comm, "shell");
	expect_at(fake, 8, 2 * SEC, 0x10010, "/bin/shell", 0x10);
	parent = space_generation(tasks_space(fake->tasks, 7, 7, 2 * SEC));
	child = space_generation(tasks_space(fake->tasks, 8, 8, 2 * SEC));
	assert_true(parent != child);
	/* Memory without a file is the child's own. */
	space_resolve(tasks_space(fake->tasks, 7, 7, 2 * SEC), 0x50000, &mine, &offset);
	space_resolve(tasks_space(fake->tasks, 8, 8, 2 * SEC), 0x50000, &own, &offset);
	assert_int_equal(images_get(fake->images, own)->kind, IMAGE_ANON);
	assert_int_not_equal(mine, own);

	/* A new mapping of one process is not seen by the other. */
	do_map(fake, 8, 0x20000, 0x1000, 0, "/lib/plugin", 3 * SEC);
	expect_at(fake, 8, 3 * SEC, 0x20000, "/lib/plugin", 0);
	expect_nothing_at(fake, 7, 3 * SEC, 0x20000);
	assert_int_equal(space_generation(tasks_space(fake->tasks, 7, 7, 3 * SEC)), parent);
	do_map(fake, 7, 0x10000, 0x1000, 0x7000, "/bin/other", 3 * SEC);
	expect_at(fake, 8, 3 * SEC, 0x10010, "/bin/shell", 0x10);

	do_comm(fake, 8, 8, "ls", true, 4 * SEC);
	expect_nothing_at(fake, 8, 4 * SEC, 0x10010);
	do_map(fake, 8, 0x30000, 0x1000, 0, "/bin/ls", 4 * SEC);
	expect_at(fake, 8, 4 * SEC, 0x30000, "/bin/ls", 0);
	expect_at(fake, 7, 4 * SEC, 0x10010, "/bin/other", 0x7010);
	assert_string_equal(label_at(fake, 8, 8, 4 * SEC)->comm, "ls");
	assert_int_equal(fake->map_reads, 0);
}

static void test_threads_share(void **state)
{
	struct fake *fake = *state;

	do_comm(fake, 7, 7, "app", true, SEC);
	do_fork(fake, 7, 7, 7, 9, 2 * SEC);
	do_map(fake, 7, 0x10000, 0x1000, 0, "/bin/app", 2 * SEC);
	assert_ptr_equal(
		tasks_space(fake->tasks, 7, 7, 2 * SEC), tasks_space(fake->tasks, 7, 9, 2 * SEC));
	do_comm(fake, 7, 9, "io", false, 3 * SEC);
	assert_string_equal(label_at(fake, 7, 9, 3 * SEC)->comm, "io");
	assert_string_equal(label_at(fake, 7, 9, 3 * SEC)->process_comm, "app");
	assert_string_equal(label_at(fake, 7, 7, 3 * SEC)->comm, "app");
	expect_at(fake, 7, 3 * SEC, 0x10000, "/bin/app", 0);
	assert_int_equal(tasks_thread_count(fake->tasks), 2);
}

/* A thread that calls exec takes the leader's tid, after the leader's EXIT. Its own tid is not
 * reported again. */
static void test_exec_by_another_thread(void **state)
{
	struct fake *fake = *state;

	do_comm(fake, 7, 7, "app", true, SEC);
	do_fork(fake, 7, 7, 7, 8, 2 * SEC);
	do_fork(fake, 7, 7, 7, 9, 2 * SEC);
	do_exit(fake, 7, 8, 3 * SEC);
	do_exit(fake, 7, 7, 3 * SEC);
	assert_int_equal(tasks_thread_count(fake->tasks), 1);
	do_comm(fake, 7, 7, "next", true, 3 * SEC + 1);
	do_map(fake, 7, 0x10000, 0x1000, 0, "/bin/next", 3 * SEC + 2);
	assert_int_equal(tasks_thread_count(fake->tasks), 1);
	/* the EXIT was that of the old leader */
	tasks_expire(fake->tasks, 9 * SEC);
	expect_at(fake, 7, 9 * SEC, 0x10000, "/bin/next", 0);
	assert_string_equal(label_at(fake, 7, 7, 9 * SEC)->comm, "next");
	do_exit(fake, 7, 7, 10 * SEC);
	assert_int_equal(tasks_thread_count(fake->tasks), 0);
	tasks_expire(fake->tasks, 11 * SEC);
	assert_int_equal(tasks_label_count(fake->tasks), 0);
}

/* Detached, then attached again as the process that has the pid now. */
static void test_forgotten_and_attached_again(void **state)
{
	struct fake *fake = *state;

	assert_int_equal(tasks_load_process(fake->tasks, 100), 0);
	do_map(fake, 100, 0x900000, 0x1000, 0, "/bin/old", 51 * SEC);
	expect_at(fake, 100, 51 * SEC, 0x900000, "/bin/old", 0);
	tasks_forget_thread(fake->tasks, 100);
	tasks_forget_thread(fake->tasks, 100);
	assert_int_equal(tasks_thread_count(fake->tasks), 0);
	assert_int_equal(tasks_label_count(fake->tasks), 0);

	assert_int_equal(tasks_load_process(fake->tasks, 100), 0);
	expect_nothing_at(fake, 100, 52 * SEC, 0x900000);
	/* attached again after an EXIT, before it expires */
	do_map(fake, 100, 0x900000, 0x1000, 0, "/bin/old", 53 * SEC);
	do_exit(fake, 100, 100, 54 * SEC);
	fake->now_ns = 54 * SEC + 1;
	fake->comm = "stranger";
	assert_int_equal(tasks_load_process(fake->tasks, 100), 0);
	expect_nothing_at(fake, 100, 54 * SEC + 2, 0x900000);
	expect_at(fake, 100, 54 * SEC + 2, 0x400000, "/bin/proc", 0);
	assert_string_equal(label_at(fake, 100, 100, 54 * SEC + 2)->comm, "stranger");
	tasks_expire(fake->tasks, 60 * SEC);
	assert_int_equal(tasks_thread_count(fake->tasks), 1);
	assert_string_equal(label_at(fake, 100, 100, 60 * SEC)->comm, "stranger");
}

static void test_labels_keep_old_names(void **state)
{
	struct fake *fake = *state;
	uint32_t old, new;
	size_t n = tasks_label_count(fake->tasks);

	do_comm(fake, 7, 7, "before", true, SEC);
	assert_int_equal(tasks_label(fake->tasks, 7, 7, SEC, &old), 0);
	tasks_label_ref(fake->tasks, old);
	do_comm(fake, 7, 7, "after", false, 2 * SEC);
	assert_int_equal(tasks_label(fake->tasks, 7, 7, 2 * SEC, &new), 0);
	assert_int_not_equal(new, old);
	assert_string_equal(tasks_label_get(fake->tasks, old)->comm, "before");
	assert_string_equal(tasks_label_get(fake->tasks, new)->comm, "after");
	assert_int_equal(tasks_label_get(fake->tasks, new)->since_ns, 2 * SEC);
	assert_int_equal(tasks_label_count(fake->tasks), n + 2);
	tasks_label_unref(fake->tasks, old);
	assert_int_equal(tasks_label_count(fake->tasks), n + 1);
	do_exit(fake, 7, 7, 3 * SEC);
	assert_string_equal(label_at(fake, 7, 7, 3 * SEC)->comm, "after");
	tasks_expire(fake->tasks, 4 * SEC);
	assert_int_equal(tasks_label_count(fake->tasks), n);
}

static void test_exit_and_reuse(void **state)
{
	struct fake *fake = *state;
	uint32_t first;
	size_t memory;

	do_comm(fake, 7, 7, "one", true, SEC);
	do_map(fake, 7, 0x10000, 0x1000, 0, "/bin/one", SEC);
	assert_int_equal(tasks_label(fake->tasks, 7, 7, SEC, &first), 0);
	tasks_label_ref(fake->tasks, first);
	do_exit(fake, 7, 7, 2 * SEC);
	assert_int_equal(tasks_thread_count(fake->tasks), 0);
	expect_at(fake, 7, 2 * SEC, 0x10000, "/bin/one", 0); /* late samples */

	do_comm(fake, 5, 5, "parent", true, SEC);
	do_fork(fake, 5, 5, 7, 7, 3 * SEC);
	expect_nothing_at(fake, 7, 3 * SEC, 0x10000);
	assert_string_equal(label_at(fake, 7, 7, 3 * SEC)->comm, "parent");
	assert_string_equal(tasks_label_get(fake->tasks, first)->comm, "one");
	/* the EXIT of the old process does not end the new one */
	tasks_expire(fake->tasks, 10 * SEC);
	assert_string_equal(label_at(fake, 7, 7, 10 * SEC)->comm, "parent");

	/* Many processes come and go in constant memory. */
	memory = tasks_memory(fake->tasks);
	for (int32_t pid = 1000; pid < 21000; pid++) {
		do_fork(fake, 5, 5, pid, pid, 11 * SEC);
		do_comm(fake, pid, pid, "ls", true, 11 * SEC);
		do_map(fake, pid, 0x10000, 0x1000, 0, "/bin/ls", 11 * SEC);
		label_at(fake, pid, pid, 11 * SEC);
		do_exit(fake, pid, pid, 11 * SEC);
		if (pid % 8 == 0)
			tasks_expire(fake->tasks, 12 * SEC);
	}
	tasks_expire(fake->tasks, 12 * SEC);
	assert_true(tasks_memory(fake->tasks) < memory + 16384);
	assert_int_equal(tasks_thread_count(fake->tasks), 2);
}

/* A sample long after an EXIT, without a FORK in between: an unreported process has the pid now. */
static void test_unseen_reuse(void **state)
{
	struct fake *fake = *state;

	do_comm(fake, 100, 100, "old", true, SEC);
	do_map(fake, 100, 0x10000, 0x1000, 0, "/bin/old", SEC);
	do_exit(fake, 100, 100, 2 * SEC);
	assert_string_equal(label_at(fake, 100, 100, 2 * SEC + SEC / 2)->comm, "old");
	assert_string_equal(label_at(fake, 100, 100, 50 * SEC)->comm, "server");
	expect_nothing_at(fake, 100, 50 * SEC, 0x10000);
	expect_at(fake, 100, 50 * SEC, 0x400000, "/bin/proc", 0);
	/* a tid that another process has now */
	do_fork(fake, 100, 100, 100, 300, 51 * SEC);
	assert_int_equal(label_at(fake, 7, 300, 60 * SEC)->pid, 7);
}

/* --- /proc --- */

static void test_first_met_by_sample(void **state)
{
	struct fake *fake = *state;
	const struct task_label *label = label_at(fake, 100, 101, 49 * SEC);

	assert_string_equal(label->comm, "worker");
	assert_string_equal(label->process_comm, "server");
	assert_int_equal(fake->map_reads, 0); /* not before they are needed */
	expect_at(fake, 100, 49 * SEC, 0x400010, "/bin/proc", 0x10);
	expect_at(fake, 100, 49 * SEC, 0x400010, "/bin/proc", 0x10);
	assert_int_equal(fake->map_reads, 1);
	assert_int_equal(fake->task_reads, 3); /* worker, its leader's name, the leader itself */
	assert_int_equal(label_at(fake, 100, 101, 60 * SEC)->since_ns, 49 * SEC);
	assert_int_equal(fake->task_reads, 3);
}

static void test_gone_is_asked_once(void **state)
{
	struct fake *fake = *state;
	unsigned int reads;

	for (int i = 0; i < 1000; i++) {
		assert_string_equal(label_at(fake, 666, 666, 50 * SEC)->comm, "");
		expect_nothing_at(fake, 666, 50 * SEC, 0x400010);
	}
	assert_true(fake->task_reads <= 2);
	assert_int_equal(fake->map_reads, 1);
	reads = fake->task_reads;
	/* The thread ended unseen, so no EXIT will come.  It expires all the same. */
	assert_int_equal(tasks_thread_count(fake->tasks), 0);
	tasks_expire(fake->tasks, 51 * SEC);
	label_at(fake, 666, 666, 52 * SEC);
	assert_true(fake->task_reads > reads);
}

/* A process that ended before its first sample was seen has no names.  It is counted as unread. */
static void test_gone_is_told(void **state)
{
	struct fake *fake = *state;

	for (int i = 0; i < 10; i++) {
		label_at(fake, 666, 666, 50 * SEC);
		expect_nothing_at(fake, 666, 50 * SEC, 0x400010);
		tasks_find_code(fake->tasks, 666, 0x400010);
	}
	assert_int_equal(tasks_unread(fake->tasks)->processes, 1);
	assert_int_equal(tasks_unread(fake->tasks)->pid, 666);
	assert_int_equal(tasks_unread(fake->tasks)->error, ESRCH);
	/* A process that lives, or has its parent's mappings, is not counted. */
	expect_at(fake, 100, 50 * SEC, 0x400010, "/bin/proc", 0x10);
	tasks_find_code(fake->tasks, 100, 0x10);
	do_fork(fake, 100, 100, 200, 200, 51 * SEC);
	expect_at(fake, 200, 51 * SEC, 0x400010, "/bin/proc", 0x10);
	tasks_find_code(fake->tasks, 200, 0x10);
	assert_int_equal(tasks_unread(fake->tasks)->processes, 1);
}

/* A successful retry removes the process from the unread ones. */
static void test_unread_until_retried(void **state)
{
	struct fake *fake = *state;

	fake->map_error = -EMFILE;
	expect_nothing_at(fake, 100, 50 * SEC, 0x400010);
	assert_int_equal(tasks_unread(fake->tasks)->processes, 1);
	assert_int_equal(tasks_unread(fake->tasks)->pid, 100);
	expect_nothing_at(fake, 200, 50 * SEC, 0x400010);
	assert_int_equal(tasks_unread(fake->tasks)->processes, 2);
	fake->map_error = 0;
	fake->now_ns += SEC;
	expect_at(fake, 100, 51 * SEC, 0x400010, "/bin/proc", 0x10);
	assert_int_equal(tasks_unread(fake->tasks)->processes, 1);
	assert_int_equal(tasks_unread(fake->tasks)->pid, 200);
	assert_int_equal(tasks_unread(fake->tasks)->error, EMFILE);
}

static void test_idle_and_nobody(void **state)
{
	struct fake *fake = *state;

	assert_string_equal(label_at(fake, 0, 0, SEC)->comm, "swapper");
	assert_string_equal(label_at(fake, 0, 0, SEC)->process_comm, "swapper");
	expect_nothing_at(fake, 0, SEC, 0x400010);
	assert_string_equal(label_at(fake, -1, -1, SEC)->comm, "[exited]");
	expect_nothing_at(fake, -1, SEC, 0x400010);
	assert_int_equal(fake->map_reads + fake->task_reads, 0);
	assert_int_equal(tasks_label_get(fake->tasks, TASK_LABEL_MERGED)->pid, -1);
}

static void expect_outside(struct fake *fake, uint32_t older)
{
	const struct task_label *label = label_at(fake, 0, 0, 9 * SEC);

	assert_true(tasks_has_outside(fake->tasks));
	assert_string_equal(label->comm, "[outside]");
	assert_string_equal(label->process_comm, "[outside]");
	assert_int_equal(label->pid, 0);
	assert_int_equal(label->tid, 0);
	assert_ptr_equal(tasks_label_get(fake->tasks, older), label);
	assert_int_equal(tasks_thread_count(fake->tasks), 1);
}

static uint32_t sampled_idle(struct fake *fake)
{
	uint32_t label;

	assert_int_equal(tasks_label(fake->tasks, 0, 0, SEC, &label), 0);
	assert_string_equal(tasks_label_get(fake->tasks, label)->comm, "swapper");
	return label;
}

/* perf writes such records for the idle task, or for kernels in guests.  The last ones are those of
 * a process that came from elsewhere. */
static void test_idle_stays(void **state)
{
	struct fake *fake = *state;
	const uint32_t label = sampled_idle(fake);
	struct record record = {.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_KERNEL,
		.mmap = {.start = 0xffffffff81000000, .len = 0x1000, .filename = "[kernel]"}};

	apply(fake, &record);
	record.misc = PERF_RECORD_MISC_USER; /* a lie */
	apply(fake, &record);
	record.misc = PERF_RECORD_MISC_GUEST_KERNEL;
	record.mmap.start = 0x1000;
	apply(fake, &record);
	do_comm(fake, 0, 0, "swapper", false, 0);
	do_comm(fake, 0, 0, "swapper/3", false, 2 * SEC);
	do_fork(fake, 0, 0, 300, 300, 3 * SEC);
	do_comm(fake, 300, 300, "worker", true, 3 * SEC);
	assert_false(tasks_has_outside(fake->tasks));
	assert_string_equal(label_at(fake, 0, 0, 9 * SEC)->comm, "swapper");
	assert_string_equal(tasks_label_get(fake->tasks, label)->process_comm, "swapper");
}

/* Records of tid 0 name all tasks outside of a pid namespace, so none names its samples. */
static void test_outside(void **state)
{
	struct fake *fake = *state;
	const uint32_t label = sampled_idle(fake);
	const uint32_t generation = tasks_label_get(fake->tasks, label)->generation;
	uint32_t again;

	do_comm(fake, 0, 0, "true", true, 2 * SEC);
	do_fork(fake, 0, 0, 0, 0, 3 * SEC);
	do_comm(fake, 0, 0, "swapper", false, 3 * SEC);
	do_map(fake, 0, 0x10000, 0x1000, 0, "/bin/true", 3 * SEC);
	do_exit(fake, 0, 0, 4 * SEC);
	expect_outside(fake, label);
	expect_nothing_at(fake, 0, 9 * SEC, 0x10000);
	/* One label has served for all of it, and whoever has cached its name asks again. */
	assert_int_equal(tasks_label(fake->tasks, 0, 0, 9 * SEC, &again), 0);
	assert_int_equal(again, label);
	assert_int_not_equal(tasks_label_get(fake->tasks, label)->generation, generation);
	/* A process that joins the namespace has its own name and mappings. */
	do_fork(fake, 0, 0, 100, 100, 10 * SEC);
	assert_string_equal(label_at(fake, 100, 100, 10 * SEC)->comm, "server");
	expect_at(fake, 100, 10 * SEC, 0x400010, "/bin/proc", 0x10);
	assert_string_equal(label_at(fake, -1, -1, 10 * SEC)->comm, "[exited]");
}

/* Each of these shows that tid 0 is not the idle task. */
static void test_outside_by_name(void **state)
{
	struct fake *fake = *state;
	const uint32_t label = sampled_idle(fake);

	do_comm(fake, 0, 0, "swapperd", false, 2 * SEC);
	expect_outside(fake, label);
}

static void test_outside_by_exec(void **state)
{
	struct fake *fake = *state;
	const uint32_t label = sampled_idle(fake);

	do_comm(fake, 0, 0, "swapper", true, 2 * SEC);
	expect_outside(fake, label);
}

static void test_outside_by_mapping(void **state)
{
	struct fake *fake = *state;
	const uint32_t label = sampled_idle(fake);

	apply(fake,
		&(struct record){.type = PERF_RECORD_MMAP2,
			.misc = PERF_RECORD_MISC_USER,
			.mmap = {.start = 0x10000, .len = 0x1000, .filename = "/bin/true"}});
	expect_outside(fake, label);
}

static void note_comm(int32_t pid, int32_t tid, const char *comm, void *ctx)
{
	snprintf(ctx, 64, "%d/%d %s", pid, tid, comm);
}

/* A recording of the namespace says at the first sample what tid 0 is. */
static void test_outside_is_told(void **state)
{
	struct fake *fake = *state;
	char told[64] = "";
	const struct tasks_observer observer = {.comm = note_comm, .ctx = told};

	tasks_observe(fake->tasks, &observer);
	sampled_idle(fake);
	assert_string_equal(told, "");
	tasks_forget_thread(fake->tasks, 0);
	tasks_set_outside(fake->tasks);
	label_at(fake, 0, 0, 2 * SEC);
	assert_string_equal(told, "0/0 [outside]");
}

/* Records from before 50 s, when /proc was read, do not change its result. */
static void test_records_older_than_proc(void **state)
{
	struct fake *fake = *state;

	assert_int_equal(tasks_load_process(fake->tasks, 100), 0);
	assert_int_equal(tasks_load_process(fake->tasks, 4), -ESRCH);
	assert_int_equal(tasks_load_process(fake->tasks, 101), -ESRCH);
	do_map(fake, 100, 0x3ff000, 0x4000, 0, "/bin/stale", 49 * SEC);
	expect_at(fake, 100, 50 * SEC, 0x400010, "/bin/proc", 0x10);
	expect_at(fake, 100, 50 * SEC, 0x3ff010, "/bin/stale", 0x10); /* gaps it may fill */
	expect_at(fake, 100, 50 * SEC, 0x401010, "/bin/stale", 0x2010);
	do_comm(fake, 100, 100, "stale", true, 49 * SEC);
	do_fork(fake, 4, 4, 100, 100, 49 * SEC);
	do_exit(fake, 100, 100, 49 * SEC);
	assert_string_equal(label_at(fake, 100, 100, 50 * SEC)->comm, "server");
	expect_at(fake, 100, 50 * SEC, 0x400010, "/bin/proc", 0x10);
	assert_int_equal(tasks_thread_count(fake->tasks), 1);
	/* later records count */
	do_map(fake, 100, 0x400000, 0x1000, 0, "/bin/new", 51 * SEC);
	expect_at(fake, 100, 51 * SEC, 0x400010, "/bin/new", 0x10);
	/* An exec drops older mappings, even if their records come later. */
	do_comm(fake, 100, 100, "next", true, 52 * SEC);
	do_map(fake, 100, 0x500000, 0x1000, 0, "/bin/stale", 51 * SEC);
	expect_nothing_at(fake, 100, 52 * SEC, 0x500000);
	assert_int_equal(fake->map_reads, 1);
}

/* A child that ended before /proc was read has its parent's mappings. */
static void test_gone_child_of_unread_parent(void **state)
{
	struct fake *fake = *state;

	do_fork(fake, 100, 100, 200, 200, 51 * SEC);
	expect_at(fake, 200, 51 * SEC, 0x400010, "/bin/proc", 0x10);
	assert_int_equal(fake->map_reads, 2); /* the child's and the parent's */
}

static void test_gone_child_of_known_parent(void **state)
{
	struct fake *fake = *state;

	label_at(fake, 100, 100, 50 * SEC);
	do_fork(fake, 100, 100, 200, 200, 51 * SEC);
	assert_string_equal(label_at(fake, 200, 200, 51 * SEC)->comm, "server");
	expect_at(fake, 200, 51 * SEC, 0x400010, "/bin/proc", 0x10);
	assert_int_equal(fake->map_reads, 2);
	expect_at(fake, 100, 51 * SEC, 0x400010, "/bin/proc", 0x10);
	assert_int_equal(fake->map_reads, 2);
}

/* --- recordings --- */

static void expect_comm(
	struct fake *fake, int32_t pid, int32_t tid, uint64_t time, const char *comm)
{
	assert_string_equal(label_at(fake, pid, tid, time)->comm, comm);
}

/* For recordings, /proc is not read, although a process with this pid exists here.  Names are those
 * that perf shows. */
static void test_recorded(void **state)
{
	struct fake *fake = *state;
	const struct tasks_reader recorded = {.recorded = true};

	tasks_free(fake->tasks);
	assert_int_equal(tasks_new(&fake->tasks, fake->images, &recorded), 0);
	expect_comm(fake, 100, 100, SEC, ":100");
	expect_comm(fake, 100, 101, SEC, ":101");
	expect_comm(fake, 0, 0, SEC, "swapper");
	expect_comm(fake, -1, -1, SEC, ":-1");
	expect_nothing_at(fake, 100, SEC, 0x400000);
	assert_int_equal(fake->map_reads + fake->task_reads, 0);

	/* A placeholder name is not inherited.  A name that comes late is taken. */
	do_fork(fake, 100, 100, 200, 200, 2 * SEC);
	expect_comm(fake, 200, 200, 2 * SEC, ":200");
	do_comm(fake, 100, 100, "named", false, 0);
	expect_comm(fake, 100, 100, 3 * SEC, "named");
	expect_comm(fake, 100, 101, 3 * SEC, ":101");
	do_fork(fake, 100, 100, 201, 201, 3 * SEC);
	expect_comm(fake, 201, 201, 3 * SEC, "named");

	/* An ended process keeps its name until its pid is reused. */
	do_exit(fake, 201, 201, 4 * SEC);
	expect_comm(fake, 201, 201, 40 * SEC, "named");
	do_fork(fake, 0, 0, 201, 201, 41 * SEC);
	expect_comm(fake, 201, 201, 42 * SEC, ":201");

	/* A FORK that perf synthesized for a running process: that process has its own mappings. */
	do_map(fake, 100, 0x10000, 0x1000, 0, "/bin/parent", 0);
	apply(fake,
		&(struct record){.type = PERF_RECORD_FORK,
			.misc = PERF_RECORD_MISC_FORK_EXEC,
			.task = {.pid = 300, .tid = 300, .ppid = 100, .ptid = 100}});
	expect_nothing_at(fake, 300, 43 * SEC, 0x10000);
	do_fork(fake, 100, 100, 301, 301, 43 * SEC);
	expect_at(fake, 301, 44 * SEC, 0x10000, "/bin/parent", 0);
}

/* Returns the thread's label, with a reference as samples hold one. */
static const struct task_label *hold_label(struct fake *fake, int32_t pid, uint64_t time)
{
	uint32_t label;

	assert_int_equal(tasks_label(fake->tasks, pid, pid, time, &label), 0);
	tasks_label_ref(fake->tasks, label);
	return tasks_label_get(fake->tasks, label);
}

static void expect_program(struct fake *fake, const struct task_label *label, const char *path)
{
	const uint32_t program = tasks_label_program(label);

	assert_string_equal(images_get(fake->images, program)->path, path);
}

/* A label knows its program: the first file mapped since the exec, also after the process ended. */
static void test_program(void **state)
{
	struct fake *fake = *state;
	const struct task_label *before, *after, *child;

	do_comm(fake, 7, 7, "loop.py", true, SEC);
	before = hold_label(fake, 7, SEC);
	assert_int_equal(tasks_label_program(before), IMAGE_ID_UNKNOWN);
	do_map(fake, 7, 0x10000, 0x1000, 0x3000, "/bin/python", SEC);
	do_map(fake, 7, 0x20000, 0x1000, 0, "/lib/ld.so", SEC);
	expect_program(fake, before, "/bin/python");
	do_fork(fake, 7, 7, 8, 8, 2 * SEC);
	child = hold_label(fake, 8, 2 * SEC);
	expect_program(fake, child, "/bin/python");

	do_comm(fake, 7, 7, "ls", true, 3 * SEC);
	do_map(fake, 7, 0x10000, 0x1000, 0, "/bin/ls", 3 * SEC);
	after = hold_label(fake, 7, 3 * SEC);
	do_exit(fake, 7, 7, 4 * SEC);
	do_exit(fake, 8, 8, 4 * SEC);
	tasks_expire(fake->tasks, 60 * SEC);
	expect_program(fake, before, "/bin/python");
	expect_program(fake, child, "/bin/python");
	expect_program(fake, after, "/bin/ls");

	/* A process met by a sample has its mappings read. */
	assert_non_null(tasks_space(fake->tasks, 100, 101, 50 * SEC));
	assert_int_not_equal(
		tasks_label_program(label_at(fake, 100, 101, 50 * SEC)), IMAGE_ID_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fork_copies_and_exec_clears, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads_share, setup, teardown),
		cmocka_unit_test_setup_teardown(test_exec_by_another_thread, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forgotten_and_attached_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_labels_keep_old_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_exit_and_reuse, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unseen_reuse, setup, teardown),
		cmocka_unit_test_setup_teardown(test_first_met_by_sample, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone_is_asked_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unread_until_retried, setup, teardown),
		cmocka_unit_test_setup_teardown(test_idle_and_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(test_idle_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(test_outside, setup, teardown),
		cmocka_unit_test_setup_teardown(test_outside_by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_outside_by_exec, setup, teardown),
		cmocka_unit_test_setup_teardown(test_outside_by_mapping, setup, teardown),
		cmocka_unit_test_setup_teardown(test_outside_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(test_records_older_than_proc, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone_child_of_unread_parent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone_child_of_known_parent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_recorded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_program, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
