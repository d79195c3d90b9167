/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_ingest_ends.c - how callchains end: whole, broken, too deep or without their unwind table.
 */
#include "sampler/store/ingest.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/ingest_fixture.h"

/* Code below 0x18000 has no rules. Code from there on has no caller. */
static enum unwind_answer find_rule(
	void *ctx, uint32_t image, uint64_t offset, struct unwind_rule *rule)
{
	(void)ctx;
	(void)image;
	if (offset < 0xb000)
		return UNWIND_NO_DATA;
	*rule = (struct unwind_rule){.cfa = UNWIND_CFA_END};
	return UNWIND_KNOWN;
}

/* A chain that is known the second time counts as much as a new one. */
static void test_totals_of_chains(void **state)
{
	const struct unwind_source source = {.find = find_rule};
	struct ingest *ingest = *state;
	struct unwind_totals totals = {0};

	assert_int_equal(ingest_set_unwind(ingest, &source), 0);
	for (int i = 0; i < 2; i++) {
		SAMPLE(ingest, PERF_RECORD_MISC_USER, USER, 0x10020, 0x900000, 0x10100, 0x900010,
			0x10200);
		SAMPLE(ingest, PERF_RECORD_MISC_USER, USER, 0x10030, 0x900000, 0x10100, 0x900010,
			0x10200);
		SAMPLE(ingest, PERF_RECORD_MISC_USER, USER, 0x10020, 0x18100);
	}
	/* Addresses after the last code are not frames. */
	SAMPLE(ingest, PERF_RECORD_MISC_USER, USER, 0x10020, 0x900000);
	ingest_unwind_totals(ingest, &totals);
	assert_int_equal(totals.dropped, 9);
	assert_int_equal(totals.judged, 7);
	assert_int_equal(totals.broken[0].chains, 5);
	assert_string_equal(images_get(ingest->images, totals.broken[0].image)->path, "/bin/app");
	assert_int_equal(totals.broken[0].unwound, 0);
	assert_int_equal(totals.broken[1].chains, 0);
	assert_int_equal(totals.nowhere, 0);
	assert_int_equal(ingest->ends[2].broken, 5);
	SAMPLE(ingest, PERF_RECORD_MISC_USER, USER, 0x900000);
	ingest_unwind_totals(ingest, &totals);
	assert_int_equal(totals.nowhere, 1);
	/* A word that looks like a kernel address is not a frame either. */
	SAMPLE(ingest, PERF_RECORD_MISC_USER, USER, 0x10020, 0xbe552274c0854800);
	ingest_unwind_totals(ingest, &totals);
	assert_int_equal(totals.broken[0].chains, 6);
}

/* Pages of the program: 0x11000 has rules, 0x12000 is a signal trampoline, 0x13000 has no rules,
 * 0x14000 needs rax. */
static enum unwind_answer find_by_page(
	void *ctx, uint32_t image, uint64_t offset, struct unwind_rule *rule)
{
	const bool *pending = ctx;

	(void)image;
	if (*pending)
		return UNWIND_PENDING;
	switch (offset >> 12) {
	case 4:
		*rule = (struct unwind_rule){
			.cfa = UNWIND_CFA_SP, .cfa_off = 16, .ra = UNWIND_REG_CFA, .ra_off = -8};
		break;
	case 5:
		*rule = (struct unwind_rule){.cfa = UNWIND_CFA_SIGNAL, .cfa_off = 8};
		break;
	case 7:
		*rule = (struct unwind_rule){.cfa = UNWIND_CFA_REGISTER, .cfa_off = 8};
		break;
	default:
		break;
	}
	return UNWIND_KNOWN;
}

struct unwound {
	uint64_t ip, stack[2], stack_len;
	bool late;
	uint64_t chain[16], n; /* the chain in a recording */
};

