/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_cfi.c - call frame information made by hand, and the unwind rules made from it.
 *
 *   segment       offset 0x1000..0x2fff, address 0x401000, executable
 *   .eh_frame     address 0x400100
 */
#include "symbols/dwarf/cfi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAME_ADDR 0x400100u
#define CODE_ADDR 0x401000u
#define BYTES 4096

/* a section under construction */
struct bytes {
	uint8_t at[BYTES];
	size_t len;
	size_t cie; /* offset of the last CIE */
	bool is_debug;
};

static void put(struct bytes *bytes, unsigned int width, uint64_t value)
{
	assert_true(bytes->len + width <= BYTES);
	for (unsigned int i = 0; i < width; i++)
		bytes->at[bytes->len++] = (uint8_t)(value >> (8 * i));
}

static void put_all(struct bytes *bytes, const void *from, size_t len)
{
	assert_true(bytes->len + len <= BYTES);
	if (len)
		memcpy(bytes->at + bytes->len, from, len);
	bytes->len += len;
}

/* Writes the length of the record that began at start. */
static void end_record(struct bytes *bytes, size_t start)
{
	const uint32_t len = (uint32_t)(bytes->len - start - 4);

	memcpy(bytes->at + start, &len, 4);
}

/* Appends a CIE. letters: the augmentation; data: its data; program: instructions. */
static void put_cie(struct bytes *bytes, const char *letters, const void *data, size_t data_len,
	const void *program, size_t len, uint8_t ra)
{
	const size_t start = bytes->cie = bytes->len;

	put(bytes, 4, 0);
	put(bytes, 4, bytes->is_debug ? UINT32_MAX : 0);
	put(bytes, 1, 1);
	put_all(bytes, letters, strlen(letters) + 1);
	put(bytes, 1, 1); /* code alignment */
	put(bytes, 1, 0x78); /* data alignment: -8 */
	put(bytes, 1, ra);
	if (letters[0] == 'z')
		put(bytes, 1, data_len);
	put_all(bytes, data, data_len);
	put_all(bytes, program, len);
	end_record(bytes, start);
}

/* Appends a CIE as compilers write it: CFA = rsp + 8, ra at CFA - 8. */
static void put_usual_cie(struct bytes *bytes)
{
	static const uint8_t program[] = {0x0c, 7, 8, 0x90, 1};

	put_cie(bytes, "zR", "\x1b", 1, program, sizeof(program), 16); /* pcrel, sdata4 */
}

/* Appends an FDE. offset, len: bytes of the function in the file. */
static void put_fde(
	struct bytes *bytes, uint64_t offset, uint64_t len, const void *program, size_t program_len)
{
	const size_t start = bytes->len;
	const uint64_t vaddr = offset - 0x1000 + CODE_ADDR;

	put(bytes, 4, 0);
	put(bytes, 4, bytes->is_debug ? bytes->cie : start + 4 - bytes->cie);
	if (bytes->is_debug) {
		put(bytes, 8, vaddr);
		put(bytes, 8, len);
	} else {
		put(bytes, 4, vaddr - (FRAME_ADDR + bytes->len));
		put(bytes, 4, len);
		put(bytes, 1, 0);
	}
	put_all(bytes, program, program_len);
	end_record(bytes, start);
}

static struct elffile_segment code_segment = {.type = PT_LOAD,
	.offset = 0x1000,
	.vaddr = CODE_ADDR,
	.filesz = 0x2000,
	.memsz = 0x2000,
	.exec = true};

static uint64_t entry; /* address of the program's entry; 0 if it is not a program */

static void build(
	const struct bytes *const *sections, size_t n, uint16_t machine, struct unwtab *table)
{
	struct elffile elf = {.fd = -1,
		.is64 = machine != EM_386,
		.type = ET_EXEC,
		.machine = machine,
		.entry = entry,
		.segments = &code_segment,
		.n_segments = 1};
	struct cfi_section given[CFI_SECTIONS_MAX];
	struct unwtab_builder *builder;
	uint8_t *copies[CFI_SECTIONS_MAX];
	uint32_t n_rows;
	int fd;

	for (size_t i = 0; i < n; i++) {
		/* On the heap, so that sanitizers see the end. */
		copies[i] = malloc(sections[i]->len ? sections[i]->len : 1);
		memcpy(copies[i], sections[i]->at, sections[i]->len);
		given[i] = (struct cfi_section){.bytes = copies[i],
			.len = sections[i]->len,
			.vaddr = FRAME_ADDR,
			.is_debug = sections[i]->is_debug,
			.is32 = machine == EM_386};
	}
	assert_int_equal(unwtab_builder_new(&builder, machine), 0);
	assert_int_equal(cfi_add(&elf, given, n, builder), 0);
	assert_int_equal(unwtab_builder_finish(builder, &fd, &n_rows), 0);
	unwtab_builder_free(builder);
	assert_int_equal(unwtab_open(table, fd), 0);
	close(fd);
	for (size_t i = 0; i < n; i++)
		free(copies[i]);
}

