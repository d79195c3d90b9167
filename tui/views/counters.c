/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * counters.c - the events as counters: counts, rates, samples, and ratios of counts.
 *
 * Here events are switched on and off, get another rate or filter, and breakpoints are moved.
 */
#include "tui/base/clean.h"
#include "tui/base/format.h"
#include "tui/base/width.h"
#include "tui/explain/explain.h"
#include "tui/model/commands.h"
#include "tui/model/model.h"
#include "tui/query/ratios.h"
#include "tui/screen/screen.h"
#include "tui/views/list_view.h"
#include "tui/views/views.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* share of time that counts as always running, within the clocks' precision */
#define ALWAYS_SHARE 0.999
#define RATIO_SECONDS 5
#define RATIO_COLUMN 40
#define NS_PER_S 1e9
#define NAME_MAX_BYTES (EVENT_NAME_MAX + 300) /* an event and its filter */

enum counters_sort { /* columns from left to right */
	SORT_OPENED,
	SORT_RATE,
	SORT_COUNT,
	SORT_RUNNING,
	SORT_SAMPLES,
	SORT_LOST,
	SORT_THROTTLED,
	SORTS
};

struct row {
	struct engine_event_status status;
	size_t opened; /* place in the order of opening */
	double by; /* number to sort by */
	char group; /* ' ', or the place in a group: 'f'irst, 'm'iddle, 'l'ast */
};

struct counters {
	struct list_view table; /* list of `rows`, sorted by enum counters_sort */
	struct row rows[ENGINE_EVENTS_TOLD];
	struct ratio ratios[RATIOS_MAX];
	size_t n_ratios;
	uint8_t asked; /* id of the event that the prompt changes */
};

/* Live ratios use the last seconds; those of a recording use everything. */
static double count_for_ratio(const struct model *model, const struct engine_event_status *event)
{
	const struct rate *rate = rates_find(&model->rates, event->id);
	bool estimated;
	double sum = 0;

	if (model->recorded || model->status.state != ENGINE_RUNNING)
		return (double)rates_scaled(event, &estimated);
	for (size_t i = 0; rate && i < RATIO_SECONDS && i < rate->n; i++)
		sum += (double)rate->per_second[rate->n - 1 - i];
	return sum;
}

static void find_ratios(struct counters *counters, const struct model *model)
{
	struct ratio_part parts[ENGINE_EVENTS_TOLD];
	size_t n = 0;

	for (size_t i = 0; i < counters->table.list.n; i++) {
		const struct engine_event_status *event = &counters->rows[i].status;

		if (!event->open || !event->enabled)
			continue;
		parts[n++] = (struct ratio_part){
			.name = event->name,
			.count = count_for_ratio(model, event),
			.group = event->group,
			.always =
				format_share(event->running_ns, event->enabled_ns) >= ALWAYS_SHARE,
		};
	}
	counters->n_ratios = ratios_find(parts, n, counters->ratios);
}

/* --- rows --- */

static double number_of(
	const struct model *model, const struct engine_event_status *event, int sort)
{
	const struct rate *rate = rates_find(&model->rates, event->id);
	bool estimated;

	switch (sort) {
	case SORT_RATE:
		return event->enabled && rate && rate->n ? (double)rate->per_second[rate->n - 1]
							 : -1.0;
	case SORT_COUNT:
		return (double)rates_scaled(event, &estimated);
	case SORT_RUNNING:
		return format_share(event->running_ns, event->enabled_ns);
	case SORT_SAMPLES:
		return (double)event->samples;
	case SORT_LOST:
		return (double)event->lost;
	case SORT_THROTTLED:
		return (double)event->throttled;
	default:
		return 0.0;
	}
}

static int compare_rows(const void *left, const void *right, void *ctx)
{
	const struct counters *counters = ctx;
	const struct row *a = left, *b = right;
	int order = (a->by < b->by) - (a->by > b->by);

	if (!order)
		order = (a->opened > b->opened) - (a->opened < b->opened);
	return counters->table.reverse ? -order : order;
}

