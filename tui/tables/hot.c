/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot.c - see hot.h.
 *
 * The range is a list of digests (digest.h) and their sums by event and symref.  UI thread.
 */
#include "tui/tables/hot_private.h"

#include "tui/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BULK_CELLS 100000u

int hot_new(struct hot **out, struct store *store, const struct stacks *stacks, struct names *names)
{
	struct hot *hot = calloc(1, sizeof(*hot));

	*out = NULL;
	if (!hot)
		return -ENOMEM;
	hot->store = store;
	hot->stacks = stacks;
	hot->bulk_cells = BULK_CELLS;
	hot->names = names;
	if (digester_new(&hot->digester, stacks, names)) {
		hot_free(hot);
		return -ENOMEM;
	}
	hot->epoch = names_epoch(names);
	hot->code_epoch = names_code_epoch(names);
	*out = hot;
	return 0;
}

/* Clears only the used entries, since few of many ids may be in use. */
static void column_clear(struct hot_column *column)
{
	struct bits_walk walk = bits_walk(column->used, column->used_room);
	uint32_t at;

	while (bits_next(&walk, &at)) {
		column->totals[at] = 0;
		column->leafs[at] = (struct hot_leaf){.self = 0};
		bits_remove(column->used, at);
	}
}

/* Empties the range. */
static void reset(struct hot *hot)
{
	for (size_t i = 0; i < hot->n_digests; i++)
		digest_fini(&hot->digests[i]);
	free(hot->digests);
	hot->digests = NULL;
	hot->n_digests = 0;
	for (size_t i = 0; i < STORE_EVENTS_MAX; i++)
		column_clear(&hot->columns[i]);
	hot->first = 0;
	memset(hot->by_event, 0, sizeof(hot->by_event));
	hot->summed = false;
	hot->n_bare = 0;
	hot->bare_pending = hot->bare_growing = false;
	hot_trends_clear(&hot->trends);
}

void hot_free(struct hot *hot)
{
	if (!hot)
		return;
	reset(hot);
	digester_free(hot->digester);
	for (size_t i = 0; i < STORE_EVENTS_MAX; i++) {
		free(hot->columns[i].totals);
		free(hot->columns[i].leafs);
		free(hot->columns[i].used);
	}
	hot_lines_fini(hot);
	free(hot->rows);
	free(hot);
}

/* Makes room for the sums of an id.  Returns 0 or -ENOMEM. */
static int make_room(struct hot_column *column, uint32_t at)
{
	if (at < column->room)
		return 0;
	if (grow_zeroed(
		    (void **)&column->totals, at, &column->totals_room, sizeof(*column->totals)) ||
		grow_zeroed(
			(void **)&column->leafs, at, &column->leafs_room, sizeof(*column->leafs)) ||
		grow_zeroed((void **)&column->used, at / BITS_WORD, &column->used_room,
			sizeof(*column->used)))
		return -ENOMEM;
	column->room = at + 1;
	return 0;
}

static int add_part(struct hot *hot, const struct hot_part *part)
{
	struct hot_column *column = &hot->columns[part->event];
	const uint32_t at = part->id - hot->first;

	if (make_room(column, at))
		return -ENOMEM;
	bits_add(column->used, at);
	column->totals[at] += part->total;
	column->leafs[at].self += part->self;
	column->leafs[at].samples += part->samples;
	return 0;
}

static int add_digest(struct hot *hot, const struct digest *digest)
{
	for (uint32_t i = 0; i < digest->n_totals; i++) {
		const struct digest_total *total = &digest->totals[i];
		struct hot_sums *sums = &hot->by_event[total->event];
		struct hot_column *column = &hot->columns[total->event];
		const uint32_t *symrefs = digest->symrefs + total->first;
		const uint64_t *weights = digest->weights + total->first;

		if (total->n && make_room(column, symrefs[total->n - 1]))
			return -ENOMEM;
		for (uint32_t j = 0; j < total->n; j++) {
			bits_add(column->used, symrefs[j]);
			column->totals[symrefs[j]] += weights[j];
		}
		for (uint32_t j = 0; j < total->n_leafs; j++) {
			const struct digest_leaf *leaf = &digest->leafs[total->first_leaf + j];

			column->leafs[leaf->symref].self += leaf->self;
			column->leafs[leaf->symref].samples += leaf->samples;
		}
		sums->weight += total->weight;
		sums->samples += total->samples;
		sums->unresolved += total->unresolved;
	}
	return 0;
}

