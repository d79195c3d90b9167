/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot_table.c - the main view: hot rows, sorted, searched, filtered.  Rows are symbols, or other
 * groups (groups.h).
 *
 * hot_draw.c draws it.  The cursor stays on its row while numbers change, and on top if it was
 * never moved.
 */
#include "tui/screen/screen.h"
#include "tui/views/hot_private.h"
#include "tui/views/views.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of columns on the screen. */
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
	table->by.group = GROUP_SYMBOL;
	view->state = table;
	return 0;
}

static void hot_close(struct view *view)
{
	free(view->state);
}

static long row_of(const struct hot_table *table, uint32_t symref)
{
	for (size_t i = 0; i < table->n_rows; i++) {
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

/* After the user chose other rows: moves the cursor to the first one if the selected row is
 * gone. */
static void choose_first(struct hot_table *table)
{
	if (!table->list.lost || !table->list.n)
		return;
	list_set_cursor(&table->list, 0);
	remember_selection(table);
}

static bool can_sort(const struct hot_table *table, const struct model *model, enum hot_sort sort)
{
	switch (sort) {
	case HOT_SORT_TOTAL:
		return hot_has_total(table);
	case HOT_SORT_CHANGE:
		return model->has_baseline;
	case HOT_SORT_IMAGE:
		return hot_beside(table) != NULL;
	default:
		return true;
	}
}

/* Changes the grouping of the rows, and drops all state of the old rows. */
static void take_grouping(struct view *view, const struct model *model)
{
	static const struct group_by symbols = {.group = GROUP_SYMBOL};
	const struct group_by *by = model->grouped ? &model->rows_by : &symbols;
	struct hot_table *table = view->state;

	view->ops = model->grouped ? &view_grouped_table : &view_hot_table;
	if (groups_same(&table->by, by))
		return;
	table->by = *by;
	table->rows = NULL;
	table->n_rows = 0;
	table->selected = 0;
	table->moved = false;
	table->filter[0] = table->search[0] = '\0';
	if (!can_sort(table, model, table->sort)) {
		table->sort = HOT_SORT_SELF;
		table->reverse = false;
	}
	list_set_count(&table->list, 0);
	list_set_cursor(&table->list, 0);
}

/* Requests the rows.  most: number of rows that must be valid; 0: all. */
static void ask(struct hot_table *table, struct model *model, size_t most)
{
	const struct hot_query query = {.event = model->event,
		.sort = table->sort,
		.reverse = table->reverse,
		.hide_kernel = table->hide_kernel,
		.filter = table->filter,
		.quick = true,
		.most = most};
	size_t n = 0;
	int ret;

	table->rows = NULL;
	if (hot_is_grouped(table))
		ret = model->ops->groups->rows(
			model, &table->by, &query, &table->rows, &n, &table->sums);
	else
		ret = model->ops->rows(model, &query, &table->rows, &n, &table->sums);
	table->failed = ret != 0;
	list_set_count(&table->list, table->failed ? 0 : n);
	table->n_rows = most && most < table->list.n ? most : table->list.n;
	table->longest = 0;
	for (size_t i = 0; i < table->n_rows; i++) {
		if (hot_bar_weight(table, &table->rows[i]) > table->longest)
			table->longest = hot_bar_weight(table, &table->rows[i]);
	}
}

void hot_all_rows(struct hot_table *table, struct model *model)
{
	if (table->n_rows < table->list.n)
		ask(table, model, 0);
}

/* Returns the number of rows to the end of the screen, if the longest bar is among them; 0: all. */
static size_t rows_looked_at(const struct hot_table *table)
{
	const bool by_bars = table->sort == HOT_SORT_SELF || table->sort == HOT_SORT_TOTAL;

	/* A row that is gone may come back anywhere. */
	if (!by_bars || table->reverse || table->list.lost || !table->list.height)
		return 0;
	return table->list.top + table->list.height + 1;
}

static void hot_refresh(struct view *view, struct screen *screen)
{
	struct hot_table *table = view->state;
	struct model *model = screen->model;
	long at = 0;

	take_grouping(view, model);
	ask(table, model, rows_looked_at(table));
	if (table->moved) {
		at = row_of(table, table->selected);
		if (at < 0) {
			hot_all_rows(table, model);
			at = row_of(table, table->selected);
		}
	}
	list_stick(&table->list, at);
	if (table->event != model->event)
		choose_first(table);
	table->event = model->event;
	/* If it is set, it is the row drawn last. */
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
	do
		at = (at + step + N_SORTS) % N_SORTS;
	while (!can_sort(table, screen->model, sort_order[at]));
	return set_sort(view, screen, sort_order[at]);
}

/* Moves the cursor to the next matching row; from_here: the current row counts, too. */
static bool find_next(struct hot_table *table, struct model *model, int step, bool from_here)
{
	size_t n, at = table->list.cursor;

	hot_all_rows(table, model);
	n = table->list.n;
	for (size_t i = 0; i < n; i++) {
		const struct symref *symbol;

		if (i > 0 || !from_here)
			at = step > 0 ? (at + 1) % n : (at + n - 1) % n;
		symbol = hot_name(table, model, table->rows[at].symref);
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
		screen_message(screen, STYLE_WARN, "No row matches \"%s\"", table->search);
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
	/* While the text is typed, each search starts from the same row. */
	memcpy(table->search, cancelled ? table->old_search : text, PROMPT_MAX);
	hot_all_rows(table, screen->model);
	if (row_of(table, table->search_from) >= 0) {
		list_set_cursor(&table->list, (size_t)row_of(table, table->search_from));
		remember_selection(table);
	}
	if (!cancelled && text[0] && !find_next(table, screen->model, 1, true) &&
		result == PROMPT_DONE)
		screen_message(screen, STYLE_WARN, "No row matches \"%s\"", text);
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

/* Filters by the row, or excludes it.  leave: also returns to symbols. */
static unsigned int narrow_to_row(
	struct hot_table *table, struct screen *screen, bool negated, bool leave)
{
	struct model *model = screen->model;
	size_t crumbs = model->n_crumbs;
	char term[PROMPT_MAX];
	unsigned int changed;

	const struct group_key *key = model->ops->groups->key(model, table->selected);

	if (!table->list.n || table->list.lost)
		return VIEW_HANDLED;
	if (key->foreign && (key->task.name || table->by.group == GROUP_CGROUP)) {
		screen_message(screen, STYLE_WARN, "%s is in the baseline only", key->name.symbol);
		return VIEW_HANDLED;
	}
	if (table->by.group == GROUP_CGROUP) {
		/* Each cgroup has an event of its own for its samples. */
		if (!leave) {
			screen_message(screen, STYLE_WARN,
				"Each cgroup has an event of its own: Enter shows it");
			return VIEW_HANDLED;
		}
		model->event = (uint8_t)key->number;
		model->grouped = false;
		return VIEW_HANDLED | VIEW_SETTINGS;
	}
	if (!model->ops->groups->term(model, table->selected, negated, term, sizeof(term))) {
		screen_message(screen, STYLE_WARN,
			"These samples are so old that their threads are no longer told apart");
		return VIEW_HANDLED;
	}
	changed = screen_narrow_to(screen, term);
	if (leave && model->n_crumbs > crumbs)
		model->grouped = false;
	return changed;
}

/* Opens a symbol's view for the function of an address or a line. */
static unsigned int open_function(struct hot_table *table, struct screen *screen,
	const struct view_ops *ops, const char *what)
{
	uint32_t symref = table->list.n
		? screen->model->ops->groups->key(screen->model, table->selected)->symref
		: GROUPS_NO_SYMBOL;

	if (table->list.n && !table->list.lost && symref != GROUPS_NO_SYMBOL)
		return views_open(screen, ops, symref, what);
	if (ops == &view_calls)
		return views_open(screen, ops, VIEWS_NO_SYMBOL, what);
	screen_message(screen, STYLE_WARN,
		"Code is shown of a symbol, an address or a line: Enter goes back to symbols");
	return VIEW_HANDLED;
}

static unsigned int hot_action(struct view *view, struct screen *screen, enum action action)
{
	struct hot_table *table = view->state;

	if (list_action(&table->list, action)) {
		hot_all_rows(table, screen->model);
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
	case ACT_GROUP:
		screen_result(screen, screen_open(screen, &view_grouping, 0), "Rows");
		return VIEW_HANDLED;
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

static unsigned int grouped_action(struct view *view, struct screen *screen, enum action action)
{
	struct hot_table *table = view->state;

	switch (action) {
	case ACT_OPEN:
		return narrow_to_row(table, screen, false, true);
	case ACT_INCLUDE:
	case ACT_EXCLUDE:
		return narrow_to_row(table, screen, action == ACT_EXCLUDE, false);
	case ACT_CALLS:
		return open_function(table, screen, &view_calls, "Calls");
	case ACT_ANNOTATE:
		return open_function(table, screen, &view_annotate, "Annotate");
	case ACT_BACK:
		if (screen->model->fetching.waiting || table->search[0] || table->filter[0])
			break;
		screen->model->grouped = false;
		return VIEW_HANDLED | VIEW_SETTINGS;
	default:
		break;
	}
	return hot_action(view, screen, action);
}

static void hot_tags(const struct view *view, char *out, size_t size)
{
	const struct hot_table *table = view->state;

	const bool filtered = table->filter[0] != '\0';
	char by[GROUPS_FIELD_MAX + 8] = "";

	if (hot_is_grouped(table))
		snprintf(by, sizeof(by), "by %s", grouping_name(&table->by));
	snprintf(out, size, "%s%s%s%s%s%s", by, by[0] && table->hide_kernel ? "  " : "",
		table->hide_kernel ? "no kernel" : "",
		(by[0] || table->hide_kernel) && filtered ? "  " : "", filtered ? "filter: " : "",
		table->filter);
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
			return can_sort(table, screen->model, heads[i].sort)
				? set_sort(view, screen, heads[i].sort)
				: 0;
	}
	return 0;
}

static unsigned int hot_click(struct view *view, struct screen *screen, int x, int y, bool twice)
{
	struct hot_table *table = view->state;

	if (y < screen->body.height - (int)table->list.height)
		return click_head(view, screen, x);
	if (!list_click(&table->list, y + screen->body.y))
		return 0;
	remember_selection(table);
	return twice ? view->ops->action(view, screen, ACT_OPEN) : VIEW_HANDLED;
}

const struct view_ops view_hot_table = {
	.keys = KEYS_HOT,
	.open = hot_open,
	.action = hot_action,
	.prompt = hot_prompt,
	.click = hot_click,
	.refresh = hot_refresh,
	.draw = hot_table_draw,
	.tags = hot_tags,
	.close = hot_close,
};

const struct view_ops view_grouped_table = {
	.keys = KEYS_GROUPED,
	.open = hot_open,
	.action = grouped_action,
	.prompt = hot_prompt,
	.click = hot_click,
	.refresh = hot_refresh,
	.draw = hot_table_draw,
	.tags = hot_tags,
	.close = hot_close,
};
