/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench_views.c - time that each view needs until its data is ready, over a store of many samples.
 *
 *	bench_views [SAMPLES [STACKS [SYMBOLS [VIEW [MEGABYTES]]]]]
 *
 * Measures a change of the window, of the filter and of the grouping, and a tick: 0.1 s of new
 * samples.  The store is real.  Its default budget keeps each sample in its own cell with its whole
 * stack, which is the largest amount of data.  The views' own caches are used as the screen uses
 * them; the session is a stub in this file.  Changes are in wall-clock time, medians of ROUNDS, so
 * the machine must be quiet.  Ticks, and each view's second line, are CPU time of the process.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "tui/model/activity.h"
#include "tui/model/calls.h"
#include "tui/model/heat.h"
#include "tui/model/lanes.h"
#include "tui/query/expr.h"
#include "tui/query/table.h"
#include "tui/tables/hot.h"

#define ROUNDS 5
#define SCREEN_ROWS 50
#define LIMIT_MS 100.0
#define TICK_LIMIT_MS 5.0 /* at ten ticks a second, 5% of a CPU */
#define HISTORY_NS 600000000000ull
#define START_NS 1000000000000ull
#define LIVE_NS 20000000000ull
#define TICK_SAMPLES 1000u /* at 10,000 Hz */
#define THREADS 50u
#define CPUS 4u
#define BUDGET_MB 1024u

static struct bench {
	struct images *images;
	struct stacks *stacks;
	struct tasks *tasks;
	struct names *names;
	struct store *store;
	uint32_t labels[THREADS];
	uint32_t *nodes;
	uint32_t n_nodes;
	uint64_t now_ns, seed;
	struct session session;
	struct model model;
	struct filter *filter;
	struct expr expr;
	/* caches of the views */
	struct hot *hot;
	struct model_calls calls;
	struct model_lanes lanes;
	struct activity activity;
	struct heat heat;
	uint32_t centre; /* symbol of the butterfly */
	size_t missed;
	double cpu[16]; /* ms; changes of the current view */
	size_t n_cpu;
} bench = {.seed = 42};

/* --- stubs of the session --- */

struct store *session_store(const struct session *session)
{
	(void)session;
	return bench.store;
}

const struct stacks *session_stacks(const struct session *session)
{
	(void)session;
	return bench.stacks;
}

const struct tasks *session_tasks(const struct session *session)
{
	(void)session;
	return bench.tasks;
}

/* --- samples --- */

static uint32_t random_below(uint32_t n)
{
	bench.seed = bench.seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(((bench.seed >> 33) * n) >> 31);
}

static void check(int ret)
{
	if (!ret)
		return;
	fprintf(stderr, "bench_views: %s\n", strerror(-ret));
	exit(1);
}

/* Makes chains 20 to 40 deep: the outer part of an earlier chain, and new callees below it. */
static void make_stacks(uint32_t n, uint32_t symbols)
{
	struct image key = {.kind = IMAGE_FILE, .path = (char *)"/bin/program", .inode = 1};
	uint32_t image;

	check(images_intern(bench.images, &key, &image));
	bench.nodes = calloc(n, sizeof(*bench.nodes));
	if (!bench.nodes)
		check(-ENOMEM);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t depth = 20 + random_below(21), node = STACK_ROOT, keep;

		if (i) {
			keep = 1 + random_below(24);
			node = bench.nodes[random_below(i)];
			while (node != STACK_ROOT && stacks_node(bench.stacks, node)->depth > keep)
				node = stacks_node(bench.stacks, node)->parent;
		}
		while (node == STACK_ROOT || stacks_node(bench.stacks, node)->depth < depth) {
			/* Some functions are much more common than others. */
			uint32_t which = random_below(symbols), frame;

			which = random_below(which + 1);
			check(stacks_frame(
				bench.stacks, image, (uint64_t)which * 16, FRAME_USER, &frame));
			check((stacks_node(bench.stacks, node)->depth + 1u < depth
					? stacks_child
					: stacks_leaf)(bench.stacks, node, frame, &node));
		}
		stacks_ref(bench.stacks, node);
		bench.nodes[i] = node;
	}
	bench.n_nodes = n;
}

static void make_tasks(void)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		struct record record = {.type = PERF_RECORD_COMM};
		char comm[16];

		snprintf(comm, sizeof(comm), "worker%u", i / 10);
		record.comm.pid = record.id.pid = 100 + i / 10;
		record.comm.tid = record.id.tid = 1000 + i;
		record.comm.comm = comm;
		record.id.time_ns = 1;
		check(tasks_apply(bench.tasks, &record));
		check(tasks_label(bench.tasks, (int32_t)record.id.pid, (int32_t)record.id.tid, 2,
			&bench.labels[i]));
		tasks_label_ref(bench.tasks, bench.labels[i]);
	}
}

