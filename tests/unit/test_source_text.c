/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_source_text.c - which file is read for the name that a compiler left, and which never is.
 */
#include "symbols/source_text.h"

#include "symbols/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];
static const struct symbols_source nowhere = {.kind = SYMBOLS_FILE};

static const char *at(const char *relative)
{
	static char path[4][PATH_MAX];
	static int next;

	next = (next + 1) % 4;
	snprintf(path[next], PATH_MAX, "%s/%s", dir, relative);
	return path[next];
}

static void write_file(const char *relative, const char *text)
{
	int fd = open(at(relative), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/strobe-test-source-XXXXXX");
	if (!mkdtemp(dir) || mkdir(at("src"), 0700) || mkdir(at("other"), 0700))
		return -1;
	write_file("src/a.c", "int a;\n");
	write_file("src/empty.c", "");
	write_file("other/a.c", "int other;\n");
	return mkfifo(at("src/pipe.c"), 0600);
}

static int teardown(void **state)
{
	static const char *const names[] = {
		"src/a.c", "src/empty.c", "src/pipe.c", "src/huge.c", "other/a.c"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(at(names[i]));
	rmdir(at("src"));
	rmdir(at("other"));
	return rmdir(dir);
}

static void expect(const struct symbols_source *image, const char *file,
	const char *const *prefixes, const char *text)
{
	struct symbols_source_text source;

	assert_int_equal(symbols_source_read(image, file, prefixes, &source), 0);
	assert_string_equal(source.bytes, text);
	assert_int_equal(source.len, strlen(text));
	assert_true(source.mtime_ns > 0);
	free(source.bytes);
}

static void found(const struct symbols_source *image, const char *file, const char *const *prefixes,
	const char *path)
{
	char out[PATH_MAX];

	assert_int_equal(symbols_source_find(image, file, prefixes, out, sizeof(out)), 0);
	assert_string_equal(out, path);
}

static void refuse(const char *file, const char *const *prefixes, int error)
{
	struct symbols_source_text source;

	assert_int_equal(symbols_source_read(&nowhere, file, prefixes, &source), error);
	assert_null(source.bytes);
}

static void test_by_path(void **state)
{
	(void)state;
	expect(&nowhere, at("src/a.c"), NULL, "int a;\n");
	expect(&nowhere, at("src/empty.c"), NULL, "");
	/* The directory that the compiler ran in is gone. */
	expect(&nowhere, at("build/../src/./a.c"), NULL, "int a;\n");
	expect(&nowhere, at("/build/x/../..//src/a.c"), NULL, "int a;\n");
	refuse(at("src/none.c"), NULL, -ENOENT);
	refuse("", NULL, -ENOENT);
	refuse("src/a.c", NULL, -ENOENT);
	refuse("/../..", NULL, -ENOEXEC);
}

static void test_below_root(void **state)
{
	const struct symbols_source own = {.kind = SYMBOLS_FILE, .pid = getpid()};
	const struct symbols_source gone = {.kind = SYMBOLS_FILE, .pid = INT32_MAX};

	(void)state;
	expect(&own, at("src/a.c"), NULL, "int a;\n");
	found(&own, at("x/../src/a.c"), NULL, at("src/a.c"));
	expect(&gone, at("src/a.c"), NULL, "int a;\n");
}

static void test_other_root(void **state)
{
	struct symbols_source image = {.kind = SYMBOLS_FILE};
	int ready[2];
	char byte = 0, path[64];

	(void)state;
	assert_int_equal(pipe(ready), 0);
	image.pid = fork();
	if (image.pid == 0) {
		/* A failure above would leave it to nobody. */
		byte = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && chroot(dir) == 0;
		if (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(0);
	}
	assert_true(image.pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	snprintf(path, sizeof(path), "/proc/%d/root/src/a.c", image.pid);
	if (byte) {
		expect(&image, "/src/a.c", NULL, "int a;\n");
		found(&image, "/src/a.c", NULL, path);
	}
	kill(image.pid, SIGKILL);
	waitpid(image.pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	if (!byte) {
		print_message("skipped: chroot(2) is not permitted\n");
		skip();
	}
}

static void test_prefixes(void **state)
{
	char replace[PATH_MAX], slash[PATH_MAX], part[PATH_MAX];
	const char *const front[] = {"/nowhere", dir, NULL};
	const char *prefixes[] = {replace, NULL};

	(void)state;
	expect(&nowhere, "./src/a.c", front, "int a;\n");
	found(&nowhere, "./src/a.c", front, at("./src/a.c"));
	expect(&nowhere, "/src/a.c", front, "int a;\n");
	refuse("/src/none.c", front, -ENOENT);

	snprintf(replace, sizeof(replace), "/build=%s", dir);
	expect(&nowhere, "/build/src/a.c", prefixes, "int a;\n");
	refuse("/builder/src/a.c", prefixes, -ENOENT);
	/* Of a name shorter than the prefix nothing after its end is read. */
	char *brief = strdup("/b");

	assert_non_null(brief);
	refuse(brief, prefixes, -ENOENT);
	free(brief);
	/* What the user said goes first. */
	snprintf(slash, sizeof(slash), "%s/src/=%s/other", dir, dir);
	prefixes[0] = slash;
	expect(&nowhere, at("src/a.c"), prefixes, "int other;\n");
	/* A part of a name is none. */
	snprintf(part, sizeof(part), "%s/src/a=%s/other/a", dir, dir);
	prefixes[0] = part;
	expect(&nowhere, at("src/a.c"), prefixes, "int a;\n");
}

static void test_refused(void **state)
{
	(void)state;
	refuse(at("src/pipe.c"), NULL, -ENOEXEC);
	refuse("/dev/zero", NULL, -ENOEXEC);
	write_file("src/huge.c", "");
	assert_int_equal(truncate(at("src/huge.c"), 64 * 1024 * 1024 + 1), 0);
	refuse(at("src/huge.c"), NULL, -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_path),
		cmocka_unit_test(test_below_root),
		cmocka_unit_test(test_other_root),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
