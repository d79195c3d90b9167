/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_merge.c - the order of records from several rings in memory.
 */
#include "sampler/kernel/merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define RINGS 5
#define DATA_LEN 4096u

/* A COMM record: header, pid, tid, a name of 8 bytes and the id trailer (pid and tid, time, id). */
struct comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char name[8];
	uint32_t id_pid, id_tid;
	uint64_t time_ns, id;
};

static const struct record_format format = {
	.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER,
	.sample_id_all = true,
};

struct fixture {
	unsigned char *memory[RINGS];
	struct ring *ring[RINGS];
	struct merge_source sources[RINGS];
};

struct seen {
	uint64_t times[512];
	size_t owners[512];
	size_t n, stop_at;
};

static struct perf_event_mmap_page *page_of(struct fixture *fixture, size_t i)
{
	return (struct perf_event_mmap_page *)fixture->memory[i];
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	for (size_t i = 0; i < RINGS; i++) {
		assert_int_equal(posix_memalign((void **)&fixture->memory[i], 4096,
					 sizeof(struct perf_event_mmap_page) + DATA_LEN),
			0);
		memset(fixture->memory[i], 0, sizeof(struct perf_event_mmap_page) + DATA_LEN);
		assert_int_equal(
			ring_open_memory(&fixture->ring[i], fixture->memory[i], DATA_LEN), 0);
	}
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < RINGS; i++) {
		ring_close(fixture->ring[i]);
		free(fixture->memory[i]);
	}
	free(fixture);
	return 0;
}

static void put(struct fixture *fixture, size_t i, uint64_t time_ns)
{
	struct comm record = {
		.header = {.type = PERF_RECORD_COMM, .size = sizeof(record)},
		.time_ns = time_ns,
	};
	struct perf_event_mmap_page *page = page_of(fixture, i);
	unsigned char *data = fixture->memory[i] + sizeof(*page);

	for (size_t b = 0; b < sizeof(record); b++)
		data[(page->data_head + b) % DATA_LEN] = ((unsigned char *)&record)[b];
	page->data_head += sizeof(record);
}

static size_t refresh(struct fixture *fixture)
{
	for (size_t i = 0; i < RINGS; i++) {
		ring_refresh(fixture->ring[i]);
		fixture->sources[i] =
			(struct merge_source){.ring = fixture->ring[i], .owner = &fixture->ring[i]};
	}
	return RINGS;
}

static int see(const struct perf_event_header *record, void *owner, void *ctx)
{
	struct seen *seen = ctx;
	struct ring **ring = owner;

	(void)ring;
	seen->times[seen->n++] = record_time(record, &format);
	return seen->n == seen->stop_at ? 42 : 0;
}

static void assert_times(const struct seen *seen, const uint64_t *times, size_t n)
{
	assert_int_equal(seen->n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(seen->times[i], times[i]);
}

static void test_order_over_rings(void **state)
{
	static const uint64_t expected[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	struct fixture *fixture = *state;
	struct seen seen = {0};

	put(fixture, 0, 4);
	put(fixture, 0, 5);
	put(fixture, 0, 9);
	put(fixture, 1, 1);
	put(fixture, 3, 2);
	put(fixture, 3, 7);
	put(fixture, 3, 8);
	put(fixture, 4, 3);
	put(fixture, 4, 6);
	assert_int_equal(
		merge_drain(fixture->sources, refresh(fixture), &format, UINT64_MAX, see, &seen),
		0);
	assert_times(&seen, expected, 9);
}

static void test_limit_leaves_the_newer(void **state)
{
	static const uint64_t first[] = {1, 2, 3}, second[] = {4, 5};
	struct fixture *fixture = *state;
	struct seen seen = {0};

	put(fixture, 0, 1);
	put(fixture, 0, 5);
	put(fixture, 1, 2);
	put(fixture, 1, 3);
	put(fixture, 2, 4);
	merge_drain(fixture->sources, refresh(fixture), &format, 3, see, &seen);
	assert_times(&seen, first, 3);
	seen.n = 0;
	merge_drain(fixture->sources, refresh(fixture), &format, 10, see, &seen);
	assert_times(&seen, second, 2);
}

static void test_one_ring(void **state)
{
	static const uint64_t expected[] = {3, 2};
	struct fixture *fixture = *state;
	struct seen seen = {0};

	/* The order within a ring stays, even if an interrupt wrote in between. */
	put(fixture, 0, 3);
	put(fixture, 0, 2);
	put(fixture, 0, 11);
	refresh(fixture);
	merge_drain(fixture->sources, 1, &format, 10, see, &seen);
	assert_times(&seen, expected, 2);
}

static void test_disorder_within_a_ring_loses_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct seen seen = {0};

	put(fixture, 0, 30);
	put(fixture, 0, 10);
	put(fixture, 1, 20);
	merge_drain(fixture->sources, refresh(fixture), &format, 100, see, &seen);
	assert_int_equal(seen.n, 3);
	assert_int_equal(seen.times[0], 20);
}

static void test_stop(void **state)
{
	static const uint64_t rest[] = {3};
	struct fixture *fixture = *state;
	struct seen seen = {.stop_at = 2};

	put(fixture, 0, 1);
	put(fixture, 1, 2);
	put(fixture, 2, 3);
	assert_int_equal(
		merge_drain(fixture->sources, refresh(fixture), &format, 9, see, &seen), 42);
	assert_int_equal(seen.n, 2);
	seen = (struct seen){0};
	merge_drain(fixture->sources, refresh(fixture), &format, 9, see, &seen);
	assert_times(&seen, rest, 1);
}

static void test_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct seen seen = {0};

	assert_int_equal(
		merge_drain(fixture->sources, refresh(fixture), &format, 9, see, &seen), 0);
	assert_int_equal(merge_drain(fixture->sources, 0, &format, 9, see, &seen), 0);
	assert_int_equal(seen.n, 0);
}

/* Rounds with random times and records that wrap: each record comes once, in order. */
static void test_many(void **state)
{
	struct fixture *fixture = *state;
	uint64_t clock[RINGS] = {0}, total = 0, last = 0;
	uint32_t random = 3;

	for (uint64_t round = 1; round <= 200; round++) {
		struct seen seen = {0};
		uint64_t limit = round * 100;

		for (int i = 0; i < 60; i++) {
			size_t ring;

			random = random * 1664525u + 1013904223u;
			ring = (random >> 8) % RINGS;
			if (clock[ring] < limit - 99)
				clock[ring] = limit - 99;
			clock[ring] += (random >> 16) % 8;
			put(fixture, ring, clock[ring]);
		}
		merge_drain(fixture->sources, refresh(fixture), &format, limit, see, &seen);
		for (size_t i = 0; i < RINGS; i++)
			ring_release(fixture->ring[i]);
		for (size_t i = 0; i < seen.n; i++) {
			assert_true(seen.times[i] >= last);
			assert_true(seen.times[i] <= limit);
			last = seen.times[i];
		}
		total += seen.n;
	}
	{
		struct seen seen = {0};

		merge_drain(fixture->sources, refresh(fixture), &format, UINT64_MAX, see, &seen);
		total += seen.n;
	}
	assert_int_equal(total, 200 * 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order_over_rings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_limit_leaves_the_newer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_ring, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_disorder_within_a_ring_loses_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stop, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
