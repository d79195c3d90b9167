/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * header.c - target, trust, activity strip, event tabs.
 *
 * A line is a row of segments, each with a rank.  If they do not fit, segments are abbreviated and
 * then left out, each time from the highest rank down.
 */
#include "tui/screen/header.h"

#include "sampler/control/config.h"
#include "sampler/control/status.h"
#include "tui/base/format.h"
#include "tui/base/shorten.h"
#include "tui/base/width.h"
#include "tui/screen/strip.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define SEGMENTS_MAX 14
#define SEGMENT_GAP 3 /* " · " on the left, blanks on the right */
#define LUXURY 8 /* segments of this rank or higher are left out before any is abbreviated */
#define TABS_X 1
#define TAB_GAP 1
#define TAGS_LEAST 6 /* smallest useful width of the tags, in columns */
#define MORE_WIDTH 4 /* width of a mark such as «12, with a blank */
#define STRIP_Y 2
#define CRUMBS_SHOWN 3
#define CRUMB_BRIEF 24
#define LOW_COVERAGE 95.0
#define FEW_WHOLE 95.0 /* percentage of call chains below which the line warns */
#define MANY_UNRESOLVED 20.0

struct segment {
	char text[160];
	char brief[120]; /* shorter form of text; "" if none */
	enum style style;
	int rank; /* 1: never left out; 0: left out */
	bool right;
};

struct line {
	struct segment segments[SEGMENTS_MAX];
	int n;
};

struct tab {
	uint8_t event;
	int x, width;
	char text[EVENT_NAME_MAX + 32];
	enum style style;
};

