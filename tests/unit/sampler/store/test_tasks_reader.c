/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_tasks_reader.c - reading /proc: lines of maps, status files, and this process itself.
 */
#include "tests/unit/scratch.h"
#include "tests/unit/tasks_fixture.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

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
	char dir[] = "/tmp/strobe-test-XXXXXX", task[64];
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
	tasks_keep_data(tasks);
	assert_int_equal(tasks_load_process(tasks, 42), 0);
	space_resolve(tasks_space(tasks, 42, 42, SEC), 0x3010, &image, &offset);
	assert_int_equal(offset, 0x6010);
	tasks_free(tasks);
	assert_int_equal(scratch_remove_tree(dir), 0);
}

/* Checks which addresses from `from` on are pieces of moved code.  `expected` has a letter per page
 * of 0x1000: '-' no piece, 'p' a piece, 'e' an exact piece. */
static void expect_pieces(struct fake *fake, const char *maps, uint64_t from, const char *expected)
{
	char dir[] = "/tmp/strobe-test-XXXXXX", task[64];
	struct tasks_reader reader;
	struct image_text text;
	struct tasks *tasks;
	uint32_t image;
	uint64_t offset;

	assert_non_null(mkdtemp(dir));
	snprintf(task, sizeof(task), "%s/42", dir);
	assert_int_equal(mkdir(task, 0700), 0);
	write_file(task, "status", "Tgid:\t42\n");
	write_file(task, "comm", "a\n");
	write_file(task, "maps", maps);
	tasks_reader_proc(&reader, dir);
	assert_int_equal(tasks_new(&tasks, fake->images, &reader), 0);
	assert_int_equal(tasks_load_process(tasks, 42), 0);
	for (size_t i = 0; expected[i]; i++) {
		space_resolve(tasks_space(tasks, 42, 42, SEC), from + 0x1000 * i, &image, &offset);
		const bool found = images_text(fake->images, image, &text);
		if (found != (expected[i] != '-') ||
			(found && text.is_exact != (expected[i] == 'e')))
			fail_msg("%s at %zu", maps, i);
	}
	tasks_free(tasks);
	assert_int_equal(scratch_remove_tree(dir), 0);
}

static void test_moved_code(void **state)
{
	struct fake *fake = *state;

	/* All of its code; then several pieces of it, with several names. */
	expect_pieces(fake,
		"1000-2000 r--p 00000000 08:02 9 /bin/a\n2000-3000 r-xp 00000000 00:00 0\n"
		"3000-4000 r--p 00002000 08:02 9 /bin/a\n",
		0x1000, "-e-");
	expect_pieces(fake,
		"1000-2000 r-xp 00001000 08:02 9 /bin/a\n2000-3000 r-xp 00000000 00:00 0\n"
		"3000-4000 r-xp 00000000 00:1 77 /memfd:x (deleted)\n"
		"4000-5000 r-xs 00000000 00:f 78 /anon_hugepage (deleted)\n"
		"5000-6000 r-xp 00005000 08:02 9 /bin/a\n",
		0x1000, "-eee-");
	/* the file is mapped once more */
	expect_pieces(fake,
		"1000-2000 rw-p 00005000 08:02 9 /bin/a\n2000-3000 rwxp 00000000 00:00 0\n"
		"4000-5000 r-xp 00001000 08:02 9 /bin/a\n",
		0x1000, "----");
	/* a part of the gap is not mapped */
	expect_pieces(fake,
		"1000-2000 r-xp 00001000 08:02 9 /bin/a\n2000-3000 r-xp 00000000 00:00 0\n"
		"5000-6000 r-xp 00005000 08:02 9 /bin/a\n",
		0x1000, "-p--");
	/* no mapping of the file precedes it */
	expect_pieces(fake,
		"2000-3000 r-xp 00000000 00:00 0\n3000-4000 r--p 00001000 08:02 9 /bin/a\n", 0x2000,
		"p-");
	/* Between two files; not executable; a deleted file itself. */
	expect_pieces(fake,
		"1000-2000 r-xp 00001000 08:02 9 /bin/a\n2000-3000 r-xp 00000000 00:00 0\n"
		"3000-4000 r-xp 00000000 08:02 10 /bin/b\n4000-5000 r-xp 00000000 00:00 0\n",
		0x1000, "----");
	expect_pieces(fake,
		"1000-2000 r-xp 00000000 08:02 9 /bin/a\n2000-3000 rw-p 00000000 00:00 0\n"
		"3000-4000 r-xp 00002000 08:02 9 /bin/a\n",
		0x1000, "---");
	expect_pieces(fake,
		"1000-2000 r-xp 00000000 08:02 9 /bin/a (deleted)\n"
		"2000-3000 rw-p 00001000 08:02 9 /bin/a (deleted)\n",
		0x1000, "--");
}

/* On this process: the real files have the form that the parser expects. */
static void test_reader_real(void **state)
{
	struct fake *fake = *state;
	struct tasks_reader reader;
	struct tasks *tasks;
	struct space *space;
	uint32_t image, label;
	uint64_t offset, size, mtime_ns;
	struct stat st;

	tasks_reader_proc(&reader, "/proc");
	assert_int_equal(tasks_new(&tasks, fake->images, &reader), 0);
	assert_int_equal(tasks_sample(tasks, getpid(), getpid(), SEC, &label, &space), 0);
	assert_string_equal(
		/* truncated by the kernel */
		tasks_label_get(tasks, label)->comm, "test_tasks_read");
	space_resolve(space, (uintptr_t)test_reader_real, &image, &offset);
	assert_non_null(strstr(images_get(fake->images, image)->path, "/test_tasks_reader"));
	/* On some file systems, stat(2) and maps report different devices. */
	const struct image *own = images_get(fake->images, image);
	images_file(fake->images, image, &size, &mtime_ns);
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	if (st.st_dev == makedev(own->dev_major, own->dev_minor)) {
		assert_int_equal(size, st.st_size);
		assert_int_equal(mtime_ns / 1000000000, st.st_mtim.tv_sec);
	}
	tasks_free(tasks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_parse_maps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_moved_code, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reader_proc, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reader_real, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
