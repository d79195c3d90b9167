/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_cfi.c - any bytes as call frame information; the client must accept the resulting table.
 *
 * First byte: bit 0 arm64; bit 1 the rest is an ELF file, else .eh_frame and .debug_frame; bit 2
 * the end is unknown.  Second byte: the part of the rest, in 256ths, that is the first section.
 */
#include "symbols/dwarf/cfi.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_file(const uint8_t *bytes, size_t len, struct unwtab_builder *builder)
{
	const int fd = memfd_create("elf", MFD_CLOEXEC);
	struct elffile elf;
	bool used_debug;

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		abort();
	if (elffile_open(&elf, fd) == 0) {
		cfi_read(&elf, &elf, builder, &used_debug);
		cfi_code_bytes(&elf);
	}
	elffile_close(&elf);
	close(fd);
}

/* Checks that functions ascend, and that none is empty. */
static void check_function(uint64_t start, uint64_t size, void *ctx)
{
	uint64_t *last = ctx;

	if (size == 0 || (*last != UINT64_MAX && start <= *last))
		abort();
	*last = start;
}

static void read_sections(
	const uint8_t *data, const uint8_t *bytes, size_t len, struct unwtab_builder *builder)
{
	const size_t first = len * data[1] / 256;
	uint64_t last = UINT64_MAX;
	struct elffile_segment segments[2];
	struct elffile elf = {.fd = -1,
		.is64 = true,
		.machine = data[0] & 1 ? EM_AARCH64 : EM_X86_64,
		.segments = segments,
		.n_segments = 2};
	const struct cfi_section sections[] = {
		{.bytes = bytes, .len = first, .vaddr = 0x1000, .has_no_end = data[0] & 4},
		{.bytes = bytes + first, .len = len - first, .is_debug = true},
	};

	segments[0] = (struct elffile_segment){.type = PT_LOAD,
		.offset = 0,
		.vaddr = 0x1000,
		.filesz = 0x100000,
		.memsz = 0x100000,
		.exec = true};
	segments[1] = (struct elffile_segment){.type = PT_LOAD,
		.offset = UINT64_MAX - 0x20000,
		.vaddr = UINT64_MAX / 2,
		.filesz = 0x10000,
		.memsz = 0x10000,
		.exec = true};
	if (cfi_add(&elf, sections, 2, builder) < 0 ||
		cfi_add_functions(&elf, sections, 2, check_function, &last) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwtab_builder *builder;
	struct unwtab table;
	uint32_t n_rows;
	int fd;

	if (size < 2 || size > 65536)
		return 0;
	uint8_t *bytes = malloc(size - 1);
	if (!bytes || unwtab_builder_new(&builder, EM_X86_64) < 0)
		abort();
	memcpy(bytes, data + 2, size - 2);
	if (data[0] & 2)
		read_file(bytes, size - 2, builder);
	else
		read_sections(data, bytes, size - 2, builder);
	if (unwtab_builder_finish(builder, &fd, &n_rows) < 0 || unwtab_open(&table, fd) < 0)
		abort();
	unwtab_close(&table);
	close(fd);
	unwtab_builder_free(builder);
	free(bytes);
	return 0;
}
