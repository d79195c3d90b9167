/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff_table.c - see diff_table.h.
 */
#include "tui/commands/diff_table.h"

#include "tui/base/grow.h"
#include "tui/names/called.h"
#include "tui/session/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int diff_table_init(struct diff_table *table, size_t files_max, enum diff_normal normal)
{
	*table = (struct diff_table){.normal = normal, .files_max = files_max};
	table->files = calloc(files_max, sizeof(*table->files));
	return table->files ? 0 : -ENOMEM;
}

void diff_table_fini(struct diff_table *table)
{
	for (uint32_t i = 0; i < table->n_events; i++)
		free(table->events[i].parts);
	for (uint32_t i = 0; i < table->n_rows; i++) {
		free(table->rows[i].keys);
		free(table->rows[i].cells);
	}
	free(table->files);
	free(table->events);
	free(table->rows);
	intern_fini(&table->texts);
	intern_fini(&table->index);
	*table = (struct diff_table){0};
}

static int event_of(struct diff_table *table, const char *name, bool is_clock, uint32_t *number)
{
	struct diff_event event = {.is_clock = is_clock};
	int ret;

	for (*number = 0; *number < table->n_events; ++*number)
		if (!strcmp(table->events[*number].name, name))
			return 0;
	ret = grow_room((void **)&table->events, table->n_events, &table->events_room,
		sizeof(*table->events));
	if (ret)
		return ret;
	event.name = intern_text(&table->texts, name);
	event.parts = calloc(table->files_max, sizeof(*event.parts));
	if (!event.name || !event.parts) {
		free(event.parts);
		return -ENOMEM;
	}
	table->events[table->n_events++] = event;
	return 0;
}

/* Interns event, place and keys as one byte string, each key with its NUL.  as_base: clones get the
 * name of their function. */
static int keys_id(const struct diff_table *table, uint32_t event, const struct names_place *place,
	const char *const *keys, bool as_base, struct intern *index, uint32_t *id)
{
	size_t len = sizeof(event) + sizeof(*place), at = len;
	char *bytes;
	int ret;

	for (size_t i = 0; i < table->n_keys; i++)
		len += strlen(keys[i]) + 1;
	bytes = malloc(len);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, &event, sizeof(event));
	memcpy(bytes + sizeof(event), place, sizeof(*place));
	for (size_t i = 0; i < table->n_keys; i++) {
		size_t size = strlen(keys[i]) + 1;

		if (as_base && table->keys[i] == GROUP_SYMBOL) {
			const struct called_base base = called_base(keys[i]);

			memcpy(bytes + at, keys[i], base.len);
			size = base.len + strlen(base.mark) + 1;
			memcpy(bytes + at + base.len, base.mark, size - base.len);
		} else {
			memcpy(bytes + at, keys[i], size);
		}
		at += size;
	}
	ret = intern_id(index, bytes, at, id);
	free(bytes);
	return ret;
}

/* Returns the key of a row for all recordings. */
static const char *key_of(const struct diff_table *table, const struct report_row *from, size_t i)
{
	const char *text = from->keys[i].text;

	return table->keys[i] == GROUP_IMAGE ? called_run(text) : text;
}

static int row_id(
	struct diff_table *table, uint32_t event, const struct report_row *from, uint32_t *id)
{
	const char *keys[QUERY_KEYS_MAX];

	for (size_t i = 0; i < table->n_keys; i++)
		keys[i] = key_of(table, from, i);
	return keys_id(table, event, &from->place, keys, false, &table->index, id);
}

static int row_new(struct diff_table *table, uint32_t event, const struct report_row *from)
{
	struct diff_row row = {.event = event, .place = from->place};
	int ret = grow_room(
		(void **)&table->rows, table->n_rows, &table->rows_room, sizeof(*table->rows));

	if (ret)
		return ret;
	row.keys = calloc(table->n_keys + 1, sizeof(*row.keys));
	row.cells = calloc(table->files_max, sizeof(*row.cells));
	if (!row.keys || !row.cells)
		ret = -ENOMEM;
	for (size_t i = 0; i < table->n_keys && !ret; i++) {
		row.keys[i] = intern_text(&table->texts, key_of(table, from, i));
		if (!row.keys[i])
			ret = -ENOMEM;
	}
	if (ret) {
		free(row.keys);
		free(row.cells);
		return ret;
	}
	table->rows[table->n_rows++] = row;
	return 0;
}

