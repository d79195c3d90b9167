/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * crumbs.c - the filters of the screen ("crumbs"): typed, picked from a row, removed.
 */
#include "tui/screen/screen.h"

#include "tui/controls/input.h"
#include "tui/model/commands.h"
#include "tui/query/expr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Shows a brief message: the header shows the filter, too, and the hints are needed next. */
static void tell(struct screen *screen, const char *crumb)
{
	const enum keys_view view = screen->views[screen->n_views - 1].ops->keys;
	char way[32] = "Backspace";

	/* In this view Backspace does something else. */
	if (keys_find(view, INPUT_BACKSPACE) != ACT_WIDEN)
		snprintf(way, sizeof(way), "& with -%zu", screen->model->n_crumbs);
	screen_message(screen, STYLE_GOOD, "%s %s (%s takes it back)",
		*crumb == '!' ? "Without" : "Only", crumb + (*crumb == '!'), way);
	screen->message_until_ns = screen->model->now_ns + SCREEN_BRIEF_NS;
}

static unsigned int add(struct screen *screen, const char *text)
{
	struct model *model = screen->model;
	char message[420] = "";
	size_t at;
	int ret = model->commands->crumb_add(model, text, &at, message, sizeof(message));

	if (ret) {
		screen_message(screen, STYLE_BAD, "%s (at \"%.24s\"; & takes it up again)", message,
			at < strlen(text) ? text + at : "the end");
		snprintf(screen->crumb_text, sizeof(screen->crumb_text), "%s", text);
		return VIEW_HANDLED;
	}
	screen->crumb_text[0] = '\0';
	tell(screen, model->crumbs[model->n_crumbs - 1]);
	return VIEW_HANDLED | VIEW_SETTINGS;
}

static unsigned int drop(struct screen *screen, size_t i)
{
	struct model *model = screen->model;

	if (i >= model->n_crumbs) {
		screen_message(screen, STYLE_WARN, "There is no such filter");
		return VIEW_HANDLED;
	}
	screen_message(screen, STYLE_GOOD, "No longer %s %s",
		model->crumbs[i][0] == '!' ? "without" : "only",
		model->crumbs[i] + (model->crumbs[i][0] == '!'));
	screen->message_until_ns = model->now_ns + SCREEN_BRIEF_NS;
	model->commands->crumb_drop(model, i);
	return VIEW_HANDLED | VIEW_SETTINGS;
}

void screen_ask_crumb(struct screen *screen)
{
	screen_prompt(screen, ACT_NARROW, "Only: ", screen->crumb_text);
}

unsigned int screen_take_crumb(struct screen *screen, const char *text)
{
	char *end;
	long number;

	if (!*text)
		return VIEW_HANDLED;
	/* "-2" removes the second filter. */
	number = strtol(text, &end, 10);
	if (*text == '-' && end != text && !*end && number < 0)
		return drop(screen, (size_t)-number - 1);
	return add(screen, text);
}

unsigned int screen_narrow(
	struct screen *screen, bool negated, enum filter_field field, const char *text)
{
	char term[MODEL_CRUMB_MAX * 2];

	return add(screen, expr_term(term, sizeof(term), negated, field, text));
}

unsigned int screen_narrow_to(struct screen *screen, const char *expression)
{
	return add(screen, expression);
}

unsigned int screen_widen(struct screen *screen)
{
	if (!screen->model->n_crumbs)
		return 0;
	return drop(screen, screen->model->n_crumbs - 1);
}
