/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_write.c - a gathered report as text, CSV (RFC 4180) or JSON.
 *
 * All strings are clean already.
 */
#include "tui/report.h"

#include "tui/canvas.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOL_WIDTH_MAX 64
#define IMAGE_WIDTH_MAX 32
#define NUMBERS_WIDTH 30 /* SELF, TOTAL and SAMPLES, up to where SYMBOL begins */

/* "12,345,678" */
static const char *grouped(char out[32], uint64_t number)
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

/* At most `width` columns of text, filled up with blanks; a cut one ends in "..". */
static void put_column(FILE *out, const char *text, int width, bool fill)
{
	int used = canvas_width_of(text);
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
		used = canvas_width_of(head);
		if (used + 2 <= width) {
			fprintf(out, "%s..%*s", head, fill ? width - used - 2 : 0, "");
			return;
		}
	}
	fprintf(out, "%*s", fill ? width : 0, "");
}

static void put_rows(FILE *out, const struct report_event *event, unsigned int columns)
{
	int symbol_width = 6, image_width = 5;

	for (size_t i = 0; i < event->n_rows; i++) {
		int symbol = canvas_width_of(event->rows[i].symbol);
		int image = canvas_width_of(event->rows[i].image);

		symbol_width = symbol > symbol_width ? symbol : symbol_width;
		image_width = image > image_width ? image : image_width;
	}
	if (columns) {
		int room = (int)columns - NUMBERS_WIDTH - 2;

		if (image_width > IMAGE_WIDTH_MAX)
			image_width = IMAGE_WIDTH_MAX;
		if (symbol_width + image_width > room && image_width > room / 3)
			image_width = room / 3 > 5 ? room / 3 : 5;
		if (symbol_width > room - image_width)
			symbol_width = room - image_width;
		if (symbol_width < 6)
			symbol_width = 6;
	} else if (symbol_width > SYMBOL_WIDTH_MAX) {
		/* Longer ones are printed whole and push their image aside. */
		symbol_width = SYMBOL_WIDTH_MAX;
	}

	fprintf(out, "    SELF    TOTAL    SAMPLES  %-*s  IMAGE\n", symbol_width, "SYMBOL");
	for (size_t i = 0; i < event->n_rows; i++) {
		const struct report_row *row = &event->rows[i];

		fprintf(out, "%7.2f%% %7.2f%% %10" PRIu64 "  ", row->self_percent,
			row->total_percent, row->samples);
		if (columns) {
			put_column(out, row->symbol, symbol_width, true);
			fputs("  ", out);
			put_column(out, row->image, image_width, false);
		} else {
			int fill = symbol_width - canvas_width_of(row->symbol);

			fprintf(out, "%s%*s  %s", row->symbol, fill > 0 ? fill : 0, "", row->image);
		}
		fputc('\n', out);
	}
}

static void write_text(FILE *out, const struct report *report, unsigned int columns)
{
	char number[32];

	fprintf(out, "%s, %.1f s\n", report->target, report->duration_s);
	for (size_t i = 0; i < report->n_events; i++) {
		const struct report_event *event = &report->events[i];

		fprintf(out, "%s", event->name);
		if (event->freq_hz)
			fprintf(out, " at %" PRIu64 " Hz", event->freq_hz);
		else if (event->period)
			fprintf(out, ", one sample every %s", grouped(number, event->period));
		fprintf(out, ": %s samples", grouped(number, event->samples));
		fprintf(out, ", %s lost", grouped(number, event->lost));
		if (event->coverage_percent >= 0)
			fprintf(out, ", coverage %.1f%%", event->coverage_percent);
		if (event->unresolved_percent > 0)
			fprintf(out, ", unresolved %.1f%%", event->unresolved_percent);
		if (event->throttled)
			fprintf(out, ", throttled %s times", grouped(number, event->throttled));
		fputc('\n', out);
	}
	if (report->tasks_missed)
		fprintf(out, "%s tasks missed: they ended before their events could be opened\n",
			grouped(number, report->tasks_missed));
	if (report->threads_left_out)
		fprintf(out, "%s threads left out: too few descriptors or locked memory\n",
			grouped(number, report->threads_left_out));
	if (report->dropped)
		fprintf(out, "%s samples dropped: out of memory\n",
			grouped(number, report->dropped));
	if (report->idle_hidden)
		fputs("without the idle loop\n", out);
	for (size_t i = 0; i < report->n_notes; i++)
		fprintf(out, "note: %s\n", report->notes[i]);

	for (size_t i = 0; i < report->n_events; i++) {
		const struct report_event *event = &report->events[i];

		fputc('\n', out);
		if (report->n_events > 1)
			fprintf(out, "%s\n", event->name);
		put_rows(out, event, columns);
		if (!event->samples)
			fputs("  (no samples)\n", out);
	}
}