static void subtract_digest(struct hot *hot, const struct digest *digest)
{
	for (uint32_t i = 0; i < digest->n_totals; i++) {
		const struct digest_total *total = &digest->totals[i];
		struct hot_sums *sums = &hot->by_event[total->event];
		struct hot_column *column = &hot->columns[total->event];
		const uint32_t *symrefs = digest->symrefs + total->first;
		const uint64_t *weights = digest->weights + total->first;

		for (uint32_t j = 0; j < total->n; j++)
			column->totals[symrefs[j]] -= weights[j];
		for (uint32_t j = 0; j < total->n_leafs; j++) {
			const struct digest_leaf *leaf = &digest->leafs[total->first_leaf + j];

			column->leafs[leaf->symref].self -= leaf->self;
			column->leafs[leaf->symref].samples -= leaf->samples;
		}
		sums->weight -= total->weight;
		sums->samples -= total->samples;
		sums->unresolved -= total->unresolved;
	}
}

/* Returns how many slices of the snapshot, from *first on, have their middle in the range. */
static size_t in_range(
	const struct snapshot *snapshot, uint64_t from_ns, uint64_t to_ns, size_t *first)
{
	size_t n = 0;

	*first = 0;
	for (size_t i = 0; i < snapshot->n; i++) {
		if (!slice_is_in(snapshot->slices[i], from_ns, to_ns))
			continue;
		if (!n)
			*first = i;
		n = i + 1 - *first;
	}
	return n;
}

/* --- following a range that changes --- */

/* The change from the previous range to another one. */
struct change {
	const struct snapshot *snapshot; /* covers both ranges */
	const struct slice *const *slices;
	size_t n;
	bool remake_all, remake_pending, remake_growing;
};

static void weigh(struct digest *digest, const struct slice *slice)
{
	digest->weight = digest->samples = 0;
	for (uint32_t i = 0; i < slice->n_totals; i++) {
		digest->weight += slice->totals[i].weight;
		digest->samples += slice->totals[i].count;
	}
}

/* Returns how many digests, from old[0] on, were merged into this slice, if one of them is bare;
 * else 0.  Weight and samples must match exactly.  A slice that lost detail replaces one digest,
 * not several. */
static size_t merged_into(const struct digest *old, size_t n_old, const struct slice *slice)
{
	struct digest whole = {0};
	uint64_t weight = 0, samples = 0;
	bool bare = false;
	size_t n = 0;

	if (slice->reduced || !n_old || old[0].serial == slice->serial ||
		old[0].start_ns != slice->start_ns)
		return 0;
	for (; n < n_old && old[n].end_ns <= slice->end_ns; n++) {
		weight += old[n].weight;
		samples += old[n].samples;
		bare |= old[n].bare;
	}
	weigh(&whole, slice);
	return bare && n > 1 && old[n - 1].end_ns == slice->end_ns && weight == whole.weight &&
			samples == whole.samples
		? n
		: 0;
}

/* Finds the slice of a digest by binary search; slices are ordered by time. */
static const struct slice *find_slice(const struct snapshot *snapshot, const struct digest *digest)
{
	size_t first = 0, end = snapshot->n;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (snapshot->slices[middle]->start_ns < digest->start_ns)
			first = middle + 1;
		else
			end = middle;
	}
	for (; first < snapshot->n && snapshot->slices[first]->start_ns == digest->start_ns;
		first++)
		if (snapshot->slices[first]->serial == digest->serial)
			return snapshot->slices[first];
	return NULL;
}

static bool is_good(const struct change *change, const struct digest *digest)
{
	return !change->remake_all && !(change->remake_pending && digest->pending) &&
		!(change->remake_growing && digest->growing);
}

/* Counts the cells that must be read to follow the change.  Returns false if it cannot be followed,
 * because a slice that leaves has no known sums. */