/* Groups are marked while their events are side by side. */
static void mark_groups(struct counters *counters)
{
	struct row *rows = counters->rows;

	if (counters->table.sort != SORT_OPENED || counters->table.reverse)
		return;
	for (size_t i = 0; i < counters->table.list.n; i++) {
		uint16_t group = rows[i].status.group;
		bool before = i > 0 && rows[i - 1].status.group == group;
		bool after = i + 1 < counters->table.list.n && rows[i + 1].status.group == group;

		if (group && (before || after))
			rows[i].group = !before ? 'f' : after ? 'm' : 'l';
	}
}

static void counters_refresh(struct view *view, struct screen *screen)
{
	struct counters *counters = view->state;
	const struct engine_status *status = &screen->model->status;

	for (size_t i = 0; i < status->n_events; i++)
		counters->rows[i] = (struct row){.status = status->events[i],
			.opened = i,
			.by = number_of(screen->model, &status->events[i], counters->table.sort),
			.group = ' '};
	list_set_count(&counters->table.list, status->n_events);
	find_ratios(counters, screen->model);
	qsort_r(counters->rows, status->n_events, sizeof(*counters->rows), compare_rows, counters);
	mark_groups(counters);
	list_view_follow(view, screen);
}

static uint64_t key_of(struct view *view, struct screen *screen, size_t row)
{
	const struct counters *counters = view->state;

	(void)screen;
	return counters->rows[row].status.id;
}

/* Writes the text of a row: the event, and its filter if it has one. */
static void name_row(const struct engine_event_status *event, char *out, size_t size)
{
	char filter[256];

	if (event->open && event->filter && event->filter[0])
		snprintf(out, size, "%s if %s", event->name,
			clean_string(filter, sizeof(filter), event->filter));
	else
		snprintf(out, size, "%s", event->name);
}

static bool row_matches(struct view *view, struct screen *screen, size_t row, const char *text)
{
	const struct counters *counters = view->state;
	char name[NAME_MAX_BYTES];

	(void)screen;
	name_row(&counters->rows[row].status, name, sizeof(name));
	return views_match(name, text) >= 0;
}

/* Columns: x and width; width 0: not shown. */
struct place {
	int x, width;
};

struct places {
	struct place name, rate, trend, count, running, samples, lost, throttled;
};

static struct places places_of(int width)
{
	struct places places = {.name = {4, 16}};
	int trend = width >= 132 ? 40 : width >= 100 ? 22 : width >= 78 ? 8 : 0;
	const struct {
		struct place *place;
		int width, from; /* from: least width of the screen */
	} columns[] = {
		{&places.rate, 11, 0},
		{&places.trend, trend, 0},
		{&places.count, 9, 60},
		{&places.running, 6, 50},
		{&places.samples, 8, 40},
		{&places.lost, 6, 54},
		{&places.throttled, 10, 100},
	};
	int used = 0, x;

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		if (columns[i].width && width >= columns[i].from)
			used += columns[i].width + 1;
	places.name.width = width - places.name.x - used - 1;
	if (places.name.width > 36)
		places.name.width = 36;
	x = places.name.x + places.name.width + 1;
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		if (!columns[i].width || width < columns[i].from)
			continue;
		*columns[i].place = (struct place){x, columns[i].width};
		x += columns[i].width + 1;
	}
	return places;
}

static bool can_sort(const struct view *view, const struct screen *screen, int sort)
{
	const struct places places = places_of(screen->canvas.width);
	const int widths[SORTS] = {
		[SORT_OPENED] = places.name.width,
		[SORT_RATE] = places.rate.width,
		[SORT_COUNT] = places.count.width,
		[SORT_RUNNING] = places.running.width,
		[SORT_SAMPLES] = places.samples.width,
		[SORT_LOST] = places.lost.width,
		[SORT_THROTTLED] = places.throttled.width,
	};

	(void)view;
	return sort == SORT_OPENED || widths[sort] > 0;
}

