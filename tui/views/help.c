/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * help.c - the keys, from the table, those of the view where help was asked for first.
 */
#include "tui/screen.h"
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
	struct list list;
	struct help_row *rows;
	size_t n;
};

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
	static const unsigned int order[] = {
		KEYS_HOT, KEYS_ALL, KEYS_LIST, KEYS_PROCESSES, KEYS_EVENTS, KEYS_BREAKDOWN};
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
	list_set_count(&help->list, help->n);
	view->state = help;
	return 0;
}

static void help_close(struct view *view)
{
	struct help *help = view->state;

	free(help->rows);
	free(help);
}

static void help_refresh(struct view *view, struct screen *screen)
{
	(void)view;
	(void)screen;
}

static unsigned int help_action(struct view *view, struct screen *screen, enum action action)
{
	struct help *help = view->state;

	(void)screen;
	if (action == ACT_HELP)
		return VIEW_HANDLED | VIEW_CLOSE;
	return list_scroll(&help->list, action) ? VIEW_HANDLED : 0;
}

static void help_draw(struct view *view, struct screen *screen, struct area area)
{
	struct help *help = view->state;
	struct canvas *canvas = &screen->canvas;
	int x = area.width >= 40 ? 2 + LABEL_WIDTH : 10;

	area = views_title(canvas, area, "strobe " STROBE_VERSION ": keys");
	list_set_height(&help->list, area.height);
	list_scroll_by(&help->list, 0);
	for (size_t i = 0; i < help->list.height && help->list.top + i < help->n; i++) {
		const struct help_row *row = &help->rows[help->list.top + i];
		int y = area.y + (int)i;
		char label[64];

		if (!row->view)
			continue;
		if (!row->binding) {
			canvas_printf(canvas, 1, y, area.width - 2, STYLE_HEADER_SORTED, "%s",
				keys_view_title(row->view));
			continue;
		}
		keys_label(row->binding, canvas->ascii != 0, label, sizeof(label));
		canvas_text(canvas, 2, y, x - 3, STYLE_KEY, label);
		canvas_text(canvas, x, y, area.width - x - 1, STYLE_TEXT, row->binding->help);
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
