/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot_bulk.c - see hot_bulk.h.
 */
#include "tui/hot_bulk.h"

#include "tui/forest.h"
#include "tui/grow.h"
#include "tui/halves.h"
#include "tui/sieve.h"

/* Sums of one event. */
struct work {
	const struct scan *scan;
	const struct forest *forest;
	const uint32_t *at; /* the forest's node of each entry */
	uint32_t n; /* nodes */
	uint64_t *through; /* by node; all 0 between events */
	uint64_t *totals; /* by symref; the same, as are the next */
	struct hot_part *sums;
	uint32_t n_symrefs;
};

void hot_bulk_fini(struct hot_bulk *bulk)
{
	free(bulk->parts);
	memset(bulk, 0, sizeof(*bulk));
}

static int collect(struct work *work, struct names *names, uint8_t event, struct hot_bulk *out)
{
	struct hot_sums *all = &out->by_event[event];

	for (uint32_t symref = 0; symref < work->n_symrefs; symref++) {
		struct hot_part *sum = &work->sums[symref];
		const struct symref *name;

		sum->total = work->totals[symref];
		work->totals[symref] = 0;
		if (!sum->total && !sum->samples)
			continue;
		if (grow_room((void **)&out->parts, out->n, &out->room, sizeof(*out->parts)))
			return -ENOMEM;
		name = names_get(names, symref);
		sum->id = symref;
		sum->event = event;
		all->weight += sum->self;
		all->samples += sum->samples;
		if (!name->resolved)
			all->unresolved += sum->self;
		out->pending |= name->pending;
		out->parts[out->n++] = *sum;
		*sum = (struct hot_part){0};
	}
	return 0;
}

static int sum_event(struct work *work, struct names *names, uint8_t event, struct hot_bulk *out)
{
	const struct forest *forest = work->forest;

	for (uint32_t i = 0; i < work->scan->n_entries; i++) {
		const struct scan_entry *entry = &work->scan->entries[i];
		struct hot_part *sum = &work->sums[forest->symref[work->at[i]]];

		if (work->scan->sides[entry->side].event != event)
			continue;
		sum->self += entry->weight;
		sum->samples += entry->samples;
		work->through[work->at[i]] += entry->weight;
	}
	for (uint32_t i = work->n - 1; i > FOREST_ROOT; i--) {
		if (!work->through[i])
			continue;
		if (!forest->above[i])
			work->totals[forest->symref[i]] += work->through[i];
		work->through[forest->parent[i]] += work->through[i];
		work->through[i] = 0;
	}
	work->through[FOREST_ROOT] = 0;
	return collect(work, names, event, out);
}

int hot_bulk_sum(const struct scan_question *question, struct hot_bulk *out)
{
	struct scan_question ask = *question;
	bool done[STORE_EVENTS_MAX] = {false};
	struct forest *forest = NULL;
	struct work work = {0};
	uint32_t *at = NULL;
	struct scan scan;
	int ret;

	memset(out, 0, sizeof(*out));
	ask.by = SCAN_STACK;
	ask.leave_unresolved = true;
	ask.event = -1;
	ask.column = GROUP_KEYS;
	ret = scan_run(&ask, &scan);
	if (ret)
		return ret;
	ret = -ENOMEM;
	forest = forest_of(ask.names, ask.stacks);
	if (!forest || forest_entries(forest, &scan, &at))
		goto out;
	work = (struct work){.scan = &scan,
		.forest = forest,
		.at = at,
		.n = forest->n,
		.n_symrefs = names_limit(ask.names)};
	work.through = calloc(work.n, sizeof(*work.through));
	work.totals = calloc(work.n_symrefs, sizeof(*work.totals));
	work.sums = calloc(work.n_symrefs, sizeof(*work.sums));
	if (!work.through || !work.totals || !work.sums)
		goto out;
	ret = 0;
	for (uint32_t i = 0; i < scan.n_sides && !ret; i++) {
		if (!done[scan.sides[i].event])
			ret = sum_event(&work, ask.names, scan.sides[i].event, out);
		done[scan.sides[i].event] = true;
	}
out:
	free(work.through);
	free(work.totals);
	free(work.sums);
	free(at);
	forest_put(forest);
	scan_fini(&scan);
	return ret;
}

