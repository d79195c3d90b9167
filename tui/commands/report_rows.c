/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_rows.c - turns a table of the store into a report's rows and columns.
 *
 * UI thread.
 */
#include "tui/commands/report_private.h"

#include "tui/base/clean.h"
#include "tui/query/table.h"
#include "tui/session/request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct gathering {
	struct report *report;
	const struct report_source *source;
	struct table *table;
	uint32_t *columns; /* indices into the table's columns, by event in the report's order */
	size_t *places; /* by table column: index within its event's columns, or in all */
	struct report_column *shown; /* in the order of `columns` */
	uint32_t n_columns;
};

static enum query_group column_of(enum report_columns columns)
{
	switch (columns) {
	case COLUMNS_EVENT:
	case COLUMNS_CGROUP:
		return GROUP_EVENT;
	case COLUMNS_CPU:
		return GROUP_CPU;
	case COLUMNS_THREAD:
		return GROUP_THREAD;
	default:
		return GROUP_KEYS;
	}
}

/* --- columns --- */

static size_t event_place(const struct gathering *gathering, uint32_t id)
{
	size_t i = 0;

	while (i < gathering->report->n_events && gathering->source->events[i] != id)
		i++;
	return i;
}

static int compare_columns(const void *a, const void *b, void *ctx)
{
	const struct gathering *gathering = ctx;
	const uint32_t *left = a, *right = b;
	const struct scan_column *l = &gathering->table->scan.columns[*left];
	const struct scan_column *r = &gathering->table->scan.columns[*right];
	size_t lp = event_place(gathering, l->event), rp = event_place(gathering, r->event);

	if (lp != rp)
		return lp < rp ? -1 : 1;
	if (l->number != r->number)
		return l->number < r->number ? -1 : 1;
	if (l->weight != r->weight)
		return l->weight > r->weight ? -1 : 1;
	if (l->tid != r->tid)
		return l->tid < r->tid ? -1 : 1;
	return l->pid < r->pid ? -1 : l->pid > r->pid;
}

/* The cgroup alone is enough if only one event is compared by cgroup. */
static const char *event_name(const struct report *report, size_t place)
{
	const struct report_event *event;
	size_t of_it = 0;

	if (place >= report->n_events)
		return "";
	event = &report->events[place];
	if (report->columns != COLUMNS_CGROUP || !event->cgroup)
		return event->name;
	for (size_t i = 0; i < report->n_events; i++)
		of_it += report->events[i].cgroup &&
			!strcmp(report->events[i].cgroup, event->cgroup);
	return of_it == 1 ? event->cgroup : event->name;
}

static int name_column(const struct gathering *gathering, struct report_column *out,
	const struct scan_column *from)
{
	struct intern *texts = &gathering->report->memory->texts;
	char name[32], head[TASK_COMM_MAX + 32];
	size_t place;

	switch (gathering->report->columns) {
	case COLUMNS_EVENT:
	case COLUMNS_CGROUP:
		place = event_place(gathering, from->event);
		out->name = out->head = event_name(gathering->report, place);
		return 0;
	case COLUMNS_CPU:
		snprintf(name, sizeof(name), "%" PRIu32, from->number);
		snprintf(head, sizeof(head), "CPU %" PRIu32, from->number);
		break;
	default:
		/* Thread ids are reused, so the process id is part of the name. */
		snprintf(name, sizeof(name), "%" PRId32 "/%" PRId32, from->pid, from->tid);
		snprintf(head, sizeof(head), "%s (%" PRId32 ")", from->comm, from->tid);
		break;
	}
	out->name = intern_text(texts, name);
	out->head = intern_text(texts, head);
	return out->name && out->head ? 0 : -ENOMEM;
}

static int gather_columns(struct gathering *gathering)
{
	const struct scan *scan = &gathering->table->scan;
	bool absolute = gathering->report->absolute;
	uint32_t first = 0;
	int ret = 0;

	gathering->columns = calloc(scan->n_columns + 1, sizeof(*gathering->columns));
	gathering->places = calloc(scan->n_columns + 1, sizeof(*gathering->places));
	gathering->shown =
		report_alloc(gathering->report, scan->n_columns + 1, sizeof(*gathering->shown));
	if (!gathering->columns || !gathering->places || !gathering->shown)
		return -ENOMEM;
	for (uint32_t i = 0; i < scan->n_columns; i++) {
		/* Columns of events that were not requested have no place. */
		gathering->places[i] = SIZE_MAX;
		if ((scan->columns[i].weight || scan->columns[i].samples) &&
			event_place(gathering, scan->columns[i].event) <
				gathering->report->n_events)
			gathering->columns[gathering->n_columns++] = i;
	}
	qsort_r(gathering->columns, gathering->n_columns, sizeof(*gathering->columns),
		compare_columns, gathering);
	for (uint32_t i = 0; i < gathering->n_columns && !ret; i++) {
		const struct scan_column *from = &scan->columns[gathering->columns[i]];

		if (i && !report_is_by_event(gathering->report) &&
			scan->columns[gathering->columns[i - 1]].event != from->event)
			first = i;
		gathering->places[gathering->columns[i]] = i - first;
		gathering->shown[i].samples = absolute ? from->all_samples : from->samples;
		gathering->shown[i].weight = absolute ? from->all_weight : from->weight;
		ret = name_column(gathering, &gathering->shown[i], from);
	}
	return ret;
}

