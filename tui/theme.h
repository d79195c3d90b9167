/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * theme.h - what each style looks like, for every depth of colour.  Plain data; any thread.
 */
#ifndef TUI_THEME_H
#define TUI_THEME_H

#include "tui/canvas.h"

#include <stdbool.h>
#include <stdint.h>

enum theme_depth { THEME_MONO, THEME_8, THEME_16, THEME_256, THEME_RGB };

#define THEME_DEFAULT (-1) /* the terminal's own colour */

enum theme_attr {
	THEME_BOLD = 1,
	THEME_DIM = 2,
	THEME_UNDERLINE = 4,
	THEME_REVERSE = 8,
};

struct theme_look {
	int32_t fg, bg; /* a colour number of the depth, 0xRRGGBB for THEME_RGB, or THEME_DEFAULT */
	unsigned int attrs;
};

/* The look of a style, alone or on the selected row. */
struct theme_look theme_look(enum theme_depth depth, enum style style, bool selected);

#endif
