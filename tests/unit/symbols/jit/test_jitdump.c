/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_jitdump.c - dumps in either byte order: loads, moves, ends, damaged and unfinished files.
 */
#include "symbols/jit/jitdump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <byteswap.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int fd;
static bool swapped;
static uint64_t record_ns = 1, header_flags;

static void put(const void *bytes, size_t len)
{
	assert_int_equal(write(fd, bytes, len), len);
}

static void put32(uint32_t value)
{
	value = swapped ? bswap_32(value) : value;
	put(&value, sizeof(value));
}

static void put64(uint64_t value)
{
	value = swapped ? bswap_64(value) : value;
	put(&value, sizeof(value));
}

static void begin(bool other_order)
{
	fd = memfd_create("dump", MFD_CLOEXEC);
	assert_true(fd >= 0);
	swapped = other_order;
	put32(0x4a695444);
	put32(1);
	put32(48); /* a header with an addition of a later version */
	put32(62);
	put32(0);
	put32(4711);
	put64(1);
	put64(header_flags);
	put64(0);
}

static void prefix(uint32_t kind, size_t body)
{
	put32(kind);
	put32((uint32_t)(16 + body));
	put64(record_ns);
}

static void load(uint64_t address, const char *name, const char *code, uint64_t index)
{
	const size_t len = strlen(code);

	prefix(0, 40 + strlen(name) + 1 + len);
	put32(4711);
	put32(4711);
	put64(address);
	put64(address);
	put64(len);
	put64(index);
	put(name, strlen(name) + 1);
	put(code, len);
}

static void move(uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	prefix(1, 48);
	put32(4711);
	put32(4711);
	put64(to);
	put64(from);
	put64(to);
	put64(size);
	put64(index);
}

static void check(
	const struct jitspans *spans, size_t i, uint64_t start, size_t size, const char *name)
{
	assert_true(i < spans->n);
	assert_int_equal(spans->at[i].start, start);
	assert_int_equal(spans->at[i].end - start, size);
	assert_int_equal(spans->at[i].len, strlen(name));
	assert_memory_equal(spans->names + spans->at[i].name, name, strlen(name));
}

static void check_code(
	const struct jitdump *dump, uint64_t address, uint64_t start, const char *code)
{
	struct jitdump_code found;
	char bytes[64];

	assert_int_equal(jitdump_find(dump, address, &found), 0);
	assert_int_equal(found.address, start);
	assert_int_equal(found.size, strlen(code));
	assert_int_equal(pread(fd, bytes, found.size, (off_t)found.file_offset), found.size);
	assert_memory_equal(bytes, code, found.size);
}

/* Checks that a batch finds each address like a single query. */
static void check_all(const struct jitdump *dump)
{
	static const uint64_t addresses[] = {
		0xfff, 0x1000, 0x1005, 0x1006, 0x2000, 0x3001, 0x3007, 0x3008, 0x6000};
	struct jitdump_code all[9], one;

	assert_int_equal(jitdump_find_all(dump, addresses, 9, all), 0);
	for (size_t i = 0; i < 9; i++) {
		if (jitdump_find(dump, addresses[i], &one) == 0)
			assert_memory_equal(&all[i], &one, sizeof(one));
		else
			assert_int_equal(all[i].size, 0);
	}
	assert_int_equal(all[1].size, 6);
	assert_int_equal(all[6].size, 8);
	assert_int_equal(all[6].loaded_at, 0x2000);
}

