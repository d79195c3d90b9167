/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gopclntab.c - see gopclntab.h.  Parts of the table:
 *
 *   header      magic, 0, 0, size of the smallest instruction, size of a word; then words:
 *               number of functions, number of files, start of the code (Go 1.18 to 1.25),
 *               offsets of the parts
 *   functions   address and offset of its _func for each function; at the end, the end of the last
 *   _func       name; offsets of its values: files, lines, inlined calls
 *   values      pairs of varints: change of the value, and bytes of code that it holds for; ends
 *               with a change of 0
 *
 * In a position-independent program only relocations contain the addresses.  Two addresses are only
 * in the runtime's moduledata: the start of the code since Go 1.26, and since Go 1.18 the symbol
 * go:func.*, from which inlined calls are found.
 */
#include "symbols/dwarf/gopclntab.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECTION_BYTES_MAX (256u << 20)
#define FUNCTIONS_MAX (4u << 20)
#define VALUES_MAX (1u << 20) /* pairs of one function */
#define RELOCATIONS_READ 4096
#define MODULE_WORDS 64 /* words of moduledata to search; gofunc comes earlier in every layout */
#define SAMPLES 64 /* functions to test a candidate for gofunc with */

/* Values that one question may pass.  2,000 addresses of the largest known programs take a tenth of
 * it. */
uint64_t gopclntab_work_max = (uint64_t)1 << 29;

/* Indexes of moduledata's words, unchanged since Go 1.16. */
enum { MODULE_NAMES = 1, MODULE_MINPC = 20, MODULE_MAXPC, MODULE_TEXT, MODULE_ETEXT };

#define PCDATA_INLINE_INDEX 2
#define FUNCDATA_INLINE_TREE 3
#define NO_FUNCDATA UINT32_MAX

enum layout { GO_1_2, GO_1_16, GO_1_18, GO_1_20 };

struct gopclntab {
	const struct elffile *elf;
	uint8_t *bytes; /* the table, to the end of its section */
	size_t len;
	uint64_t vaddr;
	enum layout layout;
	unsigned int word, quantum;
	uint64_t text, gofunc; /* virtual addresses; gofunc 0: unknown */
	uint64_t n; /* number of functions */
	uint64_t names, cus, files, values, functions; /* offsets in bytes */
	uint64_t work; /* steps left for the question; after 0, results may be wrong */
};

/* --- bytes --- */

static bool has(const struct gopclntab *table, uint64_t at, uint64_t len)
{
	return at <= table->len && len <= table->len - at;
}

/* Reads a number of 1, 2, 4 or 8 bytes; returns 0 beyond the end. */
static uint64_t get(const struct gopclntab *table, uint64_t at, unsigned int width)
{
	if (!has(table, at, width))
		return 0;
	const uint8_t *bytes = table->bytes + at;
	return width == 1    ? *bytes
		: width == 2 ? elffile_u16(table->elf, bytes)
		: width == 4 ? elffile_u32(table->elf, bytes)
			     : elffile_u64(table->elf, bytes);
}

static uint64_t word_at(const struct elffile *elf, const uint8_t *at)
{
	return elf->is64 ? elffile_u64(elf, at) : elffile_u32(elf, at);
}

static const char *text_at(const struct gopclntab *table, uint64_t at, size_t *len)
{
	if (at >= table->len)
		return NULL;
	*len = strnlen((const char *)table->bytes + at, table->len - at);
	return *len < table->len - at ? (const char *)table->bytes + at : NULL;
}

/* --- sections, with relocations applied --- */

static void put_word(const struct elffile *elf, uint8_t *at, uint64_t value)
{
	const size_t width = elf->is64 ? 8 : 4;
	uint64_t swapped =
		elf->is64 ? __builtin_bswap64(value) : __builtin_bswap32((uint32_t)value);

	if (elf->swapped)
		value = swapped;
	if (width == 4) {
		const uint32_t narrow = (uint32_t)value;
		memcpy(at, &narrow, sizeof(narrow));
	} else {
		memcpy(at, &value, sizeof(value));
	}
}

