/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * picture.c - see picture.h.
 *
 * Adjacent cells of one row with the same look form a run.  In SVG, words have the width of their
 * columns in any font, and blanks are drawn only if they have a background.
 */
#include "tui/terminal/picture.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CELL_WIDTH 8.4
#define CELL_HEIGHT 17
#define FONT_SIZE 14
#define BASELINE 13
#define MARGIN 8

enum picture_form picture_form_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	if (dot && (!strcasecmp(dot, ".html") || !strcasecmp(dot, ".htm")))
		return PICTURE_HTML;
	return dot && !strcasecmp(dot, ".svg") ? PICTURE_SVG : PICTURE_TEXT;
}

/* Returns the visible colours of a cell: paper colours replace the terminal's defaults, and
 * reversed colours are swapped. */
static struct theme_look seen(const struct theme *theme, const struct cell *cell)
{
	struct theme_look look =
		theme_look(theme, THEME_RGB, (enum style)cell->style, cell->selected != 0);
	int32_t fg, bg;

	theme_paper(theme->kind, &fg, &bg);
	if (look.fg == THEME_DEFAULT)
		look.fg = fg;
	if (look.bg == THEME_DEFAULT)
		look.bg = bg;
	if (look.attrs & THEME_REVERSE) {
		int32_t other = look.fg;

		look.fg = look.bg;
		look.bg = other;
	}
	look.attrs &= ~(unsigned int)THEME_REVERSE;
	return look;
}

static bool same(const struct theme_look *a, const struct theme_look *b)
{
	return a->fg == b->fg && a->bg == b->bg && a->attrs == b->attrs;
}

static void put_glyph(FILE *out, uint32_t glyph)
{
	if (glyph == '<')
		fputs("&lt;", out);
	else if (glyph == '>')
		fputs("&gt;", out);
	else if (glyph == '&')
		fputs("&amp;", out);
	else if (glyph < 0x80)
		putc((int)glyph, out);
	else if (glyph < 0x800)
		fprintf(out, "%c%c", (int)(0xc0 | glyph >> 6), (int)(0x80 | (glyph & 0x3f)));
	else if (glyph < 0x10000)
		fprintf(out, "%c%c%c", (int)(0xe0 | glyph >> 12), (int)(0x80 | (glyph >> 6 & 0x3f)),
			(int)(0x80 | (glyph & 0x3f)));
	else
		fprintf(out, "%c%c%c%c", (int)(0xf0 | glyph >> 18),
			(int)(0x80 | (glyph >> 12 & 0x3f)), (int)(0x80 | (glyph >> 6 & 0x3f)),
			(int)(0x80 | (glyph & 0x3f)));
}

static void put_glyphs(FILE *out, const struct cell *cells, int n)
{
	for (int i = 0; i < n; i++)
		if (cells[i].glyph)
			put_glyph(out, cells[i].glyph);
}

/* Returns the length of the run at x, and its look. */
static int run_of(const struct canvas *canvas, const struct theme *theme, int x, int y,
	struct theme_look *look)
{
	const struct cell *row = canvas->cells + (size_t)y * (size_t)canvas->width;
	int end = x + 1;

	*look = seen(theme, &row[x]);
	while (end < canvas->width) {
		struct theme_look next = seen(theme, &row[end]);

		if (!same(look, &next))
			break;
		end++;
	}
	return end - x;
}

static void html_run(FILE *out, const struct cell *cells, int n, const struct theme_look *look)
{
	fprintf(out, "<span style=\"color:#%06x;background:#%06x%s%s%s\">", (unsigned int)look->fg,
		(unsigned int)look->bg, look->attrs & THEME_BOLD ? ";font-weight:bold" : "",
		look->attrs & THEME_UNDERLINE ? ";text-decoration:underline" : "",
		look->attrs & THEME_DIM ? ";opacity:.7" : "");
	put_glyphs(out, cells, n);
	fputs("</span>", out);
}

