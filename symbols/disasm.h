/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * disasm.h - machine code into text, by libopcodes.
 *
 * Runs in the worker.  Bytes come from memory; nothing outside of them is read.
 */
#ifndef SYMBOLS_DISASM_H
#define SYMBOLS_DISASM_H

#include "symbols/codetab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum disasm_syntax { DISASM_ATT, DISASM_INTEL }; /* of x86 */

struct disasm_code {
	uint16_t machine; /* EM_* of elf.h */
	bool is64, big_endian;
	enum disasm_syntax syntax;
	const uint8_t *bytes;
	size_t len;
	uint64_t address; /* virtual, of the first byte: what relative instructions are told */
};

/* Load libopcodes: this machine's own, and the one of many machines (binutils-multiarch) where it is
 * installed.  Only a process that disassembles pays for them; files are opened, so it comes before
 * confine.h's filter.  0, -ENOENT where there is none.  Once is enough, more is legal. */
int disasm_load(void);

/* Hand each instruction to fn, in order: entry's start and target are virtual addresses, frames 0;
 * text is in builder.  Bytes that are no instruction are CODETAB_BAD, so that the whole is covered.
 * 0; -ENOTSUP for a machine that no libopcodes loaded knows; fn's answer where that is not 0. */
typedef int disasm_fn(const struct codetab_entry *entry, void *ctx);
int disasm_run(
	const struct disasm_code *code, struct codetab_builder *builder, disasm_fn *fn, void *ctx);

#endif
