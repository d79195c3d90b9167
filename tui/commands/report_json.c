/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_json.c - writes a gathered report as JSON.
 *
 * All strings are clean already.
 */
#include "tui/commands/report_private.h"
#include "tui/export/jsontext.h"
#include "tui/options/args.h"
#include "tui/session/request.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>

/* Adds child, or handles its failed allocation (NULL), to parent under a key (ignored for arrays).
 * Takes ownership of child.  Returns it, or NULL with *bad set if memory runs out. */
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

/* Writes four decimals; json-c's own format of a double has 17 digits. */
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

static void add_null(struct json_object *object, const char *key, bool *bad)
{
	if (json_object_object_add(object, key, NULL))
		*bad = true;
}

static void add_cells(struct json_object *entry, const struct report_event *event,
	const struct report_row *row, bool *bad)
{
	struct json_object *columns = add_child(entry, "columns", json_object_new_object(), bad);

	for (size_t i = 0; columns && i < row->n_cells && !*bad; i++) {
		const struct report_cell *cell = &row->cells[i];
		struct json_object *object = add_child(
			columns, event->columns[cell->column].name, json_object_new_object(), bad);

		if (!object)
			return;
		add_decimal(object, "self_percent", cell->self_percent, bad);
		add_decimal(object, "total_percent", cell->total_percent, bad);
		add_number(object, "samples", cell->samples, bad);
		add_number(object, "weight", cell->weight, bad);
	}
}

static void add_row(struct json_object *rows, const struct report *report,
	const struct report_event *event, const struct report_row *row, bool *bad)
{
	struct json_object *entry = add_child(rows, NULL, json_object_new_object(), bad);

	if (!entry)
		return;
	for (size_t k = 0; k < report->n_keys; k++) {
		char room[REPORT_NAME_MAX];
		const char *name = report_key_name(report, k, room);

		if (row->keys[k].is_number)
			add_child(entry, name, json_object_new_int64(row->keys[k].number), bad);
		else
			add_string(entry, name, row->keys[k].text, bad);
	}
	add_decimal(entry, "self_percent", row->self_percent, bad);
	add_decimal(entry, "total_percent", row->total_percent, bad);
	add_number(entry, "samples", row->samples, bad);
	if (report->grouped)
		add_number(entry, "weight", row->self_weight, bad);
	if (report->columns != COLUMNS_NONE)
		add_cells(entry, event, row, bad);
}

static void add_columns(struct json_object *object, const struct report_event *event, bool *bad)
{
	struct json_object *columns = add_child(object, "columns", json_object_new_array(), bad);

	for (size_t i = 0; columns && i < event->n_columns && !*bad; i++) {
		const struct report_column *column = &event->columns[i];
		struct json_object *entry = add_child(columns, NULL, json_object_new_object(), bad);

		if (!entry)
			return;
		add_string(entry, "name", column->name, bad);
		add_string(entry, "head", column->head, bad);
		add_number(entry, "samples", column->samples, bad);
		add_number(entry, "weight", column->weight, bad);
	}
}

static void add_nodes(struct json_object *parent, const struct report_event *event, size_t node,
	const char *key, bool *bad)
{
	struct json_object *list = add_child(parent, key, json_object_new_array(), bad);

	for (size_t at = event->nodes[node].child; list && at && !*bad;
		at = event->nodes[at].sibling) {
		const struct report_node *from = &event->nodes[at];
		struct json_object *entry = add_child(list, NULL, json_object_new_object(), bad);

		if (!entry)
			return;
		add_string(entry, "symbol", from->symbol, bad);
		add_string(entry, "image", from->image, bad);
		add_decimal(entry, "self_percent", from->self_percent, bad);
		add_decimal(entry, "total_percent", from->total_percent, bad);
		add_number(entry, "samples", from->samples, bad);
		if (from->n_below) {
			add_number(entry, "below_limit", from->n_below, bad);
			add_decimal(entry, "below_limit_percent", from->below_percent, bad);
		}
		add_nodes(entry, event, at, "children", bad);
	}
}

static void add_rate(struct json_object *object, const struct report_event *event, bool *bad)
{
	if (!event->rate_varies)
		add_number(object, event->freq_hz ? "frequency_hz" : "period",
			event->freq_hz ? event->freq_hz : event->period, bad);
	else
		add_null(object, "frequency_hz", bad);
}