/* Applies the relocations of one section that need no symbol to bytes at vaddr. */
static int relocate_by(const struct elffile *elf, const struct elffile_section *section,
	uint64_t vaddr, uint8_t *bytes, size_t len)
{
	const size_t each = elf->is64 ? sizeof(Elf64_Rela) : sizeof(Elf32_Rela);
	const size_t width = elf->is64 ? 8 : 4;
	uint8_t raw[RELOCATIONS_READ * sizeof(Elf64_Rela)];
	uint64_t left = section->size / each, at = section->offset;

	while (left > 0) {
		const size_t n = left < RELOCATIONS_READ ? (size_t)left : RELOCATIONS_READ;
		const int ret = elffile_read(elf, raw, n * each, at);
		if (ret < 0)
			return ret;
		for (size_t i = 0; i < n; i++) {
			const uint8_t *entry = raw + i * each;
			const uint64_t to = word_at(elf, entry), info = word_at(elf, entry + width);
			const uint64_t symbol = elf->is64 ? info >> 32 : info >> 8;
			if (!symbol && to >= vaddr && len >= width && to - vaddr <= len - width)
				put_word(
					elf, bytes + (to - vaddr), word_at(elf, entry + 2 * width));
		}
		at += n * each;
		left -= n;
	}
	return 0;
}

/* Reads the bytes of a section; the caller frees them with free(3).  *out is NULL if it has none.
 * Returns 0 or -errno. */
static int load_section(
	const struct elffile *elf, const struct elffile_section *section, uint8_t **out)
{
	*out = NULL;
	if (section->type == SHT_NOBITS || section->flags & SHF_COMPRESSED || !section->size ||
		section->size > SECTION_BYTES_MAX || section->offset > elf->len ||
		section->size > elf->len - section->offset)
		return 0;
	const size_t len = (size_t)section->size;
	uint8_t *bytes = malloc(len);
	if (!bytes)
		return -ENOMEM;
	int ret = elffile_read(elf, bytes, len, section->offset);
	for (size_t i = 0; ret == 0 && elf->type == ET_DYN && i < elf->n_sections; i++)
		if (elf->sections[i].type == SHT_RELA && elf->sections[i].flags & SHF_ALLOC)
			ret = relocate_by(elf, &elf->sections[i], section->addr, bytes, len);
	if (ret < 0) {
		free(bytes);
		return ret;
	}
	*out = bytes;
	return 0;
}

static bool is_data(const struct elffile_section *section)
{
	return section->type == SHT_PROGBITS && section->flags & SHF_ALLOC &&
		!(section->flags & SHF_EXECINSTR);
}

/* --- the header --- */

static bool find_layout(const struct elffile *elf, const uint8_t *bytes, enum layout *layout)
{
	static const uint32_t magics[] = {0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1};
	const uint32_t magic = elffile_u32(elf, bytes);

	if (bytes[4] || bytes[5] || (bytes[6] != 1 && bytes[6] != 2 && bytes[6] != 4) ||
		bytes[7] != (elf->is64 ? 8 : 4))
		return false;
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (magic == magics[i]) {
			*layout = (enum layout)i;
			return true;
		}
	return false;
}

/* Returns word i of the header. */
static uint64_t header(const struct gopclntab *table, unsigned int i)
{
	return get(table, 8 + (uint64_t)i * table->word, table->word);
}

static unsigned int width_of_pair(const struct gopclntab *table)
{
	return table->layout >= GO_1_18 ? 4 : table->word;
}

