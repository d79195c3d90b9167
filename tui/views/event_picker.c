/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * event_picker.c - the list of events: which are open, which were refused; add and drop them live.
 */
#include "tui/explain.h"
#include "tui/format.h"
#include "tui/screen.h"
#include "tui/views/list.h"
#include "tui/views/views.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_FROM 100 /* columns of the screen */
#define WHAT_FROM 60

/* Of the catalogue, or an event of the command line that is not in it. */
struct offer {
	const struct event_info *info; /* NULL: not in the catalogue */
	char name[EVENT_NAME_MAX];
	struct engine_event_status status;
	bool known; /* to the engine: status holds */
};

struct picker {
	struct list list;
	struct offer *offers;
	char selected[EVENT_NAME_MAX]; /* what the cursor sticks to */
};

static int picker_open(struct view *view, struct screen *screen, uint32_t arg)
{
	(void)screen;
	(void)arg;
	view->state = calloc(1, sizeof(struct picker));
	return view->state ? 0 : -ENOMEM;
}

static void picker_close(struct view *view)
{
	struct picker *picker = view->state;

	free(picker->offers);
	free(picker);
}

static bool same_event(const char *full, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(full, name, len) && (full[len] == '\0' || full[len] == ':');
}

static bool is_of(const struct engine_event_status *status, const struct event_info *info)
{
	return same_event(status->name, info->name) ||
		(info->alias && same_event(status->name, info->alias));
}

static void remember_selection(struct picker *picker)
{
	if (picker->list.n)
		memcpy(picker->selected, picker->offers[picker->list.cursor].name,
			sizeof(picker->selected));
}

static void picker_refresh(struct view *view, struct screen *screen)
{
	struct picker *picker = view->state;
	struct model *model = screen->model;
	const struct engine_status *status = &model->status;
	bool listed[ENGINE_EVENTS_MAX] = {false};
	size_t n_infos, n = 0;
	const struct event_info *infos = model->ops->catalogue(model, &n_infos);
	struct offer *offers = calloc(n_infos + status->n_events + 1, sizeof(*offers));

	if (!offers)
		return;
	for (size_t i = 0; i < n_infos; i++) {
		struct offer *offer = &offers[n++];

		offer->info = &infos[i];
		snprintf(offer->name, sizeof(offer->name), "%s", infos[i].name);
		/* The one that is open goes before an earlier one that was dropped. */
		for (size_t j = 0; j < status->n_events; j++) {
			if (!is_of(&status->events[j], &infos[i]))
				continue;
			listed[j] = true;
			if (offer->known && !status->events[j].open)
				continue;
			offer->status = status->events[j];
			offer->known = true;
		}
	}
	for (size_t j = 0; j < status->n_events; j++) {
		if (listed[j])
			continue;
		snprintf(offers[n].name, sizeof(offers[n].name), "%s", status->events[j].name);
		offers[n].status = status->events[j];
		offers[n++].known = true;
	}
	free(picker->offers);
	picker->offers = offers;
	list_set_count(&picker->list, n);
	for (size_t i = 0; i < n && picker->selected[0]; i++) {
		if (!strcmp(offers[i].name, picker->selected))
			list_set_cursor(&picker->list, i);
	}
	remember_selection(picker);
}

static unsigned int toggle(struct picker *picker, struct screen *screen)
{
	struct model *model = screen->model;
	const struct offer *offer;

	if (picker->list.cursor >= picker->list.n)
		return VIEW_HANDLED;
	offer = &picker->offers[picker->list.cursor];
	if (offer->known && offer->status.open)
		screen_result(screen, model->ops->event_drop(model, offer->status.id),
			"The event cannot be dropped");
	else
		screen_result(screen, model->ops->event_add(model, offer->name),
			"The event cannot be added");
	return VIEW_HANDLED;
}

static unsigned int picker_action(struct view *view, struct screen *screen, enum action action)
{
	struct picker *picker = view->state;

	if (list_action(&picker->list, action)) {
		remember_selection(picker);
		return VIEW_HANDLED;
	}
	return action == ACT_TOGGLE ? toggle(picker, screen) : 0;
}

