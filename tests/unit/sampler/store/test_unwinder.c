/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_unwinder.c - callchains from copies of stacks: each kind of rule, the ends, corrupt stacks.
 *
 * A stack is made of words.  Rules come from a small table by offset.
 */
#include "unwinder_fixture.h"

static void test_by_sp(void **state)
{
	struct world *world = *state;

	world->rules[0] = by_sp(16);
	world->rules[1] = by_sp(8);
	world->rules[2] = end;
	world->stack[1] = AT(1);
	world->stack[2] = AT(2);
	set_registers(world, AT(0), 0);
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 3, (uint64_t[]){AT(0), AT(1), AT(2)});
	/* Answers are cached. */
	unsigned int asked = world->asked;
	assert_int_equal(walk(world), UNWIND_WHOLE);
	assert_int_equal(world->asked, asked);
}

/* The output has room for exactly the frames of the stack: the chain is whole. */
static void test_full(void **state)
{
	struct world *world = *state;

	world->rules[0] = by_sp(16);
	world->rules[1] = by_sp(8);
	world->stack[1] = AT(1);
	world->stack[2] = 0;
	set_registers(world, AT(0), 0);
	for (size_t max = 1; max < 4; max++) {
		const enum unwind_end ends = unwind_chain(world->unwind, world->space,
			&world->sample, &world->format, world->machine, world->out, max, &world->n);

		assert_int_equal(ends, max == 1 ? UNWIND_DEEP : UNWIND_WHOLE);
		assert_int_equal(world->n, max == 1 ? 1 : 2);
	}
}

static void test_by_bp(void **state)
{
	struct world *world = *state;
	const struct unwind_rule framed = {.cfa = UNWIND_CFA_BP,
		.cfa_off = 16,
		.ra = UNWIND_REG_CFA,
		.ra_off = -8,
		.bp = UNWIND_REG_CFA,
		.bp_off = -16};

	world->rules[0] = world->rules[1] = framed;
	world->rules[2] = end;
	world->stack[4] = SP + 8 * 8;
	world->stack[5] = AT(1);
	world->stack[8] = 0;
	world->stack[9] = AT(2);
	set_registers(world, AT(0), SP + 4 * 8);
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 3, (uint64_t[]){AT(0), AT(1), AT(2)});
}

/* After the pop of an epilogue, the slot of the frame pointer is below the stack.  The register has
 * the caller's value. */
static void test_popped_frame_pointer(void **state)
{
	struct world *world = *state;

	world->rules[0] = by_sp(8);
	world->rules[0].bp = UNWIND_REG_CFA;
	world->rules[0].bp_off = -16;
	world->rules[1] = (struct unwind_rule){
		.cfa = UNWIND_CFA_BP, .cfa_off = 16, .ra = UNWIND_REG_CFA, .ra_off = -8};
	world->rules[2] = end;
	world->stack[0] = AT(1);
	world->stack[5] = AT(2);
	set_registers(world, AT(0), SP + 4 * 8);
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 3, (uint64_t[]){AT(0), AT(1), AT(2)});
}

static void test_plt_and_deref(void **state)
{
	struct world *world = *state;

	world->rules[0] =
		(struct unwind_rule){.cfa = UNWIND_CFA_PLT, .ra = UNWIND_REG_CFA, .ra_off = -8};
	world->rules[1] = (struct unwind_rule){.cfa = UNWIND_CFA_DEREF_BP,
		.cfa_off = -8,
		.flags = 2 << UNWIND_MORE_SHIFT,
		.ra = UNWIND_REG_CFA,
		.ra_off = -8,
		.bp = UNWIND_REG_BP};
	world->rules[2] = end;
	world->stack[0] = 77; /* the number that the entry pushed */
	world->stack[1] = AT(1);
	world->stack[5] = SP + 8 * 8;
	world->stack[9] = AT(2);
	set_registers(world, CODE + 11, SP + 6 * 8);
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 3, (uint64_t[]){CODE + 11, AT(1), AT(2)});
}

