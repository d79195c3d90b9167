/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_gopclntab.c - Go's function table in each of its layouts, made by hand; then damaged.
 *
 *   file     address     contents
 *   0x1000   0x401000    .text: main.main (0x40 bytes, main.helper inlined at 0x10..0x1f),
 *                        main.leaf (0x40 bytes)
 *   0x2000   0x402000    .rodata, with the inlined calls at +0x100
 *   0x3000   0x403000    .gopclntab
 *   0x4000   0x404000    .noptrdata, with moduledata at +0x20
 *   0x5000               section headers
 */
#include "symbols/dwarf/gopclntab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TEXT 0x401000u
#define RODATA 0x402000u
#define TABLE 0x403000u
#define MODULE 0x404020u
#define FILE_BYTES 0x6000u
#define SECTIONS 6u

enum layout { GO_1_2, GO_1_16, GO_1_18, GO_1_20, GO_1_26, LAYOUTS };

struct made {
	uint8_t bytes[FILE_BYTES];
	uint32_t at; /* offset of the next write */
	bool is64;
};

static void put(struct made *made, unsigned int width, uint64_t value)
{
	for (unsigned int i = 0; i < width; i++, value >>= 8)
		made->bytes[made->at++] = (uint8_t)value;
}

static void put_at(struct made *made, uint32_t at, unsigned int width, uint64_t value)
{
	const uint32_t was = made->at;

	made->at = at;
	put(made, width, value);
	made->at = was;
}

static void put_word(struct made *made, uint64_t value)
{
	put(made, made->is64 ? 8 : 4, value);
}

/* Writes a text. Returns its offset in the table. */
static uint32_t put_text(struct made *made, const char *text)
{
	const uint32_t at = made->at - 0x3000;

	memcpy(made->bytes + made->at, text, strlen(text) + 1);
	made->at += (uint32_t)strlen(text) + 1;
	return at;
}

/* Writes pairs of a value and its number of bytes. The table has differences, from -1 on. Returns
 * the offset. */
static uint32_t put_values(struct made *made, const int32_t *pairs, size_t n)
{
	const uint32_t at = made->at - 0x3000;
	int32_t value = -1;

	for (size_t i = 0; i < n; i++) {
		const int32_t by = pairs[2 * i] - value;
		value = pairs[2 * i];
		assert_in_range(by < 0 ? -by : by, 0, 31);
		put(made, 1, by < 0 ? (uint32_t)-by * 2 - 1 : (uint32_t)by * 2);
		put(made, 1, (uint32_t)pairs[2 * i + 1]);
	}
	put(made, 1, 0);
	return at;
}

struct parts {
	uint32_t names, cus, files, values, functions;
	uint32_t name[3], file[2]; /* main.main, main.leaf, main.helper; main.go, help.go */
	uint32_t file_of[2], line_of[2], inline_of; /* offsets in values */
	uint32_t func[2], pairs;
};

static void put_func(struct made *made, enum layout layout, const struct parts *parts, int i)
{
	const uint32_t values = layout == GO_1_2 ? 0 : parts->values;
	const uint32_t names = layout == GO_1_2 ? 0 : parts->names;

	if (layout < GO_1_18)
		put_word(made, TEXT + (uint32_t)i * 0x40);
	else
		put(made, 4, (uint32_t)i * 0x40);
	put(made, 4, parts->name[i] - names);
	put(made, 4, 0);
	put(made, 4, 0);
	put(made, 4, 0);
	put(made, 4, parts->file_of[i] - values);
	put(made, 4, parts->line_of[i] - values);
	put(made, 4, i == 0 ? 3 : 0); /* number of pcdata */
	put(made, 4, 0); /* compilation unit */
	if (layout >= GO_1_20)
		put(made, 4, i == 0 ? 4 : 19);
	put(made, 3, 0);
	put(made, 1, i == 0 ? 4 : 0); /* number of funcdata */
	if (i)
		return;
	put(made, 4, 0);
	put(made, 4, 0);
	put(made, 4, parts->inline_of - values);
	if (layout >= GO_1_18) {
		put(made, 12, 0);
		put(made, 4, 0x100);
		return;
	}
	while ((made->at - 0x3000) % (made->is64 ? 8 : 4))
		put(made, 1, 0);
	for (int word = 0; word < 3; word++)
		put_word(made, 0);
	put_word(made, RODATA + 0x100);
}

