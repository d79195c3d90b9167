/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_draw.c - draws an annotated function: shares, addresses, arrows, source and
 * instructions.
 */
#include "tui/base/width.h"
#include "tui/model/model.h"
#include "tui/views/annotate_view.h"

#include "tui/base/format.h"
#include "tui/base/shorten.h"
#include "tui/model/queries.h"
#include "tui/views/views.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BAR_MIN_WIDTH 96 /* least width of the area for a bar next to the shares */
#define ADDRESS_MIN_WIDTH 56
#define ARROWS_MIN_WIDTH 44
#define ARROWS_ALL_WIDTH 100 /* least width for all levels of arrows; below it, two */
#define BAR_WIDTH 5
#define SHARE_WIDTH 6
#define EVENTS_MAX 6 /* maximum number of event columns */
#define EVENT_MIN 8
#define EVENT_MAX 14
#define MARKS_MAX 4
#define TOLD_MIN_HEIGHT 6 /* least height of the area for a sentence above the rows */
#define TOLD_TWICE_MIN_HEIGHT 10 /* least height for two lines of it */
#define SPIN_NS 100000000u

struct layout {
	struct annotate_view *state;
	struct screen *screen;
	struct canvas *canvas;
	int bar_x; /* -1: none */
	int n_events;
	struct {
		int x, width;
		size_t event;
	} shares[EVENTS_MAX];
	size_t event; /* index of the current event's column */
	int number_x, number_width; /* addresses or line numbers; 0: none */
	int arrows_x, levels;
	int text_x, width;
	bool source_only;
};

static void lay_out_shares(struct layout *at, const struct annotate_view *state)
{
	const struct model *model = at->screen->model;
	uint8_t ids[ENGINE_EVENTS_TOLD];
	size_t n = model_tabs(model, ids);
	int x = 1;

	at->bar_x = -1;
	if (state->side_by_side && n > 1) {
		for (size_t i = 0; i < n && at->n_events < EVENTS_MAX; i++) {
			int width = width_of(model_event(model, ids[i])->name) + 1;

			width = width < EVENT_MIN   ? EVENT_MIN
				: width > EVENT_MAX ? EVENT_MAX
						    : width;
			if (x + width > at->width / 2 && at->n_events)
				break;
			at->shares[at->n_events].x = x;
			at->shares[at->n_events].width = width;
			at->shares[at->n_events++].event = i;
			x += width + 1;
		}
		at->number_x = x + 1;
		return;
	}
	if (at->width >= BAR_MIN_WIDTH) {
		at->bar_x = x;
		x += BAR_WIDTH + 1;
	}
	at->shares[0].x = x;
	at->shares[0].width = SHARE_WIDTH;
	at->shares[0].event = at->event;
	at->n_events = 1;
	at->number_x = x + SHARE_WIDTH + 2;
}

static struct layout lay_out(struct annotate_view *state, struct screen *screen, struct area area)
{
	struct layout at = {
		.state = state,
		.screen = screen,
		.canvas = &screen->canvas,
		.width = area.width,
		.event = annotate_event_index(screen->model),
		.source_only = screen->model->code_mode == ANNOTATE_SOURCE && state->head.has_lines,
	};
	int digits = at.source_only || state->line_width > state->address_width
		? state->line_width
		: state->address_width;

	lay_out_shares(&at, state);
	at.text_x = at.number_x;
	if (area.width >= ADDRESS_MIN_WIDTH || at.source_only) {
		at.number_width = digits < 4 ? 4 : digits;
		at.text_x += at.number_width + 2;
	}
	at.arrows_x = at.text_x;
	if (!state->no_arrows && !at.source_only && area.width >= ARROWS_MIN_WIDTH &&
		state->arrows.levels) {
		int most = area.width >= ARROWS_ALL_WIDTH ? ARROWS_LEVELS : 2;

		at.levels = state->arrows.levels < most ? state->arrows.levels : most;
		at.text_x += at.levels + 2;
	}
	return at;
}

/* --- heads --- */