/* The interrupted address is looked up as it is, since it may be a function's first instruction.
 * Neither it nor the trampoline was called.  Both are reported one byte higher, as if a call
 * preceded them. */
static void test_signal_frame(void **state)
{
	struct world *world = *state;

	world->rules[0] = by_sp(8);
	world->rules[1] = (struct unwind_rule){.cfa = UNWIND_CFA_SIGNAL,
		.cfa_off = 24,
		.bp = UNWIND_REG_CFA,
		.bp_off = 16,
		.ra_off = 32,
		.flags = UNWIND_SIGNAL};
	world->rules[2] = by_sp(8);
	world->rules[3] = end;
	world->stack[0] = AT(1);
	world->stack[3] = 0;
	world->stack[1 + 3] = SP + 20 * 8;
	world->stack[1 + 4] = CODE + 0x2000;
	world->stack[20] = AT(3);
	set_registers(world, AT(0), 0);
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 4, (uint64_t[]){AT(0), AT(1) + 1, CODE + 0x2000 + 1, AT(3)});
}

/* A signal handler on an alternate stack: nothing is known about the interrupted stack. */
static void test_signal_on_another_stack(void **state)
{
	struct world *world = *state;

	world->rules[1] = (struct unwind_rule){.cfa = UNWIND_CFA_SIGNAL,
		.cfa_off = 24,
		.bp = UNWIND_REG_CFA,
		.bp_off = 16,
		.ra_off = 32,
		.flags = UNWIND_SIGNAL};
	world->rules[2] = by_sp(8);
	world->stack[3] = 0x1000;
	world->stack[4] = AT(2);
	set_registers(world, AT(1), 0);
	assert_int_equal(walk(world), UNWIND_AWAY);
	expect(world, 2, (uint64_t[]){AT(1), AT(2) + 1});
	world->stack[3] = SP + (1 << 20);
	assert_int_equal(walk(world), UNWIND_AWAY);
	/* A large signal frame ends beyond the copy. */
	world->stack[3] = SP + 20000;
	assert_int_equal(walk(world), UNWIND_CUT);
}

/* A goroutine's return address is the second byte of goexit().  The word after it has any value. */
static void test_go_root(void **state)
{
	struct world *world = *state;

	world->rules[0] = by_sp(16);
	world->rules[2] = by_sp(8);
	world->stack[1] = CODE + 0x2000 + 1;
	world->stack[2] = 0x123;
	set_registers(world, AT(0), 0);
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 2, (uint64_t[]){AT(0), CODE + 0x2000 + 1});
	/* After its call of another function, goexit() is a caller like any other. */
	world->stack[1] = CODE + 0x2000 + 6;
	assert_int_equal(walk(world), UNWIND_BROKEN);
	/* So is code that follows code with rules. */
	world->rules[1] = by_sp(8);
	world->stack[1] = CODE + 0x2000 + 1;
	assert_int_equal(walk_anew(world), UNWIND_BROKEN);
}

/* A coroutine's first function has no caller.  Its return address is the beginning of another
 * function, which follows bytes of no function. */
static void test_coroutine(void **state)
{
	struct world *world = *state;

	world->rules[2] = by_sp(8);
	world->rules[1] = by_sp(8);
	world->stack[0] = CODE + 0x1000;
	set_registers(world, AT(2), 0);
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 2, (uint64_t[]){AT(2), CODE + 0x1000 + 1});
	/* A call that never returns ends right before the function.  The address is then a true
	 * return address, and no root. */
	world->rules[0].cfa = UNWIND_CFA_CALL;
	assert_int_equal(walk_anew(world), UNWIND_BROKEN);
	expect(world, 2, (uint64_t[]){AT(2), CODE + 0x1000});
	/* An address whose own rule is UNWIND_CFA_CALL is no root either.  A frame pointer there
	 * proves nothing about the copy. */
	world->rules[0].cfa = UNWIND_CFA_NONE;
	world->rules[1].cfa = UNWIND_CFA_CALL;
	set_registers(world, AT(2), SP + sizeof(world->stack));
	assert_int_equal(walk_anew(world), UNWIND_BROKEN);
	world->rules[1] = by_sp(8);
	assert_int_equal(walk_anew(world), UNWIND_WHOLE);
	/* An address found by a frame pointer may be any word. */
	world->stack[3] = SP + 5 * 8;
	world->stack[4] = CODE + 0x1000;
	set_registers(world, JIT + 0x10, SP + 3 * 8);
	assert_int_equal(walk(world), UNWIND_BROKEN);
}

