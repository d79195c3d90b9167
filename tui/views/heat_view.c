/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heat_view.c - the heat map: a column per second with a cell per tenth, from bottom to top;
 * brighter is busier.
 *
 * The user chooses a range by its first and last cell.  It becomes the window of all views.
 * Seconds count from the start of sampling.  The map follows the newest second until the cursor
 * moves.
 */
#include "tui/base/format.h"
#include "tui/model/model.h"
#include "tui/model/queries.h"
#include "tui/model/window.h"
#include "tui/screen/screen.h"
#include "tui/views/views.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND UINT64_C(1000000000)
#define CELL_NS (SECOND / HEAT_ROWS)
#define LEFT 6 /* columns of the screen left of the map */
#define TALL_FROM 36 /* rows of the screen; columns are also wider from here on */
#define MOST_TALL 3
#define PAGE 10 /* seconds */
#define AXIS_EVERY 12 /* columns of the screen between times */

struct heat_view {
	const uint64_t *cells; /* owned by the model, valid until its next answer */
	size_t seconds;
	uint64_t from_ns; /* start of the first column */
	uint64_t first_ns, last_ns; /* first and last cell of the history */
	uint64_t most;
	uint64_t cursor_ns; /* start of the cell at the cursor */
	bool moved; /* the cursor left the newest cell */
	bool marked; /* a range begins at mark_ns */
	uint64_t mark_ns;
	bool pressed; /* the mouse button went down in the cell at pressed_ns */
	uint64_t pressed_ns;
	bool was_marked; /* value of `marked` before the press */
	int width; /* width of a column */
	struct area map; /* area of the map, as last drawn */
	int per_row; /* tenths of a second in each row */
	int error;
};

static int heat_open(struct view *view, struct screen *screen, uint32_t arg)
{
	struct heat_view *heat = calloc(1, sizeof(*heat));

	(void)screen;
	(void)arg;
	if (!heat)
		return -ENOMEM;
	view->state = heat;
	return 0;
}

static void heat_close(struct view *view)
{
	free(view->state);
}

static uint64_t cell_of(uint64_t ns)
{
	return ns - ns % CELL_NS;
}

/* Returns the start of the second, counted from the start of sampling. */
static uint64_t second_of(const struct model *model, uint64_t ns)
{
	uint64_t phase = cell_of(model->status.started_ns % SECOND);
	uint64_t since = (ns + SECOND - phase) % SECOND;

	return ns > since ? ns - since : 0;
}

static void keep_in_sight(struct heat_view *heat, const struct model *model)
{
	uint64_t oldest = second_of(model, heat->first_ns);
	uint64_t newest = second_of(model, heat->last_ns);
	uint64_t at, length = (heat->seconds - 1) * SECOND;

	if (!heat->moved)
		heat->cursor_ns = heat->last_ns;
	if (heat->cursor_ns < heat->first_ns)
		heat->cursor_ns = heat->first_ns;
	if (heat->cursor_ns > heat->last_ns)
		heat->cursor_ns = heat->last_ns;
	at = second_of(model, heat->cursor_ns);
	if (!heat->moved || !heat->from_ns)
		heat->from_ns = newest > length ? newest - length : 0;
	if (at > heat->from_ns + length)
		heat->from_ns = at - length;
	if (at < heat->from_ns)
		heat->from_ns = at;
	if (heat->from_ns < oldest || heat->from_ns % SECOND != oldest % SECOND)
		heat->from_ns = oldest;
}

static void heat_refresh(struct view *view, struct screen *screen)
{
	struct heat_view *heat = view->state;
	struct model *model = screen->model;
	const struct window_view history = model_window_view(model);
	int room;

	heat->cells = NULL;
	heat->width = screen->canvas.height >= TALL_FROM ? 2 : 1;
	room = (screen->canvas.width - LEFT - 1) / heat->width;
	heat->seconds = room > 1 ? (size_t)room : 1;
	if (history.last_ns <= history.first_ns)
		return;
	heat->first_ns = cell_of(history.first_ns);
	heat->last_ns = cell_of(history.last_ns - 1);
	keep_in_sight(heat, model);
	heat->error = model->queries->heat(model, heat->from_ns, heat->seconds, &heat->cells);
	if (heat->error)
		heat->cells = NULL;
	heat->most = 0;
	for (size_t i = 0; heat->cells && i < heat->seconds * HEAT_ROWS; i++)
		heat->most = heat->cells[i] > heat->most ? heat->cells[i] : heat->most;
}

