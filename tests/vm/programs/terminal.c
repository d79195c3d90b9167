// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * terminal.c - runs a command in a pseudo-terminal of 100 x 30.
 *
 * Standard input is its keyboard.  Its output goes to standard output immediately.  The exit status
 * is the command's.
 *
 * usage: terminal COMMAND [ARGUMENT...]
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_command(int slave, char **argv)
{
	setsid();
	if (ioctl(slave, TIOCSCTTY, 0) < 0)
		_exit(126);
	for (int fd = 0; fd < 3; fd++)
		dup2(slave, fd);
	execvp(argv[0], argv);
	_exit(127);
}

static bool copy(int from, int to)
{
	char bytes[4096];
	const ssize_t n = read(from, bytes, sizeof(bytes));

	return n > 0 && write(to, bytes, (size_t)n) == n;
}

int main(int argc, char **argv)
{
	const struct winsize size = {.ws_row = 30, .ws_col = 100};
	const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct pollfd fds[2] = {{.fd = master, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
	int slave, status;
	pid_t pid;

	if (argc < 2 || master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 ||
		ioctl(master, TIOCSWINSZ, &size) < 0)
		return 125;
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	pid = slave < 0 ? -1 : fork();
	if (pid < 0)
		return 125;
	if (pid == 0)
		run_command(slave, argv + 1);
	/* Only the command holds the other side.  Its end causes a hangup. */
	close(slave);
	for (;;) {
		if (poll(fds, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			break;
		}
		if (fds[0].revents && !copy(master, 1))
			break;
		if (fds[1].revents && !copy(0, master))
			fds[1].fd = -1;
	}
	if (waitpid(pid, &status, 0) != pid)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 124;
}
