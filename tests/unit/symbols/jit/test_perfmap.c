/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_perfmap.c - lines of perf-PID.map, valid and invalid, whole and in pieces.
 *
 * Also overlapping code: the pieces that remain, and the history at each address.
 */
#include "symbols/jit/perfmap.h"
#include "tests/unit/span_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void feed(struct jitspans *spans, const char *text, size_t piece)
{
	const size_t len = strlen(text);
	struct perfmap *map = malloc(sizeof(*map));

	assert_non_null(map);
	*spans = (struct jitspans){0};
	perfmap_init(map, spans);
	for (size_t at = 0; at < len; at += piece)
		perfmap_feed(map, text + at, len - at < piece ? len - at : piece);
	assert_int_equal(map->error, 0);
	free(map);
}

static void check(
	const struct jitspans *spans, size_t i, uint64_t start, uint64_t end, const char *name)
{
	assert_true(i < spans->n);
	assert_int_equal(spans->at[i].start, start);
	assert_int_equal(spans->at[i].end, end);
	assert_int_equal(spans->at[i].len, strlen(name));
	assert_memory_equal(spans->names + spans->at[i].name, name, strlen(name));
}

static void test_lines(void **state)
{
	static const char text[] = "7f21c8a00d40 1c8 JS:*fib /home/me/fib.js:1:13\n"
				   "7f21c8a01000 20 py::<module>:/x/a b.py\n"
				   "0x7F21C8A02000\t0x10\t0x is written by some\r\n"
				   "\n"
				   "no number at all\n"
				   "7f21c8a03000\n"
				   "7f21c8a03000 10\n"
				   "7f21c8a03000 10 \n"
				   "7f21c8a03000 -10 negative\n"
				   "17f21c8a030000000 10 too many digits\n"
				   "0 10 at the start of a module\n"
				   "7f21c8a04000 0 of no size\n"
				   "7f21c8a05000 ffffffffffffffff very long\n"
				   "fffffffffffffff0 20 at the end\n"
				   "7f21c8a06000 10 still being writ";
	static const size_t pieces[] = {1, 2, 7, 13, sizeof(text)};

	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct jitspans spans;
		feed(&spans, text, pieces[i]);
		assert_int_equal(spans.n, 7);
		check(&spans, 0, 0x7f21c8a00d40, 0x7f21c8a00f08, "JS:*fib /home/me/fib.js:1:13");
		check(&spans, 1, 0x7f21c8a01000, 0x7f21c8a01020, "py::<module>:/x/a b.py");
		check(&spans, 2, 0x7f21c8a02000, 0x7f21c8a02010, "0x is written by some");
		check(&spans, 3, 0, 0x10, "at the start of a module");
		check(&spans, 4, 0x7f21c8a04000, 0x7f21c8a04001, "of no size");
		check(&spans, 5, 0x7f21c8a05000, 0x7f21c8a05000 + UINT32_MAX, "very long");
		check(&spans, 6, 0xfffffffffffffff0, UINT64_MAX, "at the end");
		jitspans_fini(&spans);
	}
}

static void test_long_line(void **state)
{
	static char text[3 * PERFMAP_LINE_MAX] = "1000 10 ";
	struct jitspans spans;

	(void)state;
	memset(text + 8, 'x', 2 * PERFMAP_LINE_MAX);
	strcpy(text + 8 + 2 * PERFMAP_LINE_MAX, "\n2000 10 next\n");
	for (size_t piece = 1; piece < sizeof(text); piece += 4099) {
		feed(&spans, text, piece);
		assert_int_equal(spans.n, 2);
		assert_int_equal(spans.at[0].len, PERFMAP_LINE_MAX - 8);
		check(&spans, 1, 0x2000, 0x2010, "next");
		jitspans_fini(&spans);
	}
}

