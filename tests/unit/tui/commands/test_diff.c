/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_diff.c - reports joined by event and keys: shares, differences, order, limits, formats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/commands/diff_table.h"
#include "tui/session/request.h"

#include <json-c/json.h>

struct given {
	const char *symbol, *image;
	uint64_t weight;
};

/* Adds a report of one event with rows of these weights, one sample for each 10.  A negative
 * duration: the samples have no times. */
static void add_at(struct diff_table *table, const char *file, const char *name, double duration_s,
	const struct given *given, const struct names_place *places, size_t n)
{
	static const bool clocks[] = {true};
	struct report_key keys[16][2];
	struct report_row rows[16] = {0};
	struct report_event event = {.name = name, .rows = rows, .n_rows = n};
	struct report report = {.covered_s = duration_s,
		.no_times = duration_s < 0,
		.keys = {GROUP_SYMBOL, GROUP_IMAGE},
		.n_keys = 2,
		.events = &event,
		.n_events = 1};

	assert_true(n <= 16);
	for (size_t i = 0; i < n; i++)
		event.weight += given[i].weight;
	for (size_t i = 0; i < n; i++) {
		keys[i][0] = (struct report_key){.text = given[i].symbol};
		keys[i][1] = (struct report_key){.text = given[i].image};
		rows[i] = (struct report_row){.keys = keys[i],
			.self_percent = 100.0 * (double)given[i].weight / (double)event.weight,
			.samples = given[i].weight / 10,
			.self_weight = given[i].weight};
		if (places)
			rows[i].place = places[i];
		event.samples += rows[i].samples;
	}
	assert_int_equal(diff_table_add(table, file, &report, clocks), 0);
}

static void add(struct diff_table *table, const char *file, const char *name, double duration_s,
	const struct given *given, size_t n)
{
	add_at(table, file, name, duration_s, given, NULL, n);
}

static const struct given before[] = {
	{"stays", "a", 500}, {"shrinks", "a", 300}, {"gone", "b", 200}};
static const struct given after[] = {
	{"new", "b", 400}, {"stays", "a", 1000}, {"shrinks", "a", 200}, {"stays", "other", 400}};

static void two(struct diff_table *table, enum diff_normal normal)
{
	assert_int_equal(diff_table_init(table, 2, normal), 0);
	add(table, "before", "cpu-clock", 1, before, 3);
	add(table, "after", "cpu-clock", 4, after, 4);
}

static const struct diff_row *row(const struct diff_table *table, uint32_t i, const char *symbol,
	const char *image, enum diff_state state)
{
	assert_true(i < table->n_rows);
	assert_string_equal(table->rows[i].keys[0], symbol);
	assert_string_equal(table->rows[i].keys[1], image);
	assert_int_equal(table->rows[i].state, state);
	return &table->rows[i];
}

static void near(double value, double expected)
{
	assert_true(value > expected - 1e-6 && value < expected + 1e-6);
}

/* Shares in percent: 50, 30, 20 before; 20 new, 50, 10, 20 after. */
static void test_shares(void **state)
{
	struct diff_table table;
	const struct diff_row *at;

	(void)state;
	two(&table, DIFF_SAMPLE);
	assert_int_equal(diff_table_finish(&table, 0, 0), 0);
	assert_int_equal(table.n_rows, 5);
	/* Differences of equal size: the larger first share comes first, then the name. */
	near(row(&table, 0, "shrinks", "a", DIFF_BOTH)->difference, -20);
	near(row(&table, 1, "gone", "b", DIFF_GONE)->difference, -20);
	near(row(&table, 2, "new", "b", DIFF_NEW)->difference, 20);
	near(row(&table, 3, "stays", "other", DIFF_NEW)->difference, 20);
	at = row(&table, 4, "stays", "a", DIFF_BOTH);
	near(at->difference, 0);
	near(at->ratio, 1);
	near(table.rows[0].ratio, 1.0 / 3);
	diff_table_fini(&table);
}

