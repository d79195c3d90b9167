/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_windows.c - sums of adjacent windows equal the sum of the whole, exactly, in every view and
 * grouping.
 *
 * Samples and windows are random.  The store is a real one, and its old slices were merged.
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
#include "tests/unit/sums.h"
#include "tui/query/query.h"
#include "tui/query/table.h"
#include "tui/tables/calltree.h"
#include "tui/tables/groups.h"
#include "tui/tables/hot.h"

#define SAMPLES 40000u
#define EVENTS 3u
#define STEP_NS 1500000u /* gives a history of one minute */
#define START_NS ((uint64_t)50000000000)
#define WINDOWS 23u

struct world {
	struct fixture *fixture;
	struct store *store;
	struct snapshot all;
	struct sums whole, parts;
	struct fake_lines lines[LINES];
};

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	struct fixture *fixture;
	uint32_t seed = 11, nodes[64], n = 0;
	void *made;

	assert_non_null(world);
	assert_int_equal(fixture_setup(&made), 0);
	fixture = world->fixture = made;
	know_lines(fixture, world->lines);
	/* small enough for old slices to be merged */
	assert_int_equal(store_new(&world->store, fixture->stacks, fixture->tasks, 256 << 10), 0);
	while (n < 64) {
		uint32_t parent = n && fixture_random(&seed, 8) ? nodes[fixture_random(&seed, n)]
								: STACK_ROOT;

		nodes[n++] = fixture_call(fixture, parent,
			fixture_random(&seed, 2) ? fixture->program : fixture->library,
			fixture_random(&seed, FIXTURE_FUNCTIONS) * 16);
	}
	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint64_t now = START_NS + (uint64_t)i * STEP_NS;

		assert_int_equal(
			store_add(world->store, now, nodes[fixture_random(&seed, n)],
				fixture->labels[1 + fixture_random(&seed, FIXTURE_LABELS - 1)],
				(uint16_t)fixture_random(&seed, 4),
				(uint8_t)fixture_random(&seed, EVENTS),
				1 + fixture_random(&seed, 1000)),
			0);
		store_seal(world->store, now, false);
		store_maintain(world->store);
	}
	store_seal(world->store, START_NS + (uint64_t)SAMPLES * STEP_NS, true);
	assert_int_equal(store_snapshot(world->store, 0, UINT64_MAX, &world->all), 0);
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;
	void *fixture = world->fixture;

	snapshot_release(world->store, &world->all);
	store_free(world->store);
	fixture_teardown(&fixture);
	free(world);
	return 0;
}

/* Adds the result of a view for the time from from_ns to to_ns. */
typedef void ask(
	struct world *world, uint64_t from_ns, uint64_t to_ns, int what, struct sums *sums);

static void check(struct world *world, ask *question, int what)
{
	uint64_t end = START_NS + (uint64_t)SAMPLES * STEP_NS, from = 0;
	uint32_t seed = 5;

	memset(&world->whole, 0, sizeof(world->whole));
	memset(&world->parts, 0, sizeof(world->parts));
	question(world, 0, UINT64_MAX, what, &world->whole);
	/* Random bounds; some windows are empty. */
	for (uint32_t i = 0; i < WINDOWS; i++) {
		uint64_t length = (uint64_t)fixture_random(&seed, 2 * 60000 / WINDOWS) * 1000003u;

		if (from + length > end || from < START_NS)
			length = from < START_NS ? START_NS : 0;
		question(world, from, from + length, what, &world->parts);
		from += length;
	}
	question(world, from, UINT64_MAX, what, &world->parts);
	sums_expect_same(&world->whole, &world->parts);
}

static struct scan_question scan_of(const struct world *world, const struct snapshot *snapshot,
	uint64_t from_ns, uint64_t to_ns)
{
	struct scan_question scan = fixture_scan(world->fixture);

	scan.snapshot = snapshot;
	scan.from_ns = from_ns;
	scan.to_ns = to_ns;
	return scan;
}

