/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_symtab.c - which symbol wins, how far it reaches, and that damaged tables are never read out
 * of bounds.
 */
#include "symbols/wire/symtab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void add(struct symtab_builder *builder, uint64_t start, uint64_t size, unsigned int kind,
	const char *name)
{
	symtab_builder_add(builder, start, size, 0x1000, kind, name, strlen(name), 0);
}

static void finish(struct symtab_builder *builder, struct symtab *table)
{
	uint32_t count;
	int fd;

	assert_int_equal(symtab_builder_finish(builder, &fd, &count), 0);
	symtab_builder_free(builder);
	assert_int_equal(symtab_open(table, fd), 0);
	assert_int_equal(table->n_entries, count);
	close(fd);
}

static const char *name_at(const struct symtab *table, uint64_t offset)
{
	int64_t i = symtab_find(table, offset);

	return i < 0 ? NULL : symtab_name(table, i);
}

static struct symtab_builder *new_builder(void)
{
	struct symtab_builder *builder;

	assert_int_equal(symtab_builder_new(&builder), 0);
	return builder;
}

static void test_choice(void **state)
{
	/* Each pair: the loser and the winner at one address, added in both orders. */
	static const struct {
		uint64_t size[2];
		unsigned int kind[2];
		const char *name[2];
	} pairs[] = {
		{{0, 8}, {0, 0}, {"longer_but_unsized", "sized"}},
		{{8, 8}, {SYMTAB_WEAK, SYMTAB_LOCAL}, {"weak_one", "local"}},
		{{8, 8}, {SYMTAB_LOCAL, 0}, {"local_one", "global"}},
		{{8, 8}, {0, 0}, {"__underscored", "plain"}},
		{{8, 8}, {0, 0}, {"short", "longer_name"}},
		{{8, 0}, {SYMTAB_SYNTHETIC, SYMTAB_LABEL}, {"f@plt", "real"}},
	};
	struct symtab table;

	(void)state;
	for (int order = 0; order < 2; order++) {
		struct symtab_builder *builder = new_builder();
		for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
			for (int j = 0; j < 2; j++) {
				int k = order ? !j : j;
				add(builder, 0x100 * (i + 1), pairs[i].size[k], pairs[i].kind[k],
					pairs[i].name[k]);
			}
		finish(builder, &table);
		assert_int_equal(table.n_entries, sizeof(pairs) / sizeof(pairs[0]));
		for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
			assert_string_equal(name_at(&table, 0x100 * (i + 1)), pairs[i].name[1]);
		symtab_close(&table);
	}
}

/* Among equally good names, the one with the greater number wins, even by one. */
static void test_first(void **state)
{
	struct symtab table;

	(void)state;
	for (uint32_t order = 0; order < 2; order++) {
		struct symtab_builder *builder = new_builder();
		symtab_builder_add(
			builder, 0x100, 8, 8, 0, "one@@V2", 7, order ? 8000004 : 8000005);
		symtab_builder_add(
			builder, 0x100, 8, 8, 0, "one@V10", 7, order ? 8000005 : 8000004);
		finish(builder, &table);
		assert_string_equal(name_at(&table, 0x100), order ? "one@V10" : "one@@V2");
		assert_null(table.modules);
		symtab_close(&table);
	}
}

static void test_move(void **state)
{
	struct symtab_builder *builder;
	struct symtab table;

	(void)state;
	for (uint64_t delta = 0; delta < 2; delta++) {
		builder = new_builder();
		uint32_t module = symtab_builder_module(builder, "mod", 3);
		add(builder, 0x1000, 8, 0, "core");
		symtab_builder_add(builder, 0x9000, 8, 8, 0, "in_module", 9, module);
		symtab_builder_move(builder, delta ? (uint64_t)-0x800 : 0);
		finish(builder, &table);
		assert_string_equal(name_at(&table, delta ? 0x800 : 0x1000), "core");
		assert_int_equal(table.n_entries, delta ? 1 : 2);
		symtab_close(&table);
	}
	/* Numbers that only rank names are not modules. */
	builder = new_builder();
	symtab_builder_add(builder, 0x1000, 8, 8, 0, "core", 4, 77);
	symtab_builder_move(builder, 0x10);
	finish(builder, &table);
	assert_string_equal(name_at(&table, 0x1010), "core");
	symtab_close(&table);
}

