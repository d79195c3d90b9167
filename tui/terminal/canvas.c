/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * canvas.c - the grid of styled characters.
 *
 * Character widths come from a small table here, so a drawing and a golden text are the same in
 * every locale.  term.c replaces characters that have another width in the terminal's locale.
 */
#include "tui/terminal/canvas.h"

#include "tui/base/utf8.h"
#include "tui/base/width.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELLIPSIS 0x2026u

/* ASCII replacements for the glyphs that strobe itself draws. */
static const struct {
	uint32_t glyph;
	char ascii;
} substitutes[] = {
	{0x00ab, '<'},
	{0x00b7, '.'},
	{0x00bb, '>'},
	{0x2026, '~'},
	{0x2014, '-'},
	{0x2013, '-'},
	{0x2039, '<'},
	{0x203a, '>'},
	{0x2190, '<'},
	{0x2191, '^'},
	{0x2192, '>'},
	{0x2193, 'v'},
	{0x21b5, '<'},
	{0x2500, '-'},
	{0x2502, '|'},
	{0x250c, '+'},
	{0x2510, '+'},
	{0x2514, '+'},
	{0x2518, '+'},
	{0x251c, '+'},
	{0x2524, '+'},
	{0x253c, '+'},
	{0x2581, '_'},
	{0x2582, '.'},
	{0x2583, '-'},
	{0x2584, '='},
	{0x2585, '+'},
	{0x2586, '*'},
	{0x2587, '%'},
	{0x2588, '#'},
	{0x2589, '#'},
	{0x258a, '='},
	{0x258b, '='},
	{0x258c, '='},
	{0x258d, '-'},
	{0x258e, '-'},
	{0x258f, ' '},
	{0x2591, '.'},
	{0x2592, ':'},
	{0x2593, '%'},
	{0x25a0, '#'},
	{0x25b2, '^'},
	{0x25b8, '>'},
	{0x25bc, 'v'},
	{0x25be, 'v'},
	{0x25cb, 'o'},
	{0x25cf, '*'},
	{0x2713, 'x'},
	{0x275a, '|'},
	{0x00d7, 'x'},
};

static bool is_control(uint32_t glyph)
{
	return glyph < ' ' || (glyph >= 0x7f && glyph < 0xa0);
}

static uint32_t to_ascii(uint32_t glyph)
{
	if (glyph < 0x7f)
		return is_control(glyph) ? '?' : glyph;
	for (size_t i = 0; i < sizeof(substitutes) / sizeof(*substitutes); i++) {
		if (substitutes[i].glyph == glyph)
			return (uint32_t)substitutes[i].ascii;
	}
	return '?';
}

static struct cell *allocate(int width, int height)
{
	if (width < 1 || height < 1)
		return NULL;
	return calloc((size_t)width * (size_t)height, sizeof(struct cell));
}

int canvas_init(struct canvas *canvas, int width, int height, int ascii)
{
	memset(canvas, 0, sizeof(*canvas));
	canvas->ascii = ascii;
	return canvas_resize(canvas, width, height);
}

int canvas_resize(struct canvas *canvas, int width, int height)
{
	struct cell *cells;

	if (width < 1)
		width = 1;
	if (height < 1)
		height = 1;
	cells = allocate(width, height);
	if (!cells)
		return -ENOMEM;
	free(canvas->cells);
	canvas->cells = cells;
	canvas->width = width;
	canvas->height = height;
	canvas_clear(canvas);
	return 0;
}

void canvas_fini(struct canvas *canvas)
{
	free(canvas->cells);
	memset(canvas, 0, sizeof(*canvas));
}

void canvas_clear(struct canvas *canvas)
{
	size_t n = (size_t)canvas->width * (size_t)canvas->height;

	for (size_t i = 0; i < n; i++)
		canvas->cells[i] = (struct cell){.glyph = ' ', .style = STYLE_TEXT};
}

static struct cell *cell_at(struct canvas *canvas, int x, int y)
{
	return &canvas->cells[(size_t)y * (size_t)canvas->width + (size_t)x];
}

/* Sets a cell.  Overwriting one half of a wide character blanks the other. */
static void put(struct canvas *canvas, int x, int y, uint32_t glyph, enum style style)
{
	struct cell *cell;

	if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height)
		return;
	cell = cell_at(canvas, x, y);
	if (!cell->glyph && x > 0 && glyph)
		cell[-1].glyph = ' ';
	if (x + 1 < canvas->width && !cell[1].glyph)
		cell[1].glyph = ' ';
	cell->glyph = glyph;
	cell->style = (uint8_t)style;
}

