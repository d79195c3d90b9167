/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_spaces.c - address spaces: mappings, their replacement, and the lookup of addresses.
 */
#include "sampler/store/spaces.h"
#include "tests/unit/tasks_fixture.h"

#include <sys/mman.h>

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

/* Data mappings are kept on request, separate from code.  A mapping of code replaces a data mapping
 * as the image's origin. */
static void test_data(void **state)
{
	struct fake *fake = *state;
	struct record data = {.type = PERF_RECORD_MMAP2,
		.mmap = {.pid = 7,
			.tid = 7,
			.start = 0x13000,
			.len = 0x2000,
			.pgoff = 0x3000,
			.filename = "/bin/a"}};
	struct record code = {.type = PERF_RECORD_MMAP2,
		.mmap = {.pid = 7,
			.tid = 7,
			.start = 0x10000,
			.len = 0x3000,
			.executable = true,
			.filename = "/bin/a"}};
	struct image_origin origin;
	uint64_t offset;
	uint32_t image;

	do_comm(fake, 7, 7, "a", true, SEC);
	apply(fake, &data);
	expect_nothing_at(fake, 7, SEC, 0x13000);
	assert_false(tasks_keeps_data(fake->tasks));
	tasks_keep_data(fake->tasks);
	apply(fake, &data);
	expect_at(fake, 7, SEC, 0x13010, "/bin/a", 0x3010);
	space_resolve(tasks_space(fake->tasks, 7, 7, SEC), 0x13000, &image, &offset);
	images_origin(fake->images, image, &origin);
	assert_int_equal(origin.map_start, 0x13000);
	apply(fake, &code);
	images_origin(fake->images, image, &origin);
	assert_int_equal(origin.map_start, 0x10000);
	/* Data is not merged with code, although its file offset continues that of the code. */
	assert_int_equal(space_count(tasks_space(fake->tasks, 7, 7, SEC)), 2);
	data.mmap.start = 0x15000;
	data.mmap.pgoff = 0x5000;
	apply(fake, &data);
	expect_at(fake, 7, SEC, 0x16fff, "/bin/a", 0x6fff);
	assert_int_equal(space_count(tasks_space(fake->tasks, 7, 7, SEC)), 2);
	images_origin(fake->images, image, &origin);
	assert_int_equal(origin.map_start, 0x10000);
}

/* Compares random mappings with an array of pages. */
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
		unsigned int at = i * 7919 % 10000; /* each place once, in mixed order */

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

static void map_code(
	struct fake *fake, int32_t pid, uint64_t start, uint32_t flags, const char *name)
{
	const struct record record = {.type = PERF_RECORD_MMAP2,
		.id = {.time_ns = SEC},
		.mmap = {.pid = (uint32_t)pid,
			.tid = (uint32_t)pid,
			.start = start,
			.len = 0x1000,
			.pgoff = 0x4000,
			.flags = flags,
			.executable = true,
			.has_inode = true,
			.inode = 99,
			.filename = name}};

	apply(fake, &record);
}

/* Memory that a runtime maps twice, to write and to run code, is its own.  A program loaded from a
 * memory file is not. */
static void test_code_that_is_mapped_twice(void **state)
{
	static const char *const names[] = {"/memfd:doublemapper (deleted)",
		"/dev/shm/doublemapper_7", "/dev/shm/doublemapper_7 (deleted)",
		"/tmp/ffiqr2Bc1 (deleted)"};
	struct fake *fake = *state;
	uint64_t at = 0x10000;

	do_comm(fake, 7, 7, "a", true, SEC);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++, at += 0x1000) {
		map_code(fake, 7, at, MAP_SHARED, names[i]);
		expect_at(fake, 7, SEC, at + 0x10, "[anon]", at + 0x10);
	}
	map_code(fake, 7, 0x20000, MAP_PRIVATE, names[0]);
	expect_at(fake, 7, SEC, 0x20010, "/memfd:doublemapper", 0x4010);
	map_code(fake, 7, 0x30000, MAP_PRIVATE, names[3]);
	expect_at(fake, 7, SEC, 0x30010, "/tmp/ffiqr2Bc1", 0x4010);
	map_code(fake, 7, 0x40000, MAP_SHARED, "/lib/code");
	expect_at(fake, 7, SEC, 0x40010, "/lib/code", 0x4010);
}

