/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kept.h - copies of what names code, as bytes that a recording carries.
 *
 * They are of files that may be gone when the recording is read, or lie where only their process saw
 * them: maps and jitdumps of code made at run time, and tables of symbols of containers' files.  The
 * bytes are KEPT_MAGIC, then for each copy a line "KIND PID INODE SIZE LEN STEPS IDLEN PATHLEN" with
 * decimal numbers, a line for each step (perfmap.h), the build-id, the path, and LEN bytes: of a
 * copy of at most PERFMAP_BYTES_MAX all, else its beginning and its end.  Any thread.
 */
#ifndef SYMBOLS_KEPT_H
#define SYMBOLS_KEPT_H

#include "symbols/perfmap.h"

#include <stdint.h>
#include <stdio.h>

#define KEPT_MAGIC "strobe kept 1\n"
#define KEPT_PATH_MAX 4096u
#define KEPT_ENTRIES_MAX 50000u /* more are not looked at */

enum kept_kind {
	KEPT_NONE = 'n', /* no other file has the names of this process's code */
	KEPT_MAP = 'm',
	KEPT_DUMP = 'd',
	KEPT_TABLE = 't', /* symtab.h; empty: the file had none, or was gone */
};

struct kept_file {
	enum kept_kind kind;
	const char *path; /* as the process called it */
	int32_t pid; /* but of a table: whose code it names, as the recording calls it */
	/* Of a table: the file; inode 0 and build_id_len 0: not known */
	uint64_t inode;
	const uint8_t *build_id;
	size_t build_id_len;
	const struct perfmap_step *steps; /* of a map */
	size_t n_steps;
	int fd; /* kept_copy()'s; -1: see bytes */
	const void *bytes; /* NULL: nothing */
	size_t len;
};

/* Copy a file to memory, at most PERFMAP_BYTES_MAX of it: the beginning, and of a map (both_ends)
 * as much of the end; between them is a hole.  What is behind
 * `most` bytes is not looked at.  Returns an fd, or -ETIMEDOUT, -errno.  *cut: bytes
 * were left out. */
int kept_copy(int fd, uint64_t most, bool both_ends, bool *cut);

/* Append bytes of a file.  0 or -errno. */
int kept_append(FILE *out, int fd, uint64_t at, uint64_t len);

/* Append a file, after kept_begin().  0 or -errno. */
int kept_begin(FILE *out);
int kept_put(FILE *out, const struct kept_file *file);

struct kept_found {
	int fd; /* a copy in memory, for close(2) */
	struct perfmap_step *steps; /* for free(3) */
	size_t n_steps;
	char path[32]; /* of a map; longer ones are cut */
};

/* The last copy that matches kind and, of a map, pid; of a jitdump, pid and path; of a table, path
 * and, as far as both sides know them, build-id or else inode.  The rest of wanted is not looked at.
 * The bytes may be hostile.  0; -ENOENT: nothing is told of it; -ENODATA: it is told that there is
 * none; -EBADMSG, -ENOMEM, -errno. */
int kept_find(
	const char *bytes, size_t len, const struct kept_file *wanted, struct kept_found *out);

#endif
