/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code.c - answers with source lines of addresses and instructions of functions, as
 * codetabs.
 *
 * Requests and answers have offsets.  Internally these are the file's virtual addresses.  Runs in
 * the worker.
 */
#include "symbols/worker/code.h"

#include "symbols/base/grow.h"
#include "symbols/dwarf/dwarf.h"
#include "symbols/dwarf/gopclntab.h"
#include "symbols/elf/elfsyms.h"
#include "symbols/elf/unlinked.h"
#include "symbols/jit/jitdump.h"
#include "symbols/wire/symtab.h"
#include "symbols/worker/disasm.h"
#include "symbols/worker/jit.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(4 + DWARF_PARTS_MAX <= WIRE_FDS_MAX, "not all files fit into a packet");

#define ALT_BYTES 4096 /* largest .gnu_debugaltlink: a path and a build-id */

struct job {
	const struct wire_message *request;
	struct wire_message *answer;
	struct dwarf_files files;
	int parts[DWARF_PARTS_MAX];
	struct elffile elf;
	bool kernel, is_unlinked;
	struct unlinked unlinked; /* kernel module's file, which defines its offsets */
	/* loaded module: added to these offsets; kernel: address - virtual address in vmlinux */
	uint64_t delta;
	int memory; /* fd of the code's current bytes; -1: those in the file */
	struct dwarf *dwarf; /* NULL: no debug information */
	struct gopclntab *go; /* replaces dwarf; NULL if none */
	struct codetab_builder *builder;
	struct codetab_entry *entries;
	size_t n_entries, entries_cap;
};

/* --- offsets and virtual addresses --- */

static bool to_address(const struct job *job, uint64_t offset, uint64_t *address, uint64_t *rest)
{
	if (job->kernel) {
		*address = offset - job->delta;
		*rest = UINT64_MAX - offset;
		return true;
	}
	if (job->is_unlinked) {
		size_t section;
		*address = UNLINKED_BASE + (offset - job->delta);
		return unlinked_find(&job->unlinked, offset - job->delta, &section, rest);
	}
	for (size_t i = 0; i < job->elf.n_segments; i++) {
		const struct elffile_segment *segment = &job->elf.segments[i];
		if (segment->type != PT_LOAD || !segment->exec || offset < segment->offset ||
			offset - segment->offset >= segment->filesz)
			continue;
		*address = segment->vaddr + (offset - segment->offset);
		*rest = segment->filesz - (offset - segment->offset);
		return true;
	}
	return false;
}

static bool to_offset(const struct job *job, uint64_t address, uint64_t *offset)
{
	uint64_t rest;
	size_t section;
	bool exec;

	if (job->kernel) {
		*offset = address + job->delta;
		return true;
	}
	if (job->is_unlinked) {
		*offset = address - UNLINKED_BASE + job->delta;
		return unlinked_find(&job->unlinked, address - UNLINKED_BASE, &section, &rest);
	}
	return elffile_offset(&job->elf, address, offset, &rest, &exec) && exec;
}

/* --- the files --- */

static size_t read_id(const struct elffile *elf, uint8_t out[WIRE_BUILD_ID_MAX])
{
	size_t len = 0;

	return elffile_build_id(elf, out, WIRE_BUILD_ID_MAX, &len) < 0 ? 0 : len;
}

/* Returns whether the debug file is that of the file: by build-id, or by the CRC-32 that the other
 * side has checked.  Symbols follow the same rule. */
static bool belongs(const struct job *job, const struct elffile *debug)
{
	uint8_t own[WIRE_BUILD_ID_MAX], other[WIRE_BUILD_ID_MAX];
	const size_t own_len = read_id(&job->elf, own), other_len = read_id(debug, other);
	const bool linked = job->request->flags & WIRE_FLAG_LINKED;

	if (debug->machine != job->elf.machine || debug->is64 != job->elf.is64 ||
		debug->swapped != job->elf.swapped)
		return false;
	if (own_len && other_len)
		return own_len == other_len && memcmp(own, other, own_len) == 0;
	return linked;
}

