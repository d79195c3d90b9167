/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * theme.h - the look of each style for every color depth.  Plain data; any thread.
 */
#ifndef TUI_CONTROLS_THEME_H
#define TUI_CONTROLS_THEME_H

#include "tui/controls/style.h"

#include <stdbool.h>
#include <stdint.h>

enum theme_depth { THEME_MONO, THEME_8, THEME_16, THEME_256, THEME_RGB };

#define THEME_DEFAULT (-1) /* the terminal's own color */

enum theme_attr {
	THEME_BOLD = 1,
	THEME_DIM = 2,
	THEME_UNDERLINE = 4,
	THEME_REVERSE = 8,
};

struct theme_look {
	int32_t fg, bg; /* color number of the depth, 0xRRGGBB for THEME_RGB, or THEME_DEFAULT */
	unsigned int attrs;
};

enum theme_kind {
	THEME_KIND_DARK,
	THEME_KIND_LIGHT,
	THEME_KIND_MONO,
	THEME_KIND_SAFE, /* does not need red and green to be distinguished */
	THEME_KINDS
};

/* Looks from a configuration, for all themes.  Colors are 0xRRGGBB at any depth. */
struct theme_custom {
	bool given[STYLE_COUNT];
	struct theme_look looks[STYLE_COUNT];
};

struct theme {
	enum theme_kind kind;
	const struct theme_custom *custom; /* borrowed; NULL: none */
};

/* Returns the look of a style, alone or on the selected row. */
struct theme_look theme_look(
	const struct theme *theme, enum theme_depth depth, enum style style, bool selected);

/* Returns the terminal's default colors for output without a terminal: 0xRRGGBB. */
void theme_paper(enum theme_kind kind, int32_t *fg, int32_t *bg);

extern const char *const theme_names[THEME_KINDS + 1]; /* by enum theme_kind; NULL at the end */

/* Names in a configuration (theme_names.c).  theme_style_of() returns STYLE_COUNT if there is no
 * such style. */
const char *theme_style_name(enum style style);
enum style theme_style_of(const char *name);

/* Parses "red", "bright-red", "#ff8700", "default".  Returns false if the name is no color. */
bool theme_color_of(const char *name, int32_t *rgb);

/* Return the nearest of the 256 colors (16 to 255), or of the first n of the 16 colors. */
int32_t theme_nearest_256(int32_t rgb);
int32_t theme_nearest_16(int32_t rgb, int n);

#endif
