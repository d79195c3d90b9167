/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_cfi_roots.c - the entry of a program and Go's roots get a rule that ends the chain.
 */
#include "symbols/dwarf/cfi.h"
#include "tests/unit/small_elf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ENTRY (SMALL_TEXT_ADDR + 0x80) /* not the start of .text */
#define ENTRY_AT (SMALL_TEXT_AT + 0x80u)
#define FUNC ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define OBJECT ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)

struct given {
	uint16_t machine, type;
	bool is32, has_interpreter, is_pie;
	uint64_t entry, size; /* size: bytes of the symbol; 0 if there is no symbol */
	uint8_t code[128]; /* code at the entry */
};

static struct given usual(void)
{
	return (struct given){.machine = EM_X86_64, .type = ET_EXEC, .entry = ENTRY};
}

static void read_table(
	const struct small_elf *small, const struct cfi_section *section, struct unwtab *table)
{
	struct unwtab_builder *builder;
	struct elffile elf;
	uint32_t n_rows;
	int sealed;
	const int fd = small_elf_file(small, small->len);

	assert_int_equal(elffile_open(&elf, fd), 0);
	assert_int_equal(unwtab_builder_new(&builder, elf.machine), 0);
	assert_int_equal(cfi_add(&elf, section, section ? 1 : 0, builder), 0);
	assert_int_equal(unwtab_builder_finish(builder, &sealed, &n_rows), 0);
	assert_int_equal(unwtab_open(table, sealed), 0);
	unwtab_builder_free(builder);
	elffile_close(&elf);
	close(sealed);
	close(fd);
}

static void build(const struct given *given, struct unwtab *table)
{
	const struct small_symbol symbols[] = {
		{"first", SMALL_TEXT_ADDR, 0x40, FUNC, 1},
		{"datum", given->entry, 0x200, OBJECT, 2},
		{"_start", given->entry, given->size, FUNC, 1},
	};
	struct small_elf small;

	small_elf_make(&small, !given->is32, false, symbols, given->size ? 3 : 1);
	SMALL_PUT(&small, 0, Ehdr, e_machine, given->machine);
	SMALL_PUT(&small, 0, Ehdr, e_type, given->type);
	SMALL_PUT(&small, 0, Ehdr, e_entry, given->entry);
	if (given->has_interpreter)
		small_segment(&small, 2, PT_INTERP, PF_R, 0x1c0, 0, 36);
	if (given->is_pie) {
		const Elf64_Dyn flags = {.d_tag = DT_FLAGS_1, .d_un.d_val = DF_1_PIE};
		small_segment(&small, 2, PT_DYNAMIC, PF_R, 0x1c0, 0, sizeof(flags));
		memcpy(small.bytes + 0x1c0, &flags, sizeof(flags));
	}
	memcpy(small.bytes + ENTRY_AT, given->code, sizeof(given->code));
	read_table(&small, NULL, table);
}

/* Checks that exactly len bytes from an offset on are a root; none if len is 0. */
static void expect(const struct given *given, uint64_t from, uint64_t len)
{
	struct unwtab table;

	build(given, &table);
	for (uint64_t at = 0; at < 0x800; at++) {
		const struct unwtab_rule *rule = unwtab_find(&table, at);
		const bool is_root = rule && rule->cfa == UNWTAB_END;
		assert_int_equal(is_root, at >= from && at - from < len);
	}
	/* A root's bytes do not count as code with unwind rules. */
	if (given->machine != EM_AARCH64)
		assert_int_equal(table.code_bytes, 0);
	unwtab_close(&table);
}

static void test_symbol(void **state)
{
	struct given given = usual();

	(void)state;
	given.size = 0x30;
	expect(&given, ENTRY_AT, 0x30);
	given.size = 0x10000; /* limited to the segment */
	expect(&given, ENTRY_AT, 0x380);
	given.machine = EM_AARCH64;
	given.size = 0x30;
	expect(&given, ENTRY_AT, 0x30);
	given.machine = EM_RISCV;
	expect(&given, 0, 0);
	given.machine = EM_386;
	given.is32 = true;
	expect(&given, ENTRY_AT, 0x30);
	given.machine = EM_ARM;
	expect(&given, 0, 0);
}

