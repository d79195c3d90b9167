/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_order.c - records in order of time: rounds, ties, late records, the limit, ends.
 */
#include "sampler/perfdata/order.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEEN_MAX 100000

struct seen {
	uint64_t time_ns[SEEN_MAX];
	uint64_t number[SEEN_MAX];
	size_t n;
	size_t stop_at; /* 0: never */
	struct order *order;
};

struct numbered {
	struct perf_event_header header;
	uint64_t number;
};

static int see(const struct order_record *record, void *ctx)
{
	struct numbered numbered;
	struct seen *seen = ctx;

	assert_true(seen->n < SEEN_MAX);
	memcpy(&numbered, record->header, sizeof(numbered));
	assert_int_equal((uintptr_t)record->header % 8, 0);
	assert_int_equal(numbered.number, record->offset);
	assert_int_equal(record->attr, numbered.number % 7);
	assert_true(record->has_attr);
	assert_int_equal(record->hint, numbered.number * 3);
	seen->time_ns[seen->n] = record->time_ns;
	seen->number[seen->n++] = numbered.number;
	return seen->n == seen->stop_at ? -EINTR : 0;
}

static int setup(void **state)
{
	struct seen *seen = calloc(1, sizeof(*seen));

	*state = seen;
	return seen ? order_new(&seen->order, ORDER_BYTES_MAX, see, seen) : -1;
}

static int teardown(void **state)
{
	struct seen *seen = *state;

	order_free(seen->order);
	free(seen);
	return 0;
}

static int add_sized(struct seen *seen, uint64_t time_ns, uint64_t number, uint16_t size)
{
	static uint64_t room[65536 / 8];
	struct numbered numbered = {.header = {.type = 9, .size = size}, .number = number};
	struct order_record record = {.header = (struct perf_event_header *)room,
		.time_ns = time_ns,
		.offset = number,
		.hint = number * 3,
		.attr = (uint32_t)(number % 7),
		.has_attr = true};
	int ret;

	memcpy(room, &numbered, sizeof(numbered));
	ret = order_add(seen->order, &record);
	/* The order keeps a copy. */
	memset(room, 0x5a, sizeof(numbered));
	return ret;
}

static void add(struct seen *seen, uint64_t time_ns, uint64_t number)
{
	assert_int_equal(add_sized(seen, time_ns, number, sizeof(struct numbered)), 0);
}

static void test_merges_cpus(void **state)
{
	struct seen *seen = *state;

	/* The buffers of two CPUs, one after the other. */
	add(seen, 10, 0);
	add(seen, 30, 1);
	add(seen, 50, 2);
	add(seen, 20, 3);
	add(seen, 30, 4);
	add(seen, 60, 5);
	assert_int_equal(order_flush(seen->order), 0);
	assert_int_equal(seen->n, 6);
	assert_memory_equal(
		seen->number, ((const uint64_t[]){0, 3, 1, 4, 2, 5}), 6 * sizeof(uint64_t));
	assert_int_equal(order_late(seen->order), 0);
}

/* The first round gives out no records. The second gives out those up to the last time of the
 * first. */
static void test_rounds(void **state)
{
	struct seen *seen = *state;

	add(seen, 10, 0);
	add(seen, 40, 1);
	add(seen, 20, 2);
	assert_int_equal(order_round(seen->order), 0);
	assert_int_equal(seen->n, 0);
	add(seen, 50, 3);
	add(seen, 30, 4); /* from a CPU that was read before 40 came */
	assert_int_equal(order_round(seen->order), 0);
	assert_int_equal(seen->n, 4);
	assert_memory_equal(seen->number, ((const uint64_t[]){0, 2, 4, 1}), 4 * sizeof(uint64_t));
	assert_int_equal(order_round(seen->order), 0);
	assert_int_equal(seen->n, 5);
	assert_int_equal(order_flush(seen->order), 0);
	assert_int_equal(seen->n, 5);
	assert_int_equal(order_late(seen->order), 0);
}

static void test_late(void **state)
{
	struct seen *seen = *state;

	add(seen, 100, 0);
	assert_int_equal(order_flush(seen->order), 0);
	add(seen, 120, 1);
	add(seen, 90, 2);
	assert_int_equal(order_late(seen->order), 1);
	assert_int_equal(order_flush(seen->order), 0);
	assert_memory_equal(seen->number, ((const uint64_t[]){0, 2, 1}), 3 * sizeof(uint64_t));
}

/* A record that the callback refused is not given again. The others stay. */
static void test_stops(void **state)
{
	struct seen *seen = *state;

	for (uint64_t i = 0; i < 5; i++)
		add(seen, 10 - i, i);
	seen->stop_at = 2;
	assert_int_equal(order_flush(seen->order), -EINTR);
	assert_int_equal(seen->n, 2);
	assert_int_equal(order_flush(seen->order), 0);
	assert_memory_equal(
		seen->number, ((const uint64_t[]){4, 3, 2, 1, 0}), 5 * sizeof(uint64_t));
}

/* Any order and any sizes: no record is lost, and equal times keep their order. */
static void test_random(void **state)
{
	struct seen *seen = *state;
	unsigned int seed = 7;
	uint64_t base = 0;

	for (uint64_t i = 0; i < 60000; i++) {
		uint16_t size = (uint16_t)(sizeof(struct numbered) +
			(unsigned int)rand_r(&seed) % (i % 50 ? 200 : 60000));

		assert_int_equal(
			add_sized(seen, base + (unsigned int)rand_r(&seed) % 5000, i, size), 0);
		if (i % 1000 == 999) {
			base += 2500;
			assert_int_equal(order_round(seen->order), 0);
		}
	}
	assert_int_equal(order_flush(seen->order), 0);
	assert_int_equal(seen->n, 60000);
	assert_int_equal(order_late(seen->order), 0);
	for (size_t i = 1; i < seen->n; i++) {
		assert_true(seen->time_ns[i - 1] <= seen->time_ns[i]);
		if (seen->time_ns[i - 1] == seen->time_ns[i])
			assert_true(seen->number[i - 1] < seen->number[i]);
	}
}

/* A file without rounds: the older half goes out. Late records are counted and given out, too. */
static void test_limit(void **state)
{
	struct seen *seen = *state;
	uint64_t sum = 0;

	order_free(seen->order);
	assert_int_equal(order_new(&seen->order, 100000, see, seen), 0);
	for (uint64_t i = 0; i < 50000; i++)
		add(seen, i + 1000, i);
	assert_true(seen->n > 48000);
	assert_int_equal(order_late(seen->order), 0);
	add(seen, 1, 50000);
	assert_int_equal(order_late(seen->order), 1);
	assert_int_equal(order_flush(seen->order), 0);
	assert_int_equal(seen->n, 50001);
	for (size_t i = 0; i < seen->n; i++)
		sum += seen->number[i];
	assert_int_equal(sum, 50000ull * 50001 / 2);
}

/* Freeing the order drops pending records. */
static void test_drops(void **state)
{
	struct seen *seen = *state;

	assert_int_equal(order_round(seen->order), 0);
	assert_int_equal(order_flush(seen->order), 0);
	for (uint64_t i = 0; i < 3000; i++)
		assert_int_equal(add_sized(seen, i % 100, i, 4000), 0);
	order_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_merges_cpus, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rounds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stops, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_drops, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