static void test_code_without_rules(void **state)
{
	struct world *world = *state;

	world->rules[0] = by_sp(8);
	world->rules[1] = end;
	world->stack[0] = JIT + 0x10;
	world->stack[6] = 0;
	world->stack[7] = AT(1);
	set_registers(world, AT(0), SP + 6 * 8);
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 3, (uint64_t[]){AT(0), JIT + 0x10, AT(1)});
	/* The word in place of the return address is not one. */
	world->stack[7] = 0x1234;
	assert_int_equal(walk(world), UNWIND_BROKEN);
	expect(world, 2, (uint64_t[]){AT(0), JIT + 0x10});
}

static void test_copy_ends(void **state)
{
	struct world *world = *state;
	const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_USER, AT(0), AT(1), AT(3), AT(2)};

	world->rules[0] = by_sp(8);
	world->rules[1] = by_sp(8 * WORDS);
	world->rules[2] = end;
	world->stack[0] = AT(1);
	set_registers(world, AT(0), 0);
	assert_int_equal(walk(world), UNWIND_CUT);
	expect(world, 2, (uint64_t[]){AT(0), AT(1)});
	/* The kernel's own chain passes the same place, and goes on. */
	memcpy(world->fp_chain, chain, sizeof(chain));
	world->sample.chain = world->fp_chain;
	world->sample.chain_len = 5;
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 4, (uint64_t[]){AT(0), AT(1), AT(3), AT(2)});
	/* the kernel's chain passes another place */
	world->fp_chain[2] = AT(3);
	assert_int_equal(walk(world), UNWIND_CUT);
	expect(world, 2, (uint64_t[]){AT(0), AT(1)});
	/* not even the first word was copied */
	world->sample.more.stack_len = 0;
	world->sample.chain_len = 0;
	assert_int_equal(walk(world), UNWIND_CUT);
	expect(world, 1, (uint64_t[]){AT(0)});
	/* a larger copy would have no more */
	world->sample.more.stack_ends = true;
	assert_int_equal(walk(world), UNWIND_BROKEN);
	expect(world, 1, (uint64_t[]){AT(0)});
}

/* Go's runtime switches to a stack whose last word is 0 or an old return address.  The frame
 * pointer leads to the previous stack. */
static void test_changed_stack(void **state)
{
	struct world *world = *state;
	const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_USER, AT(0), AT(1), AT(3), AT(2)};

	world->rules[0] = world->rules[1] = world->rules[4] = by_sp(8);
	world->rules[2] = end;
	memcpy(world->fp_chain, chain, sizeof(chain));
	world->sample.chain = world->fp_chain;
	world->sample.chain_len = 5;
	world->stack[0] = AT(1);
	set_registers(world, AT(0), 0);
	for (int i = 0; i < 2; i++) {
		world->stack[1] = i ? AT(4) : 0;
		world->stack[2] = 0x1234;
		assert_int_equal(walk(world), UNWIND_WHOLE);
		expect(world, 4, (uint64_t[]){AT(0), AT(1), AT(3), AT(2)});
	}
	/* No call returns to the second byte of a function, so this is a root. */
	world->stack[1] = 0;
	world->fp_chain[4] = CODE + 0x6000 + 1;
	world->rules[6] = by_sp(8);
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 4, (uint64_t[]){AT(0), AT(1), AT(3), CODE + 0x6000 + 1});
	/* Nothing shows that the kernel's chain ends at a root. */
	world->fp_chain[4]++;
	assert_int_equal(walk(world), UNWIND_BROKEN);
	expect(world, 4, (uint64_t[]){AT(0), AT(1), AT(3), CODE + 0x6000 + 2});
}