/* Weights per second: 500, 300, 200 in one second; 100, 250, 50, 100 in four. */
static void test_seconds(void **state)
{
	struct diff_table table;

	(void)state;
	two(&table, DIFF_SECOND);
	assert_int_equal(diff_table_finish(&table, 0, 0), 0);
	near(row(&table, 0, "stays", "a", DIFF_BOTH)->difference, -250);
	near(table.rows[0].ratio, 0.5);
	near(row(&table, 1, "shrinks", "a", DIFF_BOTH)->difference, -250);
	near(row(&table, 2, "gone", "b", DIFF_GONE)->difference, -200);
	near(row(&table, 3, "new", "b", DIFF_NEW)->difference, 100);
	diff_table_fini(&table);
}

/* Functions of one name.  place: {start, build}. */
static void compare_works(struct diff_table *table, const struct names_place *old, size_t n_old,
	const struct names_place *new, size_t n_new)
{
	static const struct given works[] = {{"hash", "a", 100}, {"hash", "a", 300}};

	assert_int_equal(diff_table_init(table, 2, DIFF_SAMPLE), 0);
	add_at(table, "before", "cpu-clock", 1, works, old, n_old);
	add_at(table, "after", "cpu-clock", 1, works, new, n_new);
	assert_int_equal(diff_table_finish(table, 0, 0), 0);
}

static void test_namesakes(void **state)
{
	const struct names_place first = {0x10, 1}, two[] = {{0x20, 1}, {0x30, 1}};
	struct diff_table table;

	(void)state;
	/* one build: each is itself */
	compare_works(&table, &first, 1, two, 1);
	assert_int_equal(table.n_rows, 2);
	near(row(&table, 0, "hash", "a", DIFF_GONE)->difference, -100);
	near(row(&table, 1, "hash", "a", DIFF_NEW)->difference, 100);
	diff_table_fini(&table);
	compare_works(&table, two, 2, two, 1);
	assert_int_equal(table.n_rows, 2);
	near(row(&table, 0, "hash", "a", DIFF_GONE)->difference, -75);
	near(row(&table, 1, "hash", "a", DIFF_BOTH)->difference, 75);
	diff_table_fini(&table);
}

/* Equal places of two builds mean nothing.  Kernels, and files without build-ids, have build 0. */
static void test_namesakes_of_builds(void **state)
{
	const struct names_place here[] = {{0x10, 1}, {0x20, 1}}, there[] = {{0x20, 2}, {0x30, 2}};
	const struct names_place low[] = {{0x10, 0}, {0x20, 0}}, high[] = {{0x20, 0}, {0x30, 0}};
	struct diff_table table;

	(void)state;
	compare_works(&table, here, 2, there, 2);
	assert_int_equal(table.n_rows, 2);
	near(row(&table, 0, "hash", "a", DIFF_BOTH)->cells[1].percent, 75);
	near(row(&table, 1, "hash", "a", DIFF_BOTH)->cells[0].percent, 25);
	near(table.rows[0].difference, 0);
	diff_table_fini(&table);
	compare_works(&table, low, 2, high, 2);
	assert_int_equal(table.n_rows, 2);
	near(row(&table, 0, "hash", "a", DIFF_BOTH)->difference, 0);
	near(row(&table, 1, "hash", "a", DIFF_BOTH)->difference, 0);
	diff_table_fini(&table);
	/* one function that has moved */
	compare_works(&table, low, 1, high, 1);
	assert_int_equal(table.n_rows, 1);
	near(row(&table, 0, "hash", "a", DIFF_BOTH)->difference, 0);
	diff_table_fini(&table);
	/* nothing is known of the third one: their sum */
	compare_works(&table, here, 2, there, 1);
	assert_int_equal(table.n_rows, 1);
	near(row(&table, 0, "hash", "a", DIFF_BOTH)->difference, 0);
	diff_table_fini(&table);
}

/* Recordings without samples. */
static void test_no_rows(void **state)
{
	struct diff_table table;

	(void)state;
	compare_works(&table, NULL, 0, NULL, 0);
	assert_int_equal(table.n_rows, 0);
	diff_table_fini(&table);
}