static void write_html(FILE *out, const struct canvas *canvas, const struct theme *theme)
{
	struct theme_look look;
	int32_t fg, bg;

	theme_paper(theme->kind, &fg, &bg);
	fprintf(out,
		"<!DOCTYPE html>\n<html><head><meta "
		"charset=\"utf-8\"><title>strobe</title></head>\n"
		"<body style=\"background:#%06x\"><pre style=\"color:#%06x;font:%dpx/1.2 "
		"monospace\">\n",
		(unsigned int)bg, (unsigned int)fg, FONT_SIZE);
	for (int y = 0; y < canvas->height; y++) {
		const struct cell *row = canvas->cells + (size_t)y * (size_t)canvas->width;

		for (int x = 0, n; x < canvas->width; x += n) {
			n = run_of(canvas, theme, x, y, &look);
			html_run(out, row + x, n, &look);
		}
		putc('\n', out);
	}
	fputs("</pre></body></html>\n", out);
}

/* Returns the length of the words at *at that are separated by single blanks; 0 if none.  Viewers
 * merge several blanks into one.  Moves *at to the first word. */
static int words_of(const struct cell *cells, int n, int *at)
{
	int end;

	while (*at < n && cells[*at].glyph == ' ')
		++*at;
	for (end = *at; end < n; end++)
		if (cells[end].glyph == ' ' && (end + 1 == n || cells[end + 1].glyph == ' '))
			break;
	return end - *at;
}

static void svg_run(FILE *out, const struct cell *cells, int x, int y, int n,
	const struct theme_look *look, int32_t paper)
{
	int top = MARGIN + y * CELL_HEIGHT, length;

	if (look->bg != paper)
		fprintf(out,
			"<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" "
			"fill=\"#%06x\"/>\n",
			MARGIN + x * CELL_WIDTH, top, n * CELL_WIDTH, CELL_HEIGHT,
			(unsigned int)look->bg);
	for (int at = 0; (length = words_of(cells, n, &at)) > 0; at += length) {
		fprintf(out,
			"<text x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" "
			"fill=\"#%06x\"%s%s%s>",
			MARGIN + (x + at) * CELL_WIDTH, top + BASELINE, length * CELL_WIDTH,
			(unsigned int)look->fg,
			look->attrs & THEME_BOLD ? " font-weight=\"bold\"" : "",
			look->attrs & THEME_UNDERLINE ? " text-decoration=\"underline\"" : "",
			look->attrs & THEME_DIM ? " opacity=\".7\"" : "");
		put_glyphs(out, cells + at, length);
		fputs("</text>\n", out);
	}
}

static void write_svg(FILE *out, const struct canvas *canvas, const struct theme *theme)
{
	const double width = canvas->width * CELL_WIDTH + 2 * MARGIN;
	const int height = canvas->height * CELL_HEIGHT + 2 * MARGIN;
	struct theme_look look;
	int32_t fg, bg;

	theme_paper(theme->kind, &fg, &bg);
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%d\" "
		"viewBox=\"0 0 %.0f %d\" font-family=\"monospace\" font-size=\"%d\" "
		"xml:space=\"preserve\">\n<rect width=\"100%%\" height=\"100%%\" "
		"fill=\"#%06x\"/>\n",
		width, height, width, height, FONT_SIZE, (unsigned int)bg);
	for (int y = 0; y < canvas->height; y++) {
		const struct cell *row = canvas->cells + (size_t)y * (size_t)canvas->width;

		for (int x = 0, n; x < canvas->width; x += n) {
			n = run_of(canvas, theme, x, y, &look);
			svg_run(out, row + x, x, y, n, &look, bg);
		}
	}
	fputs("</svg>\n", out);
}

int picture_write(
	FILE *out, const struct canvas *canvas, const struct theme *theme, enum picture_form form)
{
	char *text;

	switch (form) {
	case PICTURE_HTML:
		write_html(out, canvas, theme);
		break;
	case PICTURE_SVG:
		write_svg(out, canvas, theme);
		break;
	default:
		text = canvas_dump(canvas);
		if (!text)
			return -ENOMEM;
		fputs(text, out);
		free(text);
		break;
	}
	return ferror(out) ? -EIO : 0;
}