/* The columns' x: the type is left out first, then what it counts. */
struct places {
	int name_width, type, samples, what, width;
	bool has_type, has_what;
};

static struct places places_of(int width)
{
	struct places places = {.name_width = 26, .type = 32, .samples = 42, .what = 52};

	places.width = width;
	places.has_type = width >= TYPE_FROM;
	places.has_what = width >= WHAT_FROM;
	if (!places.has_type) {
		places.samples = 30;
		places.what = 40;
	}
	if (!places.has_what) {
		places.samples = width > 24 ? width - 9 : width;
		places.name_width = places.samples - 5;
	}
	return places;
}

struct drawing {
	const struct picker *picker;
	const struct model *model;
	struct canvas *canvas;
	int width;
};

static void draw_row(void *ctx, size_t at, int y)
{
	const struct drawing *drawing = ctx;
	const struct offer *offer = &drawing->picker->offers[at];
	struct canvas *canvas = drawing->canvas;
	const struct places c = places_of(drawing->width);
	bool open = offer->known && offer->status.open;
	bool refused = offer->known && !open && offer->status.error;
	bool current = offer->known && offer->status.id == drawing->model->event;
	const char *type = "other";
	char count[FORMAT_MAX];

	if (offer->info)
		type = offer->info->type == PERF_TYPE_HARDWARE ? "hardware" : "software";
	if (open)
		canvas_glyph(canvas, 1, y, 0x25cf, current ? STYLE_ACCENT : STYLE_GOOD);
	else if (refused)
		canvas_glyph(canvas, 1, y, 0x00d7, STYLE_BAD);
	canvas_text(canvas, 4, y, c.name_width, open ? STYLE_USER : STYLE_TEXT,
		offer->known ? offer->status.name : offer->name);
	if (c.has_type)
		canvas_text(canvas, c.type, y, 8, STYLE_DIM, type);
	if (refused && !c.has_what)
		canvas_text(canvas, c.samples, y, 8, STYLE_WARN, " refused");
	else if (offer->known && (open || offer->status.samples))
		canvas_printf(canvas, c.samples, y, 8, STYLE_TEXT, "%8s",
			format_count(count, offer->status.samples));
	if (!c.has_what)
		return;
	if (refused)
		canvas_printf(canvas, c.what, y, c.width - c.what - 1, STYLE_WARN, "refused: %s",
			explain_refusal(offer->status.error));
	else if (offer->info)
		canvas_text(canvas, c.what, y, c.width - c.what - 1, STYLE_DIM,
			offer->info->description);
}

static void picker_draw(struct view *view, struct screen *screen, struct area area)
{
	struct picker *picker = view->state;
	struct canvas *canvas = &screen->canvas;
	struct drawing drawing = {picker, screen->model, canvas, area.width};
	const struct places c = places_of(area.width);

	area = views_title(canvas, area, "Events");
	if (area.height >= 4) {
		canvas_text(canvas, 4, area.y, c.name_width, STYLE_HEADER, "EVENT");
		if (c.has_type)
			canvas_text(canvas, c.type, area.y, 8, STYLE_HEADER, "TYPE");
		canvas_text(canvas, c.samples + 1, area.y, 8, STYLE_HEADER, "SAMPLES");
		if (c.has_what)
			canvas_text(canvas, c.what, area.y, area.width - c.what - 1, STYLE_HEADER,
				"WHAT IT COUNTS");
		area.y++;
		area.height--;
	}
	list_draw(&picker->list, canvas, area, draw_row, &drawing);
}

static unsigned int picker_click(struct view *view, struct screen *screen, int x, int y, bool twice)
{
	struct picker *picker = view->state;

	(void)x;
	if (!list_click(&picker->list, &screen->body, y))
		return 0;
	remember_selection(picker);
	return twice ? toggle(picker, screen) : VIEW_HANDLED;
}

const struct view_ops view_events = {
	.keys = KEYS_EVENTS,
	.open = picker_open,
	.action = picker_action,
	.click = picker_click,
	.refresh = picker_refresh,
	.draw = picker_draw,
	.close = picker_close,
};