static void add(struct line *line, int rank, bool right, enum style style, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

static void add(struct line *line, int rank, bool right, enum style style, const char *format, ...)
{
	struct segment *segment;
	va_list args;

	if (line->n >= SEGMENTS_MAX)
		return;
	segment = &line->segments[line->n++];
	segment->brief[0] = '\0';
	segment->rank = rank;
	segment->right = right;
	segment->style = style;
	va_start(args, format);
	vsnprintf(segment->text, sizeof(segment->text), format, args);
	va_end(args);
}

/* Sets the short form of the last segment. */
static void brief(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void brief(struct line *line, const char *format, ...)
{
	struct segment *segment = &line->segments[line->n - 1];
	va_list args;

	va_start(args, format);
	vsnprintf(segment->brief, sizeof(segment->brief), format, args);
	va_end(args);
}

static int line_width(const struct line *line)
{
	int width = 0;

	for (int i = 0; i < line->n; i++) {
		if (line->segments[i].rank)
			width += width_of(line->segments[i].text) + SEGMENT_GAP;
	}
	return width ? width - SEGMENT_GAP : 0;
}

static bool shorten_one(struct line *line)
{
	int worst = -1;

	for (int i = 0; i < line->n; i++) {
		if (line->segments[i].brief[0] &&
			(worst < 0 || line->segments[i].rank > line->segments[worst].rank))
			worst = i;
	}
	if (worst < 0)
		return false;
	memcpy(line->segments[worst].text, line->segments[worst].brief,
		sizeof(line->segments[worst].brief));
	line->segments[worst].brief[0] = '\0';
	return true;
}

/* Leaves out the segment of the highest rank, if that is `above` or higher. */
static bool drop_one(struct line *line, int above)
{
	int worst = -1;

	for (int i = 0; i < line->n; i++) {
		if (line->segments[i].rank >= above &&
			(worst < 0 || line->segments[i].rank > line->segments[worst].rank))
			worst = i;
	}
	if (worst < 0)
		return false;
	line->segments[worst].rank = 0;
	return true;
}

/* Shortens the line to a width.  Returns false if only segments of ranks below `above` are left and
 * still do not fit. */
static bool fit(struct line *line, int width, int above)
{
	while (line_width(line) > width - 2) {
		if (!drop_one(line, LUXURY) && !shorten_one(line) && !drop_one(line, above))
			return false;
	}
	return true;
}

static void draw_line(struct line *line, struct canvas *canvas, int y)
{
	int x = 1, right = canvas->width - 1;

	(void)fit(line, canvas->width, 2);
	for (int i = line->n - 1; i >= 0; i--) {
		const struct segment *segment = &line->segments[i];
		int width = width_of(segment->text);

		if (!segment->rank || !segment->right)
			continue;
		right -= width;
		canvas_text(canvas, right, y, width, segment->style, segment->text);
		right -= 2;
	}
	for (int i = 0, first = 1; i < line->n; i++) {
		const struct segment *segment = &line->segments[i];

		if (!segment->rank || segment->right)
			continue;
		if (!first)
			x += canvas_text(canvas, x, y, right - x, STYLE_DIM, " · ");
		x += canvas_text(canvas, x, y, right - x, segment->style, segment->text);
		first = 0;
	}
}

static const char *levels_of(const struct engine_event_status *event)
{
	const char *modifiers = strrchr(event->name, ':');

	if (event->user_only)
		return "user only";
	if (modifiers && strchr(modifiers, 'u') && !strchr(modifiers, 'k'))
		return "user only";
	if (modifiers && strchr(modifiers, 'k') && !strchr(modifiers, 'u'))
		return "kernel only";
	return "user+kernel";
}

static void add_ended(struct line *line, const struct engine_status *status)
{
	int how = status->command_status;

	if (!status->command_ended)
		add(line, 1, true, STYLE_WARN, "■ ended");
	else if (WIFSIGNALED(how))
		add(line, 1, true, STYLE_BAD, "■ ended by SIG%s",
			sigabbrev_np(WTERMSIG(how)) ? sigabbrev_np(WTERMSIG(how)) : "?");
	else if (WEXITSTATUS(how))
		add(line, 1, true, STYLE_WARN, "■ ended, exit %d", WEXITSTATUS(how));
	else
		add(line, 1, true, STYLE_GOOD, "■ ended");
}

static void add_state(struct line *line, const struct model *model)
{
	const struct engine_status *status = &model->status;
	char text[FORMAT_MAX];
	uint64_t until = model->now_ns;

	if (model_is_loading(model)) {
		if (status->attaching_total)
			add(line, 1, true, STYLE_WARN, "loading %u%%, Esc interrupts",
				(unsigned int)(100 *
					format_share(
						status->attaching_done, status->attaching_total)));
		else
			add(line, 1, true, STYLE_WARN, "loading, Esc interrupts");
		until = status->now_ns;
	} else if (model->recorded && !model->window.selected) {
		if (status->state == ENGINE_STOPPED)
			add(line, 1, true, STYLE_WARN, "■ loading interrupted");
		until = status->now_ns;
	} else if (model->window.selected) {
		add(line, 1, true, STYLE_WARN, "◂ past");
		until = model->to_ns;
	} else if (model->frozen) {
		add(line, 1, true, STYLE_WARN, "○ frozen");
		until = model->to_ns;
	} else if (status->state == ENGINE_STARTING) {
		if (status->attaching_total)
			add(line, 1, true, STYLE_WARN, "attaching %" PRIu64 "/%" PRIu64 " threads",
				status->attaching_done, status->attaching_total);
		else
			add(line, 1, true, STYLE_WARN, "starting");
	} else if (status->state == ENGINE_RUNNING) {
		add(line, 1, true, STYLE_GOOD, "● live");
	} else if (status->state == ENGINE_ENDED) {
		add_ended(line, status);
	} else {
		add(line, 1, true, STYLE_WARN, "■ stopped");
	}
	if (!model->window.selected &&
		(status->state == ENGINE_ENDED || status->state == ENGINE_STOPPED)) {
		until = status->now_ns;
		/* The engine keeps running, since something may still be attached. */
		if (!model->recorded && status->store.last_ns)
			until = status->store.last_ns;
	}
	if (status->started_ns && until >= status->started_ns)
		add(line, 4, true, STYLE_TEXT, "%s",
			format_clock(text, until - status->started_ns));
}

/* Sets a short form of the crumb, so that others have room, too: line:/a/c.c:7 as line:c.c:7. */
static void brief_crumb(struct line *line, const char *crumb)
{
	const char *colon = strchr(crumb, ':'), *slash = strrchr(crumb, '/');
	char text[SHORTEN_MAX];

	if (!colon || colon[1] != '/' || !slash || !slash[1] || strpbrk(crumb, " ,&|*?")) {
		brief(line, "only %s", shorten_file(text, crumb, CRUMB_BRIEF));
		return;
	}
	shorten_file(text, slash + 1, CRUMB_BRIEF - (int)(colon + 1 - crumb));
	brief(line, "only %.*s%s", (int)(colon + 1 - crumb), crumb, text);
}

/* Adds the first `shown` crumbs and the number of the others.  The line always shows that filters
 * are set. */
static void add_crumbs(struct line *line, const struct model *model, size_t shown)
{
	for (size_t i = 0; i < shown; i++) {
		add(line, 2, false, STYLE_WARN, "only %s", model->crumbs[i]);
		brief_crumb(line, model->crumbs[i]);
	}
	if (model->n_crumbs > shown)
		add(line, 1, false, STYLE_WARN, "%s%zu filter%s", shown ? "+" : "",
			model->n_crumbs - shown, model->n_crumbs - shown == 1 ? "" : "s");
}

static void fill_target(struct line *line, const struct model *model, size_t crumbs)
{
	const struct engine_status *status = &model->status;
	const struct engine_event_status *event = model_event(model, model->event);
	char text[FORMAT_MAX];

	add(line, 5, false, STYLE_ACCENT, "strobe");
	add(line, 1, false, STYLE_TITLE, "%s", model->target);
	if (model->filters[0])
		add(line, 3, false, STYLE_WARN, "only %s", model->filters);
	if (model->has_baseline && model->base_recorded && model->base_empty)
		add(line, 2, false, STYLE_WARN, "nothing of this in %s", model->base_name);
	else if (model->has_baseline && model->base_recorded)
		add(line, 3, false, STYLE_ACCENT, "against %s", model->base_name);
	else if (model->has_baseline)
		add(line, 3, false, STYLE_ACCENT, "against %s",
			format_clock(text,
				model->base_from_ns > status->started_ns
					? model->base_from_ns - status->started_ns
					: 0));
	add_crumbs(line, model, crumbs);
	if (model->system_wide)
		add(line, 6, false, STYLE_TEXT, "%u CPU%s", status->cpus,
			status->cpus == 1 ? "" : "s");
	else if (status->processes > 1)
		add(line, 6, false, STYLE_TEXT, "%u processes, %u threads", status->processes,
			status->threads);
	else if (status->threads > 1)
		add(line, 6, false, STYLE_TEXT, "+%u thread%s", status->threads - 1,
			status->threads == 2 ? "" : "s");
	if (event && !event->open)
		add(line, 2, false, STYLE_WARN, "%s %s", event->name,
			event->error ? "refused" : "dropped");
	else if (event && event->rate_varies && !event->freq_hz && !event->period)
		add(line, 3, false, STYLE_TEXT, "%s, several rates", event->name);
	else if (event && event->freq_hz)
		add(line, 3, false, STYLE_TEXT, "%s %" PRIu64 " Hz", event->name, event->freq_hz);
	else if (event && (event->span || event->period == 1))
		add(line, 3, false, STYLE_TEXT, "%s%s", event->name, event->span ? "" : ", all");
	else if (event && !event->period)
		add(line, 3, false, STYLE_TEXT, "%s", event->name);
	else if (event)
		add(line, 3, false, STYLE_TEXT, "%s every %s", event->name,
			format_count(text, event->period));
	if (event)
		add(line, 7, false, event->user_only ? STYLE_WARN : STYLE_DIM, "%s",
			levels_of(event));
	add_state(line, model);
}

static void draw_target(const struct model *model, struct canvas *canvas, int y)
{
	size_t crumbs = model->n_crumbs < CRUMBS_SHOWN ? model->n_crumbs : CRUMBS_SHOWN;
	struct line line;

	for (;; crumbs--) {
		line.n = 0;
		fill_target(&line, model, crumbs);
		if (!crumbs || fit(&line, canvas->width, 3))
			break;
	}
	draw_line(&line, canvas, y);
}

/* Adds the time that the flight recorder holds, and the key that takes a snapshot. */
static void add_flight(struct line *line, const struct engine_status *status)
{
	double holds_s = status->flight_holds_s;
	int digits = holds_s < 10 && holds_s != (int)holds_s;

	if (holds_s <= 0 || status->state != ENGINE_RUNNING)
		return;
	add(line, 1, false, STYLE_ACCENT, "flight recorder: holds %.*f s, F takes a snapshot",
		digits, holds_s);
	brief(line, "recorder %.*f s, F", digits, holds_s);
}

/* Adds the share of call chains that reach the start of the program or thread. */
static void add_chains(struct line *line, const struct model *model, const struct unwind_ends *ends)
{
	const char *mode = engine_call_graph_name(model->status.call_graph);
	char text[FORMAT_MAX];
	const uint64_t n = unwind_judged(ends);

	if (!model->recorded && model->status.call_graph == CALL_GRAPH_NO) {
		add(line, 7, false, STYLE_TEXT, "no call chains");
		brief(line, "no chains");
		return;
	}
	if (!n)
		return;
	double percent = 100.0 * (double)ends->whole / (double)n;
	add(line, percent < FEW_WHOLE ? 2 : 7, false, percent < FEW_WHOLE ? STYLE_WARN : STYLE_TEXT,
		model->recorded ? "whole chains %s" : "whole chains %s (%s)",
		format_percent(text, percent), mode);
	brief(line, model->recorded ? "chains %s" : "chains %s %s", text, mode);
}

/* Adds the number of samples since the start.  With filters, adds how many samples in the window
 * pass instead. */
static void add_samples(
	struct line *line, const struct model *model, const struct engine_event_status *event)
{
	const struct hot_sums *sums = &model->sums;
	char passed[FORMAT_MAX], all[FORMAT_MAX];

	if (!model->filters[0] && !model->n_crumbs) {
		add(line, 1, false, STYLE_TEXT, "%s samples", format_count(all, event->samples));
		return;
	}
	format_count(passed, sums->samples);
	format_count(all, sums->all_samples);
	add(line, 1, false, STYLE_TEXT, "%s of %s samples", passed, all);
	brief(line, "%s of %s", passed, all);
}

static void draw_trust(const struct model *model, struct canvas *canvas, int y)
{
	const struct engine_event_status *event = model_event(model, model->event);
	const struct hot_sums *sums = &model->sums;
	struct line line = {.n = 0};
	char text[FORMAT_MAX];
	double percent;

	if (!event) {
		add(&line, 1, false, STYLE_DIM, "no event yet");
		draw_line(&line, canvas, y);
		return;
	}
	add_samples(&line, model, event);
	add_flight(&line, &model->status);
	/* Nothing per second is known of a recording without times. */
	if (sums->span_ns && model->status.now_ns > model->status.started_ns) {
		double seconds = (double)sums->span_ns / 1e9;

		add(&line, 8, false, STYLE_DIM, "%s/s",
			format_count(text, (uint64_t)((double)sums->samples / seconds + 0.5)));
		if (event->is_clock) {
			double busy = (double)sums->weight / (double)sums->span_ns;

			static const char *const words[] = {
				[EVENT_SPAN_NONE] = "busy",
				[EVENT_SPAN_BLOCKED] = "blocked",
				[EVENT_SPAN_PREEMPTED] = "waiting",
				[EVENT_SPAN_WALL] = "alive",
				[EVENT_SPAN_WOKEN] = "woken",
			};
			const char *what = words[event->span];

			add(&line, 3, false, STYLE_TEXT, "%.2f %s %s", busy,
				event->span ? "threads" : "CPUs", what);
			brief(&line, "%.2f %s", busy, what);
		}
	}
	add(&line, 2, false, event->lost ? STYLE_BAD : STYLE_TEXT, "lost %s%s",
		format_count(text, event->lost),
		event->lost && event->lost_of_all ? " of all" : "");
	if (model->status.store.dropped)
		add(&line, 2, false, STYLE_BAD, "no memory for %s",
			format_count(text, model->status.store.dropped));
	if (event->held_back)
		add(&line, 2, false, STYLE_BAD, "held back %s",
			format_count(text, event->held_back));
	if (event->coverable > 0) {
		percent = 100.0 * event->covered / event->coverable;
		add(&line, percent < LOW_COVERAGE ? 2 : 5, false,
			percent < LOW_COVERAGE ? STYLE_WARN : STYLE_TEXT, "coverage %s",
			format_percent(text, percent));
		brief(&line, "cov %s", text);
	}
	/* Even a short stop can miss much of a burst.  Clocks have no bursts. */
	if (event->stood_still && !event->is_clock)
		add(&line, 3, false, STYLE_WARN, "stood still %s times",
			format_count(text, event->stood_still));
	percent = 100.0 * format_share(sums->unresolved, sums->weight);
	/* Warnings have a low rank, so they are left out last. */
	add(&line, percent > MANY_UNRESOLVED ? 2 : 6, false,
		percent > MANY_UNRESOLVED ? STYLE_WARN : STYLE_TEXT, "unresolved %s",
		format_percent(text, percent));
	brief(&line, "unres %s", text);
	add_chains(&line, model, &event->chains);
	if (event->throttled)
		add(&line, 2, false, STYLE_WARN, "throttled %s",
			format_count(text, event->throttled));
	if (model->status.tasks_missed)
		add(&line, 2, false, STYLE_WARN, "missed %s tasks",
			format_count(text, model->status.tasks_missed));
	if (model->status.threads_left_out)
		add(&line, 2, false, STYLE_WARN, "%s threads left out",
			format_count(text, model->status.threads_left_out));
	if (model->cost.cpu_percent >= 0.0) {
		char instructions[FORMAT_MAX + 16] = "";

		if (model->cost.instructions_per_s > 0.0)
			snprintf(instructions, sizeof(instructions), " %s instr/s,",
				format_count(text, (uint64_t)model->cost.instructions_per_s));
		add(&line, 4, true, STYLE_DIM, "strobe: %.1f%% cpu,%s %s", model->cost.cpu_percent,
			instructions, format_bytes(text, model->cost.memory_bytes));
		brief(&line, "strobe %.1f%% %s", model->cost.cpu_percent, text);
	}
	draw_line(&line, canvas, y);
}

/* Tabs [first, last) are shown, at their x. */
struct tabs {
	struct tab tabs[ENGINE_EVENTS_TOLD];
	int n, first, last;
	int right; /* the column after them */
};

static int fill_tabs(const struct model *model, struct tabs *tabs)
{
	uint8_t ids[ENGINE_EVENTS_TOLD];
	size_t n = model_tabs(model, ids);
	int active = 0;

	for (size_t i = 0; i < n; i++) {
		const struct engine_event_status *event = model_event(model, ids[i]);
		struct tab *tab = &tabs->tabs[i];
		bool current = ids[i] == model->event;

		tab->event = ids[i];
		snprintf(tab->text, sizeof(tab->text), "%s%zu %s%s", current ? "‹" : " ", i + 1,
			event->name, current ? "›" : " ");
		tab->style = current ? STYLE_ACCENT : event->open ? STYLE_TEXT : STYLE_DIM;
		tab->width = width_of(tab->text);
		if (current)
			active = (int)i;
	}
	tabs->n = (int)n;
	return active;
}

static int tabs_width(const struct tabs *tabs, int first, int last)
{
	int width = 0;

	for (int i = first; i < last; i++)
		width += tabs->tabs[i].width + TAB_GAP;
	return width ? width - TAB_GAP : 0;
}

/* Places as many tabs as fit around the active one.  Marks at the ends count the others. */
static void layout_tabs(const struct model *model, struct tabs *tabs, int width)
{
	int active = fill_tabs(model, tabs), x = TABS_X, room = width - 2 * TABS_X;

	tabs->first = 0;
	tabs->last = tabs->n;
	if (tabs_width(tabs, 0, tabs->n) > room) {
		room -= MORE_WIDTH;
		tabs->last = 0;
		while (tabs->last < tabs->n && tabs_width(tabs, 0, tabs->last + 1) <= room)
			tabs->last++;
		if (active >= tabs->last) {
			x += MORE_WIDTH;
			room -= active + 1 < tabs->n ? MORE_WIDTH : 0;
			tabs->first = active;
			tabs->last = active + 1;
			while (tabs->first > 0 &&
				tabs_width(tabs, tabs->first - 1, tabs->last) <= room)
				tabs->first--;
		}
	}
	for (int i = tabs->first; i < tabs->last; i++) {
		if (tabs->tabs[i].width > room)
			tabs->tabs[i].width = room > 0 ? room : 0;
		tabs->tabs[i].x = x;
		x += tabs->tabs[i].width + TAB_GAP;
	}
	tabs->right = x;
}

/* Returns the width of the tags at the right end.  They leave room for the active tab. */
static int tags_width(const struct model *model, const struct canvas *canvas, const char *tags)
{
	struct tabs tabs;
	int active = fill_tabs(model, &tabs), width = width_of(tags);
	int room = canvas->width - 2 * TABS_X - 2 * MORE_WIDTH - TAB_GAP;

	if (tabs.n)
		room -= tabs.tabs[active].width;
	if (width > canvas->width / 2)
		width = canvas->width / 2;
	if (width > room)
		width = room;
	return width >= TAGS_LEAST || width == width_of(tags) ? width : 0;
}

static int tabs_room(const struct model *model, const struct canvas *canvas, const char *tags)
{
	int width = tags_width(model, canvas, tags);

	return canvas->width - (width ? width + TAB_GAP : 0);
}

static void draw_tabs(const struct model *model, struct canvas *canvas, int y, const char *tags)
{
	struct tabs tabs;
	int width = tags_width(model, canvas, tags);

	canvas_text(canvas, canvas->width - 1 - width, y, width, STYLE_WARN, tags);
	layout_tabs(model, &tabs, tabs_room(model, canvas, tags));
	for (int i = tabs.first; i < tabs.last; i++)
		canvas_text(canvas, tabs.tabs[i].x, y, tabs.tabs[i].width, tabs.tabs[i].style,
			tabs.tabs[i].text);
	if (tabs.first > 0)
		canvas_printf(canvas, TABS_X, y, MORE_WIDTH - 1, STYLE_KEY, "«%d", tabs.first);
	if (tabs.last < tabs.n)
		canvas_printf(canvas, tabs.right, y, MORE_WIDTH - 1, STYLE_KEY, "%d»",
			tabs.n - tabs.last);
}

/* The header's lines in the order of the screen.  On small screens the strip is left out first,
 * then the tabs, then the trust line. */
int header_height(int screen_height)
{
	if (screen_height >= 14)
		return 4;
	if (screen_height >= 10)
		return 3;
	return screen_height >= 7 ? 2 : 1;
}

static int tabs_row(int screen_height)
{
	int height = header_height(screen_height);

	return height >= 3 ? height - 1 : -1;
}

void header_draw(const struct model *model, struct canvas *canvas, const char *tags)
{
	int height = header_height(canvas->height);

	draw_target(model, canvas, 0);
	if (height >= 2)
		draw_trust(model, canvas, 1);
	if (height >= 4)
		strip_draw(model, canvas, STRIP_Y);
	if (height >= 3)
		draw_tabs(model, canvas, tabs_row(canvas->height), tags);
}

int header_tab_at(
	const struct model *model, const struct canvas *canvas, const char *tags, int x, int y)
{
	struct tabs tabs;

	if (y != tabs_row(canvas->height))
		return -1;
	layout_tabs(model, &tabs, tabs_room(model, canvas, tags));
	for (int i = tabs.first; i < tabs.last; i++) {
		if (x >= tabs.tabs[i].x && x < tabs.tabs[i].x + tabs.tabs[i].width)
			return tabs.tabs[i].event;
	}
	if (tabs.first > 0 && x >= TABS_X && x < TABS_X + MORE_WIDTH)
		return tabs.tabs[tabs.first - 1].event;
	if (tabs.last < tabs.n && x >= tabs.right && x < tabs.right + MORE_WIDTH)
		return tabs.tabs[tabs.last].event;
	return -1;
}

bool header_time_at(const struct model *model, const struct canvas *canvas, int x, int y,
	uint64_t *from_ns, uint64_t *to_ns)
{
	return header_height(canvas->height) >= 4 && y == STRIP_Y &&
		strip_time_at(model, canvas, x, from_ns, to_ns);
}
