/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_elfsyms.c - the functions among the symbols of an ELF file, and their file offsets.
 */
#include "symbols/elf/elfsyms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "small_elf.h"

#define FUNC ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define IFUNC ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC)
#define LABEL ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE)
#define OBJECT ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)

static int read_both(
	const struct elffile *elf, const struct elffile *from, struct symtab_builder *builder)
{
	const int ret = elfsyms_read(elf, from, builder);

	return ret < 0 ? ret : elfsyms_read_dynamic(elf, builder);
}

static int read_symbols(const struct small_elf *small, size_t len, struct symtab *table)
{
	struct symtab_builder *builder;
	struct elffile elf;
	uint32_t count;
	int fd = small_elf_file(small, len), table_fd = -1;

	memset(table, 0, sizeof(*table));
	int ret = elffile_open(&elf, fd);
	if (ret == 0) {
		assert_int_equal(symtab_builder_new(&builder), 0);
		ret = read_both(&elf, &elf, builder);
		if (ret == 0)
			ret = symtab_builder_finish(builder, &table_fd, &count);
		symtab_builder_free(builder);
	}
	elffile_close(&elf);
	close(fd);
	if (ret == 0) {
		assert_int_equal(symtab_open(table, table_fd), 0);
		close(table_fd);
	}
	return ret;
}

static const char *name_at(const struct symtab *table, uint64_t offset)
{
	int64_t i = symtab_find(table, offset);

	return i < 0 ? NULL : table->pool + table->entries[i].name;
}

static void test_functions(void **state)
{
	static const struct small_symbol symbols[] = {
		{"function", SMALL_TEXT_ADDR, 0x10, FUNC, 1},
		{"resolver", SMALL_TEXT_ADDR + 0x10, 0x10, IFUNC, 1},
		{"assembly", SMALL_TEXT_ADDR + 0x40, 0, LABEL, 1},
		{"beyond_section", SMALL_TEXT_ADDR + 0x3f0, 0x1000, FUNC, 1},
		{"data", 0x20600, 0x10, OBJECT, 2},
		{"func_in_data", 0x20620, 0x10, FUNC, 2},
		{"label_in_data", 0x20630, 0x10, LABEL, 2},
		{"undefined", 0, 0, FUNC, SHN_UNDEF},
		{"absolute", SMALL_TEXT_ADDR + 0x100, 4, FUNC, SHN_ABS},
		{"nowhere", 0x999999, 4, FUNC, 1},
		{"", SMALL_TEXT_ADDR + 0x200, 4, FUNC, 1},
	};

	(void)state;
	for (int variant = 0; variant < 4; variant++) {
		struct small_elf small;
		struct symtab table;
		small_elf_make(&small, variant & 1, variant & 2, symbols,
			sizeof(symbols) / sizeof(symbols[0]));
		assert_int_equal(read_symbols(&small, small.len, &table), 0);
		assert_int_equal(table.n_entries, 4);
		assert_string_equal(name_at(&table, SMALL_TEXT_AT), "function");
		assert_string_equal(name_at(&table, SMALL_TEXT_AT + 0x1f), "resolver");
		assert_null(name_at(&table, SMALL_TEXT_AT + 0x20));
		assert_string_equal(name_at(&table, SMALL_TEXT_AT + 0x40), "assembly");
		assert_string_equal(name_at(&table, SMALL_TEXT_AT + 0x3ef), "assembly");
		assert_string_equal(name_at(&table, SMALL_TEXT_AT + 0x3ff), "beyond_section");
		assert_null(name_at(&table, SMALL_TEXT_AT + 0x400));
		symtab_close(&table);
	}
}

