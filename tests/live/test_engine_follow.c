/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_engine_follow.c - threads and children that come and go, commands, targets that end, users
 * without rights.
 */
#include "tests/live/engine_fixture.h"

#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/control/note.h"
#include "sampler/control/status.h"
#include "sampler/engine/internal.h"
#include "sampler/machine/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sys/prctl.h>

#define NOBODY 65534
#define SPAWNED 300
#define PAGES_EACH 50

/* threads that start during the attach, wait for each other, and then fault */
struct herd {
	int born_fd; /* gets one byte when all threads are alive, and one when all have faulted */
	int release_fd; /* at end of file the threads go on */
};

static struct herd herd;
static pthread_barrier_t all_done;

static void *herd_thread(void *arg)
{
	char byte;

	(void)arg;
	(void)!read(herd.release_fd, &byte, 1);
	touch_pages(PAGES_EACH);
	pthread_barrier_wait(&all_done);
	pause();
	return NULL;
}

static void body_herd(void *arg)
{
	pthread_attr_t attr;

	(void)arg;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_barrier_init(&all_done, NULL, SPAWNED + 1);
	for (int i = 0; i < SPAWNED; i++) {
		pthread_t thread;

		if (pthread_create(&thread, &attr, herd_thread, NULL))
			_exit(2);
		burn(200000);
	}
	(void)!write(herd.born_fd, "b", 1);
	pthread_barrier_wait(&all_done);
	(void)!write(herd.born_fd, "d", 1);
	pause();
}

/* Returns whether all threads are followed, a sanitizer's own thread included. */
static bool has_all_threads(struct rig *rig, uint64_t pid)
{
	struct proc_process process;

	return !proc_read((int32_t)pid, &process) && process.threads > SPAWNED &&
		rig->status.threads == process.threads && !rig->status.attaching_total;
}

/* Attaches while the threads start. */
static void check_herd(enum engine_scope scope)
{
	struct rig *rig = rig_new("page-faults", 0, 1);
	struct engine_event_status *event = &rig->status.events[0];
	int born[2], release[2];
	int32_t pid;

	assert_int_equal(pipe(born), 0);
	assert_int_equal(pipe(release), 0);
	herd = (struct herd){.born_fd = born[1], .release_fd = release[0]};
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(release[1]);
		body_herd(NULL);
		_exit(0);
	}
	/* Only the child holds the other end now, so reads end if it dies. */
	close(born[1]);
	rig_target(rig, &pid);
	rig->config.scope = scope;
	rig_start(rig);
	assert_true(read_byte(born[0]) > 0);
	assert_true(rig_wait(rig, has_all_threads, (uint64_t)pid));
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	close(release[1]);
	assert_true(read_byte(born[0]) > 0);
	rig_stop(rig);
	print_message("%u threads, %lu faults counted, %lu samples, %lu lost\n", SPAWNED + 1,
		(unsigned long)event->count, (unsigned long)event->samples,
		(unsigned long)event->lost);
	assert_int_equal(rig->status.tasks_missed, 0);
	assert_int_equal(rig->status.threads_left_out, 0);
	assert_int_equal(event->samples + event->lost, event->count);
	/* All threads were followed before they faulted. */
	assert_true(event->count >= SPAWNED * PAGES_EACH);
	end_child(pid);
	close(born[0]);
	close(release[0]);
	rig_free(rig);
}

static void test_threads_born_while_attaching(void **state)
{
	(void)state;
	check_herd(SCOPE_TASK);
}

static void test_threads_by_inheritance(void **state)
{
	(void)state;
	check_herd(SCOPE_INHERIT);
}

static void body_storm(void *arg)
{
	(void)arg;
	/* A sanitizer's process takes too long to fork, so a shell does it. */
	execl("/bin/sh", "sh", "-c", "while :; do (:); done", (char *)NULL);
	_exit(127);
}

static bool has_scope(struct rig *rig, uint64_t scope)
{
	return rig->status.scope == scope;
}

static void test_storm_escalates(void **state)
{
	struct rig *rig = rig_new("cpu-clock", 4000, 0);
	int32_t pid = start_child(body_storm, NULL);
	bool by_cpu = cpu_wide_permitted();

	(void)state;
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_scope, by_cpu ? SCOPE_CPU : SCOPE_INHERIT));
	assert_true(rig_wait(rig, has_note, NOTE_SCOPE));
	assert_true(rig_wait(rig, has_samples, rig->status.events[0].samples + 200));
	assert_int_equal(rig->status.state, ENGINE_RUNNING);
	end_child(pid);
	assert_true(rig_wait(rig, has_state, ENGINE_ENDED));
	rig_free(rig);
}