static void test_extent(void **state)
{
	struct symtab_builder *builder = new_builder();
	struct symtab table;

	(void)state;
	add(builder, 0x100, 0x10, 0, "sized");
	add(builder, 0x200, 0, 0, "until_next");
	add(builder, 0x280, 0x100, 0, "outer");
	add(builder, 0x2a0, 0, SYMTAB_LABEL, "label_inside");
	add(builder, 0x2c0, 0x10, 0, "inner");
	symtab_builder_add(builder, 0x1000, 0, 0x20, 0, "last", 4, 0);
	finish(builder, &table);

	assert_null(name_at(&table, 0xff));
	assert_string_equal(name_at(&table, 0x100), "sized");
	assert_string_equal(name_at(&table, 0x10f), "sized");
	assert_null(name_at(&table, 0x110));
	assert_null(name_at(&table, 0x1ff));
	assert_string_equal(name_at(&table, 0x27f), "until_next");
	assert_string_equal(name_at(&table, 0x2a0), "outer");
	assert_string_equal(name_at(&table, 0x2c5), "inner");
	assert_string_equal(name_at(&table, 0x2d0), "outer");
	assert_null(name_at(&table, 0x380));
	assert_string_equal(name_at(&table, 0x101f), "last");
	assert_null(name_at(&table, 0x1020));
	assert_null(name_at(&table, UINT64_MAX));
	symtab_close(&table);
	symtab_close(&table);
}

/* At any offset, the symbol that begins last among those that cover it is found. */
static void test_nesting(void **state)
{
	enum { N = 300, SPAN = 2000 };
	struct {
		uint64_t start, size;
	} symbols[N];
	uint32_t seed = 12345;
	struct symtab table;
	char name[24];

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct symtab_builder *builder = new_builder();
		for (size_t i = 0; i < N; i++) {
			seed = seed * 1103515245 + 12345;
			/* The first rounds have symbols nested in symbols. */
			symbols[i].start = round < 5 ? i * 3 : i * 6 + (seed >> 16) % 6;
			if (i && round == 4)
				symbols[i].start = symbols[i - 1].start + i % 2;
			symbols[i].size =
				round < 5 ? SPAN - i * 6 : 1 + (seed >> 8) % (4u << round % 9);
			snprintf(name, sizeof(name), "s%zu", i);
			symtab_builder_add(builder, symbols[i].start, symbols[i].size, 0, 0, name,
				strlen(name), (uint32_t)i);
		}
		finish(builder, &table);
		for (uint64_t at = 0; at < 2 * SPAN; at++) {
			const char *found = name_at(&table, at);
			size_t i = N;
			while (i > 0 &&
				(at < symbols[i - 1].start ||
					at - symbols[i - 1].start >= symbols[i - 1].size))
				i--;
			snprintf(name, sizeof(name), "s%zu", i - 1);
			if (i)
				assert_string_equal(found, name);
			else
				assert_null(found);
		}
		symtab_close(&table);
	}
}

static bool is_uncertain(const struct symtab *table, uint64_t offset)
{
	return table->entries[symtab_find(table, offset)].name & SYMTAB_UNCERTAIN;
}

static void add_functions(struct symtab_builder *builder)
{
	static const uint64_t starts[] = {0x100, 0x200, 0x300, 0x400, 0x500, 0x600, 0x700};

	builder->is_program = true;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		symtab_builder_function(builder, starts[i], 0x80);
}

