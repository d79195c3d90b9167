/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cfi.c - finds call frame information in a file, and the functions that it describes.
 *
 * Every section is read once from front to back: CIEs run when they are met, FDEs are listed.  The
 * sorted list runs in a second pass, so that rows are added in order.  No byte of a hostile file
 * counts more than twice.
 */
#include "symbols/base/grow.h"
#include "symbols/dwarf/cfi_private.h"

#include <elf.h>
#include <stdlib.h>

#define SECTION_BYTES_MAX (256ull << 20)
#define CIES_MAX (1u << 20)
#define FDES_MAX (8u << 20)

/* DW_EH_PE_*: encodings of addresses. */
enum {
	PE_ABSOLUTE = 0x00,
	PE_ULEB = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SIGNED = 0x08,
	PE_SLEB = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PCREL = 0x10,
	PE_BASE = 0x70,
	PE_ALIGNED = 0x50,
	PE_OMIT = 0xff,
};

struct cfi_fde {
	uint64_t start, end; /* offsets in the file */
	uint64_t vaddr; /* address of start */
	uint64_t at; /* offset of its instructions in its section */
	uint64_t end_at;
	uint32_t cie; /* index in its section's list */
	uint32_t section;
};

struct cfi_cies {
	struct cfi_cie *at; /* sorted by offset in the section */
	size_t n, cap;
};

struct cfi_reader {
	const struct elffile *elf;
	const struct cfi_machine *machine; /* NULL: instructions are not run */
	const struct cfi_section *sections;
	struct cfi_cies cies[CFI_SECTIONS_MAX];
	struct cfi_fde *fdes;
	size_t n_fdes, fdes_cap;
};

static const struct cfi_machine x86_64 = {.bp = 6, .sp = 7, .ra = 16, .bx = 3};
static const struct cfi_machine aarch64 = {
	.bp = 29, .sp = 31, .ra = 30, .bx = CFI_NO_BX, .has_link = true};

/* i386 chains are found by frame pointers alone. */
static const struct cfi_machine i386 = {
	.bp = 5, .sp = 4, .ra = 8, .bx = CFI_NO_BX, .only_ends = true};

static const struct cfi_machine *machine_of(const struct elffile *elf)
{
	if (elf->swapped)
		return NULL;
	if (!elf->is64)
		return elf->machine == EM_386 ? &i386 : NULL;
	return elf->machine == EM_X86_64 ? &x86_64 : elf->machine == EM_AARCH64 ? &aarch64 : NULL;
}

/* --- addresses --- */

/* Reads a value in one of the formats; signed ones are extended.  Returns false if it is broken. */
static bool get_value(struct dwarf_cursor *cursor, uint8_t format, bool is32, uint64_t *out)
{
	switch (format & PE_FORMAT) {
	case PE_ABSOLUTE:
	case PE_SIGNED:
		*out = dwarf_get(cursor, is32 ? 4 : 8);
		break;
	case PE_UDATA8:
	case PE_SDATA8:
		*out = dwarf_get(cursor, 8);
		break;
	case PE_ULEB:
		*out = dwarf_get_uleb(cursor);
		break;
	case PE_SLEB:
		*out = (uint64_t)dwarf_get_sleb(cursor);
		break;
	case PE_UDATA2:
		*out = dwarf_get(cursor, 2);
		break;
	case PE_SDATA2:
		*out = (uint64_t)(int64_t)(int16_t)dwarf_get(cursor, 2);
		break;
	case PE_UDATA4:
		*out = dwarf_get(cursor, 4);
		break;
	case PE_SDATA4:
		*out = (uint64_t)(int64_t)(int32_t)dwarf_get(cursor, 4);
		break;
	default:
		return false;
	}
	return !cursor->bad;
}

bool cfi_get_address(struct dwarf_cursor *cursor, const struct cfi_section *section,
	uint8_t encoding, uint64_t *out)
{
	const uint64_t here = section->vaddr + (uint64_t)(cursor->at - section->bytes);

	if ((encoding & ~PE_FORMAT) != PE_ABSOLUTE && (encoding & ~PE_FORMAT) != PE_PCREL)
		return false;
	if (!get_value(cursor, encoding, section->is32, out))
		return false;
	if (encoding & PE_PCREL)
		*out += here;
	if (section->is32)
		*out &= UINT32_MAX;
	return true;
}

/* --- CIEs --- */

