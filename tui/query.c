/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * query.c - see query.h.
 *
 * Rows are those of a table (table.h); activity is summed here.  UI thread.
 */
#include "tui/query.h"

#include "tui/clean.h"
#include "tui/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void query_sieve(const struct query *query, struct sieve *sieve)
{
	sieve_init(sieve, query->filter, query->stacks, query->tasks, query->names,
		query->hide_idle && query->idle_by_name);
}

static int compare_rows(const void *a, const void *b)
{
	const struct query_row *left = a, *right = b;

	if (left->total != right->total)
		return left->total > right->total ? -1 : 1;
	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	if (left->cpu != right->cpu)
		return left->cpu < right->cpu ? -1 : 1;
	return strcmp(left->name, right->name);
}

static struct query_row row_of(
	const struct table *table, const struct table_row *from, enum query_group group)
{
	struct query_row row = {.self = from->self, .total = from->total, .samples = from->samples};

	if (from->fields != SCAN_NONE) {
		const struct scan_value *value =
			scan_fields_value(&table->scan.fields, from->fields, 0);

		clean_string(row.name, sizeof(row.name), value->text);
	} else if (from->task == SCAN_NONE) {
		row.cpu = from->cpu;
	} else {
		const struct scan_task *task = &table->scan.tasks[from->task];

		row.pid = task->pid;
		row.tid = task->tid;
		snprintf(row.name, sizeof(row.name), "%s",
			group == GROUP_PROCESS ? task->process_comm : task->comm);
	}
	return row;
}

int query_run(const struct query *query, struct query_row **rows, size_t *n)
{
	const struct table_question question = {
		.scan = {.snapshot = query->snapshot,
			.from_ns = query->from_ns,
			.to_ns = query->to_ns ? query->to_ns : UINT64_MAX,
			.stacks = query->stacks,
			.tasks = query->tasks,
			.names = query->names,
			.filter = query->filter,
			.hide_idle = query->hide_idle,
			.idle_by_name = query->idle_by_name,
			.event = query->event,
			.leave_unresolved = true,
			.fields = &query->field,
			.n_fields = 1,
			.schemas = query->schemas,
			.column = GROUP_KEYS},
		.keys = &query->group,
		.n_keys = 1,
		.only = query->by_symbol,
		.symref = query->symref,
	};
	struct table *table;
	int ret;

	*rows = NULL;
	*n = 0;
	ret = table_new(&table, &question);
	if (ret)
		return ret;
	if (table->n_rows) {
		*rows = calloc(table->n_rows, sizeof(**rows));
		ret = *rows ? 0 : -ENOMEM;
	}
	if (*rows) {
		for (uint32_t i = 0; i < table->n_rows; i++)
			(*rows)[i] = row_of(table, &table->rows[i], query->group);
		*n = table->n_rows;
		qsort(*rows, *n, sizeof(**rows), compare_rows);
	}
	table_free(table);
	return ret;
}

/* Weight of the event in a slice; the totals serve unless single samples must be left out. */
static uint64_t slice_weight(
	const struct query *query, struct sieve *sieve, const struct slice *slice)
{
	uint64_t weight = 0;

	if (!query->hide_idle && !query->filter) {
		for (uint32_t i = 0; i < slice->n_totals; i++)
			if (slice->totals[i].event == query->event)
				return slice->totals[i].weight;
		return 0;
	}
	for (uint32_t i = 0; i < slice->cells; i++) {
		if (query_counts(query, sieve, slice, i))
			weight += slice->weight[i];
	}
	return weight;
}

int query_activity(
	const struct query *query, uint64_t from_ns, uint64_t to_ns, uint64_t *out, size_t columns)
{
	double part, *weights;
	struct sieve sieve;

	memset(out, 0, columns * sizeof(*out));
	if (!columns || to_ns <= from_ns)
		return 0;
	weights = calloc(columns, sizeof(*weights));
	if (!weights)
		return -ENOMEM;
	query_sieve(query, &sieve);
	part = (double)(to_ns - from_ns) / (double)columns;
	for (size_t i = 0; i < query->snapshot->n; i++) {
		const struct slice *slice = query->snapshot->slices[i];
		double start, end, density;
		size_t k;

		if (slice->end_ns <= from_ns || slice->start_ns >= to_ns ||
			slice->end_ns <= slice->start_ns)
			continue;
		/* Even over the slice, of which only the part in the range counts. */
		start = (double)slice->start_ns - (double)from_ns;
		end = (double)slice->end_ns - (double)from_ns;
		density = (double)slice_weight(query, &sieve, slice) / (end - start);
		if (start < 0)
			start = 0;
		for (k = (size_t)(start / part); k < columns && (double)k * part < end; k++) {
			double left = (double)k * part, right = left + part;

			if (left < start)
				left = start;
			if (right > end)
				right = end;
			if (right > left)
				weights[k] += density * (right - left);
		}
	}
	for (size_t i = 0; i < columns; i++)
		out[i] = (uint64_t)(weights[i] * 1e9 / part + 0.5);
	sieve_fini(&sieve);
	free(weights);
	return 0;
}
