/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_disasm.c - known instructions of each machine and syntax, their targets and kinds.
 *
 * Random bytes are covered completely, and no byte beyond the end is read.
 */
#include "symbols/worker/disasm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_MAX 64

static int take(const struct codetab_entry *entry, void *ctx)
{
	codetab_builder_add(ctx, entry);
	return 0;
}

/* Disassembles a copy of the bytes, alone on the heap, into a table. */
static int run(struct disasm_code code, struct codetab *table)
{
	struct codetab_builder *builder;
	uint8_t *bytes = malloc(code.len);
	int fd;

	assert_non_null(bytes);
	memcpy(bytes, code.bytes, code.len);
	code.bytes = bytes;
	assert_int_equal(codetab_builder_new(&builder), 0);
	int ret = disasm_run(&code, builder, take, builder);
	if (ret == 0) {
		assert_int_equal(codetab_builder_finish(builder, &fd), 0);
		assert_int_equal(codetab_open(table, fd), 0);
		close(fd);
	}
	codetab_builder_free(builder);
	free(bytes);
	return ret;
}

struct expected {
	uint64_t start, target;
	uint8_t len, kind;
	const char *text;
};
#define NONE CODETAB_NO_TARGET

static void expect(struct disasm_code code, const struct expected *rows)
{
	struct codetab table;

	int ret = run(code, &table);
	if (ret == -ENOTSUP) {
		print_message("skipped: no libopcodes here knows machine %u\n", code.machine);
		skip();
	}
	assert_int_equal(ret, 0);
	for (uint32_t i = 0; i < table.n_entries; i++) {
		const struct codetab_entry *entry = &table.entries[i];

		assert_non_null(rows[i].text);
		assert_string_equal(table.pool + entry->text, rows[i].text);
		assert_int_equal(entry->start, rows[i].start);
		assert_int_equal(entry->target, rows[i].target);
		assert_int_equal(entry->len, rows[i].len);
		assert_int_equal(entry->kind, rows[i].kind);
		assert_int_equal(entry->n_frames, 0);
	}
	assert_null(rows[table.n_entries].text);
	codetab_close(&table);
}

static const uint8_t x86_64[] = {
	0xf3, 0x0f, 0x1e, 0xfa, /* endbr64 */
	0x48, 0x8b, 0x04, 0xcf, /* mov (%rdi,%rcx,8),%rax */
	0x48, 0x8d, 0x3d, 0x10, 0x00, 0x00, 0x00, /* lea 0x10(%rip),%rdi */
	0xe8, 0xec, 0xff, 0xff, 0xff, /* call to 0x1000 */
	0x75, 0xea, /* jne */
	0xeb, 0x01, /* jmp */
	0xff, 0x25, 0x00, 0x10, 0x00, 0x00, /* jmp *0x1000(%rip) */
	0xf2, 0xff, 0x15, 0x00, 0x10, 0x00, 0x00, /* bnd call *0x1000(%rip) */
	0xff, 0xe0, /* jmp *%rax */
	0xf3, 0xc3, /* repz ret */
	0x06, /* (bad) in 64 bits */
	0xe9, 0x00, /* cut */
};

static void test_att(void **state)
{
	static const struct expected rows[] = {
		{0x1000, NONE, 4, CODETAB_PLAIN, "endbr64"},
		{0x1004, NONE, 4, CODETAB_PLAIN, "mov    (%rdi,%rcx,8),%rax"},
		{0x1008, NONE, 7, CODETAB_PLAIN, "lea    0x10(%rip),%rdi        # 0x101f"},
		{0x100f, 0x1000, 5, CODETAB_CALL, "call   "},
		{0x1014, 0x1000, 2, CODETAB_BRANCH, "jne    "},
		{0x1016, 0x1019, 2, CODETAB_JUMP, "jmp    "},
		{0x1018, NONE, 6, CODETAB_JUMP, "jmp    *0x1000(%rip)        # 0x201e"},
		{0x101e, NONE, 7, CODETAB_CALL, "bnd call *0x1000(%rip)        # 0x2025"},
		{0x1025, NONE, 2, CODETAB_JUMP, "jmp    *%rax"},
		{0x1027, NONE, 2, CODETAB_RETURN, "repz ret"},
		{0x1029, NONE, 1, CODETAB_BAD, ".byte  0x06"},
		{0x102a, NONE, 1, CODETAB_BAD, ".byte  0xe9"},
		{0x102b, NONE, 1, CODETAB_BAD, ".byte  0x00"},
		{.text = NULL},
	};

	(void)state;
	expect((struct disasm_code){.machine = EM_X86_64,
		       .is64 = true,
		       .bytes = x86_64,
		       .len = sizeof(x86_64),
		       .address = 0x1000},
		rows);
}

