/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_kept_files.c - copies of files that name code: written, found, and read from hostile bytes.
 */
#include "symbols/loader/kept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct bytes {
	char *at;
	size_t len;
};

static int file_of(const char *text)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static void check_file(int fd, const char *text)
{
	char found[256] = "";

	assert_int_equal(pread(fd, found, sizeof(found) - 1, 0), strlen(text));
	assert_string_equal(found, text);
}

static const struct perfmap_step steps[] = {{0, 1}, {20, 500}};
static const uint8_t id_a[] = {1, 2, 3, 4}, id_b[] = {1, 2, 3, 5};

static void put(FILE *out, struct kept_file file, const char *text)
{
	file.fd = -1;
	if (text && file.kind != KEPT_TABLE) {
		file.fd = file_of(text);
	} else if (text) {
		file.bytes = text;
		file.len = strlen(text);
	}
	assert_int_equal(kept_put(out, &file), 0);
	if (file.fd >= 0)
		close(file.fd);
}

/* A process with a map and a dump, and one with neither. Files with and without a build-id. */
static struct bytes make_bytes(void)
{
	struct bytes bytes;
	FILE *out = open_memstream(&bytes.at, &bytes.len);

	assert_non_null(out);
	assert_int_equal(kept_begin(out), 0);
	/* Files of the process's first program, then of the one that it executed. */
	put(out, (struct kept_file){.kind = KEPT_NONE, .pid = 40, .path = ""}, NULL);
	put(out, (struct kept_file){.kind = KEPT_MAP, .pid = 40, .path = "/tmp/perf-1.map"}, "old");
	put(out, (struct kept_file){.kind = KEPT_DUMP, .pid = 40, .path = "/x/a b\n/jit-1.dump"},
		"dump");
	put(out,
		(struct kept_file){.kind = KEPT_MAP,
			.pid = 40,
			.path = "/tmp/perf-1.map",
			.steps = steps,
			.n_steps = 2},
		"1000 10 first\n2000 10 second\n");
	put(out, (struct kept_file){.kind = KEPT_NONE, .pid = 41, .path = ""}, NULL);
	put(out,
		(struct kept_file){.kind = KEPT_TABLE,
			.path = "/bin/p",
			.inode = 7,
			.build_id = id_a,
			.build_id_len = 4},
		"table a");
	put(out, (struct kept_file){.kind = KEPT_TABLE, .path = "/bin/q", .inode = 8}, "table q");
	put(out, (struct kept_file){.kind = KEPT_TABLE, .path = "/bin/r", .inode = 9}, NULL);
	assert_int_equal(fclose(out), 0);
	return bytes;
}

static int find(const struct bytes *bytes, struct kept_file wanted, const char *text)
{
	struct kept_found found;
	int ret = kept_find(bytes->at, bytes->len, &wanted, &found);

	if (ret) {
		assert_int_equal(found.fd, -1);
		assert_null(found.steps);
		return ret;
	}
	check_file(found.fd, text);
	close(found.fd);
	free(found.steps);
	return 0;
}

static struct kept_file jit_of(enum kept_kind kind, int32_t pid, const char *path)
{
	return (struct kept_file){.kind = kind, .pid = pid, .path = path};
}

static void test_jit(void **state)
{
	struct bytes bytes = make_bytes();
	const struct kept_file map = jit_of(KEPT_MAP, 40, "");
	struct kept_found found;

	(void)state;
	assert_int_equal(kept_find(bytes.at, bytes.len, &map, &found), 0);
	check_file(found.fd, "1000 10 first\n2000 10 second\n");
	assert_string_equal(found.path, "/tmp/perf-1.map");
	assert_int_equal(found.n_steps, 2);
	assert_memory_equal(found.steps, steps, sizeof(steps));
	close(found.fd);
	free(found.steps);
	assert_int_equal(find(&bytes, jit_of(KEPT_DUMP, 40, "/x/a b\n/jit-1.dump"), "dump"), 0);
	/* A known process has only the listed files. */
	assert_int_equal(find(&bytes, jit_of(KEPT_DUMP, 40, "/x/jit-1.dump"), ""), -ENODATA);
	assert_int_equal(find(&bytes, jit_of(KEPT_MAP, 41, ""), ""), -ENODATA);
	assert_int_equal(find(&bytes, jit_of(KEPT_MAP, 42, ""), ""), -ENOENT);
	assert_int_equal(find(&bytes, jit_of(KEPT_MAP, 0, ""), ""), -ENOENT);
	free(bytes.at);
}

static struct kept_file table_of(const char *path, uint64_t inode, const uint8_t *id)
{
	return (struct kept_file){.kind = KEPT_TABLE,
		.path = path,
		.inode = inode,
		.build_id = id,
		.build_id_len = id ? 4 : 0};
}

