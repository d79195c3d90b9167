/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_tasks.c - threads, names and address spaces, driven by records made by hand and a /proc of our own.
 */
#include "sampler/tasks.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SEC 1000000000ull

/* A /proc: processes 100.. as written below; what was asked is counted. */
struct fake {
	struct images *images;
	struct tasks *tasks;
	uint64_t now_ns;
	unsigned int map_reads, task_reads;
	int32_t alive_pid, alive_tid; /* the one process there is */
	const char *comm;
	uint64_t map_start; /* of /bin/proc, one page */
};

static int fake_maps(struct tasks *tasks, int32_t pid, void *ctx)
{
	struct fake *fake = ctx;
	const struct record_mmap mmap = {.start = fake->map_start,
		.len = 0x1000,
		.executable = true,
		.has_inode = true,
		.dev_major = 8,
		.inode = 500,
		.filename = "/bin/proc"};

	fake->map_reads++;
	return pid == fake->alive_pid ? tasks_add_mapping(tasks, pid, &mmap) : -ESRCH;
}

static int fake_task(int32_t tid, int32_t *pid, char *comm, size_t comm_len, void *ctx)
{
	struct fake *fake = ctx;

	fake->task_reads++;
	if (tid != fake->alive_pid && tid != fake->alive_tid)
		return -ESRCH;
	*pid = fake->alive_pid;
	snprintf(comm, comm_len, "%s", tid == fake->alive_pid ? fake->comm : "worker");
	return 0;
}

static uint64_t fake_now(void *ctx)
{
	return ((struct fake *)ctx)->now_ns;
}

static int setup(void **state)
{
	struct fake *fake = calloc(1, sizeof(*fake));
	const struct tasks_reader reader = {
		.read_maps = fake_maps, .read_task = fake_task, .now_ns = fake_now, .ctx = fake};

	fake->alive_pid = 100;
	fake->alive_tid = 101;
	fake->comm = "server";
	fake->now_ns = 50 * SEC;
	fake->map_start = 0x400000;
	assert_int_equal(images_new(&fake->images), 0);
	assert_int_equal(tasks_new(&fake->tasks, fake->images, &reader), 0);
	*state = fake;
	return 0;
}

static int teardown(void **state)
{
	struct fake *fake = *state;

	tasks_free(fake->tasks);
	images_free(fake->images);
	free(fake);
	return 0;
}

/* --- records --- */

static void apply(struct fake *fake, const struct record *record)
{
	assert_int_equal(tasks_apply(fake->tasks, record), 0);
}

static void do_fork(
	struct fake *fake, int32_t ppid, int32_t ptid, int32_t pid, int32_t tid, uint64_t time)
{
	apply(fake,
		&(struct record){.type = PERF_RECORD_FORK,
			.id.time_ns = time,
			.task = {.pid = (uint32_t)pid,
				.tid = (uint32_t)tid,
				.ppid = (uint32_t)ppid,
				.ptid = (uint32_t)ptid,
				.time_ns = time}});
}

static void do_exit(struct fake *fake, int32_t pid, int32_t tid, uint64_t time)
{
	apply(fake,
		&(struct record){.type = PERF_RECORD_EXIT,
			.task = {.pid = (uint32_t)pid, .tid = (uint32_t)tid, .time_ns = time}});
}

static void do_comm(
	struct fake *fake, int32_t pid, int32_t tid, const char *comm, bool exec, uint64_t time)
{
	apply(fake,
		&(struct record){.type = PERF_RECORD_COMM,
			.id.time_ns = time,
			.comm = {.pid = (uint32_t)pid,
				.tid = (uint32_t)tid,
				.exec = exec,
				.comm = comm}});
}

static void do_map(struct fake *fake, int32_t pid, uint64_t start, uint64_t len, uint64_t pgoff,
	const char *name, uint64_t time)
{
	uint64_t inode = 0;

	for (const char *c = name; *c; c++)
		inode = inode * 31 + (unsigned char)*c;
	apply(fake,
		&(struct record){.type = PERF_RECORD_MMAP2,
			.misc = PERF_RECORD_MISC_USER,
			.id.time_ns = time,
			.mmap = {.pid = (uint32_t)pid,
				.tid = (uint32_t)pid,
				.start = start,
				.len = len,
				.pgoff = pgoff,
				.dev_major = 8,
				.inode = inode,
				.has_inode = true,
				.executable = true,
				.filename = name}});
}

/* --- questions --- */

