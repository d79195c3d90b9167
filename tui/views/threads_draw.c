/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * threads_draw.c - draws the view of threads: columns depend on the width of the screen.
 */
#include "tui/base/format.h"
#include "tui/model/model.h"
#include "tui/model/queries.h"
#include "tui/views/threads_private.h"
#include "tui/views/views.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define CHANGE_WIDTH 6

static const struct {
	enum query_group group;
	const char *one, *many;
} groupings[] = {
	{GROUP_THREAD, "thread", "threads"},
	{GROUP_PROCESS, "process", "processes"},
	{GROUP_COMMAND, "command", "commands"},
	{GROUP_CPU, "CPU", "CPUs"},
};
#define N_GROUPINGS (sizeof(groupings) / sizeof(*groupings))

static size_t grouping_of(const struct threads *threads)
{
	for (size_t i = 0; i < N_GROUPINGS; i++)
		if (groupings[i].group == threads->group)
			return i;
	return 0;
}

static char state_of(const struct threads *threads, const struct lane *lane)
{
	int32_t tid = threads_tid_of(threads, lane);

	for (size_t i = 0; threads_has_state(threads) && i < threads->n_seen; i++)
		if (threads->seen[i].tid == tid)
			return threads->seen[i].state;
	return 0;
}

static const char *state_name(char state)
{
	switch (state) {
	case 'R':
		return "running";
	case 'S':
		return "sleeping";
	case 'D':
		return "waiting";
	case 'T':
		return "stopped";
	case 't':
		return "traced";
	case 'Z':
		return "zombie";
	case 'I':
		return "idle";
	case 'X':
		return "ended";
	default:
		return "-";
	}
}

struct drawing {
	const struct threads *threads;
	struct model *model;
	struct canvas *canvas;
	struct threads_layout at;
	bool is_clock;
	bool waits; /* the event measures waiting, not CPU time */
};

struct threads_layout threads_lay_out(
	const struct threads *threads, const struct model *model, int width)
{
	struct threads_layout at = {.strip = 9};
	int x;

	if (model->has_baseline && width >= THREADS_NARROW) {
		at.change = at.strip - 1;
		at.strip += CHANGE_WIDTH + 2;
	}
	x = at.strip + (int)threads->columns + 2;
	if (threads_has_state(threads) &&
		width >= (at.change ? THREADS_WIDE_FROM : THREADS_NARROW)) {
		at.state = x;
		x += 9;
	}
	if (threads->group == GROUP_PROCESS ||
		(threads->group == GROUP_THREAD && width >= THREADS_WIDE_FROM)) {
		at.pid = x;
		x += 9;
	}
	if (threads->group == GROUP_THREAD) {
		at.tid = x;
		x += 9;
	}
	at.name = x;
	at.name_width = width - x - 1;
	if (width >= THREADS_NARROW && at.name_width > 30) {
		at.name_width = threads->group == GROUP_CPU ? 7
			: width >= THREADS_WIDE_FROM	    ? 16
							    : 12;
		at.symbol = x + at.name_width + 2;
	} else if (width >= THREADS_NARROW && at.name_width > 24) {
		at.name_width = 12;
		at.symbol = x + at.name_width + 1;
	}
	at.symbol_width = width - at.symbol - 1;
	return at;
}

/* For a clock, returns the share of one CPU's time; else the share of all weight. */
static double share_of(const struct drawing *drawing, const struct lane *lane)
{
	const struct lanes *lanes = drawing->threads->lanes;

	return format_share(lane->weight,
		drawing->is_clock ? lanes->to_ns - lanes->from_ns : drawing->threads->whole);
}

static double change_of(const struct drawing *drawing, const struct lane *lane)
{
	const struct lanes *lanes = drawing->threads->lanes;

	if (lane->base_unknown)
		return NAN;
	return share_of(drawing, lane) -
		format_share(lane->base, drawing->is_clock ? lanes->base_ns : lanes->base_whole);
}

