/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrows.h - draws the jumps of a function as lines next to its instructions, in columns.
 *
 * Jumps to the same row share a line.  Short jumps are nearest to the text.  A jump without a free
 * column has no line, unless it is selected.  Made once for each set of rows; UI thread.
 */
#ifndef TUI_VIEWS_ARROWS_H
#define TUI_VIEWS_ARROWS_H

#include "tui/annotate/annotate.h"
#include "tui/terminal/canvas.h"

#define ARROWS_LEVELS 4

struct arrows {
	/* By row and level: target row + 1 of the line there; 0: none.  Level 0 is next to the
	 * text. */
	uint32_t (*owners)[ARROWS_LEVELS];
	uint8_t *level; /* by row: level of its jump; ARROWS_LEVELS: none */
	size_t n; /* number of rows */
	int levels; /* number of used levels */
};

/* Assigns columns to all jumps.  Returns 0 or -ENOMEM; arrows_fini() is needed in both cases. */
int arrows_make(struct arrows *arrows, const struct annotate_row *rows, size_t n);
void arrows_fini(struct arrows *arrows);

/* Draws one row at x: at most `levels` columns of lines, and one for arrowheads.  selected: row
 * whose jump is drawn bright. */
void arrows_draw(const struct arrows *arrows, const struct annotate_row *rows, size_t row,
	size_t selected, int levels, struct canvas *canvas, int x, int y);

#endif
