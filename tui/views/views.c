/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * views.c - what the drawing of several views shares.
 */
#include "tui/views/views.h"

#include <string.h>
#include <strings.h>

#define TITLE_ABOVE 4 /* rows */
#define HOT_SHARE 0.10
#define WARM_SHARE 0.02

struct area views_title(struct canvas *canvas, struct area area, const char *title)
{
	int used;

	/* Where rows are few, what is in them must tell it. */
	if (area.height <= TITLE_ABOVE)
		return area;
	canvas_fill(canvas, area.x, area.y, area.width, 0x2500, STYLE_BORDER);
	canvas_glyph(canvas, area.x + 1, area.y, ' ', STYLE_TITLE);
	used = canvas_text(canvas, area.x + 2, area.y, area.width - 4, STYLE_TITLE, title);
	canvas_glyph(canvas, area.x + 2 + used, area.y, ' ', STYLE_TITLE);
	area.y++;
	area.height--;
	return area;
}

enum style views_share_style(double share)
{
	if (share >= HOT_SHARE)
		return STYLE_BAR_HOT;
	return share >= WARM_SHARE ? STYLE_BAR_WARM : STYLE_BAR_COOL;
}

enum style views_number_style(double share)
{
	if (share >= HOT_SHARE)
		return STYLE_BAR_HOT;
	return share >= WARM_SHARE ? STYLE_BAR_WARM : STYLE_TEXT;
}

enum style views_symbol_style(const struct symref *symbol)
{
	if (!symbol->resolved)
		return STYLE_UNRESOLVED;
	if (symbol->kernel)
		return STYLE_KERNEL;
	return strstr(symbol->image, ".so") ? STYLE_LIBRARY : STYLE_USER;
}

long views_match(const char *text, const char *needle)
{
	const char *found = needle[0] ? strcasestr(text, needle) : NULL;

	return found ? (long)(found - text) : -1;
}