static const struct list_view_ops table_ops = {
	.key = key_of,
	.matches = row_matches,
	.can_sort = can_sort,
	.sorts = SORTS,
	.ascending = 1u << SORT_OPENED,
	.twice = ACT_OPEN,
	.first_sticks = true,
};

static int counters_open(struct view *view, struct screen *screen, uint32_t arg)
{
	struct counters *counters = calloc(1, sizeof(*counters));

	(void)arg;
	if (!counters)
		return -ENOMEM;
	counters->table.ops = &table_ops;
	counters->table.selected = screen->model->event;
	counters->table.moved = true;
	view->state = counters;
	return 0;
}

static void counters_close(struct view *view)
{
	free(view->state);
}

/* --- commands --- */

static void ask_rate(struct screen *screen, const struct engine_event_status *event)
{
	char text[48];

	if (event->freq_hz)
		snprintf(text, sizeof(text), "%" PRIu64 " Hz", event->freq_hz);
	else
		snprintf(text, sizeof(text), "%" PRIu64, event->period);
	screen_prompt(screen, ACT_RATE, "Hz, or period: ", text);
}

/* Parses "997 Hz", "10000", "10k"; false if it is neither frequency nor period. */
static bool parse_rate(const char *text, uint64_t *value, bool *is_hz)
{
	static const char units[] = "kMG";
	char *end;
	const char *unit;

	while (isspace((unsigned char)*text))
		text++;
	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	if (errno || !*value)
		return false;
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		for (long i = 0; i <= unit - units; i++)
			if (__builtin_mul_overflow(*value, (uint64_t)1000, value))
				return false;
		end++;
	}
	while (isspace((unsigned char)*end))
		end++;
	*is_hz = !strcasecmp(end, "Hz");
	return *is_hz || !*end;
}

static void set_rate(
	struct screen *screen, const struct engine_event_status *event, const char *text)
{
	struct model *model = screen->model;
	uint64_t value;
	bool is_hz;

	if (!parse_rate(text, &value, &is_hz))
		screen_message(screen, STYLE_BAD,
			"'%s' is no rate: 997 Hz is a frequency, 10000 a period", text);
	else if (is_hz && !event->freq_hz)
		screen_message(screen, STYLE_WARN,
			"%s has a period and no frequency: give a number without Hz", event->name);
	else if (is_hz && model->max_sample_rate_hz && value > model->max_sample_rate_hz)
		screen_message(screen, STYLE_WARN,
			"The kernel's limit is %" PRIu64 " Hz (kernel.perf_event_max_sample_rate)",
			model->max_sample_rate_hz);
	else if (is_hz)
		screen_result(screen, model->commands->set_freq(model, event->id, value),
			"The frequency cannot be changed");
	else
		screen_result(screen, model->commands->set_period(model, event->id, value),
			"The period cannot be changed");
}

static void move_breakpoint(
	struct screen *screen, const struct engine_event_status *event, const char *where)
{
	struct model *model = screen->model;
	char message[256] = "";
	int ret =
		model->commands->move_breakpoint(model, event->id, where, message, sizeof(message));

	screen->last_command_ns = model->now_ns;
	if (ret)
		screen_message(screen, STYLE_BAD, "%s", message);
}

static unsigned int counters_prompt(struct view *view, struct screen *screen, enum action purpose,
	const char *text, enum prompt_result result)
{
	struct counters *counters = view->state;
	struct model *model = screen->model;
	const struct engine_event_status *event = model_event(model, counters->asked);

	if (purpose == ACT_SEARCH)
		return list_view_prompt(view, screen, purpose, text, result);
	if (result != PROMPT_DONE || !event)
		return VIEW_HANDLED;
	switch (purpose) {
	case ACT_RATE:
		set_rate(screen, event, text);
		break;
	case ACT_EVENT_FILTER:
		screen_result(screen, model->commands->set_filter(model, event->id, text),
			"The filter cannot be set");
		break;
	case ACT_MOVE:
		if (*text)
			move_breakpoint(screen, event, text);
		break;
	default:
		break;
	}
	return VIEW_HANDLED;
}

