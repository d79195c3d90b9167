// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * stat_data.c - writes counts as CSV (csv.h) and JSON.
 *
 * All strings are clean already.
 */
#include "tui/commands/stat_private.h"

#include "tui/base/csv.h"
#include "tui/commands/report_private.h"
#include "tui/export/jsontext.h"

#include <inttypes.h>
#include <math.h>

static double running_percent(const struct stat_count *count)
{
	return count->enabled_ns ? 100.0 * (double)count->running_ns / (double)count->enabled_ns
				 : 0;
}

/* Writes counts without a scale as whole numbers. */
static void put_scaled(FILE *out, const struct stat_count *count, const struct stat_event *event)
{
	if (event->scale < 1 || event->scale > 1)
		fprintf(out, "%.6f", count->scaled);
	else
		fprintf(out, "%.0f", round(count->scaled));
}

static bool is_told(const struct stat_count *count)
{
	return count->missing != STAT_ABSENT;
}

/* --- CSV --- */

static void put_csv_id(FILE *out, int64_t id)
{
	if (id >= 0)
		fprintf(out, "%" PRId64, id);
	fputc(',', out);
}

static void put_csv_count(FILE *out, const struct stat_table *table, const struct stat_row *row,
	const struct stat_event *event, const struct stat_count *count, struct csv_style style)
{
	fprintf(out, "%.6f,%.6f,", table->time_s, table->elapsed_s);
	put_csv_id(out, row->pid);
	put_csv_id(out, row->tid);
	csv_put_text(out, row->command, style);
	fputc(',', out);
	put_csv_id(out, row->cpu);
	put_csv_id(out, row->core);
	put_csv_id(out, row->socket);
	put_csv_id(out, row->node);
	csv_put_text(out, event->name, style);
	fputc(',', out);
	csv_put_text(out, event->cgroup, style);
	fputc(',', out);
	if (!count->missing)
		fprintf(out, "%" PRIu64, count->count);
	fputc(',', out);
	if (!count->missing)
		put_scaled(out, count, event);
	fputc(',', out);
	csv_put_text(out, event->unit, style);
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%.2f,", count->enabled_ns, count->running_ns,
		running_percent(count));
	csv_put_text(out, stat_missing_text(count->missing), style);
	fputc(',', out);
	if (count->metric.unit)
		fprintf(out, "%.6f,", count->metric.value);
	else
		fputc(',', out);
	csv_put_text(out, count->metric.unit ? count->metric.unit : "", style);
	fputc(',', out);
	if (count->deviation_percent >= 0)
		fprintf(out, "%.4f", count->deviation_percent);
	csv_end_row(out, style);
}

void stat_put_csv(FILE *out, const struct stat_table *table, bool head, struct csv_style style)
{
	if (head) {
		fputs("time_s,elapsed_s,process,thread,command,cpu,core,socket,node,event,cgroup,"
		      "count,scaled,unit,enabled_ns,running_ns,running_percent,not_counted,metric,"
		      "metric_unit,deviation_percent",
			out);
		csv_end_row(out, style);
	}
	for (size_t i = 0; i < table->n_rows; i++)
		for (size_t k = 0; k < table->n_events; k++)
			if (is_told(&table->rows[i].counts[k]))
				put_csv_count(out, table, &table->rows[i], &table->events[k],
					&table->rows[i].counts[k], style);
}

/* --- JSON --- */

static void put_json_id(FILE *out, const char *key, int64_t id)
{
	if (id >= 0)
		fprintf(out, ",\"%s\":%" PRId64, key, id);
}

static void put_json_count(FILE *out, const struct stat_row *row, const struct stat_event *event,
	const struct stat_count *count)
{
	fputc('{', out);
	jsontext_member(out, "name", event->name);
	if (event->cgroup[0]) {
		fputc(',', out);
		jsontext_member(out, "cgroup", event->cgroup);
	}
	put_json_id(out, "process", row->pid);
	put_json_id(out, "thread", row->tid);
	if (row->pid >= 0) {
		fputc(',', out);
		jsontext_member(out, "command", row->command);
	}
	put_json_id(out, "cpu", row->cpu);
	put_json_id(out, "core", row->core);
	put_json_id(out, "socket", row->socket);
	put_json_id(out, "node", row->node);
	if (count->missing) {
		fputs(",\"count\":null,\"scaled\":null", out);
	} else {
		fprintf(out, ",\"count\":%" PRIu64 ",\"scaled\":", count->count);
		put_scaled(out, count, event);
	}
	fputc(',', out);
	jsontext_member(out, "unit", event->unit);
	fprintf(out,
		",\"enabled_ns\":%" PRIu64 ",\"running_ns\":%" PRIu64
		",\"running_percent\":%.2f,\"not_counted\":",
		count->enabled_ns, count->running_ns, running_percent(count));
	if (count->missing)
		jsontext_string(out, stat_missing_text(count->missing));
	else
		fputs("null", out);
	if (count->metric.unit) {
		fprintf(out, ",\"metric\":%.6f,", count->metric.value);
		jsontext_member(out, "metric_unit", count->metric.unit);
	}
	if (count->deviation_percent >= 0)
		fprintf(out, ",\"deviation_percent\":%.4f", count->deviation_percent);
	fputc('}', out);
}

void stat_put_json(FILE *out, const struct stat_table *table, bool interval)
{
	const char *line = interval ? "" : "\n ";
	bool first = true;

	fprintf(out, "{\"time_s\":%.6f,\"elapsed_s\":%.6f,%s", table->time_s, table->elapsed_s,
		line);
	jsontext_member(out, "target", table->target);
	fputc(',', out);
	jsontext_member(out, "per", stat_per_name(table->per));
	if (table->user_s >= 0)
		fprintf(out, ",\"user_s\":%.6f,\"system_s\":%.6f", table->user_s, table->system_s);
	if (table->runs)
		fprintf(out, ",\"runs\":%u", table->runs);
	if (table->runs > 1)
		fprintf(out, ",\"elapsed_deviation_percent\":%.4f",
			table->elapsed_deviation_percent);
	fprintf(out, ",%s\"events\":[", line);
	for (size_t i = 0; i < table->n_rows; i++)
		for (size_t k = 0; k < table->n_events; k++) {
			if (!is_told(&table->rows[i].counts[k]))
				continue;
			fputs(first ? line : ",", out);
			if (!first)
				fputs(line, out);
			first = false;
			put_json_count(
				out, &table->rows[i], &table->events[k], &table->rows[i].counts[k]);
		}
	fputs("]", out);
	if (!interval) {
		fprintf(out, ",%s", line);
		jsontext_strings(out, "notes", table->notes, table->n_notes);
		fprintf(out, ",%s", line);
		jsontext_member(out, "strobe_version", STROBE_VERSION);
	}
	fputs("}\n", out);
}