/* Parses the header.  Returns false if it cannot be right. */
static bool read_header(struct gopclntab *table)
{
	const unsigned int parts = table->layout >= GO_1_18 ? 3 : 2;

	table->quantum = table->bytes[6];
	table->word = table->bytes[7];
	table->n = header(table, 0);
	if (table->layout == GO_1_2) {
		table->functions = 8 + table->word;
		const uint64_t end = table->functions + (table->n * 2 + 1) * width_of_pair(table);
		if (table->n > FUNCTIONS_MAX || !has(table, end, 4))
			return false;
		table->files = get(table, end, 4);
		return table->n > 0;
	}
	table->names = header(table, parts);
	table->cus = header(table, parts + 1);
	table->files = header(table, parts + 2);
	table->values = header(table, parts + 3);
	table->functions = header(table, parts + 4);
	return table->n > 0 && table->n <= FUNCTIONS_MAX && table->names < table->len &&
		table->cus < table->len && table->files < table->len &&
		table->values < table->len && table->functions < table->len &&
		has(table, table->functions, (table->n * 2 + 1) * width_of_pair(table));
}

/* Takes the table at an offset of a section's bytes.  Returns false if there is none. */
static bool take_table(
	struct gopclntab *table, const struct elffile_section *section, uint8_t *bytes, size_t at)
{
	if (section->size - at < 16 || !find_layout(table->elf, bytes + at, &table->layout))
		return false;
	table->bytes = bytes + at;
	table->len = (size_t)section->size - at;
	table->vaddr = section->addr + at;
	if (read_header(table))
		return true;
	table->bytes = NULL;
	return false;
}

/* --- moduledata --- */

/* Returns true if moduledata begins with these words. */
static bool is_module(const struct gopclntab *table, const uint8_t *words)
{
	const struct elffile *elf = table->elf;
	uint64_t offset, rest;
	bool exec;
#define WORD(i) word_at(elf, words + (size_t)(i)*table->word)

	return WORD(0) == table->vaddr && WORD(MODULE_NAMES) == table->vaddr + table->names &&
		WORD(MODULE_TEXT) <= WORD(MODULE_MINPC) &&
		WORD(MODULE_MINPC) < WORD(MODULE_MAXPC) &&
		WORD(MODULE_MAXPC) <= WORD(MODULE_ETEXT) &&
		elffile_offset(elf, WORD(MODULE_TEXT), &offset, &rest, &exec) && exec;
}

static uint64_t entry_of(const struct gopclntab *table, uint64_t i)
{
	const unsigned int width = width_of_pair(table);
	const uint64_t entry = get(table, table->functions + i * 2 * width, width);

	return table->layout >= GO_1_18 ? table->text + entry : entry;
}

/* Returns the offset of function i's _func in the table. */
static uint64_t func_of(const struct gopclntab *table, uint64_t i)
{
	const unsigned int width = width_of_pair(table);
	const uint64_t offset = get(table, table->functions + (i * 2 + 1) * width, width);

	return table->layout == GO_1_2 ? offset : table->functions + offset;
}

enum field { /* offsets in a _func, after its address */
	FUNC_NAME = 0,
	FUNC_FILE = 16,
	FUNC_LINE = 20,
	FUNC_N_PCDATA = 24,
	FUNC_CU = 28,
	FUNC_START_LINE = 32, /* since Go 1.20 */
};

static uint64_t fields_of(const struct gopclntab *table, uint64_t func)
{
	return func + width_of_pair(table);
}

static uint32_t field(const struct gopclntab *table, uint64_t func, enum field field)
{
	return (uint32_t)get(table, fields_of(table, func) + field, 4);
}

static const char *name_at(const struct gopclntab *table, uint32_t offset, size_t *len)
{
	return text_at(table, table->names + offset, len);
}

/* Returns the address of a function's inlined calls; 0 if none or unknown. */
static uint64_t inline_tree_of(const struct gopclntab *table, uint64_t func, uint64_t gofunc)
{
	const uint32_t n_pcdata = field(table, func, FUNC_N_PCDATA);
	uint64_t at = fields_of(table, func) + (table->layout >= GO_1_20 ? 40 : 36);
	const uint64_t n_funcdata = get(table, at - 1, 1);

	if (table->layout < GO_1_16 || n_funcdata <= FUNCDATA_INLINE_TREE || n_pcdata > 64)
		return 0;
	at += n_pcdata * 4;
	if (table->layout == GO_1_16) {
		at = (table->vaddr + at + table->word - 1) / table->word * table->word -
			table->vaddr;
		return get(table, at + FUNCDATA_INLINE_TREE * table->word, table->word);
	}
	const uint64_t offset = get(table, at + FUNCDATA_INLINE_TREE * 4, 4);
	return offset == NO_FUNCDATA || !gofunc ? 0 : gofunc + offset;
}