static const char *mode_name(const struct annotate_view *state, const struct model *model)
{
	static const char *const names[] = {"source + code", "source", "code"};

	if (state->progress == ANNOTATE_FAILED)
		return "addresses";
	return names[state->head.has_lines ? model->code_mode : ANNOTATE_ASSEMBLY];
}

/* The syntax is shown only with disassembled instructions. */
static bool has_syntax(const struct annotate_view *state, const struct model *model)
{
	return state->progress == ANNOTATE_READY &&
		(model->code_mode != ANNOTATE_SOURCE || !state->head.has_lines);
}

/* Writes as much as fits: most = 3 for everything, 0 for the share only.  The event is also among
 * the tabs. */
static void tell_facts(const struct layout *at, int most, char *out, size_t size)
{
	const struct annotate_view *state = at->state;
	const struct model *model = at->screen->model;
	const struct engine_event_status *event = model_event(model, model->event);
	char count[FORMAT_MAX], percent[FORMAT_MAX], samples[FORMAT_MAX + 16];
	const char *syntax = model->code_syntax == DISASM_ATT ? " · AT&T" : " · Intel";
	double share = format_share(state->head.weight[at->event], state->head.whole[at->event]);

	snprintf(samples, sizeof(samples), " · %s samples",
		format_count(count, state->head.samples[at->event]));
	snprintf(out, size, "%s%s%s%s%s%s%s", format_whole(percent, share), most >= 3 ? " of " : "",
		most < 3	? ""
			: event ? event->name
				: "all",
		most >= 2 ? samples : "", most >= 1 ? " · " : "",
		most >= 1 ? mode_name(state, model) : "",
		most >= 1 && has_syntax(state, model) ? syntax : "");
}

static struct area draw_title(const struct layout *at, struct area area)
{
	const struct annotate_head *head = &at->state->head;
	char facts[256], title[SHORTEN_MAX + 64], symbol[SHORTEN_MAX];
	int room, width, most = 4;
	struct area rest;

	do {
		tell_facts(at, --most, facts, sizeof(facts));
		width = width_of(facts);
		room = area.width - width - 8;
	} while (most > 0 && room < width_of(head->symbol));
	shorten_symbol(symbol, head->symbol, room > 8 ? room : 8);
	room -= width_of(symbol) + 3;
	if (room >= width_of(head->image))
		snprintf(title, sizeof(title), "%s · %s", symbol, head->image);
	else
		snprintf(title, sizeof(title), "%s", symbol);
	rest = views_title(at->canvas, area, title);
	if (rest.y != area.y && area.width > width + 12) {
		canvas_glyph(at->canvas, area.x + area.width - width - 3, area.y, ' ', STYLE_DIM);
		canvas_text(at->canvas, area.x + area.width - width - 2, area.y, width, STYLE_DIM,
			facts);
		canvas_glyph(at->canvas, area.x + area.width - 2, area.y, ' ', STYLE_DIM);
	}
	return rest;
}

static const char *text_head(const struct layout *at)
{
	if (at->state->progress == ANNOTATE_FAILED)
		return "";
	if (at->source_only)
		return "SOURCE";
	return at->state->head.has_lines && at->screen->model->code_mode == ANNOTATE_MIXED
		? "SOURCE AND INSTRUCTIONS"
		: "INSTRUCTION";
}

static void draw_heads(const struct layout *at, int y)
{
	const struct model *model = at->screen->model;
	uint8_t ids[ENGINE_EVENTS_TOLD];
	size_t n = model_tabs(model, ids);

	for (int i = 0; i < at->n_events; i++) {
		size_t event = at->shares[i].event;
		const char *name = at->state->side_by_side && event < n && at->n_events > 1
			? model_event(model, ids[event])->name
			: "SHARE";
		int used = width_of(name);

		if (used > at->shares[i].width)
			used = at->shares[i].width;
		canvas_text(at->canvas, at->shares[i].x + at->shares[i].width - used, y, used,
			event == at->event && at->n_events > 1 ? STYLE_HEADER_SORTED : STYLE_HEADER,
			name);
	}
	if (at->number_width) {
		const char *name = at->source_only ? "LINE" : "ADDRESS";
		int used = width_of(name);

		if (used > at->number_width)
			name = "ADDR", used = 4;
		canvas_text(at->canvas, at->number_x + at->number_width - used, y, used,
			STYLE_HEADER, name);
	}
	canvas_text(at->canvas, at->text_x, y, at->width - at->text_x, STYLE_HEADER, text_head(at));
}

