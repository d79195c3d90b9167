/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot_table.c - the main view: hot symbols, sorted, searched, filtered.
 *
 * The cursor sticks to a symbol while numbers change; a cursor that was never moved stays on top.
 */
#include "tui/format.h"
#include "tui/screen.h"
#include "tui/shorten.h"
#include "tui/views/columns.h"
#include "tui/views/list.h"
#include "tui/views/views.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hot_table {
	struct list list;
	const struct hot_row *rows; /* the model's, until its next answer */
	struct hot_sums sums;
	uint64_t longest; /* weight that a full bar stands for */
	uint32_t selected; /* symref */
	uint8_t event; /* of the rows */
	bool moved; /* off the first row */
	bool failed; /* out of memory */
	enum hot_sort sort;
	bool reverse, hide_kernel, side_by_side;
	char filter[PROMPT_MAX], old_filter[PROMPT_MAX];
	char search[PROMPT_MAX], old_search[PROMPT_MAX];
	uint32_t search_from; /* symref where the search began */
	struct columns columns; /* as last drawn */
};

/* From left to right on the screen. */
static const enum hot_sort sort_order[] = {HOT_SORT_SELF, HOT_SORT_TOTAL, HOT_SORT_SAMPLES,
	HOT_SORT_CHANGE, HOT_SORT_SYMBOL, HOT_SORT_IMAGE};
#define N_SORTS ((int)(sizeof(sort_order) / sizeof(*sort_order)))

static int hot_open(struct view *view, struct screen *screen, uint32_t arg)
{
	struct hot_table *table = calloc(1, sizeof(*table));

	(void)arg;
	if (!table)
		return -ENOMEM;
	table->sort = screen->model->sort_total ? HOT_SORT_TOTAL : HOT_SORT_SELF;
	view->state = table;
	return 0;
}

static void hot_close(struct view *view)
{
	free(view->state);
}

static long row_of(const struct hot_table *table, uint32_t symref)
{
	for (size_t i = 0; i < table->list.n; i++) {
		if (table->rows[i].symref == symref)
			return (long)i;
	}
	return -1;
}

static void remember_selection(struct hot_table *table)
{
	table->moved = table->list.cursor != 0;
	if (table->list.n)
		table->selected = table->rows[table->list.cursor].symref;
}

static uint64_t bar_weight(const struct hot_table *table, const struct hot_row *row)
{
	return table->sort == HOT_SORT_TOTAL ? row->total : row->self;
}

/* Where the user asked for other rows, and the selected one is not among them. */
static void choose_first(struct hot_table *table)
{
	if (!table->list.lost || !table->list.n)
		return;
	list_set_cursor(&table->list, 0);
	remember_selection(table);
}

static void hot_refresh(struct view *view, struct screen *screen)
{
	struct hot_table *table = view->state;
	struct model *model = screen->model;
	const struct hot_query query = {
		.event = model->event,
		.sort = table->sort,
		.reverse = table->reverse,
		.hide_kernel = table->hide_kernel,
		.filter = table->filter,
		.quick = true,
	};
	size_t n = 0;
	long at = 0;

	table->rows = NULL;
	table->failed = model->ops->rows(model, &query, &table->rows, &n, &table->sums) != 0;
	list_set_count(&table->list, table->failed ? 0 : n);
	table->longest = 0;
	for (size_t i = 0; i < table->list.n; i++) {
		if (bar_weight(table, &table->rows[i]) > table->longest)
			table->longest = bar_weight(table, &table->rows[i]);
	}
	if (table->moved)
		at = row_of(table, table->selected);
	list_stick(&table->list, at);
	if (table->event != model->event)
		choose_first(table);
	table->event = model->event;
	/* Otherwise it is what was drawn last. */
	if (!table->selected && table->list.n)
		table->selected = table->rows[0].symref;
}

static unsigned int refresh_other_rows(struct view *view, struct screen *screen)
{
	hot_refresh(view, screen);
	choose_first(view->state);
	return VIEW_HANDLED;
}

