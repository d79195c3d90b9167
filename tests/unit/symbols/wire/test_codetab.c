/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_codetab.c - tables of code return their contents, and no bytes lead out of bounds.
 */
#include "symbols/wire/codetab.h"

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

static struct codetab_builder *new_builder(void)
{
	struct codetab_builder *builder;

	assert_int_equal(codetab_builder_new(&builder), 0);
	return builder;
}

static void finish(struct codetab_builder *builder, struct codetab *table)
{
	int fd;

	assert_int_equal(codetab_builder_finish(builder, &fd), 0);
	codetab_builder_free(builder);
	assert_int_equal(codetab_open(table, fd), 0);
	close(fd);
}

static uint32_t string(struct codetab_builder *builder, const char *text)
{
	return codetab_builder_string(builder, text, strlen(text));
}

static void add(struct codetab_builder *builder, uint64_t start, uint8_t len, const char *text)
{
	codetab_builder_add(builder,
		&(struct codetab_entry){.start = start,
			.len = len,
			.target = CODETAB_NO_TARGET,
			.text = string(builder, text)});
}

static const char *text_at(const struct codetab *table, uint64_t offset)
{
	int64_t i = codetab_find(table, offset);

	return i < 0 ? NULL : table->pool + table->entries[i].text;
}

static void test_entries(void **state)
{
	struct codetab_builder *builder = new_builder();
	struct codetab table;

	(void)state;
	add(builder, 0x30, 4, "third");
	add(builder, 0x10, 2, "first");
	add(builder, 0x12, 1, "second");
	add(builder, 0x10, 9, "same start: the first one is kept");
	add(builder, 0x32, 1, "inside of the third");
	add(builder, 0x40, 0, "an address");
	add(builder, UINT64_MAX - 2, 2, "last");
	finish(builder, &table);

	assert_int_equal(table.n_entries, 5);
	assert_null(text_at(&table, 0xf));
	assert_string_equal(text_at(&table, 0x10), "first");
	assert_string_equal(text_at(&table, 0x11), "first");
	assert_string_equal(text_at(&table, 0x12), "second");
	assert_null(text_at(&table, 0x13));
	assert_string_equal(text_at(&table, 0x33), "third");
	assert_null(text_at(&table, 0x34));
	assert_string_equal(text_at(&table, 0x40), "an address");
	assert_null(text_at(&table, 0x41));
	assert_string_equal(text_at(&table, UINT64_MAX - 1), "last");
	assert_null(text_at(&table, UINT64_MAX));
	for (uint32_t i = 0; i < table.n_entries; i++)
		assert_int_equal(table.entries[i].pad, 0);
	codetab_close(&table);
	codetab_close(&table);
}

static void test_frames(void **state)
{
	struct codetab_builder *builder = new_builder();
	struct codetab_frame run[2] = {{.line = 7, .inlined = 1}, {.line = 30}};
	struct codetab table;

	(void)state;
	run[0].function = string(builder, "inner");
	run[1].function = string(builder, "outer");
	run[0].file = run[1].file = string(builder, "/src/a.c");
	uint32_t first = codetab_builder_frames(builder, run, 2);
	assert_int_equal(codetab_builder_frames(builder, run, 2), first);
	uint32_t other = codetab_builder_frames(builder, &run[1], 1);
	assert_int_equal(other, 2);
	codetab_builder_add(builder,
		&(struct codetab_entry){.start = 1, .len = 3, .frames = first, .n_frames = 2});
	codetab_builder_add(builder,
		&(struct codetab_entry){.start = 4, .len = 3, .frames = other, .n_frames = 1});
	finish(builder, &table);

	assert_int_equal(table.n_frames, 3);
	const struct codetab_entry *entry = &table.entries[codetab_find(&table, 2)];
	assert_int_equal(entry->n_frames, 2);
	assert_string_equal(table.pool + table.frames[entry->frames].function, "inner");
	assert_string_equal(table.pool + table.frames[entry->frames + 1].function, "outer");
	assert_int_equal(table.frames[entry->frames + 1].line, 30);
	entry = &table.entries[codetab_find(&table, 5)];
	assert_string_equal(table.pool + table.frames[entry->frames].function, "outer");
	codetab_close(&table);
}

/* Readers of frames rely on CODETAB_DEPTH_MAX, so codetab_open() refuses more. */
static void test_too_deep(void **state)
{
	static struct codetab_frame run[CODETAB_DEPTH_MAX + 1];

	(void)state;
	for (uint16_t n = CODETAB_DEPTH_MAX; n <= CODETAB_DEPTH_MAX + 1; n++) {
		struct codetab_builder *builder = new_builder();
		struct codetab table;
		int fd;

		uint32_t first = codetab_builder_frames(builder, run, n);
		codetab_builder_add(builder,
			&(struct codetab_entry){.start = 1, .frames = first, .n_frames = n});
		assert_int_equal(codetab_builder_finish(builder, &fd), 0);
		assert_int_equal(codetab_open(&table, fd), n == CODETAB_DEPTH_MAX ? 0 : -EBADMSG);
		codetab_close(&table);
		codetab_builder_free(builder);
		close(fd);
	}
}