/* --- rows --- */

static void draw_shares(const struct layout *at, const struct annotate_row *row, int y)
{
	const struct annotate_view *state = at->state;
	/* Between instructions, a line's share only repeats theirs. */
	bool faint = row->kind == ANNOTATE_ROW_LINE && !at->source_only;

	for (int i = 0; i < at->n_events; i++) {
		size_t event = at->shares[i].event;
		double share = format_share(row->weight[event], state->head.weight[event]);
		char text[FORMAT_MAX];

		if (!row->weight[event])
			continue;
		format_whole(text, share);
		canvas_text(at->canvas, at->shares[i].x + at->shares[i].width - width_of(text), y,
			at->shares[i].width, faint ? STYLE_DIM : views_number_style(share), text);
	}
	if (at->bar_x >= 0 && !faint && row->weight[at->event])
		canvas_bar(at->canvas, at->bar_x, y, BAR_WIDTH,
			format_share(row->weight[at->event], state->hottest),
			views_share_style(format_share(
				row->weight[at->event], state->head.weight[at->event])));
}

/* Draws a bar for each level of inlining; returns x after them. */
static int draw_marks(const struct layout *at, const struct annotate_row *row, int y)
{
	int x = at->text_x;

	for (int i = 0; i < row->depth && i < MARKS_MAX; i++, x += 2)
		canvas_glyph(at->canvas, x, y, 0x2502, STYLE_KERNEL);
	return x;
}

static int put(const struct layout *at, int x, int y, enum style style, const char *text)
{
	return x >= at->width - 1
		? x
		: x + canvas_text(at->canvas, x, y, at->width - 1 - x, style, text);
}

static enum style mnemonic_style(const struct annotate_row *row)
{
	switch (row->code_kind) {
	case CODETAB_JUMP:
	case CODETAB_BRANCH:
	case CODETAB_RETURN:
		return STYLE_TREND;
	case CODETAB_CALL:
		return STYLE_STRIP_WINDOW;
	case CODETAB_BAD:
		return STYLE_DIM;
	default:
		return STYLE_TEXT;
	}
}

/* Returns the offset of a comment, which libopcodes separates by blanks; the length if there is
 * none. */
static size_t comment_of(const char *text)
{
	const char *found = strstr(text, "  #");

	if (!found)
		found = strstr(text, "  //");
	return found ? (size_t)(found - text) : strlen(text);
}

static void draw_code(const struct layout *at, const struct annotate_row *row, int y)
{
	uint64_t shown = row->address ? row->address : row->offset;
	size_t mnemonic = strcspn(row->text, " "), comment = comment_of(row->text);
	char part[512];
	int x = draw_marks(at, row, y);

	if (at->number_width)
		canvas_printf(at->canvas, at->number_x, y, at->number_width, STYLE_DIM, "%*" PRIx64,
			at->number_width, shown);
	else if (!row->text[0])
		x += canvas_printf(
			at->canvas, x, y, at->width - x, STYLE_UNRESOLVED, "%" PRIx64, shown);
	if (comment < mnemonic)
		comment = mnemonic;
	snprintf(part, sizeof(part), "%.*s", (int)mnemonic, row->text);
	x = put(at, x, y, mnemonic_style(row), part);
	snprintf(part, sizeof(part), "%.*s", (int)(comment - mnemonic), row->text + mnemonic);
	x = put(at, x, y, row->code_kind == CODETAB_BAD ? STYLE_DIM : STYLE_TEXT, part);
	x = put(at, x, y, STYLE_DIM, row->text + comment);
	if (row->target_row) {
		snprintf(part, sizeof(part), "%" PRIx64,
			row->address ? row->address + (row->target_offset - row->offset)
				     : row->target_offset);
		put(at, x, y, STYLE_TEXT, part);
	} else if (row->target_text[0]) {
		char name[SHORTEN_MAX];

		put(at, x, y, STYLE_USER,
			shorten_symbol(name, row->target_text,
				at->width - 1 - x > 4 ? at->width - 1 - x : 4));
	}
}

