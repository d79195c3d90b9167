/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * strip.h - the activity strip: history as a row of columns, with the window in brackets.  UI thread.
 */
#ifndef TUI_STRIP_H
#define TUI_STRIP_H

#include "tui/canvas.h"
#include "tui/model.h"

#include <stdbool.h>
#include <stdint.h>

/* Over all of row y; nothing where it is too narrow. */
void strip_draw(const struct model *model, struct canvas *canvas, int y);

/* The time of the column at x, as strip_draw() places it; false: there is none. */
bool strip_time_at(const struct model *model, const struct canvas *canvas, int x, uint64_t *from_ns,
	uint64_t *to_ns);

#endif
