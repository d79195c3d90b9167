/* SPDX-License-Identifier: GPL-3.0-or-later */
/* launch.c - forks, starts and signals a command; see launch.h. */
#include "sampler/kernel/launch.h"

#include "sampler/machine/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ASLEEP_TRIES 10000u
#define ASLEEP_PAUSE_NS 100000

/* The caller's and the inherited disposition of each signal.  Written once, before any thread
 * starts. */
static struct taken_signal {
	int signal;
	void (*own)(int);
	void (*inherited)(int); /* SIG_ERR: not changed by strobe */
} taken_signals[] = {
	{SIGPIPE, SIG_IGN, SIG_ERR},
	{SIGXFSZ, SIG_IGN, SIG_ERR},
	{SIGCHLD, SIG_DFL, SIG_ERR},
};
static sigset_t first_mask; /* empty until launch_take_signals() */

void launch_take_signals(void)
{
	sigprocmask(SIG_SETMASK, NULL, &first_mask);
	for (size_t i = 0; i < sizeof(taken_signals) / sizeof(taken_signals[0]); i++)
		taken_signals[i].inherited = signal(taken_signals[i].signal, taken_signals[i].own);
}

static void restore_signals(void)
{
	for (size_t i = 0; i < sizeof(taken_signals) / sizeof(taken_signals[0]); i++)
		if (taken_signals[i].inherited != SIG_ERR)
			signal(taken_signals[i].signal, taken_signals[i].inherited);
	sigprocmask(SIG_SETMASK, &first_mask, NULL);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Opens an empty file, even if /dev is empty.  Returns an fd, or -1. */
static int open_nothing(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), ends[2];

	if (fd >= 0 || pipe2(ends, O_CLOEXEC))
		return fd;
	close(ends[1]);
	return ends[0];
}

/* Runs in the child.  Calls only functions that are safe after a fork in a process with threads. */
static _Noreturn void child(char *const argv[], int output_fd, int go_fd, int error_fd)
{
	char go;
	ssize_t len;
	int error;

	if (output_fd >= 0) {
		int null_fd = open_nothing();

		if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 ||
			dup2(output_fd, STDOUT_FILENO) < 0 || dup2(output_fd, STDERR_FILENO) < 0)
			goto fail;
		setpgid(0, 0);
	}
	do
		len = read(go_fd, &go, 1);
	while (len < 0 && errno == EINTR);
	if (len != 1)
		_exit(127); /* the parent gave up */

	restore_signals();
	execvp(argv[0], argv);
fail:
	error = errno;
	(void)!write(error_fd, &error, sizeof(error));
	_exit(127);
}

/* Waits until the child sleeps.  While it runs, an armed event would take samples of this program
 * instead of the command. */
static void wait_until_asleep(int32_t pid)
{
	const struct timespec pause = {.tv_nsec = ASLEEP_PAUSE_NS};
	struct proc_thread thread;

	for (unsigned int i = 0; i < ASLEEP_TRIES; i++) {
		if (proc_read_thread(pid, &thread) || thread.state == 'S' || thread.state == 'Z')
			return;
		nanosleep(&pause, NULL);
	}
}

int launch_fork(struct launch *launch, char *const argv[], int output_fd)
{
	int go[2] = {-1, -1}, error[2] = {-1, -1};
	pid_t pid;
	int ret = 0;

	*launch = (struct launch){.pid_fd = -1, .go_fd = -1, .error_fd = -1};
	if (pipe2(go, O_CLOEXEC) || pipe2(error, O_CLOEXEC)) {
		ret = -errno;
		goto out;
	}
	pid = fork();
	if (pid < 0) {
		ret = -errno;
		goto out;
	}
	if (!pid) {
		close(go[1]);
		close(error[0]);
		child(argv, output_fd, go[0], error[1]);
	}
	launch->pid = (int32_t)pid;
	launch->go_fd = go[1];
	launch->error_fd = error[0];
	go[1] = error[0] = -1;
	launch->pid_fd = (int)syscall(SYS_pidfd_open, pid, 0); /* always close-on-exec */
	if (launch->pid_fd < 0)
		launch->pid_fd = -1;
	wait_until_asleep(launch->pid);
out:
	close_fd(&go[0]);
	close_fd(&go[1]);
	close_fd(&error[0]);
	close_fd(&error[1]);
	return ret;
}

int launch_go(struct launch *launch)
{
	int error = 0, unsent = 0;
	ssize_t len;

	if (write(launch->go_fd, "g", 1) != 1)
		unsent = errno;
	close_fd(&launch->go_fd);
	/* A successful exec closes the other end, so the read ends with end of file. */
	do
		len = read(launch->error_fd, &error, sizeof(error));
	while (len < 0 && errno == EINTR);
	if (len != sizeof(error))
		error = unsent;
	close_fd(&launch->error_fd);
	if (error) {
		waitpid(launch->pid, NULL, 0);
		launch->pid = 0;
		close_fd(&launch->pid_fd);
	}
	return -error;
}

static uint64_t in_ns(struct timeval ran)
{
	return ((uint64_t)ran.tv_sec * 1000000u + (uint64_t)ran.tv_usec) * 1000u;
}

bool launch_ended(struct launch *launch, int *status)
{
	struct rusage ran;
	pid_t pid;

	if (!launch->pid)
		return false;
	do
		pid = wait4(launch->pid, status, WNOHANG, &ran);
	while (pid < 0 && errno == EINTR);
	if (!pid)
		return false;
	if (pid < 0)
		*status = 0; /* another waiter took the status */
	else
		launch->cpu_ns = in_ns(ran.ru_utime) + in_ns(ran.ru_stime);
	launch->pid = 0;
	close_fd(&launch->pid_fd);
	return true;
}

int launch_signal(const struct launch *launch, int signal)
{
	if (!launch->pid)
		return -ESRCH;
	/* If another waiter took the status, the kernel may have reused the pid. */
	if (launch->pid_fd >= 0)
		return syscall(SYS_pidfd_send_signal, launch->pid_fd, signal, NULL, 0) ? -errno : 0;
	return kill(launch->pid, signal) ? -errno : 0;
}

void launch_close(struct launch *launch)
{
	bool waits = launch->go_fd >= 0;

	close_fd(&launch->go_fd);
	close_fd(&launch->error_fd);
	close_fd(&launch->pid_fd);
	if (waits && launch->pid)
		waitpid(launch->pid, NULL, 0);
	launch->pid = 0;
}