void canvas_glyph(struct canvas *canvas, int x, int y, uint32_t glyph, enum style style)
{
	if (canvas->ascii)
		glyph = to_ascii(glyph);
	if (width_of_glyph(glyph) != 1 || is_control(glyph))
		glyph = '?';
	put(canvas, x, y, glyph, style);
}

void canvas_fill(struct canvas *canvas, int x, int y, int width, uint32_t glyph, enum style style)
{
	for (int i = 0; i < width && x + i < canvas->width; i++)
		canvas_glyph(canvas, x + i, y, glyph, style);
}

int canvas_text(
	struct canvas *canvas, int x, int y, int max_width, enum style style, const char *text)
{
	bool cut;
	int room, used = 0;
	uint32_t glyph;

	if (max_width <= 0 || y < 0 || y >= canvas->height)
		return 0;
	cut = width_of(text) > max_width;
	room = cut ? max_width - 1 : max_width;
	while ((glyph = width_next_glyph(&text))) {
		int width = width_of_glyph(glyph);

		if (width == 0)
			continue;
		if (used + width > room)
			break;
		if (canvas->ascii) {
			put(canvas, x + used, y, to_ascii(glyph), style);
			if (width == 2)
				put(canvas, x + used + 1, y, ' ', style);
		} else if (width == 2 && x + used + 1 >= canvas->width) {
			put(canvas, x + used, y, ' ', style);
		} else {
			put(canvas, x + used, y, is_control(glyph) ? '?' : glyph, style);
			if (width == 2)
				put(canvas, x + used + 1, y, 0, style);
		}
		used += width;
	}
	if (cut)
		canvas_glyph(canvas, x + used++, y, ELLIPSIS, style);
	return used;
}

int canvas_printf(struct canvas *canvas, int x, int y, int max_width, enum style style,
	const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return canvas_text(canvas, x, y, max_width, style, text);
}

void canvas_select(struct canvas *canvas, int x, int y, int width)
{
	if (y < 0 || y >= canvas->height)
		return;
	for (int i = 0; i < width; i++) {
		if (x + i >= 0 && x + i < canvas->width)
			cell_at(canvas, x + i, y)->selected = 1;
	}
}

void canvas_select_row(struct canvas *canvas, int y)
{
	canvas_select(canvas, 0, y, canvas->width);
}

void canvas_restyle(struct canvas *canvas, int x, int y, int width, enum style style)
{
	if (y < 0 || y >= canvas->height)
		return;
	for (int i = 0; i < width; i++) {
		if (x + i >= 0 && x + i < canvas->width)
			cell_at(canvas, x + i, y)->style = (uint8_t)style;
	}
}

void canvas_bar(struct canvas *canvas, int x, int y, int width, double fraction, enum style style)
{
	int eighths;

	if (!(fraction > 0.0))
		fraction = 0.0;
	else if (fraction > 1.0)
		fraction = 1.0;
	eighths = (int)(fraction * 8.0 * width + 0.5);
	for (int i = 0; i < width; i++, eighths -= 8) {
		uint32_t glyph = ' ';

		if (eighths >= 8)
			glyph = 0x2588;
		else if (eighths > 0)
			glyph = 0x2590u - (uint32_t)eighths; /* one eighth is U+258F */
		canvas_glyph(canvas, x + i, y, glyph, style);
	}
}

void canvas_spark(struct canvas *canvas, int x, int y, int n, const uint64_t *values, uint64_t max,
	enum style style)
{
	for (int i = 0; i < n; i++) {
		uint32_t glyph = ' ';

		if (values[i] && max) {
			double level = (double)values[i] / (double)max * 8.0 + 0.5;

			glyph = 0x2580u + (level < 1.0 ? 1u : level >= 8.0 ? 8u : (uint32_t)level);
		}
		canvas_glyph(canvas, x + i, y, glyph, style);
	}
}

char *canvas_dump(const struct canvas *canvas)
{
	size_t width = (size_t)canvas->width, height = (size_t)canvas->height;
	char *out = malloc((width * 4 + 1) * height + 1);
	size_t len = 0;

	if (!out)
		return NULL;
	for (size_t y = 0; y < height; y++) {
		const struct cell *row = canvas->cells + y * width;
		size_t used = width;

		while (used > 0 && row[used - 1].glyph == ' ')
			used--;
		for (size_t x = 0; x < used; x++) {
			if (row[x].glyph)
				len += utf8_encode(row[x].glyph, out + len);
		}
		out[len++] = '\n';
	}
	out[len] = '\0';
	return out;
}