static unsigned int act_on_event(
	struct screen *screen, const struct engine_event_status *event, enum action action)
{
	struct model *model = screen->model;
	char text[32];

	switch (action) {
	case ACT_OPEN:
		model->event = event->id;
		return VIEW_HANDLED | VIEW_SETTINGS | VIEW_CLOSE;
	case ACT_TOGGLE:
		screen_result(screen,
			model->commands->event_enable(model, event->id, !event->enabled),
			"The event cannot be switched");
		return VIEW_HANDLED;
	case ACT_DROP:
		screen_result(screen, model->commands->event_drop(model, event->id),
			"The event cannot be dropped");
		return VIEW_HANDLED;
	case ACT_RATE:
		ask_rate(screen, event);
		return VIEW_HANDLED;
	case ACT_EVENT_FILTER:
		if (event->is_tracepoint)
			screen_prompt(screen, ACT_EVENT_FILTER,
				"Filter: ", event->filter ? event->filter : "");
		else
			screen_message(screen, STYLE_WARN,
				"%s is no tracepoint: the kernel filters only these", event->name);
		return VIEW_HANDLED;
	case ACT_MOVE:
		snprintf(text, sizeof(text), "0x%" PRIx64, event->address);
		if (event->is_breakpoint)
			screen_prompt(screen, ACT_MOVE, "Address or symbol: ", text);
		else
			screen_message(screen, STYLE_WARN, "%s is no breakpoint", event->name);
		return VIEW_HANDLED;
	default:
		return 0;
	}
}

static unsigned int counters_action(struct view *view, struct screen *screen, enum action action)
{
	struct counters *counters = view->state;
	struct model *model = screen->model;
	const long row = list_view_seen(view, screen);
	const struct engine_event_status *event = row < 0 ? NULL : &counters->rows[row].status;

	switch (action) {
	case ACT_PAUSE:
		if (model->recorded)
			return 0; /* the screen refuses actions that recordings do not have */
		screen_result(screen, model->commands->pause(model, !model->status.paused),
			"Output cannot be paused");
		return VIEW_HANDLED;
	case ACT_TOGGLE:
	case ACT_DROP:
	case ACT_RATE:
	case ACT_EVENT_FILTER:
	case ACT_MOVE:
		if (model->recorded)
			return 0;
		if (event && !event->open) {
			screen_message(
				screen, STYLE_WARN, "%s is not open (E adds it)", event->name);
			return VIEW_HANDLED;
		}
		/* fallthrough */
	case ACT_OPEN:
		if (!event)
			return VIEW_HANDLED;
		counters->asked = event->id;
		return act_on_event(screen, event, action);
	default:
		return list_view_action(view, screen, action);
	}
}

/* --- drawing --- */

static void put_right(
	struct canvas *canvas, struct place place, int y, enum style style, const char *text)
{
	int width = width_of(text);

	if (!place.width)
		return;
	canvas_text(canvas, place.x + (width < place.width ? place.width - width : 0), y,
		place.width, style, text);
}

static const char *format_seconds(char out[FORMAT_MAX], double seconds)
{
	if (seconds < 0.9995)
		snprintf(out, FORMAT_MAX, "%.0f ms", seconds * 1e3);
	else
		snprintf(out, FORMAT_MAX, "%.*f s", seconds < 99.95 ? 1 : 0, seconds);
	return out;
}

/* Formats a number in the event's unit: time for clocks, units of PMUs, else a count. */
static const char *format_value(
	char out[FORMAT_MAX], const struct engine_event_status *event, double value, bool rate)
{
	if (event->is_clock && rate)
		snprintf(out, FORMAT_MAX, "%.2f %s", value / NS_PER_S,
			event->span ? "threads" : "CPUs");
	else if (event->is_clock)
		format_seconds(out, value / NS_PER_S);
	else if (event->scale != 0.0)
		snprintf(out, FORMAT_MAX, "%.3g %.8s", value * event->scale,
			event->unit ? event->unit : "");
	else
		format_count(out, (uint64_t)value);
	return out;
}

struct drawing {
	const struct counters *counters;
	const struct model *model;
	struct canvas *canvas;
	struct places places;
	int width;
};

