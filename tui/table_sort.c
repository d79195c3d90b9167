/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table_sort.c - the order of a table's rows.
 */
#include "tui/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a comparison looks at first, beside its row. */
struct ranked {
	uint64_t first, second;
	struct table_row row;
};

static int by_number(uint64_t left, uint64_t right)
{
	return left > right ? -1 : left < right;
}

static int compare_keys(
	const struct table *table, const struct table_row *a, const struct table_row *b)
{
	struct table_key left, right;

	for (size_t i = 0; i < table->n_keys; i++) {
		int result;

		table_key(table, a, i, &left);
		table_key(table, b, i, &right);
		if (left.is_number || table->keys[i] == GROUP_EVENT) {
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

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct ranked *left = a, *right = b;
	const struct table *table = ctx;
	uint64_t l, r;
	int result;

	if (left->row.event != right->row.event)
		return left->row.event < right->row.event ? -1 : 1;
	result = by_number(left->first, right->first);
	if (!result)
		result = by_number(left->second, right->second);
	if (!result)
		result = compare_keys(table, &left->row, &right->row);
	if (result || left->row.part == right->row.part)
		return result;
	/* Two functions of one name in one image. */
	l = names_get(table->names, table->parts[left->row.part].symref)->start;
	r = names_get(table->names, table->parts[right->row.part].symref)->start;
	if (l != r)
		return l < r ? -1 : 1;
	return left->row.part < right->row.part ? -1 : 1;
}

int table_sort(struct table *table, enum table_sort sort, uint32_t column)
{
	struct ranked *ranked = malloc((table->n_rows ? table->n_rows : 1) * sizeof(*ranked));

	if (!ranked)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->n_rows; i++) {
		const struct table_row *row = &table->rows[i];
		uint64_t self = row->self, total = row->total;

		if (column != SCAN_NONE) {
			const struct table_cell *cell = table_cell(table, row, column);

			self = cell ? cell->self : 0;
			total = cell ? cell->total : 0;
		}
		/* Mere callers are many and all have no self share: what is below them tells them apart. */
		ranked[i].first = sort == TABLE_TOTAL ? total : self;
		ranked[i].second = sort == TABLE_TOTAL ? 0 : total;
		ranked[i].row = *row;
	}
	qsort_r(ranked, table->n_rows, sizeof(*ranked), compare_rows, table);
	for (uint32_t i = 0; i < table->n_rows; i++)
		table->rows[i] = ranked[i].row;
	free(ranked);
	return 0;
}
