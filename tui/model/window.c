/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * window.c - see window.h.
 *
 * Bounds of selected windows are multiples of a slice's length.  Slices begin there, so that a
 * window never splits a slice of the newest history.
 */
#include "tui/model/window.h"

#include <stdlib.h>
#include <string.h>

static uint64_t down(uint64_t ns)
{
	return ns - ns % WINDOW_LEAST_NS;
}

static uint64_t up(uint64_t ns)
{
	return down(ns + WINDOW_LEAST_NS - 1);
}

uint64_t window_length(const struct window *window)
{
	return window->length_ns ? window->length_ns : WINDOW_LENGTH_NS;
}

void window_live(struct window *window)
{
	window->selected = false;
}

void window_select(
	struct window *window, const struct window_view *view, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t first = down(view->first_ns), last = up(view->last_ns);

	if (from_ns > to_ns) {
		uint64_t other = from_ns;

		from_ns = to_ns;
		to_ns = other;
	}
	from_ns = down(from_ns);
	to_ns = up(to_ns);
	if (from_ns < first)
		from_ns = first;
	if (to_ns > last)
		to_ns = last;
	if (to_ns < from_ns + WINDOW_LEAST_NS) {
		if (from_ns + WINDOW_LEAST_NS > last && from_ns >= first + WINDOW_LEAST_NS)
			from_ns = last - WINDOW_LEAST_NS;
		to_ns = from_ns + WINDOW_LEAST_NS;
	}
	window->selected = true;
	window->from_ns = from_ns;
	window->to_ns = to_ns;
}

void window_slide(struct window *window, const struct window_view *view, int direction)
{
	uint64_t length = up(view->to_ns - view->from_ns), step, from = down(view->from_ns);

	if (length < WINDOW_LEAST_NS)
		length = WINDOW_LEAST_NS;
	step = up(length / 2);
	if (direction < 0) {
		uint64_t first = down(view->first_ns);

		from = from >= first + step ? from - step : first;
		window_select(window, view, from, from + length);
		return;
	}
	if (from + step + length <= up(view->last_ns)) {
		window_select(window, view, from + step, from + step + length);
	} else if (!view->whole) {
		window_live(window);
	} else if (window->selected) {
		uint64_t last = up(view->last_ns);

		window_select(window, view, last > length ? last - length : 0, last);
	}
}

void window_scale(struct window *window, const struct window_view *view, int direction)
{
	uint64_t history = up(view->last_ns) - down(view->first_ns), length, middle;

	if (!window->selected && !view->whole) {
		length = window_length(window);
		length = direction < 0 ? length / 2 : length * 2;
		if (length >= WINDOW_LEAST_NS && (direction < 0 || window_length(window) < history))
			window->length_ns = length;
		return;
	}
	length = view->to_ns - view->from_ns;
	middle = view->from_ns + length / 2;
	length = direction < 0 ? length / 2 : length * 2;
	if (length >= history) {
		if (view->whole)
			window_live(window);
		else
			window_select(window, view, view->first_ns, view->last_ns);
		return;
	}
	if (length < WINDOW_LEAST_NS)
		length = WINDOW_LEAST_NS;
	length = up(length);
	middle = down(middle > length / 2 ? middle - length / 2 : 0);
	if (middle < down(view->first_ns))
		middle = down(view->first_ns);
	if (middle + length > up(view->last_ns))
		middle = up(view->last_ns) - length;
	window_select(window, view, middle, middle + length);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t window_median(const uint64_t *columns, const bool *skip, size_t n)
{
	uint64_t *sorted = malloc(n * sizeof(*sorted)), out;
	size_t used = 0;

	if (!sorted)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (!skip || !skip[i])
			sorted[used++] = columns[i];
	}
	qsort(sorted, used, sizeof(*sorted), compare);
	out = used ? sorted[used / 2] : 0;
	free(sorted);
	return out;
}

bool window_busiest(
	const uint64_t *columns, const bool *skip, size_t n, size_t *first, size_t *length)
{
	uint64_t least;
	size_t best = n, from, to;

	for (size_t i = 0; i < n; i++) {
		if ((skip && skip[i]) || !columns[i])
			continue;
		if (best == n || columns[i] > columns[best])
			best = i;
	}
	if (best == n)
		return false;
	least = window_median(columns, skip, n);
	least += (columns[best] - least) / 2;
	for (from = best; from > 0 && columns[from - 1] > least && !(skip && skip[from - 1]);)
		from--;
	for (to = best + 1; to < n && columns[to] > least && !(skip && skip[to]);)
		to++;
	*first = from;
	*length = to - from;
	return true;
}