static void draw_numbers(
	const struct drawing *drawing, const struct engine_event_status *event, int y)
{
	const struct places *c = &drawing->places;
	struct canvas *canvas = drawing->canvas;
	const struct rate *rate = rates_find(&drawing->model->rates, event->id);
	char text[FORMAT_MAX], about[FORMAT_MAX + 1];
	bool estimated;
	uint64_t count = rates_scaled(event, &estimated);
	enum style style = event->enabled ? STYLE_TEXT : STYLE_DIM;

	if (!event->enabled)
		put_right(canvas, c->rate, y, STYLE_DIM, "off");
	else if (event->in_error)
		put_right(canvas, c->rate, y, STYLE_BAD, "no room");
	else if (rates_not_counted(event))
		put_right(canvas, c->rate, y, STYLE_WARN, "not counted");
	else if (rate && rate->n)
		put_right(canvas, c->rate, y, style,
			format_value(text, event, (double)rate->per_second[rate->n - 1], true));
	if (rate && rate->n && c->trend.width) {
		size_t n = rate->n < (size_t)c->trend.width ? rate->n : (size_t)c->trend.width;
		const uint64_t *from = rate->per_second + rate->n - n;
		uint64_t most = 0;

		for (size_t i = 0; i < n; i++)
			most = from[i] > most ? from[i] : most;
		canvas_spark(canvas, c->trend.x + c->trend.width - (int)n, y, (int)n, from, most,
			event->enabled ? STYLE_TREND : STYLE_DIM);
	}
	if (!rates_not_counted(event)) {
		snprintf(about, sizeof(about), "%s%s", estimated ? "~" : "",
			format_value(text, event, (double)count, false));
		put_right(canvas, c->count, y, style, about);
	}
	if (event->enabled_ns) {
		double running = 100.0 * format_share(event->running_ns, event->enabled_ns);

		put_right(canvas, c->running, y,
			running < 100.0 * ALWAYS_SHARE ? STYLE_WARN : style,
			format_percent(text, running));
	}
	put_right(canvas, c->samples, y, style, format_count(text, event->samples));
	put_right(canvas, c->lost, y, event->lost ? STYLE_WARN : STYLE_DIM,
		format_count(text, event->lost));
	put_right(canvas, c->throttled, y, event->throttled ? STYLE_WARN : STYLE_DIM,
		format_count(text, event->throttled));
}

static void draw_row(void *ctx, size_t at, int y)
{
	const struct drawing *drawing = ctx;
	const struct row *row = &drawing->counters->rows[at];
	const struct engine_event_status *event = &row->status;
	const struct places *c = &drawing->places;
	struct canvas *canvas = drawing->canvas;
	bool current = event->id == drawing->model->event;
	int width = c->name.width;
	char name[NAME_MAX_BYTES];

	if (row->group != ' ')
		canvas_glyph(canvas, 3, y,
			row->group == 'f'	    ? 0x250c
				: row->group == 'm' ? 0x2502
						    : 0x2514,
			STYLE_BORDER);
	if (!event->open) {
		canvas_glyph(canvas, 1, y, 0x00d7, event->error ? STYLE_BAD : STYLE_DIM);
		views_text(canvas, c->name.x, y, width, STYLE_DIM, event->name,
			drawing->counters->table.search);
		if (event->error)
			canvas_printf(canvas, c->rate.x, y, drawing->width - c->rate.x - 1,
				STYLE_WARN, "refused: %s", explain_refusal(event->error));
		else
			canvas_text(canvas, c->rate.x, y, drawing->width - c->rate.x - 1, STYLE_DIM,
				"dropped");
		return;
	}
	canvas_glyph(canvas, 1, y, event->enabled ? 0x25cf : 0x25cb,
		event->in_error	  ? STYLE_BAD
			: current ? STYLE_ACCENT
				  : STYLE_GOOD);
	name_row(event, name, sizeof(name));
	views_text(canvas, c->name.x, y, width, current ? STYLE_USER : STYLE_TEXT, name,
		drawing->counters->table.search);
	draw_numbers(drawing, event, y);
}

