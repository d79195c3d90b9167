/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * breakdown.c - shows where one symbol or all samples of an event run: by process, thread, CPU, or
 * a field of the samples that is chosen from a list.
 */
#include "tui/base/clean.h"
#include "tui/base/format.h"
#include "tui/base/shorten.h"
#include "tui/base/width.h"
#include "tui/model/model.h"
#include "tui/model/queries.h"
#include "tui/query/expr.h"
#include "tui/screen/screen.h"
#include "tui/tables/counterparts.h"
#include "tui/views/list_view.h"
#include "tui/views/views.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NARROW 50 /* columns of the screen; below it, no bars and no process of threads */
#define BAR_WIDTH 4
#define CHANGE_WIDTH 6
#define FIXED 3 /* choices of every event: GROUP_PROCESS, GROUP_THREAD, GROUP_CPU */
#define FIELD_MAX 64

struct breakdown {
	struct list_view table;
	struct list choices; /* choices of the grouping: FIXED, then the event's fields */
	bool choosing; /* the choices are shown */
	bool all; /* samples of all symbols */
	uint32_t symref;
	enum query_group group;
	char field[FIELD_MAX]; /* for GROUP_FIELD */
	struct query_row *rows;
	uint64_t whole; /* sum of the rows' totals */
	bool compares; /* there is a baseline, and its rows are known */
	/* by process or thread: weight in a recorded baseline; NULL if not needed */
	uint64_t *before;
	bool has_base; /* base is valid for the values below: */
	struct query_row *base;
	size_t n_base;
	uint64_t base_whole, base_serial;
	enum query_group base_group;
	char base_field[FIELD_MAX];
	uint8_t base_event;
	int error;
};

static const char *const group_names[FIXED] = {
	[GROUP_PROCESS] = "process", [GROUP_THREAD] = "thread", [GROUP_CPU] = "CPU"};

/* --- the choice of the grouping --- */

static const char *choice_name(const struct screen *screen, size_t at)
{
	return at < FIXED ? group_names[at]
			  : screen->model->queries->field(screen->model, at - FIXED);
}

static size_t count_choices(const struct screen *screen)
{
	size_t n = FIXED;

	while (choice_name(screen, n))
		n++;
	return n;
}

/* Returns the current choice; FIXED - 1 if the event lacks the field. */
static size_t chosen(const struct breakdown *state, const struct screen *screen)
{
	const char *name;

	if (state->group != GROUP_FIELD)
		return (size_t)state->group;
	for (size_t i = FIXED; (name = choice_name(screen, i)); i++)
		if (!strcmp(name, state->field))
			return i;
	return FIXED - 1;
}

static void choose(struct breakdown *state, const struct screen *screen, size_t at)
{
	const char *name = choice_name(screen, at);

	if (!name)
		at = 0;
	state->group = at < FIXED ? (enum query_group)at : GROUP_FIELD;
	snprintf(state->field, sizeof(state->field), "%s", at < FIXED ? "" : name);
	if (at < FIXED)
		screen->model->group_by = (int)at + 1;
	state->choosing = false;
	state->table.search[0] = '\0';
	list_view_first(&state->table);
}

/* --- rows --- */