/* Returns the rule as "sp+16 cfa-16 cfa-8": CFA, bp and ra. " bx-16" follows if rbx was saved. */
static const char *text_at(const struct unwtab *table, uint64_t offset)
{
	static const char *const cfas[] = {
		"none", "sp", "bp", "plt", "*sp", "*bp", "signal", "end", "r", "call", "*sp+8*r"};
	static const char *const regs[] = {"same", "cfa", "bp", "sp", "undefined"};
	static char text[96], added[24], number[12], bx[16];

	const struct unwtab_rule *rule = unwtab_find(table, offset);
	if (!rule)
		return "none";
	const bool has_register = rule->cfa == UNWTAB_REGISTER || rule->cfa == UNWTAB_DEREF_INDEXED;
	const bool derefs = rule->cfa == UNWTAB_DEREF_SP || rule->cfa == UNWTAB_DEREF_BP ||
		rule->cfa == UNWTAB_DEREF_INDEXED;
	snprintf(added, sizeof(added), "+%u", (unsigned int)unwtab_cfa_add(rule));
	snprintf(number, sizeof(number), "%u", unwtab_cfa_register(rule));
	const uint32_t words = rule->cfa <= UNWTAB_PLT ? unwtab_bx(rule) : 0;
	bx[0] = '\0';
	if (words == UNWTAB_BX_LOST)
		snprintf(bx, sizeof(bx), " bx lost");
	else if (words)
		snprintf(bx, sizeof(bx), " bx-%u", 8 * words);
	snprintf(text, sizeof(text), "%s%s%+d%s %s%+d %s%+d%s%s", cfas[rule->cfa],
		has_register ? number : "", rule->cfa_off,
		derefs && unwtab_cfa_add(rule) ? added : "", regs[rule->bp], rule->bp_off,
		regs[rule->ra], rule->ra_off, bx,
		rule->flags & UNWTAB_FLAG_SIGNAL ? " signal" : "");
	return text;
}

static void build_one(const struct bytes *section, struct unwtab *table)
{
	build(&section, 1, EM_X86_64, table);
}

#define USUAL "sp+8 same+0 cfa-8"

/* Checks the rule at byte 0x20 of a function of 0x40 bytes with these instructions. */
static void expect(const char *text, const void *program, size_t len)
{
	struct bytes bytes = {.len = 0};
	struct unwtab table;

	put_usual_cie(&bytes);
	put_fde(&bytes, 0x1100, 0x40, program, len);
	build_one(&bytes, &table);
	assert_string_equal(text_at(&table, 0x1120), text);
	assert_string_equal(text_at(&table, 0x10ff), "none");
	assert_string_equal(text_at(&table, 0x1140), "none");
	unwtab_close(&table);
}
#define EXPECT(text, ...)                                 \
	do {                                              \
		const uint8_t program_[] = {__VA_ARGS__}; \
		expect(text, program_, sizeof(program_)); \
	} while (0)

