/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * feeder.c - forwards standard input until it ends or loading is cancelled.
 *
 * A read(2) of a silent pipe waits forever; poll(2) can be woken.  Bytes are moved by splice(2),
 * not copied.
 */
#include "sampler/recording/recording_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define AT_ONCE ((size_t)1 << 20)

/* Input that cannot be spliced (a terminal) is copied. */
static ssize_t move(const struct feeder *feeder)
{
	char bytes[4096];
	ssize_t n = splice(feeder->in_fd, NULL, feeder->out_fd, NULL, AT_ONCE, SPLICE_F_MOVE);

	if (n >= 0 || errno != EINVAL)
		return n;
	n = read(feeder->in_fd, bytes, sizeof(bytes));
	for (ssize_t at = 0, ret; at < n; at += ret) {
		ret = write(feeder->out_fd, bytes + at, (size_t)(n - at));
		if (ret < 0)
			return ret;
	}
	return n;
}

static void *feeder_main(void *ctx)
{
	struct feeder *feeder = ctx;
	struct pollfd fds[] = {{feeder->in_fd, POLLIN, 0}, {feeder->stop_fd, POLLIN, 0}};
	ssize_t n;

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			break;
		/* The write blocks until the reader takes the bytes or closes its side. */
		if (!fds[0].revents)
			continue;
		n = move(feeder);
		if (!n || (n < 0 && errno != EINTR && errno != EAGAIN))
			break;
	}
	close(feeder->out_fd);
	feeder->out_fd = -1;
	return NULL;
}

int feeder_start(struct feeder *feeder, int in_fd, int *out_fd)
{
	sigset_t all, before;
	int fds[2], ret;

	*out_fd = -1;
	*feeder = (struct feeder){.in_fd = in_fd, .out_fd = -1, .stop_fd = -1};
	if (pipe2(fds, O_CLOEXEC)) {
		ret = -errno;
		goto out;
	}
	feeder->out_fd = fds[1];
	feeder->stop_fd = eventfd(0, EFD_CLOEXEC);
	ret = feeder->stop_fd < 0 ? -errno : 0;
	if (!ret) {
		/* Including SIGPIPE. */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		ret = -pthread_create(&feeder->thread, NULL, feeder_main, feeder);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	feeder->has_thread = !ret;
	if (ret)
		close(fds[0]);
	else
		*out_fd = fds[0];
out:
	if (ret)
		feeder_stop(feeder);
	return ret;
}

void feeder_cancel(struct feeder *feeder)
{
	if (feeder->has_thread)
		eventfd_write(feeder->stop_fd, 1);
}

void feeder_stop(struct feeder *feeder)
{
	if (feeder->has_thread) {
		feeder_cancel(feeder);
		pthread_join(feeder->thread, NULL);
		feeder->has_thread = false;
	}
	if (feeder->out_fd >= 0)
		close(feeder->out_fd);
	if (feeder->stop_fd >= 0)
		close(feeder->stop_fd);
	if (feeder->in_fd >= 0)
		close(feeder->in_fd);
	feeder->in_fd = feeder->out_fd = feeder->stop_fd = -1;
}
