// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * fuzz_disasm.c - the choice of a machine, then any bytes as its code.
 *
 * Each byte belongs to exactly one instruction, and the table passes its reader's check.
 */
#include "symbols/worker/disasm.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct pass {
	struct codetab_builder *builder;
	uint64_t next;
};

static int take(const struct codetab_entry *entry, void *ctx)
{
	struct pass *pass = ctx;

	if (entry->start != pass->next || !entry->len)
		abort();
	pass->next += entry->len;
	codetab_builder_add(pass->builder, entry);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t machines[] = {EM_X86_64, EM_386, EM_AARCH64, EM_ARM};
	struct disasm_code code = {.address = 0x401000};
	struct codetab table;
	struct pass pass = {.next = code.address};
	int fd;

	if (size < 2 || disasm_load() < 0)
		return 0;
	code.machine = machines[data[0] % 4];
	code.is64 = code.machine == EM_X86_64 || code.machine == EM_AARCH64;
	code.syntax = data[0] & 4 ? DISASM_INTEL : DISASM_ATT;
	code.big_endian = data[0] & 8;
	code.len = size - 1;
	/* The heap copy lets ASan see reads outside. */
	uint8_t *bytes = malloc(code.len);
	if (!bytes || codetab_builder_new(&pass.builder))
		abort();
	memcpy(bytes, data + 1, code.len);
	code.bytes = bytes;
	if (disasm_run(&code, pass.builder, take, &pass) == 0) {
		if (pass.next != code.address + code.len ||
			codetab_builder_finish(pass.builder, &fd) || codetab_open(&table, fd))
			abort();
		codetab_close(&table);
		close(fd);
	}
	codetab_builder_free(pass.builder);
	free(bytes);
	return 0;
}