static void test_instructions(void **state)
{
	(void)state;
	EXPECT(USUAL, 0x00);
	EXPECT("sp+16 cfa-16 cfa-8", 0x41, 0x0e, 16, 0x86, 2);
	EXPECT("bp+16 cfa-16 cfa-8", 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6);
	EXPECT("bp+16 same+0 cfa-8", 0x0c, 6, 16);
	EXPECT("sp+16 same+0 cfa-8", 0x12, 7, 0x7e); /* def_cfa_sf: -2 * -8 */
	EXPECT("sp+24 same+0 cfa-8", 0x13, 0x7d); /* def_cfa_offset_sf */
	EXPECT("sp+8 cfa-16 cfa-8", 0x05, 6, 2); /* offset_extended */
	EXPECT("sp+8 cfa+16 cfa-8", 0x11, 6, 0x7e); /* offset_extended_sf */
	EXPECT("sp+8 cfa+16 cfa-8", 0x2f, 6, 2); /* GNU_negative_offset_extended */
	EXPECT("sp+8 undefined+0 cfa-8", 0x07, 6);
	EXPECT(USUAL, 0x86, 2, 0x08, 6); /* same_value */
	EXPECT(USUAL, 0x86, 2, 0xc6); /* restore */
	EXPECT(USUAL, 0x86, 2, 0x06, 6); /* restore_extended */
	EXPECT("sp+8 undefined+0 cfa-8", 0x09, 6, 9); /* register */
	EXPECT("sp+8 undefined+0 cfa-8", 0x14, 6, 2); /* val_offset */
	EXPECT("sp+8 undefined+0 cfa-8", 0x15, 6, 0x7e);
	EXPECT("sp+8 undefined+0 cfa-8", 0x16, 6, 2, 0x76, 0); /* val_expression */
	EXPECT(USUAL, 0x2e, 16); /* GNU_args_size */
	EXPECT(USUAL, 0x2d, 0x2c); /* AARCH64_negate_ra_state */
	EXPECT("sp+16 same+0 cfa-8", 0x0e, 16, 0x0a, 0x0e, 32, 0x86, 2, 0x41, 0x0b);
	EXPECT(USUAL, 0x82, 2, 0x05, 12, 3, 0x07, 15); /* registers that no rule follows */
	/* The CFA moves to another register and back. */
	/* In OpenSSL's loops any register may hold the stack pointer. */
	EXPECT("r0+8 same+0 cfa-8", 0x0d, 0);
	EXPECT("r10+0 same+0 cfa-8", 0x0c, 10, 0);
	EXPECT("r15+16 cfa-16 cfa-8", 0x0c, 15, 16, 0x86, 2);
	EXPECT("r4+8 same+0 cfa-8", 0x0f, 2, 0x74, 8); /* the expression of the same rule */
	EXPECT("none", 0x0c, 16, 8);
	EXPECT("none", 0x0c, 17, 8);
	EXPECT("sp+24 same+0 cfa-8", 0x0c, 10, 24, 0x41, 0x0d, 7);
	/* The return address or sp is in a register. */
	EXPECT("none", 0x09, 16, 5);
	EXPECT("none", 0x09, 7, 8);
	EXPECT("none", 0x08, 16);
	EXPECT("end+0 same+0 same+0", 0x07, 16);
	/* Offsets that do not fit into a rule. */
	EXPECT("none", 0x0e, 0x80, 0x80, 0x80, 0x80, 0x10);
	EXPECT("sp+8 undefined+0 cfa-8", 0x86, 0x80, 0x80, 0x02);
	EXPECT("none", 0x90, 0x80, 0x80, 0x02);
}

static void test_rbx(void **state)
{
	static const uint8_t saved[] = {0x83, 2};
	struct bytes bytes = {.len = 0};
	const struct bytes *section = &bytes;
	struct unwtab table;

	(void)state;
	EXPECT(USUAL " bx-16", 0x83, 2);
	EXPECT("bp+16 cfa-16 cfa-8 bx-24", 0x0c, 6, 16, 0x86, 2, 0x83, 3);
	EXPECT(USUAL " bx-1008", 0x83, 126);
	EXPECT(USUAL " bx lost", 0x83, 127);
	EXPECT(USUAL " bx lost", 0x83, 0x80, 0x80, 0x80, 1);
	EXPECT(USUAL " bx lost", 0x83, 0);
	EXPECT(USUAL " bx lost", 0x11, 3, 0x7e); /* offset_extended_sf */
	EXPECT(USUAL " bx lost", 0x07, 3);
	EXPECT(USUAL " bx lost", 0x09, 3, 9); /* register */
	EXPECT(USUAL, 0x83, 2, 0x08, 3); /* same_value */
	EXPECT(USUAL, 0x83, 2, 0xc3); /* restore */
	EXPECT("bp+16 same+0 cfa-8 bx-24", 0x0c, 6, 16, 0x10, 3, 2, 0x76, 0x78); /* at bp - 8 */
	EXPECT(USUAL " bx lost", 0x10, 3, 2, 0x76, 0x78);
	EXPECT(USUAL " bx lost", 0x10, 3, 2, 0x77, 0x79); /* not a multiple of a word */
	/* These rules have no room for rbx. */
	EXPECT("r10+0 same+0 cfa-8", 0x0c, 10, 0, 0x83, 2);
	EXPECT("*sp+16+56 same+0 cfa-8", 0x0f, 5, 0x77, 16, 0x06, 0x23, 56, 0x83, 2);
	EXPECT("plt+11 same+0 cfa-8", 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33,
		0x24, 0x22, 0x83, 2);
	/* On arm64, register 3 is not rbx. */
	put_cie(&bytes, "zR", "\x1b", 1, "\x0c\x1f\x00", 3, 30);
	put_fde(&bytes, 0x1100, 0x40, saved, sizeof(saved));
	build(&section, 1, EM_AARCH64, &table);
	assert_string_equal(text_at(&table, 0x1100), "sp+0 same+0 same+0");
	unwtab_close(&table);
}

