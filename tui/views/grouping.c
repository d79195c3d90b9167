/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * grouping.c - a list over the hot table, to choose the grouping of its rows.
 */
#include "tui/base/clean.h"
#include "tui/model/queries.h"
#include "tui/screen/screen.h"
#include "tui/views/list.h"
#include "tui/views/views.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOX_WIDTH 46
#define BOX_X 2
#define NAME_WIDTH 10
#define FRAME 2 /* rows and columns that the frame adds to the list */

static const struct {
	enum query_group group;
	const char *name, *help;
} choices[] = {
	{GROUP_SYMBOL, "symbol", "functions"},
	{GROUP_IMAGE, "image", "programs, libraries, the kernel"},
	{GROUP_ADDRESS, "address", "instructions"},
	{GROUP_LINE, "line", "of the source"},
	{GROUP_PROCESS, "process", "by pid"},
	{GROUP_THREAD, "thread", "by tid"},
	{GROUP_COMMAND, "command", "names of threads"},
	{GROUP_CPU, "CPU", "where it ran"},
	{GROUP_CGROUP, "cgroup", "those that -G names"},
};
#define N_CHOICES (sizeof(choices) / sizeof(*choices))

struct grouping {
	struct list list;
	struct area box; /* area of the box, as last drawn, within the view's area */
};

const char *grouping_name(const struct group_by *by)
{
	for (size_t i = 0; i < N_CHOICES; i++)
		if (choices[i].group == by->group)
			return choices[i].name;
	return by->field;
}

static bool has_cgroups(const struct model *model)
{
	for (size_t i = 0; i < model->status.n_events; i++)
		if (model->status.events[i].cgroup)
			return true;
	return false;
}

/* Returns the number of choices that every event has. */
static size_t count_fixed(const struct model *model)
{
	return has_cgroups(model) ? N_CHOICES : N_CHOICES - 1;
}

static const char *field_of(struct model *model, size_t at)
{
	return model->queries->field(model, at - count_fixed(model));
}

static size_t count(struct model *model)
{
	size_t n = count_fixed(model);

	while (field_of(model, n))
		n++;
	return n;
}

/* Returns the index of the current grouping. */
static size_t current(struct model *model, size_t n)
{
	for (size_t i = 0; model->grouped && i < n; i++) {
		if (i < count_fixed(model) ? choices[i].group == model->rows_by.group
					   : model->rows_by.group == GROUP_FIELD &&
					!strcmp(field_of(model, i), model->rows_by.field))
			return i;
	}
	return 0;
}

static int grouping_open(struct view *view, struct screen *screen, uint32_t arg)
{
	struct grouping *state = calloc(1, sizeof(*state));
	size_t n = count(screen->model);

	(void)arg;
	if (!state)
		return -ENOMEM;
	list_set_count(&state->list, n);
	list_set_cursor(&state->list, current(screen->model, n));
	view->state = state;
	return 0;
}

static void grouping_close(struct view *view)
{
	free(view->state);
}

static void grouping_refresh(struct view *view, struct screen *screen)
{
	struct grouping *state = view->state;
	struct view *below = &screen->views[0];

	list_set_count(&state->list, count(screen->model));
	below->ops->refresh(below, screen);
}

static unsigned int choose(struct grouping *state, struct screen *screen)
{
	struct model *model = screen->model;
	size_t at = state->list.cursor, fixed = count_fixed(model);
	struct group_by by = {.group = GROUP_FIELD};

	if (at < fixed)
		by.group = choices[at].group;
	else
		snprintf(by.field, sizeof(by.field), "%s", field_of(model, at));
	model->rows_by = by;
	model->grouped = by.group != GROUP_SYMBOL;
	return VIEW_HANDLED | VIEW_CLOSE | VIEW_SETTINGS;
}

static unsigned int grouping_action(struct view *view, struct screen *screen, enum action action)
{
	struct grouping *state = view->state;

	if (list_action(&state->list, action))
		return VIEW_HANDLED;
	return action == ACT_OPEN ? choose(state, screen) : 0;
}

