/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_text.c - writes a gathered report as text: its head, then rows with aligned columns.
 *
 * All strings are clean already.
 */
#include "tui/base/width.h"
#include "tui/commands/report_private.h"

#include "tui/base/shorten.h"
#include "tui/session/request.h"

#include <inttypes.h>
#include <string.h>

#define SYMBOL_WIDTH_MAX 64
#define OTHER_WIDTH_MAX 32
#define NUMBERS_WIDTH 30 /* SELF, TOTAL and SAMPLES, up to the first key */
#define KEYS_WIDTH_MIN 30 /* minimum width that columns leave for the keys */
#define COLUMN_WIDTH_MIN 8
#define COLUMN_WIDTH_MAX 14
#define COLUMNS_MAX 32 /* limit if there is no terminal width */

/* Widths in a line, in terminal columns. */
struct layout {
	unsigned int width; /* terminal's width; 0: no limit */
	int columns, column_width;
	int keys[QUERY_KEYS_MAX];
};

const char *report_grouped(char out[32], uint64_t number)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, number);
	char *at = out;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*at++ = ',';
		*at++ = digits[i];
	}
	*at = '\0';
	return out;
}

void report_put_column(FILE *out, const char *text, int width, bool fill)
{
	int used = width_of(text);
	size_t len = strlen(text);

	if (used <= width) {
		fprintf(out, "%s%*s", text, fill ? width - used : 0, "");
		return;
	}
	while (len) {
		char head[1024];

		len--;
		while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
			len--;
		if (len >= sizeof(head))
			continue;
		memcpy(head, text, len);
		head[len] = '\0';
		used = width_of(head);
		if (used + 2 <= width) {
			fprintf(out, "%s..%*s", head, fill ? width - used - 2 : 0, "");
			return;
		}
	}
	fprintf(out, "%*s", fill ? width : 0, "");
}