/* .dynsym fills the gaps of .symtab and suffices alone. */
static void test_dynamic(void **state)
{
	static const struct small_symbol symbols[] = {
		{"only_function", SMALL_TEXT_ADDR, 0x10, FUNC, 1},
	};
	struct small_elf small;
	struct symtab table;

	(void)state;
	small_elf_make(&small, true, false, symbols, 1);
	size_t headers = small.len - 6 * sizeof(Elf64_Shdr);
	SMALL_PUT(&small, headers + 3 * sizeof(Elf64_Shdr), Shdr, sh_type, SHT_DYNSYM);
	assert_int_equal(read_symbols(&small, small.len, &table), 0);
	assert_string_equal(name_at(&table, SMALL_TEXT_AT), "only_function");
	symtab_close(&table);

	/* A .symtab with equal symbols, in place of .data's header. */
	small_section(&small, headers, 2, 7, SHT_SYMTAB, 0, 0, 0x700, 2 * sizeof(Elf64_Sym), 4);
	assert_int_equal(read_symbols(&small, small.len, &table), 0);
	assert_int_equal(table.n_entries, 1);
	symtab_close(&table);
}

/* Replaces the section headers by PT_DYNAMIC, with a hash table of either kind. */
static size_t make_dynamic(struct small_elf *small, size_t n, bool gnu)
{
	const size_t each = small->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	const unsigned int word = small->is64 ? 8 : 4;
	/* data: address of the start of the file */
	const uint64_t data = 0x20600 - 0x600, hash = 0x1a00;
	const uint64_t entries[] = {DT_STRTAB, data + 0x700 + (n + 1) * each, DT_SYMTAB,
		data + 0x700, DT_STRSZ, 256, gnu ? DT_GNU_HASH : DT_HASH, data + hash, DT_NULL, 0};
	const uint32_t gnu_hash[] = {2, 1, 1, 0}; /* buckets, first symbol, words of the filter */

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		small_put(small, 0x1800 + i * word, word, entries[i]);
	if (gnu) {
		for (size_t i = 0; i < 4; i++)
			small_put(small, hash + i * 4, 4, gnu_hash[i]);
		/* The second chain contains only the last symbol. */
		small_put(small, hash + 16 + word, 4, 1);
		small_put(small, hash + 20 + word, 4, n);
		for (size_t i = 0; i < n; i++)
			small_put(small, hash + 24 + word + i * 4, 4, i + 2 >= n);
	} else {
		small_put(small, hash + 4, 4, n + 1);
	}
	small_segment(small, 1, PT_LOAD, PF_R | PF_W, 0x600, 0x20600, 0x1a00);
	small_segment(small, 3, PT_DYNAMIC, PF_R, 0x1800, data + 0x1800, sizeof(entries));
	SMALL_PUT(small, 0, Ehdr, e_phnum, 4);
	SMALL_PUT(small, 0, Ehdr, e_shoff, 0);
	SMALL_PUT(small, 0, Ehdr, e_shnum, 0);
	return SMALL_ELF_BYTES;
}

/* After strip --strip-section-headers, the dynamic symbols remain. */
static void test_no_section_headers(void **state)
{
	static const struct small_symbol symbols[] = {
		{"imported", 0, 0, FUNC, SHN_UNDEF}, {"first", SMALL_TEXT_ADDR, 0x10, FUNC, 1},
		{"datum", 0x20640, 0x10, OBJECT, 12},
		{"last", SMALL_TEXT_ADDR + 0x20, 0x10, FUNC, 9}, /* any section number */
	};

	(void)state;
	for (int variant = 0; variant < 8; variant++) {
		struct small_elf small;
		struct symtab table;

		small_elf_make(&small, variant & 1, variant & 2, symbols, 4);
		const size_t len = make_dynamic(&small, 4, variant & 4);
		assert_int_equal(read_symbols(&small, len, &table), 0);
		assert_int_equal(table.n_entries, 2);
		assert_string_equal(name_at(&table, SMALL_TEXT_AT + 3), "first");
		assert_string_equal(name_at(&table, SMALL_TEXT_AT + 0x21), "last");
		symtab_close(&table);
		/* A table that leads out of the file, or into a loop, is ignored. */
		small_put(&small, variant & 4 ? 0x1a00 : 0x1a04, 4, UINT32_MAX);
		assert_int_equal(read_symbols(&small, len, &table), 0);
		assert_int_equal(table.n_entries, 0);
		symtab_close(&table);
	}
}

