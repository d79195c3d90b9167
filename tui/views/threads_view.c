/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * threads_view.c - activity over the window, with a row per thread, process, command or CPU.
 *
 * threads_draw.c draws it.  The cursor stays on its row while numbers change.  States come from
 * /proc, only for visible rows.
 */
#include "tui/base/grow.h"
#include "tui/screen/screen.h"
#include "tui/views/threads_private.h"
#include "tui/views/views.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_EVERY_NS 1000000000u

static int threads_open(struct view *view, struct screen *screen, uint32_t arg)
{
	struct threads *threads = calloc(1, sizeof(*threads));

	(void)screen;
	(void)arg;
	if (!threads)
		return -ENOMEM;
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

/* --- states --- */

void threads_read_states(struct threads *threads, struct model *model)
{
	if (!threads->n_seen || model->now_ns - threads->seen_ns >= READ_EVERY_NS) {
		threads->n_seen = 0;
		threads->seen_ns = model->now_ns;
	}
	for (size_t row = threads->list.top; threads_has_state(threads) && row < threads->list.n &&
		row < threads->list.top + threads->list.height;
		row++) {
		const struct lane *lane = &threads->lanes->lane[threads->shown[row]];
		int32_t tid = threads_tid_of(threads, lane);
		size_t i = 0;

		while (i < threads->n_seen && threads->seen[i].tid != tid)
			i++;
		if (i < threads->n_seen || i == THREADS_SEEN_MAX)
			continue;
		threads->seen[i].tid = tid;
		threads->seen[i].state = model->ops->task_state(model, tid);
		threads->n_seen++;
	}
}

/* --- rows --- */

static const char *symbol_of(const struct lane *lane, struct model *model)
{
	return lane->symref == LANES_NO_SYMBOL ? ""
					       : model->ops->symbol(model, lane->symref)->symbol;
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

	if (threads->sort == SORT_NAME)
		result = strcmp(a->name, b->name);
	else if (threads->sort == SORT_SYMBOL)
		result = strcmp(symbol_of(a, order->model), symbol_of(b, order->model));
	else if (threads->sort == SORT_ID)
		result = by_id(a, b);
	if (!result && threads->sort != SORT_ID)
		result = (a->weight < b->weight) - (a->weight > b->weight);
	if (!result)
		result = by_id(a, b);
	if (!result)
		result = strcmp(a->name, b->name);
	return threads->reverse ? -result : result;
}

static bool same_row(const struct lane *a, const struct lane *b, enum query_group group)
{
	if (group == GROUP_COMMAND)
		return !strcmp(a->name, b->name);
	return a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu;
}

static bool passes(const struct threads *threads, const struct lane *lane, struct model *model)
{
	char numbers[48];

	if (!threads->filter[0])
		return true;
	if (threads->group == GROUP_CPU)
		snprintf(numbers, sizeof(numbers), "CPU %" PRIu32, lane->cpu);
	else
		snprintf(numbers, sizeof(numbers), "%" PRId32 " %" PRId32, lane->pid, lane->tid);
	return views_match(lane->name, threads->filter) >= 0 ||
		views_match(symbol_of(lane, model), threads->filter) >= 0 ||
		(threads->group != GROUP_COMMAND && views_match(numbers, threads->filter) >= 0);
}

static const struct lane *current(const struct threads *threads)
{
	if (threads->list.lost || threads->list.cursor >= threads->list.n)
		return NULL;
	return &threads->lanes->lane[threads->shown[threads->list.cursor]];
}

static void remember_selection(struct threads *threads)
{
	const struct lane *lane = current(threads);

	threads->moved = threads->list.cursor != 0;
	if (lane)
		threads->selected = *lane;
}

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
	int ret = model->ops->lanes(model, threads->group, threads->columns, &threads->lanes);
	uint32_t n = 0;
	long at = -1;

	list_set_count(&threads->list, 0);
	if (ret)
		return ret;
	if (grow_items(&threads->shown, &threads->shown_room, threads->lanes->n,
		    sizeof(*threads->shown)))
		return -ENOMEM;
	threads->whole = 0;
	for (uint32_t i = 0; i < threads->lanes->n; i++) {
		threads->whole += threads->lanes->lane[i].weight;
		if (passes(threads, &threads->lanes->lane[i], model))
			threads->shown[n++] = i;
	}
	if (n)
		qsort_r(threads->shown, n, sizeof(*threads->shown), compare_rows, (void *)&order);
	threads->most = most_of(threads->lanes);
	list_set_count(&threads->list, n);
	for (uint32_t i = 0; threads->moved && i < n && at < 0; i++)
		if (same_row(&threads->lanes->lane[threads->shown[i]], &threads->selected,
			    threads->group))
			at = (long)i;
	list_stick(&threads->list, threads->moved ? at : 0);
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
	if (!threads->error)
		threads_read_states(threads, screen->model);
}

/* --- actions --- */

