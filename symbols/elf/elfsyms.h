/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * elfsyms.h - reads function symbols of an ELF file's .symtab and .dynsym, in file offsets.
 *
 * Runs in the worker.  Memory is bounded by a batch, not by the file.
 */
#ifndef SYMBOLS_ELF_ELFSYMS_H
#define SYMBOLS_ELF_ELFSYMS_H

#include "symbols/elf/elffile.h"
#include "symbols/wire/symtab.h"

/* Adds the functions in the .symtab of `from` to builder, which sorts them.  `from` is elf itself,
 * or a file that belongs to it; then only addresses without a symbol get one.  Returns 0 or -errno.
 * Adds the readable part of broken symbol tables. */
int elfsyms_read(
	const struct elffile *elf, const struct elffile *from, struct symtab_builder *builder);
/* Like elfsyms_read(), for the .dynsym of elf; only addresses without a symbol get one. */
int elfsyms_read_dynamic(const struct elffile *elf, struct symtab_builder *builder);

/* Adds the functions of a kernel by address, and gets the addresses of _text and _stext (0:
 * missing).  Returns as elfsyms_read(). */
struct elfsyms_kernel {
	uint64_t text, stext;
};
int elfsyms_read_kernel(
	const struct elffile *elf, struct symtab_builder *builder, struct elfsyms_kernel *kernel);

/* Adds the functions of a kernel module (.ko, relocatable), by offset from the start of its code.
 * The kernel lays it out as the executable sections that stay, one after another.  Returns as
 * elfsyms_read(). */
int elfsyms_read_module(const struct elffile *elf, struct symtab_builder *builder);

/* Number of other files that may have more symbols of a file; a NULL entry: none. */
#define ELFSYMS_MORE 2

/* Adds data symbols by offset in memory, see elffile_memory_offset().  Returns as
 * elfsyms_read(). */
int elfsyms_read_data(const struct elffile *elf, const struct elffile *const more[ELFSYMS_MORE],
	struct symtab_builder *builder);

/* Calls fn for every symbol with an address: functions, data and labels, but no thread-local ones.
 * The name is not terminated. */
struct elfsyms_any {
	const char *name;
	size_t name_len;
	uint64_t address, size;
	bool data, weak, local, label;
	bool dynamic; /* in .dynsym of the file itself */
	uint32_t index; /* index in its table */
};
typedef void elfsyms_fn(const struct elfsyms_any *symbol, void *ctx);
int elfsyms_read_any(const struct elffile *elf, const struct elffile *const more[ELFSYMS_MORE],
	elfsyms_fn *fn, void *ctx);

/* Returns true if the file contains a .symtab with symbols. */
bool elfsyms_has_symtab(const struct elffile *elf);

#endif
