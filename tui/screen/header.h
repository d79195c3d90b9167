/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * header.h - the lines above every view: target, trust, activity strip, event tabs.
 *
 * On small screens, the least important lines are left out.  Only draws; UI thread.
 */
#ifndef TUI_SCREEN_HEADER_H
#define TUI_SCREEN_HEADER_H

#include "tui/model/model.h"
#include "tui/terminal/canvas.h"

/* Returns the number of rows that the header takes on a screen of this height. */
int header_height(int screen_height);

/* Draws into rows 0 .. header_height() - 1.  tags: the view's omissions or changes ("filter:
 * foo"), or "". */
void header_draw(const struct model *model, struct canvas *canvas, const char *tags);

/* Returns the event whose tab is at x, y; on a mark for further tabs, the next event there; else
 * -1.  tags must be those passed to header_draw(). */
int header_tab_at(
	const struct model *model, const struct canvas *canvas, const char *tags, int x, int y);

/* Returns the time range of the activity strip's column at x, y.  Returns false if there is
 * none. */
bool header_time_at(const struct model *model, const struct canvas *canvas, int x, int y,
	uint64_t *from_ns, uint64_t *to_ns);

#endif
