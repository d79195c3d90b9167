/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_csv.c - writes a gathered report as CSV (csv.h).
 *
 * All strings are clean already.
 */
#include "tui/base/csv.h"
#include "tui/commands/report_private.h"
#include "tui/options/args.h"
#include "tui/session/request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* True if the key repeats the event, which is the first cell of every line. */
static bool is_told(const struct report *report, size_t key)
{
	return report->keys[key] == GROUP_EVENT;
}

/* The union of all events' columns.  Names are interned, so equal names have equal addresses. */
struct columns {
	const char **names;
	size_t *places; /* index + 1 in the current event; 0 if it has no such column */
	size_t n;
};

static void columns_of(struct columns *columns, const struct report_event *event)
{
	memset(columns->places, 0, columns->n * sizeof(*columns->places));
	for (size_t i = 0; i < event->n_columns; i++)
		for (size_t j = 0; j < columns->n; j++)
			if (columns->names[j] == event->columns[i].name)
				columns->places[j] = i + 1;
}

static int join_columns(struct columns *columns, const struct report *report)
{
	size_t n = 1;

	for (size_t i = 0; i < report->n_events; i++)
		n += report->events[i].n_columns;
	columns->names = calloc(n, sizeof(*columns->names));
	columns->places = calloc(n, sizeof(*columns->places));
	if (!columns->names || !columns->places)
		return -ENOMEM;
	for (size_t i = 0; i < report->n_events; i++) {
		const struct report_event *event = &report->events[i];

		for (size_t j = 0; j < event->n_columns; j++) {
			size_t at = 0;

			while (at < columns->n && columns->names[at] != event->columns[j].name)
				at++;
			columns->names[at] = event->columns[j].name;
			columns->n += at == columns->n;
		}
	}
	return 0;
}

static const struct report_cell *cell_of(const struct report_row *row, size_t column)
{
	for (size_t i = 0; i < row->n_cells; i++)
		if (row->cells[i].column == column)
			return &row->cells[i];
	return NULL;
}

static void put_row(FILE *out, const struct report *report, const struct columns *columns,
	const struct report_event *event, const struct report_row *row)
{
	csv_put_text(out, event->name, report->csv);
	for (size_t k = 0; k < report->n_keys; k++) {
		if (is_told(report, k))
			continue;
		fputc(',', out);
		if (row->keys[k].is_number)
			fprintf(out, "%" PRId64, row->keys[k].number);
		else
			csv_put_text(out, row->keys[k].text, report->csv);
	}
	fprintf(out, ",%.4f,%.4f,%" PRIu64 ",%" PRIu64 ",%" PRIu64, row->self_percent,
		row->total_percent, row->samples, row->self_weight, row->total_weight);
	for (size_t i = 0; i < columns->n; i++) {
		const struct report_cell *cell =
			columns->places[i] ? cell_of(row, columns->places[i] - 1) : NULL;

		if (cell)
			fprintf(out, ",%.4f,%.4f,%" PRIu64 ",%" PRIu64, cell->self_percent,
				cell->total_percent, cell->samples, cell->weight);
		else
			fputs(",0.0000,0.0000,0,0", out);
	}
	csv_end_row(out, report->csv);
}

static void put_column_heads(FILE *out, const struct columns *columns, struct csv_style style)
{
	static const char *const heads[] = {
		"self_percent", "total_percent", "samples", "self_weight"};
	char head[2 * EVENT_NAME_MAX + 32];

	for (size_t i = 0; i < columns->n; i++)
		for (size_t j = 0; j < sizeof(heads) / sizeof(heads[0]); j++) {
			snprintf(head, sizeof(head), "%s %s", columns->names[i], heads[j]);
			fputc(',', out);
			csv_put_text(out, head, style);
		}
}

/* Writes symbols from the root to the node.  A ";" in a name, like in Rust's "[u8; 4]", becomes
 * ":". */
static void put_path(
	FILE *out, const struct report_node *nodes, size_t node, struct csv_style style)
{
	size_t path[1100], n = 0;

	for (; node && n < sizeof(path) / sizeof(path[0]); node = nodes[node].parent)
		path[n++] = node;
	fputc('"', out);
	if (n && !style.raw && csv_is_formula(nodes[path[n - 1]].symbol))
		fputc('\'', out);
	while (n) {
		for (const char *at = nodes[path[--n]].symbol; *at; at++) {
			if (*at == '"')
				fputc('"', out);
			fputc(*at == ';' ? ':' : *at, out);
		}
		if (n)
			fputc(';', out);
	}
	fputc('"', out);
}

static void put_tree(FILE *out, const struct report_event *event, struct csv_style style)
{
	for (size_t i = 1; i < event->n_nodes; i++) {
		const struct report_node *node = &event->nodes[i];

		csv_put_text(out, event->name, style);
		fputc(',', out);
		put_path(out, event->nodes, i, style);
		fputc(',', out);
		csv_put_text(out, node->image, style);
		fprintf(out, ",%.4f,%.4f,%" PRIu64 ",%" PRIu64 ",%" PRIu64, node->self_percent,
			node->total_percent, node->samples, node->self_weight, node->total_weight);
		csv_end_row(out, style);
	}
}

int report_put_csv(FILE *out, const struct report *report)
{
	struct columns columns = {0};
	int ret = join_columns(&columns, report);

	if (ret)
		goto out;
	fputs("event", out);
	if (report->view != REPORT_FLAT)
		fputs(",path,image", out);
	for (size_t k = 0; report->view == REPORT_FLAT && k < report->n_keys; k++) {
		char room[REPORT_NAME_MAX];

		if (is_told(report, k))
			continue;
		fputc(',', out);
		csv_put_text(out, report_key_name(report, k, room), report->csv);
	}
	fputs(",self_percent,total_percent,samples,self_weight,total_weight", out);
	put_column_heads(out, &columns, report->csv);
	csv_end_row(out, report->csv);
	for (size_t i = 0; i < report->n_events; i++) {
		const struct report_event *event = &report->events[i];

		columns_of(&columns, event);
		if (report->view != REPORT_FLAT)
			put_tree(out, event, report->csv);
		for (size_t j = 0; j < event->n_rows; j++)
			put_row(out, report, &columns, event, &event->rows[j]);
	}
out:
	free(columns.names);
	free(columns.places);
	return ret;
}