static void take_unwound(struct ingest *ingest, bool *pending, struct unwound *from)
{
	const uint64_t registers[] = {1, 0x7ff000000000, from->ip};
	const uint64_t kernels[] = {USER, from->ip, 0x11020};
	const struct record_format format = {
		.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.regs_user = 7u << 6};
	struct record record = {.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.id = {.pid = PID, .tid = PID, .time_ns = S, .cpu = 3},
		.sample = {.ip = from->ip,
			.period = 1,
			.chain = kernels,
			.chain_len = from->late ? 3 : 1,
			.has_more = true,
			.more = {.regs_user = {PERF_SAMPLE_REGS_ABI_64, registers},
				.stack = from->stack,
				.stack_len = from->stack_len}}};
	enum unwind_end end;

	*pending = from->late;
	assert_int_equal(ingest_unwind(ingest, &record, &format, &end), 0);
	assert_int_equal(end == UNWIND_WAITS, from->late);
	*pending = false;
	if (from->late)
		end = ingest_give_up(ingest, &record, 2);
	struct ingest_sample sample = {.record = &record,
		.event = 2,
		.end = (uint8_t)end,
		.hash = ingest_chain_hash(ingest, &record)};

	assert_int_equal(ingest_samples(ingest, &sample, 1), 0);
	assert_true(record.sample.chain_len <= 16);
	from->n = record.sample.chain_len;
	memcpy(from->chain, record.sample.chain, from->n * sizeof(from->chain[0]));
}

/* In a recording, the chain alone shows its end and the part that was not unwound. */
static void test_ends_in_recordings(void **state)
{
	struct unwound samples[] = {
		{.ip = 0x11010, .stack_len = 8}, /* cut */
		{.ip = 0x11030, .stack_len = 8},
		{.ip = 0x12010, .stack = {0x11040, 0x1000}, .stack_len = 16}, /* unknown code */
		{.ip = 0x13010, .stack_len = 16}, /* without a rule */
		{.ip = 0x11050, .stack = {0, 0x13080}, .stack_len = 16},
		{.ip = 0x11060, .stack = {0, 5}, .stack_len = 16}, /* the rule does not fit */
		{.ip = 0x11070, .late = true},
	};
	bool pending = false;
	const struct unwind_source source = {.find = find_by_page, .ctx = &pending};
	struct ingest *ingest = *state, *again;
	struct unwind_totals live = {0}, recorded = {0};
	void *other;

	assert_int_equal(ingest_set_unwind(ingest, &source), 0);
	ingest->machine = EM_X86_64;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		take_unwound(ingest, &pending, &samples[i]);
	ingest_unwind_totals(ingest, &live);
	assert_int_equal(ingest->ends[2].cut, 2);
	assert_int_equal(ingest->ends[2].away, 1);
	assert_int_equal(ingest->ends[2].broken, 4);
	assert_int_equal(live.judged, 7);
	assert_int_equal(live.late, 1);
	assert_int_equal(live.broken[0].chains, 3);
	assert_int_equal(live.broken[0].unwound, 3);
	assert_int_equal(live.broken[0].ruleless, 2);
	assert_int_equal(live.broken[0].n_places, 2);
	assert_int_equal(live.broken[0].places[0], 0x6010);
	assert_int_equal(live.broken[0].places[1], 0x607f);

	assert_int_equal(setup(&other), 0);
	again = other;
	assert_int_equal(ingest_set_unwind(again, &source), 0);
	again->by_tables[2] = true;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		sample_chain(again, PERF_RECORD_MISC_USER, samples[i].chain, samples[i].n);
	ingest_unwind_totals(again, &recorded);
	assert_memory_equal(&recorded, &live, sizeof(live));
	assert_memory_equal(&again->ends[2], &ingest->ends[2], sizeof(ingest->ends[2]));
	take_unwound(ingest, &pending, &(struct unwound){.ip = 0x14010, .stack_len = 16});
	ingest_unwind_totals(ingest, &live);
	assert_int_equal(live.broken[0].lacking, 1);
	assert_int_equal(teardown(&other), 0);
}