static void add_samples(uint32_t n, uint64_t step_ns)
{
	while (n--) {
		uint32_t which = random_below(bench.n_nodes);

		check(store_add(bench.store, bench.now_ns, bench.nodes[random_below(which + 1)],
			bench.labels[random_below(THREADS)], (uint16_t)random_below(CPUS), 0,
			step_ns));
		bench.now_ns += step_ns;
		if (store_seal(bench.store, bench.now_ns, false))
			store_maintain(bench.store);
	}
}

/* --- queries --- */

static void ask_hot_again(int what)
{
	const struct hot_query query = {.event = 0, .sort = (enum hot_sort)what};
	const struct hot_row *rows;
	struct hot_sums sums;
	uint64_t trend[HOT_TREND];
	size_t n;

	check(hot_update(bench.hot, bench.model.from_ns, bench.model.to_ns));
	check(hot_rows(bench.hot, &query, &rows, &n, &sums));
	for (size_t i = 0; i < n && i < SCREEN_ROWS; i++)
		hot_trend(bench.hot, rows[i].symref, 0, trend);
}

static void ask_hot(int what)
{
	hot_set_filter(bench.hot, bench.filter);
	ask_hot_again(what);
}

static void ask_rows(int what)
{
	const enum query_group keys[] = {(enum query_group)what};
	struct snapshot snapshot;
	const struct table_question question = {
		.scan = {.snapshot = &snapshot,
			.from_ns = bench.model.from_ns,
			.to_ns = bench.model.to_ns,
			.stacks = bench.stacks,
			.tasks = bench.tasks,
			.names = bench.names,
			.filter = bench.filter,
			.event = 0,
			.column = GROUP_KEYS},
		.keys = keys,
		.n_keys = 1,
	};
	struct table *table;

	check(store_snapshot(bench.store, bench.model.from_ns, bench.model.to_ns, &snapshot));
	check(table_new(&table, &question));
	check(table_sort_top(
		table, TABLE_SELF, SCAN_NONE, &(const struct table_top){.rows = 1000}));
	table_free(table);
	snapshot_release(bench.store, &snapshot);
}

static void ask_breakdown(int what)
{
	struct snapshot snapshot = {0};
	struct query query = activity_query(&bench.model, &bench.session, bench.filter, &snapshot);
	struct query_row *rows;
	size_t n;

	check(store_snapshot(bench.store, bench.model.from_ns, bench.model.to_ns, &snapshot));
	query.from_ns = bench.model.from_ns;
	query.to_ns = bench.model.to_ns;
	query.group = (enum query_group)what;
	query.by_symbol = true;
	query.symref = bench.centre;
	check(query_run(&query, &rows, &n));
	free(rows);
	snapshot_release(bench.store, &snapshot);
}

static void ask_one_tree(const struct calltree_query *query)
{
	struct calltree tree = {0};

	check(model_calls_tree(&bench.calls, &bench.session, &bench.model, bench.filter, 0, NULL, 0,
		query, &tree));
	calltree_fini(&tree);
}

/* Asks like calls_view and flame_view. */
static void ask_tree(int what)
{
	struct calltree_query query = {.kind = (enum calltree_kind)what,
		.least = bench.model.sums.weight / 2000,
		.by_self = what == CALLTREE_CALLERS,
		.max_roots = 500};

	ask_one_tree(&query);
}

static void ask_butterfly(int what)
{
	struct calltree_query query = {.kind = CALLTREE_CALLEES,
		.least = bench.model.sums.weight / 2000,
		.one = true,
		.symref = bench.centre};

	(void)what;
	ask_one_tree(&query);
	query.kind = CALLTREE_CALLERS;
	ask_one_tree(&query);
}

static void ask_flame(int what)
{
	const struct calltree_query query = {
		.kind = CALLTREE_ROOTS, .least = bench.model.sums.weight / 512};

	(void)what;
	ask_one_tree(&query);
}

static void ask_lanes(int what)
{
	const struct lanes *lanes;

	check(model_lanes_get(&bench.lanes, &bench.session, &bench.model, bench.filter, 0, NULL,
		(enum query_group)what, 40, &lanes));
}

static void ask_strip(int what)
{
	(void)what;
	bench.model.strip_to_ns = bench.model.status.store.last_ns;
	check(activity_update(&bench.activity, &bench.model, &bench.session, bench.filter));
}

/* Covers the whole history, more than most screens have columns for. */
static void ask_heat(int what)
{
	const uint64_t *cells;

	(void)what;
	check(heat_get(&bench.heat, &bench.model, &bench.session, bench.filter, START_NS,
		HISTORY_NS / 1000000000u, &cells));
}