static void check_records(bool other_order)
{
	struct jitspans spans = {0};
	struct jitdump_code code;
	struct jitdump dump;

	begin(other_order);
	load(0x1000, "first", "1111", 7);
	load(0x2000, "second", "22222222", 8);
	prefix(2, 16); /* lines of a function, without any entry */
	put64(0x1000);
	put64(0);
	prefix(99, 8); /* a record type of a later version */
	put64(0);
	load(0x1000, "first again", "333333", 9);
	move(0x2000, 0x3000, 8, 8);
	move(0x5000, 0x6000, 8, 77); /* a move of unknown code */
	assert_int_equal(jitdump_open(&dump, fd, false), 0);
	assert_int_equal(dump.swapped, other_order);
	assert_int_equal(dump.machine, 62);
	assert_int_equal(jitdump_read(&dump, &spans), 0);
	assert_int_equal(spans.n, 4);
	check(&spans, 0, 0x1000, 4, "first");
	check(&spans, 1, 0x2000, 8, "second");
	check(&spans, 2, 0x1000, 6, "first again");
	check(&spans, 3, 0x3000, 8, "second");
	check_code(&dump, 0x1003, 0x1000, "333333");
	check_code(&dump, 0x3000, 0x3000, "22222222");
	check_all(&dump);
	assert_int_equal(jitdump_find(&dump, 0x1006, &code), -ENOENT);
	jitspans_fini(&spans);
	close(fd);
}

struct told_line {
	uint64_t address;
	uint32_t line;
	const char *file; /* "\xff": same as the previous one */
};

static void put_lines(uint64_t address, const struct told_line *lines, size_t n)
{
	size_t len = 16;

	for (size_t i = 0; i < n; i++)
		len += 16 + strlen(lines[i].file) + 1;
	prefix(2, len);
	put64(address);
	put64(n);
	for (size_t i = 0; i < n; i++) {
		put64(lines[i].address);
		put32(lines[i].line);
		put32(0);
		put(lines[i].file, strlen(lines[i].file) + 1);
	}
}

static void check_lines(
	const struct jitdump *dump, uint64_t address, const struct told_line *lines, size_t n)
{
	struct jitdump_lines told;
	struct jitdump_code code;

	assert_int_equal(jitdump_find(dump, address, &code), 0);
	assert_int_equal(jitdump_lines_read(dump, &code, &told), 0);
	assert_int_equal(told.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(told.at[i].address, lines[i].address);
		assert_int_equal(told.at[i].line, lines[i].line);
		assert_string_equal(told.names + told.at[i].file, lines[i].file);
	}
	jitdump_lines_fini(&told);
}

/* Lines come before their code and move with it. */
static void test_lines(void **state)
{
	static const struct told_line first[] = {
		{0x1004, 12, "/src/a.js"}, {0x1000, 11, "\xff"}, {0x1006, 3, "/src/b.js"}};
	static const struct told_line sorted[] = {
		{0x1000, 11, "/src/a.js"}, {0x1004, 12, "/src/a.js"}, {0x1006, 3, "/src/b.js"}};
	static const struct told_line moved[] = {
		{0x5000, 11, "/src/a.js"}, {0x5004, 12, "/src/a.js"}, {0x5006, 3, "/src/b.js"}};
	static const struct told_line other[] = {{0x9000, 1, "/src/c.js"}};
	struct jitdump_lines told;
	struct jitdump_code code;
	struct jitdump dump;

	(void)state;
	for (int order = 0; order < 2; order++) {
		begin(order);
		put_lines(0x1000, first, 3);
		load(0x1000, "first", "11111111", 7);
		load(0x2000, "second", "22222222", 8); /* not the code of the lines */
		put_lines(0x9000, other, 1);
		load(0x3000, "third", "33333333", 9); /* not the code of these lines either */
		assert_int_equal(jitdump_open(&dump, fd, false), 0);
		check_lines(&dump, 0x1003, sorted, 3);
		check_lines(&dump, 0x2000, NULL, 0);
		check_lines(&dump, 0x3000, NULL, 0);
		move(0x1000, 0x5000, 8, 7);
		check_lines(&dump, 0x5003, moved, 3);
		load(0x1000, "without", "44444444", 10);
		check_lines(&dump, 0x1000, NULL, 0);
		close(fd);
	}
	/* More lines are announced than exist. */
	begin(false);
	prefix(2, 16 + 18);
	put64(0x1000);
	put64(UINT64_MAX);
	put64(0x1000);
	put32(5);
	put32(0);
	put("ab", 2);
	load(0x1000, "first", "1111", 7);
	assert_int_equal(jitdump_open(&dump, fd, false), 0);
	assert_int_equal(jitdump_find(&dump, 0x1000, &code), 0);
	assert_int_equal(jitdump_lines_read(&dump, &code, &told), 0);
	assert_int_equal(told.n, 0);
	jitdump_lines_fini(&told);
	close(fd);
}

