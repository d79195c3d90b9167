/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_hot.c - the table that follows the window equals the one computed from scratch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fake_symbols.h"
#include "tui/tables/hot.h"

#define SYMREFS_MAX 4096
#define EVENTS 3
#define START_NS ((uint64_t)10000000000)

struct world {
	struct images *images;
	struct stacks *stacks;
	struct tasks *tasks;
	struct store *store;
	struct symbols symbols;
	struct names *names;
	struct hot *hot;
	uint64_t bulk; /* limit that setup_bulk() sets; else 0 */
	uint32_t program, library; /* images */
	uint32_t worker, idle; /* task labels */
	uint64_t now_ns;
};

/* Functions of 16 bytes each, named by their offset: "work" is at 0x00, "leaf" at 0x10. */
static const struct symbol functions[] = {{0x00, 16, "work", NULL, 0, false},
	{0x10, 16, "leaf", NULL, 1, false}, {0x20, 16, "main", NULL, 2, false},
	{0x30, 16, "alpha", NULL, 3, false}, {0x40, 16, "Beta", NULL, 4, false},
	{0x50, 16, "recurse", NULL, 5, false}, {0x60, 16, "f6", NULL, 6, false},
	{0x70, 16, "f7", NULL, 7, false}, {0x80, 16, "f8", NULL, 8, false},
	{0x90, 16, "f9", NULL, 9, false}, {0xa0, 16, "fa", NULL, 10, false},
	{0xb0, 16, "fb", NULL, 11, false}};

enum { WORK = 0x00, LEAF = 0x10, MAIN = 0x20, ALPHA = 0x30, BETA = 0x40, RECURSE = 0x50 };

static int no_maps(struct tasks *tasks, int32_t pid, void *ctx)
{
	(void)tasks;
	(void)pid;
	(void)ctx;
	return -ENOENT;
}

static int no_task(int32_t tid, int32_t *pid, char *comm, size_t comm_len, void *ctx)
{
	(void)tid;
	(void)pid;
	(void)comm;
	(void)comm_len;
	(void)ctx;
	return -ESRCH;
}

static void give(struct world *world, uint32_t image)
{
	world->symbols.images[image].state = SYMBOLS_READY;
	world->symbols.images[image].symbols = functions;
	world->symbols.images[image].n_symbols = sizeof(functions) / sizeof(functions[0]);
}

static int setup(void **state)
{
	const struct tasks_reader reader = {.read_maps = no_maps, .read_task = no_task};
	struct image program = {.kind = IMAGE_FILE, .path = (char *)"/bin/program", .inode = 7};
	struct image library = {.kind = IMAGE_FILE, .path = (char *)"/lib/library.so", .inode = 8};
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	assert_int_equal(images_new(&world->images), 0);
	assert_int_equal(stacks_new(&world->stacks), 0);
	assert_int_equal(tasks_new(&world->tasks, world->images, &reader), 0);
	assert_int_equal(store_new(&world->store, world->stacks, world->tasks, 64 << 20), 0);
	assert_int_equal(images_intern(world->images, &program, &world->program), 0);
	assert_int_equal(images_intern(world->images, &library, &world->library), 0);
	for (int i = 0; i < FAKE_IMAGES; i++)
		world->symbols.images[i].state = SYMBOLS_NONE;
	give(world, world->program);
	assert_int_equal(
		names_new(&world->names, world->stacks, world->images, &world->symbols), 0);
	assert_int_equal(hot_new(&world->hot, world->store, world->stacks, world->names), 0);
	world->now_ns = START_NS;
	assert_int_equal(tasks_label(world->tasks, 100, 100, world->now_ns, &world->worker), 0);
	assert_int_equal(tasks_label(world->tasks, 0, 0, world->now_ns, &world->idle), 0);
	tasks_label_ref(world->tasks, world->worker);
	tasks_label_ref(world->tasks, world->idle);
	*state = world;
	return 0;
}

/* Ranges that gain more than 100 cells at once, more than a slice or two have, are summed in
 * bulk. */
