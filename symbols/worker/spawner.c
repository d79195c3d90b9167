/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spawner.c - both sides of the socket to the process that forks workers.
 */
#include "symbols/worker/spawner.h"

#include "symbols/wire/confine.h"
#include "symbols/wire/wire.h"
#include "symbols/worker/disasm.h"
#include "symbols/worker/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESS_NAME "strobe-symbols"
#define SOCK 3 /* confine_detach() puts it there */
#define ANSWER_MS 5000
#define END_MS 2000
#define STEP_MS 10
#define EXEC_ARGUMENT "--symbols-spawner" /* argv[1]; argv[2] is the memory limit */
#define CODE_ARGUMENT "code" /* argv[3]: workers disassemble */

static bool can_exec; /* main() would call spawner_entry() */

/* Reports every worker that ended. */
static int reap(int sock)
{
	struct wire_message message = {.type = WIRE_DIED};
	int status, ret = 0;
	pid_t pid;

	while (ret == 0 && (pid = waitpid(-1, &status, WNOHANG)) > 0) {
		message.pid = pid;
		message.status = status;
		ret = wire_send(sock, &message, NULL, 0, -1);
	}
	return ret;
}

static int serve(int sock, unsigned int memory_mb)
{
	struct wire_message message;
	size_t len;
	int fd;

	int ret = wire_recv(sock, &message, NULL, 0, &len, &fd, 0);
	if (ret < 0)
		return ret;
	pid_t self = getpid(), pid = -1;
	if (message.type == WIRE_SPAWN && fd >= 0) {
		pid = fork();
		if (pid == 0) {
			if (confine_detach(fd, PROCESS_NAME) < 0)
				_exit(1);
			worker_main(SOCK, self, memory_mb);
		}
		message.error = pid < 0 ? errno : 0;
	} else {
		message.error = EINVAL;
	}
	if (fd >= 0)
		close(fd);
	message.pid = pid;
	return wire_send(sock, &message, NULL, 0, -1);
}

/* The spawner ends with its parent: its socket closes, or a signal kills it if it is stopped. */
static _Noreturn void spawner_main(int sock, pid_t parent, unsigned int memory_mb)
{
	struct signalfd_siginfo info;
	sigset_t children;

	if (confine_detach(sock, PROCESS_NAME) < 0)
		_exit(1);
	confine_allow_output();
	confine_privileges(); /* workers do it again and report failures */
	if (confine_die_with_parent(parent) < 0)
		_exit(1);
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, NULL);
	int child_fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
	struct pollfd fds[2] = {{.fd = SOCK, .events = POLLIN}, {.fd = child_fd, .events = POLLIN}};
	if (child_fd < 0)
		_exit(1);
	for (;;) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents) {
			while (read(child_fd, &info, sizeof(info)) > 0)
				;
			if (reap(SOCK) < 0)
				_exit(0);
		}
		if (fds[0].revents && serve(SOCK, memory_mb) < 0)
			_exit(0);
	}
}

