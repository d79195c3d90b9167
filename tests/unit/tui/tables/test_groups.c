/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_groups.c - the hot table with other keys than symbols.
 *
 * Rows add up to the whole and keep their numbers. The filter of a row passes only its samples.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/lines_fixture.h"
#include "tests/unit/samples_fixture.h"
#include "tui/query/expr.h"
#include "tui/tables/groups.h"

#define TERM 512

static const struct group_by all[] = {
	{GROUP_IMAGE, ""}, {GROUP_ADDRESS, ""}, {GROUP_LINE, ""}, {GROUP_PROCESS, ""},
	{GROUP_THREAD, ""}, {GROUP_COMMAND, ""}, {GROUP_CPU, ""}, {GROUP_CGROUP, ""},
	{GROUP_FIELD, "kind"}, {GROUP_FIELD, "comm"}, /* also the name of another key */
};
#define ALL (sizeof(all) / sizeof(*all))

struct world {
	struct fixture *fixture;
	struct fake_lines lines[LINES];
	struct values *values;
	struct fields *fields;
	struct field_schemas schemas;
	uint32_t tuples[FIXTURE_SLICES][FIXTURE_CELLS];
	struct hot *hot, *part;
	struct scan_question scan;
};

static int setup(void **state)
{
	static const char format[] = "name: made_up\nID: 1\nformat:\n"
				     "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				     "\tfield:int kind;\toffset:24;\tsize:4;\tsigned:1;\n"
				     "print fmt: \"%d\", REC->kind\n";
	static const char *const comms[] = {"sh", "a b", "\"&|", "x"};
	const struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	struct world *world = calloc(1, sizeof(*world));
	struct fixture *fixture;
	uint32_t seed = 3;
	void *made;

	assert_non_null(world);
	assert_int_equal(fixture_setup(&made), 0);
	fixture = world->fixture = made;
	know_lines(fixture, world->lines);
	fixture_randomize(fixture, 17, 200);
	assert_int_equal(values_new(&world->values), 0);
	assert_int_equal(fields_new(&world->fields, &attr, NULL, NULL, format), 0);
	world->schemas.values = world->values;
	world->schemas.of[5] = world->fields;
	for (uint32_t i = 0; i < FIXTURE_SLICES; i++) {
		for (uint32_t j = 0; j < fixture->slices[i].cells; j++) {
			const char *comm = comms[fixture_random(&seed, 4)];
			const struct value tuple[] = {{.text = comm, .text_len = strlen(comm)},
				{.number = (uint64_t)((int64_t)fixture_random(&seed, 5) - 2)}};

			if (fixture->slices[i].event[j] == 5)
				assert_int_equal(values_intern(world->values, tuple, 2,
							 &world->tuples[i][j]),
					0);
		}
		fixture->slices[i].values = world->tuples[i];
	}
	assert_int_equal(hot_new(&world->hot, NULL, fixture->stacks, fixture->names), 0);
	assert_int_equal(hot_new(&world->part, NULL, fixture->stacks, fixture->names), 0);
	world->scan = fixture_scan(fixture);
	world->scan.schemas = &world->schemas;
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;
	void *fixture = world->fixture;

	hot_free(world->hot);
	hot_free(world->part);
	fields_free(world->fields);
	values_free(world->values);
	fixture_teardown(&fixture);
	free(world);
	return 0;
}

static void fill(struct world *world, struct groups *groups, struct hot *hot)
{
	const struct groups_question question = {.scan = world->scan};

	assert_int_equal(groups_fill(groups, &question, hot), 0);
}

static uint64_t weight_of(const struct world *world, uint8_t event, uint64_t *samples)
{
	uint64_t weight = 0;

	*samples = 0;
	for (uint32_t i = 0; i < FIXTURE_SLICES; i++)
		for (uint32_t j = 0; j < world->fixture->slices[i].cells; j++)
			if (world->fixture->slices[i].event[j] == event) {
				weight += world->fixture->slices[i].weight[j];
				*samples += world->fixture->slices[i].count[j];
			}
	return weight;
}

