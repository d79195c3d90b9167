/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flame_draw.c - draws the flame graph: boxes, the line on the selected frame, the legend of
 * colors.
 */
#include "tui/base/width.h"
#include "tui/views/flame_view.h"

#include "tui/base/format.h"
#include "tui/base/shorten.h"
#include "tui/model/queries.h"
#include "tui/views/views.h"

#include <stdio.h>
#include <string.h>

#define DOT 0x00b7u
#define EDGE 0x258fu /* left one eighth */
#define LEGEND_WIDTH 100 /* columns; the legend is shown from here on */
#define MARGIN 2 /* rows to keep visible around the selected one */
#define ABOVE_ZOOM 4 /* 1/4 of the height is above the zoomed frame */
#define NAME_LEAST 3 /* least columns of a name */
#define OF_ZOOM_WIDTH 100 /* columns; the share of the zoomed frame is shown from here on */

static uint32_t edge_of(const struct canvas *canvas)
{
	return canvas->ascii ? '|' : EDGE;
}

/* Returns one of n shades, always the same for an image. */
static int shade_of(const char *image, int n)
{
	return (int)(format_hash(image, strlen(image)) % (uint32_t)n);
}

static enum style image_style(const struct symref *symbol)
{
	switch (views_symbol_style(symbol)) {
	case STYLE_KERNEL:
		return (enum style)(
			STYLE_FLAME_KERNEL + shade_of(symbol->image, STYLE_KERNEL_SHADES));
	case STYLE_LIBRARY:
		return (enum style)(
			STYLE_FLAME_LIBRARY + shade_of(symbol->image, STYLE_FLAME_SHADES));
	case STYLE_UNRESOLVED:
		return STYLE_FLAME_UNRESOLVED;
	default:
		return (enum style)(STYLE_FLAME_USER + shade_of(symbol->image, STYLE_FLAME_SHADES));
	}
}

/* Percentage points: below the first there is no change, above the last the strongest shade. */
static const double change_steps[STYLE_CHANGE_SHADES] = {0.3, 2.0, 8.0};

static enum style change_style(double change)
{
	const double points = 100.0 * (change < 0 ? -change : change);
	int shade = -1;

	while (shade + 1 < STYLE_CHANGE_SHADES && points >= change_steps[shade + 1])
		shade++;
	if (shade < 0)
		return STYLE_FLAME_SAME;
	return (enum style)((change > 0 ? STYLE_FLAME_MORE : STYLE_FLAME_LESS) + shade);
}

/* Returns a frame's color: by its image, or by its change against the baseline.  New color schemes
 * belong here. */
static enum style colour_of(struct flame_view *flame, struct model *model, uint32_t node)
{
	uint32_t symref = flame->tree.nodes[node].symref;

	if (!node)
		return STYLE_FLAME_ROOT;
	if (flame_matches(flame, model, symref))
		return STYLE_FLAME_MATCH;
	if (flame_tells_change(flame, model))
		return change_style(flame_change(flame, node, false));
	return image_style(model->queries->symbol(model, symref));
}

static const char *name_of(const struct flame_view *flame, struct model *model, uint32_t node)
{
	return node ? model->queries->symbol(model, flame->tree.nodes[node].symref)->symbol : "all";
}

/* Draws the change in points after the name, if there is room for both. */
static void draw_change(struct flame_view *flame, struct canvas *canvas,
	const struct flame_box *box, int y, int used, enum style style)
{
	char text[VIEWS_CHANGE_MAX];
	int width;

	views_change_text(text, flame_change(flame, box->node, false));
	width = width_of(text);
	if (used + width + 2 < box->width)
		canvas_text(canvas, box->x + box->width - 1 - width, y, width, style, text);
}

static void draw_box(struct flame_view *flame, struct model *model, struct canvas *canvas,
	const struct flame_box *box, int y, bool selected)
{
	enum style style = colour_of(flame, model, box->node);
	char name[SHORTEN_MAX];
	int used = 0;

	canvas_glyph(canvas, box->x, y, edge_of(canvas), style);
	canvas_fill(canvas, box->x + 1, y, box->width - 1, ' ', style);
	if (box->width > NAME_LEAST)
		used = canvas_text(canvas, box->x + 1, y, box->width - 1, style,
			shorten_symbol(name, name_of(flame, model, box->node), box->width - 1));
	if (used && box->node && flame_tells_change(flame, model))
		draw_change(flame, canvas, box, y, used, style);
	if (selected)
		canvas_select(canvas, box->x, y, box->width);
}

