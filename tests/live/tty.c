/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tty.c - runs a program in a pseudo-terminal, below a small shell.
 *
 * The shell waits for the program, reports its stops, and continues it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/live/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void give_terminal(pid_t group)
{
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, &old);
	tcsetpgrp(STDIN_FILENO, group);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static void run_program(char *const *argv, const char *const *environment)
{
	const struct rlimit no_core = {0, 0};

	setpgid(0, 0);
	give_terminal(getpid());
	setrlimit(RLIMIT_CORE, &no_core);
	/* Uses neither the user's settings nor files of the last test. */
	setenv("XDG_CONFIG_HOME", "/dev/null", 1);
	setenv("XDG_STATE_HOME", "/dev/null", 1);
	for (size_t i = 0; environment && environment[i]; i++)
		putenv(strdup(environment[i]));
	execv(argv[0], argv);
	_exit(127);
}

/* Runs in a session of its own: the program's group is then not orphaned and can be stopped. */
static void run_shell(
	char *const *argv, const char *const *environment, int events_fd, int continue_fd)
{
	pid_t pid = fork();
	int status;
	char byte;

	signal(SIGHUP, SIG_IGN);
	if (pid == 0)
		run_program(argv, environment);
	setpgid(pid, pid);
	give_terminal(pid);
	if (write(events_fd, &pid, sizeof(pid)) != (ssize_t)sizeof(pid))
		_exit(1);
	while (waitpid(pid, &status, WUNTRACED) == pid) {
		give_terminal(getpid());
		if (write(events_fd, &status, sizeof(status)) != (ssize_t)sizeof(status))
			_exit(1);
		if (!WIFSTOPPED(status))
			break;
		if (read(continue_fd, &byte, 1) != 1)
			_exit(1);
		give_terminal(pid);
		kill(-pid, SIGCONT);
	}
	/* The terminal stays open until the test has read it. */
	if (read(continue_fd, &byte, 1) < 0)
		_exit(1);
	_exit(0);
}

int tty_start(
	struct tty *tty, char *const *argv, const char *const *environment, int columns, int rows)
{
	struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
	int events[2], commands[2];

	memset(tty, 0, sizeof(*tty));
	tty->master = -1;
	if (pipe2(events, O_CLOEXEC) || pipe2(commands, O_CLOEXEC))
		return -errno;
	tty->shell = forkpty(&tty->master, NULL, NULL, &size);
	if (tty->shell < 0)
		return -errno;
	if (tty->shell == 0) {
		close(events[0]);
		close(commands[1]);
		run_shell(argv, environment, events[1], commands[0]);
	}
	close(events[1]);
	close(commands[0]);
	tty->events_fd = events[0];
	tty->continue_fd = commands[1];
	fcntl(tty->master, F_SETFD, FD_CLOEXEC);
	if (tcgetattr(tty->master, &tty->before))
		return -errno;
	if (read(tty->events_fd, &tty->program, sizeof(tty->program)) !=
		(ssize_t)sizeof(tty->program))
		return -EIO;
	return 0;
}

void tty_close(struct tty *tty)
{
	if (tty->program > 0) {
		kill(tty->program, SIGKILL);
		kill(tty->program, SIGCONT);
	}
	if (tty->continue_fd > 0)
		close(tty->continue_fd);
	if (tty->shell > 0) {
		kill(tty->shell, SIGKILL);
		waitpid(tty->shell, NULL, 0);
	}
	if (tty->events_fd > 0)
		close(tty->events_fd);
	if (tty->master >= 0)
		close(tty->master);
	free(tty->output);
	memset(tty, 0, sizeof(*tty));
	tty->master = -1;
}

/* Returns false if nothing came in time, or nothing more can come. */
static bool take_output(struct tty *tty, int timeout_ms)
{
	struct pollfd fd = {.fd = tty->master, .events = POLLIN};
	char data[4096], *grown;
	ssize_t n;

	if (poll(&fd, 1, timeout_ms) <= 0)
		return false;
	n = read(tty->master, data, sizeof(data));
	if (n <= 0)
		return false;
	grown = realloc(tty->output, tty->len + (size_t)n + 1);
	if (!grown)
		return false;
	tty->output = grown;
	/* Drops NUL bytes, which are padding, so that strstr() works. */
	for (ssize_t i = 0; i < n; i++) {
		if (data[i])
			tty->output[tty->len++] = data[i];
	}
	tty->output[tty->len] = '\0';
	return true;
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool tty_expect(struct tty *tty, const char *text)
{
	long end = now_ms() + TTY_TIMEOUT_MS;

	for (;;) {
		const char *found = tty->output ? strstr(tty->output + tty->seen, text) : NULL;
		long left = end - now_ms();

		if (found) {
			tty->seen = (size_t)(found - tty->output) + strlen(text);
			return true;
		}
		if (left <= 0 || !take_output(tty, (int)left))
			return false;
	}
}

void tty_forget(struct tty *tty)
{
	while (take_output(tty, 0))
		;
	tty->seen = tty->len;
}

bool tty_contains(const struct tty *tty, const char *text)
{
	return tty->output && strstr(tty->output, text);
}

void tty_type(struct tty *tty, const char *keys)
{
	while (*keys) {
		ssize_t n = write(tty->master, keys, strlen(keys));

		if (n <= 0)
			return;
		keys += n;
	}
}

void tty_resize(struct tty *tty, int columns, int rows)
{
	struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};

	ioctl(tty->master, TIOCSWINSZ, &size);
}

bool tty_status(struct tty *tty, int *status)
{
	long end = now_ms() + TTY_TIMEOUT_MS;

	for (;;) {
		struct pollfd fd = {.fd = tty->events_fd, .events = POLLIN};

		/* The program blocks unless its output is read. */
		while (take_output(tty, 0))
			;
		if (poll(&fd, 1, 20) > 0)
			break;
		if (now_ms() >= end) {
			print_message("hang: the program did not end\n");
			return false;
		}
	}
	if (read(tty->events_fd, status, sizeof(*status)) != (ssize_t)sizeof(*status))
		return false;
	if (!WIFSTOPPED(*status))
		tty->program = 0;
	while (take_output(tty, 0))
		;
	return true;
}

void tty_continue(struct tty *tty)
{
	if (write(tty->continue_fd, "c", 1) != 1)
		return;
}

bool tty_modes_restored(const struct tty *tty)
{
	struct termios now;

	if (tcgetattr(tty->master, &now))
		return false;
	return now.c_iflag == tty->before.c_iflag && now.c_oflag == tty->before.c_oflag &&
		now.c_lflag == tty->before.c_lflag && now.c_cflag == tty->before.c_cflag &&
		!memcmp(now.c_cc, tty->before.c_cc, sizeof(now.c_cc));
}

void tty_need_events(pid_t target)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.exclude_kernel = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, target, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0) {
		print_message("skipped: this kernel refuses a cpu-clock event on a child (%s)\n",
			strerror(errno));
		skip();
	}
	close((int)fd);
}