static bool can_follow(const struct hot *hot, const struct change *change, uint64_t *cells)
{
	const struct digest *old = hot->digests;
	size_t n_old = hot->n_digests, at = 0, run;

	*cells = 0;
	if (hot->n_bare &&
		(change->remake_all || (change->remake_pending && hot->bare_pending) ||
			(change->remake_growing && hot->bare_growing)))
		return false;
	for (size_t i = 0; i <= change->n; i++) {
		const struct slice *slice = i < change->n ? change->slices[i] : NULL;

		while (at < n_old &&
			(!slice ||
				(old[at].serial != slice->serial &&
					old[at].start_ns <= slice->start_ns))) {
			const struct slice *gone = NULL;

			if (slice && merged_into(old + at, n_old - at, slice))
				break;
			if (old[at].bare) {
				gone = find_slice(change->snapshot, &old[at]);
				if (!gone)
					return false;
				*cells += gone->cells;
			}
			at++;
		}
		if (!slice)
			break;
		run = merged_into(old + at, n_old - at, slice);
		if (run) {
			at += run;
			continue;
		}
		if (at < n_old && old[at].serial == slice->serial && is_good(change, &old[at++]))
			continue;
		*cells += slice->cells;
	}
	return true;
}

/* Removes a digest from the sums.  The slice of a bare digest is read again. */
static int leave(struct hot *hot, const struct change *change, struct digest *digest)
{
	struct digest again;
	int ret = 0;

	if (!digest->bare) {
		subtract_digest(hot, digest);
	} else {
		const struct slice *slice = find_slice(change->snapshot, digest);

		ret = slice ? digest_make(hot->digester, slice, hot->tasks, hot->hide_idle, &again)
			    : -ENOENT;
		if (!ret) {
			subtract_digest(hot, &again);
			digest_fini(&again);
		}
		hot->digested++;
	}
	digest_fini(digest);
	return ret;
}

static int enter(struct hot *hot, const struct slice *slice, struct digest *digest)
{
	int ret = digest_make(hot->digester, slice, hot->tasks, hot->hide_idle, digest);

	if (ret)
		return ret;
	weigh(digest, slice);
	digest->number = ++hot->last_number;
	hot->digested++;
	return add_digest(hot, digest);
}

static struct digest bare_digest(const struct slice *slice)
{
	struct digest digest = {.serial = slice->serial,
		.start_ns = slice->start_ns,
		.end_ns = slice->end_ns,
		.bare = true};

	weigh(&digest, slice);
	return digest;
}

/* Numbers consecutive digests consecutively.  A digest keeps its number, but if one in the middle
 * was rebuilt, all get new numbers. */
static void number(struct hot *hot)
{
	struct digest *digests = hot->digests;
	size_t n = 0;

	while (n < hot->n_digests && digests[n].number == digests[0].number + n)
		n++;
	for (size_t i = 0; n < hot->n_digests && i < hot->n_digests; i++)
		digests[i].number = ++hot->last_number;
}

/* Makes the list of digests of exactly these slices: keeps the valid ones and builds the others.
 * On failure the list has the digests built so far. */
static int follow(struct hot *hot, const struct change *change)
{
	struct digest *old = hot->digests, *made = NULL;
	size_t n_old = hot->n_digests, at = 0, n_made = 0;
	int ret = 0;

	if (change->n) {
		made = calloc(change->n, sizeof(*made));
		if (!made)
			return -ENOMEM;
	}
	for (size_t i = 0; i < change->n && !ret; i++) {
		const struct slice *slice = change->slices[i];
		struct digest *digest = &made[n_made];
		size_t run;

		/* A merged slice has a serial of its own and replaces the slices merged into it. */
		while (!ret && !(run = merged_into(old + at, n_old - at, slice)) && at < n_old &&
			old[at].serial != slice->serial && old[at].start_ns <= slice->start_ns)
			ret = leave(hot, change, &old[at++]);
		if (ret)
			break;
		if (run) {
			while (run--)
				digest_fini(&old[at++]);
			made[n_made++] = bare_digest(slice);
			continue;
		}
		if (at < n_old && old[at].serial == slice->serial) {
			if (is_good(change, &old[at])) {
				*digest = old[at];
				memset(&old[at++], 0, sizeof(*old));
				n_made++;
				continue;
			}
			ret = leave(hot, change, &old[at++]);
		}
		if (!ret)
			ret = enter(hot, slice, digest);
		n_made += !ret;
	}
	for (; at < n_old; at++) {
		if (!ret)
			ret = leave(hot, change, &old[at]);
		else
			digest_fini(&old[at]);
	}
	free(old);
	hot->digests = made;
	hot->n_digests = n_made;
	number(hot);
	return ret;
}

