/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * screen.c - the manager of views: passes input to them, acts on the result, and draws the frame.
 */
#include "tui/screen/screen.h"

#include "sampler/control/config.h"
#include "tui/base/explain_errno.h"
#include "tui/base/format.h"
#include "tui/base/width.h"
#include "tui/export/save.h"
#include "tui/model/commands.h"
#include "tui/model/queries.h"
#include "tui/screen/header.h"
#include "tui/screen/private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MIN_WIDTH 16
#define MIN_HEIGHT 3
#define HINT_MIN_HEIGHT 7
#define TWO_LINES_MIN_HEIGHT 12
#define DOUBLE_CLICK_NS 400000000u
#define WHEEL_ROWS 3
#define TAGS_MAX 96
#define ANSWER_NS 3000000000ull /* duration for which log lines count as answers to a command */

static struct view *top_view(struct screen *screen)
{
	return &screen->views[screen->n_views - 1];
}

static void pop_view(struct screen *screen)
{
	struct view *view = top_view(screen);

	if (screen->n_views <= 1)
		return;
	view->ops->close(view);
	screen->n_views--;
	view = top_view(screen);
	view->ops->refresh(view, screen);
}

/* Drops the oldest view above the hot table, which always stays. */
static void forget_oldest(struct screen *screen)
{
	struct view *oldest = &screen->views[1];

	oldest->ops->close(oldest);
	memmove(oldest, oldest + 1, (size_t)(screen->n_views - 2) * sizeof(*oldest));
	screen->n_views--;
}

int screen_open(struct screen *screen, const struct view_ops *ops, uint32_t arg)
{
	struct view view = {.ops = ops};
	int ret;

	/* A kind of view is open only once: an open one comes back with its state. */
	while (screen->n_views > 1) {
		if (top_view(screen)->ops == ops)
			return 0;
		if (top_view(screen)->ops->stays)
			break;
		pop_view(screen);
	}
	ret = ops->open(&view, screen, arg);
	if (ret)
		return ret;
	if (screen->n_views == SCREEN_VIEWS_MAX)
		forget_oldest(screen);
	screen->views[screen->n_views++] = view;
	ops->refresh(top_view(screen), screen);
	return 0;
}

int screen_init(struct screen *screen, struct model *model, const struct view_entry *entries,
	int width, int height, bool ascii)
{
	int ret;

	memset(screen, 0, sizeof(*screen));
	screen->model = model;
	screen->entries = entries;
	screen->log_seen = model->log.last;
	ret = canvas_init(&screen->canvas, width, height, ascii);
	if (ret)
		return ret;
	ret = screen_open(screen, entries[0].ops, 0);
	if (ret)
		canvas_fini(&screen->canvas);
	return ret;
}

void screen_fini(struct screen *screen)
{
	while (screen->n_views > 0) {
		struct view *view = top_view(screen);

		view->ops->close(view);
		screen->n_views--;
	}
	history_fini(&screen->typed_events);
	canvas_fini(&screen->canvas);
}

int screen_resize(struct screen *screen, int width, int height)
{
	if (width == screen->canvas.width && height == screen->canvas.height)
		return 0;
	return canvas_resize(&screen->canvas, width, height);
}

void screen_prompt(struct screen *screen, enum action purpose, const char *label, const char *text)
{
	screen->prompting = true;
	screen->purpose = purpose;
	prompt_start(&screen->prompt, label, text);
}

void screen_prompt_set(struct screen *screen, const char *text, size_t cursor)
{
	struct prompt *prompt = &screen->prompt;

	snprintf(prompt->text, sizeof(prompt->text), "%s", text);
	prompt->len = strlen(prompt->text);
	prompt->cursor = cursor < prompt->len ? cursor : prompt->len;
}

void screen_message(struct screen *screen, enum style style, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(screen->message, sizeof(screen->message), format, args);
	va_end(args);
	screen->message_style = style;
	screen->message_until_ns = screen->model->now_ns + SCREEN_MESSAGE_NS;
}

void screen_result(struct screen *screen, int ret, const char *what)
{
	screen->last_command_ns = screen->model->now_ns;
	if (ret)
		screen_message(screen, STYLE_BAD, "%s: %s", what, explain_errno(ret));
}

