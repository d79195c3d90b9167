/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * binfile.h - the only user of libbfd: PLT entries and demangling.
 *
 * libbfd knows how each machine's linker lays out its procedure linkage table, and how C++, Rust and D mangle.
 * It is not thread-safe and can abort on bad files: so it is called in the worker only.
 */
#ifndef SYMBOLS_BINFILE_H
#define SYMBOLS_BINFILE_H

#include "symbols/elffile.h"
#include "symbols/symtab.h"

#include <stdbool.h>
#include <stddef.h>

void binfile_init(void); /* once a process; makes libbfd quiet */

/* Add "function@plt" symbols.  0 or -errno; a file that libbfd does not know has none. */
int binfile_plt(const struct elffile *elf, struct symtab_builder *builder);

/* Demangle into out (size bytes, always terminated; cut where longer).  False where name is not
 * mangled, or too hard. */
bool binfile_demangle(const char *name, char *out, size_t size);

#endif
