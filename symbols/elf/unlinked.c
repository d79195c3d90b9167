/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unlinked.c - lays out sections, and applies the types of relocations that modules have. */
#include "symbols/elf/unlinked.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLS_BYTES_MAX ((uint64_t)64 << 20)
#define CHUNK 512 /* relocations read at once */

void unlinked_lay_out(const struct elffile *elf, uint64_t *at)
{
	uint64_t end = 0;

	for (size_t i = 0; i < elf->n_sections; i++) {
		const struct elffile_section *section = &elf->sections[i];
		uint64_t align = section->align ? section->align : 1;

		at[i] = UINT64_MAX;
		if (!(section->flags & SHF_ALLOC) || !(section->flags & SHF_EXECINSTR) ||
			elffile_section_begins(elf, section, ".init"))
			continue;
		if (align & (align - 1) || align > 1u << 20 || section->size > UINT32_MAX)
			continue;
		at[i] = (end + align - 1) & ~(align - 1);
		end = at[i] + section->size;
	}
}

int unlinked_open(struct unlinked *out, const struct elffile *elf)
{
	memset(out, 0, sizeof(*out));
	if (!elf->is64 || (elf->machine != EM_X86_64 && elf->machine != EM_AARCH64))
		return -ENOTSUP;
	out->at = calloc(elf->n_sections + 1, sizeof(*out->at));
	if (!out->at)
		return -ENOMEM;
	out->elf = elf;
	unlinked_lay_out(elf, out->at);
	return 0;
}

void unlinked_close(struct unlinked *unlinked)
{
	free(unlinked->at);
	free(unlinked->symbols);
	memset(unlinked, 0, sizeof(*unlinked));
}

bool unlinked_find(
	const struct unlinked *unlinked, uint64_t offset, size_t *section, uint64_t *rest)
{
	for (size_t i = 0; i < unlinked->elf->n_sections; i++) {
		const uint64_t at = unlinked->at[i], size = unlinked->elf->sections[i].size;
		if (at == UINT64_MAX || offset < at || offset - at >= size)
			continue;
		*section = i;
		*rest = size - (offset - at);
		return true;
	}
	return false;
}

/* --- relocations --- */

static int read_symbols(struct unlinked *unlinked, uint32_t number)
{
	const struct elffile *elf = unlinked->elf;

	if (number == unlinked->symbols_section)
		return 0;
	if (number == 0 || number >= elf->n_sections)
		return -EBADMSG;
	const struct elffile_section *section = &elf->sections[number];
	if (section->type != SHT_SYMTAB || section->size > SYMBOLS_BYTES_MAX ||
		section->offset > elf->len || section->size > elf->len - section->offset)
		return -EBADMSG;
	free(unlinked->symbols);
	unlinked->symbols_section = 0;
	unlinked->symbols = malloc(section->size ? (size_t)section->size : 1);
	if (!unlinked->symbols)
		return -ENOMEM;
	int ret = elffile_read(elf, unlinked->symbols, (size_t)section->size, section->offset);
	unlinked->n_symbols = ret < 0 ? 0 : (size_t)section->size / sizeof(Elf64_Sym);
	unlinked->symbols_section = ret < 0 ? 0 : number;
	return ret;
}

/* Returns the address of a symbol; 0 if this file's code does not have it. */
static uint64_t address_of(const struct unlinked *unlinked, uint64_t number)
{
	const struct elffile *elf = unlinked->elf;

	if (number >= unlinked->n_symbols)
		return 0;
	const uint8_t *symbol = unlinked->symbols + number * sizeof(Elf64_Sym);
	const uint16_t section = elffile_u16(elf, symbol + offsetof(Elf64_Sym, st_shndx));
	const uint64_t value = elffile_u64(elf, symbol + offsetof(Elf64_Sym, st_value));
	if (section == SHN_UNDEF || section >= elf->n_sections)
		return 0;
	if (unlinked->at[section] != UINT64_MAX)
		return UNLINKED_BASE + unlinked->at[section] + value;
	/* References to debug sections need only the offset. */
	return elf->sections[section].flags & SHF_ALLOC ? 0 : value;
}

