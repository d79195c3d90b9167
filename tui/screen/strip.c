/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * strip.c - see strip.h.
 */
#include "tui/screen/strip.h"

#include "tui/base/format.h"
#include "tui/base/width.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LEFT 1
#define LEAST_ROOM 24
#define LABEL_MAX 48
#define SHORT_NS 9950000000u /* shorter lengths are shown in tenths of seconds */
#define COLUMNS_MAX (4 * MODEL_COLUMNS)

/* The drawn columns; brackets enclose those of the window. */
struct layout {
	uint64_t values[COLUMNS_MAX];
	uint64_t max;
	size_t n;
	size_t first, last; /* columns of the window, half open; equal if it is not on the strip */
	int x; /* x of the first column */
	double from_ns, column_ns; /* start of the first column, and length of each */
	char label[LABEL_MAX];
	int label_width;
};

static void say_length(char out[LABEL_MAX], uint64_t ns)
{
	if (ns < SHORT_NS)
		snprintf(out, LABEL_MAX, "%.1f s", (double)ns / 1e9);
	else if (ns < 600 * MODEL_COLUMN_NS)
		snprintf(out, LABEL_MAX, "%" PRIu64 " s", (ns + 500000000u) / 1000000000u);
	else
		snprintf(out, LABEL_MAX, "%" PRIu64 " min", (ns + 30000000000u) / 60000000000u);
}

static void make_label(const struct model *model, char out[LABEL_MAX])
{
	uint64_t started = model->status.started_ns, ns = model->to_ns - model->from_ns, from;
	char length[LABEL_MAX], at[FORMAT_MAX], tenth[4] = "";

	say_length(length, ns);
	from = model->from_ns > started ? model->from_ns - started : 0;
	if (ns < SHORT_NS)
		snprintf(tenth, sizeof(tenth), ".%u", (unsigned int)(from / 100000000u % 10));
	if (!model->window.selected)
		snprintf(out, LABEL_MAX, "%s %.24s", model->recorded ? "all" : "last", length);
	else
		snprintf(out, LABEL_MAX, "%.16s from %.16s%s", length, format_clock(at, from),
			tenth);
}

/* Scales a whole recording to the width. */
static void take_whole(const struct model *model, struct layout *out, size_t room)
{
	size_t n = model->n_activity;

	out->n = room;
	for (size_t i = 0; i < room; i++) {
		size_t from = i * n / room, to = (i + 1) * n / room;

		if (to == from)
			to++;
		out->values[i] = 0;
		for (size_t at = from; at < to; at++)
			out->values[i] += model->activity[at] / (to - from);
	}
	out->from_ns = (double)model->strip_from_ns;
	out->column_ns = ((double)model->strip_to_ns - out->from_ns) / (double)room;
	out->x = LEFT;
}

/* Takes the newest columns, or those around the window.  Columns are aligned right, where new ones
 * appear. */
static void take_part(const struct model *model, struct layout *out, size_t room)
{
	size_t n = model->n_activity, first;

	out->n = n < room ? n : room;
	first = n - out->n;
	if (model->from_ns > model->strip_from_ns && model->column_ns) {
		size_t window =
			(size_t)((model->from_ns - model->strip_from_ns) / model->column_ns);

		/* A quarter of the visible columns is before the window. */
		if (window < first)
			first = window > out->n / 4 ? window - out->n / 4 : 0;
	} else if (model->window.selected) {
		first = 0;
	}
	memcpy(out->values, model->activity + first, out->n * sizeof(*out->values));
	out->column_ns = (double)model->column_ns;
	out->from_ns = (double)model->strip_from_ns + (double)first * out->column_ns;
	out->x = LEFT + (int)(room - out->n);
}

/* Returns the column of a time, limited to 0 .. n. */
static size_t column_of(const struct layout *layout, double ns)
{
	double column = layout->column_ns > 0 ? (ns - layout->from_ns) / layout->column_ns : 0;

	if (column < 0)
		return 0;
	return column > (double)layout->n ? layout->n : (size_t)column;
}

