/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot_table.c - the main view: hot rows, sorted, searched, filtered.  Rows are symbols, or other
 * groups (groups.h).
 *
 * hot_draw.c draws it.  The cursor stays on its row while numbers change, and on top if it was
 * never moved.
 */
#include "tui/model/commands.h"
#include "tui/model/queries.h"
#include "tui/screen/screen.h"
#include "tui/views/hot_private.h"
#include "tui/views/views.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t selected(const struct hot_table *table)
{
	return (uint32_t)table->view.selected;
}

static uint64_t key_of(struct view *view, struct screen *screen, size_t row)
{
	struct hot_table *table = view->state;

	if (row >= table->n_rows)
		hot_all_rows(table, screen->model);
	return row < table->n_rows ? table->rows[row].symref : UINT64_MAX;
}

static bool row_matches(struct view *view, struct screen *screen, size_t row, const char *text)
{
	struct hot_table *table = view->state;

	if (row >= table->n_rows)
		hot_all_rows(table, screen->model);
	return row < table->n_rows &&
		views_match(
			hot_name(table, screen->model, table->rows[row].symref)->symbol, text) >= 0;
}

static bool can_sort(const struct view *view, const struct screen *screen, int sort)
{
	const struct hot_table *table = view->state;

	switch (sort) {
	case HOT_SORT_TOTAL:
		return hot_has_total(table);
	case HOT_SORT_CHANGE:
		return screen->model->has_baseline;
	case HOT_SORT_IMAGE:
		return hot_beside(table) != NULL;
	default:
		return true;
	}
}

static const struct list_view_ops table_ops = {
	.key = key_of,
	.matches = row_matches,
	.can_sort = can_sort,
	.sorts = HOT_SORT_IMAGE + 1,
	.ascending = 1u << HOT_SORT_SYMBOL | 1u << HOT_SORT_IMAGE,
	.twice = ACT_OPEN,
};

static int hot_open(struct view *view, struct screen *screen, uint32_t arg)
{
	struct hot_table *table = calloc(1, sizeof(*table));

	(void)arg;
	if (!table)
		return -ENOMEM;
	table->view.ops = &table_ops;
	table->view.sort = screen->model->sort_total ? HOT_SORT_TOTAL : HOT_SORT_SELF;
	table->by.group = GROUP_SYMBOL;
	view->state = table;
	return 0;
}

static void hot_close(struct view *view)
{
	free(view->state);
}

/* Changes the grouping of the rows, and drops all state of the old rows. */
static void take_grouping(struct view *view, const struct screen *screen)
{
	const struct model *model = screen->model;
	static const struct group_by symbols = {.group = GROUP_SYMBOL};
	const struct group_by *by = model->grouped ? &model->rows_by : &symbols;
	struct hot_table *table = view->state;

	view->ops = model->grouped ? &view_grouped_table : &view_hot_table;
	if (groups_same(&table->by, by))
		return;
	table->by = *by;
	table->rows = NULL;
	table->n_rows = 0;
	table->view.filter[0] = table->view.search[0] = '\0';
	if (!can_sort(view, screen, table->view.sort)) {
		table->view.sort = HOT_SORT_SELF;
		table->view.reverse = false;
	}
	list_set_count(&table->view.list, 0);
	list_view_first(&table->view);
}

/* Requests the rows.  most: number of rows that must be valid; 0: all. */
static void ask(struct hot_table *table, struct model *model, size_t most)
{
	const struct hot_query query = {.event = model->event,
		.sort = (enum hot_sort)table->view.sort,
		.reverse = table->view.reverse,
		.hide_kernel = table->hide_kernel,
		.filter = table->view.filter,
		.quick = true,
		.most = most};
	size_t n = 0;
	int ret;

	table->rows = NULL;
	if (hot_is_grouped(table))
		ret = model->queries->groups->rows(
			model, &table->by, &query, &table->rows, &n, &table->sums);
	else
		ret = model->queries->rows(model, &query, &table->rows, &n, &table->sums);
	table->failed = ret != 0;
	list_set_count(&table->view.list, table->failed ? 0 : n);
	table->n_rows = most && most < table->view.list.n ? most : table->view.list.n;
	table->longest = 0;
	for (size_t i = 0; i < table->n_rows; i++) {
		if (hot_bar_weight(table, &table->rows[i]) > table->longest)
			table->longest = hot_bar_weight(table, &table->rows[i]);
	}
}

void hot_all_rows(struct hot_table *table, struct model *model)
{
	if (table->n_rows < table->view.list.n)
		ask(table, model, 0);
}