static void test_records(void **state)
{
	(void)state;
	check_records(false);
	check_records(true);
}

static void test_a_dump_ends(void **state)
{
	struct jitspans spans = {0};
	struct jitdump dump;

	(void)state;
	begin(false);
	load(0x1000, "first", "1111", 7);
	prefix(3, 0);
	load(0x2000, "of whoever wrote on", "2", 8);
	assert_int_equal(jitdump_open(&dump, fd, false), 0);
	assert_int_equal(jitdump_read(&dump, &spans), 0);
	assert_int_equal(spans.n, 1);
	jitspans_fini(&spans);
	close(fd);
}

/* Long names that differ at their ends. */
static void test_long_name(void **state)
{
	struct jitspans spans = {0};
	struct jitdump dump;
	char name[20000];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	begin(false);
	load(0x1000, "before", "1111", 7);
	load(0x2000, name, "22222222", 8);
	load(0x3000, "behind", "3333", 9);
	assert_int_equal(jitdump_open(&dump, fd, false), 0);
	assert_int_equal(jitdump_read(&dump, &spans), 0);
	assert_int_equal(spans.n, 3);
	check(&spans, 0, 0x1000, 4, "before");
	check(&spans, 1, 0x2000, 8, name);
	check(&spans, 2, 0x3000, 4, "behind");
	check_code(&dump, 0x2000, 0x2000, "22222222");
	jitspans_fini(&spans);
	close(fd);
}

static void test_cut_anywhere(void **state)
{
	struct jitdump dump;

	(void)state;
	begin(false);
	load(0x1000, "first", "1111", 7);
	const off_t first = lseek(fd, 0, SEEK_CUR);
	load(0x2000, "second", "2222", 8);
	for (off_t len = lseek(fd, 0, SEEK_CUR) - 1; len >= 0; len--) {
		struct jitspans spans = {0};

		assert_int_equal(ftruncate(fd, len), 0);
		int ret = jitdump_open(&dump, fd, false);
		assert_int_equal(ret, len < 40 ? -ENOEXEC : 0);
		if (ret == 0)
			assert_int_equal(jitdump_read(&dump, &spans), 0);
		assert_int_equal(spans.n, len >= first ? 1 : 0);
		jitspans_fini(&spans);
	}
	close(fd);
}

static void test_lies(void **state)
{
	struct jitspans spans = {0};
	struct jitdump_code code;
	struct jitdump dump;

	(void)state;
	begin(false);
	/* Code that is larger than its record. */
	prefix(0, 48);
	put32(1);
	put32(1);
	put64(0x1000);
	put64(0x1000);
	put64(UINT64_MAX);
	put64(1);
	put("1234567", 8);
	/* A name without an end. */
	prefix(0, 44);
	put32(1);
	put32(1);
	put64(0x2000);
	put64(0x2000);
	put64(1);
	put64(2);
	put("abcd", 4);
	/* Too short for the type. */
	prefix(0, 8);
	put64(0);
	prefix(1, 8);
	put64(0);
	/* A record of size 0, which would never end. */
	put32(0);
	put32(0);
	put64(0);
	load(0x4000, "beyond", "1", 3);
	assert_int_equal(jitdump_open(&dump, fd, false), 0);
	assert_int_equal(jitdump_read(&dump, &spans), 0);
	assert_int_equal(spans.n, 1);
	check(&spans, 0, 0x2000, 1, "abcd");
	assert_int_equal(jitdump_find(&dump, 0x1000, &code), -ENOENT);
	jitspans_fini(&spans);
	close(fd);
	begin(false);
	assert_int_equal(pwrite(fd, "\0\0\0\0", 4, 8), 4); /* a header of size 0 */
	assert_int_equal(jitdump_open(&dump, fd, false), -ENOEXEC);
	close(fd);
}

