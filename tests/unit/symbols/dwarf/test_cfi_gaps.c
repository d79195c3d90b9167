/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_cfi_gaps.c - rules made for arm64 code without call frame information.
 */
#include "symbols/dwarf/cfi_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORDS 64
#define NOP 0xd503201fu
#define RET 0xd65f03c0u
#define MOV_SIGRETURN 0xd2801168u
#define SVC 0xd4000001u

struct world {
	uint32_t code[WORDS]; /* the file: two code sections of equal size */
	struct elffile_section sections[2];
	struct elffile elf;
	struct unwtab table;
};

static int setup(void **state)
{
	static struct world world;

	world = (struct world){.elf = {.is64 = true,
				       .machine = EM_AARCH64,
				       .len = sizeof(world.code),
				       .sections = world.sections,
				       .n_sections = 2}};
	for (size_t i = 0; i < WORDS; i++)
		world.code[i] = NOP;
	for (size_t i = 0; i < 2; i++)
		world.sections[i] = (struct elffile_section){.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_EXECINSTR,
			.offset = i * sizeof(world.code) / 2,
			.size = sizeof(world.code) / 2};
	*state = &world;
	return 0;
}

static void build(struct world *world)
{
	struct unwtab_builder *builder;
	uint32_t n_rows;
	int sealed;

	world->elf.fd = memfd_create("code", MFD_CLOEXEC);
	assert_int_equal(
		write(world->elf.fd, world->code, sizeof(world->code)), sizeof(world->code));
	assert_int_equal(unwtab_builder_new(&builder, world->elf.machine), 0);
	assert_int_equal(cfi_add(&world->elf, NULL, 0, builder), 0);
	assert_int_equal(unwtab_builder_finish(builder, &sealed, &n_rows), 0);
	assert_int_equal(unwtab_open(&world->table, sealed), 0);
	unwtab_builder_free(builder);
	close(sealed);
	close(world->elf.fd);
}

static const struct unwtab_rule *rule_at(struct world *world, size_t word)
{
	return unwtab_find(&world->table, word * 4);
}

static void expect_leaf(struct world *world, size_t word)
{
	const struct unwtab_rule *rule = rule_at(world, word);

	assert_non_null(rule);
	assert_int_equal(rule->cfa, UNWTAB_SP);
	assert_int_equal(rule->cfa_off, 0);
	assert_int_equal(rule->ra, UNWTAB_REG_SAME);
	assert_int_equal(rule->bp, UNWTAB_REG_SAME);
}

static void expect_signal(struct world *world, size_t word)
{
	const struct unwtab_rule *rule = rule_at(world, word);

	assert_non_null(rule);
	assert_int_equal(rule->cfa, UNWTAB_SIGNAL);
	assert_int_equal(rule->cfa_off, 560);
	assert_int_equal(rule->ra_off, 568);
	assert_int_equal(rule->bp_off, 544);
	assert_int_equal(rule->flags, UNWTAB_FLAG_SIGNAL);
}

static void test_leaves(void **state)
{
	/* Each calls or moves sp. */
	static const uint32_t others[] = {
		0x94000010, /* bl */
		0xd63f0040, /* blr x2 */
		0xd73f0841, /* blraa x2, x1 */
		0xd10083ff, /* sub sp, sp, #32 */
		0x910003bf, /* mov sp, x29 */
		0xcb2c63ff, /* sub sp, sp, x12 */
		0x927cec1f, /* and sp, x0, #0xfffffffffffffff0 */
		0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
		0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
		0xf81f0ffe, /* str x30, [sp, #-16]! */
		0xf84107fe, /* ldr x30, [sp], #16 */
	};
	/* None calls or moves sp, though some are similar. */
	static const uint32_t leaves[] = {
		RET, 0xd61f0220, /* br x17 */
		0x14000010, /* b */
		0xf10083ff, /* cmp sp, #32 */
		0x910083e0, /* add x0, sp, #32 */
		0x8b2463e4, /* add x4, sp, x4 */
		0xf90003e0, /* str x0, [sp] */
		0xa90007e0, /* stp x0, x1, [sp] */
		0xf100001f, /* cmp x0, #0 */
		0xf8408441, /* ldr x1, [x2], #8 */
		0xea00001f, /* tst x0, x0 */
		0xf240001f, /* tst x0, #1 */
	};
	struct world *world = *state;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		world->code[5] = others[i];
		build(world);
		assert_null(rule_at(world, 0));
		assert_null(rule_at(world, WORDS / 2 - 1));
		expect_leaf(world, WORDS / 2);
		unwtab_close(&world->table);
	}
	for (size_t i = 0; i < sizeof(leaves) / sizeof(*leaves); i++) {
		world->code[5] = leaves[i];
		build(world);
		expect_leaf(world, 0);
		expect_leaf(world, WORDS - 1);
		unwtab_close(&world->table);
	}
}

