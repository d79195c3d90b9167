/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * codetab.h - what the worker found out about addresses, as one flat, sealed memory file: source
 * lines, inlined functions, instructions.
 *
 * Layout: header; entries sorted by start, without overlaps; frames, of which each entry has a run;
 * the pool of strings, each with its NUL.  Offset 0 of the pool is the empty string, which stands for
 * "not known".  All strings are raw bytes.
 * A table is read-only once made: any thread may read it.
 */
#ifndef SYMBOLS_CODETAB_H
#define SYMBOLS_CODETAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODETAB_VERSION 2u
#define CODETAB_BYTES_MAX (256u * 1024 * 1024)
#define CODETAB_ENTRIES_MAX (4u * 1024 * 1024)
#define CODETAB_DEPTH_MAX 128u /* frames of one entry */

struct codetab_header {
	char magic[8]; /* "strobe\0C" */
	uint32_t version;
	uint32_t n_entries, n_frames, pool_bytes;
	uint64_t entries_at, frames_at, pool_at, total_bytes;
	uint64_t
		bias; /* what is added to an offset for the virtual address in the file; of code without a file 0 */
};

enum codetab_kind { /* of an instruction */
	CODETAB_PLAIN,
	CODETAB_JUMP, /* within or out of the function, always */
	CODETAB_BRANCH, /* on a condition */
	CODETAB_CALL,
	CODETAB_RETURN,
	CODETAB_BAD, /* no instruction: text shows the bytes */
	CODETAB_KINDS
};

/* One instruction, or one address that was asked for (then len is 0 and text empty). */
struct codetab_entry {
	uint64_t start; /* in the image's offsets, as symbol.start */
	uint64_t
		target; /* of a jump, branch or call, in the image's offsets; CODETAB_NO_TARGET: not
			  * known, or elsewhere */
	uint32_t
		text; /* the instruction, without its target where it has one: "call   ", "jne    " */
	uint32_t
		frames; /* the first of n_frames, innermost first; the last is the function itself */
	uint16_t n_frames; /* 0: nothing is known of its source */
	uint8_t len; /* bytes */
	uint8_t kind;
	uint32_t pad;
};
#define CODETAB_NO_TARGET UINT64_MAX

/* A function that was inlined there, or, as the last of an entry, the one that it was inlined into. */
struct codetab_frame {
	uint32_t function; /* its linkage name where there is one (mangled), else its name */
	uint32_t file; /* full path as the compiler knew it */
	uint32_t line; /* of the instruction; for an outer frame that of the call; 0: not known */
	uint16_t column; /* 0: not known */
	uint16_t inlined; /* 0: the function itself */
	uint32_t decl_line; /* where the function begins in its file; 0: not known */
};

struct codetab {
	const uint8_t *bytes; /* borrowed by codetab_check(), mapped by codetab_open() */
	size_t len;
	const struct codetab_entry *entries;
	const struct codetab_frame *frames;
	const char *pool;
	uint32_t n_entries, n_frames, pool_bytes;
	uint64_t bias;
};

/* Check every bound of a table in memory (8-byte aligned), which the caller keeps.  0 or -EBADMSG. */
int codetab_check(struct codetab *table, const void *bytes, size_t len);

/* Check the seals of fd, map it and check it.  fd stays the caller's.  0, -EBADMSG, -errno. */
int codetab_open(struct codetab *table, int fd);
void codetab_close(struct codetab *table); /* unmaps; a zeroed table is legal */

/* The entry that covers offset (of len 0: that starts there), or -1. */
int64_t codetab_find(const struct codetab *table, uint64_t offset);

struct codetab_builder;

/* Returns 0 and *out for codetab_builder_free(), or -errno. */
int codetab_builder_new(struct codetab_builder **out);
void codetab_builder_free(struct codetab_builder *builder);

/* A string's offset in the pool, equal strings being one.  Errors show at codetab_builder_finish(). */
uint32_t codetab_builder_string(struct codetab_builder *builder, const char *text, size_t len);

/* A run of frames; equal runs that follow each other are stored once.  Returns the number of the first. */
uint32_t codetab_builder_frames(
	struct codetab_builder *builder, const struct codetab_frame *frames, size_t n);

/* Entries may come in any order; of two with one start the first is kept, and none that begins inside
 * of another. */
void codetab_builder_add(struct codetab_builder *builder, const struct codetab_entry *entry);

/* Of all entries, see codetab_header. */
void codetab_builder_bias(struct codetab_builder *builder, uint64_t bias);

/* Write and seal.  Returns 0 and sets *fd, which is the caller's; or -errno: -EFBIG beyond the maxima
 * above. */
int codetab_builder_finish(struct codetab_builder *builder, int *fd);

#endif
