/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * elfsyms.c - reads symbols in batches, sorted by name offset: one pass over the string table
 * through a small window finds the names.
 */
#include "symbols/elf/elfsyms.h"

#include "symbols/elf/unlinked.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 16384u
#define WINDOW_BYTES (256u * 1024)
#define NAME_BYTES (64u * 1024) /* longer names are cut */

struct candidate {
	uint64_t start, size, limit;
	uint32_t name;
	uint16_t kind; /* SYMTAB_* flags */
	uint32_t first; /* larger for symbols earlier in the file */
	bool data;
};

enum place { PLACE_OFFSET, PLACE_ADDRESS, PLACE_MODULE, PLACE_DATA, PLACE_ANY };

struct reader {
	const struct elffile *elf; /* has the symbols */
	const struct elffile *map; /* has the segments of the addresses */
	enum place place;
	uint64_t *module_at; /* PLACE_MODULE: offset of each section */
	struct elfsyms_kernel *kernel; /* PLACE_ADDRESS */
	struct symtab_builder *builder;
	elfsyms_fn *fn; /* PLACE_ANY: replaces the builder */
	void *ctx;
	uint64_t strings_at, strings_len;
	bool dynamic; /* the table is .dynsym */
	bool only_new; /* skip addresses that have a symbol already */
	uint32_t index; /* index of the current symbol in its table */
	struct candidate *batch;
	size_t n;
	char *window;
	uint64_t window_at;
	size_t window_len;
	char *raw; /* symbols in the file's format */
};

static int by_name(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return x->name < y->name ? -1 : x->name > y->name;
}

/* Returns the name at an offset of the string table; NULL if there is none. */
static const char *find_name(struct reader *reader, uint32_t offset, size_t *len)
{
	if (offset >= reader->strings_len)
		return NULL;
	for (int attempt = 0; attempt < 2; attempt++) {
		if (offset >= reader->window_at &&
			offset - reader->window_at < reader->window_len) {
			const char *name = reader->window + (offset - reader->window_at);
			size_t most = reader->window_len - (offset - reader->window_at);
			const char *end = memchr(name, '\0', most < NAME_BYTES ? most : NAME_BYTES);
			if (end || most >= NAME_BYTES ||
				reader->window_at + reader->window_len == reader->strings_len) {
				*len = end ? (size_t)(end - name)
					   : (most < NAME_BYTES ? most : NAME_BYTES);
				return name;
			}
		}
		uint64_t rest = reader->strings_len - offset;
		reader->window_at = offset;
		reader->window_len = rest < WINDOW_BYTES ? (size_t)rest : WINDOW_BYTES;
		if (elffile_read(reader->elf, reader->window, reader->window_len,
			    reader->strings_at + offset) < 0) {
			reader->window_len = 0;
			return NULL;
		}
	}
	return NULL;
}

/* $a $d $t $x and similar: marks for disassemblers on ARM and RISC-V. */
static bool is_mapping_mark(const struct elffile *elf, const char *name, size_t len)
{
	if (elf->machine != EM_ARM && elf->machine != EM_AARCH64 && elf->machine != EM_RISCV)
		return false;
	return len >= 2 && name[0] == '$' && memchr("adtx", name[1], 4);
}

static void flush(struct reader *reader)
{
	qsort(reader->batch, reader->n, sizeof(*reader->batch), by_name);
	for (size_t i = 0; i < reader->n; i++) {
		const struct candidate *c = &reader->batch[i];
		size_t len;
		const char *name = find_name(reader, c->name, &len);
		if (!name || len == 0)
			continue;
		if (c->kind & SYMTAB_LABEL && is_mapping_mark(reader->elf, name, len))
			continue;
		if (reader->kernel && len == 5 && memcmp(name, "_text", 5) == 0)
			reader->kernel->text = c->start;
		if (reader->kernel && len == 6 && memcmp(name, "_stext", 6) == 0)
			reader->kernel->stext = c->start;
		if (reader->fn) {
			const struct elfsyms_any any = {
				.name = name,
				.name_len = len,
				.address = c->start,
				.size = c->size,
				.data = c->data,
				.weak = c->kind & SYMTAB_WEAK,
				.local = c->kind & SYMTAB_LOCAL,
				.label = c->kind & SYMTAB_LABEL,
				.dynamic = reader->dynamic,
				.index = UINT32_MAX - c->first,
			};
			reader->fn(&any, reader->ctx);
			continue;
		}
		symtab_builder_add(
			reader->builder, c->start, c->size, c->limit, c->kind, name, len, c->first);
	}
	reader->n = 0;
}