/* Compilers make other clones of a function in each build. Clones that both reports have are rows
 * of their own. */
static void test_clones(void **state)
{
	static const struct given old[] = {{"one.constprop.0", "a", 100},
		{"two(int) [clone .isra.0]", "a", 100}, {"two(int)", "a", 50},
		{"rust::f::h0123456789abcdef", "a", 100}, {"thin.llvm.123", "a", 100},
		{"same", "a", 100}, {"same.cold", "a", 50}, {"same.constprop.0", "b", 10},
		{"far.part.0", "a", 100}, {"f.__uniq.12.llvm.34", "a", 100}};
	static const struct given new[] = {{"one.isra.0.constprop.1", "a", 100},
		{"two(int)", "a", 150}, {"rust::f::hfedcba9876543210", "a", 100},
		{"thin.llvm.456", "a", 100}, {"same", "a", 100}, {"same.cold", "a", 50},
		{"same.constprop.1", "b", 10}, {"far", "b", 100}, {"f.__uniq.56", "a", 100}};
	static const char *const shown[] = {"f.__uniq.12.llvm.34", "one.constprop.0",
		"rust::f::h0123456789abcdef", "same", "same.cold", "same.constprop.0",
		"thin.llvm.123", "two(int)"};
	struct diff_table table;
	uint32_t both = 0;

	(void)state;
	assert_int_equal(diff_table_init(&table, 2, DIFF_SAMPLE), 0);
	add(&table, "old", "cpu-clock", 1, old, sizeof(old) / sizeof(*old));
	add(&table, "new", "cpu-clock", 1, new, sizeof(new) / sizeof(*new));
	assert_int_equal(diff_table_finish(&table, 0, 0), 0);
	assert_int_equal(table.n_rows, 10);
	for (uint32_t i = 0; i < table.n_rows; i++) {
		if (table.rows[i].state != DIFF_BOTH) {
			assert_memory_equal(table.rows[i].keys[0], "far", 3);
			continue;
		}
		assert_int_equal(table.rows[i].cells[0].weight, table.rows[i].cells[1].weight);
		for (size_t k = 0; k < sizeof(shown) / sizeof(*shown); k++)
			both += !strcmp(table.rows[i].keys[0], shown[k]);
	}
	assert_int_equal(both, 8);
	diff_table_fini(&table);
}

/* The process numbers in the names of generated code differ between runs.  Processes of one run are
 * summed. */
static void test_generated_code(void **state)
{
	static const struct given old[] = {{"f", "perf-1.map", 200}, {"f", "perf-2.map", 100},
		{"g", "jitted-1-7.so", 300}, {"h", "perf-1.map.so", 100},
		{"perf-1.map", "node", 300}};
	static const struct given new[] = {{"f", "jit-3.dump", 300}, {"g", "perf-4.map", 300},
		{"h", "perf-3.map.so", 100}, {"perf-3.map", "node", 300}};
	struct diff_table table;

	(void)state;
	assert_int_equal(diff_table_init(&table, 2, DIFF_SAMPLE), 0);
	add(&table, "old", "cpu-clock", 1, old, sizeof(old) / sizeof(*old));
	add(&table, "new", "cpu-clock", 1, new, sizeof(new) / sizeof(*new));
	assert_int_equal(diff_table_finish(&table, 0, 0), 0);
	assert_int_equal(table.n_rows, 6);
	row(&table, 0, "perf-1.map", "node", DIFF_GONE);
	row(&table, 1, "perf-3.map", "node", DIFF_NEW);
	row(&table, 2, "h", "perf-1.map.so", DIFF_GONE);
	row(&table, 3, "h", "perf-3.map.so", DIFF_NEW);
	assert_int_equal(row(&table, 4, "f", "perf-*.map", DIFF_BOTH)->cells[0].weight, 300);
	near(table.rows[4].difference, 0);
	near(row(&table, 5, "g", "perf-*.map", DIFF_BOTH)->difference, 0);
	diff_table_fini(&table);
}

