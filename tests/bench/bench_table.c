/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench_table.c - time of a query over many samples: rows by several keys, and trees of calls.
 *
 *	bench_table [SAMPLES [STACKS [SYMBOLS]]]
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "tui/query/table.h"
#include "tui/tables/calltree.h"

#define SLICE_CELLS 10000u
#define LABELS 200u
#define CPUS 16u

struct bench {
	struct images *images;
	struct stacks *stacks;
	struct tasks *tasks;
	struct names *names;
	uint32_t labels[LABELS];
	uint32_t *nodes;
	uint32_t n_nodes;
	struct slice *slices;
	const struct slice **list;
	struct snapshot snapshot;
};

static uint64_t seed = 42;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(((seed >> 33) * n) >> 31);
}

/* CPU time of this thread in s, since other processes may be running. */
static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void check(int ret)
{
	if (!ret)
		return;
	fprintf(stderr, "bench_table: %s\n", strerror(-ret));
	exit(1);
}

/* Makes chains 20 to 40 deep: the outer part of an earlier chain, and new callees below it. */
static void make_stacks(struct bench *bench, uint32_t n, uint32_t symbols)
{
	struct image key = {.kind = IMAGE_FILE, .path = (char *)"/bin/program", .inode = 1};
	uint32_t image;

	check(images_intern(bench->images, &key, &image));
	bench->nodes = calloc(n, sizeof(*bench->nodes));
	if (!bench->nodes)
		check(-ENOMEM);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t depth = 20 + random_below(21), node = STACK_ROOT, keep;

		if (i) {
			keep = 1 + random_below(24);
			node = bench->nodes[random_below(i)];
			while (node != STACK_ROOT && stacks_node(bench->stacks, node)->depth > keep)
				node = stacks_node(bench->stacks, node)->parent;
		}
		while (node == STACK_ROOT || stacks_node(bench->stacks, node)->depth < depth) {
			/* Some functions are much more common than others. */
			uint32_t which = random_below(symbols), frame;

			which = random_below(which + 1);
			check(stacks_frame(
				bench->stacks, image, (uint64_t)which * 16, FRAME_USER, &frame));
			check(stacks_child(bench->stacks, node, frame, &node));
		}
		stacks_ref(bench->stacks, node);
		bench->nodes[i] = node;
	}
	bench->n_nodes = n;
}

static void make_tasks(struct bench *bench)
{
	for (uint32_t i = 0; i < LABELS; i++) {
		check(tasks_label(bench->tasks, (int32_t)(100 + i / 4 * 4), (int32_t)(100 + i), 1,
			&bench->labels[i]));
		tasks_label_ref(bench->tasks, bench->labels[i]);
	}
}

static void make_slices(struct bench *bench, uint32_t samples)
{
	uint32_t n = (samples + SLICE_CELLS - 1) / SLICE_CELLS;

	bench->slices = calloc(n, sizeof(*bench->slices));
	bench->list = calloc(n, sizeof(*bench->list));
	if (!bench->slices || !bench->list)
		check(-ENOMEM);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t cells = samples < SLICE_CELLS ? samples : SLICE_CELLS;
		uint32_t *stack = calloc(cells, sizeof(*stack)),
			 *task = calloc(cells, sizeof(*task));
		uint32_t *count = calloc(cells, sizeof(*count));
		uint16_t *cpu = calloc(cells, sizeof(*cpu));
		uint8_t *event = calloc(cells, sizeof(*event));
		uint64_t *weight = calloc(cells, sizeof(*weight));

		if (!stack || !task || !count || !cpu || !event || !weight)
			check(-ENOMEM);
		for (uint32_t j = 0; j < cells; j++) {
			uint32_t which = random_below(bench->n_nodes);

			stack[j] = bench->nodes[random_below(which + 1)];
			task[j] = bench->labels[random_below(LABELS)];
			cpu[j] = (uint16_t)random_below(CPUS);
			weight[j] = 1000000;
			count[j] = 1;
		}
		samples -= cells;
		bench->slices[i] = (struct slice){.serial = i + 1,
			.start_ns = i * 100,
			.end_ns = i * 100 + 100,
			.cells = cells,
			.stack = stack,
			.task = task,
			.cpu = cpu,
			.event = event,
			.weight = weight,
			.count = count};
		bench->list[i] = &bench->slices[i];
	}
	bench->snapshot = (struct snapshot){bench->list, n};
}