static void check_debug(struct job *job)
{
	struct elffile debug;

	if (job->files.debug < 0)
		return;
	if (elffile_open(&debug, job->files.debug) == 0 && belongs(job, &debug))
		job->answer->flags |= WIRE_FLAG_DEBUG;
	else
		job->files.debug = -1;
	elffile_close(&debug);
}

/* Returns whether the file, or its debug file, needs an alternate file that was not given.  Then
 * writes its name to out. */
static bool needs_alt(struct job *job, char *out, size_t *out_len)
{
	const int fd = job->files.debug >= 0 ? job->files.debug : job->files.file;
	const struct elffile_section *section;
	char link[ALT_BYTES + 1];
	struct elffile elf;
	bool needed = false;

	if (job->files.alt >= 0 || job->request->flags & WIRE_FLAG_NO_ALT ||
		elffile_open(&elf, fd) < 0)
		return false;
	section = elffile_find_section(&elf, ".gnu_debugaltlink");
	if (section && section->type == SHT_PROGBITS && section->size <= ALT_BYTES &&
		elffile_read(&elf, link, (size_t)section->size, section->offset) == 0) {
		link[section->size] = '\0';
		const size_t name_len = strlen(link) + 1;
		const size_t id_len =
			section->size > name_len ? (size_t)section->size - name_len : 0;
		needed = id_len > 0 && id_len <= WIRE_BUILD_ID_MAX;
		if (needed) {
			memcpy(job->answer->build_id, link + name_len, id_len);
			job->answer->build_id_len = (uint8_t)id_len;
			job->answer->flags |= WIRE_FLAG_ALT;
			job->answer->count = 1;
			memcpy(out, link, name_len);
			*out_len = name_len;
		}
	}
	elffile_close(&elf);
	return needed;
}

/* Computes the delta of a vmlinux from its symbol _text or _stext. */
static int find_delta(struct job *job)
{
	const bool stext = job->request->flags & WIRE_FLAG_STEXT;
	struct symtab_builder *builder;
	struct elfsyms_kernel kernel = {0};

	int ret = symtab_builder_new(&builder);
	if (ret == 0 && job->request->address)
		ret = elfsyms_read_kernel(&job->elf, builder, &kernel);
	symtab_builder_free(builder);
	const uint64_t was = stext ? kernel.stext : kernel.text;
	if (ret == 0 && was && job->request->address)
		job->delta = job->request->address - was;
	return ret;
}

/* Assigns the descriptors.  Returns 0; -EBADF if one is missing; -EINVAL. */
static int take_files(struct job *job, const struct wire_lines *lines, const int fds[WIRE_FDS_MAX])
{
	size_t n = 1;

	job->files = (struct dwarf_files){.file = fds[0], .debug = -1, .alt = -1};
	if (lines->has_debug > 1 || lines->has_alt > 1 || lines->has_memory > 1 ||
		lines->n_parts > DWARF_PARTS_MAX)
		return -EINVAL;
	if (lines->has_debug)
		job->files.debug = fds[n++];
	if (lines->has_alt)
		job->files.alt = fds[n++];
	for (size_t i = 0; i < lines->n_parts; i++)
		job->parts[i] = fds[n++];
	if (lines->has_memory)
		job->memory = fds[n++];
	job->files.parts = job->parts;
	job->files.n_parts = lines->n_parts;
	for (size_t i = 0; i < n; i++)
		if (fds[i] < 0)
			return -EBADF;
	return 0;
}

/* Computes the delta of a module from the address of its code in the kernel. */
static int find_place(struct job *job)
{
	job->delta = job->request->address;
	if (!job->is_unlinked)
		return -EBADMSG;
	if (!(job->request->flags & WIRE_FLAG_STEXT))
		return 0;
	const struct elffile_section *text = elffile_find_section(&job->elf, ".text");
	const uint64_t at = text ? job->unlinked.at[text - job->elf.sections] : UINT64_MAX;
	if (at == UINT64_MAX)
		return -EBADMSG;
	job->delta -= at;
	return 0;
}

