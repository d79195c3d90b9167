/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_unwinder_registers.c - callchains through frames whose end is in a register other than the
 * stack and frame pointers.
 */
#include "unwinder_fixture.h"

/* OpenSSL's loops keep the caller's stack pointer in any register.  A signal may interrupt them. */
static void test_by_register(void **state)
{
	/* Registers by DWARF number, as numbered in samples and in struct sigcontext_64. */
	static const uint8_t in_sample[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23};
	static const uint8_t in_signal[] = {13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7};
	struct world *world = *state;

	/* bn_mul_mont() has it in a word after n others, and n in a register. */
	world->format.regs_user = 0xff01ff;
	world->registers[7] = SP;
	world->registers[8] = AT(0);
	world->registers[10] = 3; /* r9 */
	world->rules[0] = by_sp(8);
	world->rules[0].cfa = UNWIND_CFA_DEREF_INDEXED;
	world->rules[0].flags = (9 | 1 << UNWIND_REGISTER_BITS) << UNWIND_MORE_SHIFT;
	world->rules[2] = end;
	world->stack[4] = SP + 6 * 8;
	world->stack[6] = AT(2);
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 2, (uint64_t[]){AT(0), AT(2)});
	memset(world->stack, 0, sizeof(world->stack));
	for (size_t reg = 0; reg < 16; reg++) {
		if (reg == 6 || reg == 7)
			continue;
		/* Each register has a value of its own.  The sample has no flags and segments. */
		world->format.regs_user = 0xff01ff;
		for (size_t i = 0; i < 17; i++)
			world->registers[i] = 0xdead0000 + i;
		world->registers[6] = 0;
		world->registers[7] = SP;
		world->registers[8] = AT(0);
		world->registers[in_sample[reg] < 9 ? in_sample[reg] : in_sample[reg] - 7u] =
			SP + 4 * 8;
		world->rules[0] = by_sp(8);
		world->rules[0].cfa = UNWIND_CFA_REGISTER;
		world->rules[0].flags = (uint8_t)(reg << UNWIND_MORE_SHIFT);
		world->rules[1] = by_sp(8);
		world->rules[2] = end;
		world->stack[4] = AT(1);
		world->stack[5] = AT(2);
		assert_int_equal(walk_anew(world), UNWIND_WHOLE);
		expect(world, 3, (uint64_t[]){AT(0), AT(1), AT(2)});
		/* The register must lead up the stack. */
		world->stack[5] = AT(0);
		assert_int_equal(walk(world), UNWIND_BROKEN);
		expect(world, 3, (uint64_t[]){AT(0), AT(1), AT(0)});
		/* Assembly may agree to keep a register.  Registers that functions restore are
		 * excluded. */
		const bool is_restored = reg >= 12; /* rbx is tracked */
		world->stack[5] = AT(2);
		world->stack[0] = AT(0);
		world->rules[3] = by_sp(8);
		world->registers[8] = AT(3);
		assert_int_equal(walk(world), is_restored ? UNWIND_BROKEN : UNWIND_WHOLE);
		expect(world, is_restored ? 2 : 4, (uint64_t[]){AT(3), AT(0), AT(1), AT(2)});
		assert_false(unwind_lacked_register(world->unwind));
		/* A recording may lack the register. */
		world->format.regs_user = X86_MASK;
		set_registers(world, AT(0), 0);
		assert_int_equal(walk(world), UNWIND_BROKEN);
		assert_true(unwind_lacked_register(world->unwind));

		world->rules[3] = by_sp(8);
		world->rules[4] = (struct unwind_rule){.cfa = UNWIND_CFA_SIGNAL,
			.cfa_off = 8 * 16,
			.bp = UNWIND_REG_CFA,
			.bp_off = 8 * 11,
			.ra_off = 8 * 17,
			.flags = UNWIND_SIGNAL};
		for (size_t i = 0; i < 16; i++)
			world->stack[2 + i] = 0xdead0000 + i;
		world->stack[0] = AT(4);
		world->stack[2 + 15] = SP + 20 * 8;
		world->stack[2 + 16] = AT(0);
		world->stack[2 + in_signal[reg]] = SP + 24 * 8;
		world->stack[24] = AT(2);
		set_registers(world, AT(3), 0);
		assert_int_equal(walk(world), UNWIND_WHOLE);
		expect(world, 4, (uint64_t[]){AT(3), AT(4) + 1, AT(0) + 1, AT(2)});
	}
}

