/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wire.c - packets with descriptors over SOCK_SEQPACKET.  Any thread, any process.
 */
#include "symbols/wire/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(WIRE_FDS_MAX * sizeof(int))];
};

int wire_send_fds(int sock, const struct wire_message *message, const void *payload, size_t len,
	const int *fds, size_t n)
{
	struct iovec iov[2] = {
		{.iov_base = (void *)(uintptr_t)message, .iov_len = sizeof(*message)},
		{.iov_base = (void *)(uintptr_t)payload, .iov_len = len},
	};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = len ? 2 : 1};
	union control control;

	if (n > WIRE_FDS_MAX)
		return -EINVAL;
	if (n) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
		struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(cmsg), fds, n * sizeof(int));
	}

	ssize_t sent;
	do {
		sent = sendmsg(sock, &msg, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return errno == ECONNRESET || errno == ENOTCONN ? -EPIPE : -errno;
	return (size_t)sent == sizeof(*message) + len ? 0 : -EMSGSIZE;
}

int wire_send(int sock, const struct wire_message *message, const void *payload, size_t len, int fd)
{
	return wire_send_fds(sock, message, payload, len, &fd, fd >= 0 ? 1 : 0);
}

/* Takes the first n descriptors of a control message, and closes the others. */
static void take_fds(struct msghdr *msg, int *fds, size_t n)
{
	size_t taken = 0;

	for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		size_t sent = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < sent; i++) {
			int got;
			memcpy(&got, CMSG_DATA(cmsg) + i * sizeof(int), sizeof(int));
			if (taken < n)
				fds[taken++] = got;
			else
				close(got);
		}
	}
}

static void drop_fds(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

int wire_recv_fds(int sock, struct wire_message *message, void *payload, size_t size, size_t *len,
	int *fds, size_t n_fds, int flags)
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
	for (size_t i = 0; i < n_fds; i++)
		fds[i] = -1;
	do {
		n = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	take_fds(&msg, fds, n_fds);
	if (n == 0) {
		/* End of the connection; or an empty packet, which may carry descriptors all the
		 * same. */
		drop_fds(fds, n_fds);
		return -EPIPE;
	}
	if ((size_t)n < sizeof(*message) || msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
		drop_fds(fds, n_fds);
		return -EBADMSG;
	}
	*len = (size_t)n - sizeof(*message);
	return 0;
}

int wire_recv(int sock, struct wire_message *message, void *payload, size_t size, size_t *len,
	int *fd, int flags)
{
	return wire_recv_fds(sock, message, payload, size, len, fd, 1, flags);
}