static void test_hostile_stack(void **state)
{
	struct world *world = *state;

	/* this rule never leaves its frame */
	world->rules[0] = (struct unwind_rule){
		.cfa = UNWIND_CFA_BP, .cfa_off = 0, .ra = UNWIND_REG_CFA, .ra_off = 0};
	world->stack[0] = AT(0);
	set_registers(world, AT(0), SP);
	assert_int_equal(walk(world), UNWIND_BROKEN);
	/* each frame goes up by eight bytes, to the end */
	for (size_t i = 0; i < WORDS; i++)
		world->stack[i] = AT(1);
	world->rules[1] = by_sp(8);
	set_registers(world, AT(1), SP);
	assert_int_equal(walk(world), UNWIND_CUT);
	assert_int_equal(world->n, WORDS + 1);
	/* addresses that wrap */
	world->rules[2] =
		(struct unwind_rule){.cfa = UNWIND_CFA_BP, .cfa_off = 16, .ra = UNWIND_REG_CFA};
	set_registers(world, AT(2), UINT64_MAX - 4);
	assert_int_equal(walk(world), UNWIND_BROKEN);
	assert_int_equal(world->n, 1);
	/* no code at the address */
	set_registers(world, AT(1), 0);
	world->stack[0] = 0xdead;
	assert_int_equal(walk(world), UNWIND_BROKEN);
	assert_int_equal(world->n, 1);
}

static void test_waits(void **state)
{
	struct world *world = *state;

	world->pending = true;
	set_registers(world, AT(0), 0);
	assert_int_equal(walk(world), UNWIND_WAITS);
	assert_int_equal(unwind_root(world->unwind, world->space, AT(0), true), UNWIND_WAITS);
	world->pending = false;
	world->rules[0] = end;
	assert_int_equal(walk(world), UNWIND_WHOLE);
}

static void test_arm64(void **state)
{
	struct world *world = *state;

	world->machine = EM_AARCH64;
	world->format.regs_user = ARM64_MASK;
	/* a leaf: its caller is in the link register, signed */
	world->rules[0] = (struct unwind_rule){.cfa = UNWIND_CFA_SP};
	world->rules[1] = (struct unwind_rule){.cfa = UNWIND_CFA_BP,
		.cfa_off = 32,
		.ra = UNWIND_REG_CFA,
		.ra_off = -24,
		.bp = UNWIND_REG_CFA,
		.bp_off = -32};
	world->rules[2] = end;
	world->registers[0] = SP + 2 * 8; /* x29 */
	world->registers[1] = AT(1) | 0x00a5000000000000ull;
	world->registers[2] = SP;
	world->registers[3] = AT(0);
	world->stack[2] = 0;
	world->stack[3] = AT(2) | 0x0012000000000000ull;
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 3, (uint64_t[]){AT(0), AT(1), AT(2)});
	/* Only a leaf's caller can be in the link register. */
	world->rules[4] = (struct unwind_rule){.cfa = UNWIND_CFA_SP, .cfa_off = 16};
	world->registers[1] = AT(4);
	assert_int_equal(walk(world), UNWIND_BROKEN);
	expect(world, 2, (uint64_t[]){AT(0), AT(4)});
}