static const struct view_case {
	const char *name;
	void (*ask)(int what);
	int what;
} views[] = {
	{"hot table", ask_hot, HOT_SORT_SELF},
	{"rows by symbol", ask_rows, GROUP_SYMBOL},
	{"rows by image", ask_rows, GROUP_IMAGE},
	{"rows by address", ask_rows, GROUP_ADDRESS},
	{"rows by process", ask_rows, GROUP_PROCESS},
	{"rows by thread", ask_rows, GROUP_THREAD},
	{"rows by command", ask_rows, GROUP_COMMAND},
	{"rows by CPU", ask_rows, GROUP_CPU},
	{"symbol by process", ask_breakdown, GROUP_PROCESS},
	{"symbol by thread", ask_breakdown, GROUP_THREAD},
	{"symbol by CPU", ask_breakdown, GROUP_CPU},
	{"callers", ask_tree, CALLTREE_CALLERS},
	{"call tree", ask_tree, CALLTREE_ROOTS},
	{"butterfly", ask_butterfly, 0},
	{"flame", ask_flame, 0},
	{"threads", ask_lanes, GROUP_THREAD},
	{"processes", ask_lanes, GROUP_PROCESS},
	{"commands", ask_lanes, GROUP_COMMAND},
	{"CPUs", ask_lanes, GROUP_CPU},
	{"strip", ask_strip, 0},
	{"heat map", ask_heat, 0},
};

/* --- changes --- */

static double clock_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* Selects a window and sums its weight.  The screen takes the weight from its hot table, and trees
 * prune by it. */
static void set_window(uint64_t from_ns, uint64_t to_ns)
{
	struct model *model = &bench.model;
	struct snapshot snapshot;

	store_status(bench.store, &model->status.store);
	model->from_ns = from_ns;
	model->to_ns = to_ns;
	model->window.selected = true;
	model->sums.weight = 0;
	check(store_snapshot(bench.store, from_ns, to_ns, &snapshot));
	for (size_t i = 0; i < snapshot.n; i++)
		if (slice_is_in(snapshot.slices[i], from_ns, to_ns))
			model->sums.weight += snapshot.slices[i]->totals[0].weight;
	snapshot_release(bench.store, &snapshot);
}

static void set_filter(const char *text)
{
	struct expr_error error;

	filter_free(bench.filter);
	bench.filter = NULL;
	expr_fini(&bench.expr);
	memset(&bench.expr, 0, sizeof(bench.expr));
	if (!*text)
		return;
	check(expr_parse(&bench.expr, text, &error));
	check(expr_filter(&bench.expr, bench.stacks, bench.tasks, bench.names, &bench.filter));
}

static int compare_doubles(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static double median(double *times)
{
	qsort(times, ROUNDS, sizeof(*times), compare_doubles);
	return times[ROUNDS / 2];
}

/* Times of one change in each round, in ms. */
struct times {
	double waited[ROUNDS], cpu[ROUNDS];
};

static void time_one(struct times *times, int round, const struct view_case *view)
{
	double waited = clock_ms(CLOCK_MONOTONIC), cpu = clock_ms(CLOCK_PROCESS_CPUTIME_ID);

	view->ask(view->what);
	times->waited[round] = clock_ms(CLOCK_MONOTONIC) - waited;
	times->cpu[round] = clock_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu;
}

static void tell(double time, double limit)
{
	printf(" %7.1f%c", time, time <= limit ? ' ' : '!');
	fflush(stdout);
	bench.missed += time > limit;
}

static void tell_times(struct times *times)
{
	tell(median(times->waited), LIMIT_MS);
	bench.cpu[bench.n_cpu++] = median(times->cpu);
}

static const char *const filters[] = {
	"comm~worker[12]", "symbol~[02468]$", "image:program", "cpu:0-1", "stack~0x4[0-9a-f]*$"};

#define N_FILTERS (sizeof(filters) / sizeof(*filters))
#define N_WINDOWS 3u

/* Changes the window before every question, so that no answer is cached. */
static void time_windows(const struct view_case *view)
{
	struct times times[N_WINDOWS];

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t shift = (uint64_t)round * 7000000000u;
		uint64_t end_ns = START_NS + HISTORY_NS;

		set_window(START_NS + shift, end_ns + LIVE_NS);
		time_one(&times[0], round, view);
		set_window(START_NS + 60000000000u + shift, START_NS + 360000000000u + shift);
		time_one(&times[1], round, view);
		set_window(end_ns - 9000000000u + shift / 7, end_ns - 8000000000u + shift / 7);
		time_one(&times[2], round, view);
	}
	for (size_t i = 0; i < N_WINDOWS; i++)
		tell_times(&times[i]);
}

