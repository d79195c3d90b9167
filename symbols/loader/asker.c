/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * asker.c - questions, deadlines and restarts.
 */
#include "symbols/loader/asker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define DEATH_MS 2000 /* time for the spawner to report how a worker died */
#define STARTS_MAX 3

static const struct asker_limits hello_limits = {.cpu_ms = 2000, .wall_ms = 20000};

static uint64_t clock_ms(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) < 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int asker_open(struct asker *asker, int stop_fd, unsigned int memory_mb)
{
	*asker = (struct asker){.sock = -1, .stop_fd = stop_fd};
	atomic_store(&asker->worker_pid, -1);
	int ret = spawner_open(&asker->spawner, memory_mb);
	asker->spawner.stop_fd = stop_fd;
	atomic_store(&asker->spawner_pid, asker->spawner.pid);
	return ret;
}

void asker_open_late(struct asker *asker, int stop_fd, unsigned int memory_mb, bool code)
{
	*asker = (struct asker){.sock = -1, .stop_fd = stop_fd};
	asker->spawner = (struct spawner){.pid = -1,
		.sock = -1,
		.stop_fd = stop_fd,
		.memory_mb = memory_mb,
		.code = code,
		.died_pid = -1};
	atomic_store(&asker->worker_pid, -1);
	atomic_store(&asker->spawner_pid, -1);
}

void asker_close(struct asker *asker)
{
	if (asker->sock >= 0)
		close(asker->sock);
	asker->sock = -1;
	spawner_close(&asker->spawner);
}

/* Closes the connection to a useless worker and gets its exit status.  A worker that ended by
 * itself (its socket was closed) is not killed: another process may have its pid.  If the spawner
 * has not seen its end within DEATH_MS, it still runs and is killed. */
static void bury(struct asker *asker, bool ended)
{
	pid_t pid = atomic_load(&asker->worker_pid);

	close(asker->sock);
	asker->sock = -1;
	if (!ended)
		kill(pid, SIGKILL);
	int ret = spawner_status(&asker->spawner, pid, DEATH_MS, &asker->died_status);
	if (ret == -ETIME && ended) {
		kill(pid, SIGKILL);
		ret = spawner_status(&asker->spawner, pid, DEATH_MS, &asker->died_status);
	}
	if (ret < 0)
		asker->died_status = SIGKILL;
	atomic_store(&asker->worker_pid, -1);
}

void asker_renew(struct asker *asker)
{
	if (asker->sock >= 0)
		bury(asker, false);
}

/* Waits for a packet.  Returns 0, -ETIME, -ECANCELED or -errno. */
static int await(struct asker *asker, const struct asker_limits *limits)
{
	struct pollfd fds[2] = {
		{.fd = asker->sock, .events = POLLIN}, {.fd = asker->stop_fd, .events = POLLIN}};
	clockid_t clock = CLOCK_MONOTONIC;

	if (clock_getcpuclockid(atomic_load(&asker->worker_pid), &clock) != 0)
		clock = CLOCK_MONOTONIC;
	const uint64_t wall_end = clock_ms(CLOCK_MONOTONIC) + limits->wall_ms;
	const uint64_t cpu_end = clock_ms(clock) + limits->cpu_ms;
	for (;;) {
		uint64_t now = clock_ms(CLOCK_MONOTONIC), used = clock_ms(clock);
		if (now >= wall_end || used >= cpu_end)
			return -ETIME;
		/* The worker has one thread: it cannot use up its CPU time sooner than this. */
		uint64_t rest = wall_end - now < cpu_end - used ? wall_end - now : cpu_end - used;
		int n = poll(fds, 2, (int)rest + 1);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0 && fds[1].revents)
			return -ECANCELED;
		if (n > 0 && fds[0].revents)
			return 0;
	}
}

/* Returns 0; -EAGAIN if another attempt may help; -ECANCELED; or -errno. */
static int start_once(struct asker *asker)
{
	struct wire_message hello;
	size_t len;
	pid_t pid;
	int fd;

	int ret = spawner_fork(&asker->spawner, &pid, &asker->sock);
	if (ret == -EPIPE || ret == -ETIME || ret == -EBADMSG) {
		ret = spawner_restart(&asker->spawner);
		atomic_store(&asker->spawner_pid, asker->spawner.pid);
		return ret < 0 ? ret : -EAGAIN;
	}
	if (ret == -ECANCELED)
		return ret;
	/* Another attempt does not help if no process can be created now. */
	asker->start_error = ret < 0 ? -ret : 0;
	if (ret < 0)
		return -ECHILD;
	atomic_store(&asker->worker_pid, pid);
	ret = await(asker, &hello_limits);
	if (ret == -ECANCELED)
		return ret;
	if (ret == 0)
		ret = wire_recv(asker->sock, &hello, NULL, 0, &len, &fd, MSG_DONTWAIT);
	if (ret == 0 && fd >= 0)
		close(fd);
	if (ret < 0 || hello.type != WIRE_CONFINED) {
		bury(asker, ret == -EPIPE);
		/* A worker killed before its hello has read no file, so another one can take its
		 * place. */
		return ret == -EPIPE ? -EAGAIN : ret < 0 ? ret : -EPROTO;
	}
	asker->confine_error = hello.error;
	return 0;
}

/* Returns 0, -ECANCELED or -ECHILD. */
static int start(struct asker *asker)
{
	int ret = -EAGAIN;

	asker->start_error = 0;
	for (int attempt = 0; attempt < STARTS_MAX && ret == -EAGAIN; attempt++)
		ret = start_once(asker);
	if (ret == 0 || ret == -ECANCELED)
		return ret;
	/* -EAGAIN, -ENOTSUP: the spawner was killed and is not replaced; start_error stays 0. */
	if (ret != -EAGAIN && ret != -ECHILD && ret != -ENOTSUP)
		asker->start_error = -ret;
	return -ECHILD;
}

int asker_ask(struct asker *asker, const struct asker_question *question,
	struct wire_message *answer, void *out, size_t size, size_t *len, int *fd)
{
	struct wire_message message = {
		.type = question->type, .flags = question->flags, .address = question->address};
	const int pair[2] = {question->fd, question->second_fd ? *question->second_fd : -1};
	const int *fds = question->fds ? question->fds : pair;
	const size_t n_pair = question->fd < 0 ? 0 : pair[1] < 0 ? 1 : 2;
	const size_t n_fds = question->fds ? question->n_fds : n_pair;

	*len = 0;
	*fd = -1;
	/* A worker killed while idle is not the question's fault: a new one takes the question. */
	for (int attempt = 0;; attempt++) {
		int ret = asker->sock < 0 ? start(asker) : 0;
		if (ret < 0)
			return ret;
		message.id = ++asker->last_id;
		ret = wire_send_fds(
			asker->sock, &message, question->payload, question->len, fds, n_fds);
		if (ret == 0)
			break;
		bury(asker, ret == -EPIPE);
		if (attempt > 0)
			return ret == -EPIPE ? -ECHILD : ret;
	}
	int ret = await(asker, &question->limits);
	asker->timed_out = ret == -ETIME;
	if (ret == -ECANCELED)
		return ret;
	if (ret == 0)
		ret = wire_recv(asker->sock, answer, out, size, len, fd, MSG_DONTWAIT);
	if (ret == 0 && answer->type == question->type && answer->id == message.id)
		return 0;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	bury(asker, ret == -EPIPE);
	return -EPIPE;
}
