/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot_bulk.c - see hot_bulk.h.
 */
#include "tui/hot_bulk.h"

#include "tui/forest.h"
#include "tui/grow.h"
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

struct leaves {
	const struct scan_question *question;
	uint32_t *symrefs; /* + 1, by node */
	uint32_t room;
};

static int leaf_of(struct leaves *leaves, uint32_t node, uint32_t *symref)
{
	const struct scan_question *question = leaves->question;

	if (node >= leaves->room || !leaves->symrefs[node]) {
		if (grow_zeroed((void **)&leaves->symrefs, node, &leaves->room,
			    sizeof(*leaves->symrefs)))
			return -ENOMEM;
		leaves->symrefs[node] = 1;
		if (node != STACK_ROOT)
			leaves->symrefs[node] += names_symref(
				question->names, stacks_node(question->stacks, node)->frame);
	}
	*symref = leaves->symrefs[node] - 1;
	return 0;
}

static int add_slice(struct hot_trends *trends, struct sieve *sieve, struct leaves *leaves,
	const struct slice *slice)
{
	const struct spread spread = spread_of(slice, trends->from_ns, trends->to_ns);
	const struct scan_question *question = leaves->question;
	unsigned int out = SIEVE_FAILS;

	if (question->hide_idle)
		out |= question->idle_by_name ? SIEVE_IDLE_LEAF : SIEVE_IDLE_TASK;
	for (uint32_t i = 0; i < slice->cells; i++) {
		uint64_t *of;
		uint32_t symref;

		if (slice->event[i] != trends->event || sieve_cell(sieve, slice, i) & out)
			continue;
		if (leaf_of(leaves, slice->stack[i], &symref) ||
			grow_zeroed(
				(void **)&trends->of, symref, &trends->room, sizeof(*trends->of)))
			return -ENOMEM;
		of = trends->of[symref];
		if (spread.only >= 0) {
			of[spread.only] += slice->weight[i];
			continue;
		}
		for (int k = 0; k < HOT_TREND; k++)
			of[k] += (uint64_t)((double)slice->weight[i] * spread.part[k] + 0.5);
	}
	return 0;
}

int hot_trends_make(const struct scan_question *question, uint64_t from_ns, uint64_t to_ns,
	struct hot_trends *out)
{
	struct leaves leaves = {.question = question};
	struct sieve sieve;
	int ret = 0;

	hot_trends_fini(out);
	*out = (struct hot_trends){
		.from_ns = from_ns, .to_ns = to_ns, .event = (uint8_t)question->event};
	sieve_init(&sieve, question->filter, question->stacks, question->tasks, question->names,
		question->hide_idle && question->idle_by_name);
	for (size_t i = 0; i < question->snapshot->n && !ret; i++) {
		const struct slice *slice = question->snapshot->slices[i];

		if (slice_is_in(slice, question->from_ns, question->to_ns))
			ret = add_slice(out, &sieve, &leaves, slice);
	}
	sieve_fini(&sieve);
	free(leaves.symrefs);
	if (ret)
		hot_trends_fini(out);
	return ret;
}

void hot_trends_fini(struct hot_trends *trends)
{
	free(trends->of);
	*trends = (struct hot_trends){.of = NULL};
}