/* Returns the number of rows to the end of the screen, if the longest bar is among them; 0: all. */
static size_t rows_looked_at(const struct hot_table *table)
{
	const bool by_bars =
		table->view.sort == HOT_SORT_SELF || table->view.sort == HOT_SORT_TOTAL;

	/* A row that is gone may come back anywhere. */
	if (!by_bars || table->view.reverse || table->view.list.lost || !table->view.list.height)
		return 0;
	return table->view.list.top + table->view.list.height + 1;
}

static void hot_refresh(struct view *view, struct screen *screen)
{
	struct hot_table *table = view->state;
	struct model *model = screen->model;

	take_grouping(view, screen);
	if (hot_has_total(table))
		model->sort_total = table->view.sort == HOT_SORT_TOTAL;
	ask(table, model, rows_looked_at(table));
	list_view_follow(view, screen);
	if (table->event != model->event)
		list_view_choose(view, screen);
	table->event = model->event;
}

static unsigned int open_selected(struct hot_table *table, struct screen *screen,
	const struct view_ops *ops, const char *what)
{
	if (table->view.list.lost) {
		screen_message(
			screen, STYLE_WARN, "The selected symbol has no samples in this time");
		return VIEW_HANDLED;
	}
	return table->view.list.n ? views_open(screen, ops, selected(table), what) : VIEW_HANDLED;
}

static unsigned int fetch_selected(struct hot_table *table, struct screen *screen)
{
	struct model *model = screen->model;
	char message[256];

	if (table->view.list.n &&
		model->commands->fetch(model, selected(table), message, sizeof(message)))
		screen_message(screen, STYLE_WARN, "%s", message);
	else if (table->view.list.n)
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

	const struct group_key *key = model->queries->groups->key(model, selected(table));

	if (!table->view.list.n || table->view.list.lost)
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
	if (!model->queries->groups->term(model, selected(table), negated, term, sizeof(term))) {
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
	uint32_t symref = table->view.list.n
		? screen->model->queries->groups->key(screen->model, selected(table))->symref
		: GROUPS_NO_SYMBOL;

	if (table->view.list.n && !table->view.list.lost && symref != GROUPS_NO_SYMBOL)
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

	switch (action) {
	case ACT_OPEN:
		return open_selected(table, screen, &view_breakdown, "Breakdown");
	case ACT_FIELDS:
		screen_result(screen, screen_open(screen, &view_fields, 0), "Fields");
		return VIEW_HANDLED;
	case ACT_INCLUDE:
	case ACT_EXCLUDE:
		if (!table->view.list.n || table->view.list.lost)
			return VIEW_HANDLED;
		return screen_narrow(screen, action == ACT_EXCLUDE, FILTER_STACK,
			screen->model->queries->symbol(screen->model, selected(table))->symbol);
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
	case ACT_SORT_SELF:
		return list_view_sort(view, screen, HOT_SORT_SELF);
	case ACT_SORT_TOTAL:
		return list_view_sort(view, screen, HOT_SORT_TOTAL);
	case ACT_KERNEL:
		table->hide_kernel = !table->hide_kernel;
		return list_view_changed(view, screen);
	case ACT_SIDE_BY_SIDE:
		table->side_by_side = !table->side_by_side;
		return VIEW_HANDLED;
	case ACT_FETCH:
		return fetch_selected(table, screen);
	case ACT_BACK:
		if (!screen->model->fetching.waiting)
			return list_view_action(view, screen, action);
		screen->model->commands->fetch_cancel(screen->model);
		return VIEW_HANDLED;
	default:
		return list_view_action(view, screen, action);
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
		if (screen->model->fetching.waiting || table->view.search[0] ||
			table->view.filter[0])
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

	const bool filtered = table->view.filter[0] != '\0';
	char by[GROUPS_FIELD_MAX + 8] = "";

	if (hot_is_grouped(table))
		snprintf(by, sizeof(by), "by %s", grouping_name(&table->by));
	snprintf(out, size, "%s%s%s%s%s%s", by, by[0] && table->hide_kernel ? "  " : "",
		table->hide_kernel ? "no kernel" : "",
		(by[0] || table->hide_kernel) && filtered ? "  " : "", filtered ? "filter: " : "",
		table->view.filter);
}

const struct view_ops view_hot_table = {
	.keys = KEYS_HOT,
	.open = hot_open,
	.action = hot_action,
	.prompt = list_view_prompt,
	.click = list_view_click,
	.refresh = hot_refresh,
	.draw = hot_table_draw,
	.tags = hot_tags,
	.close = hot_close,
};

const struct view_ops view_grouped_table = {
	.keys = KEYS_GROUPED,
	.open = hot_open,
	.action = grouped_action,
	.prompt = list_view_prompt,
	.click = list_view_click,
	.refresh = hot_refresh,
	.draw = hot_table_draw,
	.tags = hot_tags,
	.close = hot_close,
};
