/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * canvas.h - a grid of styled characters, which views draw on, the terminal shows and screen tests
 * compare.
 *
 * Drawing clips to the canvas and never fails.  Text must be cleaned (clean.h).  Wide characters
 * take two columns, combining ones are dropped.  UI thread.
 */
#ifndef TUI_TERMINAL_CANVAS_H
#define TUI_TERMINAL_CANVAS_H

#include "tui/controls/style.h"

#include <stddef.h>
#include <stdint.h>

struct cell {
	uint32_t glyph; /* Unicode; 0: the right half of a wide character */
	uint8_t style;
	uint8_t selected; /* drawn on the background of STYLE_SELECTED */
};

struct canvas {
	int width, height;
	int ascii; /* draws only ASCII glyphs */
	struct cell *cells; /* width * height, by rows */
};

int canvas_init(struct canvas *canvas, int width, int height, int ascii); /* 0 or -ENOMEM */
int canvas_resize(struct canvas *canvas, int width, int height);
void canvas_fini(struct canvas *canvas);
void canvas_clear(struct canvas *canvas);

/* Draw at most max_width columns; a cut text ends in an ellipsis.  Return the columns used. */
int canvas_text(
	struct canvas *canvas, int x, int y, int max_width, enum style style, const char *text);
int canvas_printf(struct canvas *canvas, int x, int y, int max_width, enum style style,
	const char *format, ...) __attribute__((format(printf, 6, 7)));
void canvas_fill(struct canvas *canvas, int x, int y, int width, uint32_t glyph, enum style style);
void canvas_glyph(struct canvas *canvas, int x, int y, uint32_t glyph, enum style style);
void canvas_select(struct canvas *canvas, int x, int y, int width);
void canvas_select_row(struct canvas *canvas, int y);
/* Changes the style of cells already drawn, for search hits. */
void canvas_restyle(struct canvas *canvas, int x, int y, int width, enum style style);

/* Draw a horizontal bar of fraction (0..1) of width columns, in eighths, or a sparkline of n values
 * scaled to max. */
void canvas_bar(struct canvas *canvas, int x, int y, int width, double fraction, enum style style);
void canvas_spark(struct canvas *canvas, int x, int y, int n, const uint64_t *values, uint64_t max,
	enum style style);

/* Returns the canvas as text for golden tests and 'w'.  Rows end with newlines, without trailing
 * blanks.  The caller frees it; NULL if memory runs out. */
char *canvas_dump(const struct canvas *canvas);

#endif