static void draw_row(struct flame_view *flame, struct model *model, struct canvas *canvas, int row,
	int y, uint32_t selected)
{
	const struct flame_layout *layout = &flame->layout;

	for (uint32_t i = layout->rows[row]; i < layout->rows[row + 1]; i++) {
		const struct flame_box *box = &layout->boxes[i];

		draw_box(flame, model, canvas, box, y, i == selected);
		/* Draws the right edge of a box without a neighbour. */
		if (box->x + box->width < flame->width &&
			(i + 1 == layout->rows[row + 1] ||
				layout->boxes[i + 1].x > box->x + box->width))
			canvas_glyph(canvas, box->x + box->width, y, edge_of(canvas), STYLE_BORDER);
	}
}

/* Fills the space of callees that are too narrow for a box. */
static void draw_narrow(struct flame_view *flame, struct canvas *canvas, int row, int y)
{
	const struct flame_layout *layout = &flame->layout;

	for (uint32_t i = layout->rows[row - 1]; i < layout->rows[row]; i++)
		canvas_fill(
			canvas, layout->boxes[i].x, y, layout->boxes[i].filled, DOT, STYLE_BORDER);
}

/* Scrolls so that the selected frame stays visible, and no row is needlessly empty. */
static void scroll(struct flame_view *flame, uint32_t selected)
{
	int rows = (int)flame->layout.n_rows, most = rows - flame->height, row, zoomed = 0;
	int margin = flame->height >= 4 * MARGIN ? MARGIN : 0;

	for (uint32_t at = flame->zoomed; at; at = flame->tree.nodes[at].parent)
		zoomed++;
	if (flame->settle)
		flame->top = zoomed - flame->height / ABOVE_ZOOM;
	flame->settle = false;
	row = (int)flame_layout_row(&flame->layout, selected);
	if (row - margin < flame->top)
		flame->top = row - margin;
	if (row + margin >= flame->top + flame->height)
		flame->top = row + margin - flame->height + 1;
	if (flame->top > most)
		flame->top = most;
	if (flame->top < 0)
		flame->top = 0;
}

/* --- around the boxes --- */

/* " (+3.1)" */
static void tell_change(char out[32], const struct flame_view *flame, uint32_t box, bool self)
{
	char text[VIEWS_CHANGE_MAX];

	views_change_text(text, flame_change(flame, flame->layout.boxes[box].node, self));
	snprintf(out, 32, " (%s)", text);
}

static void draw_details(struct flame_view *flame, struct model *model, struct canvas *canvas,
	int y, uint32_t selected)
{
	const struct calltree_node *nodes = flame->tree.nodes, *node;
	uint64_t whole = nodes[0].sums.total, zoomed = nodes[flame->zoomed].sums.total;
	const struct symref *symbol;
	char text[SHORTEN_MAX], numbers[160], count[FORMAT_MAX], of_zoom[FORMAT_MAX + 16] = "";
	char total[FORMAT_MAX], self[FORMAT_MAX];
	char total_change[32] = "", self_change[32] = "";
	int width = flame->width, room, x = 1;

	if (selected == FLAME_NONE)
		return;
	node = &nodes[flame->layout.boxes[selected].node];
	if (flame->zoomed && width >= OF_ZOOM_WIDTH)
		snprintf(of_zoom, sizeof(of_zoom), " (%s of zoom)",
			format_whole(total, format_share(node->sums.total, zoomed)));
	format_count(count, node->sums.samples);
	if (model->has_baseline) {
		tell_change(total_change, flame, selected, false);
		tell_change(self_change, flame, selected, true);
	}
	if (node == nodes)
		snprintf(numbers, sizeof(numbers), "%s samples", count);
	else
		snprintf(numbers, sizeof(numbers), "total %s%s%s  self %s%s, %s samples",
			format_whole(total, format_share(node->sums.total, whole)), total_change,
			of_zoom, format_whole(self, format_share(node->sums.self, whole)),
			self_change, count);
	room = width - 2 - width_of(numbers) - 2;
	if (room < NAME_LEAST)
		room = width - 2;
	else
		canvas_text(canvas, width - 1 - width_of(numbers), y, width, STYLE_TEXT, numbers);
	if (node == nodes) {
		canvas_text(canvas, x, y, room, STYLE_TITLE, "all");
		return;
	}
	symbol = model->queries->symbol(model, node->symref);
	x += canvas_text(
		canvas, x, y, room, STYLE_TITLE, shorten_symbol(text, symbol->symbol, room));
	room -= x + 1;
	if (room > NAME_LEAST)
		canvas_text(
			canvas, x + 2, y, room, STYLE_DIM, shorten_file(text, symbol->image, room));
}