static void test_advances(void **state)
{
	(void)state;
	EXPECT(USUAL, 0x61, 0x0e, 16); /* the rule begins at byte 0x21 */
	EXPECT("sp+16 same+0 cfa-8", 0x60, 0x0e, 16);
	EXPECT("sp+16 same+0 cfa-8", 0x02, 0x20, 0x0e, 16);
	EXPECT("sp+16 same+0 cfa-8", 0x03, 0x20, 0, 0x0e, 16);
	EXPECT("sp+16 same+0 cfa-8", 0x04, 0x20, 0, 0, 0, 0x0e, 16);
	EXPECT("sp+16 same+0 cfa-8", 0x1d, 0x20, 0, 0, 0, 0, 0, 0, 0, 0x0e, 16);
	/* Advances beyond the end: later instructions apply to no byte. */
	EXPECT(USUAL, 0x1d, 255, 255, 255, 255, 255, 255, 255, 255, 0x0e, 16);
	EXPECT(USUAL, 0x04, 255, 255, 255, 255, 0x0e, 16, 0x41, 0x0e, 24);
}

static void test_expressions(void **state)
{
	(void)state;
	/* Expressions of the CFA: a register, a dereference, the PLT's, unknown ones. */
	EXPECT("sp+16 same+0 cfa-8", 0x0f, 2, 0x77, 16);
	EXPECT("*sp+24 same+0 cfa-8", 0x0f, 3, 0x77, 24, 0x06);
	EXPECT("*bp-8 same+0 cfa-8", 0x0f, 3, 0x76, 0x78, 0x06);
	EXPECT("plt+11 same+0 cfa-8", 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33,
		0x24, 0x22);
	EXPECT("plt+9 same+0 cfa-8", 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x39, 0x2a, 0x33, 0x24,
		0x22);
	EXPECT("none", 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x34, 0x24, 0x22);
	EXPECT("none", 0x0f, 3, 0x7a, 0, 0x06);
	EXPECT("none", 0x0f, 0);
	/* *(rsp + 8 * r9 + 16) + 24. Unknown: another offset, factor or register, and no
	 * dereference. */
	EXPECT("*sp+8*r9+16+24 same+0 cfa-8", 0x0f, 10, 0x77, 16, 0x79, 0, 0x38, 0x1e, 0x22, 0x06,
		0x23, 24);
	EXPECT("none", 0x0f, 10, 0x77, 16, 0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 32);
	EXPECT("none", 0x0f, 10, 0x77, 16, 0x79, 0, 0x34, 0x1e, 0x22, 0x06, 0x23, 24);
	EXPECT("none", 0x0f, 7, 0x77, 16, 0x79, 0, 0x38, 0x1e, 0x22);
	EXPECT("none", 0x0f, 10, 0x76, 16, 0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 24);
	EXPECT("none", 0x0f, 10, 0x77, 16, 0x77, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 24);
	EXPECT("none", 0x0f, 1, 0x77);
	EXPECT("*sp+16+56 same+0 cfa-8", 0x0f, 5, 0x77, 16, 0x06, 0x23, 56);
	EXPECT("none", 0x0f, 5, 0x77, 16, 0x06, 0x23, 57);
	EXPECT("none", 0x0f, 6, 0x77, 16, 0x06, 0x23, 0x80, 0x08);
	/* After an expression, an offset waits for a register. A register uses the last offset. */
	EXPECT("*bp-8 same+0 cfa-8", 0x0f, 3, 0x76, 0x78, 0x06, 0x0e, 16);
	EXPECT("sp+8 same+0 cfa-8", 0x0f, 3, 0x76, 0x78, 0x06, 0x0d, 7);
	EXPECT("sp+16 same+0 cfa-8", 0x0f, 3, 0x76, 0x78, 0x06, 0x0e, 16, 0x0d, 7);
	/* Expressions of a register: relative to the CFA if possible. */
	EXPECT("bp+16 cfa-16 cfa-8", 0x0c, 6, 16, 0x10, 6, 2, 0x76, 0);
	EXPECT("*bp-8 bp+0 cfa-8", 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0);
	EXPECT("sp+32 cfa-32 cfa-16", 0x0e, 32, 0x10, 6, 2, 0x77, 0, 0x10, 16, 2, 0x77, 16);
	EXPECT("sp+8 undefined+0 cfa-8", 0x10, 6, 3, 0x76, 0, 0x06);
	EXPECT("bp+8 sp+0 cfa-8", 0x0c, 6, 8, 0x10, 6, 2, 0x77, 0);
	EXPECT("none", 0x10, 16, 2, 0x7a, 0);
}

