/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * event_picker_draw.c - draws the picker: the tree, and below it details of the selection or
 * completions.
 */
#include "sampler/events/parse.h"
#include "tui/base/clean.h"
#include "tui/base/format.h"
#include "tui/base/width.h"
#include "tui/commands/list_events.h"
#include "tui/explain/explain.h"
#include "tui/model/queries.h"
#include "tui/views/event_picker.h"

#include <stdio.h>
#include <string.h>

#define WHAT_FROM 56 /* least columns of the screen to show what an event counts, or why not */
#define HERE_FROM 100 /* least columns to show both */
#define PANE_TEXT_MAX 2048

struct drawing {
	struct picker *picker;
	struct model *model;
	struct canvas *canvas;
	int width;
	int name_end, here, what; /* x of columns; 0: not shown */
};

static void place(struct drawing *drawing)
{
	int width = drawing->width;

	drawing->here = drawing->what = 0;
	if (width >= HERE_FROM) {
		drawing->name_end = width >= 140 ? 58 : 46;
		drawing->here = drawing->name_end + 1;
		drawing->what = drawing->here + 24;
	} else if (width >= WHAT_FROM) {
		drawing->name_end = width * 11 / 20;
		drawing->here = drawing->what = drawing->name_end + 1;
	} else {
		drawing->name_end = width - 1;
	}
}

static void put_state(const struct drawing *drawing, int y, enum style style, const char *text)
{
	int width = drawing->what > drawing->here ? drawing->what - drawing->here - 1
						  : drawing->width - drawing->here - 1;

	if (drawing->here)
		canvas_text(drawing->canvas, drawing->here, y, width, style, text);
}

static void put_what(const struct drawing *drawing, int y, const char *text)
{
	char cleaned[256];

	if (drawing->what)
		canvas_text(drawing->canvas, drawing->what, y, drawing->width - drawing->what - 1,
			STYLE_DIM, clean_string(cleaned, sizeof(cleaned), text));
}

/* Draws the state of a profile's event; false if there is none. */
static bool draw_status(
	const struct drawing *drawing, const struct engine_event_status *event, int y)
{
	char text[64], count[FORMAT_MAX];

	if (!event || (!event->open && !event->error))
		return false;
	if (!event->open) {
		canvas_glyph(drawing->canvas, 1, y, 0x00d7, STYLE_BAD);
		snprintf(text, sizeof(text), "%s%s",
			drawing->what > drawing->here ? "" : "refused: ",
			explain_refusal(event->error));
		put_state(drawing, y, STYLE_WARN, text);
		return true;
	}
	canvas_glyph(drawing->canvas, 1, y, event->enabled ? 0x25cf : 0x25cb,
		event->id == drawing->model->event ? STYLE_ACCENT : STYLE_GOOD);
	snprintf(text, sizeof(text), "open, %s samples", format_count(count, event->samples));
	put_state(drawing, y, STYLE_GOOD, text);
	return true;
}

static enum style state_style(enum catalogue_state state)
{
	switch (state) {
	case CATALOGUE_OPENS:
		return STYLE_GOOD;
	case CATALOGUE_USER_ONLY:
	case CATALOGUE_COUNTS:
		return STYLE_WARN;
	default:
		return STYLE_DIM;
	}
}

/* Returns "sampled", "counted, not sampled", "not permitted"; "" if not tried yet. */
static const char *state_text(const struct offer_state *state)
{
	const struct catalogue_entry entry = {.state = state->state, .error = state->error};

	return state->state == CATALOGUE_UNTRIED ? "" : list_events_state(&entry);
}

