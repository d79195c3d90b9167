/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * symtab.h - a symbol table as one flat, sealed memory file: built by the worker, searched by the
 * client.
 *
 * The parts of the layout, in order:
 *
 * - header
 * - names, each with its NUL
 * - entries by start; entries with one start are in descending order of their ends
 * - kernel modules: a number for each entry, a name offset for each module
 * - code segments, then the other loaded segments
 * - resumes: offsets at which a symbol continues after another one inside it
 * - changes: since when code lies where other code lay before (jitspans.h)
 *
 * The builder writes with pwrite(2) alone, so that the file never counts as the worker's memory.  A
 * finished table is read-only, and any thread may read it.
 */
#ifndef SYMBOLS_WIRE_SYMTAB_H
#define SYMBOLS_WIRE_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMTAB_VERSION 8u /* changes with the layout and with the choice of names */
#define SYMTAB_BYTES_MAX (512u * 1024 * 1024)
#define SYMTAB_SYMBOLS_MAX (8u * 1024 * 1024)
#define SYMTAB_MODULES_MAX 8191u

/* A loaded segment: the byte at file offset `offset` has the address vaddr. */
struct symtab_segment {
	uint64_t offset, len, vaddr;
};

struct symtab_header {
	char magic[8]; /* "strobe\0T" */
	uint32_t version;
	uint32_t n_entries;
	uint32_t n_modules; /* not counting module 0, which means none */
	uint32_t pool_bytes;
	uint32_t n_segments; /* ELF files; 0 otherwise */
	uint32_t n_resumes;
	uint32_t n_changes; /* code made at run time; 0 otherwise */
	uint32_t n_loads; /* segments without code */
	uint64_t entries_at, modules_at, module_names_at, segments_at, resumes_at, changes_at,
		total_bytes; /* the pool follows the header */
};

/* name: offset in the pool, of "" if the function's name is unknown.  SYMTAB_UNCERTAIN is set if
 * the symbol has no size, and code without a symbol may follow it. */
#define SYMTAB_UNCERTAIN (1u << 31)
struct symtab_entry {
	uint64_t start;
	uint32_t size;
	uint32_t name;
};

/* An earlier entry continues at offset at, where a later entry inside it has ended. */
struct symtab_resume {
	uint64_t at;
	uint32_t entry;
	uint32_t zero;
};

/* The code at this address, with its number in the upper bits, lies there since since_ns. */
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
	const uint16_t *modules; /* by entry; NULL if none */
	const uint32_t *module_names; /* offsets of names; module 1 is first */
	const struct symtab_segment *segments;
	const struct symtab_resume *resumes;
	const struct symtab_change *changes; /* sorted by start, without overlaps */
	uint32_t n_entries, n_modules, n_segments, n_loads, n_resumes, n_changes;
};

/* Checks every bound of a table in memory (8-byte aligned), which the caller still owns.  Returns 0
 * or -EBADMSG. */
int symtab_check(struct symtab *table, const void *bytes, size_t len);

/* Checks the seals of fd, maps and checks the table.  The caller still owns fd.  Returns 0,
 * -EBADMSG or -errno. */
int symtab_open(struct symtab *table, int fd);
void symtab_close(struct symtab *table); /* unmaps; a zeroed table is legal */

/* Returns the entry that covers offset, or -1.  If several do, the one that begins last counts. */
int64_t symtab_find(const struct symtab *table, uint64_t offset);

static inline const char *symtab_name(const struct symtab *table, int64_t entry)
{
	return table->pool + (table->entries[entry].name & ~SYMTAB_UNCERTAIN);
}

/* Kinds of symbols, which decide how good a name is. */
#define SYMTAB_WEAK 1u
#define SYMTAB_LOCAL 2u
#define SYMTAB_LABEL 4u /* may not be a function: dropped inside a sized symbol */
#define SYMTAB_SYNTHETIC 8u /* dropped if another symbol is there */