/* --- rows --- */

static int gather_keys(
	struct gathering *gathering, struct report_row *out, const struct table_row *row)
{
	struct report *report = gathering->report;
	struct report_key *keys = (struct report_key *)out->keys;
	struct table_key key;

	for (size_t i = 0; i < report->n_keys; i++) {
		table_key(gathering->table, row, i, &key);
		if (report->keys[i] == GROUP_SYMBOL)
			table_place(gathering->table, row, &out->place);
		if (report->keys[i] == GROUP_EVENT) {
			size_t place = event_place(gathering, row->event);

			key.text = place < report->n_events ? report->events[place].name : "";
		} else if (report->keys[i] == GROUP_CGROUP) {
			key.text = report->cgroups[row->cgroup] ? report->cgroups[row->cgroup]
								: "(none)";
		} else if (key.text == key.bytes || report->keys[i] == GROUP_COMMAND ||
			report->keys[i] >= GROUP_FIELD) {
			key.text = intern_text(&report->memory->texts, key.text);
		}
		if (!key.text)
			return -ENOMEM;
		keys[i] = (struct report_key){key.text, key.number, key.is_number};
	}
	return 0;
}

static int compare_cells(const void *a, const void *b)
{
	const struct report_cell *left = a, *right = b;

	return left->column < right->column ? -1 : left->column > right->column;
}

