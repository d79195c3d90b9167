/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_dwarf.c - lines and inlined functions of a small program, whole and damaged.
 */
#include "symbols/dwarf/private.h"
#include "symbols/wire/confine.h"
#include "tests/unit/small_dwarf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#define ADDRESSES 12
static const uint64_t asked[ADDRESSES] = {0xfff, 0x1000, 0x100f, 0x1010, 0x1012, 0x1014, 0x1018,
	0x1023, 0x1024, 0x1047, 0x1048, 0x1050};
#define MAIN "/src/main.c"
#define INNER "/src/inc/inner.h"
/* expected answers, innermost first: function file:line:column */
static const char *const known[ADDRESSES] = {"", "outer " MAIN ":10:1;", "outer " MAIN ":10:1;",
	"_Z5innerv " INNER ":20:5;outer " MAIN ":15:7;",
	"deep " INNER ":30:6;_Z5innerv " INNER ":300:0;outer " MAIN ":15:7;",
	"_Z5innerv " INNER ":20:5;outer " MAIN ":15:7;", "outer " MAIN ":11:1;",
	"_Z5innerv " INNER ":21:5;outer " MAIN ":15:7;", "outer " MAIN ":12:1;",
	"second " MAIN ":40:1;", "second :0:0;", ""};

static int open_fd(struct dwarf **out, int fd, int part)
{
	struct dwarf_files files = {
		.file = fd, .debug = -1, .alt = -1, .parts = &part, .n_parts = part >= 0};

	return dwarf_open(out, &files);
}

typedef int ask_fn(struct dwarf *dwarf, const uint64_t *addresses, size_t n,
	struct codetab_builder *builder, struct codetab_entry *entries);

/* Asks for all addresses and writes the answers to out, in the form of `known`. */
static int ask_by(ask_fn *how, struct dwarf *dwarf, char out[ADDRESSES][512])
{
	struct codetab_entry entries[ADDRESSES] = {0};
	struct codetab_builder *builder;
	struct codetab table;
	int fd;

	assert_int_equal(codetab_builder_new(&builder), 0);
	int ret = how(dwarf, asked, ADDRESSES, builder, entries);
	for (size_t i = 0; i < ADDRESSES; i++) {
		entries[i].start = asked[i];
		codetab_builder_add(builder, &entries[i]);
	}
	assert_int_equal(codetab_builder_finish(builder, &fd), 0);
	codetab_builder_free(builder);
	assert_int_equal(codetab_open(&table, fd), 0);
	close(fd);
	for (size_t i = 0; i < ADDRESSES; i++) {
		const struct codetab_entry *entry = &table.entries[i];
		size_t len = 0;
		out[i][0] = '\0';
		for (uint32_t k = 0; k < entry->n_frames && len < 400; k++) {
			const struct codetab_frame *frame = &table.frames[entry->frames + k];
			len += (size_t)snprintf(out[i] + len, 512 - len, "%s %s:%u:%u;",
				table.pool + frame->function, table.pool + frame->file, frame->line,
				frame->column);
			if (frame->inlined != (k + 1 < entry->n_frames))
				snprintf(out[i], 512, "wrongly marked as inlined");
		}
	}
	codetab_close(&table);
	return ret;
}

static int ask(struct dwarf *dwarf, char out[ADDRESSES][512])
{
	return ask_by(dwarf_lines, dwarf, out);
}

static void check_all(struct dwarf *dwarf)
{
	char told[ADDRESSES][512];

	assert_int_equal(ask(dwarf, told), 0);
	for (size_t i = 0; i < ADDRESSES; i++)
		assert_string_equal(told[i], known[i]);
}