/* --- choosing --- */

static unsigned int choose(struct screen *screen, uint64_t from_ns, uint64_t to_ns)
{
	struct model *model = screen->model;
	const struct window_view history = model_window_view(model);

	if (from_ns <= to_ns)
		to_ns += CELL_NS;
	else
		from_ns += CELL_NS;
	window_select(&model->window, &history, from_ns, to_ns);
	return VIEW_HANDLED | VIEW_SETTINGS | VIEW_CLOSE;
}

static unsigned int mark(struct heat_view *heat, struct screen *screen)
{
	if (!heat->cells)
		return VIEW_HANDLED;
	if (heat->marked)
		return choose(screen, heat->mark_ns, heat->cursor_ns);
	heat->marked = true;
	heat->moved = true;
	heat->mark_ns = heat->cursor_ns;
	return VIEW_HANDLED;
}

static unsigned int move(struct view *view, struct screen *screen, int direction, uint64_t by_ns)
{
	struct heat_view *heat = view->state;

	heat->moved = true;
	if (direction > 0)
		heat->cursor_ns += by_ns;
	else
		heat->cursor_ns -= by_ns < heat->cursor_ns ? by_ns : heat->cursor_ns;
	if (direction > 0 && heat->cursor_ns >= heat->last_ns && !heat->marked)
		heat->moved = false;
	heat_refresh(view, screen);
	return VIEW_HANDLED;
}

static unsigned int heat_action(struct view *view, struct screen *screen, enum action action)
{
	struct heat_view *heat = view->state;

	switch (action) {
	case ACT_COLLAPSE:
		return move(view, screen, -1, SECOND);
	case ACT_EXPAND:
		return move(view, screen, 1, SECOND);
	case ACT_DOWN:
		return move(view, screen, -1, CELL_NS);
	case ACT_UP:
		return move(view, screen, 1, CELL_NS);
	case ACT_PAGE_UP:
		return move(view, screen, -1, PAGE * SECOND);
	case ACT_PAGE_DOWN:
		return move(view, screen, 1, PAGE * SECOND);
	case ACT_FIRST:
		return move(view, screen, -1, heat->cursor_ns);
	case ACT_LAST:
		return move(view, screen, 1, heat->last_ns);
	case ACT_OPEN:
		return mark(heat, screen);
	case ACT_BACK:
		if (!heat->marked)
			return 0;
		heat->marked = false;
		return VIEW_HANDLED;
	default:
		return 0;
	}
}

/* Returns the cell at a place of the screen; false if none. */
static bool cell_at(const struct heat_view *heat, int x, int y, uint64_t *ns)
{
	int row = heat->map.height - 1 - (y - heat->map.y);
	int tall = heat->map.height * heat->per_row / HEAT_ROWS;

	if (!heat->cells || x < LEFT || y < heat->map.y || row < 0 || !tall)
		return false;
	*ns = heat->from_ns + (uint64_t)((x - LEFT) / heat->width) * SECOND +
		(uint64_t)(row / tall * heat->per_row) * CELL_NS;
	return *ns >= heat->first_ns && *ns <= heat->last_ns;
}

static unsigned int heat_click(struct view *view, struct screen *screen, int x, int y, bool twice)
{
	struct heat_view *heat = view->state;
	uint64_t ns;

	(void)twice;
	heat->pressed = cell_at(heat, x + screen->body.x, y + screen->body.y, &ns);
	if (!heat->pressed)
		return 0;
	heat->was_marked = heat->marked;
	heat->pressed_ns = heat->cursor_ns = ns;
	heat->moved = true;
	if (!heat->marked)
		heat->mark_ns = ns;
	heat->marked = true;
	return VIEW_HANDLED;
}

