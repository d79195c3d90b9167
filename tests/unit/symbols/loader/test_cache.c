/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_cache.c - tables on disk: stored, verified, limited in size and private to the user.
 */
#include "symbols/loader/cache.h"

#include "symbols/wire/symtab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/strobe-test-cache-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static unsigned int each_file(bool remove_it)
{
	struct dirent *entry;
	unsigned int n = 0;
	DIR *d = opendir(dir);

	while (d && (entry = readdir(d))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		n++;
		if (remove_it)
			unlinkat(dirfd(d), entry->d_name, 0);
	}
	if (d)
		closedir(d);
	return n;
}

static int teardown(void **state)
{
	(void)state;
	each_file(true);
	return rmdir(dir);
}

static int memory_file(const char *text, size_t len)
{
	int fd = memfd_create("m", MFD_CLOEXEC);

	assert_int_equal(write(fd, text, len), len);
	return fd;
}

static void test_round_trip(void **state)
{
	struct cache *cache;
	char path[128];
	char text[200000], back[sizeof(text)];
	struct stat st;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 31 >> 3);
	assert_int_equal(cache_open(&cache, dir, 0), 0);
	assert_int_equal(cache_load(cache, "id1-0102"), -ENOENT);
	int fd = memory_file(text, sizeof(text));
	assert_int_equal(cache_store(cache, "id1-0102", fd), 0);
	close(fd);
	assert_int_equal(each_file(false), 1);

	fd = cache_load(cache, "id1-0102");
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, back, sizeof(back), 0), sizeof(back));
	assert_memory_equal(text, back, sizeof(text));
	assert_int_equal(pwrite(fd, "x", 1, 0), -1); /* sealed */
	close(fd);

	snprintf(path, sizeof(path), "%s/id1-0102.sym", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);

	/* A file stored with the key of another name is refused. */
	char other[128];
	snprintf(other, sizeof(other), "%s/id1-0103.sym", dir);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(cache_load(cache, "id1-0103"), -EBADMSG);
	assert_int_equal(each_file(false), 0);
	cache_close(cache);
}

static void test_damaged(void **state)
{
	struct cache *cache;
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/id1-aa.sym", dir);
	assert_int_equal(cache_open(&cache, dir, 0), 0);
	for (int damage = 0; damage < 3; damage++) {
		int fd = memory_file("some table bytes", 16);
		assert_int_equal(cache_store(cache, "id1-aa", fd), 0);
		close(fd);
		struct stat st;
		assert_int_equal(stat(path, &st), 0);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (damage == 0)
			assert_int_equal(pwrite(fd, "S", 1, st.st_size - 3), 1);
		else
			assert_int_equal(ftruncate(fd, damage == 1 ? st.st_size - 1 : 5), 0);
		close(fd);
		assert_int_equal(cache_load(cache, "id1-aa"), -EBADMSG);
		assert_int_equal(cache_load(cache, "id1-aa"), -ENOENT);
	}
	cache_close(cache);
}

/* The least recently used tables are removed, and a file left by a crash. A load counts as a
 * use. */
static void test_limit(void **state)
{
	struct cache *cache;
	char key[32], path[128];
	static char text[10000];

	(void)state;
	assert_int_equal(cache_open(&cache, dir, 45000), 0);
	snprintf(path, sizeof(path), "%s/.new-1", dir);
	int left = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_int_equal(write(left, text, sizeof(text)), sizeof(text));
	futimens(left, (struct timespec[2]){{.tv_sec = 1}, {.tv_sec = 1}});
	close(left);
	for (int i = 0; i < 4; i++) {
		int fd = memory_file(text, sizeof(text));
		snprintf(key, sizeof(key), "id1-%d", i);
		assert_int_equal(cache_store(cache, key, fd), 0);
		close(fd);
		snprintf(path, sizeof(path), "%s/%s.sym", dir, key);
		assert_int_equal(
			utimensat(AT_FDCWD, path,
				(struct timespec[2]){{.tv_sec = 100 + i}, {.tv_sec = 100 + i}}, 0),
			0);
	}
	/* the four tables, without the file left by a crash */
	assert_int_equal(each_file(false), 4);
	int fd = cache_load(cache, "id1-0");
	assert_true(fd >= 0);
	assert_int_equal(cache_store(cache, "id1-new", fd), 0);
	close(fd);
	assert_int_equal(cache_load(cache, "id1-1"), -ENOENT);
	fd = cache_load(cache, "id1-0");
	assert_true(fd >= 0);
	close(fd);
	fd = cache_load(cache, "id1-new");
	assert_true(fd >= 0);
	close(fd);
	cache_close(cache);
}

static void test_directories(void **state)
{
	struct cache *cache;
	char path[128];
	struct stat st;

	(void)state;
	assert_int_equal(cache_open(&cache, "", 0), -ENOENT);
	assert_null(cache);
	assert_int_equal(cache_load(NULL, "id1-0"), -ENOENT);
	assert_int_equal(cache_store(NULL, "id1-0", -1), 0);
	cache_close(NULL);

	/* Other users could put files into the directory. */
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(cache_open(&cache, dir, 0), -EPERM);
	assert_int_equal(chmod(dir, 0700), 0);

	snprintf(path, sizeof(path), "%s/fresh", dir);
	assert_int_equal(cache_open(&cache, path, 0), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	cache_close(cache);
	assert_int_equal(rmdir(path), 0);

	setenv("XDG_CACHE_HOME", dir, 1);
	assert_int_equal(cache_open(&cache, NULL, 0), 0);
	cache_close(cache);
	snprintf(path, sizeof(path), "%s/strobe", dir);
	assert_int_equal(rmdir(path), 0);

	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	assert_int_equal(cache_open(&cache, NULL, 0), -ENOENT);
	/* A home of another user: /proc/1 belongs to root, and uid 65534 is not ours. */
	if (geteuid() == 0) {
		assert_int_equal(chown(dir, 65534, 65534), 0);
		setenv("HOME", dir, 1);
		assert_int_equal(cache_open(&cache, NULL, 0), -ENOENT);
		assert_int_equal(chown(dir, 0, 0), 0);
	}
	setenv("HOME", dir, 1);
	assert_int_equal(cache_open(&cache, NULL, 0), 0);
	cache_close(cache);
	snprintf(path, sizeof(path), "%s/.cache/strobe", dir);
	assert_int_equal(rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/.cache", dir);
	assert_int_equal(rmdir(path), 0);
}

static void test_keys(void **state)
{
	static const uint8_t id[] = {0x01, 0xab, 0xff};
	char key[CACHE_KEY_MAX], again[CACHE_KEY_MAX], expected[CACHE_KEY_MAX];

	(void)state;
	cache_key_build_id(key, id, sizeof(id));
	snprintf(expected, sizeof(expected), "id%u-01abff", SYMTAB_VERSION);
	assert_string_equal(key, expected);
	/* A vdso read from a process's memory must not select the table of a file. */
	cache_key_vdso(key, id, sizeof(id));
	snprintf(expected, sizeof(expected), "vdso%u-01abff", SYMTAB_VERSION);
	assert_string_equal(key, expected);
	int ret = cache_key_kernel(key);
	if (ret < 0) {
		print_message("skipped: the kernel has no key here (%d)\n", ret);
		skip();
	}
	assert_int_equal(cache_key_kernel(again), 0);
	assert_string_equal(key, again);
	assert_non_null(strstr(key, "kernel"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_directories, setup, teardown),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
