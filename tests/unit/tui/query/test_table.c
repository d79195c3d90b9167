/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_table.c - rows by any keys equal those of a naive model exactly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/table_model.h"

static const struct {
	enum query_group keys[4];
	size_t n;
} combinations[] = {
	{{GROUP_SYMBOL, GROUP_IMAGE}, 2},
	{{GROUP_SYMBOL}, 1},
	{{GROUP_IMAGE}, 1},
	{{GROUP_ADDRESS}, 1},
	{{GROUP_PROCESS}, 1},
	{{GROUP_THREAD}, 1},
	{{GROUP_CPU}, 1},
	{{GROUP_COMMAND}, 1},
	{{GROUP_EVENT}, 1},
	{{GROUP_COMMAND, GROUP_SYMBOL}, 2},
	{{GROUP_EVENT, GROUP_IMAGE}, 2},
	{{GROUP_COMMAND, GROUP_IMAGE, GROUP_SYMBOL}, 3},
	{{GROUP_PROCESS, GROUP_CPU}, 2},
	{{GROUP_ADDRESS, GROUP_SYMBOL, GROUP_IMAGE, GROUP_THREAD}, 4},
	{{GROUP_CPU, GROUP_PROCESS, GROUP_COMMAND, GROUP_SYMBOL}, 4},
};

#define COMBINATIONS (sizeof(combinations) / sizeof(combinations[0]))

static void test_every_combination(void **state)
{
	const enum query_group columns[] = {GROUP_KEYS, GROUP_EVENT, GROUP_CPU, GROUP_THREAD};
	struct fixture *fixture = *state;

	fixture_randomize(fixture, 1, 120);
	for (size_t i = 0; i < COMBINATIONS; i++)
		for (size_t j = 0; j < 4; j++) {
			struct table_question question =
				ask(fixture, combinations[i].keys, combinations[i].n);

			question.scan.column = columns[j];
			compare(fixture, &question);
		}
}

/* Lines that are not known yet are requested, and their rows are functions. */
static void test_lines(void **state)
{
	static const struct {
		enum query_group keys[3];
		size_t n;
	} asked_for[] = {
		{{GROUP_LINE}, 1},
		{{GROUP_LINE, GROUP_SYMBOL, GROUP_IMAGE}, 3},
		{{GROUP_LINE, GROUP_THREAD}, 2},
		{{GROUP_ADDRESS, GROUP_LINE}, 2},
	};
	struct fixture *fixture = *state;
	struct fake_lines lines[LINES];

	fixture_randomize(fixture, 3, 120);
	for (int known = 0; known < 2; known++) {
		for (size_t i = 0; i < sizeof(asked_for) / sizeof(asked_for[0]); i++) {
			struct table_question question =
				ask(fixture, asked_for[i].keys, asked_for[i].n);

			compare(fixture, &question);
		}
		assert_true(fixture->symbols.lines_asked > 0);
		know_lines(fixture, lines);
	}
}

/* Two of three events differ in their cgroups only. */
static void test_cgroups(void **state)
{
	static const struct {
		enum query_group keys[4];
		size_t n;
	} asked_for[] = {
		{{GROUP_CGROUP}, 1}, {{GROUP_SYMBOL, GROUP_CGROUP}, 2},
		{{GROUP_CGROUP, GROUP_IMAGE, GROUP_PROCESS}, 3},
		{{GROUP_SYMBOL, GROUP_IMAGE}, 2}, /* one event for all cgroups */
	};
	const enum query_group columns[] = {GROUP_KEYS, GROUP_CPU, GROUP_THREAD};
	uint8_t stands_for[STORE_EVENTS_MAX];
	struct fixture *fixture = *state;

	for (size_t i = 0; i < STORE_EVENTS_MAX; i++)
		stands_for[i] = (uint8_t)(i == 10 ? 5 : i);
	fixture_randomize(fixture, 3, 120);
	for (size_t i = 0; i < sizeof(asked_for) / sizeof(*asked_for); i++)
		for (size_t j = 0; j < 3; j++) {
			struct table_question question =
				ask(fixture, asked_for[i].keys, asked_for[i].n);

			question.scan.column = columns[j];
			question.scan.stands_for = stands_for;
			compare(fixture, &question);
		}
}

