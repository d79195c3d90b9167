/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * symtab.h - a symbol table as one flat, sealed memory file: built by the worker, searched by the
 * client.
 *
 * Layout: header; names, each with its NUL; entries sorted by start (of one start, what ends first
 * comes last); for the kernel, one module number per entry and one name offset per module; code
 * segments, then the other loaded ones; where symbols go on behind others that lie in them; and since when code lies where
 * other code lay before (jitspans.h).  The builder writes with pwrite(2) alone, so that the file
 * never counts as the worker's memory. A table is read-only once made: any thread may read it.
 */
#ifndef SYMBOLS_SYMTAB_H
#define SYMBOLS_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMTAB_VERSION 8u /* of the layout, and of how names are chosen */
#define SYMTAB_BYTES_MAX (512u * 1024 * 1024)
#define SYMTAB_SYMBOLS_MAX (8u * 1024 * 1024)
#define SYMTAB_MODULES_MAX 8191u

/* A loaded code segment: the byte at file offset `offset` has the address vaddr. */
struct symtab_segment {
	uint64_t offset, len, vaddr;
};

struct symtab_header {
	char magic[8]; /* "strobe\0T" */
	uint32_t version;
	uint32_t n_entries;
	uint32_t n_modules; /* besides module 0, which is none */
	uint32_t pool_bytes;
	uint32_t n_segments; /* ELF files only, else 0 */
	uint32_t n_resumes;
	uint32_t n_changes; /* code made at run time only, else 0 */
	uint32_t n_loads; /* segments without code */
	uint64_t entries_at, modules_at, module_names_at, segments_at, resumes_at, changes_at,
		total_bytes; /* the pool follows the header */
};

/* name: offset in the pool, of "" for a function whose name is not known; with SYMTAB_UNCERTAIN
 * where the symbol has no size, and code without a symbol may follow it. */
#define SYMTAB_UNCERTAIN (1u << 31)
struct symtab_entry {
	uint64_t start;
	uint32_t size;
	uint32_t name;
};

/* From offset at on, an earlier entry goes on, since a later one that lies in it ends. */
struct symtab_resume {
	uint64_t at;
	uint32_t entry;
	uint32_t zero;
};

/* What has this address, with the number above it, lies there since then. */
struct symtab_change {
	uint64_t start, since_ns;
	uint32_t size;
	uint32_t zero;
};

struct symtab {
	const uint8_t *bytes; /* borrowed by symtab_check(), mapped by symtab_open() */
	size_t len;
	const char *pool;
	const struct symtab_entry *entries;
	const uint16_t *modules; /* per entry, or NULL */
	const uint32_t *module_names; /* of module 1, 2, ... */
	const struct symtab_segment *segments;
	const struct symtab_resume *resumes;
	const struct symtab_change *changes; /* by start, without overlaps */
	uint32_t n_entries, n_modules, n_segments, n_loads, n_resumes, n_changes;
};

/* Check every bound of a table in memory (8-byte aligned), which the caller keeps.  0 or -EBADMSG. */
int symtab_check(struct symtab *table, const void *bytes, size_t len);

/* Check the seals of fd, map it and check it.  fd stays the caller's.  0, -EBADMSG, -errno. */
int symtab_open(struct symtab *table, int fd);
void symtab_close(struct symtab *table); /* unmaps; a zeroed table is legal */

/* The entry that covers offset (the one that begins last, of several), or -1. */
int64_t symtab_find(const struct symtab *table, uint64_t offset);

static inline const char *symtab_name(const struct symtab *table, int64_t entry)
{
	return table->pool + (table->entries[entry].name & ~SYMTAB_UNCERTAIN);
}

/* What a symbol's kind says about how good a name it is. */
#define SYMTAB_WEAK 1u
#define SYMTAB_LOCAL 2u
#define SYMTAB_LABEL 4u /* no function for certain: dropped inside of a sized one */
#define SYMTAB_SYNTHETIC 8u /* dropped where anything else is */

