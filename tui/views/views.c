/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * views.c - see views.h.
 */
#include "tui/views/views.h"

#include "tui/base/shorten.h"
#include "tui/base/width.h"
#include "tui/explain/explain.h"
#include "tui/model/queries.h"
#include "tui/screen/screen.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define TITLE_ABOVE 4 /* rows; no title in areas that are not higher */
#define HOT_SHARE 0.10
#define WARM_SHARE 0.02

const struct view_entry views_by_key[] = {
	{ACT_NONE, &view_hot_table, "Hot symbols"},
	{ACT_PROCESSES, &view_processes, "Processes"},
	{ACT_EVENTS, &view_events, "Events"},
	{ACT_HEAT, &view_heat, "Heat map"},
	{ACT_COUNTERS, &view_counters, "Counters"},
	{ACT_LOG, &view_log, "Log"},
	{ACT_HELP, &view_help, "Help"},
	{ACT_NONE, NULL, NULL},
};

struct area views_title(struct canvas *canvas, struct area area, const char *title)
{
	int used;

	/* A small area is better used for rows than for a title. */
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

const char *views_change_text(char out[VIEWS_CHANGE_MAX], double change)
{
	if (isnan(change))
		return strcpy(out, "?");
	snprintf(out, VIEWS_CHANGE_MAX, "%+.1f", 100.0 * change);
	return strcmp(out, "+0.0") && strcmp(out, "-0.0") ? out : strcpy(out, "=");
}

void views_change(struct canvas *canvas, int x, int y, int width, double change)
{
	char text[VIEWS_CHANGE_MAX];

	views_change_text(text, change);
	canvas_text(canvas, x + width - width_of(text), y, width,
		strchr("=?", text[0]) ? STYLE_DIM
			: change > 0  ? STYLE_BAD
				      : STYLE_GOOD,
		text);
}

void views_text(struct canvas *canvas, int x, int y, int width, enum style style, const char *text,
	const char *search)
{
	char part[SHORTEN_MAX];
	int at, found;
	long match = views_match(text, search);

	canvas_text(canvas, x, y, width, style, text);
	if (match < 0)
		return;
	snprintf(part, sizeof(part), "%.*s", (int)match, text);
	at = width_of(part);
	snprintf(part, sizeof(part), "%.*s", (int)strlen(search), text + match);
	found = width_of(part);
	if (at < width)
		canvas_restyle(
			canvas, x + at, y, at + found > width ? width - at : found, STYLE_MATCH);
}

void views_symbol(struct canvas *canvas, int x, int y, int width, enum style style,
	const char *symbol, const char *search)
{
	char text[SHORTEN_MAX];

	/* The searched text may be in a part that is left out. */
	views_text(canvas, x, y, width, style, shorten_symbol(text, symbol, width), search);
}

unsigned int views_open(
	struct screen *screen, const struct view_ops *ops, uint32_t symref, const char *what)
{
	int ret = screen_open(screen, ops, symref);
	char why[256];

	if (ret == -ENODATA) {
		explain_nameless(
			screen->model->queries->symbol(screen->model, symref), why, sizeof(why));
		screen_message(screen, STYLE_WARN, "%s", why);
	} else {
		screen_result(screen, ret, what);
	}
	return VIEW_HANDLED;
}
