/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * threads_view.c - activity over the window, with a row per thread, process, command or CPU.
 *
 * threads_draw.c draws it.  The cursor stays on its row while numbers change.  States come from
 * /proc, only for visible rows.
 */
#include "tui/base/grow.h"
#include "tui/model/queries.h"
#include "tui/screen/screen.h"
#include "tui/views/threads_private.h"
#include "tui/views/views.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_EVERY_NS 1000000000u

/* --- states --- */

void threads_read_states(struct threads *threads, struct model *model)
{
	if (!threads->n_seen || model->now_ns - threads->seen_ns >= READ_EVERY_NS) {
		threads->n_seen = 0;
		threads->seen_ns = model->now_ns;
	}
	for (size_t row = threads->table.list.top;
		threads_has_state(threads) && row < threads->table.list.n &&
		row < threads->table.list.top + threads->table.list.height;
		row++) {
		const struct lane *lane = &threads->lanes->lane[threads->shown[row]];
		int32_t tid = threads_tid_of(threads, lane);
		size_t i = 0;

		while (i < threads->n_seen && threads->seen[i].tid != tid)
			i++;
		if (i < threads->n_seen || i == THREADS_SEEN_MAX)
			continue;
		threads->seen[i].tid = tid;
		threads->seen[i].state = model->queries->task_state(model, tid);
		threads->n_seen++;
	}
}

/* --- rows --- */

static const char *symbol_of(const struct lane *lane, struct model *model)
{
	return lane->symref == LANES_NO_SYMBOL
		? ""
		: model->queries->symbol(model, lane->symref)->symbol;
}

struct order {
	const struct threads *threads;
	struct model *model;
};

static int by_id(const struct lane *a, const struct lane *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static int compare_rows(const void *left, const void *right, void *ctx)
{
	const struct order *order = ctx;
	const struct threads *threads = order->threads;
	const struct lane *a = &threads->lanes->lane[*(const uint32_t *)left];
	const struct lane *b = &threads->lanes->lane[*(const uint32_t *)right];
	int result = 0;

	if (threads->table.sort == SORT_NAME)
		result = strcmp(a->name, b->name);
	else if (threads->table.sort == SORT_SYMBOL)
		result = strcmp(symbol_of(a, order->model), symbol_of(b, order->model));
	else if (threads->table.sort == SORT_ID)
		result = by_id(a, b);
	if (!result && threads->table.sort != SORT_ID)
		result = (a->weight < b->weight) - (a->weight > b->weight);
	if (!result)
		result = by_id(a, b);
	if (!result)
		result = strcmp(a->name, b->name);
	return threads->table.reverse ? -result : result;
}

static const struct lane *lane_of(const struct view *view, size_t row)
{
	const struct threads *threads = view->state;

	return &threads->lanes->lane[threads->shown[row]];
}

static uint64_t key_of(struct view *view, struct screen *screen, size_t row)
{
	const struct threads *threads = view->state;
	const struct lane *lane = lane_of(view, row);

	(void)screen;
	if (threads->group == GROUP_COMMAND)
		return list_view_text_key(lane->name);
	if (threads->group == GROUP_CPU)
		return lane->cpu;
	return (uint64_t)(uint32_t)lane->pid << 32 | (uint32_t)lane->tid;
}

static bool lane_matches(const struct threads *threads, const struct lane *lane,
	struct model *model, const char *text)
{
	char numbers[48];

	if (threads->group == GROUP_CPU)
		snprintf(numbers, sizeof(numbers), "CPU %" PRIu32, lane->cpu);
	else if (threads->group == GROUP_PROCESS)
		snprintf(numbers, sizeof(numbers), "%" PRId32, lane->pid);
	else
		snprintf(numbers, sizeof(numbers), "%" PRId32 " %" PRId32, lane->pid, lane->tid);
	return views_match(lane->name, text) >= 0 ||
		views_match(symbol_of(lane, model), text) >= 0 ||
		(threads->group != GROUP_COMMAND && views_match(numbers, text) >= 0);
}

static bool row_matches(struct view *view, struct screen *screen, size_t row, const char *text)
{
	return lane_matches(view->state, lane_of(view, row), screen->model, text);
}

static bool can_sort(const struct view *view, const struct screen *screen, int sort)
{
	const struct threads *threads = view->state;

	(void)screen;
	if (threads->group == GROUP_COMMAND)
		return sort != SORT_ID;
	return threads->group != GROUP_CPU || sort != SORT_NAME;
}

static const struct list_view_ops table_ops = {
	.key = key_of,
	.matches = row_matches,
	.can_sort = can_sort,
	.sorts = SORTS,
	.ascending = 1u << SORT_ID | 1u << SORT_NAME | 1u << SORT_SYMBOL,
	.twice = ACT_OPEN,
};

/* Returns the weight of the busiest column. */
static uint64_t most_of(const struct lanes *lanes)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < lanes->n; i++)
		for (size_t column = 0; column < lanes->columns; column++)
			if (lanes->lane[i].columns[column] > most)
				most = lanes->lane[i].columns[column];
	return most;
}