/* --- trends --- */

/* How much of a slice's time lies in each part; 1 in all. */
struct spread {
	double part[HOT_TREND];
	int only; /* the part that it is all in, or -1 */
};

static struct spread spread_of(const struct slice *slice, uint64_t from_ns, uint64_t to_ns)
{
	double start = (double)slice->start_ns - (double)from_ns;
	double end = (double)slice->end_ns - (double)from_ns;
	double length = (double)(to_ns - from_ns) / HOT_TREND;
	struct spread spread = {.only = -1};

	for (int k = 0; k < HOT_TREND && end > start; k++) {
		double left = k * length > start ? k * length : start;
		double right = (k + 1) * length < end ? (k + 1) * length : end;

		spread.part[k] = right > left ? (right - left) / (end - start) : 0.0;
		if (left <= start && right >= end)
			spread.only = k;
	}
	return spread;
}

#define AHEAD 8u /* cells whose stacks are fetched before they are needed */
#define LEAF_FAILS (1u << 31)

struct leaves {
	const struct scan_question *question;
	struct hot_trends *trends;
	struct half half;
	struct sieve sieve;
	unsigned int out; /* of the sieve's bits: what does not count */
	uint32_t *symrefs; /* + 1, by node, with LEAF_FAILS where the stack does not pass */
	uint32_t room;
	uint64_t *
		now; /* by symref: what fell into one part, which is much less memory than all parts are */
	uint32_t now_room;
	int part;
};

static void end_part(struct leaves *leaves)
{
	struct hot_trends *trends = leaves->trends;

	for (uint32_t i = 0; i < leaves->now_room && i < trends->room; i++)
		trends->of[i][leaves->part] += leaves->now[i];
	if (leaves->now_room)
		memset(leaves->now, 0, leaves->now_room * sizeof(*leaves->now));
}

static int learn_leaf(struct leaves *leaves, uint32_t node)
{
	const struct scan_question *question = leaves->question;
	struct hot_trends *trends = leaves->trends;
	uint32_t symref = 0;

	sieve_lock(&leaves->sieve);
	if (node != STACK_ROOT)
		symref = names_symref(question->names, stacks_node(question->stacks, node)->frame);
	sieve_unlock(&leaves->sieve);
	if (grow_zeroed((void **)&leaves->symrefs, node, &leaves->room, sizeof(*leaves->symrefs)) ||
		grow_zeroed(
			(void **)&leaves->now, symref, &leaves->now_room, sizeof(*leaves->now)) ||
		grow_zeroed((void **)&trends->of, symref, &trends->room, sizeof(*trends->of)))
		return -ENOMEM;
	leaves->symrefs[node] = symref + 1;
	if (sieve_node(&leaves->sieve, node) & leaves->out)
		leaves->symrefs[node] |= LEAF_FAILS;
	return 0;
}

static inline __attribute__((always_inline)) void fetch_leaf(
	const struct leaves *leaves, const struct slice *slice, uint32_t i)
{
	uint32_t stack;

	if (i + 2 * AHEAD >= slice->cells || slice->stack[i + 2 * AHEAD] >= leaves->room)
		return;
	__builtin_prefetch(&leaves->symrefs[slice->stack[i + 2 * AHEAD]]);
	stack = slice->stack[i + AHEAD];
	if (stack < leaves->room && !leaves->symrefs[stack])
		__builtin_prefetch(stacks_node(leaves->question->stacks, stack));
}

/* Without a branch that depends on the cell, where all of its time lies in one part. */
static inline __attribute__((always_inline)) int add_slice(
	struct leaves *leaves, const struct slice *slice, bool sieved)
{
	struct hot_trends *trends = leaves->trends;
	const struct spread spread = spread_of(slice, trends->from_ns, trends->to_ns);
	uint32_t first, last;