static void test_lines(void **state)
{
	struct small_dwarf small;
	struct small_file file;
	struct dwarf *dwarf;

	(void)state;
	for (unsigned int version = 4; version <= 5; version++)
		for (int pack = SMALL_PLAIN; pack <= SMALL_ZDEBUG; pack++) {
			small_dwarf_make(&small, version, false);
			small_program(&file, &small, (enum small_pack)pack, ET_DYN);
			int fd = small_file_fd(&file);
			assert_int_equal(open_fd(&dwarf, fd, -1), 0);
			check_all(dwarf);
			assert_null(dwarf_missing(dwarf, 0));
			while (dwarf_idle())
				;
			check_all(dwarf);
			close(fd);
			dwarf_forget();
		}
}

/* Appends a line table that covers no address asked for. */
static void put_other_table(struct small_bytes *line)
{
	const size_t at = line->n;

	put(line, 4, 0);
	put(line, 2, 5);
	put(line, 1, 8);
	put(line, 1, 0);
	put(line, 4, 8); /* length of the header */
	put_bytes(line, "\1\1\1\0\1\1\0\0", 8);
	put_length(line, at);
}

/* A quick answer has only lines if the units are far away. Version 5 line tables need no unit;
 * older ones need whole file names. The right table may be between others. */
static void test_quick(void **state)
{
	const uint64_t before = dwarf_quick_bytes;
	struct small_dwarf small, tables;
	struct small_file file;
	char told[ADDRESSES][512];
	struct dwarf *dwarf;

	(void)state;
	for (unsigned int way = 0; way < 3; way++)
		for (size_t in_front = 0; in_front < 3; in_front++) {
			const unsigned int version = way == 2 ? 5 : 4;
			small_whole_names = way == 1;
			small_dwarf_make(&small, version, false);
			small_dwarf_make(&tables, version, false);
			small.line.n = 0;
			for (size_t i = 0; i < in_front; i++)
				put_other_table(&small.line);
			put_bytes(&small.line, tables.line.at, tables.line.n);
			put_other_table(&small.line);
			small_program(&file, &small, SMALL_ZLIB, ET_DYN);
			int fd = small_file_fd(&file);
			assert_int_equal(open_fd(&dwarf, fd, -1), 0);
			/* The units are near. */
			assert_int_equal(ask_by(dwarf_lines_quick, dwarf, told), 0);
			dwarf_quick_bytes = 1;
			assert_int_equal(ask_by(dwarf_lines_quick, dwarf, told), way ? 1 : 0);
			small_whole_names = false;
			for (size_t i = 0; i < ADDRESSES && way; i++) {
				char wanted[512] = "";
				const char *place = strchr(known[i], ' ');
				if (place)
					snprintf(wanted, sizeof(wanted), "%.*s;",
						(int)strcspn(place, ";"), place);
				if (strcmp(wanted, " :0:0;") == 0)
					*wanted = '\0';
				assert_string_equal(told[i], wanted);
			}
			/* All units have been unpacked by then. */
			if (!in_front)
				check_all(dwarf);
			while (dwarf_idle())
				;
			assert_int_equal(ask_by(dwarf_lines_quick, dwarf, told), 0);
			dwarf_quick_bytes = before;
			close(fd);
			dwarf_forget();
		}
}

static void test_split(void **state)
{
	struct small_dwarf small;
	struct small_file file, part;
	char told[ADDRESSES][512];
	struct dwarf *dwarf, *again;

	(void)state;
	for (unsigned int version = 4; version <= 5; version++) {
		small_dwarf_make(&small, version, true);
		small_program(&file, &small, SMALL_PLAIN, ET_EXEC);
		small_part(&part, &small);
		int fd = small_file_fd(&file), part_fd = small_file_fd(&part);
		assert_int_equal(open_fd(&dwarf, fd, -1), 0);
		assert_int_equal(ask(dwarf, told), 0);
		assert_string_equal(told[3], " " INNER ":20:5;");
		assert_string_equal(told[10], "");
		assert_string_equal(dwarf_missing(dwarf, 0), "/src/main.dwo");
		assert_null(dwarf_missing(dwarf, 1));
		assert_int_equal(open_fd(&again, fd, part_fd), 0);
		assert_ptr_equal(again, dwarf);
		check_all(dwarf);
		assert_null(dwarf_missing(dwarf, 0));
		close(fd);
		close(part_fd);
		dwarf_forget();
	}
}