/* Computes sums that need no cells: samples before filters, and the covered time. */
static void measure(struct hot *hot, const struct slice *const *slices, size_t n)
{
	for (size_t i = 0; i < STORE_EVENTS_MAX; i++) {
		hot->by_event[i].all_samples = 0;
		hot->by_event[i].span_ns = n ? slices[n - 1]->end_ns - slices[0]->start_ns : 0;
	}
	for (size_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < slices[i]->n_totals; j++)
			hot->by_event[slices[i]->totals[j].event].all_samples +=
				slices[i]->totals[j].count;
}

struct scan_question hot_question(
	const struct hot *hot, const struct snapshot *snapshot, uint64_t from_ns, uint64_t to_ns)
{
	return (struct scan_question){.snapshot = snapshot,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.stacks = hot->stacks,
		.tasks = hot->tasks,
		.names = hot->names,
		.filter = hot->filter,
		.hide_idle = hot->hide_idle,
		.idle_by_name = !hot->tasks,
		.two_cells = hot->bulk_cells < BULK_CELLS,
		.column = GROUP_KEYS};
}

/* Sums all slices at once, without digests. */
static int sum_anew(struct hot *hot, const struct change *change, uint64_t from_ns, uint64_t to_ns)
{
	const struct scan_question question = hot_question(hot, change->snapshot, from_ns, to_ns);
	struct hot_trends *trends = hot->wants_trends && change->n ? &hot->trends : NULL;
	struct hot_bulk bulk;
	int ret;

	reset(hot);
	if (trends)
		hot_trend_time(change->slices[0]->start_ns, change->slices[change->n - 1]->end_ns,
			from_ns, to_ns, trends);
	ret = hot_bulk_sum(&question, trends, &bulk);
	if (!ret) {
		memcpy(hot->by_event, bulk.by_event, sizeof(hot->by_event));
		hot->bare_pending = bulk.pending;
		hot->bare_growing = bulk.growing;
		hot->digests = calloc(change->n ? change->n : 1, sizeof(*hot->digests));
		ret = hot->digests ? 0 : -ENOMEM;
	}
	for (uint32_t i = 0; i < bulk.n && !ret; i++)
		ret = add_part(hot, &bulk.parts[i]);
	for (size_t i = 0; i < change->n && !ret; i++)
		hot->digests[hot->n_digests++] = bare_digest(change->slices[i]);
	hot->digested += change->n;
	hot_bulk_fini(&bulk);
	return ret;
}

int hot_update(struct hot *hot, uint64_t from_ns, uint64_t to_ns)
{
	struct snapshot snapshot;
	struct change change = {.snapshot = &snapshot,
		/* Any change of a name can change which samples pass a filter. */
		.remake_all = hot->hide_idle != hot->made_hide_idle ||
			(hot->filter && hot->changes != names_changes(hot->names)),
		.remake_pending = hot->epoch != names_epoch(hot->names),
		.remake_growing = hot->code_epoch != names_code_epoch(hot->names)};
	uint64_t cells;
	size_t first;
	int ret;

	if (hot->summed)
		reset(hot);
	/* With bare digests, the snapshot also covers the slices that leave. */
	ret = store_snapshot(hot->store,
		hot->n_bare && hot->from_ns < from_ns ? hot->from_ns : from_ns,
		hot->n_bare && hot->to_ns > to_ns ? hot->to_ns : to_ns, &snapshot);
	if (ret) {
		reset(hot);
		return ret;
	}
	change.n = in_range(&snapshot, from_ns, to_ns, &first);
	change.slices = change.n ? snapshot.slices + first : NULL;
	if (can_follow(hot, &change, &cells) && cells <= hot->bulk_cells)
		ret = follow(hot, &change);
	else
		ret = sum_anew(hot, &change, from_ns, to_ns);
	if (ret)
		reset(hot);
	measure(hot, change.slices, ret ? 0 : change.n);
	snapshot_release(hot->store, &snapshot);
	hot->epoch = names_epoch(hot->names);
	hot->code_epoch = names_code_epoch(hot->names);
	hot->changes = names_changes(hot->names);
	hot->made_hide_idle = hot->hide_idle;
	hot->from_ns = from_ns;
	hot->to_ns = to_ns;
	hot->n_bare = 0;
	for (size_t i = 0; i < hot->n_digests; i++)
		hot->n_bare += hot->digests[i].bare;
	return ret;
}