static int open_files(struct job *job)
{
	int ret = elffile_open(&job->elf, job->files.file);
	if (ret < 0)
		return ret;
	job->kernel = job->request->flags & WIRE_FLAG_KERNEL;
	if (job->kernel)
		ret = find_delta(job);
	else if (job->elf.type == ET_REL)
		ret = unlinked_open(&job->unlinked, &job->elf);
	job->is_unlinked = job->unlinked.elf;
	if (ret == 0 && job->request->flags & WIRE_FLAG_LOADED)
		ret = find_place(job);
	if (ret < 0)
		return ret;
	check_debug(job);
	return ret;
}

/* Writes the names of missing split parts to out. */
static void tell_missing(struct job *job, char *out, size_t *out_len)
{
	const char *name;

	*out_len = 0;
	for (size_t i = 0; job->dwarf && (name = dwarf_missing(job->dwarf, i)); i++) {
		const size_t len = strlen(name) + 1;
		if (len > WIRE_NAME_BYTES)
			continue;
		if (*out_len + len > WIRE_PACKET_BYTES)
			break;
		memcpy(out + *out_len, name, len);
		*out_len += len;
		job->answer->count++;
	}
}

/* --- lines --- */

struct place {
	uint64_t address, offset;
};

static int by_address(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Finds the source of all entries.  Their starts are virtual addresses in ascending order. */
static int find_lines(struct job *job)
{
	if (!job->dwarf) {
		gopclntab_lines(job->go, job->builder, job->entries, job->n_entries);
		return 0;
	}
	uint64_t *addresses = calloc(job->n_entries ? job->n_entries : 1, sizeof(*addresses));

	if (!addresses)
		return -ENOMEM;
	for (size_t i = 0; i < job->n_entries; i++)
		addresses[i] = job->entries[i].start;
	int ret = 0;
	if (job->request->flags & WIRE_FLAG_QUICK)
		ret = dwarf_lines_quick(
			job->dwarf, addresses, job->n_entries, job->builder, job->entries);
	if (ret > 0)
		job->answer->flags |= WIRE_FLAG_QUICK;
	else if (ret == 0)
		ret = dwarf_lines(
			job->dwarf, addresses, job->n_entries, job->builder, job->entries);
	free(addresses);
	if (ret == -ENOMEM) {
		dwarf_forget();
		job->dwarf = NULL;
	}
	/* After -ELOOP, the results found so far are right. */
	return ret == -ELOOP || ret > 0 ? 0 : ret;
}

static int lines_of(struct job *job, const uint64_t *offsets, size_t n)
{
	struct place *places = calloc(n, sizeof(*places));
	size_t n_places = 0;
	uint64_t rest;

	job->entries = calloc(n, sizeof(*job->entries));
	if (!places || !job->entries) {
		free(places);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		places[n_places].offset = offsets[i];
		n_places += to_address(job, offsets[i], &places[n_places].address, &rest);
	}
	qsort(places, n_places, sizeof(*places), by_address);
	for (size_t i = 0; i < n_places; i++)
		job->entries[i] = (struct codetab_entry){
			.start = places[i].address, .target = CODETAB_NO_TARGET};
	job->n_entries = n_places;
	int ret = find_lines(job);
	for (size_t i = 0; i < n_places && ret == 0; i++) {
		job->entries[i].start = places[i].offset;
		codetab_builder_add(job->builder, &job->entries[i]);
	}
	free(places);
	return ret;
}

/* Variant of lines_of() for a jitdump, whose offsets are addresses. */
static int jitted_lines_of(struct job *job, const uint64_t *offsets, size_t n)
{
	job->entries = calloc(n, sizeof(*job->entries));
	if (!job->entries)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (i && offsets[i] < offsets[i - 1])
			return -EINVAL;
		job->entries[i] =
			(struct codetab_entry){.start = offsets[i], .target = CODETAB_NO_TARGET};
	}
	int ret = worker_jit_lines(job->files.file, job->request->flags & WIRE_FLAG_TIMED,
		job->builder, job->entries, n);
	if (ret > 0)
		job->answer->flags |= WIRE_FLAG_LINES;
	for (size_t i = 0; i < n && ret >= 0; i++)
		codetab_builder_add(job->builder, &job->entries[i]);
	return ret < 0 ? ret : 0;
}

static int answer_lines(
	struct job *job, const void *payload, size_t len, const int fds[WIRE_FDS_MAX])
{
	const struct wire_lines *lines = payload;