static unsigned int set_sort(struct view *view, struct screen *screen, enum hot_sort sort)
{
	struct hot_table *table = view->state;

	if (table->sort == sort)
		table->reverse = !table->reverse;
	else
		table->reverse = false;
	table->sort = sort;
	screen->model->sort_total = sort == HOT_SORT_TOTAL;
	hot_refresh(view, screen);
	return VIEW_HANDLED;
}

static unsigned int step_sort(struct view *view, struct screen *screen, int step)
{
	struct hot_table *table = view->state;
	int at = 0;

	for (int i = 0; i < N_SORTS; i++) {
		if (sort_order[i] == table->sort)
			at = i;
	}
	at = (at + step + N_SORTS) % N_SORTS;
	if (sort_order[at] == HOT_SORT_CHANGE && !screen->model->has_baseline)
		at += step;
	return set_sort(view, screen, sort_order[at]);
}

/* Move to the next row that matches, after (or, where from_here, at) the cursor. */
static bool find_next(struct hot_table *table, struct model *model, int step, bool from_here)
{
	size_t n = table->list.n, at = table->list.cursor;

	for (size_t i = 0; i < n; i++) {
		const struct symref *symbol;

		if (i > 0 || !from_here)
			at = step > 0 ? (at + 1) % n : (at + n - 1) % n;
		symbol = model->ops->symbol(model, table->rows[at].symref);
		if (views_match(symbol->symbol, table->search) >= 0) {
			list_set_cursor(&table->list, at);
			remember_selection(table);
			return true;
		}
	}
	return false;
}

static unsigned int search_again(struct view *view, struct screen *screen, int step)
{
	struct hot_table *table = view->state;

	if (!table->search[0])
		screen_message(screen, STYLE_WARN, "Nothing was searched yet: / does");
	else if (!find_next(table, screen->model, step, false))
		screen_message(screen, STYLE_WARN, "No symbol matches \"%s\"", table->search);
	return VIEW_HANDLED;
}

static unsigned int hot_prompt(struct view *view, struct screen *screen, enum action purpose,
	const char *text, enum prompt_result result)
{
	struct hot_table *table = view->state;
	bool cancelled = result == PROMPT_CANCELLED;

	if (purpose == ACT_FILTER) {
		memcpy(table->filter, cancelled ? table->old_filter : text, PROMPT_MAX);
		return refresh_other_rows(view, screen);
	}
	/* As it is typed, the search begins where it began. */
	memcpy(table->search, cancelled ? table->old_search : text, PROMPT_MAX);
	if (row_of(table, table->search_from) >= 0) {
		list_set_cursor(&table->list, (size_t)row_of(table, table->search_from));
		remember_selection(table);
	}
	if (!cancelled && text[0] && !find_next(table, screen->model, 1, true) &&
		result == PROMPT_DONE)
		screen_message(screen, STYLE_WARN, "No symbol matches \"%s\"", text);
	return VIEW_HANDLED;
}

static unsigned int open_selected(struct hot_table *table, struct screen *screen,
	const struct view_ops *ops, const char *what)
{
	if (table->list.lost) {
		screen_message(
			screen, STYLE_WARN, "The selected symbol has no samples in this time");
		return VIEW_HANDLED;
	}
	return table->list.n ? views_open(screen, ops, table->selected, what) : VIEW_HANDLED;
}

static unsigned int fetch_selected(struct hot_table *table, struct screen *screen)
{
	struct model *model = screen->model;
	char message[256];

	if (table->list.n && model->ops->fetch(model, table->selected, message, sizeof(message)))
		screen_message(screen, STYLE_WARN, "%s", message);
	else if (table->list.n)
		screen_message(screen, STYLE_GOOD, "Fetching a debug file (Esc gives it up)");
	return VIEW_HANDLED;
}

