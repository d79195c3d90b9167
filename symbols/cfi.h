/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cfi.h - call frame information (.eh_frame, .debug_frame) of x86-64 and arm64 files, as rules of
 * an unwind table.
 *
 * DWARF 5, 6.4; LSB 5, 10.6.  Only the stack pointer, the frame pointer, rbx and the return address
 * are followed.  Runs in the worker: every number in a file is taken for hostile.
 */
#ifndef SYMBOLS_CFI_H
#define SYMBOLS_CFI_H

#include "symbols/elffile.h"
#include "symbols/unwtab.h"

/* The bytes of one section. */
struct cfi_section {
	const uint8_t *bytes;
	size_t len;
	uint64_t vaddr; /* of the first byte */
	bool is_debug; /* .debug_frame, not .eh_frame */
	bool is32; /* of a file of 32 bits */
	bool has_no_end; /* len is only a bound: a length of 0 ends it */
};

/* Add the rules of n sections, at most CFI_SECTIONS_MAX: where two cover an offset, the first
 * section counts. Returns 0 (files of other machines have no rules) or -ENOMEM. */
#define CFI_SECTIONS_MAX 4
int cfi_add(const struct elffile *elf, const struct cfi_section *sections, size_t n,
	struct unwtab_builder *builder);

/* Add those of a file: .eh_frame, .debug_frame, and .debug_frame of its debug file (NULL: none), if
 * it has them and they are sound.  *used_debug: the last one was there.  0 or -errno. */
int cfi_read(const struct elffile *elf, const struct elffile *debug, struct unwtab_builder *builder,
	bool *used_debug);

/* Call fn for each function that the sections tell of, in ascending order of start.  Works for any
 * machine of this byte order.  0 or -ENOMEM. */
typedef void cfi_function_fn(uint64_t start, uint64_t size, void *ctx);
int cfi_add_functions(const struct elffile *elf, const struct cfi_section *sections, size_t n,
	cfi_function_fn *fn, void *ctx);
int cfi_functions(const struct elffile *elf, cfi_function_fn *fn, void *ctx);

/* Bytes of executable segments, to compare with unwtab_builder_code_bytes(). */
uint64_t cfi_code_bytes(const struct elffile *elf);

#endif