static void test_signal_frame(void **state)
{
	/* The program of glibc's __restore_rt. */
	static const uint8_t program[] = {0x0f, 4, 0x77, 0xa0, 0x01, 0x06, 0x10, 6, 3, 0x77, 0xf8,
		0, 0x10, 7, 3, 0x77, 0xa0, 0x01, 0x10, 16, 3, 0x77, 0xa8, 0x01};
	struct bytes bytes = {.len = 0};
	struct unwtab table;

	(void)state;
	put_cie(&bytes, "zRS", "\x1b", 1, program, 0, 16);
	put_fde(&bytes, 0x1100, 0x10, program, sizeof(program));
	build_one(&bytes, &table);
	assert_string_equal(text_at(&table, 0x1100), "signal+160 cfa+120 cfa+168 signal");
	unwtab_close(&table);
}

static void test_broken_instructions(void **state)
{
	(void)state;
	/* The rule is known up to the broken instruction. */
	EXPECT("none", 0x44, 0x3f);
	EXPECT("none", 0x0b);
	EXPECT("none", 0x0e);
	EXPECT("none", 0x02);
	EXPECT("none", 0x0f, 200, 1);
	EXPECT(USUAL, 0x61, 0x3f);
	uint8_t remember[64];
	memset(remember, 0x0a, sizeof(remember));
	expect("none", remember, sizeof(remember));
}

/* DW_CFA_set_loc, which holds the address that it advances to. */
static void test_set_location(void **state)
{
	static const uint8_t absolute[] = {1, 0x20, 0x11, 0x40, 0, 0, 0, 0, 0, 0x0e, 16};
	static const uint8_t backwards[] = {0x60, 1, 0x10, 0x11, 0x40, 0, 0, 0, 0, 0, 0x0e, 16};
	uint8_t relative[] = {1, 0, 0, 0, 0, 0x0e, 16};
	struct bytes eh = {.len = 0}, debug = {.is_debug = true};
	struct unwtab table;

	(void)state;
	put_usual_cie(&eh);
	/* The operand is after the head of the record and the first byte of the instruction. */
	const uint32_t distance = CODE_ADDR + 0x120 - (uint32_t)(FRAME_ADDR + eh.len + 18);
	memcpy(relative + 1, &distance, 4);
	put_fde(&eh, 0x1100, 0x40, relative, sizeof(relative));
	build_one(&eh, &table);
	assert_string_equal(text_at(&table, 0x111f), USUAL);
	assert_string_equal(text_at(&table, 0x1120), "sp+16 same+0 cfa-8");
	unwtab_close(&table);
	put_cie(&debug, "", NULL, 0, "\x0c\x07\x08\x90\x01", 5, 16);
	put_fde(&debug, 0x1100, 0x40, absolute, sizeof(absolute));
	put_fde(&debug, 0x1200, 0x40, backwards, sizeof(backwards));
	build_one(&debug, &table);
	assert_string_equal(text_at(&table, 0x111f), USUAL);
	assert_string_equal(text_at(&table, 0x1120), "sp+16 same+0 cfa-8");
	assert_string_equal(text_at(&table, 0x121f), USUAL);
	assert_string_equal(text_at(&table, 0x1220), "none");
	unwtab_close(&table);
}

/* Each function has its own rule up to the last byte, next to its neighbour. */
static void test_neighbours(void **state)
{
	static const uint8_t second[] = {0x0e, 16};
	struct bytes bytes = {.len = 0};
	struct unwtab table;

	(void)state;
	put_usual_cie(&bytes);
	put_fde(&bytes, 0x1140, 0x20, second, sizeof(second));
	put_fde(&bytes, 0x1100, 0x40, NULL, 0);
	/* inside the first function: that one counts */
	put_fde(&bytes, 0x1120, 0x10, second, sizeof(second));
	put_fde(&bytes, 0x1150, 0x20, NULL, 0); /* only the end of it is free */
	put_fde(&bytes, 0x1180, 0, second, sizeof(second));
	put_fde(&bytes, 0x2ff0, 0x7fffffff, NULL, 0); /* cut at the end of the segment */
	put_fde(&bytes, 0x5000, 0x10, NULL, 0); /* in no segment */
	build_one(&bytes, &table);
	assert_string_equal(text_at(&table, 0x1120), USUAL);
	assert_string_equal(text_at(&table, 0x113f), USUAL);
	assert_string_equal(text_at(&table, 0x1140), "sp+16 same+0 cfa-8");
	assert_string_equal(text_at(&table, 0x115f), "sp+16 same+0 cfa-8");
	assert_string_equal(text_at(&table, 0x1160), USUAL);
	assert_string_equal(text_at(&table, 0x1170), "none");
	assert_string_equal(text_at(&table, 0x1180), "none");
	assert_string_equal(text_at(&table, 0x2fff), USUAL);
	assert_string_equal(text_at(&table, 0x3000), "none");
	assert_string_equal(text_at(&table, 0x5000), "none");
	unwtab_close(&table);
}