static void body_pair(void *arg)
{
	(void)start_child(body_burn, NULL);
	body_burn(arg);
}

static void body_tree(void *arg)
{
	for (int i = 0; i < 3; i++)
		(void)start_child(body_pair, NULL);
	body_burn(arg);
}

static bool has_processes(struct rig *rig, uint64_t n)
{
	return rig->status.processes == n;
}

static void body_late_tree(void *arg)
{
	char byte;

	(void)!read(*(int *)arg, &byte, 1);
	body_tree(NULL);
}

/* Follows children of children by their records; then the whole tree ends. */
static void check_tree(enum engine_scope scope)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	int32_t pid, *pids;
	int go[2];
	size_t n;

	assert_int_equal(pipe(go), 0);
	pid = start_child(body_late_tree, &go[0]);
	rig_target(rig, &pid);
	rig->config.scope = scope;
	rig_start(rig);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	assert_int_equal(write(go[1], "g", 1), 1);
	assert_true(rig_wait(rig, has_processes, 7));
	assert_true(rig_wait(rig, has_samples, rig->status.events[0].samples + 200));
	assert_int_equal(engine_followed(rig->engine, &pids, &n), 0);
	assert_int_equal(n, 7);
	for (size_t i = 0; i < n; i++)
		kill(pids[i], SIGKILL);
	free(pids);
	waitpid(pid, NULL, 0);
	assert_true(rig_wait(rig, has_state, ENGINE_ENDED));
	assert_true(has_note(rig, NOTE_TARGET_EXITED));
	assert_true(has_note(rig, NOTE_ALL_ENDED));
	assert_int_equal(rig->status.threads, 0);
	close(go[0]);
	close(go[1]);
	rig_free(rig);
}

static void test_tree_by_task(void **state)
{
	(void)state;
	check_tree(SCOPE_TASK);
}

static void test_tree_by_cpu(void **state)
{
	(void)state;
	need_cpu_wide();
	check_tree(SCOPE_CPU);
}

static void test_tree_by_inheritance(void **state)
{
	(void)state;
	check_tree(SCOPE_INHERIT);
}

/* The record of a child's end is lost, and no further record follows: the others do not wait for
 * it. */
static void test_lost_end(void **state)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	int32_t pid = start_child(body_burn, NULL), gone = start_child(body_burn, NULL);
	struct follow_process *process;

	(void)state;
	end_child(gone);
	rig_target(rig, &pid);
	assert_int_equal(engine_new(&rig->engine, &rig->config), 0);
	process = follow_add_process(&rig->engine->follow, gone, true);
	assert_non_null(process);
	assert_non_null(follow_add_task(&rig->engine->follow, process, gone));
	assert_int_equal(engine_start(rig->engine), 0);
	assert_true(rig_wait(rig, has_followed, 2));
	end_child(pid);
	assert_true(rig_wait(rig, has_state, ENGINE_ENDED));
	rig_free(rig);
}

static void test_attach_and_detach(void **state)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	int32_t first = start_child(body_burn, NULL), second = start_child(body_burn, NULL);

	(void)state;
	rig_target(rig, &first);
	rig_start(rig);
	assert_true(rig_wait(rig, has_samples, 50));
	assert_int_equal(engine_attach(rig->engine, 0), -EINVAL);
	assert_int_equal(engine_attach(rig->engine, second), 0);
	assert_true(rig_wait(rig, has_followed, 2));
	assert_int_equal(engine_detach(rig->engine, first), 0);
	assert_true(rig_wait(rig, has_note, NOTE_DETACHED));
	assert_true(rig_wait(rig, has_followed, 1));
	assert_true(rig_wait(rig, has_samples, rig->status.events[0].samples + 50));
	/* All processes are detached, and one is attached again. */
	assert_int_equal(engine_detach(rig->engine, second), 0);
	assert_true(rig_wait(rig, has_state, ENGINE_ENDED));
	assert_int_equal(engine_attach(rig->engine, first), 0);
	assert_true(rig_wait(rig, has_state, ENGINE_RUNNING));
	assert_true(rig_wait(rig, has_samples, rig->status.events[0].samples + 50));
	/* A failed attach is reported and changes nothing. */
	assert_int_equal(engine_attach(rig->engine, 0x3fffffff), 0);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACH_FAILED));
	assert_int_equal(rig->status.state, ENGINE_RUNNING);
	rig_stop(rig);
	end_child(first);
	end_child(second);
	rig_free(rig);
}