static bool lay_out(const struct model *model, const struct canvas *canvas, struct layout *out)
{
	size_t room;

	memset(out, 0, sizeof(*out));
	make_label(model, out->label);
	out->label_width = width_of(out->label);
	if (canvas->width < out->label_width + LEAST_ROOM)
		return false;
	room = (size_t)(canvas->width - out->label_width - 6);
	if (room > COLUMNS_MAX)
		room = COLUMNS_MAX;
	if (!model->n_activity)
		return true;
	if (model->recorded)
		take_whole(model, out, room);
	else
		take_part(model, out, room);
	out->first = column_of(out, (double)model->from_ns);
	/* A column belongs to the window unless less than a tenth of it is inside. */
	out->last = column_of(out, (double)model->to_ns + 0.9 * out->column_ns);
	if (out->last == out->first && out->last < out->n)
		out->last++;
	out->max = model->activity_max;
	for (size_t i = 0; i < out->n && !model->activity_max; i++)
		out->max = out->values[i] > out->max ? out->values[i] : out->max;
	return true;
}

static void draw_part(const struct layout *layout, struct canvas *canvas, int x, int y,
	size_t first, size_t last, enum style style)
{
	canvas_spark(canvas, x, y, (int)(last - first), layout->values + first, layout->max, style);
}

/* Marks the column's glyph, or draws a caret in an empty column. */
static void draw_marks(
	const struct layout *layout, const struct marks *marks, struct canvas *canvas, int y)
{
	const double end_ns = layout->from_ns + (double)layout->n * layout->column_ns;
	size_t kept = marks->n < MARKS_KEPT ? marks->n : MARKS_KEPT;
	enum mark_kind shown[COLUMNS_MAX];
	bool is_marked[COLUMNS_MAX] = {false};

	for (size_t i = 0; i < kept; i++) {
		const struct mark *mark = &marks->of[i];
		size_t column = column_of(layout, (double)mark->time_ns);

		if ((double)mark->time_ns < layout->from_ns || (double)mark->time_ns >= end_ns ||
			column >= layout->n)
			continue;
		if (is_marked[column] && mark->kind < shown[column])
			continue;
		is_marked[column] = true;
		shown[column] = mark->kind;
	}
	for (size_t column = 0; column < layout->n; column++) {
		int x = layout->x + (int)column + (column >= layout->first) +
			(column >= layout->last);
		enum style style;

		if (!is_marked[column])
			continue;
		style = shown[column] >= MARK_THROTTLED ? STYLE_BAD : STYLE_MARK;
		if (layout->values[column])
			canvas_restyle(canvas, x, y, 1, style);
		else
			canvas_glyph(canvas, x, y, '^', style);
	}
}

void strip_draw(const struct model *model, struct canvas *canvas, int y)
{
	struct layout layout;
	int x;

	if (!lay_out(model, canvas, &layout))
		return;
	canvas_text(canvas, canvas->width - 1 - layout.label_width, y, layout.label_width,
		model->window.selected ? STYLE_WARN : STYLE_DIM, layout.label);
	if (!layout.n)
		return;
	x = layout.x;
	draw_part(&layout, canvas, x, y, 0, layout.first, STYLE_STRIP);
	x += (int)layout.first;
	canvas_glyph(canvas, x, y, '[', STYLE_ACCENT);
	draw_part(&layout, canvas, x + 1, y, layout.first, layout.last, STYLE_STRIP_WINDOW);
	x += 1 + (int)(layout.last - layout.first);
	canvas_glyph(canvas, x, y, ']', STYLE_ACCENT);
	draw_part(&layout, canvas, x + 1, y, layout.last, layout.n, STYLE_STRIP);
	draw_marks(&layout, &model->marks, canvas, y);
}

bool strip_time_at(const struct model *model, const struct canvas *canvas, int x, uint64_t *from_ns,
	uint64_t *to_ns)
{
	struct layout layout;
	int column;

	if (!lay_out(model, canvas, &layout) || !layout.n || x < layout.x)
		return false;
	column = x - layout.x;
	if (column > (int)layout.first)
		column--;
	if (column > (int)layout.last)
		column--;
	if (column >= (int)layout.n)
		return false;
	*from_ns = (uint64_t)(layout.from_ns + (double)column * layout.column_ns);
	*to_ns = *from_ns + (uint64_t)layout.column_ns;
	return true;
}
