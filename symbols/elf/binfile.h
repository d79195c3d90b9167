/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * binfile.h - the only user of libbfd: PLT entries and demangling.
 *
 * libbfd knows the layout of each machine's procedure linkage table, and how C++, Rust and D mangle
 * names.  It is not thread-safe and can abort on bad files, so only the worker calls it.
 */
#ifndef SYMBOLS_ELF_BINFILE_H
#define SYMBOLS_ELF_BINFILE_H

#include "symbols/elf/elffile.h"
#include "symbols/wire/symtab.h"

#include <stdbool.h>
#include <stddef.h>

void binfile_init(void); /* once per process; silences libbfd */

/* Adds "function@plt" symbols.  Returns 0 or -ENOMEM; adds none if libbfd cannot read the file. */
int binfile_plt(const struct elffile *elf, struct symtab_builder *builder);

/* Demangles `name` into `out` (size bytes, always terminated; a longer name is cut).  Returns false
 * if `name` is not mangled or takes too much memory or stack. */
bool binfile_demangle(const char *name, char *out, size_t size);

#endif