struct inlined {
	uint32_t name;
	int32_t parent_pc;
	uint32_t start_line; /* 0: unknown */
};

static bool read_inlined(
	const struct gopclntab *table, uint64_t tree, uint32_t i, struct inlined *out)
{
	const size_t each = table->layout >= GO_1_20 ? 16 : 20;
	uint8_t raw[20];
	uint64_t offset, rest;
	bool exec;

	if (!elffile_offset(table->elf, tree + i * each, &offset, &rest, &exec) || rest < each ||
		elffile_read(table->elf, raw, each, offset) < 0)
		return false;
	const bool is_new = table->layout >= GO_1_20;
	out->name = elffile_u32(table->elf, raw + (is_new ? 4 : 12));
	out->parent_pc = (int32_t)elffile_u32(table->elf, raw + (is_new ? 8 : 16));
	out->start_line = is_new ? elffile_u32(table->elf, raw + 12) : 0;
	return true;
}

/* Returns true if the first inlined calls of functions make sense with this address of
 * go:func.*. */
static bool is_gofunc(const struct gopclntab *table, uint64_t candidate)
{
	size_t n = 0;

	for (uint64_t i = 0; i < table->n && n < SAMPLES; i++) {
		const uint64_t func = func_of(table, i);
		const uint64_t tree = inline_tree_of(table, func, candidate);
		const uint64_t size = entry_of(table, i + 1) - entry_of(table, i);
		struct inlined inlined;
		size_t len;
		if (!tree)
			continue;
		n++;
		if (!read_inlined(table, tree, 0, &inlined) || inlined.parent_pc < 0 ||
			(uint64_t)inlined.parent_pc >= size || !inlined.name ||
			table->names + inlined.name >= table->files ||
			table->bytes[table->names + inlined.name - 1] ||
			!name_at(table, inlined.name, &len) || !len)
			return false;
	}
	return n > 0;
}

static void use_module(struct gopclntab *table, const uint8_t *words, size_t n)
{
	const uint64_t text = word_at(table->elf, words + (size_t)MODULE_TEXT * table->word);

	table->text = text;
	for (size_t i = MODULE_ETEXT + 1; i < n && !table->gofunc && table->layout >= GO_1_18;
		i++) {
		const uint64_t candidate = word_at(table->elf, words + i * table->word);
		if (candidate && is_gofunc(table, candidate))
			table->gofunc = candidate;
	}
}

/* Finds moduledata and sets text and gofunc from it.  Returns 0, even if there is none, or
 * -errno. */
static int find_module(struct gopclntab *table)
{
	const struct elffile *elf = table->elf;
	bool found = false;
	int ret = 0;

	for (size_t i = 0; i < elf->n_sections && ret == 0 && !found; i++) {
		const struct elffile_section *section = &elf->sections[i];
		uint8_t *bytes;
		if (!is_data(section) || !(section->flags & SHF_WRITE))
			continue;
		ret = load_section(elf, section, &bytes);
		const size_t words = bytes ? (size_t)section->size / table->word : 0;
		for (size_t at = 0; at + MODULE_ETEXT < words && !found; at++) {
			const uint8_t *place = bytes + at * table->word;
			const size_t n = words - at < MODULE_WORDS ? words - at : MODULE_WORDS;
			found = word_at(elf, place) == table->vaddr && is_module(table, place);
			if (found)
				use_module(table, place, n);
		}
		free(bytes);
	}
	return ret;
}

/* --- opening --- */

