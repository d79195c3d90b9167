/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tasks_fixture.h - threads and address spaces driven by handmade records, with a fake /proc.
 */
#ifndef TESTS_UNIT_TASKS_FIXTURE_H
#define TESTS_UNIT_TASKS_FIXTURE_H

#include "sampler/store/tasks.h"

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

/* A fake /proc; it counts the questions. */
struct fake {
	struct images *images;
	struct tasks *tasks;
	uint64_t now_ns;
	unsigned int map_reads, task_reads;
	int32_t alive_pid, alive_tid; /* the only process */
	const char *comm;
	uint64_t map_start; /* address of /bin/proc, one page */
	int map_error; /* error of reading mappings; 0: none */
};

static inline int fake_maps(struct tasks *tasks, int32_t pid, void *ctx)
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
	if (fake->map_error)
		return fake->map_error;
	return pid == fake->alive_pid ? tasks_add_mapping(tasks, pid, &mmap, NULL) : -ESRCH;
}

static inline int fake_task(int32_t tid, int32_t *pid, char *comm, size_t comm_len, void *ctx)
{
	struct fake *fake = ctx;

	fake->task_reads++;
	if (tid != fake->alive_pid && tid != fake->alive_tid)
		return -ESRCH;
	*pid = fake->alive_pid;
	snprintf(comm, comm_len, "%s", tid == fake->alive_pid ? fake->comm : "worker");
	return 0;
}

static inline uint64_t fake_now(void *ctx)
{
	return ((struct fake *)ctx)->now_ns;
}

static inline int setup(void **state)
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

static inline int teardown(void **state)
{
	struct fake *fake = *state;

	tasks_free(fake->tasks);
	images_free(fake->images);
	free(fake);
	return 0;
}

/* --- records --- */

static inline void apply(struct fake *fake, const struct record *record)
{
	assert_int_equal(tasks_apply(fake->tasks, record), 0);
}

static inline void do_fork(
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

static inline void do_exit(struct fake *fake, int32_t pid, int32_t tid, uint64_t time)
{
	apply(fake,
		&(struct record){.type = PERF_RECORD_EXIT,
			.task = {.pid = (uint32_t)pid, .tid = (uint32_t)tid, .time_ns = time}});
}

static inline void do_comm(
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

static inline void do_map(struct fake *fake, int32_t pid, uint64_t start, uint64_t len,
	uint64_t pgoff, const char *name, uint64_t time)
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

/* --- queries --- */

static inline const struct task_label *label_at(
	struct fake *fake, int32_t pid, int32_t tid, uint64_t time)
{
	uint32_t label;

	assert_int_equal(tasks_label(fake->tasks, pid, tid, time, &label), 0);
	return tasks_label_get(fake->tasks, label);
}

static inline void expect_at(struct fake *fake, int32_t pid, uint64_t time, uint64_t address,
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

static inline void expect_nothing_at(
	struct fake *fake, int32_t pid, uint64_t time, uint64_t address)
{
	expect_at(fake, pid, time, address, "[unknown]", address);
}

#endif