static void draw_entry(const struct drawing *drawing, const struct picker_row *row, int x, int y)
{
	const struct picker *picker = drawing->picker;
	const struct catalogue_entry *entry = &picker->offers.entries[row->at];
	const struct engine_event_status *event = picker_status(drawing->model, entry);
	struct canvas *canvas = drawing->canvas;
	struct offer_state state;
	char name[EVENT_NAME_MAX * 2];
	enum style style;
	long match;
	bool told;

	drawing->model->queries->offers->state(drawing->model, row->at, &state);
	told = draw_status(drawing, event, y);
	style = event && event->open		   ? STYLE_USER
		: state.state == CATALOGUE_REFUSED ? STYLE_DIM
						   : STYLE_TEXT;
	if (picker_mark(picker, row->at) != SIZE_MAX)
		canvas_glyph(canvas, x - 2, y, 0x2713, STYLE_ACCENT);
	clean_string(name, sizeof(name), entry->name);
	canvas_text(canvas, x, y, drawing->name_end - x, style, name);
	match = views_match(name, picker->search);
	if (match >= 0 && x + (int)match + (int)strlen(picker->search) < drawing->name_end)
		canvas_restyle(canvas, x + (int)match, y, (int)strlen(picker->search), STYLE_MATCH);
	if (drawing->what > drawing->here) {
		if (!told)
			put_state(drawing, y, state_style(state.state), state_text(&state));
		put_what(drawing, y, entry->description);
	} else if (!told) {
		if (state.state == CATALOGUE_OPENS || state.state == CATALOGUE_UNTRIED)
			put_what(drawing, y, entry->description);
		else
			put_state(drawing, y, state_style(state.state), state_text(&state));
	}
}

/* Writes "sampled", "not on this machine", "12 sampled, 8 refused"; returns the style. */
static enum style sum_up(const struct picker_group *group, char *out, size_t size)
{
	static const struct {
		enum catalogue_state state;
		const char *all, *some;
	} words[] = {
		{CATALOGUE_OPENS, "sampled", "sampled"},
		{CATALOGUE_USER_ONLY, "user space only", "user only"},
		{CATALOGUE_COUNTS, "counted, not sampled", "counted"},
		{CATALOGUE_REFUSED, "refused", "refused"},
	};
	const size_t *states = group->states;
	size_t tried = group->n - states[CATALOGUE_UNTRIED], len = 0;
	const char *text;

	out[0] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(*words) && len < size; i++) {
		size_t n = states[words[i].state];

		text = words[i].all;
		if (words[i].state == CATALOGUE_REFUSED && group->error > 0)
			text = explain_refusal(group->error);
		if (n && n == tried)
			len += (size_t)snprintf(out, size, "%s", text);
		else if (n)
			len += (size_t)snprintf(out + len, size - len, "%s%zu %s", len ? ", " : "",
				n, words[i].some);
	}
	if (!tried || states[CATALOGUE_REFUSED] == tried)
		return STYLE_DIM;
	return states[CATALOGUE_OPENS] == tried ? STYLE_GOOD : STYLE_WARN;
}

static void draw_title(const struct drawing *drawing, int x, int y, bool open, const char *title,
	size_t n, enum style style)
{
	struct canvas *canvas = drawing->canvas;
	int used;

	canvas_glyph(canvas, x - 2, y, open ? 0x25be : 0x25b8, STYLE_KEY);
	used = canvas_text(canvas, x, y, drawing->name_end - x - 7, style, title);
	canvas_printf(canvas, x + used + 2, y, 7, STYLE_DIM, "%zu", n);
}

static void draw_row(void *ctx, size_t at, int y)
{
	const struct drawing *drawing = ctx;
	struct picker *picker = drawing->picker;
	const struct picker_row *row = &picker->rows[at];
	const struct model *model = drawing->model;
	const struct picker_group *group;
	int x = 5 + 2 * row->depth;
	char text[64];
	bool open = false;
	size_t n = 0;

	picker_fold(picker, row, &open);
	switch (row->kind) {
	case ROW_PROFILE:
		for (size_t i = 0; i < model->status.n_events; i++)
			n += model->status.events[i].open;
		draw_title(drawing, x, y, open, "In this profile", n, STYLE_TITLE);
		break;
	case ROW_EVENT:
		draw_status(drawing, &model->status.events[row->at], y);
		canvas_text(drawing->canvas, x, y, drawing->name_end - x,
			model->status.events[row->at].open ? STYLE_USER : STYLE_DIM,
			model->status.events[row->at].name);
		break;
	case ROW_GROUP:
		group = &picker->groups[row->at];
		draw_title(drawing, x, y, open, group->title,
			picker->search[0] ? group->found : group->n,
			group->is_part ? STYLE_TEXT : STYLE_TITLE);
		/* With a search, the shown entries may be only a part of the group. */
		if (!picker->search[0])
			put_state(drawing, y, sum_up(group, text, sizeof(text)), text);
		break;
	case ROW_ENTRY:
		draw_entry(drawing, row, x, y);
		break;
	case ROW_NOTE:
	default:
		canvas_text(drawing->canvas, x - 2, y, drawing->width - x, STYLE_DIM, picker->note);
		break;
	}
}

