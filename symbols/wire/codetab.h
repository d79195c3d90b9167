/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * codetab.h - source lines, inlined functions and instructions in one flat, sealed memory file.
 *
 * The worker makes a table for the addresses it was asked for.  Layout: header; entries sorted by
 * start, without overlaps; frames, a run for each entry; the pool of NUL-terminated strings.
 * Offset 0 of the pool is the empty string, which means "unknown".  All strings are raw bytes.  A
 * finished table is read-only: any thread may read it.
 */
#ifndef SYMBOLS_WIRE_CODETAB_H
#define SYMBOLS_WIRE_CODETAB_H

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
		/* offset + bias is the virtual address in the file; 0 for code without a file */
		bias;
};

enum codetab_kind { /* kind of an instruction */
	CODETAB_PLAIN,
	CODETAB_JUMP, /* unconditional, within or out of the function */
	CODETAB_BRANCH, /* conditional */
	CODETAB_CALL,
	CODETAB_RETURN,
	CODETAB_BAD, /* not an instruction: text shows the bytes */
	CODETAB_KINDS
};

/* One instruction, or one address that was asked for (then len is 0 and text is empty). */
struct codetab_entry {
	uint64_t start; /* in the image's offsets, as symbol.start */
	uint64_t
		/* target of a jump, branch or call, in the image's offsets; CODETAB_NO_TARGET:
		 * unknown or elsewhere */
		target;
	uint32_t
		/* the instruction without its target, if it has one: "call   ", "jne    " */
		text;
	uint32_t
		/* index of the first of n_frames, innermost first; the last one is the function
		 * itself */
		frames;
	uint16_t n_frames; /* 0: its source is unknown */
	uint8_t len; /* bytes */
	uint8_t kind;
	uint32_t pad;
};
#define CODETAB_NO_TARGET UINT64_MAX

/* An inlined function; or, as the last frame of an entry, the function that contains it. */
struct codetab_frame {
	uint32_t function; /* linkage name (mangled) if there is one, else the name */
	uint32_t file; /* full path as the compiler wrote it */
	uint32_t line; /* line of the instruction, or of the call for an outer frame; 0: unknown */
	uint16_t column; /* 0: unknown */
	uint16_t inlined; /* 0: the function itself */
	uint32_t decl_line; /* line in its file where the function begins; 0: unknown */
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

/* Checks every bound of a table in memory (8-byte aligned); the bytes are borrowed.  Returns 0 or
 * -EBADMSG. */
int codetab_check(struct codetab *table, const void *bytes, size_t len);

/* Checks the seals of fd, maps it and checks the table.  fd is owned by the caller.  Returns 0,
 * -EBADMSG or -errno. */
int codetab_open(struct codetab *table, int fd);
void codetab_close(struct codetab *table); /* unmaps; a zeroed table is legal */

/* Returns the index of the entry that covers an offset, or -1.  An entry of length 0 covers its
 * start. */
int64_t codetab_find(const struct codetab *table, uint64_t offset);

struct codetab_builder;

/* Creates a builder.  Returns 0 with *out for codetab_builder_free(), or -errno. */
int codetab_builder_new(struct codetab_builder **out);
void codetab_builder_free(struct codetab_builder *builder);

/* Adds a string, cut at its first NUL and at 64 KiB.  Returns its offset in the pool; equal strings
 * are stored once.  codetab_builder_finish() reports errors. */
uint32_t codetab_builder_string(struct codetab_builder *builder, const char *text, size_t len);

/* Adds a run of frames.  Returns the index of the first one; equal runs in sequence are stored
 * once. */
uint32_t codetab_builder_frames(
	struct codetab_builder *builder, const struct codetab_frame *frames, size_t n);

/* Adds an entry, in any order.  If two have the same start, the first one is kept.  An entry that
 * begins inside another is dropped. */
void codetab_builder_add(struct codetab_builder *builder, const struct codetab_entry *entry);

/* Sets the bias of all entries, see codetab_header. */
void codetab_builder_bias(struct codetab_builder *builder, uint64_t bias);

/* Writes and seals the table.  Returns 0 with *fd, which the caller owns; -EFBIG if a limit above
 * is exceeded; or -errno. */
int codetab_builder_finish(struct codetab_builder *builder, int *fd);

#endif