	if (len < sizeof(*lines) || lines->n_offsets == 0 || lines->n_offsets > WIRE_OFFSETS_MAX ||
		len != sizeof(*lines) + lines->n_offsets * sizeof(uint64_t))
		return -EINVAL;
	return take_files(job, lines, fds);
}

/* --- code --- */

static int keep_entry(const struct codetab_entry *entry, void *ctx)
{
	struct job *job = ctx;

	if (array_grow(&job->entries, &job->entries_cap, job->n_entries + 1,
		    sizeof(*job->entries)) < 0)
		return -ENOMEM;
	job->entries[job->n_entries++] = *entry;
	return 0;
}

/* Returns false for a debug file, which has the addresses of the code but not its bytes. */
static bool has_bytes(const struct elffile *elf, uint64_t address)
{
	for (size_t i = 0; i < elf->n_sections; i++) {
		const struct elffile_section *section = &elf->sections[i];
		if (section->type == SHT_NOBITS && section->flags & SHF_EXECINSTR &&
			address >= section->addr && address - section->addr < section->size)
			return false;
	}
	return true;
}

/* Variant of read_code() for a kernel module: its calls are relocated, as in a loaded module. */
static int read_unlinked(
	struct job *job, const struct wire_code *code, uint8_t **bytes, size_t *len)
{
	uint64_t rest;
	size_t number;

	const uint64_t start = code->start - job->delta;

	if (!unlinked_find(&job->unlinked, start, &number, &rest) ||
		job->elf.sections[number].type == SHT_NOBITS)
		return -ENXIO;
	const uint64_t from = start - job->unlinked.at[number];
	*len = code->end - code->start < rest ? (size_t)(code->end - code->start) : (size_t)rest;
	*bytes = malloc(*len);
	if (!*bytes)
		return -ENOMEM;
	int ret = elffile_read(&job->elf, *bytes, *len, job->elf.sections[number].offset + from);
	if (ret < 0)
		return ret;
	ret = unlinked_relocate(&job->unlinked, number, *bytes, from, *len);
	return ret == -ENOMEM ? ret : 0;
}

/* Reads a file of bytes alone: its offset 0 is the start of the part. */
static int read_raw(
	const struct wire_code *code, int fd, uint8_t **bytes, size_t *len, uint64_t *address)
{
	*address = code->start;
	*bytes = malloc((size_t)(code->end - code->start));
	if (!*bytes)
		return -ENOMEM;
	const ssize_t n = pread(fd, *bytes, (size_t)(code->end - code->start), 0);
	*len = n > 0 ? (size_t)n : 0;
	return n < 0 ? -errno : n == 0 ? -ENXIO : 0;
}

/* Reads the bytes of the part, as far as the file has them.  Returns 0; -ENXIO if it has none;
 * -errno. */
static int read_code(struct job *job, const struct wire_code *code, uint8_t **bytes, size_t *len,
	uint64_t *address)
{
	uint64_t rest, at = code->start;
	bool exec;

	*bytes = NULL;
	if (job->memory >= 0)
		return read_raw(code, job->memory, bytes, len, address);
	if (job->is_unlinked) {
		*address = UNLINKED_BASE + (code->start - job->delta);
		return read_unlinked(job, code, bytes, len);
	}
	if (!to_address(job, code->start, address, &rest) || !has_bytes(&job->elf, *address))
		return -ENXIO;
	if (job->kernel && !elffile_offset(&job->elf, *address, &at, &rest, &exec))
		return -ENXIO;
	*len = code->end - code->start < rest ? (size_t)(code->end - code->start) : (size_t)rest;
	*bytes = malloc(*len);
	return *bytes ? elffile_read(&job->elf, *bytes, *len, at) : -ENOMEM;
}

