/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * style.h - the meanings of cells on the screen.  Plain data.
 */
#ifndef TUI_CONTROLS_STYLE_H
#define TUI_CONTROLS_STYLE_H

#define STYLE_FLAME_SHADES 4
#define STYLE_KERNEL_SHADES 2
#define STYLE_CHANGE_SHADES 3
#define STYLE_HEAT_SHADES 6

/* The meaning of a cell; the theme decides its look. */
enum style {
	STYLE_TEXT,
	STYLE_DIM,
	STYLE_TITLE,
	STYLE_ACCENT, /* live mark, selected tab */
	STYLE_HEADER, /* column titles */
	STYLE_HEADER_SORTED,
	STYLE_SELECTED, /* the cursor's row */
	STYLE_MATCH, /* search hit */
	STYLE_BAR_HOT,
	STYLE_BAR_WARM,
	STYLE_BAR_COOL, /* HOT, WARM, COOL: shares above 10%, above 2%, below */
	STYLE_USER,
	STYLE_KERNEL,
	STYLE_LIBRARY,
	STYLE_UNRESOLVED, /* USER to UNRESOLVED: kinds of images */
	STYLE_TREND,
	STYLE_STRIP,
	STYLE_STRIP_WINDOW,
	STYLE_GOOD,
	STYLE_WARN,
	STYLE_BAD,
	STYLE_KEY,
	STYLE_HINT,
	STYLE_INPUT,
	STYLE_BORDER,
	STYLE_MARK, /* mark on the activity strip */
	/* Boxes with a background: shades by kind of image. */
	STYLE_FLAME_ROOT,
	STYLE_FLAME_USER,
	STYLE_FLAME_LIBRARY = STYLE_FLAME_USER + STYLE_FLAME_SHADES,
	STYLE_FLAME_KERNEL = STYLE_FLAME_LIBRARY + STYLE_FLAME_SHADES,
	STYLE_FLAME_UNRESOLVED = STYLE_FLAME_KERNEL + STYLE_KERNEL_SHADES,
	STYLE_FLAME_SAME, /* unchanged against a baseline */
	STYLE_FLAME_MORE, /* shades; the greatest change is last */
	STYLE_FLAME_LESS = STYLE_FLAME_MORE + STYLE_CHANGE_SHADES,
	STYLE_FLAME_MATCH = STYLE_FLAME_LESS + STYLE_CHANGE_SHADES,
	STYLE_HEAT, /* shades; the busiest is last */
	STYLE_COUNT = STYLE_HEAT + STYLE_HEAT_SHADES
};

#endif
