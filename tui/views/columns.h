/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * columns.h - chooses and places the hot table's columns for a width.  Pure functions.
 */
#ifndef TUI_VIEWS_COLUMNS_H
#define TUI_VIEWS_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#define COLUMNS_EVENTS_MAX 8

/* width 0: the column is not shown. */
struct column {
	int x, width;
};

struct columns {
	struct column bar, self, total, samples, trend, symbol, image;
	/* side by side; they replace self, total, samples and trend */
	struct column events[COLUMNS_EVENTS_MAX];
	int n_events;
};

/* Lays out symbols.  The symbol keeps 30 columns while others can be dropped: samples, trend, bars,
 * then part of the image. */
void columns_layout(struct columns *columns, int width);

/* Lays out other rows: samples, and a trend column only for `change`.  beside: columns for a text
 * next to the name, if the name keeps 16. */
void columns_layout_grouped(
	struct columns *columns, int width, bool total, bool change, int beside);

/* Lays out n events side by side, as many as fit; wants: width of each, limited to 7..14. */
void columns_layout_events(struct columns *columns, int width, const int *wants, int n);

#endif