struct form {
	uint8_t width; /* bytes; 0: not supported */
	bool relative, call; /* call: arm64 branch, 26 bits that count words */
};

static struct form form_of(uint16_t machine, uint32_t type)
{
	if (machine == EM_AARCH64)
		switch (type) {
		case R_AARCH64_ABS64:
			return (struct form){.width = 8};
		case R_AARCH64_ABS32:
			return (struct form){.width = 4};
		case R_AARCH64_PREL32:
			return (struct form){.width = 4, .relative = true};
		case R_AARCH64_CALL26:
		case R_AARCH64_JUMP26:
			return (struct form){.width = 4, .relative = true, .call = true};
		default:
			return (struct form){0};
		}
	switch (type) {
	case R_X86_64_64:
		return (struct form){.width = 8};
	case R_X86_64_32:
	case R_X86_64_32S:
		return (struct form){.width = 4};
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
		return (struct form){.width = 4, .relative = true};
	default:
		return (struct form){0};
	}
}

/* Stores a little-endian value: both machines are little-endian. */
static void store(uint8_t *at, struct form form, uint64_t value)
{
	if (form.call) {
		const uint32_t word = (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 |
			(uint32_t)at[1] << 8 | at[0];
		value = (word & 0xfc000000u) | ((value >> 2) & 0x03ffffffu);
	}
	for (unsigned int i = 0; i < form.width; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

struct target {
	size_t section;
	uint8_t *bytes;
	uint64_t from, len;
};

static void apply(
	const struct unlinked *unlinked, const uint8_t *relocation, const struct target *target)
{
	const struct elffile *elf = unlinked->elf;
	const uint64_t offset = elffile_u64(elf, relocation + offsetof(Elf64_Rela, r_offset));
	const uint64_t info = elffile_u64(elf, relocation + offsetof(Elf64_Rela, r_info));
	const uint64_t addend = elffile_u64(elf, relocation + offsetof(Elf64_Rela, r_addend));
	const struct form form = form_of(elf->machine, (uint32_t)info);

	if (!form.width || offset < target->from || target->len < form.width ||
		offset - target->from > target->len - form.width)
		return;
	uint64_t value = address_of(unlinked, info >> 32) + addend;
	if (form.relative && unlinked->at[target->section] != UINT64_MAX)
		value -= UNLINKED_BASE + unlinked->at[target->section] + offset;
	store(target->bytes + (offset - target->from), form, value);
}

static int apply_all(struct unlinked *unlinked, const struct elffile_section *relocations,
	const struct target *target)
{
	const struct elffile *elf = unlinked->elf;
	uint8_t chunk[CHUNK * sizeof(Elf64_Rela)];

	int ret = read_symbols(unlinked, relocations->link);
	if (relocations->offset > elf->len || relocations->size > elf->len - relocations->offset)
		return -EBADMSG;
	for (uint64_t at = 0; at < relocations->size && ret == 0; at += sizeof(chunk)) {
		const uint64_t left = relocations->size - at;
		const size_t len = left < sizeof(chunk) ? (size_t)left : sizeof(chunk);
		ret = elffile_read(elf, chunk, len, relocations->offset + at);
		for (size_t i = 0; ret == 0 && i + sizeof(Elf64_Rela) <= len;
			i += sizeof(Elf64_Rela))
			apply(unlinked, chunk + i, target);
	}
	return ret;
}

int unlinked_relocate(
	struct unlinked *unlinked, size_t section, uint8_t *bytes, uint64_t from, uint64_t len)
{
	const struct target target = {section, bytes, from, len};
	const struct elffile *elf = unlinked->elf;

	/* A section has one list of relocations.  More lists would only cost time. */
	for (size_t i = 0; i < elf->n_sections; i++)
		if (elf->sections[i].type == SHT_RELA && elf->sections[i].info == section)
			return apply_all(unlinked, &elf->sections[i], &target);
	return 0;
}