/* Reads the dump's code at the address: the last piece, or the one with the address's number. */
static int read_dump(
	const struct wire_code *code, int fd, bool timed, uint8_t **bytes, struct disasm_code *what)
{
	const uint16_t one = 1;
	const bool little = *(const uint8_t *)&one == 1;
	struct jitdump_code found;
	struct jitdump dump;

	int ret = jitdump_open(&dump, fd, timed);
	if (ret == 0)
		ret = jitdump_find(&dump, code->start, &found);
	if (ret < 0)
		return ret == -ENOENT ? -ENXIO : ret;
	const uint64_t skipped = code->start - found.address, rest = found.size - skipped;
	const size_t len =
		(size_t)(rest < code->end - code->start ? rest : code->end - code->start);
	*bytes = malloc(len);
	if (!*bytes)
		return -ENOMEM;
	const ssize_t n = pread(fd, *bytes, len, (off_t)(found.file_offset + skipped));
	what->len = n > 0 ? (size_t)n : 0;
	what->address = code->start;
	what->machine = dump.machine;
	what->is64 = dump.machine != EM_386 && dump.machine != EM_ARM;
	what->big_endian = dump.swapped == little;
	return n < 0 ? -errno : n == 0 ? -ENXIO : 0;
}

static int disassemble(struct job *job, const struct wire_code *code)
{
	const uint16_t one = 1;
	const bool little = *(const uint8_t *)&one == 1;
	const bool raw = job->request->flags & WIRE_FLAG_RAW;
	struct disasm_code what = {
		.machine = raw ? code->machine : job->elf.machine,
		.is64 = raw ? code->is64 : job->elf.is64,
		.big_endian = raw ? code->big_endian : job->elf.swapped == little,
		.syntax = (enum disasm_syntax)code->syntax,
	};
	uint8_t *bytes = NULL;
	int ret;

	if (raw && job->request->flags & WIRE_FLAG_JITDUMP)
		ret = read_dump(code, job->files.file, job->request->flags & WIRE_FLAG_TIMED,
			&bytes, &what);
	else if (raw)
		ret = read_raw(code, job->files.file, &bytes, &what.len, &what.address);
	else
		ret = read_code(job, code, &bytes, &what.len, &what.address);
	what.bytes = bytes;
	/* Addresses need no bias in the kernel, which has moved since it was linked, or in a
	 * module, which has artificial ones. */
	if (ret == 0 && !raw && !job->kernel && !job->is_unlinked)
		codetab_builder_bias(job->builder, what.address - code->start);
	if (ret == 0 && raw && code->start >> JITSPANS_SHIFT < JITSPANS_NUMBERS)
		codetab_builder_bias(job->builder, (code->start & JITSPANS_PLAIN) - code->start);
	if (ret == 0)
		ret = disasm_run(&what, job->builder, keep_entry, job);
	free(bytes);
	return ret;
}

static void move_entry(const struct job *job, struct codetab_entry *entry)
{
	if (job->request->flags & WIRE_FLAG_RAW)
		return;
	if (job->memory >= 0) {
		entry->start += job->delta - UNLINKED_BASE;
		return;
	}
	/* The whole part is in one segment. */
	if (!to_offset(job, entry->start, &entry->start))
		entry->start = CODETAB_NO_TARGET;
	if (entry->target != CODETAB_NO_TARGET && !to_offset(job, entry->target, &entry->target))
		entry->target = CODETAB_NO_TARGET;
}

static int code_of(struct job *job, const struct wire_code *code)
{
	int ret = disassemble(job, code);

	if (ret == 0 && job->request->flags & WIRE_FLAG_RAW &&
		job->request->flags & WIRE_FLAG_LINES) {
		/* A jitdump comes with the bytes, or contains them. */
		const int dump = job->request->flags & WIRE_FLAG_JITDUMP ? job->files.file
									 : job->files.debug;
		if (dump >= 0 &&
			worker_jit_lines(dump, job->request->flags & WIRE_FLAG_TIMED, job->builder,
				job->entries, job->n_entries) > 0)
			job->answer->flags |= WIRE_FLAG_LINES;
	}
	/* Lines are found by the addresses in the file. */
	for (size_t i = 0; i < job->n_entries && job->memory >= 0; i++)
		job->entries[i].start -= job->delta - UNLINKED_BASE;
	const int lines = ret == 0 && (job->dwarf || job->go) ? find_lines(job) : 0;
	if (lines == -ENOMEM)
		return lines;
	if (lines < 0) {
		/* Broken debug information does not affect the instructions. */
		for (size_t i = 0; i < job->n_entries; i++)
			job->entries[i].n_frames = 0;
		job->answer->flags &= ~(WIRE_FLAG_LINES | WIRE_FLAG_QUICK);
	}
	for (size_t i = 0; i < job->n_entries && ret == 0; i++) {
		move_entry(job, &job->entries[i]);
		if (job->entries[i].start != CODETAB_NO_TARGET)
			codetab_builder_add(job->builder, &job->entries[i]);
	}
	return ret;
}