static unsigned int hot_action(struct view *view, struct screen *screen, enum action action)
{
	struct hot_table *table = view->state;

	if (list_action(&table->list, action)) {
		remember_selection(table);
		return VIEW_HANDLED;
	}
	switch (action) {
	case ACT_OPEN:
		return open_selected(table, screen, &view_breakdown, "Breakdown");
	case ACT_FIELDS:
		screen_result(screen, screen_open(screen, &view_fields, 0), "Fields");
		return VIEW_HANDLED;
	case ACT_INCLUDE:
	case ACT_EXCLUDE:
		if (!table->list.n || table->list.lost)
			return VIEW_HANDLED;
		return screen_narrow(screen, action == ACT_EXCLUDE, FILTER_STACK,
			screen->model->ops->symbol(screen->model, table->selected)->symbol);
	case ACT_WIDEN:
		return screen_widen(screen);
	case ACT_CALLS:
		return open_selected(table, screen, &view_calls, "Calls");
	case ACT_FLAME:
		screen_result(screen, screen_open(screen, &view_flame, VIEWS_NO_SYMBOL),
			"The flame graph cannot be shown");
		return VIEW_HANDLED;
	case ACT_THREADS:
		screen_result(screen, screen_open(screen, &view_threads, 0), "Threads");
		return VIEW_HANDLED;
	case ACT_ANNOTATE:
		return open_selected(table, screen, &view_annotate, "Annotate");
	case ACT_SORT_NEXT:
	case ACT_SORT_RIGHT:
		return step_sort(view, screen, 1);
	case ACT_SORT_LEFT:
		return step_sort(view, screen, -1);
	case ACT_SORT_SELF:
		return set_sort(view, screen, HOT_SORT_SELF);
	case ACT_SORT_TOTAL:
		return set_sort(view, screen, HOT_SORT_TOTAL);
	case ACT_REVERSE:
		return set_sort(view, screen, table->sort);
	case ACT_SEARCH:
		memcpy(table->old_search, table->search, sizeof(table->search));
		table->search_from = table->selected;
		screen_prompt(screen, ACT_SEARCH, "search: ", "");
		return VIEW_HANDLED;
	case ACT_SEARCH_NEXT:
		return search_again(view, screen, 1);
	case ACT_SEARCH_PREVIOUS:
		return search_again(view, screen, -1);
	case ACT_FILTER:
		memcpy(table->old_filter, table->filter, sizeof(table->filter));
		screen_prompt(screen, ACT_FILTER, "filter: ", table->filter);
		return VIEW_HANDLED;
	case ACT_KERNEL:
		table->hide_kernel = !table->hide_kernel;
		return refresh_other_rows(view, screen);
	case ACT_SIDE_BY_SIDE:
		table->side_by_side = !table->side_by_side;
		return VIEW_HANDLED;
	case ACT_FETCH:
		return fetch_selected(table, screen);
	case ACT_BACK:
		if (screen->model->fetching.waiting) {
			screen->model->ops->fetch_cancel(screen->model);
			return VIEW_HANDLED;
		}
		if (!table->search[0] && !table->filter[0])
			return 0;
		table->search[0] = '\0';
		table->filter[0] = '\0';
		return refresh_other_rows(view, screen);
	default:
		return 0;
	}
}

static void hot_tags(const struct view *view, char *out, size_t size)
{
	const struct hot_table *table = view->state;

	snprintf(out, size, "%s%s%s%s", table->hide_kernel ? "no kernel" : "",
		table->hide_kernel && table->filter[0] ? "  " : "",
		table->filter[0] ? "filter: " : "", table->filter);
}

/* --- drawing --- */

static void layout(struct hot_table *table, const struct model *model, int width)
{
	uint8_t ids[ENGINE_EVENTS_MAX];
	int wants[COLUMNS_EVENTS_MAX];
	size_t n;

	if (!table->side_by_side) {
		columns_layout(&table->columns, width);
		return;
	}
	n = model_tabs(model, ids);
	if (n > COLUMNS_EVENTS_MAX)
		n = COLUMNS_EVENTS_MAX;
	for (size_t i = 0; i < n; i++)
		wants[i] = canvas_width_of(model_event(model, ids[i])->name) + 1;
	columns_layout_events(&table->columns, width, wants, (int)n);
}

