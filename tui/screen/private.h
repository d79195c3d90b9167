/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * private.h - shared by screen.c, hints.c and time.c.
 */
#ifndef TUI_SCREEN_PRIVATE_H
#define TUI_SCREEN_PRIVATE_H

#include "tui/screen/screen.h"

/* Returns why an action is not possible with a recording; NULL if it is possible. */
const char *screen_refusal(const struct model *model, enum action action);

void screen_draw_hints(struct screen *screen, int y);

/* Handles ACT_EARLIER to ACT_LIVE.  Returns VIEW_* bits. */
unsigned int screen_move_in_time(struct screen *screen, enum action action);
unsigned int screen_mark_baseline(struct screen *screen);
void screen_compare_with(struct screen *screen, const char *path);
/* Handles the release of the mouse button.  Returns whether it selected a time. */
bool screen_select_time(struct screen *screen, const struct input *input);

#endif
