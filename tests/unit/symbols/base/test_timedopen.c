/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_timedopen.c - opening by path where openat2(2) is refused, and where there is no /proc.
 *
 * Each case changes what its process may do, so it runs in a child, which ends with the number of
 * the failed step.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symbols/base/timedopen.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIP 77

static char folder[] = "/tmp/strobe-test-timedopen-XXXXXX";
static char path[sizeof(folder) + 8], fifo[sizeof(folder) + 8];

/* Returns 0 if the file can be opened and read, else the number of the failed step. */
static int open_and_read(void)
{
	struct stat about;
	char bytes[8] = "";
	int fd = timedopen(AT_FDCWD, path, 0, true, &about);

	if (fd < 0)
		return 1;
	if (timedopen_read(fd, 0, bytes, sizeof(bytes)) != 4 || memcmp(bytes, "text", 4))
		return 2;
	close(fd);
	if (about.st_size != 4)
		return 3;
	if (timedopen(AT_FDCWD, fifo, 0, true, &about) != -ENOEXEC)
		return 4;
	return timedopen(AT_FDCWD, "/nonexistent", 0, true, &about) == -ENOENT ? 0 : 5;
}

static int refuse_openat2(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return SKIP;
	return open_and_read();
}

static int hide_proc(void)
{
	if ((unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		mount("none", "/proc", "tmpfs", 0, NULL))
		return SKIP;
	return open_and_read();
}

static void judge(int (*run)(void))
{
	int status;
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		_exit(run());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIP) {
		print_message("not permitted here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_everything_there(void **state)
{
	(void)state;
	judge(open_and_read);
}

static void test_openat2_refused(void **state)
{
	(void)state;
	judge(refuse_openat2);
}

static void test_no_proc(void **state)
{
	(void)state;
	judge(hide_proc);
}

static int make_files(void **state)
{
	int fd;

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	strcat(strcpy(path, folder), "/file");
	strcat(strcpy(fifo, folder), "/fifo");
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, "text", 4) != 4)
		return -1;
	close(fd);
	return mkfifo(fifo, 0600);
}

static int remove_files(void **state)
{
	(void)state;
	unlink(path);
	unlink(fifo);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_there),
		cmocka_unit_test(test_openat2_refused),
		cmocka_unit_test(test_no_proc),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