void screen_edit(struct screen *screen, const char *path, uint32_t line)
{
	snprintf(screen->edit_path, sizeof(screen->edit_path), "%s", path);
	screen->edit_line = line;
}

/* --- actions with the same meaning in every view --- */

static unsigned int switch_event(struct screen *screen, long step, size_t number)
{
	uint8_t ids[ENGINE_EVENTS_TOLD];
	size_t n = model_tabs(screen->model, ids), at = 0;

	if (n == 0)
		return VIEW_HANDLED;
	for (size_t i = 0; i < n; i++) {
		if (ids[i] == screen->model->event)
			at = i;
	}
	if (number) {
		if (number > n) {
			screen_message(
				screen, STYLE_WARN, "There is no event %zu (E adds one)", number);
			return VIEW_HANDLED;
		}
		at = number - 1;
	} else {
		at = step > 0 ? (at + 1) % n : (at + n - 1) % n;
	}
	screen->model->event = ids[at];
	return VIEW_HANDLED | VIEW_SETTINGS;
}

static uint64_t current_rate(const struct screen *screen, const struct engine_event_status *event)
{
	if (screen->rate && screen->rate_event == event->id &&
		screen->model->now_ns - screen->rate_ns < ANSWER_NS)
		return screen->rate;
	return event->freq_hz ? event->freq_hz : event->period;
}

/* Changes a frequency by steps, a period by factors of two. */
static unsigned int change_rate(struct screen *screen, int direction)
{
	struct model *model = screen->model;
	const struct engine_event_status *event = model_event(model, model->event);
	uint64_t now, value;
	int ret;

	if (!event || !event->open)
		return VIEW_HANDLED;
	now = current_rate(screen, event);
	if (event->freq_hz)
		value = model_freq_step(now, direction, model->max_sample_rate_hz);
	else
		value = direction > 0 ? now / 2 : now * 2;
	if (value == now || value == 0) {
		screen_message(screen, STYLE_WARN, "%s",
			direction > 0 && event->freq_hz
				? "This is the kernel's limit (kernel.perf_event_max_sample_rate)"
				: "There is no further step");
		return VIEW_HANDLED;
	}
	ret = model->commands->set_freq(model, model->event, value);
	if (!ret) {
		screen->rate_event = event->id;
		screen->rate = value;
		screen->rate_ns = model->now_ns;
		screen_message(screen, STYLE_GOOD,
			event->freq_hz ? "%s at %" PRIu64 " Hz" : "%s every %" PRIu64, event->name,
			value);
	}
	screen_result(screen, ret, "The rate cannot be changed");
	return VIEW_HANDLED;
}

static unsigned int change_call_graph(struct screen *screen)
{
	struct model *model = screen->model;
	const enum engine_call_graph now = model->status.call_graph;
	const enum engine_call_graph next =
		now < CALL_GRAPH_NO ? (enum engine_call_graph)(now + 1) : CALL_GRAPH_AUTO;
	const int ret = model->commands->set_call_graph(model, next);

	if (!ret) {
		/* The key may be pressed again before the engine reports the change. */
		model->status.call_graph = next;
		screen_message(screen, STYLE_GOOD, "Call chains: %s", engine_call_graph_name(next));
	}
	screen_result(screen, ret, "Call chains cannot be changed");
	return VIEW_HANDLED;
}

const char *screen_refusal(const struct model *model, enum action action)
{
	if (!model->recorded)
		return NULL;
	switch (action) {
	case ACT_FASTER:
	case ACT_SLOWER:
	case ACT_CALL_GRAPH:
	case ACT_PROCESSES:
	case ACT_EVENTS:
		return "This is a recording: what was sampled, and how often, was decided when it "
		       "was made";
	case ACT_TOGGLE:
	case ACT_RATE:
	case ACT_EVENT_FILTER:
	case ACT_MOVE:
	case ACT_DROP:
	case ACT_PAUSE:
		return "This is a recording: its events are as they were when it was made";
	case ACT_SAVE:
		return "This is a recording: it is a file already";
	case ACT_SNAPSHOT:
		return "This is a recording: all of its samples are here";
	case ACT_FREEZE:
	case ACT_ZERO:
		return "This is a recording: it stands still, and all of it is shown";
	default:
		return NULL;
	}
}

