/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * screen_hints.c - the line of hints: which keys the user may want next, as many as fit.
 */
#include "tui/screen_private.h"

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
	return canvas_width_of(name) + 1 + canvas_width_of(hint);
}

/* On top of another view, both keys mean the same: the way back. */
static const char *hint_of(const struct binding *binding, bool below)
{
	if (below && binding->action == ACT_BACK)
		return "back";
	return below && binding->action == ACT_QUIT ? NULL : binding->hint;
}

/* The way to where one is. */
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

/* Rows that are neither functions nor in one. */
static bool lacks_code(const struct model *model, enum action action, unsigned int view)
{
	return action == ACT_ANNOTATE && view == KEYS_GROUPED &&
		model->rows_by.group != GROUP_ADDRESS && model->rows_by.group != GROUP_LINE;
}

/* The pass in which a hint has its turn: the view's own, those of everywhere, the view's less needed ones, and at the end
 * the ways back and to the help.  -1: there is none. */
static int pass_of(const struct screen *screen, const struct binding *binding, unsigned int view)
{
	if (!(binding->views & (view | KEYS_ALL)) || screen_refusal(screen->model, binding->action))
		return -1;
	if (leads_here(binding->action, view) || lacks_code(screen->model, binding->action, view))
		return -1;
	/* The view's own meaning of a key goes first. */
	if (!binding->label && keys_find((enum keys_view)view, binding->keys[0]) != binding->action)
		return -1;
	if (is_kept(binding))
		return HINT_PASSES - 1;
	if (binding->views & view)
		return binding->views & KEYS_LATE ? 2 : 0;
	return 1;
}

/* What does not fit is left out, but never the ways back and to the help. */
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
