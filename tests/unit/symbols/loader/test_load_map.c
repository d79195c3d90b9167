/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_load_map.c - a perf map that was rewritten keeps the names of the old one.
 */
#include "symbols/jit/jitspans.h"
#include "symbols/loader/loader_private.h"
#include "symbols/loader/maptext.h"
#include "tests/unit/span_table.h"

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
#include <sys/stat.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

static void add(
	struct jitspans *spans, uint64_t start, uint64_t size, uint64_t since_ns, const char *name)
{
	assert_int_equal(jitspans_add(spans, start, size, since_ns, name, strlen(name)), 0);
}

/* Loads a map with this text after another file. */
static int load(struct loader_image *image, const char *text, size_t len, struct opener_file *map)
{
	const struct loader_jit_file before = {.inode = 1, .size = 1};
	const int fd = memfd_create("map", MFD_CLOEXEC);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	assert_int_equal(fstat(fd, &st), 0);
	*map = (struct opener_file){.fd = fd, .dev = st.st_dev, .inode = st.st_ino};
	image->jit.map = (struct loader_jit_file){.dev = st.st_dev, .inode = st.st_ino};
	return load_map(image, &before, map);
}

/* Reads the map into a table. */
static void read_map(
	const struct loader_image *image, const struct opener_file *map, struct symtab *out)
{
	struct jitspans spans = {0};

	assert_true(image->jit.n_steps <= PERFMAP_STEPS_MAX);
	for (size_t i = 1; i < image->jit.n_steps; i++)
		assert_true(image->jit.steps[i].since_ns >= image->jit.steps[i - 1].since_ns &&
			image->jit.steps[i].bytes >= image->jit.steps[i - 1].bytes);
	assert_int_equal(perfmap_read(map->fd, image->jit.steps, image->jit.n_steps, &spans), 0);
	spans.n_mapped = spans.n;
	span_table(&spans, out);
	jitspans_fini(&spans);
}

static const char *name_of(const struct symtab *table, uint64_t number, uint64_t address)
{
	const int64_t entry = symtab_find(table, number << JITSPANS_SHIFT | address);

	return entry < 0 ? "" : symtab_name(table, entry);
}

/* A map without news gives an equal table, each time. */
static void test_nothing_is_lost_or_added(void **state)
{
	static const char text[] = "1000 100 one\n1010 10 nested\n3000 10 three\n"
				   "ffffffffff600000 1000 [vsyscall]\n";
	struct loader_image image = {0};
	struct jitspans spans = {0};
	struct opener_file map;
	struct symtab table;

	(void)state;
	add(&spans, 0x1000, 0x100, 1, "one");
	add(&spans, 0x1010, 0x10, 5 * SECOND, "two");
	add(&spans, 0x1018, 0x10, 7 * SECOND, "over the end of two");
	add(&spans, 0x1000, 0x100, 9 * SECOND, "one");
	add(&spans, 0x1010, 0x10, 9 * SECOND, "nested");
	add(&spans, 0x3000, 0x10, 2 * SECOND, "a name\nof two lines");
	add(&spans, 0x3000, 0x10, 9 * SECOND, "three");
	add(&spans, 0xffffffffff600000, 0x1000, 1, "[vsyscall]");
	spans.n_mapped = spans.n;
	span_table(&spans, &image.known);
	jitspans_fini(&spans);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(load(&image, text, strlen(text), &map), 0);
		assert_true(image.jit.anew);
		read_map(&image, &map, &table);
		assert_string_equal(name_of(&table, 0, 0x1010), "one");
		assert_string_equal(name_of(&table, 1, 0x1010), "two");
		assert_string_equal(name_of(&table, 2, 0x1010), "nested");
		assert_string_equal(name_of(&table, 1, 0x1020), "over the end of two");
		assert_string_equal(name_of(&table, 2, 0x1020), "one");
		assert_string_equal(name_of(&table, 0, 0x3000), "three");
		assert_string_equal(name_of(&table, 0, 0xffffffffff600010 & JITSPANS_PLAIN), "");
		assert_true(symtab_find(&table, 0xffffffffff600010) >= 0);
		/* The name of two lines is gone: the new map lacks it. */
		assert_int_equal(table.n_changes, image.known.n_changes - (i == 0));
		assert_int_equal(table.n_entries, image.known.n_entries - (i == 0));
		close(map.fd);
		symtab_close(&image.known);
		image.known = table;
	}
	symtab_close(&image.known);
	free(image.jit.steps);
}

