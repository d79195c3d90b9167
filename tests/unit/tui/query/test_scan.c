/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_scan.c - passes over samples: two threads give the results of one.
 *
 * Cached verdicts on stacks, labels and CPUs give the results of a filter that is asked for each
 * cell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/samples_fixture.h"
#include "tests/unit/sums.h"
#include "tui/query/expr.h"
#include "tui/query/scan.h"

#define CELLS 500u
#define ALL_EVENTS (-1)

/* Makes event 5 the only event of a slice. */
static void one_event(struct fixture *fixture, uint32_t slice)
{
	struct slice_total *all = fixture->totals[slice];

	for (uint32_t i = 0; i < fixture->slices[slice].cells; i++)
		fixture->event[slice][i] = 5;
	for (uint32_t i = 1; i < fixture->slices[slice].n_totals; i++) {
		all->weight += all[i].weight;
		all->count += all[i].count;
	}
	all->event = 5;
	fixture->slices[slice].n_totals = 1;
}

/* Sums up the result, in any order of entries, sides and tasks.  The newest names of tasks are
 * included. */
static void sum_scan(const struct scan *scan, struct sums *sums)
{
	memset(sums, 0, sizeof(*sums));
	for (uint32_t i = 0; i < scan->n_entries; i++) {
		const struct scan_entry *entry = &scan->entries[i];
		const struct scan_side *side = &scan->sides[entry->side];
		uint64_t key = sums_key(sums_key(entry->node, side->event), side->cpu);

		if (side->task != SCAN_NONE) {
			const struct scan_task *task = &scan->tasks[side->task];

			key = sums_key(sums_key(key, (uint32_t)task->pid), (uint32_t)task->tid);
			key = sums_key_text(sums_key_text(key, task->comm), task->process_comm);
		}
		assert_true(entry->samples > 0);
		sums_add(sums, key, entry->weight, 0, entry->samples);
	}
	for (uint64_t i = 0; i < STORE_EVENTS_MAX; i++) {
		const struct scan_sums *of = &scan->sums[i];

		sums_add(sums, sums_key(1ull << 40, i), of->weight, of->all_weight, of->samples);
		sums_add(sums, sums_key(1ull << 41, i), of->unresolved, 0, of->all_samples);
	}
}

static void check_two(const struct scan_question *question)
{
	struct scan_question by_two = *question;
	struct sums *one = malloc(sizeof(*one)), *two = malloc(sizeof(*two));
	struct scan scan;

	assert_non_null(one);
	assert_non_null(two);
	assert_int_equal(scan_run(question, &scan), 0);
	sum_scan(&scan, one);
	scan_fini(&scan);
	by_two.two_cells = 1;
	assert_int_equal(scan_run(&by_two, &scan), 0);
	sum_scan(&scan, two);
	scan_fini(&scan);
	sums_expect_same(one, two);
	free(one);
	free(two);
}

/* Compares the sums of stacks with a loop that asks the filter for each cell. */
static void check_stacks(struct fixture *fixture, const struct scan_question *question)
{
	struct sums *naive = calloc(1, sizeof(*naive)), *found = malloc(sizeof(*found));
	struct scan_sums of[STORE_EVENTS_MAX] = {{0}};
	struct scan scan;

	assert_non_null(naive);
	assert_non_null(found);
	for (uint32_t at = 0; at < FIXTURE_SLICES; at++) {
		const struct slice *slice = &fixture->slices[at];

		for (uint32_t i = 0; i < slice->cells; i++) {
			struct scan_sums *sums = &of[slice->event[i]];
			uint64_t key = sums_key(sums_key(slice->stack[i], slice->event[i]), 0);
			const struct task_label *label =
				tasks_label_get(fixture->tasks, slice->task[i]);

			if ((question->event >= 0 && slice->event[i] != question->event) ||
				(question->hide_idle && !label->pid))
				continue;
			sums->all_weight += slice->weight[i];
			sums->all_samples += slice->count[i];
			if (!filter_pass(question->filter, slice, i))
				continue;
			sums->weight += slice->weight[i];
			sums->samples += slice->count[i];
			sums_add(naive, key, slice->weight[i], 0, slice->count[i]);
		}
	}
	assert_int_equal(scan_run(question, &scan), 0);
	sum_scan(&scan, found);
	for (uint64_t i = 0; i < STORE_EVENTS_MAX; i++) {
		of[i].unresolved = scan.sums[i].unresolved;
		sums_add(naive, sums_key(1ull << 40, i), of[i].weight, of[i].all_weight,
			of[i].samples);
		sums_add(naive, sums_key(1ull << 41, i), of[i].unresolved, 0, of[i].all_samples);
	}
	scan_fini(&scan);
	sums_expect_same(naive, found);
	free(naive);
	free(found);
}