static void test_tables(void **state)
{
	struct bytes bytes = make_bytes();

	(void)state;
	assert_int_equal(find(&bytes, table_of("/bin/p", 0, id_a), "table a"), 0);
	assert_int_equal(find(&bytes, table_of("/bin/p", 7, id_b), ""), -ENOENT);
	assert_int_equal(find(&bytes, table_of("/bin/p", 7, NULL), "table a"), 0);
	assert_int_equal(find(&bytes, table_of("/bin/p", 8, NULL), ""), -ENOENT);
	assert_int_equal(find(&bytes, table_of("/bin/q", 8, NULL), "table q"), 0);
	assert_int_equal(find(&bytes, table_of("/bin/q", 0, NULL), "table q"), 0);
	assert_int_equal(find(&bytes, table_of("/bin/r", 9, NULL), ""), -ENODATA);
	assert_int_equal(find(&bytes, table_of("/bin", 7, NULL), ""), -ENOENT);
	free(bytes.at);
}

/* A copy of a large map has both of its ends, that of a dump only the start. */
static void check_large(bool is_map)
{
	const off_t size = 3 * (off_t)PERFMAP_BYTES_MAX;
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct bytes bytes;
	struct kept_found found;
	struct stat st;
	char end[4] = "";
	bool cut;

	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(pwrite(fd, "one", 3, 0), 3);
	assert_int_equal(pwrite(fd, "end", 3, size - 3), 3);
	struct kept_file file = jit_of(is_map ? KEPT_MAP : KEPT_DUMP, 3, "/tmp/file");
	file.fd = kept_copy(fd, UINT64_MAX, is_map, &cut);
	close(fd);
	assert_true(file.fd >= 0);
	assert_true(cut);
	FILE *out = open_memstream(&bytes.at, &bytes.len);
	assert_int_equal(kept_begin(out) | kept_put(out, &file), 0);
	assert_int_equal(fclose(out), 0);
	close(file.fd);
	assert_true(bytes.len > PERFMAP_BYTES_MAX && bytes.len < PERFMAP_BYTES_MAX + 200);

	assert_int_equal(kept_find(bytes.at, bytes.len, &file, &found), 0);
	assert_int_equal(fstat(found.fd, &st), 0);
	assert_int_equal(st.st_size, is_map ? size : (off_t)PERFMAP_BYTES_MAX);
	assert_int_equal(pread(found.fd, end, 3, 0), 3);
	assert_string_equal(end, "one");
	assert_int_equal(pread(found.fd, end, 3, st.st_size - 3), 3);
	assert_memory_equal(end, is_map ? "end" : "\0\0\0", 3);
	close(found.fd);
	free(found.steps);
	free(bytes.at);
}

static void test_large(void **state)
{
	(void)state;
	check_large(true);
	check_large(false);
}

static void test_small_copy(void **state)
{
	int fd = file_of("1000 10 f\n"), copy;
	bool cut;

	(void)state;
	copy = kept_copy(fd, UINT64_MAX, true, &cut);
	assert_false(cut);
	check_file(copy, "1000 10 f\n");
	close(copy);
	/* Exactly enough room. */
	copy = kept_copy(fd, 4, true, &cut);
	check_file(copy, "1000");
	close(copy);
	close(fd);
}

static int find_in(const char *text, size_t len)
{
	const struct bytes bytes = {(char *)(uintptr_t)text, len};
	int ret = find(&bytes, jit_of(KEPT_MAP, 40, ""), "ab");

	return ret;
}

static void test_hostile(void **state)
{
	static const char *const bad[] = {
		"m",
		"m 40 0 2 2 0 0 0",
		"m 40 0 2 2 0 0 0\na", /* too few bytes */
		"m 40 0 3 2 0 0 0\nab", /* not all of the file */
		"m 40 0 2 2 0 0 99999\nab",
		"m 40 0 2 2 0 18446744073709551615 1\nab",
		"m 40 0 99999999999999999999 2 0 0 0\nab",
		"m 40 0 18446744073709551615 67108864 0 0 0\nab",
		"m 40 0 2 2 4294967296 0 0\nab",
		"m 40 0 2 2 2 0 0\n5 5\n4 6\nab", /* steps backwards */
		"m x 0 2 2 0 0 0\nab",
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "%s%s", KEPT_MAGIC, bad[i]);
		char *exact = malloc(strlen(text));
		assert_non_null(exact);
		memcpy(exact, text, strlen(text));
		const int ret = find_in(exact, strlen(text));
		assert_true(ret == -EBADMSG || ret == -ENOENT);
		free(exact);
	}
	assert_int_equal(find_in("strobe kept 2\n", 14), -ENOENT);
	assert_int_equal(find_in(KEPT_MAGIC, 3), -ENOENT);
	snprintf(text, sizeof(text), "%sm 40 0 2 2 0 0 0\nab", KEPT_MAGIC);
	assert_int_equal(find_in(text, strlen(text)), 0);
	/* A cut entry after it has no effect. */
	snprintf(text, sizeof(text), "%sm 40 0 2 2 0 0 0\nabt 0 0 ", KEPT_MAGIC);
	assert_int_equal(find_in(text, strlen(text)), 0);
}

/* The bytes are cut at each length. */
static void test_cut(void **state)
{
	struct bytes bytes = make_bytes();

	(void)state;
	for (size_t len = 0; len < bytes.len; len++) {
		struct bytes part = {malloc(len + 1), len};
		assert_non_null(part.at);
		memcpy(part.at, bytes.at, len);
		int ret = find(&part, table_of("/bin/r", 9, NULL), "");
		assert_true(ret == -EBADMSG || ret == -ENOENT);
		free(part.at);
	}
	free(bytes.at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jit),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_small_copy),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
