/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff_write.c - a comparison as text, CSV and JSON.
 *
 * All strings are already cleaned.
 */
#include "tui/base/width.h"
#include "tui/commands/diff_table.h"

#include "tui/base/csv.h"
#include "tui/base/format.h"
#include "tui/commands/report_private.h"
#include "tui/export/jsontext.h"
#include "tui/options/args.h"
#include "tui/session/request.h"

#include <inttypes.h>
#include <string.h>

#define VALUE_WIDTH 9
#define KEY_WIDTH_MAX 60
#define KEY_WIDTH_MIN 12

#define MORE "\033[31m"
#define LESS "\033[32m"
#define BOLD "\033[1m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

static const char *const states[] = {
	[DIFF_BOTH] = "both", [DIFF_NEW] = "new", [DIFF_GONE] = "gone", [DIFF_BETWEEN] = "between"};

/* --- text --- */

struct text {
	FILE *out;
	const struct diff_table *table;
	bool color;
	int keys[GROUP_KEYS]; /* widths */
};

static const char *paint(const struct text *text, const char *color)
{
	return text->color ? color : "";
}

/* Returns the letter of a recording: "A", "B" ... */
static char letter(size_t file)
{
	return file < 26 ? (char)('A' + file) : '?';
}

/* Formats a weight per second; a clock's in percent of one CPU. */
static const char *rate(char out[FORMAT_MAX], const struct diff_event *event, double value)
{
	if (event->is_clock)
		snprintf(out, FORMAT_MAX, "%.2f%%", value / 1e7);
	else if (value < 1000)
		snprintf(out, FORMAT_MAX, "%.2f/s", value);
	else {
		char count[FORMAT_MAX];

		snprintf(out, FORMAT_MAX, "%.20s/s", format_count(count, (uint64_t)value));
	}
	return out;
}

static const char *value_text(
	char out[FORMAT_MAX], const struct text *text, const struct diff_event *event, double value)
{
	if (text->table->normal == DIFF_SECOND)
		return rate(out, event, value);
	snprintf(out, FORMAT_MAX, "%.2f%%", value);
	return out;
}

static void put_values(
	const struct text *text, const struct diff_event *event, const struct diff_row *row)
{
	char value[FORMAT_MAX];

	for (size_t i = 0; i < text->table->n_files; i++) {
		bool there = row->cells[i].samples;

		fprintf(text->out, "%s%*s%s", there ? "" : paint(text, DIM), VALUE_WIDTH,
			there ? value_text(value, text, event, row->cells[i].value) : "-",
			there ? "" : paint(text, PLAIN));
	}
}

/* Prints the change in percentage points, or per second. */
static void put_change(
	const struct text *text, const struct diff_event *event, const struct diff_row *row)
{
	double change = row->difference;
	char value[FORMAT_MAX], ratio[FORMAT_MAX] = "";
	const char *color = change > 0 ? MORE : LESS;

	if (text->table->normal == DIFF_SECOND)
		rate(value, event, change < 0 ? -change : change);
	else
		snprintf(value, sizeof(value), "%.2f", change < 0 ? -change : change);
	if (row->state == DIFF_BOTH)
		snprintf(ratio, sizeof(ratio), row->ratio < 100 ? "%.2fx" : "%.0fx", row->ratio);
	fprintf(text->out, "  %s%s%*s%s%s  ", paint(text, color),
		row->state == DIFF_BOTH ? "" : paint(text, BOLD), VALUE_WIDTH - (int)strlen(value),
		change < 0 ? "-" : "+", value, paint(text, PLAIN));
	fprintf(text->out, "%s%8s%s", row->state == DIFF_BOTH ? "" : paint(text, BOLD),
		row->state == DIFF_BOTH		     ? ratio
			: row->state == DIFF_BETWEEN ? "-"
						     : states[row->state],
		paint(text, row->state == DIFF_BOTH ? "" : PLAIN));
}

static void put_rows(const struct text *text, uint32_t event)
{
	const struct diff_table *table = text->table;
	bool some = false;

	for (uint32_t i = 0; i < table->n_rows; i++) {
		const struct diff_row *row = &table->rows[i];

		if (row->event != event)
			continue;
		some = true;
		put_values(text, &table->events[event], row);
		put_change(text, &table->events[event], row);
		for (size_t k = 0; k < table->n_keys; k++) {
			fputs("  ", text->out);
			report_put_column(
				text->out, row->keys[k], text->keys[k], k + 1 < table->n_keys);
		}
		putc('\n', text->out);
	}
	if (!some)
		fprintf(text->out, "%*s\n", VALUE_WIDTH, "no rows");
}

