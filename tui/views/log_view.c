/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log_view.c - the log, and the output of the launched command; the newest line is last.
 *
 * Lines are wrapped.  The view follows the end until the user scrolls away from it.
 */
#include "tui/base/format.h"
#include "tui/base/grow.h"
#include "tui/base/width.h"
#include "tui/model/logbook.h"
#include "tui/screen/screen.h"
#include "tui/views/list.h"
#include "tui/views/views.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TIME_WIDTH 10

/* A row of the screen: a part of a log line. */
struct part {
	const struct log_line *line;
	size_t start, len;
};

struct log_view {
	struct list list; /* list of parts */
	struct part *parts;
	size_t capacity;
	bool scrolled;
};

static int log_open(struct view *view, struct screen *screen, uint32_t arg)
{
	(void)screen;
	(void)arg;
	view->state = calloc(1, sizeof(struct log_view));
	return view->state ? 0 : -ENOMEM;
}

static void log_close(struct view *view)
{
	struct log_view *log = view->state;

	free(log->parts);
	free(log);
}

static void log_refresh(struct view *view, struct screen *screen)
{
	(void)view;
	(void)screen;
}

static unsigned int log_action(struct view *view, struct screen *screen, enum action action)
{
	struct log_view *log = view->state;

	(void)screen;
	if (!list_scroll(&log->list, action))
		return 0;
	log->scrolled = log->list.top + log->list.height < log->list.n;
	return VIEW_HANDLED;
}

static int add_part(struct log_view *log, size_t n, const struct part *part)
{
	if (grow_items(&log->parts, &log->capacity, n + 1, sizeof(*log->parts)))
		return -ENOMEM;
	log->parts[n] = *part;
	return 0;
}

static size_t wrap(struct log_view *log, const struct logbook *book, int width)
{
	size_t n = 0, n_lines = logbook_count(book);

	for (size_t i = 0; i < n_lines; i++) {
		struct part part = {.line = logbook_get(book, i)};

		do {
			part.len = width_fit(part.line->text + part.start, width);
			if (add_part(log, n, &part))
				return n;
			n++;
			part.start += part.len;
		} while (part.line->text[part.start]);
	}
	return n;
}

static enum style style_of(const struct log_line *line)
{
	if (line->output)
		return STYLE_DIM;
	if (line->level == EXPLAIN_ERROR)
		return STYLE_BAD;
	return line->level == EXPLAIN_WARNING ? STYLE_WARN : STYLE_TEXT;
}

static void log_draw(struct view *view, struct screen *screen, struct area area)
{
	struct log_view *log = view->state;
	struct canvas *canvas = &screen->canvas;
	const struct model *model = screen->model;
	bool times = area.width >= 40;
	int x = times ? 1 + TIME_WIDTH : 1;

	area = views_title(canvas, area, "Log");
	list_set_height(&log->list, area.height);
	log->list.n = wrap(log, &model->log, area.width - x - 1);
	list_scroll_by(&log->list, log->scrolled ? 0 : (long)log->list.n);
	if (!log->list.n)
		canvas_text(canvas, 2, area.y, area.width - 3, STYLE_DIM, "Nothing happened yet");
	for (size_t i = 0; i < log->list.height && log->list.top + i < log->list.n; i++) {
		const struct part *part = &log->parts[log->list.top + i];
		int y = area.y + (int)i;
		char time[FORMAT_MAX], text[1024];
		size_t len = part->len < sizeof(text) - 1 ? part->len : sizeof(text) - 1;
		uint64_t started = model->status.started_ns;

		memcpy(text, part->line->text + part->start, len);
		text[len] = '\0';
		if (times && !part->start)
			canvas_text(canvas, 1, y, TIME_WIDTH, STYLE_DIM,
				format_clock(time,
					part->line->time_ns > started
						? part->line->time_ns - started
						: 0));
		canvas_text(canvas, x, y, area.width - x, style_of(part->line), text);
	}
}

const struct view_ops view_log = {
	.keys = KEYS_LOG,
	.open = log_open,
	.action = log_action,
	.refresh = log_refresh,
	.draw = log_draw,
	.close = log_close,
};