/* Adds a row to the current file.  Rows with equal keys and place are summed, such as code that was
 * compiled several times at run time, or in several processes. */
static int add_row(struct diff_table *table, uint32_t event, const struct report_row *from)
{
	struct diff_cell *cell;
	uint32_t id;
	int ret = row_id(table, event, from, &id);

	if (!ret && id == table->n_rows)
		ret = row_new(table, event, from);
	if (ret)
		return ret;
	cell = &table->rows[id].cells[table->n_files];
	cell->samples += from->samples;
	cell->weight += from->self_weight;
	cell->percent += from->self_percent;
	return 0;
}

static int add_event(struct diff_table *table, const struct report_event *from, bool is_clock)
{
	struct diff_part *part;
	uint32_t number;
	int ret = event_of(table, from->name, is_clock, &number);

	if (ret)
		return ret;
	part = &table->events[number].parts[table->n_files];
	if (!part->present)
		table->events[number].n_present++;
	part->present = true;
	part->samples += from->samples;
	part->weight += from->weight;
	/* A symbol that was never a leaf has no self share. */
	for (size_t i = 0; i < from->n_rows && !ret; i++)
		if (from->rows[i].samples)
			ret = add_row(table, number, &from->rows[i]);
	return ret;
}

int diff_table_add(struct diff_table *table, const char *name, const struct report *report,
	const bool *is_clock)
{
	struct diff_file *file = &table->files[table->n_files];
	int ret = 0;

	file->name = intern_text(&table->texts, name);
	file->duration_s = report->no_times ? -1 : report->covered_s;
	if (!file->name)
		return -ENOMEM;
	table->n_keys = report->n_keys;
	memcpy(table->keys, report->keys, sizeof(table->keys));
	table->absolute = report->absolute;
	for (size_t i = 0; i < report->n_events && !ret; i++)
		ret = add_event(table, &report->events[i], is_clock[i]);
	table->n_files++;
	return ret;
}

static void add_cells(struct diff_table *table, struct diff_row *to, struct diff_row *from)
{
	for (size_t i = 0; i < table->n_files; i++) {
		to->cells[i].samples += from->cells[i].samples;
		to->cells[i].weight += from->cells[i].weight;
		to->cells[i].percent += from->cells[i].percent;
	}
	free(from->keys);
	free(from->cells);
	from->cells = NULL;
}

/* Removes the rows that add_cells() has emptied. */
static void drop_merged(struct diff_table *table)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < table->n_rows; i++)
		if (table->rows[i].cells)
			table->rows[kept++] = table->rows[i];
	table->n_rows = kept;
}

/* --- functions of one name --- */

static int by_event(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;

	return x->event < y->event ? -1 : x->event > y->event;
}

static int by_keys(const struct diff_row *x, const struct diff_row *y, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int order = strcmp(x->keys[i], y->keys[i]);

		if (order)
			return order;
	}
	return 0;
}

/* Orders by keys, build and start. */
static int by_place(const void *a, const void *b, void *ctx)
{
	const struct diff_table *table = ctx;
	const struct diff_row *x = a, *y = b;
	int order = by_event(x, y);

	if (!order)
		order = by_keys(x, y, table->n_keys);
	if (!order)
		order = (x->place.build > y->place.build) - (x->place.build < y->place.build);
	return order ? order
		     : (x->place.start > y->place.start) - (x->place.start < y->place.start);
}

static bool is_one_build(const struct diff_row *rows, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (rows[i].place.build != rows[0].place.build)
			return false;
	return rows[0].place.build != 0;
}