/* A part with the name of the unit but another id is not used. */
static void test_split_of_another(void **state)
{
	struct small_dwarf small;
	struct small_file file, part;
	struct dwarf *dwarf;
	char told[ADDRESSES][512];

	(void)state;
	small_dwarf_make(&small, 5, true);
	small_program(&file, &small, SMALL_PLAIN, ET_EXEC);
	small.info.at[12] ^= 1;
	small_part(&part, &small);
	int fd = small_file_fd(&file), part_fd = small_file_fd(&part);
	assert_int_equal(open_fd(&dwarf, fd, part_fd), 0);
	assert_int_equal(ask(dwarf, told), 0);
	assert_string_equal(told[3], " " INNER ":20:5;");
	assert_string_equal(dwarf_missing(dwarf, 0), "/src/main.dwo");
	close(fd);
	close(part_fd);
	dwarf_forget();
}

/* A confined worker, which opens no file and has little memory, can do all of this. */
static void test_confined(void **state)
{
	struct small_dwarf small;
	struct small_file file;
	int status;

	(void)state;
	small_dwarf_make(&small, 5, false);
	small_program(&file, &small, SMALL_ZLIB, ET_DYN);
	int fd = small_file_fd(&file);
	pid_t pid = fork();
	if (pid == 0) {
		struct codetab_entry entries[ADDRESSES] = {0};
		struct codetab_builder *builder = NULL;
		struct dwarf *dwarf;
		int table;
		if (confine_limits(256) < 0 || confine_syscalls() < 0)
			_exit(2);
		int ret = open_fd(&dwarf, fd, -1);
		if (ret == 0)
			ret = codetab_builder_new(&builder);
		if (ret == 0)
			ret = dwarf_lines(dwarf, asked, ADDRESSES, builder, entries);
		if (ret == 0)
			ret = codetab_builder_finish(builder, &table);
		while (dwarf_idle())
			;
		_exit(ret == 0 && entries[4].n_frames == 3 ? 0 : 3);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fd);
}

static void test_function(void **state)
{
	struct codetab_builder *builder;
	struct codetab_frame frame;
	struct small_dwarf small;
	struct small_file file;
	struct codetab table;
	struct dwarf *dwarf;
	uint64_t start, end;
	int table_fd;

	(void)state;
	small_dwarf_make(&small, 5, false);
	small_program(&file, &small, SMALL_PLAIN, ET_DYN);
	int fd = small_file_fd(&file);
	assert_int_equal(open_fd(&dwarf, fd, -1), 0);
	assert_int_equal(codetab_builder_new(&builder), 0);
	assert_false(dwarf_function(dwarf, 0x1050, builder, &frame, &start, &end));
	assert_true(dwarf_function(dwarf, 0x1012, builder, &frame, &start, &end));
	assert_int_equal(start, 0x1000);
	assert_int_equal(end, 0x1040);
	assert_int_equal(frame.decl_line, 9);
	codetab_builder_frames(builder, &frame, 1);
	assert_int_equal(codetab_builder_finish(builder, &table_fd), 0);
	assert_int_equal(codetab_open(&table, table_fd), 0);
	assert_string_equal(table.pool + frame.function, "outer");
	assert_string_equal(table.pool + frame.file, MAIN);
	codetab_close(&table);
	close(table_fd);
	codetab_builder_free(builder);
	close(fd);
	dwarf_forget();
}

/* A kept file is found by any descriptor. A third one replaces the least recently used. A changed
 * file counts as new. */