static int setup_bulk(void **state)
{
	struct world *world;

	assert_int_equal(setup(state), 0);
	world = *state;
	world->bulk = 100;
	hot_set_bulk(world->hot, world->bulk);
	return 0;
}

/* Each gain of cells is summed in bulk. */
static int setup_always(void **state)
{
	struct world *world;

	assert_int_equal(setup(state), 0);
	world = *state;
	hot_set_bulk(world->hot, 0);
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	hot_free(world->hot);
	names_free(world->names);
	store_free(world->store);
	tasks_free(world->tasks);
	stacks_free(world->stacks);
	images_free(world->images);
	free(world);
	return 0;
}

/* Returns a stack of frames in one image. offsets: outermost first. */
static uint32_t stack(struct world *world, uint32_t image, const uint64_t *offsets, size_t n)
{
	uint32_t node = STACK_ROOT, frame;

	for (size_t i = 0; i < n; i++) {
		assert_int_equal(
			stacks_frame(world->stacks, image, offsets[i], FRAME_USER, &frame), 0);
		assert_int_equal(stacks_child(world->stacks, node, frame, &node), 0);
	}
	return node;
}

static void add(struct world *world, uint32_t node, uint32_t task, uint8_t event, uint64_t weight)
{
	assert_int_equal(store_add(world->store, world->now_ns, node, task, 0, event, weight), 0);
}