static int take_rows(struct threads *threads, struct model *model)
{
	const struct order order = {threads, model};
	int ret = model->queries->lanes(model, threads->group, threads->columns, &threads->lanes);
	uint32_t n = 0;

	list_set_count(&threads->table.list, 0);
	if (ret)
		return ret;
	if (grow_items(&threads->shown, &threads->shown_room, threads->lanes->n,
		    sizeof(*threads->shown)))
		return -ENOMEM;
	threads->whole = 0;
	for (uint32_t i = 0; i < threads->lanes->n; i++) {
		threads->whole += threads->lanes->lane[i].weight;
		if (!threads->table.filter[0] ||
			lane_matches(
				threads, &threads->lanes->lane[i], model, threads->table.filter))
			threads->shown[n++] = i;
	}
	if (n)
		qsort_r(threads->shown, n, sizeof(*threads->shown), compare_rows, (void *)&order);
	threads->most = most_of(threads->lanes);
	list_set_count(&threads->table.list, n);
	return 0;
}

static void threads_refresh(struct view *view, struct screen *screen)
{
	struct threads *threads = view->state;
	int width = screen->canvas.width;

	threads->columns = width >= THREADS_WIDE_FROM ? THREADS_COLUMNS_WIDE
		: width >= THREADS_NARROW	      ? THREADS_COLUMNS
						      : THREADS_COLUMNS_NARROW;
	threads->error = take_rows(threads, screen->model);
	if (threads->error)
		return;
	list_view_follow(view, screen);
	threads_read_states(threads, screen->model);
}

static int threads_open(struct view *view, struct screen *screen, uint32_t arg)
{
	struct threads *threads = calloc(1, sizeof(*threads));

	(void)screen;
	(void)arg;
	if (!threads)
		return -ENOMEM;
	threads->table.ops = &table_ops;
	threads->group = GROUP_THREAD;
	view->state = threads;
	return 0;
}

static void threads_close(struct view *view)
{
	struct threads *threads = view->state;

	free(threads->shown);
	free(threads);
}

/* --- actions --- */

static unsigned int narrow(struct view *view, struct screen *screen, bool negated, bool leave)
{
	const struct threads *threads = view->state;
	const long row = list_view_seen(view, screen);
	const struct lane *lane;
	char text[TASK_COMM_MAX];
	enum filter_field field;
	unsigned int changed;
	size_t crumbs = screen->model->n_crumbs;

	if (row < 0)
		return VIEW_HANDLED;
	lane = lane_of(view, (size_t)row);
	switch (threads->group) {
	case GROUP_PROCESS:
		field = FILTER_PID;
		snprintf(text, sizeof(text), "%" PRId32, lane->pid);
		break;
	case GROUP_THREAD:
		field = FILTER_TID;
		snprintf(text, sizeof(text), "%" PRId32, lane->tid);
		break;
	case GROUP_CPU:
		field = FILTER_CPU;
		snprintf(text, sizeof(text), "%" PRIu32, lane->cpu);
		break;
	default:
		field = FILTER_COMM;
		snprintf(text, sizeof(text), "%s", lane->name);
		break;
	}
	if (lane->pid < 0 || lane->tid < 0) {
		screen_message(screen, STYLE_WARN,
			"These samples are so old that their threads are no longer told apart");
		return VIEW_HANDLED;
	}
	changed = screen_narrow(screen, negated, field, text);
	return leave && screen->model->n_crumbs > crumbs ? changed | VIEW_CLOSE : changed;
}

static enum query_group next_group(enum query_group group)
{
	switch (group) {
	case GROUP_THREAD:
		return GROUP_PROCESS;
	case GROUP_PROCESS:
		return GROUP_COMMAND;
	case GROUP_COMMAND:
		return GROUP_CPU;
	default:
		return GROUP_THREAD;
	}
}

static unsigned int threads_action(struct view *view, struct screen *screen, enum action action)
{
	struct threads *threads = view->state;

	switch (action) {
	case ACT_OPEN:
		return narrow(view, screen, false, true);
	case ACT_INCLUDE:
	case ACT_EXCLUDE:
		return narrow(view, screen, action == ACT_EXCLUDE, false);
	case ACT_WIDEN:
		return screen_widen(screen);
	case ACT_GROUP:
		threads->group = next_group(threads->group);
		if (!can_sort(view, screen, threads->table.sort))
			threads->table.sort = SORT_WEIGHT;
		threads->table.search[0] = '\0';
		list_view_first(&threads->table);
		return list_view_changed(view, screen);
	default:
		return list_view_action(view, screen, action);
	}
}

const struct view_ops view_threads = {
	.keys = KEYS_THREADS,
	.open = threads_open,
	.action = threads_action,
	.prompt = list_view_prompt,
	.click = list_view_click,
	.refresh = threads_refresh,
	.draw = threads_draw,
	.tags = list_view_tags,
	.close = threads_close,
	.stays = true,
};