/* Fraction of the slice's time that lies in part k of the question's time range. */
static double share_of(const struct slice *slice, const struct scan_question *question, uint32_t k)
{
	double length = (double)(question->parts_to_ns - question->parts_from_ns) / SCAN_PARTS;
	double left = (double)question->parts_from_ns + k * length, right = left + length;
	double start = (double)slice->start_ns, end = (double)slice->end_ns;

	left = left > start ? left : start;
	right = right < end ? right : end;
	return right > left ? (right - left) / (end - start) : 0;
}

/* Checks the weights of each stack and event in parts of a time range, by one thread or by two. */
static void check_parts(struct fixture *fixture, struct filter *filter, uint64_t from_ns,
	uint64_t to_ns, uint64_t two_cells)
{
	struct scan_question question = fixture_scan(fixture);
	double naive[SCAN_PARTS];
	struct scan scan;
	uint64_t met = 0;

	question.filter = filter;
	question.by = SCAN_STACK;
	question.leave_unresolved = true;
	question.two_cells = two_cells;
	question.in_parts = true;
	question.parts_from_ns = from_ns;
	question.parts_to_ns = to_ns;
	assert_int_equal(scan_run(&question, &scan), 0);
	assert_true(scan.n_entries > 10);
	for (uint32_t e = 0; e < scan.n_entries; e++) {
		memset(naive, 0, sizeof(naive));
		for (uint32_t at = 0; at < FIXTURE_SLICES; at++) {
			const struct slice *slice = &fixture->slices[at];

			for (uint32_t i = 0; i < slice->cells; i++)
				for (uint32_t k = 0;
					k < SCAN_PARTS && slice->stack[i] == scan.entries[e].node &&
					slice->event[i] == scan.sides[scan.entries[e].side].event &&
					filter_pass(filter, slice, i);
					k++)
					naive[k] += (double)slice->weight[i] *
						share_of(slice, &question, k);
		}
		for (uint32_t k = 0; k < SCAN_PARTS; k++) {
			double off = naive[k] - (double)scan.parts[e][k];

			/* The weight of a slice that lies in several parts is rounded. */
			assert_true(off >= -(double)FIXTURE_SLICES && off <= FIXTURE_SLICES);
			met += scan.parts[e][k];
		}
	}
	assert_true(met > 0);
	scan_fini(&scan);
}

static void check_questions(struct fixture *fixture, struct filter *filter, bool hide_idle)
{
	static const unsigned int by[] = {SCAN_STACK, 0, SCAN_PROCESS, SCAN_THREAD, SCAN_COMMAND,
		SCAN_CPU, SCAN_STACK | SCAN_THREAD, SCAN_STACK | SCAN_CPU, SCAN_FIELDS};
	struct scan_question question = fixture_scan(fixture);

	question.filter = filter;
	question.hide_idle = hide_idle;
	for (size_t i = 0; i < sizeof(by) / sizeof(*by); i++) {
		for (int event = ALL_EVENTS; event <= 5; event += 6) {
			question.by = by[i];
			question.event = event;
			check_two(&question);
			if (by[i] & SCAN_STACK)
				continue;
			question.only = true;
			question.symref = 7;
			check_two(&question);
			question.only = false;
		}
	}
	question.by = SCAN_STACK;
	for (question.event = ALL_EVENTS; question.event <= 5; question.event += 6) {
		question.two_cells = 0;
		check_stacks(fixture, &question);
		question.two_cells = 1;
		check_stacks(fixture, &question);
	}
}

static void check_filters(struct fixture *fixture)
{
	static const char *const texts[] = {"comm:worker", "pid:200 & !cpu:1-2", "symbol~f1",
		"image:library.so", "stack:f3 & !stack:f4", "cpu:0-1 & symbol:f2* & !tid:101"};

	check_questions(fixture, NULL, false);
	check_questions(fixture, NULL, true);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct expr expr = {0};
		struct expr_error error;
		struct filter *filter;

		assert_int_equal(expr_parse(&expr, texts[i], &error), 0);
		assert_int_equal(expr_filter(&expr, fixture->stacks, fixture->tasks, fixture->names,
					 &filter),
			0);
		check_questions(fixture, filter, i % 2);
		filter_free(filter);
		expr_fini(&expr);
	}
}

static void test_several_events(void **state)
{
	struct fixture *fixture = *state;

	fixture_randomize(fixture, 3, CELLS);
	check_filters(fixture);
}

static void test_one_event(void **state)
{
	struct fixture *fixture = *state;

	fixture_randomize(fixture, 4, CELLS);
	for (uint32_t slice = 0; slice < FIXTURE_SLICES; slice++)
		if (slice % 3)
			one_event(fixture, slice);
	check_filters(fixture);
}