static uint8_t saves_bx(uint32_t words)
{
	return (uint8_t)(words << UNWIND_MORE_SHIFT);
}

/* When the dynamic linker binds a function at its first call, its code finds its stack by rbx.  The
 * functions that it calls save rbx. */
static void test_rbx_in_callers(void **state)
{
	struct world *world = *state;
	const struct unwind_rule resolver = {.cfa = UNWIND_CFA_REGISTER,
		.cfa_off = 16,
		.ra = UNWIND_REG_CFA,
		.ra_off = -8,
		.flags = saves_bx(3)};

	world->rules[0] = by_sp(24);
	world->rules[0].flags = saves_bx(2);
	world->rules[1] = by_sp(16);
	world->rules[2] = resolver;
	world->rules[3] = end;
	world->stack[1] = SP + 10 * 8;
	world->stack[2] = AT(1);
	world->stack[4] = AT(2);
	world->stack[11] = AT(3);
	set_registers(world, AT(0), 0);
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 4, (uint64_t[]){AT(0), AT(1), AT(2), AT(3)});
	/* The next function up saved another value. */
	world->rules[1].flags = saves_bx(2);
	assert_int_equal(walk_anew(world), UNWIND_BROKEN);
	world->stack[3] = SP + 10 * 8;
	assert_int_equal(walk(world), UNWIND_WHOLE);
	/* It is saved at a place that no rule can express, or by a rule without room for it. */
	world->rules[1].flags = saves_bx(UNWIND_BX_LOST);
	assert_int_equal(walk_anew(world), UNWIND_BROKEN);
	expect(world, 3, (uint64_t[]){AT(0), AT(1), AT(2)});
	world->rules[1].cfa = UNWIND_CFA_DEREF_SP;
	world->rules[1].cfa_off = 0;
	world->rules[1].flags = 0;
	world->stack[3] = SP + 5 * 8;
	assert_int_equal(walk_anew(world), UNWIND_BROKEN);
	expect(world, 3, (uint64_t[]){AT(0), AT(1), AT(2)});
	/* beyond the copy */
	world->rules[1] = by_sp(16);
	world->stack[1] = SP + WORDS * 8;
	assert_int_equal(walk_anew(world), UNWIND_CUT);
}

static void test_rbx_in_register(void **state)
{
	struct world *world = *state;

	world->format.regs_user = X86_MASK | 2;
	world->registers[0] = SP + 10 * 8; /* rbx */
	world->registers[1] = 0;
	world->registers[2] = SP;
	world->registers[3] = AT(0);
	/* an epilogue has popped it */
	world->rules[0] = by_sp(8);
	world->rules[0].flags = saves_bx(2);
	world->rules[1] = (struct unwind_rule){.cfa = UNWIND_CFA_REGISTER,
		.cfa_off = 16,
		.ra = UNWIND_REG_CFA,
		.ra_off = -8,
		.flags = saves_bx(3)};
	world->rules[2] = end;
	world->stack[0] = AT(1);
	world->stack[11] = AT(2);
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 3, (uint64_t[]){AT(0), AT(1), AT(2)});
	/* Code that has frame pointers but no rules may have saved it anywhere. */
	world->registers[1] = SP + 2 * 8;
	world->registers[3] = JIT + 0x10;
	world->stack[2] = 0;
	world->stack[3] = AT(1);
	assert_int_equal(walk(world), UNWIND_BROKEN);
	expect(world, 2, (uint64_t[]){JIT + 0x10, AT(1)});
	/* Interrupted code has its own value, in the signal frame. */
	world->rules[0].cfa_off = 24;
	world->rules[3] = (struct unwind_rule){.cfa = UNWIND_CFA_SIGNAL,
		.cfa_off = 8 * 16,
		.bp = UNWIND_REG_CFA,
		.bp_off = 8 * 11,
		.ra_off = 8 * 17,
		.flags = UNWIND_SIGNAL};
	world->registers[1] = 0;
	world->registers[3] = AT(0);
	world->stack[1] = 77;
	world->stack[2] = AT(3);
	world->stack[4 + 11] = SP + 30 * 8;
	world->stack[3 + 16] = SP + 22 * 8;
	world->stack[3 + 17] = AT(1);
	world->stack[31] = AT(2);
	assert_int_equal(walk_anew(world), UNWIND_WHOLE);
	expect(world, 4, (uint64_t[]){AT(0), AT(3) + 1, AT(1) + 1, AT(2)});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_by_register, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rbx_in_callers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rbx_in_register, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
