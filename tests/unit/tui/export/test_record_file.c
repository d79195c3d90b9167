/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_record_file.c - how the recording file is opened, renamed, undone and removed, and the
 * messages about it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sampler/control/status.h"
#include "tui/commands/record.h"
#include "tui/export/record_file.h"

static char folder[] = "/tmp/strobe-record-XXXXXX";
static char message[RECORD_TEXT_MAX];

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

/* Number of files in the current directory, without "." and "..". */
static size_t count_files(void)
{
	DIR *dir = opendir(".");
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static int in_folder(void **state)
{
	(void)state;
	return !mkdtemp(folder) || chdir(folder);
}

static int out_of_folder(void **state)
{
	(void)state;
	return chdir("/") || rmdir(folder);
}

static void test_default_name(void **state)
{
	struct record_file file;
	struct stat about;

	(void)state;
	assert_int_equal(record_file_open(&file, NULL, message, sizeof(message)), 0);
	assert_false(file.pipe);
	assert_int_equal(fstat(file.fd, &about), 0);
	/* Other users may not read a recording. */
	assert_int_equal(about.st_mode & 0777, 0600);
	assert_int_equal(record_file_close(&file, message, sizeof(message)), 0);
	assert_int_equal(unlink(RECORD_DEFAULT_FILE), 0);
}

static void test_old_file_is_renamed(void **state)
{
	struct record_file file;

	(void)state;
	write_text("a.data", "old");
	write_text("a.data.old", "older");
	assert_int_equal(record_file_open(&file, "a.data", message, sizeof(message)), 0);
	assert_int_equal(write(file.fd, "new", 3), 3);
	assert_int_equal(record_file_close(&file, message, sizeof(message)), 0);
	assert_text("a.data", "new");
	assert_text("a.data.old", "old");
	unlink("a.data");
	unlink("a.data.old");

	/* Once the recording is settled, the older backup is gone for good. */
	write_text("a.data", "old");
	write_text("a.data.old", "older");
	assert_int_equal(record_file_open(&file, "a.data", message, sizeof(message)), 0);
	assert_int_equal(count_files(), 3);
	record_file_settle(&file);
	record_file_settle(&file);
	assert_int_equal(count_files(), 2);
	assert_text("a.data.old", "old");
	assert_int_equal(record_file_close(&file, message, sizeof(message)), 0);
	unlink("a.data");
	unlink("a.data.old");

	/* A directory blocks the name of the old recording; the message names it. */
	write_text("a.data", "old");
	assert_int_equal(mkdir("a.data.old", 0700), 0);
	assert_int_equal(record_file_open(&file, "a.data", message, sizeof(message)), -EISDIR);
	assert_non_null(strstr(message, "cannot keep the old recording as 'a.data.old'"));
	assert_text("a.data", "old");
	assert_int_equal(rmdir("a.data.old"), 0);
	unlink("a.data");

	/* An empty file is not kept. */
	write_text("a.data", "");
	assert_int_equal(record_file_open(&file, "a.data", message, sizeof(message)), 0);
	record_file_close(&file, message, sizeof(message));
	assert_int_equal(access("a.data.old", F_OK), -1);
	unlink("a.data");
}

static void test_undo(void **state)
{
	struct record_file file;

	(void)state;
	write_text("a.data", "old");
	assert_int_equal(record_file_open(&file, "a.data", message, sizeof(message)), 0);
	record_file_undo(&file);
	record_file_close(&file, message, sizeof(message));
	assert_text("a.data", "old");
	assert_int_equal(access("a.data.old", F_OK), -1);

	/* The older backup is restored as well. */
	write_text("a.data.old", "older");
	assert_int_equal(record_file_open(&file, "a.data", message, sizeof(message)), 0);
	assert_text("a.data.old", "old");
	record_file_undo(&file);
	record_file_close(&file, message, sizeof(message));
	assert_text("a.data", "old");
	assert_text("a.data.old", "older");
	unlink("a.data.old");
	unlink("a.data");

	assert_int_equal(record_file_open(&file, "a.data", message, sizeof(message)), 0);
	record_file_undo(&file);
	record_file_undo(&file);
	record_file_close(&file, message, sizeof(message));
	assert_int_equal(access("a.data", F_OK), -1);
}

static void test_what_cannot_seek(void **state)
{
	struct record_file file;
	int reader;

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	reader = open("fifo", O_RDONLY | O_NONBLOCK);
	assert_int_equal(record_file_open(&file, "fifo", message, sizeof(message)), 0);
	assert_true(file.pipe);
	record_file_undo(&file); /* a FIFO is not removed */
	record_file_close(&file, message, sizeof(message));
	assert_int_equal(access("fifo", F_OK), 0);
	close(reader);
	unlink("fifo");

	assert_int_equal(record_file_open(&file, "/dev/null", message, sizeof(message)), 0);
	assert_true(file.pipe);
	record_file_close(&file, message, sizeof(message));
}

static void test_refusals(void **state)
{
	struct record_file file;
	char name[200] = "";

	(void)state;
	assert_int_equal(record_file_open(&file, "no/such", message, sizeof(message)), -ENOENT);
	assert_string_equal(message, "cannot write 'no/such': No such file or directory");
	assert_int_equal(file.fd, -1);
	record_file_undo(&file);
	assert_int_equal(record_file_close(&file, message, sizeof(message)), 0);
	/* The name is shown without terminal escape sequences. */
	record_file_open(&file, "no/\033[31m", message, sizeof(message));
	assert_null(strchr(message, '\033'));
	/* A long name leaves room for the reason. */
	memset(name, 'n', sizeof(name) - 1);
	memcpy(name, "no/", 3);
	record_file_open(&file, name, message, sizeof(message));
	assert_true(strlen(message) < 160);
	assert_non_null(strstr(message, "nnn': No such file or directory"));
}

static void test_cmdline(void **state)
{
	char **words;
	size_t n;

	(void)state;
	assert_int_equal(record_cmdline(&words, &n), 0);
	assert_true(n >= 1);
	assert_non_null(strstr(words[0], "test_record_file"));
	record_cmdline_free(words, n);
	record_cmdline_free(NULL, 0);
}

static void test_sentences(void **state)
{
	struct engine_status *status = calloc(1, sizeof(*status));
	struct recorder_status recorded = {.bytes = 12345678, .samples = 41234, .begun = true};

	(void)state;
	assert_non_null(status);
	status->started_ns = 1000000000;
	status->now_ns = 6500000000;
	status->n_events = 2;
	status->events[0].lost = 5;
	status->events[0].covered = status->events[0].coverable = 100;
	status->events[1].lost = 2;
	status->events[1].covered = 50;
	status->events[1].coverable = 100;
	record_progress(message, sizeof(message), "node (4711)", status, &recorded);
	assert_string_equal(message,
		"recording node (4711): 12 MB, 41.2k samples, lost 7, coverage 50.0%, 5 s; "
		"Ctrl-C ends");
	recorded.dropped = 3;
	record_summary(message, sizeof(message), "a\033.data", status, &recorded);
	assert_string_equal(message, "a?.data: 12 MB, 41234 samples, 10 lost, coverage 50.0%");
	status->events[1].covered = 100;
	record_summary(message, sizeof(message), "a.data", status, &recorded);
	assert_string_equal(message, "a.data: 12 MB, 41234 samples, 10 lost");
	status->events[1].lost_of_all = true;
	record_summary(message, sizeof(message), "a.data", status, &recorded);
	assert_string_equal(message, "a.data: 12 MB, 41234 samples, 10 lost (of all processes)");
	status->events[1].lost_of_all = false;
	record_summary(message, sizeof(message), "-", status, &recorded);
	assert_memory_equal(message, "standard output: ", 17);
	record_explain(message, sizeof(message), "a.data", -ENOSPC, &recorded);
	assert_string_equal(message,
		"cannot write to 'a.data': No space left on device; recording has ended, and what "
		"it holds can be read: 12 MB, 41234 samples");
	recorded = (struct recorder_status){0};
	record_explain(message, sizeof(message), "a.data", -ENODATA, &recorded);
	assert_string_equal(message, "nothing was recorded into 'a.data'");
	free(status);
}

static void test_unknown_coverage(void **state)
{
	struct engine_status *status = calloc(1, sizeof(*status));
	const struct recorder_status recorded = {.bytes = 1000, .samples = 10, .begun = true};

	(void)state;
	assert_non_null(status);
	status->n_events = 2;
	record_progress(message, sizeof(message), "a", status, &recorded);
	assert_string_equal(message, "recording a: 1.0 kB, 10 samples, lost 0, 0 s; Ctrl-C ends");
	record_summary(message, sizeof(message), "a.data", status, &recorded);
	assert_string_equal(message, "a.data: 1.0 kB, 10 samples, 0 lost");
	status->events[1].covered = 90;
	status->events[1].coverable = 100;
	record_progress(message, sizeof(message), "a", status, &recorded);
	assert_non_null(strstr(message, "coverage 90.0%"));
	status->events[1].covered = 0;
	record_progress(message, sizeof(message), "a", status, &recorded);
	assert_non_null(strstr(message, "coverage 0.0%"));
	record_summary(message, sizeof(message), "a.data", status, &recorded);
	assert_non_null(strstr(message, "coverage 0.0%"));
	free(status);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default_name),
		cmocka_unit_test(test_old_file_is_renamed),
		cmocka_unit_test(test_undo),
		cmocka_unit_test(test_what_cannot_seek),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_cmdline),
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_unknown_coverage),
	};

	return cmocka_run_group_tests(tests, in_folder, out_of_folder);
}
