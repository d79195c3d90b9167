/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_load_piece.c - the place of a piece of memory in a file, by the file's segments.
 */
#include "symbols/loader/loader_private.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

/* Layouts of linkers: the code segment first, then the others. */
static const struct symtab_segment gnu[] = {{0x1000, 0x2345, 0x401000}, /* code */
	{0, 0x800, 0x400000}, {0x4000, 0x900, 0x404000}, {0x4e00, 0x300, 0x405e00}};
/* Segments share pages of the file and are further apart in memory. */
static const struct symtab_segment lld[] = {{0x834, 0x2000, 0x201834}, /* code */
	{0, 0x834, 0x200000}, {0x2834, 0x500, 0x204834}};

static struct symtab table_of(const struct symtab_segment *segments, uint32_t n)
{
	return (struct symtab){.segments = segments, .n_segments = 1, .n_loads = n - 1};
}

/* Returns the file offset of the piece's start in its first place; UINT64_MAX if it has none. */
static uint64_t offset_of(const struct symtab *table, const struct symbols_piece *piece)
{
	struct load_place place;
	size_t next = 0;

	return load_place_piece(table, piece, &next, &place) ? piece->start + place.bias
							     : UINT64_MAX;
}

static void test_places(void **state)
{
	const struct symtab table = table_of(gnu, 4);
	const uint64_t moved = 0x55555000000 - 0x400000; /* moved by the kernel */
	struct symbols_piece piece = {.start = 0x401000 + moved,
		.end = 0x404000 + moved,
		.near = {{0x400000 + moved, 0, true}, {0x404000 + moved, 0x4000, true}}};

	(void)state;
	assert_int_equal(offset_of(&table, &piece), 0x1000);
	/* One neighbour is enough. */
	piece.near[0].known = false;
	assert_int_equal(offset_of(&table, &piece), 0x1000);
	piece.near[0].known = true;
	piece.near[1].known = false;
	assert_int_equal(offset_of(&table, &piece), 0x1000);
	/* A part of the code, next to the rest of it. */
	piece.start += 0x1000;
	piece.near[0].address = 0x401000 + moved;
	piece.near[0].offset = 0x1000;
	assert_int_equal(offset_of(&table, &piece), 0x2000);
	/* More than the code, then data. */
	piece.end += 0x1000;
	assert_true(offset_of(&table, &piece) == UINT64_MAX);
	piece.start = 0x404000 + moved;
	assert_true(offset_of(&table, &piece) == UINT64_MAX);
}

/* The neighbours do not belong to one loaded file. */
static void test_no_place(void **state)
{
	const struct symtab table = table_of(gnu, 4);
	struct symbols_piece piece = {.start = 0x401000,
		.end = 0x404000,
		.near = {{0x400000, 0, true}, {0x404000, 0x5000, true}}};

	(void)state;
	assert_true(offset_of(&table, &piece) == UINT64_MAX);
	piece.near[1].offset = 0x4000;
	assert_int_equal(offset_of(&table, &piece), 0x1000);
	piece.near[0].offset = 0x10000;
	assert_true(offset_of(&table, &piece) == UINT64_MAX);
	piece.near[0] = piece.near[1];
	piece.near[1].address += 0x2000;
	assert_true(offset_of(&table, &piece) == UINT64_MAX);
	assert_true(offset_of(&(struct symtab){0}, &piece) == UINT64_MAX);
}

static void test_shared_pages(void **state)
{
	const struct symtab table = table_of(lld, 3);
	/* The kernel maps offset 0 at 0x200000, 0 again at 0x201000, and 0x2000 at 0x204000. */
	const struct symbols_piece piece = {.start = 0x201000,
		.end = 0x204000,
		.near = {{0x200000, 0, true}, {0x204000, 0x2000, true}}};

	(void)state;
	assert_int_equal(offset_of(&table, &piece), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_no_place),
		cmocka_unit_test(test_shared_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