static int answer_code(
	struct job *job, const void *payload, size_t len, const int fds[WIRE_FDS_MAX])
{
	const struct wire_code *code = payload;

	if (len != sizeof(*code) || code->start >= code->end ||
		code->end - code->start > WIRE_CODE_BYTES_MAX || code->files.n_offsets ||
		code->syntax > DISASM_INTEL)
		return -EINVAL;
	return take_files(job, &code->files, fds);
}

/* --- lines and code --- */

static int read_dwarf(struct job *job)
{
	const bool is_code = job->request->type == WIRE_CODE;

	if (is_code && !(job->request->flags & WIRE_FLAG_LINES))
		return 0;
	int ret = dwarf_open(&job->dwarf, &job->files);
	if (ret < 0) {
		job->dwarf = NULL;
		const int go = ret == -ENOMEM ? ret : gopclntab_open(&job->go, &job->elf);
		if (go == 0 || go == -ENOMEM)
			ret = go;
	}
	if (ret == 0)
		job->answer->flags |= WIRE_FLAG_LINES;
	return is_code && ret != -ENOMEM ? 0 : ret;
}

static bool has_more_to_do(const struct job *job, const struct wire_code *code)
{
	uint64_t address, rest;

	return job->request->type == WIRE_CODE && job->request->flags & WIRE_FLAG_SLICE &&
		job->dwarf && to_address(job, code->start, &address, &rest) &&
		dwarf_prepare(job->dwarf, address);
}

static int answer(struct job *job, const void *payload, char *out, size_t *out_len, int *table)
{
	const bool raw = job->request->flags & WIRE_FLAG_RAW;
	const struct wire_lines *lines = payload;
	const uint64_t *offsets = (const uint64_t *)(const void *)(lines + 1);

	int ret = raw ? 0 : open_files(job);
	if (ret < 0)
		return ret;
	const bool wants_lines =
		job->request->type == WIRE_LINES || job->request->flags & WIRE_FLAG_LINES;
	if (!raw && wants_lines && needs_alt(job, out, out_len))
		return 0;
	ret = codetab_builder_new(&job->builder);
	if (ret == 0 && !raw)
		ret = read_dwarf(job);
	if (ret == 0 && has_more_to_do(job, payload))
		ret = -EAGAIN;
	if (ret < 0)
		return ret;
	if (job->request->type == WIRE_CODE)
		ret = code_of(job, payload);
	else if (raw)
		ret = jitted_lines_of(job, offsets, lines->n_offsets);
	else
		ret = lines_of(job, offsets, lines->n_offsets);
	if (ret == 0)
		tell_missing(job, out, out_len);
	if (ret == 0)
		ret = codetab_builder_finish(job->builder, table);
	return ret;
}

void worker_code_answer(const struct wire_message *request, const void *payload, size_t len,
	const int fds[WIRE_FDS_MAX], struct wire_message *message, char *out, size_t *out_len,
	int *table)
{
	struct job job = {.request = request, .answer = message, .memory = -1};

	(void)elffile_take_read_error();
	int ret = request->type == WIRE_CODE ? answer_code(&job, payload, len, fds)
					     : answer_lines(&job, payload, len, fds);
	if (ret == 0)
		ret = answer(&job, payload, out, out_len, table);
	const int error = elffile_take_read_error();
	/* Lines from incomplete debug information would count as complete. */
	if (error && (request->type == WIRE_LINES || request->flags & WIRE_FLAG_LINES)) {
		dwarf_forget();
		if (*table >= 0)
			close(*table);
		*table = -1;
		ret = -error;
	}
	codetab_builder_free(job.builder);
	gopclntab_free(job.go);
	free(job.entries);
	unlinked_close(&job.unlinked);
	elffile_close(&job.elf);
	if (ret < 0)
		*out_len = 0;
	message->error = -ret;
}