int spawner_open(struct spawner *spawner, unsigned int memory_mb)
{
	int socks[2];

	*spawner = (struct spawner){
		.pid = -1, .sock = -1, .stop_fd = -1, .memory_mb = memory_mb, .died_pid = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
		return -errno;
	const pid_t self = getpid();
	pid_t pid = fork();
	if (pid < 0) {
		int ret = -errno;
		close(socks[0]);
		close(socks[1]);
		return ret;
	}
	if (pid == 0)
		spawner_main(socks[1], self, memory_mb);
	close(socks[1]);
	spawner->pid = pid;
	spawner->sock = socks[0];
	return 0;
}

void spawner_entry(int argc, char **argv)
{
	int type = 0;
	socklen_t len = sizeof(type);

	can_exec = true;
	if (argc < 3 || argc > 4 || strcmp(argv[1], EXEC_ARGUMENT) != 0)
		return;
	/* Without the socket a user typed it: an argument like any other. */
	if (getsockopt(SOCK, SOL_SOCKET, SO_TYPE, &type, &len) < 0 || type != SOCK_SEQPACKET)
		return;
	/* If libopcodes cannot be loaded, workers report that. */
	if (argc == 4 && strcmp(argv[3], CODE_ARGUMENT) == 0)
		disasm_load();
	spawner_main(SOCK, getppid(), (unsigned int)strtoul(argv[2], NULL, 10));
}

/* Executes this same program: /proc/self/exe works even after its file was replaced or removed. */
static int exec_spawner(struct spawner *spawner, int sock)
{
	char name[] = PROCESS_NAME, argument[] = EXEC_ARGUMENT, memory[16], code[] = CODE_ARGUMENT;
	char *argv[] = {name, argument, memory, spawner->code ? code : NULL, NULL};
	posix_spawn_file_actions_t actions;

	snprintf(memory, sizeof(memory), "%u", spawner->memory_mb);
	int ret = posix_spawn_file_actions_init(&actions);
	if (ret)
		return -ret;
	/* adddup2 clears close-on-exec even if sock already has this number. */
	ret = posix_spawn_file_actions_adddup2(&actions, sock, SOCK);
	if (ret == 0)
		ret = posix_spawn(&spawner->pid, "/proc/self/exe", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -ret;
}

int spawner_restart(struct spawner *spawner)
{
	int socks[2];

	spawner_close(spawner);
	if (!can_exec)
		return -ENOTSUP;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
		return -errno;
	int ret = exec_spawner(spawner, socks[1]);
	close(socks[1]);
	if (ret < 0) {
		close(socks[0]);
		spawner->pid = -1;
		return ret;
	}
	spawner->sock = socks[0];
	return 0;
}

/* If SIGKILL is refused (root without CAP_KILL), a stopped process remains. */
static void end_process(pid_t pid)
{
	struct pollfd pfd = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};

	kill(pid, SIGKILL);
	/* Kernels before 5.3 have no pidfd; poll(2) then only pauses. */
	for (int i = 0; i < END_MS / STEP_MS && waitpid(pid, NULL, WNOHANG) == 0; i++)
		poll(&pfd, 1, STEP_MS);
	if (pfd.fd >= 0)
		close(pfd.fd);
}

void spawner_close(struct spawner *spawner)
{
	if (spawner->sock < 0)
		return;
	close(spawner->sock);
	end_process(spawner->pid);
	spawner->sock = -1;
	spawner->pid = -1;
}

/* Takes one message and remembers deaths.  Returns 0, -ETIME, -ECANCELED, -EPIPE, -errno. */
static int next_message(struct spawner *spawner, struct wire_message *message, int timeout_ms)
{
	struct pollfd fds[2] = {{.fd = spawner->sock, .events = POLLIN},
		{.fd = spawner->stop_fd, .events = POLLIN}};
	size_t len;
	int fd;

	int n;
	do {
		n = poll(fds, 2, timeout_ms);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n == 0 ? -ETIME : -errno;
	if (!fds[0].revents)
		return -ECANCELED;
	int ret = wire_recv(spawner->sock, message, NULL, 0, &len, &fd, MSG_DONTWAIT);
	if (fd >= 0)
		close(fd);
	if (ret == 0 && message->type == WIRE_DIED) {
		spawner->died_pid = message->pid;
		spawner->died_status = message->status;
	}
	return ret;
}

int spawner_fork(struct spawner *spawner, pid_t *pid, int *sock)
{
	struct wire_message message = {.type = WIRE_SPAWN};
	int socks[2];

	*pid = -1;
	*sock = -1;
	if (spawner->sock < 0)
		return -EPIPE;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
		return -errno;
	int ret = wire_send(spawner->sock, &message, NULL, 0, socks[1]);
	close(socks[1]);
	while (ret == 0) {
		ret = next_message(spawner, &message, ANSWER_MS);
		if (ret == 0 && message.type == WIRE_SPAWN) {
			/* A wrong PID would later have another process killed. */
			if (message.error)
				ret = message.error > 0 && message.error < 4096 ? -message.error
										: -EBADMSG;
			else if (message.pid <= 1)
				ret = -EBADMSG;
			break;
		}
	}
	if (ret < 0) {
		close(socks[0]);
		return ret;
	}
	spawner->died_pid = -1; /* a worker may get the PID of an earlier one */
	*pid = message.pid;
	*sock = socks[0];
	return 0;
}

int spawner_status(struct spawner *spawner, pid_t pid, int timeout_ms, int *status)
{
	struct wire_message message;
	int ret = 0;

	while (spawner->died_pid != pid && ret == 0)
		ret = spawner->sock < 0 ? -EPIPE : next_message(spawner, &message, timeout_ms);
	*status = ret == 0 ? spawner->died_status : 0;
	return ret;
}
