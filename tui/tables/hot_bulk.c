/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot_bulk.c - see hot_bulk.h.
 */
#include "tui/tables/hot_bulk.h"

#include "sampler/base/hugepages.h"
#include "tui/base/grow.h"
#include "tui/names/forest.h"

/* Working memory for the sums of one event. */
struct work {
	const struct scan *scan;
	const struct forest *forest;
	const uint32_t *at; /* by entry: node in the forest */
	uint32_t n; /* number of nodes */
	uint64_t *through; /* by node; all 0 between events */
	uint64_t *totals; /* by symref, like sums; all 0 between events */
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
		out->growing |= name->growing;
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

/* Computes the trends, which are for one event.  The scan may have all events. */
static int fill_trends(const struct work *work, struct hot_trends *trends)
{
	hot_trends_clear(trends);
	trends->of = calloc(work->n_symrefs, sizeof(*trends->of));
	if (!trends->of)
		return -ENOMEM;
	trends->room = work->n_symrefs;
	for (uint32_t i = 0; i < work->scan->n_entries; i++) {
		uint64_t *parts = trends->of[work->forest->symref[work->at[i]]];

		if (work->scan->sides[work->scan->entries[i].side].event != trends->event)
			continue;
		for (uint32_t k = 0; k < HOT_TREND; k++)
			parts[k] += work->scan->parts[i][k];
	}
	return 0;
}

static int sum_all(struct work *work, struct names *names, struct hot_bulk *out)
{
	const struct scan *scan = work->scan;
	bool done[STORE_EVENTS_MAX] = {false};
	int ret = 0;

	work->through = hugepages_zeroed(sizeof(uint64_t), work->n * sizeof(*work->through));
	work->totals = calloc(work->n_symrefs, sizeof(*work->totals));
	work->sums = calloc(work->n_symrefs, sizeof(*work->sums));
	if (!work->through || !work->totals || !work->sums)
		ret = -ENOMEM;
	for (uint32_t i = 0; i < scan->n_sides && !ret; i++) {
		if (!done[scan->sides[i].event])
			ret = sum_event(work, names, scan->sides[i].event, out);
		done[scan->sides[i].event] = true;
	}
	free(work->through);
	free(work->totals);
	free(work->sums);
	return ret;
}

/* Computes sums, trends or both.  event: the one to sum, or -1 for all. */
static int make(const struct scan_question *question, int event, struct hot_trends *trends,
	struct hot_bulk *sums)
{
	struct scan_question ask = *question;
	struct forest *forest = NULL;
	uint32_t *at = NULL;
	struct scan scan;
	int ret;

	ask.by = SCAN_STACK;
	ask.leave_unresolved = true;
	ask.event = event;
	ask.column = GROUP_KEYS;
	ask.in_parts = trends;
	if (trends) {
		ask.parts_from_ns = trends->from_ns;
		ask.parts_to_ns = trends->to_ns;
	}
	ret = scan_run(&ask, &scan);
	if (ret)
		return ret;
	forest = forest_of(ask.names, ask.stacks);
	ret = forest ? scan_entries(&scan, forest, &at) : -ENOMEM;
	if (!ret) {
		struct work work = {.scan = &scan,
			.forest = forest,
			.at = at,
			.n = forest->n,
			.n_symrefs = names_limit(ask.names)};

		if (trends)
			ret = fill_trends(&work, trends);
		if (!ret && sums)
			ret = sum_all(&work, ask.names, sums);
	}
	free(at);
	forest_put(forest);
	scan_fini(&scan);
	return ret;
}

int hot_bulk_sum(
	const struct scan_question *question, struct hot_trends *trends, struct hot_bulk *out)
{
	int ret;

	memset(out, 0, sizeof(*out));
	ret = make(question, -1, trends, out);
	if (ret && trends)
		hot_trends_clear(trends);
	return ret;
}

int hot_trends_make(const struct scan_question *question, struct hot_trends *trends)
{
	int ret = make(question, trends->event, trends, NULL);

	if (ret)
		hot_trends_clear(trends);
	return ret;
}

void hot_trends_clear(struct hot_trends *trends)
{
	free(trends->of);
	trends->of = NULL;
	trends->room = 0;
}