static void test_a_file_is_read_from_its_beginning(void **state)
{
	struct jitspans spans = {0};
	int fd = memfd_create("map", MFD_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	for (int i = 0; i < 20000; i++)
		assert_true(dprintf(fd, "%x 10 function number %d\n", 0x1000 + i * 16, i) > 0);
	assert_int_equal(perfmap_read(fd, NULL, 0, &spans), 0);
	assert_int_equal(spans.n, 20000);
	check(&spans, 19999, 0x1000 + 19999 * 16, 0x1000 + 20000 * 16, "function number 19999");
	jitspans_fini(&spans);
	close(fd);
	assert_int_equal(perfmap_read(-1, NULL, 0, &spans), -EBADF);
}

/* The second part skips the line in which it begins. */
static void test_the_middle_of_a_large_file_is_left_out(void **state)
{
	const char middle[] = "3000 10 left out\n4000 10 last but one\n";
	const off_t size = (off_t)10 << 30, half = PERFMAP_BYTES_MAX / 2;
	struct jitspans spans = {0};
	int fd = memfd_create("map", MFD_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_true(dprintf(fd, "1000 10 first\n2000 10 last of the first part\n") > 0);
	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(pwrite(fd, middle, strlen(middle), size - half - 5), strlen(middle));
	assert_int_equal(pwrite(fd, "\n5000 10 last\n", 14, size - 14), 14);
	assert_int_equal(perfmap_read(fd, NULL, 0, &spans), 0);
	assert_int_equal(spans.n, 4);
	check(&spans, 1, 0x2000, 0x2010, "last of the first part");
	check(&spans, 2, 0x4000, 0x4010, "last but one");
	check(&spans, 3, 0x5000, 0x5010, "last");
	assert_int_equal(spans.cut_bytes, PERFMAP_BYTES_MAX);
	jitspans_fini(&spans);
	close(fd);
}

/* --- overlaps --- */

static void add(struct jitspans *spans, uint64_t start, uint64_t size, const char *name)
{
	assert_int_equal(jitspans_add(spans, start, size, 0, name, strlen(name)), 0);
}

static uint32_t build(struct jitspans *spans, struct symtab *table)
{
	const uint32_t count = span_table(spans, table);

	jitspans_fini(spans);
	return count;
}

static const char *name_at(const struct symtab *table, uint64_t address)
{
	int64_t i = symtab_find(table, address);

	return i < 0 ? "" : table->pool + table->entries[i].name;
}

static void test_the_later_one_is_there(void **state)
{
	struct jitspans spans = {0};
	struct symtab table;

	(void)state;
	add(&spans, 0x1000, 0x100, "old");
	add(&spans, 0x1080, 0x100, "new"); /* over the end of "old" */
	add(&spans, 0x2000, 0x100, "outer");
	add(&spans, 0x2040, 0x10, "inner");
	add(&spans, 0x3010, 0x10, "gone");
	add(&spans, 0x3000, 0x100, "whole");
	add(&spans, 0x4000, 0x10, "same");
	add(&spans, 0x4000, 0x10, "again");
	assert_int_equal(build(&spans, &table), 7);
	assert_string_equal(name_at(&table, 0x0fff), "");
	assert_string_equal(name_at(&table, 0x107f), "old");
	assert_string_equal(name_at(&table, 0x1080), "new");
	assert_string_equal(name_at(&table, 0x117f), "new");
	assert_string_equal(name_at(&table, 0x1180), "");
	assert_string_equal(name_at(&table, 0x203f), "outer");
	assert_string_equal(name_at(&table, 0x2040), "inner");
	assert_string_equal(name_at(&table, 0x2050), "outer");
	assert_string_equal(name_at(&table, 0x3018), "whole");
	assert_string_equal(name_at(&table, 0x4000), "again");
	symtab_close(&table);
	assert_int_equal(build(&spans, &table), 0);
	symtab_close(&table);
}

/* For each address, the last piece that covers it counts. */
static void test_as_looked_at_one_by_one(void **state)
{
	enum { SPACE = 512, PIECES = 120 };
	struct jitspans spans = {0};
	char names[PIECES][8];
	int owner[SPACE];
	struct symtab table;
	unsigned int random = 1;

	(void)state;
	memset(owner, -1, sizeof(owner));
	for (int i = 0; i < PIECES; i++) {
		random = random * 1103515245 + 12345;
		unsigned int start = random >> 8 & 255, size = 1 + (random >> 18 & 127);
		snprintf(names[i], sizeof(names[i]), "f%d", i);
		add(&spans, 0x10000 + start, size, names[i]);
		for (unsigned int k = 0; k < size; k++)
			owner[start + k] = i;
	}
	build(&spans, &table);
	for (unsigned int k = 0; k < SPACE; k++)
		assert_string_equal(
			name_at(&table, 0x10000 + k), owner[k] < 0 ? "" : names[owner[k]]);
	symtab_close(&table);
}

/* --- history at an address --- */

#define NEXT (UINT64_C(1) << JITSPANS_SHIFT)

static uint64_t since_of(const struct symtab *table, uint64_t address)
{
	for (uint32_t i = 0; i < table->n_changes; i++)
		if (address - table->changes[i].start < table->changes[i].size)
			return table->changes[i].since_ns;
	return 0;
}

static void add_since(
	struct jitspans *spans, uint64_t start, uint64_t size, uint64_t since_ns, const char *name)
{
	assert_int_equal(jitspans_add(spans, start, size, since_ns, name, strlen(name)), 0);
}

static void test_what_lay_there_before(void **state)
{
	struct jitspans spans = {0};
	struct symtab table;

	(void)state;
	add_since(&spans, 0x1000, 0x100, 5, "one");
	add_since(&spans, 0x1080, 0x100, 7, "two");
	add_since(&spans, 0x1080, 0x80, 7, "two as well"); /* at the same time */
	add_since(&spans, 0x1000, 0x100, 9, "three");
	add_since(&spans, NEXT - 8, 0x100, 11, "cut"); /* ends where numbered addresses begin */
	add_since(&spans, NEXT + 0x1000, 0x100, 11, "number");
	add_since(&spans, 0xffff000000000000, 0x100, 11, "kernel");
	add_since(&spans, 0xffff000000000000, 0x100, 12, "kernel's last");
	build(&spans, &table);
	assert_string_equal(name_at(&table, 0x1000), "one");
	assert_string_equal(name_at(&table, 0x10ff), "one");
	assert_string_equal(name_at(&table, 0x1100), "two");
	assert_string_equal(name_at(&table, NEXT + 0x1000), "three");
	assert_string_equal(name_at(&table, NEXT + 0x1080), "two as well");
	assert_string_equal(name_at(&table, 2 * NEXT + 0x1080), "three");
	assert_string_equal(name_at(&table, NEXT + 0x1100), "");
	assert_string_equal(name_at(&table, NEXT - 1), "cut");
	assert_string_equal(name_at(&table, NEXT), "");
	assert_string_equal(name_at(&table, 0xffff000000000000), "kernel's last");
	assert_int_equal(since_of(&table, NEXT + 0x1000), 9);
	assert_int_equal(since_of(&table, NEXT + 0x1080), 7);
	assert_int_equal(since_of(&table, 2 * NEXT + 0x1080), 9);
	assert_int_equal(table.n_changes, 3);
	symtab_close(&table);
}

/* A repeated line is not a change. A name is stored once. */
static void test_told_again(void **state)
{
	struct jitspans spans = {0};
	struct symtab table;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		add_since(&spans, 0x1000, 0x100, 5 + i, "same");
	add_since(&spans, 0x1000, 0x100, 2000, "other");
	add_since(&spans, 0x1000, 0x100, 2001, "same");
	build(&spans, &table);
	assert_int_equal(table.n_entries, 3);
	assert_string_equal(name_at(&table, 0x1000), "same");
	assert_string_equal(name_at(&table, NEXT + 0x1000), "other");
	assert_string_equal(name_at(&table, 2 * NEXT + 0x1000), "same");
	assert_int_equal(since_of(&table, NEXT + 0x1000), 2000);
	symtab_close(&table);
}

/* A dump is preferred to a map, with and without times. */
static void test_maps_and_dumps(void **state)
{
	for (uint64_t since_ns = 0; since_ns < 2; since_ns++) {
		struct jitspans spans = {0};
		struct symtab table;

		(void)state;
		add_since(&spans, 0x1000, 0x100, 1, "mapped");
		add_since(&spans, 0x1000, 0x10, 5, "mapped later");
		spans.n_mapped = spans.n;
		add_since(&spans, 0x1000, 0x80, since_ns, "dumped");
		build(&spans, &table);
		assert_string_equal(name_at(&table, 0x1000), "dumped");
		assert_string_equal(name_at(&table, 0x1080), "mapped");
		assert_int_equal(table.n_changes, 0);
		symtab_close(&table);
	}
}

/* The history equals that of each address and time, computed one by one. */
static void test_history_one_by_one(void **state)
{
	enum { SPACE = 200, PIECES = 120 };
	struct piece {
		unsigned int start, size;
		uint64_t since_ns;
		char name[8];
	} pieces[PIECES];
	struct jitspans spans = {0};
	struct symtab table;
	uint32_t random = 1;

	(void)state;
	for (unsigned int i = 0; i < PIECES; i++) {
		random = random * 1103515245 + 12345;
		pieces[i] = (struct piece){.start = (random >> 8) % SPACE,
			.size = 1 + (random >> 20) % 40,
			.since_ns = 10 + i / 2};
		snprintf(pieces[i].name, sizeof(pieces[i].name), "f%u", i);
		add_since(&spans, 0x10000 + pieces[i].start, pieces[i].size, pieces[i].since_ns,
			pieces[i].name);
	}
	build(&spans, &table);
	for (unsigned int k = 0; k < SPACE; k++) {
		const struct piece *before = NULL;
		uint64_t number = 0;

		for (unsigned int i = 0; i <= PIECES; i++) {
			const struct piece *piece = &pieces[i];

			if (i < PIECES && k - piece->start >= piece->size)
				continue;
			if (before && (i == PIECES || piece->since_ns != before->since_ns)) {
				const uint64_t at = number * NEXT + 0x10000 + k;

				assert_string_equal(name_at(&table, at), before->name);
				assert_int_equal(
					since_of(&table, at), number ? before->since_ns : 0);
				number++;
			}
			before = i < PIECES ? piece : NULL;
		}
		assert_string_equal(name_at(&table, number * NEXT + 0x10000 + k), "");
	}
	symtab_close(&table);
}

/* The history is limited, but the last piece is found. */
static void test_too_much_history(void **state)
{
	enum { PIECES = 20000 };
	struct jitspans spans = {0};
	struct symtab table;

	(void)state;
	for (uint64_t i = 0; i < PIECES; i++)
		add_since(&spans, 0x10000 + i, 2 * PIECES, 1 + i, i + 1 < PIECES ? "f" : "last");
	build(&spans, &table);
	assert_true(table.n_entries < SYMTAB_SYMBOLS_MAX);
	assert_string_equal(name_at(&table, 0x10000 + 2 * PIECES - 1), "last");
	assert_string_equal(name_at(&table, 0x10000 + PIECES - 1 + 2 * PIECES - 1), "last");
	symtab_close(&table);
}

static void test_steps(void **state)
{
	static const char text[] = "1000 10 first\n1000 10 second\n2000 10 third\n";
	const struct perfmap_step steps[] = {{0, 1}, {14, 50}, {29, 70}};
	const int fd = memfd_create("map", MFD_CLOEXEC);
	struct jitspans spans = {0};

	(void)state;
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(perfmap_read(fd, steps, 3, &spans), 0);
	assert_int_equal(spans.n, 3);
	assert_int_equal(spans.at[0].since_ns, 1);
	assert_int_equal(spans.at[1].since_ns, 50);
	assert_int_equal(spans.at[2].since_ns, 70);
	jitspans_fini(&spans);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_a_file_is_read_from_its_beginning),
		cmocka_unit_test(test_the_middle_of_a_large_file_is_left_out),
		cmocka_unit_test(test_the_later_one_is_there),
		cmocka_unit_test(test_as_looked_at_one_by_one),
		cmocka_unit_test(test_what_lay_there_before),
		cmocka_unit_test(test_told_again),
		cmocka_unit_test(test_maps_and_dumps),
		cmocka_unit_test(test_history_one_by_one),
		cmocka_unit_test(test_too_much_history),
		cmocka_unit_test(test_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
