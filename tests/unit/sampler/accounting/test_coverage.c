/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_coverage.c - coverage by time, on busy and idle CPUs, and by count.
 */
#include "sampler/accounting/coverage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SECOND 1000000000ull
#define HZ 1000u

static void expect_time(const struct coverage *coverage, double wanted)
{
	double covered, coverable;

	coverage_by_time(coverage, &covered, &coverable);
	assert_true(coverable > 0);
	if (covered / coverable < wanted - 1e-9 || covered / coverable > wanted + 1e-9)
		fail_msg("%f is not %f", covered / coverable, wanted);
}

static void test_tasks(void **state)
{
	struct coverage coverage = {0};
	struct coverage_point busy = {0}, quiet = {0};
	double covered, coverable;

	(void)state;
	coverage_by_time(&coverage, &covered, &coverable);
	assert_true(coverable == 0);
	coverage_add_time(&coverage, &busy, SECOND, SECOND, 0);
	expect_time(&coverage, 1);
	coverage_add_time(&coverage, &quiet, 0, SECOND, 0);
	expect_time(&coverage, 0.5);
	/* The two counters are not read at one instant: the running time is cut. */
	coverage_add_time(&coverage, &busy, 3 * SECOND, 2 * SECOND, 0);
	expect_time(&coverage, 0.75);
}

/* One CPU of 64 is busy, and rarely sampled. */
static void test_hole_on_a_busy_cpu(void **state)
{
	struct coverage coverage = {0};
	struct coverage_point cpus[64] = {{0}};

	(void)state;
	for (int second = 0; second < 10; second++) {
		for (int cpu = 1; cpu < 64; cpu++)
			coverage_add_time(&coverage, &cpus[cpu], SECOND, SECOND, HZ);
		cpus[0].samples = HZ / 10;
		coverage_add_time(&coverage, &cpus[0], SECOND / 10, SECOND, HZ);
	}
	expect_time(&coverage, 0.1);
	/* The event stopped. Its earlier rate gives the missing samples. */
	for (int second = 0; second < 10; second++)
		coverage_add_time(&coverage, &cpus[0], 0, SECOND, HZ);
	expect_time(&coverage, 0.05);
	assert_int_equal(cpus[0].samples, 0);
}

/* An event that stopped on an idle CPU makes no hole. */
static void test_hole_on_an_idle_cpu(void **state)
{
	struct coverage coverage = {0};
	struct coverage_point busy = {0}, idle = {0};

	(void)state;
	coverage_add_time(&coverage, &idle, SECOND, SECOND, HZ);
	/* Without samples all CPUs have equal weight. */
	expect_time(&coverage, 1);
	for (int second = 0; second < 10; second++) {
		busy.samples = HZ;
		coverage_add_time(&coverage, &busy, SECOND, SECOND, HZ);
		coverage_add_time(&coverage, &idle, 0, SECOND, HZ);
	}
	expect_time(&coverage, 1);
}

static void test_cpu_never_armed(void **state)
{
	struct coverage coverage = {0};
	struct coverage_point works = {.samples = HZ}, refused = {0};

	(void)state;
	coverage_add_time(&coverage, &works, SECOND, SECOND, HZ);
	coverage_add_time(&coverage, &refused, 0, SECOND, HZ);
	expect_time(&coverage, 0.5);
}

/* A burst must not raise the rate above the frequency. */
static void test_burst(void **state)
{
	struct coverage coverage = {0};
	struct coverage_point point = {.samples = 100};

	(void)state;
	coverage_add_time(&coverage, &point, SECOND / 1000, SECOND, HZ);
	assert_true(coverage.possible <= HZ + 1e-6);
	expect_time(&coverage, 0.001);
}

/* Samples of an inherited clock compared with the time that it ran. */
static void test_weight(void **state)
{
	struct coverage coverage = {0};
	double covered, coverable;

	(void)state;
	coverage_by_weight(&coverage, &covered, &coverable);
	assert_true(coverable == 0);
	coverage_add_clock(&coverage, SECOND);
	coverage_add_sample(&coverage, SECOND / 4, 1);
	coverage_by_weight(&coverage, &covered, &coverable);
	assert_true(covered == SECOND / 4 && coverable == SECOND);
	/* The rings may be drained before or after the counter is read: the result is limited. */
	coverage_add_sample(&coverage, SECOND, 1);
	coverage_by_weight(&coverage, &covered, &coverable);
	assert_true(covered == SECOND && coverable == SECOND);
}

static void expect_bound(const struct coverage *coverage, double rest_ns, bool final, double wanted)
{
	double covered, coverable;

	coverage_by_time(coverage, &covered, &coverable);
	coverage_bound_by_weight(coverage, rest_ns, final, &covered, coverable);
	if (covered / coverable < wanted - 1e-9 || covered / coverable > wanted + 1e-9)
		fail_msg("%f is not %f", covered / coverable, wanted);
}