static void test_mapping_marks(void **state)
{
	static const struct small_symbol symbols[] = {
		{"$x", SMALL_TEXT_ADDR, 0, LABEL, 1},
		{"$x.123", SMALL_TEXT_ADDR + 0x10, 0, LABEL, 1},
		{"code", SMALL_TEXT_ADDR + 0x20, 0x10, FUNC, 1},
	};
	struct small_elf small;
	struct symtab table;

	(void)state;
	small_elf_make(&small, true, false, symbols, 3);
	SMALL_PUT(&small, 0, Ehdr, e_machine, EM_AARCH64);
	assert_int_equal(read_symbols(&small, small.len, &table), 0);
	assert_int_equal(table.n_entries, 1);
	symtab_close(&table);
	SMALL_PUT(&small, 0, Ehdr, e_machine, EM_X86_64);
	assert_int_equal(read_symbols(&small, small.len, &table), 0);
	assert_int_equal(table.n_entries, 3);
	symtab_close(&table);
}

/* On 32-bit ARM the lowest bit marks Thumb code; $a, $t and $d are mapping symbols. */
static void test_thumb(void **state)
{
	static const struct small_symbol symbols[] = {
		{"thumb", SMALL_TEXT_ADDR + 0x11, 0x10, FUNC, 1},
		{"arm", SMALL_TEXT_ADDR + 0x20, 0x10, FUNC, 1},
		{"$t", SMALL_TEXT_ADDR + 0x40, 0, LABEL, 1},
		{"$a.7", SMALL_TEXT_ADDR + 0x50, 0, LABEL, 1},
	};
	struct small_elf small;
	struct symtab table;

	(void)state;
	for (int big = 0; big < 2; big++) {
		small_elf_make(&small, false, big, symbols, 4);
		SMALL_PUT(&small, 0, Ehdr, e_machine, EM_ARM);
		assert_int_equal(read_symbols(&small, small.len, &table), 0);
		assert_int_equal(table.n_entries, 2);
		assert_string_equal(name_at(&table, SMALL_TEXT_AT + 0x10), "thumb");
		assert_string_equal(name_at(&table, SMALL_TEXT_AT + 0x1f), "thumb");
		assert_string_equal(name_at(&table, SMALL_TEXT_AT + 0x20), "arm");
		symtab_close(&table);
	}
}

static void close_all(struct elffile *elf)
{
	int fd = elf->fd;

	elffile_close(elf);
	close(fd);
}

static void finish(struct symtab_builder *builder, struct symtab *table)
{
	uint32_t count;
	int fd;

	assert_int_equal(symtab_builder_finish(builder, &fd, &count), 0);
	symtab_builder_free(builder);
	assert_int_equal(symtab_open(table, fd), 0);
	close(fd);
}

/* A file of objcopy --only-keep-debug: addresses remain, file contents do not. */
static void test_debug_file(void **state)
{
	static const struct small_symbol all[] = {
		{"hidden", SMALL_TEXT_ADDR + 0x10, 0x10, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 1},
		{"shown", SMALL_TEXT_ADDR + 0x20, 0x10, FUNC, 1},
	};
	struct elffile elf, debug;
	struct symtab_builder *builder;
	struct small_elf stripped, kept;
	struct symtab table;

	(void)state;
	for (int variant = 0; variant < 4; variant++) {
		small_elf_make(&stripped, variant & 1, variant & 2, NULL, 0);
		small_elf_make(&kept, variant & 1, variant & 2, all, 2);
		small_segment(&kept, 0, PT_LOAD, PF_R | PF_X, 0x40, SMALL_TEXT_ADDR, 0);
		assert_int_equal(elffile_open(&elf, small_elf_file(&stripped, stripped.len)), 0);
		assert_int_equal(elffile_open(&debug, small_elf_file(&kept, kept.len)), 0);
		assert_true(elfsyms_has_symtab(&debug));
		assert_int_equal(symtab_builder_new(&builder), 0);
		assert_int_equal(read_both(&elf, &debug, builder), 0);
		finish(builder, &table);
		assert_int_equal(table.n_entries, 2);
		assert_string_equal(name_at(&table, SMALL_TEXT_AT + 0x10), "hidden");
		assert_string_equal(name_at(&table, SMALL_TEXT_AT + 0x2f), "shown");
		symtab_close(&table);
		close_all(&elf);
		close_all(&debug);
	}
}

