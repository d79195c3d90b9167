/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gopclntab.h - functions, source lines and inlined calls of Go programs, from the table of Go's
 * runtime.
 *
 * The table stays in the file when the program is stripped.  Knows the layouts of Go 1.2, 1.16,
 * 1.18, and of 1.20 and later (golang.org/s/go12symtab; src/runtime/symtab.go and
 * src/cmd/link/internal/ld/pcln.go of each version).  Runs in the worker: every number in a file
 * may be hostile.
 */
#ifndef SYMBOLS_DWARF_GOPCLNTAB_H
#define SYMBOLS_DWARF_GOPCLNTAB_H

#include "symbols/elf/elffile.h"
#include "symbols/wire/codetab.h"

struct gopclntab;

/* Returns true if Go's linker made the file. */
bool gopclntab_is_of_go(const struct elffile *elf);

/* Reads the table; elf must stay open until gopclntab_free().  Returns 0 with *out; -ENODATA if
 * there is no table, or its layout is unknown; -EBADMSG; -ENOMEM; or -errno. */
int gopclntab_open(struct gopclntab **out, const struct elffile *elf);
void gopclntab_free(struct gopclntab *table); /* NULL is a no-op */

/* Calls fn for every function, in ascending order of address. */
struct gopclntab_function {
	const char *name; /* not terminated */
	size_t name_len;
	uint64_t address, size;
};
typedef void gopclntab_fn(const struct gopclntab_function *function, void *ctx);
void gopclntab_functions(const struct gopclntab *table, gopclntab_fn *fn, void *ctx);

/* Sets the known frames of n entries, which start at virtual addresses.  In a table that takes too
 * much work only the first entries get frames. */
void gopclntab_lines(struct gopclntab *table, struct codetab_builder *builder,
	struct codetab_entry *entries, size_t n);

extern uint64_t gopclntab_work_max; /* steps of a question; tests set less */

#endif
