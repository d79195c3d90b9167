/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * disasm.h - turns machine code into text, by libopcodes.
 *
 * Runs in the worker.  Reads the given bytes in memory only.
 */
#ifndef SYMBOLS_WORKER_DISASM_H
#define SYMBOLS_WORKER_DISASM_H

#include "symbols/wire/codetab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum disasm_syntax { DISASM_ATT, DISASM_INTEL }; /* x86 only */

struct disasm_code {
	uint16_t machine; /* EM_* of elf.h */
	bool is64, big_endian;
	enum disasm_syntax syntax;
	const uint8_t *bytes;
	size_t len;
	uint64_t address; /* virtual address of the first byte, for relative instructions */
};

/* Loads libopcodes: this machine's own, and the one for many machines (binutils-multiarch) if
 * installed.  Only a process that disassembles pays for them.  It opens files, so it must run
 * before confine.h's filter.  Returns 0, or -ENOENT if there is none.  May be called again. */
int disasm_load(void);

/* Hands each instruction to fn, in order.  An entry's start and target are virtual addresses,
 * frames is 0, text is in builder.  Bytes that are no instruction become CODETAB_BAD, so that all
 * bytes are covered.  Returns 0; -ENOTSUP if no loaded libopcodes knows the machine; or fn's first
 * result other than 0. */
typedef int disasm_fn(const struct codetab_entry *entry, void *ctx);
int disasm_run(
	const struct disasm_code *code, struct codetab_builder *builder, disasm_fn *fn, void *ctx);

#endif
