/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_elf.c - any bytes as an ELF file: its headers, and its symbols by each reader.
 *
 * The first byte is the place where the separate debug file begins, in 255ths of the rest.
 */
#include "symbols/dwarf/cfi.h"
#include "symbols/elf/elfsyms.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static int make_file(const uint8_t *bytes, size_t len)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		abort();
	return fd;
}

/* Checks that the client accepts the table. */
static void check(struct symtab_builder *builder)
{
	struct symtab table;
	uint32_t count;
	int fd;

	if (symtab_builder_finish(builder, &fd, &count) < 0)
		return;
	if (symtab_open(&table, fd) < 0)
		abort();
	symtab_close(&table);
	close(fd);
}

static void add_function(uint64_t start, uint64_t size, void *ctx)
{
	symtab_builder_function(ctx, start, size);
}

static void read_all(const struct elffile *elf, const struct elffile *debug)
{
	for (int way = 0; way < 4; way++) {
		struct symtab_builder *builder;
		struct elfsyms_kernel kernel;

		if (symtab_builder_new(&builder) < 0)
			abort();
		builder->is_program = way < 2;
		if (way < 2) {
			cfi_functions(elf, add_function, builder);
			elfsyms_read(elf, way ? debug : elf, builder);
			(void)symtab_builder_unnamed(builder);
			elfsyms_read_dynamic(elf, builder);
		}
		if (way == 2)
			elfsyms_read_module(elf, builder);
		if (way == 3 && elfsyms_read_kernel(elf, builder, &kernel) == 0)
			symtab_builder_move(builder, kernel.text);
		check(builder);
		symtab_builder_free(builder);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct elffile elf, debug;
	uint8_t build_id[20];
	size_t id_len;

	if (len < 1 || len > 65536)
		return 0;
	const size_t cut = 1 + (len - 1) * bytes[0] / 255;
	int fd = make_file(bytes + 1, cut - 1), debug_fd = make_file(bytes + cut, len - cut);
	int ret = elffile_open(&elf, fd);
	/* The debug file is optional: the first file takes its place. */
	if (elffile_open(&debug, debug_fd) < 0) {
		elffile_close(&debug);
		if (elffile_open(&debug, fd) < 0)
			ret = -1;
	}
	if (ret == 0) {
		elffile_build_id(&elf, build_id, sizeof(build_id), &id_len);
		elffile_has_code_section(&elf, ".plt");
		read_all(&elf, &debug);
	}
	elffile_close(&elf);
	elffile_close(&debug);
	close(fd);
	close(debug_fd);
	return 0;
}