static void test_no_such_process(void **state)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	int32_t pid = 0x3fffffff;

	(void)state;
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_state, ENGINE_FAILED));
	assert_int_equal(rig->status.failure.what, FAIL_TARGET);
	assert_int_equal(rig->status.failure.error, ESRCH);
	assert_int_equal(rig->status.failure.pid, pid);
	rig_free(rig);
}

static void test_zombie(void **state)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	int32_t pid = start_child(body_burn, NULL);
	siginfo_t info;

	(void)state;
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_state, ENGINE_FAILED));
	assert_int_equal(rig->status.failure.what, FAIL_TARGET);
	assert_int_equal(rig->status.failure.error, EINVAL);
	waitpid(pid, NULL, 0);
	rig_free(rig);
}

static void body_exec(void *arg)
{
	char byte;

	(void)!read(*(int *)arg, &byte, 1);
	execlp("sh", "sh", "-c", "while :; do :; done", NULL);
}

static void test_exec(void **state)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	int go[2];
	int32_t pid;

	(void)state;
	assert_int_equal(pipe(go), 0);
	pid = start_child(body_exec, &go[0]);
	rig_target(rig, &pid);
	rig->config.scope = SCOPE_TASK;
	rig_start(rig);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	assert_int_equal(write(go[1], "g", 1), 1);
	assert_true(rig_wait(rig, has_note, NOTE_TARGET_EXEC));
	assert_string_equal(find_note(rig, NOTE_TARGET_EXEC)->text, "sh");
	assert_true(rig_wait(rig, has_samples, rig->status.events[0].samples + 100));
	rig_stop(rig);
	end_child(pid);
	close(go[0]);
	close(go[1]);
	rig_free(rig);
}

static void check_command(enum engine_scope scope)
{
	char *argv[] = {"sh", "-c",
		"i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; (exit 1); exit 3", NULL};
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	struct engine_event_status *event = &rig->status.events[0];

	rig->config.target.command = argv;
	rig->config.scope = scope;
	rig_start(rig);
	assert_true(rig_wait(rig, has_state, ENGINE_ENDED));
	assert_true(rig->status.command_ended);
	assert_int_equal(WEXITSTATUS(rig->status.command_status), 3);
	assert_true(has_note(rig, NOTE_COMMAND_ENDED));
	assert_true(event->samples > 0);
	if (amounts_count())
		assert_true(event->samples > 10);
	rig_free(rig);
}

static void test_command(void **state)
{
	(void)state;
	check_command(SCOPE_TASK);
	check_command(SCOPE_INHERIT);
	check_command(SCOPE_AUTO);
}

/* No fault before the exec is counted, and none after it is missed. */
static void test_command_starts_at_exec(void **state)
{
	char *argv[] = {"true", NULL};
	struct rig *rig = rig_new("page-faults:u", 0, 1);
	struct engine_event_status *event = &rig->status.events[0];

	(void)state;
	rig->config.target.command = argv;
	rig->config.scope = SCOPE_TASK;
	rig_start(rig);
	assert_true(rig_wait(rig, has_state, ENGINE_ENDED));
	assert_int_equal(event->samples + event->lost, event->count);
	assert_true(event->samples > 10);
	rig_free(rig);
}

static bool added_has_samples(struct rig *rig, uint64_t n)
{
	return rig->status.n_events > 1 && rig->status.events[1].samples >= n;
}

/* An event added right after the exec has no further exec to wait for.  The command limits its own
 * CPU time, in case the test ends early. */
static void check_added_to_command(enum engine_scope scope)
{
	char *argv[] = {"sh", "-c", "ulimit -t 60; while :; do :; done", NULL};
	struct event_spec spec = {.name = "task-clock",
		.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK}};
	struct rig *rig = rig_new("cpu-clock", 997, 0);

	event_set_freq(&spec, 997);
	rig->config.target.command = argv;
	rig->config.scope = scope;
	rig_start(rig);
	assert_true(rig_wait(rig, has_samples, 1));
	assert_int_equal(engine_event_add(rig->engine, &spec), 0);
	assert_true(rig_wait(rig, added_has_samples, 10));
	assert_int_equal(kill(rig->status.command_pid, SIGKILL), 0);
	assert_true(rig_wait(rig, has_state, ENGINE_ENDED));
	rig_free(rig);
}

static void test_added_to_command(void **state)
{
	(void)state;
	check_added_to_command(SCOPE_TASK);
	check_added_to_command(SCOPE_INHERIT);
}

static void test_no_such_command(void **state)
{
	char *argv[] = {"/nonexistent/command", NULL};
	struct rig *rig = rig_new("cpu-clock", 997, 0);

	(void)state;
	rig->config.target.command = argv;
	rig_start(rig);
	assert_true(rig_wait(rig, has_state, ENGINE_FAILED));
	assert_int_equal(rig->status.failure.what, FAIL_COMMAND);
	assert_int_equal(rig->status.failure.error, ENOENT);
	rig_free(rig);
}

