/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wire.h - the messages between client, spawner and worker: one SOCK_SEQPACKET packet each, with at
 * most WIRE_FDS_MAX file descriptors.
 *
 * The others trust the client.  The client does not trust the others, and checks all it receives.
 */
#ifndef SYMBOLS_WIRE_WIRE_H
#define SYMBOLS_WIRE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define WIRE_NAMES_MAX 32 /* names in one WIRE_DEMANGLE request */
#define WIRE_NAME_BYTES 4096 /* longest name returned, with its NUL */
#define WIRE_MANGLED_BYTES (64 * 1024 + 1) /* longest name sent, with its NUL */
#define WIRE_PACKET_BYTES (144 * 1024)
#define WIRE_BUILD_ID_MAX 20
#define WIRE_FDS_MAX 20 /* descriptors in one packet */

enum wire_type {
	/* client -> spawner: socket of the new worker; spawner -> client: its pid or an error */
	WIRE_SPAWN = 1,
	WIRE_DIED, /* spawner -> client: pid and wait status */
	/* --- client -> worker; the answer has the same type and id --- */
	/* fd: a file; answer: its build-id; payload: name in .gnu_debuglink, without NUL;
	 * empty if none; address: that file's CRC-32 */
	WIRE_BUILD_ID,
	/* fds: a file, perhaps its separate debug file; answer: a table, the build-id, and the
	 * payload of WIRE_BUILD_ID */
	WIRE_FILE,
	/* fd: kernel symbols as text; answer: a table.  payload: name of the only module wanted,
	 * whose symbols become offsets from address */
	WIRE_KALLSYMS,
	WIRE_KERNEL, /* fd: a vmlinux file; answer: a table of addresses */
	WIRE_MODULE, /* fd: a .ko file; answer: a table of offsets from the start of its code */
	/* payload: count names, each with its NUL; answer: equally, "" if not mangled */
	WIRE_DEMANGLE,
	/* fds: those of WIRE_FILE, the alternate file and split parts; payload: struct wire_lines
	 * and offsets; answer: a codetab */
	WIRE_LINES,
	/* fds: those of WIRE_LINES; payload: struct wire_code; answer: a codetab.  With
	 * WIRE_FLAG_RAW: the bytes, and perhaps a jitdump with their lines as debug file */
	WIRE_CODE,
	/* fds: perf-PID.map, jit-PID.dump, or both; payload: steps (perfmap.h); answer: a table of
	 * addresses */
	WIRE_JIT,
	/* fds: those of WIRE_FILE, or kernel symbols as text with WIRE_FLAG_KERNEL; payload: a
	 * symbol's name; answer's payload: struct wire_named, its places and names */
	WIRE_NAMED,
	/* fds: those of WIRE_FILE; answer: an unwind table (unwtab.h) and the build-id */
	WIRE_UNWIND,
	WIRE_CONFINED, /* worker -> client, first of all: error is why it is not fully confined */
};

#define WIRE_FLAG_HIDDEN 1u /* kallsyms: all addresses are 0 */
#define WIRE_FLAG_DYNAMIC 2u /* kallsyms: has names of BPF programs, which come and go */
/* file: it has no complete .symtab of its own; unwind: much of its code has no rule */
#define WIRE_FLAG_STRIPPED 4u
#define WIRE_FLAG_DEBUG 8u /* file: its debug file was used; JIT: there were two files */
#define WIRE_FLAG_STEXT 16u /* request, kernel: address is that of _stext, not of _text */
/* Request, file: the debug file has the CRC-32 of the file's link, so it may belong to the file
 * even without a build-id. */
#define WIRE_FLAG_LINKED 128u
#define WIRE_LINK_MAX 256 /* longest name of a debug file, with its NUL */

#define WIRE_FLAG_RAW 32u /* request, code: the file contains the code's bytes alone */
/* request, code: with source lines; answer: there is debug information */
#define WIRE_FLAG_LINES 64u

/* request, file and kallsyms: data, not functions; offsets count as in memory, also beyond a
 * segment's bytes in the file */
#define WIRE_FLAG_DATA 4096u