static void test_functions(void **state)
{
	struct symtab_builder *builder = new_builder();
	struct symtab table;

	(void)state;
	add_functions(builder);
	add(builder, 0xc0, 0, SYMTAB_LABEL, "stub");
	add(builder, 0x200, 0, 0, "unsized");
	add(builder, 0x220, 0, SYMTAB_LABEL, "label_in_it");
	add(builder, 0x320, 0, SYMTAB_LABEL, "label_in_a_stripped_one");
	add(builder, 0x340, 0, 0, "entry_in_a_stripped_one");
	add(builder, 0x400, 0, SYMTAB_LABEL, "label_first");
	add(builder, 0x440, 0, SYMTAB_LABEL, "label_second");
	add(builder, 0x4f0, 0x20, 0, "sized");
	add(builder, 0x600, 0x10, SYMTAB_LOCAL, "sized_less");
	add(builder, 0x600, 0x40, SYMTAB_LOCAL, "goes_on");
	symtab_builder_sort(builder);
	assert_int_equal(symtab_builder_unnamed(builder), 3);
	assert_true(symtab_builder_has(builder, 0x200));
	assert_false(symtab_builder_has(builder, 0x400)); /* only a label */
	finish(builder, &table);
	assert_string_equal(name_at(&table, 0xff), "stub");
	assert_true(is_uncertain(&table, 0xff));
	assert_string_equal(name_at(&table, 0x100), "");
	assert_string_equal(name_at(&table, 0x17f), "");
	assert_null(name_at(&table, 0x180));
	assert_string_equal(name_at(&table, 0x27f), "unsized");
	assert_false(is_uncertain(&table, 0x200));
	assert_null(name_at(&table, 0x280));
	assert_string_equal(name_at(&table, 0x320), "");
	assert_string_equal(name_at(&table, 0x37f), "entry_in_a_stripped_one");
	assert_false(is_uncertain(&table, 0x340));
	assert_null(name_at(&table, 0x380));
	assert_string_equal(name_at(&table, 0x43f), "label_first");
	assert_string_equal(name_at(&table, 0x47f), "label_second");
	assert_null(name_at(&table, 0x480));
	assert_false(is_uncertain(&table, 0x440));
	assert_string_equal(name_at(&table, 0x50f), "sized");
	assert_null(name_at(&table, 0x510)); /* the function begins within another symbol */
	assert_string_equal(name_at(&table, 0x60f), "sized_less");
	assert_string_equal(name_at(&table, 0x63f), "goes_on");
	assert_null(name_at(&table, 0x640));
	assert_string_equal(name_at(&table, 0x77f), "");
	symtab_close(&table);
}

/* If no symbol was left out, the next symbol ends a symbol without a size. */
static void test_nothing_left_out(void **state)
{
	struct symtab table;

	(void)state;
	for (unsigned int variant = 0; variant < 4; variant++) {
		struct symtab_builder *builder = new_builder();
		builder->is_program = variant < 3;
		builder->has_files = variant != 2;
		symtab_builder_function(builder, 0x100, 0x80);
		add(builder, 0x100, 0x80, variant == 1 ? 0 : SYMTAB_LOCAL, "f");
		add(builder, 0x200, 0, 0, "stub");
		add(builder, 0x240, 0, 0, "next");
		/* A linkage table has its own bounds. */
		add(builder, 0x310, 0, SYMTAB_SYNTHETIC, "f@plt");
		symtab_builder_sort(builder);
		assert_int_equal(symtab_builder_unnamed(builder), 0);
		finish(builder, &table);
		assert_string_equal(name_at(&table, 0x23f), "stub");
		assert_int_equal(is_uncertain(&table, 0x23f), variant == 1 || variant == 2);
		assert_string_equal(name_at(&table, 0x311), "f@plt");
		assert_false(is_uncertain(&table, 0x311));
		symtab_close(&table);
	}
}

static void test_segments(void **state)
{
	struct symtab_builder *builder = new_builder();
	struct symtab table;

	(void)state;
	for (uint64_t i = 0; i < 300; i++)
		symtab_builder_segment(builder, i * 0x1000, 0x1000, 0x400000 + i * 0x3000);
	symtab_builder_segment(builder, 0x1000, 0, 0);
	symtab_builder_load(builder, 0x500000, 0x2000, 0x900000);
	symtab_builder_load(builder, 0x1000, 0, 0);
	finish(builder, &table);
	assert_int_equal(table.n_segments, 300);
	assert_int_equal(table.n_loads, 1);
	assert_int_equal(table.segments[300].vaddr, 0x900000);
	assert_int_equal(table.segments[299].vaddr, 0x400000 + 299 * 0x3000);
	symtab_close(&table);
}

static void test_modules(void **state)
{
	struct symtab_builder *builder = new_builder();
	struct symtab table;

	(void)state;
	uint32_t module = symtab_builder_module(builder, "nf_tables", 9);
	symtab_builder_add(builder, 0x5010, 0, UINT32_MAX, 0, "in_module", 9, module);
	symtab_builder_add(builder, 0x1010, 0, UINT32_MAX, 0, "in_core", 7, 0);
	finish(builder, &table);
	assert_int_equal(table.modules[0], 0);
	assert_int_equal(table.modules[1], 1);
	assert_string_equal(table.pool + table.module_names[0], "nf_tables");
	/* It reaches to the end of the next page, not to the other module. */
	assert_string_equal(name_at(&table, 0x2fff), "in_core");
	assert_null(name_at(&table, 0x3000));
	symtab_close(&table);

	/* A kernel without modules does not end at the address of a module that is loaded later. */
	builder = new_builder();
	symtab_builder_add(builder, 0x1010, 0, UINT32_MAX, 0, "in_core", 7, 0);
	finish(builder, &table);
	assert_string_equal(name_at(&table, 0x2fff), "in_core");
	assert_null(name_at(&table, 0x3000));
	symtab_close(&table);
}