static void test_trampoline(void **state)
{
	struct world *world = *state;

	world->code[7] = MOV_SIGRETURN;
	world->code[8] = SVC;
	world->code[9] = RET; /* part of another function */
	world->code[20] = MOV_SIGRETURN; /* no system call follows: not a trampoline */
	world->code[WORDS / 2] = MOV_SIGRETURN; /* no instruction before it */
	world->code[WORDS / 2 + 1] = SVC;
	world->code[WORDS - 1] = 0x94000010; /* so that other code in this section has no rule */
	build(world);
	expect_leaf(world, 5);
	for (size_t i = 6; i < 9; i++)
		expect_signal(world, i);
	expect_leaf(world, 9);
	expect_leaf(world, 20);
	expect_leaf(world, WORDS / 2 - 1);
	expect_signal(world, WORDS / 2);
	expect_signal(world, WORDS / 2 + 1);
	expect_signal(world, WORDS / 2 + 2);
	assert_null(rule_at(world, WORDS / 2 + 3));
	unwtab_close(&world->table);
	/* In the system call, ip is after the end of the code. */
	world->sections[0].size += 8;
	world->sections[1].size = 0;
	build(world);
	expect_signal(world, WORDS / 2 + 2);
	assert_null(rule_at(world, WORDS / 2 + 3));
	unwtab_close(&world->table);
}

static void test_plt(void **state)
{
	struct world *world = *state;
	const struct unwtab_rule *rule;

	for (size_t bti = 0; bti < 2; bti++) {
		world->code[0] = 0xd503245f; /* bti c */
		world->code[bti] = 0xa9bf7bf0; /* stp x16, x30, [sp, #-16]! */
		build(world);
		expect_leaf(world, bti);
		rule = rule_at(world, bti + 1);
		assert_int_equal(rule->cfa, UNWTAB_SP);
		assert_int_equal(rule->cfa_off, 16);
		assert_int_equal(rule->ra, UNWTAB_REG_CFA);
		assert_int_equal(rule->ra_off, -8);
		assert_ptr_equal(rule_at(world, 7), rule);
		expect_leaf(world, 8);
		unwtab_close(&world->table);
	}
	/* A PLT does not call: with a call, the code is not one. */
	world->code[20] = 0x94000010;
	build(world);
	assert_null(rule_at(world, 1));
	unwtab_close(&world->table);
}

/* Returns true if the byte before `end` gets a rule, which ends a call. gap: bytes up to `end`
 * without rules. */
static bool finds_call_in(
	struct world *world, const uint8_t *code, size_t len, uint64_t gap, uint64_t end)
{
	struct cfi_gaps gaps = {.elf = &world->elf};
	const struct unwtab_rule *rule;
	uint32_t n_rows;
	int sealed;

	memset(world->code, 0x90, sizeof(world->code));
	memcpy((uint8_t *)world->code + end - len, code, len);
	world->elf.fd = memfd_create("code", MFD_CLOEXEC);
	assert_int_equal(
		write(world->elf.fd, world->code, sizeof(world->code)), sizeof(world->code));
	assert_int_equal(unwtab_builder_new(&gaps.builder, world->elf.machine), 0);
	cfi_add_gap(&gaps, end - gap, end);
	cfi_add_gap(&gaps, end + 16, UINT64_MAX); /* the last gap */
	assert_int_equal(unwtab_builder_finish(gaps.builder, &sealed, &n_rows), 0);
	assert_int_equal(unwtab_open(&world->table, sealed), 0);
	unwtab_builder_free(gaps.builder);
	close(sealed);
	close(world->elf.fd);
	rule = unwtab_find(&world->table, end - 1);
	const bool found = rule && rule->cfa == UNWTAB_CALL;
	for (uint64_t at = 0; at < sizeof(world->code); at++)
		assert_true((found && at == end - 1) || !unwtab_find(&world->table, at) ||
			world->elf.machine == EM_AARCH64);
	unwtab_close(&world->table);
	return found;
}

static bool finds_call(struct world *world, const uint8_t *code, size_t len)
{
	const uint64_t end = sizeof(world->code) / 2;

	return finds_call_in(world, code, len, end, end);
}