static unsigned int grouping_click(
	struct view *view, struct screen *screen, int x, int y, bool twice)
{
	struct grouping *state = view->state;
	const struct area *box = &state->box;
	size_t at = state->list.top + (size_t)(y - box->y - 1);

	(void)twice;
	if (x < box->x || x >= box->x + box->width || y < box->y || y >= box->y + box->height)
		return VIEW_HANDLED | VIEW_CLOSE;
	if (y <= box->y || y >= box->y + box->height - 1 || at >= state->list.n)
		return VIEW_HANDLED;
	list_set_cursor(&state->list, at);
	return choose(state, screen);
}

/* --- drawing --- */

static void draw_frame(struct canvas *canvas, struct area box)
{
	int right = box.x + box.width - 1, bottom = box.y + box.height - 1;

	for (int y = box.y; y <= bottom; y++) {
		canvas_fill(canvas, box.x, y, box.width, ' ', STYLE_TEXT);
		canvas_glyph(canvas, box.x, y, 0x2502, STYLE_BORDER);
		canvas_glyph(canvas, right, y, 0x2502, STYLE_BORDER);
	}
	canvas_fill(canvas, box.x, box.y, box.width, 0x2500, STYLE_BORDER);
	canvas_fill(canvas, box.x, bottom, box.width, 0x2500, STYLE_BORDER);
	canvas_glyph(canvas, box.x, box.y, 0x250c, STYLE_BORDER);
	canvas_glyph(canvas, right, box.y, 0x2510, STYLE_BORDER);
	canvas_glyph(canvas, box.x, bottom, 0x2514, STYLE_BORDER);
	canvas_glyph(canvas, right, bottom, 0x2518, STYLE_BORDER);
	canvas_text(canvas, box.x + 2, box.y, box.width - 4, STYLE_TITLE, " rows are ");
}

static void draw_choice(
	struct canvas *canvas, struct model *model, struct area box, int y, size_t at)
{
	char clean[GROUPS_FIELD_MAX];
	int x = box.x + 2, width = box.width - 4;

	if (at >= count_fixed(model)) {
		const char *name = field_of(model, at);

		clean_string(clean, sizeof(clean), name ? name : "");
		canvas_text(canvas, x, y, width, STYLE_USER, clean);
		return;
	}
	canvas_text(canvas, x, y, width, STYLE_TEXT, choices[at].name);
	canvas_text(canvas, x + NAME_WIDTH, y, width - NAME_WIDTH, STYLE_DIM, choices[at].help);
}

static void grouping_draw(struct view *view, struct screen *screen, struct area area)
{
	struct grouping *state = view->state;
	struct canvas *canvas = &screen->canvas;
	struct view *below = &screen->views[0];
	struct area box = {area.x + BOX_X, area.y + 1, BOX_WIDTH, (int)state->list.n + FRAME};

	below->ops->draw(below, screen, area);
	if (box.width > area.width - BOX_X) {
		box.x = area.x;
		box.width = area.width;
	}
	if (box.height > area.height - 1) {
		box.y = area.y;
		box.height = box.height > area.height ? area.height : box.height;
	}
	draw_frame(canvas, box);
	list_set_height(&state->list, box.height - FRAME);
	for (size_t i = 0; i < state->list.height && state->list.top + i < state->list.n; i++) {
		int y = box.y + 1 + (int)i;

		draw_choice(canvas, screen->model, box, y, state->list.top + i);
		if (state->list.top + i == state->list.cursor)
			canvas_select(canvas, box.x + 1, y, box.width - 2);
	}
	state->box = box;
	state->box.x -= area.x;
	state->box.y -= area.y;
}

const struct view_ops view_grouping = {
	.keys = KEYS_GROUPING,
	.open = grouping_open,
	.action = grouping_action,
	.click = grouping_click,
	.refresh = grouping_refresh,
	.draw = grouping_draw,
	.close = grouping_close,
};