static void test_kept(void **state)
{
	struct small_dwarf small;
	struct small_file file;
	struct dwarf *dwarf[3], *again;
	int fds[3];

	(void)state;
	small_dwarf_make(&small, 5, false);
	small_program(&file, &small, SMALL_PLAIN, ET_DYN);
	for (size_t i = 0; i < 3; i++)
		fds[i] = small_file_fd(&file);
	assert_int_equal(open_fd(&dwarf[0], fds[0], -1), 0);
	assert_int_equal(open_fd(&dwarf[1], fds[1], -1), 0);
	int other = dup(fds[0]);
	assert_int_equal(open_fd(&again, other, -1), 0);
	close(other);
	assert_ptr_equal(again, dwarf[0]);
	assert_int_equal(open_fd(&dwarf[2], fds[2], -1), 0);
	assert_int_equal(open_fd(&again, fds[0], -1), 0);
	assert_ptr_equal(again, dwarf[0]);
	check_all(again);
	assert_int_equal(ftruncate(fds[0], 0), 0);
	assert_int_equal(open_fd(&again, fds[0], -1), -EBADMSG);
	for (size_t i = 0; i < 3; i++)
		close(fds[i]);
	dwarf_forget();
}

static void test_refused(void **state)
{
	struct small_dwarf small;
	struct small_file file;
	struct dwarf *dwarf;

	(void)state;
	small_dwarf_make(&small, 5, false);
	/* An unlinked file of a machine with unknown relocations. */
	small_program(&file, &small, SMALL_PLAIN, ET_REL);
	int fd = small_file_fd(&file);
	Elf64_Half machine = EM_S390;
	assert_int_equal(pwrite(fd, &machine, sizeof(machine), offsetof(Elf64_Ehdr, e_machine)), 2);
	assert_int_equal(open_fd(&dwarf, fd, -1), -ENOTSUP);
	assert_null(dwarf);
	close(fd);
	small.info.n = 0;
	small_program(&file, &small, SMALL_PLAIN, ET_DYN);
	fd = small_file_fd(&file);
	assert_int_equal(open_fd(&dwarf, fd, -1), -ENODATA);
	close(fd);
	fd = memfd_create("text", MFD_CLOEXEC);
	assert_int_equal(write(fd, "no program", 10), 10);
	assert_int_equal(open_fd(&dwarf, fd, -1), -EBADMSG);
	close(fd);
	dwarf_forget();
}

static void test_too_much_work(void **state)
{
	const uint64_t before = dwarf_work_max;
	struct small_dwarf small;
	struct small_file file;
	char told[ADDRESSES][512];
	struct dwarf *dwarf;

	(void)state;
	small_dwarf_make(&small, 5, false);
	small_program(&file, &small, SMALL_PLAIN, ET_DYN);
	int fd = small_file_fd(&file);
	assert_int_equal(open_fd(&dwarf, fd, -1), 0);
	bool once = false;
	for (dwarf_work_max = 0; dwarf_work_max < 400; dwarf_work_max++) {
		int ret = ask(dwarf, told);
		assert_true(ret == 0 || ret == -ELOOP);
		/* Each answer is correct or empty. */
		for (size_t i = 0; i < ADDRESSES; i++)
			assert_true(!*told[i] || strcmp(told[i], known[i]) == 0);
		once |= ret == -ELOOP;
	}
	assert_true(once);
	check_all(dwarf);
	dwarf_work_max = before;
	close(fd);
	dwarf_forget();
}

/* With a changed byte or an early end, nothing is read beyond the file and all questions end. */
static void test_broken(void **state)
{
	struct small_dwarf small;
	struct small_file file, broken;
	char told[ADDRESSES][512];
	struct dwarf *dwarf;

	(void)state;
	for (unsigned int version = 4; version <= 5; version++)
		for (int split = 0; split < 2; split++) {
			small_dwarf_make(&small, version, split);
			small_program(&file, &small, SMALL_PLAIN, ET_DYN);
			small_part(&broken, &small);
			int part = split ? small_file_fd(&broken) : -1;
			for (size_t i = 0; i < 2 * file.n; i++) {
				broken = file;
				if (i < file.n)
					broken.at[i] ^= i & 1 ? 0xff : 0x10;
				else
					broken.n = i - file.n;
				int fd = small_file_fd(&broken);
				if (open_fd(&dwarf, fd, part) == 0)
					ask(dwarf, told);
				close(fd);
				dwarf_forget();
			}
			close(part);
		}
}

