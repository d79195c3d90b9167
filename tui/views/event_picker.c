/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * event_picker.c - the picker of events: all events of this machine, added and dropped while
 * sampling.
 *
 * event_picker_rows.c has its rows, event_picker_prompt.c its prompt, event_picker_draw.c its
 * drawing.
 */
#include "tui/views/event_picker.h"

#include "sampler/events/catalogue.h"
#include "sampler/events/parse.h"
#include "tui/explain/explain.h"
#include "tui/model/commands.h"
#include "tui/model/queries.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_NS 3000000000ull /* maximum wait for the session's answer */

static int picker_open(struct view *view, struct screen *screen, uint32_t arg)
{
	struct picker *picker = calloc(1, sizeof(*picker));
	int ret;

	(void)arg;
	if (!picker)
		return -ENOMEM;
	ret = screen->model->queries->offers->begin(screen->model);
	if (ret) {
		free(picker);
		return ret;
	}
	picker->fresh = true;
	view->state = picker;
	return 0;
}

static void picker_close(struct view *view)
{
	struct picker *picker = view->state;

	free(picker->groups);
	free(picker->found);
	free(picker->rows);
	free(picker);
}

static void picker_refresh(struct view *view, struct screen *screen)
{
	/* The target may have changed. */
	(void)screen->model->queries->offers->begin(screen->model);
	(void)picker_rows(view->state, screen);
}

/* --- adding and dropping --- */

static void add_text(struct picker *picker, struct screen *screen, const char *text)
{
	struct event_error error = {.kind = EVENT_ERROR_NONE};
	char sentence[512];
	int ret;

	picker_asked(picker, screen->model);
	ret = screen->model->commands->event_add(screen->model, text, &error);

	if (error.kind == EVENT_ERROR_NONE) {
		screen_result(screen, ret, "The event cannot be added");
		return;
	}
	picker_explain(text, &error, sentence, sizeof(sentence));
	screen_message(screen, STYLE_BAD, "%s", sentence);
}

static void drop(
	struct picker *picker, struct screen *screen, const struct engine_event_status *event)
{
	picker_asked(picker, screen->model);
	screen_result(screen, screen->model->commands->event_drop(screen->model, event->id),
		"The event cannot be dropped");
}

/* True for entries that need a value from the user. */
static bool needs_text(const struct catalogue_entry *entry)
{
	return entry->group == CATALOGUE_FORM ||
		(entry->group == CATALOGUE_PMU && strchr(entry->description, '?'));
}

static void ask_for(struct picker *picker, struct screen *screen, size_t entry)
{
	const struct catalogue_entry *from = &picker->offers.entries[entry];
	char text[PROMPT_MAX];

	snprintf(text, sizeof(text), "%.*s", (int)catalogue_literal(from), from->name);
	picker_ask(picker, screen, text);
}

static void add_marked(struct picker *picker, struct screen *screen, bool as_group)
{
	char text[ENGINE_EVENTS_MAX * (EVENT_NAME_MAX + 1) + 4];
	size_t len = 0;

	for (size_t i = 0; i < picker->n_marked; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.*s",
			i		   ? ","
				: as_group ? "{"
					   : "",
			EVENT_NAME_MAX - 1, picker->offers.entries[picker->marked[i]].name);
	if (as_group)
		snprintf(text + len, sizeof(text) - len, "}");
	picker->n_marked = 0;
	add_text(picker, screen, text);
}

static void toggle(struct picker *picker, struct screen *screen)
{
	const struct picker_row *row = picker_row(picker);
	struct model *model = screen->model;
	const struct engine_event_status *event = NULL;
	bool open, *fold;

	if (!row)
		return;
	fold = picker_fold(picker, row, &open);
	if (fold) {
		*fold = !*fold;
		(void)picker_rows(picker, screen);
		return;
	}
	if (picker->asked_ns && model->now_ns - picker->asked_ns < ANSWER_NS &&
		model->status.last_note == picker->asked_note) {
		screen_message(screen, STYLE_WARN, "The last change is still being carried out");
		return;
	}
	if (row->kind == ROW_EVENT)
		event = &model->status.events[row->at];
	else if (row->kind == ROW_ENTRY)
		event = picker_status(model, &picker->offers.entries[row->at]);
	if (event && event->open)
		drop(picker, screen, event);
	else if (row->kind == ROW_EVENT)
		add_text(picker, screen, event->name);
	else if (row->kind == ROW_ENTRY && needs_text(&picker->offers.entries[row->at]))
		ask_for(picker, screen, row->at);
	else if (row->kind == ROW_ENTRY)
		add_text(picker, screen, picker->offers.entries[row->at].name);
}