/* A line with samples or instructions has text, so an empty one means that its file is missing. */
static bool lacks_text(const struct layout *at, size_t row)
{
	const struct annotate_view *state = at->state;
	const struct annotate_row *rows = state->rows;

	if (rows[row].text[0])
		return false;
	return !state->head.has_source || rows[row].weight[at->event] ||
		(row + 1 < state->stack[state->n - 1].list.n &&
			rows[row + 1].kind == ANNOTATE_ROW_CODE);
}

/* The end of a path is more useful than its beginning, so directories are cut in front. */
static void put_place(const struct layout *at, int x, int y, const struct annotate_row *row)
{
	char number[16];
	int room;

	snprintf(number, sizeof(number), ":%" PRIu32, row->line);
	room = at->width - 1 - x - width_of(number);
	const char *file = row->file, *slash;
	bool cut = false;

	while (width_of(file) + cut > room && (slash = strchr(file + 1, '/'))) {
		file = slash;
		cut = true;
	}
	if (cut)
		x = put(at, x, y, STYLE_DIM, "…");
	x = put(at, x, y, STYLE_DIM, file);
	put(at, x, y, STYLE_DIM, number);
}

static void draw_line(const struct layout *at, size_t number, int y)
{
	const struct annotate_row *row = &at->state->rows[number];
	int x = draw_marks(at, row, y);

	if (at->number_width && row->line)
		canvas_printf(at->canvas, at->number_x, y, at->number_width, STYLE_DIM, "%*" PRIu32,
			at->number_width, row->line);
	if (lacks_text(at, number))
		put_place(at, x, y, row);
	else
		put(at, x, y, at->source_only ? STYLE_TEXT : STYLE_LIBRARY, row->text);
}

static void draw_function(const struct layout *at, const struct annotate_row *row, int y)
{
	struct annotate_row outer = *row;
	char name[SHORTEN_MAX], where[SHORTEN_MAX + 32];
	const char *slash = strrchr(row->file, '/');
	int x, room;

	outer.depth = row->depth ? (uint8_t)(row->depth - 1) : 0;
	x = draw_marks(at, &outer, y);
	if (row->depth) {
		canvas_glyph(at->canvas, x, y, 0x250c, STYLE_KERNEL);
		x = put(at, x + 2, y, STYLE_KERNEL, "inlined ");
	}
	snprintf(where, sizeof(where), row->line ? "  %s:%" PRIu32 : "  %s",
		slash ? slash + 1 : row->file, row->line);
	room = at->width - 1 - x - width_of(where);
	shorten_symbol(name, row->text, room > 10 ? room : at->width - 1 - x);
	x = put(at, x, y, row->depth ? STYLE_KERNEL : STYLE_TITLE, name);
	if (row->file[0])
		put(at, x, y, STYLE_DIM, where);
}

static void draw_file(const struct layout *at, const struct annotate_row *row, int y)
{
	put(at, at->text_x, y, STYLE_TITLE, row->file);
}

/* Marks all matches of the search in the row's text as drawn. */
static void mark_match(const struct layout *at, int y)
{
	const char *needle = at->state->search;
	const size_t len = strlen(needle);
	const struct canvas *canvas = at->canvas;

	for (int x = at->text_x; len && x + (int)len < canvas->width; x++) {
		const struct cell *cells = &canvas->cells[y * canvas->width + x];
		size_t i = 0;

		for (; i < len; i++) {
			uint32_t a = cells[i].glyph, b = (unsigned char)needle[i];

			a = a >= 'A' && a <= 'Z' ? a | 0x20 : a;
			b = b >= 'A' && b <= 'Z' ? b | 0x20 : b;
			if (a != b)
				break;
		}
		if (i == len)
			canvas_restyle(at->canvas, x, y, (int)len, STYLE_MATCH);
	}
}

