/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * query.c - see query.h.
 *
 * Rows are computed by a table (table.h); activity is summed here.  UI thread.
 */
#include "tui/query/query.h"

#include "tui/base/clean.h"
#include "tui/query/halves.h"
#include "tui/query/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void query_sieve(const struct query *query, struct sieve *sieve)
{
	sieve_init(sieve, query->filter, query->stacks, query->tasks, query->names,
		sieve_idle_bit(query->hide_idle, query->idle_by_name));
}

int query_compare(const void *a, const void *b)
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
		row.since_ns = task->since_ns;
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
		qsort(*rows, *n, sizeof(**rows), query_compare);
	}
	table_free(table);
	return ret;
}

/* --- activity --- */

/* Computes the event's weight in each slice. */
struct weighing {
	const struct query *query;
	struct half half;
	struct sieve sieve;
	uint64_t *weights; /* by slice of the snapshot */
};

static uint64_t total_of(const struct slice *slice, uint8_t event)
{
	for (uint32_t i = 0; i < slice->n_totals; i++)
		if (slice->totals[i].event == event)
			return slice->totals[i].weight;
	return 0;
}

static uint64_t weigh_cells(
	struct weighing *weighing, const struct slice *slice, uint32_t first, uint32_t last)
{
	const struct query *query = weighing->query;
	uint8_t verdicts[SIEVE_BLOCK];
	uint64_t weight = 0;

	for (; first < last; first += SIEVE_BLOCK) {
		uint32_t n = last - first < SIEVE_BLOCK ? last - first : SIEVE_BLOCK;

		sieve_rests(&weighing->sieve, slice, first, n, verdicts);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t at = first + i;
			unsigned int verdict =
				verdicts[i] | sieve_node(&weighing->sieve, slice->stack[at]);

			weight += slice->weight[at] & query_mask(query, verdict) &
				((uint64_t)(slice->event[at] != query->event) - 1);
		}
	}
	return weight;
}

static int weigh(void *ctx)
{
	struct weighing *weighing = ctx;
	const struct query *query = weighing->query;

	while (half_next(&weighing->half)) {
		for (size_t i = 0; i < query->snapshot->n; i++) {
			const struct slice *slice = query->snapshot->slices[i];
			uint32_t first, last;

			half_cells(&weighing->half, slice, i, &first, &last);
			weighing->weights[i] += weigh_cells(weighing, slice, first, last);
		}
	}
	return 0;
}

static int weighing_init(struct weighing *weighing, const struct query *query)
{
	*weighing = (struct weighing){.query = query};
	query_sieve(query, &weighing->sieve);
	weighing->weights = calloc(query->snapshot->n + 1, sizeof(*weighing->weights));
	return weighing->weights ? 0 : -ENOMEM;
}

static void weighing_fini(struct weighing *weighing)
{
	half_fini(&weighing->half);
	sieve_fini(&weighing->sieve);
	free(weighing->weights);
}

static int weigh_in_two(struct weighing *weighing, struct halves *halves)
{
	struct weighing other;
	int ret = weighing_init(&other, weighing->query);

	if (!ret)
		ret = sieve_share(
			&weighing->sieve, &weighing->half, &other.sieve, &other.half, halves);
	if (!ret)
		ret = halves_run(weigh, weighing, &other);
	for (size_t i = 0; i < weighing->query->snapshot->n && !ret; i++)
		weighing->weights[i] += other.weights[i];
	weighing_fini(&other);
	return ret;
}

/* Uses the slices' totals unless single samples must be left out. */
static int weigh_slices(struct weighing *weighing)
{
	const struct query *query = weighing->query;
	struct halves halves;
	int ret;

	if (!query->hide_idle && !query->filter) {
		for (size_t i = 0; i < query->snapshot->n; i++)
			weighing->weights[i] = total_of(query->snapshot->slices[i], query->event);
		return 0;
	}
	if (weighing->sieve.by_fields ||
		!halves_init(&halves, query->snapshot, 0, UINT64_MAX, query->two_cells))
		return weigh(weighing);
	ret = weigh_in_two(weighing, &halves);
	halves_fini(&halves);
	return ret;
}

int query_activity(
	const struct query *query, uint64_t from_ns, uint64_t to_ns, uint64_t *out, size_t columns)
{
	struct weighing weighing;
	double part, *weights;
	int ret;

	memset(out, 0, columns * sizeof(*out));
	if (!columns || to_ns <= from_ns)
		return 0;
	weights = calloc(columns, sizeof(*weights));
	if (!weights)
		return -ENOMEM;
	ret = weighing_init(&weighing, query);
	if (!ret)
		ret = weigh_slices(&weighing);
	part = (double)(to_ns - from_ns) / (double)columns;
	for (size_t i = 0; i < query->snapshot->n && !ret; i++) {
		const struct slice *slice = query->snapshot->slices[i];
		double start, end, density;
		size_t k;

		if (slice->end_ns <= from_ns || slice->start_ns >= to_ns ||
			slice->end_ns <= slice->start_ns)
			continue;
		/* The weight is even over the slice; only its part in the range counts. */
		start = (double)slice->start_ns - (double)from_ns;
		end = (double)slice->end_ns - (double)from_ns;
		density = (double)weighing.weights[i] / (end - start);
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
	weighing_fini(&weighing);
	free(weights);
	return ret;
}
