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

#include <stddef.h>
#include <stdint.h>

#define CANVAS_FLAME_SHADES 4
#define CANVAS_KERNEL_SHADES 2
#define CANVAS_CHANGE_SHADES 3
#define CANVAS_HEAT_SHADES 6

/* The meaning of a cell; the theme decides its look. */
enum style {
	STYLE_TEXT,
	STYLE_DIM,
	STYLE_TITLE,
	STYLE_ACCENT, /* live mark, selected tab */
	STYLE_HEADER, /* column titles */
	STYLE_HEADER_SORTED,
	STYLE_SELECTED, /* the cursor's row */
	STYLE_MATCH, /* search hit */
	STYLE_BAR_HOT,
	STYLE_BAR_WARM,
	STYLE_BAR_COOL, /* HOT, WARM, COOL: shares above 10%, above 2%, below */
	STYLE_USER,
	STYLE_KERNEL,
	STYLE_LIBRARY,
	STYLE_UNRESOLVED, /* USER to UNRESOLVED: kinds of images */
	STYLE_TREND,
	STYLE_STRIP,
	STYLE_STRIP_WINDOW,
	STYLE_GOOD,
	STYLE_WARN,
	STYLE_BAD,
	STYLE_KEY,
	STYLE_HINT,
	STYLE_INPUT,
	STYLE_BORDER,
	STYLE_MARK, /* mark on the activity strip */
	/* Boxes with a background: shades by kind of image. */
	STYLE_FLAME_ROOT,
	STYLE_FLAME_USER,
	STYLE_FLAME_LIBRARY = STYLE_FLAME_USER + CANVAS_FLAME_SHADES,
	STYLE_FLAME_KERNEL = STYLE_FLAME_LIBRARY + CANVAS_FLAME_SHADES,
	STYLE_FLAME_UNRESOLVED = STYLE_FLAME_KERNEL + CANVAS_KERNEL_SHADES,
	STYLE_FLAME_SAME, /* unchanged against a baseline */
	STYLE_FLAME_MORE, /* shades; the greatest change is last */
	STYLE_FLAME_LESS = STYLE_FLAME_MORE + CANVAS_CHANGE_SHADES,
	STYLE_FLAME_MATCH = STYLE_FLAME_LESS + CANVAS_CHANGE_SHADES,
	STYLE_HEAT, /* shades; the busiest is last */
	STYLE_COUNT = STYLE_HEAT + CANVAS_HEAT_SHADES
};

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

/* Returns the columns that cleaned text takes. */
int canvas_width_of(const char *text);

/* Returns the bytes of text that fit in width columns; 0 if not even one character fits. */
size_t canvas_prefix(const char *text, int width);

/* Returns the bytes of text for one line of width columns, cut after a blank if there is one.  At
 * least one character, so that wrapping ends. */
size_t canvas_fit(const char *text, int width);

/* Returns the canvas as text for golden tests and 'w'.  Rows end with newlines, without trailing
 * blanks.  The caller frees it; NULL if memory runs out. */
char *canvas_dump(const struct canvas *canvas);

#endif
