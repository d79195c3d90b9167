/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_relay.c - records handed from one thread to another: order, copies, waiting, pauses and the
 * end.
 */
#include "sampler/recording/relay.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MANY 200000u

struct numbered {
	struct perf_event_header header;
	uint64_t number;
};

static struct order_record record_of(
	uint64_t *room, uint64_t number, uint16_t size, uint64_t time_ns)
{
	const struct numbered numbered = {.header = {.type = 9, .size = size}, .number = number};

	memset(room, (int)(number & 0x7f), size);
	memcpy(room, &numbered, sizeof(numbered));
	return (struct order_record){.header = (struct perf_event_header *)room,
		.time_ns = time_ns,
		.offset = number,
		.hint = number * 3,
		.attr = (uint32_t)(number % 7),
		.has_attr = true};
}

static int give(struct relay *relay, uint64_t number, uint16_t size)
{
	static _Thread_local uint64_t room[65536 / 8];
	const struct order_record record = record_of(room, number, size, number * 2);
	int ret = relay_put(relay, &record);

	/* The relay must have copied the record. */
	memset(room, 0x5a, size);
	return ret;
}

/* Sizes up to the maximum, so that packs are closed by bytes as well as by number. */
static uint16_t size_of(uint64_t number)
{
	if (number % 1000 == 999)
		return 65528;
	return (uint16_t)(sizeof(struct numbered) + number % 50 * 8);
}

static void check(const struct order_record *record, uint64_t number)
{
	const uint8_t *bytes = (const uint8_t *)record->header;
	struct numbered numbered;

	memcpy(&numbered, bytes, sizeof(numbered));
	assert_int_equal((uintptr_t)bytes % 8, 0);
	assert_int_equal(numbered.number, number);
	assert_int_equal(numbered.header.size, size_of(number));
	for (size_t i = sizeof(numbered); i < numbered.header.size; i++)
		assert_int_equal(bytes[i], number & 0x7f);
	assert_int_equal(record->time_ns, number * 2);
	assert_int_equal(record->offset, number);
	assert_int_equal(record->hint, number * 3);
	assert_int_equal(record->attr, number % 7);
	assert_true(record->has_attr);
}

static int setup(void **state)
{
	struct relay *relay;
	int ret = relay_new(&relay);

	*state = relay;
	return ret;
}

static int teardown(void **state)
{
	relay_free(*state);
	return 0;
}

struct giver {
	pthread_t thread;
	struct relay *relay;
	uint64_t n, given;
	unsigned int pause_every; /* 0: never */
	int ret;
};

static void *giver_main(void *ctx)
{
	struct giver *giver = ctx;

	for (; giver->given < giver->n && !giver->ret; giver->given++) {
		giver->ret = give(giver->relay, giver->given, size_of(giver->given));
		if (giver->pause_every && giver->given % giver->pause_every == 0)
			relay_pause(giver->relay);
	}
	relay_end(giver->relay);
	return NULL;
}

static void start(struct giver *giver)
{
	assert_int_equal(pthread_create(&giver->thread, NULL, giver_main, giver), 0);
}

static void take_all(struct giver *giver)
{
	const struct relay_pack *pack;
	uint64_t number = 0;

	start(giver);
	while ((pack = relay_take(giver->relay))) {
		assert_true(pack->n > 0);
		for (size_t i = 0; i < pack->n; i++)
			check(&pack->records[i], number++);
	}
	pthread_join(giver->thread, NULL);
	assert_int_equal(giver->ret, 0);
	assert_int_equal(number, giver->n);
	assert_null(relay_take(giver->relay));
}

static void test_all_in_order(void **state)
{
	struct giver giver = {.relay = *state, .n = MANY};

	take_all(&giver);
}

static void test_with_pauses(void **state)
{
	struct giver giver = {.relay = *state, .n = MANY, .pause_every = 3};

	take_all(&giver);
}

static void test_nothing(void **state)
{
	relay_end(*state);
	assert_null(relay_take(*state));
}

/* An incomplete pack is handed over only after a pause.  Until it is taken, the giver goes on
 * filling it. */
static void test_pause(void **state)
{
	struct relay *relay = *state;
	const struct relay_pack *pack;

	assert_int_equal(give(relay, 0, size_of(0)), 0);
	relay_pause(relay);
	assert_int_equal(give(relay, 1, size_of(1)), 0);
	relay_pause(relay);
	relay_pause(relay);
	pack = relay_take(relay);
	assert_int_equal(pack->n, 2);
	check(&pack->records[0], 0);
	check(&pack->records[1], 1);

	assert_int_equal(give(relay, 2, size_of(2)), 0);
	relay_pause(relay);
	pack = relay_take(relay);
	assert_int_equal(pack->n, 1);
	check(&pack->records[0], 2);

	/* Full packs are taken before the incomplete one. */
	for (uint64_t i = 3; i < 3 + RELAY_PACK_RECORDS + 1; i++)
		assert_int_equal(give(relay, i, size_of(1)), 0);
	relay_pause(relay);
	pack = relay_take(relay);
	assert_int_equal(pack->records[0].offset, 3);
	pack = relay_take(relay);
	assert_int_equal(pack->n, 1);
	assert_int_equal(pack->records[0].offset, 3 + RELAY_PACK_RECORDS);
	relay_end(relay);
	assert_null(relay_take(relay));
}

static void *settle_main(void *ctx)
{
	struct giver *giver = ctx;

	for (; giver->given < giver->n; giver->given++)
		if (give(giver->relay, giver->given, size_of(giver->given)))
			break;
	relay_pause(giver->relay);
	giver->ret = relay_settle(giver->relay);
	/* No lock is needed: the taker is done with `n` and waits. */
	giver->n = 0;
	relay_end(giver->relay);
	return NULL;
}

static void test_settle(void **state)
{
	struct giver giver = {.relay = *state, .n = 5000, .ret = -1};
	const struct relay_pack *pack;
	uint64_t number = 0;

	assert_int_equal(pthread_create(&giver.thread, NULL, settle_main, &giver), 0);
	while (number < 5000) {
		pack = relay_take(giver.relay);
		assert_non_null(pack);
		assert_int_equal(giver.n, 5000);
		for (size_t i = 0; i < pack->n; i++)
			check(&pack->records[i], number++);
	}
	assert_int_equal(giver.n, 5000);
	assert_null(relay_take(giver.relay));
	pthread_join(giver.thread, NULL);
	assert_int_equal(giver.ret, 0);
	assert_int_equal(giver.n, 0);
}

/* The giver gets the error, also while it waits for an empty pack. */
static void test_stop(void **state)
{
	struct giver giver = {.relay = *state, .n = MANY};

	start(&giver);
	assert_non_null(relay_take(giver.relay));
	relay_stop(giver.relay, -EINTR);
	pthread_join(giver.thread, NULL);
	assert_int_equal(giver.ret, -EINTR);
	assert_true(giver.given < MANY);
	assert_int_equal(relay_settle(giver.relay), -EINTR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_with_pauses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(test_settle, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stop, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