/* A timer that fires faster than it can be served: armed all the time, with few samples. */
static void test_skipped_periods(void **state)
{
	struct coverage coverage = {0};
	struct coverage_point point = {0};

	(void)state;
	coverage_add_time(&coverage, &point, SECOND, SECOND, 0);
	coverage_add_clock(&coverage, SECOND);
	coverage_add_sample(&coverage, SECOND / 2, 1);
	/* The missing half may still be in the rings. */
	expect_bound(&coverage, 0, false, 1);
	expect_bound(&coverage, 0, true, 0.5);
	coverage_end_reading(&coverage);
	expect_bound(&coverage, 0, false, 0.5);
	expect_bound(&coverage, SECOND / 2.0, true, 1);
	/* The event was disarmed for half of the time, which has no samples either. */
	coverage_add_time(&coverage, &point, 0, SECOND, 0);
	coverage_add_clock(&coverage, SECOND);
	expect_bound(&coverage, 0, true, 0.25);
	coverage_add_sample(&coverage, 2 * SECOND, 1);
	expect_bound(&coverage, 0, true, 0.5);
	coverage = (struct coverage){0};
	coverage_add_time(&coverage, &point, SECOND, SECOND, 0);
	coverage_add_clock(&coverage, SECOND);
	coverage_add_sample(&coverage, SECOND / 100 * 99, 1);
	expect_bound(&coverage, 0, true, 1);
}

static void expect_count(
	const struct coverage *coverage, bool final, uint64_t period, uint64_t held, double wanted)
{
	double covered, coverable;

	assert_int_equal(coverage_held_back(coverage, final), held);
	coverage_by_count(coverage, held, period, &covered, &coverable);
	if (covered / coverable < wanted - 1e-9 || covered / coverable > wanted + 1e-9)
		fail_msg("%f is not %f", covered / coverable, wanted);
}

static void test_counts(void **state)
{
	struct coverage coverage = {0};
	struct coverage_point point = {0};

	(void)state;
	for (int i = 0; i < 600; i++)
		coverage_add_sample(&coverage, 1, 1);
	coverage_add_lost(&coverage, 200, 1);
	coverage_add_count(&coverage, &point, 1000, 1);
	/* Samples that may still be in the rings are not missing. */
	expect_count(&coverage, false, 1, 0, 0.75);
	expect_count(&coverage, true, 1, 200, 0.6);
	coverage_end_reading(&coverage);
	expect_count(&coverage, false, 1, 200, 0.6);
	/* Samples since the last reading exceed the count. */
	for (int i = 0; i < 300; i++)
		coverage_add_sample(&coverage, 1, 1);
	expect_count(&coverage, true, 1, 0, 900.0 / 1100);
}

/* New tasks run before their events are opened: time without samples and without a count. */
static void test_late(void **state)
{
	struct coverage coverage = {0};
	struct coverage_point point = {0};
	double covered, coverable;

	(void)state;
	/* The kernel accounts a running task by ticks, a sleeping one at once. */
	assert_int_equal(coverage_ran_ns(false, 300, 200, SECOND), 300);
	assert_int_equal(coverage_ran_ns(true, 300, 200, 1000), 800);
	assert_int_equal(coverage_ran_ns(true, 300, 200, 400), 300);
	assert_int_equal(coverage_ran_ns(true, 300, 200, SECOND), 300 + SECOND / 100);
	coverage_add_time(&coverage, &point, 3 * SECOND, 3 * SECOND, 0);
	for (int by_count = 0; by_count < 2; by_count++) {
		coverable = 7;
		coverage_with_late(&coverage, by_count, &coverable);
		assert_true(coverable == 7);
	}
	coverage_add_late(&coverage, SECOND);
	coverage_by_time(&coverage, &covered, &coverable);
	coverage_with_late(&coverage, false, &coverable);
	assert_true(covered == 3e9 && coverable == 4e9);
	/* No event counted in the late time. It is a notable part, so the share is unknown. */
	coverage_with_late(&coverage, true, &coverable);
	assert_true(coverable == 0);
}

/* The lifetimes of tasks without events are more than their CPU time if they slept. */
static void test_missed(void **state)
{
	(void)state;
	assert_int_equal(coverage_missed_ns(700, 1000, 900), 100);
	assert_int_equal(coverage_missed_ns(70, 1000, 900), 70);
	/* The counters were read later than the CPU time. */
	assert_int_equal(coverage_missed_ns(700, 1000, 1001), 0);
	assert_int_equal(coverage_missed_ns(700, 0, 900), 700);
	assert_int_equal(coverage_missed_ns(0, 1000, 900), 0);
}

/* Parts of a period never become a sample. */
static void test_parts_of_periods(void **state)
{
	struct coverage coverage = {0};
	struct coverage_point points[3] = {{0}};

	(void)state;
	for (int i = 0; i < 3; i++)
		coverage_add_count(&coverage, &points[i], 999, 1000);
	assert_int_equal(coverage.hits, 0);
	coverage_add_count(&coverage, &points[1], 2, 1000);
	assert_int_equal(coverage.hits, 1);
	assert_int_equal(points[1].rest, 1);
	coverage_add_sample(&coverage, 1000, 1);
	expect_count(&coverage, true, 1000, 0, 1);
	coverage_add_count(&coverage, &points[0], 5, 0);
	assert_int_equal(coverage.hits, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_hole_on_a_busy_cpu),
		cmocka_unit_test(test_hole_on_an_idle_cpu),
		cmocka_unit_test(test_cpu_never_armed),
		cmocka_unit_test(test_burst),
		cmocka_unit_test(test_weight),
		cmocka_unit_test(test_skipped_periods),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_missed),
		cmocka_unit_test(test_parts_of_periods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
