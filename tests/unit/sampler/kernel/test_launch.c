/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_launch.c - commands that wait, run, fail to execute or end.
 */
#include "sampler/kernel/launch.h"
#include "sampler/machine/proc.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void wait_for_end(struct launch *launch, int *status)
{
	struct pollfd pollfd = {.fd = launch->pid_fd, .events = POLLIN};

	if (launch->pid_fd < 0)
		skip();
	assert_int_equal(poll(&pollfd, 1, 60000), 1);
	assert_true(launch_ended(launch, status));
	assert_int_equal(launch->pid, 0);
	assert_false(launch_ended(launch, status));
}

static void test_status(void **state)
{
	char *argv[] = {"sh", "-c", "exit 7", NULL};
	struct launch launch;
	int status;

	(void)state;
	assert_int_equal(launch_fork(&launch, argv, -1), 0);
	assert_true(launch.pid > 0);
	assert_false(launch_ended(&launch, &status));
	assert_int_equal(launch_go(&launch), 0);
	wait_for_end(&launch, &status);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_true(launch.cpu_ns > 0);
	launch_close(&launch);
}

static void test_signalled(void **state)
{
	char *argv[] = {"sleep", "20", NULL};
	struct launch launch;
	int status;

	(void)state;
	assert_int_equal(launch_fork(&launch, argv, -1), 0);
	assert_int_equal(launch_go(&launch), 0);
	assert_int_equal(launch_signal(&launch, SIGTERM), 0);
	wait_for_end(&launch, &status);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(launch_signal(&launch, SIGTERM), -ESRCH);
	launch_close(&launch);
	/* Another caller has waited for the command: its pid is free, or used again. */
	assert_int_equal(launch_fork(&launch, argv, -1), 0);
	assert_int_equal(launch_go(&launch), 0);
	assert_int_equal(launch_signal(&launch, SIGKILL), 0);
	assert_int_equal(waitpid(launch.pid, &status, 0), launch.pid);
	launch.pid = launch.pid_fd < 0 ? launch.pid : getpid();
	assert_int_equal(launch_signal(&launch, SIGKILL), -ESRCH);
	assert_true(launch_ended(&launch, &status));
	launch_close(&launch);
}

static void test_signal_and_clean_mask(void **state)
{
	char *argv[] = {"sleep", "20", NULL}; /* a shell would clear its mask itself */
	struct launch launch;
	sigset_t term, before;
	int status;

	(void)state;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &before);
	assert_int_equal(launch_fork(&launch, argv, -1), 0);
	assert_int_equal(launch_go(&launch), 0);
	assert_int_equal(kill(launch.pid, SIGTERM), 0);
	wait_for_end(&launch, &status);
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	launch_close(&launch);
}

static void test_no_such_command(void **state)
{
	char *argv[] = {"/nonexistent/command", NULL};
	struct launch launch;

	(void)state;
	assert_int_equal(launch_fork(&launch, argv, -1), 0);
	assert_int_equal(launch_go(&launch), -ENOENT);
	assert_int_equal(launch.pid, 0);
	launch_close(&launch);
}

static void test_output_goes_to_the_descriptor(void **state)
{
	/* stdin is /dev/null: cat ends at once. */
	char *argv[] = {"sh", "-c", "cat; echo out; echo err >&2", NULL};
	struct launch launch;
	char text[64] = {0};
	size_t len = 0;
	ssize_t got;
	int out[2], status;

	(void)state;
	assert_int_equal(pipe(out), 0);
	assert_int_equal(launch_fork(&launch, argv, out[1]), 0);
	close(out[1]);
	assert_int_equal(launch_go(&launch), 0);
	assert_int_equal(getpgid(launch.pid), launch.pid);
	while ((got = read(out[0], text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)got;
	assert_string_equal(text, "out\nerr\n");
	wait_for_end(&launch, &status);
	close(out[0]);
	launch_close(&launch);
}

static void test_never_let_go(void **state)
{
	char *argv[] = {"sh", "-c", "exit 7", NULL};
	struct launch launch;
	int32_t pid;

	(void)state;
	assert_int_equal(launch_fork(&launch, argv, -1), 0);
	pid = launch.pid;
	launch_close(&launch);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* An observer that attaches now sees only the command, nothing of the time before it. */
static void test_it_waits_when_it_is_there(void **state)
{
	char *argv[] = {"true", NULL};
	struct proc_thread child;
	struct launch launch;

	(void)state;
	for (int i = 0; i < 100; i++) {
		assert_int_equal(launch_fork(&launch, argv, -1), 0);
		assert_int_equal(proc_read_thread(launch.pid, &child), 0);
		assert_int_equal(child.state, 'S');
		launch_close(&launch);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_signalled),
		cmocka_unit_test(test_signal_and_clean_mask),
		cmocka_unit_test(test_no_such_command),
		cmocka_unit_test(test_output_goes_to_the_descriptor),
		cmocka_unit_test(test_never_let_go),
		cmocka_unit_test(test_it_waits_when_it_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