static int by_number(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_what(const struct query_row *a, const struct query_row *b, enum query_group group)
{
	int order;

	if (group == GROUP_FIELD)
		return strcmp(a->name, b->name);
	if (group == GROUP_CPU)
		return by_number(a->cpu, b->cpu);
	order = by_number(a->pid, b->pid);
	return order || group == GROUP_PROCESS ? order : by_number(a->tid, b->tid);
}

static bool same_row(const struct query_row *a, const struct query_row *b, enum query_group group)
{
	return !by_what(a, b, group);
}

static int by_what_of(const void *a, const void *b, void *ctx)
{
	const struct breakdown *state = ctx;

	return by_what(a, b, state->group);
}

static uint64_t key_of(struct view *view, struct screen *screen, size_t at)
{
	const struct breakdown *state = view->state;
	const struct query_row *row = &state->rows[at];

	(void)screen;
	switch (state->group) {
	case GROUP_PROCESS:
		return (uint32_t)row->pid;
	case GROUP_THREAD:
		return (uint64_t)(uint32_t)row->pid << 32 | (uint32_t)row->tid;
	case GROUP_CPU:
		return row->cpu;
	default:
		return list_view_text_key(row->name);
	}
}

static bool row_matches(struct view *view, struct screen *screen, size_t at, const char *text)
{
	const struct breakdown *state = view->state;
	const struct query_row *row = &state->rows[at];
	char numbers[48] = "";

	(void)screen;
	if (state->group == GROUP_CPU)
		snprintf(numbers, sizeof(numbers), "CPU %u", row->cpu);
	else if (state->group == GROUP_THREAD)
		snprintf(numbers, sizeof(numbers), "%d %d", row->pid, row->tid);
	else if (state->group == GROUP_PROCESS)
		snprintf(numbers, sizeof(numbers), "%d", row->pid);
	return views_match(numbers, text) >= 0 ||
		(state->group != GROUP_CPU && views_match(row->name, text) >= 0);
}

static const struct list_view_ops table_ops = {.key = key_of, .matches = row_matches};

static int open_by(struct view *view, struct screen *screen, const struct breakdown *from)
{
	struct breakdown *state = malloc(sizeof(*state));

	if (!state)
		return -ENOMEM;
	*state = *from;
	state->table.ops = &table_ops;
	/* For a single process, threads are more useful. */
	state->group = !screen->model->system_wide && screen->model->status.processes == 1
		? GROUP_THREAD
		: GROUP_PROCESS;
	if (screen->model->group_by)
		state->group = (enum query_group)(screen->model->group_by - 1);
	view->state = state;
	return 0;
}

static int breakdown_open(struct view *view, struct screen *screen, uint32_t arg)
{
	return open_by(view, screen, &(struct breakdown){.symref = arg});
}

static void breakdown_close(struct view *view)
{
	struct breakdown *state = view->state;

	free(state->rows);
	free(state->base);
	free(state->before);
	free(state);
}

static int fields_open(struct view *view, struct screen *screen, uint32_t arg)
{
	int ret = open_by(view, screen, &(struct breakdown){.all = true, .choosing = true});
	struct breakdown *state = view->state;

	(void)arg;
	if (ret)
		return ret;
	list_set_count(&state->choices, count_choices(screen));
	/* The view was opened to choose a field. */
	list_set_cursor(&state->choices, state->choices.n > FIXED ? FIXED : (size_t)state->group);
	return 0;
}

static bool is_known(const struct breakdown *state, const struct model *model)
{
	return state->has_base && state->base_serial == model->base_serial &&
		state->base_group == state->group && !strcmp(state->base_field, state->field) &&
		state->base_event == model->event;
}

/* Asks for the rows of the baseline, once: they do not change. */
static int ask_base(struct breakdown *state, struct model *model, struct model_breakdown question)
{
	int ret;

	if (is_known(state, model))
		return 0;
	free(state->base);
	state->base = NULL;
	state->n_base = 0;
	state->base_whole = 0;
	state->has_base = false;
	question.baseline = true;
	ret = model->queries->breakdown(model, &question, &state->base, &state->n_base);
	if (ret)
		return ret;
	for (size_t i = 0; i < state->n_base; i++)
		state->base_whole += state->base[i].total;
	if (state->n_base)
		qsort_r(state->base, state->n_base, sizeof(*state->base), by_what_of, state);
	state->has_base = true;
	state->base_serial = model->base_serial;
	state->base_group = state->group;
	snprintf(state->base_field, sizeof(state->base_field), "%s", state->field);
	state->base_event = model->event;
	return 0;
}

#define UNKNOWN UINT64_MAX

/* Finds the weight of each of n processes or threads in a recording; UNKNOWN if ambiguous. */
static int compare_elsewhere(struct breakdown *state, size_t n)
{
	const bool thread = state->group == GROUP_THREAD;
	struct counterpart *all = calloc(n + state->n_base + 1, sizeof(*all));
	uint32_t *places = calloc(state->n_base + 1, sizeof(*places));
	bool *unknown = calloc(n + 1, sizeof(*unknown));
	int ret = 0;

	state->before = calloc(n + 1, sizeof(*state->before));
	if (!all || !places || !unknown || !state->before)
		ret = -ENOMEM;
	for (size_t i = 0; i < n + state->n_base && !ret; i++) {
		const struct query_row *row = i < n ? &state->rows[i] : &state->base[i - n];

		all[i] = (struct counterpart){
			thread ? row->tid : row->pid, row->name, thread && row->tid == row->pid};
	}
	if (!ret)
		ret = counterparts_find(
			all, (uint32_t)n, all + n, (uint32_t)state->n_base, places, unknown);
	for (size_t i = 0; i < state->n_base && !ret; i++)
		if (places[i] < n)
			state->before[places[i]] += state->base[i].total;
	for (size_t i = 0; i < n && !ret; i++)
		if (unknown[i])
			state->before[i] = UNKNOWN;
	free(unknown);
	free(places);
	free(all);
	return ret;
}

/* Returns a row's weight in the baseline.  There may be many rows, so only drawn ones are looked
 * up. */
static uint64_t before_of(const struct breakdown *state, size_t at)
{
	size_t first = 0, end = state->n_base;

	if (state->before)
		return state->before[at];
	while (first < end) {
		const size_t middle = first + (end - first) / 2;

		if (by_what(&state->base[middle], &state->rows[at], state->group) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return first < state->n_base &&
			same_row(&state->base[first], &state->rows[at], state->group)
		? state->base[first].total
		: 0;
}

static double change_of(const struct breakdown *state, size_t at)
{
	const uint64_t before = before_of(state, at);

	if (before == UNKNOWN)
		return NAN;
	return format_share(state->rows[at].total, state->whole) -
		format_share(before, state->base_whole);
}

static void breakdown_refresh(struct view *view, struct screen *screen)
{
	struct breakdown *state = view->state;
	const struct model_breakdown question = {.all = state->all,
		.symref = state->symref,
		.group = state->group,
		.field = state->field};
	size_t n = 0;

	list_set_count(&state->choices, count_choices(screen));
	if (state->choosing)
		return;
	free(state->rows);
	free(state->before);
	state->rows = NULL;
	state->before = NULL;
	state->error =
		screen->model->queries->breakdown(screen->model, &question, &state->rows, &n);
	if (!state->error && screen->model->has_baseline)
		state->error = ask_base(state, screen->model, question);
	state->compares = !state->error && screen->model->has_baseline;
	if (state->compares && screen->model->base_recorded &&
		(state->group == GROUP_PROCESS || state->group == GROUP_THREAD))
		state->error = compare_elsewhere(state, n);
	if (state->error)
		n = 0;
	state->whole = 0;
	for (size_t i = 0; i < n; i++)
		state->whole += state->rows[i].total;
	list_set_count(&state->table.list, n);
	list_view_follow(view, screen);
}

/* Filters by the row's process, thread, CPU or field, or excludes it. */
static unsigned int narrow(struct view *view, struct screen *screen, bool negated)
{
	const struct breakdown *state = view->state;
	const long seen = list_view_seen(view, screen);
	const struct query_row *row = seen < 0 ? NULL : &state->rows[seen];
	char number[16], term[2 * QUERY_NAME_MAX];

	if (!row || state->choosing)
		return VIEW_HANDLED;
	switch (state->group) {
	case GROUP_PROCESS:
		snprintf(number, sizeof(number), "%d", row->pid);
		return screen_narrow(screen, negated, FILTER_PID, number);
	case GROUP_THREAD:
		snprintf(number, sizeof(number), "%d", row->tid);
		return screen_narrow(screen, negated, FILTER_TID, number);
	case GROUP_CPU:
		snprintf(number, sizeof(number), "%u", row->cpu);
		return screen_narrow(screen, negated, FILTER_CPU, number);
	default:
		return screen_narrow_to(screen,
			expr_field_term(term, sizeof(term), negated, state->field, row->name));
	}
}

static unsigned int breakdown_action(struct view *view, struct screen *screen, enum action action)
{
	struct breakdown *state = view->state;

	if (state->choosing && list_action(&state->choices, action))
		return VIEW_HANDLED;
	switch (action) {
	case ACT_INCLUDE:
	case ACT_EXCLUDE:
		return narrow(view, screen, action == ACT_EXCLUDE);
	case ACT_GROUP:
		choose(state, screen,
			state->choosing ? state->choices.cursor : chosen(state, screen) + 1);
		break;
	case ACT_FIELDS:
		state->choosing = !state->choosing;
		list_set_cursor(&state->choices, chosen(state, screen));
		break;
	default:
		return state->choosing ? 0 : list_view_action(view, screen, action);
	}
	breakdown_refresh(view, screen);
	return VIEW_HANDLED;
}

/* --- drawing --- */

struct drawing {
	const struct breakdown *state;
	const struct screen *screen;
	struct canvas *canvas;
	struct area area;
};

static bool is_narrow(struct area area)
{
	return area.width < NARROW;
}

static bool tells_change(const struct drawing *drawing)
{
	return drawing->state->compares && !is_narrow(drawing->area);
}

static void draw_choice(void *ctx, size_t at, int y)
{
	const struct drawing *drawing = ctx;
	const char *name = choice_name(drawing->screen, at);
	char clean[FIELD_MAX];

	clean_string(clean, sizeof(clean), name ? name : "");
	canvas_text(drawing->canvas, 2, y, drawing->area.width - 3,
		at < FIXED ? STYLE_TEXT : STYLE_USER, clean);
}

static void draw_row(void *ctx, size_t at, int y)
{
	const struct drawing *drawing = ctx;
	const struct breakdown *state = drawing->state;
	const struct query_row *row = &state->rows[at];
	struct canvas *canvas = drawing->canvas;
	bool narrow = is_narrow(drawing->area);
	double share = format_share(row->total, state->whole);
	double self = format_share(row->self, state->whole);
	char text[FORMAT_MAX];
	int x = 1, width = drawing->area.width;

	if (!narrow) {
		canvas_bar(canvas, x, y, BAR_WIDTH, share, views_share_style(share));
		x += BAR_WIDTH + 1;
	}
	canvas_printf(canvas, x, y, 6, views_number_style(share), "%6s", format_whole(text, share));
	x += 8;
	if (state->all)
		canvas_printf(
			canvas, x - 1, y, 8, STYLE_TEXT, "%8llu", (unsigned long long)row->samples);
	else
		canvas_printf(canvas, x, y, 6, STYLE_TEXT, "%6s", format_whole(text, self));
	x += state->all ? 9 : 8;
	if (tells_change(drawing)) {
		views_change(canvas, x, y, CHANGE_WIDTH, change_of(state, at));
		x += CHANGE_WIDTH + 2;
	}
	if (state->group == GROUP_FIELD) {
		views_text(canvas, x, y, width - x - 1, STYLE_USER, row->name, state->table.search);
		return;
	}
	if (state->group == GROUP_CPU) {
		canvas_printf(canvas, x, y, width - x, STYLE_USER, "CPU %u", row->cpu);
		return;
	}
	if (state->group == GROUP_PROCESS || !narrow) {
		canvas_printf(canvas, x, y, 7, STYLE_TEXT, "%7d", row->pid);
		x += 9;
	}
	if (state->group == GROUP_THREAD) {
		canvas_printf(canvas, x, y, 7, STYLE_TEXT, "%7d", row->tid);
		x += 9;
	}
	views_text(canvas, x, y, width - x - 1, STYLE_USER, row->name, state->table.search);
}

static void draw_heads(const struct drawing *drawing)
{
	const struct breakdown *state = drawing->state;
	struct canvas *canvas = drawing->canvas;
	const struct area area = drawing->area;

	static const char *const heads[FIXED] = {[GROUP_PROCESS] = "    PID  COMMAND",
		[GROUP_THREAD] = "    PID      TID  COMMAND",
		[GROUP_CPU] = "CPU"};
	bool narrow = is_narrow(area);
	int x = narrow ? 1 : BAR_WIDTH + 2;
	char field[FIELD_MAX];
	const char *head = field;

	clean_string(field, sizeof(field), state->field);
	if (narrow && state->group == GROUP_THREAD)
		head = "    TID  COMMAND";
	else if (state->group != GROUP_FIELD)
		head = heads[state->group];
	canvas_text(canvas, x, area.y, 6, STYLE_HEADER_SORTED, state->all ? "SHARE▼" : "TOTAL▼");
	if (state->all)
		canvas_text(canvas, x + 8, area.y, 7, STYLE_HEADER, "SAMPLES");
	else
		canvas_text(canvas, x + 10, area.y, 4, STYLE_HEADER, "SELF");
	x += state->all ? 17 : 16;
	if (tells_change(drawing)) {
		canvas_text(canvas, x, area.y, CHANGE_WIDTH, STYLE_HEADER, "CHANGE");
		x += CHANGE_WIDTH + 2;
	}
	canvas_text(canvas, x, area.y, area.width - x, STYLE_HEADER, head);
}

static void make_title(const struct breakdown *state, const struct screen *screen, int width,
	char *out, size_t size)
{
	const struct model *model = screen->model;
	const struct engine_event_status *event = model_event(model, model->event);
	char name[SHORTEN_MAX], image[SHORTEN_MAX], where[SHORTEN_MAX + 96], field[FIELD_MAX];
	const struct symref *symbol;

	clean_string(field, sizeof(field),
		state->choosing			      ? "..."
			: state->group == GROUP_FIELD ? state->field
						      : group_names[state->group]);
	if (state->all) {
		clean_string(name, sizeof(name), event ? event->name : "");
		snprintf(out, size, "all samples of %.200s by %s", name, field);
		return;
	}
	symbol = model->queries->symbol(screen->model, state->symref);
	snprintf(where, sizeof(where), " (%s) by %s", shorten_file(image, symbol->image, width / 3),
		field);
	snprintf(out, size, "%.4000s%s",
		shorten_symbol(name, symbol->symbol, width - 5 - width_of(where)), where);
}

static void draw_choices(struct breakdown *state, struct canvas *canvas, struct drawing *drawing)
{
	struct area area = drawing->area;

	if (state->choices.n == FIXED && area.height > FIXED + 1) {
		canvas_text(canvas, 2, area.y, area.width - 3, STYLE_DIM,
			"Samples of this event have no fields of their own");
		area.y++;
		area.height--;
	}
	list_draw(&state->choices, canvas, area, draw_choice, drawing);
}

static void breakdown_draw(struct view *view, struct screen *screen, struct area area)
{
	struct breakdown *state = view->state;
	struct canvas *canvas = &screen->canvas;
	struct drawing drawing = {.state = state, .screen = screen, .canvas = canvas};
	char title[2 * SHORTEN_MAX];

	make_title(state, screen, area.width, title, sizeof(title));
	area = views_title(canvas, area, title);
	if (state->choosing) {
		drawing.area = area;
		draw_choices(state, canvas, &drawing);
		return;
	}
	if (area.height >= 4) {
		drawing.area = area;
		draw_heads(&drawing);
		area.y++;
		area.height--;
	}
	if (!state->table.list.n)
		canvas_text(canvas, 2, area.y, area.width - 3, STYLE_DIM,
			state->error	     ? "Out of memory"
				: state->all ? "No samples in this time"
					     : "No samples of it in this time");
	drawing.area = area;
	list_view_draw(view, screen, area, draw_row, &drawing);
}

static unsigned int breakdown_click(
	struct view *view, struct screen *screen, int x, int y, bool twice)
{
	struct breakdown *state = view->state;

	if (!state->choosing)
		return list_view_click(view, screen, x, y, twice);
	if (!list_click(&state->choices, y + screen->body.y))
		return 0;
	return twice ? breakdown_action(view, screen, ACT_GROUP) : VIEW_HANDLED;
}

const struct view_ops view_breakdown = {
	.keys = KEYS_BREAKDOWN,
	.open = breakdown_open,
	.action = breakdown_action,
	.prompt = list_view_prompt,
	.click = breakdown_click,
	.refresh = breakdown_refresh,
	.draw = breakdown_draw,
	.close = breakdown_close,
};

const struct view_ops view_fields = {
	.keys = KEYS_BREAKDOWN,
	.open = fields_open,
	.action = breakdown_action,
	.prompt = list_view_prompt,
	.click = breakdown_click,
	.refresh = breakdown_refresh,
	.draw = breakdown_draw,
	.close = breakdown_close,
};