static void test_limits(void **state)
{
	struct diff_table table;

	(void)state;
	two(&table, DIFF_SAMPLE);
	/* A row needs the percentage in one report only. */
	assert_int_equal(diff_table_finish(&table, 25, 0), 0);
	assert_int_equal(table.n_rows, 2);
	row(&table, 0, "shrinks", "a", DIFF_BOTH);
	row(&table, 1, "stays", "a", DIFF_BOTH);
	diff_table_fini(&table);
	two(&table, DIFF_SAMPLE);
	assert_int_equal(diff_table_finish(&table, 15, 0), 0);
	assert_int_equal(table.n_rows, 5);
	diff_table_fini(&table);
	two(&table, DIFF_SAMPLE);
	assert_int_equal(diff_table_finish(&table, 0, 1), 0);
	assert_int_equal(table.n_rows, 1);
	row(&table, 0, "shrinks", "a", DIFF_BOTH);
	diff_table_fini(&table);
}

/* The last report is compared with the first. A row only of the middle is neither new nor gone. */
static void test_three(void **state)
{
	static const struct given middle[] = {{"between", "m", 100}, {"stays", "a", 100}};
	struct diff_table table;

	(void)state;
	assert_int_equal(diff_table_init(&table, 3, DIFF_SAMPLE), 0);
	add(&table, "before", "cpu-clock", 1, before, 3);
	add(&table, "middle", "cpu-clock", 1, middle, 2);
	add(&table, "after", "cpu-clock", 1, after, 4);
	assert_int_equal(diff_table_finish(&table, 0, 0), 0);
	assert_int_equal(table.n_rows, 6);
	row(&table, 4, "stays", "a", DIFF_BOTH);
	row(&table, 5, "between", "m", DIFF_BETWEEN);
	near(table.rows[4].cells[1].percent, 50);
	diff_table_fini(&table);
}

static char *written(const struct diff_table *table, enum report_format format)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	if (format == REPORT_CSV)
		diff_put_csv(out, table, (struct csv_style){.raw = false});
	else if (format == REPORT_JSON)
		diff_put_json(out, table);
	else
		diff_put_text(out, table, 80, false);
	fclose(out);
	return text;
}

static void test_events(void **state)
{
	struct diff_table table;
	char *text;

	(void)state;
	assert_int_equal(diff_table_init(&table, 3, DIFF_SAMPLE), 0);
	add(&table, "one", "page-faults", 1, before, 3);
	add(&table, "two", "cpu-clock", 1, before, 3);
	add(&table, "three", "cpu-clock", 1, after, 4);
	assert_int_equal(diff_table_finish(&table, 0, 0), 0);
	assert_int_equal(table.n_compared, 1);
	assert_string_equal(table.events[0].name, "cpu-clock");
	for (uint32_t i = 0; i < table.n_rows; i++)
		assert_int_equal(table.rows[i].event, 0);
	text = written(&table, REPORT_TEXT);
	assert_non_null(strstr(text, "page-faults is in one alone: not compared\n"));
	assert_non_null(strstr(text, "A  one: no such event\n"));
	free(text);
	diff_table_fini(&table);
}

static void test_text(void **state)
{
	struct diff_table table;
	char *text;

	(void)state;
	two(&table, DIFF_SAMPLE);
	assert_int_equal(diff_table_finish(&table, 0, 3), 0);
	text = written(&table, REPORT_TEXT);
	assert_string_equal(text,
		"cpu-clock, share of the samples\n"
		"  A  before: 100 samples in 1.00 s\n"
		"  B  after: 200 samples in 4.00 s\n"
		"\n"
		"        A        B     CHANGE     RATIO  SYMBOL   IMAGE\n"
		"   30.00%   10.00%     -20.00     0.33x  shrinks  a\n"
		"   20.00%        -     -20.00      gone  gone     b\n"
		"        -   20.00%     +20.00       new  new      b\n");
	free(text);
	diff_table_fini(&table);
}

