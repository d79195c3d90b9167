/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * columns.h - which columns the hot table has at a width, and where.  Pure functions.
 */
#ifndef TUI_VIEWS_COLUMNS_H
#define TUI_VIEWS_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#define COLUMNS_EVENTS_MAX 8

/* x and width of each; width 0: not there. */
struct column {
	int x, width;
};

struct columns {
	struct column bar, self, total, samples, trend, symbol, image;
	struct column events[COLUMNS_EVENTS_MAX]; /* side by side, in place of self .. trend */
	int n_events;
};

/* The symbol keeps 30 columns as long as anything else can go: samples, trend, bars, then width of the image. */
void columns_layout(struct columns *columns, int width);

/* The same for rows that are no symbols: no trend, but samples; `beside` columns for what stands beside the name, as long as that
 * keeps 16. */
void columns_layout_grouped(
	struct columns *columns, int width, bool total, bool change, int beside);

/* The same for n events side by side, each at most `wants` columns wide; as many as fit. */
void columns_layout_events(struct columns *columns, int width, const int *wants, int n);

#endif
