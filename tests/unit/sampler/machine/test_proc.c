// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * test_proc.c - stat lines and CPU lists as text; this process and its children from /proc.
 */
#include "sampler/machine/proc.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define STAT_REST                                                                           \
	" S 1 4711 4711 0 -1 4194560 100 200 0 0 310 27 5 6 20 -5 9 0 123456 40284160 900 " \
	"184467440737"

static int parse(const char *text, struct proc_process *out)
{
	size_t len = strlen(text);
	char *copy = malloc(len ? len : 1); /* not terminated */
	int err;

	assert_non_null(copy);
	memcpy(copy, text, len);
	err = proc_parse_stat(copy, len, out);
	free(copy);
	return err;
}

static void stat_lines(void **state)
{
	struct proc_process process;

	(void)state;
	assert_int_equal(parse("4711 (postgres)" STAT_REST "\n", &process), 0);
	assert_int_equal(process.pid, 4711);
	assert_int_equal(process.ppid, 1);
	assert_string_equal(process.comm, "postgres");
	assert_int_equal(process.state, 'S');
	assert_false(process.kernel_thread);
	assert_int_equal(process.cpu_ticks, 337);
	assert_int_equal(process.threads, 9);
	assert_int_equal(process.start_ticks, 123456);

	assert_int_equal(parse("5 (a) R 9 (b c) (\n)" STAT_REST, &process), 0);
	assert_string_equal(process.comm, "a) R 9 (b c) (\n");
	assert_int_equal(parse("5 ()" STAT_REST, &process), 0);
	assert_string_equal(process.comm, "");
	assert_int_equal(
		parse("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 2 0 0", &process),
		0);
	assert_true(process.kernel_thread);
	assert_int_equal(parse("5 (0123456789012345678901234567890123456789012345678901234567890123"
			       "456789)" STAT_REST,
				 &process),
		0);
	assert_int_equal(strlen(process.comm), sizeof(process.comm) - 1);
}

static void broken_stat_lines(void **state)
{
	const char *const bad[] = {
		"",
		"4711",
		"4711 (x",
		"4711 x)",
		"4711 )x(" STAT_REST,
		"(x)" STAT_REST,
		"99999999999 (x)" STAT_REST,
		"4711 (x)S 1",
		"4711 (x) S a 4711 4711 0 -1 4194560 100 200 0 0 310 27 5 6 20 0 9 0 123456 4 9 1",
		"4711 (x) S 1 4711 4711 0 -1 4194560 100 200 0 0 310 27 5 6 20 0 9 0",
		"4711 (x) S 1 4711 4711 0 -1 4194560 100 200 0 0 310 27 5 6 20 0 9 0 ",
		"4711 (x) S 1 4711 1 0 -1 99999999999999999999999 1 2 0 0 3 2 5 6 20 0 9 0 1",
	};
	const char *good = "4711 (postgres)" STAT_REST;
	struct proc_process process;
	char cut[256];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(parse(bad[i], &process), -EBADMSG);
	for (size_t len = 0; len < (size_t)(strstr(good, " 123456") - good) + 2; len++) {
		snprintf(cut, sizeof(cut), "%.*s", (int)len, good);
		assert_int_equal(parse(cut, &process), -EBADMSG); /* start_ticks begins here */
	}
}

static void cpu_lists(void **state)
{
	const struct {
		const char *text;
		int cpus[8];
		size_t n;
	} good[] = {
		{"0", {0}, 1},
		{"0-3,8\n", {0, 1, 2, 3, 8}, 5},
		{"8,1-2,2-3,1", {1, 2, 3, 8}, 4},
		{"65535", {65535}, 1},
	};
	const struct {
		const char *text;
		size_t offset;
	} bad[] = {
		{"", 0},
		{"\n", 0},
		{"x", 0},
		{"1,", 2},
		{"1,,2", 2},
		{"1-", 2},
		{"3-1", 2},
		{"1-2-3", 3},
		{"1 2", 1},
		{"-1", 0},
		{"1,65536", 2},
		{"0-4294967296", 2},
		{"0-99999999999999999999999", 2},
		{"1\n2", 1},
	};
	int *cpus;
	size_t n, offset;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(proc_parse_cpu_list(good[i].text, &cpus, &n, &offset), 0);
		assert_int_equal(n, good[i].n);
		assert_memory_equal(cpus, good[i].cpus, n * sizeof(*cpus));
		free(cpus);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		cpus = (int *)8;
		assert_int_equal(proc_parse_cpu_list(bad[i].text, &cpus, &n, &offset), -EINVAL);
		assert_null(cpus);
		assert_int_equal(offset, bad[i].offset);
	}
	assert_int_equal(proc_online_cpus(&cpus, &n), 0);
	assert_true(n >= 1);
	assert_int_equal(n, sysconf(_SC_NPROCESSORS_ONLN));
	free(cpus);
}

