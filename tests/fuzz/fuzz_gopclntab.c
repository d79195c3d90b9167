/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_gopclntab.c - any bytes as Go's table, moduledata and inlined calls of a program.
 *
 * First byte: bit 0 64 bits, bit 1 the other byte order, bit 2 a position-independent program.
 * Then the lengths of the table and of moduledata (16 bits each), both of these, inlined calls and
 * relocations.  Missing bytes are 0.
 */
#include "symbols/dwarf/gopclntab.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BASE 0x400000u
#define CODE_AT 0x1000u
#define DATA_AT 0x2000u
#define TABLE_AT 0x3000u
#define MODULE_AT 0x4000u
#define NAMES_AT 0x5000u
#define FILE_BYTES 0x6000u
#define TABLE_BYTES 4096u
#define MODULE_BYTES 512u
#define DATA_BYTES 1024u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file = -1;

static void check_function(const struct gopclntab_function *function, void *ctx)
{
	uint64_t *sum = ctx;

	if (function->size == 0 || function->name_len == 0)
		abort();
	for (size_t i = 0; i < function->name_len; i++)
		*sum += (uint8_t)function->name[i];
}

static void check(const struct elffile *elf)
{
	struct codetab_entry entries[32];
	struct codetab_builder *builder;
	struct gopclntab *table;
	struct codetab codes;
	uint64_t sum = 0;
	int fd;

	if (gopclntab_open(&table, elf) < 0)
		return;
	if (codetab_builder_new(&builder) < 0)
		abort();
	gopclntab_functions(table, check_function, &sum);
	for (size_t i = 0; i < 32; i++)
		entries[i] = (struct codetab_entry){
			.start = BASE + CODE_AT + i * 8, .target = CODETAB_NO_TARGET};
	gopclntab_lines(table, builder, entries, 32);
	for (size_t i = 0; i < 32; i++)
		codetab_builder_add(builder, &entries[i]);
	if (codetab_builder_finish(builder, &fd) == 0) {
		if (codetab_open(&codes, fd) < 0)
			abort();
		codetab_close(&codes);
		close(fd);
	}
	codetab_builder_free(builder);
	gopclntab_free(table);
}

/* Writes at most n next bytes of the input to a part of the file; the rest of its `size` is 0. */
static void put(const uint8_t **data, size_t *left, size_t n, size_t size, off_t at)
{
	uint8_t bytes[TABLE_BYTES] = {0};

	n = n < size ? n : size;
	n = n < *left ? n : *left;
	memcpy(bytes, *data, n);
	if (pwrite(file, bytes, size, at) != (ssize_t)size)
		abort();
	*data += n;
	*left -= n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char names[] = "\0.gopclntab\0.noptrdata";
	static struct elffile_segment segments[5];
	struct elffile_section sections[] = {
		{0},
		{.type = SHT_PROGBITS,
			.flags = SHF_ALLOC,
			.addr = BASE + TABLE_AT,
			.offset = TABLE_AT,
			.size = TABLE_BYTES,
			.name = 1},
		{.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_WRITE,
			.addr = BASE + MODULE_AT,
			.offset = MODULE_AT,
			.size = MODULE_BYTES,
			.name = 12},
		{.type = SHT_RELA, .flags = SHF_ALLOC, .offset = DATA_AT + 0x200, .size = 0x200},
		{.type = SHT_STRTAB, .offset = NAMES_AT, .size = sizeof(names)},
	};
	struct elffile elf = {.len = FILE_BYTES,
		.segments = segments,
		.n_segments = 4,
		.sections = sections,
		.n_sections = 5,
		.names_section = 4};
	uint16_t lens[2];

	if (size < 1 + sizeof(lens) || size > 8192)
		return 0;
	if (file < 0) {
		gopclntab_work_max = 1u << 14;
		file = memfd_create("go", MFD_CLOEXEC);
		if (file < 0 || ftruncate(file, FILE_BYTES) < 0 ||
			pwrite(file, names, sizeof(names), NAMES_AT) != sizeof(names))
			abort();
		for (size_t i = 0; i < 4; i++)
			segments[i] = (struct elffile_segment){.type = PT_LOAD,
				.offset = CODE_AT * (i + 1),
				.vaddr = BASE + CODE_AT * (i + 1),
				.filesz = 0x1000,
				.memsz = 0x1000,
				.exec = i == 0};
	}
	elf.fd = file;
	elf.is64 = *data & 1;
	elf.swapped = *data & 2;
	elf.type = *data & 4 ? ET_DYN : ET_EXEC;
	memcpy(lens, data + 1, sizeof(lens));
	data += 1 + sizeof(lens);
	size -= 1 + sizeof(lens);
	put(&data, &size, lens[0], TABLE_BYTES, TABLE_AT);
	put(&data, &size, lens[1], MODULE_BYTES, MODULE_AT);
	put(&data, &size, DATA_BYTES, DATA_BYTES, DATA_AT);
	check(&elf);
	return 0;
}
