/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * elfversions.h - versions of the dynamic symbols that an ELF file defines.
 *
 * Example: "GLIBC_2.2.5" in "malloc@@GLIBC_2.2.5" (nm -D).  Runs in the worker.  Entries of broken
 * tables have no version.
 */
#ifndef SYMBOLS_ELF_ELFVERSIONS_H
#define SYMBOLS_ELF_ELFVERSIONS_H

#include "symbols/elf/elffile.h"

struct elfversions;

/* Reads the versions.  Returns 0 with *out for elfversions_free(), even if the file has none; or
 * -ENOMEM. */
int elfversions_open(struct elfversions **out, const struct elffile *elf);
void elfversions_free(struct elfversions *versions); /* NULL is a no-op */

/* Returns the version of a symbol by its index in .dynsym; NULL if it has none.  *is_default: a
 * program linked now gets this one ("@@"). */
const char *elfversions_find(const struct elfversions *versions, uint32_t symbol, bool *is_default);

#endif
