/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cfi_roots.c - finds functions without a caller if call frame information does not mark them.
 *
 * A program begins at its entry.  Each goroutine of Go finally returns to goexit(), which did not
 * call it.  Go's runtime begins in rt0_go(), and its threads in mstart().  Only these functions
 * show that a chain found by frame pointers is complete.
 */
#include "symbols/dwarf/cfi_private.h"
#include "symbols/dwarf/gopclntab.h"
#include "symbols/elf/elfsyms.h"

#include <elf.h>
#include <string.h>

#define ENTRY_BYTES 96u /* a stripped program makes its first call within them */

static bool is_program(const struct elffile *elf)
{
	return elf->type == ET_EXEC || elf->has_interpreter || elffile_is_pie(elf);
}

/* A dynamic linker has an entry, too.  Older linkers set a library's entry to the start of its
 * code, though nothing begins there. */
static bool is_linker(const struct elffile *elf)
{
	const struct elffile_section *text = elffile_find_section(elf, ".text");

	return elf->type == ET_DYN && !is_program(elf) && text && text->addr != elf->entry;
}

uint64_t cfi_entry(const struct elffile *elf)
{
	return is_program(elf) || is_linker(elf) ? elf->entry : 0;
}

struct sized {
	uint64_t address, size;
};

static void take_symbol(const struct elfsyms_any *symbol, void *ctx)
{
	struct sized *sized = ctx;

	if (symbol->address == sized->address && !symbol->data && symbol->size &&
		(!sized->size || symbol->size < sized->size))
		sized->size = symbol->size;
}

/* Returns true if a 5-byte x86 instruction (call or jump) leads to code. */
static bool leads_to_code(const struct elffile *elf, const uint8_t *bytes, uint64_t vaddr)
{
	uint64_t offset, rest;
	int32_t distance;
	bool exec;

	memcpy(&distance, bytes + 1, sizeof(distance));
	vaddr += 5 + (uint64_t)(int64_t)distance;
	if (!elf->is64)
		vaddr &= UINT32_MAX;
	return elffile_offset(elf, vaddr, &offset, &rest, &exec) && exec;
}

/* Returns true if an entry may end with this instruction: a jump, a return, a halt, an indirect or
 * a system call (perhaps exit()).  Bytes of an address or number may look like one. */
static bool may_end(const uint8_t *bytes)
{
	const uint8_t more = bytes[1] >> 3 & 7;

	switch (bytes[0]) {
	case 0xe9:
	case 0xeb:
	case 0xc3:
	case 0xf4:
		return true;
	case 0xff:
		return more == 2 || more == 4;
	case 0x0f:
		return bytes[1] == 0x05 || bytes[1] == 0x0b;
	default:
		return bytes[0] == 0xcd && bytes[1] == 0x80;
	}
}

/* Returns how many bytes of an entry without a symbol belong to it for sure: up to the end of its
 * first call.  0: unknown, also if an earlier instruction may end the function. */
static uint64_t find_first_call(const struct elffile *elf, uint64_t entry)
{
	uint8_t bytes[ENTRY_BYTES];
	uint64_t offset, rest;
	bool exec;

	if (elf->machine == EM_AARCH64 || !elffile_offset(elf, entry, &offset, &rest, &exec))
		return 0;
	const size_t n = rest < sizeof(bytes) ? (size_t)rest : sizeof(bytes);
	if (elffile_read(elf, bytes, n, offset) < 0)
		return 0;
	for (size_t i = 0; i + 5 <= n; i++) {
		if (bytes[i] == 0xe8 && leads_to_code(elf, bytes + i, entry + i))
			return i + 5;
		/* call through an address in memory */
		if (bytes[i] == 0xff && bytes[i + 1] == 0x15)
			return i + 6;
		if (may_end(bytes + i))
			return 0;
	}
	return 0;
}

/* Keeps the roots in ascending order. */
static void add_root(struct cfi_gaps *gaps, const struct sized *sized)
{
	uint64_t start, rest;
	size_t at = gaps->n_roots;
	bool exec;

	if (at == CFI_ROOTS_MAX || !sized->size ||
		!elffile_offset(gaps->elf, sized->address, &start, &rest, &exec) || !exec)
		return;
	for (; at && gaps->roots[at - 1].start > start; at--)
		gaps->roots[at] = gaps->roots[at - 1];
	gaps->roots[at] =
		(struct cfi_root){start, start + (sized->size < rest ? sized->size : rest)};
	gaps->n_roots++;
}

static int add_entry(const struct elffile *elf, uint64_t entry, struct cfi_gaps *gaps)
{
	static const struct elffile *const none[ELFSYMS_MORE];
	struct sized sized = {.address = entry};

	const int ret = elfsyms_read_any(elf, none, take_symbol, &sized);
	/* The entry of glibc's linker goes on after its first call, to set up libraries
	 * (_dl_start_user). */
	if (is_linker(elf))
		sized.size = ENTRY_BYTES;
	else if (!sized.size)
		sized.size = find_first_call(elf, entry);
	add_root(gaps, &sized);
	return ret == -ENOMEM ? ret : 0;
}

static void take_function(const struct gopclntab_function *function, void *ctx)
{
	static const char *const names[] = {"runtime.goexit", "runtime.rt0_go", "runtime.mstart"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (function->name_len == strlen(names[i]) &&
			memcmp(function->name, names[i], function->name_len) == 0)
			add_root(ctx, &(struct sized){function->address, function->size});
}

/* Stripped programs still have the function table. */
static int add_go_roots(const struct elffile *elf, struct cfi_gaps *gaps)
{
	struct gopclntab *table;

	const int ret = gopclntab_open(&table, elf);
	if (ret < 0)
		return ret == -ENOMEM ? ret : 0;
	gopclntab_functions(table, take_function, gaps);
	gopclntab_free(table);
	return 0;
}

int cfi_find_roots(const struct elffile *elf, uint64_t entry, struct cfi_gaps *gaps)
{
	const int ret = entry ? add_entry(elf, entry, gaps) : 0;

	return ret == 0 && gopclntab_is_of_go(elf) ? add_go_roots(elf, gaps) : ret;
}

bool cfi_is_root(const struct cfi_gaps *gaps, uint64_t start)
{
	for (size_t i = 0; i < gaps->n_roots; i++)
		if (gaps->roots[i].start == start)
			return true;
	return false;
}