struct legend {
	enum style style;
	const char *name;
};

static const struct legend images[] = {
	{STYLE_FLAME_USER, "program"},
	{STYLE_FLAME_LIBRARY, "library"},
	{STYLE_FLAME_KERNEL, "kernel"},
	{STYLE_FLAME_UNRESOLVED, "no symbol"},
};

static const struct legend changes[] = {
	{STYLE_FLAME_LESS + STYLE_CHANGE_SHADES - 1, "less than the baseline"},
	{STYLE_FLAME_SAME, "the same"},
	{STYLE_FLAME_MORE + STYLE_CHANGE_SHADES - 1, "more"},
};

static void draw_legend(struct canvas *canvas, int y, bool change)
{
	const struct legend *kinds = change ? changes : images;
	size_t n = change ? sizeof(changes) / sizeof(*changes) : sizeof(images) / sizeof(*images);
	int x = canvas->width - 1 - width_of(" ·narrower ");

	canvas_text(canvas, x, y, canvas->width, STYLE_DIM, " ·narrower ");

	for (size_t i = n; i-- > 0;) {
		x -= width_of(kinds[i].name) + 3;
		canvas_glyph(canvas, x, y, ' ', STYLE_BORDER);
		canvas_glyph(canvas, x + 1, y, edge_of(canvas), kinds[i].style);
		canvas_text(canvas, x + 2, y, canvas->width, kinds[i].style, kinds[i].name);
		canvas_glyph(canvas, x + 2 + width_of(kinds[i].name), y, ' ', STYLE_BORDER);
	}
}

static struct area draw_title(
	struct flame_view *flame, struct model *model, struct canvas *canvas, struct area area)
{
	char title[SHORTEN_MAX + 64], name[SHORTEN_MAX];
	struct area below;

	snprintf(title, sizeof(title), "flame graph");
	if (flame->n_zooms) {
		uint32_t symref = flame->zoom.symrefs[flame->zooms[flame->n_zooms - 1] - 1];

		snprintf(title, sizeof(title), "flame graph of %s%s",
			shorten_symbol(name, model->queries->symbol(model, symref)->symbol,
				area.width > 60 ? area.width - 50 : 10),
			flame->gone ? ": no samples now" : "");
	}
	below = views_title(canvas, area, title);
	if (below.y > area.y && area.width >= LEGEND_WIDTH)
		draw_legend(canvas, area.y, flame_tells_change(flame, model));
	return below;
}

static const char *nothing(const struct flame_view *flame, const struct model *model)
{
	if (flame->error)
		return "Out of memory";
	if ((model->n_crumbs || model->filters[0]) && model->status.state != ENGINE_STARTING)
		return "No samples in this time pass the filters";
	if (model->status.state == ENGINE_RUNNING || model->recorded)
		return "No samples in this time";
	return model->status.state == ENGINE_STARTING ? "Opening the events ..."
						      : "No samples were taken";
}

void flame_draw(struct view *view, struct screen *screen, struct area area)
{
	struct flame_view *flame = view->state;
	struct model *model = screen->model;
	struct canvas *canvas = &screen->canvas;
	int top = area.y;
	uint32_t selected;

	if (flame->width != area.width)
		flame_lay_out(flame, model, area.width);
	area = draw_title(flame, model, canvas, area);
	selected = flame_selected_box(flame);
	flame->y = area.y - top;
	if (selected == FLAME_NONE) {
		flame->height = 0;
		canvas_text(canvas, 2, area.y, area.width - 3, STYLE_DIM, nothing(flame, model));
		return;
	}
	if (area.height >= 3) {
		area.height--;
		draw_details(flame, model, canvas, area.y + area.height, selected);
	}
	flame->height = area.height;
	scroll(flame, selected);
	for (int i = 0; i < area.height && flame->top + i <= (int)flame->layout.n_rows; i++) {
		int row = flame->top + i;
		int y = flame->upwards ? area.y + area.height - 1 - i : area.y + i;

		if (row)
			draw_narrow(flame, canvas, row, y);
		if (row < (int)flame->layout.n_rows)
			draw_row(flame, model, canvas, row, y, selected);
	}
}
