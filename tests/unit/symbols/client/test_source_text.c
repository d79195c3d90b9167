/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_source_text.c - which file is read for the name that a compiler recorded, and which files
 * never are.
 */
#include "symbols/client/source_text.h"

#include "symbols/client/code.h"

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
static const struct symbols_source_origin nowhere = {
	.rights = {.kind = SYMBOLS_RIGHTS_OWN, .here = true}};

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

static void expect(const struct symbols_source_origin *image, const char *file,
	const char *const *prefixes, const char *text)
{
	struct symbols_source_text source;

	assert_int_equal(symbols_source_read(image, file, prefixes, &source), 0);
	assert_string_equal(source.bytes, text);
	assert_int_equal(source.len, strlen(text));
	assert_true(source.mtime_ns > 0);
	free(source.bytes);
}

static void found(const struct symbols_source_origin *image, const char *file,
	const char *const *prefixes, const char *path)
{
	char out[PATH_MAX];

	assert_int_equal(symbols_source_find(image, file, prefixes, out, sizeof(out)), 0);
	assert_string_equal(out, path);
}

static void refuse_of(const struct symbols_source_origin *origin, const char *file,
	const char *const *prefixes, int error)
{
	struct symbols_source_text source;

	assert_int_equal(symbols_source_read(origin, file, prefixes, &source), error);
	assert_null(source.bytes);
}

static void refuse(const char *file, const char *const *prefixes, int error)
{
	refuse_of(&nowhere, file, prefixes, error);
}

static void test_by_path(void **state)
{
	(void)state;
	expect(&nowhere, at("src/a.c"), NULL, "int a;\n");
	expect(&nowhere, at("src/empty.c"), NULL, "");
	/* The compiler's working directory does not exist any more. */
	expect(&nowhere, at("build/../src/./a.c"), NULL, "int a;\n");
	expect(&nowhere, at("/build/x/../..//src/a.c"), NULL, "int a;\n");
	refuse(at("src/none.c"), NULL, -ENOENT);
	refuse("", NULL, -ENOENT);
	refuse("src/a.c", NULL, -ENOENT);
	refuse("/../..", NULL, -ENOEXEC);
}

/* Files are opened with the rights of the user in the origin.  At first, only the owner may search
 * the directory. */
static void test_rights_of_others(void **state)
{
	const struct symbols_source_origin none = {.pid = getpid()};
	const struct symbols_source_origin other = {
		.rights = {.kind = SYMBOLS_RIGHTS_USER, .user = RIGHTS_NOBODY, .here = true}};
	const struct symbols_source_origin elsewhere = {
		.pid = INT32_MAX, .rights = {.kind = SYMBOLS_RIGHTS_USER, .user = RIGHTS_NOBODY}};
	const struct symbols_source_origin mine = {
		.rights = {.kind = SYMBOLS_RIGHTS_USER, .user = geteuid(), .here = true}};
	const bool root = geteuid() == 0;

	(void)state;
	refuse_of(&none, at("src/a.c"), NULL, -ENOENT);
	refuse_of(&elsewhere, at("src/a.c"), NULL, -ENOENT);
	expect(&mine, at("src/a.c"), NULL, "int a;\n");
	/* Only the directory's owner may search it. */
	refuse_of(&other, at("src/a.c"), NULL, -EACCES);
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(chmod(at("src"), 0755), 0);
	refuse_of(&other, at("src/a.c"), NULL, -EACCES);
	assert_int_equal(chmod(at("src/a.c"), 0644), 0);
	if (root) {
		char path[PATH_MAX];

		expect(&other, at("src/a.c"), NULL, "int a;\n");
		expect(&other, at("x/../src/a.c"), NULL, "int a;\n");
		/* A path is refused: another program would open it with more rights. */
		assert_int_equal(
			symbols_source_find(&other, at("src/a.c"), NULL, path, sizeof(path)),
			-EPERM);
	} else {
		refuse_of(&other, at("src/a.c"), NULL, -EACCES);
	}
	/* This thread has its own rights again. */
	expect(&nowhere, at("other/a.c"), NULL, "int other;\n");
	assert_int_equal(chmod(at("src/a.c"), 0600), 0);
}

static void test_no_way_out_of_a_prefix(void **state)
{
	const struct symbols_source_origin none = {.pid = 0};
	char inner[PATH_MAX], replace[PATH_MAX + 16];
	const char *prefixes[] = {inner, NULL};

	(void)state;
	snprintf(inner, sizeof(inner), "%s", at("src"));
	snprintf(replace, sizeof(replace), "/build=%s", inner);
	expect(&none, "a.c", prefixes, "int a;\n");
	expect(&none, "/x/../a.c", prefixes, "int a;\n");
	refuse_of(&none, "../other/a.c", prefixes, -ENOENT);
	refuse_of(&none, "/../other/a.c", prefixes, -ENOENT);
	assert_int_equal(symlink(at("other/a.c"), at("src/link.c")), 0);
	refuse_of(&none, "link.c", prefixes, -EXDEV);
	expect(&nowhere, "link.c", prefixes, "int other;\n");
	prefixes[0] = replace;
	expect(&none, "/build/a.c", prefixes, "int a;\n");
	refuse_of(&none, "/build/../other/a.c", prefixes, -ENOENT);
	refuse_of(&none, "/build/link.c", prefixes, -EXDEV);
	unlink(at("src/link.c"));
}

static void test_other_root(void **state)
{
	struct symbols_source_origin image = {
		.rights = {.kind = SYMBOLS_RIGHTS_USER, .user = geteuid()}};
	char byte = 0, path[PATH_MAX];
	int ready[2];

	(void)state;
	assert_int_equal(pipe(ready), 0);
	image.pid = fork();
	if (image.pid == 0) {
		/* The child ends with this process, also after a failed assertion. */
		byte = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && chroot(dir) == 0;
		if (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(0);
	}
	assert_true(image.pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	if (byte) {
		expect(&image, "/src/a.c", NULL, "int a;\n");
		/* Files outside its root are out of reach. */
		refuse_of(&image, at("src/a.c"), NULL, -ENOENT);
		assert_int_equal(
			symbols_source_find(&image, "/src/a.c", NULL, path, sizeof(path)), -EPERM);
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
	/* A name that is shorter than the prefix is not read past its end. */
	char *brief = strdup("/b");

	assert_non_null(brief);
	refuse(brief, prefixes, -ENOENT);
	free(brief);
	/* The user's prefixes are tried before the path itself. */
	snprintf(slash, sizeof(slash), "%s/src/=%s/other", dir, dir);
	prefixes[0] = slash;
	expect(&nowhere, at("src/a.c"), prefixes, "int other;\n");
	/* A prefix matches whole path components only. */
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
		cmocka_unit_test(test_rights_of_others),
		cmocka_unit_test(test_no_way_out_of_a_prefix),
		cmocka_unit_test(test_other_root),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