struct symtab_builder {
	int fd;
	int error; /* the first one; all later calls do nothing */
	struct symtab_item *items;
	size_t n, cap, sorted;
	char *buffer; /* pool bytes not written yet */
	size_t buffered;
	uint32_t pool_bytes;
	uint32_t module_names[SYMTAB_MODULES_MAX];
	uint32_t n_modules;
	struct symtab_segment *segments;
	size_t n_segments, segments_cap;
	struct symtab_segment *loads;
	size_t n_loads, loads_cap;
	struct symtab_function *functions;
	size_t n_functions, functions_cap;
	struct symtab_resume *resumes;
	size_t n_resumes, resumes_cap;
	struct symtab_change *changes;
	size_t n_changes, changes_cap;
	size_t n_local; /* symbols that are SYMTAB_LOCAL */
	/* Set by the caller.  is_program: symbols may be missing, so SYMTAB_UNCERTAIN may be set;
	 * has_files: the symbol table has names of source files. */
	bool is_program, has_files;
};

/* Returns 0 and *out for symtab_builder_free(), or -errno. */
int symtab_builder_new(struct symtab_builder **out);
void symtab_builder_free(struct symtab_builder *builder);

/* Add a code segment; a wrapping one is left out. */
void symtab_builder_segment(
	struct symtab_builder *builder, uint64_t offset, uint64_t len, uint64_t vaddr);
/* Add a loaded segment without code. */
void symtab_builder_load(
	struct symtab_builder *builder, uint64_t offset, uint64_t len, uint64_t vaddr);
bool symtab_segment_is_sane(const struct symtab_segment *segment);

/* Add one symbol.  A size of 0 is unknown: it ends where the next one starts, at most limit bytes
 * on.  module is from symtab_builder_module(); in a table without modules, of two equally good names of an address
 * the one with the greater number there is chosen.  Errors show at symtab_builder_finish(). */
void symtab_builder_add(struct symtab_builder *builder, uint64_t start, uint64_t size,
	uint64_t limit, unsigned int kind, const char *name, size_t len, uint32_t module);

/* The same in two steps, for a name that several symbols have: its place, and symbols of a known
 * size. */
uint32_t symtab_builder_name(struct symtab_builder *builder, const char *name, size_t len);
void symtab_builder_add_named(
	struct symtab_builder *builder, uint64_t start, uint64_t size, uint32_t name);

/* The number of a module by name, new or known; 0 when there are too many. */
uint32_t symtab_builder_module(struct symtab_builder *builder, const char *name, size_t len);

/* Sort what was added so far; then symtab_builder_has() knows of it. */
void symtab_builder_sort(struct symtab_builder *builder);
bool symtab_builder_has(const struct symtab_builder *builder, uint64_t start);

/* Add the bounds of a function, in ascending order of start, before or after symbols.  A symbol
 * without a size gets the function's size if it begins there, and otherwise ends where a function
 * begins.  A function without a symbol becomes an entry with the name "", and labels in it are
 * dropped. */
void symtab_builder_function(struct symtab_builder *builder, uint64_t start, uint64_t size);

/* Since when the code of a symbol lies at its place; in any order, without overlaps. */
void symtab_builder_change(
	struct symtab_builder *builder, uint64_t start, uint64_t size, uint64_t since_ns);

/* How many of them have no symbol, of those that were sorted. */
size_t symtab_builder_unnamed(const struct symtab_builder *builder);

/* Move all symbols that are in no module by delta.  Where that is not 0, modules lay elsewhere too, who knows
 * where: their symbols go. */
void symtab_builder_move(struct symtab_builder *builder, uint64_t delta);

/* Choose one name per address, write and seal.  Returns 0 and sets *fd, which is the caller's, and
 * *count; or -errno. */
int symtab_builder_finish(struct symtab_builder *builder, int *fd, uint32_t *count);

/* Add the seals that symtab_open() asks for.  0 or -errno. */
int symtab_seal(int fd);

/* --- for other tables of this kind, too --- */

/* Check the seals and the size of fd and map it.  0 with what munmap(2) takes; -EBADMSG; -errno. */
int symtab_map(int fd, size_t least, size_t most, const uint8_t **bytes, size_t *len);

/* Whether count items of a size lie within total bytes, aligned. */
bool symtab_fits(uint64_t at, uint64_t count, uint64_t each, uint64_t align, uint64_t total);

/* pwrite(2) all of it.  0 or -errno. */
int symtab_write(int fd, const void *bytes, size_t len, uint64_t at);

#endif