/* A leaf was interrupted: its caller is in the link register that the kernel saved. */
static void test_arm64_signal_frame(void **state)
{
	struct world *world = *state;

	world->machine = EM_AARCH64;
	world->format.regs_user = ARM64_MASK;
	world->rules[0] = (struct unwind_rule){.cfa = UNWIND_CFA_SP};
	world->rules[1] = (struct unwind_rule){.cfa = UNWIND_CFA_SIGNAL,
		.cfa_off = 5 * 8,
		.bp = UNWIND_REG_CFA,
		.bp_off = 3 * 8,
		.ra = UNWIND_REG_CFA,
		.ra_off = 6 * 8,
		.flags = UNWIND_SIGNAL};
	world->rules[2] = (struct unwind_rule){.cfa = UNWIND_CFA_SP};
	world->rules[3] = end;
	world->registers[0] = SP; /* x29 */
	world->registers[1] = AT(1);
	world->registers[2] = SP;
	world->registers[3] = AT(0);
	world->stack[3] = 0;
	world->stack[4] = AT(3) | 0x00a5000000000000ull;
	world->stack[5] = SP + 20 * 8;
	world->stack[6] = AT(2);
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 4, (uint64_t[]){AT(0), AT(1) + 1, AT(2) + 1, AT(3)});
}

/* A recording's vdso may be missing.  A caller in it is the trampoline, a leaf is not. */
static void test_arm64_vdso_without_rules(void **state)
{
	const size_t saved = UNWIND_ARM64_SIGNAL_REGS / 8;
	struct world *world = *state;
	const struct record_mmap vdso = {
		.start = VDSO, .len = 0x1000, .executable = true, .filename = "[vdso]"};

	assert_int_equal(space_map(world->space, &vdso, SPACE_NEWER), 0);
	world->machine = EM_AARCH64;
	world->format.regs_user = ARM64_MASK;
	world->rules[1] = world->rules[2] = (struct unwind_rule){.cfa = UNWIND_CFA_SP};
	world->rules[3] = end;
	world->registers[1] = VDSO + 0x10;
	world->registers[2] = SP;
	world->registers[3] = AT(1);
	world->stack[saved + 30] = AT(3);
	world->stack[saved + 31] = SP + 90 * 8;
	world->stack[saved + 32] = AT(2);
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 4, (uint64_t[]){AT(1), VDSO + 0x10 + 1, AT(2) + 1, AT(3)});
	/* A word that is no code address is not a saved link register. */
	world->stack[saved + 32] = 77;
	walk(world);
	expect(world, 2, (uint64_t[]){AT(1), VDSO + 0x10});
	world->stack[saved + 32] = AT(2);
	world->registers[3] = VDSO + 0x10;
	assert_int_equal(walk(world), UNWIND_BROKEN);
	expect(world, 1, (uint64_t[]){VDSO + 0x10});
}

/* Code without rules is passed by its frame record, which is at the lower end of the frame. */
static void test_arm64_code_without_rules(void **state)
{
	struct world *world = *state;

	world->machine = EM_AARCH64;
	world->format.regs_user = ARM64_MASK;
	world->rules[1] = (struct unwind_rule){.cfa = UNWIND_CFA_SP,
		.cfa_off = 64,
		.ra = UNWIND_REG_CFA,
		.ra_off = -56,
		.bp = UNWIND_REG_CFA,
		.bp_off = -64};
	world->rules[2] = (struct unwind_rule){
		.cfa = UNWIND_CFA_SP, .cfa_off = 16, .ra = UNWIND_REG_CFA, .ra_off = -16};
	world->rules[3] = end;
	world->registers[0] = SP + 2 * 8;
	world->registers[2] = SP;
	world->registers[3] = JIT + 0x10;
	world->stack[2] = SP + 10 * 8; /* 48 bytes of the first frame are above */
	world->stack[3] = AT(1);
	world->stack[10] = 0;
	world->stack[11] = AT(2);
	world->stack[18] = AT(3);
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 4, (uint64_t[]){JIT + 0x10, AT(1), AT(2), AT(3)});
	/* The frame of a function without a record is at an unknown place. */
	world->stack[3] = AT(2);
	assert_int_equal(walk(world), UNWIND_BROKEN);
	expect(world, 2, (uint64_t[]){JIT + 0x10, AT(2)});
}