static void draw_row(void *ctx, size_t row, int y)
{
	const struct drawing *drawing = ctx;
	const struct threads *threads = drawing->threads;
	const struct lane *lane = &threads->lanes->lane[threads->shown[row]];
	const struct threads_layout *at = &drawing->at;
	struct canvas *canvas = drawing->canvas;
	double share = share_of(drawing, lane);
	char state = state_of(threads, lane), text[FORMAT_MAX];

	canvas_printf(canvas, 1, y, 7, views_number_style(share), "%6s", format_whole(text, share));
	if (at->change)
		views_change(canvas, at->change, y, CHANGE_WIDTH, change_of(drawing, lane));
	canvas_spark(canvas, at->strip, y, (int)threads->lanes->columns, lane->columns,
		threads->most, STYLE_TREND);
	if (at->state)
		canvas_text(canvas, at->state, y, 8,
			state == 'R'	       ? STYLE_GOOD
				: state == 'D' ? STYLE_WARN
					       : STYLE_DIM,
			state_name(state));
	if (at->pid)
		canvas_printf(canvas, at->pid, y, 7, STYLE_TEXT, "%7" PRId32, lane->pid);
	if (at->tid)
		canvas_printf(canvas, at->tid, y, 7, STYLE_TEXT, "%7" PRId32, lane->tid);
	if (threads->group == GROUP_CPU)
		canvas_printf(
			canvas, at->name, y, at->name_width, STYLE_USER, "CPU %" PRIu32, lane->cpu);
	else
		views_text(canvas, at->name, y, at->name_width, STYLE_USER, lane->name,
			threads->table.search);
	if (at->symbol && lane->symref != LANES_NO_SYMBOL) {
		const struct symref *name =
			drawing->model->queries->symbol(drawing->model, lane->symref);

		views_symbol(canvas, at->symbol, y, at->symbol_width, views_symbol_style(name),
			name->symbol, threads->table.search);
	}
}

static void draw_heads(const struct drawing *drawing, struct list_view *table)
{
	const struct threads_layout *at = &drawing->at;
	struct canvas *canvas = drawing->canvas;
	bool by_cpu = drawing->threads->group == GROUP_CPU;

	list_view_head(table, canvas, 1, 6,
		drawing->waits		    ? "TIME"
			: drawing->is_clock ? "CPU"
					    : "SHARE",
		SORT_WEIGHT, true);
	list_view_head(
		table, canvas, at->change, at->change ? CHANGE_WIDTH : 0, "CHANGE", -1, true);
	list_view_head(
		table, canvas, at->strip, (int)drawing->threads->columns, "ACTIVITY", -1, false);
	list_view_head(table, canvas, at->state, at->state ? 8 : 0, "STATE", -1, false);
	list_view_head(
		table, canvas, at->pid, at->pid ? 7 : 0, "PID", at->tid ? -1 : SORT_ID, true);
	list_view_head(table, canvas, at->tid, at->tid ? 7 : 0, "TID", SORT_ID, true);
	list_view_head(table, canvas, at->name, at->name_width, by_cpu ? "CPU" : "COMMAND",
		by_cpu ? SORT_ID : SORT_NAME, false);
	list_view_head(table, canvas, at->symbol, at->symbol ? at->symbol_width : 0,
		"HOTTEST SYMBOL", SORT_SYMBOL, false);
}

static void make_title(
	const struct threads *threads, const struct model *model, char *out, size_t size)
{
	const struct engine_event_status *event = model_event(model, model->event);
	size_t grouping = grouping_of(threads);
	char shown[24] = "";

	if (threads->table.filter[0])
		snprintf(shown, sizeof(shown), "%zu of ", threads->table.list.n);
	snprintf(out, size, "%s%" PRIu32 " %s, %.100s", shown,
		threads->error ? 0 : threads->lanes->n,
		!threads->error && threads->lanes->n == 1 ? groupings[grouping].one
							  : groupings[grouping].many,
		event ? event->name : "");
}

void threads_draw(struct view *view, struct screen *screen, struct area area)
{
	struct threads *threads = view->state;
	const struct engine_event_status *event = model_event(screen->model, screen->model->event);
	struct drawing drawing = {
		.threads = threads,
		.model = screen->model,
		.canvas = &screen->canvas,
		.at = threads_lay_out(threads, screen->model, area.width),
		.is_clock = event && event->is_clock,
		.waits = event && event->span != EVENT_SPAN_NONE,
	};
	char title[160];

	make_title(threads, screen->model, title, sizeof(title));
	area = views_title(&screen->canvas, area, title);
	if (list_view_heads(&threads->table, &area, 4))
		draw_heads(&drawing, &threads->table);
	if (!threads->table.list.n)
		canvas_text(&screen->canvas, 2, area.y, area.width - 3, STYLE_DIM,
			threads->error ? "Out of memory"
				: threads->table.filter[0]
				? "No row matches the filter (Esc shows all)"
				: "No samples in this time");
	list_set_height(&threads->table.list, area.height);
	if (!threads->error)
		threads_read_states(threads, screen->model);
	list_view_draw(view, screen, area, draw_row, &drawing);
}