static const struct task_label *label_at(struct fake *fake, int32_t pid, int32_t tid, uint64_t time)
{
	uint32_t label;

	assert_int_equal(tasks_label(fake->tasks, pid, tid, time, &label), 0);
	return tasks_label_get(fake->tasks, label);
}

static void expect_at(struct fake *fake, int32_t pid, uint64_t time, uint64_t address,
	const char *path, uint64_t offset)
{
	struct space *space = tasks_space(fake->tasks, pid, pid, time);
	uint64_t found;
	uint32_t image;

	assert_non_null(space);
	space_resolve(space, address, &image, &found);
	assert_string_equal(images_get(fake->images, image)->path, path);
	assert_int_equal(found, offset);
}

static void expect_nothing_at(struct fake *fake, int32_t pid, uint64_t time, uint64_t address)
{
	expect_at(fake, pid, time, address, "[unknown]", address);
}

/* --- mappings --- */

static void test_resolve(void **state)
{
	struct fake *fake = *state;
	struct image_origin origin;

	do_comm(fake, 7, 7, "a", true, SEC);
	do_map(fake, 7, 0x10000, 0x3000, 0x2000, "/bin/a", SEC);
	expect_nothing_at(fake, 7, SEC, 0xffff);
	expect_at(fake, 7, SEC, 0x10000, "/bin/a", 0x2000);
	expect_at(fake, 7, SEC, 0x12fff, "/bin/a", 0x4fff);
	expect_nothing_at(fake, 7, SEC, 0x13000);
	assert_true(space_origin(tasks_space(fake->tasks, 7, 7, SEC), 0x10010, &origin));
	assert_int_equal(origin.pid, 7);
	assert_int_equal(origin.map_start, 0x10000);
	assert_int_equal(origin.map_end, 0x13000);
	assert_false(space_origin(tasks_space(fake->tasks, 7, 7, SEC), 0, &origin));
	assert_int_equal(space_generation(NULL), 0);
}

static void test_newer_mapping_splits(void **state)
{
	struct fake *fake = *state;

	do_comm(fake, 7, 7, "a", true, SEC);
	do_map(fake, 7, 0x10000, 0x9000, 0, "/bin/a", SEC);
	do_map(fake, 7, 0x12000, 0x1000, 0, "/bin/b", SEC); /* inside */
	expect_at(fake, 7, SEC, 0x11fff, "/bin/a", 0x1fff);
	expect_at(fake, 7, SEC, 0x12000, "/bin/b", 0);
	expect_at(fake, 7, SEC, 0x13000, "/bin/a", 0x3000);
	do_map(fake, 7, 0x18000, 0x4000, 0, "/bin/c", SEC); /* over the end */
	expect_at(fake, 7, SEC, 0x17fff, "/bin/a", 0x7fff);
	expect_at(fake, 7, SEC, 0x18000, "/bin/c", 0);
	do_map(fake, 7, 0xf000, 0x2000, 0, "/bin/d", SEC); /* over the start */
	expect_at(fake, 7, SEC, 0x10fff, "/bin/d", 0x1fff);
	expect_at(fake, 7, SEC, 0x11000, "/bin/a", 0x1000);
	do_map(fake, 7, 0x11000, 0x8000, 0, "/bin/e", SEC); /* over several */
	expect_at(fake, 7, SEC, 0x10fff, "/bin/d", 0x1fff);
	expect_at(fake, 7, SEC, 0x11000, "/bin/e", 0);
	expect_at(fake, 7, SEC, 0x18fff, "/bin/e", 0x7fff);
	expect_at(fake, 7, SEC, 0x19000, "/bin/c", 0x1000);
}

static void test_unmapping(void **state)
{
	struct fake *fake = *state;
	struct record data = {.type = PERF_RECORD_MMAP2,
		.mmap = {
			.pid = 7, .tid = 7, .start = 0x11000, .len = 0x1000, .filename = "//anon"}};
	uint64_t generation;

	do_comm(fake, 7, 7, "a", true, SEC);
	do_map(fake, 7, 0x10000, 0x3000, 0, "/bin/a", SEC);
	generation = space_generation(tasks_space(fake->tasks, 7, 7, SEC));
	apply(fake, &data);
	expect_nothing_at(fake, 7, SEC, 0x11000);
	expect_at(fake, 7, SEC, 0x12000, "/bin/a", 0x2000);
	assert_true(space_generation(tasks_space(fake->tasks, 7, 7, SEC)) != generation);
	data.mmap.start = 0x500000;
	generation = space_generation(tasks_space(fake->tasks, 7, 7, SEC));
	apply(fake, &data);
	assert_int_equal(space_generation(tasks_space(fake->tasks, 7, 7, SEC)), generation);
}

