/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * views.h - all views, and shared drawing functions.
 */
#ifndef TUI_VIEWS_VIEWS_H
#define TUI_VIEWS_VIEWS_H

#include "tui/names/names.h"
#include "tui/screen/view.h"
#include "tui/tables/groups.h"

#define VIEWS_NO_SYMBOL UINT32_MAX

extern const struct view_ops view_hot_table;
extern const struct view_ops view_grouped_table; /* the hot table if its rows are not symbols */
/* a list to choose the grouping of the hot table's rows */
extern const struct view_ops view_grouping;
extern const struct view_ops view_breakdown; /* arg: symref */
/* breakdown of all samples, by a field that the user chooses */
extern const struct view_ops view_fields;
extern const struct view_ops view_annotate; /* arg: symref */
/* arg: symref of the butterfly, or VIEWS_NO_SYMBOL for the tree */
extern const struct view_ops view_calls;
/* arg: symref of the frame to select, or VIEWS_NO_SYMBOL */
extern const struct view_ops view_flame;
extern const struct view_ops view_threads;
extern const struct view_ops view_heat;
extern const struct view_ops view_processes;
extern const struct view_ops view_events;
extern const struct view_ops view_counters;
extern const struct view_ops view_log;
extern const struct view_ops view_help; /* arg: enum keys_view of the first section */

/* The views that keys open from everywhere, for screen_init(). */
extern const struct view_entry views_by_key[];

/* Returns the name of a grouping: "image", "CPU", "prev_comm" (raw). */
const char *grouping_name(const struct group_by *by);

/* Draws a title across the area's first row, if there is room.  Returns the area below it. */
struct area views_title(struct canvas *canvas, struct area area, const char *title);

/* Return the style of a bar and of a number by its share of the whole (0..1). */
enum style views_share_style(double share);
enum style views_number_style(double share);
enum style views_symbol_style(const struct symref *symbol);

/* Formats a change against the baseline in percentage points: "+3.1", "-0.4", "="; NAN is "?".
 * Returns out. */
#define VIEWS_CHANGE_MAX 16
const char *views_change_text(char out[VIEWS_CHANGE_MAX], double change);
/* Draws a change that ends at x + width; dim if it is "=" or "?". */
void views_change(struct canvas *canvas, int x, int y, int width, double change);

/* Draws a text in at most width columns, and marks the searched text in it ("": none). */
void views_text(struct canvas *canvas, int x, int y, int width, enum style style, const char *text,
	const char *search);
/* Draws a symbol's name like a text, but shortens it. */
void views_symbol(struct canvas *canvas, int x, int y, int width, enum style style,
	const char *symbol, const char *search);

/* Opens a view of a symbol, or shows why it cannot.  Returns VIEW_* bits. */
unsigned int views_open(
	struct screen *screen, const struct view_ops *ops, uint32_t symref, const char *what);

/* Returns the offset of needle in text, ignoring the case of ASCII letters; -1 if not found. */
long views_match(const char *text, const char *needle);

#endif