/* Returns the number of functions that each recording with the name has; 0 if the numbers
 * differ. */
static uint32_t count_alike(const struct diff_table *table, const struct diff_row *rows, uint32_t n)
{
	uint32_t all = 0;

	for (size_t file = 0; file < table->n_files; file++) {
		uint32_t own = 0;

		for (uint32_t i = 0; i < n; i++)
			own += rows[i].cells[file].samples != 0;
		if (own && all && own != all)
			return 0;
		all = own ? own : all;
	}
	return all;
}

/* Moves the first function of each recording to the first row, the second to the second row, and so
 * on. */
static void move_up(const struct diff_table *table, struct diff_row *rows, uint32_t n)
{
	for (size_t file = 0; file < table->n_files; file++) {
		for (uint32_t i = 0, to = 0; i < n; i++) {
			const struct diff_cell cell = rows[i].cells[file];

			if (!cell.samples)
				continue;
			rows[i].cells[file] = (struct diff_cell){0};
			rows[to++].cells[file] = cell;
		}
	}
}

/* Matches functions of one name.  Those of one build have their own rows.  Those of several builds
 * are in the same order, if each recording has as many.  Otherwise nothing is known, and their sum
 * is shown. */
static void merge_namesakes(struct diff_table *table)
{
	uint32_t n;

	if (table->n_rows)
		qsort_r(table->rows, table->n_rows, sizeof(*table->rows), by_place, table);
	for (uint32_t i = 0; i < table->n_rows; i += n) {
		struct diff_row *rows = &table->rows[i];
		uint32_t kept;

		for (n = 1; i + n < table->n_rows && rows[n].event == rows->event &&
			!by_keys(rows, rows + n, table->n_keys);
			n++)
			;
		if (is_one_build(rows, n))
			continue;
		kept = count_alike(table, rows, n);
		if (kept)
			move_up(table, rows, n);
		for (uint32_t k = kept ? kept : 1; k < n; k++)
			add_cells(table, rows, &rows[k]);
	}
	drop_merged(table);
}

/* --- clones --- */

/* The rows of one function's clones. */
struct clones {
	uint32_t n;
	uint32_t row; /* the row of the function itself, or the first row */
	bool is_partial; /* some row has no samples in a recording with its event */
	bool has_clone; /* not all rows are functions themselves, which may share their name */
};

static bool is_everywhere(const struct diff_table *table, const struct diff_row *row)
{
	for (size_t i = 0; i < table->n_files; i++)
		if (table->events[row->event].parts[i].present && !row->cells[i].samples)
			return false;
	return true;
}

static bool is_base(const struct diff_table *table, const struct diff_row *row)
{
	for (size_t i = 0; i < table->n_keys; i++) {
		const struct called_base base = called_base(row->keys[i]);

		if (table->keys[i] == GROUP_SYMBOL && row->keys[i] + base.len != base.mark)
			return false;
	}
	return true;
}

static void note_clone(const struct diff_table *table, struct clones *clones, uint32_t row)
{
	const bool base = is_base(table, &table->rows[row]);

	if (!clones->n++ || base)
		clones->row = row;
	clones->has_clone |= !base;
	clones->is_partial |= !is_everywhere(table, &table->rows[row]);
}

/* Merges the rows of a function's clones if some recording lacks one of these: builds differ in
 * their clones. */
static int merge_clones(struct diff_table *table)
{
	uint32_t *of = calloc((size_t)table->n_rows + 1, sizeof(*of));
	struct clones *clones = calloc((size_t)table->n_rows + 1, sizeof(*clones));
	const struct names_place nowhere = {0};
	struct intern index = {0};
	int ret = of && clones ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < table->n_rows && !ret; i++) {
		ret = keys_id(table, table->rows[i].event, &nowhere, table->rows[i].keys, true,
			&index, &of[i]);
		if (!ret)
			note_clone(table, &clones[of[i]], i);
	}
	for (uint32_t i = 0; i < table->n_rows && !ret; i++)
		if (clones[of[i]].is_partial && clones[of[i]].has_clone && clones[of[i]].row != i)
			add_cells(table, &table->rows[clones[of[i]].row], &table->rows[i]);
	if (!ret)
		drop_merged(table);
	intern_fini(&index);
	free(clones);
	free(of);
	return ret;
}

