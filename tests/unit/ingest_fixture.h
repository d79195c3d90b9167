/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ingest_fixture.h - an ingest with a process, and samples for it.
 *
 * cmocka.h is included before.
 */
#ifndef TESTS_INGEST_FIXTURE_H
#define TESTS_INGEST_FIXTURE_H

#include "sampler/store/ingest.h"

#include <stdlib.h>

#define S STORE_SLICE_NS
#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define USER ((uint64_t)PERF_CONTEXT_USER)
#define PID 7

static inline int setup(void **state)
{
	struct ingest *ingest = calloc(1, sizeof(*ingest));
	const struct record exec = {.type = PERF_RECORD_COMM,
		.comm = {.pid = PID, .tid = PID, .exec = true, .comm = "app"}};
	const struct record map = {.type = PERF_RECORD_MMAP2,
		.mmap = {.pid = PID,
			.tid = PID,
			.start = 0x10000,
			.len = 0x10000,
			.pgoff = 0x3000,
			.executable = true,
			.has_inode = true,
			.inode = 5,
			.filename = "/bin/app"}};

	assert_int_equal(ingest_init(ingest, NULL, (size_t)64 << 20), 0);
	assert_int_equal(ingest_record(ingest, &exec, 0), 0);
	assert_int_equal(ingest_record(ingest, &map, 0), 0);
	*state = ingest;
	return 0;
}

static inline int teardown(void **state)
{
	ingest_fini(*state);
	free(*state);
	return 0;
}

static inline void sample(struct ingest *ingest, uint16_t misc, uint64_t ip, const uint64_t *chain,
	uint64_t n, uint64_t period)
{
	const struct record record = {.type = PERF_RECORD_SAMPLE,
		.misc = misc,
		.id = {.pid = PID, .tid = PID, .time_ns = S, .cpu = 3},
		.sample = {.ip = ip, .period = period, .chain = chain, .chain_len = n}};

	assert_int_equal(ingest_record(ingest, &record, 2), 0);
}

/* Ingests a sample with the start of its chain as the ip, as is usual. */
static inline void sample_chain(
	struct ingest *ingest, uint16_t misc, const uint64_t *chain, uint64_t n)
{
	uint64_t ip = 0x10020;

	for (uint64_t i = n; i-- > 0;)
		if (chain[i] && chain[i] < (uint64_t)PERF_CONTEXT_MAX)
			ip = chain[i];
	sample(ingest, misc, ip, chain, n, 1000);
}

#define SAMPLE(ingest, misc, ...)                                       \
	sample_chain((ingest), (misc), (const uint64_t[]){__VA_ARGS__}, \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* Seals all samples. Returns the last slice, which is valid until the next call. */
static inline const struct slice *sealed(struct ingest *ingest)
{
	struct snapshot snapshot;
	const struct slice *slice;

	assert_true(store_seal(ingest->store, S, true));
	assert_int_equal(store_snapshot(ingest->store, 0, UINT64_MAX, &snapshot), 0);
	assert_true(snapshot.n > 0);
	slice = snapshot.slices[snapshot.n - 1];
	snapshot_release(ingest->store, &snapshot); /* the store keeps the slice */
	return slice;
}

#endif