static int setup_recorded(void **state)
{
	struct fake *fake = calloc(1, sizeof(*fake));
	const struct tasks_reader reader = {.recorded = true};

	assert_int_equal(images_new(&fake->images), 0);
	assert_int_equal(tasks_new(&fake->tasks, fake->images, &reader), 0);
	*state = fake;
	return 0;
}

/* A process that shares its parent's memory runs code that the parent maps later.  No record
 * reports the sharing.  The process's own mappings stay, and so does a process that has called
 * exec. */
static void test_shared_memory(void **state)
{
	struct fake *fake = *state;

	do_comm(fake, 7, 7, "a", true, SEC);
	do_map(fake, 7, 0x400000, 0x1000, 0, "/bin/a", SEC);
	do_fork(fake, 7, 7, 8, 8, 2 * SEC);
	do_fork(fake, 7, 7, 9, 9, 2 * SEC);
	do_comm(fake, 9, 9, "b", true, 3 * SEC);
	do_map(fake, 8, 0x500000, 0x1000, 0, "/lib/own", 3 * SEC);
	do_map(fake, 7, 0x500000, 0x3000, 0, "/lib/later", 4 * SEC);
	do_map(fake, 7, 0x600000, 0x1000, 0, "//anon", 4 * SEC);
	expect_nothing_at(fake, 8, 5 * SEC, 0x502000);
	/* Memory without a file may belong to the parent alone. */
	tasks_find_code(fake->tasks, 8, 0x600000);
	expect_nothing_at(fake, 8, 5 * SEC, 0x600000);
	tasks_find_code(fake->tasks, 8, 0x700000);
	expect_nothing_at(fake, 8, 5 * SEC, 0x502000);
	tasks_find_code(fake->tasks, 8, 0x502000);
	expect_at(fake, 8, 5 * SEC, 0x502000, "/lib/later", 0x2000);
	expect_at(fake, 8, 5 * SEC, 0x500000, "/lib/own", 0);
	tasks_find_code(fake->tasks, 9, 0x502000);
	expect_nothing_at(fake, 9, 5 * SEC, 0x502000);
	tasks_find_code(fake->tasks, 12345, 0x502000);
}

/* If code runs at an address without a mapping, /proc is read ever less often.  An exec starts this
 * over. */
static void test_pauses_of_looks(void **state)
{
	struct fake *fake = *state;

	do_comm(fake, 100, 100, "a", true, 50 * SEC);
	for (unsigned int i = 0; i < 40; i++) {
		fake->now_ns += SEC;
		tasks_find_code(fake->tasks, 100, 0x900000);
	}
	assert_in_range(fake->map_reads, 3, 15);
	fake->map_reads = 0;
	do_comm(fake, 100, 100, "b", true, fake->now_ns);
	for (unsigned int i = 0; i < 4; i++) {
		fake->now_ns += SEC;
		tasks_find_code(fake->tasks, 100, 0x900000);
	}
	assert_in_range(fake->map_reads, 3, 4);
}

static void origin_at(struct fake *fake, int32_t pid, uint64_t address, struct image_origin *out)
{
	uint64_t offset;
	uint32_t image;

	space_resolve(tasks_space(fake->tasks, pid, pid, SEC), address, &image, &offset);
	images_origin(fake->images, image, out);
}