static void test_too_many_records(void **state)
{
	struct jitspans spans = {0};
	struct jitdump_code code;
	struct jitdump dump;

	(void)state;
	begin(false);
	load(0x1000, "early", "1", 1);
	const off_t from = lseek(fd, 0, SEEK_CUR), size = 16;
	const uint32_t record[4] = {9, 16, 0, 0};
	uint32_t *records = calloc(JITDUMP_RECORDS_MAX, sizeof(record));

	assert_non_null(records);
	for (size_t i = 0; i < JITDUMP_RECORDS_MAX; i++)
		memcpy(records + 4 * i, record, sizeof(record));
	put(records, JITDUMP_RECORDS_MAX * sizeof(record));
	free(records);
	load(0x2000, "late", "1", 2);
	assert_int_equal(jitdump_open(&dump, fd, false), 0);
	assert_int_equal(jitdump_read(&dump, &spans), 0);
	assert_int_equal(spans.n, 1);
	assert_int_equal(spans.cut_bytes, from + (JITDUMP_RECORDS_MAX - 1) * size);
	assert_int_equal(jitdump_find(&dump, 0x1000, &code), 0);
	assert_int_equal(jitdump_find(&dump, 0x2000, &code), -ENOENT);
	jitspans_fini(&spans);
	close(fd);
}

static void test_many_moves(void **state)
{
	struct jitspans spans = {0};
	struct jitdump dump;

	(void)state;
	begin(false);
	for (uint64_t i = 0; i < 3000; i++)
		load(0x100000 + i * 16, "moves", "1", i);
	for (uint64_t i = 0; i < 3000; i++)
		move(0x100000 + i * 16, 0x900000 + i * 16, 1, i);
	assert_int_equal(jitdump_open(&dump, fd, false), 0);
	assert_int_equal(jitdump_read(&dump, &spans), 0);
	assert_int_equal(spans.n, 6000);
	check(&spans, 5999, 0x900000 + 2999 * 16, 1, "moves");
	jitspans_fini(&spans);
	close(fd);
}

/* Returns the number of read(2) and similar calls so far; 0 if the kernel does not count them. */
static uint64_t count_reads(void)
{
	FILE *file = fopen("/proc/self/io", "re");
	char line[128];
	unsigned long long n = 0;

	while (file && fgets(line, sizeof(line), file))
		(void)sscanf(line, "syscr: %llu", &n);
	if (file)
		fclose(file);
	return n;
}

/* Code is loaded and moved, then other code with these numbers is loaded and moved elsewhere. Each
 * piece has the bytes of its own load. Finding all pieces takes two passes through the records. */
static void test_many_moved_are_found(void **state)
{
	enum { N = 300, RECORDS = 4 * N };
	struct jitdump_code codes[2 * N];
	uint64_t addresses[2 * N];
	struct jitdump dump;

	(void)state;
	begin(false);
	for (uint64_t i = 0; i < N; i++)
		load(0x100000 + i * 16, "first", "1", N - i);
	for (uint64_t i = 0; i < N; i++)
		move(0x100000 + i * 16, 0x900000 + i * 16, 1, N - i);
	for (uint64_t i = 0; i < N; i++)
		load(0x200000 + i * 16, "second", "22", N - i);
	for (uint64_t i = 0; i < N; i++)
		move(0x200000 + i * 16, 0xa00000 + i * 16, 2, N - i);
	for (uint64_t i = 0; i < N; i++) {
		addresses[i] = 0x900000 + i * 16;
		addresses[N + i] = 0xa00000 + i * 16 + 1;
	}
	assert_int_equal(jitdump_open(&dump, fd, false), 0);
	const uint64_t before = count_reads();
	assert_int_equal(jitdump_find_all(&dump, addresses, 2 * N, codes), 0);
	assert_in_range(count_reads() - before, 0, 2 * 2 * RECORDS + 100);
	for (uint64_t i = 0; i < N; i++) {
		assert_int_equal(codes[i].size, 1);
		assert_int_equal(codes[i].address, 0x900000 + i * 16);
		assert_int_equal(codes[i].loaded_at, 0x100000 + i * 16);
		assert_int_equal(codes[N + i].size, 2);
		assert_int_equal(codes[N + i].address, 0xa00000 + i * 16);
		assert_int_equal(codes[N + i].loaded_at, 0x200000 + i * 16);
		check_code(&dump, addresses[i], 0x900000 + i * 16, "1");
	}
	close(fd);
}

