/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot_draw.c - draws the hot table: columns depend on the screen's width and the grouping of rows.
 */
#include "tui/base/clean.h"
#include "tui/base/format.h"
#include "tui/base/shorten.h"
#include "tui/base/width.h"
#include "tui/model/model.h"
#include "tui/model/queries.h"
#include "tui/views/hot_private.h"
#include "tui/views/views.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

uint64_t hot_bar_weight(const struct hot_table *table, const struct hot_row *row)
{
	return table->view.sort == HOT_SORT_TOTAL ? row->total : row->self;
}

const char *hot_beside(const struct hot_table *table)
{
	switch (table->by.group) {
	case GROUP_SYMBOL:
		return "IMAGE";
	case GROUP_IMAGE:
		return "PATH";
	case GROUP_ADDRESS:
	case GROUP_LINE:
		return "SYMBOL";
	case GROUP_THREAD:
		return "PROCESS";
	default:
		return NULL;
	}
}

/* Functions and paths need more space than a process next to its thread. */
static int beside_width(const struct hot_table *table, int width)
{
	if (!hot_beside(table))
		return 0;
	return table->by.group == GROUP_THREAD ? width / 4 : width / 3;
}

static const char *head_of(const struct hot_table *table, char out[GROUPS_FIELD_MAX])
{
	size_t i = 0;

	if (table->by.group == GROUP_FIELD)
		return clean_string(out, GROUPS_FIELD_MAX, table->by.field);
	/* Heads are in capitals. */
	for (const char *name = grouping_name(&table->by); name[i] && i + 1 < GROUPS_FIELD_MAX; i++)
		out[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 'a' + 'A') : name[i];
	out[i] = '\0';
	return out;
}

static void layout(struct hot_table *table, const struct model *model, int width)
{
	uint8_t ids[ENGINE_EVENTS_TOLD];
	int wants[COLUMNS_EVENTS_MAX];
	size_t n;

	if (!table->side_by_side && hot_is_grouped(table)) {
		columns_layout_grouped(&table->columns, width, hot_has_total(table),
			model->has_baseline, beside_width(table, width));
		return;
	}
	if (!table->side_by_side) {
		columns_layout(&table->columns, width);
		return;
	}
	n = model_tabs(model, ids);
	if (n > COLUMNS_EVENTS_MAX)
		n = COLUMNS_EVENTS_MAX;
	for (size_t i = 0; i < n; i++)
		wants[i] = width_of(model_event(model, ids[i])->name) + 1;
	columns_layout_events(&table->columns, width, wants, (int)n);
	if (!hot_beside(table)) {
		table->columns.symbol.width = width - table->columns.symbol.x - 1;
		table->columns.image.width = 0;
	}
}

static void draw_head(struct hot_table *table, struct canvas *canvas, const struct column *column,
	const char *name, int sort, bool right)
{
	list_view_head(&table->view, canvas, column->x, column->width, name, sort, right);
}

static void draw_heads(struct hot_table *table, const struct model *model, struct canvas *canvas)
{
	const struct columns *c = &table->columns;
	uint8_t ids[ENGINE_EVENTS_TOLD];
	char head[GROUPS_FIELD_MAX];

	draw_head(table, canvas, &c->self, hot_has_total(table) ? "SELF" : "SHARE", HOT_SORT_SELF,
		true);
	draw_head(table, canvas, &c->total, "TOTAL", HOT_SORT_TOTAL, true);
	draw_head(table, canvas, &c->samples, "SAMPLES", HOT_SORT_SAMPLES, true);
	if (model->has_baseline)
		draw_head(table, canvas, &c->trend, "CHANGE", HOT_SORT_CHANGE, true);
	else
		draw_head(table, canvas, &c->trend, "TREND", -1, false);
	draw_head(table, canvas, &c->symbol, head_of(table, head), HOT_SORT_SYMBOL, false);
	draw_head(table, canvas, &c->image, hot_beside(table), HOT_SORT_IMAGE, false);
	if (!c->n_events)
		return;
	model_tabs(model, ids);
	for (int i = 0; i < c->n_events; i++)
		draw_head(table, canvas, &c->events[i], model_event(model, ids[i])->name,
			ids[i] == model->event ? HOT_SORT_SELF : -1, true);
}

static void draw_share(
	struct canvas *canvas, int y, const struct column *column, double share, bool shown)
{
	char text[FORMAT_MAX] = "-";

	if (!column->width)
		return;
	if (shown)
		format_whole(text, share);
	canvas_text(canvas, column->x + column->width - width_of(text), y, column->width,
		shown ? views_number_style(share) : STYLE_DIM, text);
}

struct drawing {
	const struct hot_table *table;
	struct model *model;
	struct canvas *canvas;
};

/* Shortens a line to its file's base name if the whole does not fit.  "function (image)", without a
 * line, becomes "(image)" if the function is next to it. */
static const char *line_text(const struct symref *name, int width, bool beside)
{
	const char *text = name->symbol, *from = strrchr(text, name->resolved ? '/' : '(');

	if (!from || (name->resolved ? width_of(text) <= width : !beside))
		return text;
	return name->resolved ? from + 1 : from;
}

/* Shortens only the image, because the offset distinguishes addresses. */
static void shorten_address(char out[SHORTEN_MAX], const char *text, int width)
{
	const char *plus = strrchr(text, '+');
	char image[512], file[SHORTEN_MAX];

	if (!plus || width_of(text) <= width) {
		snprintf(out, SHORTEN_MAX, "%s", text);
		return;
	}
	snprintf(image, sizeof(image), "%.*s", (int)(plus - text), text);
	snprintf(out, SHORTEN_MAX, "%.500s%.500s",
		shorten_file(file, image, width - (int)strlen(plus)), plus);
}