static void test_jitdumps(void **state)
{
	static const char *const others[] = {"/x/jit-.dump", "/x/jit-12.dumpx", "/x/ajit-12.dump",
		"jit-12.dump", "/x/jit-12a.dump", "/jit-1.dump/x"};
	struct fake *fake = *state;
	struct image_origin origin;

	do_comm(fake, 7, 7, "a", true, SEC);
	do_comm(fake, 8, 8, "b", true, SEC);
	do_map(fake, 7, 0x10000, 0x1000, 0, "/x/jit-7.dump", SEC);
	do_map(fake, 7, 0x20000, 0x1000, 0, "//anon", SEC);
	do_map(fake, 7, 0x30000, 0x1000, 0, "/y/jit-8.dump", SEC);
	origin_at(fake, 7, 0x20000, &origin);
	assert_string_equal(origin.jitdump, "/x/jit-7.dump");
	assert_int_equal(origin.parent, 0);
	for (unsigned int i = 0; i < sizeof(others) / sizeof(*others); i++)
		do_map(fake, 8, 0x10000 + i * 0x1000, 0x1000, 0, others[i], SEC);
	do_map(fake, 8, 0x40000, 0x1000, 0, "//anon", SEC);
	origin_at(fake, 8, 0x40000, &origin);
	assert_null(origin.jitdump);

	/* A child runs code that its parent has compiled; another program does not. */
	do_fork(fake, 7, 7, 9, 9, SEC);
	origin_at(fake, 9, 0x20000, &origin);
	assert_int_equal(origin.pid, 9);
	assert_int_equal(origin.parent, 7);
	assert_string_equal(origin.jitdump, "/x/jit-7.dump");
	assert_true(space_origin(tasks_space(fake->tasks, 9, 9, SEC), 0x20000, &origin));
	assert_int_equal(origin.parent, 7);
	assert_int_equal(origin.elder, 0);
	/* For a grandchild and its child, the first process is the elder. */
	for (int pid = 10; pid <= 11; pid++) {
		do_fork(fake, pid - 1, pid - 1, pid, pid, SEC);
		origin_at(fake, pid, 0x20000, &origin);
		assert_int_equal(origin.parent, pid - 1);
		assert_int_equal(origin.elder, 7);
	}
	do_comm(fake, 9, 9, "other", true, SEC);
	do_map(fake, 9, 0x20000, 0x1000, 0, "//anon", SEC);
	origin_at(fake, 9, 0x20000, &origin);
	assert_int_equal(origin.parent, 0);
	assert_null(origin.jitdump);
}

/* A JIT that makes its pages executable one by one must not make the address space grow, nor change
 * it again and again. */
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
	/* reaches past the last address */
	do_map(fake, 7, UINT64_MAX - 0xfff, 0x3000, 0, "/bin/a", SEC);
	expect_nothing_at(fake, 7, SEC, 0x10000);
	expect_nothing_at(fake, 7, SEC, 0x1000);
	apply(fake, &kernel);
	assert_int_equal(tasks_thread_count(fake->tasks), 1);
}

/* The image at an address, which must be a piece of moved code; fails otherwise. */
static uint32_t piece_at(struct fake *fake, int32_t pid, uint64_t address, struct image_text *text)
{
	uint64_t offset;
	uint32_t image;

	space_resolve(tasks_space(fake->tasks, pid, pid, SEC), address, &image, &offset);
	assert_int_equal(offset, address);
	assert_true(images_text(fake->images, image, text));
	return image;
}

static void expect_no_piece(struct fake *fake, int32_t pid, uint64_t address)
{
	struct image_text text;
	uint64_t offset;
	uint32_t image;

	space_resolve(tasks_space(fake->tasks, pid, pid, SEC), address, &image, &offset);
	assert_false(images_text(fake->images, image, &text));
}

static void settle_piece(struct fake *fake, uint32_t piece, bool is_moved)
{
	struct code_move move = {.image = piece};
	struct image_text text;

	assert_true(images_text(fake->images, piece, &text));
	move.to = is_moved ? text.file : text.other;
	move.bias = is_moved ? text.before.offset - text.before.address : text.other_bias;
	assert_int_equal(tasks_move(fake->tasks, &move), 0);
}

/* Memory mapped over a program's code is an image of its own, a piece, until its contents are
 * known. */
