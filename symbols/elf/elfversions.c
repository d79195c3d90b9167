/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * elfversions.c - see elfversions.h.
 */
#include "symbols/elf/elfversions.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define INDEX_MASK 0x7fffu
#define HIDDEN 0x8000u
#define NUMBERS_BYTES_MAX (64u << 20)
#define TEXT_BYTES_MAX (1u << 20)
#define NAMES_MAX 4096u

/* 32-bit and 64-bit files have the same structures. */
struct elfversions {
	const struct elffile *elf;
	uint8_t *numbers; /* contents of .gnu.version: two bytes per symbol */
	size_t n_numbers;
	char *text; /* string table, with a NUL appended */
	uint32_t names[NAMES_MAX]; /* by number: offset in text; 0: none */
};

/* Reads at most `most` bytes of a section.  Returns their number, or 0 with *out NULL. */
static size_t read_section(
	const struct elffile *elf, const struct elffile_section *section, size_t most, void *out)
{
	char *bytes = NULL;
	size_t len = 0;

	if (section && section->offset < elf->len) {
		len = section->size < most ? (size_t)section->size : most;
		if (len > elf->len - section->offset)
			len = (size_t)(elf->len - section->offset);
		bytes = calloc(1, len + 1);
	}
	if (bytes && elffile_read(elf, bytes, len, section->offset) < 0) {
		free(bytes);
		bytes = NULL;
	}
	*(char **)out = bytes;
	return bytes ? len : 0;
}

static const struct elffile_section *find_type(const struct elffile *elf, uint32_t type)
{
	for (size_t i = 0; i < elf->n_sections; i++)
		if (elf->sections[i].type == type)
			return &elf->sections[i];
	return NULL;
}

/* Reads the names.  The first name of a definition is its own, the others are its predecessors'. */
static void read_names(struct elfversions *versions, const char *defs, size_t len, size_t text_len)
{
	const struct elffile *elf = versions->elf;
	size_t at = 0;

	for (unsigned int i = 0; i < NAMES_MAX && at + sizeof(Elf64_Verdef) <= len; i++) {
		const char *def = defs + at;
		const size_t aux = at + elffile_u32(elf, def + offsetof(Elf64_Verdef, vd_aux));
		const uint32_t next = elffile_u32(elf, def + offsetof(Elf64_Verdef, vd_next));
		const uint16_t flags = elffile_u16(elf, def + offsetof(Elf64_Verdef, vd_flags));
		const uint16_t number = elffile_u16(elf, def + offsetof(Elf64_Verdef, vd_ndx));

		/* The base is the file's own name. */
		if (number < NAMES_MAX && !(flags & VER_FLG_BASE) &&
			aux + sizeof(Elf64_Verdaux) <= len) {
			const uint32_t name =
				elffile_u32(elf, defs + aux + offsetof(Elf64_Verdaux, vda_name));

			versions->names[number] = name < text_len ? name : 0;
		}
		if (!next)
			break;
		at += next;
	}
}

int elfversions_open(struct elfversions **out, const struct elffile *elf)
{
	struct elfversions *versions = calloc(1, sizeof(*versions));
	const struct elffile_section *section = find_type(elf, SHT_GNU_verdef);
	size_t len, text_len;
	char *defs;

	*out = versions;
	if (!versions)
		return -ENOMEM;
	versions->elf = elf;
	versions->n_numbers = read_section(elf, find_type(elf, SHT_GNU_versym), NUMBERS_BYTES_MAX,
				      &versions->numbers) /
		sizeof(Elf64_Versym);
	len = read_section(elf, section, TEXT_BYTES_MAX, &defs);
	text_len = read_section(elf,
		section && section->link < elf->n_sections ? &elf->sections[section->link] : NULL,
		TEXT_BYTES_MAX, &versions->text);
	if (len)
		read_names(versions, defs, len, text_len);
	free(defs);
	return 0;
}

void elfversions_free(struct elfversions *versions)
{
	if (!versions)
		return;
	free(versions->numbers);
	free(versions->text);
	free(versions);
}

const char *elfversions_find(const struct elfversions *versions, uint32_t symbol, bool *is_default)
{
	uint16_t number;

	if (symbol >= versions->n_numbers)
		return NULL;
	number = elffile_u16(versions->elf, versions->numbers + symbol * sizeof(number));
	*is_default = !(number & HIDDEN);
	number &= INDEX_MASK;
	if (number >= NAMES_MAX || !versions->names[number])
		return NULL;
	return versions->text + versions->names[number];
}