/* With more times than steps, the oldest times become one. */
static void test_many_times(void **state)
{
	static const size_t times[] = {2 * (PERFMAP_STEPS_MAX - 3), 2 * (PERFMAP_STEPS_MAX - 2),
		2 * (PERFMAP_STEPS_MAX - 1), 2 * PERFMAP_STEPS_MAX, 5 * PERFMAP_STEPS_MAX};
	char name[32];

	(void)state;
	for (size_t k = 0; k < sizeof(times) / sizeof(*times); k++) {
		struct loader_image image = {0};
		struct jitspans spans = {0};
		struct opener_file map;
		struct symtab table;

		for (size_t i = 0; i < times[k]; i++) {
			snprintf(name, sizeof(name), "x%zu", i);
			add(&spans, 0x1000 + (i / 2) * 16, 16, i + 1, name);
		}
		spans.n_mapped = spans.n;
		span_table(&spans, &image.known);
		jitspans_fini(&spans);
		assert_int_equal(load(&image, "1000 10 last\n", 13, &map), 0);
		assert_true(image.jit.n_steps <= PERFMAP_STEPS_MAX);
		assert_true(image.jit.n_steps + 1 >= PERFMAP_STEPS_MAX);
		read_map(&image, &map, &table);
		const uint64_t end = 0x1000 + ((times[k] - 2) / 2) * 16;
		snprintf(name, sizeof(name), "x%zu", (times[k] - 2) / 2 * 2 + 1);
		assert_string_equal(name_of(&table, 1, end), name);
		close(map.fd);
		symtab_close(&table);
		symtab_close(&image.known);
		free(image.jit.steps);
	}
}

/* Writes a table as text within limits and reads it back. fits: the limits suffice. */
static void check_limits(const struct symtab *table, const struct maptext_limits *limits,
	uint32_t entries, bool fits)
{
	struct jitspans spans = {0};
	struct maptext text;
	struct symtab read;
	const int fd = memfd_create("text", MFD_CLOEXEC);
	FILE *out = fdopen(dup(fd), "w");

	assert_non_null(out);
	assert_int_equal(maptext_write(table, limits, out, &text), 0);
	assert_int_equal(ftello(out), text.bytes);
	assert_int_equal(fclose(out), 0);
	assert_true(text.bytes <= limits->bytes);
	assert_int_equal(text.cut, !fits);
	assert_int_equal(maptext_fits(table, limits), fits);
	assert_int_equal(perfmap_read(fd, text.steps, text.n_steps, &spans), 0);
	assert_int_equal(spans.n, entries);
	for (size_t i = 0; i < spans.n; i++)
		assert_true(spans.at[i].since_ns <= limits->now_ns);
	spans.n_mapped = spans.n;
	span_table(&spans, &read);
	if (entries)
		assert_string_equal(name_of(&read, fits ? 1 : 0, 0x1000), "newest");
	symtab_close(&read);
	jitspans_fini(&spans);
	free(text.steps);
	close(fd);
}

static void test_limits(void **state)
{
	struct jitspans spans = {0};
	struct symtab table;

	(void)state;
	add(&spans, 0x1000, 0x10, 1, "oldest");
	add(&spans, 0x2000, 0x10, 1, "as old");
	add(&spans, 0x1000, 0x10, 9 * SECOND, "newest");
	spans.n_mapped = spans.n;
	span_table(&spans, &table);
	jitspans_fini(&spans);
	check_limits(&table, &(struct maptext_limits){1000, 3, 10 * SECOND}, 3, true);
	check_limits(&table, &(struct maptext_limits){1000, 3, 5 * SECOND}, 3, true);
	check_limits(&table, &(struct maptext_limits){1000, 1, 10 * SECOND}, 1, false);
	check_limits(&table, &(struct maptext_limits){40, 3, 10 * SECOND}, 1, false);
	check_limits(&table, &(struct maptext_limits){1000, 0, 10 * SECOND}, 0, false);
	symtab_close(&table);
}