static void put_table(struct made *made, enum layout layout, struct parts *parts)
{
	static const uint32_t magics[LAYOUTS] = {
		0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1, 0xfffffff1};
	static const int32_t files[] = {0, 0x10, 1, 0x10, 0, 0x20};
	static const int32_t lines[] = {5, 8, 7, 8, 3, 0x10, 8, 0x20};
	static const int32_t inlined[] = {-1, 0x10, 0, 0x10, -1, 0x20};
	static const int32_t leaf_files[] = {0, 0x40}, leaf_lines[] = {20, 0x40};
	const unsigned int word = made->is64 ? 8 : 4;
	const uint32_t header = 8 + 8 * word;

	made->at = 0x3000;
	put(made, 4, magics[layout]);
	put(made, 2, 0);
	put(made, 1, 1);
	put(made, 1, word);
	made->at = 0x3000 + header + (layout == GO_1_2 ? 5 * word + 4 : 0);
	put(made, 1, 0);
	parts->names = made->at - 1 - 0x3000;
	parts->name[0] = put_text(made, "main.main");
	parts->name[1] = put_text(made, "main.leaf");
	parts->name[2] = put_text(made, "main.helper");
	while (made->at % 4)
		put(made, 1, 0);
	parts->cus = made->at - 0x3000;
	put(made, 4, 0);
	put(made, 4, 8);
	parts->files = made->at - 0x3000;
	parts->file[0] = put_text(made, "main.go");
	parts->file[1] = put_text(made, "help.go");
	parts->values = made->at - 0x3000;
	put(made, 1, 0);
	parts->file_of[0] = put_values(made, files, 3);
	parts->line_of[0] = put_values(made, lines, 4);
	parts->inline_of = put_values(made, inlined, 3);
	parts->file_of[1] = put_values(made, leaf_files, 1);
	parts->line_of[1] = put_values(made, leaf_lines, 1);
	while (made->at % 8)
		put(made, 1, 0);
	parts->functions = made->at - 0x3000;
	parts->pairs = layout == GO_1_2 ? 8 + word : parts->functions;
	if (layout != GO_1_2)
		made->at += 5 * (layout >= GO_1_18 ? 4 : word);
	for (int i = 0; i < 2; i++) {
		while (made->at % 8)
			put(made, 1, 0);
		parts->func[i] = made->at - 0x3000;
		put_func(made, layout, parts, i);
	}
}

static void put_header(struct made *made, enum layout layout, const struct parts *parts)
{
	const uint32_t base = layout == GO_1_2 ? 0 : parts->functions;

	made->at = 0x3008;
	put_word(made, 2);
	if (layout != GO_1_2) {
		put_word(made, 2);
		if (layout >= GO_1_18)
			put_word(made, layout == GO_1_26 ? 0 : TEXT);
		put_word(made, parts->names);
		put_word(made, parts->cus);
		put_word(made, parts->files);
		put_word(made, parts->values);
		put_word(made, parts->functions);
	}
	made->at = 0x3000 + parts->pairs;
	for (uint32_t i = 0; i < 3; i++) {
		if (layout >= GO_1_18)
			put(made, 4, i * 0x40);
		else
			put_word(made, TEXT + i * 0x40);
		if (i == 2)
			break;
		if (layout >= GO_1_18)
			put(made, 4, parts->func[i] - base);
		else
			put_word(made, parts->func[i] - base);
	}
	if (layout != GO_1_2)
		return;
	/* Offsets of the file names, by number. */
	const uint32_t files = (parts->func[1] + 0x80) & ~3u;
	put(made, 4, files);
	put_at(made, 0x3000 + files, 4, parts->file[0]);
	put_at(made, 0x3000 + files + 4, 4, parts->file[1]);
}

static void put_module(struct made *made, const struct parts *parts)
{
	made->at = 0x4020;
	for (unsigned int i = 0; i < 45; i++)
		put_word(made,
			i == 0		  ? TABLE
				: i == 1  ? TABLE + parts->names
				: i == 20 ? TEXT
				: i == 21 ? TEXT + 0x80
				: i == 22 ? TEXT
				: i == 23 ? TEXT + 0x80
				: i == 26 ? RODATA + 0x200 /* an address without an inlined call */
				: i == 40 ? RODATA
					  : 0);
}

