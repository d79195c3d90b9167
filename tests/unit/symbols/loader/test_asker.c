/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_asker.c - questions to a worker that answers, dies, hangs, or is stopped.
 */
#include "symbols/loader/asker.h"

#include "symbols/worker/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "no_process.h"

#define PLENTY_MS 60000 /* a guard against hanging, not an expectation */

static struct asker asker;
static char answers[WIRE_PACKET_BYTES];

/* Runs in the worker, which inherits it by fork(). */
static void hook(int fd, const char *name)
{
	(void)fd;
	if (name && strcmp(name, "die") == 0)
		raise(SIGSEGV);
	/* Looks like the end of the connection, but the worker goes on. */
	if (name && strcmp(name, "empty") == 0 && sendmsg(3, &(struct msghdr){0}, 0) == 0)
		name = "spin";
	if (name && strcmp(name, "spin") == 0)
		for (volatile int i = 0;; i++)
			;
}

static int setup(void **state)
{
	(void)state;
	worker_test_hook = hook;
	int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return asker_open(&asker, stop_fd, 1024);
}

static int teardown(void **state)
{
	(void)state;
	asker_close(&asker);
	close(asker.stop_fd);
	return 0;
}

static int ask(const char *name, unsigned int cpu_ms, unsigned int wall_ms)
{
	const struct asker_question question = {
		.type = WIRE_DEMANGLE,
		.payload = name,
		.len = strlen(name) + 1,
		.fd = -1,
		.limits = {cpu_ms, wall_ms},
	};
	struct wire_message answer;
	size_t len;
	int fd;

	memset(answers, 0, 64);
	int ret = asker_ask(&asker, &question, &answer, answers, sizeof(answers), &len, &fd);
	assert_int_equal(fd, -1);
	return ret;
}

static void test_answer(void **state)
{
	(void)state;
	assert_int_equal(ask("_Z1fv", PLENTY_MS, PLENTY_MS), 0);
	assert_string_equal(answers, "f()");
	int pid = asker.worker_pid;
	assert_int_equal(ask("main", PLENTY_MS, PLENTY_MS), 0);
	assert_string_equal(answers, "");
	assert_int_equal(asker.worker_pid, pid);
}

static void test_death(void **state)
{
	(void)state;
	assert_int_equal(ask("die", PLENTY_MS, PLENTY_MS), -EPIPE);
	assert_true(asker.died_status != 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	assert_true(WIFSIGNALED(asker.died_status));
#endif
	assert_int_equal(asker.worker_pid, -1);
	assert_int_equal(ask("_Z1gv", PLENTY_MS, PLENTY_MS), 0);
	assert_string_equal(answers, "g()");
}

/* A worker that died between questions is replaced silently. */
static void test_idle_death(void **state)
{
	int status;

	(void)state;
	assert_int_equal(ask("_Z1gv", PLENTY_MS, PLENTY_MS), 0);
	pid_t pid = asker.worker_pid;
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(spawner_status(&asker.spawner, pid, PLENTY_MS, &status), 0);
	assert_int_equal(ask("_Z1hv", PLENTY_MS, PLENTY_MS), 0);
	assert_string_equal(answers, "h()");
	assert_int_not_equal(asker.worker_pid, pid);
}

static void test_limits(void **state)
{
	(void)state;
	assert_int_equal(ask("spin", 50, 600000), -EPIPE);
	assert_true(WIFSIGNALED(asker.died_status) && WTERMSIG(asker.died_status) == SIGKILL);
	assert_int_equal(ask("_Z1hv", PLENTY_MS, PLENTY_MS), 0);
	assert_int_equal(ask("spin", 600000, 100), -EPIPE);
	assert_int_equal(ask("_Z1hv", PLENTY_MS, PLENTY_MS), 0);
}

/* A worker that feigns its end is killed. */
static void test_feigned_end(void **state)
{
	(void)state;
	assert_int_equal(ask("_Z1hv", PLENTY_MS, PLENTY_MS), 0);
	pid_t pid = asker.worker_pid;
	assert_int_equal(ask("empty", 600000, 600000), -EPIPE);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
	assert_int_equal(ask("_Z1hv", PLENTY_MS, PLENTY_MS), 0);
}

static void test_stop(void **state)
{
	(void)state;
	assert_int_equal(ask("_Z1hv", PLENTY_MS, PLENTY_MS), 0);
	assert_int_equal(eventfd_write(asker.stop_fd, 1), 0);
	assert_int_equal(ask("spin", 600000, 600000), -ECANCELED);
	/* asker_close() does not wait for the worker either: teardown would hang. */
}

/* Spawner and worker are killed; the next question goes to new ones. */
static void test_killed_spawner(void **state)
{
	pid_t spawner = asker.spawner.pid;

	(void)state;
	assert_int_equal(ask("_Z1gv", PLENTY_MS, PLENTY_MS), 0);
	assert_int_equal(asker.spawner_pid, spawner);
	assert_int_equal(kill(asker.worker_pid, SIGKILL), 0);
	assert_int_equal(kill(spawner, SIGKILL), 0);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)spawner, &info, WEXITED | WNOWAIT), 0);
	/* Waits until the worker is gone, too. */
	assert_int_equal(poll(&(struct pollfd){.fd = asker.sock}, 1, 60000), 1);
	assert_int_equal(ask("_Z1hv", PLENTY_MS, PLENTY_MS), 0);
	assert_string_equal(answers, "h()");
	assert_int_not_equal(asker.spawner_pid, spawner);
	assert_int_equal(asker.spawner_pid, asker.spawner.pid);
	pid_t worker = asker.worker_pid;
	assert_int_equal(ask("_Z1gv", PLENTY_MS, PLENTY_MS), 0);
	assert_int_equal(asker.worker_pid, worker);
}

/* No process can be created: the reason is reported. */
static void test_no_process(void **state)
{
	struct rlimit old;

	(void)state;
	asker_close(&asker);
	no_process_before(&old);
	int ret = asker_open(&asker, asker.stop_fd, 1024);
	no_process_after(&old, asker.spawner.pid);
	assert_int_equal(ret, 0);
	assert_int_equal(ask("_Z1gv", PLENTY_MS, PLENTY_MS), -ECHILD);
	assert_int_equal(asker.start_error, EAGAIN);
}

int main(int argc, char **argv)
{
	spawner_entry(argc, argv);

	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_death, setup, teardown),
		cmocka_unit_test_setup_teardown(test_idle_death, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_feigned_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stop, setup, teardown),
		cmocka_unit_test_setup_teardown(test_killed_spawner, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_process, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
