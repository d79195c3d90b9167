/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gopclntab.h - functions, source lines and inlined calls of Go programs, from the table that Go's
 * runtime uses.  It stays in the file when the program is stripped.
 *
 * Knows the layouts of Go 1.2, 1.16, 1.18, and of 1.20 and later (golang.org/s/go12symtab;
 * src/runtime/symtab.go and src/cmd/link/internal/ld/pcln.go of each version).  Runs in the worker:
 * every number in a file is taken for hostile.
 */
#ifndef SYMBOLS_GOPCLNTAB_H
#define SYMBOLS_GOPCLNTAB_H

#include "symbols/codetab.h"
#include "symbols/elffile.h"

struct gopclntab;

/* Whether Go's linker made the file. */
bool gopclntab_is_of_go(const struct elffile *elf);

/* Read the table; elf stays in use.  Returns 0 and *out for gopclntab_free(); -ENODATA: there is no
 * table, or its layout is not known; -EBADMSG; -ENOMEM; -errno. */
int gopclntab_open(struct gopclntab **out, const struct elffile *elf);
void gopclntab_free(struct gopclntab *table); /* NULL is a no-op */

/* Every function, in ascending order of address. */
struct gopclntab_function {
	const char *name; /* not terminated */
	size_t name_len;
	uint64_t address, size;
};
typedef void gopclntab_fn(const struct gopclntab_function *function, void *ctx);
void gopclntab_functions(const struct gopclntab *table, gopclntab_fn *fn, void *ctx);

/* Set the frames of n entries, whose starts are virtual addresses, as far as they are known.  A
 * table that costs too much work has the frames of the first ones alone. */
void gopclntab_lines(struct gopclntab *table, struct codetab_builder *builder,
	struct codetab_entry *entries, size_t n);

extern uint64_t gopclntab_work_max; /* steps of a question; tests set less */

#endif