static const struct {
	enum query_group keys[4];
	size_t n;
	const char *names[2];
	size_t n_names;
} of_fields[] = {
	{{GROUP_FIELD}, 1, {"pid"}, 1},
	{{GROUP_FIELD}, 1, {"comm"}, 1},
	{{GROUP_FIELD}, 1, {"caller"}, 1},
	{{GROUP_FIELD}, 1, {"nobody"}, 1},
	{{GROUP_FIELD + 1, GROUP_FIELD}, 2, {"pid", "comm"}, 2},
	{{GROUP_FIELD, GROUP_SYMBOL, GROUP_IMAGE}, 3, {"caller"}, 1},
	{{GROUP_PROCESS, GROUP_FIELD}, 2, {"comm"}, 1},
	{{GROUP_THREAD, GROUP_FIELD, GROUP_CPU}, 3, {"pid"}, 1},
	{{GROUP_FIELD + 1, GROUP_COMMAND, GROUP_FIELD, GROUP_ADDRESS}, 4, {"nobody", "caller"}, 2},
};

/* Fields of several events match by name, in any order and of any kind.  Samples without the field
 * are one row. */
static void test_fields(void **state)
{
	const enum query_group columns[] = {GROUP_KEYS, GROUP_EVENT, GROUP_CPU, GROUP_THREAD};
	const struct filter_term term = {.field = FILTER_CPU, .first = 1, .last = 2};
	struct fixture *fixture = *state;
	struct filter *filter;

	fixture_randomize(fixture, 7, 150);
	make_up(fixture, 8);
	assert_int_equal(
		filter_new(&filter, &term, 1, fixture->stacks, fixture->tasks, fixture->names), 0);
	for (size_t i = 0; i < sizeof(of_fields) / sizeof(*of_fields); i++)
		for (size_t j = 0; j < 8; j++) {
			struct table_question question =
				ask(fixture, of_fields[i].keys, of_fields[i].n);

			question.scan.fields = of_fields[i].names;
			question.scan.n_fields = of_fields[i].n_names;
			question.scan.schemas = &made_up->schemas;
			question.scan.column = columns[j % 4];
			question.scan.filter = j < 4 ? NULL : filter;
			compare(fixture, &question);
		}
	filter_free(filter);
}

/* Two events may share one tuple, which has another meaning in each. */
static void test_one_tuple_of_two_events(void **state)
{
	struct fixture *fixture = *state;
	const enum query_group keys[] = {GROUP_FIELD};
	struct table_question question = ask(fixture, keys, 1);
	const char *const names[] = {"left"};
	const struct value seven = {.number = 7};
	struct field_schemas schemas = {0};
	struct values *values;
	struct table *table;
	struct table_key key;
	uint32_t tuples[3], id;

	assert_int_equal(values_new(&values), 0);
	assert_int_equal(values_intern(values, &seven, 1, &id), 0);
	schemas.values = values;
	schemas.of[0] = make_fields("\tfield:int left;\toffset:8;\tsize:4;\tsigned:1;\n", "\"\"");
	schemas.of[5] = make_fields("\tfield:int right;\toffset:8;\tsize:4;\tsigned:1;\n", "\"\"");
	for (uint32_t i = 0; i < 3; i++) {
		tuples[i] = id;
		fixture_cell(fixture, 0, STACK_ROOT, fixture->labels[i], 0, i == 1 ? 5 : 0, 1, 1);
	}
	fixture->slices[0].values = tuples;
	question.scan.fields = names;
	question.scan.n_fields = 1;
	question.scan.schemas = &schemas;
	assert_int_equal(table_new(&table, &question), 0);
	assert_int_equal(table_sort(table, TABLE_SELF, SCAN_NONE), 0);
	assert_int_equal(table->n_rows, 2);
	table_key(table, &table->rows[0], 0, &key);
	assert_true(key.is_number && key.number == 7);
	assert_int_equal(table->rows[0].samples, 2);
	table_key(table, &table->rows[1], 0, &key);
	assert_true(key.is_missing);
	table_free(table);
	fixture->slices[0].values = NULL;
	fields_free((struct fields *)(uintptr_t)schemas.of[0]);
	fields_free((struct fields *)(uintptr_t)schemas.of[5]);
	values_free(values);
}