/* Reads the letters after a 'z'.  Returns false for an unknown letter or broken data. */
static bool read_augmentation(
	struct cfi_cie *cie, const char *letters, bool is32, struct dwarf_cursor *data)
{
	uint64_t personality;

	for (; *letters; letters++) {
		if (*letters == 'R') {
			cie->encoding = (uint8_t)dwarf_get(data, 1);
		} else if (*letters == 'P') {
			const uint8_t encoding = (uint8_t)dwarf_get(data, 1);
			if ((encoding & PE_BASE) == PE_ALIGNED ||
				(encoding != PE_OMIT &&
					!get_value(data, encoding, is32, &personality)))
				return false;
		} else if (*letters == 'L') {
			dwarf_skip(data, 1);
		} else if (*letters == 'S') {
			cie->is_signal = true;
		} else if (*letters != 'B' && *letters != 'G') {
			return false;
		}
	}
	return !data->bad;
}

/* Returns false if the CIE is broken or unsupported: its FDEs are left out. */
static bool read_cie(const struct cfi_machine *machine, const struct cfi_section *section,
	struct dwarf_cursor record, struct cfi_cie *cie)
{
	const uint64_t version = dwarf_get(&record, 1);
	const char *letters = dwarf_get_string(&record);

	if (version != 1 && version != 3 && !(version == 4 && section->is_debug))
		return false;
	if (strcmp(letters, "eh") == 0)
		dwarf_skip(&record, section->is32 ? 4 : 8);
	else if (letters[0] && letters[0] != 'z')
		return false;
	/* Version 4 adds the sizes of addresses and segment selectors. */
	if (version == 4 &&
		(dwarf_get(&record, 1) != (section->is32 ? 4 : 8) || dwarf_get(&record, 1) != 0))
		return false;
	cie->code_align = dwarf_get_uleb(&record);
	cie->data_align = dwarf_get_sleb(&record);
	const uint64_t ra = version == 1 ? dwarf_get(&record, 1) : dwarf_get_uleb(&record);
	if (record.bad || (machine && ra != machine->ra))
		return false;
	if (letters[0] == 'z') {
		struct dwarf_cursor data = record;
		const uint64_t len = dwarf_get_uleb(&data);
		record = data;
		dwarf_skip(&record, len);
		data.end = record.at;
		cie->has_data = true;
		if (record.bad || !read_augmentation(cie, letters + 1, section->is32, &data))
			return false;
	}
	return !machine || cfi_run_cie(machine, cie, record);
}

static int add_cie(
	struct cfi_reader *reader, uint32_t section, uint64_t at, struct dwarf_cursor record)
{
	struct cfi_cies *cies = &reader->cies[section];
	struct cfi_cie cie = {.at = at};

	if (cies->n == CIES_MAX)
		return 0;
	if (array_grow(&cies->at, &cies->cap, cies->n + 1, sizeof(*cies->at)) < 0)
		return -ENOMEM;
	cie.is_bad = !read_cie(reader->machine, &reader->sections[section], record, &cie);
	cies->at[cies->n++] = cie;
	return 0;
}

