/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_spawner.c - workers start and end; no process is left when the spawner is closed.
 */
#include "symbols/worker/spawner.h"

#include "symbols/wire/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "no_process.h"

static void expect_hello(int sock)
{
	struct wire_message message;
	size_t len;
	int fd;

	assert_int_equal(wire_recv(sock, &message, NULL, 0, &len, &fd, 0), 0);
	assert_int_equal(message.type, WIRE_CONFINED);
	if (geteuid() == 0)
		assert_int_equal(message.error, 0);
}

static void test_workers(void **state)
{
	struct spawner spawner;
	pid_t first, second;
	int a, b, status;

	(void)state;
	assert_int_equal(spawner_open(&spawner, 512), 0);
	assert_int_equal(spawner_fork(&spawner, &first, &a), 0);
	assert_int_equal(spawner_fork(&spawner, &second, &b), 0);
	expect_hello(a);
	expect_hello(b);
	assert_true(first > 0 && second > 0 && first != second);

	assert_int_equal(kill(first, SIGKILL), 0);
	assert_int_equal(spawner_status(&spawner, first, 60000, &status), 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	/* A worker that still runs has no status. */
	assert_int_equal(spawner_status(&spawner, second, 0, &status), -ETIME);
	/* Closing its socket ends the other worker in order. */
	close(b);
	assert_int_equal(spawner_status(&spawner, second, 60000, &status), 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(a);
	spawner_close(&spawner);
	spawner_close(&spawner);
}

static void test_command_name(void **state)
{
	struct spawner spawner;
	char path[64], name[32] = "";

	(void)state;
	assert_int_equal(spawner_open(&spawner, 512), 0);
	pid_t worker;
	int sock;
	assert_int_equal(spawner_fork(&spawner, &worker, &sock), 0);
	expect_hello(sock);
	snprintf(path, sizeof(path), "/proc/%d/comm", worker);
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	assert_non_null(fgets(name, sizeof(name), file));
	fclose(file);
	assert_string_equal(name, "strobe-symbols\n");
	close(sock);
	spawner_close(&spawner);
}

/* A stopped worker cannot see that its socket is closed.  It ends with its spawner all the same. */
static void test_end(void **state)
{
	struct spawner spawner;
	struct pollfd pfd;
	pid_t pid;
	int sock;

	(void)state;
	assert_int_equal(spawner_open(&spawner, 512), 0);
	assert_int_equal(spawner_fork(&spawner, &pid, &sock), 0);
	expect_hello(sock);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	spawner_close(&spawner);
	pfd = (struct pollfd){.fd = sock, .events = POLLIN};
	assert_int_equal(poll(&pfd, 1, 60000), 1);
	assert_true(pfd.revents & POLLHUP);
	close(sock);
}

/* spawner_close() ends and reaps a stopped spawner; waits end once stop_fd is readable. */
static void test_stopped_spawner(void **state)
{
	struct spawner spawner;
	int sock, stop[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(stop), 0);
	assert_int_equal(spawner_open(&spawner, 512), 0);
	spawner.stop_fd = stop[0];
	const pid_t stopped = spawner.pid;
	assert_int_equal(kill(stopped, SIGSTOP), 0);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)stopped, &info, WSTOPPED | WNOWAIT), 0);
	assert_int_equal(write(stop[1], "", 1), 1);
	assert_int_equal(spawner_fork(&spawner, &pid, &sock), -ECANCELED);
	assert_int_equal(sock, -1);
	spawner_close(&spawner);
	assert_int_equal(kill(stopped, 0), -1);
	close(stop[0]);
	close(stop[1]);
}

static void test_dead_spawner(void **state)
{
	struct spawner spawner;
	int sock, status;
	pid_t pid;

	(void)state;
	assert_int_equal(spawner_open(&spawner, 512), 0);
	assert_int_equal(kill(spawner.pid, SIGKILL), 0);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)spawner.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(spawner_fork(&spawner, &pid, &sock), -EPIPE);
	assert_int_equal(sock, -1);
	assert_int_equal(spawner_status(&spawner, 1, 0, &status), -EPIPE);
	spawner_close(&spawner);
	assert_int_equal(spawner_fork(&spawner, &pid, &sock), -EPIPE);
}

/* The number after a name in /proc/PID/status. */
static long status_number(pid_t pid, const char *name, int base)
{
	char path[64], line[256];
	long value = -1;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, name, strlen(name)) == 0)
			value = strtol(line + strlen(name), NULL, base);
	fclose(file);
	return value;
}

/* A spawner that was killed, or does not answer, is replaced by one with equally few rights. */
static void test_restart(void **state)
{
	static const int signals[] = {SIGKILL, SIGSTOP};
	struct spawner spawner;

	(void)state;
	/* The new spawner inherits neither descriptor: exec closes one, the spawner itself the
	 * other. */
	int closed = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(closed >= 0);
	int open_fd = fcntl(closed, F_DUPFD, 100);
	assert_true(open_fd >= 0);
	assert_int_equal(spawner_open(&spawner, 512), 0);
	for (int i = 0; i < 2; i++) {
		pid_t old = spawner.pid, worker;
		int sock, status;

		assert_int_equal(kill(old, signals[i]), 0);
		assert_int_equal(spawner_restart(&spawner), 0);
		assert_true(spawner.pid > 0 && spawner.pid != old);
		assert_int_equal(kill(old, 0), -1); /* reaped */
		assert_int_equal(spawner_fork(&spawner, &worker, &sock), 0);
		expect_hello(sock);
		assert_int_equal(status_number(spawner.pid, "PPid:", 10), getpid());
		assert_int_equal(status_number(worker, "PPid:", 10), spawner.pid);
		assert_int_equal(status_number(spawner.pid, "CapPrm:", 16), 0);
		assert_int_equal(status_number(spawner.pid, "NoNewPrivs:", 10), 1);
		if (geteuid() == 0) {
			char path[64];
			snprintf(path, sizeof(path), "/proc/%d/fd/%d", spawner.pid, open_fd);
			assert_int_equal(faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW), -1);
			assert_int_not_equal(status_number(spawner.pid, "Uid:", 10), 0);
			assert_int_not_equal(status_number(spawner.pid, "Gid:", 10), 0);
		}
		assert_int_equal(kill(worker, SIGKILL), 0);
		assert_int_equal(spawner_status(&spawner, worker, 60000, &status), 0);
		close(sock);
	}
	spawner_close(&spawner);
	close(closed);
	close(open_fd);
}

/* Without a process left to this user, the reason is reported. */
static void test_no_process(void **state)
{
	struct spawner spawner;
	struct rlimit old;
	int sock;
	pid_t pid;

	(void)state;
	no_process_before(&old);
	int ret = spawner_open(&spawner, 512);
	no_process_after(&old, spawner.pid);
	assert_int_equal(ret, 0);
	assert_int_equal(spawner_fork(&spawner, &pid, &sock), -EAGAIN);
	assert_int_equal(sock, -1);
	spawner_close(&spawner);
}

int main(int argc, char **argv)
{
	spawner_entry(argc, argv);

	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_workers),
		cmocka_unit_test(test_command_name),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_stopped_spawner),
		cmocka_unit_test(test_dead_spawner),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_no_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