/* Random mappings against an array of pages. */
static void test_mapping_model(void **state)
{
	enum { PAGES = 64 };
	static const char *const names[] = {"/0", "/1", "/2", "/3", ""};
	struct fake *fake = *state;
	int model[PAGES];
	uint64_t bias[PAGES];

	do_comm(fake, 7, 7, "a", true, SEC);
	memset(model, -1, sizeof(model));
	srand(11);
	for (int round = 0; round < 3000; round++) {
		unsigned int at = (unsigned int)rand() % PAGES, n = 1 + (unsigned int)rand() % 12;
		unsigned int name = (unsigned int)rand() % 5, pgoff = (unsigned int)rand() % 3;

		n = at + n > PAGES ? PAGES - at : n;
		do_map(fake, 7, 0x1000 * (at + 1), 0x1000 * n, 0x1000 * pgoff, names[name], SEC);
		for (unsigned int i = at; i < at + n; i++) {
			model[i] = (int)name;
			bias[i] = 0x1000ull * pgoff - 0x1000ull * (at + 1);
		}
		for (unsigned int i = 0; i < PAGES; i++) {
			uint64_t address = 0x1000 * (i + 1) + 0xabc;

			if (model[i] < 0)
				expect_nothing_at(fake, 7, SEC, address);
			else if (model[i] == 4)
				expect_at(fake, 7, SEC, address, "[anon]", address);
			else
				expect_at(
					fake, 7, SEC, address, names[model[i]], address + bias[i]);
		}
	}
}

static void test_many_mappings(void **state)
{
	struct fake *fake = *state;

	do_comm(fake, 7, 7, "a", true, SEC);
	for (unsigned int i = 0; i < 10000; i++) {
		unsigned int at = i * 7919 % 10000; /* every place once, in no order */

		do_map(fake, 7, 0x100000 + 0x2000ull * at, 0x1000, 0x1000 * at, "/lib/x", SEC);
	}
	for (unsigned int i = 0; i < 10000; i++) {
		expect_at(fake, 7, SEC, 0x100010 + 0x2000ull * i, "/lib/x", 0x1000 * i + 0x10);
		expect_nothing_at(fake, 7, SEC, 0x101010 + 0x2000ull * i);
	}
}

static void test_anonymous_and_vdso(void **state)
{
	struct fake *fake = *state;
	static const char *const anonymous[] = {"//anon", "", "/dev/zero (deleted)",
		"/SYSV00000000 (deleted)", "anon_inode:[io_uring]", "[heap]", "[stack]",
		"[anon:jit]", "/anon_hugepage (deleted)"};
	uint32_t one, two;
	uint64_t offset;

	do_comm(fake, 7, 7, "a", true, SEC);
	do_comm(fake, 8, 8, "b", true, SEC);
	for (unsigned int i = 0; i < sizeof(anonymous) / sizeof(*anonymous); i++) {
		do_map(fake, 7, 0x10000 + 0x2000 * i, 0x1000, 0x5000, anonymous[i], SEC);
		expect_at(fake, 7, SEC, 0x10010 + 0x2000 * i, "[anon]", 0x10010 + 0x2000 * i);
	}
	do_map(fake, 8, 0x10000, 0x1000, 0, "//anon", SEC);
	space_resolve(tasks_space(fake->tasks, 7, 7, SEC), 0x10000, &one, &offset);
	space_resolve(tasks_space(fake->tasks, 8, 8, SEC), 0x10000, &two, &offset);
	assert_int_equal(images_get(fake->images, one)->kind, IMAGE_ANON);
	assert_int_not_equal(one, two);

	do_map(fake, 7, 0x70000, 0x2000, 0, "[vdso]", SEC);
	expect_at(fake, 7, SEC, 0x71234, "[vdso]", 0x1234);
	do_map(fake, 7, 0x80000, 0x1000, 0, "[vsyscall]", SEC);
	expect_at(fake, 7, SEC, 0x80010, "[vsyscall]", 0x80010);
	do_map(fake, 7, 0x90000, 0x1000, 0x4000, "/memfd:doublemapper (deleted)", SEC);
	expect_at(fake, 7, SEC, 0x90010, "/memfd:doublemapper", 0x4010);
	do_map(fake, 7, 0xa0000, 0x1000, 0, "/bin/old (deleted)", SEC);
	space_resolve(tasks_space(fake->tasks, 7, 7, SEC), 0xa0000, &one, &offset);
	assert_true(images_get(fake->images, one)->deleted);
	assert_string_equal(images_get(fake->images, one)->path, "/bin/old");
}