/* A release in the pressed cell begins a range, or ends the marked one.  A release in another cell
 * ends a range that began at the press. */
static unsigned int heat_release(struct view *view, struct screen *screen, int x, int y)
{
	struct heat_view *heat = view->state;
	bool pressed = heat->pressed;
	uint64_t ns;

	heat->pressed = false;
	if (!pressed || !cell_at(heat, x + screen->body.x, y + screen->body.y, &ns))
		return 0;
	if (ns != heat->pressed_ns)
		return choose(screen, heat->pressed_ns, ns);
	return heat->was_marked ? choose(screen, heat->mark_ns, ns) : VIEW_HANDLED;
}

/* --- drawing --- */

static int level_of(const struct heat_view *heat, uint64_t weight)
{
	int level;

	if (!weight || !heat->most)
		return -1;
	level = (int)((double)weight / (double)heat->most * STYLE_HEAT_SHADES);
	return level < STYLE_HEAT_SHADES ? level : STYLE_HEAT_SHADES - 1;
}

static bool is_chosen(const struct heat_view *heat, const struct model *model, uint64_t ns)
{
	uint64_t from_ns = heat->mark_ns, to_ns = heat->cursor_ns;

	if (!heat->marked)
		return model->window.selected && ns >= model->from_ns && ns < model->to_ns;
	if (from_ns > to_ns) {
		from_ns = heat->cursor_ns;
		to_ns = heat->mark_ns;
	}
	return ns >= from_ns && ns <= to_ns;
}

/* Draws the cells of one row of a second, which share a place on the screen. */
static void draw_cell(const struct heat_view *heat, const struct model *model,
	struct canvas *canvas, size_t second, int row, int x, int y, int tall)
{
	static const uint32_t glyphs[STYLE_HEAT_SHADES] = {
		0x2591, 0x2591, 0x2592, 0x2592, 0x2593, 0x2588};
	uint64_t weight = 0, begin_ns = heat->from_ns + second * SECOND;
	bool is_cursor = false, chosen = false;
	int level;

	for (int i = row * heat->per_row; i < (row + 1) * heat->per_row; i++) {
		uint64_t ns = begin_ns + (uint64_t)i * CELL_NS;
		uint64_t of = heat->cells[second * HEAT_ROWS + (size_t)i];

		weight = of > weight ? of : weight;
		is_cursor |= ns == heat->cursor_ns;
		chosen |= is_chosen(heat, model, ns);
	}
	level = level_of(heat, weight);
	for (int i = 0; i < tall; i++) {
		canvas_fill(canvas, x, y + i, heat->width, level < 0 ? ' ' : glyphs[level],
			level < 0 ? STYLE_DIM : (enum style)(STYLE_HEAT + level));
		if (is_cursor)
			canvas_fill(canvas, x, y + i, heat->width, 0xd7, STYLE_ACCENT);
		if (chosen || is_cursor)
			canvas_select(canvas, x, y + i, heat->width);
	}
}

static void say_time(const struct model *model, uint64_t ns, char *out, size_t size)
{
	uint64_t started = cell_of(model->status.started_ns);
	uint64_t since = ns > started ? ns - started : 0;
	char clock[FORMAT_MAX];

	snprintf(out, size, "%s.%d", format_clock(clock, since), (int)(since % SECOND / CELL_NS));
}

static void draw_axis(
	const struct heat_view *heat, const struct model *model, struct canvas *canvas, int y)
{
	int last = canvas->width;

	for (size_t second = 0; second < heat->seconds; second++) {
		uint64_t ns = heat->from_ns + second * SECOND;
		int x = LEFT + (int)second * heat->width;
		char text[FORMAT_MAX + 4];

		if (second * (size_t)heat->width % AXIS_EVERY || ns > heat->last_ns || x + 8 > last)
			continue;
		say_time(model, ns, text, sizeof(text));
		text[8] = '\0'; /* whole seconds */
		canvas_text(canvas, x, y, 8, STYLE_DIM, text);
	}
}