static void test_csv(void **state)
{
	static const struct given odd[] = {{"f(int, \"x\")", "a,b", 100}};
	struct diff_table table;
	char *text;

	(void)state;
	assert_int_equal(diff_table_init(&table, 2, DIFF_SAMPLE), 0);
	add(&table, "one", "cpu-clock", 1, odd, 1);
	add(&table, "two", "cpu-clock", 2, odd, 1);
	assert_int_equal(diff_table_finish(&table, 0, 0), 0);
	text = written(&table, REPORT_CSV);
	assert_string_equal(text,
		"event,symbol,image,state,difference,ratio,percent_1,per_second_1,weight_1,"
		"samples_1,percent_2,per_second_2,weight_2,samples_2\n"
		"cpu-clock,\"f(int, \"\"x\"\")\",\"a,b\",both,0.0000,1.0000,100.0000,100.0000,100,"
		"10,100.0000,50.0000,100,10\n");
	free(text);
	diff_table_fini(&table);
}

/* Nothing is told per second of samples without times, and no length. */
static void test_without_times(void **state)
{
	static const struct given rows[] = {{"f", "a", 100}};
	struct diff_table table;
	char *text;

	(void)state;
	assert_int_equal(diff_table_init(&table, 2, DIFF_SAMPLE), 0);
	add(&table, "one", "cpu-clock", 1, rows, 1);
	add(&table, "two", "cpu-clock", -1, rows, 1);
	assert_int_equal(diff_table_finish(&table, 0, 0), 0);
	text = written(&table, REPORT_TEXT);
	assert_non_null(strstr(text,
		"  A  one: 10 samples in 1.00 s\n"
		"  B  two: 10 samples without times\n"));
	free(text);
	text = written(&table, REPORT_CSV);
	assert_non_null(strstr(text, ",100.0000,100.0000,100,10,100.0000,,100,10\n"));
	free(text);
	text = written(&table, REPORT_JSON);
	assert_non_null(strstr(text, "\"duration_s\":1.000}"));
	assert_non_null(strstr(text, "\"duration_s\":null}"));
	assert_non_null(strstr(text, "\"per_second\":100.0000,"));
	assert_non_null(strstr(text, "\"per_second\":null,"));
	free(text);
	diff_table_fini(&table);
}

static void test_json(void **state)
{
	struct diff_table table;
	struct json_object *file, *events, *rows, *value;
	char *text;

	(void)state;
	two(&table, DIFF_SAMPLE);
	assert_int_equal(diff_table_finish(&table, 0, 0), 0);
	text = written(&table, REPORT_JSON);
	file = json_tokener_parse(text);
	assert_non_null(file);
	assert_true(json_object_object_get_ex(file, "events", &events));
	assert_int_equal(json_object_array_length(events), 1);
	assert_true(json_object_object_get_ex(json_object_array_get_idx(events, 0), "rows", &rows));
	assert_int_equal(json_object_array_length(rows), 5);
	assert_true(
		json_object_object_get_ex(json_object_array_get_idx(rows, 1), "symbol", &value));
	assert_string_equal(json_object_get_string(value), "gone");
	/* A row that is gone has no ratio. */
	assert_true(json_object_object_get_ex(json_object_array_get_idx(rows, 1), "ratio", &value));
	assert_null(value);
	json_object_put(file);
	free(text);
	diff_table_fini(&table);
}

static void test_empty(void **state)
{
	struct diff_table table;
	char *text;

	(void)state;
	assert_int_equal(diff_table_init(&table, 2, DIFF_SAMPLE), 0);
	add(&table, "one", "cpu-clock", 0, NULL, 0);
	add(&table, "two", "cpu-clock", 0, NULL, 0);
	assert_int_equal(diff_table_finish(&table, 0, 0), 0);
	for (int format = REPORT_TEXT; format <= REPORT_JSON; format++) {
		text = written(&table, (enum report_format)format);
		assert_true(strlen(text) > 0);
		free(text);
	}
	diff_table_fini(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_namesakes),
		cmocka_unit_test(test_namesakes_of_builds),
		cmocka_unit_test(test_no_rows),
		cmocka_unit_test(test_clones),
		cmocka_unit_test(test_generated_code),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_three),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_without_times),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