static void test_kernel(void **state)
{
	static const struct small_symbol symbols[] = {
		{"_text", SMALL_TEXT_ADDR, 0, FUNC, 1},
		{"_stext", SMALL_TEXT_ADDR + 0x10, 0, FUNC, 1},
		{"do_it", SMALL_TEXT_ADDR + 0x20, 0x10, FUNC, 1},
		{"data", 0x20600, 0x10, FUNC, 2},
	};
	struct elfsyms_kernel kernel;
	struct symtab_builder *builder;
	struct small_elf small;
	struct symtab table;
	struct elffile elf;

	(void)state;
	small_elf_make(&small, true, false, symbols, 4);
	assert_int_equal(elffile_open(&elf, small_elf_file(&small, small.len)), 0);
	assert_int_equal(symtab_builder_new(&builder), 0);
	assert_int_equal(elfsyms_read_kernel(&elf, builder, &kernel), 0);
	assert_int_equal(kernel.text, SMALL_TEXT_ADDR);
	assert_int_equal(kernel.stext, SMALL_TEXT_ADDR + 0x10);
	finish(builder, &table);
	assert_int_equal(table.n_entries, 3);
	assert_string_equal(name_at(&table, SMALL_TEXT_ADDR + 0x2f), "do_it");
	symtab_close(&table);
	close_all(&elf);
}

/* A .ko file: .text is section 1, section 2 has more code after it, aligned, in the order of the
 * headers. Code of .init is gone when samples are taken. */
static void test_module(void **state)
{
	static const struct small_symbol symbols[] = {
		{"in_text", 0x10, 0x10, FUNC, 1},
		{"in_more", 0x8, 0x10, FUNC, 2},
		{"beyond", 0x5000, 0x10, FUNC, 2},
	};
	struct symtab_builder *builder;
	struct small_elf small;
	struct symtab table;
	struct elffile elf;

	(void)state;
	for (int init = 0; init < 2; init++) {
		small_elf_make(&small, true, false, symbols, 3);
		size_t headers = small.len - 6 * sizeof(Elf64_Shdr);
		size_t first = headers + sizeof(Elf64_Shdr), second = first + sizeof(Elf64_Shdr);
		SMALL_PUT(&small, 0, Ehdr, e_type, ET_REL);
		SMALL_PUT(&small, 0, Ehdr, e_phnum, 0);
		SMALL_PUT(&small, first, Shdr, sh_addr, 0);
		SMALL_PUT(&small, first, Shdr, sh_size, 0x3f1);
		SMALL_PUT(&small, second, Shdr, sh_addr, 0);
		SMALL_PUT(&small, second, Shdr, sh_flags, SHF_ALLOC | SHF_EXECINSTR);
		SMALL_PUT(&small, second, Shdr, sh_addralign, 0x100);
		/* Renames ".data" to ".init" in the table of section names. */
		for (size_t at = 0x700; init && at + 6 < headers; at++)
			if (!memcmp(small.bytes + at, ".data", 6))
				memcpy(small.bytes + at, ".init", 6);
		assert_int_equal(elffile_open(&elf, small_elf_file(&small, small.len)), 0);
		assert_int_equal(symtab_builder_new(&builder), 0);
		assert_int_equal(elfsyms_read_module(&elf, builder), 0);
		finish(builder, &table);
		assert_int_equal(table.n_entries, init ? 1 : 2);
		assert_string_equal(name_at(&table, 0x1f), "in_text");
		if (!init)
			assert_string_equal(name_at(&table, 0x408), "in_more");
		symtab_close(&table);
		close_all(&elf);
	}
}

