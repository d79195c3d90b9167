/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_unwind.c - any rules, registers, stack and kernel chain: the walk ends, inside its bounds.
 *
 * Input: the machine and the length of the kernel chain, a byte each, 16 rules, 4 registers, the
 * chain, and the stack.  Each rule applies to one page of a program.
 */
#include "sampler/store/spaces.h"
#include "sampler/store/unwind.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define RULES 16u
#define CODE 0x400000ull
#define JIT 0x900000ull
#define PAGE 0x1000ull
#define CHAIN_MAX 32u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct unwind_rule rules[RULES];
static unsigned int asked;

static enum unwind_answer find(void *ctx, uint32_t image, uint64_t offset, struct unwind_rule *rule)
{
	(void)ctx;
	(void)image;
	asked++;
	if (offset >= RULES * PAGE)
		return UNWIND_NO_DATA;
	*rule = rules[offset / PAGE];
	return UNWIND_KNOWN;
}

/* Takes the next n bytes of the input; missing bytes are zeros. */
static void take(const uint8_t **data, size_t *size, void *out, size_t n)
{
	const size_t some = *size < n ? *size : n;

	memset(out, 0, n);
	if (some)
		memcpy(out, *data, some);
	*data += some;
	*size -= some;
}

static void map(struct space *space, uint64_t start, uint64_t len, bool executable,
	const char *name, uint64_t inode)
{
	const struct record_mmap mmap = {.start = start,
		.len = len,
		.executable = executable,
		.has_inode = inode,
		.inode = inode,
		.filename = name};

	if (space_map(space, &mmap, SPACE_NEWER))
		abort();
}

static void walk(struct unwind *unwind, const struct space *space, const uint8_t *data, size_t size)
{
	uint64_t registers[4], chain[CHAIN_MAX], out[UNWIND_FRAMES_MAX];
	struct record_format format = {.sample_type = PERF_SAMPLE_REGS_USER};
	uint8_t head[2];
	size_t n = 0;

	take(&data, &size, head, sizeof(head));
	take(&data, &size, rules, sizeof(rules));
	take(&data, &size, registers, sizeof(registers));
	const uint16_t machine = head[0] & 1 ? EM_AARCH64 : EM_X86_64;
	const size_t max = head[0] & 2 ? UNWIND_FRAMES_MAX : 1 + (head[0] >> 2);
	const size_t chain_len = head[1] % (CHAIN_MAX + 1);
	take(&data, &size, chain, chain_len * sizeof(*chain));
	uint8_t *stack = malloc(size ? size : 1);
	if (!stack)
		return;
	if (size)
		memcpy(stack, data, size);
	format.regs_user = machine == EM_AARCH64 ? 1ull << 29 | 1ull << 30 | 1ull << 31 | 1ull << 32
						 : 1ull << 6 | 1ull << 7 | 1ull << 8;
	const struct record_sample sample = {.has_more = true,
		.chain = chain,
		.chain_len = chain_len,
		.more = {.regs_user = {PERF_SAMPLE_REGS_ABI_64, registers},
			.stack = stack,
			.stack_len = size}};
	asked = 0;
	if (!unwind_can(&sample, &format, machine))
		abort();
	const enum unwind_end end =
		unwind_chain(unwind, space, &sample, &format, machine, out, max, &n);
	if (n > max || !n || end >= UNWIND_WAITS || end == UNWIND_UNTRIED)
		abort();
	/* At most about three lookups per frame, plus some at the end of the walk. */
	if (asked > 3 * (UNWIND_FRAMES_MAX + 4))
		abort();
	for (size_t i = 1; i < n; i++)
		if (out[i] < CODE || out[i] > JIT + PAGE)
			abort();
	free(stack);
}

/* All inputs share one program.  Each input changes a mapping, which drops the cached rules. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct unwind_source source = {.find = find};
	static struct spaces spaces;
	static struct unwind *unwind;
	static struct space *space;

	if (!space &&
		(images_new(&spaces.images) || space_new(&space, &spaces, 7) ||
			unwind_new(&unwind, spaces.images, &source)))
		abort();
	map(space, CODE, RULES * PAGE, true, "/bin/app", 5);
	map(space, JIT, PAGE, false, "//anon", 0);
	map(space, JIT, PAGE, true, "//anon", 0);
	walk(unwind, space, data, size);
	return 0;
}
