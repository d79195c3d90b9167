/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_lanes.c - lanes of slices of random length against a naive model.
 *
 * The model spreads each cell over columns in fractions.
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
#include "tui/tables/lanes.h"

#define SLICES 60
#define CELLS 9
#define LABELS 6
#define NODES 5
#define COLUMNS 20
#define START_NS 1000000000ull

struct world {
	struct images *images;
	struct stacks *stacks;
	struct tasks *tasks;
	struct names *names;
	uint32_t labels[LABELS], nodes[NODES];
	struct slice slices[SLICES];
	const struct slice *list[SLICES];
	struct snapshot snapshot;
	uint32_t stack[SLICES][CELLS], task[SLICES][CELLS], count[SLICES][CELLS];
	uint16_t cpu[SLICES][CELLS];
	uint8_t event[SLICES][CELLS];
	uint64_t weight[SLICES][CELLS];
	struct slice_total totals[SLICES][2];
	uint32_t seed;
};

static uint32_t chance(struct world *world, uint32_t below)
{
	world->seed = world->seed * 1664525u + 1013904223u;
	return (world->seed >> 8) % below;
}

/* Makes adjacent slices of a tenth of a second. Some are much longer, as old ones are. */
static void fill(struct world *world)
{
	uint64_t at = START_NS;

	for (size_t i = 0; i < SLICES; i++) {
		uint64_t length = STORE_SLICE_NS * (chance(world, 4) ? 1 : 1 + chance(world, 40));

		world->slices[i] = (struct slice){
			.serial = i + 1,
			.start_ns = at,
			.end_ns = at + length,
			.stack = world->stack[i],
			.task = world->task[i],
			.cpu = world->cpu[i],
			.event = world->event[i],
			.weight = world->weight[i],
			.count = world->count[i],
			.totals = world->totals[i],
		};
		at += length;
		world->list[i] = &world->slices[i];
		for (size_t cell = 0; cell < CELLS; cell++) {
			uint32_t node = world->nodes[chance(world, NODES)];
			uint32_t label = world->labels[chance(world, LABELS)];
			uint16_t cpu = (uint16_t)chance(world, 3);
			uint8_t event = (uint8_t)chance(world, 2);
			uint64_t weight = 1 + chance(world, 10000019);

			slice_cells_add(&world->slices[i], node, label, cpu, event, weight,
				1 + chance(world, 9));
		}
	}
	world->snapshot = (struct snapshot){world->list, SLICES};
}

