/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table_sort.c - sorts the rows of a table.
 */
#include "tui/query/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A row with its sort keys. */
struct ranked {
	uint64_t first, second;
	/* First key of the row, for equal weights: its first bytes as a number, which order most
	 * rows, and the whole text if names owns it. */
	uint64_t prefix;
	const char *text;
	uint32_t row;
	uint8_t event;
};

/* True for keys that are compared by number only. */
static bool is_event(enum query_group key)
{
	return key == GROUP_EVENT || key == GROUP_CGROUP;
}

static int by_number(uint64_t left, uint64_t right)
{
	return left > right ? -1 : left < right;
}

/* Compares keys from `first` on. */
static int compare_keys(const struct table *table, const struct table_row *a,
	const struct table_row *b, size_t first)
{
	struct table_key left, right;

	for (size_t i = first; i < table->n_keys; i++) {
		int result;

		table_key(table, a, i, &left);
		table_key(table, b, i, &right);
		if (left.is_number != right.is_number)
			return left.is_number ? -1 : 1;
		if (left.is_number || is_event(table->keys[i])) {
			if (left.number != right.number)
				return left.number < right.number ? -1 : 1;
			continue;
		}
		result = strcmp(left.text, right.text);
		if (result)
			return result;
	}
	return 0;
}

static int compare_weights(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;
	int result;

	if (left->event != right->event)
		return left->event < right->event ? -1 : 1;
	result = by_number(left->first, right->first);
	if (!result)
		result = by_number(left->second, right->second);
	return result ? result : left->row < right->row ? -1 : left->row > right->row;
}

/* Sets the first key's prefix, from its first bytes or its number, so that prefixes sort like
 * keys. */
static void take_first_key(const struct table *table, struct ranked *ranked)
{
	struct table_key key;
	size_t i = 0;

	ranked->prefix = 0;
	ranked->text = NULL;
	if (!table->n_keys)
		return;
	table_key(table, &table->rows[ranked->row], 0, &key);
	if (key.is_number || is_event(table->keys[0])) {
		ranked->prefix = (uint64_t)key.number ^ 1ull << 63;
		return;
	}
	for (; i < sizeof(ranked->prefix) && key.text[i]; i++)
		ranked->prefix = ranked->prefix << 8 | (unsigned char)key.text[i];
	if (i)
		ranked->prefix <<= 8 * (sizeof(ranked->prefix) - i);
	if (key.text != key.bytes)
		ranked->text = key.text;
}

/* Compares rows of equal weight. */
static int compare_names(const void *a, const void *b, void *ctx)
{
	const struct ranked *ranked_a = a, *ranked_b = b;
	const struct table *table = ctx;
	const struct table_row *left = &table->rows[ranked_a->row];
	const struct table_row *right = &table->rows[ranked_b->row];
	uint64_t l, r;
	int result = 0;

	if (ranked_a->prefix != ranked_b->prefix)
		return ranked_a->prefix < ranked_b->prefix ? -1 : 1;
	if (ranked_a->text && ranked_b->text)
		result = strcmp(ranked_a->text, ranked_b->text);
	if (!result)
		result = compare_keys(table, left, right, ranked_a->text && ranked_b->text);
	if (result || left->part == right->part)
		return result;
	/* Two functions with the same name in one image. */
	l = names_get(table->names, table->parts[left->part].symref)->start;
	r = names_get(table->names, table->parts[right->part].symref)->start;
	if (l != r)
		return l < r ? -1 : 1;
	return left->part < right->part ? -1 : 1;
}

/* Compares names only if weights are equal, and only for rows that `top` needs. */
static void break_ties(struct table *table, struct ranked *ranked, const struct table_top *top)
{
	uint32_t event_first = 0, end;

	for (uint32_t i = 0; i < table->n_rows; i = end) {
		const struct ranked *at = &ranked[i];

		if (at->event != ranked[event_first].event)
			event_first = i;
		for (end = i + 1; end < table->n_rows && ranked[end].event == at->event &&
			ranked[end].first == at->first && ranked[end].second == at->second;)
			end++;
		if (end == i + 1 || (top->rows && i - event_first >= top->rows) ||
			(top->least && at->first < top->least[at->event]))
			continue;
		for (uint32_t j = i; j < end; j++)
			take_first_key(table, &ranked[j]);
		qsort_r(&ranked[i], end - i, sizeof(*ranked), compare_names, table);
	}
}

int table_sort(struct table *table, enum table_sort sort, uint32_t column)
{
	return table_sort_top(table, sort, column, &(const struct table_top){0});
}

int table_sort_top(
	struct table *table, enum table_sort sort, uint32_t column, const struct table_top *top)
{
	uint32_t n = table->n_rows ? table->n_rows : 1;
	struct ranked *ranked = malloc(n * sizeof(*ranked));
	struct table_row *rows = malloc(n * sizeof(*rows));

	if (!ranked || !rows) {
		free(ranked);
		free(rows);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < table->n_rows; i++) {
		const struct table_row *row = &table->rows[i];
		uint64_t self = row->self, total = row->total;

		if (column != SCAN_NONE) {
			const struct table_cell *cell = table_cell(table, row, column);

			self = cell ? cell->self : 0;
			total = cell ? cell->total : 0;
		}
		/* Most callers have no self weight, so their total sorts them. */
		ranked[i].first = sort == TABLE_TOTAL ? total : self;
		ranked[i].second = sort == TABLE_TOTAL ? 0 : total;
		ranked[i].row = i;
		ranked[i].event = row->event;
	}
	qsort(ranked, table->n_rows, sizeof(*ranked), compare_weights);
	break_ties(table, ranked, top);
	for (uint32_t i = 0; i < table->n_rows; i++)
		rows[i] = table->rows[ranked[i].row];
	free(ranked);
	free(table->rows);
	table->rows = rows;
	table->rows_room = n;
	return 0;
}