/* The first of equally good aliases wins, as in perf. */
static void test_first_alias(void **state)
{
	static const struct small_symbol symbols[] = {
		{"z@@V2.1", SMALL_TEXT_ADDR, 0x10, FUNC, 1},
		{"a@V1.10", SMALL_TEXT_ADDR, 0x10, FUNC, 1},
		{"b@V1.10", SMALL_TEXT_ADDR + 0x20, 0x10, FUNC, 1},
		{"y@@V2.1", SMALL_TEXT_ADDR + 0x20, 0x10, FUNC, 1},
	};
	struct small_elf small;
	struct symtab table;

	(void)state;
	small_elf_make(&small, true, false, symbols, 4);
	assert_int_equal(read_symbols(&small, small.len, &table), 0);
	assert_string_equal(name_at(&table, SMALL_TEXT_AT), "z@@V2.1");
	assert_string_equal(name_at(&table, SMALL_TEXT_AT + 0x20), "b@V1.10");
	symtab_close(&table);
}

/* More names than one window holds, in the opposite order to the symbols. */
static void test_name_order(void **state)
{
	enum { N = 60 };
	static char names[N][16];
	struct small_symbol symbols[N];
	struct small_elf small;
	struct symtab table;

	(void)state;
	for (unsigned int i = 0; i < N; i++) {
		unsigned int at = N - 1 - i;
		memcpy(names[i], "function_aa", 12);
		names[i][9] = (char)('a' + at / 26);
		names[i][10] = (char)('a' + at % 26);
		symbols[i] = (struct small_symbol){names[i], SMALL_TEXT_ADDR + 8 * at, 8, FUNC, 1};
	}
	small_elf_make(&small, true, false, symbols, N);
	assert_int_equal(read_symbols(&small, small.len, &table), 0);
	assert_int_equal(table.n_entries, N);
	for (unsigned int i = 0; i < N; i++)
		assert_string_equal(name_at(&table, SMALL_TEXT_AT + 8 * (N - 1 - i)), names[i]);
	symtab_close(&table);
}

static void test_hostile(void **state)
{
	static const struct small_symbol symbols[] = {
		{"first", SMALL_TEXT_ADDR, 0x10, FUNC, 1},
		{"second", SMALL_TEXT_ADDR + 0x20, 0, LABEL, 1},
	};
	static const uint8_t worst[] = {0x00, 0x7f, 0x80, 0xff};
	struct small_elf good;
	struct symtab table;

	(void)state;
	small_elf_make(&good, true, false, symbols, 2);
	for (size_t i = 0; i < good.len; i++) {
		if (i == 0x1c0)
			i = 0x700;
		for (size_t w = 0; w < sizeof(worst); w++) {
			struct small_elf bad = good;
			bad.bytes[i] = worst[w];
			read_symbols(&bad, bad.len, &table);
			symtab_close(&table);
		}
	}
	for (size_t cut = 0; cut < good.len; cut += 5) {
		read_symbols(&good, cut, &table);
		symtab_close(&table);
	}

	/* A string table without an end: the name ends with the file. */
	size_t headers = good.len - 6 * sizeof(Elf64_Shdr);
	SMALL_PUT(&good, headers + 4 * sizeof(Elf64_Shdr), Shdr, sh_size, UINT64_MAX);
	assert_int_equal(read_symbols(&good, good.len, &table), 0);
	assert_string_equal(name_at(&table, SMALL_TEXT_AT), "first");
	symtab_close(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_dynamic),
		cmocka_unit_test(test_no_section_headers),
		cmocka_unit_test(test_mapping_marks),
		cmocka_unit_test(test_thumb),
		cmocka_unit_test(test_debug_file),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_module),
		cmocka_unit_test(test_first_alias),
		cmocka_unit_test(test_name_order),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
