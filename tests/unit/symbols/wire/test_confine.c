/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_confine.c - operations that a confined process must not do, tried in children.
 */
#include "symbols/wire/confine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs a function in a child that has a socket as descriptor 3. Returns the wait status. */
static int in_child(void (*run)(void))
{
	int status;

	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = open("/dev/null", O_RDWR);
		if (confine_detach(fd, "strobe-test") < 0)
			_exit(90);
		run();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

#define CHECK(condition)                        \
	do {                                    \
		if (!(condition))               \
			_exit((__LINE__)&0x7f); \
	} while (0)

static void detached(void)
{
	char name[16];
	struct stat st;

	CHECK(fcntl(3, F_GETFD) >= 0);
	for (int fd = 4; fd < 64; fd++)
		CHECK(fcntl(fd, F_GETFD) < 0);
	for (int fd = 0; fd < 3; fd++)
		CHECK(fstat(fd, &st) == 0 && S_ISCHR(st.st_mode));
	CHECK(getsid(0) == getpid());
	CHECK(prctl(PR_GET_NAME, name) == 0 && strcmp(name, "strobe-test") == 0);
	CHECK(raise(SIGINT) == 0 && raise(SIGHUP) == 0 && raise(SIGPIPE) == 0);
}

static void test_detach(void **state)
{
	(void)state;
	assert_int_equal(in_child(detached), 0);
}

static bool has_capability(void)
{
	cap_t now = cap_get_proc(), none = cap_init();
	bool has = !now || !none || cap_compare(now, none) != 0;

	cap_free(now);
	cap_free(none);
	return has;
}

static void unprivileged(void)
{
	CHECK(setgroups(1, (gid_t[]){4}) == 0);
	/* Without this, changing the user would drop the capabilities. */
	CHECK(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0);
	CHECK(confine_privileges() == 0);
	CHECK(!has_capability());
	CHECK(geteuid() != 0 && getegid() != 0 && getgroups(0, NULL) == 0);
	CHECK(setuid(0) < 0);
	CHECK(open("/etc/shadow", O_RDONLY) < 0);
	CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	CHECK(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
}

/* A process of an ordinary user, which other processes of that user could read. */
static void ordinary(void)
{
	if (geteuid() == 0)
		CHECK(setresgid(65533, 65533, 65533) == 0 && setresuid(65533, 65533, 65533) == 0);
	CHECK(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0);
	CHECK(confine_privileges() == 0);
	CHECK(!has_capability());
	CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	CHECK(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
}

static void test_ordinary(void **state)
{
	(void)state;
	assert_int_equal(in_child(ordinary), 0);
}

static void limited(void)
{
	static const struct {
		int which;
		rlim_t most;
	} limits[] = {
		{RLIMIT_CORE, 0},
		{RLIMIT_NOFILE, 256},
		{RLIMIT_NPROC, 0},
		{RLIMIT_FSIZE, 1u << 30},
#ifndef CONFINE_SANITIZED
		{RLIMIT_AS, 256u << 20},
#endif
	};
	struct rlimit limit;

	CHECK(confine_limits(256) == 0);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		CHECK(getrlimit((__rlimit_resource_t)limits[i].which, &limit) == 0 &&
			limit.rlim_cur == limits[i].most && limit.rlim_max == limits[i].most);
}

static bool may_raise_limits(void)
{
	cap_t now = cap_get_proc();
	cap_flag_value_t value = CAP_CLEAR;

	if (now)
		cap_get_flag(now, CAP_SYS_RESOURCE, CAP_EFFECTIVE, &value);
	cap_free(now);
	return value == CAP_SET;
}

/* strobe's own file size limit does not apply to tables in memory files. */
static void allowed_output(void)
{
	static const char page[4096];
	struct rlimit limit;

	CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	limit.rlim_cur = 1024;
	if (may_raise_limits())
		limit.rlim_max = 1024;
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	confine_allow_output();
	confine_privileges();
	CHECK(confine_limits(256) == 0);
	const int fd = memfd_create("m", MFD_CLOEXEC);
	CHECK(write(fd, page, sizeof(page)) == (ssize_t)sizeof(page));
}

static void test_output(void **state)
{
	(void)state;
	assert_int_equal(in_child(allowed_output), 0);
}

static void test_limits(void **state)
{
	(void)state;
	assert_int_equal(in_child(limited), 0);
}

static void test_privileges(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: only root has privileges to give up\n");
		skip();
	}
	assert_int_equal(in_child(unprivileged), 0);
}

#ifndef CONFINE_SANITIZED
static void confine_all(void)
{
	confine_privileges();
	CHECK(confine_limits(256) == 0);
	CHECK(confine_syscalls() == 0);
}

static void try_work(void)
{
	struct stat st;
	char byte;

	confine_all();
	CHECK(mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
		MAP_FAILED);
	CHECK(mmap(NULL, 1u << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	CHECK(fstat(3, &st) == 0);
	CHECK(read(3, &byte, 1) == 0);
	int fd = memfd_create("m", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CHECK(fd >= 0 && write(fd, "x", 1) == 1 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
	CHECK(open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES);
	CHECK(stat("/etc/passwd", &st) < 0 && errno == EACCES);
}

static void try_abort(void)
{
	confine_all();
	abort();
}

static void try_fork(void)
{
	confine_all();
	fork();
}

static void try_exec(void)
{
	confine_all();
	execl("/bin/true", "true", NULL);
}

static void try_socket(void)
{
	confine_all();
	socket(AF_INET, SOCK_STREAM, 0);
}

static void try_kill(void)
{
	confine_all();
	kill(1, 0);
}

static void try_code(void)
{
	confine_all();
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void try_late_code(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	confine_all();
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static void try_signal_thread(void)
{
	pid_t parent = getppid();

	confine_all();
	tgkill(parent, parent, 0);
}

static void try_other_limit(void)
{
	confine_all();
	prlimit(0, RLIMIT_NPROC, NULL, &(struct rlimit){0});
}

static void try_limit_of_other(void)
{
	pid_t parent = getppid();

	confine_all();
	prlimit(parent, RLIMIT_DATA, NULL, &(struct rlimit){0});
}

static void test_syscalls(void **state)
{
	static void (*const deadly[])(void) = {try_fork, try_exec, try_socket, try_kill, try_code,
		try_late_code, try_signal_thread, try_other_limit, try_limit_of_other};

	(void)state;
	assert_int_equal(in_child(try_work), 0);
	int aborted = in_child(try_abort);
	assert_true(WIFSIGNALED(aborted) && WTERMSIG(aborted) == SIGABRT);
	for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
		int status = in_child(deadly[i]);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGSYS);
	}
}
#else
static void test_syscalls(void **state)
{
	(void)state;
	print_message("skipped: no filter under the sanitizers\n");
	skip();
}
#endif

/* A grandchild dies with its parent. */
static void test_parent(void **state)
{
	int ends[2];
	char byte;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		pid_t self = getpid();
		pid_t grandchild = fork();
		if (grandchild == 0) {
			close(ends[0]);
			if (confine_die_with_parent(self) < 0)
				_exit(1);
			if (write(ends[1], "x", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
		close(ends[1]);
		/* Exits only when the grandchild is ready. */
		if (read(ends[0], &byte, 1) != 1)
			_exit(1);
		_exit(0);
	}
	close(ends[1]);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	/* End of file: no process holds the other end of the pipe. */
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_detach),
		cmocka_unit_test(test_privileges),
		cmocka_unit_test(test_ordinary),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_syscalls),
		cmocka_unit_test(test_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
