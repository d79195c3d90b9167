/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wire.h - the messages between client, spawner and worker: one SOCK_SEQPACKET packet each, at
 * most two file descriptors with it.
 *
 * The client is trusted by the others; it trusts neither of them, and checks what it gets.
 */
#ifndef SYMBOLS_WIRE_H
#define SYMBOLS_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define WIRE_NAMES_MAX 32 /* names in one WIRE_DEMANGLE request */
#define WIRE_NAME_BYTES 4096 /* the longest name sent or returned, with its end */
#define WIRE_PACKET_BYTES (144 * 1024)
#define WIRE_BUILD_ID_MAX 20
#define WIRE_FDS_MAX 2 /* descriptors in one packet */

enum wire_type {
	/* client -> spawner: a worker on the descriptor; spawner -> client: its pid or an error */
	WIRE_SPAWN = 1,
	WIRE_DIED, /* spawner -> client: pid and wait status */
	/* client -> worker; the answer has the same type and id */
	WIRE_BUILD_ID, /* descriptor: a file */
	WIRE_FILE, /* descriptors: a file and perhaps its separate debug file; answer: a table and the build-id */
	WIRE_KALLSYMS, /* descriptor: kernel symbols as text; answer: a table.  Payload: a module's name, when only
			* its symbols are asked for, less address */
	WIRE_KERNEL, /* descriptor: a vmlinux file; answer: a table of addresses */
	WIRE_MODULE, /* descriptor: a .ko file; answer: a table of offsets from the start of its code */
	WIRE_DEMANGLE, /* count names follow, each with its NUL; so does the answer, "": not mangled */
	WIRE_CONFINED, /* worker -> client, first of all: error says what kept it from being confined */
};

#define WIRE_FLAG_HIDDEN 1u /* kallsyms: all addresses are 0 */
#define WIRE_FLAG_DYNAMIC 2u /* kallsyms: names that come and go with BPF programs are among them */
#define WIRE_FLAG_STRIPPED 4u /* file: it has no .symtab of its own */
#define WIRE_FLAG_DEBUG 8u /* file: the debug file belongs to it, and was used */
#define WIRE_FLAG_STEXT 16u /* request, kernel: address is that of _stext, not of _text */

struct wire_message {
	uint32_t type; /* enum wire_type */
	uint32_t id; /* of the request */
	int32_t error; /* positive errno */
	int32_t pid;
	int32_t status; /* of waitpid(2) */
	uint32_t count;
	uint32_t flags;
	uint8_t build_id_len;
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	uint8_t pad[7];
	uint64_t
		address; /* kernel: where _text is to be (0: as it is); in the answer where it was; 0: unknown */
};

/* Send a message, len bytes of payload and fd (-1: none), which stays the caller's.
 * Returns 0 or -errno; -EPIPE when the other side is gone (never a signal). */
int wire_send(
	int sock, const struct wire_message *message, const void *payload, size_t len, int fd);

/* The same with n descriptors, at most WIRE_FDS_MAX. */
int wire_send_fds(int sock, const struct wire_message *message, const void *payload, size_t len,
	const int *fds, size_t n);

/* Receive one packet; blocks unless flags has MSG_DONTWAIT.  payload may be NULL with size 0.
 * Returns 0 and sets *len and *fd (-1: none), which becomes the caller's; -EPIPE at the end,
 * -EBADMSG for a packet that does not fit, or -errno. */
int wire_recv(int sock, struct wire_message *message, void *payload, size_t size, size_t *len,
	int *fd, int flags);

/* The same with up to n descriptors, -1 where there are fewer; more than n are closed. */
int wire_recv_fds(int sock, struct wire_message *message, void *payload, size_t size, size_t *len,
	int *fds, size_t n, int flags);

#endif
