/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot_rows.c - the sorted rows of a hot table.
 */
#include "tui/base/grow.h"
#include "tui/tables/hot_private.h"

#include "sampler/base/radix.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_PART 16u /* below 1/16 of the rows, a heap is cheaper than sorting all */

static const struct symref *name_of(const struct hot *hot, uint32_t id)
{
	return hot->namer ? hot->namer(hot->namer_ctx, id) : names_get(hot->names, id);
}

struct order {
	const struct hot *hot;
	enum hot_sort sort;
	bool reverse, quick;
};

static int by_number(uint64_t left, uint64_t right)
{
	return left > right ? -1 : left < right;
}

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct hot_row *left = a, *right = b;
	const struct order *order = ctx;
	const struct symref *l, *r;
	int result = 0;

	if (order->sort == HOT_SORT_SELF)
		result = by_number(left->self, right->self);
	else if (order->sort == HOT_SORT_TOTAL)
		result = by_number(left->total, right->total);
	else if (order->sort == HOT_SORT_SAMPLES)
		result = by_number(left->samples, right->samples);
	else if (order->sort == HOT_SORT_CHANGE && fabs(left->change) != fabs(right->change))
		result = fabs(left->change) > fabs(right->change) ? -1 : 1;
	/* Callers without self weight are many; their totals decide. */
	if (!result && order->sort == HOT_SORT_SELF)
		result = by_number(left->total, right->total);
	if (result)
		return order->reverse ? -result : result;
	if (order->quick && order->sort <= HOT_SORT_CHANGE)
		return left->symref < right->symref ? -1 : left->symref > right->symref;

	l = name_of(order->hot, left->symref);
	r = name_of(order->hot, right->symref);
	if (order->sort == HOT_SORT_IMAGE) {
		result = strcmp(l->image, r->image);
		if (result)
			return order->reverse ? -result : result;
	}
	result = strcmp(l->symbol, r->symbol);
	if (result)
		return order->reverse && order->sort == HOT_SORT_SYMBOL ? -result : result;
	result = strcmp(l->image, r->image);
	if (result)
		return result;
	if (l->start != r->start)
		return l->start < r->start ? -1 : 1;
	return left->symref < right->symref ? -1 : left->symref > right->symref;
}

static bool passes(struct hot *hot, const struct hot_query *query, uint32_t symref)
{
	const struct symref *name;

	if (!query->hide_kernel && (!query->filter || !query->filter[0]))
		return true;
	name = name_of(hot, symref);
	if (query->hide_kernel && name->kernel)
		return false;
	return !query->filter || !query->filter[0] || strcasestr(name->symbol, query->filter) ||
		strcasestr(name->image, query->filter);
}

static double share_of(const struct hot *hot, uint32_t symref, uint8_t event)
{
	uint64_t self, total, weight = hot->by_event[event].weight;

	hot_cell(hot, symref, event, &self, &total);
	return weight ? (double)self / (double)weight : 0.0;
}

/* Clears the bits of sums that have become zero. */
static void clear_unused(struct hot_column *column)
{
	struct bits_walk walk = bits_walk(column->used, column->used_room);
	uint32_t at;

	while (bits_next(&walk, &at))
		if (!column->leafs[at].samples && !column->totals[at])
			bits_remove(column->used, at);
}

static size_t count_used(const struct hot_column *column)
{
	size_t n = 0;

	for (uint32_t i = 0; i < column->used_room; i++)
		n += (size_t)__builtin_popcountll(column->used[i]);
	return n;
}

/* Makes the row of a symbol of `from`.  only_new: only symbols that only the baseline has.  Returns
 * false if there is no row. */
static bool make_row(struct hot *hot, const struct hot *from, const struct hot_query *query,
	bool only_new, struct hot_row *row)
{
	const struct hot_sum sum = hot_sum_at(from, row->symref, query->event);

	if (!(sum.samples || sum.total) || !passes(hot, query, row->symref))
		return false;
	row->self = sum.self;
	row->total = sum.total;
	row->samples = sum.samples;
	row->change = 0.0;
	if (only_new) {
		hot_cell(hot, row->symref, query->event, &row->self, &row->total);
		if (row->total || !sum.self)
			return false;
		row->samples = 0;
	}
	if (query->base)
		row->change = share_of(hot, row->symref, query->event) -
			share_of(query->base, row->symref, query->event);
	return true;
}

/* Adds the rows in the order of symrefs. */
static void add_rows(struct hot *hot, const struct hot *from, const struct hot_query *query,
	bool only_new, size_t *n)
{
	const struct hot_column *column = &from->columns[query->event];
	struct bits_walk walk = bits_walk(column->used, column->used_room);
	uint32_t at;

	while (bits_next(&walk, &at)) {
		hot->rows[*n].symref = from->first + at;
		*n += make_row(hot, from, query, only_new, &hot->rows[*n]);
	}
}

static uint64_t number_of(const struct hot_row *row, enum hot_sort sort)
{
	if (sort == HOT_SORT_TOTAL)
		return row->total;
	return sort == HOT_SORT_SAMPLES ? row->samples : row->self;
}

static bool same_numbers(
	const struct hot_row *left, const struct hot_row *right, enum hot_sort sort)
{
	return number_of(left, sort) == number_of(right, sort) &&
		(sort != HOT_SORT_SELF || left->total == right->total);
}

/* Sorts each run of rows with equal numbers by name. */
static void sort_ties(struct hot_row *rows, size_t n, struct order *order)
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && same_numbers(&rows[i], &rows[end], order->sort);)
			end++;
		if (end - i > 1)
			qsort_r(&rows[i], end - i, sizeof(*rows), compare_rows, order);
	}
}