/* In each event, all rows add up to the event's weight. */
static void test_rows_add_up(void **state)
{
	struct world *world = *state;

	for (size_t i = 0; i < ALL; i++) {
		struct groups *groups;

		assert_int_equal(groups_new(&groups, &all[i]), 0);
		fill(world, groups, world->hot);
		for (int event = 0; event <= 10; event += 5) {
			const struct hot_query query = {.event = (uint8_t)event};
			uint64_t self = 0, count = 0, samples;
			const uint64_t weight = weight_of(world, (uint8_t)event, &samples);
			const struct hot_row *rows;
			struct hot_sums sums;
			size_t n;

			assert_int_equal(hot_rows(world->hot, &query, &rows, &n, &sums), 0);
			assert_true(n > 0);
			for (size_t j = 0; j < n; j++) {
				self += rows[j].self;
				count += rows[j].samples;
				assert_true(rows[j].total >= rows[j].self);
				assert_non_null(groups_key(groups, rows[j].symref));
			}
			assert_int_equal(self, weight);
			assert_int_equal(count, samples);
			assert_int_equal(sums.weight, weight);
			assert_int_equal(sums.samples, samples);
		}
		groups_free(groups);
	}
}

/* Rows of a part of the time keep their numbers. The parts of each row add up to the whole. */
static void test_parts_add_up(void **state)
{
	static const uint64_t bounds[] = {0, 130, 131, 400, UINT64_MAX};
	struct world *world = *state;

	for (size_t i = 0; i < ALL; i++) {
		uint64_t self[4000] = {0}, total[4000] = {0}, whole_self, whole_total;
		struct groups *groups;
		struct hot_sums sums;
		const struct hot_row *rows;
		const struct hot_query query = {.event = 5};
		size_t n;

		assert_int_equal(groups_new(&groups, &all[i]), 0);
		for (size_t k = 0; k + 1 < sizeof(bounds) / sizeof(*bounds); k++) {
			world->scan.from_ns = bounds[k];
			world->scan.to_ns = bounds[k + 1];
			fill(world, groups, world->part);
			assert_int_equal(hot_rows(world->part, &query, &rows, &n, &sums), 0);
			for (size_t j = 0; j < n; j++) {
				assert_true(rows[j].symref < 4000);
				self[rows[j].symref] += rows[j].self;
				total[rows[j].symref] += rows[j].total;
			}
		}
		world->scan.from_ns = 0;
		fill(world, groups, world->hot);
		for (uint32_t id = 0; groups_key(groups, id); id++) {
			hot_cell(world->hot, id, 5, &whole_self, &whole_total);
			assert_int_equal(self[id], whole_self);
			assert_int_equal(total[id], whole_total);
		}
		groups_free(groups);
	}
}

/* The filter of a row passes its self weight. The negated filter passes all other weight. */
static void test_terms(void **state)
{
	struct world *world = *state;

	for (size_t i = 0; i < ALL; i++) {
		struct groups *groups;
		char text[TERM];

		assert_int_equal(groups_new(&groups, &all[i]), 0);
		fill(world, groups, world->hot);
		assert_int_equal(groups_term(groups, 0, false, text, sizeof(text)),
			all[i].group != GROUP_CGROUP);
		for (uint32_t id = 0; groups_key(groups, id) && all[i].group != GROUP_CGROUP;
			id++) {
			for (int negated = 0; negated < 2; negated++) {
				struct hot_sums sums, whole;
				struct expr_error error;
				uint64_t self, total;
				struct expr expr;

				assert_true(groups_term(groups, id, negated, text, sizeof(text)));
				if (expr_parse(&expr, text, &error))
					fail_msg("%s: %s", text, error.what);
				assert_int_equal(
					expr_filter(&expr, world->fixture->stacks,
						world->fixture->tasks, world->fixture->names,
						&world->scan.filter),
					0);
				filter_set_schemas(world->scan.filter, &world->schemas);
				fill(world, groups, world->part);
				hot_cell(world->hot, id, 5, &self, &total);
				hot_sums(world->hot, 5, &whole);
				hot_sums(world->part, 5, &sums);
				if (sums.weight != (negated ? whole.weight - self : self))
					fail_msg("%s: %llu, not %llu", text,
						(unsigned long long)sums.weight,
						(unsigned long long)self);
				filter_free(world->scan.filter);
				world->scan.filter = NULL;
				expr_fini(&expr);
			}
		}
		groups_free(groups);
	}
}