/* Older linkers give libraries an entry as well: the start of their code. */
static void test_programs(void **state)
{
	struct given given = usual();

	(void)state;
	given.size = 0x30;
	given.entry = SMALL_TEXT_ADDR;
	expect(&given, SMALL_TEXT_AT, 0x30); /* size of the shorter symbol */
	given.type = ET_DYN;
	expect(&given, 0, 0);
	given.has_interpreter = true;
	expect(&given, SMALL_TEXT_AT, 0x30);
	given.has_interpreter = false;
	given.is_pie = true; /* static, without an interpreter */
	expect(&given, SMALL_TEXT_AT, 0x30);
	given.is_pie = false;
	given.entry = ENTRY; /* the dynamic linker's entry code, which goes on after its symbol */
	expect(&given, ENTRY_AT, 96);
	given.type = ET_REL;
	expect(&given, 0, 0);
	given.type = ET_EXEC;
	given.entry = 0x20600; /* an address of data */
	expect(&given, 0, 0);
	given.entry = 0;
	expect(&given, 0, 0);
}

static void expect_stripped(uint64_t len, const void *code, size_t code_len)
{
	struct given given = usual();

	memcpy(given.code, code, code_len);
	expect(&given, ENTRY_AT, len);
	given.machine = EM_386;
	given.is32 = true;
	expect(&given, ENTRY_AT, len);
}
#define EXPECT_STRIPPED(len, ...)                           \
	do {                                                \
		const uint8_t code_[] = {__VA_ARGS__};      \
		expect_stripped(len, code_, sizeof(code_)); \
	} while (0)

/* Without a symbol, the entry's code is known up to its first call. */
static void test_stripped(void **state)
{
	(void)state;
	/* xor %ebp, %ebp; call; call */
	EXPECT_STRIPPED(7, 0x31, 0xed, 0xe8, 0x10, 0, 0, 0, 0xe8, 0x10, 0, 0, 0);
	EXPECT_STRIPPED(7, 0x31, 0xed, 0xe8, 0x80, 0xff, 0xff, 0xff);
	/* A call that leads to no code does not count. */
	EXPECT_STRIPPED(12, 0x31, 0xed, 0xe8, 0x10, 0, 0, 1, 0xe8, 0x10, 0, 0, 0);
	EXPECT_STRIPPED(8, 0x31, 0xed, 0xff, 0x15, 1, 0, 0, 0, 0xe8, 0x10, 0, 0, 0);
	/* The entry may end before a call: with a jump or with exit(). */
	EXPECT_STRIPPED(0, 0x31, 0xed, 0xe9, 0x10, 0, 0, 0, 0xe8, 0x10, 0, 0, 0);
	EXPECT_STRIPPED(0, 0x31, 0xed, 0x0f, 0x05, 0xe8, 0x10, 0, 0, 0);
	EXPECT_STRIPPED(0, 0x31, 0xed, 0xcd, 0x80, 0xe8, 0x10, 0, 0, 0);
	EXPECT_STRIPPED(0, 0x31, 0xed, 0xeb, 0x10, 0xe8, 0x10, 0, 0, 0);
	EXPECT_STRIPPED(0, 0x31, 0xed, 0xff, 0xe0, 0xe8, 0x10, 0, 0, 0); /* jmp *%rax */
	EXPECT_STRIPPED(0, 0x31, 0xed, 0xff, 0xd0, 0xe8, 0x10, 0, 0, 0); /* call *%rax */
	EXPECT_STRIPPED(0, 0x31, 0xed, 0xff, 0x25, 0, 0, 0, 0, 0xe8, 0x10, 0, 0, 0);
	EXPECT_STRIPPED(0, 0x31, 0xed, 0xc3, 0xe8, 0x10, 0, 0, 0);
	EXPECT_STRIPPED(0, 0x31, 0xed, 0xf4, 0xe8, 0x10, 0, 0, 0);
	EXPECT_STRIPPED(0, 0x31, 0xed, 0x0f, 0x0b, 0xe8, 0x10, 0, 0, 0);
	EXPECT_STRIPPED(0, 0x31, 0xed, 0x90);
	uint8_t far[101] = {0};
	memcpy(far + 96, "\xe8\x10\0\0", 5);
	expect_stripped(0, far, sizeof(far));
	memcpy(far + 91, "\xe8\x10\0\0", 5);
	expect_stripped(96, far, sizeof(far));
}

