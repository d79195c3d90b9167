/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_data.c - annotated functions as JSON and as CSV (csv.h), row by row.
 *
 * All strings are already cleaned.
 */
#include "tui/commands/annotate_report.h"

#include "tui/base/csv.h"
#include "tui/commands/report_private.h"
#include "tui/export/jsontext.h"
#include "tui/session/request.h"

#include <inttypes.h>

static const char *const kinds[] = {
	[ANNOTATE_ROW_FUNCTION] = "function",
	[ANNOTATE_ROW_FILE] = "file",
	[ANNOTATE_ROW_LINE] = "line",
	[ANNOTATE_ROW_CODE] = "code",
};

/* --- JSON --- */

static void put_sums(FILE *out, const struct annotate_report *report, const uint64_t *weight,
	const uint64_t *samples, const uint64_t *whole)
{
	static const char *const keys[] = {"percent", "samples", "weight"};

	for (size_t key = 0; key < 3; key++) {
		fprintf(out, ",\"%s\":[", keys[key]);
		for (size_t i = 0; i < report->n_events; i++) {
			if (i)
				fputc(',', out);
			if (key)
				fprintf(out, "%" PRIu64, key == 1 ? samples[i] : weight[i]);
			else
				fprintf(out, "%.4f", report_percent(weight[i], whole[i]));
		}
		fputc(']', out);
	}
}

static void put_row(FILE *out, const struct annotate_report *report,
	const struct annotate_head *head, const struct annotate_row *row)
{
	bool code = row->kind == ANNOTATE_ROW_CODE;

	fprintf(out, "{\"kind\":\"%s\",\"depth\":%u", kinds[row->kind], row->depth);
	if (code) {
		fprintf(out, ",\"offset\":%" PRIu64 ",\"bytes\":%u", changes_plain(row->offset),
			row->len);
		if (row->address)
			fprintf(out, ",\"address\":%" PRIu64, row->address);
		if (row->is_target)
			fputs(",\"is_target\":true", out);
	}
	if (*row->file) {
		fputc(',', out);
		jsontext_member(out, "file", row->file);
	}
	if (row->line)
		fprintf(out, ",\"line\":%" PRIu32, row->line);
	fputc(',', out);
	jsontext_member(out, "text", row->text);
	if (code && row->target_offset != CODETAB_NO_TARGET) {
		fprintf(out, ",\"target_offset\":%" PRIu64 ",", row->target_offset);
		jsontext_member(out, "target", row->target_text);
	}
	if (row->target_row)
		fprintf(out, ",\"target_row\":%" PRIu32, row->target_row - 1);
	if (code || row->kind == ANNOTATE_ROW_LINE)
		put_sums(out, report, row->weight, row->samples, head->weight);
	fputc('}', out);
}

static void put_function(
	FILE *out, const struct annotate_report *report, const struct annotation *function)
{
	uint64_t whole[STORE_EVENTS_MAX];
	struct annotate_head head;
	size_t n;
	const struct annotate_row *rows = annotate_rows(function, &n);

	annotate_head(function, &head);
	for (size_t i = 0; i < report->n_events; i++)
		whole[i] = report->events[i].weight;
	fputc('{', out);
	jsontext_member(out, "symbol", head.symbol);
	fputc(',', out);
	jsontext_member(out, "image", head.image);
	fputc(',', out);
	jsontext_member(out, "path", head.path);
	fprintf(out, ",\"start\":%" PRIu64 ",\"end\":%" PRIu64, changes_plain(head.start),
		changes_plain(head.end));
	fprintf(out, ",\"has_code\":%s,\"has_lines\":%s,\"has_source\":%s,",
		annotate_progress(function) == ANNOTATE_READY ? "true" : "false",
		head.has_lines ? "true" : "false", head.has_source ? "true" : "false");
	jsontext_member(out, "reason", annotate_reason(function));
	put_sums(out, report, head.weight, head.samples, whole);
	fputs(",\"rows\":[", out);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",\n" : "\n", out);
		put_row(out, report, &head, &rows[i]);
	}
	fputs("]}", out);
}