static void test_parts_of_time(void **state)
{
	struct fixture *fixture = *state;
	uint64_t begin_ns = fixture->slices[0].start_ns,
		 end_ns = fixture->slices[FIXTURE_SLICES - 1].end_ns;
	struct expr expr = {0};
	struct expr_error error;
	struct filter *filter;

	fixture_randomize(fixture, 5, CELLS);
	for (uint32_t slice = 0; slice < FIXTURE_SLICES; slice++)
		if (slice % 2)
			one_event(fixture, slice);
	assert_int_equal(expr_parse(&expr, "pid:100 & stack:f3", &error), 0);
	assert_int_equal(
		expr_filter(&expr, fixture->stacks, fixture->tasks, fixture->names, &filter), 0);
	for (uint64_t two = 0; two < 2; two++) {
		/* slices in several parts, several slices in one part, and both */
		check_parts(fixture, NULL, begin_ns, end_ns, two);
		check_parts(fixture, filter, begin_ns, end_ns, two);
		check_parts(fixture, NULL, begin_ns, begin_ns + 40 * (end_ns - begin_ns), two);
		check_parts(fixture, filter, begin_ns, 2 * end_ns + 400, two);
		check_parts(fixture, NULL, begin_ns, end_ns + 70, two);
	}
	filter_free(filter);
	expr_fini(&expr);
}

/* Checks the weight without a symbol, of slices with one event, with few events and with many. */
static void check_unresolved(struct fixture *fixture, unsigned int by, uint64_t two_cells)
{
	uint64_t naive[STORE_EVENTS_MAX] = {0};
	struct scan_question question = fixture_scan(fixture);
	struct scan scan;

	for (uint32_t at = 0; at < FIXTURE_SLICES; at++) {
		const struct slice *slice = &fixture->slices[at];

		for (uint32_t i = 0; i < slice->cells; i++) {
			uint32_t symref = slice->stack[i] == STACK_ROOT
				? 0
				: names_symref(fixture->names,
					  stacks_node(fixture->stacks, slice->stack[i])->frame);

			if (!names_get(fixture->names, symref)->resolved)
				naive[slice->event[i]] += slice->weight[i];
		}
	}
	question.by = by;
	question.two_cells = two_cells;
	assert_int_equal(scan_run(&question, &scan), 0);
	for (uint32_t i = 0; i < STORE_EVENTS_MAX; i++)
		assert_int_equal(scan.sums[i].unresolved, naive[i]);
	scan_fini(&scan);
}

static void test_unresolved(void **state)
{
	static const unsigned int by[] = {SCAN_STACK, 0, SCAN_THREAD, SCAN_CPU,
		SCAN_STACK | SCAN_CPU, SCAN_THREAD | SCAN_CPU};
	struct fixture *fixture = *state;

	fixture_randomize(fixture, 6, CELLS);
	one_event(fixture, 0);
	for (uint32_t i = 0; i < 8 * CELLS; i++)
		fixture_cell(fixture, i % 3 + 5, fixture->stack[i % 5][i % CELLS],
			fixture->labels[i % FIXTURE_LABELS], 0, (uint8_t)(i % 9), 1 + i % 7, 1);
	for (size_t i = 0; i < sizeof(by) / sizeof(*by); i++) {
		check_unresolved(fixture, by[i], 0);
		check_unresolved(fixture, by[i], 1);
	}
}

/* A renamed thread has the name of its samples that pass the filter. */
static void test_names_of_what_passes(void **state)
{
	static const unsigned int by[] = {
		SCAN_THREAD, SCAN_PROCESS, SCAN_STACK | SCAN_THREAD, SCAN_THREAD | SCAN_FIELDS};
	struct fixture *fixture = *state;
	struct expr expr = {0};
	struct expr_error error;
	struct filter *filter;

	fixture_cell(fixture, 0, fixture_stack(fixture, "0 1"), fixture->labels[4], 0, 0, 5, 1);
	fixture_cell(fixture, 1, fixture_stack(fixture, "0 2"), fixture->labels[5], 0, 0, 7, 1);
	assert_int_equal(expr_parse(&expr, "comm:sh", &error), 0);
	assert_int_equal(
		expr_filter(&expr, fixture->stacks, fixture->tasks, fixture->names, &filter), 0);
	for (size_t i = 0; i < sizeof(by) / sizeof(*by); i++) {
		struct scan_question question = fixture_scan(fixture);
		struct scan scan;

		question.by = by[i];
		question.filter = filter;
		assert_int_equal(scan_run(&question, &scan), 0);
		assert_int_equal(scan.n_entries, 1);
		assert_int_equal(scan.entries[0].weight, 5);
		assert_int_equal(scan.n_tasks, 1);
		assert_string_equal(scan.tasks[0].comm, "sh");
		scan_fini(&scan);
	}
	filter_free(filter);
	expr_fini(&expr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_several_events, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_one_event, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_unresolved, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			test_parts_of_time, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			test_names_of_what_passes, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