/* A child with `threads` extra threads; it waits until the test closes the pipe. */
struct child {
	pid_t pid;
	int hold;
};

static void *hold_thread(void *arg)
{
	char byte;

	(void)!read(*(int *)arg, &byte, 1);
	return NULL;
}

static struct child child_start(const char *name, unsigned int threads)
{
	int hold[2], ready[2];
	struct child child;
	char byte;

	assert_int_equal(pipe(hold), 0);
	assert_int_equal(pipe(ready), 0);
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (!child.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(hold[1]);
		prctl(PR_SET_NAME, name);
		for (unsigned int i = 0; i < threads; i++) {
			pthread_t thread;

			if (pthread_create(&thread, NULL, hold_thread, &hold[0]))
				_exit(1);
			pthread_detach(thread);
		}
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		hold_thread(&hold[0]);
		_exit(0);
	}
	close(ready[1]);
	close(hold[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	child.hold = hold[1];
	return child;
}

static void child_end(struct child *child)
{
	close(child->hold);
	assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
}

/* Number of threads that the kernel shows: the test's own.  Under ThreadSanitizer there may be
 * more. */
static uint32_t threads_of(pid_t pid, uint32_t made)
{
	char path[64];
	struct dirent *entry;
	uint32_t n = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	folder = opendir(path);
	assert_non_null(folder);
	while ((entry = readdir(folder)))
		n += entry->d_name[0] != '.';
	closedir(folder);
#if defined(__SANITIZE_THREAD__)
	assert_true(n >= made);
#else
	assert_int_equal(n, made);
#endif
	return n;
}

static void lists_processes(void **state)
{
	struct child child = child_start("a) b (\033[2J", 2);
	struct proc_process *list;
	const struct proc_process *self = NULL, *other = NULL;
	size_t n;

	(void)state;
	assert_int_equal(proc_list(&list, &n), 0);
	for (size_t i = 0; i < n; i++) {
		assert_true(!i || list[i - 1].pid < list[i].pid);
		if (list[i].pid == getpid())
			self = &list[i];
		if (list[i].pid == child.pid)
			other = &list[i];
	}
	assert_non_null(self);
	assert_int_equal(self->ppid, getppid());
	assert_int_equal(self->uid, geteuid());
	assert_true(strstr(self->cmdline, "test_proc"));
	assert_int_not_equal(self->cmdline[strlen(self->cmdline) - 1], ' ');
	assert_non_null(other);
	assert_int_equal(other->ppid, getpid());
	assert_int_equal(other->threads, threads_of(child.pid, 3));
	assert_string_equal(other->comm, "a) b (\033[2J");
	assert_true(other->start_ticks >= self->start_ticks);
	free(list);
	child_end(&child);
}

static void reads_one(void **state)
{
	struct child child = child_start("reads-one", 3);
	struct proc_process process;
	int32_t *tids, pid;
	size_t n;

	(void)state;
	assert_int_equal(proc_threads(child.pid, &tids, &n), 0);
	assert_int_equal(n, threads_of(child.pid, 4));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(proc_tgid(tids[i], &pid), 0);
		assert_int_equal(pid, child.pid);
		assert_int_equal(proc_read(tids[i], &process), 0);
		assert_int_equal(process.pid, child.pid);
		assert_int_equal(process.threads, threads_of(child.pid, 4));
		assert_string_equal(process.comm, "reads-one");
		assert_false(process.kernel_thread);
	}
	free(tids);
	child_end(&child);
	assert_int_equal(proc_read(child.pid, &process), -ESRCH);
	assert_int_equal(proc_tgid(child.pid, &pid), -ESRCH);
	assert_int_equal(proc_threads(child.pid, &tids, &n), -ESRCH);
	assert_null(tids);
	assert_int_equal(proc_children(child.pid, &tids, &n), -ESRCH);
	for (pid = -1; pid < 1; pid++) {
		int32_t leader;

		assert_int_equal(proc_read(pid, &process), -ESRCH);
		assert_int_equal(proc_tgid(pid, &leader), -ESRCH);
		assert_int_equal(proc_threads(pid, &tids, &n), -ESRCH);
	}
}

static void zombies(void **state)
{
	struct child child = child_start("zombie", 0);
	struct proc_process process;
	siginfo_t info;

	(void)state;
	close(child.hold);
	assert_int_equal(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(proc_read(child.pid, &process), 0);
	assert_int_equal(process.state, 'Z');
	assert_string_equal(process.cmdline, "");
	assert_int_equal(waitpid(child.pid, NULL, 0), child.pid);
}

static void children(void **state)
{
	struct child child[3];
	int32_t *pids;
	size_t n;
	int err;

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		child[i] = child_start("child", 0);
	err = proc_children(getpid(), &pids, &n);
	if (!err) {
		assert_int_equal(n, 3);
		for (unsigned int i = 0; i < 3; i++)
			assert_int_equal(pids[i], child[i].pid);
	}
	free(pids);
	/* Each child holds the write ends of the pipes of the children before it. */
	for (unsigned int i = 3; i--;)
		child_end(&child[i]);
	if (err == -ENOENT) {
		print_message("skipped: this kernel has no /proc/PID/task/TID/children\n");
		skip();
	}
	assert_int_equal(err, 0);
	assert_int_equal(proc_children(getpid(), &pids, &n), 0);
	assert_int_equal(n, 0);
	free(pids);
}

/* A command line that is longer than its field; its arguments are joined. */
static void long_cmdline(void **state)
{
	struct proc_process process;
	int ready[2], hold[2];
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(hold), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		char argument[400];

		memset(argument, 'x', sizeof(argument) - 1);
		argument[sizeof(argument) - 1] = 0;
		dup2(hold[0], STDIN_FILENO);
		dup2(ready[1], STDOUT_FILENO);
		close(hold[1]);
		execl("/bin/sh", "sh", "-c", "echo; read x", "first", argument, NULL);
		_exit(127);
	}
	close(ready[1]);
	close(hold[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	assert_int_equal(proc_read(pid, &process), 0);
	close(hold[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(strstr(process.cmdline, "sh -c echo; read x first xxx"));
	assert_int_equal(strlen(process.cmdline), sizeof(process.cmdline) - 1);
}

static void limits(void **state)
{
	struct proc_limits limits;

	(void)state;
	proc_limits(&limits);
	assert_int_equal(limits.euid, geteuid());
	assert_true(limits.nofile_soft > 0 && limits.nofile_soft <= limits.nofile_hard);
	if (access("/proc/sys/kernel/perf_event_paranoid", R_OK)) {
		print_message("skipped: this kernel has no perf events\n");
		skip();
	}
	assert_true(limits.max_sample_rate > 0);
	assert_true(limits.mlock_kb >= 0);
	assert_true(limits.max_stack > 0);
	assert_in_range(limits.paranoid + 1, 0, 10);
}

struct reader {
	int fd;
	_Atomic int32_t tid;
};

static void *read_one(void *ctx)
{
	struct reader *reader = ctx;
	char byte;

	reader->tid = (int32_t)syscall(SYS_gettid);
	(void)!read(reader->fd, &byte, 1);
	return NULL;
}

/* A sleeping thread in a process whose leader runs. */
static void one_thread(void **state)
{
	struct proc_thread sleeper, self;
	struct reader reader = {0};
	pthread_t thread;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	reader.fd = ends[0];
	assert_int_equal(pthread_create(&thread, NULL, read_one, &reader), 0);
	do {
		sched_yield();
		sleeper.state = 0;
		if (reader.tid)
			assert_int_equal(proc_read_thread(reader.tid, &sleeper), 0);
	} while (sleeper.state != 'S');
	assert_int_equal(proc_read_thread((int32_t)getpid(), &self), 0);
	assert_int_equal(self.state, 'R');
	if (self.has_times)
		assert_true(sleeper.has_times && sleeper.cpu_ns && sleeper.cpu_ns < self.cpu_ns);
	assert_int_equal(write(ends[1], "x", 1), 1);
	pthread_join(thread, NULL);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(proc_read_thread(INT32_MAX, &self), -ESRCH);
}

/* The /proc of our own pid namespace shows our own pid, and no other. */
static void whose_proc(void **state)
{
	static const char own[] = "Name:\ta\\nNSpid:\t7\nPid:\t42\nNSpid:\t42\nNSpgid:\t42\n";
	static const char outer[] = "Name:\ta\nPid:\t4711\nNSpid:\t4711\t42\n";
	static const char same[] = "Name:\ta\nPid:\t42\nNSpid:\t42\t42\n";
	static const char old[] = "Name:\ta\nPid:\t42\nPPid:\t1\n";

	(void)state;
	assert_true(proc_parse_own(own, sizeof(own) - 1, 42));
	assert_false(proc_parse_own(own, sizeof(own) - 1, 7));
	assert_false(proc_parse_own(outer, sizeof(outer) - 1, 42));
	assert_false(proc_parse_own(outer, sizeof(outer) - 1, 4711));
	assert_false(proc_parse_own(same, sizeof(same) - 1, 42));
	assert_true(proc_parse_own(old, sizeof(old) - 1, 42));
	assert_false(proc_parse_own(old, sizeof(old) - 1, 1));
	assert_false(proc_parse_own("", 0, 1));
	assert_true(proc_is_own());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_lines),
		cmocka_unit_test(broken_stat_lines),
		cmocka_unit_test(cpu_lists),
		cmocka_unit_test(lists_processes),
		cmocka_unit_test(reads_one),
		cmocka_unit_test(one_thread),
		cmocka_unit_test(zombies),
		cmocka_unit_test(children),
		cmocka_unit_test(long_cmdline),
		cmocka_unit_test(limits),
		cmocka_unit_test(whose_proc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