static unsigned int take_snapshot(struct screen *screen)
{
	struct model *model = screen->model;
	int ret = model->commands->snapshot(model);

	if (ret == -EINVAL)
		screen_message(screen, STYLE_WARN,
			"There is no flight recorder: start strobe with --flight-recorder SECONDS");
	else
		screen_result(screen, ret, "No snapshot");
	return VIEW_HANDLED;
}

/* --- saving --- */

static unsigned int ask_where(struct screen *screen)
{
	struct model *model = screen->model;
	char name[64];

	if (model->saving) {
		model->commands->save_stop(model);
		screen->saving = false;
		screen_message(screen, STYLE_WARN, "Saving was stopped: there is no file");
		return VIEW_HANDLED;
	}
	save_default_name(name, sizeof(name));
	screen_prompt(screen, ACT_SAVE, "Save to: ", name);
	return VIEW_HANDLED;
}

static void save_to(struct screen *screen, const char *path)
{
	struct model *model = screen->model;
	char text[400] = "";

	if (!*path)
		return;
	if (!model->commands->save(model, path, text, sizeof(text)))
		screen->saving = true;
	else
		screen_message(screen, STYLE_BAD, "%s", text);
}

/* Shows the progress of saving.  After its end, the log line with the result is shown. */
static void look_at_save(struct screen *screen)
{
	const struct model *model = screen->model;

	if (!screen->saving)
		return;
	screen->saving = model->saving;
	screen->last_command_ns = model->now_ns;
	if (model->saving)
		screen_message(
			screen, STYLE_GOOD, "Saving: %u%% (W stops it)", model->saving_percent);
	else
		screen->message_until_ns = 0;
}

/* Shows the progress of downloads from debuginfod servers. */
static void look_at_fetch(struct screen *screen)
{
	const struct model *model = screen->model;
	char done[FORMAT_MAX], total[FORMAT_MAX] = "";

	if (!model->fetching.waiting && !screen->fetching)
		return;
	screen->fetching = model->fetching.waiting;
	screen->last_command_ns = model->now_ns;
	if (!screen->fetching) {
		screen->message_until_ns = 0;
		return;
	}
	format_bytes(done, model->fetching.received);
	if (model->fetching.total)
		format_bytes(total, model->fetching.total);
	screen_message(screen, STYLE_GOOD,
		"Fetching the debug file of %s: %s%s%s (Esc gives it up)",
		model->fetching.name[0] ? model->fetching.name : "...", done,
		total[0] ? " of " : "", total);
}

/* Shows the search for the symbol that names an event. */
static void look_at_lookup(struct screen *screen)
{
	const struct model *model = screen->model;

	if (!model->looking.active && !screen->looking)
		return;
	screen->looking = model->looking.active;
	screen->last_command_ns = model->now_ns;
	if (screen->looking)
		screen_message(screen, STYLE_GOOD, "Looking for %s in %s ... (Esc gives it up)",
			model->looking.symbol, model->looking.file);
	else
		screen->message_until_ns = 0;
}

/* Shows the progress of an export.  After its end, the log line with the result is shown. */
static void look_at_export(struct screen *screen)
{
	const struct model *model = screen->model;

	if (!model->exporting && !screen->exporting)
		return;
	screen->exporting = model->exporting;
	screen->last_command_ns = model->now_ns;
	if (screen->exporting)
		screen_message(screen, STYLE_GOOD, "Exporting: %u%% (Esc stops it)",
			model->exporting_percent);
	else
		screen->message_until_ns = 0;
}

/* Shows the loading of the recording that serves as baseline. */
static void look_at_baseline(struct screen *screen)
{
	const struct model *model = screen->model;
	char percent[8] = "";

	if (!model->base_reading.active && !screen->reading)
		return;
	screen->reading = model->base_reading.active;
	screen->last_command_ns = model->now_ns;
	if (!screen->reading) {
		screen->message_until_ns = 0;
		return;
	}
	if (model->base_reading.percent <= 100)
		snprintf(percent, sizeof(percent), " %u%%", model->base_reading.percent);
	screen_message(screen, STYLE_GOOD, "Reading %s:%s ... (Esc gives it up)",
		model->base_reading.name, percent);
}

