/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * screen_private.h - what the parts of the screen's manager share: screen.c, screen_hints.c, screen_time.c.
 */
#ifndef TUI_SCREEN_PRIVATE_H
#define TUI_SCREEN_PRIVATE_H

#include "tui/screen.h"

/* Why a recording has no answer to an action; NULL: it has. */
const char *screen_refusal(const struct model *model, enum action action);

void screen_draw_hints(struct screen *screen, int y);

/* ACT_EARLIER .. ACT_LIVE; what they changed. */
unsigned int screen_move_in_time(struct screen *screen, enum action action);
unsigned int screen_mark_baseline(struct screen *screen);
void screen_compare_with(struct screen *screen, const char *path);
/* The mouse was released: whether a time was selected by it. */
bool screen_select_time(struct screen *screen, const struct input *input);

#endif
