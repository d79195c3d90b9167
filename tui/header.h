/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * header.h - the lines above every view: target, trust, activity strip, event tabs.
 *
 * Lines are left out from the least needed one where there is no room.  Pure drawing; UI thread.
 */
#ifndef TUI_HEADER_H
#define TUI_HEADER_H

#include "tui/canvas.h"
#include "tui/model.h"

/* Rows that the header takes on a screen of this height. */
int header_height(int screen_height);

/* Draw into rows 0 .. header_height() - 1.  tags: what the view leaves out or changes ("filter: foo"), or "". */
void header_draw(const struct model *model, struct canvas *canvas, const char *tags);

/* The event whose tab is at x, y, or the next one where a mark for more is; -1 where there is none.  tags are those
 * of the drawing. */
int header_tab_at(
	const struct model *model, const struct canvas *canvas, const char *tags, int x, int y);

/* The time of the column of the activity strip that is at x, y; false: there is none. */
bool header_time_at(const struct model *model, const struct canvas *canvas, int x, int y,
	uint64_t *from_ns, uint64_t *to_ns);

#endif
