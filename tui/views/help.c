/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * help.c - lists the keys from their table, first those of the view that opened the help.
 */
#include "tui/base/width.h"
#include "tui/screen/screen.h"
#include "tui/views/list.h"
#include "tui/views/views.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define LABEL_WIDTH 14

/* A heading (binding NULL), a binding, or a blank row (view 0). */
struct help_row {
	unsigned int view;
	const struct binding *binding;
};

struct help {
	struct list list; /* list of lines */
	struct help_row *rows;
	size_t n;
};

/* Returns the number of lines of a row, if its text has this width. */
static size_t lines_of(const struct help_row *row, int width)
{
	const char *text = row->binding ? row->binding->help : "";
	size_t n = 0;

	do {
		text += width_fit(text, width);
		n++;
	} while (*text);
	return n;
}

static void add_section(struct help *help, unsigned int view)
{
	size_t n;
	const struct binding *table = keys_table(&n);

	if (help->n)
		help->rows[help->n++] = (struct help_row){0, NULL};
	help->rows[help->n++] = (struct help_row){view, NULL};
	for (size_t i = 0; i < n; i++) {
		if (table[i].views & view)
			help->rows[help->n++] = (struct help_row){view, &table[i]};
	}
}

static int help_open(struct view *view, struct screen *screen, uint32_t arg)
{
	static const unsigned int order[] = {KEYS_HOT, KEYS_ALL, KEYS_LIST, KEYS_ANNOTATE,
		KEYS_CALLS, KEYS_FLAME, KEYS_THREADS, KEYS_HEAT, KEYS_COUNTERS, KEYS_PROCESSES,
		KEYS_EVENTS, KEYS_BREAKDOWN, KEYS_GROUPED, KEYS_GROUPING};
	struct help *help = calloc(1, sizeof(*help));
	size_t n, most;

	(void)screen;
	if (!help)
		return -ENOMEM;
	keys_table(&n);
	/* A binding may be in every section; each section has a heading and a blank row. */
	most = (n + 2) * (sizeof(order) / sizeof(*order) + 1);
	help->rows = calloc(most, sizeof(*help->rows));
	if (!help->rows) {
		free(help);
		return -ENOMEM;
	}
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		if (order[i] == arg)
			add_section(help, order[i]);
	}
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		if (order[i] != arg)
			add_section(help, order[i]);
	}
	view->state = help;
	return 0;
}

static void help_close(struct view *view)
{
	struct help *help = view->state;

	free(help->rows);
	free(help);
}

static int text_x(int width)
{
	return width >= 40 ? 2 + LABEL_WIDTH : 10;
}

static void count_lines(struct help *help, int width)
{
	size_t n = 0;

	for (size_t i = 0; i < help->n; i++)
		n += lines_of(&help->rows[i], width - text_x(width) - 1);
	help->list.n = n;
}

static void help_refresh(struct view *view, struct screen *screen)
{
	count_lines(view->state, screen->canvas.width);
}

static unsigned int help_action(struct view *view, struct screen *screen, enum action action)
{
	struct help *help = view->state;

	(void)screen;
	if (action == ACT_HELP)
		return VIEW_HANDLED | VIEW_CLOSE;
	return list_scroll(&help->list, action) ? VIEW_HANDLED : 0;
}

/* Draws the part of a row that lies in the area; its first line would be at y. */
static void draw_row(
	const struct help_row *row, struct canvas *canvas, struct area area, int x, int y)
{
	int width = area.width - x - 1;
	const char *text;
	char label[64];

	if (row->view && !row->binding && y >= area.y)
		canvas_printf(canvas, 1, y, area.width - 2, STYLE_HEADER_SORTED, "%s",
			keys_view_title(row->view));
	if (!row->binding)
		return;
	keys_label(row->binding, canvas->ascii != 0, label, sizeof(label));
	if (y >= area.y)
		canvas_text(canvas, 2, y, x - 3, STYLE_KEY, label);
	for (text = row->binding->help; *text && y < area.y + area.height; y++) {
		size_t len = width_fit(text, width);
		char line[160];

		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		if (y >= area.y)
			canvas_text(canvas, x, y, width, STYLE_TEXT, line);
		text += len;
	}
}

/* Shows strobe's own memory above the keys, if there is room. */
static struct area draw_memory(struct canvas *canvas, struct area area, const char *text)
{
	while (*text && area.height > 8) {
		size_t len = width_fit(text, area.width - 2);
		char line[MEMORY_TEXT_MAX];

		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		canvas_text(canvas, 1, area.y, area.width - 2, STYLE_DIM, line);
		text += len;
		area.y++;
		area.height--;
	}
	return area;
}

static void help_draw(struct view *view, struct screen *screen, struct area area)
{
	struct help *help = view->state;
	struct canvas *canvas = &screen->canvas;
	int x = text_x(area.width), y;

	area = views_title(canvas, area, "strobe " STROBE_VERSION ": keys");
	area = draw_memory(canvas, area, screen->model->cost.memory);
	count_lines(help, area.width);
	list_set_height(&help->list, area.height);
	list_scroll_by(&help->list, 0);
	y = area.y - (int)help->list.top;
	for (size_t i = 0; i < help->n && y < area.y + area.height; i++) {
		draw_row(&help->rows[i], canvas, area, x, y);
		y += (int)lines_of(&help->rows[i], area.width - x - 1);
	}
}

const struct view_ops view_help = {
	.keys = KEYS_HELP,
	.open = help_open,
	.action = help_action,
	.refresh = help_refresh,
	.draw = help_draw,
	.close = help_close,
};
