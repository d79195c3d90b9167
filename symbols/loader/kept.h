/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kept.h - copies of files that name code, as bytes in a recording.
 *
 * The files are maps and jitdumps of JIT code.  Besides, there are symbol tables of files that
 * were not at their paths, such as deleted ones and those of containers.  Any thread.
 *
 * The bytes are KEPT_MAGIC, then the copies.  A copy begins with a line "KIND PID INODE SIZE LEN
 * STEPS IDLEN PATHLEN": a letter, then decimal numbers.  A line per step (perfmap.h), the build-id,
 * the path, and LEN bytes follow.  A copy of more than PERFMAP_BYTES_MAX has only its beginning
 * and, for a map, its end.
 */
#ifndef SYMBOLS_LOADER_KEPT_H
#define SYMBOLS_LOADER_KEPT_H

#include "symbols/jit/perfmap.h"

#include <stdint.h>
#include <stdio.h>

#define KEPT_MAGIC "strobe kept 1\n"
#define KEPT_PATH_MAX 4096u
#define KEPT_ENTRIES_MAX 50000u /* further ones are ignored */

enum kept_kind {
	KEPT_NONE = 'n', /* no other file has the names of this process's code */
	KEPT_MAP = 'm',
	KEPT_DUMP = 'd',
	KEPT_TABLE = 't', /* symtab.h; empty: the file had no table, or was gone */
};

struct kept_file {
	enum kept_kind kind;
	const char *path; /* path in the process */
	int32_t pid; /* process whose code it names, as in the recording; not for a table */
	/* Identity of a table's file; inode 0 and build_id_len 0: unknown. */
	uint64_t inode;
	const uint8_t *build_id;
	size_t build_id_len;
	const struct perfmap_step *steps; /* for a map */
	size_t n_steps;
	int fd; /* a copy from kept_copy(); -1: see bytes */
	const void *bytes; /* NULL: none */
	size_t len;
};

/* Copies a file to memory, at most PERFMAP_BYTES_MAX: the beginning, or for a map (both_ends) half
 * from each end, with a hole between them.  Bytes beyond `most` are ignored.  Returns an fd, which
 * the caller owns, -ETIMEDOUT or -errno.  *cut: bytes were left out. */
int kept_copy(int fd, uint64_t most, bool both_ends, bool *cut);

/* Appends bytes of a file.  Returns 0 or -errno. */
int kept_append(FILE *out, int fd, uint64_t at, uint64_t len);

/* kept_begin() begins the list; kept_put() appends a file.  They return 0 or -errno. */
int kept_begin(FILE *out);
int kept_put(FILE *out, const struct kept_file *file);

struct kept_found {
	int fd; /* a copy in memory, for close(2) */
	struct perfmap_step *steps; /* for free(3) */
	size_t n_steps;
	char path[32]; /* path of a map; longer ones are cut */
};

/* Finds the last copy that matches kind and, for a map, pid; for a jitdump, pid and path.  A table
 * must match path and, if both sides know them, build-id or else inode.  The rest of `wanted` is
 * ignored.  The bytes may be hostile.  Returns 0; -ENOENT if the list says nothing about it;
 * -ENODATA if it says that there is none, or has different tables; -EBADMSG, -ENOMEM or -errno. */
int kept_find(
	const char *bytes, size_t len, const struct kept_file *wanted, struct kept_found *out);

#endif