/* More than one buffer of names, in an order that is bad for quicksort.  Each is found again. */
static void test_many(void **state)
{
	enum { N = 30000 };
	struct symtab_builder *builder = new_builder();
	struct symtab table;
	char name[64];

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		uint32_t at = i % 2 ? i : N - 1 - i;
		snprintf(name, sizeof(name), "function_number_%u", at);
		add(builder, (uint64_t)at * 16, 16, 0, name);
	}
	symtab_builder_sort(builder);
	assert_true(symtab_builder_has(builder, 16));
	assert_false(symtab_builder_has(builder, 17));
	finish(builder, &table);
	assert_int_equal(table.n_entries, N / 2);
	for (uint32_t i = 1; i < N; i += 2) {
		snprintf(name, sizeof(name), "function_number_%u", i);
		assert_string_equal(name_at(&table, (uint64_t)i * 16 + 7), name);
		assert_null(name_at(&table, (uint64_t)i * 16 + 16));
	}
	symtab_close(&table);
}

static void test_names(void **state)
{
	struct symtab_builder *builder = new_builder();
	struct symtab table;
	char *huge = malloc(200000);

	(void)state;
	assert_non_null(huge);
	memset(huge, 'x', 200000);
	symtab_builder_add(builder, 0, 1, 1, 0, huge, 200000, 0);
	symtab_builder_add(builder, 1, 1, 1, 0, "cut\0here", 8, 0);
	symtab_builder_add(builder, 2, 1, 1, 0, "", 0, 0);
	finish(builder, &table);
	assert_int_equal(strlen(name_at(&table, 0)), 65536);
	assert_string_equal(name_at(&table, 1), "cut");
	assert_int_equal(table.n_entries, 2);
	symtab_close(&table);
	free(huge);
}

static void test_empty(void **state)
{
	struct symtab table;

	(void)state;
	finish(new_builder(), &table);
	assert_int_equal(table.n_entries, 0);
	assert_int_equal(symtab_find(&table, 0), -1);
	symtab_close(&table);
	symtab_builder_free(NULL);
}

/* Every byte of a good table is changed in turn.  The table is refused, or searched within its
 * bounds (the sanitizers check this). */
static void test_corrupt(void **state)
{
	struct symtab_builder *builder = new_builder();
	struct symtab table;
	uint32_t count;
	int fd;

	(void)state;
	uint32_t module = symtab_builder_module(builder, "m", 1);
	for (uint64_t i = 0; i < 8; i++)
		symtab_builder_add(
			builder, i * 16, i % 2 ? 4 : 40, 16, 0, "name", 4, i < 4 ? 0 : module);
	symtab_builder_segment(builder, 0, 0x1000, 0x1000);
	assert_int_equal(symtab_builder_finish(builder, &fd, &count), 0);
	symtab_builder_free(builder);
	size_t len = (size_t)lseek(fd, 0, SEEK_END);
	uint8_t *good = malloc(len), *bad = malloc(len);
	assert_non_null(good);
	assert_non_null(bad);
	assert_int_equal(pread(fd, good, len, 0), len);
	close(fd);
	assert_int_equal(symtab_check(&table, good, len), 0);

	size_t refused = 0;
	for (size_t i = 0; i < len; i++) {
		for (int bit = 0; bit < 8; bit++) {
			memcpy(bad, good, len);
			bad[i] ^= (uint8_t)(1 << bit);
			if (symtab_check(&table, bad, len) < 0) {
				refused++;
				continue;
			}
			for (uint64_t offset = 0; offset < 160; offset++) {
				int64_t found = symtab_find(&table, offset);
				if (found < 0)
					continue;
				assert_in_range(found, 0, table.n_entries - 1);
				assert_true(strlen(symtab_name(&table, found)) < len);
			}
		}
	}
	assert_true(refused > 500);
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(symtab_check(&table, good, cut), -EBADMSG);
	free(good);
	free(bad);
}