/* Without schemas, all samples lack the field. */
static void test_no_fields_at_all(void **state)
{
	struct fixture *fixture = *state;
	const enum query_group keys[] = {GROUP_FIELD};
	struct table_question question = ask(fixture, keys, 1);
	struct table_key key;
	struct table *table;

	fixture_randomize(fixture, 9, 20);
	question.scan.fields = asked;
	question.scan.n_fields = 1;
	assert_int_equal(table_new(&table, &question), 0);
	assert_int_equal(table->n_rows, 3);
	table_key(table, &table->rows[0], 0, &key);
	assert_true(key.is_missing);
	assert_string_equal(key.text, "-");
	table_free(table);
}

/* Few entries per side are added one by one, many in one pass.  Both ways give the same rows. */
static void test_few_and_many_samples(void **state)
{
	struct fixture *fixture = *state;
	const uint32_t cells[] = {0, 1, 2, 900};

	for (uint32_t i = 0; i < 4; i++) {
		for (uint32_t j = 0; j < FIXTURE_SLICES; j++)
			fixture->slices[j].cells = 0;
		fixture_randomize(fixture, 10 + i, cells[i]);
		for (size_t j = 0; j < COMBINATIONS; j += 5) {
			struct table_question question =
				ask(fixture, combinations[j].keys, combinations[j].n);

			compare(fixture, &question);
		}
	}
}

static void test_range_idle_and_filter(void **state)
{
	struct fixture *fixture = *state;
	const struct filter_term terms[] = {
		{.field = FILTER_COMM, .text = (char *)"worker"},
		{.field = FILTER_COMM, .text = (char *)"mak?"},
		{.field = FILTER_IMAGE, .text = (char *)"/lib/str*", .negated = true},
	};
	struct filter *filter;

	fixture_randomize(fixture, 3, 300);
	assert_int_equal(
		filter_new(&filter, terms, 3, fixture->stacks, fixture->tasks, fixture->names), 0);
	for (size_t i = 0; i < COMBINATIONS; i += 3) {
		struct table_question question =
			ask(fixture, combinations[i].keys, combinations[i].n);

		question.scan.from_ns = 150;
		question.scan.to_ns = 450;
		compare(fixture, &question);
		question.scan.hide_idle = true;
		compare(fixture, &question);
		question.scan.filter = filter;
		compare(fixture, &question);
		question.scan.column = GROUP_CPU;
		compare(fixture, &question);
	}
	filter_free(filter);
}

static void test_only_one_symbol(void **state)
{
	struct fixture *fixture = *state;
	const enum query_group keys[] = {GROUP_PROCESS, GROUP_THREAD};

	fixture_randomize(fixture, 4, 200);
	for (uint32_t symref = 0; symref < 12; symref++) {
		struct table_question question = ask(fixture, keys, 2);

		question.only = true;
		question.symref = symref;
		compare(fixture, &question);
	}
}

