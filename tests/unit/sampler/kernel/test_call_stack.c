/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_call_stack.c - callchains with the processor's call stack (LBR) as their user part.
 */
#include "sampler/kernel/call_stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define USER ((uint64_t)PERF_CONTEXT_USER)
#define K1 0xffffffff81000100ull
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct record_format lbr = {
	.sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK,
	.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK,
};
static const struct perf_branch_entry calls[] = {{.from = 0x2010, .to = 0x1000},
	{.from = 0x3020, .to = 0x2000}, {.from = 0x3020, .to = 0x2000}};
static const uint64_t fp_chain[] = {USER, 0x1234, 0xbad};

static uint64_t chain[16];
static size_t len;

static void join(const struct record_format *format, uint16_t misc, uint64_t ip,
	const uint64_t *from, size_t n, const struct perf_branch_entry *branches, size_t n_branches)
{
	const struct record record = {.misc = misc,
		.sample = {.ip = ip,
			.chain = from,
			.chain_len = n,
			.has_more = true,
			.more = {.branches = branches, .n_branches = n_branches}}};

	len = call_stack_chain(&record, format, chain, COUNT(chain));
}

#define ASSERT_CHAIN(...)                                             \
	do {                                                          \
		const uint64_t wanted_[] = {__VA_ARGS__};             \
		assert_int_equal(len, COUNT(wanted_));                \
		assert_memory_equal(chain, wanted_, sizeof(wanted_)); \
	} while (0)

static void formats(void **state)
{
	struct record_format format = lbr;

	(void)state;
	assert_true(call_stack_in(&format));
	format.sample_type = PERF_SAMPLE_BRANCH_STACK;
	assert_false(call_stack_in(&format));
	format = lbr;
	format.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	assert_false(call_stack_in(&format));
}

/* The leaf is the sampled address. A caller is one byte after its call. Recursion stays. */
static void user_space(void **state)
{
	(void)state;
	join(&lbr, PERF_RECORD_MISC_USER, 0x1234, fp_chain, 3, calls, 3);
	ASSERT_CHAIN(USER, 0x1234, 0x2011, 0x3021, 0x3021);
}

static void below_the_kernel(void **state)
{
	const uint64_t from[] = {KERNEL, K1, K1 + 8, USER, 0x1004, 0xbad};
	const uint64_t deferred[] = {KERNEL, K1, RECORD_CONTEXT_USER_DEFERRED, 5};

	(void)state;
	join(&lbr, PERF_RECORD_MISC_KERNEL, K1, from, 6, calls, 3);
	ASSERT_CHAIN(KERNEL, K1, K1 + 8, USER, 0x1000, 0x2011, 0x3021, 0x3021);
	join(&lbr, PERF_RECORD_MISC_KERNEL, K1, deferred, 4, calls, 3);
	ASSERT_CHAIN(KERNEL, K1, USER, 0x1000, 0x2011, 0x3021, 0x3021);
}

/* No user marker: the thread is a kernel thread, or user chains were excluded. */
static void without_a_user_part(void **state)
{
	const uint64_t from[] = {KERNEL, K1};
	struct record_format format = lbr;

	(void)state;
	join(&format, PERF_RECORD_MISC_KERNEL, K1, from, 2, calls, 3);
	assert_int_equal(len, 0);
	format.no_user_chain = true;
	join(&format, PERF_RECORD_MISC_KERNEL, K1, from, 2, calls, 3);
	ASSERT_CHAIN(KERNEL, K1, USER, 0x1000, 0x2011, 0x3021, 0x3021);
	join(&format, PERF_RECORD_MISC_USER, 0x1234, from, 0, calls, 3);
	ASSERT_CHAIN(USER, 0x1234, 0x2011, 0x3021, 0x3021);
}

/* An empty stack, invalid entries, and addresses that look like context markers. */
static void odd_entries(void **state)
{
	const struct perf_branch_entry odd[] = {{.from = 0}, {.from = 0x2010},
		{.from = USER, .to = 1}, {.from = (uint64_t)-4096, .to = 1},
		{.from = UINT64_MAX, .to = 1}, {.from = 0x3020}};

	(void)state;
	join(&lbr, PERF_RECORD_MISC_USER, 0x1234, fp_chain, 3, NULL, 0);
	assert_int_equal(len, 0);
	join(&lbr, PERF_RECORD_MISC_USER, 0x1234, fp_chain, 3, odd, COUNT(odd));
	ASSERT_CHAIN(USER, 0x1234, 0x2011, 0x3021);
	/* Without a leaf, the first call is looked up at its own address. */
	join(&lbr, PERF_RECORD_MISC_KERNEL, K1, fp_chain, 3, odd, COUNT(odd));
	ASSERT_CHAIN(USER, 0x2010, 0x3021);
}

/* A chain that is too long loses words at the root, in either part. */
static void too_long(void **state)
{
	struct perf_branch_entry branches[40];
	uint64_t from[40];

	(void)state;
	for (size_t i = 0; i < COUNT(from); i++) {
		from[i] = K1 + i;
		branches[i] = (struct perf_branch_entry){.from = 0x1000 + i, .to = 0x500};
	}
	join(&lbr, PERF_RECORD_MISC_USER, 0x1234, fp_chain, 3, branches, COUNT(branches));
	assert_int_equal(len, COUNT(chain));
	assert_int_equal(chain[2], 0x1001);
	assert_int_equal(chain[COUNT(chain) - 1], 0x1001 + COUNT(chain) - 3);
	join(&lbr, PERF_RECORD_MISC_KERNEL, K1, from, COUNT(from), branches, COUNT(branches));
	assert_int_equal(len, COUNT(chain));
	assert_int_equal(chain[COUNT(chain) - 3], from[COUNT(chain) - 3]);
	assert_int_equal(chain[COUNT(chain) - 2], USER);
	assert_int_equal(chain[COUNT(chain) - 1], 0x500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats),
		cmocka_unit_test(user_space),
		cmocka_unit_test(below_the_kernel),
		cmocka_unit_test(without_a_user_part),
		cmocka_unit_test(odd_entries),
		cmocka_unit_test(too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