static void draw_detail(
	const struct heat_view *heat, const struct model *model, struct canvas *canvas, int y)
{
	const struct engine_event_status *event = model_event(model, model->event);
	uint64_t at = (heat->cursor_ns - heat->from_ns) / CELL_NS, weight = heat->cells[at];
	char time[FORMAT_MAX + 4], mark[FORMAT_MAX + 4], count[FORMAT_MAX];

	say_time(model, heat->cursor_ns, time, sizeof(time));
	if (heat->marked) {
		uint64_t length = heat->cursor_ns > heat->mark_ns ? heat->cursor_ns - heat->mark_ns
								  : heat->mark_ns - heat->cursor_ns;

		say_time(model, heat->mark_ns, mark, sizeof(mark));
		canvas_printf(canvas, 1, y, canvas->width - 2, STYLE_WARN,
			"From %s to %s, %.1f s: Enter chooses it, Esc takes it back", mark, time,
			(double)(length + CELL_NS) / (double)SECOND);
	} else if (event && event->is_clock) {
		static const char *const words[] = {
			[EVENT_SPAN_NONE] = "CPUs busy",
			[EVENT_SPAN_BLOCKED] = "threads blocked",
			[EVENT_SPAN_PREEMPTED] = "threads waiting",
			[EVENT_SPAN_WALL] = "threads alive",
			[EVENT_SPAN_WOKEN] = "threads woken",
		};

		canvas_printf(canvas, 1, y, canvas->width - 2, STYLE_TEXT,
			"%s: %.2f %s  (Enter begins a range here)", time,
			(double)weight / (double)SECOND, words[event->span]);
	} else {
		canvas_printf(canvas, 1, y, canvas->width - 2, STYLE_TEXT,
			"%s: %s/s  (Enter begins a range here)", time, format_count(count, weight));
	}
}

/* Chooses the smallest number of tenths per row with which a second fits on the screen. */
static void lay_out(struct heat_view *heat, struct area area)
{
	static const int per_rows[] = {1, 2, 5, 10};
	int room = area.height > 3 ? area.height - 2 : area.height, tall;
	size_t i = 0;

	while (i < 3 && HEAT_ROWS / per_rows[i] > room)
		i++;
	heat->per_row = per_rows[i];
	tall = room / (HEAT_ROWS / heat->per_row);
	tall = tall < 1 ? 1 : tall > MOST_TALL ? MOST_TALL : tall;
	heat->map = area;
	heat->map.height = tall * (HEAT_ROWS / heat->per_row);
}

static void heat_draw(struct view *view, struct screen *screen, struct area area)
{
	struct heat_view *heat = view->state;
	const struct model *model = screen->model;
	const struct engine_event_status *event = model_event(model, model->event);
	struct canvas *canvas = &screen->canvas;
	char title[160];
	int rows, tall;

	snprintf(title, sizeof(title), "%.100s by seconds and tenths of them",
		event ? event->name : "");
	area = views_title(canvas, area, title);
	if (!heat->cells) {
		canvas_text(canvas, 2, area.y, area.width - 3, STYLE_DIM,
			heat->error ? "Out of memory" : "There is no history yet");
		return;
	}
	lay_out(heat, area);
	rows = HEAT_ROWS / heat->per_row;
	tall = heat->map.height / rows;
	for (int row = 0; row < rows; row++) {
		int y = heat->map.y + heat->map.height - (row + 1) * tall;

		canvas_printf(
			canvas, 1, y + tall - 1, LEFT - 2, STYLE_DIM, ".%d s", row * heat->per_row);
		for (size_t second = 0; second < heat->seconds; second++)
			draw_cell(heat, model, canvas, second, row,
				LEFT + (int)second * heat->width, y, tall);
	}
	if (area.height < heat->map.height + 2)
		return;
	draw_axis(heat, model, canvas, heat->map.y + heat->map.height);
	draw_detail(heat, model, canvas, heat->map.y + heat->map.height + 1);
}

const struct view_ops view_heat = {
	.keys = KEYS_HEAT,
	.open = heat_open,
	.action = heat_action,
	.click = heat_click,
	.release = heat_release,
	.refresh = heat_refresh,
	.draw = heat_draw,
	.close = heat_close,
};