/* Returns false if the action opens no view. */
static bool open_entry(struct screen *screen, enum action action)
{
	const uint32_t below = (uint32_t)top_view(screen)->ops->keys;

	for (const struct view_entry *entry = screen->entries + 1; entry->ops; entry++) {
		if (entry->action == action) {
			screen_result(screen, screen_open(screen, entry->ops, below), entry->title);
			return true;
		}
	}
	return false;
}

static unsigned int common_action(struct screen *screen, enum action action, uint32_t key)
{
	struct model *model = screen->model;
	const char *refusal = screen_refusal(model, action);

	if (refusal) {
		screen_message(screen, STYLE_WARN, "%s", refusal);
		return VIEW_HANDLED;
	}
	switch (action) {
	case ACT_EVENT_NEXT:
		return switch_event(screen, 1, 0);
	case ACT_EVENT_PREVIOUS:
		return switch_event(screen, -1, 0);
	case ACT_EVENT_NUMBER:
		return switch_event(screen, 0, key - '0');
	case ACT_FREEZE:
		model->frozen = !model->frozen;
		return VIEW_HANDLED | VIEW_SETTINGS;
	case ACT_FASTER:
		return change_rate(screen, 1);
	case ACT_SLOWER:
		return change_rate(screen, -1);
	case ACT_CALL_GRAPH:
		return change_call_graph(screen);
	case ACT_ZERO:
		model->zero_ns = model->strip_to_ns;
		window_live(&model->window);
		model->frozen = false;
		screen_message(screen, STYLE_GOOD, "From zero: only what comes from now on");
		return VIEW_HANDLED | VIEW_SETTINGS;
	case ACT_IDLE:
		model->hide_idle = !model->hide_idle;
		screen_message(screen, STYLE_GOOD,
			model->hide_idle ? "The idle loop is hidden" : "The idle loop is shown");
		return VIEW_HANDLED | VIEW_SETTINGS;
	case ACT_SAVE:
		return ask_where(screen);
	case ACT_WRITE:
	case ACT_EXPORT:
		return screen_ask_file(screen, action);
	case ACT_SNAPSHOT:
		return take_snapshot(screen);
	case ACT_NARROW:
		screen_ask_crumb(screen);
		return VIEW_HANDLED;
	case ACT_BASELINE_FILE:
		screen_prompt(screen, action, "Compare with: ", "");
		return VIEW_HANDLED;
	case ACT_BASELINE:
		return screen_mark_baseline(screen);
	case ACT_EARLIER:
	case ACT_LATER:
	case ACT_LONGER:
	case ACT_SHORTER:
	case ACT_BUSIEST:
	case ACT_LIVE:
		return screen_move_in_time(screen, action);
	case ACT_BACK:
		if (screen->n_views > 1)
			return VIEW_HANDLED | VIEW_CLOSE;
		return model->window.selected ? screen_move_in_time(screen, ACT_LIVE)
					      : VIEW_HANDLED;
	default:
		return open_entry(screen, action) ? VIEW_HANDLED : 0;
	}
}

static void act_on(struct screen *screen, unsigned int changed)
{
	struct view *view;

	if (changed & VIEW_CLOSE)
		pop_view(screen);
	if (changed & VIEW_SETTINGS) {
		screen->model->queries->refresh(screen->model, false);
		view = top_view(screen);
		view->ops->refresh(view, screen);
	}
}

static void prompt_input(struct screen *screen, uint32_t key)
{
	struct view *view = top_view(screen);
	enum prompt_result result;

	const bool to_file = screen->purpose == ACT_SAVE || screen->purpose == ACT_WRITE ||
		screen->purpose == ACT_EXPORT || screen->purpose == ACT_BASELINE_FILE;

	if (!to_file && view->ops->prompt_key &&
		view->ops->prompt_key(view, screen, screen->purpose, key))
		return;
	result = prompt_key(&screen->prompt, key);
	if (result == PROMPT_SAME)
		return;
	if (result == PROMPT_DONE || result == PROMPT_CANCELLED)
		screen->prompting = false;
	if (screen->purpose == ACT_NARROW) {
		if (result == PROMPT_DONE)
			act_on(screen, screen_take_crumb(screen, screen->prompt.text));
		return;
	}
	if (to_file) {
		if (result == PROMPT_DONE && screen->purpose == ACT_SAVE)
			save_to(screen, screen->prompt.text);
		else if (result == PROMPT_DONE && screen->purpose == ACT_BASELINE_FILE)
			screen_compare_with(screen, screen->prompt.text);
		else if (result == PROMPT_DONE)
			screen_write_file(screen, screen->purpose, screen->prompt.text);
		return;
	}
	if (!view->ops->prompt)
		return;
	act_on(screen,
		view->ops->prompt(view, screen, screen->purpose, screen->prompt.text, result));
}