static void draw_head(const struct hot_table *table, struct canvas *canvas, int y,
	const struct column *column, const char *name, int sort, bool right)
{
	bool sorted = sort == (int)table->sort;
	char text[EVENT_NAME_MAX + 4];
	int width;

	if (!column->width)
		return;
	snprintf(text, sizeof(text), "%s%s", name, !sorted ? "" : table->reverse ? "▲" : "▼");
	width = canvas_width_of(text);
	if (width > column->width)
		width = column->width;
	canvas_text(canvas, right ? column->x + column->width - width : column->x, y, column->width,
		sorted ? STYLE_HEADER_SORTED : STYLE_HEADER, text);
}

static void draw_heads(
	const struct hot_table *table, const struct model *model, struct canvas *canvas, int y)
{
	const struct columns *c = &table->columns;
	uint8_t ids[ENGINE_EVENTS_MAX];

	draw_head(table, canvas, y, &c->self, "SELF", HOT_SORT_SELF, true);
	draw_head(table, canvas, y, &c->total, "TOTAL", HOT_SORT_TOTAL, true);
	draw_head(table, canvas, y, &c->samples, "SAMPLES", HOT_SORT_SAMPLES, true);
	if (model->has_baseline)
		draw_head(table, canvas, y, &c->trend, "CHANGE", HOT_SORT_CHANGE, true);
	else
		draw_head(table, canvas, y, &c->trend, "TREND", -1, false);
	draw_head(table, canvas, y, &c->symbol, "SYMBOL", HOT_SORT_SYMBOL, false);
	draw_head(table, canvas, y, &c->image, "IMAGE", HOT_SORT_IMAGE, false);
	if (!c->n_events)
		return;
	model_tabs(model, ids);
	for (int i = 0; i < c->n_events; i++)
		draw_head(table, canvas, y, &c->events[i], model_event(model, ids[i])->name,
			ids[i] == model->event ? HOT_SORT_SELF : -1, true);
}

static void draw_share(
	struct canvas *canvas, int y, const struct column *column, double share, bool shown)
{
	char text[16];

	if (!column->width)
		return;
	if (shown)
		snprintf(text, sizeof(text), share >= 0.9995 ? "%.0f%%" : "%.1f%%", 100.0 * share);
	else
		snprintf(text, sizeof(text), "-");
	canvas_text(canvas, column->x + column->width - canvas_width_of(text), y, column->width,
		shown ? views_number_style(share) : STYLE_DIM, text);
}

struct drawing {
	const struct hot_table *table;
	struct model *model;
	struct canvas *canvas;
};

static void draw_row(void *ctx, size_t at, int y)
{
	const struct drawing *drawing = ctx;
	const struct hot_table *table = drawing->table;
	const struct hot_row *row = &table->rows[at];
	struct model *model = drawing->model;
	struct canvas *canvas = drawing->canvas;
	const struct columns *c = &table->columns;
	const struct symref *symbol = model->ops->symbol(model, row->symref);
	double self = format_share(row->self, table->sums.weight);
	double total = format_share(row->total, table->sums.weight);
	uint64_t bar = bar_weight(table, row);
	char count[FORMAT_MAX], image[SHORTEN_MAX];

	canvas_bar(canvas, c->bar.x, y, c->bar.width, format_share(bar, table->longest),
		views_share_style(format_share(bar, table->sums.weight)));
	draw_share(canvas, y, &c->self, self, true);
	draw_share(canvas, y, &c->total, total, true);
	if (c->samples.width)
		canvas_printf(canvas, c->samples.x, y, c->samples.width, STYLE_TEXT, "%8s",
			format_count(count, row->samples));
	if (c->trend.width && model->has_baseline) {
		views_change(canvas, c->trend.x, y, c->trend.width, row->change);
	} else if (c->trend.width) {
		uint64_t trend[HOT_TREND], max = 0;

		model->ops->trend(model, row->symref, model->event, trend);
		for (int i = 0; i < HOT_TREND; i++)
			max = trend[i] > max ? trend[i] : max;
		canvas_spark(canvas, c->trend.x, y, HOT_TREND, trend, max, STYLE_TREND);
	}
	if (c->n_events) {
		uint8_t ids[ENGINE_EVENTS_MAX];

		model_tabs(model, ids);
		for (int i = 0; i < c->n_events; i++) {
			struct hot_sums sums;
			uint64_t cell_self, cell_total;

			model->ops->sums(model, ids[i], &sums);
			model->ops->cell(model, row->symref, ids[i], &cell_self, &cell_total);
			draw_share(canvas, y, &c->events[i], format_share(cell_self, sums.weight),
				cell_total != 0);
		}
	}
	views_symbol(canvas, c->symbol.x, y, c->symbol.width, views_symbol_style(symbol),
		symbol->symbol, table->search);
	if (c->image.width)
		canvas_text(canvas, c->image.x, y, c->image.width, STYLE_DIM,
			shorten_file(image, symbol->image, c->image.width));
}

