/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_query.c - breakdowns and activity over hand-made slices.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fake_symbols.h"
#include "tests/unit/labelled_task.h"
#include "tests/unit/slice_cells.h"
#include "tui/names/forest.h"
#include "tui/query/query.h"

/* Two threads of process 100 ("serv\033er"), one of process 200, and the idle task. */
struct world {
	struct images *images;
	struct stacks *stacks;
	struct tasks *tasks;
	struct names *names;
	uint32_t image;
	uint32_t main_node, work_node, deep_node; /* main; main > work; main > work > main */
	uint32_t one, two, other, idle;
	struct slice slices[2];
	const struct slice *list[2];
	struct snapshot snapshot;
	struct slice_total totals[2][2];
	uint32_t stack[2][4], task[2][4], count[2][4];
	uint16_t cpu[2][4];
	uint8_t event[2][4];
	uint64_t weight[2][4];
};

static uint32_t node(struct world *world, uint32_t parent, uint64_t offset)
{
	uint32_t frame, made;

	assert_int_equal(stacks_frame(world->stacks, world->image, offset, FRAME_USER, &frame), 0);
	assert_int_equal(stacks_child(world->stacks, parent, frame, &made), 0);
	stacks_ref(world->stacks, made);
	return made;
}

static void cell(struct world *world, int slice, uint32_t stack, uint32_t task, uint16_t cpu,
	uint8_t event, uint64_t weight, uint32_t count)
{
	slice_cells_add(&world->slices[slice], stack, task, cpu, event, weight, count);
}

static int setup(void **state)
{
	struct image program = {.kind = IMAGE_FILE, .path = (char *)"/bin/program", .inode = 7};
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	assert_int_equal(images_new(&world->images), 0);
	assert_int_equal(stacks_new(&world->stacks), 0);
	assert_int_equal(tasks_new(&world->tasks, world->images, NULL), 0);
	assert_int_equal(images_intern(world->images, &program, &world->image), 0);
	assert_int_equal(names_new(&world->names, world->stacks, world->images, NULL), 0);
	world->main_node = node(world, STACK_ROOT, 0x10);
	world->work_node = node(world, world->main_node, 0x20);
	world->deep_node = node(world, world->work_node, 0x10);
	world->one = labelled_task(world->tasks, 100, 100, "serv\033er", 1);
	world->two = labelled_task(world->tasks, 100, 101, "helper", 1);
	world->other = labelled_task(world->tasks, 200, 200, "other", 1);
	world->idle = labelled_task(world->tasks, 0, 0, "swapper", 1);

	for (int i = 0; i < 2; i++) {
		world->slices[i] = (struct slice){
			.serial = (uint64_t)i + 1,
			.start_ns = 1000 + (uint64_t)i * 100,
			/* the second slice is three times as long */
			.end_ns = 1100 + (uint64_t)i * 300,
			.stack = world->stack[i],
			.task = world->task[i],
			.cpu = world->cpu[i],
			.event = world->event[i],
			.weight = world->weight[i],
			.count = world->count[i],
			.totals = world->totals[i],
		};
		world->list[i] = &world->slices[i];
	}
	cell(world, 0, world->main_node, world->one, 0, 0, 10, 1);
	cell(world, 0, world->work_node, world->two, 1, 0, 20, 2);
	cell(world, 0, world->work_node, world->idle, 1, 0, 70, 7);
	cell(world, 0, world->main_node, world->one, 0, 1, 1000, 1);
	cell(world, 1, world->deep_node, world->one, 1, 0, 5, 5);
	cell(world, 1, world->work_node, world->other, 2, 0, 295, 1);
	world->snapshot = (struct snapshot){world->list, 2};
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	names_free(world->names);
	tasks_free(world->tasks);
	stacks_free(world->stacks);
	images_free(world->images);
	free(world);
	return 0;
}

static struct query query(struct world *world, enum query_group group)
{
	return (struct query){
		.snapshot = &world->snapshot,
		.stacks = world->stacks,
		.tasks = world->tasks,
		.names = world->names,
		.group = group,
	};
}

static void expect(const struct query_row *row, int32_t pid, int32_t tid, const char *name,
	uint64_t self, uint64_t total, uint64_t samples)
{
	assert_int_equal(row->pid, pid);
	assert_int_equal(row->tid, tid);
	assert_string_equal(row->name, name);
	assert_int_equal(row->self, self);
	assert_int_equal(row->total, total);
	assert_int_equal(row->samples, samples);
}

static void test_by_process(void **state)
{
	struct world *world = *state;
	struct query question = query(world, GROUP_PROCESS);
	struct query_row *rows;
	size_t n;

	assert_int_equal(query_run(&question, &rows, &n), 0);
	assert_int_equal(n, 3);
	expect(&rows[0], 200, 0, "other", 295, 295, 1);
	expect(&rows[1], 0, 0, "swapper", 70, 70, 7);
	expect(&rows[2], 100, 0, "serv?er", 35, 35, 8);
	free(rows);
}

