/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_text.c - annotated functions as text: a column of shares for each event, addresses, code
 * and source.
 *
 * All strings are already cleaned.
 */
#include "tui/base/width.h"
#include "tui/commands/annotate_report.h"

#include "tui/commands/report_private.h"
#include "tui/session/request.h"

#include <inttypes.h>
#include <string.h>

#define COLUMN_MIN 8
#define COLUMN_MAX 16
#define LINE_WIDTH 6 /* columns of a line number */

static const char *const red = "\033[1;31m", *const yellow = "\033[33m", *const faint = "\033[2m",
			 *const bold = "\033[1m", *const plain = "\033[0m";

struct sheet {
	FILE *out;
	const struct annotate_report *report;
	const struct annotation *function;
	struct annotate_head head;
	bool color;
	int columns[STORE_EVENTS_MAX]; /* width of each */
	int address_width;
};

static void paint(const struct sheet *sheet, const char *how)
{
	if (sheet->color)
		fputs(how, sheet->out);
}

/* Colors by share, with perf's limits. */
static const char *heat_of(double percent)
{
	return percent >= 5 ? red : percent >= 0.5 ? yellow : plain;
}

static void put_shares(const struct sheet *sheet, const struct annotate_row *row)
{
	for (size_t i = 0; i < sheet->report->n_events; i++) {
		double percent = report_percent(row->weight[i], sheet->head.weight[i]);

		if (!row->samples[i]) {
			fprintf(sheet->out, "%*s", sheet->columns[i] + 1, "");
			continue;
		}
		paint(sheet, heat_of(percent));
		fprintf(sheet->out, " %*.2f%%", sheet->columns[i] - 1, percent);
		paint(sheet, plain);
	}
}

static void put_blank(const struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->report->n_events; i++)
		fprintf(sheet->out, "%*s", sheet->columns[i] + 1, "");
}

/* Returns the target's address in the base of the address column. */
static uint64_t shown_address(const struct annotate_row *row, uint64_t offset)
{
	return row->address ? row->address + (offset - row->offset) : offset;
}

static void put_code(const struct sheet *sheet, const struct annotate_row *row)
{
	FILE *out = sheet->out;

	put_shares(sheet, row);
	fprintf(out, "  %c%*" PRIx64 ":  %s", row->is_target ? '>' : ' ', sheet->address_width,
		shown_address(row, row->offset), row->text);
	if (row->target_offset != CODETAB_NO_TARGET && row->target_row)
		fprintf(out, "%" PRIx64 " <+0x%" PRIx64 ">", shown_address(row, row->target_offset),
			row->target_offset - sheet->head.start);
	else if (row->target_offset != CODETAB_NO_TARGET && !strncmp(row->target_text, "0x", 2))
		fprintf(out, "%" PRIx64, shown_address(row, row->target_offset));
	else if (row->target_offset != CODETAB_NO_TARGET)
		fprintf(out, "%" PRIx64 " <%s>", shown_address(row, row->target_offset),
			row->target_text);
	fputc('\n', out);
}

static void put_line(const struct sheet *sheet, const struct annotate_row *row, bool alone)
{
	if (alone)
		put_shares(sheet, row);
	else
		put_blank(sheet);
	if (!alone)
		paint(sheet, faint);
	if (row->line)
		fprintf(sheet->out, "  %*" PRIu32 "  ", LINE_WIDTH, row->line);
	else
		fprintf(sheet->out, "  %*s  ", LINE_WIDTH, "");
	if (*row->text)
		fputs(row->text, sheet->out);
	else if (!row->has_text)
		fprintf(sheet->out, "%s:%" PRIu32, row->file, row->line);
	if (!alone)
		paint(sheet, plain);
	fputc('\n', sheet->out);
}

static void put_function(const struct sheet *sheet, const struct annotate_row *row)
{
	put_blank(sheet);
	paint(sheet, bold);
	fprintf(sheet->out, "  %*s%s%s", 2 * row->depth, "", row->text,
		row->depth ? " (inlined)" : "");
	paint(sheet, plain);
	if (*row->file)
		fprintf(sheet->out, "  %s", row->file);
	if (*row->file && row->line)
		fprintf(sheet->out, ":%" PRIu32, row->line);
	fputc('\n', sheet->out);
}