static void put_heads(const struct text *text)
{
	const struct diff_table *table = text->table;

	fputs(paint(text, BOLD), text->out);
	for (size_t i = 0; i < table->n_files; i++)
		fprintf(text->out, "%*c", VALUE_WIDTH, letter(i));
	fprintf(text->out, "  %*s  %8s", VALUE_WIDTH, "CHANGE", "RATIO");
	for (size_t k = 0; k < table->n_keys; k++) {
		char name[32];
		size_t n = 0;

		for (const char *at = args_group_name(table->keys[k]); *at && n + 1 < sizeof(name);
			at++)
			name[n++] = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
		name[n] = '\0';
		fprintf(text->out, "  %-*s", k + 1 < table->n_keys ? text->keys[k] : 0, name);
	}
	fprintf(text->out, "%s\n", paint(text, PLAIN));
}

/* Makes each key column as wide as its widest text.  The first column shrinks until a line fits. */
static void fit_keys(struct text *text, unsigned int columns)
{
	const struct diff_table *table = text->table;
	int used = (int)(table->n_files + 1) * VALUE_WIDTH + 12, over;

	for (size_t k = 0; k < table->n_keys; k++) {
		text->keys[k] = (int)strlen(args_group_name(table->keys[k]));
		for (uint32_t i = 0; i < table->n_rows; i++) {
			int width = width_of(table->rows[i].keys[k]);

			if (width > text->keys[k])
				text->keys[k] = width;
		}
		if (k + 1 < table->n_keys && text->keys[k] > KEY_WIDTH_MAX)
			text->keys[k] = KEY_WIDTH_MAX;
		used += text->keys[k] + 2;
	}
	over = columns ? used - (int)columns : 0;
	for (size_t k = 0; k < table->n_keys && over > 0; k++) {
		int give =
			text->keys[k] - KEY_WIDTH_MIN < over ? text->keys[k] - KEY_WIDTH_MIN : over;

		if (give <= 0)
			continue;
		text->keys[k] -= give;
		over -= give;
	}
}

static void put_files(const struct text *text, uint32_t event)
{
	const struct diff_table *table = text->table;
	char samples[32];

	for (size_t i = 0; i < table->n_files; i++) {
		const struct diff_part *part = &table->events[event].parts[i];

		fprintf(text->out, "  %s%c%s  %s: ", paint(text, BOLD), letter(i),
			paint(text, PLAIN), table->files[i].name);
		const double duration = table->files[i].duration_s;

		if (!part->present)
			fputs("no such event\n", text->out);
		else if (duration < 0)
			fprintf(text->out, "%s samples without times\n",
				report_grouped(samples, part->samples));
		else
			fprintf(text->out, "%s samples in %.2f s\n",
				report_grouped(samples, part->samples), duration);
	}
}

static void put_alone(const struct text *text, const struct diff_event *event)
{
	const struct diff_table *table = text->table;

	for (size_t i = 0; i < table->n_files; i++)
		if (event->parts[i].present)
			fprintf(text->out, "%s is in %s alone: not compared\n", event->name,
				table->files[i].name);
}

void diff_put_text(FILE *out, const struct diff_table *table, unsigned int columns, bool color)
{
	struct text text = {.out = out, .table = table, .color = color};

	fit_keys(&text, columns);
	for (uint32_t i = 0; i < table->n_compared; i++) {
		fprintf(out, "%s%s%s%s, %s\n", i ? "\n" : "", paint(&text, BOLD),
			table->events[i].name, paint(&text, PLAIN),
			table->normal == DIFF_SAMPLE	    ? "share of the samples"
				: table->events[i].is_clock ? "percent of one CPU"
							    : "events a second");
		put_files(&text, i);
		putc('\n', out);
		put_heads(&text);
		put_rows(&text, i);
	}
	for (uint32_t i = table->n_compared; i < table->n_events; i++) {
		if (i == table->n_compared && i)
			putc('\n', out);
		put_alone(&text, &table->events[i]);
	}
}

/* Writes the weight of each second of a recording, or what stands for none. */
static void put_per_second(FILE *out, const struct diff_table *table, size_t file,
	const struct diff_cell *cell, const char *none)
{
	const double duration = table->files[file].duration_s;

	if (duration > 0)
		fprintf(out, "%.4f", (double)cell->weight / duration);
	else
		fputs(none, out);
}