static void test_moved_code(void **state)
{
	struct fake *fake = *state;
	struct image_text text;
	struct image_origin origin;
	uint32_t piece;

	do_comm(fake, 7, 7, "a", true, SEC);
	do_map(fake, 7, 0x400000, 0x10000, 0x2000, "/bin/a", SEC);
	do_map(fake, 7, 0x700000, 0x10000, 0, "/lib/b", SEC);
	do_map(fake, 7, 0x402000, 0x4000, 0, "//anon", SEC);
	piece = piece_at(fake, 7, 0x403000, &text);
	assert_string_equal(images_get(fake->images, text.file)->path, "/bin/a");
	assert_true(text.is_exact && text.before.known);
	assert_int_equal(text.before.offset, 0x4000);
	expect_at(fake, 7, SEC, 0x401000, "/bin/a", 0x3000);
	/* its protection changes */
	do_map(fake, 7, 0x402000, 0x4000, 0, "//anon", SEC);
	do_map(fake, 7, 0x403000, 0x1000, 0, "//anon", SEC);
	assert_int_equal(piece_at(fake, 7, 0x403000, &text), piece);
	/* A child has the piece, too; another program does not. */
	do_fork(fake, 7, 7, 8, 8, SEC);
	do_fork(fake, 7, 7, 9, 9, SEC);
	do_comm(fake, 9, 9, "b", true, SEC);
	assert_int_equal(piece_at(fake, 8, 0x403000, &text), piece);
	expect_nothing_at(fake, 9, SEC, 0x403000);
	settle_piece(fake, piece, true);
	for (int32_t pid = 7; pid <= 8; pid++) {
		expect_at(fake, pid, SEC, 0x402010, "/bin/a", 0x4010);
		/* The file itself is not mapped there. */
		assert_false(
			space_origin(tasks_space(fake->tasks, pid, pid, SEC), 0x402010, &origin));
	}
	/* For a library, it is unknown whether its code is still there. */
	do_map(fake, 7, 0x702000, 0x4000, 0, "/anon_hugepage (deleted)", SEC);
	piece = piece_at(fake, 7, 0x702000, &text);
	assert_false(text.is_exact);
	settle_piece(fake, piece, false);
	images_origin(fake->images, text.other, &origin);
	assert_int_equal(origin.pid, 7);
	expect_at(fake, 7, SEC, 0x702010, "[anon]", 0x702010);
	do_map(fake, 7, 0x702000, 0x4000, 0, "//anon", SEC);
	expect_no_piece(fake, 7, 0x702010);
	/* Memory that reaches past the mapping, another file, and a memory file. */
	do_map(fake, 7, 0x40f000, 0x2000, 0, "//anon", SEC);
	expect_no_piece(fake, 7, 0x40f000);
	do_map(fake, 7, 0x708000, 0x1000, 0, "/lib/c", SEC);
	expect_at(fake, 7, SEC, 0x708000, "/lib/c", 0);
	do_map(fake, 7, 0x70a000, 0x1000, 0, "/memfd:x (deleted)", SEC);
	piece = piece_at(fake, 7, 0x70a000, &text);
	settle_piece(fake, piece, false);
	expect_at(fake, 7, SEC, 0x70a000, "/memfd:x", 0);
}

/* In a snapshot, memory lies between two mappings of a file. */
static void test_moved_code_in_a_hole(void **state)
{
	struct fake *fake = *state;
	struct image_text text;

	do_comm(fake, 7, 7, "a", true, SEC);
	do_map(fake, 7, 0x400000, 0x2000, 0x2000, "/bin/a", SEC);
	do_map(fake, 7, 0x402000, 0x1000, 0, "//anon", SEC);
	do_map(fake, 7, 0x403000, 0x3000, 0, "//anon", SEC);
	expect_no_piece(fake, 7, 0x403000);
	do_map(fake, 7, 0x406000, 0x1000, 0x8000, "/bin/a", SEC);
	piece_at(fake, 7, 0x402000, &text);
	piece_at(fake, 7, 0x405fff, &text);
	assert_true(text.is_exact && text.before.known && text.after.known);
	assert_int_equal(text.start, 0x402000);
	assert_int_equal(text.end, 0x406000);
	assert_int_equal(text.after.offset, 0x8000);
	/* between two files */
	do_map(fake, 7, 0x700000, 0x1000, 0, "/lib/b", SEC);
	do_map(fake, 7, 0x701000, 0x1000, 0, "//anon", SEC);
	do_map(fake, 7, 0x702000, 0x1000, 0x1000, "/lib/c", SEC);
	expect_no_piece(fake, 7, 0x701000);
}

/* A JIT that changes its pages all the time: the number of pieces is limited. */
static void test_too_many_pieces(void **state)
{
	struct fake *fake = *state;
	struct image_text text;

	do_comm(fake, 7, 7, "a", true, SEC);
	for (uint64_t i = 0; i < 100; i++) {
		do_map(fake, 7, 0x400000, 0x10000, 0, "/bin/a", SEC);
		do_map(fake, 7, 0x402000, 0x4000, 0, "//anon", SEC);
		if (i < 50)
			piece_at(fake, 7, 0x402000, &text);
	}
	expect_no_piece(fake, 7, 0x402000);
}