/* In a file's code without rules, x29 may be 0 from the start.  Only generated code ends a chain
 * this way. */
static void test_arm64_end(void **state)
{
	struct world *world = *state;

	world->machine = EM_AARCH64;
	world->format.regs_user = ARM64_MASK;
	world->registers[0] = SP + 2 * 8;
	world->registers[2] = SP;
	world->registers[3] = AT(0);
	world->stack[3] = AT(1);
	assert_int_equal(walk(world), UNWIND_BROKEN);
	expect(world, 2, (uint64_t[]){AT(0), AT(1)});
	world->stack[3] = JIT + 0x10;
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 2, (uint64_t[]){AT(0), JIT + 0x10});
}

/* In a large frame, the return address is near sp and far from the frame's end. */
static void test_arm64_large_frame(void **state)
{
	struct world *world = *state;

	world->machine = EM_AARCH64;
	world->format.regs_user = ARM64_MASK;
	world->rules[0] = (struct unwind_rule){.cfa = UNWIND_CFA_SP,
		.cfa_off = 128,
		.ra = UNWIND_REG_SP,
		.ra_off = 8,
		.bp = UNWIND_REG_SP};
	world->rules[1] = (struct unwind_rule){
		.cfa = UNWIND_CFA_BP, .cfa_off = 64, .ra = UNWIND_REG_CFA, .ra_off = -8};
	world->rules[2] = end;
	world->registers[2] = SP;
	world->registers[3] = AT(0);
	world->stack[0] = SP + 20 * 8;
	world->stack[1] = AT(1);
	world->stack[27] = AT(2);
	assert_int_equal(walk(world), UNWIND_WHOLE);
	expect(world, 3, (uint64_t[]){AT(0), AT(1), AT(2)});
}

static void test_can(void **state)
{
	struct world *world = *state;

	world->format.regs_user = 1ull << 8;
	assert_false(unwind_can(&world->sample, &world->format, EM_X86_64));
	world->format.regs_user = X86_MASK;
	assert_false(unwind_can(&world->sample, &world->format, EM_AARCH64));
	assert_false(unwind_can(&world->sample, &world->format, EM_S390));
	world->sample.more.regs_user.abi = PERF_SAMPLE_REGS_ABI_32;
	assert_false(unwind_can(&world->sample, &world->format, EM_X86_64));
	world->sample.more.regs_user.abi = PERF_SAMPLE_REGS_ABI_NONE;
	assert_false(unwind_can(&world->sample, &world->format, EM_X86_64));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_by_sp, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_by_bp, setup, teardown),
		cmocka_unit_test_setup_teardown(test_popped_frame_pointer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_plt_and_deref, setup, teardown),
		cmocka_unit_test_setup_teardown(test_signal_frame, setup, teardown),
		cmocka_unit_test_setup_teardown(test_signal_on_another_stack, setup, teardown),
		cmocka_unit_test_setup_teardown(test_coroutine, setup, teardown),
		cmocka_unit_test_setup_teardown(test_go_root, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changed_stack, setup, teardown),
		cmocka_unit_test_setup_teardown(test_code_without_rules, setup, teardown),
		cmocka_unit_test_setup_teardown(test_copy_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_stack, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_arm64, setup, teardown),
		cmocka_unit_test_setup_teardown(test_arm64_signal_frame, setup, teardown),
		cmocka_unit_test_setup_teardown(test_arm64_vdso_without_rules, setup, teardown),
		cmocka_unit_test_setup_teardown(test_arm64_code_without_rules, setup, teardown),
		cmocka_unit_test_setup_teardown(test_arm64_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_arm64_large_frame, setup, teardown),
		cmocka_unit_test_setup_teardown(test_can, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