/* .debug_frame counts only for code without .eh_frame rules. */
static void test_two_sections(void **state)
{
	static const uint8_t cie[] = {0x0c, 7, 8, 0x90, 1}, other[] = {0x0e, 16};
	struct bytes eh = {.len = 0}, debug = {.is_debug = true};
	const struct bytes *const sections[] = {&eh, &debug};
	struct unwtab table;

	(void)state;
	put_usual_cie(&eh);
	put_fde(&eh, 0x1200, 0x40, NULL, 0);
	put_fde(&eh, 0x1100, 0x40, NULL, 0);
	put_cie(&debug, "", NULL, 0, cie, sizeof(cie), 16);
	put_fde(&debug, 0x1100, 0x40, other, sizeof(other));
	put_fde(&debug, 0x1140, 0x40, other, sizeof(other));
	put_fde(&debug, 0x11f0, 0x80, other, sizeof(other));
	put_fde(&debug, 0x1230, 0x80, other, sizeof(other));
	build(sections, 2, EM_X86_64, &table);
	assert_string_equal(text_at(&table, 0x1100), USUAL);
	assert_string_equal(text_at(&table, 0x1140), "sp+16 same+0 cfa-8");
	assert_string_equal(text_at(&table, 0x1180), "none");
	assert_string_equal(text_at(&table, 0x11f0), "sp+16 same+0 cfa-8");
	assert_string_equal(text_at(&table, 0x1200), USUAL);
	assert_string_equal(text_at(&table, 0x123f), USUAL);
	assert_string_equal(text_at(&table, 0x1240), "sp+16 same+0 cfa-8");
	assert_string_equal(text_at(&table, 0x12b0), "none");
	unwtab_close(&table);
}

/* Personality and language data before or after the pointer encoding. */
static void test_augmentations(void **state)
{
	static const uint8_t program[] = {0x0c, 7, 8, 0x90, 1};
	static const struct {
		const char *letters, *data;
		size_t len;
		bool is_known;
	} cases[] = {
		{"zPLR", "\x9b\1\2\3\4\x1b\x1b", 7, true},
		{"zPLR", "\x00\1\2\3\4\5\6\7\10\x1b\x1b", 11, true},
		{"zPR", "\xff\x1b", 2, true},
		{"zRL", "\x1b\x1b", 2, true},
		{"zRB", "\x1b", 1, true},
		{"zRS", "\x1b", 1, true},
		{"zPR", "\x50\1\2\3\4\5\6\7\10\x1b", 10, false}, /* aligned */
		{"zR", "\x3b", 1, false}, /* datarel */
		{"zR", "\x2b", 1, false}, /* textrel */
		{"zR", "\x9b", 1, false}, /* indirect */
		{"zR", "\xff", 1, false},
		{"zR", "\x1d", 1, false},
		{"zRQ", "\x1b\x1b", 2, false},
		{"q", "", 0, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes bytes = {.len = 0};
		struct unwtab table;
		put_cie(&bytes, cases[i].letters, cases[i].data, cases[i].len, program,
			sizeof(program), 16);
		put_fde(&bytes, 0x1100, 0x10, NULL, 0);
		build_one(&bytes, &table);
		assert_int_equal(unwtab_find(&table, 0x1100) != NULL, cases[i].is_known);
		unwtab_close(&table);
	}
}

/* Addresses in each pointer encoding. */
static void test_encodings(void **state)
{
	static const struct {
		uint8_t encoding, width;
		uint64_t limit; /* first value that does not fit */
	} cases[] = {{0x00, 8, 0}, {0x10, 8, 0}, {0x03, 4, 0}, {0x13, 4, 0}, {0x04, 8, 0},
		{0x0b, 4, 0}, {0x0c, 8, 0}, {0x1c, 8, 0}, {0x12, 2, 0}, {0x1a, 2, 0}};
	static const uint8_t program[] = {0x0c, 7, 8, 0x90, 1};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes bytes = {.len = 0};
		struct unwtab table;
		put_cie(&bytes, "zR", (const char *)&cases[i].encoding, 1, program, sizeof(program),
			16);
		const size_t start = bytes.len;
		put(&bytes, 4, 0);
		put(&bytes, 4, start + 4 - bytes.cie);
		const uint64_t here = FRAME_ADDR + bytes.len;
		put(&bytes, cases[i].width,
			CODE_ADDR + 0x100 - (cases[i].encoding & 0x10 ? here : 0));
		put(&bytes, cases[i].width, 0x10);
		put(&bytes, 1, 0);
		end_record(&bytes, start);
		build_one(&bytes, &table);
		assert_string_equal(text_at(&table, 0x1100), USUAL);
		assert_int_equal(table.code_bytes, 0x10);
		unwtab_close(&table);
	}
}