static void draw_nothing(const struct hot_table *table, const struct model *model,
	struct canvas *canvas, struct area area)
{
	char text[PROMPT_MAX + 64];

	if (table->failed)
		snprintf(text, sizeof(text), "Out of memory");
	else if (table->filter[0] && table->sums.weight)
		snprintf(
			text, sizeof(text), "No row matches \"%s\" (Esc shows all)", table->filter);
	else if (model->status.state == ENGINE_STARTING)
		snprintf(text, sizeof(text), "Opening the events ...");
	else if (model->status.state == ENGINE_RUNNING)
		snprintf(text, sizeof(text), "No samples in this time");
	else
		snprintf(text, sizeof(text), "No samples were taken");
	canvas_text(canvas, area.x + 2, area.y + (area.height > 2 ? 1 : 0), area.width - 3,
		STYLE_DIM, text);
}

static void hot_draw(struct view *view, struct screen *screen, struct area area)
{
	struct hot_table *table = view->state;
	struct canvas *canvas = &screen->canvas;
	struct drawing drawing = {table, screen->model, canvas};
	int heads = area.height >= 5 ? 1 : 0;

	layout(table, screen->model, area.width);
	if (heads)
		draw_heads(table, screen->model, canvas, area.y);
	if (!table->list.n)
		draw_nothing(table, screen->model, canvas, area);
	area.y += heads;
	area.height -= heads;
	list_draw(&table->list, canvas, area, draw_row, &drawing);
	if (!table->moved && table->list.n)
		table->selected = table->rows[0].symref; /* what the user sees */
}

static unsigned int click_head(struct view *view, struct screen *screen, int x)
{
	const struct hot_table *table = view->state;
	const struct columns *c = &table->columns;
	const struct {
		const struct column *column;
		enum hot_sort sort;
	} heads[] = {
		{&c->self, HOT_SORT_SELF},
		{&c->total, HOT_SORT_TOTAL},
		{&c->samples, HOT_SORT_SAMPLES},
		{&c->trend, HOT_SORT_CHANGE},
		{&c->symbol, HOT_SORT_SYMBOL},
		{&c->image, HOT_SORT_IMAGE},
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		const struct column *column = heads[i].column;

		if (column->width && x >= column->x && x < column->x + column->width)
			return heads[i].sort == HOT_SORT_CHANGE && !screen->model->has_baseline
				? 0
				: set_sort(view, screen, heads[i].sort);
	}
	return 0;
}

static unsigned int hot_click(struct view *view, struct screen *screen, int x, int y, bool twice)
{
	struct hot_table *table = view->state;

	if (y < screen->body.height - (int)table->list.height)
		return click_head(view, screen, x);
	if (!list_click(&table->list, &screen->body, y))
		return 0;
	remember_selection(table);
	return twice ? hot_action(view, screen, ACT_OPEN) : VIEW_HANDLED;
}

const struct view_ops view_hot_table = {
	.keys = KEYS_HOT,
	.open = hot_open,
	.action = hot_action,
	.prompt = hot_prompt,
	.click = hot_click,
	.refresh = hot_refresh,
	.draw = hot_draw,
	.tags = hot_tags,
	.close = hot_close,
};