static void add_event(struct json_object *events, const struct report *report,
	const struct report_event *event, bool *bad)
{
	struct json_object *object = add_child(events, NULL, json_object_new_object(), bad);
	struct json_object *rows;

	if (!object)
		return;
	add_string(object, "name", event->name, bad);
	add_number(object, "samples", event->samples, bad);
	add_number(object, "weight", event->weight, bad);
	if (report->filtered) {
		add_number(object, "unfiltered_samples", event->all_samples, bad);
		add_number(object, "unfiltered_weight", event->all_weight, bad);
	}
	add_number(object, "lost", event->lost, bad);
	add_number(object, "held_back", event->held_back, bad);
	if (event->coverage_percent >= 0)
		add_decimal(object, "coverage_percent", event->coverage_percent, bad);
	else
		add_null(object, "coverage_percent", bad);
	add_decimal(object, "unresolved_percent", event->unresolved_percent, bad);
	add_rate(object, event, bad);
	if (event->count_unknown)
		add_null(object, "count", bad);
	else
		add_number(object, "count", event->count, bad);
	if (event->enabled_ns) {
		add_number(object, "enabled_ns", event->enabled_ns, bad);
		add_number(object, "running_ns", event->running_ns, bad);
	}
	add_number(object, "throttled", event->throttled, bad);
	if (event->tells_exact)
		add_decimal(object, "exact_percent", report_percent(event->exact, event->delivered),
			bad);
	if (event->chains)
		add_decimal(object, "chains_whole_percent",
			report_percent(event->chains_whole, event->chains), bad);
	if (event->stood_still)
		add_number(object, "stood_still", event->stood_still, bad);
	add_number(object, "filtered", event->filtered, bad);
	if (report->view != REPORT_FLAT) {
		if (event->n_nodes) {
			add_number(object, "below_limit", event->nodes[0].n_below, bad);
			add_nodes(object, event, 0, "tree", bad);
		}
		return;
	}
	if (report->columns != COLUMNS_NONE)
		add_columns(object, event, bad);
	rows = add_child(object, "rows", json_object_new_array(), bad);
	for (size_t i = 0; rows && i < event->n_rows && !*bad; i++)
		add_row(rows, report, event, &event->rows[i], bad);
}

static void add_text(struct json_object *object, const char *key, const char *text, bool *bad)
{
	if (text)
		add_string(object, key, text, bad);
}

static void add_file(struct json_object *top, const struct report_file *file, bool *bad)
{
	const struct reader_status *status = file->status;
	struct json_object *object, *records;
	char name[32];

	if (!status)
		return;
	object = add_child(top, "recording", json_object_new_object(), bad);
	records = add_child(top, "records", json_object_new_object(), bad);
	if (!object || !records)
		return;
	add_text(object, "hostname", file->hostname, bad);
	add_text(object, "release", file->release, bad);
	add_text(object, "arch", file->arch, bad);
	add_text(object, "cpu", file->cpu, bad);
	if (file->cpus)
		add_number(object, "cpus", file->cpus, bad);
	if (file->memory_kb)
		add_number(object, "memory_kb", file->memory_kb, bad);
	add_text(object, "command", file->command, bad);
	add_text(object, "pmus", file->pmus, bad);
	add_text(object, "recorder", file->recorder, bad);
	add_text(object, "device", file->device, bad);
	add_text(object, "perf_version", file->perf_version, bad);
	if (file->written)
		add_child(object, "written", json_object_new_int64(file->written), bad);
	add_child(object, "truncated", json_object_new_boolean(file->truncated), bad);
	add_number(object, "bytes", status->bytes_read, bad);
	add_number(object, "bad_records", status->bad, bad);
	add_number(object, "unknown_records", status->unknown, bad);
	for (unsigned int type = 0; type < PERFDATA_RECORD_TYPES && !*bad; type++) {
		const char *known = report_record_name(type);

		if (!status->counts[type])
			continue;
		snprintf(name, sizeof(name), "%u", type);
		add_number(records, known ? known : name, status->counts[type], bad);
	}
}