void annotate_put_json(FILE *out, const struct annotate_report *report)
{
	const struct taking *taking = report->taking;

	fputs("{\"functions\":[", out);
	for (size_t i = 0; i < report->n_functions; i++) {
		fputs(i ? ",\n" : "\n", out);
		put_function(out, report, report->functions[i]);
	}
	fputs("],\n\"events\":[", out);
	for (size_t i = 0; i < report->n_events; i++) {
		const struct annotate_event *event = &report->events[i];

		fputs(i ? ",{" : "{", out);
		jsontext_member(out, "name", event->name);
		fprintf(out, ",\"samples\":%" PRIu64 ",\"weight\":%" PRIu64 ",\"lost\":%" PRIu64,
			event->samples, event->weight, event->lost);
		if (event->rate_varies)
			fputs(",\"frequency_hz\":null}", out);
		else
			fprintf(out, ",\"%s\":%" PRIu64 "}",
				event->freq_hz ? "frequency_hz" : "period",
				event->freq_hz ? event->freq_hz : event->period);
	}
	fputs("],\n", out);
	jsontext_member(out, "target", taking->session.target_text);
	if (session_has_times(&taking->session))
		fprintf(out, ",\"duration_s\":%.4f,",
			(double)(taking->status.now_ns - taking->status.started_ns) / 1e9);
	else
		fputs(",\"duration_s\":null,", out);
	jsontext_strings(out, "notes", report->notes.notes, report->notes.n_notes);
	fputc(',', out);
	jsontext_member(out, "strobe_version", STROBE_VERSION);
	fputs("}\n", out);
}

/* --- CSV --- */

static void put_csv_row(FILE *out, const struct annotate_report *report,
	const struct annotate_head *head, const struct annotate_row *row, struct csv_style style)
{
	bool code = row->kind == ANNOTATE_ROW_CODE;

	csv_put_text(out, head->symbol, style);
	fputc(',', out);
	csv_put_text(out, head->image, style);
	fprintf(out, ",%s,%u,", kinds[row->kind], row->depth);
	if (code)
		fprintf(out, "0x%" PRIx64, changes_plain(row->offset));
	fputc(',', out);
	if (code && row->address)
		fprintf(out, "0x%" PRIx64, row->address);
	fputc(',', out);
	csv_put_text(out, row->file, style);
	fputc(',', out);
	if (row->line)
		fprintf(out, "%" PRIu32, row->line);
	fputc(',', out);
	csv_put_text(out, row->text, style);
	fputc(',', out);
	csv_put_text(out, row->target_text, style);
	for (size_t i = 0; i < report->n_events; i++) {
		if (code || row->kind == ANNOTATE_ROW_LINE)
			fprintf(out, ",%.4f,%" PRIu64 ",%" PRIu64,
				report_percent(row->weight[i], head->weight[i]), row->samples[i],
				row->weight[i]);
		else
			fputs(",,,", out);
	}
	csv_end_row(out, style);
}

void annotate_put_csv(FILE *out, const struct annotate_report *report)
{
	static const char *const heads[] = {"percent", "samples", "weight"};
	const struct csv_style style = report->taking->request->csv;
	char name[2 * EVENT_NAME_MAX + 32];

	fputs("symbol,image,kind,depth,offset,address,file,line,text,target", out);
	for (size_t i = 0; i < report->n_events; i++)
		for (size_t j = 0; j < 3; j++) {
			snprintf(name, sizeof(name), "%s %s", report->events[i].name, heads[j]);
			fputc(',', out);
			csv_put_text(out, name, style);
		}
	csv_end_row(out, style);
	for (size_t i = 0; i < report->n_functions; i++) {
		struct annotate_head head;
		size_t n;
		const struct annotate_row *rows = annotate_rows(report->functions[i], &n);

		annotate_head(report->functions[i], &head);
		for (size_t j = 0; j < n; j++)
			put_csv_row(out, report, &head, &rows[j], style);
	}
}