static unsigned int narrow(struct threads *threads, struct screen *screen, bool negated, bool leave)
{
	const struct lane *lane = current(threads);
	char text[TASK_COMM_MAX];
	enum filter_field field;
	unsigned int changed;
	size_t crumbs = screen->model->n_crumbs;

	if (!lane)
		return VIEW_HANDLED;
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

static unsigned int other_rows(struct view *view, struct screen *screen)
{
	struct threads *threads = view->state;

	threads_refresh(view, screen);
	if (threads->list.lost) {
		list_set_cursor(&threads->list, 0);
		remember_selection(threads);
	}
	return VIEW_HANDLED;
}

static bool can_sort(const struct threads *threads, enum threads_sort sort)
{
	if (threads->group == GROUP_COMMAND)
		return sort != SORT_ID;
	return threads->group != GROUP_CPU || sort != SORT_NAME;
}

static unsigned int set_sort(struct view *view, struct screen *screen, enum threads_sort sort)
{
	struct threads *threads = view->state;

	threads->reverse = threads->sort == sort && !threads->reverse;
	threads->sort = sort;
	return other_rows(view, screen);
}

static unsigned int step_sort(struct view *view, struct screen *screen, int step)
{
	const struct threads *threads = view->state;
	int at = (int)threads->sort;

	do
		at = (at + step + SORTS) % SORTS;
	while (!can_sort(threads, (enum threads_sort)at));
	return set_sort(view, screen, (enum threads_sort)at);
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

	if (list_action(&threads->list, action)) {
		remember_selection(threads);
		return VIEW_HANDLED;
	}
	switch (action) {
	case ACT_OPEN:
		return narrow(threads, screen, false, true);
	case ACT_INCLUDE:
	case ACT_EXCLUDE:
		return narrow(threads, screen, action == ACT_EXCLUDE, false);
	case ACT_WIDEN:
		return screen_widen(screen);
	case ACT_GROUP:
		threads->group = next_group(threads->group);
		threads->moved = false;
		if (!can_sort(threads, threads->sort))
			threads->sort = SORT_WEIGHT;
		list_set_cursor(&threads->list, 0);
		return other_rows(view, screen);
	case ACT_SORT_NEXT:
	case ACT_SORT_RIGHT:
		return step_sort(view, screen, 1);
	case ACT_SORT_LEFT:
		return step_sort(view, screen, -1);
	case ACT_REVERSE:
		return set_sort(view, screen, threads->sort);
	case ACT_FILTER:
		memcpy(threads->old_filter, threads->filter, sizeof(threads->filter));
		screen_prompt(screen, ACT_FILTER, "filter: ", threads->filter);
		return VIEW_HANDLED;
	case ACT_BACK:
		if (!threads->filter[0])
			return 0;
		threads->filter[0] = '\0';
		return other_rows(view, screen);
	default:
		return 0;
	}
}

static unsigned int threads_prompt(struct view *view, struct screen *screen, enum action purpose,
	const char *text, enum prompt_result result)
{
	struct threads *threads = view->state;

	(void)purpose;
	memcpy(threads->filter, result == PROMPT_CANCELLED ? threads->old_filter : text,
		PROMPT_MAX);
	return other_rows(view, screen);
}

static void threads_tags(const struct view *view, char *out, size_t size)
{
	const struct threads *threads = view->state;

	snprintf(out, size, "%s%s", threads->filter[0] ? "filter: " : "", threads->filter);
}

static unsigned int click_head(struct view *view, struct screen *screen, int x)
{
	const struct threads *threads = view->state;
	const struct threads_layout at =
		threads_lay_out(threads, screen->model, screen->body.width);
	int id = at.tid ? at.tid : at.pid;

	if (x < at.strip)
		return set_sort(view, screen, SORT_WEIGHT);
	if (id && x >= id && x < id + 8)
		return set_sort(view, screen, SORT_ID);
	if (at.symbol && x >= at.symbol)
		return set_sort(view, screen, SORT_SYMBOL);
	if (x >= at.name)
		return set_sort(view, screen, threads->group == GROUP_CPU ? SORT_ID : SORT_NAME);
	return 0;
}

static unsigned int threads_click(
	struct view *view, struct screen *screen, int x, int y, bool twice)
{
	struct threads *threads = view->state;

	if (y == screen->body.height - (int)threads->list.height - 1)
		return click_head(view, screen, x);
	if (!list_click(&threads->list, &screen->body, y))
		return 0;
	remember_selection(threads);
	return twice ? threads_action(view, screen, ACT_OPEN) : VIEW_HANDLED;
}

const struct view_ops view_threads = {
	.keys = KEYS_THREADS,
	.open = threads_open,
	.action = threads_action,
	.prompt = threads_prompt,
	.click = threads_click,
	.refresh = threads_refresh,
	.draw = threads_draw,
	.tags = threads_tags,
	.close = threads_close,
	.stays = true,
};