/* A JIT that turns pages executable one by one must not make the address space grow or change for ever. */
static void test_jit_pages_become_one(void **state)
{
	struct fake *fake = *state;
	size_t memory;
	uint64_t generation;

	do_comm(fake, 7, 7, "a", true, SEC);
	do_map(fake, 7, 0x100000, 0x1000, 0, "//anon", SEC);
	memory = tasks_memory(fake->tasks);
	for (unsigned int i = 1; i < 5000; i++)
		do_map(fake, 7, 0x100000 + 0x1000 * i, 0x1000, 0x1000 * i, "//anon", SEC);
	assert_int_equal(tasks_memory(fake->tasks), memory);
	generation = space_generation(tasks_space(fake->tasks, 7, 7, SEC));
	do_map(fake, 7, 0x104000, 0x2000, 0, "//anon", SEC);
	assert_int_equal(space_generation(tasks_space(fake->tasks, 7, 7, SEC)), generation);
}

static void test_strange_mappings(void **state)
{
	struct fake *fake = *state;
	struct record kernel = {.type = PERF_RECORD_MMAP,
		.misc = PERF_RECORD_MISC_KERNEL,
		.mmap = {.pid = UINT32_MAX, .len = 0x1000, .executable = true, .filename = "[k]"}};

	do_comm(fake, 7, 7, "a", true, SEC);
	do_map(fake, 7, 0x10000, 0, 0, "/bin/a", SEC);
	do_map(fake, 7, UINT64_MAX - 0xfff, 0x3000, 0, "/bin/a", SEC); /* past the end of all */
	expect_nothing_at(fake, 7, SEC, 0x10000);
	expect_nothing_at(fake, 7, SEC, 0x1000);
	apply(fake, &kernel);
	assert_int_equal(tasks_thread_count(fake->tasks), 1);
}

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

	/* What one maps, the other does not see. */
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

/* A thread that executes takes the leader's number, after the leader has told of its end; its own number is not
 * told of again. */
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
	/* The end was that of the thread before. */
	tasks_expire(fake->tasks, 9 * SEC);
	expect_at(fake, 7, 9 * SEC, 0x10000, "/bin/next", 0);
	assert_string_equal(label_at(fake, 7, 7, 9 * SEC)->comm, "next");
	do_exit(fake, 7, 7, 10 * SEC);
	assert_int_equal(tasks_thread_count(fake->tasks), 0);
	tasks_expire(fake->tasks, 11 * SEC);
	assert_int_equal(tasks_label_count(fake->tasks), 0);
}

/* Detached, and attached again as what has the number now. */
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
	/* The same after an end that was told, before it is forgotten. */
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
	tasks_expire(fake->tasks, 10 * SEC); /* the old one's end is not the new one's */
	assert_string_equal(label_at(fake, 7, 7, 10 * SEC)->comm, "parent");

	/* Any number of them come and go in the same memory. */
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

/* A sample long after an exit, with no FORK between: the number belongs to a process that nobody told of. */
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
	/* A thread whose number went to another process. */
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
	/* It ended unseen, so that no EXIT will come: it is forgotten all the same. */
	assert_int_equal(tasks_thread_count(fake->tasks), 0);
	tasks_expire(fake->tasks, 51 * SEC);
	label_at(fake, 666, 666, 52 * SEC);
	assert_true(fake->task_reads > reads);
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

/* What /proc said at 50 s is not undone by records of before. */
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
	/* And what comes later counts. */
	do_map(fake, 100, 0x400000, 0x1000, 0, "/bin/new", 51 * SEC);
	expect_at(fake, 100, 51 * SEC, 0x400010, "/bin/new", 0x10);
	/* An exec forgets mappings of before it, whenever they are told. */
	do_comm(fake, 100, 100, "next", true, 52 * SEC);
	do_map(fake, 100, 0x500000, 0x1000, 0, "/bin/stale", 51 * SEC);
	expect_nothing_at(fake, 100, 52 * SEC, 0x500000);
	assert_int_equal(fake->map_reads, 1);
}

/* A child too short-lived to be asked has what its parent has. */
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