/* Returns NULL if the file has no header for it. */
static const struct elffile_section *section_of(const struct elffile *elf, uint16_t index)
{
	return index < elf->n_sections && !elf->made_sections ? &elf->sections[index] : NULL;
}

/* Gets the place of a data symbol.  In files without section headers, segments mark the code. */
static bool find_data(const struct reader *reader, uint64_t value,
	const struct elffile_section *section, uint64_t *start, uint64_t *limit)
{
	uint64_t offset, rest;
	bool exec = false;

	*start = value;
	*limit = UINT64_MAX;
	if (section && (!(section->flags & SHF_ALLOC) || section->flags & SHF_TLS))
		return false;
	if (section)
		exec = section->flags & SHF_EXECINSTR;
	else if (!elffile_offset(reader->map, value, &offset, &rest, &exec))
		exec = false;
	if (reader->place == PLACE_ANY)
		return section || elffile_memory_offset(reader->map, value, &offset, &rest);
	return !exec && elffile_memory_offset(reader->map, value, start, limit);
}

/* Gets a symbol's place in the units of the table.  Returns false if it is no code that can be
 * sampled. */
static bool find_place(const struct reader *reader, uint64_t value, uint16_t index, bool label,
	uint64_t *start, uint64_t *limit)
{
	const struct elffile *elf = reader->elf;
	const struct elffile_section *section = section_of(elf, index);
	bool exec = false;

	if (reader->place == PLACE_DATA || reader->place == PLACE_ANY)
		return find_data(reader, value, section, start, limit);
	*start = value;
	*limit = UINT64_MAX;
	if (reader->place == PLACE_OFFSET &&
		!elffile_offset(reader->map, value, start, limit, &exec))
		return false;
	if (section)
		exec = section->flags & SHF_EXECINSTR;
	if (!exec || (label && !section))
		return false;
	if (reader->place == PLACE_MODULE) {
		*start = reader->module_at[index] + value;
		*limit = section->size > value ? section->size - value : 0;
		return reader->module_at[index] != UINT64_MAX && *limit > 0;
	}
	if (section && section->addr + section->size >= section->addr && value >= section->addr &&
		section->addr + section->size - value < *limit)
		*limit = section->addr + section->size - value;
	return true;
}

