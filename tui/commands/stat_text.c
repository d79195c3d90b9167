// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * stat_text.c - writes counts as text: a table with aligned columns, or a line for each interval.
 *
 * All strings are clean already.
 */
#include "tui/base/width.h"
#include "tui/commands/stat_private.h"

#include "tui/commands/report_private.h"
#include "tui/session/request.h"

#include <math.h>
#include <string.h>

#define INTERVAL_WIDTH_MIN 14
#define ROW_WIDTH_MAX 40
#define LABEL_BYTES (2 * EVENT_NAME_MAX + 260)

const char *stat_per_name(enum stat_per per)
{
	static const char *const names[] = {
		[STAT_PER_TOTAL] = "total",
		[STAT_PER_THREAD] = "thread",
		[STAT_PER_PROCESS] = "process",
		[STAT_PER_CPU] = "cpu",
		[STAT_PER_CORE] = "core",
		[STAT_PER_SOCKET] = "socket",
		[STAT_PER_NODE] = "node",
	};

	return names[per];
}

const char *stat_missing_text(enum stat_missing missing)
{
	static const char *const texts[] = {
		[STAT_COUNTED] = "",
		[STAT_ABSENT] = "",
		[STAT_NOT_SUPPORTED] = "not supported",
		[STAT_NO_ROOM] = "no room",
		[STAT_PINNED_OUT] = "pinned: no room",
		[STAT_DID_NOT_RUN] = "did not run",
	};

	return texts[missing];
}

const char *stat_number(char out[64], double value, unsigned int decimals)
{
	char grouped[32], fraction[24] = "";
	double limit = 1.8e19, whole;

	if (!(value >= 0))
		value = 0;
	if (value > limit)
		value = limit;
	whole = floor(value);
	if (decimals) {
		snprintf(fraction, sizeof(fraction), "%.*f", (int)decimals, value - whole);
		/* 0.996 becomes 1.00 with two decimals. */
		if (fraction[0] == '1')
			whole++;
	} else {
		whole = round(value);
	}
	snprintf(out, 64, "%s%s", report_grouped(grouped, (uint64_t)whole),
		decimals ? fraction + 1 : "");
	return out;
}

static unsigned int decimals_of(const struct stat_event *event)
{
	return event->scale < 1 || event->scale > 1 ? 2 : 0;
}

static double running_percent(const struct stat_count *count)
{
	return count->enabled_ns ? 100.0 * (double)count->running_ns / (double)count->enabled_ns
				 : 100;
}

static const char *count_text(
	char out[64], const struct stat_count *count, const struct stat_event *event)
{
	if (count->missing == STAT_NOT_SUPPORTED)
		return "<not supported>";
	if (count->missing)
		return "<not counted>";
	return stat_number(out, count->scaled, decimals_of(event));
}

static const char *metric_text(char out[64], const struct stat_metric *metric)
{
	bool rate = !strcmp(metric->unit, "/s");

	return stat_number(out, metric->value,
		rate				 ? (metric->value < 100 ? 2 : 0)
			: metric->unit[0] == '%' ? 2
						 : 3);
}

/* True for a row without any count, like most tasks of the machine, which sleep. */
static bool is_idle(const struct stat_table *table, const struct stat_row *row)
{
	if (row->pid < 0 || table->n_rows == 1)
		return false;
	for (size_t i = 0; i < table->n_events; i++)
		if (table->events[i].opened && row->counts[i].missing != STAT_ABSENT &&
			row->counts[i].missing != STAT_DID_NOT_RUN)
			return false;
	return true;
}

static size_t count_idle(const struct stat_table *table)
{
	size_t n = 0;

	for (size_t i = 0; i < table->n_rows; i++)
		n += is_idle(table, &table->rows[i]);
	return n;
}

/* Returns whether to print a count.  Only the first row shows events that were never opened. */
static bool is_shown(const struct stat_table *table, size_t row, size_t event)
{
	if (is_idle(table, &table->rows[row]) &&
		table->rows[row].counts[event].missing != STAT_NOT_SUPPORTED)
		return false;
	switch (table->rows[row].counts[event].missing) {
	case STAT_ABSENT:
		return false;
	case STAT_NOT_SUPPORTED:
		return !row && !table->events[event].by_default;
	default:
		return true;
	}
}

struct widths {
	int row, count, unit, event, metric, metric_unit;
};

static void widen(int *width, const char *text)
{
	int own = width_of(text);

	if (own > *width)
		*width = own;
}

static const char *label_of(char out[LABEL_BYTES], const struct stat_event *event)
{
	snprintf(out, LABEL_BYTES, "%s%s%s", event->name, event->cgroup[0] ? "  " : "",
		event->cgroup);
	return out;
}

static void measure(const struct stat_table *table, struct widths *widths)
{
	char number[64], name[LABEL_BYTES];

	*widths = (struct widths){.count = 13};
	for (size_t i = 0; i < table->n_rows; i++) {
		if (!is_idle(table, &table->rows[i]))
			widen(&widths->row, table->rows[i].name);
		for (size_t k = 0; k < table->n_events; k++) {
			const struct stat_count *count = &table->rows[i].counts[k];
			const struct stat_event *event = &table->events[k];

			if (!is_shown(table, i, k))
				continue;
			widen(&widths->count, count_text(number, count, event));
			widen(&widths->unit, event->unit);
			widen(&widths->event, label_of(name, event));
			if (!count->metric.unit)
				continue;
			widen(&widths->metric, metric_text(number, &count->metric));
			widen(&widths->metric_unit, count->metric.unit);
		}
	}
	if (widths->row > ROW_WIDTH_MAX)
		widths->row = ROW_WIDTH_MAX;
}