/* Sorts by the keys that are set.  *at: one half of 2 * n items. */
static void sort_half(struct radix_item *items, struct radix_item **at, size_t n)
{
	*at = radix_sort(*at, *at == items ? items + n : items, (uint32_t)n);
}

/* Sorts the rows by numbers, then ties by name.  The result follows the n rows in the array.  Radix
 * sort is used because rows are many, most are not on the screen, and comparing whole rows would
 * take most of a refresh. */
static int sort_by_number(struct hot *hot, size_t n, size_t n_own, struct order *order)
{
	struct radix_item *items = reallocarray(NULL, n, 2 * sizeof(*items)), *sorted = items;
	uint64_t turn = order->reverse ? 0 : UINT64_MAX;
	struct hot_row *rows = hot->rows, *out = hot->rows + n;

	if (!items)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		items[i] = (struct radix_item){.key = rows[i].symref, .id = i};
	/* Rows are in the order of symrefs, but those of a baseline follow the others. */
	if (order->quick && n > n_own)
		sort_half(items, &sorted, n);
	if (order->sort == HOT_SORT_SELF) {
		for (uint32_t i = 0; i < n; i++)
			sorted[i].key = rows[sorted[i].id].total ^ turn;
		sort_half(items, &sorted, n);
	}
	for (uint32_t i = 0; i < n; i++)
		sorted[i].key = number_of(&rows[sorted[i].id], order->sort) ^ turn;
	sort_half(items, &sorted, n);
	for (uint32_t i = 0; i < n; i++)
		out[i] = rows[sorted[i].id];
	free(items);
	if (!order->quick)
		sort_ties(out, n, order);
	return 0;
}

/* --- only the first rows --- */

/* Few of many rows are on the screen, and the order of the others is not needed. */
static bool first_are_enough(const struct hot_query *query, size_t n)
{
	return query->most && query->most < n / FIRST_PART && query->quick && !query->reverse &&
		!query->base && !query->hide_kernel && (!query->filter || !query->filter[0]) &&
		(query->sort == HOT_SORT_SELF || query->sort == HOT_SORT_TOTAL);
}

/* Restores a heap of the first rows so far, with the last of them on top. */
static void sift_down(struct hot_row *heap, size_t n, struct order *order)
{
	for (size_t at = 0, child; (child = 2 * at + 1) < n; at = child) {
		struct hot_row row = heap[at];

		if (child + 1 < n && compare_rows(&heap[child + 1], &heap[child], order) > 0)
			child++;
		if (compare_rows(&row, &heap[child], order) >= 0)
			return;
		heap[at] = heap[child];
		heap[child] = row;
	}
}

static void sift_up(struct hot_row *heap, size_t at, struct order *order)
{
	while (at) {
		const size_t parent = (at - 1) / 2;
		struct hot_row row = heap[at];

		if (compare_rows(&row, &heap[parent], order) <= 0)
			return;
		heap[at] = heap[parent];
		heap[parent] = row;
		at = parent;
	}
}

static void find_first(struct hot *hot, const struct hot_query *query, struct order *order)
{
	const struct hot_column *column = &hot->columns[query->event];
	struct bits_walk walk = bits_walk(column->used, column->used_room);
	struct hot_row *heap = hot->rows;
	uint32_t at;
	size_t n = 0;

	while (bits_next(&walk, &at)) {
		const struct hot_leaf *leaf = &column->leafs[at];
		const struct hot_row row = {.symref = hot->first + at,
			.self = leaf->self,
			.total = column->totals[at],
			.samples = leaf->samples};

		if (n < query->most) {
			heap[n] = row;
			sift_up(heap, n++, order);
		} else if (compare_rows(&row, &heap[0], order) < 0) {
			heap[0] = row;
			sift_down(heap, n, order);
		}
	}
	qsort_r(heap, n, sizeof(*heap), compare_rows, order);
}

/* --- all rows --- */

static int find_all(struct hot *hot, const struct hot_query *query, struct order *order,
	const struct hot_row **rows, size_t *n)
{
	size_t n_own;
	int ret = 0;

	add_rows(hot, hot, query, false, n);
	n_own = *n;
	if (query->base)
		add_rows(hot, query->base, query, true, n);
	*rows = hot->rows;
	if (*n && order->sort > HOT_SORT_SAMPLES) {
		qsort_r(hot->rows, *n, sizeof(*hot->rows), compare_rows, order);
	} else if (*n) {
		ret = sort_by_number(hot, *n, n_own, order);
		*rows += *n;
	}
	return ret;
}

int hot_rows(struct hot *hot, const struct hot_query *query, const struct hot_row **rows, size_t *n,
	struct hot_sums *sums)
{
	struct order order = {hot, query->sort, query->reverse, query->quick};
	size_t most;
	int ret;

	*rows = NULL;
	*n = 0;
	hot_sums(hot, query->event, sums);
	clear_unused(&hot->columns[query->event]);
	most = count_used(&hot->columns[query->event]);
	if (first_are_enough(query, most)) {
		if (grow_items(&hot->rows, &hot->rows_room, query->most, sizeof(*hot->rows)))
			return -ENOMEM;
		find_first(hot, query, &order);
		*rows = hot->rows;
		*n = most;
		return 0;
	}
	if (query->base)
		most += count_used(&query->base->columns[query->event]);
	ret = grow_items(&hot->rows, &hot->rows_room, 2 * most, sizeof(*hot->rows));
	if (!ret)
		ret = find_all(hot, query, &order, rows, n);
	if (ret) {
		*rows = NULL;
		*n = 0;
	}
	return ret;
}
