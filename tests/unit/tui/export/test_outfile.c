/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_outfile.c - files are written as a whole or not at all; links and files of other users.
 */
#include "tui/export/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define NOBODY 65534

static char folder[] = "/tmp/strobe-outfile-XXXXXX";

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void assert_text(const char *path, const char *text)
{
	char found[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_true(fgets(found, sizeof(found), file) || !*text);
	assert_string_equal(found, text);
	fclose(file);
}

static mode_t mode_of(const char *path)
{
	struct stat about;

	assert_int_equal(stat(path, &about), 0);
	return about.st_mode & 07777;
}

static size_t count_files(const char *path)
{
	DIR *dir = opendir(path);
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

/* Returns the result of outfile_open() or outfile_end(). */
static int write_file(const char *path, const char *text)
{
	struct outfile out;
	int ret = outfile_open(&out, path, OUTFILE_PUBLIC);

	if (ret)
		return ret;
	fputs(text, out.file);
	errno = 0;
	return outfile_end(&out, 0);
}

static int in_folder(void **state)
{
	(void)state;
	umask(022);
	return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return chdir("/") || rmdir(folder) ? -1 : 0;
}

static void test_whole(void **state)
{
	struct outfile out;

	(void)state;
	assert_int_equal(write_file("new", "one"), 0);
	assert_text("new", "one");
	assert_int_equal(mode_of("new"), 0644);
	assert_int_equal(chmod("new", 0640), 0);
	assert_int_equal(outfile_open(&out, "new", OUTFILE_PUBLIC), 0);
	fputs("two", out.file);
	assert_text("new", "one");
	assert_int_equal(outfile_end(&out, 0), 0);
	assert_text("new", "two");
	assert_int_equal(mode_of("new"), 0640);
	assert_int_equal(count_files("."), 1);
	unlink("new");
}

/* Only readers of the old file may read the new one, and setuid is dropped. */
static void test_group(void **state)
{
	struct outfile out;
	struct stat about;

	(void)state;
	if (geteuid()) {
		print_message("skipped: only root gives files to other groups\n");
		skip();
	}
	assert_int_equal(write_file("new", "one"), 0);
	assert_int_equal(chown("new", (uid_t)-1, 12345), 0);
	assert_int_equal(chmod("new", 04660), 0);
	assert_int_equal(outfile_open(&out, "new", OUTFILE_PUBLIC), 0);
	assert_int_equal(outfile_end(&out, 0), 0);
	assert_int_equal(stat("new", &about), 0);
	assert_int_equal(about.st_gid, 12345);
	assert_int_equal(about.st_mode & 07777, 0660);
	unlink("new");
}

static void test_not_at_all(void **state)
{
	struct outfile out;

	(void)state;
	write_text("a", "old");
	assert_int_equal(outfile_open(&out, "a", OUTFILE_PUBLIC), 0);
	fputs("half", out.file);
	assert_int_equal(outfile_end(&out, -ENOSPC), -ENOSPC);
	assert_text("a", "old");
	assert_int_equal(count_files("."), 1);
	assert_int_equal(outfile_open(&out, "no/such", OUTFILE_PUBLIC), -ENOENT);
	outfile_abandon(&out);
	assert_int_equal(outfile_open(&out, ".", OUTFILE_PUBLIC), -EISDIR);
	assert_int_equal(outfile_open(&out, "a/b", OUTFILE_PUBLIC), -ENOTDIR);
	assert_int_equal(outfile_open(&out, "", OUTFILE_PUBLIC), -EISDIR);
	unlink("a");
}

/* A print that failed without a write only sets the stream's error flag. */
static void test_print_failed(void **state)
{
	struct outfile out;

	(void)state;
	assert_int_equal(write_file("old", "one"), 0);
	assert_int_equal(outfile_open(&out, "old", OUTFILE_PUBLIC), 0);
	fputs("tw", out.file);
	assert_int_equal(fgetc(out.file), EOF); /* not open for reading: sets the error flag */
	assert_true(ferror(out.file));
	assert_int_equal(outfile_end(&out, 0), -EIO);
	assert_text("old", "one");
	assert_int_equal(count_files("."), 1);
	unlink("old");
}

static void test_private(void **state)
{
	struct outfile out;

	(void)state;
	assert_int_equal(outfile_open(&out, "a", OUTFILE_PRIVATE), 0);
	assert_int_equal(outfile_end(&out, 0), 0);
	assert_int_equal(mode_of("a"), 0600);
	unlink("a");
}

static void test_shown(void **state)
{
	struct outfile out;

	(void)state;
	write_text("a", "old");
	assert_int_equal(outfile_open(&out, "a", OUTFILE_PUBLIC), 0);
	assert_int_equal(outfile_show(&out), 0);
	fputs("part", out.file);
	fflush(out.file);
	assert_text("a", "part");
	outfile_abandon(&out);
	assert_text("a", "part");
	assert_int_equal(count_files("."), 1);
	unlink("a");
}

static void test_own_links(void **state)
{
	struct stat about;
	char name[NAME_MAX + 1];

	(void)state;
	write_text("target", "old");
	assert_int_equal(mkdir("sub", 0755), 0);
	assert_int_equal(symlink("../target", "sub/link"), 0);
	assert_int_equal(symlink("sub", "there"), 0);
	assert_int_equal(write_file("there/link", "new"), 0);
	assert_text("target", "new");
	assert_int_equal(lstat("sub/link", &about), 0);
	assert_true(S_ISLNK(about.st_mode));
	/* A dangling link: its target is created. */
	assert_int_equal(symlink("later", "sub/dangling"), 0);
	assert_int_equal(write_file("sub/../sub//dangling", "made"), 0);
	assert_text("sub/later", "made");
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(write_file("loop", "x"), -ELOOP);
	memset(name, 'n', NAME_MAX);
	name[NAME_MAX] = '\0';
	assert_int_equal(write_file(name, "long"), 0);
	assert_text(name, "long");
	unlink(name);
	assert_int_equal(system("rm -r target sub there loop"), 0);
}

static void test_special(void **state)
{
	char name[64];
	int fd;

	(void)state;
	assert_int_equal(write_file("/dev/null", "x"), 0);
	assert_int_equal(write_file("/dev/full", "x"), -ENOSPC);
	fd = open("log", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0 && write(fd, "a,", 2) == 2);
	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	assert_int_equal(write_file(name, "b"), 0);
	assert_text("log", "a,b");
	close(fd);
	unlink("log");
}

/* Makes a directory like /tmp with entries of another user. */
static void make_sticky(void)
{
	if (geteuid()) {
		print_message("needs root, who can make files of somebody else\n");
		skip();
	}
	assert_int_equal(mkdir("sticky", 0700), 0);
	assert_int_equal(chmod("sticky", 01777), 0);
	write_text("target", "kept");
	assert_int_equal(symlink("../target", "sticky/link"), 0);
	assert_int_equal(lchown("sticky/link", NOBODY, NOBODY), 0);
}

static void test_links_of_others(void **state)
{
	(void)state;
	make_sticky();
	assert_int_equal(write_file("sticky/link", "harm"), -ELOOP);
	assert_text("target", "kept");
	assert_int_equal(symlink("..", "sticky/dir"), 0);
	assert_int_equal(lchown("sticky/dir", NOBODY, NOBODY), 0);
	assert_int_equal(write_file("sticky/dir/target", "harm"), -ELOOP);
	assert_int_equal(symlink("made", "sticky/dangling"), 0);
	assert_int_equal(lchown("sticky/dangling", NOBODY, NOBODY), 0);
	assert_int_equal(write_file("sticky/dangling", "harm"), -ELOOP);
	assert_int_equal(access("sticky/made", F_OK), -1);
	/* This user's link leads to a link of another user. */
	assert_int_equal(symlink("sticky/link", "mine"), 0);
	assert_int_equal(write_file("mine", "harm"), -ELOOP);
	assert_text("target", "kept");
	/* A directory of a group, or its owner, does not make the link safe. */
	assert_int_equal(chmod("sticky", 01770), 0);
	assert_int_equal(write_file("sticky/link", "harm"), -ELOOP);
	assert_int_equal(chown("sticky", NOBODY, NOBODY), 0);
	assert_int_equal(chmod("sticky", 01777), 0);
	assert_int_equal(write_file("sticky/link", "harm"), -ELOOP);
	assert_text("target", "kept");
	/* In other directories links are followed. */
	assert_int_equal(chmod("sticky", 01755), 0);
	assert_int_equal(write_file("sticky/link", "fine"), 0);
	assert_text("target", "fine");
	assert_int_equal(system("rm -r target sticky mine"), 0);
}

static void test_files_of_others(void **state)
{
	struct stat about;

	(void)state;
	make_sticky();
	assert_int_equal(mkfifo("sticky/fifo", 0666), 0);
	assert_int_equal(chown("sticky/fifo", NOBODY, NOBODY), 0);
	assert_int_equal(write_file("sticky/fifo", "harm"), -ELOOP);
	/* The file is replaced, not overwritten. Its old owner does not decide who may read the new
	 * one. */
	write_text("sticky/file", "theirs");
	assert_int_equal(chown("sticky/file", NOBODY, NOBODY), 0);
	assert_int_equal(chmod("sticky/file", 0666), 0);
	assert_int_equal(link("sticky/file", "other-name"), 0);
	assert_int_equal(write_file("sticky/file", "ours"), 0);
	assert_text("other-name", "theirs");
	assert_int_equal(stat("sticky/file", &about), 0);
	assert_int_equal(about.st_uid, 0);
	assert_int_equal(about.st_mode & 0777, 0644);
	assert_int_equal(system("rm -r target sticky other-name"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_not_at_all),
		cmocka_unit_test(test_print_failed),
		cmocka_unit_test(test_private),
		cmocka_unit_test(test_shown),
		cmocka_unit_test(test_own_links),
		cmocka_unit_test(test_special),
		cmocka_unit_test(test_links_of_others),
		cmocka_unit_test(test_files_of_others),
	};

	return cmocka_run_group_tests_name("outfile", tests, in_folder, remove_folder);
}
