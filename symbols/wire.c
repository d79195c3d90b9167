/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wire.c - packets with a descriptor over SOCK_SEQPACKET.  Any thread, any process.
 */
#include "symbols/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(4 * sizeof(int))];
};

int wire_send(int sock, const struct wire_message *message, const void *payload, size_t len, int fd)
{
	struct iovec iov[2] = {
		{.iov_base = (void *)(uintptr_t)message, .iov_len = sizeof(*message)},
		{.iov_base = (void *)(uintptr_t)payload, .iov_len = len},
	};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = len ? 2 : 1};
	union control control;

	if (fd >= 0) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int));
		struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	}

	ssize_t n;
	do {
		n = sendmsg(sock, &msg, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET || errno == ENOTCONN ? -EPIPE : -errno;
	return (size_t)n == sizeof(*message) + len ? 0 : -EMSGSIZE;
}

/* The first descriptor of a control message; more than were agreed on are closed. */
static int take_fd(struct msghdr *msg)
{
	int fd = -1;

	for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		size_t n = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int got;
			memcpy(&got, CMSG_DATA(cmsg) + i * sizeof(int), sizeof(int));
			if (fd < 0)
				fd = got;
			else
				close(got);
		}
	}
	return fd;
}

int wire_recv(int sock, struct wire_message *message, void *payload, size_t size, size_t *len,
	int *fd, int flags)
{
	struct iovec iov[2] = {
		{.iov_base = message, .iov_len = sizeof(*message)},
		{.iov_base = payload, .iov_len = size},
	};
	union control control;
	struct msghdr msg = {
		.msg_iov = iov,
		.msg_iovlen = size ? 2 : 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t n;

	*len = 0;
	*fd = -1;
	do {
		n = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	int got = take_fd(&msg);
	if (n == 0) {
		/* The end; or a packet of nothing, which may carry a descriptor all the same. */
		if (got >= 0)
			close(got);
		return -EPIPE;
	}
	if ((size_t)n < sizeof(*message) || msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
		if (got >= 0)
			close(got);
		return -EBADMSG;
	}
	*len = (size_t)n - sizeof(*message);
	*fd = got;
	return 0;
}