/* --- the pane --- */

/* Draws wrapped text; returns the number of rows used. */
static int draw_wrapped(struct canvas *canvas, struct area area, enum style style, const char *text)
{
	char line[512];
	int rows = 0;

	while (*text && rows < area.height) {
		bool last = rows + 1 == area.height;
		size_t len = last ? strlen(text) : width_fit(text, area.width);

		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		canvas_text(canvas, area.x, area.y + rows, area.width, style, line);
		text += len;
		rows++;
	}
	return rows;
}

static struct area below(struct area area, int rows)
{
	area.y += rows;
	area.height -= rows;
	return area;
}

static void draw_pane_title(struct canvas *canvas, struct area *area, const char *title,
	enum style style, const char *right)
{
	int used, width = width_of(right);

	canvas_fill(canvas, area->x, area->y, area->width, 0x2500, STYLE_BORDER);
	canvas_glyph(canvas, area->x + 1, area->y, ' ', STYLE_TITLE);
	used = canvas_text(canvas, area->x + 2, area->y, area->width - 4, STYLE_TITLE, title);
	canvas_glyph(canvas, area->x + 2 + used, area->y, ' ', STYLE_TITLE);
	if (width && used + width + 10 < area->width) {
		canvas_printf(canvas, area->x + area->width - width - 4, area->y, width + 2, style,
			" %s ", right);
	}
	*area = below(*area, 1);
	area->x += 2;
	area->width -= 4;
}

static const char *verdict(const struct offer_state *state)
{
	return state->state == CATALOGUE_UNTRIED ? "not tried yet" : state_text(state);
}

static void draw_entry_pane(const struct drawing *drawing, size_t at, struct area area)
{
	const struct catalogue_entry *entry = &drawing->picker->offers.entries[at];
	const struct engine_event_status *event = picker_status(drawing->model, entry);
	struct offer_detail detail = {.reason = ""};
	struct offer_state state;
	char text[PANE_TEXT_MAX], name[2 * EVENT_NAME_MAX];
	bool known = drawing->model->queries->offers->detail(drawing->model, at, &detail);
	enum style style;

	drawing->model->queries->offers->state(drawing->model, at, &state);
	style = state.state == CATALOGUE_REFUSED ? STYLE_BAD : state_style(state.state);
	snprintf(text, sizeof(text), "%s%s%s", entry->name, entry->alias ? " or " : "",
		entry->alias ? entry->alias : "");
	clean_string(name, sizeof(name), text);
	draw_pane_title(drawing->canvas, &area, name, style,
		event && event->open ? "open" : verdict(&state));
	if (entry->description[0]) {
		clean_string(text, sizeof(text), entry->description);
		area = below(area, draw_wrapped(drawing->canvas, area, STYLE_TEXT, text));
	}
	if (detail.reason[0] >= 'a' && detail.reason[0] <= 'z')
		detail.reason[0] = (char)(detail.reason[0] - 'a' + 'A');
	if (detail.reason[0] && !(event && event->open))
		area = below(area, draw_wrapped(drawing->canvas, area, STYLE_WARN, detail.reason));
	else if (!known && entry->group == CATALOGUE_TRACEPOINT)
		area = below(area, draw_wrapped(drawing->canvas, area, STYLE_DIM, "..."));
	if (detail.fields[0]) {
		snprintf(text, sizeof(text), "Fields: %s", detail.fields);
		draw_wrapped(drawing->canvas, area, STYLE_DIM, text);
	}
}