static void test_strings(void **state)
{
	struct codetab_builder *builder = new_builder();
	static uint32_t offsets[5000];
	struct codetab table;
	char name[32];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 5000; i++) {
			snprintf(name, sizeof(name), "name%d", i);
			uint32_t at = string(builder, name);
			assert_true(at != 0 && (round == 0 || at == offsets[i]));
			offsets[i] = at;
		}
	assert_int_equal(codetab_builder_string(builder, "", 0), 0);
	assert_int_equal(codetab_builder_string(builder, "name1\0tail", 10), offsets[1]);
	assert_int_equal(codetab_builder_string(builder, "name1234", 5), offsets[1]);
	finish(builder, &table);
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "name%d", i);
		assert_string_equal(table.pool + offsets[i], name);
	}
	codetab_close(&table);
}

static void test_empty(void **state)
{
	struct codetab table;

	(void)state;
	finish(new_builder(), &table);
	assert_int_equal(table.n_entries, 0);
	assert_int_equal(table.pool_bytes, 1);
	assert_int_equal(codetab_find(&table, 0), -1);
	codetab_close(&table);
	codetab_builder_free(NULL);
}

static void test_too_much(void **state)
{
	struct codetab_builder *builder = new_builder();
	const struct codetab_entry entry = {.len = 1};
	int fd;

	(void)state;
	for (uint32_t i = 0; i <= CODETAB_ENTRIES_MAX; i++)
		codetab_builder_add(builder, &entry);
	assert_int_equal(codetab_builder_finish(builder, &fd), -EFBIG);
	assert_int_equal(fd, -1);
	codetab_builder_free(builder);
}

/* a table in memory: header, two entries, two frames, a pool */
struct image {
	struct codetab_header header;
	struct codetab_entry entries[2];
	struct codetab_frame frames[2];
	char pool[8];
};

static void well_formed(struct image *image)
{
	*image = (struct image){
		.header = {.magic = "strobe\0C",
			.version = CODETAB_VERSION,
			.n_entries = 2,
			.n_frames = 2,
			.pool_bytes = 8,
			.entries_at = offsetof(struct image, entries),
			.frames_at = offsetof(struct image, frames),
			.pool_at = offsetof(struct image, pool),
			.total_bytes = sizeof(struct image)},
		.entries = {{.start = 16, .len = 4, .text = 1, .frames = 0, .n_frames = 2},
			{.start = 20, .len = 2, .text = 1, .frames = 1, .n_frames = 1}},
		.frames = {{.function = 1, .file = 4}, {.function = 4, .file = 1}},
		.pool = "\0ab\0cde",
	};
}

static void test_bounds(void **state)
{
	struct image image;
	struct codetab table;

	(void)state;
	well_formed(&image);
	assert_int_equal(codetab_check(&table, &image, sizeof(image)), 0);
	assert_int_equal(codetab_check(&table, &image, sizeof(image) - 1), -EBADMSG);
	assert_int_equal(codetab_check(&table, &image, 10), -EBADMSG);
#define REFUSED(change)                                                                   \
	do {                                                                              \
		well_formed(&image);                                                      \
		change;                                                                   \
		assert_int_equal(codetab_check(&table, &image, sizeof(image)), -EBADMSG); \
		assert_null(table.bytes);                                                 \
	} while (0)
	REFUSED(image.header.magic[7] = 'T');
	REFUSED(image.header.version++);
	REFUSED(image.header.n_entries = 3 + 2 * sizeof(struct codetab_frame));
	REFUSED(image.header.n_entries = UINT32_MAX);
	REFUSED(image.header.entries_at += 4);
	REFUSED(image.header.entries_at = UINT64_MAX - 7);
	REFUSED(image.header.frames_at = sizeof(image) - 4);
	REFUSED(image.header.n_frames = UINT32_MAX);
	REFUSED(image.header.pool_at++);
	REFUSED(image.header.pool_bytes = 0);
	REFUSED(image.header.pool_bytes = 7);
	REFUSED(image.header.total_bytes++);
	REFUSED(image.pool[0] = 'x');
	REFUSED(image.entries[1].start = 16);
	REFUSED(image.entries[1].start = 19);
	REFUSED(image.entries[1].start = 1);
	REFUSED(image.entries[1].start = UINT64_MAX);
	REFUSED(image.entries[0].text = 8);
	REFUSED(image.entries[0].kind = CODETAB_KINDS);
	REFUSED(image.entries[0].frames = 1);
	REFUSED(image.entries[0].frames = UINT32_MAX);
	REFUSED(image.entries[1].n_frames = 2);
	REFUSED(image.entries[1].n_frames = CODETAB_DEPTH_MAX + 1);
	REFUSED(image.frames[1].function = 8);
	REFUSED(image.frames[1].file = UINT32_MAX);
}

static void test_unsealed(void **state)
{
	struct codetab table;
	struct image image;

	(void)state;
	well_formed(&image);
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(write(fd, &image, sizeof(image)), sizeof(image));
	assert_int_equal(codetab_open(&table, fd), -EBADMSG);
	assert_null(table.bytes);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_too_deep),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_unsealed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