/* Replaces every "…" by "..", which is one column wider. */
static void make_ascii(char *text)
{
	static const char ellipsis[] = "…";
	char *to = text;

	for (const char *at = text; *at;) {
		if (!strncmp(at, ellipsis, sizeof(ellipsis) - 1)) {
			*to++ = '.';
			*to++ = '.';
			at += sizeof(ellipsis) - 1;
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
}

void report_put_name(
	FILE *out, const char *text, enum query_group group, bool ascii, int width, bool fill)
{
	char shorter[SHORTEN_MAX];

	if (width_of(text) <= width || (group != GROUP_SYMBOL && group != GROUP_IMAGE)) {
		report_put_column(out, text, width, fill);
		return;
	}
	for (int wanted = width; wanted > 0; wanted--) {
		if (group == GROUP_SYMBOL)
			shorten_symbol(shorter, text, wanted);
		else
			shorten_file(shorter, text, wanted);
		if (ascii)
			make_ascii(shorter);
		if (width_of(shorter) <= width)
			break;
	}
	report_put_column(out, shorter, width, fill);
}

static const char *const heads[GROUP_KEYS] = {
	[GROUP_PROCESS] = "PROCESS",
	[GROUP_THREAD] = "THREAD",
	[GROUP_CPU] = "CPU",
	[GROUP_SYMBOL] = "SYMBOL",
	[GROUP_IMAGE] = "IMAGE",
	[GROUP_COMMAND] = "COMMAND",
	[GROUP_ADDRESS] = "ADDRESS",
	[GROUP_EVENT] = "EVENT",
	[GROUP_CGROUP] = "CGROUP",
	[GROUP_LINE] = "LINE",
};

static const char *head_of(const struct report *report, size_t key)
{
	enum query_group group = report->keys[key];

	return group < GROUP_KEYS ? heads[group] : report->fields[group - GROUP_FIELD];
}

static void lay_out_columns(struct layout *layout, const struct report_event *event)
{
	int room = COLUMNS_MAX;

	layout->column_width = COLUMN_WIDTH_MIN;
	for (size_t i = 0; i < event->n_columns; i++) {
		int head = width_of(event->columns[i].head);

		if (head > layout->column_width)
			layout->column_width = head < COLUMN_WIDTH_MAX ? head : COLUMN_WIDTH_MAX;
	}
	if (layout->width)
		room = ((int)layout->width - NUMBERS_WIDTH - KEYS_WIDTH_MIN) /
			(layout->column_width + 1);
	if (room < 1)
		room = 1;
	layout->columns = event->n_columns < (size_t)room ? (int)event->n_columns : room;
}

static int total_width(const struct layout *layout, size_t n)
{
	int total = 0;

	for (size_t i = 0; i < n; i++)
		total += layout->keys[i];
	return total;
}

/* Fits the keys into a terminal's width.  First other keys than symbols shrink, down to about their
 * equal share, then the widest key. */
static void fit_keys(struct layout *layout, const struct report *report, int room)
{
	int least = room / ((int)report->n_keys + 1) > 5 ? room / ((int)report->n_keys + 1) : 5;

	for (size_t i = 0; i < report->n_keys; i++)
		if (report->keys[i] != GROUP_SYMBOL && layout->keys[i] > OTHER_WIDTH_MAX &&
			report->n_keys > 1)
			layout->keys[i] = OTHER_WIDTH_MAX;
	for (size_t i = report->n_keys; i--;)
		if (total_width(layout, report->n_keys) > room && report->keys[i] != GROUP_SYMBOL &&
			layout->keys[i] > least)
			layout->keys[i] = least;
	while (total_width(layout, report->n_keys) > room) {
		size_t widest = 0;

		for (size_t i = 1; i < report->n_keys; i++)
			if (layout->keys[i] > layout->keys[widest])
				widest = i;
		if (layout->keys[widest] <= 6)
			break;
		layout->keys[widest]--;
	}
}

static void lay_out(struct layout *layout, const struct report *report,
	const struct report_event *event, unsigned int width)
{
	*layout = (struct layout){.width = width};
	lay_out_columns(layout, event);
	for (size_t k = 0; k < report->n_keys; k++) {
		layout->keys[k] = width_of(head_of(report, k));
		for (size_t i = 0; i < event->n_rows; i++) {
			int used = width_of(event->rows[i].keys[k].text);

			layout->keys[k] = used > layout->keys[k] ? used : layout->keys[k];
		}
		/* Longer symbols are printed in full and push the other keys aside. */
		if (!width && report->keys[k] == GROUP_SYMBOL && layout->keys[k] > SYMBOL_WIDTH_MAX)
			layout->keys[k] = SYMBOL_WIDTH_MAX;
	}
	if (width)
		fit_keys(layout, report,
			(int)width - NUMBERS_WIDTH - 2 * ((int)report->n_keys - 1) -
				layout->columns * (layout->column_width + 1));
}

static void put_heads(FILE *out, const struct layout *layout, const struct report *report,
	const struct report_event *event)
{
	if (event != report->merged)
		fputs("    SELF    TOTAL    SAMPLES", out);
	for (int i = 0; i < layout->columns; i++) {
		int used = width_of(event->columns[i].head);

		if (used < layout->column_width)
			fprintf(out, "%*s", layout->column_width - used, "");
		fputc(' ', out);
		report_put_column(out, event->columns[i].head, layout->column_width, false);
	}
	for (size_t k = 0; k < report->n_keys; k++) {
		const char *head = head_of(report, k);
		int fill = layout->keys[k] - width_of(head);

		fprintf(out, "  %s%*s", head, fill > 0 && k + 1 < report->n_keys ? fill : 0, "");
	}
	fputc('\n', out);
}

static void put_cells(FILE *out, const struct layout *layout, const struct report *report,
	const struct report_row *row)
{
	size_t at = 0;

	for (int i = 0; i < layout->columns; i++) {
		double percent = 0;

		if (at < row->n_cells && row->cells[at].column == (size_t)i) {
			percent = report->sort_total ? row->cells[at].total_percent
						     : row->cells[at].self_percent;
			at++;
		}
		if (percent > 0)
			fprintf(out, "%*.2f%%", layout->column_width, percent);
		else
			fprintf(out, "%*s", layout->column_width + 1, "");
	}
}

static void put_keys(FILE *out, const struct layout *layout, const struct report *report,
	const struct report_row *row)
{
	for (size_t k = 0; k < report->n_keys; k++) {
		bool last = k + 1 == report->n_keys;
		int fill = layout->keys[k] - width_of(row->keys[k].text);

		fputs("  ", out);
		if (layout->width)
			report_put_name(out, row->keys[k].text, report->keys[k], report->ascii,
				layout->keys[k], !last);
		else
			fprintf(out, "%s%*s", row->keys[k].text, fill > 0 && !last ? fill : 0, "");
	}
	fputc('\n', out);
}

static void put_rows(FILE *out, const struct report *report, const struct report_event *event,
	unsigned int width)
{
	struct layout layout;

	lay_out(&layout, report, event, width);
	put_heads(out, &layout, report, event);
	for (size_t i = 0; i < event->n_rows; i++) {
		const struct report_row *row = &event->rows[i];

		/* Weights of different events cannot be added up, so there are no common
		 * numbers. */
		if (event != report->merged)
			fprintf(out, "%7.2f%% %7.2f%% %10" PRIu64, row->self_percent,
				row->total_percent, row->samples);
		put_cells(out, &layout, report, row);
		put_keys(out, &layout, report, row);
	}
	if ((size_t)layout.columns < event->n_columns)
		fprintf(out, "%zu more columns are not shown: CSV and JSON have them\n",
			event->n_columns - (size_t)layout.columns);
}

static void put_file(FILE *out, const struct report_file *file)
{
	const char *separator = "";

	if (!file->status)
		return;
	if (file->release) {
		fprintf(out, "Linux %s", file->release);
		separator = ", ";
	}
	if (file->cpu || file->arch) {
		fprintf(out, "%s%s", separator, file->cpu ? file->cpu : file->arch);
		separator = ", ";
	}
	if (file->cpus) {
		fprintf(out, "%s%" PRIu32 " CPU%s", separator, file->cpus,
			file->cpus == 1 ? "" : "s");
		separator = ", ";
	}
	if (*separator)
		fputc('\n', out);
	if (file->pmus)
		fprintf(out, "PMUs: %s\n", file->pmus);
	if (file->recorder)
		fprintf(out, "recorded by %s%s%s\n", file->recorder, file->device ? " on " : "",
			file->device ? file->device : "");
	if (file->command)
		fprintf(out, "recorded by: %s\n", file->command);
}

static void put_event(FILE *out, const struct report *report, const struct report_event *event)
{
	char number[32];

	fprintf(out, "%s", event->name);
	if (event->rate_varies)
		fputs(" at several rates", out);
	else if (event->freq_hz)
		fprintf(out, " at %" PRIu64 " Hz", event->freq_hz);
	else if (event->is_span)
		fprintf(out, ", all switches");
	else if (event->period)
		fprintf(out, ", one sample every %s", report_grouped(number, event->period));
	fprintf(out, ": %s samples", report_grouped(number, event->samples));
	if (report->filtered) {
		fprintf(out, " of %s pass the filters", report_grouped(number, event->all_samples));
		fprintf(out, " (%.1f%% of the weight%s)",
			report_percent(event->weight, event->all_weight),
			report->absolute ? "; shares are of all" : "");
	}
	fprintf(out, ", %s lost", report_grouped(number, event->lost));
	if (event->held_back)
		fprintf(out, ", %s held back", report_grouped(number, event->held_back));
	if (event->lost_of_all && (event->lost || event->held_back))
		fputs(" (of all processes)", out);
	if (event->coverage_percent >= 0)
		fprintf(out, ", coverage %.1f%%", event->coverage_percent);
	if (event->stood_still)
		fprintf(out, " (stood still %s times)", report_grouped(number, event->stood_still));
	if (event->enabled_ns && !event->running_ns)
		fputs(", not counted", out);
	else if (event->running_ns < event->enabled_ns - event->enabled_ns / 2000)
		fprintf(out, ", running %.1f%%",
			report_percent(event->running_ns, event->enabled_ns));
	if (event->unresolved_percent > 0)
		fprintf(out, ", unresolved %.1f%%", event->unresolved_percent);
	if (event->throttled)
		fprintf(out, ", throttled %s times", report_grouped(number, event->throttled));
	if (event->tells_exact)
		fprintf(out, ", addresses exact %.1f%%",
			report_percent(event->exact, event->delivered));
	if (event->chains)
		fprintf(out, ", chains whole %.1f%%",
			report_percent(event->chains_whole, event->chains));
	fputc('\n', out);
}

static void put_head(FILE *out, const struct report *report)
{
	char number[32];

	if (report->no_times)
		fprintf(out, "%s, without times\n", report->target);
	else
		fprintf(out, "%s, %.1f s\n", report->target, report->duration_s);
	put_file(out, &report->file);
	for (size_t i = 0; i < report->n_events; i++)
		put_event(out, report, &report->events[i]);
	if (report->tasks_missed == 1)
		fputs("1 task missed: it ended before its events could be opened\n", out);
	else if (report->tasks_missed)
		fprintf(out, "%s tasks missed: they ended before their events could be opened\n",
			report_grouped(number, report->tasks_missed));
	if (report->threads_left_out)
		fprintf(out, "%s threads left out: too few descriptors or locked memory\n",
			report_grouped(number, report->threads_left_out));
	if (report->unknown_records)
		fprintf(out, "%s records not understood\n",
			report_grouped(number, report->unknown_records));
	if (report->idle_hidden)
		fputs("without the idle loop\n", out);
	if (report->view != REPORT_FLAT && report->tree_limit_percent > 0)
		fprintf(out, "calls below %g%% are summed up (--percent-limit)\n",
			report->tree_limit_percent);
	for (size_t i = 0; i < report->n_notes; i++)
		fprintf(out, "note: %s\n", report->notes[i]);
}

void report_put_text(FILE *out, const struct report *report, unsigned int columns)
{
	put_head(out, report);
	if (report->merged) {
		fputc('\n', out);
		put_rows(out, report, report->merged, columns);
		return;
	}
	for (size_t i = 0; i < report->n_events; i++) {
		const struct report_event *event = &report->events[i];

		fputc('\n', out);
		if (report->n_events > 1)
			fprintf(out, "%s\n", event->name);
		if (report->view == REPORT_FLAT)
			put_rows(out, report, event, columns);
		else
			report_put_tree(out, report, event, columns);
		if (!event->samples)
			fputs("  (no samples)\n", out);
	}
}