static void draw_row(void *ctx, size_t row, int y)
{
	const struct layout *at = ctx;
	const struct annotate_view *state = at->state;
	const struct annotate_row *shown = &state->rows[row];

	switch (shown->kind) {
	case ANNOTATE_ROW_CODE:
		draw_shares(at, shown, y);
		draw_code(at, shown, y);
		break;
	case ANNOTATE_ROW_LINE:
		draw_shares(at, shown, y);
		draw_line(at, row, y);
		break;
	case ANNOTATE_ROW_FUNCTION:
		draw_function(at, shown, y);
		break;
	case ANNOTATE_ROW_FILE:
		draw_file(at, shown, y);
		break;
	}
	if (at->levels)
		arrows_draw(&state->arrows, state->rows, row,
			state->stack[state->n - 1].list.cursor, at->levels, at->canvas,
			at->arrows_x, y);
	mark_match(at, y);
}

/* --- the whole --- */

static void draw_spinner(
	const struct layout *at, struct area area, const char *what, bool esc, uint64_t waiting_ns)
{
	static const char *const frames[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
	static const char *const ascii[] = {"|", "/", "-", "\\"};
	size_t step = (size_t)(waiting_ns / SPIN_NS);
	char text[160];

	snprintf(text, sizeof(text), "%s %s ... %.1f s%s",
		at->canvas->ascii ? ascii[step % 4] : frames[step % 10], what,
		(double)waiting_ns / 1e9, esc ? " (Esc gives up)" : "");
	canvas_text(at->canvas, area.x + 2, area.y, area.width - 3, STYLE_DIM, text);
}

static void draw_waiting(const struct layout *at, struct area area)
{
	uint64_t waiting_ns = at->screen->model->queries->code->waiting_ns(at->screen->model);

	area.y += area.height > 2 ? 1 : 0;
	draw_spinner(at, area, "Looking for the code and its source lines", true, waiting_ns);
}

/* Draws why something is missing, in two lines if one is too short and there is room. */
static struct area draw_told(const struct layout *at, struct area area, const char *told)
{
	enum style style = at->state->progress == ANNOTATE_FAILED || at->state->failed ? STYLE_WARN
										       : STYLE_DIM;
	size_t first = width_fit(told, area.width - 2);
	char line[512];

	if (told[first] && area.height >= TOLD_TWICE_MIN_HEIGHT && first < sizeof(line)) {
		snprintf(line, sizeof(line), "%.*s", (int)first, told);
		canvas_text(at->canvas, area.x + 1, area.y++, area.width - 2, style, line);
		area.height--;
		told += first;
	}
	canvas_text(at->canvas, area.x + 1, area.y++, area.width - 2, style, told);
	area.height--;
	return area;
}

void annotate_draw(struct view *view, struct screen *screen, struct area area)
{
	struct annotate_view *state = view->state;
	struct list *list = &annotate_shown(state)->list;
	struct layout at = lay_out(state, screen, area);
	const char *told = state->failed ? "Out of memory" : state->reason;

	area = draw_title(&at, area);
	if (state->progress == ANNOTATE_WAITS) {
		draw_waiting(&at, area);
		return;
	}
	const uint64_t reading_ns = annotate_reading_ns(state);
	const uint64_t partial_ns = annotate_partial_ns(state);
	const bool shown = told[0] && area.height >= TOLD_MIN_HEIGHT;

	if ((reading_ns || partial_ns) && area.height >= TOLD_MIN_HEIGHT) {
		draw_spinner(&at, area,
			reading_ns ? "Loading source" : "Looking for inlined functions", reading_ns,
			reading_ns ? reading_ns : partial_ns);
		area.y++;
		area.height--;
	} else if (shown)
		area = draw_told(&at, area, told);
	if (area.height >= 5) {
		draw_heads(&at, area.y++);
		area.height--;
	}
	if (!list->n)
		canvas_text(at.canvas, area.x + 2, area.y, area.width - 3, STYLE_DIM,
			told[0] && !shown ? told : "No samples in this time");
	list_draw(list, at.canvas, area, draw_row, &at);
}