/* The engine obeys commands, and ends, in the middle of an attach. */
static void test_free_while_attaching(void **state)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	int32_t pid = start_child(body_storm, NULL);

	(void)state;
	rig_target(rig, &pid);
	rig_start(rig);
	rig_free(rig);
	end_child(pid);
}

/* --- without rights --- */

static void as_nobody(void (*body)(void))
{
	pid_t pid;
	int status;

	if (geteuid()) {
		body();
		return;
	}
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			setresuid(NOBODY, NOBODY, NOBODY) || prctl(PR_SET_DUMPABLE, 1))
			_exit(2);
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* In the child of as_nobody() cmocka's jumps do not work, so it prints the line and exits. */
#define REQUIRE(condition)                                                    \
	do {                                                                  \
		if (!(condition)) {                                           \
			print_message("line %d: %s\n", __LINE__, #condition); \
			_exit(1);                                             \
		}                                                             \
	} while (0)

static void own_process(void)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	int go[2];
	int32_t pid;

	REQUIRE(!pipe(go));
	pid = start_child(body_late_tree, &go[0]);
	rig_target(rig, &pid);
	rig->config.scope = SCOPE_TASK;
	rig_start(rig);
	REQUIRE(rig_wait(rig, has_note, NOTE_ATTACHED));
	REQUIRE(write(go[1], "g", 1) == 1);
	REQUIRE(rig_wait(rig, has_processes, 7));
	REQUIRE(rig_wait(rig, has_samples, 500));
	REQUIRE(rig->status.scope == SCOPE_TASK);
	REQUIRE(rig->status.tasks_missed == 0);
	{
		int32_t *pids;
		size_t n;

		REQUIRE(!engine_followed(rig->engine, &pids, &n));
		for (size_t i = 0; i < n; i++)
			kill(pids[i], SIGKILL);
		free(pids);
	}
	waitpid(pid, NULL, 0);
	REQUIRE(rig_wait(rig, has_state, ENGINE_ENDED));
	rig_free(rig);
}

static void test_own_process_without_rights(void **state)
{
	struct proc_limits limits;

	(void)state;
	proc_limits(&limits);
	if (limits.paranoid > 2) {
		print_message("skipped: perf_event_paranoid is %d\n", limits.paranoid);
		skip();
	}
	as_nobody(own_process);
}

static void machine_refused(void)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);

	rig->config.target.system_wide = true;
	rig_start(rig);
	REQUIRE(rig_wait(rig, has_state, ENGINE_FAILED));
	REQUIRE(rig->status.failure.what == FAIL_OPEN);
	REQUIRE(rig->status.failure.error == EACCES || rig->status.failure.error == EPERM);
	rig_free(rig);
}

static void foreign_refused(void)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	int32_t pid = 1;

	rig_target(rig, &pid);
	rig_start(rig);
	REQUIRE(rig_wait(rig, has_state, ENGINE_FAILED));
	REQUIRE(rig->status.failure.what == FAIL_TARGET);
	REQUIRE(rig->status.failure.error == EACCES || rig->status.failure.error == EPERM);
	REQUIRE(rig->status.failure.pid == 1);
	rig_free(rig);
}

static void test_refusals(void **state)
{
	struct proc_limits limits;

	(void)state;
	proc_limits(&limits);
	if (limits.paranoid < 1) {
		print_message(
			"skipped: perf_event_paranoid is %d: all is permitted\n", limits.paranoid);
		skip();
	}
	as_nobody(machine_refused);
	as_nobody(foreign_refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_born_while_attaching),
		cmocka_unit_test(test_threads_by_inheritance),
		cmocka_unit_test(test_storm_escalates),
		cmocka_unit_test(test_tree_by_task),
		cmocka_unit_test(test_tree_by_cpu),
		cmocka_unit_test(test_tree_by_inheritance),
		cmocka_unit_test(test_lost_end),
		cmocka_unit_test(test_attach_and_detach),
		cmocka_unit_test(test_no_such_process),
		cmocka_unit_test(test_zombie),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_command_starts_at_exec),
		cmocka_unit_test(test_added_to_command),
		cmocka_unit_test(test_no_such_command),
		cmocka_unit_test(test_free_while_attaching),
		cmocka_unit_test(test_own_process_without_rights),
		cmocka_unit_test(test_refusals),
	};
	struct sys_features features;
	int ret = sys_probe(&features);

	if (ret) {
		printf("skipped: perf_event_open: %s\n", strerror(-ret));
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
