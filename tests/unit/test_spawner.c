/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_spawner.c - workers come and go; nothing is left when the spawner is closed.
 */
#include "symbols/spawner.h"

#include "symbols/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

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
	assert_int_equal(spawner_status(&spawner, first, 10000, &status), 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	/* One that still lives has no status. */
	assert_int_equal(spawner_status(&spawner, second, 0, &status), -ETIME);
	/* Closing its socket ends the other in order. */
	close(b);
	assert_int_equal(spawner_status(&spawner, second, 10000, &status), 0);
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

/* Even a worker that is stopped, and so cannot see that its socket is closed, goes with its spawner. */
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
	assert_int_equal(poll(&pfd, 1, 10000), 1);
	assert_true(pfd.revents & POLLHUP);
	close(sock);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_workers),
		cmocka_unit_test(test_command_name),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_dead_spawner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
