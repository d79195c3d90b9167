/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_ingest_batch.c - samples ingested in batches give the results of single ones.
 */
#include "sampler/store/ingest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S STORE_SLICE_NS
#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define USER ((uint64_t)PERF_CONTEXT_USER)
#define PIDS 5
#define SAMPLES 6000
#define DEPTH 24

struct made {
	struct record record;
	uint64_t chain[DEPTH];
};

static uint64_t state_of_chance = 88172645463325252ull;

static uint64_t chance(uint64_t below)
{
	state_of_chance ^= state_of_chance << 13;
	state_of_chance ^= state_of_chance >> 7;
	state_of_chance ^= state_of_chance << 17;
	return state_of_chance % below;
}

static void start(struct ingest *ingest)
{
	assert_int_equal(ingest_init(ingest, NULL, (size_t)64 << 20), 0);
	for (uint32_t pid = 1; pid <= PIDS; pid++) {
		const struct record map = {.type = PERF_RECORD_MMAP2,
			.mmap = {.pid = pid,
				.tid = pid,
				.start = 0x10000 * pid,
				.len = 0x10000,
				.executable = true,
				.has_inode = true,
				.inode = 5 + pid / 2,
				.filename = "/bin/app"}};

		assert_int_equal(ingest_record(ingest, &map, 0), 0);
	}
}

/* Makes a sample. Addresses are few, so that chains share callers, differ only in the leaf, or
 * repeat. */
static void make(struct made *made, uint64_t i)
{
	uint64_t n = 1 + chance(DEPTH - 1), kinds = chance(4) ? 3 : 40;
	uint32_t pid = (uint32_t)(1 + chance(PIDS));
	bool kernel = chance(3) == 0;

	made->chain[0] = kernel ? KERNEL : USER;
	for (uint64_t k = 1; k <= n; k++) {
		made->chain[k] = 0x10000 * pid + 16 * (k * 64 + chance(kinds));
		if (kernel)
			made->chain[k] |= 0xffffffff80000000ull;
		/* From kernel to user space, in the middle of the chain. */
		if (kernel && k > 2 && k < n && chance(6) == 0) {
			made->chain[++k] = USER;
			kernel = false;
		}
	}
	made->record = (struct record){
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.id = {.pid = pid,
			.tid = pid + (uint32_t)chance(2),
			.time_ns = S + i * S / 500,
			.cpu = (uint32_t)chance(4)},
		.sample = {.ip = made->chain[1],
			.period = 1 + chance(9),
			.chain = made->chain,
			.chain_len = n + 1},
	};
}

/* Returns a hash of a stack. Equal stacks have equal hashes. */
static uint64_t digest(const struct ingest *ingest, uint32_t id)
{
	uint64_t sum = 14695981039346656037ull;

	while (id != STACK_ROOT) {
		const struct stack_node *node = stacks_node(ingest->stacks, id);
		const struct frame *frame = stacks_frame_get(ingest->stacks, node->frame);

		sum = (sum ^ frame->offset ^ (uint64_t)frame->image << 40 ^
			      (uint64_t)frame->mode << 60) *
			1099511628211ull;
		id = node->parent;
	}
	return sum;
}

static void test_same_as_one_by_one(void **state)
{
	struct made *made = calloc(SAMPLES, sizeof(*made));
	uint64_t *stacks = calloc(SAMPLES, sizeof(*stacks));
	struct ingest *single = calloc(1, sizeof(*single)), *many = calloc(1, sizeof(*many));
	struct store_status a, b;
	size_t done = 0, at = 0;

	(void)state;
	assert_true(made && stacks && single && many);
	start(single);
	start(many);
	for (size_t i = 0; i < SAMPLES; i++) {
		if (i && chance(4) == 0) { /* an equal sample, within the batch or not */
			made[i] = made[i - 1 - chance(i < 80 ? i : 80)];
			made[i].record.id.time_ns = S + i * S / 500;
			made[i].record.sample.chain = made[i].chain;
		} else {
			make(&made[i], i);
		}
		assert_int_equal(ingest_record(single, &made[i].record, (uint8_t)(i % 3)), 0);
		stacks[i] = digest(single, single->last_stack);
	}
	while (done < SAMPLES) {
		struct ingest_sample batch[INGEST_BATCH];
		size_t n = 1 + chance(INGEST_BATCH);

		if (n > SAMPLES - done)
			n = SAMPLES - done;
		for (size_t i = 0; i < n; i++)
			batch[i] = (struct ingest_sample){.record = &made[done + i].record,
				.hash = ingest_chain_hash(many, &made[done + i].record),
				.event = (uint8_t)((done + i) % 3)};
		assert_int_equal(ingest_samples(many, batch, n), 0);
		for (size_t i = 0; i < n; i++, at++)
			assert_int_equal(digest(many, batch[i].stack), stacks[at]);
		done += n;
	}
	assert_int_equal(many->samples, single->samples);
	assert_int_equal(many->truncated, single->truncated);
	store_seal(single->store, UINT64_MAX, true);
	store_seal(many->store, UINT64_MAX, true);
	store_status(single->store, &a);
	store_status(many->store, &b);
	assert_int_equal(a.samples, SAMPLES);
	assert_int_equal(b.samples, SAMPLES);
	assert_int_equal(a.slices, b.slices);
	ingest_fini(single);
	ingest_fini(many);
	free(single);
	free(many);
	free(stacks);
	free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_as_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
