/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hints.c - the line of hints: the most useful keys now, as many as fit.
 */
#include "tui/base/width.h"
#include "tui/screen/private.h"

#include <stdio.h>

#define HINT_PASSES 4

static bool is_kept(const struct binding *binding)
{
	return binding->action == ACT_HELP || binding->action == ACT_BACK;
}

static int hint_width(const struct binding *binding, const char *hint, bool ascii, char name[16])
{
	if (binding->label)
		snprintf(name, 16, "%s", binding->label);
	else
		keys_name(binding->keys[0], ascii, name, 16);
	return width_of(name) + 1 + width_of(hint);
}

/* On top of another view, q and Esc both go back, so only one of them is shown. */
static const char *hint_of(const struct binding *binding, bool below)
{
	if (below && binding->action == ACT_BACK)
		return "back";
	return below && binding->action == ACT_QUIT ? NULL : binding->hint;
}

/* True if the action opens the current view. */
static bool leads_here(enum action action, unsigned int view)
{
	switch (action) {
	case ACT_COUNTERS:
		return view == KEYS_COUNTERS;
	case ACT_PROCESSES:
		return view == KEYS_PROCESSES;
	case ACT_EVENTS:
		return view == KEYS_EVENTS;
	case ACT_HEAT:
		return view == KEYS_HEAT;
	case ACT_LOG:
		return view == KEYS_LOG;
	case ACT_HELP:
		return view == KEYS_HELP;
	default:
		return false;
	}
}

/* True for annotate on rows that are not functions, addresses or lines. */
static bool lacks_code(const struct model *model, enum action action, unsigned int view)
{
	return action == ACT_ANNOTATE && view == KEYS_GROUPED &&
		model->rows_by.group != GROUP_ADDRESS && model->rows_by.group != GROUP_LINE;
}

/* Returns the pass that draws a hint.  Order: keys of the view, keys of all views, rarely used keys
 * of the view, back and help.  -1: no hint. */
static int pass_of(const struct screen *screen, const struct binding *binding, unsigned int view)
{
	if (!(binding->views & (view | KEYS_ALL)) || screen_refusal(screen->model, binding->action))
		return -1;
	if (leads_here(binding->action, view) || lacks_code(screen->model, binding->action, view))
		return -1;
	/* In this view the key has another meaning. */
	if (!binding->label && keys_find((enum keys_view)view, binding->keys[0]) != binding->action)
		return -1;
	if (is_kept(binding))
		return HINT_PASSES - 1;
	if (binding->views & view)
		return binding->views & KEYS_LATE ? 2 : 0;
	return 1;
}

/* Leaves out hints that do not fit, but never back and help. */
void screen_draw_hints(struct screen *screen, int y)
{
	struct canvas *canvas = &screen->canvas;
	bool ascii = canvas->ascii != 0, below = screen->n_views > 1;
	unsigned int view = (unsigned int)screen->views[screen->n_views - 1].ops->keys;
	size_t n;
	const struct binding *table = keys_table(&n);
	int x = 1, reserved = 0;
	char name[16];

	for (size_t i = 0; i < n; i++) {
		const char *hint = hint_of(&table[i], below);

		if (hint && is_kept(&table[i]))
			reserved += hint_width(&table[i], hint, ascii, name) + 2;
	}
	for (int pass = 0; pass < HINT_PASSES; pass++) {
		for (size_t i = 0; i < n; i++) {
			const struct binding *binding = &table[i];
			const char *hint = hint_of(binding, below);
			int width;

			if (!hint || pass_of(screen, binding, view) != pass)
				continue;
			width = hint_width(binding, hint, ascii, name);
			if (is_kept(binding))
				reserved -= width + 2;
			if (x + width + reserved >= canvas->width)
				continue;
			x += canvas_text(canvas, x, y, canvas->width - x, STYLE_KEY, name) + 1;
			x += canvas_text(canvas, x, y, canvas->width - x, STYLE_HINT, hint) + 2;
		}
	}
}