/* Assembly functions need no alignment and may be as short as a call. */
static void test_calls_in_short_code(void **state)
{
	static const uint8_t call[] = {0xe8, 0x12, 0x34, 0, 0}, call_rax[] = {0xff, 0xd0},
			     bl[] = {0x10, 0, 0, 0x94};
	struct world *world = *state;

	world->elf.machine = EM_X86_64;
	assert_true(finds_call_in(world, call, sizeof(call), 15, 125));
	assert_true(finds_call_in(world, call, sizeof(call), 5, 125));
	assert_true(finds_call_in(world, call_rax, sizeof(call_rax), 2, 125));
	/* The call begins before the gap. */
	assert_false(finds_call_in(world, call, sizeof(call), 4, 125));
	assert_false(finds_call_in(world, call_rax, sizeof(call_rax), 1, 125));
	/* A gap of less than 16 bytes before an aligned address is padding and is not searched. */
	assert_false(finds_call_in(world, call, sizeof(call), 15, 128));
	assert_true(finds_call_in(world, call, sizeof(call), 16, 128));
	world->elf.machine = EM_AARCH64;
	assert_true(finds_call_in(world, bl, sizeof(bl), 4, 124));
	assert_false(finds_call_in(world, bl, sizeof(bl), 3, 124));
}

static void test_calls(void **state)
{
	/* Bytes as an assembler encodes them, each after its length. */
	static const uint8_t calls[][8] = {
		{5, 0xe8, 0x12, 0x34, 0x00, 0x00}, /* call f */
		{5, 0xe8, 0xfb, 0xff, 0xff, 0xff}, {2, 0xff, 0xd0}, /* call *%rax */
		{3, 0x41, 0xff, 0xd4}, /* call *%r12 */
		{2, 0xff, 0x13}, /* call *(%rbx) */
		{3, 0xff, 0x14, 0x24}, /* call *(%rsp) */
		{3, 0xff, 0x50, 0x90}, /* call *-112(%rax) */
		{4, 0xff, 0x54, 0x24, 0x90}, /* call *-112(%rsp) */
		{6, 0xff, 0x15, 0x00, 0x10, 0x00, 0x00}, /* call *f@GOTPCREL(%rip) */
		{6, 0xff, 0x90, 0x00, 0x01, 0x00, 0x00}, /* call *256(%rax) */
		{7, 0xff, 0x14, 0xc5, 0x00, 0x10, 0x40, 0x00}, /* call *table(,%rax,8) */
		{7, 0xff, 0x94, 0xc3, 0x00, 0x01, 0x00, 0x00}, /* call *256(%rbx,%rax,8) */
	};
	static const uint8_t others[][8] = {
		{1, 0xc3}, /* ret */
		{1, 0xcc}, /* int3 */
		{5, 0x0f, 0x1f, 0x44, 0x00, 0x00}, /* nop */
		{7, 0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00}, {2, 0xff, 0xe0}, /* jmp *%rax */
		{6, 0xff, 0x25, 0x00, 0x10, 0x00, 0x00}, /* jmp *f@GOTPCREL(%rip) */
		{5, 0xe9, 0x12, 0x34, 0x00, 0x00}, /* jmp f */
		{6, 0xe8, 0x12, 0x34, 0x00, 0x00, 0x90}, /* call f; nop */
	};
	static const uint8_t bl[] = {0x10, 0, 0, 0x94}, nop[] = {0x1f, 0x20, 0x03, 0xd5};
	struct world *world = *state;

	world->elf.machine = EM_X86_64;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		assert_true(finds_call(world, calls[i] + 1, calls[i][0]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(finds_call(world, others[i] + 1, others[i][0]));
	world->elf.machine = EM_AARCH64;
	assert_true(finds_call(world, bl, sizeof(bl)));
	assert_false(finds_call(world, nop, sizeof(nop)));
}

static void test_bounds(void **state)
{
	struct world *world = *state;

	/* Data is not code. x86-64 has no such instructions. */
	world->sections[0].flags = SHF_ALLOC;
	build(world);
	assert_null(rule_at(world, 3));
	expect_leaf(world, WORDS - 1);
	unwtab_close(&world->table);
	world->elf.machine = EM_X86_64;
	build(world);
	assert_int_equal(world->table.n_rows, 0);
	unwtab_close(&world->table);
	/* Sections without bytes in the file. */
	world->elf.machine = EM_AARCH64;
	world->sections[0] = world->sections[1];
	world->sections[0].size++;
	world->sections[1].offset = UINT64_MAX - 8;
	build(world);
	assert_int_equal(world->table.n_rows, 0);
	unwtab_close(&world->table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_leaves, setup),
		cmocka_unit_test_setup(test_trampoline, setup),
		cmocka_unit_test_setup(test_plt, setup),
		cmocka_unit_test_setup(test_calls, setup),
		cmocka_unit_test_setup(test_calls_in_short_code, setup),
		cmocka_unit_test_setup(test_bounds, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
