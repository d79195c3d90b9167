/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * views.h - the views there are, and what their drawing shares.
 */
#ifndef TUI_VIEWS_VIEWS_H
#define TUI_VIEWS_VIEWS_H

#include "tui/groups.h"
#include "tui/names.h"
#include "tui/view.h"

#define VIEWS_NO_SYMBOL UINT32_MAX

extern const struct view_ops view_hot_table;
extern const struct view_ops view_grouped_table; /* the hot table while its rows are no symbols */
extern const struct view_ops view_grouping; /* what the hot table's rows are, to be chosen */
extern const struct view_ops view_breakdown; /* arg: symref */
extern const struct view_ops
	view_fields; /* the breakdown of all samples, by a field to be chosen */
extern const struct view_ops view_annotate; /* arg: symref */
extern const struct view_ops
	view_calls; /* arg: symref of the butterfly, or VIEWS_NO_SYMBOL: the tree */
extern const struct view_ops
	view_flame; /* arg: symref of the frame to select, or VIEWS_NO_SYMBOL */
extern const struct view_ops view_threads;
extern const struct view_ops view_heat;
extern const struct view_ops view_processes;
extern const struct view_ops view_events;
extern const struct view_ops view_counters;
extern const struct view_ops view_log;
extern const struct view_ops view_help; /* arg: enum keys_view to begin with */

/* What rows are: "image", "CPU", "prev_comm" (raw). */
const char *grouping_name(const struct group_by *by);

/* A line of title across the area's first row, where there is room for it; returns the area below it. */
struct area views_title(struct canvas *canvas, struct area area, const char *title);

/* The style of a bar, and of a number, by its share of the whole (0..1). */
enum style views_share_style(double share);
enum style views_number_style(double share);
enum style views_symbol_style(const struct symref *symbol);

/* A change against the baseline in points of percent: "+3.1", "-0.4", "=". */
#define VIEWS_CHANGE_MAX 16
const char *views_change_text(char out[VIEWS_CHANGE_MAX], double change);
/* The same ending at x + width; dim where there is none. */
void views_change(struct canvas *canvas, int x, int y, int width, double change);

/* A symbol's name in at most width columns, with what was searched in it marked ("": nothing was). */
void views_symbol(struct canvas *canvas, int x, int y, int width, enum style style,
	const char *symbol, const char *search);

/* Open a view of a symbol; where it is refused, say why.  What the view may return. */
unsigned int views_open(
	struct screen *screen, const struct view_ops *ops, uint32_t symref, const char *what);

/* Where needle starts in text, ASCII letters of either case being one; -1 where it does not. */
long views_match(const char *text, const char *needle);

#endif