static void test_intel(void **state)
{
	static const struct expected rows[] = {
		{0x1000, NONE, 4, CODETAB_PLAIN, "endbr64"},
		{0x1004, NONE, 4, CODETAB_PLAIN, "mov    rax,QWORD PTR [rdi+rcx*8]"},
		{0x1008, NONE, 7, CODETAB_PLAIN, "lea    rdi,[rip+0x10]        # 0x101f"},
		{0x100f, 0x1000, 5, CODETAB_CALL, "call   "},
		{.text = NULL},
	};

	(void)state;
	expect((struct disasm_code){.machine = EM_X86_64,
		       .is64 = true,
		       .syntax = DISASM_INTEL,
		       .bytes = x86_64,
		       .len = 20,
		       .address = 0x1000},
		rows);
}

/* In 64-bit mode these bytes are other instructions. */
static void test_i386(void **state)
{
	static const uint8_t bytes[] = {
		0x40, 0x89, 0xc3, 0x06, 0xe8, 0xf7, 0xff, 0xff, 0xff, 0xe2, 0xf5, 0xcf};
	static const struct expected att[] = {
		{0x8048000, NONE, 1, CODETAB_PLAIN, "inc    %eax"},
		{0x8048001, NONE, 2, CODETAB_PLAIN, "mov    %eax,%ebx"},
		{0x8048003, NONE, 1, CODETAB_PLAIN, "push   %es"},
		{0x8048004, 0x8048000, 5, CODETAB_CALL, "call   "},
		{0x8048009, 0x8048000, 2, CODETAB_BRANCH, "loop   "},
		{0x804800b, NONE, 1, CODETAB_RETURN, "iret"},
		{.text = NULL},
	};
	static const struct expected intel[] = {
		{0x8048000, NONE, 1, CODETAB_PLAIN, "inc    eax"},
		{0x8048001, NONE, 2, CODETAB_PLAIN, "mov    ebx,eax"},
		{.text = NULL},
	};
	struct disasm_code code = {
		.machine = EM_386, .bytes = bytes, .len = sizeof(bytes), .address = 0x8048000};

	(void)state;
	expect(code, att);
	code.syntax = DISASM_INTEL;
	code.len = 3;
	expect(code, intel);
}

static void test_aarch64(void **state)
{
	static const uint8_t bytes[] = {
		0xfd, 0x7b, 0xbf, 0xa9, /* stp x29, x30, [sp, #-16]! */
		0xff, 0xff, 0xff, 0x97, /* bl 0x4000 */
		0xc1, 0xff, 0xff, 0x54, /* b.ne 0x4000 */
		0x40, 0x00, 0x00, 0xb4, /* cbz x0 */
		0x02, 0x00, 0x00, 0x14, /* b */
		0x20, 0x00, 0x3f, 0xd6, /* blr x1 */
		0x00, 0x00, 0x00, 0x90, /* adrp */
		0xc0, 0x03, 0x5f, 0xd6, /* ret */
		0xff, 0xff, 0xff, 0xff, /* nothing */
		0x00, 0x02, 0x1f, 0xd6, /* br x16 */
		0xc0, 0x03, /* cut */
	};
	static const struct expected rows[] = {
		{0x4000, NONE, 4, CODETAB_PLAIN, "stp    x29, x30, [sp, #-16]!"},
		{0x4004, 0x4000, 4, CODETAB_CALL, "bl     "},
		{0x4008, 0x4000, 4, CODETAB_BRANCH, "b.ne   "},
		{0x400c, 0x4014, 4, CODETAB_BRANCH, "cbz    x0, "},
		{0x4010, 0x4018, 4, CODETAB_JUMP, "b      "},
		{0x4014, NONE, 4, CODETAB_CALL, "blr    x1"},
		{0x4018, NONE, 4, CODETAB_PLAIN, "adrp   x0, 0x4000"},
		{0x401c, NONE, 4, CODETAB_RETURN, "ret"},
		{0x4020, NONE, 4, CODETAB_BAD, ".byte  0xff,0xff,0xff,0xff"},
		{0x4024, NONE, 4, CODETAB_JUMP, "br     x16"},
		{0x4028, NONE, 2, CODETAB_BAD, ".byte  0xc0,0x03"},
		{.text = NULL},
	};

	(void)state;
	expect((struct disasm_code){.machine = EM_AARCH64,
		       .is64 = true,
		       .bytes = bytes,
		       .len = sizeof(bytes),
		       .address = 0x4000},
		rows);
}