static void draw_event_pane(
	const struct drawing *drawing, const struct engine_event_status *event, struct area area)
{
	char text[256], count[FORMAT_MAX];

	draw_pane_title(drawing->canvas, &area, event->name, event->open ? STYLE_GOOD : STYLE_WARN,
		event->open ? "open" : "not open");
	if (!event->open)
		snprintf(text, sizeof(text),
			"Refused: %s. Enter tries again, the log (L) tells more",
			event->error ? explain_refusal(event->error) : "dropped");
	else
		snprintf(text, sizeof(text),
			"%s samples. Enter drops it, its samples stay; the counters (C) change how "
			"it is sampled",
			format_count(count, event->samples));
	draw_wrapped(drawing->canvas, area, STYLE_TEXT, text);
}

static void draw_group_pane(
	const struct drawing *drawing, const struct picker_group *group, struct area area)
{
	char text[256], sum[64];
	const size_t *states = group->states;
	enum style style = sum_up(group, sum, sizeof(sum));

	draw_pane_title(drawing->canvas, &area, group->title, style, sum);
	snprintf(text, sizeof(text),
		"%zu events: %zu can be sampled here, %zu in user space only, %zu counted only, "
		"%zu not at all%s",
		group->n, states[CATALOGUE_OPENS], states[CATALOGUE_USER_ONLY],
		states[CATALOGUE_COUNTS], states[CATALOGUE_REFUSED],
		group->error > 0 ? "" : ". Enter opens or closes the group");
	if (group->error > 0)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " (%s)",
			explain_refusal(group->error));
	draw_wrapped(drawing->canvas, area, STYLE_TEXT, text);
}

static void draw_pane(const struct drawing *drawing, struct area area)
{
	const struct picker *picker = drawing->picker;
	const struct picker_row *row = picker_row(picker);

	if (!row)
		return;
	switch (row->kind) {
	case ROW_ENTRY:
		draw_entry_pane(drawing, row->at, area);
		break;
	case ROW_EVENT:
		draw_event_pane(drawing, &drawing->model->status.events[row->at], area);
		break;
	case ROW_GROUP:
		draw_group_pane(drawing, &picker->groups[row->at], area);
		break;
	case ROW_PROFILE:
		draw_pane_title(drawing->canvas, &area, "In this profile", STYLE_DIM, "");
		draw_wrapped(drawing->canvas, area, STYLE_TEXT,
			"What is sampled now. Below is what else this machine offers: Enter opens "
			"a "
			"group, / searches in names and descriptions, : takes any event as -e "
			"does");
		break;
	case ROW_NOTE:
	default:
		draw_pane_title(drawing->canvas, &area, "Events", STYLE_DIM, "");
		draw_wrapped(drawing->canvas, area, STYLE_TEXT, picker->note);
		break;
	}
}

/* --- errors and completions of the prompt --- */

static void draw_error(const struct drawing *drawing, const char *text, struct area area)
{
	const struct picker *picker = drawing->picker;
	char head[PROMPT_MAX];
	int at, skipped = 0;

	draw_pane_title(drawing->canvas, &area, "Not understood", STYLE_DIM,
		picker->error.near[0] ? "Tab corrects it" : "");
	if (area.height >= 3) {
		snprintf(head, sizeof(head), "%.*s", (int)picker->error.offset, text);
		at = width_of(head);
		/* Scrolls so that the error stays visible. */
		while (at - skipped >= area.width && text[skipped])
			skipped++;
		canvas_text(
			drawing->canvas, area.x, area.y, area.width, STYLE_TEXT, text + skipped);
		canvas_glyph(drawing->canvas, area.x + at - skipped, area.y + 1, '^', STYLE_BAD);
		area = below(area, 2);
	}
	draw_wrapped(drawing->canvas, area, STYLE_WARN, picker->sentence);
}

