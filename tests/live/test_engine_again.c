/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_engine_again.c - reused pids and tids, and attaching again and again.
 */
#include "tests/live/engine_fixture.h"

#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "sampler/control/status.h"
#include "sampler/machine/proc.h"

#include <limits.h>
#include <pthread.h>
#include <sys/prctl.h>

struct orders {
	int go[2], execute[2], born[2]; /* pipes */
};

/* Reports its birth, and at a byte executes a program, which ends with its parent. */
static void *exec_thread(void *arg)
{
	const struct orders *orders = arg;
	char byte;

	if (write(orders->born[1], "b", 1) != 1 || read(orders->execute[0], &byte, 1) != 1)
		_exit(2);
	execlp("sh", "sh", "-c", "while kill -0 $PPID; do :; done 2>/dev/null", NULL);
	_exit(2);
}

/* At the first byte starts a child.  The child's second thread executes a program, which takes the
 * first thread's number.  At the second byte kills the child and returns. */
static void body_thread_executes(void *arg)
{
	const struct orders *orders = arg;
	pthread_t thread;
	char byte;
	pid_t pid;

	(void)!read(orders->go[0], &byte, 1);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pthread_create(&thread, NULL, exec_thread, arg))
			_exit(2);
		pthread_join(thread, NULL);
	}
	(void)!read(orders->go[0], &byte, 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool has_label(struct rig *rig, const char *comm)
{
	struct snapshot snapshot;
	bool found = false;

	assert_int_equal(store_snapshot(engine_store(rig->engine), 0, UINT64_MAX, &snapshot), 0);
	for (size_t i = 0; i < snapshot.n; i++)
		for (uint32_t c = 0; c < snapshot.slices[i]->cells; c++)
			found |= !strcmp(tasks_label_get(engine_tasks(rig->engine),
						 snapshot.slices[i]->task[c])
						 ->comm,
				comm);
	snapshot_release(engine_store(rig->engine), &snapshot);
	return found;
}

static bool has_threads(struct rig *rig, uint64_t n)
{
	return rig->status.threads == n;
}

static bool has_shell(struct rig *rig, uint64_t arg)
{
	(void)arg;
	return has_label(rig, "sh");
}

/* Returns whether all threads of the processes are followed, a sanitizer's own threads included. */
static bool has_all_threads(struct rig *rig, uint64_t processes)
{
	struct proc_process process;
	uint32_t threads = 0;
	int32_t *pids;
	size_t n;

	assert_int_equal(engine_followed(rig->engine, &pids, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (!proc_read(pids[i], &process))
			threads += process.threads;
	free(pids);
	return n == processes && rig->status.threads == threads && !rig->status.attaching_total;
}

static void check_thread_executes(enum engine_scope scope)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	struct orders orders;
	int32_t pid;

	assert_int_equal(pipe(orders.go), 0);
	assert_int_equal(pipe(orders.execute), 0);
	assert_int_equal(pipe(orders.born), 0);
	pid = start_child(body_thread_executes, &orders);
	close(orders.born[1]); /* reads then end when the children die */
	rig_target(rig, &pid);
	rig->config.scope = scope;
	rig_start(rig);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	assert_int_equal(write(orders.go[1], "g", 1), 1);
	assert_true(read_byte(orders.born[0]) > 0);
	assert_true(rig_wait(rig, has_all_threads, 2));
	assert_int_equal(write(orders.execute[1], "x", 1), 1);
	assert_true(rig_wait(rig, has_shell, 0));
	/* No thread keeps a number that no longer exists. */
	assert_true(rig_wait(rig, has_all_threads, 2));
	assert_int_equal(rig->status.tasks_missed, 0);
	assert_int_equal(write(orders.go[1], "e", 1), 1);
	waitpid(pid, NULL, 0);
	assert_true(rig_wait(rig, has_state, ENGINE_ENDED));
	assert_int_equal(rig->status.threads, 0);
	assert_int_equal(rig->status.processes, 0);
	for (int i = 0; i < 2; i++) {
		close(orders.go[i]);
		close(orders.execute[i]);
	}
	close(orders.born[0]);
	rig_free(rig);
}

static void test_exec_by_another_thread(void **state)
{
	(void)state;
	check_thread_executes(SCOPE_TASK);
	check_thread_executes(SCOPE_INHERIT);
	if (cpu_wide_permitted())
		check_thread_executes(SCOPE_CPU);
}

/* Attaching and detaching often leaves no threads or descriptors. */
static void check_attached_often(enum engine_scope scope)
{
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	int32_t first = start_child(body_burn, NULL);
	size_t fds = 0;
	uint32_t threads;

	rig_target(rig, &first);
	rig->config.scope = scope;
	rig_start(rig);
	assert_true(rig_wait(rig, has_samples, 50));
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	/* A sanitizer may have a thread of its own. */
	threads = rig->status.threads;
	for (int i = 0; i < 60; i++) {
		int32_t second = start_child(body_burn, NULL);

		for (int k = 0; k < 5; k++) {
			assert_int_equal(engine_attach(rig->engine, second), 0);
			assert_true(rig_wait(rig, has_followed, 2));
			assert_int_equal(engine_detach(rig->engine, second), 0);
			assert_true(rig_wait(rig, has_followed, 1));
		}
		end_child(second);
		if (i == 20)
			fds = count_fds();
	}
	assert_int_equal(count_fds(), fds);
	assert_true(rig_wait(rig, has_threads, threads));
	rig_stop(rig);
	print_message("tasks and images: %zu bytes after 60 processes\n",
		tasks_memory(engine_tasks(rig->engine)));
	assert_in_range(tasks_thread_count(engine_tasks(rig->engine)), 1, threads);
	end_child(first);
	rig_free(rig);
}

static void test_attached_often(void **state)
{
	(void)state;
	check_attached_often(SCOPE_TASK);
	if (cpu_wide_permitted())
		check_attached_often(SCOPE_CPU);
}

/* --- reused numbers, in a pid namespace of our own --- */

static bool next_pid_is(int32_t pid)
{
	FILE *file = fopen("/proc/sys/kernel/ns_last_pid", "w");

	if (!file)
		return false;
	fprintf(file, "%d", pid - 1);
	return !fclose(file);
}

static void body_named(void *arg)
{
	prctl(PR_SET_NAME, arg);
	body_burn(NULL);
}

/* Starts a child with this pid. */
static bool child_is(int32_t pid, const char *comm)
{
	for (int i = 0; i < 100; i++) {
		int32_t child;

		if (!next_pid_is(pid))
			return false;
		child = start_child(body_named, (void *)(uintptr_t)comm);
		if (child == pid)
			return true;
		end_child(child);
	}
	return false;
}

/* Returns the number of samples of that thread under that name. */
static uint64_t samples_of(struct rig *rig, int32_t pid, const char *comm)
{
	struct snapshot snapshot;
	uint64_t n = 0;

	assert_int_equal(store_snapshot(engine_store(rig->engine), 0, UINT64_MAX, &snapshot), 0);
	for (size_t i = 0; i < snapshot.n; i++)
		for (uint32_t c = 0; c < snapshot.slices[i]->cells; c++) {
			const struct task_label *label = tasks_label_get(
				engine_tasks(rig->engine), snapshot.slices[i]->task[c]);

			if (label->pid == pid && !strcmp(label->comm, comm))
				n += snapshot.slices[i]->count[c];
		}
	snapshot_release(engine_store(rig->engine), &snapshot);
	return n;
}

static struct {
	int32_t pid;
	const char *comm;
} asked;

static bool has_samples_of(struct rig *rig, uint64_t n)
{
	return samples_of(rig, asked.pid, asked.comm) >= n;
}

static void check_number_given_out_again(enum engine_scope scope, bool machine)
{
	const int32_t number = 20000;
	struct rig *rig = rig_new("cpu-clock", 997, 0);
	int32_t anchor = start_child(body_burn, NULL), pids[2] = {anchor, number};

	assert_true(child_is(number, "victim"));
	rig->config.target.pids = pids;
	rig->config.target.n_pids = machine ? 0 : 2;
	rig->config.target.system_wide = machine;
	rig->config.scope = scope;
	rig_start(rig);
	asked.pid = number;
	asked.comm = "victim";
	assert_true(rig_wait(rig, has_samples_of, 20));
	end_child(number);
	assert_true(child_is(number, "stranger"));
	asked.comm = "stranger";
	if (machine) {
		assert_true(rig_wait(rig, has_samples_of, 50));
	} else {
		assert_true(rig_wait(rig, has_note, NOTE_TARGET_EXITED));
		assert_true(rig_wait(rig, has_samples, rig->status.events[0].samples + 1000));
		assert_int_equal(samples_of(rig, number, "stranger"), 0);
		assert_int_equal(rig->status.processes, 1);
		/* The new process is sampled only after it is attached. */
		assert_int_equal(engine_attach(rig->engine, number), 0);
		assert_true(rig_wait(rig, has_samples_of, 50));
	}
	print_message("scope %d: %lu samples of the first, %lu of the second\n",
		(int)rig->status.scope, (unsigned long)samples_of(rig, number, "victim"),
		(unsigned long)samples_of(rig, number, "stranger"));
	rig_stop(rig);
	end_child(number);
	end_child(anchor);
	rig_free(rig);
}

static void test_number_in_namespace(void **state)
{
	(void)state;
	need_cpu_wide();
	check_number_given_out_again(SCOPE_TASK, false);
	check_number_given_out_again(SCOPE_INHERIT, false);
	check_number_given_out_again(SCOPE_CPU, false);
	check_number_given_out_again(SCOPE_CPU, true);
}

static void test_number_given_out_again(void **state)
{
	char self[PATH_MAX] = "", command[PATH_MAX + 64];

	(void)state;
#ifdef __SANITIZE_THREAD__
	print_message("skipped: threads of the sanitizer's own take the numbers\n");
	skip();
#endif
	if (geteuid() || access("/proc/sys/kernel/ns_last_pid", W_OK) ||
		system("unshare -pf --mount-proc true 2>/dev/null")) {
		print_message("skipped: no namespace of process numbers to be had\n");
		skip();
	}
	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	snprintf(command, sizeof(command), "exec unshare -pf --mount-proc '%s' namespace", self);
	assert_int_equal(system(command), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec_by_another_thread),
		cmocka_unit_test(test_attached_often),
		cmocka_unit_test(test_number_given_out_again),
	};
	const struct CMUnitTest in_namespace[] = {cmocka_unit_test(test_number_in_namespace)};
	struct sys_features features;
	int ret = sys_probe(&features);

	if (ret) {
		printf("skipped: perf_event_open: %s\n", strerror(-ret));
		return 77;
	}
	if (argc > 1 && !strcmp(argv[1], "namespace"))
		return cmocka_run_group_tests(in_namespace, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