#define STACK(world, ...)                                               \
	stack(world, (world)->program, (const uint64_t[]){__VA_ARGS__}, \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void next_slice(struct world *world)
{
	world->now_ns += STORE_SLICE_NS;
	store_seal(world->store, world->now_ns, true);
}

/* --- the naive model: every cell of the range, one after the other --- */

struct model {
	uint64_t self[EVENTS][SYMREFS_MAX], total[EVENTS][SYMREFS_MAX],
		samples[EVENTS][SYMREFS_MAX];
	uint64_t weight[EVENTS], count[EVENTS], unresolved[EVENTS];
};

static void model_cell(
	struct world *world, const struct slice *slice, uint32_t i, struct model *model)
{
	uint8_t event = slice->event[i];
	uint32_t seen[STACK_DEPTH_MAX], n_seen = 0;
	uint32_t node = slice->stack[i];
	bool leaf = true;

	model->weight[event] += slice->weight[i];
	model->count[event] += slice->count[i];
	do {
		const struct stack_node *at = stacks_node(world->stacks, node);
		uint32_t symref = node ? names_symref(world->names, at->frame) : 0;
		bool again = false;

		assert_true(symref < SYMREFS_MAX);
		for (uint32_t j = 0; j < n_seen; j++)
			again |= seen[j] == symref;
		if (!again) {
			seen[n_seen++] = symref;
			model->total[event][symref] += slice->weight[i];
		}
		if (leaf) {
			model->self[event][symref] += slice->weight[i];
			model->samples[event][symref] += slice->count[i];
			if (!names_get(world->names, symref)->resolved)
				model->unresolved[event] += slice->weight[i];
		}
		leaf = false;
		node = node ? at->parent : STACK_ROOT;
	} while (node != STACK_ROOT);
}

static void model_range(
	struct world *world, uint64_t from_ns, uint64_t to_ns, bool hide_idle, struct model *model)
{
	struct snapshot snapshot;

	memset(model, 0, sizeof(*model));
	assert_int_equal(store_snapshot(world->store, from_ns, to_ns, &snapshot), 0);
	for (size_t i = 0; i < snapshot.n; i++) {
		const struct slice *slice = snapshot.slices[i];
		uint64_t middle = slice->start_ns + (slice->end_ns - slice->start_ns) / 2;

		if (middle < from_ns || middle >= to_ns)
			continue;
		for (uint32_t j = 0; j < slice->cells; j++)
			if (!hide_idle || slice->task[j] != world->idle)
				model_cell(world, slice, j, model);
	}
	snapshot_release(world->store, &snapshot);
}

static void compare(struct world *world, const struct model *model)
{
	for (uint8_t event = 0; event < EVENTS; event++) {
		struct hot_query query = {.event = event};
		const struct hot_row *rows;
		struct hot_sums sums;
		size_t n, wanted = 0;

		assert_int_equal(hot_rows(world->hot, &query, &rows, &n, &sums), 0);
		assert_int_equal(sums.weight, model->weight[event]);
		assert_int_equal(sums.samples, model->count[event]);
		assert_int_equal(sums.unresolved, model->unresolved[event]);
		for (uint32_t i = 0; i < SYMREFS_MAX; i++)
			wanted += model->total[event][i] || model->samples[event][i];
		assert_int_equal(n, wanted);
		for (size_t i = 0; i < n; i++) {
			uint64_t self, total;

			assert_int_equal(rows[i].self, model->self[event][rows[i].symref]);
			assert_int_equal(rows[i].total, model->total[event][rows[i].symref]);
			assert_int_equal(rows[i].samples, model->samples[event][rows[i].symref]);
			assert_true(!i || rows[i - 1].self >= rows[i].self);
			hot_cell(world->hot, rows[i].symref, event, &self, &total);
			assert_int_equal(self, rows[i].self);
			assert_int_equal(total, rows[i].total);
		}
	}
}

static void check(struct world *world, uint64_t from_ns, uint64_t to_ns, bool hide_idle)
{
	struct model *model = malloc(sizeof(*model));

	assert_non_null(model);
	assert_int_equal(hot_update(world->hot, from_ns, to_ns), 0);
	model_range(world, from_ns, to_ns, hide_idle, model);
	compare(world, model);
	free(model);
}

static uint32_t random_stack(struct world *world)
{
	uint64_t offsets[40];
	size_t n = (size_t)(rand() % 20 + 1);
	uint32_t image = rand() % 4 ? world->program : world->library;

	if (rand() % 50 == 0)
		return STACK_ROOT;
	/* Few functions and long stacks give much recursion. The last bits vary, so that frames of
	 * one function differ. */
	for (size_t i = 0; i < n; i++)
		offsets[i] = (uint64_t)(rand() % 13) * 16 + (uint64_t)(rand() % 2);
	return stack(world, image, offsets, n);
}

static void random_slice(struct world *world)
{
	int n = rand() % 60;

	for (int i = 0; i < n; i++)
		add(world, random_stack(world), rand() % 4 ? world->worker : world->idle,
			(uint8_t)(rand() % EVENTS), (uint64_t)(rand() % 1000));
	next_slice(world);
}

static void test_random(void **state)
{
	struct world *world = *state;
	bool hide_idle = false;

	srand(11);
	hot_set_tasks(world->hot, world->tasks);
	world->symbols.images[world->library].state = SYMBOLS_PENDING;
	for (int round = 0; round < 400; round++) {
		uint64_t from = 0, to = UINT64_MAX;

		random_slice(world);
		if (round == 100 || round == 300) {
			hide_idle = !hide_idle;
			hot_hide_idle(world->hot, hide_idle);
		}
		if (round == 200) {
			give(world, world->library);
			world->symbols.changed = SYMBOLS_CHANGED_TABLES;
			names_update(world->names);
		}
		switch (rand() % 4) {
		case 0: /* the live window */
			from = world->now_ns - 2000000000;
			to = world->now_ns;
			break;
		case 1: /* a range in the past that cuts slices */
			from = START_NS + (uint64_t)rand() % (world->now_ns - START_NS);
			to = from + (uint64_t)rand() % 3000000000;
			break;
		case 2: /* an empty range */
			from = to = world->now_ns;
			break;
		default:
			break;
		}
		check(world, from, to, hide_idle);
	}
}

/* A small budget merges old slices. No sample is lost or counted twice. */
static void test_merged_slices(void **state)
{
	struct world *world = *state;
	struct store_status status;

	hot_free(world->hot);
	store_free(world->store);
	assert_int_equal(store_new(&world->store, world->stacks, world->tasks, 1), 0);
	assert_int_equal(hot_new(&world->hot, world->store, world->stacks, world->names), 0);
	if (world->bulk)
		hot_set_bulk(world->hot, world->bulk);
	srand(5);
	for (int round = 0; round < 120; round++) {
		random_slice(world);
		check(world, 0, UINT64_MAX, false);
		store_maintain(world->store);
		check(world, 0, UINT64_MAX, false);
		check(world, START_NS, world->now_ns - STORE_SLICE_NS, false);
	}
	store_status(world->store, &status);
	assert_true(status.merges > 0);
}

static void test_sum_equals_update(void **state)
{
	struct world *world = *state;
	struct model *model = malloc(sizeof(*model));

	assert_non_null(model);
	srand(3);
	for (int round = 0; round < 20; round++)
		random_slice(world);
	check(world, 0, UINT64_MAX, false);
	assert_int_equal(hot_sum(world->hot, START_NS + 500000000, UINT64_MAX), 0);
	model_range(world, START_NS + 500000000, UINT64_MAX, false, model);
	compare(world, model);
	free(model);
	check(world, 0, UINT64_MAX, false);
}

/* A refresh reads only the newest slice. New names affect only slices with pending ones. */
static void test_work_is_not_repeated(void **state)
{
	struct world *world = *state;
	uint64_t before;

	for (int round = 0; round < 20; round++) {
		add(world, STACK(world, MAIN, WORK), world->worker, 0, 10);
		next_slice(world);
	}
	assert_int_equal(hot_update(world->hot, 0, UINT64_MAX), 0);
	assert_int_equal(hot_digested(world->hot), 20);
	world->symbols.images[world->library].state = SYMBOLS_PENDING;
	add(world, stack(world, world->library, (const uint64_t[]){LEAF}, 1), world->worker, 0, 10);
	next_slice(world);
	assert_int_equal(hot_update(world->hot, START_NS + 5 * STORE_SLICE_NS, UINT64_MAX), 0);
	assert_int_equal(hot_digested(world->hot), 21);
	before = names_epoch(world->names);
	give(world, world->library);
	world->symbols.changed = SYMBOLS_CHANGED_TABLES;
	assert_true(names_update(world->names) > before);
	check(world, START_NS + 5 * STORE_SLICE_NS, UINT64_MAX, false);
	assert_int_equal(hot_digested(world->hot), 22);
	check(world, START_NS + 5 * STORE_SLICE_NS, UINT64_MAX, false);
	assert_int_equal(hot_digested(world->hot), 22);
}

/* Generated code gets its name in the slices that were summed before its map told it. */
static void test_code_named_later(void **state)
{
	static const enum symbols_state before[] = {SYMBOLS_PENDING, SYMBOLS_NONE, SYMBOLS_READY};
	const struct hot_query query = {.sort = HOT_SORT_TOTAL};
	struct world *world = *state;
	const struct hot_row *rows;
	struct hot_sums sums;
	size_t n;

	for (uint32_t i = 0; i < 3; i++) {
		const struct image code = {
			.kind = IMAGE_ANON, .path = (char *)"[anon]", .inode = 20 + i};
		uint32_t image;

		assert_int_equal(images_intern(world->images, &code, &image), 0);
		world->symbols.images[image].state = before[i];
		world->symbols.images[image].jit_file = "/tmp/perf-7.map";
		add(world, stack(world, image, (const uint64_t[]){LEAF}, 1), world->worker, 0, 10);
		next_slice(world);
		assert_int_equal(hot_update(world->hot, 0, UINT64_MAX), 0);
		assert_int_equal(hot_rows(world->hot, &query, &rows, &n, &sums), 0);
		assert_true(sums.unresolved > 0);
		for (size_t row = 0; row < n; row++) {
			const struct symref *name = names_get(world->names, rows[row].symref);

			assert_int_equal(name->growing, !name->resolved);
			assert_int_equal(name->pending, name->growing && !i);
		}
		give(world, image);
		world->symbols.images[image].version++;
		world->symbols.changed = SYMBOLS_CHANGED_TABLES;
		(void)names_update(world->names);
		assert_int_equal(hot_update(world->hot, 0, UINT64_MAX), 0);
		assert_int_equal(hot_rows(world->hot, &query, &rows, &n, &sums), 0);
		assert_int_equal(sums.unresolved, 0);
		assert_int_equal(n, i + 1);
		for (size_t row = 0; row < n; row++)
			assert_string_equal(
				names_get(world->names, rows[row].symref)->symbol, "leaf");
	}
}

/* Slices summed in bulk leave one by one, and each is read again. */
static void test_leaves_one_by_one(void **state)
{
	struct world *world = *state;
	uint64_t digested;

	for (uint64_t i = 0; i < 40; i++) {
		add(world, STACK(world, MAIN, WORK), world->worker, 0, 10 + i);
		next_slice(world);
	}
	hot_set_bulk(world->hot, 10);
	check(world, 0, UINT64_MAX, false);
	digested = hot_digested(world->hot);
	for (uint64_t i = 1; i < 30; i++) {
		check(world, START_NS + i * STORE_SLICE_NS, UINT64_MAX, false);
		assert_int_equal(hot_digested(world->hot), digested + i);
	}
}

static void test_recursion_counts_once(void **state)
{
	struct world *world = *state;
	struct hot_query query = {.sort = HOT_SORT_TOTAL};
	const struct hot_row *rows;
	struct hot_sums sums;
	size_t n;

	/* main > recurse > alpha > recurse > recurse, and the first half alone. */
	add(world, STACK(world, MAIN, RECURSE, ALPHA, RECURSE, RECURSE + 1), world->worker, 0, 10);
	add(world, STACK(world, MAIN, RECURSE, ALPHA), world->worker, 0, 5);
	next_slice(world);
	assert_int_equal(hot_update(world->hot, 0, UINT64_MAX), 0);
	assert_int_equal(hot_rows(world->hot, &query, &rows, &n, &sums), 0);
	assert_int_equal(n, 3);
	/* All rows have one total: the order is by name. */
	assert_string_equal(names_get(world->names, rows[0].symref)->symbol, "alpha");
	assert_string_equal(names_get(world->names, rows[1].symref)->symbol, "main");
	assert_string_equal(names_get(world->names, rows[2].symref)->symbol, "recurse");
	for (size_t i = 0; i < n; i++)
		assert_int_equal(rows[i].total, 15);
	assert_int_equal(rows[0].self, 5);
	assert_int_equal(rows[2].self, 10);
	assert_int_equal(sums.weight, 15);
	assert_int_equal(sums.samples, 2);
	assert_int_equal(sums.unresolved, 0);
}

static void expect_order(struct world *world, struct hot_query query, const char *const *wanted)
{
	const struct hot_row *rows;
	struct hot_sums sums;
	size_t n, i;

	assert_int_equal(hot_rows(world->hot, &query, &rows, &n, &sums), 0);
	for (i = 0; i < n && wanted[i]; i++)
		assert_string_equal(names_get(world->names, rows[i].symref)->symbol, wanted[i]);
	assert_true(i == n && !wanted[i]);
	/* The filter does not change the sums. */
	assert_int_equal(sums.weight, query.event ? 15 : 65);
}

static void test_order_and_filter(void **state)
{
	struct world *world = *state;

	add(world, STACK(world, MAIN, WORK), world->worker, 0, 30);
	add(world, STACK(world, MAIN, LEAF), world->worker, 0, 20);
	add(world, STACK(world, MAIN, LEAF), world->worker, 0, 1);
	add(world, STACK(world, BETA), world->worker, 0, 14);
	add(world, STACK(world, WORK), world->worker, 1, 5);
	add(world, STACK(world, LEAF), world->worker, 1, 5);
	add(world, STACK(world, ALPHA), world->worker, 1, 5);
	next_slice(world);
	assert_int_equal(hot_update(world->hot, 0, UINT64_MAX), 0);
	/* Rows with equal numbers are in the order of their names. */
	expect_order(world, (struct hot_query){.sort = HOT_SORT_SELF, .event = 1},
		(const char *const[]){"alpha", "leaf", "work", NULL});
	expect_order(world, (struct hot_query){.sort = HOT_SORT_SELF},
		(const char *const[]){"work", "leaf", "Beta", "main", NULL});
	expect_order(world, (struct hot_query){.sort = HOT_SORT_SELF, .reverse = true},
		(const char *const[]){"main", "Beta", "leaf", "work", NULL});
	expect_order(world, (struct hot_query){.sort = HOT_SORT_TOTAL},
		(const char *const[]){"main", "work", "leaf", "Beta", NULL});
	expect_order(world, (struct hot_query){.sort = HOT_SORT_SAMPLES},
		(const char *const[]){"leaf", "Beta", "work", "main", NULL});
	expect_order(world, (struct hot_query){.sort = HOT_SORT_SYMBOL},
		(const char *const[]){"Beta", "leaf", "main", "work", NULL});
	expect_order(world, (struct hot_query){.sort = HOT_SORT_SYMBOL, .reverse = true},
		(const char *const[]){"work", "main", "leaf", "Beta", NULL});
	expect_order(
		world, (struct hot_query){.filter = "BET"}, (const char *const[]){"Beta", NULL});
	expect_order(world, (struct hot_query){.filter = "PROG"},
		(const char *const[]){"work", "leaf", "Beta", "main", NULL});
	expect_order(world, (struct hot_query){.filter = "nothing"}, (const char *const[]){NULL});
}

/* Shares are compared with those of another time. Symbols that only that time has are rows as
 * well. */
static void test_baseline(void **state)
{
	struct world *world = *state;
	struct hot_query query = {.sort = HOT_SORT_CHANGE};
	const struct hot_row *rows;
	struct hot_sums sums;
	struct hot *base;
	size_t n;

	add(world, STACK(world, MAIN, WORK), world->worker, 0, 50);
	add(world, STACK(world, MAIN, LEAF), world->worker, 0, 30);
	add(world, STACK(world, BETA), world->worker, 0, 20);
	next_slice(world);
	add(world, STACK(world, MAIN, WORK), world->worker, 0, 200);
	add(world, STACK(world, MAIN, LEAF), world->worker, 0, 120);
	add(world, STACK(world, ALPHA), world->worker, 0, 80);
	next_slice(world);
	assert_int_equal(hot_new(&base, world->store, world->stacks, world->names), 0);
	assert_int_equal(hot_update(base, 0, START_NS + STORE_SLICE_NS), 0);
	assert_int_equal(hot_update(world->hot, START_NS + STORE_SLICE_NS, UINT64_MAX), 0);
	query.base = base;
	assert_int_equal(hot_rows(world->hot, &query, &rows, &n, &sums), 0);
	assert_int_equal(n, 5);
	assert_int_equal(sums.weight, 400);
	/* Changes of equal size: the order is by name. */
	assert_string_equal(names_get(world->names, rows[0].symref)->symbol, "Beta");
	assert_string_equal(names_get(world->names, rows[1].symref)->symbol, "alpha");
	assert_true(rows[0].change < -0.199 && rows[0].change > -0.201);
	assert_true(rows[1].change > 0.199 && rows[1].change < 0.201);
	assert_int_equal(rows[0].self + rows[0].total + rows[0].samples, 0);
	for (size_t i = 2; i < n; i++)
		assert_true(rows[i].change < 0.001 && rows[i].change > -0.001);
	query.filter = "alp";
	assert_int_equal(hot_rows(world->hot, &query, &rows, &n, &sums), 0);
	assert_int_equal(n, 1);
	query = (struct hot_query){.sort = HOT_SORT_SELF};
	assert_int_equal(hot_rows(world->hot, &query, &rows, &n, &sums), 0);
	assert_int_equal(n, 4);
	assert_true(rows[0].change == 0.0);
	hot_free(base);
}

static void test_kernel_is_hidden_on_request(void **state)
{
	struct world *world = *state;
	struct hot_query query = {.hide_kernel = true};
	const struct hot_row *rows;
	struct hot_sums sums;
	uint32_t frame, node;
	size_t n;

	assert_int_equal(stacks_frame(world->stacks, IMAGE_ID_KERNEL, 0xffffffff81000000,
				 FRAME_KERNEL, &frame),
		0);
	assert_int_equal(stacks_child(world->stacks, STACK(world, MAIN), frame, &node), 0);
	add(world, node, world->worker, 0, 10);
	next_slice(world);
	assert_int_equal(hot_update(world->hot, 0, UINT64_MAX), 0);
	assert_int_equal(hot_rows(world->hot, &query, &rows, &n, &sums), 0);
	assert_int_equal(n, 1);
	assert_string_equal(names_get(world->names, rows[0].symref)->symbol, "main");
	assert_int_equal(sums.weight, 10);
	assert_int_equal(sums.unresolved, 10);
	query.hide_kernel = false;
	assert_int_equal(hot_rows(world->hot, &query, &rows, &n, &sums), 0);
	assert_int_equal(n, 2);
}

static void test_idle_by_task_or_by_name(void **state)
{
	struct world *world = *state;
	static const struct symbol kernel[] = {
		{0xffffffff81000000, 16, "default_idle", NULL, 0, false},
		{0xffffffff81000010, 16, "irq_work", NULL, 1, false}};
	struct hot_sums sums;
	uint32_t idle_frame, work_frame, idle_node, work_node;

	world->symbols.images[IMAGE_ID_KERNEL].state = SYMBOLS_READY;
	world->symbols.images[IMAGE_ID_KERNEL].symbols = kernel;
	world->symbols.images[IMAGE_ID_KERNEL].n_symbols = 2;
	assert_int_equal(stacks_frame(world->stacks, IMAGE_ID_KERNEL, 0xffffffff81000000,
				 FRAME_KERNEL, &idle_frame),
		0);
	assert_int_equal(stacks_frame(world->stacks, IMAGE_ID_KERNEL, 0xffffffff81000010,
				 FRAME_KERNEL, &work_frame),
		0);
	assert_int_equal(stacks_child(world->stacks, STACK_ROOT, idle_frame, &idle_node), 0);
	assert_int_equal(stacks_child(world->stacks, STACK_ROOT, work_frame, &work_node), 0);
	add(world, idle_node, world->idle, 0, 100);
	add(world, work_node, world->idle, 0, 10);
	add(world, work_node, world->worker, 0, 1);
	next_slice(world);
	hot_hide_idle(world->hot, true);
	assert_int_equal(hot_update(world->hot, 0, UINT64_MAX), 0);
	hot_sums(world->hot, 0, &sums);
	assert_int_equal(sums.weight, 11);
	/* With task labels, interrupts during the idle task count as idle as well. */
	hot_set_tasks(world->hot, world->tasks);
	hot_hide_idle(world->hot, false);
	assert_int_equal(hot_update(world->hot, 0, UINT64_MAX), 0);
	hot_sums(world->hot, 0, &sums);
	assert_int_equal(sums.weight, 111);
	hot_hide_idle(world->hot, true);
	assert_int_equal(hot_update(world->hot, 0, UINT64_MAX), 0);
	hot_sums(world->hot, 0, &sums);
	assert_int_equal(sums.weight, 1);
}

static void test_trend(void **state)
{
	struct world *world = *state;
	uint64_t from = world->now_ns, trend[HOT_TREND];
	uint32_t node = STACK(world, MAIN, WORK);
	uint32_t work = names_symref(world->names, stacks_node(world->stacks, node)->frame);
	struct hot_sums sums;

	for (uint64_t i = 0; i < HOT_TREND; i++) {
		if (i != 4)
			add(world, node, world->worker, 0, 10 * i);
		add(world, STACK(world, MAIN), world->worker, 0, 7);
		if (i == 2)
			add(world, node, world->worker, 1, 1000);
		next_slice(world);
	}
	assert_int_equal(hot_update(world->hot, from, world->now_ns), 0);
	hot_sums(world->hot, 0, &sums);
	assert_int_equal(sums.span_ns, world->now_ns - from);
	hot_trend(world->hot, work, 0, trend);
	for (uint64_t i = 0; i < HOT_TREND; i++)
		assert_int_equal(trend[i], i == 4 ? 0 : 10 * i);
	hot_trend(world->hot, work, 1, trend);
	for (uint64_t i = 0; i < HOT_TREND; i++)
		assert_int_equal(trend[i], i == 2 ? 1000 : 0);

	/* One half of the window is before the history: that half is empty. */
	assert_int_equal(
		hot_update(world->hot, from - HOT_TREND * STORE_SLICE_NS, world->now_ns), 0);
	hot_trend(world->hot, work, 0, trend);
	for (uint64_t i = 0; i < HOT_TREND / 2; i++)
		assert_int_equal(trend[i], 0);
	assert_int_equal(trend[5], 10);
	assert_int_equal(trend[6], 20 + 30);
	assert_int_equal(trend[9], 80 + 90);

	/* The whole history, without bounds. */
	assert_int_equal(hot_update(world->hot, 0, UINT64_MAX), 0);
	hot_trend(world->hot, work, 0, trend);
	assert_int_equal(trend[2], 20);
	assert_int_equal(trend[9], 90);
	hot_trend(world->hot, work, 1, trend);
	assert_int_equal(trend[2], 1000);

	/* After a full update, trends are those of the event that was asked for last. */
	hot_set_filter(world->hot, NULL);
	assert_int_equal(hot_update(world->hot, 0, UINT64_MAX), 0);
	hot_trend(world->hot, work, 1, trend);
	for (uint64_t i = 0; i < HOT_TREND; i++)
		assert_int_equal(trend[i], i == 2 ? 1000 : 0);
	hot_trend(world->hot, work, 0, trend);
	assert_int_equal(trend[2], 20);
}

static void test_empty(void **state)
{
	struct world *world = *state;
	struct hot_query query = {0};
	const struct hot_row *rows;
	struct hot_sums sums;
	uint64_t trend[HOT_TREND];
	size_t n = 9;

	assert_int_equal(hot_rows(world->hot, &query, &rows, &n, &sums), 0);
	assert_int_equal(n, 0);
	assert_int_equal(hot_update(world->hot, 0, UINT64_MAX), 0);
	assert_int_equal(hot_rows(world->hot, &query, &rows, &n, &sums), 0);
	assert_int_equal(n, 0);
	assert_int_equal(sums.weight, 0);
	assert_int_equal(sums.span_ns, 0);
	hot_trend(world->hot, 0, 0, trend);
	assert_int_equal(trend[9], 0);
	hot_free(NULL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
#define TEST_BULK(function)                                             \
	{                                                               \
#function "_bulk", function, setup_bulk, teardown, NULL \
	}
#define TEST_ALWAYS(function)                                               \
	{                                                                   \
#function "_always", function, setup_always, teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_random),
		TEST(test_merged_slices),
		TEST(test_sum_equals_update),
		TEST(test_work_is_not_repeated),
		TEST(test_code_named_later),
		TEST(test_leaves_one_by_one),
		TEST(test_recursion_counts_once),
		TEST(test_order_and_filter),
		TEST(test_baseline),
		TEST(test_kernel_is_hidden_on_request),
		TEST(test_idle_by_task_or_by_name),
		TEST(test_trend),
		TEST(test_empty),
		TEST_BULK(test_random),
		TEST_BULK(test_merged_slices),
		TEST_ALWAYS(test_random),
		TEST_ALWAYS(test_code_named_later),
		TEST_ALWAYS(test_recursion_counts_once),
		TEST_ALWAYS(test_idle_by_task_or_by_name),
		TEST_ALWAYS(test_trend),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