static void test_parse_maps(void **state)
{
	static const struct {
		const char *line, *path;
		uint64_t start, len, pgoff, inode;
		bool executable;
	} good[] = {
		{"55d0a8a00000-55d0a8a02000 r-xp 00002000 fd:01 131 /usr/bin/cat\n", "/usr/bin/cat",
			0x55d0a8a00000, 0x2000, 0x2000, 131, true},
		{"7f0000000000-7f0000001000 r--p 00000000 00:00 0 \n", "", 0x7f0000000000, 0x1000,
			0, 0, false},
		{"7f0000000000-7f0000001000 rwxp 00000000 00:00 0", "", 0x7f0000000000, 0x1000, 0,
			0, true},
		{"1000-2000 r-xp 0 08:02 9                      /tmp/a b  c (deleted)\n",
			"/tmp/a b  c (deleted)", 0x1000, 0x1000, 0, 9, true},
		{"1000-2000 r-xp 0 00:00 0      [vdso]\n", "[vdso]", 0x1000, 0x1000, 0, 0, true},
		{"1000-2000 rw-p 0 00:00 0      [heap]\n", "[heap]", 0x1000, 0x1000, 0, 0, false},
		{"1000-2000 r-xs 0 00:01 77     /memfd:jit (deleted)\n", "/memfd:jit (deleted)",
			0x1000, 0x1000, 0, 77, true},
		{"1000-2000 r-xp 0 08:02 9      /tmp/line\\012break\n", "/tmp/line\nbreak", 0x1000,
			0x1000, 0, 9, true},
		{"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0      [vsyscall]\n",
			"[vsyscall]", 0xffffffffff600000, 0x1000, 0, 0, true},
		{"1000-2000 r-xp 0 00:0e 5      anon_inode:[perf_event]\n",
			"anon_inode:[perf_event]", 0x1000, 0x1000, 0, 5, true},
	};
	static const char *const bad[] = {"", "\n", "1000", "1000-", "1000-2000", "1000-2000 r-xp",
		"2000-1000 r-xp 0 08:02 9 /a", "-1000-2000 r-xp 0 08:02 9 /a",
		"1000-2000 r-x 0 08:02 9 /a", "1000-2000 r-xp g 08:02 9 /a",
		"1000-2000 r-xp 0 0802 9 /a", "1000-2000 r-xp 0 08:02 /a",
		"1000-2000 r-xp 0 08:02 9/a", "11112222333344445-2000 r-xp 0 08:02 9 /a",
		"1000-2000 r-xp 0 111112222:02 9 /a",
		"1000-2000 r-xp 0 08:02 99999999999999999999 /a"};
	struct record_mmap mmap;
	char line[256];

	(void)state;
	for (unsigned int i = 0; i < sizeof(good) / sizeof(*good); i++) {
		snprintf(line, sizeof(line), "%s", good[i].line);
		assert_int_equal(tasks_parse_maps_line(line, &mmap), 0);
		assert_string_equal(mmap.filename, good[i].path);
		assert_int_equal(mmap.start, good[i].start);
		assert_int_equal(mmap.len, good[i].len);
		assert_int_equal(mmap.pgoff, good[i].pgoff);
		assert_int_equal(mmap.inode, good[i].inode);
		assert_int_equal(mmap.executable, good[i].executable);
		assert_true(mmap.has_inode);
	}
	snprintf(line, sizeof(line), "%s", good[0].line);
	assert_int_equal(tasks_parse_maps_line(line, &mmap), 0);
	assert_int_equal(mmap.dev_major, 0xfd);
	assert_int_equal(mmap.dev_minor, 1);
	assert_int_equal(mmap.prot, PROT_READ | PROT_EXEC);
	assert_int_equal(mmap.flags, MAP_PRIVATE);
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(line, sizeof(line), "%s", bad[i]);
		assert_int_equal(tasks_parse_maps_line(line, &mmap), -EBADMSG);
	}
}

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[300];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void test_reader_proc(void **state)
{
	struct fake *fake = *state;
	char dir[] = "/tmp/strobe-test-XXXXXX", task[64], command[80];
	struct tasks_reader reader;
	struct tasks *tasks;
	struct space *space;
	uint32_t image, label;
	uint64_t offset;

	assert_non_null(mkdtemp(dir));
	snprintf(task, sizeof(task), "%s/42", dir);
	assert_int_equal(mkdir(task, 0700), 0);
	write_file(task, "status", "Name:\ta\\nb\nUmask:\t0022\nTgid:\t42\n");
	write_file(task, "comm", "a\nb\n");
	write_file(task, "maps",
		"1000-3000 r-xp 00004000 08:02 9      /bin/a\n"
		"not a mapping\n"
		"3000-4000 rw-p 00006000 08:02 9      /bin/a\n");
	tasks_reader_proc(&reader, dir);
	assert_int_equal(tasks_new(&tasks, fake->images, &reader), 0);
	assert_int_equal(tasks_load_process(tasks, 42), 0);
	assert_int_equal(tasks_load_process(tasks, 43), -ESRCH);
	assert_int_equal(tasks_sample(tasks, 42, 42, SEC, &label, &space), 0);
	assert_string_equal(tasks_label_get(tasks, label)->comm, "a\nb");
	space_resolve(space, 0x2010, &image, &offset);
	assert_int_equal(offset, 0x5010);
	assert_int_equal(images_get(fake->images, image)->inode, 9);
	space_resolve(space, 0x3010, &image, &offset);
	assert_int_equal(image, IMAGE_ID_UNKNOWN);
	tasks_free(tasks);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

/* This very process: the real files have the form that the parser expects. */
static void test_reader_real(void **state)
{
	struct fake *fake = *state;
	struct tasks_reader reader;
	struct tasks *tasks;
	struct space *space;
	uint32_t image, label;
	uint64_t offset;

	tasks_reader_proc(&reader, "/proc");
	assert_int_equal(tasks_new(&tasks, fake->images, &reader), 0);
	assert_int_equal(tasks_sample(tasks, getpid(), getpid(), SEC, &label, &space), 0);
	assert_string_equal(tasks_label_get(tasks, label)->comm, "test_tasks");
	space_resolve(space, (uintptr_t)test_reader_real, &image, &offset);
	assert_non_null(strstr(images_get(fake->images, image)->path, "/test_tasks"));
	tasks_free(tasks);
}

/* --- recordings --- */

static void expect_comm(
	struct fake *fake, int32_t pid, int32_t tid, uint64_t time, const char *comm)
{
	assert_string_equal(label_at(fake, pid, tid, time)->comm, comm);
}

/* Nobody is asked, though a process of that number lives here; names are as perf has them. */
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

	/* A name that was none is not handed on, one that comes late is taken. */
	do_fork(fake, 100, 100, 200, 200, 2 * SEC);
	expect_comm(fake, 200, 200, 2 * SEC, ":200");
	do_comm(fake, 100, 100, "named", false, 0);
	expect_comm(fake, 100, 100, 3 * SEC, "named");
	expect_comm(fake, 100, 101, 3 * SEC, ":101");
	do_fork(fake, 100, 100, 201, 201, 3 * SEC);
	expect_comm(fake, 201, 201, 3 * SEC, "named");

	/* An ended one keeps its name until its number is given again. */
	do_exit(fake, 201, 201, 4 * SEC);
	expect_comm(fake, 201, 201, 40 * SEC, "named");
	do_fork(fake, 0, 0, 201, 201, 41 * SEC);
	expect_comm(fake, 201, 201, 42 * SEC, "swapper");

	/* A FORK that perf made up of a process that ran already: it has its own mappings. */
	do_map(fake, 100, 0x10000, 0x1000, 0, "/bin/parent", 0);
	apply(fake,
		&(struct record){.type = PERF_RECORD_FORK,
			.misc = PERF_RECORD_MISC_FORK_EXEC,
			.task = {.pid = 300, .tid = 300, .ppid = 100, .ptid = 100}});
	expect_nothing_at(fake, 300, 43 * SEC, 0x10000);
	do_fork(fake, 100, 100, 301, 301, 43 * SEC);
	expect_at(fake, 301, 44 * SEC, 0x10000, "/bin/parent", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_resolve, setup, teardown),
		cmocka_unit_test_setup_teardown(test_newer_mapping_splits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unmapping, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mapping_model, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_mappings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_anonymous_and_vdso, setup, teardown),
		cmocka_unit_test_setup_teardown(test_jit_pages_become_one, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strange_mappings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fork_copies_and_exec_clears, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads_share, setup, teardown),
		cmocka_unit_test_setup_teardown(test_exec_by_another_thread, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forgotten_and_attached_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_labels_keep_old_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_exit_and_reuse, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unseen_reuse, setup, teardown),
		cmocka_unit_test_setup_teardown(test_first_met_by_sample, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone_is_asked_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_idle_and_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(test_records_older_than_proc, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone_child_of_unread_parent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone_child_of_known_parent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_recorded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_parse_maps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reader_proc, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reader_real, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