static void consider(struct reader *reader, const uint8_t *raw)
{
	const struct elffile *elf = reader->elf;
	uint64_t value, size;
	uint16_t index;
	uint8_t info;
	uint32_t name;

	if (elf->is64) {
		name = elffile_u32(elf, raw + offsetof(Elf64_Sym, st_name));
		info = raw[offsetof(Elf64_Sym, st_info)];
		index = elffile_u16(elf, raw + offsetof(Elf64_Sym, st_shndx));
		value = elffile_u64(elf, raw + offsetof(Elf64_Sym, st_value));
		size = elffile_u64(elf, raw + offsetof(Elf64_Sym, st_size));
	} else {
		name = elffile_u32(elf, raw + offsetof(Elf32_Sym, st_name));
		info = raw[offsetof(Elf32_Sym, st_info)];
		index = elffile_u16(elf, raw + offsetof(Elf32_Sym, st_shndx));
		value = elffile_u32(elf, raw + offsetof(Elf32_Sym, st_value));
		size = elffile_u32(elf, raw + offsetof(Elf32_Sym, st_size));
	}

	const unsigned int type = ELF64_ST_TYPE(info), bind = ELF64_ST_BIND(info);
	if (type == STT_FILE && reader->builder)
		reader->builder->has_files = true;
	const bool code = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
	if (reader->place == PLACE_DATA
			? type != STT_OBJECT
			: !code && (type != STT_OBJECT || reader->place != PLACE_ANY))
		return;
	if (name == 0 || index == SHN_UNDEF || (index >= SHN_LORESERVE && index != SHN_XINDEX))
		return;
	if (elf->machine == EM_ARM && type != STT_NOTYPE)
		value &= ~1ull; /* bit 0 marks Thumb code */

	uint64_t start, limit;
	if (!find_place(reader, value, index, type == STT_NOTYPE, &start, &limit))
		return;
	if (size > limit && limit > 0)
		size = limit;
	if (reader->only_new && reader->builder && symtab_builder_has(reader->builder, start))
		return;

	const struct elffile_section *section = section_of(elf, index);
	reader->batch[reader->n++] = (struct candidate){
		.start = start,
		.size = size,
		.limit = limit,
		.name = name,
		.first = UINT32_MAX - reader->index,
		.kind = (uint16_t)((bind == STB_WEAK ? SYMTAB_WEAK : 0) |
			(bind == STB_LOCAL ? SYMTAB_LOCAL : 0) |
			(type == STT_NOTYPE ? SYMTAB_LABEL : 0)),
		.data = section ? !(section->flags & SHF_EXECINSTR) : type == STT_OBJECT,
	};
	if (reader->n == BATCH)
		flush(reader);
}

static int read_table(struct reader *reader, const struct elffile_section *section)
{
	const struct elffile *elf = reader->elf;
	const size_t each = elf->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);

	if (section->link >= elf->n_sections || section->offset > elf->len)
		return 0;
	const struct elffile_section *strings = &elf->sections[section->link];
	/* Compressed ones are permitted, but no tool makes them. */
	if (strings->type != SHT_STRTAB || strings->offset > elf->len ||
		(section->flags | strings->flags) & SHF_COMPRESSED)
		return 0;
	reader->strings_at = strings->offset;
	reader->strings_len = strings->size < elf->len - strings->offset
		? strings->size
		: elf->len - strings->offset;
	reader->window_len = 0;

	uint64_t len = section->size < elf->len - section->offset ? section->size
								  : elf->len - section->offset;
	uint64_t left = len / each, at = section->offset;
	if (left > SYMTAB_SYMBOLS_MAX)
		return -EFBIG;
	reader->index = 0;
	const size_t most = WINDOW_BYTES / sizeof(Elf64_Sym);
	while (left > 0) {
		size_t n = left < most ? (size_t)left : most;
		int ret = elffile_read(elf, reader->raw, n * each, at);
		if (ret == -EBADMSG)
			break; /* the file was truncated meanwhile */
		if (ret < 0)
			return ret;
		for (size_t i = 0; i < n; i++, reader->index++)
			consider(reader, (const uint8_t *)reader->raw + i * each);
		at += n * each;
		left -= n;
	}
	flush(reader);
	if (reader->builder)
		symtab_builder_sort(reader->builder);
	return 0;
}

static const struct elffile_section *find_table(const struct elffile *elf, uint32_t type)
{
	for (size_t i = 0; i < elf->n_sections; i++)
		if (elf->sections[i].type == type)
			return &elf->sections[i]; /* an ELF file has one of each */
	return NULL;
}

