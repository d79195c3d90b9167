/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unlinked.h - ELF files that are not linked: kernel modules (.ko) and their debug files.
 *
 * Lays out their code as the kernel does: section by section in the order of the headers, each
 * aligned, without those dropped after initialization.  An *offset* counts from the start of this
 * layout.  Addresses here are UNLINKED_BASE + offset, so that 0 and nearby values are no code.
 * Runs in the worker.
 */
#ifndef SYMBOLS_ELF_UNLINKED_H
#define SYMBOLS_ELF_UNLINKED_H

#include "symbols/elf/elffile.h"

#define UNLINKED_BASE ((uint64_t)1 << 24)

/* Computes the offset of each section; UINT64_MAX if it has no code that stays. */
void unlinked_lay_out(const struct elffile *elf, uint64_t *at);

struct unlinked {
	const struct elffile *elf; /* borrowed */
	uint64_t *at; /* offsets by section, see unlinked_lay_out() */
	uint8_t *symbols; /* the symbol table that relocations refer to */
	size_t n_symbols;
	uint32_t symbols_section; /* 0 if none was read yet */
};

/* Returns 0 with *out for unlinked_close(); -ENOTSUP if the machine is neither x86-64 nor arm64;
 * -ENOMEM. */
int unlinked_open(struct unlinked *out, const struct elffile *elf);
void unlinked_close(struct unlinked *unlinked); /* a zeroed one is legal */

/* Finds the section that contains an offset.  *rest: number of its bytes from there on.  Returns
 * false if there is none. */
bool unlinked_find(
	const struct unlinked *unlinked, uint64_t offset, size_t *section, uint64_t *rest);

/* Applies a section's relocations to bytes [from, from + len) of it.  Symbols outside this file
 * have address 0.  Returns 0, -EBADMSG, -ENOMEM or -errno. */
int unlinked_relocate(
	struct unlinked *unlinked, size_t section, uint8_t *bytes, uint64_t from, uint64_t len);

#endif