static void test_sums_tell_what_passes(void **state)
{
	struct fixture *fixture = *state;
	const struct filter_term term = {.field = FILTER_CPU, .first = 1, .last = 2};
	uint64_t weight = 0, samples = 0, passing = 0, unresolved = 0;
	const enum query_group keys[] = {GROUP_PROCESS};
	struct table_question question = ask(fixture, keys, 1);
	struct filter *filter;
	struct table *table;

	fixture_randomize(fixture, 5, 100);
	assert_int_equal(
		filter_new(&filter, &term, 1, fixture->stacks, fixture->tasks, fixture->names), 0);
	question.scan.filter = filter;
	question.scan.event = 5;
	for (size_t i = 0; i < FIXTURE_SLICES; i++) {
		const struct slice *slice = &fixture->slices[i];

		for (uint32_t j = 0; j < slice->cells; j++) {
			uint32_t node = slice->stack[j];
			uint32_t symref = node ? names_symref(fixture->names,
							 stacks_node(fixture->stacks, node)->frame)
					       : 0;

			if (slice->event[j] != 5)
				continue;
			weight += slice->weight[j];
			samples += slice->count[j];
			if (slice->cpu[j] != 1 && slice->cpu[j] != 2)
				continue;
			passing += slice->weight[j];
			if (!names_get(fixture->names, symref)->resolved)
				unresolved += slice->weight[j];
		}
	}
	assert_int_equal(table_new(&table, &question), 0);
	assert_int_equal(table->scan.sums[5].all_weight, weight);
	assert_int_equal(table->scan.sums[5].all_samples, samples);
	assert_int_equal(table->scan.sums[5].weight, passing);
	assert_int_equal(table->scan.sums[5].unresolved, unresolved);
	assert_true(unresolved && unresolved < passing && passing < weight);
	assert_int_equal(table->scan.sums[0].all_weight, 0);
	assert_int_equal(table->scan.span_ns, FIXTURE_SLICES * 100);
	table_free(table);
	filter_free(filter);
}

/* A process has its newest name.  No name can send control characters to the terminal. */
static void test_texts_of_keys(void **state)
{
	struct fixture *fixture = *state;
	const enum query_group keys[] = {
		GROUP_PROCESS, GROUP_THREAD, GROUP_COMMAND, GROUP_CPU, GROUP_ADDRESS};
	struct table_question question = ask(fixture, keys, 1);
	uint32_t stack = fixture_stack(fixture, "0 3");
	struct table_key key;
	struct table *table;

	fixture_cell(fixture, 0, stack, fixture->labels[4], 3, 0, 10, 1);
	fixture_cell(fixture, 1, stack, fixture->labels[5], 3, 0, 10, 1);
	assert_int_equal(table_new(&table, &question), 0);
	assert_int_equal(table->n_rows, 1);
	table_key(table, &table->rows[0], 0, &key);
	assert_string_equal(key.text, "make (200)");
	table_free(table);
	fixture_cell(fixture, 1, stack, fixture->labels[7], 3, 0, 100, 1);
	question.n_keys = 5;
	assert_int_equal(table_new(&table, &question), 0);
	assert_int_equal(table_sort(table, TABLE_SELF, SCAN_NONE), 0);
	assert_int_equal(table->n_rows, 6);
	table_key(table, &table->rows[0], 1, &key);
	assert_string_equal(key.text, "we?ird (300)");
	table_key(table, &table->rows[0], 2, &key);
	assert_string_equal(key.text, "we?ird");
	table_key(table, &table->rows[0], 4, &key);
	assert_string_equal(key.text, "program+0x30");
	table_free(table);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_combination),
		TEST(test_lines),
		TEST(test_cgroups),
		cmocka_unit_test_setup_teardown(test_fields, set_up_fields, tear_down_fields),
		TEST(test_one_tuple_of_two_events),
		TEST(test_no_fields_at_all),
		TEST(test_few_and_many_samples),
		TEST(test_range_idle_and_filter),
		TEST(test_only_one_symbol),
		TEST(test_sums_tell_what_passes),
		TEST(test_texts_of_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