static void test_unsorted(void **state)
{
	struct {
		struct symtab_header header;
		char pool[8];
		struct symtab_entry entries[2];
		struct symtab_segment segments[1];
		struct symtab_resume resumes[2];
	} bytes = {.pool = "a\0b"};
	struct symtab table;

	(void)state;
	memcpy(bytes.header.magic, "strobe\0T", 8);
	bytes.header.version = SYMTAB_VERSION;
	bytes.header.n_entries = 2;
	bytes.header.pool_bytes = 4;
	bytes.header.entries_at = offsetof(__typeof__(bytes), entries);
	bytes.header.modules_at = bytes.header.module_names_at = bytes.header.total_bytes =
		sizeof(bytes);
	bytes.entries[0] = (struct symtab_entry){1, 1, 0};
	bytes.entries[1] = (struct symtab_entry){2, 1, 2};
	assert_int_equal(symtab_check(&table, &bytes, sizeof(bytes)), 0);
	bytes.header.segments_at = offsetof(__typeof__(bytes), segments);
	bytes.header.resumes_at = offsetof(__typeof__(bytes), resumes);
	bytes.header.n_segments = 5;
	assert_int_equal(symtab_check(&table, &bytes, sizeof(bytes)), -EBADMSG);
	bytes.header.n_segments = 1;
	assert_int_equal(symtab_check(&table, &bytes, sizeof(bytes)), -EBADMSG); /* length 0 */
	bytes.segments[0] = (struct symtab_segment){0x1000, 0x10, UINT64_MAX - 8};
	assert_int_equal(symtab_check(&table, &bytes, sizeof(bytes)), -EBADMSG); /* wraps */
	bytes.segments[0].vaddr = 0x401000;
	assert_int_equal(symtab_check(&table, &bytes, sizeof(bytes)), 0);
	assert_int_equal(table.n_segments, 1);
	bytes.header.n_resumes = 3;
	assert_int_equal(symtab_check(&table, &bytes, sizeof(bytes)), -EBADMSG);
	bytes.header.n_resumes = 2;
	assert_int_equal(symtab_check(&table, &bytes, sizeof(bytes)), -EBADMSG); /* unsorted */
	bytes.resumes[1] = (struct symtab_resume){.at = 3, .entry = 1};
	assert_int_equal(symtab_check(&table, &bytes, sizeof(bytes)), 0);
	bytes.resumes[1].entry = 2;
	assert_int_equal(symtab_check(&table, &bytes, sizeof(bytes)), -EBADMSG);
	bytes.header.n_resumes = 0;
	bytes.entries[1].start = 0;
	assert_int_equal(symtab_check(&table, &bytes, sizeof(bytes)), -EBADMSG);
	bytes.entries[1].start = 2;
	bytes.entries[1].name = 4;
	assert_int_equal(symtab_check(&table, &bytes, sizeof(bytes)), -EBADMSG);
	bytes.entries[1].name = 3;
	bytes.pool[3] = 'x';
	assert_int_equal(symtab_check(&table, &bytes, sizeof(bytes)), -EBADMSG);
}

static void test_seals(void **state)
{
	struct symtab_builder *builder = new_builder();
	struct symtab table;
	uint32_t count;
	char copy[4096];
	int fd;

	(void)state;
	add(builder, 0, 1, 0, "f");
	assert_int_equal(symtab_builder_finish(builder, &fd, &count), 0);
	symtab_builder_free(builder);
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	ssize_t len = read(fd, copy, sizeof(copy));
	if (len <= 0)
		len = pread(fd, copy, sizeof(copy), 0);
	assert_true(len > 0);

	/* These bytes without seals are refused: the file could be truncated while it is
	 * mapped. */
	int loose = memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(write(loose, copy, (size_t)len), len);
	assert_int_equal(symtab_open(&table, loose), -EBADMSG);
	assert_int_equal(symtab_seal(loose), 0);
	assert_int_equal(symtab_open(&table, loose), 0);
	symtab_close(&table);
	close(loose);
	close(fd);

	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	assert_int_equal(symtab_open(&table, null), -EBADMSG);
	close(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_move),
		cmocka_unit_test(test_extent),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_nothing_left_out),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_corrupt),
		cmocka_unit_test(test_unsorted),
		cmocka_unit_test(test_seals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
