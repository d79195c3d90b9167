/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * elfsyms.h - function symbols of an ELF file's .symtab and .dynsym, in file offsets.
 *
 * Runs in the worker.  Memory is bounded by a batch, not by the file.
 */
#ifndef SYMBOLS_ELFSYMS_H
#define SYMBOLS_ELFSYMS_H

#include "symbols/elffile.h"
#include "symbols/symtab.h"

/* Add all functions to builder (sorted there, but not finished).  0 or -errno; symbol tables that are
 * broken give what can be read of them. */
int elfsyms_read(const struct elffile *elf, struct symtab_builder *builder);

#endif