/* Ends of joined sections, pointers to no CIE, and records with wrong lengths. */
static void test_records(void **state)
{
	struct bytes bytes = {.len = 0};
	struct unwtab table;

	(void)state;
	put_usual_cie(&bytes);
	put_fde(&bytes, 0x1100, 0x10, NULL, 0);
	put(&bytes, 4, 0);
	put_fde(&bytes, 0x1200, 0x10, NULL, 0);
	/* The CIE pointer leads into another record. */
	bytes.cie += 4;
	put_fde(&bytes, 0x1300, 0x10, NULL, 0);
	/* The CIE has the return address in another column. */
	put_cie(&bytes, "zR", "\x1b", 1, NULL, 0, 3);
	put_fde(&bytes, 0x1400, 0x10, NULL, 0);
	put_usual_cie(&bytes);
	put_fde(&bytes, 0x1500, 0x10, NULL, 0);
	/* The record is longer than the section. */
	put(&bytes, 4, 0x1000);
	put(&bytes, 4, 0);
	build_one(&bytes, &table);
	assert_string_equal(text_at(&table, 0x1100), USUAL);
	assert_string_equal(text_at(&table, 0x1200), USUAL);
	assert_string_equal(text_at(&table, 0x1300), "none");
	assert_string_equal(text_at(&table, 0x1400), "none");
	assert_string_equal(text_at(&table, 0x1500), USUAL);
	assert_int_equal(table.code_bytes, 0x30);
	unwtab_close(&table);

	/* The section is cut at each byte. */
	const size_t len = bytes.len;
	for (bytes.len = 0; bytes.len < len; bytes.len++) {
		build_one(&bytes, &table);
		unwtab_close(&table);
	}
}

static void test_arm64(void **state)
{
	static const uint8_t cie[] = {0x0c, 31, 0};
	static const uint8_t usual[] = {
		0x44, 0x2d, 0x44, 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x44, 0x0d, 29};
	static const uint8_t start[] = {0x07, 30};
	struct bytes bytes = {.len = 0};
	const struct bytes *const sections[] = {&bytes};
	struct unwtab table;

	(void)state;
	put_cie(&bytes, "zR", "\x1b", 1, cie, sizeof(cie), 30);
	put_fde(&bytes, 0x1100, 0x40, usual, sizeof(usual));
	put_fde(&bytes, 0x1200, 0x40, start, sizeof(start));
	build(sections, 1, EM_AARCH64, &table);
	assert_int_equal(table.machine, EM_AARCH64);
	assert_string_equal(text_at(&table, 0x1100), "sp+0 same+0 same+0");
	assert_string_equal(text_at(&table, 0x1108), "sp+32 cfa-32 cfa-24");
	assert_string_equal(text_at(&table, 0x110c), "bp+32 cfa-32 cfa-24");
	assert_string_equal(text_at(&table, 0x1200), "end+0 same+0 same+0");
	assert_int_equal(table.bp_bytes, 0x34);
	unwtab_close(&table);

	/* For EM_386, this section makes no rules. */
	build(sections, 1, EM_386, &table);
	assert_int_equal(table.n_rows, 0);
	unwtab_close(&table);
}

/* GCC saves x30 at the lower end of a frame. This frame has 40,976 bytes and is found by sp and
 * x29. */
