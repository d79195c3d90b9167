/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jitdump.h - jit-PID.dump, in which a runtime keeps what code it made, where, when, and the code
 * itself.
 *
 * The format is that of the kernel's tools/perf/Documentation/jitdump-specification.txt: a header,
 * then records of a common prefix (kind, whole size, time).  Either byte order; nothing of it is
 * trusted.  Runs in the worker.
 */
#ifndef SYMBOLS_JITDUMP_H
#define SYMBOLS_JITDUMP_H

#include "symbols/jitspans.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jitdump {
	int fd; /* borrowed */
	bool swapped; /* of the other byte order */
	uint16_t machine; /* EM_* */
	uint64_t first; /* where the first record is */
	bool timed; /* its times count */
};

/* Whether fd is one: 0 with *out, -ENOEXEC, -errno.  timed: its times, those of CLOCK_MONOTONIC,
 * tell which of several pieces of code lay at an address when. */
int jitdump_open(struct jitdump *out, int fd, bool timed);

#define JITDUMP_RECORDS_MAX (1u << 19) /* read per file: half a second of CPU time */

/* Reads all pieces of code in file order; a moved piece is also at its new place.  Reading ends at
 * an incomplete record, which is being written.  It also ends at the maximum, with spans->cut_bytes
 * set.  Returns 0, -ENOMEM, -errno. */
int jitdump_read(const struct jitdump *dump, struct jitspans *spans);

/* The code that lies at an address in the end or, where times count, that its number tells
 * (jitspans.h).  Returns 0 with its address and number, size, and where its bytes are in the file;
 * -ENOENT; or -errno. */
struct jitdump_code {
	uint64_t address, size;
	uint64_t file_offset;
	uint64_t loaded_at; /* its first address, which lines refer to */
	uint64_t lines_at, lines_size; /* the record of its lines in the file; 0: there is none */
};
int jitdump_find(const struct jitdump *dump, uint64_t address, struct jitdump_code *out);
/* The same of n ascending ones; size 0: there is none.  0 or -errno. */
int jitdump_find_all(
	const struct jitdump *dump, const uint64_t *addresses, size_t n, struct jitdump_code *out);

/* From an address on, up to the next one, code is of this line. */
struct jitdump_line {
	uint64_t address; /* where the code lies in the end */
	uint32_t line;
	uint32_t file; /* the place of its name in names */
	uint32_t order; /* in the file: of several for one address the last one counts */
};

struct jitdump_lines {
	struct jitdump_line *at; /* ascending */
	size_t n;
	char *names; /* each with its NUL */
};

/* The lines of a piece of code that was found; none of them is no error.  0 with *out for
 * jitdump_lines_fini(), -ENOMEM, -EFBIG, -errno. */
int jitdump_lines_read(
	const struct jitdump *dump, const struct jitdump_code *code, struct jitdump_lines *out);
void jitdump_lines_fini(struct jitdump_lines *lines);

#endif
