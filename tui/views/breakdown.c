/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * breakdown.c - where one symbol runs: its samples by process, by thread, or by CPU.
 */
#include "tui/format.h"
#include "tui/screen.h"
#include "tui/shorten.h"
#include "tui/views/list.h"
#include "tui/views/views.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NARROW 50 /* columns of the screen: below, bars and the threads' process are left out */
#define BAR_WIDTH 4

struct breakdown {
	struct list list;
	uint32_t symref;
	enum query_group group;
	struct query_row *rows;
	struct query_row selected; /* its pid, tid and cpu: what the cursor sticks to */
	bool moved; /* off the first row */
	uint64_t whole; /* weight of the symbol's total in all rows */
	int error;
};

static const char *const group_names[] = {
	[GROUP_PROCESS] = "process", [GROUP_THREAD] = "thread", [GROUP_CPU] = "CPU"};

static int breakdown_open(struct view *view, struct screen *screen, uint32_t arg)
{
	struct breakdown *state = calloc(1, sizeof(*state));

	if (!state)
		return -ENOMEM;
	state->symref = arg;
	/* Of a single process the threads are what tells. */
	state->group = !screen->model->system_wide && screen->model->status.processes == 1
		? GROUP_THREAD
		: GROUP_PROCESS;
	view->state = state;
	return 0;
}

static void breakdown_close(struct view *view)
{
	struct breakdown *state = view->state;

	free(state->rows);
	free(state);
}

static bool same_row(const struct query_row *a, const struct query_row *b, enum query_group group)
{
	if (group == GROUP_CPU)
		return a->cpu == b->cpu;
	return a->pid == b->pid && (group == GROUP_PROCESS || a->tid == b->tid);
}

static void remember_selection(struct breakdown *state)
{
	state->moved = state->list.cursor != 0;
	if (state->list.n)
		state->selected = state->rows[state->list.cursor];
}

static void breakdown_refresh(struct view *view, struct screen *screen)
{
	struct breakdown *state = view->state;
	size_t n = 0;

	free(state->rows);
	state->rows = NULL;
	state->error = screen->model->ops->breakdown(
		screen->model, state->symref, state->group, &state->rows, &n);
	if (state->error)
		n = 0;
	state->whole = 0;
	for (size_t i = 0; i < n; i++)
		state->whole += state->rows[i].total;
	list_set_count(&state->list, n);
	for (size_t i = 0; state->moved && i < n; i++) {
		if (same_row(&state->rows[i], &state->selected, state->group))
			list_set_cursor(&state->list, i);
	}
}

static unsigned int breakdown_action(struct view *view, struct screen *screen, enum action action)
{
	struct breakdown *state = view->state;

	if (list_action(&state->list, action)) {
		remember_selection(state);
		return VIEW_HANDLED;
	}
	if (action != ACT_GROUP)
		return 0;
	state->group = (enum query_group)(((int)state->group + 1) % 3);
	list_set_cursor(&state->list, 0);
	state->moved = false;
	breakdown_refresh(view, screen);
	return VIEW_HANDLED;
}

struct drawing {
	const struct breakdown *state;
	struct canvas *canvas;
	struct area area;
};

static bool is_narrow(struct area area)
{
	return area.width < NARROW;
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
	int x = 1, width = drawing->area.width;

	if (!narrow) {
		canvas_bar(canvas, x, y, BAR_WIDTH, share, views_share_style(share));
		x += BAR_WIDTH + 1;
	}
	canvas_printf(canvas, x, y, 6, views_number_style(share), "%5.1f%%", 100.0 * share);
	x += 8;
	canvas_printf(canvas, x, y, 6, STYLE_TEXT, "%5.1f%%", 100.0 * self);
	x += 8;
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
	canvas_text(canvas, x, y, width - x - 1, STYLE_USER, row->name);
}

static void draw_heads(const struct breakdown *state, struct canvas *canvas, struct area area)
{
	static const char *const heads[] = {[GROUP_PROCESS] = "    PID  COMMAND",
		[GROUP_THREAD] = "    PID      TID  COMMAND",
		[GROUP_CPU] = "CPU"};
	bool narrow = is_narrow(area);
	int x = narrow ? 1 : BAR_WIDTH + 2;

	canvas_text(canvas, x, area.y, 6, STYLE_HEADER_SORTED, "TOTAL▼");
	canvas_text(canvas, x + 10, area.y, 4, STYLE_HEADER, "SELF");
	canvas_text(canvas, x + 16, area.y, area.width - x - 16, STYLE_HEADER,
		narrow && state->group == GROUP_THREAD ? "    TID  COMMAND" : heads[state->group]);
}

static void breakdown_draw(struct view *view, struct screen *screen, struct area area)
{
	struct breakdown *state = view->state;
	struct canvas *canvas = &screen->canvas;
	struct drawing drawing = {.state = state, .canvas = canvas};
	const struct symref *symbol = screen->model->ops->symbol(screen->model, state->symref);
	char name[SHORTEN_MAX], image[SHORTEN_MAX], where[SHORTEN_MAX + 32], title[2 * SHORTEN_MAX];

	snprintf(where, sizeof(where), " (%s) by %s",
		shorten_file(image, symbol->image, area.width / 3), group_names[state->group]);
	snprintf(title, sizeof(title), "%.4000s%s",
		shorten_symbol(name, symbol->symbol, area.width - 5 - canvas_width_of(where)),
		where);
	area = views_title(canvas, area, title);
	if (area.height >= 4) {
		draw_heads(state, canvas, area);
		area.y++;
		area.height--;
	}
	if (!state->list.n)
		canvas_text(canvas, 2, area.y, area.width - 3, STYLE_DIM,
			state->error ? "Out of memory" : "No samples of it in this time");
	drawing.area = area;
	list_draw(&state->list, canvas, area, draw_row, &drawing);
}

static unsigned int breakdown_click(
	struct view *view, struct screen *screen, int x, int y, bool twice)
{
	struct breakdown *state = view->state;

	(void)x;
	(void)twice;
	if (!list_click(&state->list, &screen->body, y))
		return 0;
	remember_selection(state);
	return VIEW_HANDLED;
}

const struct view_ops view_breakdown = {
	.keys = KEYS_BREAKDOWN,
	.open = breakdown_open,
	.action = breakdown_action,
	.click = breakdown_click,
	.refresh = breakdown_refresh,
	.draw = breakdown_draw,
	.close = breakdown_close,
};
