/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_finder.c - the places for files of a build-id, and their order.
 */
#include "symbols/loader/finder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint8_t id[] = {0xab, 0x01, 0xff};
static char found[32][600];

static int setup(void **state)
{
	(void)state;
	return setenv("HOME", "/home/me", 1);
}

static size_t list(const struct symbols_config *config, const struct finder_query *wanted)
{
	struct finder_query query = *wanted;
	struct finder_place place;
	struct finder finder;
	size_t n = 0;

	assert_int_equal(finder_init(&finder, config), 0);
	while (finder_next(&finder, &query, &place)) {
		assert_true(n < 32);
		snprintf(found[n++], sizeof(found[0]), "%.200s|%.300s%s%s%s", place.dir,
			place.relative, place.in_root ? " in_root" : "",
			place.by_path ? " by_path" : "", place.foreign ? " foreign" : "");
	}
	finder_fini(&finder);
	return n;
}

static void test_live(void **state)
{
	static const char *const dirs[] = {"/usr/lib/debug", "/opt/debug", NULL};
	const struct symbols_config config = {.debug_dirs = dirs};
	const struct finder_query query = {
		.what = FINDER_DEBUG, .build_id = id, .build_id_len = 3, .pid = getpid()};

	(void)state;
	/* This process sees our files. The home directory is only searched for recordings. */
	assert_int_equal(list(&config, &query), 2);
	assert_string_equal(found[0], "/usr/lib/debug|.build-id/ab/01ff.debug");
	assert_string_equal(found[1], "/opt/debug|.build-id/ab/01ff.debug");
}

/* Configured directories come before the default one. */
static void test_more_dirs(void **state)
{
	static const char *const dirs[] = {"/opt/debug", NULL};
	const struct symbols_config config = {.more_debug_dirs = dirs};
	const struct finder_query query = {.what = FINDER_DEBUG, .build_id = id, .build_id_len = 3};

	(void)state;
	assert_int_equal(list(&config, &query), 2);
	assert_string_equal(found[0], "/opt/debug|.build-id/ab/01ff.debug");
	assert_string_equal(found[1], FINDER_DEBUG_DIR "|.build-id/ab/01ff.debug");
}

/* Debug links are searched for in the directories that gdb uses. */
static void test_link(void **state)
{
	static const char *const dirs[] = {"/usr/lib/debug", "/opt/debug", NULL};
	struct symbols_config config = {.debug_dirs = dirs};
	struct finder_query query = {.what = FINDER_LINK,
		.path = "/usr/bin/prog",
		.link = "prog.debug",
		.pid = getpid()};

	(void)state;
	assert_int_equal(list(&config, &query), 4);
	assert_string_equal(found[0], "/usr/lib/debug|usr/bin/prog.debug");
	assert_string_equal(found[1], "/opt/debug|usr/bin/prog.debug");
	assert_string_equal(found[2], "/|usr/bin/prog.debug");
	assert_string_equal(found[3], "/|usr/bin/.debug/prog.debug");
	query.path = "/prog";
	assert_int_equal(list(&config, &query), 4);
	assert_string_equal(found[0], "/usr/lib/debug|prog.debug");
	assert_string_equal(found[3], "/|.debug/prog.debug");

	config = (struct symbols_config){.recording = true, .symfs = "/srv"};
	query.path = "/usr/bin/prog";
	assert_int_equal(list(&config, &query), 6);
	assert_string_equal(found[0], "/srv|usr/bin/prog.debug in_root foreign");
	assert_string_equal(found[1], "/srv|usr/bin/.debug/prog.debug in_root foreign");
	assert_string_equal(found[2], "/srv|usr/lib/debug/usr/bin/prog.debug in_root foreign");

	/* A link with a path is refused. Without a link there is no search. */
	query.link = "../prog";
	assert_int_equal(list(&config, &query), 0);
	query.link = NULL;
	assert_int_equal(list(&config, &query), 0);
	query.link = "prog.debug";
	query.path = "[vdso]";
	assert_int_equal(list(&config, &query), 0);
}

static void test_recorded_binary(void **state)
{
	const struct symbols_config config = {
		.recording = true, .archive = "/tmp/a", .symfs = "/srv/root"};
	struct finder_query query = {
		.what = FINDER_BINARY, .path = "/usr/bin/node", .build_id = id, .build_id_len = 3};

	(void)state;
	assert_int_equal(list(&config, &query), 8);
	assert_string_equal(found[0], "/tmp/a|usr/bin/node in_root by_path foreign");
	assert_string_equal(found[1], "/tmp/a|.build-id/ab/01ff/elf in_root foreign");
	assert_string_equal(found[2], "/srv/root|usr/bin/node in_root by_path foreign");
	assert_string_equal(found[3], "/srv/root|.build-id/ab/01ff/elf in_root foreign");
	assert_string_equal(found[4], "/home/me/.debug|.build-id/ab/01ff/elf");
	assert_string_equal(found[5], "/home/me/.debug|.build-id/ab/01ff");
	assert_string_equal(found[6], "/usr/lib/debug|.build-id/ab/01ff");
	assert_string_equal(found[7], "/|usr/bin/node by_path");

	/* Without a build-id only the path counts. Without both there is no search. */
	query.build_id_len = 0;
	assert_int_equal(list(&config, &query), 3);
	query.path = "relative";
	assert_int_equal(list(&config, &query), 0);
	query.path = NULL;
	assert_int_equal(list(&config, &query), 0);
	query.path = "/";
	assert_int_equal(list(&config, &query), 0);
}

static void test_kernel(void **state)
{
	const struct symbols_config config = {.recording = true};
	struct finder_query query = {
		.what = FINDER_KALLSYMS, .build_id = id, .build_id_len = 3, .release = "6.1-x"};

	(void)state;
	assert_int_equal(list(&config, &query), 2);
	assert_string_equal(found[0], "/home/me/.debug|.build-id/ab/01ff/kallsyms");
	assert_string_equal(found[1], "/home/me/.debug|[kernel.kallsyms]/ab01ff/kallsyms");
	query.what = FINDER_VMLINUX;
	assert_int_equal(list(&config, &query), 6);
	assert_string_equal(found[5], "/|boot/vmlinux-6.1-x");
	/* A release with a path is refused. */
	query.release = "../../etc/passwd";
	assert_int_equal(list(&config, &query), 3);
	query.release = NULL;
	assert_int_equal(list(&config, &query), 3);
}

static void test_long(void **state)
{
	const struct symbols_config config = {.recording = true};
	struct finder_query query = {.what = FINDER_BINARY, .build_id = id, .build_id_len = 3};
	char *path = malloc(2 * FINDER_PATH_MAX);

	(void)state;
	memset(path, '/', 1);
	memset(path + 1, 'x', 2 * FINDER_PATH_MAX - 2);
	path[2 * FINDER_PATH_MAX - 1] = '\0';
	query.path = path;
	assert_int_equal(list(&config, &query), 3);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_more_dirs),
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_recorded_binary),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