static void draw_completions(const struct drawing *drawing, struct area area)
{
	const struct picker *picker = drawing->picker;
	const struct catalogue_completion *completion = &picker->completion;
	char title[96], text[256], sum[32];
	int name_width = area.width * 9 / 20;
	size_t from = 0;

	if (!completion->n) {
		draw_pane_title(drawing->canvas, &area, "Events as -e takes them", STYLE_DIM, "");
		draw_wrapped(drawing->canvas, area, STYLE_DIM,
			"EVENT[,EVENT]...  {EVENT,EVENT}: a group  cycles:u  sched:sched_*  r1a8  "
			"cpu/event=0x3c/  mem:VARIABLE:w  kprobe:FUNCTION  uprobe:BINARY:FUNCTION  "
			"cycles/period=100000/. Tab completes, the arrows bring back what was "
			"typed");
		return;
	}
	if (completion->near)
		snprintf(title, sizeof(title), "Nothing is called so; the nearest");
	else
		snprintf(title, sizeof(title), "%zu event%s", completion->total,
			completion->total == 1 ? "" : "s");
	snprintf(sum, sizeof(sum), "Tab completes");
	draw_pane_title(drawing->canvas, &area, title, STYLE_DIM, sum);
	if (picker->cycle > (size_t)area.height)
		from = picker->cycle - (size_t)area.height;
	for (int i = 0; i < area.height && from + (size_t)i < completion->n; i++) {
		const size_t at = from + (size_t)i;
		const struct catalogue_entry *entry = &picker->offers.entries[completion->at[at]];
		struct offer_state state;
		bool chosen = picker->cycle == at + 1;

		drawing->model->queries->offers->state(drawing->model, completion->at[at], &state);
		if (chosen)
			canvas_glyph(drawing->canvas, area.x - 1, area.y + i, 0x25b8, STYLE_ACCENT);
		canvas_text(drawing->canvas, area.x + 1, area.y + i, name_width,
			chosen					   ? STYLE_ACCENT
				: state.state == CATALOGUE_REFUSED ? STYLE_DIM
								   : STYLE_TEXT,
			clean_string(text, sizeof(text), entry->name));
		canvas_text(drawing->canvas, area.x + name_width + 2, area.y + i,
			area.width - name_width - 2, STYLE_DIM,
			state.state == CATALOGUE_REFUSED
				? state_text(&state)
				: clean_string(text, sizeof(text), entry->description));
	}
}

/* --- all of it --- */

static int pane_height(int height, bool typing)
{
	if (height < 9)
		return typing && height >= 5 ? 3 : 0;
	if (typing)
		return height / 2 < 12 ? height / 2 : 12;
	return height >= 26 ? 8 : height >= 17 ? 6 : height >= 13 ? 4 : 0;
}

static void tell_title(const struct picker *picker, char *out, size_t size)
{
	size_t len = (size_t)snprintf(out, size, "Events");

	if (picker->offers.n)
		len += (size_t)snprintf(out + len, size - len, " · %zu", picker->offers.n);
	if (picker->offers.entries && picker->offers.tried < picker->offers.n)
		len += (size_t)snprintf(out + len, size - len, ", being tried");
	if (picker->n_marked)
		snprintf(out + len, size - len, " · %zu marked (Enter adds them, { as one group)",
			picker->n_marked);
}

void picker_draw(struct view *view, struct screen *screen, struct area area)
{
	struct picker *picker = view->state;
	struct drawing drawing = {
		.picker = picker, .model = screen->model, .canvas = &screen->canvas};
	bool typing = screen->prompting && screen->purpose == ACT_TYPE;
	struct area pane = area;
	char title[128];

	drawing.width = area.width;
	place(&drawing);
	pane.height = pane_height(area.height, typing);
	area.height -= pane.height;
	pane.y = area.y + area.height;
	tell_title(picker, title, sizeof(title));
	area = views_title(&screen->canvas, area, title);
	if (area.height >= 6 && drawing.here) {
		canvas_text(
			&screen->canvas, 5, area.y, drawing.name_end - 5, STYLE_HEADER, "EVENT");
		put_state(&drawing, area.y, STYLE_HEADER,
			drawing.what > drawing.here ? "HERE" : "WHAT IT COUNTS, OR WHY NOT");
		if (drawing.what > drawing.here)
			canvas_text(&screen->canvas, drawing.what, area.y,
				area.width - drawing.what - 1, STYLE_HEADER, "WHAT IT COUNTS");
		area = below(area, 1);
	}
	list_draw(&picker->list, &screen->canvas, area, draw_row, &drawing);
	if (pane.height && typing && picker->error.kind != EVENT_ERROR_NONE)
		draw_error(&drawing, screen->prompt.text, pane);
	else if (pane.height && typing)
		draw_completions(&drawing, pane);
	else if (pane.height)
		draw_pane(&drawing, pane);
}