/* A place of a symbol that has the wanted name. */
struct wire_place {
	uint64_t address; /* in the file; kernel: current address */
	uint64_t offset; /* in the file; UINT64_MAX if not there (.bss) */
	uint64_t size; /* 0 if unknown */
	uint32_t kind; /* WIRE_PLACE_* */
	uint32_t pad;
};
#define WIRE_PLACE_DATA 1u
#define WIRE_PLACE_WEAK 2u
#define WIRE_PLACE_LOCAL 4u
#define WIRE_PLACE_UNWOUND 8u
struct wire_named {
	uint32_t n_places; /* the places follow, then similar names, each with its NUL */
	uint32_t n_near;
	uint64_t base; /* page address of the first segment */
	uint32_t is_fixed; /* 1: always loaded at these addresses */
	uint32_t pad;
};
#define WIRE_PLACES_MAX 64
#define WIRE_NEAR_MAX 6

/* Descriptors that are present, in this order: file, debug file, alternate file, split parts, and
 * the code's current bytes in memory, which replace those in the file. */
struct wire_lines {
	uint32_t has_debug, has_alt, n_parts, has_memory;
	uint32_t pad;
	uint32_t n_offsets; /* they follow in the payload, 64 bits each, ascending */
};
#define WIRE_OFFSETS_MAX 8192
#define WIRE_CODE_BYTES_MAX (4u * 1024 * 1024)
struct wire_code {
	struct wire_lines files; /* n_offsets 0 */
	/* offsets in the file; raw bytes: addresses, and start is that of the first byte */
	uint64_t start, end;
	uint32_t syntax; /* enum disasm_syntax */
	uint16_t machine; /* machine of raw bytes */
	uint8_t is64, big_endian;
};
/* request, lines and code with RAW: the file is a jitdump that contains the bytes */
#define WIRE_FLAG_JITDUMP 2048u
/* Answer, lines and code: an alternate file is needed.  The payload is its name alone, build_id is
 * its build-id, and nothing was read yet.  Without this flag the payload is count names of missing
 * split parts, each with its NUL. */
#define WIRE_FLAG_ALT 256u
/* Request, code: leave out inlined functions if they take long; answer: they were left out. */
#define WIRE_FLAG_QUICK 8192u
/* Request, code: if lines take long, return error EAGAIN after a part of the work.  The client asks
 * again. */
#define WIRE_FLAG_SLICE 16384u
/* Request, lines and code: the file is a module of the running kernel.  Offsets are addresses.
 * address is the start of its code or, with STEXT, its .text. */
#define WIRE_FLAG_LOADED 32768u
/* Answer, JIT: the first file is too large, and only `address` bytes of it were read.  CUT_SECOND
 * means the second file. */
#define WIRE_FLAG_CUT 65536u
#define WIRE_FLAG_CUT_SECOND 131072u
/* Request, JIT, and lines and code with a jitdump: the jitdump's times are valid. */
#define WIRE_FLAG_TIMED 262144u
/* request, lines and code: there is no alternate file, read without it */
#define WIRE_FLAG_NO_ALT 512u
/* request, lines and code: a vmlinux; offsets are addresses, moved as for WIRE_KERNEL;
 * request, named: kernel symbols as text */
#define WIRE_FLAG_KERNEL 1024u

struct wire_message {
	uint32_t type; /* enum wire_type */
	uint32_t id; /* same as the request's */
	int32_t error; /* positive errno */
	int32_t pid;
	int32_t status; /* from waitpid(2) */
	uint32_t count;
	uint32_t flags;
	uint8_t build_id_len;
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	uint8_t pad[7];
	/* kernel: required address of _text (0: the file's); answer: its address in the file; 0 if
	 * unknown */
	uint64_t address;
};

/* Sends a message, len bytes of payload and fd (-1: none), which the caller still owns.  Returns 0
 * or -errno; -EPIPE, never a signal, if the other side is gone. */
int wire_send(
	int sock, const struct wire_message *message, const void *payload, size_t len, int fd);

/* Variant with n descriptors, at most WIRE_FDS_MAX. */
int wire_send_fds(int sock, const struct wire_message *message, const void *payload, size_t len,
	const int *fds, size_t n);

/* Receives one packet; blocks unless flags has MSG_DONTWAIT.  payload may be NULL with size 0.
 * Returns 0 and sets *len and *fd (-1: none), which the caller closes; -EPIPE at the end of the
 * connection; -EBADMSG if the packet does not fit; -errno. */
int wire_recv(int sock, struct wire_message *message, void *payload, size_t size, size_t *len,
	int *fd, int flags);

/* Variant with up to n descriptors, -1 for missing ones; closes any beyond n. */
int wire_recv_fds(int sock, struct wire_message *message, void *payload, size_t size, size_t *len,
	int *fds, size_t n, int flags);

#endif