static void test_arm64_large_frame(void **state)
{
	static const uint8_t cie[] = {0x0c, 31, 0};
	static const uint8_t large[] = {0x44, 0x0e, 0x90, 0xc0, 2, 0x44, 0x9d, 0x81, 0x28, 0x9e,
		0x80, 0x28, 0x44, 0x0d, 29};
	struct bytes bytes = {.len = 0};
	const struct bytes *const sections[] = {&bytes};
	struct unwtab table;

	(void)state;
	put_cie(&bytes, "zR", "\x1b", 1, cie, sizeof(cie), 30);
	put_fde(&bytes, 0x1100, 0x40, large, sizeof(large));
	build(sections, 1, EM_AARCH64, &table);
	assert_string_equal(text_at(&table, 0x1104), "sp+40976 same+0 same+0");
	assert_string_equal(text_at(&table, 0x1108), "sp+40976 sp+8 sp+16");
	assert_string_equal(text_at(&table, 0x110c), "bp+40976 bp+8 bp+16");
	unwtab_close(&table);
}

/* The CFI of a vdso leads to the frame record. Its rule restores all registers. */
static void test_arm64_signal_frame(void **state)
{
	static const uint8_t program[] = {0x0c, 29, 0, 0x9d, 0, 0x11, 30, 0x7f};
	struct bytes bytes = {.len = 0};
	const struct bytes *const sections[] = {&bytes};
	struct unwtab table;

	(void)state;
	put_cie(&bytes, "zRS", "\x1b", 1, program, 0, 30);
	put_fde(&bytes, 0x1100, 0x10, program, sizeof(program));
	put_cie(&bytes, "zR", "\x1b", 1, program, 0, 30);
	put_fde(&bytes, 0x1200, 0x10, program, sizeof(program));
	build(sections, 1, EM_AARCH64, &table);
	assert_string_equal(text_at(&table, 0x1100), "signal+560 cfa+544 cfa+568 signal");
	assert_string_equal(text_at(&table, 0x1200), "bp+0 cfa+0 cfa+8");
	unwtab_close(&table);
}

/* 32-bit code is not unwound by tables, but a function without a caller ends a chain. */
static void test_32_bits(void **state)
{
	static const uint8_t usual[] = {0x0c, 4, 4, 0x88, 1}, undefined[] = {0x07, 8},
			     later[] = {0x44, 0x07, 8};
	struct bytes bytes = {.len = 0};
	const struct bytes *sections[] = {&bytes};
	struct unwtab table;

	(void)state;
	put_cie(&bytes, "zR", "\x1b", 1, usual, sizeof(usual), 8);
	put_fde(&bytes, 0x1100, 0x40, NULL, 0);
	put_fde(&bytes, 0x1140, 0x20, undefined, sizeof(undefined));
	put_fde(&bytes, 0x1180, 0x20, later, sizeof(later));
	build(sections, 1, EM_386, &table);
	for (uint64_t at = 0x10f0; at < 0x11c0; at++)
		assert_string_equal(text_at(&table, at),
			(at >= 0x1140 && at < 0x1160) || (at >= 0x1184 && at < 0x11a0)
				? "end+0 same+0 same+0"
				: "none");
	assert_int_equal(table.code_bytes, 0);
	unwtab_close(&table);
}

/* A compiled function at the entry has the rules of one with a caller, but it is a root. */
static void test_entry(void **state)
{
	struct bytes bytes = {.len = 0};
	struct unwtab table;

	(void)state;
	put_usual_cie(&bytes);
	put_fde(&bytes, 0x1100, 0x40, NULL, 0);
	put_fde(&bytes, 0x1140, 0x40, NULL, 0);
	entry = CODE_ADDR + 0x140;
	build_one(&bytes, &table);
	assert_string_equal(text_at(&table, 0x113f), USUAL);
	assert_string_equal(text_at(&table, 0x1140), "end+0 same+0 same+0");
	assert_string_equal(text_at(&table, 0x117f), "end+0 same+0 same+0");
	assert_string_equal(text_at(&table, 0x1180), "none");
	unwtab_close(&table);
	/* An entry inside a function has no known extent. */
	entry = CODE_ADDR + 0x148;
	build_one(&bytes, &table);
	assert_string_equal(text_at(&table, 0x1148), USUAL);
	unwtab_close(&table);
	entry = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_rbx),
		cmocka_unit_test(test_advances),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_signal_frame),
		cmocka_unit_test(test_broken_instructions),
		cmocka_unit_test(test_set_location),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_two_sections),
		cmocka_unit_test(test_augmentations),
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_arm64_large_frame),
		cmocka_unit_test(test_arm64_signal_frame),
		cmocka_unit_test(test_32_bits),
		cmocka_unit_test(test_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