/* --- comparing --- */

static void compare(const struct diff_table *table, struct diff_row *row)
{
	const struct diff_cell *first = &row->cells[0], *last = &row->cells[table->n_files - 1];

	for (size_t i = 0; i < table->n_files; i++) {
		struct diff_cell *cell = &row->cells[i];
		double duration = table->files[i].duration_s;

		cell->value = cell->percent;
		if (table->normal == DIFF_SECOND)
			cell->value = duration > 0 ? (double)cell->weight / duration : 0;
	}
	row->difference = last->value - first->value;
	row->ratio = first->value > 0 ? last->value / first->value : 0;
	if (first->samples)
		row->state = last->samples ? DIFF_BOTH : DIFF_GONE;
	else
		row->state = last->samples ? DIFF_NEW : DIFF_BETWEEN;
}

static double size_of(double value)
{
	return value < 0 ? -value : value;
}

static int by_change(const void *a, const void *b, void *ctx)
{
	const struct diff_row *x = a, *y = b;
	double more = size_of(y->difference) - size_of(x->difference);
	int order = by_event(a, b);

	if (order)
		return order;
	if (more > 0 || more < 0)
		return more > 0 ? 1 : -1;
	more = y->cells[0].value - x->cells[0].value;
	if (more > 0 || more < 0)
		return more > 0 ? 1 : -1;
	return by_place(x, y, ctx);
}

/* Puts the events in two or more recordings first, and renumbers the events of the rows. */
static int order_events(struct diff_table *table)
{
	struct diff_event *ordered = calloc((size_t)table->n_events + 1, sizeof(*ordered));
	uint32_t *places = calloc((size_t)table->n_events + 1, sizeof(*places));
	uint32_t n = 0;

	if (!ordered || !places) {
		free(ordered);
		free(places);
		return -ENOMEM;
	}
	for (int several = 1; several >= 0; several--) {
		for (uint32_t i = 0; i < table->n_events; i++) {
			if ((table->events[i].n_present > 1) != several)
				continue;
			places[i] = n;
			ordered[n++] = table->events[i];
		}
		if (several)
			table->n_compared = n;
	}
	for (uint32_t i = 0; i < table->n_rows; i++)
		table->rows[i].event = places[table->rows[i].event];
	memcpy(table->events, ordered, table->n_events * sizeof(*ordered));
	free(ordered);
	free(places);
	return 0;
}

static bool is_kept(
	const struct diff_table *table, const struct diff_row *row, double percent_limit)
{
	double most = 0;

	for (size_t i = 0; i < table->n_files; i++)
		if (row->cells[i].percent > most)
			most = row->cells[i].percent;
	return row->event < table->n_compared && most >= percent_limit;
}

int diff_table_finish(struct diff_table *table, double percent_limit, size_t rows)
{
	uint32_t kept = 0, event = UINT32_MAX;
	size_t of_event = 0;
	int ret;

	merge_namesakes(table);
	ret = merge_clones(table);
	if (!ret)
		ret = order_events(table);
	if (ret)
		return ret;
	for (uint32_t i = 0; i < table->n_rows; i++)
		compare(table, &table->rows[i]);
	if (table->n_rows)
		qsort_r(table->rows, table->n_rows, sizeof(*table->rows), by_change, table);
	for (uint32_t i = 0; i < table->n_rows; i++) {
		struct diff_row *row = &table->rows[i];

		if (row->event != event)
			of_event = 0;
		event = row->event;
		if (is_kept(table, row, percent_limit) && (!rows || of_event < rows)) {
			of_event++;
			table->rows[kept++] = *row;
		} else {
			free(row->keys);
			free(row->cells);
		}
	}
	table->n_rows = kept;
	return 0;
}
