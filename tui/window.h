/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * window.h - which part of the history the views show: the newest, which follows the time, or one that was selected.
 *
 * Plain arithmetic on times, CLOCK_MONOTONIC in nanoseconds; ranges are half open.  UI thread.
 */
#ifndef TUI_WINDOW_H
#define TUI_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WINDOW_LENGTH_NS 20000000000ull /* of the live window at first */
#define WINDOW_LEAST_NS 100000000ull /* a slice of the store */

struct window {
	bool selected; /* false: the newest length_ns */
	uint64_t from_ns, to_ns; /* where it is selected */
	uint64_t length_ns; /* of the live one; 0: WINDOW_LENGTH_NS */
};

/* What there is to choose from, and what is shown now. */
struct window_view {
	uint64_t first_ns, last_ns; /* of the history */
	uint64_t from_ns, to_ns; /* shown */
	bool whole; /* the live window is all of the history (a recording) */
};

uint64_t window_length(const struct window *window);

/* Half a window earlier (direction < 0) or later.  What would reach beyond the newest returns to live, but for a
 * recording, whose last part stays selected. */
void window_slide(struct window *window, const struct window_view *view, int direction);

/* Half as long (direction < 0) or twice: a selected one around its middle, a live one up to now. */
void window_scale(struct window *window, const struct window_view *view, int direction);

/* [from_ns, to_ns), in either order, widened to whole slices and at least one, within the history. */
void window_select(
	struct window *window, const struct window_view *view, uint64_t from_ns, uint64_t to_ns);

/* Back to the newest. */
void window_live(struct window *window);

/* The median of the columns that are not skipped (skip may be NULL); 0 where memory is short. */
uint64_t window_median(const uint64_t *columns, const bool *skip, size_t n);

/* The busiest stretch of n columns of activity: around the highest column, as far as the columns stay above the middle
 * between it and the median.  Columns of which skip[] is set count as quiet (skip may be NULL).  [*first, *first + *length);
 * false where there is none: all are 0 or skipped. */
bool window_busiest(
	const uint64_t *columns, const bool *skip, size_t n, size_t *first, size_t *length);

#endif