	if (spread.only >= 0 && spread.only != leaves->part) {
		end_part(leaves);
		leaves->part = spread.only;
	}
	halves_cells(slice, &leaves->half, &first, &last);
	for (uint32_t i = first; i < last; i++) {
		uint32_t stack = slice->stack[i], leaf;
		uint64_t weight = slice->weight[i];

		fetch_leaf(leaves, slice, i);
		if (slice->event[i] != trends->event)
			continue;
		if (__builtin_expect(stack >= leaves->room || !leaves->symrefs[stack], 0)) {
			if (learn_leaf(leaves, stack))
				return -ENOMEM;
		}
		leaf = leaves->symrefs[stack];
		if (sieved) {
			unsigned int rest = sieve_rest(&leaves->sieve, slice, i);

			weight &= (uint64_t)(leaf & LEAF_FAILS || rest & leaves->out) - 1;
		}
		leaf = (leaf & ~LEAF_FAILS) - 1;
		if (spread.only >= 0) {
			leaves->now[leaf] += weight;
			continue;
		}
		for (int k = 0; k < HOT_TREND; k++)
			trends->of[leaf][k] += (uint64_t)((double)weight * spread.part[k] + 0.5);
	}
	return 0;
}

static int add_slices(void *ctx)
{
	struct leaves *leaves = ctx;
	const struct scan_question *question = leaves->question;
	bool sieved = question->filter || question->hide_idle;
	int ret = 0;

	for (size_t i = 0; i < question->snapshot->n && !ret; i++) {
		const struct slice *slice = question->snapshot->slices[i];

		if (slice_is_in(slice, question->from_ns, question->to_ns))
			ret = sieved ? add_slice(leaves, slice, true)
				     : add_slice(leaves, slice, false);
	}
	if (!ret)
		end_part(leaves);
	return ret;
}

static void leaves_init(
	struct leaves *leaves, const struct scan_question *question, struct hot_trends *trends)
{
	*leaves = (struct leaves){
		.question = question, .trends = trends, .half.end = HALVES_END, .out = SIEVE_FAILS};
	if (question->hide_idle)
		leaves->out |= question->idle_by_name ? SIEVE_IDLE_LEAF : SIEVE_IDLE_TASK;
	sieve_init(&leaves->sieve, question->filter, question->stacks, question->tasks,
		question->names, question->hide_idle && question->idle_by_name);
}

static void leaves_fini(struct leaves *leaves)
{
	sieve_fini(&leaves->sieve);
	free(leaves->symrefs);
	free(leaves->now);
}

static int add_trends(struct hot_trends *to, const struct hot_trends *from)
{
	if (from->room && grow_zeroed((void **)&to->of, from->room - 1, &to->room, sizeof(*to->of)))
		return -ENOMEM;
	for (uint32_t i = 0; i < from->room; i++)
		for (int k = 0; k < HOT_TREND; k++)
			to->of[i][k] += from->of[i][k];
	return 0;
}

static int make_in_two(struct leaves *leaves, uint32_t middle)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct hot_trends trends = *leaves->trends;
	struct leaves other;
	int ret;

	leaves_init(&other, leaves->question, &trends);
	other.half.begin = leaves->half.end = middle;
	other.sieve.lock = leaves->sieve.lock = &lock;
	ret = halves_run(add_slices, leaves, &other);
	if (!ret)
		ret = add_trends(leaves->trends, &trends);
	leaves_fini(&other);
	hot_trends_fini(&trends);
	pthread_mutex_destroy(&lock);
	return ret;
}

int hot_trends_make(const struct scan_question *question, uint64_t from_ns, uint64_t to_ns,
	struct hot_trends *out)
{
	struct leaves leaves;
	uint32_t middle;
	int ret;

	hot_trends_fini(out);
	*out = (struct hot_trends){
		.from_ns = from_ns, .to_ns = to_ns, .event = (uint8_t)question->event};
	leaves_init(&leaves, question, out);
	if (!leaves.sieve.by_fields &&
		halves_stack(question->snapshot, question->from_ns, question->to_ns,
			question->two_cells, &middle))
		ret = make_in_two(&leaves, middle);
	else
		ret = add_slices(&leaves);
	leaves_fini(&leaves);
	if (ret)
		hot_trends_fini(out);
	return ret;
}

void hot_trends_fini(struct hot_trends *trends)
{
	free(trends->of);
	*trends = (struct hot_trends){.of = NULL};
}