static void put_right(FILE *out, const char *text, int width)
{
	fprintf(out, "%*s%s", width - width_of(text), "", text);
}

static void put_count(FILE *out, const struct stat_table *table, const struct widths *widths,
	size_t row, size_t index)
{
	const struct stat_event *event = &table->events[index];
	const struct stat_count *count = &table->rows[row].counts[index];
	char number[64], name[LABEL_BYTES];
	double percent = running_percent(count);
	bool last = !count->metric.unit && count->deviation_percent < 0 &&
		(count->missing == STAT_NOT_SUPPORTED || (!count->missing && percent >= 99.995));

	fputs("  ", out);
	if (widths->row) {
		report_put_column(out, table->rows[row].name, widths->row, true);
		fputs("  ", out);
	}
	put_right(out, count_text(number, count, event), widths->count);
	fputc(' ', out);
	report_put_column(out, count->missing ? "" : event->unit, widths->unit, true);
	fputs(widths->unit ? "  " : " ", out);
	report_put_column(out, label_of(name, event), widths->event, !last);
	if (count->metric.unit) {
		fputs("  ", out);
		put_right(out, metric_text(number, &count->metric), widths->metric);
		fprintf(out, " %s", count->metric.unit);
		last = count->deviation_percent < 0 && percent >= 99.995;
		if (!last)
			fprintf(out, "%*s", widths->metric_unit - width_of(count->metric.unit), "");
	}
	if (count->deviation_percent >= 0)
		fprintf(out, "  +- %.2f%%", count->deviation_percent);
	if (count->missing && count->missing != STAT_NOT_SUPPORTED)
		fprintf(out, "  (%s)", stat_missing_text(count->missing));
	else if (!count->missing && percent < 99.995)
		fprintf(out, "  %.1f%% running", percent);
	fputc('\n', out);
}

void stat_put_text(FILE *out, const struct stat_table *table)
{
	size_t idle = count_idle(table);
	struct widths widths;

	measure(table, &widths);
	fprintf(out, "\n  %s", table->target);
	if (table->runs)
		fprintf(out, ", mean of %u run%s", table->runs, table->runs == 1 ? "" : "s");
	fputs("\n\n", out);
	for (size_t i = 0; i < table->n_rows; i++) {
		if (i && table->n_events > 1 && widths.row && !is_idle(table, &table->rows[i]))
			fputc('\n', out);
		for (size_t k = 0; k < table->n_events; k++)
			if (is_shown(table, i, k))
				put_count(out, table, &widths, i, k);
	}
	fprintf(out, "\n  %.6f s elapsed", table->elapsed_s);
	if (table->runs > 1)
		fprintf(out, " +- %.2f%%", table->elapsed_deviation_percent);
	if (table->user_s >= 0)
		fprintf(out, ", %.6f s user, %.6f s system", table->user_s, table->system_s);
	fputc('\n', out);
	if (idle)
		fprintf(out, "  %zu %s%s did not run\n", idle, stat_per_name(table->per),
			idle == 1				 ? ""
				: table->per == STAT_PER_PROCESS ? "es"
								 : "s");
	for (size_t i = 0; i < table->n_notes; i++)
		fprintf(out, "  %s\n", table->notes[i]);
	fputc('\n', out);
}

/* --- intervals --- */

/* Default events that are not available have no column. */
static bool has_column(const struct stat_event *event)
{
	return event->opened || !event->by_default;
}

static int column_width(const struct stat_event *event)
{
	char name[LABEL_BYTES];
	int width =
		width_of(label_of(name, event)) + (event->unit[0] ? 1 + width_of(event->unit) : 0);

	return width > INTERVAL_WIDTH_MIN ? width : INTERVAL_WIDTH_MIN;
}

static void put_head(FILE *out, const struct stat_table *table, int row_width)
{
	char name[LABEL_BYTES], head[LABEL_BYTES + 40];

	fputs("    TIME s", out);
	if (row_width)
		fprintf(out, "  %*s", -row_width, "");
	for (size_t i = 0; i < table->n_events; i++) {
		const struct stat_event *event = &table->events[i];

		if (!has_column(event))
			continue;
		snprintf(head, sizeof(head), "%s%s%s", label_of(name, event),
			event->unit[0] ? " " : "", event->unit);
		fputs("  ", out);
		put_right(out, head, column_width(event));
	}
	fputc('\n', out);
}

void stat_put_line(FILE *out, const struct stat_table *table, bool head)
{
	char number[64], text[68];
	int row_width = 0;

	for (size_t i = 0; i < table->n_rows; i++)
		widen(&row_width, table->rows[i].name);
	if (row_width > ROW_WIDTH_MAX)
		row_width = ROW_WIDTH_MAX;
	if (head)
		put_head(out, table, row_width);
	for (size_t i = 0; i < table->n_rows; i++) {
		if (is_idle(table, &table->rows[i]))
			continue;
		fprintf(out, "%10.3f", table->time_s);
		if (row_width) {
			fputs("  ", out);
			report_put_column(out, table->rows[i].name, row_width, true);
		}
		for (size_t k = 0; k < table->n_events; k++) {
			const struct stat_count *count = &table->rows[i].counts[k];
			const struct stat_event *event = &table->events[k];

			if (!has_column(event))
				continue;
			snprintf(text, sizeof(text), "%s%s",
				!count->missing && running_percent(count) < 99.995 ? "~" : "",
				count->missing
					? "-"
					: stat_number(number, count->scaled, decimals_of(event)));
			fputs("  ", out);
			put_right(out, text, column_width(event));
		}
		fputc('\n', out);
	}
}