static int setup(void **state)
{
	struct image program = {.kind = IMAGE_FILE, .path = (char *)"/bin/program", .inode = 7};
	struct world *world = calloc(1, sizeof(*world));
	uint32_t image;

	assert_non_null(world);
	world->seed = 11;
	assert_int_equal(images_new(&world->images), 0);
	assert_int_equal(stacks_new(&world->stacks), 0);
	assert_int_equal(tasks_new(&world->tasks, world->images, NULL), 0);
	assert_int_equal(images_intern(world->images, &program, &image), 0);
	assert_int_equal(names_new(&world->names, world->stacks, world->images, NULL), 0);
	world->nodes[0] = STACK_ROOT;
	for (uint32_t i = 1; i < NODES; i++) {
		uint32_t frame;

		assert_int_equal(
			stacks_frame(world->stacks, image, 0x100 * i, FRAME_USER, &frame), 0);
		assert_int_equal(
			stacks_child(world->stacks, STACK_ROOT, frame, &world->nodes[i]), 0);
		stacks_ref(world->stacks, world->nodes[i]);
	}
	world->labels[0] = labelled_task(world->tasks, 100, 100, "serv\033er", 1);
	world->labels[1] = labelled_task(world->tasks, 100, 101, "helper", 1);
	world->labels[2] = labelled_task(world->tasks, 100, 102, "helper", 1);
	world->labels[3] = labelled_task(world->tasks, 200, 200, "other", 1);
	world->labels[4] = labelled_task(world->tasks, 0, 0, "swapper", 1);
	world->labels[5] = TASK_LABEL_MERGED;
	fill(world);
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

static struct query query_of(
	struct world *world, enum query_group group, uint64_t from_ns, uint64_t to_ns)
{
	return (struct query){
		.snapshot = &world->snapshot,
		.stacks = world->stacks,
		.tasks = world->tasks,
		.names = world->names,
		.event = 1,
		.group = group,
		.from_ns = from_ns,
		.to_ns = to_ns,
	};
}

static bool is_of(struct world *world, const struct slice *slice, size_t cell,
	enum query_group group, const struct lane *lane)
{
	const struct task_label *task = tasks_label_get(world->tasks, slice->task[cell]);

	switch (group) {
	case GROUP_CPU:
		return slice->cpu[cell] == lane->cpu;
	case GROUP_COMMAND:
		return !strcmp(
			lane->name, slice->task[cell] == world->labels[0] ? "serv?er" : task->comm);
	case GROUP_PROCESS:
		return task->pid == lane->pid;
	default:
		return task->pid == lane->pid && task->tid == lane->tid;
	}
}

/* Computes the columns of one lane in the simple way. */
static void naive(struct world *world, const struct query *query, const struct lane *lane,
	double columns[COLUMNS], uint64_t *weight, uint64_t *samples)
{
	double part = (double)(query->to_ns - query->from_ns) / COLUMNS;

	*weight = *samples = 0;
	memset(columns, 0, COLUMNS * sizeof(*columns));
	for (size_t i = 0; i < SLICES; i++) {
		const struct slice *slice = &world->slices[i];
		uint64_t middle = (slice->start_ns + slice->end_ns) / 2;
		double from = (double)slice->start_ns - (double)query->from_ns;
		double to = (double)slice->end_ns - (double)query->from_ns;

		if (middle < query->from_ns || middle >= query->to_ns)
			continue;
		if (from < 0)
			from = 0;
		if (to > part * COLUMNS)
			to = part * COLUMNS;
		for (size_t cell = 0; cell < CELLS; cell++) {
			if (slice->event[cell] != query->event ||
				!is_of(world, slice, cell, query->group, lane))
				continue;
			*weight += slice->weight[cell];
			*samples += slice->count[cell];
			for (int k = 0; k < COLUMNS; k++) {
				double left = from > k * part ? from : k * part;
				double right = to < (k + 1) * part ? to : (k + 1) * part;

				if (right > left)
					columns[k] += (double)slice->weight[cell] * (right - left) /
						(to - from);
			}
		}
	}
}

/* Compares lanes with the model. two_cells: see struct query. Returns the weight of all lanes. */
static uint64_t check_threads(struct world *world, enum query_group group, uint64_t from_ns,
	uint64_t to_ns, uint64_t two_cells)
{
	struct query query = query_of(world, group, from_ns, to_ns);
	struct lanes lanes;
	uint64_t whole = 0;

	query.two_cells = two_cells;
	assert_int_equal(lanes_run(&query, COLUMNS, &lanes), 0);
	assert_int_equal(lanes.columns, COLUMNS);
	for (uint32_t i = 0; i < lanes.n; i++) {
		const struct lane *lane = &lanes.lane[i];
		double columns[COLUMNS];
		uint64_t weight, samples, sum = 0;

		naive(world, &query, lane, columns, &weight, &samples);
		assert_int_equal(lane->weight, weight);
		assert_int_equal(lane->samples, samples);
		for (int k = 0; k < COLUMNS; k++) {
			/* Edges of columns are whole nanoseconds. */
			assert_float_equal((double)lane->columns[k], columns[k], 40.0);
			sum += lane->columns[k];
		}
		assert_int_equal(sum, weight);
		whole += weight;
		for (uint32_t other = 0; other < i; other++)
			assert_false(lanes.lane[other].pid == lane->pid &&
				lanes.lane[other].tid == lane->tid &&
				lanes.lane[other].cpu == lane->cpu &&
				!strcmp(lanes.lane[other].name, lane->name));
	}
	lanes_fini(&lanes);
	return whole;
}

/* Checks with one thread and with two. */
static uint64_t check(struct world *world, enum query_group group, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t whole = check_threads(world, group, from_ns, to_ns, 0);

	assert_int_equal(check_threads(world, group, from_ns, to_ns, 1), whole);
	return whole;
}

/* The weight of each column, with one thread and two, for all lanes and one. */
static void test_activity(void **state)
{
	const struct filter_term terms[] = {{.field = FILTER_TID, .first = 101, .last = 101}};
	struct world *world = *state;
	uint64_t end_ns = world->slices[SLICES - 1].end_ns, one[COLUMNS], two[COLUMNS];
	struct query query = query_of(world, GROUP_THREAD, START_NS, end_ns);
	struct lanes lanes;

	assert_int_equal(lanes_run(&query, COLUMNS, &lanes), 0);
	assert_int_equal(
		filter_new(&query.filter, terms, 1, world->stacks, world->tasks, world->names), 0);
	assert_int_equal(query_activity(&query, START_NS, end_ns, one, COLUMNS), 0);
	query.two_cells = 1;
	assert_int_equal(query_activity(&query, START_NS, end_ns, two, COLUMNS), 0);
	assert_memory_equal(one, two, sizeof(one));
	for (uint32_t i = 0; i < lanes.n; i++) {
		const double length = (double)(end_ns - START_NS) / 1e9 / COLUMNS;

		for (int k = 0; k < COLUMNS && lanes.lane[i].tid == 101; k++)
			assert_float_equal((float)((double)one[k] * length),
				(float)lanes.lane[i].columns[k], 100.0f);
	}
	lanes_fini(&lanes);
	filter_free(query.filter);
}

static const enum query_group groups[] = {GROUP_THREAD, GROUP_PROCESS, GROUP_COMMAND, GROUP_CPU};

static void test_naive(void **state)
{
	struct world *world = *state;
	uint64_t end_ns = world->slices[SLICES - 1].end_ns, event = 0;

	for (size_t i = 0; i < SLICES; i++)
		for (size_t cell = 0; cell < CELLS; cell++)
			event += world->event[i][cell] == 1 ? world->weight[i][cell] : 0;
	for (size_t g = 0; g < sizeof(groups) / sizeof(*groups); g++) {
		uint64_t at = START_NS, parts = 0;

		assert_int_equal(check(world, groups[g], START_NS, end_ns), event);
		/* Random bounds: adjacent times add up to the whole. */
		while (at < end_ns) {
			uint64_t to = at + 1 + (uint64_t)chance(world, 9000) * 1000003u;

			if (to > end_ns)
				to = end_ns;
			parts += check(world, groups[g], at, to);
			at = to;
		}
		assert_int_equal(parts, event);
	}
}

/* Checks the symbol with most of a lane's weight. With equal weights, any of these is right. */
static void check_hottest(struct world *world, uint64_t two_cells)
{
	struct query query =
		query_of(world, GROUP_THREAD, START_NS, world->slices[SLICES - 1].end_ns);
	struct lanes lanes;

	query.two_cells = two_cells;
	assert_int_equal(lanes_run(&query, 7, &lanes), 0);
	assert_int_equal(lanes.n, LABELS);
	for (uint32_t l = 0; l < lanes.n; l++) {
		uint64_t sums[NODES] = {0}, most = 0;
		uint32_t best = 0;

		for (size_t i = 0; i < SLICES; i++) {
			for (size_t cell = 0; cell < CELLS; cell++) {
				for (uint32_t n = 0; n < NODES; n++)
					if (world->event[i][cell] == 1 &&
						world->stack[i][cell] == world->nodes[n] &&
						is_of(world, &world->slices[i], cell, GROUP_THREAD,
							&lanes.lane[l]))
						sums[n] += world->weight[i][cell];
			}
		}
		for (uint32_t n = 0; n < NODES; n++) {
			if (sums[n] > most) {
				most = sums[n];
				best = n;
			}
		}
		assert_int_equal(lanes.lane[l].symref,
			best ? names_symref(world->names,
				       stacks_node(world->stacks, world->nodes[best])->frame)
			     : 0);
	}
	lanes_fini(&lanes);
}

static void test_hottest(void **state)
{
	check_hottest(*state, 0);
	check_hottest(*state, 1);
}

/* Names are cleaned, idle tasks are hidden if asked, and an empty time has no lanes. */
static void test_names(void **state)
{
	struct world *world = *state;
	uint64_t end_ns = world->slices[SLICES - 1].end_ns;
	struct query query = query_of(world, GROUP_THREAD, START_NS, end_ns);
	struct lanes lanes;
	bool server = false;

	query.hide_idle = true;
	assert_int_equal(lanes_run(&query, COLUMNS, &lanes), 0);
	assert_int_equal(lanes.n, LABELS - 1);
	for (uint32_t i = 0; i < lanes.n; i++) {
		assert_int_not_equal(lanes.lane[i].pid, 0);
		server |= !strcmp(lanes.lane[i].name, "serv?er");
	}
	assert_true(server);
	lanes_fini(&lanes);
	query = query_of(world, GROUP_CPU, end_ns, end_ns + 1);
	assert_int_equal(lanes_run(&query, COLUMNS, &lanes), 0);
	assert_int_equal(lanes.n, 0);
	lanes_fini(&lanes);
}

static void expect_same(const struct lanes *lanes, const struct lanes *expected)
{
	assert_int_equal(lanes->n, expected->n);
	assert_int_equal(lanes->from_ns, expected->from_ns);
	assert_int_equal(lanes->to_ns, expected->to_ns);
	for (uint32_t i = 0; i < lanes->n; i++) {
		const struct lane *lane = &lanes->lane[i], *other = &expected->lane[i];

		assert_int_equal(lane->pid, other->pid);
		assert_int_equal(lane->tid, other->tid);
		assert_int_equal(lane->cpu, other->cpu);
		assert_string_equal(lane->name, other->name);
		assert_int_equal(lane->weight, other->weight);
		assert_int_equal(lane->samples, other->samples);
		assert_int_equal(lane->symref, other->symref);
		assert_memory_equal(lane->columns, other->columns, sizeof(lane->columns));
	}
}

static void follow(const struct query *query, struct lanes_memory *memory)
{
	struct lanes lanes, expected;

	assert_int_equal(lanes_run(query, COLUMNS, &expected), 0);
	assert_int_equal(lanes_follow(query, COLUMNS, memory, &lanes), 0);
	expect_same(&lanes, &expected);
	lanes_fini(&lanes);
	lanes_fini(&expected);
}

/* A window that advances, with other questions in between, equals a fresh question. */
static void test_follow(void **state)
{
	struct world *world = *state;
	uint64_t end_ns = world->slices[SLICES - 1].end_ns;
	struct lanes_memory memory = {0};
	struct query query = query_of(world, GROUP_THREAD, START_NS, end_ns);

	for (uint32_t round = 0; round < 200; round++) {
		uint64_t from_ns = START_NS + (end_ns - START_NS) / 250 * round;

		if (!chance(world, 6))
			query.group = groups[chance(world, 4)];
		if (!chance(world, 6))
			query.event = (uint8_t)chance(world, 2);
		if (!chance(world, 6))
			query.hide_idle = !query.hide_idle;
		query.from_ns = chance(world, 9) ? from_ns : START_NS;
		query.to_ns = query.from_ns + (end_ns - START_NS) / (1 + chance(world, 5));
		follow(&query, &memory);
		/* A slice replaces another one, as merged slices do. */
		if (!chance(world, 4)) {
			size_t i = chance(world, SLICES);

			world->slices[i].serial += SLICES;
			world->weight[i][chance(world, CELLS)] += 12345;
		}
	}
	assert_true(memory.n > 0 && memory.n <= SLICES);
	lanes_forget(&memory);
}

/* A slice is read once. It is forgotten when it leaves the window or the question changes. */
static void test_remembers(void **state)
{
	struct world *world = *state;
	uint64_t end_ns = world->slices[SLICES - 1].end_ns, before = 0, weight = 0;
	const size_t known[] = {SLICES, SLICES, 1, SLICES - 1, SLICES, SLICES};
	struct lanes_memory memory = {0};
	struct query query = query_of(world, GROUP_THREAD, START_NS, end_ns);

	for (int i = 0; i < 6; i++) {
		struct lanes lanes;

		if (i == 2) /* only this slice stays known */
			query.to_ns = world->slices[0].end_ns;
		if (i == 3) /* this slice is forgotten */
			query.from_ns = world->slices[0].end_ns;
		if (i == 4)
			query.from_ns = START_NS;
		query.hide_idle = i == 5;
		if (i == 3)
			query.to_ns = end_ns;
		assert_int_equal(lanes_follow(&query, COLUMNS, &memory, &lanes), 0);
		before = weight;
		weight = 0;
		for (uint32_t l = 0; l < lanes.n; l++)
			if (lanes.lane[l].pid == 200)
				weight += lanes.lane[l].weight;
		lanes_fini(&lanes);
		if (i == 1)
			assert_int_equal(weight, before);
		assert_int_equal(memory.n, known[i]);
		/* A sealed slice changes here, which never happens otherwise: only a slice that is
		 * read again shows it. */
		if (i == 0 || i == 4) {
			world->event[1][0] = 1;
			world->task[1][0] = world->labels[3];
			world->weight[1][0] += 1000000000;
		}
	}
	assert_true(weight > before);
	lanes_forget(&memory);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_naive, setup, teardown),
		cmocka_unit_test_setup_teardown(test_activity, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hottest, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_follow, setup, teardown),
		cmocka_unit_test_setup_teardown(test_remembers, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