#define NEXT (UINT64_C(1) << JITSPANS_SHIFT)

static void load_at(uint64_t time_ns, uint64_t address, const char *name, const char *code)
{
	record_ns = time_ns;
	load(address, name, code, time_ns);
}

/* With times, each piece of code at an address is found by its number. */
static void test_times(void **state)
{
	static const struct told_line lines[] = {{0x1000, 7, "/src/two.js"}};
	static const struct told_line told[] = {{NEXT + 0x1000, 7, "/src/two.js"}};
	struct jitspans spans = {0};
	struct jitdump_code code;
	struct jitdump dump;

	(void)state;
	for (int order = 0; order < 2; order++) {
		begin(order);
		load_at(10, 0x1000, "one", "11111111");
		record_ns = 20;
		put_lines(0x1000, lines, 1);
		load_at(20, 0x1000, "two", "2222");
		load_at(15, 0x2000, "late", "3333"); /* times must not decrease */
		record_ns = 40;
		move(0x2000, 0x1002, 4, 15);
		assert_int_equal(jitdump_open(&dump, fd, true), 0);
		assert_int_equal(jitdump_read(&dump, &spans), 0);
		assert_int_equal(spans.n, 4);
		assert_int_equal(spans.at[1].since_ns, 20);
		assert_int_equal(spans.at[2].since_ns, 20);
		assert_int_equal(spans.at[3].since_ns, 40);
		jitspans_fini(&spans);
		check_code(&dump, 0x1000, 0x1000, "11111111");
		check_code(&dump, NEXT + 0x1000, NEXT + 0x1000, "2222");
		check_code(&dump, 0x1007, 0x1000, "11111111");
		check_code(&dump, 2 * NEXT + 0x1002, 2 * NEXT + 0x1002, "3333");
		check_code(&dump, NEXT + 0x1004, NEXT + 0x1002, "3333");
		check_lines(&dump, NEXT + 0x1000, told, 1);
		close(fd);
	}
	/* Code that is loaded again does not count as new. A time of day is not a time of this
	 * clock. */
	begin(false);
	load_at(10, 0x1000, "one", "1111");
	load_at(20, 0x1000, "one", "2222");
	load_at(30, 0x1000, "two", "3333");
	assert_int_equal(jitdump_open(&dump, fd, true), 0);
	check_code(&dump, 0x1000, 0x1000, "2222");
	check_code(&dump, NEXT + 0x1000, NEXT + 0x1000, "3333");
	close(fd);
	begin(false);
	load_at(1800000000000000000, 0x1000, "one", "1111");
	load_at(1800000000000000001, 0x1000, "two", "2222");
	assert_int_equal(jitdump_open(&dump, fd, true), 0);
	check_code(&dump, 0x1000, 0x1000, "2222");
	close(fd);
	/* Times of another clock are ignored: the last state counts. */
	header_flags = 1;
	begin(false);
	load_at(10, 0x1000, "one", "11111111");
	load_at(20, 0x1000, "two", "2222");
	assert_int_equal(jitdump_open(&dump, fd, true), 0);
	check_code(&dump, 0x1000, 0x1000, "2222");
	close(fd);
	header_flags = 0;
	begin(false);
	load_at(10, 0x1000, "one", "11111111");
	load_at(20, 0x1000, "two", "2222");
	assert_int_equal(jitdump_open(&dump, fd, false), 0);
	check_code(&dump, 0x1000, 0x1000, "2222");
	assert_int_equal(jitdump_find(&dump, 0x2000, &code), -ENOENT);
	close(fd);
	record_ns = 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_a_dump_ends),
		cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_many_moves),
		cmocka_unit_test(test_many_moved_are_found),
		cmocka_unit_test(test_too_many_records),
		cmocka_unit_test(test_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