struct symtab_builder {
	int fd;
	int error; /* the first error; later calls do nothing */
	struct symtab_item *items;
	size_t n, cap, sorted;
	char *buffer; /* bytes of the pool not written yet */
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
	size_t n_local; /* number of SYMTAB_LOCAL symbols */
	/* Set by the caller.  is_program: symbols may be missing, so SYMTAB_UNCERTAIN may be set.
	 * has_files: the symbol table has names of source files. */
	bool is_program, has_files;
};

/* Returns 0 and *out for symtab_builder_free(), or -errno. */
int symtab_builder_new(struct symtab_builder **out);
void symtab_builder_free(struct symtab_builder *builder);

/* Adds a code segment; ignores one that wraps. */
void symtab_builder_segment(
	struct symtab_builder *builder, uint64_t offset, uint64_t len, uint64_t vaddr);
/* Adds a loaded segment without code. */
void symtab_builder_load(
	struct symtab_builder *builder, uint64_t offset, uint64_t len, uint64_t vaddr);
bool symtab_segment_is_sane(const struct symtab_segment *segment);

/* Adds a symbol.  size 0 is unknown: the symbol ends where the next one starts, at most limit bytes
 * on.  module is from symtab_builder_module().  In a table without modules it ranks equally good
 * names of one address: the greatest wins.  symtab_builder_finish() returns errors. */
void symtab_builder_add(struct symtab_builder *builder, uint64_t start, uint64_t size,
	uint64_t limit, unsigned int kind, const char *name, size_t len, uint32_t module);

/* Add symbols of known size that share a name.  symtab_builder_name() returns the name's place in
 * the pool. */
uint32_t symtab_builder_name(struct symtab_builder *builder, const char *name, size_t len);
void symtab_builder_add_named(
	struct symtab_builder *builder, uint64_t start, uint64_t size, uint32_t name);

/* Adds a module and returns its number; 0 if there are too many. */
uint32_t symtab_builder_module(struct symtab_builder *builder, const char *name, size_t len);

/* Sorts all symbols added so far.  symtab_builder_has() then finds them, except labels and
 * synthetic ones. */
void symtab_builder_sort(struct symtab_builder *builder);
bool symtab_builder_has(const struct symtab_builder *builder, uint64_t start);

/* Adds the bounds of a function, in ascending order of start, before or after symbols.  A symbol
 * without a size gets the function's size if it begins there.  Otherwise it ends where a function
 * begins.  A function without a symbol becomes an entry with the name "", and labels in it are
 * dropped. */
void symtab_builder_function(struct symtab_builder *builder, uint64_t start, uint64_t size);

/* Sets since when a symbol's code lies at its place.  In any order, without overlaps. */
void symtab_builder_change(
	struct symtab_builder *builder, uint64_t start, uint64_t size, uint64_t since_ns);

/* Returns how many functions have no symbol among those that were sorted. */
size_t symtab_builder_unnamed(const struct symtab_builder *builder);

/* Moves all symbols outside modules by delta.  If that is not 0, the addresses of modules are
 * unknown, so their symbols are dropped. */
void symtab_builder_move(struct symtab_builder *builder, uint64_t delta);

/* Chooses one name for each address, writes and seals the table.  Returns 0 and sets *fd, which the
 * caller closes, and *count; or -errno. */
int symtab_builder_finish(struct symtab_builder *builder, int *fd, uint32_t *count);

/* Adds the seals that symtab_open() requires.  Returns 0 or -errno. */
int symtab_seal(int fd);

/* --- shared with other tables of this kind --- */

/* Checks the seals and the size of fd and maps it.  Returns 0 and bytes for munmap(2); -EBADMSG;
 * -errno. */
int symtab_map(int fd, size_t least, size_t most, const uint8_t **bytes, size_t *len);

/* Returns whether count items of size each lie within total bytes, aligned. */
bool symtab_fits(uint64_t at, uint64_t count, uint64_t each, uint64_t align, uint64_t total);

/* Writes all bytes with pwrite(2).  Returns 0 or -errno. */
int symtab_write(int fd, const void *bytes, size_t len, uint64_t at);

#endif