void hot_set_bulk(struct hot *hot, uint64_t cells)
{
	hot->bulk_cells = cells;
}

int hot_sum(struct hot *hot, uint64_t from_ns, uint64_t to_ns)
{
	struct snapshot snapshot;
	size_t first, n;
	int ret;

	reset(hot);
	hot->summed = true;
	ret = store_snapshot(hot->store, from_ns, to_ns, &snapshot);
	if (ret)
		return ret;
	n = in_range(&snapshot, from_ns, to_ns, &first);
	for (size_t i = first; i < first + n && !ret; i++) {
		struct digest digest;

		ret = digest_make(
			hot->digester, snapshot.slices[i], hot->tasks, hot->hide_idle, &digest);
		if (!ret)
			ret = add_digest(hot, &digest);
		digest_fini(&digest);
	}
	if (ret)
		reset(hot);
	measure(hot, n ? snapshot.slices + first : NULL, ret ? 0 : n);
	snapshot_release(hot->store, &snapshot);
	hot->epoch = names_epoch(hot->names);
	hot->code_epoch = names_code_epoch(hot->names);
	return ret;
}

int hot_fill(struct hot *hot, const struct hot_part *parts, size_t n,
	const struct hot_sums by_event[STORE_EVENTS_MAX])
{
	reset(hot);
	hot->summed = true;
	for (size_t i = 0; i < n; i++)
		if (!i || parts[i].id < hot->first)
			hot->first = parts[i].id;
	for (size_t i = 0; i < n; i++) {
		if (add_part(hot, &parts[i])) {
			reset(hot);
			return -ENOMEM;
		}
	}
	memcpy(hot->by_event, by_event, sizeof(hot->by_event));
	return 0;
}

void hot_set_namer(struct hot *hot, hot_namer *namer, void *ctx)
{
	hot->namer = namer;
	hot->namer_ctx = ctx;
}

/* Adds the sums of one event.  columns: room for self, total and samples by symref. */
static int load_event(struct hot *hot, const struct basis *basis, uint8_t event, uint32_t limit,
	uint64_t *columns)
{
	uint64_t *self = columns, *total = columns + limit, *samples = columns + 2 * (size_t)limit;
	struct hot_sums *sums = &hot->by_event[event];
	int ret;

	memset(columns, 0, 3 * (size_t)limit * sizeof(*columns));
	ret = basis_symbols(basis, event, limit, self, total, samples);
	for (uint32_t i = 0; i < limit && !ret; i++) {
		const struct hot_part part = {self[i], total[i], samples[i], i, event};

		sums->samples += samples[i];
		if (total[i] || samples[i])
			ret = add_part(hot, &part);
	}
	sums->weight = basis->sums[event];
	return ret;
}

int hot_load(struct hot *hot, const struct basis *basis)
{
	const uint32_t limit = names_limit(hot->names);
	uint64_t *columns = calloc(limit, 3 * sizeof(*columns));
	int ret = columns ? 0 : -ENOMEM;

	reset(hot);
	hot->summed = true;
	for (int event = 0; event < STORE_EVENTS_MAX && !ret; event++)
		if (basis->sums[event])
			ret = load_event(hot, basis, (uint8_t)event, limit, columns);
	free(columns);
	if (ret)
		reset(hot);
	hot->epoch = names_epoch(hot->names);
	hot->code_epoch = names_code_epoch(hot->names);
	return ret;
}

uint64_t hot_digested(const struct hot *hot)
{
	return hot->digested;
}

void hot_hide_idle(struct hot *hot, bool hide)
{
	hot->hide_idle = hide;
}

void hot_set_filter(struct hot *hot, struct filter *filter)
{
	hot->filter = filter;
	digester_set_filter(hot->digester, filter);
	reset(hot);
	hot->from_ns = hot->to_ns = 0;
}

void hot_set_tasks(struct hot *hot, const struct tasks *tasks)
{
	hot->tasks = tasks;
}

void hot_cell(
	const struct hot *hot, uint32_t symref, uint8_t event, uint64_t *self, uint64_t *total)
{
	const struct hot_sum sum = hot_sum_at(hot, symref, event);

	*self = sum.self;
	*total = sum.total;
}

void hot_sums(const struct hot *hot, uint8_t event, struct hot_sums *out)
{
	*out = hot->by_event[event];
}
