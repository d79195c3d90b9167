/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrows.h - jumps of a function as lines beside its instructions: which line runs in which column.
 *
 * Jumps to one row share a line.  Short ones are nearest to the text; what finds no column has no line,
 * unless it is the selected one.  Made once for each set of rows; UI thread.
 */
#ifndef TUI_VIEWS_ARROWS_H
#define TUI_VIEWS_ARROWS_H

#include "tui/annotate.h"
#include "tui/canvas.h"

#define ARROWS_LEVELS 4

struct arrows {
	/* By row and level: the row + 1 that the line there leads to, 0: none.  Level 0 is next to the text. */
	uint32_t (*owners)[ARROWS_LEVELS];
	uint8_t *level; /* of the jump of a row; ARROWS_LEVELS: none */
	size_t n; /* rows */
	int levels; /* used */
};

/* 0 or -ENOMEM; arrows_fini() either way. */
int arrows_make(struct arrows *arrows, const struct annotate_row *rows, size_t n);
void arrows_fini(struct arrows *arrows);

/* Draw those of one row, at most `levels` columns of them and one for the heads, at x.  selected: the row
 * whose jump is bright. */
void arrows_draw(const struct arrows *arrows, const struct annotate_row *rows, size_t row,
	size_t selected, int levels, struct canvas *canvas, int x, int y);

#endif