static void put_rows(const struct sheet *sheet)
{
	bool alone = annotate_get_mode(sheet->function) == ANNOTATE_SOURCE;
	size_t n;
	const struct annotate_row *rows = annotate_rows(sheet->function, &n);

	for (size_t i = 0; i < n; i++) {
		switch (rows[i].kind) {
		case ANNOTATE_ROW_FUNCTION:
			put_function(sheet, &rows[i]);
			break;
		case ANNOTATE_ROW_FILE:
			fprintf(sheet->out, "\n%s\n", rows[i].file);
			break;
		case ANNOTATE_ROW_LINE:
			put_line(sheet, &rows[i], alone);
			break;
		case ANNOTATE_ROW_CODE:
			put_code(sheet, &rows[i]);
			break;
		}
	}
	if (!n)
		fputs("  (no rows)\n", sheet->out);
}

static void lay_out(struct sheet *sheet)
{
	size_t n;
	const struct annotate_row *rows = annotate_rows(sheet->function, &n);
	uint64_t last = 0;

	for (size_t i = 0; i < sheet->report->n_events; i++) {
		int used = width_of(sheet->report->events[i].name);

		sheet->columns[i] = used < COLUMN_MIN ? COLUMN_MIN
			: used > COLUMN_MAX	      ? COLUMN_MAX
						      : used;
	}
	for (size_t i = 0; i < n; i++)
		if (rows[i].kind == ANNOTATE_ROW_CODE)
			last = shown_address(&rows[i], rows[i].offset);
	sheet->address_width = snprintf(NULL, 0, "%" PRIx64, last);
}

static void put_heads(const struct sheet *sheet)
{
	const struct annotate_report *report = sheet->report;
	const struct annotate_head *head = &sheet->head;
	char number[32];

	fputc('\n', sheet->out);
	paint(sheet, bold);
	fputs(head->symbol, sheet->out);
	paint(sheet, plain);
	fprintf(sheet->out, " in %s, %" PRIu64 " bytes at 0x%" PRIx64 "\n", head->path,
		head->end - head->start, head->address);
	for (size_t i = 0; i < report->n_events; i++)
		fprintf(sheet->out, "%s: %s samples, %.2f%% of all; shares below are of these\n",
			report->events[i].name, report_grouped(number, head->samples[i]),
			report_percent(head->weight[i], report->events[i].weight));
	fputc('\n', sheet->out);
	for (size_t i = 0; i < report->n_events; i++) {
		const char *name = report->events[i].name;
		int used = width_of(name);

		if (used < sheet->columns[i])
			fprintf(sheet->out, "%*s", sheet->columns[i] - used, "");
		fputc(' ', sheet->out);
		report_put_column(sheet->out, name, sheet->columns[i], false);
	}
	fputs(annotate_get_mode(sheet->function) == ANNOTATE_SOURCE && head->has_lines
			? "    LINE  SOURCE\n"
			: "  ADDRESS  CODE\n",
		sheet->out);
}

static void put_event(FILE *out, const struct annotate_event *event, bool filtered)
{
	char number[32];

	fputs(event->name, out);
	if (event->rate_varies)
		fputs(" at several rates", out);
	else if (event->freq_hz)
		fprintf(out, " at %" PRIu64 " Hz", event->freq_hz);
	else if (event->period)
		fprintf(out, ", one sample every %s", report_grouped(number, event->period));
	fprintf(out, ": %s samples%s", report_grouped(number, event->samples),
		filtered ? " pass the filters" : "");
	fprintf(out, ", %s lost\n", report_grouped(number, event->lost));
}

void annotate_put_text(FILE *out, const struct annotate_report *report, bool color)
{
	const struct taking *taking = report->taking;

	if (session_has_times(&taking->session))
		fprintf(out, "%s, %.1f s\n", taking->session.target_text,
			(double)(taking->status.now_ns - taking->status.started_ns) / 1e9);
	else
		fprintf(out, "%s, without times\n", taking->session.target_text);
	for (size_t i = 0; i < report->n_events; i++)
		put_event(out, &report->events[i],
			report->request->n_terms + report->request->n_only > 0);
	for (size_t i = 0; i < report->notes.n_notes; i++)
		fprintf(out, "note: %s\n", report->notes.notes[i]);
	for (size_t i = 0; i < report->n_functions; i++) {
		struct sheet sheet = {.out = out,
			.report = report,
			.function = report->functions[i],
			.color = color};

		annotate_head(sheet.function, &sheet.head);
		lay_out(&sheet);
		put_heads(&sheet);
		put_rows(&sheet);
	}
}
