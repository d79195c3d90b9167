/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwinder_fixture.h - copies of stacks made of words, and rules from a small table by offset.
 */
#ifndef TESTS_UNIT_UNWINDER_FIXTURE_H
#define TESTS_UNIT_UNWINDER_FIXTURE_H

#include "sampler/store/unwind.h"

#include "sampler/store/spaces.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* each function has one page of the program */
#define CODE 0x400000ull
#define JIT 0x900000ull
#define AT(function) (CODE + (function)*0x1000ull + 0x10)
#define SP 0x7ff000000000ull
#define WORDS 96
#define VDSO 0xa00000ull

#define X86_MASK ((1ull << 6) | (1ull << 7) | (1ull << 8))
#define ARM64_MASK ((1ull << 29) | (1ull << 30) | (1ull << 31) | (1ull << 32))

struct world {
	struct images *images;
	struct spaces spaces;
	struct space *space;
	struct unwind *unwind;
	struct unwind_rule rules[16]; /* by function */
	bool pending, no_data;
	unsigned int asked;
	uint64_t stack[WORDS], registers[33], fp_chain[8];
	struct record_sample sample;
	struct record_format format;
	uint16_t machine;
	uint64_t out[UNWIND_FRAMES_MAX];
	size_t n;
};

static inline enum unwind_answer find(
	void *ctx, uint32_t image, uint64_t offset, struct unwind_rule *rule)
{
	struct world *world = ctx;

	(void)image;
	world->asked++;
	if (world->pending)
		return UNWIND_PENDING;
	if (world->no_data || offset >= JIT || offset / 0x1000 >= 16)
		return UNWIND_NO_DATA;
	*rule = world->rules[offset / 0x1000];
	return UNWIND_KNOWN;
}

static inline int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	const struct unwind_source source = {find, world};
	const struct record_mmap program = {.start = CODE,
		.len = 0x10000,
		.executable = true,
		.has_inode = true,
		.inode = 5,
		.filename = "/bin/app"};
	const struct record_mmap jit = {
		.start = JIT, .len = 0x1000, .executable = true, .filename = "//anon"};

	assert_int_equal(images_new(&world->images), 0);
	world->spaces.images = world->images;
	assert_int_equal(space_new(&world->space, &world->spaces, 7), 0);
	assert_int_equal(space_map(world->space, &program, SPACE_NEWER), 0);
	assert_int_equal(space_map(world->space, &jit, SPACE_NEWER), 0);
	assert_int_equal(unwind_new(&world->unwind, world->images, &source), 0);
	world->machine = EM_X86_64;
	world->format.regs_user = X86_MASK;
	world->sample = (struct record_sample){.has_more = true,
		.more = {.regs_user = {PERF_SAMPLE_REGS_ABI_64, world->registers},
			.stack = world->stack,
			.stack_len = sizeof(world->stack)}};
	*state = world;
	return 0;
}

static inline int teardown(void **state)
{
	struct world *world = *state;

	unwind_free(world->unwind);
	space_free(world->space);
	images_free(world->images);
	free(world);
	return 0;
}

static inline void set_registers(struct world *world, uint64_t ip, uint64_t bp)
{
	world->registers[0] = bp;
	world->registers[1] = SP;
	world->registers[2] = ip;
}

static inline enum unwind_end walk(struct world *world)
{
	assert_true(unwind_can(&world->sample, &world->format, world->machine));
	return unwind_chain(world->unwind, world->space, &world->sample, &world->format,
		world->machine, world->out, UNWIND_FRAMES_MAX, &world->n);
}

/* Walks with rules that have changed. */
static inline enum unwind_end walk_anew(struct world *world)
{
	const struct unwind_source source = {find, world};

	unwind_free(world->unwind);
	assert_int_equal(unwind_new(&world->unwind, world->images, &source), 0);
	return walk(world);
}

static inline struct unwind_rule by_sp(int32_t off)
{
	return (struct unwind_rule){
		.cfa = UNWIND_CFA_SP, .cfa_off = off, .ra = UNWIND_REG_CFA, .ra_off = -8};
}

static const struct unwind_rule end = {.cfa = UNWIND_CFA_END};

static inline void expect(struct world *world, size_t n, const uint64_t *chain)
{
	assert_int_equal(world->n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(world->out[i], chain[i]);
}

#endif