static void draw_heads(struct list_view *table, const struct places *c, struct canvas *canvas)
{
	const struct {
		struct place place;
		const char *name;
		int sort;
	} heads[] = {
		{c->rate, "PER SECOND", SORT_RATE},
		{c->trend, "TREND", -1},
		{c->count, "COUNT", SORT_COUNT},
		{c->running, "RUN", SORT_RUNNING},
		{c->samples, "SAMPLES", SORT_SAMPLES},
		{c->lost, "LOST", SORT_LOST},
		{c->throttled, "THROTTLED", SORT_THROTTLED},
	};

	list_view_head(table, canvas, c->name.x, c->name.width, "EVENT", SORT_OPENED, false);
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		list_view_head(table, canvas, heads[i].place.x, heads[i].place.width, heads[i].name,
			heads[i].sort, true);
}

static const char *format_ratio(char out[FORMAT_MAX], const struct ratio *ratio)
{
	char number[FORMAT_MAX - 3];

	switch (ratio->form) {
	case RATIO_PERCENT:
		return format_percent(out, ratio->value);
	case RATIO_PER_SECOND:
		if (ratio->value < 99.95)
			snprintf(number, sizeof(number), "%.1f", ratio->value);
		else
			snprintf(number, sizeof(number), "%s",
				format_count(out, (uint64_t)ratio->value));
		snprintf(out, FORMAT_MAX, "%s/s", number);
		return out;
	case RATIO_NUMBER:
	default:
		snprintf(out, FORMAT_MAX, "%.2f", ratio->value);
		return out;
	}
}

/* Draws as many columns of ratios as fit. */
static void draw_ratios(const struct counters *counters, struct canvas *canvas, struct area area)
{
	int columns = area.width / RATIO_COLUMN > 0 ? area.width / RATIO_COLUMN : 1;
	int width = area.width / columns;

	for (size_t i = 0; i < counters->n_ratios; i++) {
		const struct ratio *ratio = &counters->ratios[i];
		int x = area.x + (int)(i % (size_t)columns) * width;
		int y = area.y + 1 + (int)(i / (size_t)columns);
		char text[FORMAT_MAX];
		const char *name = ratio->name;

		if (y >= area.y + area.height)
			return;
		if (width_of(name) > width - 14)
			name = ratio->brief;
		put_right(canvas, (struct place){x, 9}, y, STYLE_ACCENT, format_ratio(text, ratio));
		canvas_text(canvas, x + 11, y, width - 12, STYLE_DIM, name);
	}
}

static void counters_draw(struct view *view, struct screen *screen, struct area area)
{
	struct counters *counters = view->state;
	struct canvas *canvas = &screen->canvas;
	struct drawing drawing = {.counters = counters,
		.model = screen->model,
		.canvas = canvas,
		.places = places_of(area.width),
		.width = area.width};
	int columns = area.width / RATIO_COLUMN > 0 ? area.width / RATIO_COLUMN : 1;
	int below = counters->n_ratios ? 1 + ((int)counters->n_ratios + columns - 1) / columns : 0;

	area = views_title(canvas, area,
		screen->model->status.paused ? "Counters (output is paused)" : "Counters");
	if (list_view_heads(&counters->table, &area, 4))
		draw_heads(&counters->table, &drawing.places, canvas);
	if (below > area.height / 2)
		below = area.height / 2;
	area.height -= below;
	if (area.height > (int)counters->table.list.n)
		area.height = (int)counters->table.list.n;
	list_view_draw(view, screen, area, draw_row, &drawing);
	if (below)
		draw_ratios(counters, canvas,
			(struct area){area.x, area.y + area.height, area.width, below});
}

const struct view_ops view_counters = {
	.keys = KEYS_COUNTERS,
	.open = counters_open,
	.action = counters_action,
	.prompt = counters_prompt,
	.click = list_view_click,
	.refresh = counters_refresh,
	.draw = counters_draw,
	.close = counters_close,
};
