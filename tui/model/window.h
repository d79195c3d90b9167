/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * window.h - the part of the history that the views show: the newest, which follows the time, or a
 * selected one.
 *
 * Plain arithmetic on CLOCK_MONOTONIC times in nanoseconds; ranges are half open.  UI thread.
 */
#ifndef TUI_MODEL_WINDOW_H
#define TUI_MODEL_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WINDOW_LENGTH_NS 20000000000ull /* initial length of the live window */
#define WINDOW_LEAST_NS 100000000ull /* length of a slice in the store */

struct window {
	bool selected; /* false: the newest length_ns are shown */
	uint64_t from_ns, to_ns; /* if selected */
	uint64_t length_ns; /* length of the live window; 0: WINDOW_LENGTH_NS */
};

/* The history, and the part that is shown now. */
struct window_view {
	uint64_t first_ns, last_ns; /* range of the history */
	uint64_t from_ns, to_ns; /* range that is shown */
	bool whole; /* the live window is the whole history (a recording) */
};

uint64_t window_length(const struct window *window);

/* Moves half a window earlier (direction < 0) or later.  Beyond the newest samples the window
 * becomes live; in a recording the last part stays selected. */
void window_slide(struct window *window, const struct window_view *view, int direction);

/* Halves (direction < 0) or doubles the length.  A selected window keeps its middle, a live one its
 * end. */
void window_scale(struct window *window, const struct window_view *view, int direction);

/* Selects [from_ns, to_ns), in either order, widened to at least one whole slice, within the
 * history. */
void window_select(
	struct window *window, const struct window_view *view, uint64_t from_ns, uint64_t to_ns);

/* Returns to the newest samples. */
void window_live(struct window *window);

/* Returns the median of the columns that are not skipped (skip may be NULL); 0 if memory runs
 * out. */
uint64_t window_median(const uint64_t *columns, const bool *skip, size_t n);

/* Finds the busiest stretch [*first, *first + *length) of n columns of activity.  It extends from
 * the highest column while columns exceed the middle between it and the median.  skip[] marks quiet
 * columns (may be NULL).  Returns false if all columns are 0 or skipped. */
bool window_busiest(
	const uint64_t *columns, const bool *skip, size_t n, size_t *first, size_t *length);

#endif
