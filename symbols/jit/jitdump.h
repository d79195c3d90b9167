/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jitdump.h - reads jit-PID.dump, a runtime's record of the code it made: its place, time, and
 * bytes.
 *
 * The format is in the kernel's tools/perf/Documentation/jitdump-specification.txt: a header, then
 * records with a common prefix (kind, whole size, time).  Reads either byte order; no contents are
 * trusted.  Runs in the worker.
 */
#ifndef SYMBOLS_JIT_JITDUMP_H
#define SYMBOLS_JIT_JITDUMP_H

#include "symbols/jit/jitspans.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jitdump {
	int fd; /* borrowed */
	bool swapped; /* the file has the other byte order */
	uint16_t machine; /* EM_* */
	uint64_t first; /* offset of the first record */
	bool timed; /* its times are used */
};

/* Checks that fd is a jitdump.  timed: its times are those of CLOCK_MONOTONIC, which decide when
 * each piece lay at an address.  Returns 0 with *out, -ENOEXEC or -errno. */
int jitdump_open(struct jitdump *out, int fd, bool timed);

#define JITDUMP_RECORDS_MAX (1u << 19) /* read per file: half a second of CPU time */

/* Reads all pieces of code in file order; a moved piece is also at its new place.  Reading ends at
 * an incomplete record, which is being written.  It also ends at the maximum, with spans->cut_bytes
 * set.  Returns 0, -ENOMEM, -errno. */
int jitdump_read(const struct jitdump *dump, struct jitspans *spans);

/* Finds the last code at an address; if times are used, the piece with the address's number
 * (jitspans.h).  Returns 0 with its address and number, size, and the place of its bytes in the
 * file; -ENOENT; or -errno. */
struct jitdump_code {
	uint64_t address, size;
	uint64_t file_offset;
	uint64_t loaded_at; /* its first address, which lines refer to */
	uint64_t lines_at, lines_size; /* the record of its lines in the file; 0: none */
};
int jitdump_find(const struct jitdump *dump, uint64_t address, struct jitdump_code *out);
/* Finds the code at n ascending addresses; size 0: none.  Returns 0 or -errno. */
int jitdump_find_all(
	const struct jitdump *dump, const uint64_t *addresses, size_t n, struct jitdump_code *out);

/* Code from an address to the next one has this line. */
struct jitdump_line {
	uint64_t address; /* final place of the code */
	uint32_t line;
	uint32_t file; /* offset of its name in names */
	uint32_t order; /* number in the file: at one address the last line counts */
};

struct jitdump_lines {
	struct jitdump_line *at; /* ascending */
	size_t n;
	char *names; /* each with its NUL */
};

/* Reads the lines of a piece of code that was found; it may have none.  Returns 0 with *out for
 * jitdump_lines_fini(), -ENOMEM, -EFBIG or -errno. */
int jitdump_lines_read(
	const struct jitdump *dump, const struct jitdump_code *code, struct jitdump_lines *out);
void jitdump_lines_fini(struct jitdump_lines *lines);

#endif