static int gather_cells(struct gathering *gathering, struct report_row *out,
	const struct table_row *row, const struct report_column *columns)
{
	const struct table *table = gathering->table;
	struct report_cell *cells;
	size_t n = 0;

	for (uint32_t at = row->cells; at; at = table->cells[at - 1].next)
		n++;
	if (!n)
		return 0;
	out->cells = cells = report_alloc(gathering->report, n, sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	for (uint32_t at = row->cells; at; at = table->cells[at - 1].next) {
		const struct table_cell *from = &table->cells[at - 1];
		size_t place = gathering->places[from->column];

		if (place == SIZE_MAX)
			continue;
		cells[out->n_cells++] = (struct report_cell){
			.column = place,
			.self_percent = report_percent(from->self, columns[place].weight),
			.total_percent = report_percent(from->total, columns[place].weight),
			.samples = from->samples,
			.weight = from->self,
		};
	}
	qsort(cells, out->n_cells, sizeof(*cells), compare_cells);
	return 0;
}

/* Sets the columns of an event's rows. */
static void take_columns(const struct gathering *gathering, struct report_event *event, uint8_t id)
{
	const struct scan_column *columns = gathering->table->scan.columns;
	bool all = report_is_by_event(gathering->report);
	uint32_t first = 0;

	while (!all && first < gathering->n_columns &&
		columns[gathering->columns[first]].event != id)
		first++;
	event->columns = gathering->shown + first;
	while (first + event->n_columns < gathering->n_columns &&
		(all || columns[gathering->columns[first + event->n_columns]].event == id))
		event->n_columns++;
}

/* Fills in the event's part of a row; false if the row has none. */
static bool weigh_row(const struct gathering *gathering, struct report_row *out,
	const struct table_row *row, uint32_t column, uint64_t whole)
{
	uint64_t self = row->self, total = row->total, samples = row->samples;

	if (column != SCAN_NONE) {
		const struct table_cell *cell = table_cell(gathering->table, row, column);

		self = cell ? cell->self : 0;
		total = cell ? cell->total : 0;
		samples = cell ? cell->samples : 0;
	}
	out->self_weight = self;
	out->total_weight = total;
	out->samples = samples;
	out->self_percent = report_percent(self, whole);
	out->total_percent = report_percent(total, whole);
	return total || samples;
}

/* With columns, a row counts if its share reaches the limit in any column. */
static bool is_enough(const struct gathering *gathering, const struct table_row *row,
	const struct report_row *out, const struct report_column *columns, bool any_column)
{
	const struct request *request = gathering->source->session->request;
	const struct table *table = gathering->table;
	bool by_total = request->sort_total;

	if (!any_column)
		return (by_total ? out->total_percent : out->self_percent) >=
			request->percent_limit;
	for (uint32_t at = row->cells; at; at = table->cells[at - 1].next) {
		const struct table_cell *cell = &table->cells[at - 1];
		size_t place = gathering->places[cell->column];
		uint64_t whole = place == SIZE_MAX ? 0 : columns[place].weight;

		if (place != SIZE_MAX &&
			report_percent(by_total ? cell->total : cell->self, whole) >=
				request->percent_limit)
			return true;
	}
	return false;
}

/* Takes the event's rows: n rows from `first` on, in the table's order.  column SCAN_NONE: uses
 * each row's own sums. */
static int take_rows(struct gathering *gathering, struct report_event *event, uint32_t first,
	uint32_t n, uint32_t column, bool any_column)
{
	struct report *report = gathering->report;
	size_t max = gathering->source->session->request->rows;
	uint64_t whole = report->absolute ? event->all_weight : event->weight;
	struct report_key *keys;

	event->rows = report_alloc(report, max && max < n ? max : n, sizeof(*event->rows));
	keys = report_alloc(report, (max && max < n ? max : n) * report->n_keys, sizeof(*keys));
	if (!event->rows || !keys)
		return -ENOMEM;
	for (uint32_t i = first; i < first + n && (!max || event->n_rows < max); i++) {
		const struct table_row *row = &gathering->table->rows[i];
		struct report_row *out = &event->rows[event->n_rows];

		out->keys = keys + event->n_rows * report->n_keys;
		if ((!weigh_row(gathering, out, row, column, whole) && !any_column) ||
			!is_enough(gathering, row, out, event->columns, any_column))
			continue;
		if (gather_keys(gathering, out, row) ||
			gather_cells(gathering, out, row, event->columns))
			return -ENOMEM;
		event->n_rows++;
	}
	return 0;
}

/* Limits the rows that need names: those above the limit, at most the requested number. */
static void find_top(
	const struct gathering *gathering, uint64_t least[STORE_EVENTS_MAX], struct table_top *top)
{
	const struct report *report = gathering->report;
	const struct request *request = gathering->source->session->request;

	*top = (struct table_top){
		.rows = request->rows < UINT32_MAX ? (uint32_t)request->rows : 0, .least = least};
	memset(least, 0, STORE_EVENTS_MAX * sizeof(*least));
	for (size_t i = 0; i < report->n_events && request->percent_limit > 0; i++) {
		const struct report_event *event = &report->events[i];
		uint64_t whole = report->absolute ? event->all_weight : event->weight;
		double exact = request->percent_limit / 100 * (double)whole;

		/* Slightly lower, so that rounding never drops a row that should be printed. */
		least[gathering->source->events[i]] = (uint64_t)(exact * (1 - 1e-9));
	}
}

/* Columns by event: uses one table, and sorts it again for each event. */
static int take_side_by_side(struct gathering *gathering, enum table_sort sort)
{
	struct report *report = gathering->report;
	struct table *table = gathering->table;
	int ret = 0;

	for (uint32_t i = gathering->n_columns; i && !ret; i--) {
		size_t place = event_place(
			gathering, table->scan.columns[gathering->columns[i - 1]].event);

		ret = table_sort(table, sort, gathering->columns[i - 1]);
		if (!ret && place < report->n_events)
			ret = take_rows(gathering, &report->events[place], 0, table->n_rows,
				gathering->columns[i - 1], false);
	}
	if (ret)
		return ret;
	report->merged = report_alloc(report, 1, sizeof(*report->merged));
	if (!report->merged)
		return -ENOMEM;
	take_columns(gathering, report->merged, 0);
	return take_rows(gathering, report->merged, 0, table->n_rows,
		gathering->n_columns ? gathering->columns[0] : SCAN_NONE, true);
}

static int take_by_event(struct gathering *gathering, enum table_sort sort)
{
	struct table *table = gathering->table;
	uint64_t least[STORE_EVENTS_MAX];
	uint32_t first = 0, end;
	struct table_top top;
	int ret;

	find_top(gathering, least, &top);
	ret = table_sort_top(table, sort, SCAN_NONE, &top);

	for (; first < table->n_rows && !ret; first = end) {
		size_t place = event_place(gathering, table->rows[first].event);

		for (end = first;
			end < table->n_rows && table->rows[end].event == table->rows[first].event;)
			end++;
		if (place < gathering->report->n_events)
			ret = take_rows(gathering, &gathering->report->events[place], first,
				end - first, SCAN_NONE, false);
	}
	return ret;
}

int report_gather_rows(struct report *report, const struct report_source *source)
{
	struct gathering gathering = {.report = report, .source = source};
	struct table_question question = {
		.scan = source->scan, .keys = report->keys, .n_keys = report->n_keys};
	enum table_sort sort = report->sort_total ? TABLE_TOTAL : TABLE_SELF;
	int ret;

	question.scan.column = column_of(report->columns);
	ret = table_new(&gathering.table, &question);
	if (ret)
		return ret;
	for (size_t i = 0; i < report->n_events; i++)
		report_take_sums(
			&report->events[i], &gathering.table->scan.sums[source->events[i]]);
	ret = gather_columns(&gathering);
	for (size_t i = 0; i < report->n_events && !ret; i++)
		take_columns(&gathering, &report->events[i], source->events[i]);
	if (!ret)
		ret = report_is_by_event(report) ? take_side_by_side(&gathering, sort)
						 : take_by_event(&gathering, sort);
	table_free(gathering.table);
	free(gathering.columns);
	free(gathering.places);
	return ret;
}