static struct scan_question ask(const struct bench *bench)
{
	return (struct scan_question){.snapshot = &bench->snapshot,
		.to_ns = UINT64_MAX,
		.stacks = bench->stacks,
		.tasks = bench->tasks,
		.names = bench->names,
		.event = -1,
		.column = GROUP_KEYS};
}

static void time_table(const struct bench *bench, const char *what, const enum query_group *keys,
	size_t n_keys, enum query_group column)
{
	struct table_question question = {.scan = ask(bench), .keys = keys, .n_keys = n_keys};
	double best = 1e9, sorted = 0;
	uint32_t rows = 0;

	question.scan.column = column;
	for (int round = 0; round < 3; round++) {
		double start = now(), made;
		struct table *table;

		check(table_new(&table, &question));
		made = now();
		check(table_sort(table, TABLE_SELF, SCAN_NONE));
		if (made - start < best) {
			best = made - start;
			sorted = now() - made;
		}
		rows = table->n_rows;
		table_free(table);
	}
	printf("rows by %-24s %7.1f ms, sorting %6.1f ms, %u rows\n", what, best * 1e3,
		sorted * 1e3, rows);
}

static void time_tree(const struct bench *bench, const char *what, enum calltree_kind kind)
{
	const struct scan_question question = ask(bench);
	double start = now(), made;
	struct calltree_query query = {.kind = kind, .by_self = kind == CALLTREE_CALLERS};
	struct calltree tree;
	struct calls *calls;

	check(calls_new(&calls, &question));
	made = now();
	query.least = calls_sums(calls, 0)->weight / 200;
	check(calltree_build(&tree, calls, &query));
	printf("%-32s %7.1f ms, tree %6.1f ms, %u nodes\n", what, (made - start) * 1e3,
		(now() - made) * 1e3, tree.n);
	calltree_fini(&tree);
	calls_free(calls);
}

int main(int argc, char **argv)
{
	uint32_t samples = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000000;
	uint32_t stacks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 100000;
	uint32_t symbols = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 20000;
	const enum query_group keys[] = {GROUP_COMMAND, GROUP_SYMBOL, GROUP_IMAGE, GROUP_PROCESS};
	struct bench bench = {0};
	struct rusage usage;
	long before;

	check(images_new(&bench.images));
	check(stacks_new(&bench.stacks));
	check(tasks_new(&bench.tasks, bench.images, NULL));
	check(names_new(&bench.names, bench.stacks, bench.images, NULL));
	make_stacks(&bench, stacks, symbols);
	make_tasks(&bench);
	make_slices(&bench, samples);
	getrusage(RUSAGE_SELF, &usage);
	before = usage.ru_maxrss;
	printf("%u samples, %u stacks of %u nodes, %u symbols, %ld MB\n", samples, stacks,
		stacks_node_count(bench.stacks), symbols, before >> 10);
	time_table(&bench, "symbol, image", keys + 1, 2, GROUP_KEYS);
	time_table(&bench, "symbol", keys + 1, 1, GROUP_KEYS);
	time_table(&bench, "command, symbol, image", keys, 3, GROUP_KEYS);
	time_table(&bench, "process", keys + 3, 1, GROUP_KEYS);
	time_table(&bench, "symbol, image; CPU columns", keys + 1, 2, GROUP_CPU);
	time_tree(&bench, "callers", CALLTREE_CALLERS);
	time_tree(&bench, "callees", CALLTREE_CALLEES);
	time_tree(&bench, "tree", CALLTREE_ROOTS);
	getrusage(RUSAGE_SELF, &usage);
	printf("%ld MB more at the most\n", (usage.ru_maxrss - before) >> 10);
	return 0;
}