/* Each set of threads has its own population number, which depends on nothing else. */
static void test_population(void **state)
{
	static const int tids[] = {0, 100, 101, 102, 201, 300};
	enum { SETS = 1 << sizeof(tids) / sizeof(*tids) };
	const struct group_by by = {.group = GROUP_THREAD};
	uint64_t seen[SETS] = {0};
	struct world *world = *state;
	struct groups *groups;

	assert_int_equal(groups_new(&groups, &by), 0);
	fill(world, groups, world->hot);
	for (int turn = 0; turn < 2; turn++)
		/* The set of threads that are left out. */
		for (unsigned int set = 1; set < SETS; set++) {
			char text[TERM] = "";
			struct expr_error error;
			struct expr expr;

			for (size_t i = 0; i < sizeof(tids) / sizeof(*tids); i++)
				if (set >> i & 1)
					snprintf(text + strlen(text), sizeof(text) - strlen(text),
						"%s!tid:%d", text[0] ? " & " : "", tids[i]);
			assert_int_equal(expr_parse(&expr, text, &error), 0);
			assert_int_equal(
				expr_filter(&expr, world->fixture->stacks, world->fixture->tasks,
					world->fixture->names, &world->scan.filter),
				0);
			fill(world, groups, world->part);
			for (unsigned int other = 1; !turn && other < set; other++)
				assert_true(groups_population(groups) != seen[other]);
			if (turn)
				assert_true(groups_population(groups) == seen[set]);
			seen[set] = groups_population(groups);
			filter_free(world->scan.filter);
			world->scan.filter = NULL;
			expr_fini(&expr);
		}
	groups_free(groups);
}

/* Rows are named by their samples and keep their numbers when processes change their names. */
static void test_keys(void **state)
{
	struct world *world = *state;
	const struct group_key *key;
	struct groups *groups;
	const struct hot_row *rows;
	struct hot_sums sums;
	size_t n, met = 0;

	assert_int_equal(groups_new(&groups, &all[4]), 0); /* threads */
	fill(world, groups, world->hot);
	assert_int_equal(
		hot_rows(world->hot, &(struct hot_query){.event = 5, .sort = HOT_SORT_SYMBOL},
			&rows, &n, &sums),
		0);
	for (size_t i = 0; i < n; i++) {
		key = groups_key(groups, rows[i].symref);
		assert_true(i == 0 ||
			strcmp(groups_key(groups, rows[i - 1].symref)->name.symbol,
				key->name.symbol) <= 0);
		if (key->number == 101) {
			assert_string_equal(key->name.symbol, "worker (101)");
			assert_non_null(strstr(key->name.image, "(100)"));
			met++;
		}
	}
	assert_int_equal(met, 1);
	assert_null(groups_key(groups, 100000));
	assert_int_equal(hot_rows(world->hot, &(struct hot_query){.event = 5, .filter = "WORKER"},
				 &rows, &n, &sums),
		0);
	assert_int_equal(n, 2);
	groups_free(groups);

	assert_int_equal(groups_new(&groups, &all[1]), 0); /* addresses */
	fill(world, groups, world->hot);
	for (uint32_t id = 0; (key = groups_key(groups, id)); id++) {
		assert_non_null(strstr(key->name.symbol, "+0x"));
		assert_true(key->symref != GROUPS_NO_SYMBOL);
		assert_string_equal(
			key->name.image, names_get(world->fixture->names, key->symref)->symbol);
	}
	groups_free(groups);
}

/* Compares the images of generated code of one run with those of another run, of which the paths
 * are there[].  Returns the number of rows. */
static size_t compare_runs(struct groups **groups, struct world *world, const uint32_t images[2],
	const char *const here[2], const char *const there[2], const struct hot_row **rows)
{
	struct fixture *fixture = world->fixture;
	int events[STORE_EVENTS_MAX];
	struct groups_question question = {.scan = world->scan};
	struct names *names[2];
	struct hot_sums sums;
	size_t n;

	for (int i = 0; i < (int)STORE_EVENTS_MAX; i++)
		events[i] = i;
	assert_int_equal(groups_new(groups, &all[0]), 0);
	for (int run = 0; run < 2; run++) {
		for (int i = 0; i < 2; i++)
			fixture->symbols.images[images[i]].jit_file = run ? there[i] : here[i];
		assert_int_equal(
			names_new(&names[run], fixture->stacks, fixture->images, &fixture->symbols),
			0);
		question.scan.names = names[run];
		question.baseline = run;
		question.events = run ? events : NULL;
		assert_int_equal(
			groups_fill(*groups, &question, run ? world->part : world->hot), 0);
	}
	assert_int_equal(hot_rows(world->hot,
				 &(struct hot_query){
					 .event = 1, .base = world->part, .sort = HOT_SORT_SYMBOL},
				 rows, &n, &sums),
		0);
	names_free(names[0]);
	names_free(names[1]);
	return n;
}

