/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_wire.c - packets with descriptors, and packets that do not fit.
 */
#include "symbols/wire/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static int setup(void **state)
{
	static int socks[2];

	*state = socks;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks);
}

static int teardown(void **state)
{
	int *socks = *state;

	close(socks[0]);
	close(socks[1]);
	return 0;
}

static int count_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void test_two_descriptors(void **state)
{
	const struct wire_message sent = {.type = WIRE_FILE, .address = 0xffffffff81000000};
	struct wire_message got;
	int *socks = *state, fds[3], pair[2], many[WIRE_FDS_MAX + 1], all[WIRE_FDS_MAX];
	size_t len;
	char c;

	const int before = count_fds();
	for (int i = 0; i < 2; i++) {
		pair[i] = memfd_create("m", MFD_CLOEXEC);
		assert_int_equal(write(pair[i], &"ab"[i], 1), 1);
	}
	for (size_t i = 0; i <= WIRE_FDS_MAX; i++)
		many[i] = pair[0];
	assert_int_equal(wire_send_fds(socks[0], &sent, NULL, 0, many, WIRE_FDS_MAX + 1), -EINVAL);
	assert_int_equal(wire_send_fds(socks[0], &sent, NULL, 0, many, WIRE_FDS_MAX), 0);
	assert_int_equal(wire_recv_fds(socks[1], &got, NULL, 0, &len, all, WIRE_FDS_MAX, 0), 0);
	for (size_t i = 0; i < WIRE_FDS_MAX; i++)
		assert_int_equal(close(all[i]), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(wire_send_fds(socks[0], &sent, NULL, 0, pair, 2), 0);
	assert_int_equal(wire_recv_fds(socks[1], &got, NULL, 0, &len, fds, 3, 0), 0);
	assert_int_equal(got.address, sent.address);
	assert_int_equal(fds[2], -1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pread(fds[i], &c, 1, 0), 1);
		assert_int_equal(c, "ab"[i]);
		close(fds[i]);
		close(pair[i]);
	}
	/* A receiver of one descriptor gets the first one.  The other one is closed. */
	assert_int_equal(wire_recv(socks[1], &got, NULL, 0, &len, fds, 0), 0);
	assert_int_equal(pread(fds[0], &c, 1, 0), 1);
	assert_int_equal(c, 'a');
	close(fds[0]);
	assert_int_equal(count_fds(), before);
}

static void test_round_trip(void **state)
{
	const struct wire_message sent = {.type = WIRE_FILE, .id = 7, .build_id_len = 3};
	struct wire_message got;
	int *socks = *state, fd;
	char payload[16];
	size_t len;

	int memory = memfd_create("m", MFD_CLOEXEC);
	assert_int_equal(write(memory, "abc", 3), 3);
	assert_int_equal(wire_send(socks[0], &sent, "hello", 6, memory), 0);
	close(memory);
	assert_int_equal(wire_recv(socks[1], &got, payload, sizeof(payload), &len, &fd, 0), 0);
	assert_memory_equal(&got, &sent, sizeof(got));
	assert_int_equal(len, 6);
	assert_string_equal(payload, "hello");
	assert_int_equal(pread(fd, payload, 3, 0), 3);
	assert_memory_equal(payload, "abc", 3);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);

	assert_int_equal(wire_send(socks[1], &sent, NULL, 0, -1), 0);
	assert_int_equal(wire_recv(socks[0], &got, NULL, 0, &len, &fd, MSG_DONTWAIT), 0);
	assert_int_equal(len, 0);
	assert_int_equal(fd, -1);
	assert_int_equal(wire_recv(socks[0], &got, NULL, 0, &len, &fd, MSG_DONTWAIT), -EAGAIN);
}

/* The largest packets pass through a socket of default size. */
static void test_large(void **state)
{
	struct wire_message message = {.type = WIRE_DEMANGLE}, got;
	char *bytes = calloc(1, WIRE_PACKET_BYTES);
	int *socks = *state, fd;
	size_t len;

	assert_non_null(bytes);
	assert_true(WIRE_PACKET_BYTES >= WIRE_NAMES_MAX * WIRE_NAME_BYTES);
	assert_int_equal(wire_send(socks[0], &message, bytes, WIRE_PACKET_BYTES, -1), 0);
	assert_int_equal(wire_recv(socks[1], &got, bytes, WIRE_PACKET_BYTES, &len, &fd, 0), 0);
	assert_int_equal(len, WIRE_PACKET_BYTES);
	free(bytes);
}

static void test_misfits(void **state)
{
	struct wire_message message = {.type = WIRE_FILE}, got;
	int *socks = *state, fd;
	char payload[4];
	size_t len;

	/* Too long for the receiver: refused, and its descriptor is closed. */
	int before = count_fds();
	assert_int_equal(wire_send(socks[0], &message, "too long", 9, socks[0]), 0);
	assert_int_equal(
		wire_recv(socks[1], &got, payload, sizeof(payload), &len, &fd, 0), -EBADMSG);
	assert_int_equal(fd, -1);
	assert_int_equal(count_fds(), before);

	/* Too short to be a message. */
	assert_int_equal(send(socks[0], "x", 1, 0), 1);
	assert_int_equal(
		wire_recv(socks[1], &got, payload, sizeof(payload), &len, &fd, 0), -EBADMSG);

	/* More descriptors than expected: all but the first are closed. */
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(3 * sizeof(int))];
	} control;
	struct iovec iov = {&message, sizeof(message)};
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	int fds[3] = {socks[0], socks[0], socks[0]};
	memset(&control, 0, sizeof(control));
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(cmsg), fds, sizeof(fds));
	assert_int_equal(sendmsg(socks[0], &msg, 0), sizeof(message));
	assert_int_equal(wire_recv(socks[1], &got, payload, sizeof(payload), &len, &fd, 0), 0);
	assert_true(fd >= 0);
	assert_int_equal(count_fds(), before + 1);
	close(fd);

	/* The descriptors of a packet without data are closed. */
	msg.msg_iovlen = 0;
	assert_int_equal(sendmsg(socks[0], &msg, 0), 0);
	assert_int_equal(wire_recv(socks[1], &got, payload, sizeof(payload), &len, &fd, 0), -EPIPE);
	assert_int_equal(fd, -1);
	assert_int_equal(count_fds(), before);
}

static void test_end(void **state)
{
	struct wire_message message = {.type = WIRE_FILE};
	int *socks = *state, fd;
	size_t len;

	close(socks[0]);
	assert_int_equal(wire_recv(socks[1], &message, NULL, 0, &len, &fd, 0), -EPIPE);
	assert_int_equal(wire_send(socks[1], &message, NULL, 0, -1), -EPIPE);
	socks[0] = dup(socks[1]); /* for teardown */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_two_descriptors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_large, setup, teardown),
		cmocka_unit_test_setup_teardown(test_misfits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_end, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