bool elfsyms_has_symtab(const struct elffile *elf)
{
	const struct elffile_section *section = find_table(elf, SHT_SYMTAB);

	/* The first symbol is a null entry. */
	return section && !(section->flags & SHF_COMPRESSED) &&
		section->size > (elf->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
}

struct elfsyms_source {
	const struct elffile *elf; /* NULL: none */
	uint32_t type; /* type of the section */
};

/* Allocates the buffers if needed.  Returns 0 or -ENOMEM. */
static int make_room(struct reader *reader)
{
	if (reader->batch)
		return 0;
	reader->batch = malloc(BATCH * sizeof(*reader->batch));
	reader->window = malloc(WINDOW_BYTES);
	reader->raw = malloc(WINDOW_BYTES);
	return reader->batch && reader->window && reader->raw ? 0 : -ENOMEM;
}

/* Reads the tables in order.  A complete .symtab has all symbols of .dynsym, and the best of
 * several names was chosen there.  So .dynsym, like other files, only adds names to addresses
 * without one. */
static int read_tables(struct reader *reader, const struct elfsyms_source *sources, size_t n)
{
	int ret = 0;

	for (size_t i = 0; i < n && ret == 0; i++) {
		const struct elffile_section *section =
			sources[i].elf ? find_table(sources[i].elf, sources[i].type) : NULL;
		reader->elf = sources[i].elf;
		reader->dynamic = sources[i].type == SHT_DYNSYM;
		reader->only_new = reader->dynamic || sources[i].elf != reader->map;
		if (section)
			ret = make_room(reader);
		if (section && ret == 0)
			ret = read_table(reader, section);
	}
	free(reader->batch);
	free(reader->window);
	free(reader->raw);
	return ret;
}

int elfsyms_read(
	const struct elffile *elf, const struct elffile *from, struct symtab_builder *builder)
{
	struct reader reader = {.map = elf, .builder = builder};

	return read_tables(&reader, &(const struct elfsyms_source){from, SHT_SYMTAB}, 1);
}

int elfsyms_read_dynamic(const struct elffile *elf, struct symtab_builder *builder)
{
	struct reader reader = {.map = elf, .builder = builder};

	return read_tables(&reader, &(const struct elfsyms_source){elf, SHT_DYNSYM}, 1);
}

/* Reads all symbols of a file and of the files that belong to it. */
static int read_all(struct reader *reader, const struct elffile *elf,
	const struct elffile *const more[ELFSYMS_MORE])
{
	const struct elfsyms_source sources[] = {
		{elf, SHT_SYMTAB}, {more[0], SHT_SYMTAB}, {more[1], SHT_SYMTAB}, {elf, SHT_DYNSYM}};

	return read_tables(reader, sources, 2 + ELFSYMS_MORE);
}

int elfsyms_read_data(const struct elffile *elf, const struct elffile *const more[ELFSYMS_MORE],
	struct symtab_builder *builder)
{
	struct reader reader = {.place = PLACE_DATA, .map = elf, .builder = builder};

	return read_all(&reader, elf, more);
}

int elfsyms_read_any(const struct elffile *elf, const struct elffile *const more[ELFSYMS_MORE],
	elfsyms_fn *fn, void *ctx)
{
	struct reader reader = {.place = PLACE_ANY, .map = elf, .fn = fn, .ctx = ctx};

	return read_all(&reader, elf, more);
}

int elfsyms_read_kernel(
	const struct elffile *elf, struct symtab_builder *builder, struct elfsyms_kernel *kernel)
{
	struct reader reader = {.place = PLACE_ADDRESS, .kernel = kernel, .builder = builder};

	*kernel = (struct elfsyms_kernel){0};
	return read_tables(&reader, &(const struct elfsyms_source){elf, SHT_SYMTAB}, 1);
}

int elfsyms_read_module(const struct elffile *elf, struct symtab_builder *builder)
{
	struct reader reader = {.place = PLACE_MODULE, .builder = builder};

	reader.module_at = calloc(elf->n_sections + 1, sizeof(*reader.module_at));
	if (!reader.module_at)
		return -ENOMEM;
	unlinked_lay_out(elf, reader.module_at);
	const int ret = read_tables(&reader, &(const struct elfsyms_source){elf, SHT_SYMTAB}, 1);
	free(reader.module_at);
	return ret;
}