/* A unit of perf inject --jit has only the place of its line table. The program defines files, the
 * second equal to the first. The end has the last row's address. */
static void test_line_table_alone(void **state)
{
	static const uint8_t abbrev[] = {1, 0x11, 0, 0x10, 0x06, 0, 0, 0};
	static const uint8_t info[] = {12, 0, 0, 0, 2, 0, 0, 0, 0, 0, 8, 1, 0, 0, 0, 0};
	static const uint8_t line[] = {0x4b, 0, 0, 0, 2, 0, 0x13, 0, 0, 0, 1, 1, 0xfb, 0xf2, 0x0d,
		0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0,
		/* address 0x1000, file, line 41; 4 bytes on another file, line 42 */
		0, 9, 2, 0x00, 0x10, 0, 0, 0, 0, 0, 0, 0, 16, 3, '/', 's', 'r', 'c', '/', 'h', 'o',
		't', '.', 'p', 'y', 0, 0, 0, 0, 4, 1, 0x3a, 0, 6, 3, 0xff, 0, 0, 0, 0, 4, 2, 3, 1,
		2, 4, 1, 0, 1, 1};
	char out[ADDRESSES][512];
	struct small_dwarf small;
	struct small_file file;
	struct dwarf *dwarf;

	(void)state;
	memset(&small, 0, sizeof(small));
	small.version = 2;
	put_bytes(&small.abbrev, abbrev, sizeof(abbrev));
	put_bytes(&small.info, info, sizeof(info));
	put_bytes(&small.line, line, sizeof(line));
	small_program(&file, &small, SMALL_PLAIN, ET_DYN);
	int fd = small_file_fd(&file);
	assert_int_equal(open_fd(&dwarf, fd, -1), 0);
	/* Reading the table again adds no files. */
	for (int round = 0; round < 2; round++) {
		assert_int_equal(ask(dwarf, out), 0);
		for (size_t i = 0; i < ADDRESSES; i++)
			assert_string_equal(out[i],
				i == 0			    ? ""
					: asked[i] < 0x1004 ? " /src/hot.py:41:0;"
							    : " /src/hot.py:42:0;");
	}
	dwarf_forget();
	close(fd);
}

static void test_ranges(void **state)
{
	struct dwarf_ranges ranges = {0};

	(void)state;
	assert_int_equal(dwarf_ranges_flatten(&ranges), 0);
	assert_null(dwarf_ranges_find(&ranges, 5));
	dwarf_ranges_add(&ranges, 10, 100, 0);
	dwarf_ranges_add(&ranges, 20, 40, 1);
	dwarf_ranges_add(&ranges, 30, 35, 2);
	dwarf_ranges_add(&ranges, 90, 120, 3);
	dwarf_ranges_add(&ranges, 50, 50, 4);
	dwarf_ranges_add(&ranges, 200, 100, 5);
	assert_int_equal(dwarf_ranges_flatten(&ranges), 0);
	static const struct {
		uint64_t address;
		uint32_t owner;
	} expected[] = {{10, 0}, {19, 0}, {20, 1}, {29, 1}, {30, 2}, {34, 2}, {35, 1}, {40, 0},
		{50, 0}, {89, 0}, {90, 3}, {119, 3}};
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(
			dwarf_ranges_find(&ranges, expected[i].address)->owner, expected[i].owner);
	assert_null(dwarf_ranges_find(&ranges, 9));
	assert_null(dwarf_ranges_find(&ranges, 120));
	dwarf_ranges_fini(&ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_quick),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_split_of_another),
		cmocka_unit_test(test_confined),
		cmocka_unit_test(test_function),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_too_much_work),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_line_table_alone),
		cmocka_unit_test(test_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