/* --- CSV --- */

void diff_put_csv(FILE *out, const struct diff_table *table, struct csv_style style)
{
	fputs("event", out);
	for (size_t k = 0; k < table->n_keys; k++)
		fprintf(out, ",%s", args_group_name(table->keys[k]));
	fputs(",state,difference,ratio", out);
	for (size_t i = 1; i <= table->n_files; i++)
		fprintf(out, ",percent_%zu,per_second_%zu,weight_%zu,samples_%zu", i, i, i, i);
	csv_end_row(out, style);
	for (uint32_t r = 0; r < table->n_rows; r++) {
		const struct diff_row *row = &table->rows[r];

		csv_put_text(out, table->events[row->event].name, style);
		for (size_t k = 0; k < table->n_keys; k++) {
			putc(',', out);
			csv_put_text(out, row->keys[k], style);
		}
		fprintf(out, ",%s,%.4f,", states[row->state], row->difference);
		if (row->state == DIFF_BOTH)
			fprintf(out, "%.4f", row->ratio);
		for (size_t i = 0; i < table->n_files; i++) {
			const struct diff_cell *cell = &row->cells[i];

			fprintf(out, ",%.4f,", cell->percent);
			put_per_second(out, table, i, cell, "");
			fprintf(out, ",%" PRIu64 ",%" PRIu64, cell->weight, cell->samples);
		}
		csv_end_row(out, style);
	}
}

/* --- JSON --- */

static void put_files_json(FILE *out, const struct diff_table *table)
{
	fputs("\"recordings\":[", out);
	for (size_t i = 0; i < table->n_files; i++) {
		fputs(i ? ",{" : "{", out);
		jsontext_member(out, "file", table->files[i].name);
		if (table->files[i].duration_s < 0)
			fputs(",\"duration_s\":null}", out);
		else
			fprintf(out, ",\"duration_s\":%.3f}", table->files[i].duration_s);
	}
	putc(']', out);
}

static void put_row_json(FILE *out, const struct diff_table *table, const struct diff_row *row)
{
	putc('{', out);
	for (size_t k = 0; k < table->n_keys; k++) {
		jsontext_member(out, args_group_name(table->keys[k]), row->keys[k]);
		putc(',', out);
	}
	fprintf(out, "\"state\":\"%s\",\"difference\":%.4f,\"ratio\":", states[row->state],
		row->difference);
	if (row->state == DIFF_BOTH)
		fprintf(out, "%.4f", row->ratio);
	else
		fputs("null", out);
	fputs(",\"recordings\":[", out);
	for (size_t i = 0; i < table->n_files; i++) {
		const struct diff_cell *cell = &row->cells[i];

		fprintf(out, "%s{\"percent\":%.4f,\"per_second\":", i ? "," : "", cell->percent);
		put_per_second(out, table, i, cell, "null");
		fprintf(out, ",\"weight\":%" PRIu64 ",\"samples\":%" PRIu64 "}", cell->weight,
			cell->samples);
	}
	fputs("]}", out);
}

static void put_event_json(FILE *out, const struct diff_table *table, uint32_t number)
{
	const struct diff_event *event = &table->events[number];
	bool first = true;

	fputs("{\"name\":", out);
	jsontext_string(out, event->name);
	fputs(",\"recordings\":[", out);
	for (size_t i = 0; i < table->n_files; i++) {
		const struct diff_part *part = &event->parts[i];

		if (part->present)
			fprintf(out, "%s{\"samples\":%" PRIu64 ",\"weight\":%" PRIu64 "}",
				i ? "," : "", part->samples, part->weight);
		else
			fputs(i ? ",null" : "null", out);
	}
	fprintf(out, "],\"compared\":%s,\"rows\":[", number < table->n_compared ? "true" : "false");
	for (uint32_t r = 0; r < table->n_rows; r++) {
		if (table->rows[r].event != number)
			continue;
		fputs(first ? "\n" : ",\n", out);
		first = false;
		put_row_json(out, table, &table->rows[r]);
	}
	fputs("]}", out);
}

void diff_put_json(FILE *out, const struct diff_table *table)
{
	fprintf(out, "{\"normalize\":\"%s\",", table->normal == DIFF_SECOND ? "second" : "sample");
	put_files_json(out, table);
	fputs(",\"events\":[", out);
	for (uint32_t i = 0; i < table->n_events; i++) {
		fputs(i ? ",\n" : "\n", out);
		put_event_json(out, table, i);
	}
	fputs("]}\n", out);
}