/* --- Go --- */

static const struct {
	const char *name;
	bool is_root;
} functions[] = {
	{"runtime.rt0_go", true},
	{"runtime.mstart0", false},
	{"runtime.mstart", true},
	{"runtime.goexit", true},
	{"runtime.goexit1", false},
};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))
#define FUNCTION_BYTES 0x40u

/* Makes a program whose .data is Go's function table, in the layout of Go 1.2: header; address and
 * offset of each function; then address and name of each.  Its entry is in none of them. */
static void make_go(struct small_elf *small)
{
	const size_t table = 0x600, pairs = table + 16, each = pairs + (FUNCTIONS * 2 + 1) * 8 + 4;
	size_t names = each + FUNCTIONS * 12;

	small_elf_make(small, true, false, NULL, 0);
	SMALL_PUT(small, 0, Ehdr, e_type, ET_EXEC);
	for (size_t at = 0x700; at < small->len; at++)
		if (memcmp(small->bytes + at, ".strtab\0.sh", 11) == 0)
			memcpy(small->bytes + at, ".gopclntab", 11);
	const size_t headers = small->bytes[offsetof(Elf64_Ehdr, e_shoff)] |
		(size_t)small->bytes[offsetof(Elf64_Ehdr, e_shoff) + 1] << 8;
	SMALL_PUT(small, headers + 2 * sizeof(Elf64_Shdr), Shdr, sh_name, 21);
	small_put(small, table, 4, 0xfffffffb);
	small_put(small, table + 6, 1, 1);
	small_put(small, table + 7, 1, 8);
	small_put(small, table + 8, 8, FUNCTIONS);
	for (size_t i = 0; i <= FUNCTIONS; i++)
		small_put(small, pairs + i * 16, 8, SMALL_TEXT_ADDR + i * FUNCTION_BYTES);
	for (size_t i = 0; i < FUNCTIONS; i++) {
		small_put(small, pairs + i * 16 + 8, 8, each + i * 12 - table);
		small_put(small, each + i * 12 + 8, 4, names - table);
		memcpy(small->bytes + names, functions[i].name, strlen(functions[i].name) + 1);
		names += strlen(functions[i].name) + 1;
	}
	assert_true(names <= 0x700);
}

static void expect_go(struct unwtab *table, bool described)
{
	for (uint64_t at = 0; at < FUNCTIONS * FUNCTION_BYTES; at++) {
		const struct unwtab_rule *rule = unwtab_find(table, SMALL_TEXT_AT + at);
		const bool is_root = functions[at / FUNCTION_BYTES].is_root;
		assert_int_equal(rule && rule->cfa == UNWTAB_END, is_root);
		assert_int_equal(rule && rule->cfa == UNWTAB_SP, described && !is_root);
	}
	unwtab_close(table);
}

/* Roots of Go's runtime, stripped and not: its linker describes them as if they had a caller. */
static void test_go(void **state)
{
	static const uint8_t cie[] = {
		16, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 3, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0};
	uint8_t frames[sizeof(cie) + FUNCTIONS * 24] = {0};
	const struct cfi_section section = {
		.bytes = frames, .len = sizeof(frames), .is_debug = true};
	struct small_elf small;
	struct unwtab table;

	(void)state;
	make_go(&small);
	read_table(&small, NULL, &table);
	expect_go(&table, false);
	memcpy(frames, cie, sizeof(cie));
	for (size_t i = 0; i < FUNCTIONS; i++) {
		const uint64_t range[] = {SMALL_TEXT_ADDR + i * FUNCTION_BYTES, FUNCTION_BYTES};
		frames[sizeof(cie) + i * 24] = 20;
		memcpy(frames + sizeof(cie) + i * 24 + 8, range, sizeof(range));
	}
	read_table(&small, &section, &table);
	expect_go(&table, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbol),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
