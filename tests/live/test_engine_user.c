/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_engine_user.c - the engine of an ordinary user, who may not sample whole CPUs.
 *
 * Events that ask for the kernel are not changed.  A detached child stays detached.  Threads
 * without events get them once there is room.
 */
#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/control/note.h"
#include "sampler/control/status.h"
#include "tests/live/engine_fixture.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define NOBODY 65534

static void *pause_thread(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

/* After the first thread is refused, the second one is not tried. */
static void body_two_threads(void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, pause_thread, NULL) || write(*(int *)arg, "t", 1) != 1)
		_exit(2);
	body_both(NULL);
}

static void test_kernel_asked_for_is_not_left_out(void **state)
{
	static const char *const asked[] = {"page-faults:k", "page-faults:uk", "cpu-clock:k"};

	(void)state;
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		struct rig *rig = rig_new(asked[i], 0, 1000000);
		const struct engine_note *note;
		int born[2];
		int32_t pid;

		assert_int_equal(pipe(born), 0);
		pid = start_child(body_two_threads, &born[1]);
		assert_true(read_byte(born[0]) > 0);
		close(born[0]);
		close(born[1]);
		rig_target(rig, &pid);
		rig_start(rig);
		assert_true(rig_wait(rig, has_state, ENGINE_FAILED));
		assert_int_equal(rig->status.failure.what, FAIL_OPEN);
		assert_int_equal(rig->status.failure.error, EACCES);
		assert_int_equal(rig->status.failure.attr.exclude_kernel, 0);
		assert_string_equal(rig->status.failure.event, asked[i]);
		note = find_note(rig, NOTE_EVENT_REFUSED);
		assert_non_null(note);
		assert_int_equal(note->pid, pid);
		assert_int_equal(note->cpu, -1);
		assert_int_equal(note->attr.exclude_kernel, 0);
		assert_false(has_note(rig, NOTE_USER_ONLY));
		end_child(pid);
		rig_free(rig);
	}
}

static void test_kernel_not_asked_for_is_left_out(void **state)
{
	struct rig *rig = rig_new("page-faults", 0, 1);
	int32_t pid = start_child(body_both, NULL);

	(void)state;
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_samples, 100));
	assert_true(has_note(rig, NOTE_USER_ONLY));
	assert_true(rig->status.events[0].user_only);
	assert_string_equal(rig->status.events[0].name, "page-faults:u");
	rig_stop(rig);
	end_child(pid);
	rig_free(rig);
}

/* --- a detached child --- */

/* Forks a child at the first byte and starts a thread at the second. */
static void body_parent(void *arg)
{
	pthread_t thread;
	char byte;

	(void)!read(*(int *)arg, &byte, 1);
	(void)start_child(body_burn, NULL);
	while (waitpid(-1, NULL, WNOHANG) == 0 &&
		poll(&(struct pollfd){*(int *)arg, POLLIN, 0}, 1, 0) < 1)
		burn(100000);
	(void)!read(*(int *)arg, &byte, 1);
	if (pthread_create(&thread, NULL, pause_thread, NULL))
		_exit(2);
	body_burn(NULL);
}

static bool has_threads(struct rig *rig, uint64_t n)
{
	return rig->status.threads >= n;
}

static void test_child_let_go_stays_away(void **state)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	int32_t pid, *pids, child;
	int go[2];
	size_t n;

	(void)state;
	assert_int_equal(pipe(go), 0);
	pid = start_child(body_parent, &go[0]);
	rig_target(rig, &pid);
	rig->config.scope = SCOPE_TASK;
	rig_start(rig);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	assert_int_equal(write(go[1], "c", 1), 1);
	assert_true(rig_wait(rig, has_followed, 2));
	assert_int_equal(engine_followed(rig->engine, &pids, &n), 0);
	child = pids[0] == pid ? pids[1] : pids[0];
	free(pids);
	assert_int_equal(engine_detach(rig->engine, child), 0);
	assert_true(rig_wait(rig, has_followed, 1));
	/* The thread makes the engine scan its process again. */
	assert_int_equal(write(go[1], "t", 1), 1);
	assert_true(rig_wait(rig, has_threads, 2));
	assert_true(rig_wait(rig, has_samples, rig->status.events[0].samples + 500));
	assert_true(has_followed(rig, 1));
	/* An attach request takes the child back. */
	assert_int_equal(engine_attach(rig->engine, child), 0);
	assert_true(rig_wait(rig, has_followed, 2));
	rig_stop(rig);
	kill(child, SIGKILL);
	end_child(pid);
	close(go[0]);
	close(go[1]);
	rig_free(rig);
}

/* --- threads without events --- */

#define THREADS 60
#define ENDING 40

static void *thread_until(void *arg)
{
	char byte;

	while (!arg || read(*(int *)arg, &byte, 1) > 0)
		pause();
	return NULL;
}

/* The first ENDING threads end when the pipe closes. */
static void body_threads(void *arg)
{
	pthread_t thread;
	int *fds = arg;

	close(fds[1]);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, thread_until, i < ENDING ? &fds[0] : NULL))
			_exit(2);
	thread_until(NULL);
}

/* At most, not exactly: a sanitizer may have a thread of its own. */
static bool has_at_most(struct rig *rig, uint64_t n)
{
	return rig->status.threads <= n;
}

static bool has_left_out(struct rig *rig, uint64_t some)
{
	return (rig->status.threads_left_out > 0) == some;
}

static void test_room_for_threads_left_out(void **state)
{
	const struct rlimit few = {64, 64};
	struct rig *rig;
	int fds[2];
	int32_t pid;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = start_child(body_threads, fds);
	close(fds[0]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	rig = rig_new("cpu-clock", 997, 0);
	rig_target(rig, &pid);
	rig->config.scope = SCOPE_TASK;
	rig_start(rig);
	assert_true(rig_wait(rig, has_threads, THREADS + 1));
	assert_true(rig_wait(rig, has_left_out, true));
	print_message(
		"%u of %u threads left out\n", rig->status.threads_left_out, rig->status.threads);
	assert_true(has_note(rig, NOTE_FD_LIMIT));
	close(fds[1]);
	assert_true(rig_wait(rig, has_at_most, THREADS - ENDING + 2));
	assert_true(rig_wait(rig, has_left_out, false));
	rig_stop(rig);
	end_child(pid);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_asked_for_is_not_left_out),
		cmocka_unit_test(test_kernel_not_asked_for_is_left_out),
		cmocka_unit_test(test_child_let_go_stays_away),
		/* last, since it lowers a limit */
		cmocka_unit_test(test_room_for_threads_left_out),
	};
	struct sys_features features;
	int ret;

	if (!geteuid() &&
		(setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			setresuid(NOBODY, NOBODY, NOBODY) || prctl(PR_SET_DUMPABLE, 1))) {
		printf("skipped: cannot become an ordinary user: %s\n", strerror(errno));
		return 77;
	}
	ret = sys_probe(&features);
	if (ret) {
		printf("skipped: perf_event_open: %s\n", strerror(-ret));
		return 77;
	}
	if (cpu_wide_permitted()) {
		printf("skipped: events on whole CPUs are permitted to this user\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
