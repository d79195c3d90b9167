/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_ingest_memory.c - samples are counted if memory runs out at any point.
 */
#include "sampler/store/ingest.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SAMPLES 40

static unsigned int calls_left;

int __real_tasks_sample(struct tasks *tasks, int32_t pid, int32_t tid, uint64_t time_ns,
	uint32_t *label, struct space **space);
int __wrap_tasks_sample(struct tasks *tasks, int32_t pid, int32_t tid, uint64_t time_ns,
	uint32_t *label, struct space **space);
int __real_stacks_chain_add(struct stacks *stacks, uint64_t hash, uint32_t node, uint16_t dropped);
int __wrap_stacks_chain_add(struct stacks *stacks, uint64_t hash, uint32_t node, uint16_t dropped);

static bool is_refused(void)
{
	return calls_left == 0 || --calls_left == 0;
}

int __wrap_tasks_sample(struct tasks *tasks, int32_t pid, int32_t tid, uint64_t time_ns,
	uint32_t *label, struct space **space)
{
	return is_refused() ? -ENOMEM : __real_tasks_sample(tasks, pid, tid, time_ns, label, space);
}

int __wrap_stacks_chain_add(struct stacks *stacks, uint64_t hash, uint32_t node, uint16_t dropped)
{
	return is_refused() ? -ENOMEM : __real_stacks_chain_add(stacks, hash, node, dropped);
}

/* Each sample has its own stack, so that both replaced functions are called. */
static void test_counted(void **state)
{
	static struct record records[SAMPLES];
	struct ingest_sample samples[SAMPLES];

	(void)state;
	for (unsigned int calls = 1; calls < 2 * SAMPLES; calls++) {
		struct ingest *ingest = calloc(1, sizeof(*ingest));
		int err;

		assert_non_null(ingest);
		assert_int_equal(ingest_init(ingest, NULL, (size_t)64 << 20), 0);
		memset(samples, 0, sizeof(samples));
		for (size_t i = 0; i < SAMPLES; i++) {
			records[i] = (struct record){.type = PERF_RECORD_SAMPLE,
				.misc = PERF_RECORD_MISC_USER,
				.id = {.pid = 7, .tid = 7, .time_ns = (i + 1) * STORE_SLICE_NS},
				.sample = {.ip = 0x10000 + i, .period = 1}};
			samples[i].record = &records[i];
			samples[i].hash = ingest_chain_hash(ingest, &records[i]);
		}
		calls_left = calls;
		err = ingest_samples(ingest, samples, SAMPLES);
		calls_left = UINT_MAX;
		assert_true(err == 0 || err == -ENOMEM);
		assert_true(err == 0 || store_dropped(ingest->store) > 0);
		assert_int_equal(ingest->samples + store_dropped(ingest->store), SAMPLES);
		ingest_fini(ingest);
		free(ingest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