/* The question of the screen, on the slices that overlap the time. */
static void ask_hot(
	struct world *world, uint64_t from_ns, uint64_t to_ns, int event, struct sums *sums)
{
	const struct hot_query query = {.event = (uint8_t)event};
	const struct hot_row *rows;
	struct hot_sums all;
	struct hot *hot;
	size_t n;

	assert_int_equal(
		hot_new(&hot, world->store, world->fixture->stacks, world->fixture->names), 0);
	/* Long times are updated in one pass, short ones slice by slice. */
	hot_set_bulk(hot, 1000);
	assert_int_equal(hot_update(hot, from_ns, to_ns), 0);
	assert_int_equal(hot_rows(hot, &query, &rows, &n, &all), 0);
	for (size_t i = 0; i < n; i++)
		sums_add(sums, sums_key(1, rows[i].symref), rows[i].self, rows[i].total,
			rows[i].samples);
	sums_add(sums, 2, all.weight, all.unresolved, all.samples);
	hot_free(hot);
}

static void ask_breakdown(
	struct world *world, uint64_t from_ns, uint64_t to_ns, int group, struct sums *sums)
{
	struct snapshot snapshot;
	struct query query = {
		.snapshot = &snapshot,
		.stacks = world->fixture->stacks,
		.tasks = world->fixture->tasks,
		.names = world->fixture->names,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.event = 1,
		.group = (enum query_group)group,
	};
	struct query_row *rows;
	size_t n;

	/* An empty time has no breakdown. */
	if (from_ns == to_ns)
		return;
	assert_int_equal(store_snapshot(world->store, from_ns, to_ns, &snapshot), 0);
	assert_int_equal(query_run(&query, &rows, &n), 0);
	for (size_t i = 0; i < n; i++)
		sums_add(sums,
			sums_key(
				sums_key(sums_key(3, (uint64_t)rows[i].pid), (uint64_t)rows[i].tid),
				rows[i].cpu),
			rows[i].self, rows[i].total, rows[i].samples);
	free(rows);
	snapshot_release(world->store, &snapshot);
}

static const enum query_group groupings[][2] = {
	{GROUP_SYMBOL, GROUP_EVENT},
	{GROUP_IMAGE, GROUP_EVENT},
	{GROUP_ADDRESS, GROUP_EVENT},
	{GROUP_PROCESS, GROUP_EVENT},
	{GROUP_THREAD, GROUP_EVENT},
	{GROUP_COMMAND, GROUP_EVENT},
	{GROUP_CPU, GROUP_EVENT},
	{GROUP_LINE, GROUP_EVENT},
	{GROUP_CGROUP, GROUP_EVENT},
	{GROUP_COMMAND, GROUP_SYMBOL},
	{GROUP_THREAD, GROUP_IMAGE},
	{GROUP_CPU, GROUP_ADDRESS},
	{GROUP_LINE, GROUP_SYMBOL},
};

static void ask_table(
	struct world *world, uint64_t from_ns, uint64_t to_ns, int grouping, struct sums *sums)
{
	const struct table_question question = {
		.scan = scan_of(world, &world->all, from_ns, to_ns),
		.keys = groupings[grouping],
		.n_keys = 2,
	};
	struct table *table;

	assert_int_equal(table_new(&table, &question), 0);
	for (uint32_t i = 0; i < table->n_rows; i++) {
		const struct table_row *row = &table->rows[i];
		uint64_t key = row->event;

		for (size_t j = 0; j < 2; j++) {
			struct table_key text;

			table_key(table, row, j, &text);
			key = sums_key_text(sums_key(key, (uint64_t)text.number), text.text);
		}
		sums_add(sums, key, row->self, row->total, row->samples);
	}
	table_free(table);
}

/* The hot table by other keys than symbols. */
static void ask_groups(
	struct world *world, uint64_t from_ns, uint64_t to_ns, int group, struct sums *sums)
{
	const struct groups_question question = {
		.scan = scan_of(world, &world->all, from_ns, to_ns)};
	const struct group_by by = {.group = (enum query_group)group};
	const struct hot_row *rows;
	struct groups *groups;
	struct hot_sums all;
	struct hot *hot;
	size_t n;

