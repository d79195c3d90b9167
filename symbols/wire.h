/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wire.h - the messages between client, spawner and worker: one SOCK_SEQPACKET packet each, at
 * most WIRE_FDS_MAX file descriptors with it.
 *
 * The client is trusted by the others; it trusts neither of them, and checks what it gets.
 */
#ifndef SYMBOLS_WIRE_H
#define SYMBOLS_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define WIRE_NAMES_MAX 32 /* names in one WIRE_DEMANGLE request */
#define WIRE_NAME_BYTES 4096 /* the longest name returned, with its end */
#define WIRE_MANGLED_BYTES (64 * 1024 + 1) /* the longest name sent, with its end */
#define WIRE_PACKET_BYTES (144 * 1024)
#define WIRE_BUILD_ID_MAX 20
#define WIRE_FDS_MAX 20 /* descriptors in one packet */

enum wire_type {
	/* client -> spawner: a worker on the descriptor; spawner -> client: its pid or an error */
	WIRE_SPAWN = 1,
	WIRE_DIED, /* spawner -> client: pid and wait status */
	/* client -> worker; the answer has the same type and id */
	WIRE_BUILD_ID, /* descriptor: a file.  Payload of the answer: what .gnu_debuglink names, without NUL, and the
			* CRC-32 of that in address; or nothing */
	WIRE_FILE, /* descriptors: a file and perhaps its separate debug file; answer: a table, the build-id, and
		    * the same payload */
	WIRE_KALLSYMS, /* descriptor: kernel symbols as text; answer: a table.  Payload: a module's name, when only
			* its symbols are asked for, less address */
	WIRE_KERNEL, /* descriptor: a vmlinux file; answer: a table of addresses */
	WIRE_MODULE, /* descriptor: a .ko file; answer: a table of offsets from the start of its code */
	WIRE_DEMANGLE, /* count names follow, each with its NUL; so does the answer, "": not mangled */
	WIRE_LINES, /* descriptors as of WIRE_FILE, and the alternate one and split parts; payload: struct wire_lines and
		     * offsets; answer: a codetab */
	WIRE_CODE, /* the same with struct wire_code alone; or, with WIRE_FLAG_RAW, descriptors: the bytes, and as debug
		    * file perhaps a jitdump with their lines */
	WIRE_JIT, /* descriptors: perf-PID.map, jit-PID.dump, or both; payload: steps (perfmap.h);
		   * answer: a table of addresses */
	WIRE_NAMED, /* descriptors as of WIRE_FILE, or kernel symbols as text with WIRE_FLAG_KERNEL; payload: a symbol's name;
		     * the answer's: struct wire_named and what it counts */
	WIRE_UNWIND, /* descriptors as of WIRE_FILE; answer: an unwind table (unwtab.h), and the build-id */
	WIRE_CONFINED, /* worker -> client, first of all: error says what kept it from being confined */
};

#define WIRE_FLAG_HIDDEN 1u /* kallsyms: all addresses are 0 */
#define WIRE_FLAG_DYNAMIC 2u /* kallsyms: names that come and go with BPF programs are among them */
#define WIRE_FLAG_STRIPPED \
	4u /* file: it has no .symtab of its own; unwind: much of its code has no rule */
#define WIRE_FLAG_DEBUG 8u /* file: its debug file was used; JIT: there were two files */
#define WIRE_FLAG_STEXT 16u /* request, kernel: address is that of _stext, not of _text */
/* Request, file: the debug file has the CRC-32 that the file tells of it, so that one without build-id may belong to it. */
#define WIRE_FLAG_LINKED 128u
#define WIRE_LINK_MAX 256 /* the longest name of a debug file, with its NUL */

#define WIRE_FLAG_RAW 32u /* request, code: the file is nothing but the code's bytes */
#define WIRE_FLAG_LINES \
	64u /* request, code: with source lines; answer: there is debug information */

#define WIRE_FLAG_DATA \
	4096u /* request, file and kallsyms: data, not functions; offsets go on where a segment does in memory */

/* Where a symbol of a name is. */
struct wire_place {
	uint64_t address; /* as in the file; of the kernel: where it is */
	uint64_t offset; /* in the file; UINT64_MAX: not there (.bss) */
	uint64_t size; /* 0: not told */
	uint32_t kind; /* WIRE_PLACE_* */
	uint32_t pad;
};
#define WIRE_PLACE_DATA 1u
#define WIRE_PLACE_WEAK 2u
#define WIRE_PLACE_LOCAL 4u
#define WIRE_PLACE_UNWOUND 8u
struct wire_named {
	uint32_t n_places; /* they follow; then names that are nearly the same, each with its NUL */
	uint32_t n_near;
	uint64_t base; /* address, to a page, of the first segment */
	uint32_t is_fixed; /* 1: addresses are where it is always loaded */
	uint32_t pad;
};
#define WIRE_PLACES_MAX 64
#define WIRE_NEAR_MAX 6

/* Which of the descriptors are there, in this order: file, debug, alternate, then the split parts, and the bytes of
 * code as they are in memory now, which count, not those in the file. */
struct wire_lines {
	uint32_t has_debug, has_alt, n_parts, has_memory;
	uint32_t pad;
	uint32_t n_offsets; /* 64 bits each, ascending, in the payload after this */
};
#define WIRE_OFFSETS_MAX 8192
#define WIRE_CODE_BYTES_MAX (4u * 1024 * 1024)
struct wire_code {
	struct wire_lines files; /* n_offsets 0 */
	uint64_t start,
		end; /* offsets in the file; of raw bytes: addresses, start being that of the first byte */
	uint32_t syntax; /* enum disasm_syntax */
	uint16_t machine; /* of raw bytes */
	uint8_t is64, big_endian;
};
/* The answer's payload of both: count names, each with its NUL, of split parts that are missing; with
 * WIRE_FLAG_ALT, of the alternate file alone, build_id being that file's, and nothing was read yet. */
#define WIRE_FLAG_JITDUMP \
	2048u /* request, lines and code with RAW: the file is a jitdump with the bytes */
#define WIRE_FLAG_ALT 256u /* answer, lines and code: an alternate file is needed */
/* Request, code: without inlined functions where these take long; answer: so it is, and more is to be known. */
#define WIRE_FLAG_QUICK 8192u
/* Request, code: where lines take long, error EAGAIN comes after a part of the work: to be asked again. */
#define WIRE_FLAG_SLICE 16384u
/* Request, lines and code: the file is a module of the running kernel; offsets are addresses, and address is where its
 * code begins or, with STEXT, its .text. */
#define WIRE_FLAG_LOADED 32768u
/* Answer, JIT: the first file is too large and only `address` bytes of it were read; or the second
 * file. */
#define WIRE_FLAG_CUT 65536u
#define WIRE_FLAG_CUT_SECOND 131072u
/* Request, JIT, and lines and code with JITDUMP or a jitdump as debug file: its times count. */
#define WIRE_FLAG_TIMED 262144u
#define WIRE_FLAG_NO_ALT 512u /* request, lines and code: there is none, read without */
#define WIRE_FLAG_KERNEL \
	1024u /* request, lines and code: a vmlinux; offsets are addresses, moved as for WIRE_KERNEL */

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