static void mark(struct picker *picker, struct screen *screen)
{
	const struct picker_row *row = picker_row(picker);
	size_t at;

	if (!row || row->kind != ROW_ENTRY) {
		screen_message(screen, STYLE_WARN, "Space marks events to be added together");
		return;
	}
	at = picker_mark(picker, row->at);
	if (at != SIZE_MAX) {
		picker->n_marked--;
		memmove(picker->marked + at, picker->marked + at + 1,
			(picker->n_marked - at) * sizeof(*picker->marked));
	} else if (needs_text(&picker->offers.entries[row->at])) {
		screen_message(screen, STYLE_WARN, "%s", "This one needs a text of yours: Enter");
		return;
	} else if (picker->n_marked == ENGINE_EVENTS_MAX) {
		screen_message(screen, STYLE_WARN, "No more than %d events can be open",
			ENGINE_EVENTS_MAX);
		return;
	} else {
		picker->marked[picker->n_marked++] = row->at;
	}
	list_move(&picker->list, 1);
	picker_remember(picker, screen);
}

/* Moves the cursor to the title of the row's group. */
static void go_to_title(struct picker *picker, struct screen *screen)
{
	size_t at = picker->list.cursor;
	const int depth = picker->rows[at].depth;

	while (at > 0 && picker->rows[at].depth >= depth)
		at--;
	list_set_cursor(&picker->list, at);
	picker_remember(picker, screen);
}

static void unfold(struct picker *picker, struct screen *screen, bool wanted)
{
	const struct picker_row *row = picker_row(picker);
	bool open, *fold = row ? picker_fold(picker, row, &open) : NULL;

	if (!row)
		return;
	if (fold && open != wanted) {
		*fold = !*fold;
		(void)picker_rows(picker, screen);
	} else if (!wanted && row->depth) {
		go_to_title(picker, screen);
	}
}

static unsigned int go_out(struct picker *picker, struct screen *screen)
{
	if (picker->search[0]) {
		picker_remember(picker, screen);
		picker_reveal(picker);
		picker_search(picker, screen, "");
		return VIEW_HANDLED;
	}
	if (picker->n_marked) {
		picker->n_marked = 0;
		return VIEW_HANDLED;
	}
	return 0;
}

static unsigned int picker_action(struct view *view, struct screen *screen, enum action action)
{
	struct picker *picker = view->state;

	if (list_action(&picker->list, action)) {
		picker_remember(picker, screen);
		return VIEW_HANDLED;
	}
	switch (action) {
	case ACT_TOGGLE:
		/* Use the current state, not that of the last refresh, so that pressing Enter twice
		 * adds and drops. */
		picker_remember(picker, screen);
		screen->model->queries->refresh(screen->model, false);
		(void)picker_rows(picker, screen);
		if (picker->n_marked)
			add_marked(picker, screen, false);
		else
			toggle(picker, screen);
		return VIEW_HANDLED;
	case ACT_MARK:
		mark(picker, screen);
		return VIEW_HANDLED;
	case ACT_GROUP_MARKED:
		if (picker->n_marked < 2)
			screen_message(screen, STYLE_WARN,
				"Mark two or more with Space: they become one group, counted "
				"together");
		else
			add_marked(picker, screen, true);
		return VIEW_HANDLED;
	case ACT_UNFOLD:
	case ACT_FOLD:
		picker_remember(picker, screen);
		unfold(picker, screen, action == ACT_UNFOLD);
		return VIEW_HANDLED;
	case ACT_SEARCH:
		memcpy(picker->old_search, picker->search, sizeof(picker->search));
		picker_remember(picker, screen);
		picker->old_selected = picker->selected;
		screen_prompt(screen, ACT_SEARCH, "search: ", picker->search);
		return VIEW_HANDLED;
	case ACT_TYPE:
		picker_ask(picker, screen, "");
		return VIEW_HANDLED;
	case ACT_BACK:
		return go_out(picker, screen);
	default:
		return 0;
	}
}

static unsigned int picker_prompt(struct view *view, struct screen *screen, enum action purpose,
	const char *text, enum prompt_result result)
{
	struct picker *picker = view->state;

	if (purpose == ACT_SEARCH && result == PROMPT_CANCELLED) {
		picker_search(picker, screen, picker->old_search);
		picker->selected = picker->old_selected;
		(void)picker_rows(picker, screen);
	} else if (purpose == ACT_SEARCH)
		picker_search(picker, screen, text);
	else if (result == PROMPT_DONE)
		picker_prompt_done(picker, screen, text);
	else if (result == PROMPT_CHANGED)
		picker_prompt_changed(picker, screen);
	return VIEW_HANDLED;
}

static unsigned int picker_click(struct view *view, struct screen *screen, int x, int y, bool twice)
{
	struct picker *picker = view->state;

	(void)x;
	if (!list_click(&picker->list, y + screen->body.y))
		return 0;
	picker_remember(picker, screen);
	if (twice)
		toggle(picker, screen);
	return VIEW_HANDLED;
}

static void picker_tags(const struct view *view, char *out, size_t size)
{
	const struct picker *picker = view->state;

	snprintf(out, size, "%s%.60s", picker->search[0] ? "search: " : "", picker->search);
}

const struct view_ops view_events = {
	.keys = KEYS_EVENTS,
	.open = picker_open,
	.action = picker_action,
	.prompt = picker_prompt,
	.prompt_key = picker_prompt_key,
	.click = picker_click,
	.refresh = picker_refresh,
	.draw = picker_draw,
	.tags = picker_tags,
	.close = picker_close,
};
