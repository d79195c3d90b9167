/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_hot_filter.c - the hot table with a filter, also if names arrive later.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/samples_fixture.h"
#include "tui/tables/hot.h"

#define SERVER 1
#define WORKER 2

static const struct symbol late[] = {{0, 16, "_Z4workv", NULL, 0, false}};

static void add(
	struct store *store, uint64_t time_ns, uint32_t stack, uint32_t label, unsigned int samples)
{
	while (samples--)
		assert_int_equal(store_add(store, time_ns, stack, label, 0, 0, 10), 0);
}

static void expect(struct hot *hot, uint64_t samples, size_t n_rows)
{
	const struct hot_query query = {0};
	const struct hot_row *rows;
	struct hot_sums sums;
	uint64_t met = 0;
	size_t n;

	assert_int_equal(hot_update(hot, 0, UINT64_MAX), 0);
	assert_int_equal(hot_rows(hot, &query, &rows, &n, &sums), 0);
	assert_int_equal(sums.samples, samples);
	assert_int_equal(sums.weight, samples * 10);
	assert_int_equal(n, n_rows);
	for (size_t i = 0; i < n; i++)
		met += rows[i].samples;
	assert_int_equal(met, samples);
}

static void test_filtered(void **state)
{
	struct fixture *fixture = *state;
	struct filter_term terms[] = {{.field = FILTER_COMM, .text = (char[]){"worker"}},
		{.field = FILTER_SYMBOL, .text = (char[]){"work"}}};
	uint32_t stripped = fixture_call(fixture, STACK_ROOT, fixture->stripped, 4);
	struct filter *filter;
	struct store *store;
	struct hot *hot;

	assert_int_equal(store_new(&store, fixture->stacks, fixture->tasks, (size_t)64 << 20), 0);
	for (uint64_t slice = 1; slice <= 3; slice++) {
		uint64_t time_ns = slice * STORE_SLICE_NS;

		add(store, time_ns, fixture_stack(fixture, "0 1"), fixture->labels[SERVER], 4);
		add(store, time_ns, fixture_stack(fixture, "0 2"), fixture->labels[WORKER], 3);
		add(store, time_ns, stripped, fixture->labels[WORKER], 2);
		store_seal(store, time_ns + STORE_SLICE_NS, true);
	}
	fixture->symbols.images[fixture->stripped].state = SYMBOLS_PENDING;
	assert_int_equal(hot_new(&hot, store, fixture->stacks, fixture->names), 0);
	expect(hot, 27, 4);
	hot_free(hot);

	assert_int_equal(
		filter_new(&filter, terms, 1, fixture->stacks, fixture->tasks, fixture->names), 0);
	assert_int_equal(hot_new(&hot, store, fixture->stacks, fixture->names), 0);
	hot_set_filter(hot, filter);
	expect(hot, 15, 3);
	hot_free(hot);
	filter_free(filter);

	/* A symbol has no name at first, then a mangled one, then its own. */
	assert_int_equal(
		filter_new(&filter, terms, 2, fixture->stacks, fixture->tasks, fixture->names), 0);
	assert_int_equal(hot_new(&hot, store, fixture->stacks, fixture->names), 0);
	hot_set_filter(hot, filter);
	expect(hot, 0, 0);
	fixture->symbols.images[fixture->stripped].state = SYMBOLS_READY;
	fixture->symbols.images[fixture->stripped].symbols = late;
	fixture->symbols.images[fixture->stripped].n_symbols = 1;
	fixture->symbols.changed = SYMBOLS_CHANGED_TABLES;
	names_update(fixture->names);
	expect(hot, 0, 0);
	fixture->symbols.pretty = true;
	fixture->symbols.changed = SYMBOLS_CHANGED_NAMES;
	names_update(fixture->names);
	expect(hot, 6, 1);
	hot_free(hot);
	filter_free(filter);
	store_free(store);
}

/* In a moving range, followed or summed in bulk: samples that do not pass are counted, too. */
static void test_all_samples_are_counted(void **state)
{
	static const struct {
		uint64_t first, end, samples, all;
	} ranges[] = {{1, 3, 3, 15}, {2, 4, 5, 25}, {1, 4, 6, 30}, {3, 3, 0, 0}, {3, 4, 3, 15}};
	struct fixture *fixture = *state;
	struct filter_term term = {.field = FILTER_COMM, .text = (char[]){"worker"}};
	struct filter *filter;
	struct store *store;

	assert_int_equal(store_new(&store, fixture->stacks, fixture->tasks, (size_t)64 << 20), 0);
	assert_int_equal(
		filter_new(&filter, &term, 1, fixture->stacks, fixture->tasks, fixture->names), 0);
	for (unsigned int slice = 1; slice <= 3; slice++) {
		add(store, slice * STORE_SLICE_NS, fixture_stack(fixture, "0 1"),
			fixture->labels[SERVER], 4 * slice);
		add(store, slice * STORE_SLICE_NS, fixture_stack(fixture, "0 2"),
			fixture->labels[WORKER], slice);
	}
	store_seal(store, 4 * STORE_SLICE_NS, true);
	for (int at_once = 0; at_once < 2; at_once++) {
		struct hot *hot;

		assert_int_equal(hot_new(&hot, store, fixture->stacks, fixture->names), 0);
		hot_set_filter(hot, filter);
		if (at_once)
			hot_set_bulk(hot, 0);
		for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
			struct hot_sums sums;

			assert_int_equal(hot_update(hot, ranges[i].first * STORE_SLICE_NS,
						 ranges[i].end * STORE_SLICE_NS),
				0);
			hot_sums(hot, 0, &sums);
			assert_int_equal(sums.samples, ranges[i].samples);
			assert_int_equal(sums.all_samples, ranges[i].all);
		}
		hot_free(hot);
	}
	filter_free(filter);
	store_free(store);
}

static void test_described(void **state)
{
	const struct filter_term terms[] = {{.field = FILTER_COMM, .text = (char[]){"ma\033ke"}},
		{.field = FILTER_PID, .first = 7, .last = 7, .negated = true},
		{.field = FILTER_CPU, .first = 0, .last = 3}};
	char text[64];

	(void)state;
	filter_describe(terms, 3, text, sizeof(text));
	assert_string_equal(text, "comm ma?ke, !pid 7, cpu 0-3");
	filter_describe(terms, 3, text, 12);
	assert_string_equal(text, "comm ma?ke,");
	filter_describe(terms, 0, text, sizeof(text));
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_filtered, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			test_all_samples_are_counted, fixture_setup, fixture_teardown),
		cmocka_unit_test(test_described),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