/* A chain with as many frames as the kernel gives is cut, in user space or before it. */
static void test_chains_too_deep(void **state)
{
	const struct unwind_source source = {.find = find_rule};
	struct ingest *ingest = *state;

	assert_int_equal(ingest_set_unwind(ingest, &source), 0);
	for (uint16_t most = 0; most < 6; most++) {
		ingest_max_stack(ingest, 2, most);
		ingest->ends[2] = (struct unwind_ends){0};
		SAMPLE(ingest, PERF_RECORD_MISC_USER, USER, 0x10020, 0x10100, 0x10200);
		assert_int_equal(ingest->ends[2].deep, most == 3);
		assert_int_equal(ingest->ends[2].broken, most != 3);
		SAMPLE(ingest, PERF_RECORD_MISC_KERNEL, KERNEL, 0xffffffff81000020,
			0xffffffff81000100, USER, 0x10020, 0x10100);
		assert_int_equal(ingest->ends[2].deep, most == 3 || most == 4);
		SAMPLE(ingest, PERF_RECORD_MISC_KERNEL, KERNEL, 0xffffffff81000020,
			0xffffffff81000100);
		assert_int_equal(ingest->ends[2].deep, most >= 2 && most <= 4);
		/* A chain that continues with invalid addresses has no caller to lose. */
		SAMPLE(ingest, PERF_RECORD_MISC_USER, USER, 0x10020, 0x10100, 0x900000);
		assert_int_equal(ingest->ends[2].deep, most >= 2 && most <= 4);
		/* Frames of the kernel leave no room. */
		SAMPLE(ingest, PERF_RECORD_MISC_KERNEL, KERNEL, 0xffffffff81000020,
			0xffffffff81000100, USER);
		assert_int_equal(ingest->ends[2].deep, (most >= 2 && most <= 4) + (most == 2));
	}
}

static uint32_t outermost_image(struct ingest *ingest)
{
	const struct slice *slice = sealed(ingest);
	uint32_t node = slice->stack[slice->cells - 1];

	while (stacks_node(ingest->stacks, node)->parent != STACK_ROOT)
		node = stacks_node(ingest->stacks, node)->parent;
	return stacks_frame_get(ingest->stacks, stacks_node(ingest->stacks, node)->frame)->image;
}

/* A chain that fills all the room has a frame [truncated], too. */
static void test_deepest_chain(void **state)
{
	const struct unwind_source source = {.find = find_rule};
	struct ingest *ingest = *state;
	uint64_t chain[1 + STACK_DEPTH_MAX] = {USER};

	for (unsigned int i = 1; i <= STACK_DEPTH_MAX; i++)
		chain[i] = 0x10000 + i;
	assert_int_equal(ingest_set_unwind(ingest, &source), 0);
	ingest_max_stack(ingest, 2, STACK_DEPTH_MAX);
	sample(ingest, PERF_RECORD_MISC_USER, chain[1], chain, 1 + STACK_DEPTH_MAX, 1);
	assert_int_equal(ingest->ends[2].deep, 1);
	assert_int_equal(outermost_image(ingest), ingest->truncated_image);
}