static unsigned int key_input(struct screen *screen, uint32_t key)
{
	struct view *view = top_view(screen);
	enum action action;
	unsigned int changed;

	if (screen->prompting) {
		prompt_input(screen, key);
		return 0;
	}
	action = keys_find(view->ops->keys, key);
	if (action == ACT_NONE)
		return 0;
	screen->message_until_ns = 0;
	if (action == ACT_REDRAW)
		return SCREEN_REDRAW;
	if (action == ACT_THEME) {
		screen->theme.kind = (enum theme_kind)((screen->theme.kind + 1) % THEME_KINDS);
		screen_message(screen, STYLE_GOOD, "Theme: %s", theme_names[screen->theme.kind]);
		return SCREEN_THEME;
	}
	if (action == ACT_QUIT && screen->n_views == 1)
		return SCREEN_QUIT;
	if (action == ACT_BACK && screen->model->looking.active) {
		screen->model->commands->look_cancel(screen->model);
		return 0;
	}
	if (action == ACT_BACK && screen->model->exporting) {
		screen->model->commands->export_stop(screen->model);
		return 0;
	}
	if (action == ACT_BACK && screen->model->base_reading.active) {
		screen->model->commands->baseline_stop(screen->model);
		screen->reading = false;
		screen_message(screen, STYLE_WARN, "The recording is not read any further");
		return 0;
	}
	changed = view->ops->action(view, screen, action);
	if (!changed && action == ACT_QUIT)
		changed = view->ops->action(view, screen, action = ACT_BACK);
	if (!changed)
		changed = common_action(screen, action, key);
	act_on(screen, changed);
	return screen->edit_path[0] ? SCREEN_EDIT : 0;
}

static void tell_tags(const struct view *view, char *out, size_t size)
{
	out[0] = '\0';
	if (view->ops->tags)
		view->ops->tags(view, out, size);
}

static bool is_in_body(const struct screen *screen, const struct input *input)
{
	const struct area *body = &screen->body;

	return input->x >= body->x && input->x < body->x + body->width && input->y >= body->y &&
		input->y < body->y + body->height;
}

static void click_input(struct screen *screen, const struct input *input)
{
	struct view *view = top_view(screen);
	const struct area *body = &screen->body;
	bool twice = input->time_ns - screen->click_ns < DOUBLE_CLICK_NS &&
		input->y == screen->click_y && input->x - screen->click_x <= 1 &&
		screen->click_x - input->x <= 1;
	char tags[TAGS_MAX];
	int event;

	screen->click_ns = twice ? 0 : input->time_ns;
	screen->click_x = input->x;
	screen->click_y = input->y;
	tell_tags(view, tags, sizeof(tags));
	screen->selecting = header_time_at(screen->model, &screen->canvas, input->x, input->y,
		&screen->select_from_ns, &screen->select_to_ns);
	event = header_tab_at(screen->model, &screen->canvas, tags, input->x, input->y);
	if (event >= 0) {
		screen->model->event = (uint8_t)event;
		act_on(screen, VIEW_SETTINGS);
	} else if (view->ops->click && is_in_body(screen, input)) {
		act_on(screen,
			view->ops->click(
				view, screen, input->x - body->x, input->y - body->y, twice));
	}
}

unsigned int screen_input(struct screen *screen, const struct input *input)
{
	struct view *view = top_view(screen);

	switch (input->kind) {
	case INPUT_KEY:
		return key_input(screen, input->key);
	case INPUT_WHEEL:
		for (int i = 0; i < WHEEL_ROWS; i++)
			view->ops->action(view, screen, input->delta < 0 ? ACT_UP : ACT_DOWN);
		return 0;
	case INPUT_CLICK:
		click_input(screen, input);
		return 0;
	case INPUT_RELEASE:
		if (screen_select_time(screen, input))
			act_on(screen, VIEW_SETTINGS);
		else if (view->ops->release && is_in_body(screen, input))
			act_on(screen,
				view->ops->release(view, screen, input->x - screen->body.x,
					input->y - screen->body.y));
		return 0;
	default:
		return 0;
	}
}

