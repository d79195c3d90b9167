/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_rates.c - counts per second.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/control/status.h"
#include "tui/query/rates.h"

#include <stdlib.h>

#define SECOND 1000000000ull

struct fixture {
	struct rates rates;
	struct engine_status status;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture)
		return -1;
	fixture->status.n_events = 1;
	fixture->status.events[0].id = 7;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static const struct rate *at(struct fixture *fixture, uint64_t ns, uint64_t count)
{
	fixture->status.now_ns = ns;
	fixture->status.events[0].count = count;
	rates_update(&fixture->rates, &fixture->status);
	return rates_find(&fixture->rates, fixture->status.events[0].id);
}

static void test_seconds(void **state)
{
	struct fixture *fixture = *state;
	const struct rate *rate;

	assert_null(rates_find(&fixture->rates, 7));
	/* counts before the first status are not known */
	assert_int_equal(at(fixture, 10 * SECOND, 1000)->n, 0);
	assert_int_equal(at(fixture, 10 * SECOND + SECOND / 2, 1400)->n, 0);
	rate = at(fixture, 11 * SECOND, 1600);
	assert_int_equal(rate->n, 1);
	assert_int_equal(rate->per_second[0], 600);
	/* half a second late */
	rate = at(fixture, 12 * SECOND + SECOND / 2, 1900);
	assert_int_equal(rate->n, 2);
	assert_int_equal(rate->per_second[1], 200);
	/* no status for three seconds */
	rate = at(fixture, 15 * SECOND + SECOND / 2, 2200);
	assert_int_equal(rate->n, 5);
	assert_int_equal(rate->per_second[2], 100);
	assert_int_equal(rate->per_second[4], 100);
}

static void test_a_minute_is_kept(void **state)
{
	struct fixture *fixture = *state;
	const struct rate *rate = NULL;

	for (uint64_t i = 0; i <= RATES_HISTORY + 5; i++)
		rate = at(fixture, (1 + i) * SECOND, i * i);
	assert_int_equal(rate->n, RATES_HISTORY);
	assert_int_equal(rate->per_second[RATES_HISTORY - 1],
		(RATES_HISTORY + 5) * (RATES_HISTORY + 5) -
			(RATES_HISTORY + 4) * (RATES_HISTORY + 4));
	rate = at(fixture, 10000 * SECOND, 0);
	assert_int_equal(rate->n, RATES_HISTORY);
	assert_int_equal(rate->per_second[0], 0);
}

static void test_scaled(void **state)
{
	struct fixture *fixture = *state;
	struct engine_event_status *event = &fixture->status.events[0];
	bool estimated;

	event->count = 300;
	assert_int_equal(rates_scaled(event, &estimated), 300);
	assert_false(estimated);
	assert_false(rates_not_counted(event));
	event->enabled_ns = 100;
	assert_true(rates_not_counted(event));
	event->running_ns = 60;
	assert_int_equal(rates_scaled(event, &estimated), 500);
	assert_true(estimated);
	assert_false(rates_not_counted(event));
	event->running_ns = 100;
	assert_int_equal(rates_scaled(event, &estimated), 300);
	assert_false(estimated);
}

/* An event that takes the place of a dropped event inherits no rates. */
static void test_dropped(void **state)
{
	struct fixture *fixture = *state;

	at(fixture, SECOND, 10);
	at(fixture, 2 * SECOND, 20);
	fixture->status.n_events = 2;
	fixture->status.events[1] = fixture->status.events[0];
	fixture->status.events[0].id = 8;
	at(fixture, 3 * SECOND, 5);
	assert_int_equal(rates_find(&fixture->rates, 7)->n, 2);
	assert_int_equal(rates_find(&fixture->rates, 8)->n, 0);
	fixture->status.n_events = 1;
	at(fixture, 4 * SECOND, 6);
	assert_null(rates_find(&fixture->rates, 7));
	assert_int_equal(rates_find(&fixture->rates, 8)->n, 1);
	assert_int_equal(fixture->rates.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_seconds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_minute_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_scaled, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dropped, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
