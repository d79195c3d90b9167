/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cfi.h - reads call frame information (.eh_frame, .debug_frame) of x86-64 and arm64 files into
 * rules of an unwind table.
 *
 * DWARF 5, 6.4; LSB 5, 10.6.  Rules cover only the stack pointer, the frame pointer, rbx and the
 * return address.  i386 files get only the rules of outermost frames.  Runs in the worker: every
 * number in a file may be hostile.
 */
#ifndef SYMBOLS_DWARF_CFI_H
#define SYMBOLS_DWARF_CFI_H

#include "symbols/elf/elffile.h"
#include "symbols/wire/unwtab.h"

/* Bytes of one section. */
struct cfi_section {
	const uint8_t *bytes;
	size_t len;
	uint64_t vaddr; /* address of the first byte */
	bool is_debug; /* .debug_frame, not .eh_frame */
	bool is32; /* section of a 32-bit file */
	bool has_no_end; /* len is only a bound: a record of length 0 ends the section */
};

/* Adds the rules of n sections, at most CFI_SECTIONS_MAX.  If two cover an offset, the first
 * section takes precedence.  Returns 0 (files of other machines have no rules) or -ENOMEM. */
#define CFI_SECTIONS_MAX 4
int cfi_add(const struct elffile *elf, const struct cfi_section *sections, size_t n,
	struct unwtab_builder *builder);

/* Adds the rules of a file: .eh_frame, .debug_frame, and .debug_frame of its debug file (NULL:
 * none).  Missing and broken sections are left out.  Sets *used_debug if the last one was read.
 * Returns 0 or -ENOMEM. */
int cfi_read(const struct elffile *elf, const struct elffile *debug, struct unwtab_builder *builder,
	bool *used_debug);

/* Calls fn for each function that the sections describe, in ascending order of start.  Works for
 * any machine of this byte order.  Returns 0 or -ENOMEM. */
typedef void cfi_function_fn(uint64_t start, uint64_t size, void *ctx);
int cfi_add_functions(const struct elffile *elf, const struct cfi_section *sections, size_t n,
	cfi_function_fn *fn, void *ctx);
int cfi_functions(const struct elffile *elf, cfi_function_fn *fn, void *ctx);

/* Returns the bytes of executable segments, to compare with unwtab_builder_code_bytes(). */
uint64_t cfi_code_bytes(const struct elffile *elf);

#endif