static void is_row(const struct groups *groups, const struct hot_row *row, const char *image,
	bool is_foreign, bool is_unknown)
{
	const struct group_key *key = groups_key(groups, row->symref);

	assert_string_equal(key->name.symbol, image);
	assert_int_equal(key->foreign, is_foreign);
	assert_int_equal(key->base_unknown, is_unknown);
}

/* Images of generated code match if one process alone made any, or by the number of the process.
 * Otherwise nothing is known. */
static void test_generated_code(void **state)
{
	struct world *world = *state;
	struct fixture *fixture = world->fixture;
	const struct hot_row *rows;
	struct groups *groups;
	uint32_t images[2];

	fixture->snapshot.n = 1;
	fixture->slices[0].cells = 0;
	for (uint32_t i = 0; i < 2; i++) {
		const struct image key = {
			.kind = IMAGE_ANON, .path = (char[]){"[anon]"}, .inode = 90 + i};

		assert_int_equal(images_intern(fixture->images, &key, &images[i]), 0);
		fixture->symbols.images[images[i]] = fixture->symbols.images[fixture->program];
		fixture_cell(fixture, 0, fixture_call(fixture, STACK_ROOT, images[i], 0),
			fixture->labels[1], 0, 1, 100, 1);
	}
	assert_int_equal(compare_runs(&groups, world, images,
				 (const char *const[]){"/tmp/perf-1.map", "/tmp/perf-1.map"},
				 (const char *const[]){"/x/jit-2.dump", "/x/jit-2.dump"}, &rows),
		1);
	is_row(groups, &rows[0], "perf-1.map", false, false);
	groups_free(groups);
	assert_int_equal(
		compare_runs(&groups, world, images,
			(const char *const[]){"/tmp/perf-1.map", "/tmp/perf-2.map"},
			(const char *const[]){"/tmp/perf-2.map", "/tmp/perf-3.map"}, &rows),
		2);
	is_row(groups, &rows[0], "perf-1.map", false, false);
	is_row(groups, &rows[1], "perf-2.map", false, false);
	groups_free(groups);
	assert_int_equal(
		compare_runs(&groups, world, images,
			(const char *const[]){"/tmp/perf-1.map", "/tmp/perf-2.map"},
			(const char *const[]){"/tmp/perf-3.map", "/tmp/perf-4.map"}, &rows),
		4);
	is_row(groups, &rows[0], "perf-1.map", false, true);
	is_row(groups, &rows[1], "perf-2.map", false, true);
	is_row(groups, &rows[2], "perf-3.map", true, true);
	is_row(groups, &rows[3], "perf-4.map", true, true);
	groups_free(groups);
}

/* A field gets new values all the time: old ones are dropped, and their numbers have no row. */
static void test_tidies_up(void **state)
{
	struct world *world = *state;
	struct fixture *fixture = world->fixture;
	struct groups *groups;
	bool tidied = false;
	uint64_t self, total;
	uint32_t id = 0;

	fixture->snapshot.n = 1;
	assert_int_equal(groups_new(&groups, &all[8]), 0); /* kind */
	for (int round = 0; round < 1000 && !tidied; round++) {
		for (uint32_t j = 0; j < fixture->slices[0].cells; j++) {
			const struct value tuple[] = {{.text = "", .text_len = 0},
				{.number = (uint64_t)(round * 1000) + j}};

			assert_int_equal(
				values_intern(world->values, tuple, 2, &world->tuples[0][j]), 0);
		}
		fill(world, groups, world->hot);
		if (!round)
			assert_non_null(groups_key(groups, 1));
		tidied = groups_tidy(groups);
	}
	assert_true(tidied);
	assert_null(groups_key(groups, 1));
	fill(world, groups, world->hot);
	assert_null(groups_key(groups, 1));
	hot_cell(world->hot, 1, 5, &self, &total);
	assert_int_equal(total, 0);
	while (!groups_key(groups, id))
		id++;
	assert_true(id >= 65536);
	assert_non_null(groups_key(groups, id)->name.symbol);
	groups_free(groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rows_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_parts_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_terms, setup, teardown),
		cmocka_unit_test_setup_teardown(test_population, setup, teardown),
		cmocka_unit_test_setup_teardown(test_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(test_generated_code, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tidies_up, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