/* Breakdown by a field: all samples, then the samples of one symbol.  One slice has no fields. */
static void test_by_field(void **state)
{
	static const char format[] = "name: made_up\nID: 1\nformat:\n"
				     "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				     "\nprint fmt: \"%s\", REC->comm\n";
	const struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	const struct value texts[] = {
		{.text = "l\033ft", .text_len = 4}, {.text = "right", .text_len = 5}};
	struct world *world = *state;
	struct query question = query(world, GROUP_FIELD);
	struct field_schemas schemas = {0};
	struct fields *fields;
	struct values *values;
	struct query_row *rows;
	uint32_t left, right;
	size_t n;

	assert_int_equal(fields_new(&fields, &attr, NULL, NULL, format), 0);
	assert_int_equal(values_new(&values), 0);
	assert_int_equal(values_intern(values, &texts[0], 1, &left), 0);
	assert_int_equal(values_intern(values, &texts[1], 1, &right), 0);
	const uint32_t tuples[] = {left, VALUES_NONE, left, right}; /* in the order of the stacks */

	schemas.values = values;
	schemas.of[0] = fields;
	world->slices[0].values = tuples;
	question.field = "comm";
	question.schemas = &schemas;
	assert_int_equal(query_run(&question, &rows, &n), 0);
	assert_int_equal(n, 3);
	expect(&rows[0], 0, 0, "-", 300, 300, 6);
	expect(&rows[1], 0, 0, "right", 70, 70, 7);
	expect(&rows[2], 0, 0, "l?ft", 30, 30, 3);
	free(rows);
	question.by_symbol = true;
	question.symref =
		names_symref(world->names, stacks_node(world->stacks, world->work_node)->frame);
	assert_int_equal(query_run(&question, &rows, &n), 0);
	assert_int_equal(n, 3);
	expect(&rows[0], 0, 0, "-", 295, 300, 1);
	expect(&rows[1], 0, 0, "right", 70, 70, 7);
	expect(&rows[2], 0, 0, "l?ft", 20, 20, 2);
	free(rows);
	fields_free(fields);
	values_free(values);
}

static void test_idle_is_left_out(void **state)
{
	struct world *world = *state;
	struct query question = query(world, GROUP_PROCESS);
	struct query_row *rows;
	size_t n;

	question.hide_idle = true;
	assert_int_equal(query_run(&question, &rows, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].pid, 200);
	assert_int_equal(rows[1].pid, 100);
	free(rows);

	/* In a pid namespace, other processes may have pid 0, too.  Only the function decides then,
	 * and none is idle here. */
	question.idle_by_name = true;
	assert_int_equal(query_run(&question, &rows, &n), 0);
	assert_int_equal(n, 3);
	expect(&rows[1], 0, 0, "swapper", 70, 70, 7);
	free(rows);
}

static void test_by_thread(void **state)
{
	struct world *world = *state;
	struct query question = query(world, GROUP_THREAD);
	struct query_row *rows;
	size_t n;

	question.hide_idle = true;
	assert_int_equal(query_run(&question, &rows, &n), 0);
	assert_int_equal(n, 3);
	expect(&rows[0], 200, 200, "other", 295, 295, 1);
	expect(&rows[1], 100, 101, "helper", 20, 20, 2);
	expect(&rows[2], 100, 100, "serv?er", 15, 15, 6);
	free(rows);
}