static void put_section(struct made *made, uint32_t name, uint32_t type, uint64_t flags,
	uint64_t addr, uint64_t offset, uint64_t size)
{
	put(made, 4, name);
	put(made, 4, type);
	put_word(made, flags);
	put_word(made, addr);
	put_word(made, offset);
	put_word(made, size);
	put(made, 8, 0);
	put_word(made, 8);
	put_word(made, 0);
}

static void put_segment(struct made *made, uint32_t flags, uint64_t offset)
{
	put(made, 4, PT_LOAD);
	if (made->is64)
		put(made, 4, flags);
	put_word(made, offset);
	put_word(made, 0x400000 + offset);
	put_word(made, 0x400000 + offset);
	put_word(made, 0x1000);
	put_word(made, 0x1000);
	if (!made->is64)
		put(made, 4, flags);
	put_word(made, 0x1000);
}

static void put_elf(struct made *made, const char *table_name)
{
	const uint32_t headers = 0x5000, names = 0x5800;

	memcpy(made->bytes, ELFMAG, SELFMAG);
	made->bytes[EI_CLASS] = made->is64 ? ELFCLASS64 : ELFCLASS32;
	made->bytes[EI_DATA] = ELFDATA2LSB;
	made->at = 16;
	put(made, 2, ET_EXEC);
	put(made, 2, made->is64 ? EM_X86_64 : EM_386);
	put(made, 4, 1);
	put_word(made, TEXT);
	put_word(made, 0x100);
	put_word(made, headers);
	put(made, 6, 0);
	put(made, 2, made->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
	put(made, 2, 4);
	put(made, 2, made->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
	put(made, 2, SECTIONS);
	put(made, 2, SECTIONS - 1);
	made->at = 0x100;
	put_segment(made, PF_R | PF_X, 0x1000);
	put_segment(made, PF_R, 0x2000);
	put_segment(made, PF_R, 0x3000);
	put_segment(made, PF_R | PF_W, 0x4000);
	made->at = headers;
	put_section(made, 0, SHT_NULL, 0, 0, 0, 0);
	put_section(made, 1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, 0x1000, 0x1000);
	put_section(made, 7, SHT_PROGBITS, SHF_ALLOC, RODATA, 0x2000, 0x1000);
	put_section(made, 40, SHT_PROGBITS, SHF_ALLOC, TABLE, 0x3000, 0x1000);
	put_section(made, strcmp(table_name, ".none") ? 26 : 15, SHT_PROGBITS,
		SHF_ALLOC | SHF_WRITE, MODULE - 0x20, 0x4000, 0x1000);
	put_section(made, 0, SHT_STRTAB, 0, 0, names, 0x100);
	memcpy(made->bytes + names, "\0.text\0.rodata\0.noptrdata\0.go.buildinfo", 40);
	strcpy((char *)made->bytes + names + 40, table_name);
}

static void make(struct made *made, enum layout layout, bool is64)
{
	struct parts parts = {0};

	*made = (struct made){.is64 = is64};
	put_table(made, layout, &parts);
	put_header(made, layout, &parts);
	put_module(made, &parts);
	made->at = 0x2100;
	if (layout >= GO_1_20) {
		put(made, 4, 0);
		put(made, 4, parts.name[2] - parts.names);
		put(made, 4, 8);
		put(made, 4, 2);
	} else {
		put(made, 2, 0xffff);
		put(made, 2, 0);
		put(made, 4, 0);
		put(made, 4, 7);
		put(made, 4, parts.name[2] - parts.names);
		put(made, 4, 8);
	}
	put_elf(made, ".gopclntab");
}

static int open_made(
	const struct made *made, size_t len, struct elffile *elf, struct gopclntab **table, int *fd)
{
	*fd = memfd_create("go", MFD_CLOEXEC);
	assert_int_equal(write(*fd, made->bytes, len), len);
	*table = NULL;
	const int ret = elffile_open(elf, *fd);
	return ret < 0 ? ret : gopclntab_open(table, elf);
}

static void close_made(struct elffile *elf, struct gopclntab *table, int fd)
{
	gopclntab_free(table);
	elffile_close(elf);
	close(fd);
}

struct found {
	struct gopclntab_function functions[4];
	size_t n;
};

static void keep(const struct gopclntab_function *function, void *ctx)
{
	struct found *found = ctx;

	assert_in_range(found->n, 0, 3);
	found->functions[found->n++] = *function;
}

static void expect_function(
	const struct gopclntab_function *function, const char *name, uint64_t address)
{
	assert_int_equal(function->name_len, strlen(name));
	assert_memory_equal(function->name, name, strlen(name));
	assert_int_equal(function->address, address);
	assert_int_equal(function->size, 0x40);
}

static void test_functions(void **state)
{
	(void)state;
	for (enum layout layout = 0; layout < LAYOUTS; layout++)
		for (int is64 = 0; is64 < 2; is64++) {
			struct found found = {0};
			struct gopclntab *table;
			struct elffile elf;
			struct made made;
			int fd;
			make(&made, layout, is64);
			if (is64 && layout == GO_1_18)
				put_elf(&made, ".data.rel.ro"); /* found by its contents */
			assert_int_equal(open_made(&made, FILE_BYTES, &elf, &table, &fd), 0);
			gopclntab_functions(table, keep, &found);
			assert_int_equal(found.n, 2);
			expect_function(&found.functions[0], "main.main", TEXT);
			expect_function(&found.functions[1], "main.leaf", TEXT + 0x40);
			close_made(&elf, table, fd);
		}
}

struct wanted {
	uint64_t address;
	struct {
		const char *function, *file;
		uint32_t line, decl_line, inlined;
	} frames[2];
};

static void expect_frames(
	const struct codetab *codes, const struct wanted *wanted, enum layout layout)
{
	const int64_t i = codetab_find(codes, wanted->address);
	size_t n = 0;

	assert_true(i >= 0);
	const struct codetab_entry *entry = &codes->entries[i];
	for (size_t k = 0; k < 2; k++) {
		if (!wanted->frames[k].function || (wanted->frames[k].inlined && layout == GO_1_2))
			continue;
		const struct codetab_frame *frame = &codes->frames[entry->frames + n++];
		assert_string_equal(codes->pool + frame->function, wanted->frames[k].function);
		/* The first layout has no inlined calls: file and line are not compared. */
		if (layout == GO_1_2)
			continue;
		assert_string_equal(codes->pool + frame->file, wanted->frames[k].file);
		assert_int_equal(frame->line, wanted->frames[k].line);
		assert_int_equal(frame->inlined, wanted->frames[k].inlined);
		assert_int_equal(
			frame->decl_line, layout >= GO_1_20 ? wanted->frames[k].decl_line : 0);
	}
	assert_int_equal(entry->n_frames, n);
}

static const struct wanted wanted[] = {
	{TEXT, {{"main.main", "main.go", 5, 4, 0}}},
	{TEXT + 8, {{"main.main", "main.go", 7, 4, 0}}},
	{TEXT + 0x1f, {{"main.helper", "help.go", 3, 2, 1}, {"main.main", "main.go", 7, 4, 0}}},
	{TEXT + 0x20, {{"main.main", "main.go", 8, 4, 0}}},
	{TEXT + 0x7f, {{"main.leaf", "main.go", 20, 19, 0}}},
	{TEXT + 0x80, {{NULL, NULL, 0, 0, 0}}},
};
enum { WANTED = sizeof(wanted) / sizeof(wanted[0]) };

/* Checks the frames of the first entries that have some. Returns their number. */
static size_t check_lines(struct gopclntab *table, enum layout layout)
{
	struct codetab_entry entries[WANTED] = {0};
	struct codetab_builder *builder;
	struct codetab codes;
	size_t told = 0;
	int fd;

	assert_int_equal(codetab_builder_new(&builder), 0);
	for (size_t i = 0; i < WANTED; i++)
		entries[i] = (struct codetab_entry){
			.start = wanted[i].address, .target = CODETAB_NO_TARGET};
	gopclntab_lines(table, builder, entries, WANTED);
	for (size_t i = 0; i < WANTED; i++)
		codetab_builder_add(builder, &entries[i]);
	assert_int_equal(codetab_builder_finish(builder, &fd), 0);
	codetab_builder_free(builder);
	assert_int_equal(codetab_open(&codes, fd), 0);
	for (; told < WANTED && entries[told].n_frames; told++)
		expect_frames(&codes, &wanted[told], layout);
	for (size_t i = told; i < WANTED; i++)
		assert_int_equal(entries[i].n_frames, 0);
	codetab_close(&codes);
	close(fd);
	return told;
}

static void test_lines(void **state)
{
	(void)state;
	for (enum layout layout = 0; layout < LAYOUTS; layout++)
		for (int is64 = 0; is64 < 2; is64++) {
			struct gopclntab *table;
			struct elffile elf;
			struct made made;
			int fd;
			make(&made, layout, is64);
			assert_int_equal(open_made(&made, FILE_BYTES, &elf, &table, &fd), 0);
			assert_int_equal(check_lines(table, layout), WANTED - 1);
			close_made(&elf, table, fd);
		}
}

/* Each entry has all its frames or none; those with frames come first. */
static void test_too_much_work(void **state)
{
	const uint64_t before = gopclntab_work_max;

	(void)state;
	for (enum layout layout = 0; layout < LAYOUTS; layout++) {
		struct gopclntab *table;
		struct elffile elf;
		struct made made;
		size_t last = 0;
		bool some = false;
		int fd;
		make(&made, layout, true);
		assert_int_equal(open_made(&made, FILE_BYTES, &elf, &table, &fd), 0);
		for (gopclntab_work_max = 0; gopclntab_work_max < 100; gopclntab_work_max++) {
			const size_t told = check_lines(table, layout);
			assert_true(told >= last && (gopclntab_work_max || !told));
			last = told;
			some |= told && told < WANTED - 1;
		}
		assert_true(some);
		assert_int_equal(last, WANTED - 1);
		close_made(&elf, table, fd);
	}
	gopclntab_work_max = before;
}

static void touch(const struct gopclntab_function *function, void *ctx)
{
	size_t *bytes = ctx;

	for (size_t i = 0; i < function->name_len; i++)
		*bytes += (size_t)function->name[i];
}

/* Extreme values for each byte of the table and of moduledata, and any length. */
static void test_hostile(void **state)
{
	static const uint8_t worst[] = {0x00, 0x7f, 0x80, 0xff};

	(void)state;
	for (enum layout layout = 0; layout < LAYOUTS; layout++) {
		struct made good;
		make(&good, layout, true);
		for (uint32_t at = 0x2100; at < 0x4200; at++) {
			if (at == 0x2120)
				at = 0x3000;
			if (at == 0x3200)
				at = 0x4000;
			for (size_t w = 0; w < sizeof(worst); w++) {
				struct codetab_entry entries[9];
				struct codetab_builder *builder;
				struct gopclntab *table;
				struct elffile elf;
				struct made bad = good;
				size_t bytes = 0;
				int fd;
				bad.bytes[at] = worst[w];
				(void)open_made(&bad, FILE_BYTES, &elf, &table, &fd);
				assert_int_equal(codetab_builder_new(&builder), 0);
				for (size_t i = 0; i < 9; i++)
					entries[i] = (struct codetab_entry){.start = TEXT + i * 16};
				if (table) {
					gopclntab_lines(table, builder, entries, 9);
					gopclntab_functions(table, touch, &bytes);
				}
				codetab_builder_free(builder);
				close_made(&elf, table, fd);
			}
		}
	}
}

static void test_none(void **state)
{
	struct gopclntab *table;
	struct elffile elf;
	struct made made;
	int fd;

	(void)state;
	make(&made, GO_1_20, true);
	put_elf(&made, ".none");
	assert_int_equal(open_made(&made, FILE_BYTES, &elf, &table, &fd), -ENODATA);
	assert_false(gopclntab_is_of_go(&elf));
	close_made(&elf, table, fd);
	make(&made, GO_1_20, true);
	made.bytes[0x3000] = 7;
	assert_int_equal(open_made(&made, FILE_BYTES, &elf, &table, &fd), -ENODATA);
	assert_true(gopclntab_is_of_go(&elf));
	close_made(&elf, table, fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_too_much_work),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