static void add_memory(struct json_object *top, const struct memory_account *memory, bool *bad)
{
	struct json_object *object = add_child(top, "memory", json_object_new_object(), bad);

	if (!object)
		return;
	add_number(object, "resident_bytes", memory->resident, bad);
	add_number(object, "history_bytes", memory->history, bad);
	add_number(object, "history_limit_bytes", memory->history_limit, bad);
	add_number(object, "tables_bytes", memory->tables, bad);
	add_number(object, "symbols_bytes", memory->symbols, bad);
	add_number(object, "program_bytes", memory->program, bad);
	add_number(object, "unused_bytes", memory->unused, bad);
	add_number(object, "untouched_bytes", memory->untouched, bad);
	add_number(object, "helpers_bytes", memory->helpers, bad);
	add_number(object, "kernel_buffers_bytes", memory->buffers, bad);
}

/* --- text: json-c's own writer silently drops parts if memory runs out --- */

static void put_json_leaf(FILE *out, struct json_object *object)
{
	switch (json_object_get_type(object)) {
	case json_type_boolean:
		fputs(json_object_get_boolean(object) ? "true" : "false", out);
		break;
	case json_type_int:
		if (json_object_get_int64(object) < 0)
			fprintf(out, "%" PRId64, json_object_get_int64(object));
		else
			fprintf(out, "%" PRIu64, json_object_get_uint64(object));
		break;
	case json_type_double:
		fputs(json_object_get_userdata(object), out); /* the text of add_decimal() */
		break;
	case json_type_string:
		jsontext_string(out, json_object_get_string(object));
		break;
	default:
		fputs("null", out);
		break;
	}
}

static void begin_json_line(FILE *out, bool pretty, unsigned int depth)
{
	if (pretty)
		fprintf(out, "\n%*s", (int)(2 * depth), "");
}

static void put_json(FILE *out, struct json_object *object, bool pretty, unsigned int depth)
{
	bool is_array = json_object_is_type(object, json_type_array), first = true;

	if (!is_array && !json_object_is_type(object, json_type_object)) {
		put_json_leaf(out, object);
		return;
	}
	putc(is_array ? '[' : '{', out);
	for (size_t i = 0; is_array && i < json_object_array_length(object); i++, first = false) {
		if (!first)
			putc(',', out);
		begin_json_line(out, pretty, depth + 1);
		put_json(out, json_object_array_get_idx(object, i), pretty, depth + 1);
	}
	if (!is_array) {
		struct json_object_iterator at = json_object_iter_begin(object),
					    end = json_object_iter_end(object);

		for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
			if (!first)
				putc(',', out);
			first = false;
			begin_json_line(out, pretty, depth + 1);
			jsontext_string(out, json_object_iter_peek_name(&at));
			putc(':', out);
			put_json(out, json_object_iter_peek_value(&at), pretty, depth + 1);
		}
	}
	begin_json_line(out, pretty, depth);
	putc(is_array ? ']' : '}', out);
}

int report_put_json(FILE *out, const struct report *report)
{
	struct json_object *top = json_object_new_object(), *events, *notes;
	bool bad = false;

	if (!top)
		return -ENOMEM;
	events = add_child(top, "events", json_object_new_array(), &bad);
	for (size_t i = 0; events && i < report->n_events && !bad; i++)
		add_event(events, report, &report->events[i], &bad);
	add_string(top, "target", report->target, &bad);
	if (report->no_times)
		add_null(top, "duration_s", &bad);
	else
		add_decimal(top, "duration_s", report->duration_s, &bad);
	add_number(top, "tasks_missed", report->tasks_missed, &bad);
	add_number(top, "threads_left_out", report->threads_left_out, &bad);
	add_number(top, "side_band_lost", report->lost_side_band, &bad);
	add_number(top, "dropped", report->dropped, &bad);
	add_number(top, "records_dropped", report->records_dropped, &bad);
	add_number(top, "unknown_records", report->unknown_records, &bad);
	add_number(top, "chains_late", report->chains_late, &bad);
	add_number(top, "addresses_dropped", report->addresses_dropped, &bad);
	add_memory(top, &report->costs, &bad);
	add_file(top, &report->file, &bad);
	notes = add_child(top, "notes", json_object_new_array(), &bad);
	for (size_t i = 0; notes && i < report->n_notes && !bad; i++)
		add_child(notes, NULL, json_object_new_string(report->notes[i]), &bad);
	add_string(top, "strobe_version", STROBE_VERSION, &bad);
	if (!bad) {
		/* Trees are not indented: the indentation of deep nodes would be most of the
		 * file. */
		put_json(out, top, report->view == REPORT_FLAT, 0);
		putc('\n', out);
	}
	json_object_put(top);
	return bad ? -ENOMEM : 0;
}