static bool has_message(const struct screen *screen)
{
	return screen->message[0] && screen->model->now_ns < screen->message_until_ns;
}

/* Shows new lines of the log as messages: errors, warnings, and answers to a command. */
static void look_at_log(struct screen *screen)
{
	const struct model *model = screen->model;
	bool listening =
		screen->last_command_ns && model->now_ns - screen->last_command_ns < ANSWER_NS;
	size_t n = logbook_count(&model->log);

	for (size_t i = 0; i < n; i++) {
		const struct log_line *line = logbook_get(&model->log, i);

		if (line->serial <= screen->log_seen)
			continue;
		screen->log_seen = line->serial;
		/* The reason for a failed command must stay visible. */
		if (line->output ||
			(line->level != EXPLAIN_ERROR && has_message(screen) &&
				screen->message_style == STYLE_BAD))
			continue;
		if (line->level == EXPLAIN_ERROR)
			screen_message(screen, STYLE_BAD, "%s", line->text);
		else if (line->level == EXPLAIN_WARNING)
			screen_message(screen, STYLE_WARN, "%s", line->text);
		else if (listening)
			screen_message(screen, STYLE_GOOD, "%s", line->text);
	}
}

int screen_refresh(struct screen *screen)
{
	struct view *view = top_view(screen);
	int ret = screen->model->queries->refresh(screen->model, true);

	look_at_save(screen);
	look_at_fetch(screen);
	look_at_lookup(screen);
	look_at_baseline(screen);
	look_at_export(screen);
	look_at_log(screen);
	view->ops->refresh(view, screen);
	return ret;
}

/* --- drawing --- */

/* Returns the number of rows below the view.  If there are none, prompt and message replace the
 * title, but never a row of the view. */
static int bottom_height(const struct screen *screen)
{
	const struct canvas *canvas = &screen->canvas;

	if (canvas->height < HINT_MIN_HEIGHT)
		return 0;
	if (!screen->prompting && has_message(screen) && canvas->height >= TWO_LINES_MIN_HEIGHT &&
		screen->message[width_fit(screen->message, canvas->width - 2)])
		return 2;
	return 1;
}

static void draw_message(struct screen *screen, int y, int height)
{
	struct canvas *canvas = &screen->canvas;
	const char *text = screen->message;
	char line[sizeof(screen->message)];

	canvas_fill(canvas, 0, y, canvas->width, ' ', STYLE_TEXT);
	if (height == 2) {
		size_t first = width_fit(text, canvas->width - 2);

		snprintf(line, sizeof(line), "%.*s", (int)first, text);
		canvas_text(canvas, 1, y++, canvas->width - 2, screen->message_style, line);
		text += first;
	}
	canvas_text(canvas, 1, y, canvas->width - 2, screen->message_style, text);
}

static void draw_bottom(struct screen *screen, int height)
{
	struct canvas *canvas = &screen->canvas;
	int y = height ? canvas->height - height : 0;

	if (screen->prompting)
		prompt_draw(&screen->prompt, canvas, y);
	else if (has_message(screen))
		draw_message(screen, y, height);
	else if (height)
		screen_draw_hints(screen, y);
}

void screen_draw(struct screen *screen)
{
	struct canvas *canvas = &screen->canvas;
	struct view *view = top_view(screen);
	char tags[TAGS_MAX];
	int top, bottom;

	canvas_clear(canvas);
	if (canvas->width < MIN_WIDTH || canvas->height < MIN_HEIGHT) {
		canvas_text(canvas, 0, 0, canvas->width, STYLE_WARN, "strobe: too small");
		return;
	}
	tell_tags(view, tags, sizeof(tags));
	header_draw(screen->model, canvas, tags);
	top = header_height(canvas->height);
	bottom = bottom_height(screen);
	screen->body = (struct area){
		.x = 0,
		.y = top,
		.width = canvas->width,
		.height = canvas->height - top - bottom,
	};
	view->ops->draw(view, screen, screen->body);
	draw_bottom(screen, bottom);
}