static void see(struct fake *fake, int32_t pid, const char *name)
{
	apply(fake,
		&(struct record){.type = PERF_RECORD_MMAP2,
			.misc = PERF_RECORD_MISC_USER,
			.id.time_ns = 2 * SEC,
			.mmap = {.pid = (uint32_t)pid,
				.tid = (uint32_t)pid,
				.start = 0x402000,
				.len = 0x4000,
				.pgoff = 0x4000,
				.executable = true,
				.flags = SPACE_SEEN | MAP_PRIVATE,
				.filename = name}});
}

/* Records of code that was identified while recording (SPACE_SEEN). */
static void test_seen_code(void **state)
{
	struct fake *fake = *state;
	struct image_text text;
	struct code_move move;
	uint32_t piece;

	for (int32_t pid = 7; pid <= 9; pid++) {
		do_comm(fake, pid, pid, "a", true, SEC);
		if (pid != 8)
			do_map(fake, pid, 0x400000, 0x10000, 0x2000, "/bin/a", SEC);
		do_map(fake, pid, 0x402000, 0x4000, 0, "//anon", SEC);
	}
	assert_false(tasks_take_move(fake->tasks, &move));
	/* a piece */
	piece = piece_at(fake, 7, 0x402000, &text);
	see(fake, 7, "/bin/a");
	expect_at(fake, 7, SEC, 0x402000, "/bin/a", 0x4000);
	assert_true(tasks_take_move(fake->tasks, &move));
	assert_int_equal(move.image, piece);
	assert_string_equal(images_get(fake->images, move.to)->path, "/bin/a");
	assert_int_equal(move.bias, UINT64_C(0x4000) - 0x402000);
	assert_true(move.until_ns == UINT64_MAX);
	/* Memory without any other record: the move ends at the time of this one. */
	see(fake, 8, "/bin/a");
	expect_at(fake, 8, SEC, 0x402000, "/bin/a", 0x4000);
	assert_true(tasks_take_move(fake->tasks, &move));
	assert_int_equal(move.start, 0x402000);
	assert_int_equal(move.end, 0x406000);
	assert_int_equal(move.until_ns, 2 * SEC);
	/* A memory file: its frames have offsets within that file. */
	do_comm(fake, 11, 11, "a", true, SEC);
	do_map(fake, 11, 0x402000, 0x4000, 0x1000, "/memfd:text (deleted)", SEC);
	see(fake, 11, "/bin/a");
	assert_true(tasks_take_move(fake->tasks, &move));
	assert_string_equal(images_get(fake->images, move.image)->path, "/memfd:text");
	assert_int_equal(move.start, 0x1000);
	assert_int_equal(move.end, 0x5000);
	assert_int_equal(move.bias, 0x3000);
	assert_int_equal(move.until_ns, 2 * SEC);
	/* Records of anonymous memory only, as other recorders may write them. */
	do_comm(fake, 8, 8, "b", true, 3 * SEC);
	see(fake, 8, "//anon");
	expect_nothing_at(fake, 8, SEC, 0x402000); /* older than the exec */
	do_comm(fake, 10, 10, "b", true, SEC);
	see(fake, 10, "//anon");
	expect_at(fake, 10, SEC, 0x402000, "[anon]", 0x402000);
	/* The piece holds other code. */
	piece = piece_at(fake, 9, 0x402000, &text);
	see(fake, 9, "//anon");
	assert_true(tasks_take_move(fake->tasks, &move));
	assert_int_equal(move.image, piece);
	assert_int_equal(move.to, text.other);
	assert_false(tasks_take_move(fake->tasks, &move));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_resolve, setup, teardown),
		cmocka_unit_test_setup_teardown(test_newer_mapping_splits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unmapping, setup, teardown),
		cmocka_unit_test_setup_teardown(test_data, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mapping_model, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_mappings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_anonymous_and_vdso, setup, teardown),
		cmocka_unit_test_setup_teardown(test_code_that_is_mapped_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shared_memory, setup_recorded, teardown),
		cmocka_unit_test_setup_teardown(test_moved_code, setup, teardown),
		cmocka_unit_test_setup_teardown(test_moved_code_in_a_hole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_seen_code, setup, teardown),
		cmocka_unit_test_setup_teardown(test_jitdumps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pauses_of_looks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_jit_pages_become_one, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strange_mappings, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