static void know_one(struct loader_image *image)
{
	struct jitspans spans = {0};

	add(&spans, 0x1000, 0x10, 1, "one");
	spans.n_mapped = spans.n;
	span_table(&spans, &image->known);
	jitspans_fini(&spans);
}

static int load_fd(struct loader_image *image, const struct loader_jit_file *before, int fd,
	struct opener_file *map)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	*map = (struct opener_file){.fd = dup(fd), .dev = st.st_dev, .inode = st.st_ino};
	image->jit.map = (struct loader_jit_file){.dev = st.st_dev, .inode = st.st_ino};
	return load_map(image, before, map);
}

/* If a map is too large, only its current contents are known. */
static void test_too_large(void **state)
{
	const struct loader_jit_file before = {.inode = 1, .size = 1};
	const int fd = memfd_create("map", MFD_CLOEXEC);
	struct loader_image image = {0};
	struct opener_file map;

	(void)state;
	know_one(&image);
	assert_int_equal(load(&image, "1000 10 two\n", 12, &map), 0);
	assert_int_equal(image.jit.n_steps, 2);
	close(map.fd);
	assert_true(dprintf(fd, "1000 10 three\n") > 0);
	assert_int_equal(ftruncate(fd, PERFMAP_BYTES_MAX + 4096), 0);
	assert_int_equal(load_fd(&image, &before, fd, &map), 0);
	assert_int_equal(image.jit.n_steps, 1);
	assert_int_equal(image.jit.steps[0].bytes, 0);
	close(map.fd);
	close(fd);
	symtab_close(&image.known);
	free(image.jit.steps);
}

/* A map is compared with its old contents up to the end. */
static void test_a_change_far_behind(void **state)
{
	const off_t far = PERFMAP_BYTES_MAX / 2 + 4096;
	const int fd = memfd_create("map", MFD_CLOEXEC);
	struct loader_jit_file before = {0};
	struct loader_image image = {0};
	struct opener_file map;

	(void)state;
	know_one(&image);
	assert_int_equal(pwrite(fd, "\n1000 10 one\n", 13, far), 13);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(load_fd(&image, &before, fd, &map), 0);
		before = image.jit.map;
		assert_int_equal(image.jit.anew, i);
		close(map.fd);
		assert_int_equal(pwrite(fd, "\n1000 10 two\n", 13, far), 13);
	}
	close(fd);
	symtab_close(&image.known);
	free(image.jit.steps);
}

/* A map that only grew is complete in itself. It keeps its steps. */
static void test_growth(void **state)
{
	const int fd = memfd_create("map", MFD_CLOEXEC);
	struct loader_image image = {0};
	struct loader_jit_file before = {0};
	struct stat st;

	(void)state;
	assert_true(fd >= 0);
	for (int i = 0; i < 3; i++) {
		assert_true(dprintf(fd, "%x 10 number %d\n", 0x1000 + i * 16, i) > 0);
		assert_int_equal(fstat(fd, &st), 0);
		struct opener_file map = {.fd = dup(fd), .dev = st.st_dev, .inode = st.st_ino};
		image.jit.map = (struct loader_jit_file){.dev = st.st_dev, .inode = st.st_ino};
		assert_int_equal(load_map(&image, &before, &map), 0);
		before = image.jit.map;
		assert_int_equal(before.size, st.st_size);
		assert_int_equal(map.size, st.st_size);
		assert_false(image.jit.anew);
		assert_int_equal(image.jit.n_steps, i + 1);
		close(map.fd);
	}
	assert_int_equal(image.jit.steps[0].since_ns, 1);
	assert_true(image.jit.steps[1].since_ns > 1);
	assert_int_equal(image.jit.steps[2].bytes, 2 * strlen("1000 10 number 0\n"));
	close(fd);
	free(image.jit.steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_lost_or_added),
		cmocka_unit_test(test_many_times),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_a_change_far_behind),
		cmocka_unit_test(test_growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
