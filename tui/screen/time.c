/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * time.c - the time range of the views, chosen by keys or by mouse on the strip; the
 * baseline.
 */
#include "tui/screen/private.h"

#include "tui/model/commands.h"
#include "tui/model/queries.h"
#include "tui/screen/header.h"

#include <errno.h>
#include <stdio.h>

#define SPIKE_NS 3000000000u

/* Shown for a shorter time than other messages, because the hints are useful here. */
static void tell_spike(struct screen *screen, const struct model_spike *spike)
{
	const struct model *model = screen->model;
	const char *since = model->recorded ? "before the end" : "ago";
	double s = model->strip_to_ns > spike->to_ns
		? (double)(model->strip_to_ns - spike->to_ns) / 1e9
		: 0.0;
	char which[64] = "A moment below the spikes";

	if (!spike->of)
		snprintf(which, sizeof(which), "Busy moment %zu, no spike", spike->nth);
	else if (spike->nth <= spike->of)
		snprintf(which, sizeof(which), "Spike %zu of %zu by height", spike->nth, spike->of);
	if (s < 120.0)
		screen_message(
			screen, STYLE_GOOD, "%s, %.0f s %s: ! shows the next", which, s, since);
	else
		screen_message(screen, STYLE_GOOD, "%s, %.0f min %s: ! shows the next", which,
			s / 60.0, since);
	screen->message_until_ns = model->now_ns + SPIKE_NS;
}

unsigned int screen_move_in_time(struct screen *screen, enum action action)
{
	struct model *model = screen->model;
	const struct window_view view = model_window_view(model);
	struct model_spike spike;
	int ret;

	if (view.last_ns <= view.first_ns) {
		screen_message(screen, STYLE_WARN, "There is no history yet");
		return VIEW_HANDLED;
	}
	switch (action) {
	case ACT_EARLIER:
		window_slide(&model->window, &view, -1);
		break;
	case ACT_LATER:
		window_slide(&model->window, &view, 1);
		break;
	case ACT_LONGER:
		window_scale(&model->window, &view, 1);
		break;
	case ACT_SHORTER:
		window_scale(&model->window, &view, -1);
		break;
	case ACT_BUSIEST:
		ret = model->queries->busiest(model, &spike);
		if (!ret) {
			window_select(&model->window, &view, spike.from_ns, spike.to_ns);
			tell_spike(screen, &spike);
		} else if (ret == -ENODATA)
			screen_message(
				screen, STYLE_WARN, "No (further) busy moment in the history");
		else
			screen_result(screen, ret, "The history cannot be searched");
		break;
	default:
		window_live(&model->window);
		break;
	}
	return VIEW_HANDLED | VIEW_SETTINGS;
}

unsigned int screen_mark_baseline(struct screen *screen)
{
	struct model *model = screen->model;
	bool set = !model->has_baseline;
	int ret = model->commands->baseline(model, set);

	if (ret)
		screen_result(screen, ret, "There is no baseline");
	else if (set)
		screen_message(screen, STYLE_GOOD,
			"This time is the baseline: CHANGE and the colours of flames tell how "
			"shares differ from it");
	else
		screen_message(screen, STYLE_GOOD, "There is no baseline any more");
	return VIEW_HANDLED | VIEW_SETTINGS;
}

void screen_compare_with(struct screen *screen, const char *path)
{
	struct model *model = screen->model;
	char text[400] = "";

	while (*path == ' ')
		path++;
	if (!*path)
		return;
	if (!model->commands->baseline_file(model, path, text, sizeof(text)))
		screen->reading = true;
	else
		screen_message(screen, STYLE_BAD, "%s", text);
}

/* Selects the time from press to release.  A click without a drag moves the window there. */
static void select_time(struct screen *screen, uint64_t from_ns, uint64_t to_ns)
{
	struct model *model = screen->model;
	const struct window_view view = model_window_view(model);
	uint64_t length = model->to_ns - model->from_ns, middle;

	if (from_ns == screen->select_from_ns) {
		middle = from_ns + (to_ns - from_ns) / 2;
		from_ns = middle > length / 2 ? middle - length / 2 : 0;
		to_ns = from_ns + length;
	} else if (from_ns < screen->select_from_ns) {
		to_ns = screen->select_to_ns;
	} else {
		from_ns = screen->select_from_ns;
	}
	window_select(&model->window, &view, from_ns, to_ns);
}

bool screen_select_time(struct screen *screen, const struct input *input)
{
	uint64_t from_ns, to_ns;
	bool selects = screen->selecting &&
		header_time_at(
			screen->model, &screen->canvas, input->x, input->y, &from_ns, &to_ns);

	screen->selecting = false;
	if (selects)
		select_time(screen, from_ns, to_ns);
	return selects;
}
