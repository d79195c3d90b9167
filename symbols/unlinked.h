/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unlinked.h - ELF files that are not linked yet: kernel modules (.ko) and their debug files.
 *
 * Their code gets places as the kernel gives them: section by section in the order of the headers,
 * each aligned, what is dropped after initialization left out.  An *offset* is counted from the
 * start of that, and UNLINKED_BASE later is where the code's addresses begin here, so that 0 and
 * what is near it is no code.  Runs in the worker.
 */
#ifndef SYMBOLS_UNLINKED_H
#define SYMBOLS_UNLINKED_H

#include "symbols/elffile.h"

#define UNLINKED_BASE ((uint64_t)1 << 24)

/* The offset of each section; UINT64_MAX: it has no code that stays. */
void unlinked_lay_out(const struct elffile *elf, uint64_t *at);

struct unlinked {
	const struct elffile *elf; /* borrowed */
	uint64_t *at; /* by section, as above */
	uint8_t *symbols; /* of the table that relocations refer to */
	size_t n_symbols;
	uint32_t symbols_section; /* 0: none was read yet */
};

/* 0 with *out for unlinked_close(); -ENOTSUP: neither x86-64 nor arm64; -ENOMEM. */
int unlinked_open(struct unlinked *out, const struct elffile *elf);
void unlinked_close(struct unlinked *unlinked); /* one with zeros is legal */

/* The section that has an offset, and how many bytes of it are behind that. */
bool unlinked_find(
	const struct unlinked *unlinked, uint64_t offset, size_t *section, uint64_t *rest);

/* Write into bytes [from, from + len) of a section what its relocations say, where they refer to
 * something in this file; what is elsewhere is at address 0.  0, -EBADMSG, -ENOMEM, -errno. */
int unlinked_relocate(
	struct unlinked *unlinked, size_t section, uint8_t *bytes, uint64_t from, uint64_t len);

#endif