/* A field is always quoted where a quote, comma or line end is in it. */
static void put_field(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void write_csv(FILE *out, const struct report *report)
{
	fputs("event,symbol,image,self_percent,total_percent,samples,self_weight,total_weight\r\n",
		out);
	for (size_t i = 0; i < report->n_events; i++) {
		const struct report_event *event = &report->events[i];

		for (size_t j = 0; j < event->n_rows; j++) {
			const struct report_row *row = &event->rows[j];

			put_field(out, event->name);
			fputc(',', out);
			put_field(out, row->symbol);
			fputc(',', out);
			put_field(out, row->image);
			fprintf(out, ",%.4f,%.4f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\r\n",
				row->self_percent, row->total_percent, row->samples,
				row->self_weight, row->total_weight);
		}
	}
}

/* Gives child, whose making may have failed, to parent under a key (arrays have none).  Returns it, or NULL with
 * *bad set when out of memory. */
static struct json_object *add_child(
	struct json_object *parent, const char *key, struct json_object *child, bool *bad)
{
	int ret;

	if (!child) {
		*bad = true;
		return NULL;
	}
	if (json_object_is_type(parent, json_type_array))
		ret = json_object_array_add(parent, child);
	else
		ret = json_object_object_add(parent, key, child);
	if (ret) {
		json_object_put(child);
		*bad = true;
		return NULL;
	}
	return child;
}

/* json-c's own form of a double has 17 digits. */
static void add_decimal(struct json_object *object, const char *key, double value, bool *bad)
{
	char text[64];

	snprintf(text, sizeof(text), "%.4f", value);
	add_child(object, key, json_object_new_double_s(value, text), bad);
}

static void add_number(struct json_object *object, const char *key, uint64_t value, bool *bad)
{
	add_child(object, key, json_object_new_uint64(value), bad);
}

static void add_string(struct json_object *object, const char *key, const char *value, bool *bad)
{
	add_child(object, key, json_object_new_string(value), bad);
}

static void add_event(struct json_object *events, const struct report_event *event, bool *bad)
{
	struct json_object *object = add_child(events, NULL, json_object_new_object(), bad);
	struct json_object *rows;

	if (!object)
		return;
	add_string(object, "name", event->name, bad);
	add_number(object, "samples", event->samples, bad);
	add_number(object, "weight", event->weight, bad);
	add_number(object, "lost", event->lost, bad);
	if (event->coverage_percent >= 0)
		add_decimal(object, "coverage_percent", event->coverage_percent, bad);
	else if (json_object_object_add(object, "coverage_percent", NULL))
		*bad = true;
	add_decimal(object, "unresolved_percent", event->unresolved_percent, bad);
	add_number(object, event->freq_hz ? "frequency_hz" : "period",
		event->freq_hz ? event->freq_hz : event->period, bad);
	add_number(object, "count", event->count, bad);
	add_number(object, "throttled", event->throttled, bad);
	add_number(object, "filtered", event->filtered, bad);
	rows = add_child(object, "rows", json_object_new_array(), bad);
	for (size_t i = 0; rows && i < event->n_rows && !*bad; i++) {
		const struct report_row *row = &event->rows[i];
		struct json_object *entry = add_child(rows, NULL, json_object_new_object(), bad);

		if (!entry)
			return;
		add_string(entry, "symbol", row->symbol, bad);
		add_string(entry, "image", row->image, bad);
		add_decimal(entry, "self_percent", row->self_percent, bad);
		add_decimal(entry, "total_percent", row->total_percent, bad);
		add_number(entry, "samples", row->samples, bad);
	}
}

static int write_json(FILE *out, const struct report *report)
{
	struct json_object *top = json_object_new_object(), *events, *notes;
	const char *text = NULL;
	bool bad = false;

	if (!top)
		return -ENOMEM;
	events = add_child(top, "events", json_object_new_array(), &bad);
	for (size_t i = 0; events && i < report->n_events && !bad; i++)
		add_event(events, &report->events[i], &bad);
	add_string(top, "target", report->target, &bad);
	add_decimal(top, "duration_s", report->duration_s, &bad);
	add_number(top, "tasks_missed", report->tasks_missed, &bad);
	add_number(top, "threads_left_out", report->threads_left_out, &bad);
	add_number(top, "side_band_lost", report->lost_side_band, &bad);
	add_number(top, "dropped", report->dropped, &bad);
	notes = add_child(top, "notes", json_object_new_array(), &bad);
	for (size_t i = 0; notes && i < report->n_notes && !bad; i++)
		add_child(notes, NULL, json_object_new_string(report->notes[i]), &bad);
	add_string(top, "strobe_version", STROBE_VERSION, &bad);
	if (!bad)
		text = json_object_to_json_string_ext(
			top, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		fprintf(out, "%s\n", text);
	json_object_put(top);
	return text ? 0 : -ENOMEM;
}

int report_write(
	FILE *out, const struct report *report, enum report_format format, unsigned int columns)
{
	int ret = 0;

	if (format == REPORT_JSON)
		ret = write_json(out, report);
	else if (format == REPORT_CSV)
		write_csv(out, report);
	else
		write_text(out, report, columns);
	if (ret)
		return ret;
	return fflush(out) || ferror(out) ? -EIO : 0;
}