	assert_int_equal(groups_new(&groups, &by), 0);
	assert_int_equal(
		hot_new(&hot, world->store, world->fixture->stacks, world->fixture->names), 0);
	assert_int_equal(groups_fill(groups, &question, hot), 0);
	for (int event = 0; event < (int)EVENTS; event++) {
		const struct hot_query query = {.event = (uint8_t)event};

		assert_int_equal(hot_rows(hot, &query, &rows, &n, &all), 0);
		for (size_t i = 0; i < n; i++)
			sums_add(sums,
				sums_key_text(sums_key(5, (uint64_t)event),
					groups_key(groups, rows[i].symref)->name.symbol),
				rows[i].self, rows[i].total, rows[i].samples);
		sums_add(sums, sums_key(6, (uint64_t)event), all.weight, all.unresolved,
			all.samples);
	}
	hot_free(hot);
	groups_free(groups);
}

static void ask_tree(
	struct world *world, uint64_t from_ns, uint64_t to_ns, int kind, struct sums *sums)
{
	const struct scan_question scan = scan_of(world, &world->all, from_ns, to_ns);
	const struct calltree_query query = {.kind = (enum calltree_kind)kind, .event = 2};
	struct calltree tree;
	struct calls *calls;
	uint64_t *keys;

	assert_int_equal(calls_new(&calls, &scan), 0);
	assert_int_equal(calltree_build(&tree, calls, &query), 0);
	keys = calloc(tree.n + 1, sizeof(*keys));
	assert_non_null(keys);
	for (uint32_t i = 0; i < tree.n; i++) {
		const struct calltree_node *node = &tree.nodes[i];

		keys[i] = i ? sums_key(keys[node->parent], node->symref) : 4;
		sums_add(sums, keys[i], node->sums.self, node->sums.total, node->sums.samples);
	}
	free(keys);
	calltree_fini(&tree);
	calls_free(calls);
}

static void test_hot_table(void **state)
{
	for (int event = 0; event < (int)EVENTS; event++)
		check(*state, ask_hot, event);
}

static void test_breakdowns(void **state)
{
	check(*state, ask_breakdown, GROUP_PROCESS);
	check(*state, ask_breakdown, GROUP_THREAD);
	check(*state, ask_breakdown, GROUP_CPU);
}

static void test_tables(void **state)
{
	for (size_t i = 0; i < sizeof(groupings) / sizeof(*groupings); i++)
		check(*state, ask_table, (int)i);
}

static void test_grouped_hot_tables(void **state)
{
	for (int group = 0; group < GROUP_KEYS; group++)
		if (group != GROUP_SYMBOL && group != GROUP_EVENT && group != GROUP_CGROUP)
			check(*state, ask_groups, group);
}

static void test_trees(void **state)
{
	check(*state, ask_tree, CALLTREE_ROOTS);
	check(*state, ask_tree, CALLTREE_CALLERS);
	check(*state, ask_tree, CALLTREE_CALLEES);
}

static void test_was_merged(void **state)
{
	struct world *world = *state;
	struct store_status status;

	store_status(world->store, &status);
	assert_true(status.merges > 0);
	assert_int_equal(status.samples, SAMPLES);
}

/* Cells are sorted by stack, in new slices and in merged ones.  Passes over many cells need this
 * order for speed, and to divide the cells. */
static void test_order(void **state)
{
	const struct world *world = *state;

	for (size_t i = 0; i < world->all.n; i++) {
		const struct slice *slice = world->all.slices[i];

		for (uint32_t cell = 1; cell < slice->cells; cell++)
			assert_true(slice->stack[cell - 1] <= slice->stack[cell]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_was_merged),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_hot_table),
		cmocka_unit_test(test_breakdowns),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_grouped_hot_tables),
		cmocka_unit_test(test_trees),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