/* Finds the index of the CIE at that offset.  Returns false if there is no sound one. */
static bool find_cie(const struct cfi_cies *cies, uint64_t at, uint32_t *out)
{
	size_t low = 0, high = cies->n;

	/* Most FDEs directly follow their CIE. */
	if (cies->n && cies->at[cies->n - 1].at <= at)
		low = cies->n - 1;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (cies->at[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	*out = (uint32_t)low;
	return low < cies->n && cies->at[low].at == at && !cies->at[low].is_bad;
}

/* --- FDEs --- */

static int add_fde(
	struct cfi_reader *reader, uint32_t section, uint64_t cie_at, struct dwarf_cursor record)
{
	const struct cfi_section *bytes = &reader->sections[section];
	struct cfi_fde fde = {.section = section};
	uint64_t len, rest;
	bool exec;

	if (!find_cie(&reader->cies[section], cie_at, &fde.cie) || reader->n_fdes == FDES_MAX)
		return 0;
	const struct cfi_cie *cie = &reader->cies[section].at[fde.cie];
	if (!cfi_get_address(&record, bytes, cie->encoding, &fde.vaddr) ||
		!get_value(&record, cie->encoding, bytes->is32, &len))
		return 0;
	if (cie->has_data)
		dwarf_skip(&record, dwarf_get_uleb(&record));
	/* Linkers write 0 for functions that they dropped. */
	if (record.bad || len == 0 || (bytes->is_debug && fde.vaddr == 0) ||
		!elffile_offset(reader->elf, fde.vaddr, &fde.start, &rest, &exec) || !exec)
		return 0;
	fde.end = fde.start + (len < rest ? len : rest);
	fde.at = (uint64_t)(record.at - bytes->bytes);
	fde.end_at = (uint64_t)(record.end - bytes->bytes);
	if (array_grow(&reader->fdes, &reader->fdes_cap, reader->n_fdes + 1,
		    sizeof(*reader->fdes)) < 0)
		return -ENOMEM;
	reader->fdes[reader->n_fdes++] = fde;
	return 0;
}

static int read_record(struct cfi_reader *reader, uint32_t section, uint64_t at,
	struct dwarf_cursor record, unsigned int width)
{
	const bool is_debug = reader->sections[section].is_debug;
	const uint64_t id_at = (uint64_t)(record.at - reader->sections[section].bytes);
	const uint64_t id = dwarf_get(&record, width);
	const uint64_t cie_id = !is_debug ? 0 : width == 8 ? UINT64_MAX : UINT32_MAX;

	if (record.bad)
		return 0;
	if (id == cie_id)
		return add_cie(reader, section, at, record);
	/* .eh_frame counts back from here, .debug_frame from the section's start. */
	if (!is_debug && id > id_at)
		return 0;
	return add_fde(reader, section, is_debug ? id : id_at - id, record);
}

static int read_section(struct cfi_reader *reader, uint32_t section)
{
	const struct cfi_section *bytes = &reader->sections[section];
	struct dwarf_cursor cursor = {.at = bytes->bytes, .end = bytes->bytes + bytes->len};
	int ret = 0;

	while (ret == 0 && cursor.end - cursor.at >= 4) {
		const uint64_t at = (uint64_t)(cursor.at - bytes->bytes);
		struct dwarf_cursor record = cursor;
		const unsigned int width = dwarf_get_length(&record);
		if (!width)
			break;
		cursor.at = record.end;
		/* Linkers may leave terminators of their input sections in the middle.  Only a
		 * section of unknown length ends at the first one. */
		if (record.at == record.end && bytes->has_no_end)
			break;
		if (record.at < record.end)
			ret = read_record(reader, section, at, record, width);
	}
	return ret;
}

/* Orders FDEs by start; at one start, by section, then by place in the section. */
static int compare_fdes(const void *a, const void *b)
{
	const struct cfi_fde *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void sort_fdes(struct cfi_reader *reader)
{
	size_t sorted = 1;

	while (sorted < reader->n_fdes &&
		compare_fdes(&reader->fdes[sorted - 1], &reader->fdes[sorted]) <= 0)
		sorted++;
	if (sorted < reader->n_fdes)
		qsort(reader->fdes, reader->n_fdes, sizeof(*reader->fdes), compare_fdes);
}

static bool is_described(const struct cfi_reader *reader, uint64_t vaddr)
{
	for (size_t i = 0; i < reader->n_fdes; i++) {
		const struct cfi_fde *fde = &reader->fdes[i];
		if (vaddr - fde->vaddr < fde->end - fde->start)
			return true;
	}
	return false;
}

/* Runs all FDEs in order, and adds their rules and those of the gaps.  Returns 0 or -ENOMEM. */
static int run_fdes(const struct cfi_reader *reader, struct unwtab_builder *builder)
{
	struct cfi_gaps gaps = {.elf = reader->elf, .builder = builder};
	const uint64_t entry = cfi_entry(reader->elf);
	uint64_t done = 0;
	size_t better = 0;

	const int ret = cfi_find_roots(
		reader->elf, entry && !is_described(reader, entry) ? entry : 0, &gaps);
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < reader->n_fdes; i++) {
		const struct cfi_fde *fde = &reader->fdes[i];
		const struct cfi_section *section = &reader->sections[fde->section];
		struct cfi_run run = {
			.machine = reader->machine,
			.section = section,
			.cie = &reader->cies[fde->section].at[fde->cie],
			.program = {.at = section->bytes + fde->at,
				.end = section->bytes + fde->end_at},
			.start = fde->start,
			.vaddr = fde->vaddr,
			.from = fde->start < done ? done : fde->start,
			.to = fde->end,
		};
		/* The run ends at the next FDE of the first section, which takes precedence. */
		if (better <= i)
			better = i + 1;
		while (fde->section && better < reader->n_fdes &&
			(reader->fdes[better].section || reader->fdes[better].start < run.from))
			better++;
		if (fde->section && better < reader->n_fdes && reader->fdes[better].start < run.to)
			run.to = reader->fdes[better].start;
		if (run.from >= run.to)
			continue;
		cfi_add_gap(&gaps, done, run.from);
		done = run.to;
		/* Compilers describe the entry point and Go's roots as if they had a caller. */
		if ((entry && fde->vaddr == entry) || cfi_is_root(&gaps, fde->start))
			unwtab_builder_add(builder, run.from, run.to, &cfi_outermost);
		else
			cfi_run_fde(&run, builder);
	}
	cfi_add_gap(&gaps, done, UINT64_MAX);
	return 0;
}

/* Makes the sorted list of FDEs.  Returns 0 or -ENOMEM; free_list() releases it in both cases. */
static int make_list(struct cfi_reader *reader, size_t n)
{
	int ret = 0;

	for (size_t i = 0; i < n && i < CFI_SECTIONS_MAX && ret == 0; i++)
		if (reader->sections[i].len)
			ret = read_section(reader, (uint32_t)i);
	if (ret == 0)
		sort_fdes(reader);
	return ret;
}

static void free_list(struct cfi_reader *reader)
{
	for (size_t i = 0; i < CFI_SECTIONS_MAX; i++)
		free(reader->cies[i].at);
	free(reader->fdes);
}

int cfi_add(const struct elffile *elf, const struct cfi_section *sections, size_t n,
	struct unwtab_builder *builder)
{
	struct cfi_reader reader = {.elf = elf, .machine = machine_of(elf), .sections = sections};

	int ret = make_list(&reader, reader.machine ? n : 0);
	if (ret == 0 && reader.machine)
		ret = run_fdes(&reader, builder);
	free_list(&reader);
	return ret;
}

int cfi_add_functions(const struct elffile *elf, const struct cfi_section *sections, size_t n,
	cfi_function_fn *fn, void *ctx)
{
	struct cfi_reader reader = {.elf = elf, .sections = sections};

	const int ret = make_list(&reader, elf->swapped ? 0 : n);
	for (size_t i = 0; ret == 0 && i < reader.n_fdes; i++) {
		const struct cfi_fde *fde = &reader.fdes[i];
		/* The rules of a signal frame begin one byte before its code. */
		const bool is_signal = reader.cies[fde->section].at[fde->cie].is_signal;
		if ((i == 0 || fde->start != fde[-1].start) && fde->end - fde->start > is_signal)
			fn(fde->start + is_signal, fde->end - fde->start - is_signal, ctx);
	}
	free_list(&reader);
	return ret;
}

/* --- a file --- */

/* Reads bytes of the file; the caller frees out->bytes with free(3).  Returns 0, -EBADMSG, -ENOMEM
 * or -errno. */
static int read_bytes(
	const struct elffile *elf, uint64_t offset, uint64_t len, struct cfi_section *out)
{
	if (offset > elf->len || len > elf->len - offset || len > SECTION_BYTES_MAX || len == 0)
		return -EBADMSG;
	uint8_t *bytes = malloc(len);
	if (!bytes)
		return -ENOMEM;
	const int ret = elffile_read(elf, bytes, len, offset);
	if (ret < 0) {
		free(bytes);
		return ret;
	}
	out->bytes = bytes;
	out->len = len;
	return 0;
}

/* Without section headers: reads .eh_frame at the address in .eh_frame_hdr. */
static int read_by_header(const struct elffile *elf, struct cfi_section *out)
{
	const struct elffile_segment *header = NULL;
	uint8_t raw[16] = {0};
	uint64_t vaddr, offset, rest;
	bool exec;

	for (size_t i = 0; i < elf->n_segments && !header; i++)
		if (elf->segments[i].type == PT_GNU_EH_FRAME)
			header = &elf->segments[i];
	const size_t len = !header	       ? 0
		: header->filesz < sizeof(raw) ? header->filesz
					       : sizeof(raw);
	if (len < 8 || elffile_read(elf, raw, len, header->offset) < 0 || raw[0] != 1)
		return -ENODATA;
	const struct cfi_section at = {
		.bytes = raw, .len = len, .vaddr = header->vaddr, .is32 = !elf->is64};
	struct dwarf_cursor cursor = {.at = raw + 4, .end = raw + len};
	if (!cfi_get_address(&cursor, &at, raw[1], &vaddr) ||
		!elffile_offset(elf, vaddr, &offset, &rest, &exec))
		return -ENODATA;
	out->vaddr = vaddr;
	out->is32 = !elf->is64;
	out->has_no_end = true;
	return read_bytes(elf, offset, rest < SECTION_BYTES_MAX ? rest : SECTION_BYTES_MAX, out);
}

static int read_eh_frame(const struct elffile *elf, struct cfi_section *out)
{
	const struct elffile_section *section = elffile_find_section(elf, ".eh_frame");

	if (!section || section->flags & SHF_COMPRESSED)
		return section ? -EBADMSG : read_by_header(elf, out);
	/* A debug file has no contents for it. */
	if (section->type == SHT_NOBITS)
		return -ENODATA;
	out->vaddr = section->addr;
	out->is32 = !elf->is64;
	return read_bytes(elf, section->offset, section->size, out);
}

/* Reads .debug_frame; the caller releases `mapped` with dwarf_section_close(). */
static int read_debug_frame(
	const struct elffile *elf, struct dwarf_section *mapped, struct cfi_section *out)
{
	const struct elffile_section *section = elffile_find_section(elf, ".debug_frame");
	bool old_packed = false;

	if (!section) {
		section = elffile_find_section(elf, ".zdebug_frame");
		old_packed = section;
	}
	if (!section || section->size > SECTION_BYTES_MAX)
		return section ? -EFBIG : -ENODATA;
	int ret = dwarf_section_open(elf, section, old_packed, mapped);
	if (ret == 0 && mapped->len > SECTION_BYTES_MAX)
		ret = -EFBIG;
	if (ret == 0)
		ret = dwarf_section_need(mapped, mapped->len);
	if (ret < 0 || mapped->len == 0)
		return ret < 0 ? ret : -ENODATA;
	*out = (struct cfi_section){
		.bytes = mapped->bytes, .len = mapped->len, .is_debug = true, .is32 = !elf->is64};
	return 0;
}

/* Sections of a file; close_sections() releases them. */
struct cfi_file {
	struct cfi_section sections[3];
	size_t n;
	struct dwarf_section mapped[2];
	uint8_t *owned;
	bool used_debug;
};

/* Opens a file's sections, and .debug_frame of its debug file (NULL: none).  Broken sections are
 * left out; the first one may stay empty.  Returns 0 or -ENOMEM. */
static int open_sections(
	const struct elffile *elf, const struct elffile *debug, struct cfi_file *file)
{
	*file = (struct cfi_file){.n = 1};
	int ret = read_eh_frame(elf, &file->sections[0]);
	file->owned = (uint8_t *)(uintptr_t)file->sections[0].bytes;
	if (ret != -ENOMEM &&
		(ret = read_debug_frame(elf, &file->mapped[0], &file->sections[file->n])) == 0)
		file->n++;
	if (ret != -ENOMEM && debug &&
		(ret = read_debug_frame(debug, &file->mapped[1], &file->sections[file->n])) == 0) {
		file->used_debug = true;
		file->n++;
	}
	return ret == -ENOMEM ? ret : 0;
}

static void close_sections(struct cfi_file *file)
{
	free(file->owned);
	for (size_t i = 0; i < 2; i++)
		dwarf_section_close(&file->mapped[i]);
}

int cfi_read(const struct elffile *elf, const struct elffile *debug, struct unwtab_builder *builder,
	bool *used_debug)
{
	const struct cfi_machine *machine = machine_of(elf);
	struct cfi_file file = {0};
	int ret = 0;

	if (machine)
		ret = open_sections(
			elf, debug && machine_of(debug) == machine ? debug : NULL, &file);
	*used_debug = file.used_debug;
	if (ret == 0)
		ret = cfi_add(elf, file.sections, file.n, builder);
	close_sections(&file);
	return ret;
}

int cfi_functions(const struct elffile *elf, cfi_function_fn *fn, void *ctx)
{
	struct cfi_file file = {0};

	int ret = elf->swapped ? 0 : open_sections(elf, NULL, &file);
	if (ret == 0)
		ret = cfi_add_functions(elf, file.sections, file.n, fn, ctx);
	close_sections(&file);
	return ret;
}

uint64_t cfi_code_bytes(const struct elffile *elf)
{
	uint64_t total = 0;

	for (size_t i = 0; i < elf->n_segments; i++)
		if (elf->segments[i].type == PT_LOAD && elf->segments[i].exec)
			total += elf->segments[i].filesz;
	return total;
}
