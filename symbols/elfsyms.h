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

/* Add the functions in the .symtab of `from` to builder, which sorts them.  `from` is elf
 * itself, or a file that belongs to it; then only those are added at whose addresses is no
 * symbol yet. Returns 0 or -errno; of broken symbol tables it adds what can be read. */
int elfsyms_read(
	const struct elffile *elf, const struct elffile *from, struct symtab_builder *builder);
/* The same for the .dynsym of elf. */
int elfsyms_read_dynamic(const struct elffile *elf, struct symtab_builder *builder);

/* The functions of a kernel by address, and where its _text and _stext are (0: not among them).  As above. */
struct elfsyms_kernel {
	uint64_t text, stext;
};
int elfsyms_read_kernel(
	const struct elffile *elf, struct symtab_builder *builder, struct elfsyms_kernel *kernel);

/* The functions of a kernel module (.ko, relocatable), by offset from the start of its code as the kernel lays
 * it out: executable sections that stay, one after another.  As above. */
int elfsyms_read_module(const struct elffile *elf, struct symtab_builder *builder);

/* Other files that belong to one and may have more of its symbols: NULL: none. */
#define ELFSYMS_MORE 2

/* Data instead of functions, by offset in memory: see elffile_memory_offset().  As above. */
int elfsyms_read_data(const struct elffile *elf, const struct elffile *const more[ELFSYMS_MORE],
	struct symtab_builder *builder);

/* Every symbol with an address, of functions, data and labels; not thread-local ones.  The name is not terminated. */
struct elfsyms_any {
	const char *name;
	size_t name_len;
	uint64_t address, size;
	bool data, weak, local, label;
	bool dynamic; /* in .dynsym of the file itself */
	uint32_t index; /* in its table */
};
typedef void elfsyms_fn(const struct elfsyms_any *symbol, void *ctx);
int elfsyms_read_any(const struct elffile *elf, const struct elffile *const more[ELFSYMS_MORE],
	elfsyms_fn *fn, void *ctx);

/* Does it have a .symtab, and is that in the file? */
bool elfsyms_has_symtab(const struct elffile *elf);

#endif