static void draw_name(const struct drawing *drawing, int y, const struct symref *name)
{
	const struct hot_table *table = drawing->table;
	const struct columns *c = &table->columns;
	enum style style = !name->resolved ? STYLE_UNRESOLVED
		: name->kernel		   ? STYLE_KERNEL
					   : STYLE_USER;
	char text[SHORTEN_MAX];

	switch (table->by.group) {
	case GROUP_LINE:
		shorten_file(text, line_text(name, c->symbol.width, c->image.width > 0),
			c->symbol.width);
		break;
	case GROUP_IMAGE:
		shorten_file(text, name->symbol, c->symbol.width);
		break;
	case GROUP_ADDRESS:
		shorten_address(text, name->symbol, c->symbol.width);
		break;
	default:
		snprintf(text, sizeof(text), "%s", name->symbol);
		break;
	}
	views_symbol(
		drawing->canvas, c->symbol.x, y, c->symbol.width, style, text, table->view.search);
	if (!c->image.width)
		return;
	if (table->by.group == GROUP_IMAGE)
		shorten_file(text, name->image, c->image.width);
	else
		shorten_symbol(text, name->image, c->image.width);
	canvas_text(drawing->canvas, c->image.x, y, c->image.width, STYLE_DIM, text);
}

static void draw_row(void *ctx, size_t at, int y)
{
	const struct drawing *drawing = ctx;
	const struct hot_table *table = drawing->table;
	const struct hot_row *row = &table->rows[at];
	struct model *model = drawing->model;
	struct canvas *canvas = drawing->canvas;
	const struct columns *c = &table->columns;
	const struct symref *symbol = hot_name(table, model, row->symref);
	double self = format_share(row->self, table->sums.weight);
	double total = format_share(row->total, table->sums.weight);
	uint64_t bar = hot_bar_weight(table, row);
	char count[FORMAT_MAX], image[SHORTEN_MAX];

	canvas_bar(canvas, c->bar.x, y, c->bar.width, format_share(bar, table->longest),
		views_share_style(format_share(bar, table->sums.weight)));
	draw_share(canvas, y, &c->self, self, true);
	draw_share(canvas, y, &c->total, total, true);
	if (c->samples.width)
		canvas_printf(canvas, c->samples.x, y, c->samples.width, STYLE_TEXT, "%8s",
			format_count(count, row->samples));
	if (c->trend.width && model->has_baseline) {
		const bool unknown = hot_is_grouped(table) &&
			model->queries->groups->key(model, row->symref)->base_unknown;

		views_change(canvas, c->trend.x, y, c->trend.width, unknown ? NAN : row->change);
	} else if (c->trend.width) {
		uint64_t trend[HOT_TREND], max = 0;

		model->queries->trend(model, row->symref, model->event, trend);
		for (int i = 0; i < HOT_TREND; i++)
			max = trend[i] > max ? trend[i] : max;
		canvas_spark(canvas, c->trend.x, y, HOT_TREND, trend, max, STYLE_TREND);
	}
	if (c->n_events) {
		uint8_t ids[ENGINE_EVENTS_TOLD];

		model_tabs(model, ids);
		for (int i = 0; i < c->n_events; i++) {
			struct hot_sums sums;
			uint64_t cell_self, cell_total;

			model->queries->sums(model, ids[i], &sums);
			if (hot_is_grouped(table))
				model->queries->groups->cell(
					model, row->symref, ids[i], &cell_self, &cell_total);
			else
				model->queries->cell(
					model, row->symref, ids[i], &cell_self, &cell_total);
			draw_share(canvas, y, &c->events[i], format_share(cell_self, sums.weight),
				cell_total != 0);
		}
	}
	if (!hot_is_grouped(table)) {
		views_symbol(canvas, c->symbol.x, y, c->symbol.width, views_symbol_style(symbol),
			symbol->symbol, table->view.search);
		if (c->image.width)
			canvas_text(canvas, c->image.x, y, c->image.width, STYLE_DIM,
				shorten_file(image, symbol->image, c->image.width));
		return;
	}
	draw_name(drawing, y, symbol);
}

static void draw_nothing(const struct hot_table *table, const struct model *model,
	struct canvas *canvas, struct area area)
{
	char text[PROMPT_MAX + 64];

	if (table->failed)
		snprintf(text, sizeof(text), "Out of memory");
	else if (table->view.filter[0] && table->sums.weight)
		snprintf(text, sizeof(text), "No row matches \"%s\" (Esc shows all)",
			table->view.filter);
	else if (model->status.state == ENGINE_STARTING)
		snprintf(text, sizeof(text), "Opening the events ...");
	else if (model->n_crumbs || model->filters[0])
		snprintf(text, sizeof(text), "No samples in this time pass the filters");
	else if (model->status.state == ENGINE_RUNNING)
		snprintf(text, sizeof(text), "No samples in this time");
	else
		snprintf(text, sizeof(text), "No samples were taken");
	canvas_text(canvas, area.x + 2, area.y + (area.height > 2 ? 1 : 0), area.width - 3,
		STYLE_DIM, text);
}

void hot_table_draw(struct view *view, struct screen *screen, struct area area)
{
	struct hot_table *table = view->state;
	struct canvas *canvas = &screen->canvas;
	struct drawing drawing = {table, screen->model, canvas};

	layout(table, screen->model, area.width);
	if (!table->view.list.n)
		draw_nothing(table, screen->model, canvas, area);
	if (list_view_heads(&table->view, &area, 5))
		draw_heads(table, screen->model, canvas);
	/* The screen may be larger than at the last refresh. */
	if (area.height > 0 && table->view.list.top + (size_t)area.height > table->n_rows)
		hot_all_rows(table, screen->model);
	list_view_draw(view, screen, area, draw_row, &drawing);
}