/* A chain at the limit is complete if it ends like shorter chains of kernel threads. */
static void test_kernel_threads_at_the_limit(void **state)
{
	const uint64_t entry = 0xffffffff81000200, inner = 0xffffffff81000100;
	const struct unwind_source source = {.find = find_rule};
	const uint64_t short_chain[] = {KERNEL, entry}, chain[] = {KERNEL, inner, entry},
		       cut[] = {KERNEL, entry, inner};
	struct ingest *ingest = *state;
	struct record record = {.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_KERNEL,
		.id = {.pid = PID + 1, .tid = PID + 1, .time_ns = S},
		.sample = {.ip = inner, .period = 1, .chain = chain, .chain_len = 3}};

	assert_int_equal(ingest_set_unwind(ingest, &source), 0);
	ingest_max_stack(ingest, 2, 2);
	assert_int_equal(ingest_record(ingest, &record, 2), 0);
	assert_int_equal(ingest->ends[2].deep, 1);
	record.sample.chain = short_chain;
	record.sample.chain_len = 2;
	assert_int_equal(ingest_record(ingest, &record, 2), 0);
	assert_int_equal(ingest->ends[2].whole, 1);
	record.sample.chain = chain;
	record.sample.chain_len = 3;
	assert_int_equal(ingest_record(ingest, &record, 2), 0);
	assert_int_equal(ingest->ends[2].whole, 2);
	record.sample.chain = cut;
	assert_int_equal(ingest_record(ingest, &record, 2), 0);
	assert_int_equal(ingest->ends[2].deep, 2);
	/* A process without a user part exits. */
	record.id.pid = record.id.tid = PID;
	record.sample.chain = short_chain;
	record.sample.chain_len = 2;
	assert_int_equal(ingest_record(ingest, &record, 2), 0);
	assert_int_equal(ingest->ends[2].whole, 3);
}

/* A chain by frame pointers waits for the table that shows its end. */
static void test_end_that_waits(void **state)
{
	bool pending = true;
	const struct unwind_source source = {.find = find_by_page, .ctx = &pending};
	const uint64_t chain[] = {USER, 0x11010, 0x11020};
	const struct record record = {.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.id = {.pid = PID, .tid = PID, .time_ns = S},
		.sample = {.ip = 0x11010, .period = 1, .chain = chain, .chain_len = 3}};
	struct ingest *ingest = *state;
	struct unwind_totals totals = {0};

	assert_int_equal(ingest_end(ingest, &record, 2), UNWIND_UNTRIED);
	assert_int_equal(ingest_set_unwind(ingest, &source), 0);
	assert_int_equal(ingest_end(ingest, &record, 2), UNWIND_WAITS);
	ingest_unwind_totals(ingest, &totals);
	assert_int_equal(totals.judged, 0);
	pending = false;
	assert_int_equal(ingest_end(ingest, &record, 2), UNWIND_BROKEN);
	ingest_unwind_totals(ingest, &totals);
	assert_int_equal(totals.judged, 1);
	assert_int_equal(totals.broken[0].chains, 1);
	/* A sample that cannot wait is broken. */
	pending = true;
	sample_chain(ingest, PERF_RECORD_MISC_USER, chain, 3);
	assert_int_equal(ingest->ends[2].broken, 1);
	assert_int_equal(ingest->judged, 2);
	assert_int_equal(outermost_image(ingest), ingest->truncated_image);
}

/* One that is given up is broken, and counts as late. */
static void test_end_given_up(void **state)
{
	bool pending = true;
	const struct unwind_source source = {.find = find_by_page, .ctx = &pending};
	const uint64_t chain[] = {USER, 0x11010, 0x11020};
	struct record record = {.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.id = {.pid = PID, .tid = PID, .time_ns = S},
		.sample = {.ip = 0x11010, .period = 1, .chain = chain, .chain_len = 3}};
	struct ingest *ingest = *state;
	struct unwind_totals totals = {0};

	assert_int_equal(ingest_set_unwind(ingest, &source), 0);
	assert_int_equal(ingest_give_up(ingest, &record, 2), UNWIND_BROKEN);
	ingest_unwind_totals(ingest, &totals);
	assert_int_equal(totals.judged, 1);
	assert_int_equal(totals.late, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_totals_of_chains, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ends_in_recordings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_chains_too_deep, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deepest_chain, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kernel_threads_at_the_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_end_that_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_end_given_up, setup, teardown),
	};

	return cmocka_run_group_tests_name("ingest_ends", tests, NULL, NULL);
}
