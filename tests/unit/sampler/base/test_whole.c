/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_whole.c - writing goes on after short writes and signals; errors come with the number of
 * bytes written; unnamed files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/base/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEN ((size_t)1 << 20) /* more than a pipe holds */

struct reading {
	pthread_t writer;
	int fd;
	size_t got, most;
	char last;
};

static void on_signal(int number)
{
	(void)number;
}

/* Sends a signal after each read, so that writes are short. */
static void *read_all(void *ctx)
{
	struct reading *reading = ctx;
	char bytes[1000];
	ssize_t n = 1;

	while (n > 0 && reading->got < reading->most) {
		n = read(reading->fd, bytes, sizeof(bytes));
		if (n > 0) {
			reading->got += (size_t)n;
			reading->last = bytes[n - 1];
			pthread_kill(reading->writer, SIGUSR1);
		}
	}
	close(reading->fd);
	return NULL;
}

/* Writes LEN bytes to a thread that reads until it has `most`.  Returns whole_write()'s result. */
static int write_to(struct reading *reading, size_t *done)
{
	const struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART */
	char *bytes = calloc(LEN, 1);
	pthread_t thread;
	int fds[2], ret;

	assert_non_null(bytes);
	bytes[LEN - 1] = 'z';
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	reading->fd = fds[0];
	reading->writer = pthread_self();
	assert_int_equal(pthread_create(&thread, NULL, read_all, reading), 0);
	ret = whole_write(fds[1], bytes, LEN, done);
	close(fds[1]);
	pthread_join(thread, NULL);
	free(bytes);
	return ret;
}

static void test_all_of_it(void **state)
{
	struct reading reading = {.most = SIZE_MAX};
	size_t done = 0;

	(void)state;
	assert_int_equal(write_to(&reading, &done), 0);
	assert_int_equal(done, LEN);
	assert_int_equal(reading.got, LEN);
	assert_int_equal(reading.last, 'z');
	assert_int_equal(whole_write(-1, "", 0, NULL), 0);
}

static void test_some_of_it(void **state)
{
	struct reading reading = {.most = 5000};
	size_t done = 0;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(write_to(&reading, &done), -EPIPE);
	assert_true(done >= 5000 && done < LEN);
	assert_int_equal(whole_write(-1, "a", 1, NULL), -EBADF);
	assert_int_equal(whole_pwrite(-1, "a", 1, 0), -EBADF);
}

static void check_file(void)
{
	int fd = whole_unnamed();
	char bytes[8] = "";
	struct stat about;

	assert_true(fd >= 0);
	assert_int_equal(whole_write(fd, "abcdef", 6, NULL), 0);
	assert_int_equal(whole_pwrite(fd, "XY", 2, 2), 0);
	assert_int_equal(whole_write(fd, "g", 1, NULL), 0);
	assert_int_equal(pread(fd, bytes, sizeof(bytes), 0), 7);
	assert_string_equal(bytes, "abXYefg");
	assert_int_equal(fstat(fd, &about), 0);
	assert_int_equal(about.st_nlink, 0);
	assert_int_equal(about.st_mode & 0777, 0600);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

static void test_unnamed(void **state)
{
	(void)state;
	check_file();
	/* A relative folder is not used: strobe's working directory may change before its use. */
	setenv("TMPDIR", ".", 1);
	assert_string_equal(whole_folder(), "/tmp");
	check_file();
	setenv("TMPDIR", "/dev/shm", 1);
	assert_string_equal(whole_folder(), "/dev/shm");
	setenv("TMPDIR", "/proc/no-such-folder", 1);
	assert_int_equal(whole_unnamed(), -ENOENT);
	unsetenv("TMPDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_of_it),
		cmocka_unit_test(test_some_of_it),
		cmocka_unit_test(test_unnamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
