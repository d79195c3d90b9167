/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_rundelay.c - time after wake-ups, from synthetic run delays: never more than the kernel
 * counted, and never more than was blocked.
 */
#include "sampler/accounting/rundelay.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS 1000000ull

static uint64_t kernel_ns; /* the kernel's run delay */
static int refused;
static size_t reads;

static int read_delay(int32_t tid, uint64_t *delay_ns)
{
	(void)tid;
	reads++;
	*delay_ns = kernel_ns;
	return refused;
}

static int set_up(void **state)
{
	static struct rundelay delays;

	kernel_ns = 7 * MS;
	refused = 0;
	reads = 0;
	rundelay_init(&delays, read_delay);
	*state = &delays;
	return 0;
}

static int tear_down(void **state)
{
	rundelay_fini(*state);
	return 0;
}

static uint64_t take(
	struct rundelay *delays, uint64_t end_ms, uint64_t ms, bool preempted, uint64_t now_ms)
{
	const struct offcpu_span span = {
		.end_ns = end_ms * MS, .ns = ms * MS, .preempted = preempted};

	return rundelay_take(delays, 5, &span, now_ms * MS) / MS;
}

/* Only delay after the first reading counts, minus the preemptions. */
static void splits(void **state)
{
	struct rundelay *delays = *state;

	assert_int_equal(take(delays, 90, 10, false, 100), 0);
	kernel_ns += 20 * MS;
	assert_int_equal(take(delays, 110, 10, false, 200), 0);
	/* The reading at 200 may include a preemption that is reported later. */
	assert_int_equal(take(delays, 190, 50, false, 210), 0);
	assert_int_equal(take(delays, 195, 5, true, 210), 0);
	assert_int_equal(take(delays, 205, 10, false, 300), 10);
	assert_int_equal(take(delays, 260, 30, false, 300), 5);
	assert_int_equal(take(delays, 270, 10, false, 300), 0);
	/* No delay is reported twice. */
	assert_int_equal(take(delays, 310, 10, false, 400), 0);
	assert_int_equal(take(delays, 410, 10, false, 500), 0);
}

/* A running preemption is reported before the kernel counts it. */
static void preempted(void **state)
{
	struct rundelay *delays = *state;

	assert_int_equal(take(delays, 90, 10, false, 100), 0);
	assert_int_equal(take(delays, 110, 30, true, 200), 0);
	assert_int_equal(take(delays, 210, 10, false, 300), 0);
	kernel_ns += 32 * MS;
	assert_int_equal(take(delays, 310, 10, false, 400), 0);
	assert_int_equal(take(delays, 410, 10, false, 500), 2);
}

/* An ended thread has no more delay, and readings keep a minimum distance. */
static void reading(void **state)
{
	struct rundelay *delays = *state;

	assert_int_equal(take(delays, 99, 1, false, 100), 0);
	assert_int_equal(reads, 1);
	assert_int_equal(take(delays, 100, 1, false, 100), 0);
	assert_int_equal(take(delays, 101, 1, false, 102), 0);
	assert_int_equal(reads, 2);
	kernel_ns += 9 * MS;
	refused = -ESRCH;
	assert_int_equal(take(delays, 103, 1, false, 110), 0);
	assert_int_equal(take(delays, 111, 1, false, 120), 0);
	rundelay_forget(delays, 5);
	assert_int_equal(delays->threads.n, 0);
	assert_int_equal(take(delays, 121, 1, false, 130), 0);
	assert_int_equal(delays->threads.n, 0);
	refused = 0;
	assert_int_equal(take(delays, 131, 1, false, 140), 0);
	rundelay_clear(delays);
	assert_int_equal(delays->threads.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(splits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(preempted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reading, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