static void test_by_cpu(void **state)
{
	struct world *world = *state;
	struct query question = query(world, GROUP_CPU);
	struct query_row *rows;
	size_t n;

	assert_int_equal(query_run(&question, &rows, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(rows[0].cpu, 2);
	assert_int_equal(rows[0].total, 295);
	assert_int_equal(rows[1].cpu, 1);
	assert_int_equal(rows[1].total, 95);
	assert_int_equal(rows[2].cpu, 0);
	assert_int_equal(rows[2].total, 10);
	free(rows);
}

/* work is the leaf of three stacks, and the caller of main in one. */
static void expect_of_one_symbol(struct world *world)
{
	struct query question = query(world, GROUP_PROCESS);
	struct query_row *rows;
	size_t n;

	question.by_symbol = true;
	question.symref =
		names_symref(world->names, stacks_node(world->stacks, world->work_node)->frame);
	assert_int_equal(query_run(&question, &rows, &n), 0);
	assert_int_equal(n, 3);
	expect(&rows[0], 200, 0, "other", 295, 295, 1);
	expect(&rows[1], 0, 0, "swapper", 70, 70, 7);
	expect(&rows[2], 100, 0, "serv?er", 20, 25, 2);
	free(rows);

	/* main recurs in the deep stack.  It is the leaf there and counts once. */
	question.symref =
		names_symref(world->names, stacks_node(world->stacks, world->main_node)->frame);
	question.group = GROUP_THREAD;
	assert_int_equal(query_run(&question, &rows, &n), 0);
	assert_int_equal(n, 4);
	expect(&rows[2], 100, 101, "helper", 0, 20, 0);
	expect(&rows[3], 100, 100, "serv?er", 15, 15, 6);
	free(rows);

	question.symref = 12345;
	assert_int_equal(query_run(&question, &rows, &n), 0);
	assert_int_equal(n, 0);
	assert_null(rows);
}

static void test_of_one_symbol(void **state)
{
	expect_of_one_symbol(*state);
}

/* The forest has met many other stacks, so the few stacks of the query are looked up one by one.
 * Checked with 101 and with 400 others. */
static void test_of_one_symbol_among_many(void **state)
{
	struct world *world = *state;
	struct forest *forest = forest_of(world->names, world->stacks);
	uint32_t number;

	assert_non_null(forest);
	for (uint32_t i = 0; i < 400; i++) {
		assert_int_equal(
			forest_number(forest, node(world, STACK_ROOT, 0x100 + 16 * i), &number), 0);
		if (i == 100 || i == 399)
			expect_of_one_symbol(world);
	}
	forest_put(forest);
}

static void test_other_event(void **state)
{
	struct world *world = *state;
	struct query question = query(world, GROUP_CPU);
	struct query_row *rows;
	size_t n;

	question.event = 1;
	assert_int_equal(query_run(&question, &rows, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(rows[0].total, 1000);
	free(rows);
}

/* query_mask() for each verdict: with idle_by_name, the leaf decides, as in tables and exports.
 * Cells that fail the filter never count. */
static void test_what_counts(void **state)
{
	for (unsigned int verdict = 0; verdict < 32; verdict++) {
		bool passes = !(verdict & SIEVE_FAILS), task = verdict & SIEVE_IDLE_TASK,
		     leaf = verdict & SIEVE_IDLE_LEAF;
		struct query query = {.event = 0};

		(void)state;
		assert_int_equal(query_mask(&query, verdict), passes ? UINT64_MAX : 0);
		query.idle_by_name = true;
		assert_int_equal(query_mask(&query, verdict), passes ? UINT64_MAX : 0);
		query.hide_idle = true;
		assert_int_equal(query_mask(&query, verdict), passes && !leaf ? UINT64_MAX : 0);
		query.idle_by_name = false;
		assert_int_equal(query_mask(&query, verdict), passes && !task ? UINT64_MAX : 0);
	}
}

static void check_activity(struct world *world, uint64_t two_cells)
{
	struct query question = query(world, GROUP_CPU);
	uint64_t out[8];

	question.two_cells = two_cells;
	/* weight 100 in 100 ns, then 300 in 300 ns: one per ns throughout */
	assert_int_equal(query_activity(&question, 1000, 1400, out, 4), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(out[i], 1000000000);
	question.hide_idle = true;
	assert_int_equal(query_activity(&question, 1000, 1400, out, 4), 0);
	assert_int_equal(out[0], 300000000);
	for (int i = 1; i < 4; i++)
		assert_int_equal(out[i], 1000000000);
	/* The columns cut slices.  Outside the history all is 0. */
	question.hide_idle = false;
	assert_int_equal(query_activity(&question, 950, 1450, out, 5), 0);
	assert_int_equal(out[0], 500000000);
	assert_int_equal(out[1], 1000000000);
	assert_int_equal(out[4], 500000000);
	/* a range that begins and ends within slices */
	assert_int_equal(query_activity(&question, 1050, 1350, out, 6), 0);
	for (int i = 0; i < 6; i++)
		assert_int_equal(out[i], 1000000000);
	question.event = 1;
	assert_int_equal(query_activity(&question, 1000, 1200, out, 1), 0);
	assert_int_equal(out[0], 5000000000);
	assert_int_equal(query_activity(&question, 1400, 1400, out, 2), 0);
	assert_int_equal(out[0], 0);
	assert_int_equal(query_activity(&question, 0, 10, out, 0), 0);
}

static void test_activity(void **state)
{
	check_activity(*state, 0);
	check_activity(*state, 1);
}

/* A filter gives the same result as hide_idle. */
static void test_filter(void **state)
{
	const struct filter_term not_idle = {.field = FILTER_PID, .negated = true};
	struct world *world = *state;
	struct query question = query(world, GROUP_PROCESS);
	struct query_row *rows;
	uint64_t out[4];
	size_t n;

	assert_int_equal(filter_new(&question.filter, &not_idle, 1, world->stacks, world->tasks,
				 world->names),
		0);
	for (question.two_cells = 0; question.two_cells < 2; question.two_cells++) {
		assert_int_equal(query_activity(&question, 1000, 1400, out, 4), 0);
		assert_int_equal(out[0], 300000000);
		assert_int_equal(out[1], 1000000000);
	}
	assert_int_equal(query_run(&question, &rows, &n), 0);
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++)
		assert_int_not_equal(rows[i].pid, 0);
	free(rows);
	filter_free(question.filter);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_by_process),
		TEST(test_by_field),
		TEST(test_idle_is_left_out),
		TEST(test_by_thread),
		TEST(test_by_cpu),
		TEST(test_of_one_symbol),
		TEST(test_of_one_symbol_among_many),
		TEST(test_other_event),
		TEST(test_what_counts),
		TEST(test_activity),
		TEST(test_filter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