bool gopclntab_is_of_go(const struct elffile *elf)
{
	static const char *const names[] = {
		".gopclntab", ".data.rel.ro.gopclntab", ".go.buildinfo", ".note.go.buildid"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (elffile_find_section(elf, names[i]))
			return true;
	return false;
}

/* Finds the table in its own section, or in any data section: other linkers merge sections. */
static int find_table(struct gopclntab *table, uint8_t **owned)
{
	const struct elffile *elf = table->elf;
	const struct elffile_section *named = elffile_find_section(elf, ".gopclntab");
	int ret = 0;

	if (!named)
		named = elffile_find_section(elf, ".data.rel.ro.gopclntab");
	for (size_t i = 0; i < elf->n_sections && ret == 0; i++) {
		const struct elffile_section *section = &elf->sections[i];
		if (named ? section != named : !is_data(section))
			continue;
		ret = load_section(elf, section, owned);
		for (size_t at = 0; ret == 0 && *owned && at < section->size; at += table->word) {
			if (take_table(table, section, *owned, at))
				return 0;
			if (named)
				break;
		}
		free(*owned);
		*owned = NULL;
	}
	return ret < 0 ? ret : -ENODATA;
}

int gopclntab_open(struct gopclntab **out, const struct elffile *elf)
{
	struct gopclntab *table;
	uint8_t *owned = NULL;

	*out = NULL;
	if (!gopclntab_is_of_go(elf))
		return -ENODATA;
	table = calloc(1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	table->elf = elf;
	table->word = elf->is64 ? 8 : 4;
	int ret = find_table(table, &owned);
	if (ret == 0 && owned != table->bytes)
		memmove(owned, table->bytes, table->len);
	table->bytes = owned;
	if (ret == 0 && table->layout >= GO_1_18)
		table->text = header(table, 2);
	if (ret == 0 && table->layout >= GO_1_16)
		ret = find_module(table);
	if (ret == 0 && table->layout >= GO_1_18 && !table->text)
		ret = -ENODATA;
	if (ret < 0) {
		gopclntab_free(table);
		return ret;
	}
	*out = table;
	return 0;
}

void gopclntab_free(struct gopclntab *table)
{
	if (!table)
		return;
	free(table->bytes);
	free(table);
}

void gopclntab_functions(const struct gopclntab *table, gopclntab_fn *fn, void *ctx)
{
	for (uint64_t i = 0; i < table->n; i++) {
		struct gopclntab_function function = {.address = entry_of(table, i)};
		const uint64_t end = entry_of(table, i + 1);
		function.name = name_at(
			table, field(table, func_of(table, i), FUNC_NAME), &function.name_len);
		function.size = end - function.address;
		if (function.name && function.name_len && end > function.address)
			fn(&function, ctx);
	}
}

/* --- lines --- */

static bool get_varint(const struct gopclntab *table, uint64_t *at, uint32_t *out)
{
	*out = 0;
	for (unsigned int shift = 0; shift < 35 && *at < table->len; shift += 7) {
		const uint8_t byte = table->bytes[(*at)++];
		if (shift < 32)
			*out |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Returns the value at an address of the function that begins at entry; -1 if none. */
static int32_t value_at(struct gopclntab *table, uint32_t offset, uint64_t entry, uint64_t address)
{
	uint64_t at = table->values + offset;
	uint32_t value = UINT32_MAX, by, step;

	/* Offset 0 has no values: functions of C have it. */
	for (size_t i = 0; offset && i < VALUES_MAX && table->work && get_varint(table, &at, &by);
		i++) {
		table->work--;
		if ((by == 0 && i) || !get_varint(table, &at, &step))
			break;
		value += by & 1 ? ~(by >> 1) : by >> 1;
		entry += (uint64_t)step * table->quantum;
		if (address < entry)
			return (int32_t)value;
	}
	return -1;
}

static const char *file_at(
	const struct gopclntab *table, uint64_t func, int32_t number, size_t *len)
{
	if (number < 0)
		return NULL;
	if (table->layout == GO_1_2)
		return text_at(table, get(table, table->files + (uint64_t)number * 4, 4), len);
	const uint64_t cu = field(table, func, FUNC_CU);
	const uint64_t offset = get(table, table->cus + (cu + (uint64_t)number) * 4, 4);
	return offset == UINT32_MAX ? NULL : text_at(table, table->files + offset, len);
}

static void put_place(struct gopclntab *table, uint64_t func, uint64_t entry, uint64_t address,
	struct codetab_builder *builder, struct codetab_frame *frame)
{
	const int32_t line = value_at(table, field(table, func, FUNC_LINE), entry, address);
	size_t len;
	const char *file = file_at(
		table, func, value_at(table, field(table, func, FUNC_FILE), entry, address), &len);

	frame->file = file ? codetab_builder_string(builder, file, len) : 0;
	frame->line = line > 0 ? (uint32_t)line : 0;
}

static void put_name(const struct gopclntab *table, uint32_t name, struct codetab_builder *builder,
	struct codetab_frame *frame)
{
	size_t len;
	const char *text = name_at(table, name, &len);

	frame->function = text ? codetab_builder_string(builder, text, len) : 0;
}

/* Returns the index of the inlined call at an address; -1 if none. */
static int32_t inlined_at(struct gopclntab *table, uint64_t func, uint64_t entry, uint64_t address)
{
	const uint64_t pcdata = fields_of(table, func) + (table->layout >= GO_1_20 ? 40 : 36);

	if (field(table, func, FUNC_N_PCDATA) <= PCDATA_INLINE_INDEX)
		return -1;
	const uint32_t offset = (uint32_t)get(table, pcdata + PCDATA_INLINE_INDEX * 4, 4);
	return value_at(table, offset, entry, address);
}

/* Makes the frames of an address in function i, innermost first.  Returns their number. */
static size_t make_frames(struct gopclntab *table, uint64_t i, uint64_t address,
	struct codetab_builder *builder, struct codetab_frame out[CODETAB_DEPTH_MAX])
{
	const uint64_t func = func_of(table, i), entry = entry_of(table, i);
	const uint64_t tree = inline_tree_of(table, func, table->gofunc);
	struct inlined inlined;
	size_t n = 0;

	while (tree && n < CODETAB_DEPTH_MAX - 1) {
		const int32_t number = inlined_at(table, func, entry, address);
		if (number < 0 || !read_inlined(table, tree, (uint32_t)number, &inlined) ||
			inlined.parent_pc < 0 || entry + (uint64_t)inlined.parent_pc == address)
			break;
		out[n] = (struct codetab_frame){.inlined = 1, .decl_line = inlined.start_line};
		put_name(table, inlined.name, builder, &out[n]);
		put_place(table, func, entry, address, builder, &out[n]);
		address = entry + (uint64_t)inlined.parent_pc;
		n++;
	}
	out[n] = (struct codetab_frame){
		.decl_line = table->layout >= GO_1_20 ? field(table, func, FUNC_START_LINE) : 0};
	put_name(table, field(table, func, FUNC_NAME), builder, &out[n]);
	put_place(table, func, entry, address, builder, &out[n]);
	return n + 1;
}

/* Returns the index of the function that contains an address; table->n if none. */
static uint64_t find_function(const struct gopclntab *table, uint64_t address)
{
	uint64_t low = 0, high = table->n;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;
		if (entry_of(table, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < entry_of(table, low) ? low - 1 : table->n;
}

void gopclntab_lines(struct gopclntab *table, struct codetab_builder *builder,
	struct codetab_entry *entries, size_t n)
{
	struct codetab_frame frames[CODETAB_DEPTH_MAX];

	table->work = gopclntab_work_max;
	for (size_t i = 0; i < n; i++) {
		const uint64_t function = find_function(table, entries[i].start);
		if (function == table->n)
			continue;
		const size_t n_frames =
			make_frames(table, function, entries[i].start, builder, frames);
		if (!table->work)
			break;
		entries[i].frames = codetab_builder_frames(builder, frames, n_frames);
		entries[i].n_frames = (uint16_t)n_frames;
	}
}