static void time_filters(const struct view_case *view)
{
	struct times times[N_FILTERS];

	set_window(START_NS, START_NS + HISTORY_NS + LIVE_NS);
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < N_FILTERS; i++) {
			set_filter(filters[i]);
			time_one(&times[i], round, view);
		}
	}
	set_filter("");
	for (size_t i = 0; i < N_FILTERS; i++)
		tell_times(&times[i]);
}

/* Changes from another view or grouping to this one, over the same time. */
static void time_grouping(const struct view_case *view)
{
	size_t at = (size_t)(view - views);
	struct times times;

	set_window(START_NS, START_NS + HISTORY_NS + LIVE_NS);
	for (int round = 0; round < ROUNDS; round++) {
		const struct view_case *other =
			&views[(at + 1 + (size_t)round) % (sizeof(views) / sizeof(*views))];

		other->ask(other->what);
		time_one(&times, round, view);
	}
	tell_times(&times);
}

/* Adds 0.1 s of samples and moves the live window along. */
static void time_ticks(const struct view_case *view, uint64_t length_ns)
{
	double sum = 0;

	for (int round = 0; round <= 10; round++) {
		double begin, time;

		add_samples(TICK_SAMPLES, STORE_SLICE_NS / TICK_SAMPLES);
		set_window(length_ns ? bench.now_ns - length_ns : START_NS, bench.now_ns);
		bench.model.window.selected = false;
		bench.model.now_ns += STORE_SLICE_NS;
		begin = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
		if (view->ask == ask_hot)
			ask_hot_again(view->what);
		else
			view->ask(view->what);
		time = clock_ms(CLOCK_PROCESS_CPUTIME_ID) - begin;
		/* The first tick includes the initial build, so it does not count. */
		sum += round ? time : 0;
	}
	tell(sum / 10, TICK_LIMIT_MS);
}

static void time_view(const struct view_case *view)
{
	printf("%-18s", view->name);
	set_window(START_NS, START_NS + HISTORY_NS + LIVE_NS);
	view->ask(view->what);
	time_windows(view);
	time_filters(view);
	time_grouping(view);
	time_ticks(view, LIVE_NS);
	time_ticks(view, 0);
	printf("\n%-18s", "  CPU");
	for (size_t i = 0; i < bench.n_cpu; i++)
		printf(" %7.1f ", bench.cpu[i]);
	bench.n_cpu = 0;
	printf("\n");
}

static long memory_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss >> 10;
}

int main(int argc, char **argv)
{
	uint32_t samples = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000000;
	uint32_t stacks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 100000;
	uint32_t symbols = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 20000;
	size_t budget = (argc > 5 ? strtoul(argv[5], NULL, 10) : BUDGET_MB) << 20;
	struct store_status status;
	double begin = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
	long before;

	check(images_new(&bench.images));
	check(stacks_new(&bench.stacks));
	check(tasks_new(&bench.tasks, bench.images, NULL));
	check(names_new(&bench.names, bench.stacks, bench.images, NULL));
	bench.session.names = bench.names;
	make_stacks(stacks, symbols);
	make_tasks();
	check(store_new(&bench.store, bench.stacks, bench.tasks, budget));
	check(hot_new(&bench.hot, bench.store, bench.stacks, bench.names));
	bench.now_ns = START_NS;
	add_samples(samples, HISTORY_NS / samples);
	store_status(bench.store, &status);
	bench.centre = names_symref(bench.names,
		stacks_node(bench.stacks, stacks_node(bench.stacks, bench.nodes[1])->parent)
			->frame);
	before = memory_mb();
	printf("%llu samples in %zu slices, %u stacks of %u nodes, %u symbols, %zu of %u MB, "
	       "%ld MB in all, made in %.1f s\n",
		(unsigned long long)status.samples, status.slices, stacks,
		stacks_node_count(bench.stacks), symbols, status.memory_bytes >> 20,
		(unsigned int)(budget >> 20), before,
		(clock_ms(CLOCK_PROCESS_CPUTIME_ID) - begin) / 1e3);
	printf("ms; ! above %.0f, of ticks, which are CPU time, above %.0f\n", LIMIT_MS,
		TICK_LIMIT_MS);
	printf("%-18s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", "", "all", "half", "1 s",
		"comm", "symbol", "image", "cpu", "stack", "grouping", "tick20s", "tickall");
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
		if (argc < 5 || strstr(views[i].name, argv[4]))
			time_view(&views[i]);
	store_status(bench.store, &status);
	printf("%ld MB more at the most; the store's own: %zu MB\n", memory_mb() - before,
		status.memory_bytes >> 20);
	printf("%zu above their limits\n", bench.missed);
	return bench.missed != 0;
}
