/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * strip.h - the activity strip: the history as columns, with the window in brackets.  UI thread.
 */
#ifndef TUI_SCREEN_STRIP_H
#define TUI_SCREEN_STRIP_H

#include "tui/model/model.h"
#include "tui/terminal/canvas.h"

#include <stdbool.h>
#include <stdint.h>

/* Draws the strip over all of row y; draws nothing if the canvas is too narrow. */
void strip_draw(const struct model *model, struct canvas *canvas, int y);

/* Returns the time range of the column at x, if strip_draw() has one there; else false. */
bool strip_time_at(const struct model *model, const struct canvas *canvas, int x, uint64_t *from_ns,
	uint64_t *to_ns);

#endif