static void test_riscv(void **state)
{
	static const uint8_t bytes[] = {
		0x01, 0x11, 0xef, 0xf0, 0xff, 0xff, 0xe3, 0x1d, 0x05, 0xfe, 0x01, 0xa0, 0x82, 0x80};
	static const struct expected rows[] = {
		{0x2000, NONE, 2, CODETAB_PLAIN, "add    sp,sp,-32"},
		{0x2002, 0x2000, 4, CODETAB_CALL, "jal    "},
		{0x2006, 0x2000, 4, CODETAB_BRANCH, "bnez   a0,"},
		{0x200a, 0x200a, 2, CODETAB_JUMP, "j      "},
		{0x200c, NONE, 2, CODETAB_RETURN, "ret"},
		{.text = NULL},
	};

	(void)state;
	expect((struct disasm_code){.machine = EM_RISCV,
		       .is64 = true,
		       .bytes = bytes,
		       .len = sizeof(bytes),
		       .address = 0x2000},
		rows);
}

static void test_unknown(void **state)
{
	static const uint8_t bytes[4];
	struct codetab table;

	(void)state;
	assert_int_equal(
		run((struct disasm_code){.machine = 0xfefe, .bytes = bytes, .len = 4}, &table),
		-ENOTSUP);
}

static int stop_at_third(const struct codetab_entry *entry, void *ctx)
{
	(void)entry;
	return ++*(int *)ctx == 3 ? -ECANCELED : 0;
}

static void test_stop(void **state)
{
	const struct disasm_code code = {
		.machine = EM_X86_64, .is64 = true, .bytes = x86_64, .len = sizeof(x86_64)};
	struct codetab_builder *builder;
	int seen = 0;

	(void)state;
	assert_int_equal(codetab_builder_new(&builder), 0);
	assert_int_equal(disasm_run(&code, builder, stop_at_third, &seen), -ECANCELED);
	assert_int_equal(seen, 3);
	codetab_builder_free(builder);
}

/* All bytes are covered without a gap, for any contents, up to the end of the address space. */
static void test_any_bytes(void **state)
{
	static const uint16_t machines[] = {EM_X86_64, EM_386, EM_AARCH64, EM_ARM, EM_RISCV, EM_PPC,
		EM_PPC64, EM_S390, EM_MIPS, EM_LOONGARCH};
	uint64_t seed = 4711;

	(void)state;
	for (int round = 0; round < 400; round++) {
		uint8_t bytes[257];
		struct disasm_code code = {
			.machine = machines[round % 10],
			.is64 = round / 10 % 2 == 0,
			.big_endian = round / 20 % 2 != 0,
			.syntax = round / 40 % 2 ? DISASM_INTEL : DISASM_ATT,
			.bytes = bytes,
			.len = sizeof(bytes) - (size_t)round % 16,
		};
		struct codetab table;

		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			bytes[i] = (uint8_t)(seed >> 56);
		}
		code.address = round % 3 ? 0x400000 : UINT64_MAX - code.len;
		int ret = run(code, &table);
		if (ret == -ENOTSUP)
			continue;
		assert_int_equal(ret, 0);
		uint64_t at = code.address;
		for (uint32_t i = 0; i < table.n_entries; i++) {
			const struct codetab_entry *entry = &table.entries[i];
			const char *text = table.pool + entry->text;

			assert_int_equal(entry->start, at);
			assert_true(entry->len > 0);
			assert_true(text[0] != '\0' && text[strcspn(text, "\t\n\r")] == '\0');
			at += entry->len;
		}
		assert_int_equal(at, code.address + code.len);
		codetab_close(&table);
	}
}

static int load(void **state)
{
	(void)state;
	if (disasm_load() < 0)
		print_message("no libopcodes here\n");
	return disasm_load();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_att),
		cmocka_unit_test(test_intel),
		cmocka_unit_test(test_i386),
		cmocka_unit_test(test_aarch64),
		cmocka_unit_test(test_riscv),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, load, NULL);
}
